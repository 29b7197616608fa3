(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task q-sparse-average N=90 q=3 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (averages 90 3).
Proof. apply cut_averages; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 89 *)
(* not: 90 3) -> 90 90) *)
