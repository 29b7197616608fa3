(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task c-gram N=200 V=30 c=4 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (c_gram 200 30 3).
Proof. apply (cut_one_c_gram _ _ _ 8 50 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 223 *)
(* not: 8 50 -> 7 50 *)
(* not: 200 30 3 -> 199 30 3 *)
