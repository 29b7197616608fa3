(* SPDX-License-Identifier: MIT
   rung bound full,rnn:dv=1,full --heads 1 --head-dim 2 --bits 4 --message paper --task seqcomp L=2 N0=53 n=1223 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible (F 16 :: [R 4] ++ [F 16]) (seqcomp false 53 [1223] 64819).
Proof. apply (C1 _ _ _ _ _ _ _ 1 53 22 33 3); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 4 -> R 5 *)
(* not: F 16 :: -> F 17 :: *)
(* not: ++ .F 16 -> ++ [F 17 *)
(* not: 64819) -> 60000) *)
(* not: 22 33 3 -> 22 34 3 *)
(* not: 22 33 3 -> 22 33 4 *)
