(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task is-tree n=200 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (is_tree 200).
Proof. apply (cut_one_is_tree _ 42 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 853 *)
(* not: _ 42 -> _ 2 *)
(* not: is_tree 200 -> is_tree 41 *)
