(* SPDX-License-Identifier: MIT
   rung bound loglinear --head-dim 2 --bits 26 --task eva N=32 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [LL 104] (eva 32 32).
Proof. apply A_plain; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: eva 32 32 -> eva 31 31 *)
(* not: LL 104 -> LL 160 *)
