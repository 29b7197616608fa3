(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * form=pair for layers that are no scans: two passes, splits, and a choice of k tokens

    As in PairForm.v: a layer that first rewrites its tokens by their positions is a layer of the same form. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Crossing Compose TwoPass TheoremSplit TheoremTop PairForm.
Import ListNotations.

Section Rewrite.
Context {Y : Type} (enc : nat -> token -> token).
Let all (x : nat -> token) : nat -> token := fun u => enc u (x u).

(** Two passes. *)
Definition rewriting_two_pass (l : two_pass Y) : two_pass Y := {|
  score := fun h t j x y => score l h t j (enc t x) (enc j y);
  Acc := Acc l;
  first := fun mx t x => first l mx t (enc t x);
  step := fun mx t j a x y => step l mx t j a (enc j x) (enc t y);
  result := fun mx t a x => result l mx t a (enc t x) |}.

Lemma apply_two_pass_rewriting l H x t : apply_two_pass (rewriting_two_pass l) H x t = apply_two_pass l H (all x) t.
Proof.
  unfold apply_two_pass; cbn [result first step rewriting_two_pass Acc].
  change (row_maxima (rewriting_two_pass l) H x t) with (row_maxima l H (all x) t).
  set (mx := row_maxima l H (all x) t).
  rewrite (acc_rewriting enc (first l mx) (step l mx)); reflexivity.
Qed.

(** Splits: the rewriting knows which keys a split has. *)
Fixpoint rewrite_list (places : list nat) (xs : list token) : list token :=
  match places, xs with j :: places, x :: xs => enc j x :: rewrite_list places xs | _, _ => [] end.

Lemma rewrite_list_map x places : rewrite_list places (map x places) = map (all x) places.
Proof. induction places as [|j places IH]; [reflexivity|]; cbn [map rewrite_list]; rewrite IH; reflexivity. Qed.

Definition rewriting_split (T : nat) (l : split_layer Y) : split_layer Y := {|
  Result := Result l;
  offset := offset l;
  part := fun t s x xs => part l t s (enc t x) (rewrite_list (keys l T t s) xs);
  combine := fun t x rs => combine l t (enc t x) rs |}.

Lemma apply_split_rewriting T l x t : apply_split (rewriting_split T l) T x t = apply_split l T (all x) t.
Proof.
  unfold apply_split; cbn [combine rewriting_split]. apply (f_equal (combine l t (all x t))), map_ext; intros s.
  unfold part_of; cbn [part rewriting_split].
  change (keys (rewriting_split T l) T t s) with (keys l T t s); rewrite rewrite_list_map; reflexivity.
Qed.

(** A choice. *)
Definition rewriting_top (l : top_layer Y) : top_layer Y := {|
  index_score := fun t j x y => index_score l t j (enc t x) (enc j y);
  outcome := fun t x seen => outcome l t (enc t x) (map (fun jx => (fst jx, enc (fst jx) (snd jx))) seen) |}.

Lemma apply_top_rewriting k l x t : apply_top (rewriting_top l) k x t = apply_top l k (all x) t.
Proof.
  unfold apply_top; cbn [outcome rewriting_top].
  change (seen (rewriting_top l) k x t) with (seen l k (all x) t); rewrite map_map; reflexivity.
Qed.
End Rewrite.

(** ** Functions of the prompt up to the receiver *)
Lemma apply_two_pass_ext {Y} (l : two_pass Y) H x x' t : (forall u, u <= t -> x u = x' u) -> apply_two_pass l H x t = apply_two_pass l H x' t.
Proof.
  intros E; unfold apply_two_pass.
  assert (M : row_maxima l H x t = row_maxima l H x' t).
  { unfold row_maxima; apply map_ext; intros h; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; rewrite !E by lia; reflexivity. }
  rewrite M, (acc_ext _ _ x x' t (S t)) by (intros; apply E; lia); rewrite (E t) by lia; reflexivity.
Qed.

Lemma apply_split_ext {Y} (l : split_layer Y) T x x' t : (forall u, u <= t -> x u = x' u) -> apply_split l T x t = apply_split l T x' t.
Proof.
  intros E; unfold apply_split; rewrite (E t) by lia; f_equal; apply map_ext; intros s; unfold part_of; rewrite (E t) by lia; f_equal.
  apply map_ext_in; intros j Hj; apply filter_In in Hj; destruct Hj as [Hj _]; apply in_seq in Hj; apply E; lia.
Qed.

Lemma apply_top_ext {Y} (l : top_layer Y) k x x' t : (forall u, u <= t -> x u = x' u) -> apply_top l k x t = apply_top l k x' t.
Proof.
  intros E; unfold apply_top.
  assert (S : seen l k x t = seen l k x' t).
  { apply (best_ext _ _ (S t) k); intros i Hi; rewrite !E by lia; reflexivity. }
  rewrite S, (E t) by lia; f_equal; apply map_ext_in; intros j Hj; apply filter_In in Hj; destruct Hj as [Hj _]; apply in_seq in Hj.
  rewrite E by lia; reflexivity.
Qed.

(** ** The reductions *)
Section Pair.
Variables (flat : bool) (N0 : N) (ns : list N) (V : N).
Let enc := with_argument flat (N.to_nat N0) (map N.to_nat ns).

Lemma by_argument (run run' : (nat -> token) -> nat -> nat) :
  (forall x t, run' x t = run (fun u => enc u (x u)) t) -> (forall x x' t, (forall u, u <= t -> x u = x' u) -> run x t = run x' t) ->
  (forall p t v, seqcomp_pair flat N0 ns V p t v -> run p t = v) -> forall p t v, seqcomp flat N0 ns V p t v -> run' p t = v.
Proof.
  intros E C Hs p t v Hp; destruct (pair_prompts _ _ _ _ _ _ _ Hp) as (p' & Hp' & Ep & _).
  rewrite E, <- (Hs p' t v Hp'); apply C; intros u Hu; symmetry; apply Ep, Hu.
Qed.

Theorem pair_form_two_pass H c : ImpossibleTwoPass H c (seqcomp flat N0 ns V) -> ImpossibleTwoPass H c (seqcomp_pair flat N0 ns V).
Proof.
  intros I l Hl Hs; apply (I (rewriting_two_pass enc l)); [exact Hl|].
  apply (by_argument (apply_two_pass l H)); [intros; apply apply_two_pass_rewriting|intros; apply apply_two_pass_ext; assumption|exact Hs].
Qed.

Theorem pair_form_split T c : ImpossibleSplit T c (seqcomp flat N0 ns V) -> ImpossibleSplit T c (seqcomp_pair flat N0 ns V).
Proof.
  intros I l Hl Hs; apply (I (rewriting_split enc T l)); [exact Hl|].
  apply (by_argument (apply_split l T)); [intros; apply apply_split_rewriting|intros; apply apply_split_ext; assumption|exact Hs].
Qed.

Theorem pair_form_top k : ImpossibleTop k (seqcomp flat N0 ns V) -> ImpossibleTop k (seqcomp_pair flat N0 ns V).
Proof.
  intros I l Hs; apply (I (rewriting_top enc l)).
  apply (by_argument (apply_top l k)); [intros; apply apply_top_rewriting|intros; apply apply_top_ext; assumption|exact Hs].
Qed.
End Pair.
