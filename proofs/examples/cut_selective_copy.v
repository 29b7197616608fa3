(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 1 --bits 8 --task selective-copy *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 16] T (selective_copy 100 26 5 5).
Proof. apply (cut_selective_copy _ _ _ _ 4); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 16 -> R 45 *)
(* not: _ 4) -> _ 5) *)
