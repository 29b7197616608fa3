(* SPDX-License-Identifier: MIT
   rung bound sparse:B=64:k=1,sparse:B=64:k=1 --heads 1 --head-dim 1 --bits 4 --task two-sum M=8388607 --n 11713 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall D l own, deep_fits D l 64 16 4 0 2 ->
  ~ solves_deep D l (N.to_nat 183) (N.to_nat 0) (N.to_nat 64) (N.to_nat 8388607) own.
Proof. apply (deep_sparse _ _ _ _ _ 183 0 8388607 64 [0; 1; 14; 183]); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: deep_fits D l 64 16 4 0 2 -> deep_fits D l 64 16 4 0 3 *)
(* not: deep_fits D l 64 16 4 0 2 -> deep_fits D l 64 17 4 0 2 *)
(* not: deep_fits D l 64 16 4 0 2 -> deep_fits D l 64 16 5 0 2 *)
(* not: deep_fits D l 64 16 4 0 2 -> deep_fits D l 64 16 4 9 2 *)
(* not: 0; 1; 14; 183 -> 0; 1; 14; 182 *)
(* not: 0; 1; 14; 183 -> 0; 1; 13; 183 *)
(* not: to_nat 183 -> to_nat 182 *)
(* not: 8388607 64 -> 8388607 65 *)
