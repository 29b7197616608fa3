(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Cut: recurrent layers need as many states as there are prefixes that must be told apart *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose.
Import ListNotations.
Local Notation nN := N.of_nat.

(** Some continuation makes prompts of both prefixes whose answers differ. *)
Definition apart (k : task) (cut : nat) (a b : nat -> token) : Prop :=
  exists p p' t v v', (forall u, u < cut -> p u = a u) /\ (forall u, u < cut -> p' u = b u) /\
    cut <= t /\ agree cut t p p' /\ k p t v /\ k p' t v' /\ v <> v'.

(** D prefixes of one length, pairwise apart. *)
Definition prefixes_apart (k : task) (cut : nat) (D : N) : Prop :=
  exists pre : N -> nat -> token, forall i j, (i < D)%N -> (j < D)%N -> i <> j -> apart k cut (pre i) (pre j).

Theorem cut_states : forall k (cut : nat) (D : N) (T : nat) (a : list spec) (Y : Type) (m : net token Y) next answer,
  recurrent a -> fits m a -> prefixes_apart k cut D -> (states_at cut a < D)%N ->
  ~ solves_thinking k T m next answer.
Proof.
  intros k cut D T a Y m next answer Ha Hm [pre Hap] Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (think_crosses m next cut _ (recurrent_crosses m a cut Ha Hm)) as (code & Hlt & Hpre & Hpost).
  apply (pigeonhole (fun i => code (pre i))); [intros; apply Hlt|].
  intros i j Hi Hj E; destruct (N.eq_dec i j) as [|Hne]; [assumption|exfalso].
  destruct (Hap i j Hi Hj Hne) as (p & p' & t & v & v' & H1 & H2 & Hk & H3 & A1 & A2 & Hv).
  apply Hv; rewrite <- (Hs p t v A1), <- (Hs p' t v' A2).
  f_equal; apply Hpost; auto; rewrite (Hpre p (pre i)), (Hpre p' (pre j)); auto.
Qed.

(** log2 D > s, s the bits of the states at the cut. *)
Theorem cut : forall k (at_token D : N) arch, prefixes_apart k (N.to_nat at_token) D ->
  is_recurrent arch = true -> exceeds D 1 (bits_at at_token arch) = true ->
  forall T, ImpossibleThinking arch T k.
Proof.
  intros k c D arch Hap Hr H T Y m next answer Hm; apply exceeds_spec in H; destruct H as [_ H].
  rewrite N.pow_1_r in H.
  apply (cut_states k (N.to_nat c) D T (map spec_of arch)); auto; [apply recurrent_bits, Hr|].
  rewrite states_bits, N2Nat.id by exact Hr; exact H.
Qed.

(** The same with D = V^n, which may be too large to write down. *)
Theorem cut_power : forall k (at_token V n : N) arch, prefixes_apart k (N.to_nat at_token) (V ^ n) ->
  is_recurrent arch = true -> exceeds V n (bits_at at_token arch) = true ->
  forall T, ImpossibleThinking arch T k.
Proof.
  intros k c V n arch Hap Hr H T Y m next answer Hm; apply exceeds_spec in H; destruct H as [_ H].
  apply (cut_states k (N.to_nat c) (V ^ n) T (map spec_of arch)); auto; [apply recurrent_bits, Hr|].
  rewrite states_bits, N2Nat.id by exact Hr; exact H.
Qed.

(** ** Tables: what follows the cut asks for any of n entries *)
Lemma apart_tables (k : task) (n V : N) (pre : (nat -> nat) -> nat -> token) (c : nat) : (0 < V)%N ->
  (forall f f' i, (forall j, f j < N.to_nat V) -> (forall j, f' j < N.to_nat V) -> i < N.to_nat n -> f i <> f' i ->
     apart k c (pre f) (pre f')) -> prefixes_apart k c (V ^ n).
Proof.
  intros HV H; exists (fun i => pre (entry V i)); intros i j Hi Hj Hne.
  assert (E : exists y, y < N.to_nat n /\ entry V i y <> entry V j y).
  { destruct (existsb (fun y => negb (Nat.eqb (entry V i y) (entry V j y))) (seq 0 (N.to_nat n))) eqn:Ex.
    - apply existsb_exists in Ex; destruct Ex as [y [Hy Ey]]; apply in_seq in Hy; exists y; split; [lia|].
      destruct (Nat.eqb_spec (entry V i y) (entry V j y)); [discriminate|assumption].
    - exfalso; apply Hne, (entry_inj V (N.to_nat n)); try rewrite N2Nat.id; auto.
      intros y Hy; destruct (Nat.eq_dec (entry V i y) (entry V j y)) as [|Hn]; [assumption|exfalso].
      assert (C : existsb (fun y => negb (Nat.eqb (entry V i y) (entry V j y))) (seq 0 (N.to_nat n)) = true).
      { apply existsb_exists; exists y; split; [apply in_seq; lia|]. apply Nat.eqb_neq in Hn; rewrite Hn; reflexivity. }
      congruence. }
  destruct E as [y [Hy Ny]]; apply (H (entry V i) (entry V j) y); auto; intros; apply entry_lt, HV.
Qed.

(** *** assoc-recall, retrieval: N pairs (key, value), keys 0, ..., N-1 in order among the prompts, then a key *)
Definition pair_prompt (n : nat) (f : nat -> nat) (q : nat) : list token :=
  flat_map (fun i => [num i; num (f i)]) (seq 0 n) ++ [num q].

Definition assoc_recall (N V : N) : task := fun p t v =>
  exists f q, (forall i, i < N.to_nat N -> f i < N.to_nat V) /\ q < N.to_nat N /\
  p = at_ (pair_prompt (N.to_nat N) f q) /\ t = 2 * N.to_nat N /\ v = f q.

Lemma pairs_length (f : nat -> nat) s n : length (flat_map (fun i => [num i; num (f i)]) (seq s n)) = 2 * n.
Proof. revert s; induction n as [|n IH]; intros s; [reflexivity|]; cbn [seq flat_map]; rewrite app_length, IH; simpl; lia. Qed.

Lemma assoc_recall_apart (N V : N) : (0 < V)%N -> prefixes_apart (assoc_recall N V) (N.to_nat (2 * N)) (V ^ N).
Proof.
  intros HV; apply (apart_tables _ N V (fun f => at_ (pair_prompt (N.to_nat N) f 0))); [exact HV|].
  intros f f' i Hf Hf' Hi Hne; replace (N.to_nat (2 * N)) with (2 * N.to_nat N) by lia.
  set (n := N.to_nat N) in *.
  exists (at_ (pair_prompt n f i)), (at_ (pair_prompt n f' i)), (2 * n), (f i), (f' i).
  split; [|split; [|split; [|split; [|split; [|split]]]]].
  - intros u Hu; unfold at_, pair_prompt; rewrite !app_nth1 by (rewrite pairs_length; exact Hu); reflexivity.
  - intros u Hu; unfold at_, pair_prompt; rewrite !app_nth1 by (rewrite pairs_length; exact Hu); reflexivity.
  - lia.
  - intros u Hu; unfold at_, pair_prompt; rewrite !app_nth2 by (rewrite pairs_length; lia); rewrite !pairs_length; reflexivity.
  - exists f, i; repeat split; auto.
  - exists f', i; repeat split; auto.
  - exact Hne.
Qed.

Theorem cut_assoc_recall N V arch : is_recurrent arch && exceeds V N (bits_at (2 * N) arch) = true ->
  forall T, ImpossibleThinking arch T (assoc_recall N V).
Proof.
  intros H; apply andb_prop in H; destruct H as [Hr H]; pose proof (exceeds_spec _ _ _ H) as [HV _].
  apply (cut_power _ (2 * N) V N); auto; apply assoc_recall_apart, HV.
Qed.

(** *** string-equality: two strings of N bits, the answer is whether they are equal *)
Definition string_equality (N : N) : task := fun p t v =>
  exists u u' : nat -> nat, (forall i, i < N.to_nat N -> u i < 2 /\ u' i < 2) /\
  p = at_ (table u (N.to_nat N) ++ table u' (N.to_nat N)) /\ S t = 2 * N.to_nat N /\
  (v = 1 <-> forall i, i < N.to_nat N -> u i = u' i) /\ v < 2.

Lemma string_equality_apart N : (0 < N)%N -> prefixes_apart (string_equality N) (N.to_nat N) (2 ^ N).
Proof.
  intros HN; apply (apart_tables _ N 2 (fun f => at_ (table f (N.to_nat N)))); [lia|].
  intros f f' i Hf Hf' Hi Hne; set (n := N.to_nat N) in *.
  change (N.to_nat 2) with 2 in Hf, Hf'.
  exists (at_ (table f n ++ table f n)), (at_ (table f' n ++ table f n)), (2 * n - 1), 1, 0.
  split; [|split; [|split; [|split; [|split; [|split]]]]].
  - intros u Hu; unfold at_; rewrite app_nth1 by (rewrite table_length; exact Hu); reflexivity.
  - intros u Hu; unfold at_; rewrite app_nth1 by (rewrite table_length; exact Hu); reflexivity.
  - lia.
  - intros u Hu; unfold at_; rewrite !app_nth2 by (rewrite table_length; lia); rewrite !table_length; reflexivity.
  - exists f, f; fold n; repeat split; auto; lia.
  - exists f', f; fold n; repeat split; auto; try lia; try discriminate.
    intros C; exfalso; apply Hne; symmetry; apply C, Hi.
  - discriminate.
Qed.

Theorem cut_string_equality N arch : is_recurrent arch && exceeds 2 N (bits_at N arch) = true ->
  forall T, ImpossibleThinking arch T (string_equality N).
Proof.
  intros H; apply andb_prop in H; destruct H as [Hr H].
  assert (HN : (0 < N)%N).
  { destruct N; [|lia]. unfold exceeds in H; rewrite N.mul_0_l in H; apply andb_prop in H; destruct H as [_ H]; apply N.ltb_lt in H; lia. }
  apply (cut_power _ N 2 N); auto; apply string_equality_apart, HN.
Qed.
