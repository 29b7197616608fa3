(* SPDX-License-Identifier: MIT
   rung bound 12*linear,full,23*linear --heads 2 --head-dim 4 --bits 16 --task seqcomp L=2 N0=28567 n=7 *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible (repeat (R 640) 12 ++ F 192 :: repeat (R 640) 23) (seqcomp false 28567 [7] 199969).
Proof. apply (B _ _ _ _ _ _ _ 583 49 49
  [(494, 1); (467, 1); (445, 1); (427, 1); (411, 1); (396, 1); (383, 1); (370, 1); (358, 1); (348, 1); (337, 1); (327, 1); (318, 1); (309, 1); (301, 1); (293, 1); (285, 1); (278, 1); (271, 1); (264, 1); (258, 1); (252, 1); (246, 1); (240, 1); (234, 1); (229, 1); (224, 1); (219, 1); (214, 1); (209, 1); (204, 1); (200, 1); (196, 1); (192, 1); (188, 1); (184, 1); (180, 1); (176, 1); (173, 1); (169, 1); (166, 1); (162, 1); (159, 1); (156, 1); (153, 1); (150, 1); (147, 1); (144, 1); (142, 1); (139, 1); (136, 1); (134, 1); (131, 1); (129, 1); (127, 1); (124, 1); (122, 1); (120, 1); (118, 1); (116, 1)] PerFunction); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 192 -> F 193 *)
(* not: \[7\] 199969) -> [7] 190000) *)
(* not: (R 640) 12 ++ -> (R 640) 13 ++ *)
(* not: (494, 1) -> (499, 1) *)
(* not: PerFunction -> Once *)
(* not: PerFunction -> Nothing *)
