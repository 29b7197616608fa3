(* SPDX-License-Identifier: MIT
   two layers of full and recurrent heads side by side, 104 and 20 bits, sequential composition of two functions *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [RF 20 104; RF 20 104] (seqcomp false 270 [500] 135000).
Proof. apply (headwise_two _ _ _ _ 20 104 20 104 10 27 15 153); [right; reflexivity|right; reflexivity|vm_compute; reflexivity]. Qed.

Print Assumptions cannot.
(* not: RF 20 104; RF -> RF 21 104; RF *)
(* not: 270 .500. 135000) -> 220 [341] 75020) *)
