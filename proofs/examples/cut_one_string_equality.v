(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 8 --bits 16 --task string-equality N=161 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 160] (string_equality 161).
Proof. apply (cut_one_string_equality _ 160 0); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: equality 161 -> equality 160 *)
(* not: F 160 -> F 161 *)
