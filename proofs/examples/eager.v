(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 8 --bits 8 --kernel eager --task seqcomp L=2 N0=1538 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleEager 1 8 64 (seqcomp false 1538 [1] 1538).
Proof. apply (rounded_weights _ _ _ _ 1 _ _ 7); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 1 8 64 (seq -> 1 8 67 (seq *)
(* not: 1 8 64 (seq -> 1 9 64 (seq *)
(* not: 1 8 64 (seq -> 2 8 64 (seq *)
(* not: 1538 .1. 1538) -> 1537 [1] 1538) *)
(* not: 1538 .1. 1538) -> 1538 [1] 1200) *)
