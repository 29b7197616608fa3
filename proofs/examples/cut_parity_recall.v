(* SPDX-License-Identifier: MIT
   two tables of 8 values below 8, 16 bits; 47 bits of state *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 47] T (parity_recall 8 8 16).
Proof. apply cut_parity_recall; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 47 -> R 48 *)
(* not: 8 8 16 -> 8 8 0 *)
