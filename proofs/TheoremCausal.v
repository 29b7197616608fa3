(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Causal: no causal model answers at a position what depends on later tokens

    Whatever the model is: a causal function from prompts to answers. Networks of layers are causal ([run_causal]). *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Crossing Compose Within Words CutSets CutAverage.
Import ListNotations.

Definition ImpossibleCausal (k : task) : Prop :=
  forall g : (nat -> token) -> nat -> nat, causal g -> ~ (forall p t v, k p t v -> g p t = v).

Lemma too_late (k : task) p p' t v v' : k p t v -> k p' t v' -> agree 0 t p p' -> v <> v' -> ImpossibleCausal k.
Proof. intros H H' Ha Hv g Hg Hs; apply Hv; rewrite <- (Hs _ _ _ H), <- (Hs _ _ _ H'); apply Hg, Ha. Qed.

Lemma network_causal (k : task) (m : net token nat) : ImpossibleCausal k -> ~ solves k m.
Proof. intros H Hs; apply (H (run m)); [apply run_causal|exact Hs]. Qed.

(** ** two-sum, form position: [lead] blanks, N numbers below M; of each number: does it make 0 (mod M) with one of them?  Without [self]
    not with itself. *)
Definition pair_at (self : bool) (lead N M : nat) (x : list nat) (t v : nat) : Prop :=
  exists y, x = repeat M lead ++ y /\ length y = N /\ (forall a, In a y -> a < M) /\ lead <= t < lead + N /\ v < 2 /\
  (v = 1 <-> exists j, j < N /\ (self = true \/ lead + j <> t) /\ (nth (t - lead) y 0 + nth j y 0) mod M = 0).

Definition two_sum_position (self : bool) (lead N M : N) : task := words (pair_at self (N.to_nat lead) (N.to_nat N) (N.to_nat M)).

