(* SPDX-License-Identifier: MIT
   rung bound linear,full,linear --heads 1 --head-dim 2 --bits 8 --task seqcomp L=3 N0=29 n=1,11 V=319 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [R 48; F 32; R 48] (seqcomp false 29 [1; 11] 319).
Proof. apply (B _ _ _ _ [R 48] 32 [R 48] 1 29 29 [(1, 9)] PerFunction); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 48; F 32; R 48 -> R 48; F 33; R 48 *)
(* not: F 32; R 48. ( -> F 32; R 49] ( *)
(* not: 319) -> 300) *)
