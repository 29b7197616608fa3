(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 8 --bits 32 --task seqcomp L=2 N0=21 n=1 V=65536: more values than entries *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 320] (seqcomp false 21 [1] 65536).
Proof. apply B0_full; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 320 -> F 336 *)
(* not: 21 .1. 65536 -> 20 [1] 65536 *)
(* not: F 320 -> F 320; F 1 *)
