(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Numbers of sets and rows

    Lists of the sets, rows and multisets that prefixes stand for, their numbers, and these numbers by a few multiplications, for
    checkers. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Sparse.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** k out of n, and signed ones: w choices for each of them *)
Fixpoint binomial (n k : nat) : N :=
  match k, n with
  | 0, _ => 1%N
  | S _, 0 => 0%N
  | S k', S n' => (binomial n' k' + binomial n' k)%N
  end.

Lemma binomial_0 n : binomial n 0 = 1%N.
Proof. destruct n; reflexivity. Qed.

Lemma binomial_over n : forall k, n < k -> binomial n k = 0%N.
Proof.
  induction n as [|n IH]; intros [|k] H; try lia; [reflexivity|]; cbn [binomial].
  rewrite !IH by lia; reflexivity.
Qed.

(** C(n,k+1) (k+1) = C(n,k) (n-k) *)
Lemma binomial_step n : forall k, (binomial n (S k) * nN (S k) = binomial n k * nN (n - k))%N.
Proof.
  induction n as [|n IH]; intros k; [destruct k; reflexivity|]; destruct k as [|k].
  - specialize (IH 0); change (binomial (S n) 1) with (binomial n 0 + binomial n 1)%N; change (binomial (S n) 0) with 1%N.
    rewrite binomial_0 in *; rewrite Nat.sub_0_r in *; lia.
  - change (binomial (S n) (S (S k))) with (binomial n (S k) + binomial n (S (S k)))%N.
    change (binomial (S n) (S k)) with (binomial n k + binomial n (S k))%N.
    pose proof (IH k) as I1; pose proof (IH (S k)) as I2.
    destruct (Nat.le_gt_cases n k) as [L|L].
    + rewrite (binomial_over n (S k)), (binomial_over n (S (S k))) by lia.
      replace (S n - S k) with 0 by lia; lia.
    + replace (nN (S (S k))) with (nN (S k) + 1)%N by lia.
      replace (nN (S n - S k)) with (nN (n - S k) + 1)%N by lia.
      replace (nN (S (S k))) with (nN (S k) + 1)%N in I2 by lia.
      replace (nN (n - k)) with (nN (n - S k) + 1)%N in I1 by lia.
      nia.
Qed.

(** C(n,k) by k multiplications and divisions; [from] = j, [term] = C(n,j) w^j. *)
Fixpoint terms (fuel : nat) (n w from term sum : N) : N * N :=
  match fuel with
  | 0 => (term, sum)
  | S f => let next := (term * w * (n - from) / (from + 1))%N in terms f n w (from + 1)%N next (sum + next)%N
  end.

Fixpoint weighted (n b : nat) (w : N) : N :=
  match b with 0 => 1%N | S b' => (weighted n b' w + binomial n b * w ^ nN b)%N end.

Lemma terms_spec n w fuel : forall j, terms fuel (nN n) w (nN j) (binomial n j * w ^ nN j) (weighted n j w) =
  ((binomial n (j + fuel) * w ^ nN (j + fuel))%N, weighted n (j + fuel) w).
