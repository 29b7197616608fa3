(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem B0: two functions, one full layer, then recurrent ones, w last *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose.
Import ListNotations.
Local Notation nN := N.of_nat.

(** What a layout says, in the form that proofs use. *)
Section Layout.
Context {N0 k2 M : nat} {P : (nat -> nat) -> (nat -> nat) -> nat -> nat -> nat -> token} (HP : layout N0 k2 M P).
Let k1 := k2 + M + N0.

(** After z_2 nothing depends on it. *)
Lemma lay_later g g' f u w t : k2 <= t <= k1 + 1 -> P g f u w t = P g' f u w t.
Proof.
  intros H; destruct (Nat.lt_ge_cases t (k2 + M)) as [L|L]; [apply (lay_middle _ _ _ _ HP); lia|].
  destruct (Nat.lt_ge_cases t k1) as [L'|L'].
  - replace t with (k2 + M + (t - (k2 + M))) by lia; rewrite !(lay_z1 _ _ _ _ HP) by (unfold k1 in *; lia); reflexivity.
  - assert (C : t = k1 \/ t = k1 + 1) by lia; destruct C as [-> | ->]; unfold k1.
    + rewrite !(lay_z0 _ _ _ _ HP); reflexivity.
    + apply (lay_w _ _ _ _ HP).
Qed.

(** Before z_0 nothing depends on z_0 and w. *)
Lemma lay_prefix g f u w u' w' t : t < k1 -> P g f u w t = P g f u' w' t.
Proof.
  intros H; destruct (Nat.lt_ge_cases t k2) as [L|L]; [apply (lay_first _ _ _ _ HP); exact L|].
  destruct (Nat.lt_ge_cases t (k2 + M)) as [L'|L']; [apply (lay_middle _ _ _ _ HP); lia|].
  replace t with (k2 + M + (t - (k2 + M))) by lia; rewrite !(lay_z1 _ _ _ _ HP) by (unfold k1 in *; lia); reflexivity.
Qed.

(** From z_0 on only z_0 and w matter. *)
Lemma lay_query g f u w g' f' t : k1 <= t <= k1 + 1 -> P g f u w t = P g' f' u w t.
Proof.
  intros H; assert (C : t = k1 \/ t = k1 + 1) by lia; destruct C as [-> | ->]; unfold k1.
  - rewrite !(lay_z0 _ _ _ _ HP); reflexivity.
  - apply (lay_w _ _ _ _ HP).
Qed.
End Layout.

(** C accumulator values at the cut after z_2, [states_at] values of all states at the cut after z_1. *)
Theorem B0_states : forall (N0 n1 k2 M x0 x1 : nat) (V : N) (C : nat -> N) (b : list spec) k (m : net token nat),
  two_functions N0 n1 (N.to_nat V) k2 M k ->
  recurrent b -> fits m (SF C :: b) -> (0 < V)%N ->
  x0 <= N0 -> N0 <= x0 * x1 ->
  (C k2 ^ nN (n1 + x0) * states_at (k2 + M + N0) b ^ nN x1 < V ^ nN (n1 * N0))%N ->
  ~ solves k m.
Proof.
  intros N0 n1 k2 M x0 x1 V C b k m (P & HP & Htask) Hb Hm HV Hx0 Hx Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct m as [f|Z l rest]; [contradiction|].
  destruct Hm as [HC Hrest]; destruct l as [|A init upd fin|]; simpl in HC; try contradiction.
  destruct (HC k2) as (cA & cA_inj & cA_lt).
  set (k1 := k2 + M + N0) in *.
  destruct (recurrent_crosses rest b k1 Hb Hrest) as (cS & cS_lt & cS_pre & cS_post).
  set (lay := Full A init upd fin) in *.
  set (K := states_at k1 b) in *.
  (* x1 functions whose images of [0,x0) cover [0,N0) *)
  set (fn := fun j v : nat => if j * x0 + v <? N0 then j * x0 + v else 0).
  (* the listed messages *)
  set (nu1 := fun g w => cA (acc init upd (P g (fn 0) 0 w) (k1 + 1) k2)).
  set (nu0 := fun g u => cA (acc init upd (P g (fn 0) u 0) k1 k2)).
  set (nu := fun g i => if i <? n1 then nu1 g i else nu0 g (i - n1)).
  set (tau := fun g j => cS (apply lay (P g (fn j) 0 0))).
  assert (D1 : forall g i, N.lt (nu g i) (C k2)) by (intros g i; unfold nu; destruct (i <? n1); apply cA_lt).
  assert (D2 : forall g j, (tau g j < K)%N) by (intros; apply cS_lt).
  apply (tables_le V (n1 * N0) _ (fun g => pair_code (C k2 ^ nN (n1 + x0)) (digits (C k2) (nu g) (n1 + x0)) (digits K (tau g) x1)));
    [exact HV| |].
  { intros g _; apply pair_lt; apply digits_lt; auto. }
  intros g g' Hg Hg' E i Hi.
  apply pair_inj in E; [|apply digits_lt; auto|apply digits_lt; auto].
  destruct E as [E1 E2].
  assert (E1' := digits_inj _ _ _ _ (fun k _ => D1 g k) (fun k _ => D1 g' k) E1).
  assert (E2' := digits_inj _ _ _ _ (fun j _ => D2 g j) (fun j _ => D2 g' j) E2).
  clear E1 E2; cbv beta in E1', E2'.
  (* which question reads entry i *)
  assert (HN0 : N0 <> 0) by lia.
  assert (Hx0' : x0 <> 0) by nia.
  set (w := i / N0); set (v := i mod N0); set (j := v / x0); set (u := v mod x0).
  assert (Ei : i = w * N0 + v) by (unfold w, v; rewrite (Nat.div_mod i N0) at 1; lia).
  assert (Ev : v = j * x0 + u) by (unfold j, u; rewrite (Nat.div_mod v x0) at 1; lia).
  assert (Hw : w < n1) by (apply Nat.div_lt_upper_bound; lia).
  assert (Hv : v < N0) by (apply Nat.mod_upper_bound; lia).
  assert (Hu : u < x0) by (apply Nat.mod_upper_bound; lia).
  assert (Hj : j < x1) by (apply Nat.div_lt_upper_bound; lia).
  assert (Hfn : forall y, y < N0 -> fn j y < N0)
    by (intros y _; unfold fn; destruct (Nat.ltb_spec (j * x0 + y) N0); lia).
  assert (Efn : fn j u = v) by (unfold fn; rewrite <- Ev; apply Nat.ltb_lt in Hv; rewrite Hv; reflexivity).
  rewrite Ei, <- Efn.
  rewrite <- (Hs _ _ _ (Htask g (fn j) u w Hg Hfn ltac:(lia) Hw)), <- (Hs _ _ _ (Htask g' (fn j) u w Hg' Hfn ltac:(lia) Hw)).
  fold k1; simpl run; fold lay.
  (* the accumulators over z_2 agree *)
  assert (A1 : acc init upd (P g (fn j) u w) (k1 + 1) k2 = acc init upd (P g' (fn j) u w) (k1 + 1) k2).
  { specialize (E1' w ltac:(lia)); unfold nu in E1'.
    assert (Hlt := Hw); apply Nat.ltb_lt in Hlt; rewrite Hlt in E1'.
    apply cA_inj in E1'.
    transitivity (acc init upd (P g (fn 0) 0 w) (k1 + 1) k2); [|rewrite E1'];
      (apply acc_ext; [apply (lay_w _ _ _ _ HP)|intros y Hy; apply (lay_first _ _ _ _ HP); exact Hy]). }
  assert (A0 : acc init upd (P g (fn j) u w) k1 k2 = acc init upd (P g' (fn j) u w) k1 k2).
  { specialize (E1' (n1 + u) ltac:(lia)); unfold nu in E1'.
    destruct (Nat.ltb_spec (n1 + u) n1); [lia|].
    replace (n1 + u - n1) with u in E1' by lia.
    apply cA_inj in E1'.
    transitivity (acc init upd (P g (fn 0) u 0) k1 k2); [|rewrite E1'];
      (apply acc_ext; [unfold k1; rewrite !(lay_z0 _ _ _ _ HP); reflexivity|
                       intros y Hy; apply (lay_first _ _ _ _ HP); exact Hy]). }
  assert (L : forall t, k2 <= t <= k1 + 1 -> P g (fn j) u w t = P g' (fn j) u w t)
    by (intros; apply (lay_later HP); auto).
  apply cS_post; [lia| |].
  - (* the states that leave z_1 *)
    specialize (E2' j Hj); unfold tau in E2'.
    rewrite (cS_pre _ (apply lay (P g (fn j) 0 0))), E2'.
    + apply cS_pre; intros y Hy; apply apply_causal; intros y' Hy'; apply (lay_prefix HP); fold k1; lia.
    + intros y Hy; apply apply_causal; intros y' Hy'; apply (lay_prefix HP); fold k1; lia.
  - (* what z_0 and w receive *)
    intros y Hy; unfold lay; cbn [apply].
    assert (Hcase : y = k1 \/ y = k1 + 1) by lia.
    rewrite (acc_from init upd (P g (fn j) u w) (P g' (fn j) u w) y k2 (S y)), (L y);
      auto; try lia; try (apply L; lia).
    + destruct Hcase as [-> | ->]; auto.
    + intros; apply L; lia.
Qed.

(** No recurrent layer after F: z_0's values are never read, one w suffices. *)
Theorem B0_full_states : forall (N0 n1 k2 M : nat) (V : N) (C : nat -> N) k (m : net token nat),
  two_functions N0 n1 (N.to_nat V) k2 M k ->
  fits m [SF C] -> 0 < n1 -> (0 < V)%N -> (C k2 < V ^ nN N0)%N -> ~ solves k m.
Proof.
  intros N0 n1 k2 M V C k m (P & HP & Htask) Hm Hn1 HV Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct m as [f|Z l rest]; [contradiction|].
  destruct Hm as [HC Hrest]; destruct l as [|A init upd fin|]; simpl in HC; try contradiction.
  destruct rest as [out|]; [|contradiction].
  destruct (HC k2) as (cA & cA_inj & cA_lt).
  set (k1 := k2 + M + N0) in *; set (id := fun i : nat => i).
  apply (tables_le V N0 _ (fun g => cA (acc init upd (P g id 0 0) (k1 + 1) k2))); [exact HV|intros; apply cA_lt|].
  intros g g' Hg Hg' E i Hi; apply cA_inj in E.
  pose proof (Hs _ _ _ (Htask g id i 0 Hg (fun _ H => H) Hi Hn1)) as S1.
  pose proof (Hs _ _ _ (Htask g' id i 0 Hg' (fun _ H => H) Hi Hn1)) as S2.
  change (g i) with (g (0 * N0 + id i)); change (g' i) with (g' (0 * N0 + id i)).
  rewrite <- S1, <- S2; clear S1 S2; fold k1; cbn [run apply].
  assert (Q : forall g, acc init upd (P g id i 0) (k1 + 1) k2 = acc init upd (P g id 0 0) (k1 + 1) k2).
  { intros h; apply acc_ext; [apply (lay_w _ _ _ _ HP)|intros y Hy; apply (lay_first _ _ _ _ HP); exact Hy]. }
  assert (L : forall t, k2 <= t <= k1 + 1 -> P g id i 0 t = P g' id i 0 t) by (intros; apply (lay_later HP); auto).
  assert (Ea : acc init upd (P g id i 0) (k1 + 1) (S (k1 + 1)) = acc init upd (P g' id i 0) (k1 + 1) (S (k1 + 1))).
  { apply (acc_from init upd _ _ (k1 + 1) k2); [apply L; unfold k1; lia|rewrite !Q; exact E|unfold k1; lia|].
    intros; apply L; lia. }
  rewrite Ea, (L (k1 + 1)) by (unfold k1; lia); reflexivity.
Qed.

(** N_1 log2 V > c (n_1 + x_0) + B x_1, where N_1 = n_1 N_0 and n_1 is the last of ns. *)
Definition B0_check (flat : bool) (N0 : N) (ns : list N) (V c : N) (after : list bits) (x0 x1 : N) : bool :=
  positive N0 ns && (0 <? N.of_nat (length ns))%N && is_recurrent after && (x0 <=? N0)%N && (N0 <=? x0 * x1)%N &&
  exceeds V (last_n ns * N0) (c * (last_n ns + x0) + bits_at (first_table flat N0 ns + between flat N0 ns + N0) after * x1).

Lemma nonempty {A} (l : list A) : (0 <? N.of_nat (length l))%N = true -> l <> [].
Proof. destruct l; [discriminate|congruence]. Qed.

Theorem B0 : forall flat N0 ns V c after x0 x1, B0_check flat N0 ns V c after x0 x1 = true ->
  Impossible (F c :: after) (seqcomp flat N0 ns V).
Proof.
  unfold B0_check; intros flat N0 ns V c after x0 x1 H m Hm; cbn [map spec_of] in Hm.
  apply andb_prop in H; destruct H as [H H6]; apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4];
    apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.leb_le in H4, H5; apply exceeds_spec in H6; destruct H6 as [HV H6].
  apply (B0_states _ _ _ _ (N.to_nat x0) (N.to_nat x1) V _ _ _ m (seqcomp_two flat N0 ns V H1 (nonempty _ H2))
           (recurrent_bits _ H3) Hm HV); [lia|lia|].
  rewrite states_bits by exact H3.
  replace (nN (N.to_nat (last_n ns) + N.to_nat x0)) with (last_n ns + x0)%N by lia.
  replace (nN (N.to_nat (last_n ns) * N.to_nat N0)) with (last_n ns * N0)%N by lia.
  replace (nN (N.to_nat (first_table flat N0 ns) + N.to_nat (between flat N0 ns) + N.to_nat N0))
    with (first_table flat N0 ns + between flat N0 ns + N0)%N by lia.
  rewrite !N2Nat.id, <- !N.pow_mul_r, <- N.pow_add_r; exact H6.
Qed.

(** N_0 log2 V > c. *)
Definition B0_full_check (N0 : N) (ns : list N) (V c : N) : bool :=
  positive N0 ns && (0 <? N.of_nat (length ns))%N && exceeds V N0 c.

Theorem B0_full : forall flat N0 ns V c, B0_full_check N0 ns V c = true -> Impossible [F c] (seqcomp flat N0 ns V).
Proof.
  unfold B0_full_check; intros flat N0 ns V c H m Hm; cbn [map spec_of] in Hm.
  apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply exceeds_spec in H3; destruct H3 as [HV H3].
  apply (B0_full_states _ _ _ _ V _ _ m (seqcomp_two flat N0 ns V H1 (nonempty _ H2)) Hm); [|exact HV|].
  - pose proof (proj2 (positive_spec N0 ns H1) (length ns)) as Hn; rewrite n_at_spec in Hn; exact Hn.
  - rewrite N2Nat.id; exact H3.
Qed.
