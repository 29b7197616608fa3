(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task dyck N=200 k=90 types=2 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (dyck 200 2 90).
Proof. apply (cut_one_dyck _ _ _ 90 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 91 *)
(* not: _ 90 32 -> _ 100 32 *)
