(* SPDX-License-Identifier: MIT
   rung bound linear --heads 1 --head-dim 8 --bits 16 --task string-equality N=1153 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 1152] T (string_equality 1153).
Proof. apply cut_string_equality; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: equality 1153 -> equality 1152 *)
(* not: R 1152 -> F 1152 *)
