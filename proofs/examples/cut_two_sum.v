(* SPDX-License-Identifier: MIT
   rung bound linear --heads 1 --head-dim 2 --bits 26 --task two-sum N=127 M=509 blank=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 156] T (two_sum 1 127 509).
Proof. apply cut_two_sum; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 156 -> R 500 *)
(* not: 1 127 509 -> 1 20 509 *)
(* not: R 156 -> F 156 *)
