(* SPDX-License-Identifier: MIT
   rung bound 3*full --task two-sum form=position N=8 M=67 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleCausal (two_sum_position true 0 8 67).
Proof. apply causal_two_sum; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 8 67) -> 1 67) *)
(* not: 0 8 67 -> 0 8 2 *)
