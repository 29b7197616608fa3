(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task mkar T=300 V=20 key=3 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (mkar_stream 300 20 3).
Proof. apply (cut_one_mkar_stream _ _ _ 9 74 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 257 *)
(* not: 9 74 -> 8 74 *)
(* not: 300 20 3 -> 298 20 3 *)
