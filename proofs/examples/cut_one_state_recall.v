(* SPDX-License-Identifier: MIT
   16 values below 8, 5 registers, 16 steps; full heads of 30 bits beside recurrent ones of 17 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [RF 17 30] (state_recall 16 8 5 16).
Proof. apply (cut_one_state_recall _ _ _ _ 30 17); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: state_recall 16 -> state_recall 15 *)
(* not: 16 8 5 16 -> 16 8 1 16 *)
