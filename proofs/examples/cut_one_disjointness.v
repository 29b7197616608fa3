(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task disjointness N=60 k=9 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (disjointness 60 9).
Proof. apply (cut_one_disjointness _ _ 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 34 *)
(* not: 60 9) -> 18 9) *)
