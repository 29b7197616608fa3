(* SPDX-License-Identifier: MIT
   the recurrent heads beside the full one count as a layer after it *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible (RF 4 6 :: [R 4]) (seqcomp false 3 [5] 15).
Proof. apply (heads_after _ []); apply (B0 _ _ _ _ _ _ 3 1); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: RF 4 6 -> RF 9 6 *)
(* not: RF 4 6 -> RF 4 8 *)
