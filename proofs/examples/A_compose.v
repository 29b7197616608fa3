(* SPDX-License-Identifier: MIT
   rung bound 36*linear --heads 4 --head-dim 16 --bits 16 --task seqcomp L=3 N0=100 n=100,10000 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking (repeat (R 17408) 36) T (seqcomp false 100 [100; 10000] 100000000).
Proof. apply A_compose; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 100; 10000 -> 100; 2 *)
(* not: 100; 10000 -> 0; 10000 *)
(* not: R 17408 -> R 73821000 *)
(* not: 100000000) -> 1) *)
