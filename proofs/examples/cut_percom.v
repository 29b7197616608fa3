(* SPDX-License-Identifier: MIT
   two permutations of 64 numbers; one layer of 48 bits of state *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (percom 64).
Proof. apply cut_percom; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 296 *)
(* not: percom 64 -> percom 16 *)
