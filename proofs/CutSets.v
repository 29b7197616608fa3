(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cuts of disjointness and count *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Sparse Binomial CutSums.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** disjointness: two sets of k out of N places, as N bits each; do they meet? *)
Definition bits_of (N : nat) (s : list nat) : list nat := spell (fun i => if mem i s then 1 else 0) N.

Definition set_of (N k : nat) (s : list nat) : Prop := length s = k /\ NoDup s /\ forall v, In v s -> v < N.

Definition meeting (N k : nat) (x : list nat) (t v : nat) : Prop :=
  exists s r, set_of N k s /\ set_of N k r /\ x = bits_of N s ++ bits_of N r /\ S t = 2 * N /\ v < 2 /\ (v = 1 <-> exists i, In i s /\ In i r).

Definition disjointness (N k : N) : task := words (meeting (N.to_nat N) (N.to_nat k)).

Lemma disjointness_within n N k : (2 * N <=? n)%N = true -> within n (disjointness N k).
Proof. intros H; apply words_within; intros x t v (s & r & _ & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

Lemma choices_set N k s : In s (choices (seq 0 N) k) -> set_of N k s.
Proof.
  intros H; destruct (choices_in _ _ _ H) as (L & I & D); repeat split; [exact L|apply D, seq_NoDup|].
  intros v Hv; apply I, in_seq in Hv; lia.
Qed.

Lemma others_ge n J : n <= length J + length (others n J).
Proof.
  assert (E : length (seq 0 n) <= length (J ++ others n J)).
  { apply NoDup_incl_length; [apply seq_NoDup|]. intros i Hi; apply in_seq in Hi; apply in_app_iff.
    destruct (in_dec Nat.eq_dec i J); [auto|right; apply others_spec; split; [lia|assumption]]. }
  rewrite seq_length, app_length in E; exact E.
Qed.

(** x of s alone, and k-1 more places below N' that s' lacks. *)
Lemma meeting_set N' k s' x : 0 < k -> length s' = k -> 2 * k <= N' -> x < N' -> ~ In x s' ->
  exists r, length r = k /\ NoDup r /\ (forall v, In v r -> v < N') /\ In x r /\ forall v, In v r -> ~ In v s'.
Proof.
  intros Hk L HN Hx Hn; set (free := others N' (x :: s')); exists (x :: firstn (k - 1) free).
  pose proof (others_ge N' (x :: s')) as G; fold free in G; cbn [length] in G; rewrite L in G.
  assert (F : forall v, In v (firstn (k - 1) free) -> v < N' /\ v <> x /\ ~ In v s').
  { intros v Hv; apply firstn_In, others_spec in Hv; destruct Hv as [Hv C]; split; [exact Hv|].
    split; [intros ->; apply C; left; reflexivity|intros C'; apply C; right; exact C']. }
  split; [cbn [length]; rewrite firstn_length; lia|]. split; [|split; [|split]].
  - constructor; [intros C; destruct (F x C) as (_ & E & _); congruence|]. apply firstn_NoDup, NoDup_filter, seq_NoDup.
  - intros v [<-|Hv]; [exact Hx|apply F, Hv].
  - left; reflexivity.
  - intros v [<-|Hv]; [exact Hn|apply F, Hv].
Qed.

