(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task two-sum form=global M=509 --n 20 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : within 20 (two_sum_global 0 19 509) /\
  forall T, ImpossibleThinking [R 48] T (two_sum_global 0 19 509).
Proof. split; [apply two_sum_global_within; vm_compute; reflexivity|
  apply cut_two_sum_global; vm_compute; reflexivity]. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 110 *)
(* not: within 20 -> within 19 *)
