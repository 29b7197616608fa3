(* SPDX-License-Identifier: MIT
   rung bound 36*linear --heads 4 --head-dim 16 --bits 16 --task eva N=100000000 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking (repeat (R 17408) 36) T (eva 100000000 100000000).
Proof. apply A; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 17408 -> R 73821000 *)
(* not: eva 100000000 100000000 -> eva 20000 20000 *)
(* not: repeat (R 17408) 36 -> F 1 :: repeat (R 17408) 36 *)
(* not: ImpossibleThinking (repeat -> ImpossibleThinking (F 8 :: repeat *)
