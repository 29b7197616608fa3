(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task mkar T=400 V=5 key=3 layout=pairs *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (mkar_pairs 99 3 5).
Proof. apply (cut_one_mkar_pairs _ _ _ 25 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 59 *)
(* not: _ 25 32 -> _ 26 32 *)
(* not: 99 3 5 -> 126 3 5 *)
