(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Cut one: one layer that mixes tokens, full, or full beside recurrent heads

    If continuations that end with one and the same last token, where the answer is asked, tell prefixes apart, the accumulator of
    that token and the states must have as many values as there are prefixes. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut.
Import ListNotations.
Local Notation nN := N.of_nat.

(** One layer with full heads of c bits, whose other heads have s bits of state after [at_token] tokens. *)
Definition one_layer (at_token c s : N) (arch : list bits) : bool :=
  match arch with
  | [F c'] => (c' =? c)%N && (s =? 0)%N
  | [RF s' c'] => (c' =? c)%N && (s' =? s)%N
  | [LF s' l c'] => (c' =? c)%N && (s' + l * popcount at_token =? s)%N
  | _ => false
  end.

Lemma as_both at_token (arch : list bits) c s (m : net token nat) : one_layer at_token c s arch = true -> fits m (map spec_of arch) ->
  exists Y St h0 G A init upd out (f : nat -> Y -> nat),
    card_le (St (N.to_nat at_token)) (2 ^ s) /\ (forall t, card_le (A t) (2 ^ c)) /\
    (forall x t, run m x t = f t (apply (@Both token Y St h0 G A init upd out) x t)).
Proof.
  intros Ho Hm; destruct arch as [|b [|]]; try discriminate Ho; try (destruct b; discriminate Ho).
  cbn [map spec_of] in Hm; destruct m as [|Y l rest]; try contradiction;
    destruct Hm as [Hl Hrest]; destruct rest as [f|]; try contradiction.
  destruct b; try discriminate Ho; apply andb_prop in Ho; destruct Ho as [E1 E2]; apply N.eqb_eq in E1, E2; subst;
    destruct l; simpl in Hl; try contradiction.
  - exists Y, (fun _ => unit), tt, (fun _ _ _ => tt), A, init, upd, (fun t _ _ a x => out t a x), f.
    split; [apply card_unit|]. split; [exact Hl|]. reflexivity.
  - exists Y, St, h0, G, A, init, upd, out, f. split; [apply Hl|]. split; [apply Hl|]. reflexivity.
  - exists Y, St, h0, G, A, init, upd, out, f. split; [|split; [apply Hl|reflexivity]].
    pose proof (proj1 (Hl (N.to_nat at_token))) as K; rewrite N2Nat.id in K; exact K.
Qed.

(** As [apart], with the same last token [z] for all pairs. *)
Definition apart_last (k : task) (cut : nat) (last : nat) (z : token) (a b : nat -> token) : Prop :=
  exists p p' v v', (forall u, u < cut -> p u = a u) /\ (forall u, u < cut -> p' u = b u) /\
    cut <= last /\ agree cut last p p' /\ p last = z /\ k p last v /\ k p' last v' /\ v <> v'.

Theorem cut_one : forall k (at_token D : N) (last : nat) (z : token) (pre : N -> nat -> token) c s arch,
  one_layer at_token c s arch = true ->
  (forall i j, (i < D)%N -> (j < D)%N -> i <> j -> apart_last k (N.to_nat at_token) last z (pre i) (pre j)) ->
  (2 ^ (c + s) < D)%N -> Impossible arch k.
Proof.
  intros k ct D last z pre c s arch Ho Hap Hlt m Hm Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (as_both ct arch c s m Ho Hm) as (Y & St & h0 & G & A & init & upd & out & f & HS & HA & Hrun).
  set (cut := N.to_nat ct) in *.
  destruct HS as (cS & cS_inj & cS_lt); destruct (HA cut) as (cA & cA_inj & cA_lt).
  set (with_last := fun (x : nat -> token) t => if t =? last then z else x t).
  rewrite N.pow_add_r.
  destruct (N.le_gt_cases D 1) as [HD|HD].
  { assert (2 ^ c <> 0 /\ 2 ^ s <> 0)%N by (split; apply N.pow_nonzero; lia); nia. }
  (* two prefixes exist, so the cut is before the last token *)
  destruct (Hap 0%N 1%N ltac:(lia) HD ltac:(discriminate)) as (_ & _ & _ & _ & _ & _ & Hc & _).
  apply (pigeonhole (fun i => pair_code (2 ^ c) (cA (acc init upd (with_last (pre i)) last cut)) (cS (state h0 G (pre i) cut)))).
  { intros; apply pair_lt; auto. }
  intros i j Hi Hj E; apply pair_inj in E; auto; destruct E as [Ea Es]; apply cA_inj in Ea; apply cS_inj in Es.
  destruct (N.eq_dec i j) as [|Hne]; [assumption|exfalso].
  destruct (Hap i j Hi Hj Hne) as (p & p' & v & v' & H1 & H2 & _ & H3 & Hz & A1 & A2 & Hv).
  apply Hv; rewrite <- (Hs p last v A1), <- (Hs p' last v' A2), !Hrun; f_equal; cbn [apply].
  assert (Hz' : p' last = z) by (rewrite <- (H3 last) by lia; exact Hz).
  assert (W : forall x y, x last = z -> (forall u, u < cut -> x u = y u) ->
            acc init upd x last cut = acc init upd (with_last y) last cut).
  { intros x y Hx Hxy; apply acc_ext; unfold with_last; [rewrite Nat.eqb_refl; exact Hx|].
    intros u Hu; destruct (Nat.eqb_spec u last); [lia|auto]. }
  assert (St0 : forall t, cut <= t <= S last -> state h0 G p t = state h0 G p' t).
  { intros t Ht; apply (state_from h0 G _ _ cut); [|lia|intros; apply H3; lia].
    rewrite (state_ext h0 G p (pre i) cut H1), (state_ext h0 G p' (pre j) cut H2); exact Es. }
  assert (Ac : acc init upd p last (S last) = acc init upd p' last (S last)).
  { apply (acc_from init upd _ _ last cut); [rewrite Hz, Hz'; reflexivity| |lia|intros; apply H3; lia].
    rewrite (W p (pre i) Hz H1), (W p' (pre j) Hz' H2); exact Ea. }
  rewrite Ac, (St0 last), (St0 (S last)), Hz, Hz' by lia; reflexivity.
Qed.

Lemma apart_last_sym k cut last z a b : apart_last k cut last z a b -> apart_last k cut last z b a.
Proof.
  intros (p & p' & v & v' & H1 & H2 & H3 & H4 & H5 & H6 & H7 & H8).
  exists p', p, v', v; repeat split; auto.
  - intros u Hu; symmetry; apply H4, Hu.
  - rewrite <- H5; symmetry; apply H4; lia.
Qed.

(** *** string-equality: with the last bit of the second string fixed to 0, the first strings that end in 0 are told apart from all
    others: 2^(N-1) of them and one that ends in 1, for which N bits are needed *)
Lemma string_equality_last N i j : (0 < N)%N -> (i < 2 ^ (N - 1))%N -> (j < 2 ^ N)%N -> i <> j ->
  let n := N.to_nat N in
  apart_last (string_equality N) n (2 * n - 1) (num 0) (at_ (table (entry 2 i) n)) (at_ (table (entry 2 j) n)).
Proof.
  intros HN Hi Hj Hne n; assert (Hn : 0 < n) by (unfold n; lia).
  assert (Hi' : (i < 2 ^ N)%N) by (eapply N.lt_le_trans; [exact Hi|]; apply N.pow_le_mono_r; lia).
  assert (Hg : forall z y, entry 2 z y < 2) by (intros z y; pose proof (entry_lt 2 z y ltac:(lia)); lia).
  exists (at_ (table (entry 2 i) n ++ table (entry 2 i) n)), (at_ (table (entry 2 j) n ++ table (entry 2 i) n)), 1, 0.
  split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]].
  - intros u Hu; unfold at_; rewrite app_nth1 by (rewrite table_length; exact Hu); reflexivity.
  - intros u Hu; unfold at_; rewrite app_nth1 by (rewrite table_length; exact Hu); reflexivity.
  - lia.
  - intros u Hu; unfold at_; rewrite !app_nth2 by (rewrite table_length; lia); rewrite !table_length; reflexivity.
  - unfold at_; rewrite app_nth2 by (rewrite table_length; lia); rewrite table_length, table_nth by lia.
    f_equal; unfold entry; replace (nN (2 * n - 1 - n)) with (N - 1)%N by (unfold n; lia).
    rewrite N.div_small by exact Hi; reflexivity.
  - exists (entry 2 i), (entry 2 i); fold n; repeat split; auto; lia.
  - exists (entry 2 j), (entry 2 i); fold n; repeat split; auto; try lia; try discriminate.
    intros C; exfalso; apply Hne, (entry_inj 2 n); try (unfold n; rewrite N2Nat.id); auto; [lia|].
    intros y Hy; symmetry; apply C, Hy.
  - discriminate.
Qed.

Theorem cut_one_string_equality N c s arch : one_layer N c s arch = true -> exceeds 2 N (c + s) = true ->
  Impossible arch (string_equality N).
Proof.
  intros Ho H; apply exceeds_spec in H; destruct H as [_ H]; apply N.pow_lt_mono_r_iff in H; [|lia].
  apply (cut_one _ N (2 ^ (N - 1) + 1) (2 * N.to_nat N - 1) (num 0) (fun i => at_ (table (entry 2 i) (N.to_nat N))) c s arch Ho).
  - assert (P : (2 ^ (N - 1) < 2 ^ N)%N) by (apply N.pow_lt_mono_r; lia).
    intros i j Hi Hj Hne; destruct (N.lt_ge_cases i (2 ^ (N - 1))) as [L|L].
    + apply string_equality_last; auto; lia.
    + apply apart_last_sym, string_equality_last; auto; lia.
  - pose proof (N.pow_le_mono_r 2 (c + s) (N - 1) ltac:(lia) ltac:(lia)); lia.
Qed.
