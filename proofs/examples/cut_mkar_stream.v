(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task mkar T=100 V=40 key=2 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (mkar_stream 100 40 2).
Proof. apply (cut_mkar_stream _ _ _ (Blocks 6 32)); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 163 *)
(* not: Blocks 6 32 -> Blocks 6 33 *)
(* not: Blocks 6 -> Blocks 5 *)
