(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * A choice of k tokens is a scan

    A layer ranks the tokens up to the receiver by an index score; of equal ones the earlier is better.  It makes anything of what the k
    best say, in their order: of each its index score, and for each head a score and a value.  So it is a full layer of Model.v whose
    accumulator holds k such entries: any softmax over the chosen tokens, in any order of sums. *)
From Coq Require Import Arith NArith List Lia Bool Eqdep_dec.
From Rung Require Import Model Counting Crossing TheoremTop Mechanisms.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Lists of one length *)
Section Lists.
Context {T : Type} (a : N) (code : T -> N).
Hypothesis Hinj : forall x y, code x = code y -> x = y.
Hypothesis Hlt : forall x, (code x < a)%N.

Fixpoint list_code (l : list T) : N := match l with [] => 0 | x :: r => pair_code a (code x) (list_code r) end%N.

Lemma list_code_lt l : (list_code l < a ^ nN (length l))%N.
Proof.
  induction l as [|x l IH]; cbn [list_code length]; [reflexivity|].
  rewrite Nat2N.inj_succ, N.pow_succ_r'; apply pair_lt; auto.
Qed.

Lemma list_code_inj l l' : length l = length l' -> list_code l = list_code l' -> l = l'.
Proof.
  revert l'; induction l as [|x l IH]; intros [|y l'] L E; try discriminate; [reflexivity|]; cbn [list_code length] in *.
  apply pair_inj in E; auto; destruct E as [E1 E2]; f_equal; auto.
Qed.
End Lists.

Definition of_length (T : Type) (n : nat) : Type := { l : list T | length l = n }.

Lemma card_of_length T a n : card_le T a -> card_le (of_length T n) (a ^ nN n).
Proof.
  intros (code & Hinj & Hlt); exists (fun l => list_code a code (proj1_sig l)); split.
  - intros [l Hl] [l' Hl'] E; cbn [proj1_sig] in E; apply list_code_inj in E; auto; [|congruence].
    subst l'; f_equal; apply (UIP_dec Nat.eq_dec).
  - intros [l Hl]; cbn [proj1_sig]; rewrite <- Hl; apply list_code_lt, Hlt.
Qed.

(** ** The k best of an increasing list of places *)
Lemma count_map (p : nat -> bool) f l : count p (map f l) = count (fun i => p (f i)) l.
Proof. unfold count; induction l as [|i l IH]; [reflexivity|]; cbn [map filter]; destruct (p (f i)); simpl; rewrite IH; reflexivity. Qed.

Lemma filter_map {A B} (p : B -> bool) (f : A -> B) l : filter p (map f l) = map f (filter (fun i => p (f i)) l).
Proof. induction l as [|i l IH]; [reflexivity|]; cbn [map filter]; destruct (p (f i)); simpl; rewrite IH; reflexivity. Qed.

Definition increasing (P : list nat) : Prop := forall p q d, p < q < length P -> nth p P d < nth q P d.

Lemma filter_increasing (p : nat -> bool) m : forall a, increasing (filter p (seq a m)) /\ forall i, In i (filter p (seq a m)) -> a <= i < a + m.
Proof.
  assert (B : forall a i, In i (filter p (seq a m)) -> a <= i < a + m) by (intros a i Hi; apply filter_In in Hi; destruct Hi as [Hi _]; apply in_seq, Hi).
  intros a; split; [|apply B]. clear B; revert a; induction m as [|m IH]; intros a; [intros q r d Hq; simpl in Hq; lia|].
  cbn [seq filter]; destruct (p a); [|apply IH].
  intros q r d [Hq Hr]; cbn [length] in Hr; destruct r as [|r]; [lia|]; destruct q as [|q]; cbn [nth]; [|apply IH; lia].
  assert (I : In (nth r (filter p (seq (S a) m)) d) (filter p (seq (S a) m))) by (apply nth_In; lia).
  apply filter_In in I; destruct I as [I _]; apply in_seq in I; lia.
Qed.

Lemma increasing_last P n : increasing P -> (forall i, In i P -> i < n) -> increasing (P ++ [n]).
Proof.
  intros H B p q d [Hp Hq]; rewrite app_length in Hq; cbn [length] in Hq.
  destruct (Nat.lt_ge_cases q (length P)) as [L|L].
  - rewrite !app_nth1 by lia; apply H; lia.
  - assert (E : nth q (P ++ [n]) d = n) by (rewrite app_nth2 by lia; replace (q - length P) with 0 by lia; reflexivity).
    rewrite E, app_nth1 by lia; apply B, nth_In; lia.
Qed.

Lemma seq_of (P : list nat) d : P = map (fun p => nth p P d) (seq 0 (length P)).
Proof.
  induction P as [|i P IH]; [reflexivity|]; cbn [length seq map nth]; f_equal; rewrite <- seq_shift, map_map; exact IH.
