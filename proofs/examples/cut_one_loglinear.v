(* SPDX-License-Identifier: MIT
   rung bound 'full@1|loglinear@1' --head-dim 2 --bits 8 --task string-equality N=2000 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [LF 0 32 32] (string_equality 2000).
Proof. apply (cut_one_string_equality _ 32 192); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: LF 0 32 32 -> LF 0 33 32 *)
(* not: _ 32 192 -> _ 32 160 *)
(* not: LF 0 32 32 -> LF 0 32 31 *)
