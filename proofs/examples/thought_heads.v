(* SPDX-License-Identifier: MIT
   rung bound full@1|linear@1 --heads 2 --head-dim 1 --bits 4 --task seqcomp L=2 --n 36 --thoughts 1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : within 36 (seqcomp false 17 [1] 17) /\
  forall T, (T <= 1)%nat -> ImpossibleThinking [RF 8 12] T (seqcomp false 17 [1] 17).
Proof. split; [apply seqcomp_within; vm_compute; reflexivity|
  apply (one_thought _ _ _ _ 8 12 1 17 17 8); [right; reflexivity|vm_compute; reflexivity]]. Qed.

Print Assumptions cannot.
(* not: RF 8 12 -> RF 9 12 *)
(* not: RF 8 12 -> RF 8 13 *)
(* not: T <= 1 -> T <= 2 *)
(* not: within 36 -> within 35 *)
