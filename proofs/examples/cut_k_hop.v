(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task k-hop N=98 alphabet=30 k=3 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (k_hop false 98 30 3).
Proof. apply (cut_k_hop _ _ _ _ 3 (Trees 30)); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 138 *)
(* not: Trees 30 -> Trees 31 *)
(* not: 98 30 3 -> 62 30 3 *)
(* not: _ 3 (Trees -> _ 1 (Trees *)
