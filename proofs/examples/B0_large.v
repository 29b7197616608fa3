(* SPDX-License-Identifier: MIT
   rung bound full,35*linear --heads 4 --head-dim 16 --bits 16 --task seqcomp L=3 N0=10000 n=1,9998, with V = 2^32 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible (F 1152 :: repeat (R 17408) 35) (seqcomp false 10000 [1; 9998] 4294967296).
Proof. apply (B0 _ _ _ _ _ _ 10000 1); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: false 10000 .1; 9998. 4294967296) -> false 10000 [1; 10] 2) *)
(* not: (F 1152 :: -> (F 1152 :: F 1 :: *)
