(* SPDX-License-Identifier: MIT
   16 assignments, 8 values; 47 bits of state *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 47] T (variable_tracking 16 3 8 16).
Proof. apply cut_variable_tracking; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 47 -> R 48 *)
(* not: 16 3 8 16 -> 16 3 8 15 *)
