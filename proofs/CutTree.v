(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cut of is-tree: which vertices are together *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words.
Import ListNotations.
Local Notation nN := N.of_nat.

(** A row of n-1 edges u v u v ...; n-1 edges on n vertices are a tree iff they connect them. *)
Inductive linked (e : list (nat * nat)) : nat -> nat -> Prop :=
| linked_same a : linked e a a
| linked_edge a b c : In (a, b) e \/ In (b, a) e -> linked e b c -> linked e a c.

Definition ends (e : list (nat * nat)) : list nat := flat_map (fun p => [fst p; snd p]) e.

Definition tree (n : nat) (x : list nat) (t v : nat) : Prop :=
  exists e, length e = n - 1 /\ (forall a, In a (ends e) -> a < n) /\ x = ends e /\ S t = 2 * (n - 1) /\ v < 2 /\
  (v = 1 <-> forall a b, a < n -> b < n -> linked e a b).

Definition is_tree (n : N) : task := words (tree (N.to_nat n)).

Lemma is_tree_within m n : (2 * (n - 1) <=? m)%N = true -> within m (is_tree n).
Proof. intros H; apply words_within; intros x t v (e & _ & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

Lemma linked_trans e a b c : linked e a b -> linked e b c -> linked e a c.
Proof. intros H; induction H; intros; [assumption|econstructor; eauto]. Qed.

Lemma linked_sym e a b : linked e a b -> linked e b a.
Proof.
  intros H; induction H as [a|a b c H _ IH]; [constructor|]. apply (linked_trans e c b a IH).
  apply (linked_edge e b a a); [tauto|constructor].
Qed.

(** A colour that no edge changes. *)
Lemma linked_colour e (f : nat -> nat) : (forall a b, In (a, b) e -> f a = f b) -> forall a b, linked e a b -> f a = f b.
Proof. intros H a b L; induction L as [|a b c [E|E] _ IH]; [reflexivity| |]; specialize (H _ _ E); congruence. Qed.

Lemma ends_length e : length (ends e) = 2 * length e.
Proof. induction e as [|p e IH]; [reflexivity|]; cbn [ends flat_map app length]; fold (ends e); lia. Qed.

Lemma ends_app e e' : ends (e ++ e') = ends e ++ ends e'.
Proof. apply flat_map_app. Qed.

(** Vertices k, ..., n-1, each beside one of 0, ..., k-1. *)
Definition stars (n k : nat) (f : nat -> nat) : list (nat * nat) := map (fun i => (k + i, f i)) (seq 0 (n - k)).

(** Vertex x of the one star and the middle y of another; and all other middles beside y'. *)
Definition joined (k x y y' : nat) : list (nat * nat) :=
  (x, y) :: map (fun c => (y', c)) (filter (fun c => negb (c =? y) && negb (c =? y')) (seq 0 k)).

Lemma joined_length k x y y' : y < k -> y' < k -> y <> y' -> length (joined k x y y') = k - 1.
Proof.
  intros Hy Hy' Hne; unfold joined; cbn [length]; rewrite map_length.
  assert (E : forall m, length (filter (fun c => negb (c =? y) && negb (c =? y')) (seq 0 m)) + (if y <? m then 1 else 0) + (if y' <? m then 1 else 0) = m).
  { induction m as [|m IH]; [destruct y, y'; reflexivity|]. rewrite seq_S, filter_app, app_length; cbn [filter length plus].
    destruct (Nat.eqb_spec m y), (Nat.eqb_spec m y'); cbn [negb andb length];
      repeat match goal with |- context [?a <? S m] => destruct (Nat.ltb_spec a (S m)) end;
      repeat match type of IH with context [?a <? m] => destruct (Nat.ltb_spec a m) end; lia. }
  specialize (E k); destruct (Nat.ltb_spec y k), (Nat.ltb_spec y' k); lia.
Qed.

Lemma joined_in k x y y' a b : In (a, b) (joined k x y y') -> (a = x /\ b = y) \/ (a = y' /\ b < k /\ b <> y /\ b <> y').
Proof.
  intros [E|H]; [inversion E; auto|right]. apply in_map_iff in H; destruct H as [c [E Hc]]; inversion E; subst.
  apply filter_In in Hc; destruct Hc as [Hc Hn]; apply in_seq in Hc; apply andb_prop in Hn; destruct Hn as [N1 N2].
  repeat split; [lia| |]; intros ->; rewrite Nat.eqb_refl in *; discriminate.
Qed.

Lemma stars_in n k f a b : In (a, b) (stars n k f) <-> exists i, i < n - k /\ a = k + i /\ b = f i.
Proof.
  unfold stars; rewrite in_map_iff; split.
  - intros (i & E & Hi); apply in_seq in Hi; inversion E; exists i; split; [lia|auto].
  - intros (i & Hi & -> & ->); exists i; split; [reflexivity|apply in_seq; lia].
Qed.

Lemma trees_told n k f f' i : k <= n -> (forall j, f j < k) -> (forall j, f' j < k) -> i < n - k -> f i <> f' i ->
  tree n (ends (stars n k f) ++ ends (joined k (k + i) (f i) (f' i))) (2 * (n - 1) - 1) 0 /\
  tree n (ends (stars n k f') ++ ends (joined k (k + i) (f i) (f' i))) (2 * (n - 1) - 1) 1.
Proof.
  intros Hkn Hf Hf' Hi Hne; set (y := f i) in *; set (y' := f' i) in *; set (x := k + i).
  assert (Hk : 2 <= k) by (pose proof (Hf i); pose proof (Hf' i); unfold y, y' in *; lia).
  assert (Hy : y < k) by apply Hf; assert (Hy' : y' < k) by apply Hf'.
  assert (Len : forall h, length (stars n k h ++ joined k x y y') = n - 1).
  { intros h; rewrite app_length, joined_length by auto; unfold stars; rewrite map_length, seq_length; lia. }
  assert (Ends : forall h a, (forall j, h j < k) -> In a (ends (stars n k h ++ joined k x y y')) -> a < n).
  { intros h a Hh Ha; unfold ends in Ha; apply in_flat_map in Ha; destruct Ha as [[u w] [Hp Ha]]; cbn in Ha.
    apply in_app_iff in Hp; destruct Hp as [Hp|Hp].
    - apply stars_in in Hp; destruct Hp as (j & Hj & -> & ->); specialize (Hh j); destruct Ha as [<-|[<-|[]]]; lia.
    - apply joined_in in Hp; unfold x in Hp; destruct Ha as [<-|[<-|[]]]; lia. }
  split.
  - exists (stars n k f ++ joined k x y y'); rewrite ends_app; repeat split; auto; try lia; [intros a Ha; apply (Ends f a Hf); rewrite ends_app; exact Ha|].
    (* whether a vertex is in the star of y *)
    intros C; exfalso; set (col := fun a => if a <? k then (if a =? y then 1 else 0) else (if f (a - k) =? y then 1 else 0)).
    assert (E : col y = col y').
    { apply (linked_colour (stars n k f ++ joined k x y y')); [|apply C; lia]. intros a b H; apply in_app_iff in H; destruct H as [H|H].
      - apply stars_in in H; destruct H as (j & Hj & -> & ->); unfold col; destruct (Nat.ltb_spec (k + j) k); [lia|].
        replace (k + j - k) with j by lia; specialize (Hf j); destruct (Nat.ltb_spec (f j) k); [reflexivity|lia].
      - apply joined_in in H; unfold col; destruct H as [[-> ->]|(-> & Hb & N1 & N2)].
        + unfold x; destruct (Nat.ltb_spec (k + i) k); [lia|]. replace (k + i - k) with i by lia; fold y.
          destruct (Nat.ltb_spec y k); [reflexivity|lia].
        + destruct (Nat.ltb_spec y' k), (Nat.ltb_spec b k); try lia; destruct (Nat.eqb_spec y' y), (Nat.eqb_spec b y); congruence. }
    unfold col in E; destruct (Nat.ltb_spec y k), (Nat.ltb_spec y' k); try lia; rewrite Nat.eqb_refl in E; destruct (Nat.eqb_spec y' y); congruence.
  - exists (stars n k f' ++ joined k x y y'); rewrite ends_app; repeat split; auto; try lia; [intros a Ha; apply (Ends f' a Hf'); rewrite ends_app; exact Ha|].
    intros _; set (e := stars n k f' ++ joined k x y y').
    assert (Star : forall j, j < n - k -> linked e (k + j) (f' j)).
    { intros j Hj; apply (linked_edge e (k + j) (f' j)); [left; apply in_app_iff; left; apply stars_in; exists j; auto|constructor]. }
    assert (Mid : forall c, c < k -> linked e c y').
    { intros c Hc; destruct (Nat.eq_dec c y') as [->|N1]; [constructor|]. destruct (Nat.eq_dec c y) as [->|N2].
      - apply (linked_edge e y x); [right; apply in_app_iff; right; left; reflexivity|]. apply (Star i Hi).
      - apply (linked_edge e c y'); [|constructor]. right; apply in_app_iff; right; right; apply in_map_iff; exists c; split; [reflexivity|].
        apply filter_In; split; [apply in_seq; lia|]. apply Nat.eqb_neq in N1, N2; rewrite N1, N2; reflexivity. }
    assert (All : forall a, a < n -> linked e a y').
    { intros a Ha; destruct (Nat.lt_ge_cases a k) as [L|L]; [apply Mid, L|]. replace a with (k + (a - k)) by lia.
      apply (linked_trans e _ (f' (a - k))); [apply Star; lia|apply Mid, Hf']. }
    intros a b Ha Hb; apply (linked_trans e a y' b); [apply All, Ha|apply linked_sym, All, Hb].
Qed.

(** k^(n-k) partitions. *)
Theorem cut_is_tree n k arch : (k <=? n)%N && (is_recurrent arch && exceeds k (n - k) (bits_at (2 * (n - k)) arch)) = true ->
  forall T, ImpossibleThinking arch T (is_tree n).
Proof.
  intros H; apply andb_prop in H; destruct H as [Hk H]; checked Hk; set (m := N.to_nat n); set (kk := N.to_nat k).
  apply (cut_tables _ (2 * (n - k)) (n - k) k (fun f => ends (stars m kk f))); [| |exact H].
  - intros f; rewrite ends_length; unfold stars; rewrite map_length, seq_length; unfold m, kk; lia.
  - intros f f' i Hf Hf' Hi Hne; destruct (trees_told m kk f f' i) as [A0 A1]; auto; try (unfold m, kk in *; lia).
    exists (ends (joined kk (kk + i) (f i) (f' i))), (2 * (m - 1) - 1), 0, 1; split; [|split; [exact A0|split; [exact A1|discriminate]]].
    pose proof (Hf i); pose proof (Hf' i); unfold m, kk in *; lia.
Qed.

(** ** One layer: the last token is vertex 0, and there are at least three trees *)

(** The same edges in another order, each in one direction or the other. *)
Definition same_edges (e e' : list (nat * nat)) : Prop := forall a b, In (a, b) e \/ In (b, a) e <-> In (a, b) e' \/ In (b, a) e'.

Lemma linked_same_edges e e' a b : same_edges e e' -> linked e a b -> linked e' a b.
Proof. intros E L; induction L as [|a b c H _ IH]; [constructor|]. apply (linked_edge e' a b); [apply E, H|exact IH]. Qed.

Lemma tree_same_edges n e e' t v : length e' = length e -> same_edges e e' -> tree n (ends e) t v -> tree n (ends e') t v.
Proof.
  intros Len E (f & H1 & H2 & H3 & H4 & H5 & H6).
  assert (Ef : f = e).
  { clear - H3; revert f H3; induction e as [|[a b] e IH]; intros [|[a' b'] f] H; try discriminate; [reflexivity|].
    cbn in H; inversion H; f_equal; apply IH; assumption. }
  subst f; exists e'; rewrite Len; repeat split; auto.
  - intros a Ha; apply H2; unfold ends in *; apply in_flat_map in Ha; destruct Ha as [[u w] [Hp Ha]]; cbn in Ha; apply in_flat_map.
    destruct (proj2 (E u w) (or_introl Hp)) as [Hq|Hq]; [exists (u, w)|exists (w, u)]; (split; [exact Hq|]); cbn; tauto.
  - intros Hv a b Ha Hb; apply (linked_same_edges e e'); [exact E|]. apply H6; auto.
  - intros L; apply H6; intros a b Ha Hb; apply (linked_same_edges e' e); [intros u w; symmetry; apply E|apply L; assumption].
Qed.

(** Some edge of [joined] has vertex 0; it comes last. *)
Lemma joined_last k x y y' : 2 < k -> y < k -> y' < k -> y <> y' -> exists e a, length e = k - 2 /\ same_edges (joined k x y y') (e ++ [(a, 0)]).
Proof.
  intros Hk Hy Hy' Hne.
  assert (P : exists a, In (a, 0) (joined k x y y') \/ In (0, a) (joined k x y y')).
  { unfold joined; destruct (Nat.eq_dec y 0) as [->|N1]; [exists x; left; left; reflexivity|].
    assert (M : forall c, c < k -> c <> y -> c <> y' -> In (y', c) (joined k x y y')).
    { intros c Hc C1 C2; right; apply in_map_iff; exists c; split; [reflexivity|]. apply filter_In; split; [apply in_seq; lia|].
      apply Nat.eqb_neq in C1, C2; rewrite C1, C2; reflexivity. }
    destruct (Nat.eq_dec y' 0) as [->|N2]; [|exists y'; left; apply M; lia].
    exists (if y =? 1 then 2 else 1); right; apply M; destruct (Nat.eqb_spec y 1); lia. }
  destruct P as [a Ha]; pose proof (joined_length k x y y' Hy Hy' Hne) as Len.
  assert (Go : forall p, In p (joined k x y y') -> p = (a, 0) \/ p = (0, a) -> exists e, length e = k - 2 /\ same_edges (joined k x y y') (e ++ [(a, 0)])).
  { intros p Hp Ep; destruct (in_split p _ Hp) as (l1 & l2 & El); exists (l1 ++ l2); rewrite El in *; rewrite app_length in *; cbn [length] in Len.
    split; [lia|]. intros u w; rewrite !in_app_iff; cbn [In]. destruct Ep as [-> | ->]; split; intros; repeat match goal with H : _ \/ _ |- _ => destruct H end;
      repeat match goal with H : (_, _) = (_, _) |- _ => inversion H; clear H; subst end; tauto. }
  destruct Ha as [Ha|Ha]; destruct (Go _ Ha) as (e & L & E); auto; exists e, a; auto.
Qed.

Theorem cut_one_is_tree n k c s arch : one_layer (2 * (n - k)) c s arch = true -> (3 <=? k)%N && (k <=? n)%N && exceeds k (n - k) (c + s) = true ->
  Impossible arch (is_tree n).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [Hk H]; checked Hk; set (m := N.to_nat n); set (kk := N.to_nat k).
  assert (Hkk : 2 < kk /\ kk <= m) by (unfold kk, m; lia).
  apply (cut_one_tables _ (2 * (n - k)) (n - k) k (2 * (kk - 1) - 1) 0 (fun f => ends (stars m kk f)) c s); [| |exact Ho|exact H].
  - intros f; rewrite ends_length; unfold stars; rewrite map_length, seq_length; unfold m, kk; lia.
  - intros f f' i Hf Hf' Hi Hne; fold kk in Hf, Hf'; destruct (trees_told m kk f f' i) as [A0 A1]; auto; try (unfold m, kk in *; lia).
    destruct (joined_last kk (kk + i) (f i) (f' i)) as (e & a & Le & E); auto; [apply Hkk|].
    assert (Re : forall h v, tree m (ends (stars m kk h) ++ ends (joined kk (kk + i) (f i) (f' i))) (2 * (m - 1) - 1) v ->
      tree m (ends (stars m kk h) ++ (ends e ++ [a]) ++ [0]) (N.to_nat (2 * (n - k)) + (2 * (kk - 1) - 1)) v).
    { intros h v Hv; replace ((ends e ++ [a]) ++ [0]) with (ends (e ++ [(a, 0)])) by (rewrite ends_app, <- app_assoc; reflexivity).
      replace (N.to_nat (2 * (n - k)) + (2 * (kk - 1) - 1)) with (2 * (m - 1) - 1) by (unfold m, kk in *; lia).
      rewrite <- ends_app in *; revert Hv; apply tree_same_edges.
      - rewrite !app_length, joined_length; auto; cbn [length]; lia.
      - intros u w; rewrite !in_app_iff; specialize (E u w); rewrite !in_app_iff in E; tauto. }
    exists (ends e ++ [a]), 0, 1; split; [rewrite app_length, ends_length; cbn [length]; lia|].
    split; [apply Re, A0|]. split; [apply Re, A1|discriminate].
Qed.
