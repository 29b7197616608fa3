(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 1 --bits 1 --task q-sparse-average N=40 q=40 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 2] T (averages 40 40).
Proof. apply (cut_averages_all); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 2 -> R 6 *)
(* not: averages 40 40 -> averages 40 39 *)
