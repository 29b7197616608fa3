(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 2 --bits 8 --task k-hop N=300 k=3 alphabet=40 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 32] (k_hop false 300 40 3).
Proof. apply (cut_one_k_hop _ _ _ _ 3 (Trees 38) 32 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 32 -> F 189 *)
(* not: Trees 38 -> Trees 39 *)
(* not: k_hop false 300 40 3 -> k_hop false 300 40 2 *)
