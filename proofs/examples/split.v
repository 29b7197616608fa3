(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 8 --bits 32 --kernel split:64 --task seqcomp L=2 N0=97 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleSplit (N.to_nat 64) 320 (seqcomp false 97 [1] 97).
Proof. apply (splits _ _ _ _ 64 320 49); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 64) 320 (seq -> 64) 324 (seq *)
(* not: 97 .1. 97). -> 96 [1] 97). *)
(* not: 97 .1. 97). -> 97 [1] 92). *)
(* not: _ 64 320 -> _ 98 320 *)