Lemma meeting_asks N k s s' r : set_of N k s -> set_of N k s' -> set_of N k r -> 0 < N -> (exists x, In x s /\ In x r) -> (forall v, In v r -> ~ In v s') ->
  meeting N k (bits_of N s ++ bits_of N r) (2 * N - 1) 1 /\ meeting N k (bits_of N s' ++ bits_of N r) (2 * N - 1) 0.
Proof.
  intros Hs Hs' Hr HN (x & Hx & Hxr) Hd; split.
  - exists s, r; repeat split; try apply Hs; try apply Hr; auto; try lia. intros _; exists x; auto.
  - exists s', r; repeat split; try apply Hs'; try apply Hr; auto; try lia; try discriminate.
    intros (i & Hi & Hir); exfalso; apply (Hd i Hir Hi).
Qed.

Theorem cut_disjointness N k arch : (0 <? k)%N && (2 * k <=? N)%N &&
  (is_recurrent arch && exceeds (binomial_of N k) 1 (bits_at N arch)) = true -> forall T, ImpossibleThinking arch T (disjointness N k).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; checked H'; set (n := N.to_nat N); set (kk := N.to_nat k).
  apply (cut_words _ N (choices (seq 0 n) kk) (bits_of n) (binomial_of N k)); [apply choices_NoDup, seq_NoDup| | | |exact H].
  - rewrite choices_length, seq_length, binomial_of_spec; apply N.le_refl.
  - intros; apply spell_length.
  - intros s s' Hs Hs' Hne; destruct (choices_differ _ _ s s' (seq_NoDup n 0) Hs Hs' Hne) as (x & Hx & Hx').
    pose proof (choices_set _ _ _ Hs) as Ss; pose proof (choices_set _ _ _ Hs') as Ss'.
    assert (Hkk : 0 < kk /\ 2 * kk <= n) by (unfold kk, n; lia); destruct Hkk as [Hk0 Hk2].
    destruct (meeting_set n kk s' x Hk0 (proj1 Ss') Hk2 (proj2 (proj2 Ss) x Hx) Hx') as (r & R1 & R2 & R3 & R4 & R5).
    destruct (meeting_asks n kk s s' r Ss Ss' (conj R1 (conj R2 R3)) ltac:(lia) (ex_intro _ x (conj Hx R4)) R5) as [A B].
    exists (bits_of n r), (2 * n - 1), 1, 0; split; [unfold n in *; lia|]; split; [exact A|]; split; [exact B|discriminate].
Qed.

(** x of r alone, and not the last place.  The second set lacks the last place too, so the last bit is 0. *)
Lemma meeting_last n k r r' x : 0 < k -> 2 * k < n \/ 2 * k <= n /\ In (n - 1) r' -> set_of n k r -> set_of n k r' -> In x r -> ~ In x r' -> x <> n - 1 ->
  told_last (meeting n k) n (n - 1) 0 (bits_of n r) (bits_of n r').
Proof.
  intros Hk Hn Sr Sr' Hx Hx' Hne.
  assert (Hxn : x < n - 1) by (destruct Sr as (_ & _ & B); specialize (B x Hx); lia).
  assert (Q : exists q, length q = k /\ NoDup q /\ (forall v, In v q -> v < n - 1) /\ In x q /\ forall v, In v q -> ~ In v r').
  { destruct Hn as [Hn|[Hn Hl]]; [apply meeting_set; auto; [apply Sr'|lia]|].
    destruct (meeting_set n k r' x Hk (proj1 Sr') Hn ltac:(lia) Hx') as (q & R1 & R2 & R3 & R4 & R5); exists q; repeat split; auto.
    intros v Hv; specialize (R3 v Hv); destruct (Nat.eq_dec v (n - 1)) as [->|]; [exfalso; apply (R5 _ Hv Hl)|lia]. }
  destruct Q as (q & R1 & R2 & R3 & R4 & R5).
  assert (Sq : set_of n k q) by (repeat split; auto; intros v Hv; specialize (R3 v Hv); lia).
  assert (Eq : bits_of n q = spell (fun i => if mem i q then 1 else 0) (n - 1) ++ [0]).
  { unfold bits_of, spell; replace n with (n - 1 + 1) at 1 by lia; rewrite seq_app, map_app; f_equal; cbn [seq map]; f_equal.
    rewrite Nat.add_0_l; destruct (mem (n - 1) q) eqn:E; [|reflexivity]. apply mem_spec in E; specialize (R3 _ E); lia. }
  destruct (meeting_asks n k r r' q Sr Sr' Sq ltac:(lia) (ex_intro _ x (conj Hx R4)) R5) as [A B]. rewrite Eq in A, B.
  exists (spell (fun i => if mem i q then 1 else 0) (n - 1)), 1, 0; split; [apply spell_length|].
  replace (n + (n - 1)) with (2 * n - 1) by lia; split; [exact A|]; split; [exact B|discriminate].
Qed.

(** With the last bit fixed to 0; then 2 k < N. *)
Theorem cut_one_disjointness N k c s arch : one_layer N c s arch = true -> (0 <? k)%N && (2 * k <? N)%N && exceeds (binomial_of N k) 1 (c + s) = true ->
  Impossible arch (disjointness N k).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; checked H'; set (n := N.to_nat N); set (kk := N.to_nat k).
  assert (Hkk : 0 < kk /\ 2 * kk < n) by (unfold kk, n; lia); destruct Hkk as [Hk0 Hk2].
  apply (cut_one_words _ N (n - 1) 0 (choices (seq 0 n) kk) (bits_of n) (binomial_of N k) c s); [apply choices_NoDup, seq_NoDup| | | |exact Ho|exact H].
  - rewrite choices_length, seq_length, binomial_of_spec; apply N.le_refl.
  - intros; apply spell_length.
  - fold n kk; intros r r' Hr Hr' Hne; pose proof (choices_set _ _ _ Hr) as Sr; pose proof (choices_set _ _ _ Hr') as Sr'.
    destruct (choices_differ _ _ r r' (seq_NoDup n 0) Hr Hr' Hne) as (x & Hx & Hx').
    destruct (choices_differ _ _ r' r (seq_NoDup n 0) Hr' Hr (not_eq_sym Hne)) as (y & Hy & Hy').
    destruct (Nat.eq_dec x (n - 1)) as [Ex|Ex]; [|apply (meeting_last n kk r r' x); auto].
    apply told_last_sym, (meeting_last n kk r' r y); auto; intros Ey; rewrite Ex in Hx'; rewrite Ey in Hy; contradiction.
Qed.

(** For N = 2 k the first sets all have the last place: C(N-1, k-1) = C(N-1, k) of them. *)
Theorem cut_one_disjointness_half N k c s arch : one_layer N c s arch = true ->
  (0 <? k)%N && (2 * k <=? N)%N && exceeds (binomial_of (N - 1) (k - 1)) 1 (c + s) = true -> Impossible arch (disjointness N k).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; checked H'; set (n := N.to_nat N); set (kk := N.to_nat k).
  assert (Hkk : 0 < kk /\ 2 * kk <= n) by (unfold kk, n; lia); destruct Hkk as [Hk0 Hk2].
  apply (cut_one_words _ N (n - 1) 0 (choices (seq 0 (n - 1)) (kk - 1)) (fun r => bits_of n (n - 1 :: r)) (binomial_of (N - 1) (k - 1)) c s);
    [apply choices_NoDup, seq_NoDup| | | |exact Ho|exact H].
  - rewrite choices_length, seq_length, binomial_of_spec, !N2Nat.inj_sub; apply N.le_refl.
  - intros; apply spell_length.
  - fold n kk; intros r r' Hr Hr' Hne.
    assert (Full : forall q, In q (choices (seq 0 (n - 1)) (kk - 1)) -> set_of n kk (n - 1 :: q) /\ forall v, In v q -> v < n - 1).
    { intros q Hq; destruct (choices_set _ _ _ Hq) as (L & D & B); split; [|exact B]. split; [cbn [length]; lia|]. split.
      - constructor; [intros C; specialize (B _ C); lia|exact D].
      - intros v [<-|Hv]; [lia|specialize (B v Hv); lia]. }
    destruct (choices_differ _ _ r r' (seq_NoDup _ 0) Hr Hr' Hne) as (x & Hx & Hx').
    destruct (Full r Hr) as [Sr Br], (Full r' Hr') as [Sr' _]; specialize (Br x Hx).
    apply (meeting_last n kk _ _ x); auto; [right; split; [lia|left; reflexivity]|right; exact Hx| |lia].
    intros [C|C]; [lia|contradiction].
Qed.

(** ** count: N symbols below V, a symbol q (V + q), a threshold (2 V + h); does q occur more than h times? *)
Definition counted (N V : nat) (x : list nat) (t v : nat) : Prop :=
  exists y q h, length y = N /\ (forall a, In a y -> a < V) /\ q < V /\ x = y ++ [V + q; 2 * V + h] /\ h < N /\ t = N + 1 /\ v < 2 /\
  (v = 1 <-> h < count_occ Nat.eq_dec y q).

Definition count_task (N V : N) : task := words (counted (N.to_nat N) (N.to_nat V)).

Lemma count_within n N V : (N + 1 <? n)%N = true -> within n (count_task N V).
Proof. intros H; apply words_within; intros x t v (y & q & h & _ & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

(** Rows of V counts with sum N: the first is 0, or one more than in a row with sum N - 1. *)
Definition more (s : list nat) : list nat := match s with [] => [] | a :: r => S a :: r end.

Fixpoint counts (V N : nat) : list (list nat) :=
  match V with
  | 0 => match N with 0 => [[]] | _ => [] end
  | S V' => (fix go (N : nat) : list (list nat) :=
      match N with 0 => map (cons 0) (counts V' 0) | S N' => map (cons 0) (counts V' (S N')) ++ map more (go N') end) N
  end.

Lemma counts_S V N : counts (S V) (S N) = map (cons 0) (counts V (S N)) ++ map more (counts (S V) N).
Proof. reflexivity. Qed.

Lemma counts_size V : forall N, size (counts (S V) N) = binomial (N + V) V.
Proof.
  induction V as [|V IHV]; induction N as [|N IHN].
  - reflexivity.
  - rewrite counts_S; unfold size in *; rewrite app_length, !map_length, Nat2N.inj_add, IHN, !binomial_0; reflexivity.
  - specialize (IHV 0); unfold size in *; cbn [counts]; rewrite map_length; change (fix go (N : nat) : list (list nat) :=
      match N with 0 => map (cons 0) (counts V 0) | S N' => map (cons 0) (counts V (S N')) ++ map more (go N') end) with (counts (S V)).
    change (map (cons 0) (counts V 0)) with (counts (S V) 0); rewrite IHV.
    assert (D : forall n, binomial n n = 1%N) by (induction n as [|n IH]; [reflexivity|]; cbn [binomial]; rewrite IH, binomial_over by lia; reflexivity).
    rewrite !Nat.add_0_l, !D; reflexivity.
  - rewrite counts_S; unfold size in *; rewrite app_length, !map_length, Nat2N.inj_add, IHN, IHV.
    replace (S N + S V) with (S (N + S V)) by lia; cbn [binomial]; replace (S N + V) with (N + S V) by lia; reflexivity.
Qed.

Lemma counts_in V : forall N s, In s (counts V N) -> length s = V /\ list_sum s = N.
Proof.
  induction V as [|V IHV]; [intros [|N] s H; cbn in H; [destruct H as [<-|[]]; auto|destruct H]|].
  assert (Z : forall M s, In s (map (cons 0) (counts V M)) -> length s = S V /\ list_sum s = M).
  { intros M s H; apply in_map_iff in H; destruct H as [r [<- Hr]]; destruct (IHV _ _ Hr) as [L S']; cbn; auto. }
  induction N as [|N IHN]; intros s H; [apply (Z 0 s H)|].
  rewrite counts_S in H; apply in_app_iff in H; destruct H as [H|H]; [apply (Z _ _ H)|].
  apply in_map_iff in H; destruct H as [r [<- Hr]]; destruct (IHN _ Hr) as [L S']; destruct r; [discriminate|]; cbn in *; auto.
Qed.

Lemma counts_NoDup V : forall N, NoDup (counts V N).
Proof.
  induction V as [|V IHV]; [intros [|N]; repeat constructor; intros []|].
  assert (Z : forall M, NoDup (map (cons 0) (counts V M))) by (intros; apply NoDup_map_on; [intros a b _ _ E; inversion E; auto|apply IHV]).
  induction N as [|N IHN]; [apply (Z 0)|]. rewrite counts_S; apply NoDup_app; [apply Z| |].
  - apply NoDup_map_on; [|exact IHN]. intros a b Ha Hb E; destruct (counts_in _ _ _ Ha), (counts_in _ _ _ Hb); destruct a, b; try discriminate; inversion E; reflexivity.
  - intros s Hs C; apply in_map_iff in Hs; destruct Hs as [r [<- _]]; apply in_map_iff in C; destruct C as [r' [E Hr']].
    destruct (counts_in _ _ _ Hr'); destruct r'; discriminate.
Qed.

Fixpoint written (i : nat) (s : list nat) : list nat := match s with [] => [] | c :: r => repeat i c ++ written (S i) r end.

Lemma written_length s : forall i, length (written i s) = list_sum s.
Proof. induction s as [|c s IH]; intros i; [reflexivity|]; cbn; rewrite app_length, repeat_length, IH; reflexivity. Qed.

Lemma written_in s : forall i v, In v (written i s) -> i <= v < i + length s.
Proof.
  induction s as [|c s IH]; intros i v H; [destruct H|]; cbn in H |- *; apply in_app_iff in H; destruct H as [H|H]; [apply repeat_spec in H; lia|].
  apply IH in H; lia.
Qed.

Lemma count_repeat i c v : count_occ Nat.eq_dec (repeat i c) v = if Nat.eq_dec i v then c else 0.
Proof. induction c as [|c IH]; cbn [repeat count_occ]; [destruct (Nat.eq_dec i v); reflexivity|]. destruct (Nat.eq_dec i v); rewrite IH; reflexivity. Qed.

Lemma written_count s : forall i v, i <= v -> count_occ Nat.eq_dec (written i s) v = nth (v - i) s 0.
Proof.
  induction s as [|c s IH]; intros i v Hv; [destruct (v - i); reflexivity|]; cbn [written]; rewrite count_occ_app, count_repeat.
  destruct (Nat.eq_dec i v) as [->|Hne].
  - rewrite Nat.sub_diag; cbn [nth]; assert (E : count_occ Nat.eq_dec (written (S v) s) v = 0); [|lia].
    apply count_occ_not_In; intros C; apply written_in in C; lia.
  - rewrite IH by lia; replace (v - i) with (S (v - S i)) by lia; reflexivity.
Qed.

Lemma nth_le_sum s : forall i, nth i s 0 <= list_sum s.
Proof. induction s as [|c s IH]; intros [|i]; cbn; try lia. specialize (IH i); unfold list_sum in IH; lia. Qed.

Theorem cut_count N V arch : (0 <? V)%N && (is_recurrent arch && exceeds (binomial_of (N + V - 1) (V - 1)) 1 (bits_at N arch)) = true ->
  forall T, ImpossibleThinking arch T (count_task N V).
Proof.
  intros H; apply andb_prop in H; destruct H as [HV H]; checked HV; set (n := N.to_nat N); set (m := N.to_nat V).
  apply (cut_words _ N (counts m n) (written 0) (binomial_of (N + V - 1) (V - 1))); [apply counts_NoDup| | | |exact H].
  - replace m with (S (N.to_nat (V - 1))) by (unfold m; lia); rewrite counts_size, binomial_of_spec; apply N.eq_le_incl; f_equal; unfold n; lia.
  - intros s Hs; rewrite written_length; apply counts_in in Hs; apply Hs.
  - intros s s' Hs Hs' Hne; destruct (counts_in _ _ _ Hs) as [L S1], (counts_in _ _ _ Hs') as [L' S2].
    destruct (differ_at s s') as [q [Hq E]]; [lia|exact Hne|]. rewrite L in Hq.
    pose proof (nth_le_sum s q) as B; pose proof (nth_le_sum s' q) as B'; rewrite S1 in B; rewrite S2 in B'.
    set (h := Nat.min (nth q s 0) (nth q s' 0)).
    assert (G : forall r v, length r = m -> list_sum r = n -> v < 2 -> (v = 1 <-> h < nth q r 0) -> counted n m (written 0 r ++ [m + q; 2 * m + h]) (n + 1) v).
    { intros r v Lr Sr Hv Hvw; exists (written 0 r), q, h; rewrite written_count, Nat.sub_0_r, written_length by lia.
      repeat split; auto; try (unfold h; lia); try apply Hvw. intros a Ha; apply written_in in Ha; lia. }
    exists [m + q; 2 * m + h], (n + 1), (if nth q s' 0 <? nth q s 0 then 1 else 0), (if nth q s 0 <? nth q s' 0 then 1 else 0).
    fold n m; split; [lia|]. split; [|split].
    + apply G; auto; destruct (Nat.ltb_spec (nth q s' 0) (nth q s 0)); unfold h; try lia; split; intros; lia.
    + apply G; auto; destruct (Nat.ltb_spec (nth q s 0) (nth q s' 0)); unfold h; try lia; split; intros; lia.
    + destruct (Nat.ltb_spec (nth q s' 0) (nth q s 0)), (Nat.ltb_spec (nth q s 0) (nth q s' 0)); lia.
Qed.

(** With the threshold 0: which symbols occur. *)
Definition count_sets (N V : N) : BinNums.N := (weighted_of V (N.min N V) 1 - 1)%N.

Theorem cut_one_count N V c s arch : one_layer N c s arch = true -> (0 <? N)%N && exceeds (count_sets N V) 1 (c + s) = true -> Impossible arch (count_task N V).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [HN H]; checked HN; set (n := N.to_nat N); set (m := N.to_nat V).
  apply (cut_one_words _ N 1 (2 * m + 0) (filter some (subs (seq 0 m) (N.to_nat (N.min N V)))) (filled n) (count_sets N V) c s); [| | | |exact Ho|exact H].
  - apply NoDup_filter, subs_NoDup, seq_NoDup.
  - unfold count_sets; rewrite weighted_of_spec, weighted_cnt; fold m.
    pose proof (some_size (seq 0 m) (N.to_nat (N.min N V)) (seq_NoDup _ _)) as S'; rewrite seq_length in S'; exact S'.
  - intros r Hr; apply filter_In in Hr; destruct Hr as [Hr _]; apply subs_in in Hr; apply filled_length; unfold n; lia.
  - fold n m; assert (Q : forall r, In r (filter some (subs (seq 0 m) (N.to_nat (N.min N V)))) -> In r (subs (seq 0 m) (N.to_nat (N.min N V))) /\ r <> [] /\ length r <= n /\ forall a, In a r -> a < m).
    { intros r Hr; apply filter_In in Hr; destruct Hr as [Hr E]; destruct (subs_in _ _ _ Hr) as [L I]; split; [exact Hr|]. split; [intros ->; discriminate|].
      split; [unfold n; lia|]. intros a Ha; apply I, in_seq in Ha; lia. }
    assert (G : forall r r', r <> [] -> r' <> [] -> length r <= n -> length r' <= n -> (forall a, In a r -> a < m) -> (forall a, In a r' -> a < m) ->
      (exists v, In v r /\ ~ In v r') -> told_last (counted n m) n 1 (2 * m + 0) (filled n r) (filled n r')).
    { intros r r' E E' L L' B B' (q & Hq & Hq'); exists [m + q], 1, 0; split; [reflexivity|].
      assert (A : forall d v, d <> [] -> length d <= n -> (forall a, In a d -> a < m) -> v < 2 -> (v = 1 <-> In q d) -> counted n m (filled n d ++ [m + q] ++ [2 * m + 0]) (n + 1) v).
      { intros d v Ed Ld Bd Hv Hvw; exists (filled n d), q, 0; rewrite filled_length by exact Ld; assert (0 < n) by (unfold n; lia); repeat split; auto; try lia.
        - intros a Ha; apply filled_in in Ha; auto.
        - intros Ev; apply Hvw in Ev; apply count_occ_In, filled_in; auto.
        - intros C; apply Hvw; apply count_occ_In, filled_in in C; auto. }
      split; [apply A; auto; tauto|]. split; [apply A; auto; split; [discriminate|intros C; contradiction]|discriminate]. }
    intros r r' Hr Hr' Hne; destruct (Q r Hr) as (I & E & L & B), (Q r' Hr') as (I' & E' & L' & B').
    destruct (subs_differ _ _ r r' (seq_NoDup m 0) I I' Hne) as [D|D]; [apply G; auto|apply told_last_sym, G; auto].
Qed.
