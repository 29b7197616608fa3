(* SPDX-License-Identifier: MIT
   rung bound dsa:k=4 --heads 1 --head-dim 8 --bits 32 --task seqcomp L=2 N0=6 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleTop (N.to_nat 4) (seqcomp false 6 [1] 6).
Proof. apply (dsa_one _ _ _ _ 4); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: .N.to_nat 4. -> (N.to_nat 5) *)
(* not: 6 .1. 6). -> 5 [1] 5). *)
(* not: 6 .1. 6). -> 6 [1] 3). *)
