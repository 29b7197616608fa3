(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 16 --task three-sum N=40 M=4000 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 64] (three_sum true 40 4000).
Proof. apply (cut_one_three_sum _ _ _ 64 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 64 -> F 300 *)
(* not: 40 4000 -> 8 4000 *)
