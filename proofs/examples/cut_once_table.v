(* SPDX-License-Identifier: MIT
   40 entries with 32 keys and values, of which 31 keys are asked for; 154 bits of state *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 154] T (once_table 40 32 32).
Proof. apply cut_once_table; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 154 -> R 155 *)
(* not: 40 32 32 -> 40 31 32 *)
