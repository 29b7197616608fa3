(* SPDX-License-Identifier: MIT
   rung bound 2*linear --head-dim 2 --bits 8 --task is-tree n=60 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48; R 48] T (is_tree 60).
Proof. apply (cut_is_tree _ 16); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48; R 48 -> R 48; R 129 *)
(* not: _ 16) -> _ 60) *)
