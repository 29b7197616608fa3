(* SPDX-License-Identifier: MIT
   palindrome of 64 symbols, 8 values; 191 bits of state *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 100; R 91] T (palindrome 64 8).
Proof. apply cut_palindrome; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 91 -> R 92 *)
(* not: palindrome 64 -> palindrome 63 *)
