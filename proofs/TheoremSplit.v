(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Split: one full layer that adds up each split of T consecutive keys on its own

    For every receiver the keys are cut at every T-th place; the first border may be anywhere. The result of a split is any function of
    the receiver and of the keys of the split, in any order of sums; the results are combined in any way. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0.
Import ListNotations.
Local Notation nN := N.of_nat.

Record split_layer (Y : Type) := {
  Result : Type;
  offset : nat -> nat;                                         (* of the receiver: key j is in split (j + offset) / T *)
  part : nat -> nat -> token -> list token -> Result;          (* receiver t, number of the split, x_t, the keys of the split *)
  combine : nat -> token -> list Result -> Y }.
Arguments Result {Y}. Arguments offset {Y}. Arguments part {Y}. Arguments combine {Y}.

Definition keys {Y} (l : split_layer Y) (T t s : nat) : list nat :=
  filter (fun j => (j + offset l t) / T =? s) (seq 0 (S t)).

Definition part_of {Y} (l : split_layer Y) (T : nat) (x : nat -> token) (t s : nat) : Result l :=
  part l t s (x t) (map x (keys l T t s)).

Definition apply_split {Y} (l : split_layer Y) (T : nat) (x : nat -> token) (t : nat) : Y :=
  combine l t (x t) (map (part_of l T x t) (seq 0 (S ((t + offset l t) / T)))).

(** The result of one split: with online softmax H (dv+2) p bits. *)
Definition split_fits {Y} (l : split_layer Y) (c : N) : Prop := card_le (Result l) (2 ^ c).

Definition ImpossibleSplit (T : nat) (c : N) (k : task) : Prop :=
  forall (l : split_layer nat), split_fits l c -> ~ (forall p t v, k p t v -> apply_split l T p t = v).

(** ** Where the borders are *)
Lemma same_split T o a l j s : 0 < T -> (a + o) / T = s -> a + l + o <= (s + 1) * T -> a <= j < a + l -> (j + o) / T = s.
Proof.
  intros HT Ha Hl Hj; symmetry; apply (Nat.div_unique _ _ _ (j + o - T * s)); [|];
    pose proof (Nat.mul_div_le (a + o) T ltac:(lia)) as K; rewrite Ha in K; nia.
Qed.

(** L >= 2: the first split, or the second one, has that many of the N0 keys, and the key at Z is at least T keys behind. *)
Lemma split_of_row T o N0 Z l : 0 < T -> l <= T -> 2 * l <= N0 + 1 -> 0 < l -> N0 + T <= Z + 1 ->
  exists a s, a + l <= N0 /\ (forall j, a <= j < a + l -> (j + o) / T = s) /\ s < (Z + o) / T.
Proof.
  intros HT HlT HlN Hl HZ.
  set (s0 := o / T).
  pose proof (Nat.div_mod o T ltac:(lia)) as Eo; fold s0 in Eo; pose proof (Nat.mod_upper_bound o T ltac:(lia)) as Ro.
  set (r := o mod T) in *.
  assert (Later : forall a s, (a + o) / T = s -> a + 1 <= N0 -> s < (Z + o) / T).
  { intros a s E Ha; apply Nat.lt_le_trans with ((a + 1 * T + o) / T).
    - replace (a + 1 * T + o) with (a + o + 1 * T) by lia; rewrite Nat.div_add by lia; lia.
    - apply Nat.div_le_mono; lia. }
  destruct (Nat.lt_ge_cases (T - r) l) as [Hb|Hb].
  - assert (E : (T - r + o) / T = s0 + 1) by (symmetry; apply (Nat.div_unique _ _ _ 0); nia).
    exists (T - r), (s0 + 1); split; [lia|]; split; [|apply (Later (T - r)); [exact E|lia]].
    intros j Hj; apply (same_split T o (T - r) l); auto; nia.
  - exists 0, s0; split; [lia|]; split; [|apply (Later 0); [reflexivity|lia]].
    intros j Hj; apply (same_split T o 0 l); auto; nia.
Qed.

(** L = 1: the split before the one of the key at N0. *)
Lemma split_before T o N0 l : 0 < T -> l <= T -> l + T <= N0 + 1 -> 0 < l ->
  exists a s, a + l <= N0 /\ (forall j, a <= j < a + l -> (j + o) / T = s) /\ s < (N0 + o) / T.
Proof.
  intros HT HlT HlN Hl.
  pose proof (Nat.div_mod (N0 + o) T ltac:(lia)) as E; pose proof (Nat.mod_upper_bound (N0 + o) T ltac:(lia)) as R.
  set (d := (N0 + o) / T) in *; set (r := (N0 + o) mod T) in *.
  assert (Hd : exists d', d = d' + 1) by (exists (d - 1); destruct d; [nia|lia]).
  destruct Hd as [d' ->].
  exists (N0 - r - l), d'; split; [lia|]; split; [|lia].
  intros j Hj; symmetry; apply (Nat.div_unique _ _ _ (j + o - T * d')); nia.
Qed.

(** ** Prompts that ask for row 0 *)
Lemma ask_before flat N0 ns f u u' t : 0 < N0 -> u < N0 -> u' < N0 -> t <> total flat N0 ns (levels ns) ->
  at_ (ask flat N0 ns f u) t = at_ (ask flat N0 ns f u') t.
Proof.
  intros H0 Hu Hu' Ht; unfold at_, ask, seqcomp_prompt.
  destruct (Nat.lt_ge_cases t (total flat N0 ns (levels ns))) as [L|L].
  - rewrite !app_nth1 by (rewrite tables_length; exact L); reflexivity.
  - rewrite !app_nth2 by (rewrite tables_length; lia); rewrite tables_length.
    rewrite !(Nat.div_small _ N0) by assumption.
    destruct (t - total flat N0 ns (levels ns)) as [|i] eqn:E; [lia|]. reflexivity.
Qed.

Theorem split_states : forall flat (N0 : N) ns V T (c : N) l,
  positive N0 ns = true -> 0 < T -> 0 < l -> (0 < V)%N ->
  (forall o, exists a s, a + l <= N.to_nat N0 /\ (forall j, a <= j < a + l -> (j + o) / T = s) /\
     s < (total flat (N.to_nat N0) (map N.to_nat ns) (levels (map N.to_nat ns)) + o) / T) ->
  (2 ^ c < V ^ nN l)%N -> ImpossibleSplit T c (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V T c l Hp HT Hl HV Hwhere Hlt m (code & code_inj & code_lt) Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (positive_spec N0 ns Hp) as [H0 Hn].
  pose proof (first_table_spec flat N0 ns) as En.
  assert (Hent : N.to_nat N0 <= entries flat (N.to_nat N0) (map N.to_nat ns) (levels (map N.to_nat ns))).
  { unfold entries; pose proof (range_ge flat _ _ H0 Hn (pred (levels (map N.to_nat ns)))).
    pose proof (Hn (pred (levels (map N.to_nat ns)))); nia. }
  pose proof (fun f u => seqcomp_asks flat N0 ns V f u Hp) as Hask.
  set (n0 := N.to_nat N0) in *; set (ns' := map N.to_nat ns) in *; set (last := last_at flat n0 ns') in *.
  set (Z := total flat n0 ns' (levels ns')) in *.
  destruct (Hwhere (offset m last)) as (a & s & Ha & Hin & HsZ).
  set (F := fun (e : nat -> nat) i => if (a <=? i) && (i <? a + l) then e (i - a) else 0).
  assert (HF : forall e, (forall i, e i < N.to_nat V) -> forall i, F e i < N.to_nat V)
    by (intros e He i; unfold F; destruct (_ && _); [apply He|lia]).
  set (Q := fun e u => at_ (ask flat n0 ns' (F e) u)).
  assert (Zl : last = Z + 1) by reflexivity.
  assert (Pw : forall e u e' u', u < n0 -> u' < n0 -> Q e u last = Q e' u' last)
    by (intros; unfold Q, last; apply ask_last; rewrite !Nat.div_small by assumption; reflexivity).
  apply (tables_le V l _ (fun e => code (part_of m T (Q e 0) last s))); [exact HV|intros; apply code_lt|].
  intros e e' He He' E i Hi; apply code_inj in E.
  assert (Hu : a + i < n0) by lia.
  assert (Ans : forall d, (forall i, d i < N.to_nat V) -> apply_split m T (Q d (a + i)) last = d i).
  { intros d Hd; replace (d i) with (F d (a + i)).
    - apply Hs, Hask; [apply HF; exact Hd|rewrite <- En; lia].
    - unfold F; destruct (Nat.leb_spec a (a + i)); [|lia]; destruct (Nat.ltb_spec (a + i) (a + l)); [|lia].
      cbn [andb]; f_equal; lia. }
  rewrite <- (Ans e He), <- (Ans e' He'); unfold apply_split.
  rewrite (Pw e (a + i) e' (a + i)) by assumption; f_equal; apply map_ext_in; intros s' _.
  (* the split of the entries: what it gives does not depend on the question *)
  assert (Same : forall d, part_of m T (Q d (a + i)) last s = part_of m T (Q d 0) last s).
  { intros d; unfold part_of; rewrite (Pw d (a + i) d 0) by (assumption || lia); f_equal; apply map_ext_in.
    intros j Hj; apply filter_In in Hj; destruct Hj as [_ Hj]; apply Nat.eqb_eq in Hj.
    apply ask_before; auto; fold Z; intros ->; lia. }
  destruct (Nat.eq_dec s' s) as [->|Hne]; [rewrite !Same; exact E|].
  unfold part_of; rewrite (Pw e (a + i) e' (a + i)) by assumption; f_equal; apply map_ext_in.
  intros j Hj; apply filter_In in Hj; destruct Hj as [_ Hj]; apply Nat.eqb_eq in Hj.
  unfold Q; destruct (Nat.lt_ge_cases j (entries flat n0 ns' (levels ns'))) as [Lj|Lj]; [|apply ask_rest; assumption].
  rewrite !ask_first by exact Lj; f_equal; unfold F.
  destruct (Nat.leb_spec a j); [|reflexivity]; destruct (Nat.ltb_spec j (a + l)); [|reflexivity].
  exfalso; apply Hne; rewrite <- Hj; apply Hin; lia.
Qed.

(** l log2 V > c, l = min(T, ceil(N_0/2)), and z_L and the tables between have T entries; L = 1: l = min(T, N_0 - T + 1). *)
Definition split_check (flat : bool) (N0 : N) (ns : list N) (V T c l : N) : bool :=
  positive N0 ns && (0 <? l)%N && (l <=? T)%N && exceeds V l c &&
  match ns with
  | [] => (l + T <=? N0 + 1)%N
  | _ => (2 * l <=? N0 + 1)%N && (T <=? first_table flat N0 ns + between flat N0 ns)%N
  end.

Theorem splits : forall flat N0 ns V T c l, split_check flat N0 ns V T c l = true ->
  ImpossibleSplit (N.to_nat T) c (seqcomp flat N0 ns V).
Proof.
  unfold split_check; intros flat N0 ns V T c l H.
  apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H2; apply N.leb_le in H3; apply exceeds_spec in H4; destruct H4 as [HV H4].
  destruct (positive_spec N0 ns H1) as [H0 Hn].
  apply (split_states flat N0 ns V (N.to_nat T) c (N.to_nat l)); auto; try lia.
  intros o; destruct ns as [|n ns].
  - apply N.leb_le in H5.
    replace (total flat (N.to_nat N0) (map N.to_nat []) (levels (map N.to_nat []))) with (N.to_nat N0)
      by (cbn; unfold entries; cbn; lia).
    apply split_before; lia.
  - apply andb_prop in H5; destruct H5 as [H5 H6]; apply N.leb_le in H5, H6.
    apply split_of_row; try lia.
    pose proof (first_table_spec flat N0 (n :: ns)) as Ef; pose proof (between_spec flat N0 (n :: ns)) as Eb.
    set (ns' := map N.to_nat (n :: ns)) in *.
    assert (Ez : total flat (N.to_nat N0) ns' (levels ns') =
                 entries flat (N.to_nat N0) ns' (levels ns') + total flat (N.to_nat N0) ns' (length ns')) by reflexivity.
    assert (Hg : N.to_nat N0 <= total flat (N.to_nat N0) ns' (length ns')) by (apply total_ge; cbn; lia).
    unfold middle in Eb; lia.
Qed.
