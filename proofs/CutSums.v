(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cuts of two-sum, form global, and of three-sum, form last *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Sparse Binomial.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Rows of u digits 0, 1, 2, at most b of them not 0: of each pair {i+1, M-i-1} none, the first or the second *)
Fixpoint signs (u b : nat) : list (list nat) :=
  match u with
  | 0 => [[]]
  | S u' => map (cons 0) (signs u' b) ++ match b with 0 => [] | S b' => map (cons 1) (signs u' b') ++ map (cons 2) (signs u' b') end
  end.

Lemma signs_size u : forall b, size (signs u b) = weighted u b 2.
Proof.
  induction u as [|u IH]; intros b; [rewrite weighted_0; reflexivity|]; cbn [signs].
  unfold size in *; rewrite app_length, map_length; destruct b as [|b].
  - rewrite Nat.add_0_r, IH; reflexivity.
  - rewrite app_length, !map_length, !Nat2N.inj_add, !IH, weighted_rec; lia.
Qed.

Lemma signs_in u : forall b s, In s (signs u b) -> length s = u /\ (forall d, In d s -> d < 3) /\ length (filter (fun d => negb (d =? 0)) s) <= b.
Proof.
  induction u as [|u IH]; intros b s H; cbn [signs] in H; [destruct H as [<-|[]]; repeat split; [intros d []|simpl; lia]|].
  assert (G : forall b' d, d < 3 -> (if d =? 0 then b' <= b else S b' <= b) -> In s (map (cons d) (signs u b')) ->
    length s = S u /\ (forall e, In e s -> e < 3) /\ length (filter (fun d => negb (d =? 0)) s) <= b).
  { intros b' d Hd Hb Hs; apply in_map_iff in Hs; destruct Hs as [r [<- Hr]]; destruct (IH _ _ Hr) as (L & D & F).
    split; [simpl; lia|]. split; [intros e [<-|He]; auto|]. cbn [filter]; destruct (d =? 0); cbn [negb length]; lia. }
  apply in_app_iff in H; destruct H as [H|H]; [apply (G b 0); auto; simpl; lia|].
  destruct b as [|b]; [destruct H|]. apply in_app_iff in H; destruct H as [H|H]; [apply (G b 1)|apply (G b 2)]; auto; simpl; lia.
Qed.

