(* SPDX-License-Identifier: MIT
   rung bound linear,full --heads 1 --head-dim 2 --bits 8 --task seqcomp L=2 N0=37 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [R 48; F 32] (seqcomp false 37 [1] 37).
Proof. apply (B _ _ _ _ [R 48] 32 [] 1 37 37 [(1, 15)] Nothing); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: (1, 15) -> (1, 16) *)
(* not: F 32.  -> F 36]  *)
(* not: R 48; F 32 -> R 52; F 32 *)
(* not: F 32.  -> F 32; R 1]  *)
(* not: 37 37  -> 37 38  *)
