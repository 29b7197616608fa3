(* SPDX-License-Identifier: MIT
   rung bound full,loglinear --head-dim 2 --bits 8 --task seqcomp L=2 N0=10 n=17 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible (F 32 :: [LL 32]) (seqcomp false 10 [17] 170).
Proof. apply (B0 _ _ _ _ _ _ 10 1); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 44 *)
(* not: LL 32 -> LL 128 *)
