(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 8 --bits 32 --task seqcomp L=2 N0=52 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleOnePass 1 288 (seqcomp false 52 [1] 52).
Proof. apply (one_pass_maximum _ _ _ _ 1 _); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 1 288 (seq -> 1 291 (seq *)
(* not: 1 288 (seq -> 2 288 (seq *)
(* not: 52 .1. 52) -> 51 [1] 51) *)
