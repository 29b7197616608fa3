(* SPDX-License-Identifier: MIT
   rung bound linear --head-dim 2 --bits 8 --task mqar pairs=8 T=64 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 48] T (mqar 8 4095 4096 24).
Proof. apply cut_mqar; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48 -> R 96 *)
(* not: mqar 8 -> mqar 4 *)
