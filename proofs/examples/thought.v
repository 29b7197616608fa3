(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 1 --bits 4 --task seqcomp L=2 N0=40 n=1 V=1024 --thoughts 1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleThinking [F 12] 1 (seqcomp false 40 [1] 1024).
Proof. apply (thought _ _ _ _ 0 12 1 40 40 33); [left; split; reflexivity|vm_compute; reflexivity]. Qed.

Print Assumptions cannot.
(* not: F 12. 1 -> F 170] 1 *)
(* not: F 12. 1 -> F 12] 2 *)
(* not: 40 .1. 1024) -> 2 [1] 1024) *)
