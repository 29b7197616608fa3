(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem A prime: one function, one full layer among recurrent ones, w last *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose.
Import ListNotations.
Local Notation nN := N.of_nat.

(** The prompts with L = 1: the table, z_0, and a last token that says nothing. *)
Definition one (n : nat) (f : nat -> nat) (u : nat) : nat -> token := at_ (table f n ++ [num u; pick []]).

Lemma seqcomp_one flat (N0 V : N) f u : (forall i, f i < N.to_nat V) -> u < N.to_nat N0 ->
  seqcomp flat N0 [] V (one (N.to_nat N0) f u) (N.to_nat N0 + 1) (f u).
Proof.
  intros Hf Hu; set (n := N.to_nat N0) in *.
  assert (E : seqcomp_prompt flat n [] (fun _ => f) u (fun _ => 0) = table f n ++ [num u; pick []]).
  { unfold seqcomp_prompt, levels; cbn [tables length]; rewrite app_nil_r.
    unfold entries, n_of; cbn [pred nth range]; rewrite Nat.mul_1_l; reflexivity. }
  exists (fun _ => f), u, (fun _ => 0); unfold one; rewrite <- E; cbn [map]; fold n.
  repeat split; auto; try (unfold levels in *; cbn [length] in *; lia).
  rewrite E, app_length, table_length; simpl; lia.
Qed.

Section Prompt.
Variable n : nat.

Lemma one_table g u u' t : t < n -> one n g u t = one n g u' t.
Proof. intros H; unfold one, at_; rewrite !app_nth1 by (rewrite table_length; exact H); reflexivity. Qed.

Lemma one_later g g' u t : n <= t -> one n g u t = one n g' u t.
Proof. intros H; unfold one, at_; rewrite !app_nth2 by (rewrite table_length; exact H); rewrite !table_length; reflexivity. Qed.

Lemma one_last g g' u u' : one n g u (n + 1) = one n g' u' (n + 1).
Proof.
  unfold one, at_; rewrite !app_nth2 by (rewrite table_length; lia); rewrite !table_length.
  replace (n + 1 - n) with 1 by lia; reflexivity.
Qed.
End Prompt.

(** M is at most the least integer that is not below N0 / states. *)
Theorem A_prime_states : forall flat (N0 V : N) (M : nat) (C : nat -> N) (a b : list spec) (m : net token nat),
  recurrent a -> recurrent b -> fits m (a ++ SF C :: b) -> 0 < M -> (0 < V)%N ->
  let n := N.to_nat N0 in
  (states_at (n + 1) a * nN (M - 1) < N0)%N ->
  (states_at n a * (C n * states_at (n + 1) b ^ nN M) < V ^ nN M)%N ->
  ~ solves (seqcomp flat N0 [] V) m.
Proof.
  intros flat N0 V M C a b m Ha Hb Hm HM HV n Hcls Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (split_rfr m a C b Ha Hb Hm)
    as (Z & W & St & h0 & G & F0 & A & init & upd & fin & St' & h0' & G' & F' & H1 & H2 & H3 & Hrun).
  set (R1 := Rec St h0 G F0) in *; set (Fu := Full A init upd fin) in *; set (R2 := Rec St' h0' G' F') in *.
  destruct (H1 n) as (c1 & c1_inj & c1_lt).
  destruct (H1 (n + 1)) as (c1' & c1'_inj & c1'_lt).
  destruct (H2 n) as (cA & cA_inj & cA_lt).
  destruct (H3 (n + 1)) as (c2 & c2_inj & c2_lt).
  pose proof (fun f u Hf Hu => Hs _ _ _ (seqcomp_one flat N0 V f u Hf Hu)) as Hans; fold n in Hans; clear Hs.
  set (P := one n) in *.
  assert (Ptab : forall g u u' t, t < n -> P g u t = P g u' t) by (intros; apply one_table; auto).
  assert (Plat : forall g g' u t, n <= t -> P g u t = P g' u t) by (intros; apply one_later; auto).
  assert (Plast : forall g g' u u', P g u (n + 1) = P g' u' (n + 1)) by (intros; apply one_last).
  clearbody P.
  apply (class_tables V n M _ _ (fun f => c1 (state h0 G (P f 0) n))); [intros; apply c1_lt| |exact HV].
  intros fs _.
  (* the z_0 that share the states before w *)
  destruct (popular (fun u => c1' (state h0 G (P fs u) (n + 1))) _ (seq 0 n) (fun u _ => c1'_lt _)) as [v Hv].
  set (cl := filter _ _) in Hv.
  assert (Hlen : M <= length cl).
  { unfold size in Hv; rewrite seq_length in Hv.
    destruct (Nat.le_gt_cases M (length cl)); auto. exfalso.
    assert (states_at (n + 1) a * nN (length cl) <= states_at (n + 1) a * nN (M - 1))%N
      by (apply N.mul_le_mono_l; lia). unfold n in *; lia. }
  set (J := firstn M cl).
  assert (HJl : length J = M) by (unfold J; rewrite firstn_length; lia).
  assert (HJ : forall u, In u J -> u < n /\ c1' (state h0 G (P fs u) (n + 1)) = v).
  { intros u Hu; apply firstn_In in Hu; apply filter_In in Hu; destruct Hu as [Hu E].
    apply in_seq in Hu; apply N.eqb_eq in E; split; [lia|exact E]. }
  set (u0 := nth 0 J 0).
  assert (Hu0 : In u0 J) by (apply nth_In; lia).
  set (mu := fun f => cA (acc init upd (apply R1 (P f u0)) (n + 1) n)).
  set (tau := fun f u => c2 (state h0' G' (apply Fu (apply R1 (P f u))) (n + 1))).
  exists J, (fun f => pair_code (C n) (mu f) (digits (states_at (n + 1) b) (fun k => tau f (nth k J 0)) M)).
  split; [apply firstn_NoDup, NoDup_filter, seq_NoDup|].
  split; [intros u Hu; apply HJ; auto|].
  split; [exact HJl|].
  split.
  { intros f _; apply pair_lt; [apply cA_lt|apply digits_lt; intros; apply c2_lt]. }
  intros f f' Hf Hf' S1 S1' E i Hi.
  apply pair_inj in E; [|apply cA_lt|apply cA_lt]; destruct E as [Emu Etau].
  apply cA_inj in Emu; apply c1_inj in S1, S1'.
  destruct (HJ i Hi) as [HiN Ei].
  (* the states of the first group *)
  assert (Q0 : forall g u, state h0 G (P g 0) n = state h0 G (P fs 0) n -> state h0 G (P g u) n = state h0 G (P fs u) n).
  { intros g u Eg; rewrite (state_ext h0 G (P g u) (P g 0)), Eg; [apply state_ext|]; intros y Hy; apply Ptab; lia. }
  assert (Q1 : forall g u, state h0 G (P g 0) n = state h0 G (P fs 0) n -> In u J ->
               state h0 G (P g u) (n + 1) = state h0 G (P fs u0) (n + 1)).
  { intros g u Eg Hu; transitivity (state h0 G (P fs u) (n + 1)).
    - apply (state_from h0 G _ _ n); [apply Q0; auto|lia|intros; apply Plat; lia].
    - apply c1'_inj; destruct (HJ u Hu), (HJ u0 Hu0); congruence. }
  assert (Q2 : forall g u, state h0 G (P g 0) n = state h0 G (P fs 0) n -> In u J ->
               apply R1 (P g u) (n + 1) = apply R1 (P fs u0) (n + 1)).
  { intros g u Eg Hu; pose proof (Q1 g u Eg Hu) as E1.
    assert (E2 : state h0 G (P g u) (S (n + 1)) = state h0 G (P fs u0) (S (n + 1))).
    { apply (state_from h0 G _ _ (n + 1)); [exact E1|lia|].
      intros y Hy; replace y with (n + 1) by lia; apply Plast. }
    unfold R1; cbn [apply]; rewrite E1, E2, (Plast g fs u u0); reflexivity. }
  assert (Q3 : forall g, state h0 G (P g 0) n = state h0 G (P fs 0) n -> apply R1 (P g i) n = apply R1 (P fs i) n).
  { intros g Eg; pose proof (Q0 g i Eg) as E1.
    assert (E2 : state h0 G (P g i) (S n) = state h0 G (P fs i) (S n)).
    { apply (state_from h0 G _ _ n); [exact E1|lia|intros; apply Plat; lia]. }
    unfold R1; cbn [apply]; rewrite E1, E2, (Plat g fs i n); auto. }
  (* the accumulator of the last token over the table *)
  assert (Q4 : forall g, state h0 G (P g 0) n = state h0 G (P fs 0) n ->
               acc init upd (apply R1 (P g i)) (n + 1) n = acc init upd (apply R1 (P g u0)) (n + 1) n).
  { intros g Eg; apply acc_ext; [rewrite (Q2 g i Eg Hi), (Q2 g u0 Eg Hu0); reflexivity|].
    intros y Hy; apply apply_causal; intros y' Hy'; apply Ptab; lia. }
  assert (Q5 : apply Fu (apply R1 (P f i)) (n + 1) = apply Fu (apply R1 (P f' i)) (n + 1)).
  { assert (E1 : apply R1 (P f i) (n + 1) = apply R1 (P f' i) (n + 1))
      by (rewrite (Q2 f i S1 Hi), (Q2 f' i S1' Hi); reflexivity).
    assert (E2 : acc init upd (apply R1 (P f i)) (n + 1) (S (n + 1)) =
                 acc init upd (apply R1 (P f' i)) (n + 1) (S (n + 1))).
    { apply (acc_from init upd _ _ (n + 1) n); [exact E1|rewrite (Q4 f S1), (Q4 f' S1'); exact Emu|lia|].
      intros y Hy; assert (Hy' : y = n \/ y = n + 1) by lia; destruct Hy' as [-> | ->]; auto.
      rewrite (Q3 f S1), (Q3 f' S1'); reflexivity. }
    unfold Fu; cbn [apply]; rewrite E1, E2; reflexivity. }
  assert (Q6 : state h0' G' (apply Fu (apply R1 (P f i))) (n + 1) = state h0' G' (apply Fu (apply R1 (P f' i))) (n + 1)).
  { destruct (In_nth J i 0 Hi) as [k [Hk Ek]].
    pose proof (digits_inj _ _ _ _ (fun k _ => c2_lt _) (fun k _ => c2_lt _) Etau k ltac:(lia)) as D.
    cbv beta in D; unfold tau in D; rewrite Ek in D; apply c2_inj in D; exact D. }
  rewrite <- (Hans f i Hf HiN), <- (Hans f' i Hf' HiN), !Hrun.
  assert (Q7 : state h0' G' (apply Fu (apply R1 (P f i))) (S (n + 1)) =
               state h0' G' (apply Fu (apply R1 (P f' i))) (S (n + 1))).
  { apply (state_from h0' G' _ _ (n + 1)); [exact Q6|lia|].
    intros y Hy; replace y with (n + 1) by lia; exact Q5. }
  unfold R2; cbn [apply]; rewrite Q5, Q6, Q7; reflexivity.
Qed.

(** ceil(N_0 2^-A) (log2 V - B) > A + c; M is the ceiling, or less. *)
Definition A_prime_check (N0 V : N) (before : list bits) (c : N) (after : list bits) (M : N) : bool :=
  is_recurrent before && is_recurrent after && kept (bits_at (N0 + 1) before) 1 M N0 &&
  exceeds V M (bits_at N0 before + (c + bits_at (N0 + 1) after * M)).

Theorem A_prime : forall flat N0 V before c after M, A_prime_check N0 V before c after M = true ->
  Impossible (before ++ F c :: after) (seqcomp flat N0 [] V).
Proof.
  unfold A_prime_check; intros flat N0 V before c after M H m Hm.
  apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply kept_spec in H3; destruct H3 as (_ & _ & HM & H3); rewrite !N.pow_1_r in H3.
  apply exceeds_spec in H4; destruct H4 as [HV H4].
  rewrite map_app in Hm; cbn [map spec_of] in Hm.
  apply (A_prime_states flat N0 V (N.to_nat M) _ _ _ m (recurrent_bits _ H1) (recurrent_bits _ H2) Hm); [lia|exact HV| |].
  - rewrite states_bits by exact H1.
    replace (nN (N.to_nat N0 + 1)) with (N0 + 1)%N by lia; replace (nN (N.to_nat M - 1)) with (M - 1)%N by lia; exact H3.
  - rewrite !states_bits by assumption; replace (nN (N.to_nat N0 + 1)) with (N0 + 1)%N by lia.
    rewrite !N2Nat.id, <- N.pow_mul_r, <- !N.pow_add_r; exact H4.
Qed.