Lemma two_sum_position_within n self lead N M : (lead + N <=? n)%N = true -> within n (two_sum_position self lead N M).
Proof. intros H; apply words_within; intros x t v (y & _ & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

(** ** three-sum, form position: N numbers below M; of each number: is it in a triple that makes 0 (mod M)?  With [self] the three places may
    be the same, without it they differ. *)
Definition triple_at (self : bool) (N M : nat) (x : list nat) (t v : nat) : Prop :=
  length x = N /\ (forall a, In a x -> a < M) /\ t < N /\ v < 2 /\
  (v = 1 <-> exists i j, i < N /\ j < N /\ (self = true \/ i <> j /\ i <> t /\ j <> t) /\ (nth t x 0 + nth i x 0 + nth j x 0) mod M = 0).

Definition three_sum_position (self : bool) (N M : N) : task := words (triple_at self (N.to_nat N) (N.to_nat M)).

Lemma three_sum_position_within n self N M : (N <=? n)%N = true -> within n (three_sum_position self N M).
Proof. intros H; apply words_within; intros x t v (_ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

(** ** q-sparse-average, asked at every place; vectors as in [averages] *)
Definition averages_everywhere (N q : N) : task := fun p t v =>
  exists (z : nat -> nat) (y : nat -> list nat), (forall i, z i < 2) /\ (forall i, i < N.to_nat N -> set_of (N.to_nat N) (N.to_nat q) (y i)) /\
  p = (fun i => if i <? N.to_nat N then pick (z i :: y i) else num 0) /\ t < N.to_nat N /\ v = ones_among z (y t).

Lemma averages_everywhere_within n N q : (N <=? n)%N = true -> within n (averages_everywhere N q).
Proof. intros H p t v (z & y & _ & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

(** ** Two prompts that differ in the last token *)
Definition ones_then (n a : nat) : list nat := repeat 1 (n - 1) ++ [a].

Lemma ones_then_length n a : 0 < n -> length (ones_then n a) = n.
Proof. intros H; unfold ones_then; rewrite app_length, repeat_length; cbn [length]; lia. Qed.

Lemma ones_then_nth n a j : j < n -> nth j (ones_then n a) 0 = if S j =? n then a else 1.
Proof.
  intros H; unfold ones_then; destruct (Nat.eqb_spec (S j) n) as [E|E].
  - rewrite app_nth2 by (rewrite repeat_length; lia); rewrite repeat_length; replace (j - (n - 1)) with 0 by lia; reflexivity.
  - rewrite app_nth1 by (rewrite repeat_length; lia); rewrite (nth_indep _ 0 1), nth_repeat by (rewrite repeat_length; lia); reflexivity.
Qed.

Lemma ones_then_in n a b m : In b (ones_then n a) -> 1 < m -> a < m -> b < m.
Proof. intros H Hm Ha; apply in_app_iff in H; destruct H as [H|[<-|[]]]; [apply repeat_spec in H; lia|exact Ha]. Qed.

Theorem causal_two_sum : forall self lead N M, (2 <=? N)%N && (3 <=? M)%N = true -> ImpossibleCausal (two_sum_position self lead N M).
Proof.
  intros self lead N M H; apply andb_prop in H; destruct H as [H1 H2]; apply N.leb_le in H1, H2.
  set (l := N.to_nat lead); set (n := N.to_nat N); set (m := N.to_nat M).
  assert (Hn : 2 <= n) by (unfold n; lia). assert (Hm : 3 <= m) by (unfold m; lia).
  set (w := fun a => repeat m l ++ ones_then n a).
  assert (At0 : forall a, nth 0 (ones_then n a) 0 = 1) by (intros a; rewrite ones_then_nth by lia; destruct (Nat.eqb_spec 1 n); [lia|reflexivity]).
  apply (too_late _ (word (w 1)) (word (w (m - 1))) l 0 1); [| | |lia].
  - exists (w 1); split; [reflexivity|]; exists (ones_then n 1); fold l n m; split; [reflexivity|]; split; [apply ones_then_length; lia|].
    split; [intros a Ha; apply (ones_then_in n 1 a m Ha); lia|]. split; [lia|]; split; [lia|]. split; [discriminate|].
    intros (j & Hj & _ & E); rewrite Nat.sub_diag, At0, ones_then_nth in E by exact Hj.
    destruct (S j =? n); rewrite Nat.mod_small in E by lia; discriminate.
  - exists (w (m - 1)); split; [reflexivity|]; exists (ones_then n (m - 1)); fold l n m; split; [reflexivity|]; split; [apply ones_then_length; lia|].
    split; [intros a Ha; apply (ones_then_in n (m - 1) a m Ha); lia|]. split; [lia|]; split; [lia|]. split; [intros _|reflexivity].
    exists (n - 1); split; [lia|]; split; [right; lia|].
    rewrite Nat.sub_diag, At0, ones_then_nth by lia; destruct (Nat.eqb_spec (S (n - 1)) n); [|lia].
    replace (1 + (m - 1)) with m by lia; apply Nat.mod_same; lia.
  - intros u Hu; unfold word, at_, w, ones_then; rewrite !map_app, !app_assoc.
    rewrite !(app_nth1 (_ ++ _)) by (rewrite app_length, !map_length, !repeat_length; lia); reflexivity.
Qed.

Theorem causal_three_sum : forall self N M, (3 <=? N)%N && (4 <=? M)%N = true -> ImpossibleCausal (three_sum_position self N M).
Proof.
  intros self N M H; apply andb_prop in H; destruct H as [H1 H2]; apply N.leb_le in H1, H2.
  set (n := N.to_nat N); set (m := N.to_nat M).
  assert (Hn : 3 <= n) by (unfold n; lia). assert (Hm : 4 <= m) by (unfold m; lia).
  assert (At0 : forall a, nth 0 (ones_then n a) 0 = 1) by (intros a; rewrite ones_then_nth by lia; destruct (Nat.eqb_spec 1 n); [lia|reflexivity]).
  apply (too_late _ (word (ones_then n 1)) (word (ones_then n (m - 2))) 0 0 1); [| | |lia].
  - exists (ones_then n 1); split; [reflexivity|]; fold n m; split; [apply ones_then_length; lia|].
    split; [intros a Ha; apply (ones_then_in n 1 a m Ha); lia|]. split; [lia|]; split; [lia|]. split; [discriminate|].
    intros (i & j & Hi & Hj & _ & E); rewrite At0, !ones_then_nth in E by assumption.
    destruct (S i =? n), (S j =? n); rewrite Nat.mod_small in E by lia; discriminate.
  - exists (ones_then n (m - 2)); split; [reflexivity|]; fold n m; split; [apply ones_then_length; lia|].
    split; [intros a Ha; apply (ones_then_in n (m - 2) a m Ha); lia|]. split; [lia|]; split; [lia|]. split; [intros _|reflexivity].
    exists 1, (n - 1); split; [lia|]; split; [lia|]; split; [right; lia|].
    rewrite At0, !ones_then_nth by lia; destruct (Nat.eqb_spec (S (n - 1)) n); [|lia]; destruct (Nat.eqb_spec 2 n); [lia|].
    replace (1 + 1 + (m - 2)) with m by lia; apply Nat.mod_same; lia.
  - intros u Hu; unfold word, at_, ones_then; rewrite !map_app.
    rewrite !(app_nth1 (map num _)) by (rewrite map_length, repeat_length; lia); reflexivity.
Qed.

Theorem causal_averages : forall N q, (2 <=? N)%N && (0 <? q)%N && (q <=? N)%N = true -> ImpossibleCausal (averages_everywhere N q).
Proof.
  intros N q H; apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.leb_le in H1, H3; apply N.ltb_lt in H2.
  set (n := N.to_nat N); set (k := N.to_nat q).
  assert (Hk : 0 < k <= n) by (unfold n, k; lia). assert (Hn : 2 <= n) by (unfold n; lia).
  set (y := fun _ : nat => (n - 1) :: seq (n - k) (k - 1)).
  set (z := fun b i : nat => if S i =? n then b else 1).
  assert (Hy : forall i, set_of n k (y i)).
  { intros i; unfold y; split; [cbn [length]; rewrite seq_length; lia|]. split.
    - constructor; [rewrite in_seq; lia|apply seq_NoDup].
    - intros v [<-|Hv]; [lia|apply in_seq in Hv; lia]. }
  set (p := fun b i => if i <? n then pick (z b i :: y i) else num 0).
  assert (Ask : forall b, b < 2 -> averages_everywhere N q (p b) 0 (ones_among (z b) (y 0))).
  { intros b Hb; exists (z b), y; fold n k; split; [intros i; unfold z; destruct (S i =? n); lia|].
    split; [intros; apply Hy|]. split; [reflexivity|]; split; [lia|reflexivity]. }
  apply (too_late _ (p 0) (p 1) 0 _ _ (Ask 0 ltac:(lia)) (Ask 1 ltac:(lia))).
  - intros u Hu; unfold p, z; destruct (Nat.eqb_spec (S u) n); [lia|reflexivity].
  - assert (E : ones_among (z 0) (seq (n - k) (k - 1)) = ones_among (z 1) (seq (n - k) (k - 1))).
    { apply sum_same; intros i Hi; apply in_seq in Hi; unfold z; destruct (Nat.eqb_spec (S i) n); [lia|reflexivity]. }
    assert (Z : forall b, z b (n - 1) = b) by (intros b; unfold z; destruct (Nat.eqb_spec (S (n - 1)) n); [reflexivity|lia]).
    unfold y, ones_among in *; cbn [map list_sum fold_right]; rewrite !Z; unfold list_sum in E; lia.
Qed.
