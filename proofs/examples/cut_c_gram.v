(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task c-gram N=60 V=60 c=2 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (c_gram 60 60 1).
Proof. apply (cut_c_gram _ _ _ (Rows 60)); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 267 *)
(* not: Rows 60 -> Rows 61 *)
(* not: (Rows 60) -> (Trees 20) *)
