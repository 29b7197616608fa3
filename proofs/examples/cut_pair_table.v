(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task retrieval N=60 D=6 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (pair_table 60 64 64).
Proof. apply cut_pair_table; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 360 *)
(* not: 60 64 64 -> 60 59 64 *)
