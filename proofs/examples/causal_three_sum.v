(* SPDX-License-Identifier: MIT
   rung bound 3*full --task three-sum N=8 M=512 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleCausal (three_sum_position true 8 512).
Proof. apply causal_three_sum; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 8 512) -> 2 512) *)
(* not: 8 512) -> 8 3) *)
