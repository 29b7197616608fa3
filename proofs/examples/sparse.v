(* SPDX-License-Identifier: MIT
   rung bound sparse:B=16:k=2 --heads 1 --head-dim 2 --bits 8 --task two-sum N=4096 M=509 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall l own, sparse_fits l 32 2 -> ~ solves_two_sum l 256 16 (N.to_nat 509) own.
Proof. apply (sparse 32 2 256 16 509 34); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: sparse_fits l 32 2 -> sparse_fits l 33 2 *)
(* not: sparse 32 2 256 16 509 34 -> sparse 32 2 256 16 509 33 *)
(* not: sparse_fits l 32 2 -> sparse_fits l 32 240 *)
