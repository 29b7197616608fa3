(* SPDX-License-Identifier: MIT
   16 assignments, 8 values; an accumulator of 44 bits *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 44] (variable_tracking 16 3 8 16).
Proof. apply (cut_one_variable_tracking _ _ _ _ 44 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 16 3 8 -> 16 0 8 *)
(* not: variable_tracking 16 -> variable_tracking 15 *)
