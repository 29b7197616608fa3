(* SPDX-License-Identifier: MIT
   rung bound full,full,linear --heads 1 --head-dim 2 --bits 26 --task seqcomp L=2 N0=11640 n=638 --message paper *)
From Rung Require Import Instance.
Local Open Scope N_scope.

Theorem cannot : Impossible [F 104; F 104; R 156] (seqcomp false 11640 [638] 7426320).
Proof. apply (Ce _ _ _ _ _ _ _ 485 24 24 11 58
  [(343, 1); (308, 1); (281, 1); (260, 1); (241, 1); (226, 1); (212, 1); (199, 1); (188, 1); (178, 1); (168, 1); (160, 1); (152, 1); (145, 1); (138, 1); (131, 1); (126, 1); (120, 1); (115, 1); (110, 1); (106, 1); (101, 1); (97, 1); (94, 1); (90, 1); (87, 1); (83, 1); (80, 1); (77, 1); (75, 1); (72, 1); (70, 1); (67, 1); (65, 1); (63, 1); (61, 1); (59, 1); (57, 1); (55, 1); (53, 1); (52, 1); (50, 1); (49, 1); (47, 1); (46, 1); (44, 1); (43, 1)] false); vm_compute; reflexivity. Qed.

Print Assumptions cannot.
(* not: F 104; F 104; R 156 -> F 105; F 104; R 156 *)
(* not: F 104; F 104; R 156 -> F 104; F 105; R 156 *)
(* not: F 104; R 156. ( -> F 104; R 700] ( *)
(* not: 11 58 -> 11 57 *)
(* not: 7426320) -> 7000000) *)
(* not: (343, 1) -> (349, 1) *)
