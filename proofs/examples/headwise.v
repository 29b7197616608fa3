(* SPDX-License-Identifier: MIT
   rung bound 'full@1|linear@1' --head-dim 4 --bits 8 --task seqcomp L=2 N0=18 n=3 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [RF 160 48] (seqcomp false 18 [3] 54).
Proof. apply (headwise _ _ _ _ 48 160); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: RF 160 48 -> RF 160 51 *)
(* not: RF 160 48 -> RF 167 48 *)
(* not: .3. 54) -> [3] 49) *)
