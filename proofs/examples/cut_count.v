(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task count N=200 V=20 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (count_task 200 20).
Proof. apply cut_count; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 91 *)
(* not: count_task 200 -> count_task 20 *)
