(* SPDX-License-Identifier: MIT
   selective-copy: 64 tokens, 8 symbols, the numbers 9 to 17; one full layer with an accumulator of 36 bits *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 36] (selective_copy 64 8 9 9).
Proof. apply (cut_one_selective_copy _ _ _ _ 36 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 64 8 9 9 -> 64 8 8 9 *)
(* not: 64 8 9 9 -> 17 8 9 9 *)
(* not: 64 8 9 9 -> 64 8 9 1 *)
