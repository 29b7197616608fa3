(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cut of two-sum, form query

    What follows the numbers asks whether one of them is minus the query, so prefixes are as good as the sets of their numbers: any set
    of 1 to N residues, the first repeated. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut Sparse Within Binomial.
Import ListNotations.
Local Notation nN := N.of_nat.

(** [lead] tokens that say nothing (the blank), N numbers below M, then the query y: is there a number x with x + y = 0 (mod M)? *)
Definition two_sum_prompt (lead : nat) (x : list nat) (y : nat) : list token := repeat (num 0) lead ++ map num x ++ [num y].

Definition two_sum (lead N M : N) : task := fun p t v =>
  exists x y, length x = N.to_nat N /\ (forall a, In a x -> a < N.to_nat M) /\ y < N.to_nat M /\
  p = at_ (two_sum_prompt (N.to_nat lead) x y) /\ t = N.to_nat lead + N.to_nat N /\
  (v = 1 <-> exists a, In a x /\ (a + y) mod N.to_nat M = 0) /\ v < 2.

Lemma two_sum_within n lead N M : (lead + N <? n)%N = true -> within n (two_sum lead N M).
Proof. intros H p t v (x & y & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Lemma two_sum_before lead x y x' y' t : length x = length x' -> lead + length x <= t ->
  at_ (two_sum_prompt lead x y) t = at_ (two_sum_prompt lead x' y) t \/ y <> y'.
Proof.
  intros E H; left; unfold at_, two_sum_prompt; rewrite !(app_nth2 (repeat _ _)) by (rewrite repeat_length; lia).
  rewrite !app_nth2 by (rewrite map_length, ?repeat_length; lia); rewrite !repeat_length, !map_length, E; reflexivity.
Qed.

Lemma two_sum_prefix lead x y y' t : t < lead + length x -> at_ (two_sum_prompt lead x y) t = at_ (two_sum_prompt lead x y') t.
Proof.
  intros H; unfold at_, two_sum_prompt; rewrite !app_assoc.
  rewrite !(app_nth1 (repeat _ _ ++ _)) by (rewrite app_length, repeat_length, map_length; lia); reflexivity.
Qed.

Lemma minus_mod v a M : v < M -> a < M -> (a + (M - v) mod M) mod M = 0 <-> a = v.
Proof.
  intros Hv Ha; destruct (Nat.eq_dec v 0) as [->|Hn].
  - rewrite Nat.sub_0_r, Nat.mod_same, Nat.add_0_r, Nat.mod_small by lia; reflexivity.
  - rewrite (Nat.mod_small (M - v)) by lia; split; [|intros ->; replace (v + (M - v)) with M by lia; apply Nat.mod_same; lia].
    intros H; destruct (Nat.lt_ge_cases (a + (M - v)) M) as [L|L]; [rewrite Nat.mod_small in H by exact L; lia|].
    replace (a + (M - v)) with ((a - v) + 1 * M) in H by lia; rewrite Nat.mod_add, Nat.mod_small in H by lia; lia.
Qed.

(** A value in the one set and not in the other tells them apart. *)
Lemma two_sum_apart_by (lead N M : N) s s' v : let n := N.to_nat N in let m := N.to_nat M in
  s <> [] -> s' <> [] -> length s <= n -> length s' <= n -> (forall a, In a s -> a < m) -> (forall a, In a s' -> a < m) ->
  In v s -> ~ In v s' ->
  apart (two_sum lead N M) (N.to_nat (lead + N)) (at_ (two_sum_prompt (N.to_nat lead) (filled n s) 0))
    (at_ (two_sum_prompt (N.to_nat lead) (filled n s') 0)).
Proof.
  intros n m Hs Hs' Ls Ls' Hm Hm' Hv Hv'; set (l := N.to_nat lead).
  replace (N.to_nat (lead + N)) with (l + n) by (unfold l, n; lia).
  set (y := (m - v) mod m).
  assert (F : length (filled n s) = n /\ length (filled n s') = n) by (split; apply filled_length; assumption).
  assert (Hvm : v < m) by auto.
  assert (Hy : y < m) by (apply Nat.mod_upper_bound; lia).
  exists (at_ (two_sum_prompt l (filled n s) y)), (at_ (two_sum_prompt l (filled n s') y)), (l + n), 1, 0.
  split; [|split; [|split; [|split; [|split; [|split]]]]].
  - intros u Hu; apply two_sum_prefix; destruct F as [-> _]; exact Hu.
  - intros u Hu; apply two_sum_prefix; destruct F as [_ ->]; exact Hu.
  - lia.
  - intros u Hu; destruct (two_sum_before l (filled n s) y (filled n s') y u) as [E|E]; [lia|lia|exact E|congruence].
  - exists (filled n s), y; fold n m l; repeat split; auto; try apply F; try lia.
    + intros a Ha; apply Hm, (filled_in n); auto.
    + intros _; exists v; split; [apply filled_in; auto|]. apply minus_mod; auto.
  - exists (filled n s'), y; fold n m l; repeat split; auto; try apply F; try lia; try discriminate.
    + intros a Ha; apply Hm', (filled_in n); auto.
    + intros (a & Ha & E); exfalso; apply (proj1 (filled_in n s' a Hs')) in Ha; apply minus_mod in E; auto; subst a; contradiction.
  - discriminate.
Qed.

Lemma apart_sym k c a b : apart k c a b -> apart k c b a.
Proof.
  intros (p & p' & t & v & v' & H1 & H2 & H3 & H4 & H5 & H6 & H7); exists p', p, t, v', v; repeat split; auto.
  intros u Hu; symmetry; apply H4, Hu.
Qed.

Definition nonempty_sets (M N : nat) : list (list nat) := filter (fun s => match s with [] => false | _ => true end) (subs (seq 0 M) N).

Lemma nonempty_sets_length M N : (cnt M N - 1 <= nN (length (nonempty_sets M N)))%N.
Proof.
  pose proof (subs_length (seq 0 M) N) as L; rewrite seq_length in L; rewrite <- L; unfold nonempty_sets.
  pose proof (subs_NoDup (seq 0 M) N (seq_NoDup M 0)) as Hd.
  assert (G : forall l : list (list nat), NoDup l ->
    length l <= S (length (filter (fun s => match s with [] => false | _ => true end) l))).
  { induction l as [|s l IH]; intros H; [simpl; lia|]; inversion H as [|? ? Hn Hl]; subst; cbn [filter].
    destruct s as [|a s]; [|cbn [length]; specialize (IH Hl); lia].
    replace (filter (fun s => match s with [] => false | _ => true end) l) with l; [cbn [length]; lia|].
    clear IH H Hl; induction l as [|s l IH]; [reflexivity|]; cbn [filter]; destruct s; [exfalso; apply Hn; left; reflexivity|].
    f_equal; apply IH; intros C; apply Hn; right; exact C. }
  specialize (G _ Hd); lia.
Qed.

Lemma two_sum_apart (lead N M : N) : prefixes_apart (two_sum lead N M) (N.to_nat (lead + N)) (cnt (N.to_nat M) (N.to_nat N) - 1).
Proof.
  set (n := N.to_nat N); set (m := N.to_nat M); set (sets := nonempty_sets m n).
  exists (fun i => at_ (two_sum_prompt (N.to_nat lead) (filled n (nth (N.to_nat i) sets [])) 0)).
  intros i j Hi Hj Hne; pose proof (nonempty_sets_length m n) as HL; fold sets in HL.
  set (s := nth (N.to_nat i) sets []); set (s' := nth (N.to_nat j) sets []).
  assert (Is : In s sets) by (apply nth_In; lia); assert (Is' : In s' sets) by (apply nth_In; lia).
  assert (Hne' : s <> s').
  { intros E; apply Hne, N2Nat.inj, (NoDup_nth sets []); [apply NoDup_filter, subs_NoDup, seq_NoDup|lia|lia|exact E]. }
  apply filter_In in Is, Is'; destruct Is as [Is Es], Is' as [Is' Es'].
  pose proof (subs_in _ _ _ Is) as [Ls Cs]; pose proof (subs_in _ _ _ Is') as [Ls' Cs'].
  assert (B : forall a, In a s -> a < m) by (intros a Ha; apply Cs, in_seq in Ha; lia).
  assert (B' : forall a, In a s' -> a < m) by (intros a Ha; apply Cs', in_seq in Ha; lia).
  assert (Ns : s <> []) by (intros E; rewrite E in Es; discriminate).
  assert (Ns' : s' <> []) by (intros E; rewrite E in Es'; discriminate).
  destruct (forallb (fun v => mem v s') s) eqn:F1; [destruct (forallb (fun v => mem v s) s') eqn:F2|].
  - exfalso; apply Hne', (subs_ext (seq 0 m) n (seq_NoDup _ _)); auto.
    rewrite forallb_forall in F1, F2; intros v; split; intros Hv; apply mem_spec; auto.
  - assert (E : existsb (fun v => negb (mem v s)) s' = true).
    { destruct (existsb (fun v => negb (mem v s)) s') eqn:X; [reflexivity|]. rewrite <- F2; apply forallb_forall; intros v Hv.
      destruct (mem v s) eqn:Y; [reflexivity|]. assert (existsb (fun v => negb (mem v s)) s' = true); [|congruence].
      apply existsb_exists; exists v; rewrite Y; auto. }
    apply existsb_exists in E; destruct E as [v [Hv E]]; apply apart_sym, (two_sum_apart_by lead N M s' s v); auto.
    intros C; apply mem_spec in C; rewrite C in E; discriminate.
  - assert (E : existsb (fun v => negb (mem v s')) s = true).
    { destruct (existsb (fun v => negb (mem v s')) s) eqn:X; [reflexivity|]. rewrite <- F1; apply forallb_forall; intros v Hv.
      destruct (mem v s') eqn:Y; [reflexivity|]. assert (existsb (fun v => negb (mem v s')) s = true); [|congruence].
      apply existsb_exists; exists v; rewrite Y; auto. }
    apply existsb_exists in E; destruct E as [v [Hv E]]; apply (two_sum_apart_by lead N M s s' v); auto.
    intros C; apply mem_spec in C; rewrite C in E; discriminate.
Qed.

(** The sets of 1 to N out of M are more than 2^bits. *)
Definition cut_two_sum_check (lead N M : N) (arch : list bits) : bool :=
  is_recurrent arch && exceeds (weighted_of M N 1 - 1) 1 (bits_at (lead + N) arch).

Theorem cut_two_sum : forall lead N M arch, cut_two_sum_check lead N M arch = true ->
  forall T, ImpossibleThinking arch T (two_sum lead N M).
Proof.
  unfold cut_two_sum_check; intros lead N M arch H; apply andb_prop in H; destruct H as [Hr H].
  apply (cut _ (lead + N) (weighted_of M N 1 - 1)%N); auto; rewrite weighted_of_spec, weighted_cnt; apply two_sum_apart.
Qed.
