(* SPDX-License-Identifier: MIT
   rung bound dsa:k=8 --head-dim 2 --bits 8 --task seqcomp L=2 N0=10 n=1 form=pair *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleTop (N.to_nat 8) (seqcomp_pair false 10 [1] 10).
Proof. apply pair_form_top; apply (dsa_one _ _ _ _ 8); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: to_nat 8 -> to_nat 9 *)
(* not: 10 .1. 10) -> 10 [1] 2) *)
