(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * How long the prompts of a task are

    A claim "any size with at most n tokens" is refuted by one size, whose prompts must not be longer. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut.
Import ListNotations.

(** Every prompt ends, with the token at which the answer is read, before position n. *)
Definition within (n : N) (k : task) : Prop := forall p t v, k p t v -> (N.of_nat t < n)%N.

Lemma seqcomp_within n flat N0 ns V : (tokens flat N0 ns <=? n)%N = true -> within n (seqcomp flat N0 ns V).
Proof.
  intros H p t v (z & z0 & w & _ & _ & _ & _ & _ & _ & Ht & _); apply N.leb_le in H.
  rewrite prompt_length in Ht; unfold last_at, tokens in *.
  pose proof (total_at_spec flat N0 ns (S (length ns))) as E.
  rewrite levels_spec, E in Ht; lia.
Qed.

Lemma eva_within n N V : (N <? n)%N = true -> within n (eva N V).
Proof. intros H p t v (f & q & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Lemma assoc_recall_within n N V : (2 * N <? n)%N = true -> within n (assoc_recall N V).
Proof. intros H p t v (f & q & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Lemma string_equality_within n N : (2 * N <=? n)%N = true -> within n (string_equality N).
Proof. intros H p t v (u & u' & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.
