(* SPDX-License-Identifier: MIT
   rung bound 'full@1|linear@1' --head-dim 2 --bits 8 --thoughts 2 --task seqcomp L=5 N0=3165 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, (T <= 2)%nat -> ImpossibleThinking [RF 48 32] T (seqcomp false 3165 [1; 1; 1; 1] 3165).
Proof.
  apply (thoughts _ _ _ _ 48 32 1 211 3165 [(1, 207)] [Step 15 11 688 530918948140456 4503599627370496]);
    [right; reflexivity|vm_compute; reflexivity].
Qed.

Print Assumptions cannot.
(* not: RF 48 32 -> RF 53 32 *)
(* not: 1; 1; 1; 1. -> 1; 2; 1; 1] *)
(* not: (1, 207) -> (1, 260) *)
