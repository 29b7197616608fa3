(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The theorems are not vacuous: what they exclude is possible a little above, and full layers do it with almost nothing *)
From Coq Require Import Arith NArith List Lia Eqdep_dec Bool Sumbool.
From Rung Require Import Model Counting Crossing Compose TheoremA.
Import ListNotations.
Local Notation nN := N.of_nat.

Definition fin (k : N) : Type := { z : N | (z <? k)%N = true }.

Lemma fin_card k : card_le (fin k) k.
Proof.
  exists (fun z => proj1_sig z); split.
  - intros [a Ha] [b Hb] E; simpl in E; subst b. f_equal; apply UIP_dec, bool_dec.
  - intros [a Ha]; apply N.ltb_lt; exact Ha.
Qed.

Definition mk (k : N) (d : fin k) (z : N) : fin k :=
  match sumbool_of_bool (z <? k)%N with left H => exist _ z H | right _ => d end.

Lemma mk_val k d z : (z < k)%N -> proj1_sig (mk k d z) = z.
Proof.
  intros H; unfold mk; destruct (sumbool_of_bool (z <? k)%N) as [E|E]; [reflexivity|]. apply N.ltb_ge in E; lia.
Qed.

Definition value_of (x : token) : nat := match x with num v => v | pick _ => 0 end.

Lemma eva_query n f q : at_ (eva_prompt n f q) n = num q.
Proof. unfold at_, eva_prompt; rewrite app_nth2, table_length, Nat.sub_diag by (rewrite table_length; lia); reflexivity. Qed.

(** One full layer with V accumulator values looks up in a table of any length. *)
Theorem full_solves_eva : forall N V, (0 < V)%N -> exists m, fits m [SF (fun _ => V)] /\ solves (eva N V) m.
Proof.
  intros N V HV.
  assert (H0 : (0 <? V)%N = true) by (apply N.ltb_lt; lia).
  set (zero := exist _ 0%N H0 : fin V).
  set (upd := fun (t j : nat) (a : fin V) xj xt => if j =? value_of xt then mk V zero (nN (value_of xj)) else a).
  exists (Then (Full (fun _ => fin V) (fun _ _ => zero) upd (fun t a xt => N.to_nat (proj1_sig a))) (Out (fun _ y => y))).
  split; [simpl; split; auto; intros; apply fin_card|].
  intros p t v (f & q & Hf & Hq & -> & -> & ->); set (n := N.to_nat N) in *.
  assert (E : forall j, q < j <= S n ->
     acc (A := fun _ => fin V) (fun _ _ => zero) upd (at_ (eva_prompt n f q)) n j = mk _ zero (nN (f q))).
  { induction j as [|j IH]; intros Hj; [lia|].
    cbn [acc]; unfold upd at 1; rewrite eva_query; cbn [value_of].
    destruct (Nat.eqb_spec j q) as [->|Hne]; [rewrite eva_before by lia; reflexivity|apply IH; lia]. }
  cbn [run apply]; rewrite (E (S n)) by lia.
  rewrite mk_val by (specialize (Hf q Hq); lia); lia.
Qed.

(** Theorem A is exact: V^N states are enough. *)
Theorem A_tight : forall N V, (0 < V)%N ->
  exists m, fits m [SR (fun t => V ^ nN (Nat.min t (N.to_nat N)))%N] /\ solves (eva N V) m.
Proof.
  intros N V HV; set (n := N.to_nat N).
  set (B := fun t => (V ^ nN (Nat.min t n))%N).
  assert (HB : forall t, (0 <? B t)%N = true).
  { intros t; apply N.ltb_lt; pose proof (N.pow_nonzero V (nN (Nat.min t n))); unfold B; lia. }
  set (zero := fun t => exist _ 0%N (HB t) : fin (B t)).
  set (G := fun t (h : fin (B t)) (x : token) =>
     mk (B (S t)) (zero (S t)) (if t <? n then (proj1_sig h + nN (value_of x) * V ^ nN t)%N else proj1_sig h)).
  set (h0 := zero 0).
  exists (Then (Rec (fun t => fin (B t)) h0 G (fun t h _ x => entry V (proj1_sig h) (value_of x))) (Out (fun _ y => y))).
  split; [simpl; split; auto; intros; apply fin_card|].
  intros p t v (f & q & Hf & Hq & -> & -> & ->); fold n in Hf, Hq |- *; cbn [run apply].
  set (x := at_ (eva_prompt n f q)).
  set (val := fun t => proj1_sig (state (St := fun t => fin (B t)) h0 G x t)).
  assert (Hval : forall t, (val t < B t)%N).
  { intros t; unfold val; destruct (state h0 G x t) as [z Hz]; apply N.ltb_lt; exact Hz. }
  assert (Step : forall t, t < n -> val (S t) = (val t + nN (f t) * V ^ nN t)%N).
  { intros t Ht; unfold val at 1; cbn [state]; unfold G at 1.
    pose proof (proj2 (Nat.ltb_lt t n) Ht) as Ht'; rewrite Ht'.
    replace (x t) with (num (f t)) by (symmetry; apply eva_before; exact Ht); cbn [value_of]; fold (val t).
    rewrite mk_val; [reflexivity|].
    pose proof (Hval t) as L; unfold B in L |- *.
    rewrite (Nat.min_l t n) in L by lia; rewrite (Nat.min_l (S t) n) by lia.
    rewrite Nat2N.inj_succ, N.pow_succ_r'; specialize (Hf t Ht).
    apply N.lt_le_trans with (V ^ nN t + nN (f t) * V ^ nN t)%N; [lia|].
    rewrite N.add_comm, <- N.mul_succ_l; apply N.mul_le_mono_r; lia. }
  assert (Dig : forall t, t <= n -> forall i, i < t -> entry V (val t) i = f i).
  { induction t as [|t IH]; intros Ht i Hi; [lia|].
    rewrite Step by lia; unfold entry.
    assert (P0 : forall k, (V ^ k <> 0)%N) by (intros k; apply N.pow_nonzero; lia).
    pose proof (Hval t) as L; unfold B in L; rewrite Nat.min_l in L by lia.
    destruct (Nat.eq_dec i t) as [->|Hne].
    - rewrite N.div_add by auto; rewrite N.div_small by exact L.
      rewrite N.mod_small by (specialize (Hf t ltac:(lia)); lia); lia.
    - replace (nN t) with (nN i + (1 + nN (t - i - 1)))%N by lia.
      rewrite N.pow_add_r, (N.pow_add_r V 1), N.pow_1_r.
      replace (val t + nN (f t) * (V ^ nN i * (V * V ^ nN (t - i - 1))))%N
        with (val t + (nN (f t) * V ^ nN (t - i - 1) * V) * V ^ nN i)%N by lia.
      rewrite N.div_add by auto; rewrite N.mod_add by lia; apply IH; lia. }
  fold (val n); unfold x; rewrite eva_query; cbn [value_of]; apply Dig; lia.
Qed.
