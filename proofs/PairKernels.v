(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * form=pair for layers that are no scans: two passes, splits, and a choice of k tokens

    As in PairForm.v: a layer that first rewrites its tokens by their positions is a layer of the same form. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Crossing Compose TwoPass Eager TheoremSplit TheoremTop PairForm.
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
  change (maxima (score (rewriting_two_pass l)) H x t (S t)) with (maxima (score l) H (all x) t (S t)).
  set (mx := maxima (score l) H (all x) t (S t)).
  rewrite (acc_rewriting enc (first l mx) (step l mx)); reflexivity.
Qed.

(** One pass with running maxima. *)
Definition rewriting_one_pass (l : one_pass Y) : one_pass Y := {|
  score_of := fun h t j x y => score_of l h t j (enc t x) (enc j y);
  Sum := Sum l;
  begin := fun t x => begin l t (enc t x);
  add := fun m m' t j a x y => add l m m' t j a (enc j x) (enc t y);
  output := fun m t a x => output l m t a (enc t x) |}.

Lemma apply_one_pass_rewriting l H x t : apply_one_pass (rewriting_one_pass l) H x t = apply_one_pass l H (all x) t.
Proof.
  unfold apply_one_pass; cbn [output rewriting_one_pass Sum].
  change (maxima (score_of (rewriting_one_pass l)) H x t (S t)) with (maxima (score_of l) H (all x) t (S t)).
  assert (E : forall j, sum_of (rewriting_one_pass l) H x t j = sum_of l H (all x) t j).
  { induction j as [|j IH]; [reflexivity|]; cbn [sum_of]; rewrite IH; reflexivity. }
  rewrite E; reflexivity.
Qed.

(** Rounded weights. *)
Definition rewriting_eager (l : eager Y) : eager Y := {|
  weigh := fun h t j x y => weigh l h t j (enc t x) (enc j y);
  Weights := Weights l;
  weights0 := fun mx t x => weights0 l mx t (enc t x);
  weigh_in := fun mx t j a x y => weigh_in l mx t j a (enc j x) (enc t y);
  Values := Values l;
  values0 := fun mx t s x => values0 l mx t s (enc t x);
  value_in := fun mx t s j a x y => value_in l mx t s j a (enc j x) (enc t y);
  gives := fun mx t s a x => gives l mx t s a (enc t x) |}.

Lemma apply_eager_rewriting l H x t : apply_eager (rewriting_eager l) H x t = apply_eager l H (all x) t.
Proof.
  unfold apply_eager; cbn [gives rewriting_eager Weights Values].
  change (maxima (weigh (rewriting_eager l)) H x t (S t)) with (maxima (weigh l) H (all x) t (S t)).
  set (mx := maxima (weigh l) H (all x) t (S t)).
  assert (E : weights_of (rewriting_eager l) mx x t (S t) = weights_of l mx (all x) t (S t)).
  { unfold weights_of; cbn [weights0 weigh_in rewriting_eager]; apply (acc_rewriting enc (weights0 l mx) (weigh_in l mx)). }
  rewrite E; set (s := weights_of l mx (all x) t (S t)).
  assert (E' : values_of (rewriting_eager l) mx x t s (S t) = values_of l mx (all x) t s (S t)).
  { unfold values_of; cbn [values0 value_in rewriting_eager].
    generalize (S t); intros n; induction n as [|n IH]; [reflexivity|]; cbn [acc]; rewrite IH; reflexivity. }
  rewrite E'; reflexivity.
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
Lemma maxima_ext sc H x x' t j : (forall u, u <= t -> x u = x' u) -> j <= S t -> maxima sc H x t j = maxima sc H x' t j.
Proof.
  intros E Hj; unfold maxima; apply map_ext; intros h; f_equal; apply map_ext_in; intros i Hi; apply in_seq in Hi; rewrite !E by lia; reflexivity.
Qed.

Lemma apply_one_pass_ext {Y} (l : one_pass Y) H x x' t : (forall u, u <= t -> x u = x' u) -> apply_one_pass l H x t = apply_one_pass l H x' t.
Proof.
  intros E; unfold apply_one_pass.
  assert (M : forall j, j <= S t -> sum_of l H x t j = sum_of l H x' t j).
  { induction j as [|j IH]; intros Hj; cbn [sum_of]; [rewrite (E t) by lia; reflexivity|].
    rewrite IH, (maxima_ext _ H x x' t j E), (maxima_ext _ H x x' t (S j) E), (E j), (E t) by lia; reflexivity. }
  rewrite M, (maxima_ext _ H x x' t (S t) E), (E t) by lia; reflexivity.
Qed.

Lemma apply_eager_ext {Y} (l : eager Y) H x x' t : (forall u, u <= t -> x u = x' u) -> apply_eager l H x t = apply_eager l H x' t.
Proof.
  intros E; unfold apply_eager, weights_of, values_of.
  rewrite (maxima_ext _ H x x' t (S t) E) by lia; set (mx := maxima _ H x' t (S t)).
  rewrite (acc_ext (weights0 l mx) (weigh_in l mx) x x' t (S t)) by (intros; apply E; lia).
  rewrite (acc_ext (fun _ : nat => values0 l mx t _) (fun _ : nat => value_in l mx t _) x x' t (S t)) by (intros; apply E; lia).
  rewrite (E t) by lia; reflexivity.
Qed.

Lemma apply_two_pass_ext {Y} (l : two_pass Y) H x x' t : (forall u, u <= t -> x u = x' u) -> apply_two_pass l H x t = apply_two_pass l H x' t.
Proof.
  intros E; unfold apply_two_pass.
  rewrite (maxima_ext _ H x x' t (S t) E) by lia; rewrite (acc_ext _ _ x x' t (S t)) by (intros; apply E; lia); rewrite (E t) by lia; reflexivity.
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

Theorem pair_form_one_pass H c : ImpossibleOnePass H c (seqcomp flat N0 ns V) -> ImpossibleOnePass H c (seqcomp_pair flat N0 ns V).
Proof.
  intros I l Hl Hs; apply (I (rewriting_one_pass enc l)); [exact Hl|].
  apply (by_argument (apply_one_pass l H)); [intros; apply apply_one_pass_rewriting|intros; apply apply_one_pass_ext; assumption|exact Hs].
Qed.

Theorem pair_form_eager H d a : ImpossibleEager H d a (seqcomp flat N0 ns V) -> ImpossibleEager H d a (seqcomp_pair flat N0 ns V).
Proof.
  intros I l Hl Hs; apply (I (rewriting_eager enc l)); [exact Hl|].
  apply (by_argument (apply_eager l H)); [intros; apply apply_eager_rewriting|intros; apply apply_eager_ext; assumption|exact Hs].
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
