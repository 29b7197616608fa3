(* SPDX-License-Identifier: MIT
   rung bound full --head-dim 1 --bits 4 --thoughts 2 --task seqcomp L=3 N0=315 n=1 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : forall T, (T <= 2)%nat -> ImpossibleThinking [F 12] T (seqcomp false 315 [1; 1] 315).
Proof.
  apply (thoughts _ _ _ _ 0 12 1 35 315 [(1, 34)] [Step 9 4 63 388960791090869 4503599627370496]);
    [left; split; reflexivity|vm_compute; reflexivity].
Qed.

Print Assumptions cannot.
(* not: F 12 -> F 13 *)
(* not: 1; 1. 315) -> 1; 1] 256) *)
(* not: Step 9 4 63 -> Step 9 4 64 *)
(* not: T <= 2 -> T <= 3 *)
