(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Tasks whose prompts are words of numbers, and how their prefixes are told apart *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within.
Import ListNotations.
Local Notation nN := N.of_nat.

Definition word (x : list nat) : nat -> token := at_ (map num x).

(** The task that asks P: at position t of the prompt x the answer v. *)
Definition words (P : list nat -> nat -> nat -> Prop) : task := fun p t v => exists x, p = word x /\ P x t v.

Lemma words_within n (P : list nat -> nat -> nat -> Prop) : (forall x t v, P x t v -> (nN t < n)%N) -> within n (words P).
Proof. intros H p t v (x & _ & Hx); apply (H x t v Hx). Qed.

(** One continuation makes prompts of both, with different answers. *)
Definition told (P : list nat -> nat -> nat -> Prop) (cut : nat) (a b : list nat) : Prop :=
  exists c t v v', cut <= t /\ P (a ++ c) t v /\ P (b ++ c) t v' /\ v <> v'.

Lemma told_sym P cut a b : told P cut a b -> told P cut b a.
Proof. intros (c & t & v & v' & H1 & H2 & H3 & H4); exists c, t, v', v; auto. Qed.

Lemma word_first a c u : u < length a -> word (a ++ c) u = word a u.
Proof. intros H; unfold word, at_; rewrite map_app, app_nth1 by (rewrite map_length; exact H); reflexivity. Qed.

Lemma word_later a c u : length a <= u -> word (a ++ c) u = word c (u - length a).
Proof. intros H; unfold word, at_; rewrite map_app, app_nth2 by (rewrite map_length; exact H); rewrite map_length; reflexivity. Qed.

Lemma told_apart P cut a b : length a = cut -> length b = cut -> told P cut a b -> apart (words P) cut (word a) (word b).
Proof.
  intros Ha Hb (c & t & v & v' & Ht & Pa & Pb & Hv).
  exists (word (a ++ c)), (word (b ++ c)), t, v, v'; split; [intros u Hu; apply word_first; lia|].
  split; [intros u Hu; apply word_first; lia|]. split; [exact Ht|]. split.
  - intros u Hu; rewrite !word_later, Ha, Hb by lia; reflexivity.
  - split; [exists (a ++ c); auto|]. split; [exists (b ++ c); auto|exact Hv].
Qed.

(** A list of prefixes of one length. *)
Lemma told_prefixes {A} (P : list nat -> nat -> nat -> Prop) cut (l : list A) (pre : A -> list nat) : NoDup l ->
  (forall a, In a l -> length (pre a) = cut) ->
  (forall a b, In a l -> In b l -> a <> b -> told P cut (pre a) (pre b)) -> prefixes_apart (words P) cut (size l).
Proof.
  intros Hl Hp H; destruct l as [|d l']; [exists (fun _ _ => num 0); unfold size; simpl; lia|].
  set (l := d :: l') in *; exists (fun i => word (pre (nth (N.to_nat i) l d))).
  intros i j Hi Hj Hne; unfold size in Hi, Hj.
  assert (Ii : In (nth (N.to_nat i) l d) l) by (apply nth_In; lia).
  assert (Ij : In (nth (N.to_nat j) l d) l) by (apply nth_In; lia).
  apply told_apart; auto; apply H; auto.
  intros E; apply Hne, N2Nat.inj, (proj1 (NoDup_nth l d) Hl); auto; lia.
Qed.

(** Tables of n entries below V. *)
Lemma told_tables P cut (n V : N) (pre : (nat -> nat) -> list nat) : (0 < V)%N ->
  (forall f, length (pre f) = cut) ->
  (forall f f' i, (forall j, f j < N.to_nat V) -> (forall j, f' j < N.to_nat V) -> i < N.to_nat n -> f i <> f' i ->
     told P cut (pre f) (pre f')) -> prefixes_apart (words P) cut (V ^ n).
Proof.
  intros HV Hp H; apply (apart_tables _ n V (fun f => word (pre f))); [exact HV|].
  intros f f' i Hf Hf' Hi Hne; apply told_apart; auto; apply (H f f' i); auto.
Qed.

(** ** One layer: the same with one last token and one length *)
Definition told_last (P : list nat -> nat -> nat -> Prop) (cut len z : nat) (a b : list nat) : Prop :=
  exists c v v', length c = len /\ P (a ++ c ++ [z]) (cut + len) v /\ P (b ++ c ++ [z]) (cut + len) v' /\ v <> v'.

Lemma told_last_sym P cut len z a b : told_last P cut len z a b -> told_last P cut len z b a.
Proof. intros (c & v & v' & H1 & H2 & H3 & H4); exists c, v', v; auto. Qed.

Lemma told_of_last P cut len z a b : told_last P cut len z a b -> told P cut a b.
Proof. intros (c & v & v' & H1 & H2 & H3 & H4); exists (c ++ [z]), (cut + len), v, v'; repeat split; auto; lia. Qed.

Lemma told_apart_last P cut len z a b : length a = cut -> length b = cut -> told_last P cut len z a b ->
  apart_last (words P) cut (cut + len) (num z) (word a) (word b).
Proof.
  intros Ha Hb (c & v & v' & Hc & Pa & Pb & Hv).
  exists (word (a ++ c ++ [z])), (word (b ++ c ++ [z])), v, v'; split; [intros u Hu; apply word_first; lia|].
  split; [intros u Hu; apply word_first; lia|]. split; [lia|]. split.
  - intros u Hu; rewrite (word_later a), (word_later b), Ha, Hb by lia; reflexivity.
  - split; [|split; [exists (a ++ c ++ [z]); auto|split; [exists (b ++ c ++ [z]); auto|exact Hv]]].
    rewrite word_later, word_later by lia; replace (cut + len - length a - length c) with 0 by lia; reflexivity.
Qed.

(** ** The theorems: more prefixes than states *)
Theorem cut_words {A} P (cut : N) (l : list A) (pre : A -> list nat) D arch : NoDup l -> (D <= size l)%N ->
  (forall a, In a l -> length (pre a) = N.to_nat cut) ->
  (forall a b, In a l -> In b l -> a <> b -> told P (N.to_nat cut) (pre a) (pre b)) ->
  is_recurrent arch && exceeds D 1 (bits_at cut arch) = true -> forall T, ImpossibleThinking arch T (words P).
Proof.
  intros Hl Hs Hp H K; apply andb_prop in K; destruct K as [Hr K].
  apply (Cut.cut _ cut D); auto; destruct (told_prefixes P _ l pre Hl Hp H) as [q Hq].
  exists q; intros i j Hi Hj; apply Hq; lia.
Qed.

Theorem cut_tables P (cut n V : N) (pre : (nat -> nat) -> list nat) arch :
  (forall f, length (pre f) = N.to_nat cut) ->
  (forall f f' i, (forall j, f j < N.to_nat V) -> (forall j, f' j < N.to_nat V) -> i < N.to_nat n -> f i <> f' i ->
     told P (N.to_nat cut) (pre f) (pre f')) ->
  is_recurrent arch && exceeds V n (bits_at cut arch) = true -> forall T, ImpossibleThinking arch T (words P).
Proof.
  intros Hp H K; apply andb_prop in K; destruct K as [Hr K]; pose proof (exceeds_spec _ _ _ K) as [HV _].
  apply (cut_power _ cut V n); auto; apply (told_tables P _ n V pre); auto.
Qed.

Theorem cut_one_words {A} P (cut : N) (len z : nat) (l : list A) (pre : A -> list nat) D c s arch : NoDup l -> (D <= size l)%N ->
  (forall a, In a l -> length (pre a) = N.to_nat cut) ->
  (forall a b, In a l -> In b l -> a <> b -> told_last P (N.to_nat cut) len z (pre a) (pre b)) ->
  one_layer cut c s arch = true -> exceeds D 1 (c + s) = true -> Impossible arch (words P).
Proof.
  intros Hl Hs Hp H Ho K; apply exceeds_spec in K; destruct K as [_ K]; rewrite N.pow_1_r in K.
  destruct l as [|d l']; [unfold size in Hs; simpl in Hs; pose proof (N.pow_nonzero 2 (c + s)); lia|].
  set (l := d :: l') in *.
  apply (cut_one (words P) cut D (N.to_nat cut + len) (num z) (fun i => word (pre (nth (N.to_nat i) l d))) c s arch Ho); [|exact K].
  intros i j Hi Hj Hne; unfold size in Hs.
  assert (Ii : In (nth (N.to_nat i) l d) l) by (apply nth_In; lia).
  assert (Ij : In (nth (N.to_nat j) l d) l) by (apply nth_In; lia).
  apply told_apart_last; auto; apply H; auto.
  intros E; apply Hne, N2Nat.inj, (proj1 (NoDup_nth l d) Hl); auto; lia.
Qed.

(** Where D is a power. *)
Theorem cut_one_tables P (cut n V : N) (len z : nat) (pre : (nat -> nat) -> list nat) c s arch :
  (forall f, length (pre f) = N.to_nat cut) ->
  (forall f f' i, (forall j, f j < N.to_nat V) -> (forall j, f' j < N.to_nat V) -> i < N.to_nat n -> f i <> f' i ->
     told_last P (N.to_nat cut) len z (pre f) (pre f')) ->
  one_layer cut c s arch = true -> exceeds V n (c + s) = true -> Impossible arch (words P).
Proof.
  intros Hp H Ho K; apply exceeds_spec in K; destruct K as [HV K].
  apply (cut_one (words P) cut (V ^ n) (N.to_nat cut + len) (num z) (fun i => word (pre (entry V i))) c s arch Ho); [|exact K].
  intros i j Hi Hj Hne; apply told_apart_last; auto.
  destruct (existsb (fun y => negb (entry V i y =? entry V j y)) (seq 0 (N.to_nat n))) eqn:Ex.
  - apply existsb_exists in Ex; destruct Ex as [y [Hy Ey]]; apply in_seq in Hy.
    apply (H _ _ y); try (intros; apply entry_lt, HV); [lia|].
    intros E; rewrite E, Nat.eqb_refl in Ey; discriminate.
  - exfalso; apply Hne, (entry_inj V (N.to_nat n)); try rewrite N2Nat.id; auto.
    intros y Hy; destruct (Nat.eq_dec (entry V i y) (entry V j y)) as [|Hn]; [assumption|exfalso].
    assert (C : existsb (fun y => negb (entry V i y =? entry V j y)) (seq 0 (N.to_nat n)) = true).
    { apply existsb_exists; exists y; split; [apply in_seq; lia|]. apply Nat.eqb_neq in Hn; rewrite Hn; reflexivity. }
    congruence.
Qed.

(** Words by their letters. *)
Definition spell (f : nat -> nat) (n : nat) : list nat := map f (seq 0 n).

Lemma spell_length f n : length (spell f n) = n.
Proof. unfold spell; rewrite map_length, seq_length; reflexivity. Qed.

Lemma spell_nth f n i d : i < n -> nth i (spell f n) d = f i.
Proof.
  intros H; unfold spell; rewrite (nth_indep _ d (f 0)) by (rewrite map_length, seq_length; exact H).
  rewrite (map_nth f), seq_nth by exact H; reflexivity.
Qed.

Lemma spell_in f n v : In v (spell f n) <-> exists i, i < n /\ f i = v.
Proof.
  unfold spell; rewrite in_map_iff; split; intros (i & H1 & H2); exists i.
  - apply in_seq in H2; split; [lia|exact H1].
  - split; [exact H2|apply in_seq; lia].
Qed.
