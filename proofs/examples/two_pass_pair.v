(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --kernel two-pass --task seqcomp L=2 N0=9 n=1 form=pair *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleTwoPass 1 24 (seqcomp_pair false 9 [1] 9).
Proof. apply pair_form_two_pass; apply (two_passes _ _ _ _ 1 24); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 1 24 -> 1 26 *)
(* not: false 9 -> false 8 *)
