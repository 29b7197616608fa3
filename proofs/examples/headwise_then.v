(* SPDX-License-Identifier: MIT
   rung bound full@1|linear@1,full@1|linear@1,linear --heads 1 --head-dim 1 --bits 2 --task seqcomp L=2 --n 202 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : within 202 (seqcomp false 8 [24] 192) /\
  Impossible (RF 4 6 :: RF 4 6 :: [R 4]) (seqcomp false 8 [24] 192).
Proof. split; [apply seqcomp_within; vm_compute; reflexivity|
  apply (heads_after _ [RF 4 6]); apply (headwise_then _ _ _ _ 4 6 _ _ 8 1 1 1 24
  [] false); [right; reflexivity|vm_compute; reflexivity]]. Qed.

Print Assumptions cannot.
(* not: RF 4 6 :: RF 4 6 :: -> RF 70 6 :: RF 4 6 :: *)
(* not: RF 4 6 :: RF 4 6 :: -> RF 4 6 :: RF 70 6 :: *)
(* not: R 4. -> R 70] *)