Proof.
  induction fuel as [|f IH]; intros j; [rewrite Nat.add_0_r; reflexivity|].
  cbn [terms]; cbv zeta.
  assert (E : (binomial n j * w ^ nN j * w * (nN n - nN j) / (nN j + 1) = binomial n (S j) * w ^ nN (S j))%N).
  { replace (nN j + 1)%N with (nN (S j)) by lia; replace (nN n - nN j)%N with (nN (n - j)) by lia.
    pose proof (binomial_step n j) as S'.
    replace (binomial n j * w ^ nN j * w * nN (n - j))%N with (binomial n (S j) * w ^ nN (S j) * nN (S j))%N.
    - apply N.div_mul; lia.
    - rewrite (Nat2N.inj_succ j), N.pow_succ_r', <- Nat2N.inj_succ. 
      transitivity (binomial n (S j) * nN (S j) * (w * w ^ nN j))%N; [ring|]. rewrite S'; ring. }
  rewrite E; replace (nN j + 1)%N with (nN (S j)) by lia.
  change (weighted n j w + binomial n (S j) * w ^ nN (S j))%N with (weighted n (S j) w).
  rewrite IH; replace (S j + f) with (j + S f) by lia; reflexivity.
Qed.

Definition binomial_of (n k : N) : N := fst (terms (N.to_nat k) n 1 0 1 1).
Definition weighted_of (n b w : N) : N := snd (terms (N.to_nat b) n w 0 1 1).

Lemma binomial_of_spec n k : binomial_of n k = binomial (N.to_nat n) (N.to_nat k).
Proof.
  pose proof (terms_spec (N.to_nat n) 1 (N.to_nat k) 0) as H; rewrite N2Nat.id in H; unfold binomial_of; cbn [weighted] in H.
  change (nN 0) with 0%N in H; rewrite binomial_0 in H; change (1 * 1 ^ 0)%N with 1%N in H; rewrite H; cbn [fst].
  rewrite N.pow_1_l, N.mul_1_r; reflexivity.
Qed.

Lemma weighted_of_spec n b w : weighted_of n b w = weighted (N.to_nat n) (N.to_nat b) w.
Proof.
  pose proof (terms_spec (N.to_nat n) w (N.to_nat b) 0) as H; rewrite N2Nat.id in H; unfold weighted_of; cbn [weighted] in H.
  change (nN 0) with 0%N in H; rewrite binomial_0, N.pow_0_r in H; change (1 * 1)%N with 1%N in H; rewrite H; reflexivity.
Qed.

(** The sets with at most b elements, of Sparse.v. *)
Lemma weighted_rec n : forall b w, weighted (S n) (S b) w = (weighted n (S b) w + w * weighted n b w)%N.
Proof.
  intros b w; induction b as [|b IH].
  - change (weighted (S n) 1 w) with (1 + (binomial n 0 + binomial n 1) * w ^ 1)%N.
    change (weighted n 1 w) with (1 + binomial n 1 * w ^ 1)%N; change (weighted n 0 w) with 1%N.
    rewrite binomial_0, N.pow_1_r; ring.
  - change (weighted (S n) (S (S b)) w) with (weighted (S n) (S b) w + (binomial n (S b) + binomial n (S (S b))) * w ^ nN (S (S b)))%N.
    rewrite IH; change (weighted n (S (S b)) w) with (weighted n (S b) w + binomial n (S (S b)) * w ^ nN (S (S b)))%N.
    change (weighted n (S b) w) with (weighted n b w + binomial n (S b) * w ^ nN (S b))%N.
    replace (w ^ nN (S (S b)))%N with (w * w ^ nN (S b))%N by (rewrite (Nat2N.inj_succ (S b)), N.pow_succ_r'; reflexivity); ring.
Qed.

Lemma weighted_0 b w : weighted 0 b w = 1%N.
Proof. induction b as [|b IH]; [reflexivity|]; cbn [weighted binomial]; rewrite IH; reflexivity. Qed.

Lemma weighted_cnt n : forall b, weighted n b 1 = cnt n b.
Proof.
  induction n as [|n IH]; intros b; [rewrite weighted_0; destruct b; reflexivity|].
  destruct b as [|b]; [reflexivity|]. rewrite weighted_rec, !IH; cbn [cnt]; lia.
Qed.

(** ** The sets of exactly k out of a list *)
Fixpoint choices (l : list nat) (k : nat) : list (list nat) :=
  match k, l with
  | 0, _ => [[]]
  | S _, [] => []
  | S k', x :: r => map (cons x) (choices r k') ++ choices r k
  end.

Lemma choices_length l : forall k, size (choices l k) = binomial (length l) k.
Proof.
  induction l as [|x l IH]; intros [|k]; try reflexivity; cbn [choices length binomial].
  unfold size in *; rewrite app_length, map_length, Nat2N.inj_add, !IH; reflexivity.
Qed.

Lemma choices_in l : forall k s, In s (choices l k) -> length s = k /\ incl s l /\ (NoDup l -> NoDup s).
Proof.
  induction l as [|x l IH]; intros [|k] s H; cbn [choices] in H.
  - destruct H as [<-|[]]; repeat split; [intros y []|constructor].
  - destruct H.
  - destruct H as [<-|[]]; repeat split; [intros y []|constructor].
  - apply in_app_iff in H; destruct H as [H|H].
    + apply in_map_iff in H; destruct H as [s' [<- H]]; destruct (IH _ _ H) as (L & I & D); split; [simpl; lia|]; split.
      * intros y [<-|Hy]; [left; reflexivity|right; auto].
      * intros Hd; inversion Hd; subst; constructor; auto.
    + destruct (IH _ _ H) as (L & I & D); split; [exact L|]; split; [intros y Hy; right; auto|].
      intros Hd; inversion Hd; auto.
Qed.

Lemma choices_NoDup l : NoDup l -> forall k, NoDup (choices l k).
Proof.
  induction l as [|x l IH]; intros Hl [|k]; cbn [choices]; try (repeat constructor; intros []; fail).
  inversion Hl as [|? ? Hx Hl']; subst; apply NoDup_app; auto.
  - apply NoDup_map_on; [intros a b _ _ E; inversion E; auto|auto].
  - intros s Hs C; apply in_map_iff in Hs; destruct Hs as [s' [<- _]].
    destruct (choices_in _ _ _ C) as (_ & I & _); apply Hx, I; left; reflexivity.
Qed.

Lemma choices_ext l : NoDup l -> forall k s s', In s (choices l k) -> In s' (choices l k) -> incl s s' -> s = s'.
Proof.
  induction l as [|x l IH]; intros Hl [|k] s s' Hs Hs' I; cbn [choices] in Hs, Hs'.
  - destruct Hs as [<-|[]], Hs' as [<-|[]]; reflexivity.
  - destruct Hs.
  - destruct Hs as [<-|[]], Hs' as [<-|[]]; reflexivity.
  - inversion Hl as [|? ? Hx Hl']; subst; apply in_app_iff in Hs, Hs'.
    assert (N : forall k s, In s (choices l k) -> ~ In x s) by (intros k0 s0 H0 C; apply choices_in in H0; destruct H0 as (_ & I0 & _); auto).
    destruct Hs as [Hs|Hs], Hs' as [Hs'|Hs'].
    + apply in_map_iff in Hs; destruct Hs as [r [<- Hr]]; apply in_map_iff in Hs'; destruct Hs' as [r' [<- Hr']].
      f_equal; apply (IH Hl' k); auto; intros v Hv; destruct (I v (or_intror Hv)) as [<-|]; [exfalso; apply (N _ _ Hr Hv)|assumption].
    + apply in_map_iff in Hs; destruct Hs as [r [<- Hr]]; exfalso; apply (N _ _ Hs'), I; left; reflexivity.
    + apply in_map_iff in Hs'; destruct Hs' as [r [<- Hr]].
      (* s avoids x, so it is within r, which is shorter *)
      exfalso; destruct (choices_in _ _ _ Hs) as (Ls & _ & Ds); destruct (choices_in _ _ _ Hr) as (Lr & _ & _).
      assert (L : length s <= length r).
      { apply NoDup_incl_length; [apply Ds, Hl'|]. intros v Hv; destruct (I v Hv) as [<-|]; [exfalso; apply (N _ _ Hs Hv)|assumption]. }
      lia.
    + apply (IH Hl' (S k)); auto.
Qed.

(** Two different ones: each has an element that the other lacks. *)
Lemma choices_differ l k s s' : NoDup l -> In s (choices l k) -> In s' (choices l k) -> s <> s' ->
  exists v, In v s /\ ~ In v s'.
Proof.
  intros Hl Hs Hs' Hne.
  destruct (existsb (fun v => negb (mem v s')) s) eqn:X.
  - apply existsb_exists in X; destruct X as [v [Hv E]]; exists v; split; [exact Hv|].
    intros C; apply mem_spec in C; rewrite C in E; discriminate.
  - exfalso; apply Hne, (choices_ext l Hl k); auto; intros v Hv.
    destruct (mem v s') eqn:E; [apply mem_spec, E|].
    assert (existsb (fun v => negb (mem v s')) s = true) by (apply existsb_exists; exists v; rewrite E; auto); congruence.
Qed.

(** ** Rows of k different elements of a list *)
Fixpoint rows (l : list nat) (k : nat) : list (list nat) :=
  match k with
  | 0 => [[]]
  | S k' => flat_map (fun x => map (cons x) (rows (remove Nat.eq_dec x l) k')) l
  end.

Fixpoint falling (n k : nat) : N := match k with 0 => 1%N | S k' => (nN n * falling (pred n) k')%N end.

Lemma remove_length x l : NoDup l -> In x l -> S (length (remove Nat.eq_dec x l)) = length l.
Proof.
  intros Hl; induction Hl as [|y l Hy Hl IH]; intros H; [contradiction|]; cbn [remove].
  destruct (Nat.eq_dec x y) as [->|Hne].
  - rewrite notin_remove by exact Hy; reflexivity.
  - destruct H as [->|H]; [congruence|]. cbn [length]; rewrite IH by exact H; reflexivity.
Qed.

Lemma remove_NoDup x l : NoDup l -> NoDup (remove Nat.eq_dec x l).
Proof.
  intros Hl; induction Hl as [|y l Hy Hl IH]; cbn [remove]; [constructor|].
  destruct (Nat.eq_dec x y); [exact IH|]. constructor; [|exact IH].
  intros C; apply in_remove in C; tauto.
Qed.

Lemma rows_length k : forall l, NoDup l -> size (rows l k) = falling (length l) k.
Proof.
  induction k as [|k IH]; intros l Hl; [reflexivity|]; cbn [rows falling].
  assert (G : forall m, incl m l -> size (flat_map (fun x => map (cons x) (rows (remove Nat.eq_dec x l) k)) m) =
              (nN (length m) * falling (pred (length l)) k)%N).
  { induction m as [|x m IHm]; intros Hm; [reflexivity|]; cbn [flat_map length].
    unfold size in *; rewrite app_length, map_length, Nat2N.inj_add.
    rewrite IH by (apply remove_NoDup, Hl); rewrite IHm by (intros y Hy; apply Hm; right; exact Hy).
    replace (length (remove Nat.eq_dec x l)) with (pred (length l)) by (rewrite <- (remove_length x l Hl) by (apply Hm; left; reflexivity); reflexivity).
    lia. }
  apply G, incl_refl.
Qed.

Lemma rows_in k : forall l s, In s (rows l k) -> length s = k /\ incl s l /\ NoDup s.
Proof.
  induction k as [|k IH]; intros l s H; cbn [rows] in H; [destruct H as [<-|[]]; repeat split; [intros y []|constructor]|].
  apply in_flat_map in H; destruct H as [x [Hx H]]; apply in_map_iff in H; destruct H as [s' [<- H]].
  destruct (IH _ _ H) as (L & I & D); split; [simpl; lia|]; split.
  - intros y [<-|Hy]; [exact Hx|]. apply I, in_remove in Hy; tauto.
  - constructor; [|exact D]. intros C; apply I, in_remove in C; tauto.
Qed.

Lemma rows_NoDup k : forall l, NoDup l -> NoDup (rows l k).
Proof.
  induction k as [|k IH]; intros l Hl; cbn [rows]; [repeat constructor; intros []|].
  assert (G : forall m, NoDup m -> NoDup (flat_map (fun x => map (cons x) (rows (remove Nat.eq_dec x l) k)) m)).
  { intros m Hm; induction Hm as [|x m Hx Hm IHm]; cbn [flat_map]; [constructor|].
    apply NoDup_app; [|exact IHm|].
    - apply NoDup_map_on; [intros a b _ _ E; inversion E; auto|]. apply IH, remove_NoDup, Hl.
    - intros s Hs C; apply in_map_iff in Hs; destruct Hs as [s' [<- _]].
      apply in_flat_map in C; destruct C as [y [Hy C]]; apply in_map_iff in C; destruct C as [s'' [E _]].
      inversion E; subst; contradiction. }
  apply G, Hl.
Qed.

(** n (n-1) ... (n-k+1) *)
Fixpoint product (fuel : nat) (n : N) : N := match fuel with 0 => 1%N | S f => (n * product f (n - 1))%N end.
Definition falling_of (n k : N) : N := product (N.to_nat k) n.

Lemma falling_of_spec n k : falling_of n k = falling (N.to_nat n) (N.to_nat k).
Proof.
  unfold falling_of; generalize (N.to_nat k) as f; intros f; revert n; induction f as [|f IH]; intros n; [reflexivity|].
  cbn [product falling]; rewrite IH, N2Nat.id; do 2 f_equal; lia.
Qed.

(** Two rows that differ do so at some place. *)
Lemma differ_at (s s' : list nat) : length s = length s' -> s <> s' -> exists i, i < length s /\ nth i s 0 <> nth i s' 0.
Proof.
  revert s'; induction s as [|x s IH]; intros [|x' s'] L H; try discriminate; [congruence|].
  destruct (Nat.eq_dec x x') as [->|Hne]; [|exists 0; split; [simpl; lia|exact Hne]].
  destruct (IH s') as [i [Hi E]]; [simpl in L; lia|congruence|].
  exists (S i); split; [simpl; lia|exact E].
Qed.
