(* SPDX-License-Identifier: MIT
   rung bound 2*linear --heads 1 --head-dim 8 --bits 16 --task assoc-recall N=1000 V=16 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, ImpossibleThinking [R 1152; R 1152] T (assoc_recall 1000 16).
Proof. apply cut_assoc_recall; vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: R 1152; R 1152 -> R 1152; R 2848 *)
(* not: 1000 16 -> 1000 4 *)
(* not: 1000 16 -> 576 16 *)
