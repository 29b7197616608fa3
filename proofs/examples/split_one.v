(* SPDX-License-Identifier: MIT
   rung bound full --heads 1 --head-dim 8 --bits 32 --kernel split:64 --task seqcomp L=1 N0=111 V=111 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : ImpossibleSplit (N.to_nat 64) 320 (seqcomp false 111 [] 111).
Proof. apply (splits _ _ _ _ 64 320 48); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: 64) 320 (seq -> 64) 327 (seq *)
(* not: 111 .. 111). -> 110 [] 111). *)
