(* SPDX-License-Identifier: MIT
   64 operations on 8 stacks, 8 values; 95 bits of state *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 95] T (stacks 64 8 8).
Proof. apply cut_stacks; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 95 -> R 96 *)
(* not: stacks 64 8 -> stacks 64 0 *)
(* not: stacks 64 8 8 -> stacks 63 8 8 *)
