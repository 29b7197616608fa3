(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --kernel split:64 --task seqcomp L=2 N0=11 n=6 form=pair *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleSplit (N.to_nat 64) 32 (seqcomp_pair false 11 [6] 66).
Proof. apply pair_form_split; apply (splits _ _ _ _ 64 32 6); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 64) 32 -> 64) 37 *)
(* not: seqcomp_pair -> seqcomp *)