Qed.

Lemma best_of_places s k P d : increasing P ->
  map (fun p => nth p P d) (best (fun p => s (nth p P d)) (length P) k) = filter (fun i => count (fun h => better s h i) P <? k) P.
Proof.
  intros HP; set (f := fun p => nth p P d).
  assert (E : filter (fun i => count (fun h => better s h i) P <? k) P = map f (filter (fun p => count (fun h => better s h (f p)) P <? k) (seq 0 (length P))))
    by (rewrite <- (filter_map (fun i => count (fun h => better s h i) P <? k) f); f_equal; apply seq_of).
  rewrite E; f_equal; apply filter_ext_in; intros p Hp; apply in_seq in Hp.
  assert (C : count (fun h => better s h (f p)) P = count (fun i => better s (f i) (f p)) (seq 0 (length P)))
    by (transitivity (count (fun h => better s h (f p)) (map f (seq 0 (length P)))); [f_equal; apply seq_of|apply count_map]).
  f_equal; rewrite C; apply count_ext; intros i Hi; apply in_seq in Hi.
  unfold better; f_equal; f_equal; unfold f.
  destruct (Nat.ltb_spec i p) as [L|L]; symmetry; [apply Nat.ltb_lt, HP; lia|]. apply Nat.ltb_ge.
  destruct (Nat.eq_dec i p) as [->|]; [lia|]. specialize (HP p i d ltac:(lia)); lia.
Qed.

Lemma best_few s n k : n <= k -> best s n k = seq 0 n.
Proof.
  intros H; unfold best; rewrite <- (filter_true_all (seq 0 n)) at 2; apply filter_ext_in; intros j Hj; apply in_seq in Hj.
  apply Nat.ltb_lt; pose proof (rank_bound s n j ltac:(lia)); lia.
Qed.

Lemma best_min s n k : length (best s n k) = Nat.min k n.
Proof.
  destruct (Nat.le_gt_cases n k) as [L|L]; [rewrite best_few, seq_length by exact L; lia|rewrite best_length by lia; lia].
Qed.

(** One token more: the k best are among the k best before it, and it. *)
Lemma best_step s n k : best s (S n) k = filter (fun i => count (fun h => better s h i) (best s n k ++ [n]) <? k) (best s n k ++ [n]).
Proof.
  destruct (Nat.lt_ge_cases n k) as [L|L].
  - rewrite (best_few s n k) by lia; rewrite <- seq_S; reflexivity.
  - assert (D : forall i, (rank s (S n) i <? k) = (count (fun h => better s h i) (best s n k ++ [n]) <? k)).
    { intros i; unfold rank; rewrite seq_S, !count_app; cbn [plus]; set (c := count _ [n]).
      assert (Sh : forall a, (a + c <? k) = (a <? k - c)) by (intros a; destruct (Nat.ltb_spec (a + c) k), (Nat.ltb_spec a (k - c)); (reflexivity || lia)).
      rewrite !Sh; apply best_decide; lia. }
    rewrite <- (filter_ext _ _ D), filter_app; unfold best at 1; rewrite seq_S, filter_app; cbn [plus]; f_equal.
    unfold best; rewrite filter_comm.
    assert (E : forall l, filter (fun j => rank s n j <? k) (filter (fun j => rank s (S n) j <? k) l) = filter (fun j => rank s (S n) j <? k) l).
    { induction l as [|j l IH]; [reflexivity|]; cbn [filter]; destruct (Nat.ltb_spec (rank s (S n) j) k) as [Lk|Lk]; [|exact IH].
      cbn [filter]; rewrite IH; destruct (Nat.ltb_spec (rank s n j) k) as [Lj|Lj]; [reflexivity|].
      unfold rank in *; rewrite seq_S, count_app in Lk; lia. }
    symmetry; apply E.
Qed.

(** ** The layer *)
Section Layer.
Context {X Y I W : Type} (k : nat) (rank_of : I -> nat).
Variables (index : nat -> nat -> X -> X -> I) (word : nat -> nat -> X -> X -> W).   (* receiver t, sender j, x_t, x_j *)

Definition item (x : nat -> X) (t j : nat) : I * W := (index t j (x t) (x j), word t j (x t) (x j)).

(** What the receiver t has of its k best tokens. *)
Definition chosen (x : nat -> X) (t : nat) : list (I * W) :=
  map (item x t) (best (fun j => rank_of (fst (item x t j))) (S t) k).

Definition entries (j : nat) : Type := of_length (I * W) (Nat.min k j).

