(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem A: no full layer

    Recurrent layers of s bits in all solve eva, or index, only if s >= N log2 V, with any chain of thought; a composition
    only if the same holds for its first table. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose.
Import ListNotations.
Local Notation nN := N.of_nat.

Section Eva.
Variables (n : nat) (f : nat -> nat) (q : nat).

Lemma eva_before t : t < n -> at_ (eva_prompt n f q) t = num (f t).
Proof. intros H; unfold at_, eva_prompt; rewrite app_nth1 by (rewrite table_length; exact H); apply table_nth, H. Qed.

Lemma eva_after t g : n <= t -> at_ (eva_prompt n f q) t = at_ (eva_prompt n g q) t.
Proof.
  intros H; unfold at_, eva_prompt; rewrite !app_nth2 by (rewrite table_length; exact H).
  rewrite !table_length; reflexivity.
Qed.
End Eva.

Theorem A_states : forall (N V : N) (T : nat) (a : list spec) (Y : Type) (m : net token Y) next answer,
  recurrent a -> fits m a -> (0 < V)%N -> (states_at (N.to_nat N) a < V ^ N)%N ->
  ~ solves_thinking (eva N V) T m next answer.
Proof.
  intros N V T a Y m next answer Ha Hm HV Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  set (n := N.to_nat N) in *.
  destruct (think_crosses m next n _ (recurrent_crosses m a n Ha Hm)) as (code & Hlt & Hpre & Hpost).
  replace N with (nN n) by (unfold n; lia).
  apply (tables_le V n _ (fun f => code (at_ (eva_prompt n f 0)))); [exact HV|intros; apply Hlt|].
  intros f f' Hf Hf' E q Hq.
  assert (K : forall g, (forall i, g i < N.to_nat V) -> eva N V (at_ (eva_prompt n g q)) n (g q)).
  { intros g Hg; exists g, q; repeat split; auto. }
  rewrite <- (Hs _ _ _ (K f Hf)), <- (Hs _ _ _ (K f' Hf')).
  f_equal; apply Hpost; [lia| |intros u Hu; apply eva_after; lia].
  rewrite (Hpre _ (at_ (eva_prompt n f 0))), E; [apply Hpre|]; intros u Hu; rewrite !eva_before by exact Hu; reflexivity.
Qed.

(** What `rung bound` evaluates: N log2 V > s, s the bits of all states after N tokens. *)
Definition A_check (N V : N) (arch : list bits) : bool := is_recurrent arch && exceeds V N (bits_at N arch).

Theorem A : forall N V arch, A_check N V arch = true -> forall T, ImpossibleThinking arch T (eva N V).
Proof.
  unfold A_check; intros N V arch H T Y m next answer Hm; apply andb_prop in H; destruct H as [Hr H].
  apply exceeds_spec in H; destruct H as [HV H].
  apply (A_states N V T (map spec_of arch)); auto; [apply recurrent_bits, Hr|].
  rewrite states_bits, N2Nat.id by exact Hr; exact H.
Qed.

Corollary A_plain N V arch : A_check N V arch = true -> Impossible arch (eva N V).
Proof. intros H; apply plain_of_thinking, A, H. Qed.

(** ** Composition *)
Theorem A_compose_states : forall flat (N0 : N) ns (V : N) (T : nat) (a : list spec) (Y : Type) (m : net token Y) next answer,
  positive N0 ns = true -> recurrent a -> fits m a -> (0 < V)%N ->
  (states_at (N.to_nat (first_table flat N0 ns)) a < V ^ first_table flat N0 ns)%N ->
  ~ solves_thinking (seqcomp flat N0 ns V) T m next answer.
Proof.
  intros flat N0 ns V T a Y m next answer Hp Ha Hm HV Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (positive_spec N0 ns Hp) as [H0 Hn].
  set (n0 := N.to_nat N0) in *; set (ns' := map N.to_nat ns) in *.
  pose proof (first_table_spec flat N0 ns) as En; fold n0 ns' in En.
  set (n := N.to_nat (first_table flat N0 ns)) in *.
  destruct (think_crosses m next n _ (recurrent_crosses m a n Ha Hm)) as (code & Hlt & Hpre & Hpost).
  replace (first_table flat N0 ns) with (nN n) by (unfold n; lia).
  apply (tables_le V n _ (fun f => code (at_ (ask flat n0 ns' f 0)))); [exact HV|intros; apply Hlt|].
  intros f f' Hf Hf' E u Hu.
  pose proof (seqcomp_asks flat N0 ns V f u Hp Hf Hu) as K; pose proof (seqcomp_asks flat N0 ns V f' u Hp Hf' Hu) as K'.
  fold n0 ns' in K, K'.
  rewrite <- (Hs _ _ _ K), <- (Hs _ _ _ K').
  pose proof (last_after flat n0 ns') as Hl; rewrite En in Hl.
  f_equal; apply Hpost; [lia| |intros t Ht; apply ask_rest; try rewrite En; try lia; auto].
  rewrite (Hpre _ (at_ (ask flat n0 ns' f 0))), E; [apply Hpre|]; intros t Ht; rewrite !ask_first by (try rewrite En; auto); reflexivity.
Qed.

Definition A_compose_check (flat : bool) (N0 : N) (ns : list N) (V : N) (arch : list bits) : bool :=
  positive N0 ns && is_recurrent arch && exceeds V (first_table flat N0 ns) (bits_at (first_table flat N0 ns) arch).

Theorem A_compose : forall flat N0 ns V arch, A_compose_check flat N0 ns V arch = true ->
  forall T, ImpossibleThinking arch T (seqcomp flat N0 ns V).
Proof.
  unfold A_compose_check; intros flat N0 ns V arch H T Y m next answer Hm.
  apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply exceeds_spec in H3; destruct H3 as [HV H3].
  apply (A_compose_states flat N0 ns V T (map spec_of arch)); auto; [apply recurrent_bits, H2|].
  rewrite states_bits, N2Nat.id by exact H2; exact H3.
Qed.

Corollary A_compose_plain flat N0 ns V arch : A_compose_check flat N0 ns V arch = true ->
  Impossible arch (seqcomp flat N0 ns V).
Proof. intros H; apply plain_of_thinking, A_compose, H. Qed.
