(* SPDX-License-Identifier: MIT
   rung bound full,35*linear --heads 4 --head-dim 16 --bits 16 --task seqcomp L=2 N0=269 n=286 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible (F 1152 :: repeat (R 17408) 35) (seqcomp false 269 [286] 76934).
Proof. apply (B0 _ _ _ _ _ _ 269 1); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: (F 1152 -> (F 1153 *)
(* not: repeat (R 17408) 35) (seq -> repeat (R 17408) 36) (seq *)
(* not: \[286\] 76934) -> [285] 76934) *)
(* not: 76934) -> 75000) *)
(* not: 269 1); -> 135 1); *)
(* not: (F 1152 :: -> (R 1 :: F 1152 :: *)