Definition keep (l : list (I * W)) (new : I * W) : list (I * W) :=
  let l' := l ++ [new] in map (fun p => nth p l' new) (best (fun p => rank_of (fst (nth p l' new))) (length l') k).

Lemma keep_length l new j : length l = Nat.min k j -> length (keep l new) = Nat.min k (S j).
Proof. intros H; unfold keep; rewrite map_length, best_min, app_length, H; cbn [length]; lia. Qed.

Definition none : entries 0 := exist _ [] (eq_sym (Nat.min_0_r k)).
Definition join (t j : nat) (a : entries j) (xj xt : X) : entries (S j) :=
  let new := (index t j xt xj, word t j xt xj) in exist _ (keep (proj1_sig a) new) (keep_length _ new j (proj2_sig a)).

Lemma scan x t j : proj1_sig (acc (A := entries) (fun _ _ => none) join x t j) = map (item x t) (best (fun i => rank_of (fst (item x t i))) j k).
Proof.
  induction j as [|j IH]; [reflexivity|]; cbn [acc join proj1_sig]; rewrite IH; fold (item x t j).
  set (s := fun i => rank_of (fst (item x t i))); unfold keep.
  set (P := best s j k ++ [j]).
  assert (E : map (item x t) (best s j k) ++ [item x t j] = map (item x t) P) by (unfold P; rewrite map_app; reflexivity).
  rewrite E, map_length.
  assert (N : forall p, nth p (map (item x t) P) (item x t j) = item x t (nth p P j)) by (intros p; apply map_nth).
  rewrite (map_ext _ _ N), <- (map_map (fun p => nth p P j) (item x t)); f_equal.
  rewrite (best_ext _ (fun p => s (nth p P j))) by (intros p _; rewrite N; reflexivity).
  rewrite best_of_places, (best_step s j k); [reflexivity|].
  destruct (filter_increasing (fun i => rank s j i <? k) j 0) as [H1 H2].
  apply increasing_last; [exact H1|intros i Hi; apply H2 in Hi; lia].
Qed.

Variable out : nat -> list (I * W) -> X -> Y.

Definition choice_layer : layer X Y := Full entries (fun _ _ => none) join (fun t a x => out t (proj1_sig a) x).

(** The scan computes what the choice says. *)
Theorem choice_scans x t : apply choice_layer x t = out t (chosen x t) (x t).
Proof. cbn [apply choice_layer]; rewrite scan; reflexivity. Qed.

(** With recurrent heads on the same input. *)
Variables (St : nat -> Type) (h0 : St 0) (G : forall t, St t -> X -> St (S t)) (beside : forall t, St t -> St (S t) -> list (I * W) -> X -> Y).
Definition choice_beside : layer X Y := Both St h0 G entries (fun _ _ => none) join (fun t s s' a x => beside t s s' (proj1_sig a) x).

Theorem choice_beside_scans x t : apply choice_beside x t = beside t (state h0 G x t) (state h0 G x (S t)) (chosen x t) (x t).
Proof. cbn [apply choice_beside]; rewrite scan; reflexivity. Qed.

Lemma entries_card c : card_le (I * W) (2 ^ c) -> forall j, card_le (entries j) (2 ^ (nN k * c)).
Proof.
  intros H j; destruct (card_of_length _ _ (Nat.min k j) H) as (code & Hinj & Hlt); exists code; split; [exact Hinj|].
  intros l; eapply N.lt_le_trans; [apply Hlt|]. rewrite <- N.pow_mul_r; apply N.pow_le_mono_r; [discriminate|].
  rewrite N.mul_comm; apply N.mul_le_mono_r; lia.
Qed.
End Layer.

(** k (p_I + H (dv+1) p) bits: an index score of p_I bits, and for each head a score and dv numbers of p bits. *)
Theorem choice_fits {X Y I number : Type} (p pI : N) (k H dv : nat) rank_of index word out :
  card_le I (2 ^ pI) -> card_le number (2 ^ p) ->
  layer_fits (@choice_layer X Y I (vec (number * vec number dv) H) k rank_of index word out) (spec_of (F (nN k * (pI + nN (H * (dv + 1)) * p)))).
Proof.
  intros HI Hn t; apply entries_card, (card_both I); [exact HI|].
  apply (card_same _ (nN H * (p + nN dv * p))); [lia|]. apply card_block, card_both; [exact Hn|apply card_block, Hn].
Qed.

Theorem choice_beside_fits {X Y I number : Type} (p pI s : N) (k H dv : nat) rank_of index word St h0 G out :
  card_le I (2 ^ pI) -> card_le number (2 ^ p) -> (forall t, card_le (St t) (2 ^ s)) ->
  layer_fits (@choice_beside X Y I (vec (number * vec number dv) H) k rank_of index word St h0 G out)
    (spec_of (RF s (nN k * (pI + nN (H * (dv + 1)) * p)))).
Proof.
  intros HI Hn HS t; split; [apply HS|]. apply entries_card, (card_both I); [exact HI|].
  apply (card_same _ (nN H * (p + nN dv * p))); [lia|]. apply card_block, card_both; [exact Hn|apply card_block, Hn].
Qed.