Lemma signs_NoDup u : forall b, NoDup (signs u b).
Proof.
  induction u as [|u IH]; intros b; cbn [signs]; [repeat constructor; intros []|].
  assert (M : forall d b, NoDup (map (cons d) (signs u b))) by (intros; apply NoDup_map_on; [intros x y _ _ E; inversion E; auto|apply IH]).
  assert (D : forall d e b c s, d <> e -> In s (map (cons d) (signs u b)) -> ~ In s (map (cons e) (signs u c))).
  { intros d e b' c s Hne Hs C; apply in_map_iff in Hs, C; destruct Hs as [x [<- _]], C as [y [E _]]; inversion E; congruence. }
  apply NoDup_app; [apply M| |].
  - destruct b as [|b]; [constructor|]. apply NoDup_app; [apply M|apply M|]. intros s Hs; apply (D 1 2 b); auto.
  - intros s Hs C; destruct b as [|b]; [destruct C|]. apply in_app_iff in C; destruct C as [C|C]; revert C; [apply (D 0 1 (S b))|apply (D 0 2 (S b))]; auto.
Qed.

(** The numbers of such a row: digit d at place i. *)
Definition residue (M i d : nat) : nat := if d =? 1 then S i else M - S i.

Fixpoint residues (M i : nat) (s : list nat) : list nat :=
  match s with [] => [] | d :: r => if d =? 0 then residues M (S i) r else residue M i d :: residues M (S i) r end.

Lemma residues_length M s : forall i, length (residues M i s) = length (filter (fun d => negb (d =? 0)) s).
Proof. induction s as [|d s IH]; intros i; [reflexivity|]; cbn; destruct (d =? 0); cbn; rewrite IH; reflexivity. Qed.

Lemma residues_in M s : forall i v, In v (residues M i s) <-> exists j, j < length s /\ nth j s 0 <> 0 /\ v = residue M (i + j) (nth j s 0).
Proof.
  induction s as [|d s IH]; intros i v; cbn [residues]; [split; [intros []|intros (j & H & _); simpl in H; lia]|].
  assert (Shift : (exists j, j < length s /\ nth j s 0 <> 0 /\ v = residue M (S i + j) (nth j s 0)) ->
            exists j, j < length (d :: s) /\ nth j (d :: s) 0 <> 0 /\ v = residue M (i + j) (nth j (d :: s) 0)).
  { intros (j & H1 & H2 & H3); exists (S j); cbn [nth length]; replace (i + S j) with (S i + j) by lia; repeat split; auto; lia. }
  assert (Back : forall j, S j < length (d :: s) -> nth (S j) (d :: s) 0 <> 0 -> v = residue M (i + S j) (nth (S j) (d :: s) 0) ->
            exists j, j < length s /\ nth j s 0 <> 0 /\ v = residue M (S i + j) (nth j s 0)).
  { intros j H1 H2 H3; exists j; cbn [nth length] in *; replace (S i + j) with (i + S j) by lia; repeat split; auto; lia. }
  destruct (Nat.eqb_spec d 0) as [->|Hd].
  - rewrite IH; split; [exact Shift|]. intros ([|j] & H1 & H2 & H3); [exfalso; apply H2; reflexivity|eapply Back; eauto].
  - cbn [In]; rewrite IH; split.
    + intros [<-|H]; [exists 0; cbn [nth length]; rewrite Nat.add_0_r; repeat split; auto; lia|apply Shift, H].
    + intros ([|j] & H1 & H2 & H3); [left; cbn [nth] in H3; rewrite Nat.add_0_r in H3; auto|right; eapply Back; eauto].
Qed.

(** ** two-sum, form global: [lead] blanks, N numbers below M, then the question (M): are there two of them with sum 0 (mod M)? *)
Definition has_pair (M : nat) (x : list nat) : Prop :=
  exists i j, i < j < length x /\ (nth i x 0 + nth j x 0) mod M = 0.

Definition global_sum (lead N M : nat) (x : list nat) (t v : nat) : Prop :=
  exists y, length y = N /\ (forall a, In a y -> a < M) /\ x = repeat M lead ++ y ++ [M] /\ t = lead + N /\ v < 2 /\ (v = 1 <-> has_pair M y).

Definition two_sum_global (lead N M : N) : task := words (global_sum (N.to_nat lead) (N.to_nat N) (N.to_nat M)).

Lemma two_sum_global_within n lead N M : (lead + N <? n)%N = true -> within n (two_sum_global lead N M).
Proof. intros H; apply words_within; intros x t v (y & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Lemma digit_lt s j : (forall d, In d s -> d < 3) -> nth j s 0 <> 0 -> 0 < nth j s 0 < 3.
Proof.
  intros H Hn; destruct (Nat.lt_ge_cases j (length s)) as [L|L]; [specialize (H _ (nth_In s 0 L)); lia|].
  rewrite nth_overflow in Hn by exact L; lia.
Qed.

Section Global.
Variables (M u : nat).
Hypothesis HM : 2 * u < M.

Lemma residue_lt i d : i < u -> 0 < residue M i d < M.
Proof. intros H; unfold residue; destruct (d =? 1); lia. Qed.

(** No two of them are partners, and none is its own. *)
Lemma no_partner i d j e : i < u -> j < u -> 0 < d < 3 -> 0 < e < 3 -> (i = j -> d = e) -> (residue M i d + residue M j e) mod M <> 0.
Proof.
  intros Hi Hj Hd He Hij; unfold residue.
  destruct (Nat.eqb_spec d 1) as [Ed|Ed], (Nat.eqb_spec e 1) as [Ee|Ee].
  - rewrite Nat.mod_small; lia.
  - destruct (Nat.lt_ge_cases (S i + (M - S j)) M) as [L|L]; [rewrite Nat.mod_small; lia|].
    replace (S i + (M - S j)) with (i - j + 1 * M) by lia; rewrite Nat.mod_add, Nat.mod_small by lia; lia.
  - destruct (Nat.lt_ge_cases (M - S i + S j) M) as [L|L]; [rewrite Nat.mod_small; lia|].
    replace (M - S i + S j) with (j - i + 1 * M) by lia; rewrite Nat.mod_add, Nat.mod_small by lia; lia.
  - replace (M - S i + (M - S j)) with (M - S i - S j + 1 * M) by lia; rewrite Nat.mod_add, Nat.mod_small by lia; lia.
Qed.

Lemma residue_inj i d j e : i < u -> j < u -> 0 < d < 3 -> 0 < e < 3 -> residue M i d = residue M j e -> i = j /\ d = e.
Proof. intros Hi Hj Hd He; unfold residue; destruct (Nat.eqb_spec d 1), (Nat.eqb_spec e 1); lia. Qed.

Definition numbers (n : nat) (s : list nat) : list nat := filled n (residues M 0 s).

Lemma numbers_in n s v : length s = u -> (exists d, In d s /\ d <> 0) -> In v (numbers n s) <->
  exists j, j < u /\ nth j s 0 <> 0 /\ v = residue M j (nth j s 0).
Proof.
  intros L (d & Hd & Hn); unfold numbers; rewrite filled_in, residues_in, L; [reflexivity|].
  destruct (In_nth s d 0 Hd) as [j [Hj E]].
  assert (I : In (residue M (0 + j) (nth j s 0)) (residues M 0 s)) by (apply residues_in; exists j; rewrite E; auto).
  intros C; rewrite C in I; destruct I.
Qed.

(** A number w that s has and s' lacks: -w makes a pair in the one only. *)
Lemma pair_or_not n s w : length s = u -> (forall d, In d s -> d < 3) -> (exists d, In d s /\ d <> 0) ->
  length (filter (fun d => negb (d =? 0)) s) <= n ->
  0 < w < M -> has_pair M (numbers n s ++ [M - w]) <-> In w (numbers n s).
Proof.
  intros L D Hne Hb Hw.
  assert (Ln : length (numbers n s) = n) by (apply filled_length; rewrite residues_length; exact Hb).
  assert (No : forall i j, i < n -> j < n -> (nth i (numbers n s) 0 + nth j (numbers n s) 0) mod M <> 0).
  { intros i j Hi Hj.
    assert (Ii : In (nth i (numbers n s) 0) (numbers n s)) by (apply nth_In; lia).
    assert (Ij : In (nth j (numbers n s) 0) (numbers n s)) by (apply nth_In; lia).
    apply numbers_in in Ii; auto; apply numbers_in in Ij; auto.
    destruct Ii as (a & Ha & Na & ->), Ij as (b & Hb' & Nb & ->).
    apply no_partner; auto; try (apply digit_lt; auto). intros ->; reflexivity. }
  split.
  - intros (i & j & Hij & E); rewrite app_length, Ln in Hij; simpl in Hij.
    destruct (Nat.eq_dec j n) as [->|Hj].
    + rewrite app_nth1 in E by lia; rewrite app_nth2, Ln, Nat.sub_diag in E by lia; cbn [nth] in E.
      assert (Ii : In (nth i (numbers n s) 0) (numbers n s)) by (apply nth_In; lia).
      replace w with (nth i (numbers n s) 0); [exact Ii|].
      apply numbers_in in Ii; auto; destruct Ii as (a & Ha & Na & Ea); rewrite Ea in E |- *.
      pose proof (residue_lt a (nth a s 0) Ha) as Hr; set (y := residue M a (nth a s 0)) in *.
      destruct (Nat.lt_ge_cases (y + (M - w)) M) as [L'|L']; [rewrite Nat.mod_small in E; lia|].
      replace (y + (M - w)) with (y - w + 1 * M) in E by lia; rewrite Nat.mod_add, Nat.mod_small in E by lia; lia.
    + exfalso; rewrite !app_nth1 in E by lia; apply (No i j); auto; lia.
  - intros Hi; destruct (In_nth _ _ 0 Hi) as [i [Hl E]]; exists i, n; rewrite app_length, Ln; simpl; split; [lia|].
    rewrite app_nth1 by lia; rewrite app_nth2, Ln, Nat.sub_diag, E by lia; cbn [nth].
    replace (w + (M - w)) with M by lia; apply Nat.mod_same; lia.
Qed.
End Global.

Definition some_sign (s : list nat) : bool := existsb (fun d => negb (d =? 0)) s.

Lemma nonzero_size u : forall b, (weighted u b 2 - 1 <= size (filter some_sign (signs u b)))%N.
Proof.
  assert (Z : forall u b s, In s (signs u b) -> some_sign s = false -> s = repeat 0 u).
  { clear; induction u as [|u IH]; intros b s H E; cbn [signs] in H; [destruct H as [<-|[]]; reflexivity|].
    assert (G : forall b' d, In s (map (cons d) (signs u b')) -> s = repeat 0 (S u)).
    { intros b' d Hs; apply in_map_iff in Hs; destruct Hs as [r [<- Hr]]; cbn [some_sign existsb] in E; apply orb_false_iff in E; destruct E as [E1 E2].
      destruct (Nat.eqb_spec d 0) as [->|]; [|discriminate]. cbn [repeat]; f_equal; apply (IH b'); auto. }
    apply in_app_iff in H; destruct H as [H|H]; [apply (G b 0 H)|].
    destruct b; [destruct H|]; apply in_app_iff in H; destruct H as [H|H]; eapply G; exact H. }
  intros b; rewrite <- signs_size, (size_split some_sign (signs u b)).
  assert (size (filter (fun s => negb (some_sign s)) (signs u b)) <= 1)%N; [|lia].
  unfold size; enough (length (filter (fun s => negb (some_sign s)) (signs u b)) <= 1) by lia.
  change 1 with (length [repeat 0 u]); apply NoDup_incl_length; [apply NoDup_filter, signs_NoDup|].
  intros s Hs; apply filter_In in Hs; destruct Hs as [Hs E]; left; symmetry; apply (Z u b); [exact Hs|].
  destruct (some_sign s); [discriminate|reflexivity].
Qed.

Lemma global_told (lead N M b : N) s s' : let u := N.to_nat ((M - 1) / 2) in
  (0 < N)%N -> (0 < M)%N -> (b < N)%N -> let l := filter some_sign (signs u (N.to_nat b)) in In s l -> In s' l -> s <> s' ->
  let pre := fun s => repeat (N.to_nat M) (N.to_nat lead) ++ numbers (N.to_nat M) (N.to_nat (N - 1)) s in
  told_last (global_sum (N.to_nat lead) (N.to_nat N) (N.to_nat M)) (N.to_nat (lead + N - 1)) 1 (N.to_nat M) (pre s) (pre s').
Proof.
  intros u HN HM Hb l Is Is' Hne pre.
  assert (Hu : 2 * u < N.to_nat M).
  { unfold u; pose proof (N.mul_div_le (M - 1) 2); lia. }
  set (m := N.to_nat M) in *; set (n := N.to_nat (N - 1)) in *.
  apply filter_In in Is, Is'; destruct Is as [Is Es], Is' as [Is' Es'].
  destruct (signs_in _ _ _ Is) as (L & D & F), (signs_in _ _ _ Is') as (L' & D' & F').
  assert (Sn : forall s, some_sign s = true -> exists d, In d s /\ d <> 0).
  { intros r Hr; apply existsb_exists in Hr; destruct Hr as [d [Hd E]]; exists d; split; [exact Hd|]. intros ->; discriminate. }
  pose proof (Sn s Es) as Ns; pose proof (Sn s' Es') as Ns'; clear Sn Es Es'.
  assert (Hbn : forall r, length (filter (fun d => negb (d =? 0)) r) <= N.to_nat b -> length (filter (fun d => negb (d =? 0)) r) <= n) by (intros r Hr; unfold n; lia).
  (* the side that has a number which the other lacks *)
  assert (G : forall r r', length r = u -> (forall d, In d r -> d < 3) -> (exists d, In d r /\ d <> 0) -> length (filter (fun d => negb (d =? 0)) r) <= n ->
    length r' = u -> (forall d, In d r' -> d < 3) -> (exists d, In d r' /\ d <> 0) -> length (filter (fun d => negb (d =? 0)) r') <= n ->
    forall i, i < u -> nth i r 0 <> 0 -> nth i r 0 <> nth i r' 0 ->
    told_last (global_sum (N.to_nat lead) (N.to_nat N) m) (N.to_nat (lead + N - 1)) 1 m (pre r) (pre r')).
  { intros r r' Lr Dr Nr Br Lr' Dr' Nr' Br' i Hi Hn0 Hn1.
    set (w := residue m i (nth i r 0)); pose proof (residue_lt m u Hu i (nth i r 0) Hi) as Hw; fold w in Hw.
    exists [m - w], 1, 0; split; [reflexivity|].
    assert (Ask : forall q v, length q = u -> (forall d, In d q -> d < 3) -> (exists d, In d q /\ d <> 0) -> length (filter (fun d => negb (d =? 0)) q) <= n ->
      v < 2 -> (v = 1 <-> In w (numbers m n q)) -> global_sum (N.to_nat lead) (N.to_nat N) m (pre q ++ [m - w] ++ [m]) (N.to_nat (lead + N - 1) + 1) v).
    { intros q v Lq Dq Nq Bq Hv Hvw; exists (numbers m n q ++ [m - w]).
      assert (Ln : length (numbers m n q) = n) by (apply filled_length; rewrite residues_length; exact Bq).
      split; [rewrite app_length, Ln; simpl; unfold n; lia|]. split.
      { intros a Ha; apply in_app_iff in Ha; destruct Ha as [Ha|[<-|[]]]; [|lia].
        apply (numbers_in m u) in Ha; auto; destruct Ha as (j & Hj & _ & ->); apply (residue_lt m u Hu); exact Hj. }
      split; [unfold pre; rewrite <- !app_assoc; reflexivity|]. split; [lia|]. split; [exact Hv|].
      rewrite (pair_or_not m u Hu) by auto; exact Hvw. }
    split; [|split; [|discriminate]].
    - apply Ask; auto; split; [intros _|reflexivity]. apply (numbers_in m u); auto; exists i; auto.
    - apply Ask; auto; split; [discriminate|]. intros C; exfalso; apply (numbers_in m u) in C; auto.
      destruct C as (j & Hj & Nj & E); unfold w in E.
      apply (residue_inj m u Hu) in E; auto; try (apply digit_lt; auto). destruct E as [<- E]; congruence. }
  destruct (differ_at s s') as [i [Hi E]]; [lia|exact Hne|]. rewrite L in Hi.
  destruct (Nat.eq_dec (nth i s 0) 0) as [E0|E0].
  - apply told_last_sym, (G s' s) with (i := i); auto; lia.
  - apply (G s s') with (i := i); auto.
Qed.

(** The sets of 1 to b out of u with signs are more than 2^bits; u = (M-1)/2, b = min(N-1, u). *)
Definition global_sets (N M : N) : BinNums.N := (weighted_of ((M - 1) / 2) (N.min (N - 1) ((M - 1) / 2)) 2 - 1)%N.

Lemma global_sets_le N M : let u := ((M - 1) / 2)%N in
  (global_sets N M <= size (filter some_sign (signs (N.to_nat u) (N.to_nat (N.min (N - 1) u)))))%N.
Proof. intros u; unfold global_sets; fold u; rewrite weighted_of_spec; apply nonzero_size. Qed.

Lemma global_prefix (lead N M b : N) s : (0 < N)%N -> (b < N)%N -> In s (filter some_sign (signs (N.to_nat ((M - 1) / 2)) (N.to_nat b))) ->
  length (repeat (N.to_nat M) (N.to_nat lead) ++ numbers (N.to_nat M) (N.to_nat (N - 1)) s) = N.to_nat (lead + N - 1).
Proof.
  intros HN Hb H; apply filter_In in H; destruct H as [H _]; destruct (signs_in _ _ _ H) as (_ & _ & F).
  rewrite app_length, repeat_length; unfold numbers; rewrite filled_length by (rewrite residues_length; lia); lia.
Qed.

Theorem cut_two_sum_global : forall lead N M arch, (0 <? N)%N && (0 <? M)%N &&
  (is_recurrent arch && exceeds (global_sets N M) 1 (bits_at (lead + N - 1) arch)) = true ->
  forall T, ImpossibleThinking arch T (two_sum_global lead N M).
Proof.
  intros lead N M arch H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  set (u := ((M - 1) / 2)%N); assert (Hb : (N.min (N - 1) u < N)%N) by lia.
  apply (cut_words _ (lead + N - 1) (filter some_sign (signs (N.to_nat u) (N.to_nat (N.min (N - 1) u))))
    (fun s => repeat (N.to_nat M) (N.to_nat lead) ++ numbers (N.to_nat M) (N.to_nat (N - 1)) s) (global_sets N M)).
  - apply NoDup_filter, signs_NoDup.
  - apply global_sets_le.
  - intros s Hs; apply (global_prefix lead N M (N.min (N - 1) u)); auto.
  - intros s s' Hs Hs' Hne; eapply told_of_last, (global_told lead N M (N.min (N - 1) u)); auto.
  - exact H.
Qed.

Theorem cut_one_two_sum_global : forall lead N M c s arch, one_layer (lead + N - 1) c s arch = true ->
  (0 <? N)%N && (0 <? M)%N && exceeds (global_sets N M) 1 (c + s) = true -> Impossible arch (two_sum_global lead N M).
Proof.
  intros lead N M c s arch Ho H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  set (u := ((M - 1) / 2)%N); assert (Hb : (N.min (N - 1) u < N)%N) by lia.
  apply (cut_one_words _ (lead + N - 1) 1 (N.to_nat M) (filter some_sign (signs (N.to_nat u) (N.to_nat (N.min (N - 1) u))))
    (fun s => repeat (N.to_nat M) (N.to_nat lead) ++ numbers (N.to_nat M) (N.to_nat (N - 1)) s) (global_sets N M) c s).
  - apply NoDup_filter, signs_NoDup.
  - apply global_sets_le.
  - intros r Hr; apply (global_prefix lead N M (N.min (N - 1) u)); auto.
  - intros r r' Hr Hr' Hne; apply (global_told lead N M (N.min (N - 1) u)); auto.
  - exact Ho.
  - exact H.
Qed.

(** ** three-sum, form last: N numbers below M; are there two numbers that make 0 (mod M) with the last one?  With [self] the three places may
    be the same, without it they differ. *)
Definition three_last (self : bool) (N M : nat) (x : list nat) (t v : nat) : Prop :=
  length x = N /\ (forall a, In a x -> a < M) /\ S t = N /\ v < 2 /\
  (v = 1 <-> exists i j, i < N /\ j < N /\ (self = true \/ i <> j /\ i <> t /\ j <> t) /\ (nth t x 0 + nth i x 0 + nth j x 0) mod M = 0).

Definition three_sum (self : bool) (N M : N) : task := words (three_last self (N.to_nat N) (N.to_nat M)).

Lemma three_sum_within n self N M : (N <=? n)%N = true -> within n (three_sum self N M).
Proof. intros H; apply words_within; intros x t v (_ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

(** Sets of numbers 2 to U with 2 U + 1 < M; then -(s+1), then 1: no other triple with the last 1. *)
Lemma three_told self n M U s s' : 2 * U + 1 < M -> 0 < n -> length s = n -> length s' = n -> (forall a, In a s -> 2 <= a <= U) ->
  (forall a, In a s' -> 2 <= a <= U) -> (exists a, In a s /\ ~ In a s') ->
  told_last (three_last self (n + 2) M) n 1 1 s s'.
Proof.
  intros HU Hn L L' B B' (w & Hw & Hw'); pose proof (B w Hw) as Bw.
  exists [M - S w], 1, 0; split; [reflexivity|].
  assert (G : forall r, length r = n -> (forall a, In a r -> 2 <= a <= U) ->
    let x := r ++ [M - S w] ++ [1] in
    (exists i j, i < n + 2 /\ j < n + 2 /\ (self = true \/ i <> j /\ i <> n + 1 /\ j <> n + 1) /\ (nth (n + 1) x 0 + nth i x 0 + nth j x 0) mod M = 0)
    <-> In w r).
  { intros r Lr Br x.
    assert (X1 : nth (n + 1) x 0 = 1) by (unfold x; rewrite app_nth2, Lr by lia; replace (n + 1 - n) with 1 by lia; reflexivity).
    assert (X0 : nth n x 0 = M - S w) by (unfold x; rewrite app_nth2, Lr, Nat.sub_diag by lia; reflexivity).
    assert (Xr : forall i, i < n -> nth i x 0 = nth i r 0) by (intros; unfold x; apply app_nth1; lia).
    rewrite X1; split.
    - intros (i & j & Hi & Hj & _ & E).
      assert (C : forall i, i < n + 2 -> i < n /\ In (nth i x 0) r /\ 2 <= nth i x 0 <= U \/ i = n /\ nth i x 0 = M - S w \/ i = n + 1 /\ nth i x 0 = 1).
      { intros k Hk; destruct (Nat.lt_ge_cases k n) as [Lk|Lk].
        - left; rewrite Xr by exact Lk; assert (In (nth k r 0) r) by (apply nth_In; lia); auto.
        - assert (Ek : k = n \/ k = n + 1) by lia; destruct Ek as [-> | ->]; auto. }
      assert (S1 : forall y, 2 <= y <= U -> (1 + y + (M - S w)) mod M = 0 -> y = w).
      { intros y Hy Ey; destruct (Nat.lt_ge_cases y w) as [Lw|Lw]; [rewrite Nat.mod_small in Ey; lia|].
        replace (1 + y + (M - S w)) with (y - w + 1 * M) in Ey by lia; rewrite Nat.mod_add, Nat.mod_small in Ey by lia; lia. }
      destruct (C i Hi) as [(_ & Ii & Bi)|[(_ & Ei)|(_ & Ei)]], (C j Hj) as [(_ & Ij & Bj)|[(_ & Ej)|(_ & Ej)]];
        try rewrite Ei in E; try rewrite Ej in E.
      + rewrite Nat.mod_small in E; lia.
      + rewrite <- (S1 _ Bi E); exact Ii.
      + rewrite Nat.mod_small in E; lia.
      + replace (1 + (M - S w) + nth j x 0) with (1 + nth j x 0 + (M - S w)) in E by lia; rewrite <- (S1 _ Bj E); exact Ij.
      + replace (1 + (M - S w) + (M - S w)) with (M - S (2 * w) + 1 * M) in E by lia; rewrite Nat.mod_add, Nat.mod_small in E; lia.
      + rewrite Nat.mod_small in E; lia.
      + rewrite Nat.mod_small in E; lia.
      + rewrite Nat.mod_small in E; lia.
      + rewrite Nat.mod_small in E; lia.
    - intros Hi; destruct (In_nth r w 0 Hi) as [i [Hl E]]; rewrite Lr in Hl; exists i, n; repeat split; try lia.
      rewrite Xr, E, X0 by exact Hl; replace (1 + w + (M - S w)) with M by lia; apply Nat.mod_same; lia. }
  assert (Ask : forall r v, length r = n -> (forall a, In a r -> 2 <= a <= U) -> v < 2 -> (v = 1 <-> In w r) ->
    three_last self (n + 2) M (r ++ [M - S w] ++ [1]) (n + 1) v).
  { intros r v Lr Br Hv Hvw; split; [rewrite app_length, Lr; simpl; lia|]. split.
    { intros a Ha; apply in_app_iff in Ha; destruct Ha as [Ha|[<-|[<-|[]]]]; [specialize (Br a Ha); lia|lia|lia]. }
    split; [lia|]. split; [exact Hv|]. rewrite (G r Lr Br); exact Hvw. }
  split; [apply Ask; auto; tauto|]. split; [apply Ask; auto; split; [discriminate|intros C; contradiction]|discriminate].
Qed.

(** The non-empty ones among the sets of Sparse.v. *)
Definition some (s : list nat) : bool := match s with [] => false | _ => true end.

Lemma some_size l b : NoDup l -> (cnt (length l) b - 1 <= size (filter some (subs l b)))%N.
Proof.
  intros Hl; rewrite <- subs_length; change (nN (length (subs l b))) with (size (subs l b)); rewrite (size_split some (subs l b)).
  assert (size (filter (fun s => negb (some s)) (subs l b)) <= 1)%N; [|lia].
  unfold size; enough (length (filter (fun s => negb (some s)) (subs l b)) <= 1) by lia.
  change 1 with (length [@nil nat]); apply NoDup_incl_length; [apply NoDup_filter, subs_NoDup, Hl|].
  intros s Hs; apply filter_In in Hs; destruct Hs as [_ Hs]; destruct s; [left; reflexivity|discriminate].
Qed.

(** Of two different ones, one has an element that the other lacks. *)
Lemma subs_differ l b s s' : NoDup l -> In s (subs l b) -> In s' (subs l b) -> s <> s' ->
  (exists v, In v s /\ ~ In v s') \/ (exists v, In v s' /\ ~ In v s).
Proof.
  intros Hl Hs Hs' Hne.
  assert (D : forall r r' : list nat, (exists v, In v r /\ ~ In v r') \/ incl r r').
  { intros r r'; destruct (existsb (fun v => negb (mem v r')) r) eqn:X.
    - left; apply existsb_exists in X; destruct X as [v [Hv E]]; exists v; split; [exact Hv|].
      intros C; apply mem_spec in C; rewrite C in E; discriminate.
    - right; intros v Hv; destruct (mem v r') eqn:E; [apply mem_spec, E|].
      assert (existsb (fun v => negb (mem v r')) r = true) by (apply existsb_exists; exists v; rewrite E; auto); congruence. }
  destruct (D s s') as [H|H]; [auto|]. destruct (D s' s) as [H'|H']; [auto|].
  exfalso; apply Hne, (subs_ext l b Hl); auto; intros v; split; auto.
Qed.

(** Sets of 1 to b values, b = min(N-2, values), values = (M-2)/2 - 1. *)
Definition three_values (M : N) : N := ((M - 2) / 2 - 1)%N.
Definition three_sets (N M : N) : BinNums.N := (weighted_of (three_values M) (N.min (N - 2) (three_values M)) 1 - 1)%N.

Lemma three_sum_facts self (N M : N) : (2 < N)%N -> (3 < M)%N ->
  let l := filter some (subs (seq 2 (N.to_nat (three_values M))) (N.to_nat (N.min (N - 2) (three_values M)))) in
  NoDup l /\ (three_sets N M <= size l)%N /\ (forall s, In s l -> length (filled (N.to_nat (N - 2)) s) = N.to_nat (N - 2)) /\
  (forall s s', In s l -> In s' l -> s <> s' ->
     told_last (three_last self (N.to_nat N) (N.to_nat M)) (N.to_nat (N - 2)) 1 1 (filled (N.to_nat (N - 2)) s) (filled (N.to_nat (N - 2)) s')).
Proof.
  intros HN HM l; set (n := N.to_nat (N - 2)); set (k := N.to_nat (three_values M)) in *; set (U := S k).
  assert (HU : 2 * U + 1 < N.to_nat M).
  { unfold U, k, three_values; pose proof (N.mul_div_le (M - 2) 2); assert ((1 <= (M - 2) / 2)%N) by (apply N.div_le_lower_bound; lia); lia. }
  assert (In' : forall s, In s l -> In s (subs (seq 2 k) (N.to_nat (N.min (N - 2) (three_values M)))) /\ s <> [] /\ length s <= n /\ forall a, In a s -> 2 <= a <= U).
  { intros s Hs; apply filter_In in Hs; destruct Hs as [Hs E]; destruct (subs_in _ _ _ Hs) as [Ls I]; split; [exact Hs|].
    split; [intros ->; discriminate|]. split; [unfold n; lia|]. intros a Ha; apply I, in_seq in Ha; unfold U; lia. }
  split; [apply NoDup_filter, subs_NoDup, seq_NoDup|]. split; [|split].
  - unfold three_sets; rewrite weighted_of_spec, weighted_cnt; fold k.
    pose proof (some_size (seq 2 k) (N.to_nat (N.min (N - 2) (three_values M))) (seq_NoDup _ _)) as S'; rewrite seq_length in S'; exact S'.
  - intros s Hs; apply filled_length, In', Hs.
  - intros s s' Hs Hs' Hne; destruct (In' s Hs) as (I & E & L & B), (In' s' Hs') as (I' & E' & L' & B').
    replace (N.to_nat N) with (n + 2) by (unfold n; lia).
    assert (G : forall r r', r <> [] -> r' <> [] -> length r <= n -> length r' <= n -> (forall a, In a r -> 2 <= a <= U) -> (forall a, In a r' -> 2 <= a <= U) ->
      (exists v, In v r /\ ~ In v r') -> told_last (three_last self (n + 2) (N.to_nat M)) n 1 1 (filled n r) (filled n r')).
    { intros r r' Er Er' Lr Lr' Br Br' (v & Hv & Hv'); apply (three_told self n (N.to_nat M) U); auto using filled_length.
      - unfold n; lia.
      - intros a Ha; apply filled_in in Ha; auto.
      - intros a Ha; apply filled_in in Ha; auto.
      - exists v; split; [apply filled_in; auto|]. intros C; apply filled_in in C; auto. }
    destruct (subs_differ _ _ s s' (seq_NoDup k 2) I I' Hne) as [D|D]; [apply G; auto|apply told_last_sym, G; auto].
Qed.

Theorem cut_three_sum : forall self N M arch, (2 <? N)%N && (3 <? M)%N &&
  (is_recurrent arch && exceeds (three_sets N M) 1 (bits_at (N - 2) arch)) = true ->
  forall T, ImpossibleThinking arch T (three_sum self N M).
Proof.
  intros self N M arch H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  destruct (three_sum_facts self N M) as (F1 & F2 & F3 & F4); auto.
  apply (cut_words _ (N - 2) _ _ (three_sets N M) arch F1 F2 F3); [|exact H].
  intros s s' Hs Hs' Hne; eapply told_of_last, F4; auto.
Qed.

Theorem cut_one_three_sum : forall self N M c s arch, one_layer (N - 2) c s arch = true ->
  (2 <? N)%N && (3 <? M)%N && exceeds (three_sets N M) 1 (c + s) = true -> Impossible arch (three_sum self N M).
Proof.
  intros self N M c s arch Ho H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  destruct (three_sum_facts self N M) as (F1 & F2 & F3 & F4); auto.
  apply (cut_one_words _ (N - 2) 1 1 _ _ (three_sets N M) c s arch F1 F2 F3 F4 Ho H).
Qed.
