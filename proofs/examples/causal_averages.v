(* SPDX-License-Identifier: MIT
   rung bound 3*full --task q-sparse-average N=8 q=3 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleCausal (averages_everywhere 8 3).
Proof. apply causal_averages; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 8 3) -> 2 3) *)
(* not: 8 3) -> 8 0) *)
