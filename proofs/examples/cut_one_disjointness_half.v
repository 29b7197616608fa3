(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task disjointness N=40 k=20 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (disjointness 40 20).
Proof. apply (cut_one_disjointness_half _ _ 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 37 *)
(* not: 40 20) -> 40 21) *)
