(* SPDX-License-Identifier: MIT
   rung bound linear,full --head-dim 1 --bits 3 --task seqcomp L=1 N0=129 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [R 6; F 9] (seqcomp false 129 [] 129).
Proof. apply (A_prime _ _ _ [R 6] 9 [] 3); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 9 -> F 16 *)
(* not: R 6; F 9 -> R 7; F 9 *)
(* not: false 129 .. 129) -> false 64 [] 64) *)
(* not: \[\] 3) -> [] 4) *)
