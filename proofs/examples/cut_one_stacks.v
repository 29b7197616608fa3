(* SPDX-License-Identifier: MIT
   64 operations on 2 stacks, 8 values; one full layer with an accumulator of 95 bits *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 95] (stacks 64 2 8).
Proof. apply (cut_one_stacks _ _ _ 95 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: stacks 64 2 -> stacks 64 1 *)
(* not: stacks 64 2 8 -> stacks 64 2 7 *)
