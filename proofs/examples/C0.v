(* SPDX-License-Identifier: MIT
   rung bound full,full --heads 1 --head-dim 2 --bits 26 --task seqcomp L=2 N0=220 n=341 --message paper *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 104; F 104] (seqcomp false 220 [341] 75020).
Proof. apply (C0 _ _ _ _ _ _ 10 22 15 137); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 104; F 104 -> F 105; F 104 *)
(* not: F 104; F 104 -> F 104; F 105 *)
(* not: 75020) -> 74000) *)
(* not: 10 22 15 137 -> 10 22 15 138 *)
(* not: F 104. (seq -> F 104; R 1] (seq *)
