(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Lemma S: a few functions of a class take many values

    One function after the other, each with as many new pairs (group, value) as some function of the class must have.  A function
    with at most h-1 new pairs weighs at least alpha^(h-1) beta^(t-h+1), if a new pair weighs alpha and an old one beta >= alpha;
    all functions together weigh a product over the groups, which is at most the t-th power of its mean. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs LemmaT.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Sums over lists *)
Fixpoint total_of {A} (f : A -> N) (l : list A) : N := match l with [] => 0%N | x :: r => (f x + total_of f r)%N end.

Lemma total_app {A} (f : A -> N) l l' : total_of f (l ++ l') = (total_of f l + total_of f l')%N.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH; lia. Qed.

Lemma total_ge {A} (f : A -> N) c l : (forall x, In x l -> (c <= f x)%N) -> (size l * c <= total_of f l)%N.
Proof.
  unfold size; induction l as [|x l IH]; intros H; [simpl; lia|].
  simpl length; simpl total_of; pose proof (H x (or_introl eq_refl)).
  specialize (IH (fun y Hy => H y (or_intror Hy))); lia.
Qed.

Lemma total_incl {A} (f : A -> N) l : forall l', NoDup l -> incl l l' -> (total_of f l <= total_of f l')%N.
Proof.
  induction l as [|x l IH]; intros l' Hd Hi; [simpl; lia|].
  inversion Hd as [|? ? Hx Hl]; subst.
  destruct (in_split x l' (Hi x (or_introl eq_refl))) as (a & b & ->).
  rewrite total_app; simpl total_of.
  assert (H : (total_of f l <= total_of f (a ++ b))%N).
  { apply IH; [exact Hl|]. intros y Hy; specialize (Hi y (or_intror Hy)).
    apply in_app_iff in Hi; apply in_app_iff; destruct Hi as [Hi|[Hi|Hi]]; auto; subst; contradiction. }
  rewrite total_app in H; lia.
Qed.

(** ** Words and their weights *)
Fixpoint words (q t : nat) : list (list nat) :=
  match t with
  | 0 => [[]]
  | S k => flat_map (fun v => map (cons v) (words q k)) (seq 0 q)
  end.

Lemma words_in q t y : length y = t -> (forall v, In v y -> v < q) -> In y (words q t).
Proof.
  revert y; induction t as [|t IH]; intros y Hy Hv.
  - destruct y; [left; reflexivity|discriminate].
  - destruct y as [|v y]; [discriminate|]; cbn [words]; apply in_flat_map.
    exists v; split; [apply in_seq; split; [lia|]; apply Hv; left; reflexivity|].
    apply in_map, IH; [simpl in Hy; lia|intros; apply Hv; right; assumption].
Qed.

Section Weights.
Variables (alpha beta : N) (old : nat -> nat -> bool).
Definition weight (b v : nat) : N := if old b v then beta else alpha.

Fixpoint weigh (b : nat) (y : list nat) : N :=
  match y with [] => 1%N | v :: r => (weight b v * weigh (S b) r)%N end.

Fixpoint news (b : nat) (y : list nat) : list (nat * nat) :=
  match y with [] => [] | v :: r => if old b v then news (S b) r else (b, v) :: news (S b) r end.

Lemma total_scale {A} (f : A -> N) c l : total_of (fun x => c * f x)%N l = (c * total_of f l)%N.
Proof. induction l as [|x l IH]; simpl; [lia|]. rewrite IH; lia. Qed.

Lemma total_map {A B} (f : B -> N) (h : A -> B) l : total_of f (map h l) = total_of (fun x => f (h x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH; reflexivity. Qed.

Lemma weigh_words q t : forall b,
  total_of (weigh b) (words q t) = prodf (fun i => total_of (weight (b + i)) (seq 0 q)) t.
Proof.
  induction t as [|t IH]; intros b; [cbn; lia|]; cbn [words].
  assert (E : forall l, total_of (weigh b) (flat_map (fun v => map (cons v) (words q t)) l) =
                        (total_of (weight b) l * total_of (weigh (S b)) (words q t))%N).
  { induction l as [|v l IHl]; cbn [flat_map total_of]; [lia|].
    rewrite total_app, IHl, total_map; cbn [weigh].
    rewrite (total_scale (weigh (S b)) (weight b v)); lia. }
  rewrite E, IH, (prodf_add _ 1 t).
  change (prodf (fun i => total_of (weight (b + i)) (seq 0 q)) 1) with (1 * total_of (weight (b + 0)) (seq 0 q))%N.
  rewrite Nat.add_0_r, N.mul_1_l; f_equal.
  clear; induction t as [|t IH]; [reflexivity|]; cbn [prodf]; rewrite IH; do 2 f_equal; f_equal; lia.
Qed.

Lemma weigh_exact y : forall b, weigh b y = (alpha ^ nN (length (news b y)) * beta ^ nN (length y - length (news b y)))%N /\
  length (news b y) <= length y.
Proof.
  induction y as [|v y IH]; intros b; [split; reflexivity|].
  cbn [weigh news length]; destruct (IH (S b)) as [E L]; rewrite E; unfold weight.
  destruct (old b v); cbn [length]; split; try lia.
  - replace (nN (S (length y) - length (news (S b) y))) with (N.succ (nN (length y - length (news (S b) y)))) by lia.
    rewrite N.pow_succ_r'; lia.
  - rewrite Nat2N.inj_succ, N.pow_succ_r', Nat.sub_succ; lia.
Qed.

Lemma weight_sum b l : (alpha <= beta)%N -> total_of (weight b) l = (alpha * size l + (beta - alpha) * size (filter (old b) l))%N.
Proof.
  intros Hab; unfold size; induction l as [|v l IH]; cbn [total_of filter length]; [lia|].
  rewrite IH; unfold weight; destruct (old b v); cbn [length]; lia.
Qed.

Hypothesis Hab : (alpha <= beta)%N.

(** A new pair weighs no more than an old one. *)
Lemma fewer_new n m k : n <= m -> m <= k -> (alpha ^ nN m * beta ^ nN (k - m) <= alpha ^ nN n * beta ^ nN (k - n))%N.
Proof.
  intros Hn Hm.
  replace (nN m) with (nN n + nN (m - n))%N by lia; replace (nN (k - n)) with (nN (m - n) + nN (k - m))%N by lia.
  rewrite !N.pow_add_r.
  assert (alpha ^ nN (m - n) <= beta ^ nN (m - n))%N by (apply N.pow_le_mono_l; exact Hab).
  rewrite <- N.mul_assoc; apply N.mul_le_mono_l, N.mul_le_mono_r; assumption.
Qed.

Lemma weigh_ge y : forall b h, length (news b y) <= h -> h <= length y ->
  (alpha ^ nN h * beta ^ nN (length y - h) <= weigh b y)%N.
Proof. intros b h H1 H2; destruct (weigh_exact y b) as [-> L]; apply fewer_new; assumption. Qed.
End Weights.

Lemma news_in old y : forall b p, In p (news old b y) ->
  b <= fst p < b + length y /\ snd p = nth (fst p - b) y 0 /\ old (fst p) (snd p) = false.
Proof.
  induction y as [|v y IH]; intros b p Hp; [contradiction|]; cbn [news] in Hp.
  assert (G : In p (news old (S b) y) ->
     b <= fst p < b + length (v :: y) /\ snd p = nth (fst p - b) (v :: y) 0 /\ old (fst p) (snd p) = false).
  { intros H; destruct (IH (S b) p H) as (H1 & H2 & H3); cbn [length]; repeat split; try lia; auto.
    rewrite H2; replace (fst p - b) with (S (fst p - S b)) by lia; reflexivity. }
  destruct (old b v) eqn:Eo; [auto|]. destruct Hp as [<-|Hp]; [|auto].
  cbn [fst snd length]; rewrite Nat.sub_diag; repeat split; auto; lia.
Qed.

Lemma news_NoDup old y : forall b, NoDup (news old b y).
Proof.
  induction y as [|v y IH]; intros b; cbn [news]; [constructor|].
  destruct (old b v); [apply IH|]. constructor; [|apply IH].
  intros C; apply news_in in C; cbn [fst] in C; lia.
Qed.

(** ** Credited pairs *)
Section Credit.
Variables (t q : nat).
Hypothesis Ht : 0 < t.

Definition pair_dec (p p' : nat * nat) : {p = p'} + {p <> p'}.
Proof. decide equality; apply Nat.eq_dec. Defined.

Definition is_old (Cr : list (nat * nat)) (b v : nat) : bool := if in_dec pair_dec (b, v) Cr then true else false.

Lemma old_weight alpha beta Cr : (alpha <= beta)%N ->
  (sumf (fun b => total_of (weight alpha beta (is_old Cr) b) (seq 0 q)) t
   <= alpha * (nN t * nN q) + (beta - alpha) * size Cr)%N.
Proof.
  intros Hab.
  pose proof (fun b l => weight_sum alpha beta (is_old Cr) b l Hab) as E.
  set (pairs := fun n => flat_map (fun b => map (fun v => (b, v)) (filter (is_old Cr b) (seq 0 q))) (seq 0 n)).
  assert (S1 : forall n, sumf (fun b => total_of (weight alpha beta (is_old Cr) b) (seq 0 q)) n =
                 (alpha * (nN n * nN q) + (beta - alpha) * size (pairs n))%N).
  { induction n as [|n IH]; [unfold pairs, size; simpl; lia|].
    cbn [sumf]; rewrite IH, E; unfold pairs, size; rewrite seq_S, flat_map_app, app_length.
    simpl flat_map; rewrite app_nil_r, map_length, seq_length; cbn [plus]. lia. }
  rewrite S1; apply N.add_le_mono_l, N.mul_le_mono_l.
  unfold size; enough (length (pairs t) <= length Cr) by lia.
  apply NoDup_incl_length.
  - unfold pairs; generalize (seq_NoDup t 0); generalize (seq 0 t); intros l Hl.
    induction Hl as [|b l Hb Hl IH]; simpl; [constructor|].
    apply NoDup_app; auto.
    + apply NoDup_map_on; [intros x y _ _ Exy; inversion Exy; auto|apply NoDup_filter, seq_NoDup].
    + intros p Hp C; apply in_map_iff in Hp; destruct Hp as [v [<- _]].
      apply in_flat_map in C; destruct C as [b' [Hb' C]]; apply in_map_iff in C; destruct C as [v' [Ep _]].
      inversion Ep; subst; auto.
  - intros p Hp; unfold pairs in Hp; apply in_flat_map in Hp; destruct Hp as [b [_ Hp]].
    apply in_map_iff in Hp; destruct Hp as [v [<- Hp]]; apply filter_In in Hp; destruct Hp as [_ Hp].
    unfold is_old in Hp; destruct (in_dec pair_dec (b, v) Cr); [assumption|discriminate].
Qed.

(** D: words of length t.  If each has fewer than h new pairs, there are not many. *)
Lemma few_bad alpha beta Cr (D : list (list nat)) h : (alpha <= beta)%N -> h <= t -> NoDup D ->
  (forall y, In y D -> length y = t /\ forall v, In v y -> v < q) ->
  (forall y, In y D -> length (news (is_old Cr) 0 y) <= h) ->
  (size D * (alpha ^ nN h * beta ^ nN (t - h)) * nN t ^ nN t
   <= (alpha * (nN t * nN q) + (beta - alpha) * size Cr) ^ nN t)%N.
Proof.
  intros Hab Hh HD Hw Hbad.
  set (old := is_old Cr).
  assert (L1 : (size D * (alpha ^ nN h * beta ^ nN (t - h)) <= total_of (weigh alpha beta old 0) D)%N).
  { apply total_ge; intros y Hy; destruct (Hw y Hy) as [E _]; rewrite <- E at 1; apply weigh_ge; auto; lia. }
  assert (L2 : (total_of (weigh alpha beta old 0) D <= total_of (weigh alpha beta old 0) (words q t))%N).
  { apply total_incl; [exact HD|]. intros y Hy; destruct (Hw y Hy); apply words_in; auto. }
  rewrite weigh_words in L2; cbn [plus] in L2.
  pose proof (amgm (fun i => total_of (weight alpha beta old i) (seq 0 q)) t) as AG.
  pose proof (old_weight alpha beta Cr Hab) as OW; fold old in OW.
  apply N.le_trans with (nN t ^ nN t * prodf (fun i => total_of (weight alpha beta old i) (seq 0 q)) t)%N.
  - rewrite N.mul_comm; apply N.mul_le_mono_l; lia.
  - apply N.le_trans with (1 := AG); apply N.pow_le_mono_l; exact OW.
Qed.

(** ** The greedy choice *)
Variables (D : list (list nat)).
Hypothesis HD : NoDup D.
Hypothesis Hwords : forall y, In y D -> length y = t /\ forall v, In v y -> v < q.

Definition taken (ys : list (list nat)) (p : nat * nat) : nat * nat := (snd p, nth (snd p) (nth (fst p) ys []) 0).

(** x words of D take C different pairs. *)
Definition reach (x C : nat) : Prop :=
  exists ys I, length ys = x /\ (forall y, In y ys -> In y D) /\ length I = C /\
    (forall p, In p I -> fst p < x /\ snd p < t) /\ NoDup (map (taken ys) I).

Lemma reach_more x C h y : forall ys I, length ys = x -> (forall y, In y ys -> In y D) -> length I = C ->
  (forall p, In p I -> fst p < x /\ snd p < t) -> NoDup (map (taken ys) I) ->
  In y D -> h <= length (news (is_old (map (taken ys) I)) 0 y) -> reach (x + 1) (C + h).
Proof.
  intros ys I Hx Hys HC HI Hnd Hy Hh.
  set (Cr := map (taken ys) I) in *; set (nw := firstn h (news (is_old Cr) 0 y)).
  assert (Hl : length nw = h) by (unfold nw; rewrite firstn_length; lia).
  assert (Hnw : forall p, In p nw -> fst p < t /\ snd p = nth (fst p) y 0 /\ ~ In p Cr).
  { intros p Hp; apply firstn_In in Hp; apply news_in in Hp; destruct Hp as (H1 & H2 & H3).
    rewrite Nat.sub_0_r in H2; destruct (Hwords y Hy) as [E _]; repeat split; auto; [lia|].
    unfold is_old in H3; destruct p as [b v]; cbn [fst snd] in *.
    destruct (in_dec pair_dec (b, v) Cr); [discriminate|assumption]. }
  assert (Hold : forall p, In p I -> taken (ys ++ [y]) p = taken ys p).
  { intros p Hp; destruct (HI p Hp); unfold taken; rewrite app_nth1 by lia; reflexivity. }
  exists (ys ++ [y]), (I ++ map (fun p => (x, fst p)) nw).
  split; [rewrite app_length; simpl; lia|]. split.
  { intros y' Hy'; apply in_app_iff in Hy'; destruct Hy' as [Hy'|[<-|[]]]; auto. }
  split; [rewrite app_length, map_length; lia|]. split.
  { intros p Hp; apply in_app_iff in Hp; destruct Hp as [Hp|Hp].
    - destruct (HI p Hp); lia.
    - apply in_map_iff in Hp; destruct Hp as [p' [<- Hp']]; destruct (Hnw p' Hp'); cbn [fst snd]; lia. }
  rewrite map_app, map_map, (map_ext_in (taken (ys ++ [y])) (taken ys) I Hold).
  assert (E : map (fun p => taken (ys ++ [y]) (x, fst p)) nw = nw).
  { rewrite <- (map_id nw) at 2; apply map_ext_in; intros p Hp; destruct (Hnw p Hp) as (_ & E & _).
    unfold taken; cbn [fst snd]; rewrite app_nth2, Hx, Nat.sub_diag by lia; cbn [nth]; rewrite <- E; destruct p; reflexivity. }
  rewrite E; apply NoDup_app; [exact Hnd|apply firstn_NoDup, news_NoDup|].
  intros p Hp C'; destruct (Hnw p C') as (_ & _ & C''); exact (C'' Hp).
Qed.

Lemma reach_start : D <> [] -> reach 1 t.
Proof.
  intros Hne; destruct D as [|y D'] eqn:E; [congruence|].
  assert (Hy : In y D) by (rewrite E; left; reflexivity). rewrite <- E in *.
  assert (Hn : length (news (is_old []) 0 y) = t).
  { destruct (Hwords y Hy) as [<- _]; clear; generalize 0; induction y as [|v y IH]; intros b; [reflexivity|].
    cbn [news length]; unfold is_old at 1; cbn [in_dec]; destruct (in_dec pair_dec (b, v) []) as [[]|]; cbn [length]; rewrite IH; reflexivity. }
  apply (reach_more 0 0 t y [] []); simpl; auto; try contradiction; try constructor.
  rewrite Hn; lia.
Qed.

(** The density of D, and what a step needs. *)
Variables (g : nat) (K : N).
Hypothesis Hdense : (nN q ^ nN (t * g) <= K * size D ^ nN g)%N.

Definition step_ok (C h : nat) (alpha beta : N) : Prop :=
  (alpha <= beta)%N /\ 0 < h <= t /\
  (K * (alpha * (nN t * nN q) + (beta - alpha) * nN C) ^ nN (t * g)
   < nN (t * q) ^ nN (t * g) * (alpha ^ nN (h - 1) * beta ^ nN (t - (h - 1))) ^ nN g)%N.

Lemma reach_step x C C' h alpha beta : reach x C -> C <= C' -> step_ok C' h alpha beta -> reach (x + 1) (C + h).
Proof.
  intros (ys & I & Hx & Hys & HC & HI & Hnd) Hle (Hab & Hh & Hlt).
  set (Cr := map (taken ys) I) in *.
  destruct (existsb (fun y => h <=? length (news (is_old Cr) 0 y)) D) eqn:Ex.
  - apply existsb_exists in Ex; destruct Ex as [y [Hy Eh]]; apply Nat.leb_le in Eh.
    apply (reach_more x C h y ys I); auto.
  - exfalso.
    assert (Hbad : forall y, In y D -> length (news (is_old Cr) 0 y) <= h - 1).
    { intros y Hy; destruct (Nat.le_gt_cases h (length (news (is_old Cr) 0 y))) as [L|L]; [|clear - L; lia].
      assert (C0 : existsb (fun y => h <=? length (news (is_old Cr) 0 y)) D = true)
        by (apply existsb_exists; exists y; split; [exact Hy|apply Nat.leb_le; exact L]).
      congruence. }
    pose proof (few_bad alpha beta Cr D (h - 1) Hab ltac:(clear - Hh; lia) HD Hwords Hbad) as FB.
    assert (HCr : size Cr = nN C) by (unfold size, Cr; rewrite map_length, HC; reflexivity).
    rewrite HCr in FB.
    set (W := (alpha ^ nN (h - 1) * beta ^ nN (t - (h - 1)))%N) in *.
    assert (SS : (alpha * (nN t * nN q) + (beta - alpha) * nN C <= alpha * (nN t * nN q) + (beta - alpha) * nN C')%N)
      by (apply N.add_le_mono_l, N.mul_le_mono_l; lia).
    set (S0 := (alpha * (nN t * nN q) + (beta - alpha) * nN C)%N) in *.
    set (S1 := (alpha * (nN t * nN q) + (beta - alpha) * nN C')%N) in *.
    apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
    assert (G1 : ((size D * W * nN t ^ nN t) ^ nN g <= (S0 ^ nN t) ^ nN g)%N) by (apply N.pow_le_mono_l; exact FB).
    rewrite !N.pow_mul_l in G1; rewrite <- !N.pow_mul_r in G1.
    replace (nN t * nN g)%N with (nN (t * g)) in G1 by lia.
    assert (G2 : (S0 ^ nN (t * g) <= S1 ^ nN (t * g))%N) by (apply N.pow_le_mono_l; exact SS).
    replace (nN (t * q)) with (nN t * nN q)%N by lia; rewrite N.pow_mul_l.
    set (a := (nN q ^ nN (t * g))%N) in *; set (d := (size D ^ nN g)%N) in *; set (wg := (W ^ nN g)%N) in *;
      set (tt := (nN t ^ nN (t * g))%N) in *; set (s0 := (S0 ^ nN (t * g))%N) in *; set (s1 := (S1 ^ nN (t * g))%N) in *.
    apply N.le_trans with (tt * (K * d) * wg)%N; [apply N.mul_le_mono_r, N.mul_le_mono_l; exact Hdense|].
    apply N.le_trans with (K * s0)%N; [|apply N.mul_le_mono_l; exact G2].
    replace (tt * (K * d) * wg)%N with (K * (d * wg * tt))%N by lia.
    apply N.mul_le_mono_l; exact G1.
Qed.

Lemma reach_run h alpha beta n : forall x C, reach x C -> 0 < n -> step_ok (C + (n - 1) * h) h alpha beta ->
  reach (x + n) (C + n * h).
Proof.
  induction n as [|n IH]; intros x C Hr Hn Hok; [lia|].
  destruct (Nat.eq_dec n 0) as [->|Hne].
  - rewrite Nat.mul_1_l; apply (reach_step x C (C + 0 * h) h alpha beta); auto; try lia.
  - replace (x + S n) with (x + 1 + n) by lia; replace (C + S n * h) with (C + h + n * h) by lia.
    apply IH; [|lia|].
    + apply (reach_step x C (C + (S n - 1) * h) h alpha beta); auto; try lia.
    + replace (C + h + (n - 1) * h) with (C + (S n - 1) * h) by nia; exact Hok.
Qed.
End Credit.

(** ** The ladder: a list of runs (h, how many functions with h new pairs each), after the first function, which has t *)
Definition run_ok (A g t q C : N) (r : N * N) : bool :=
  let '(h, n) := r in
  let C' := (C + (n - 1) * h)%N in
  let alpha := ((h - 1) * C')%N in
  let beta := if (h =? 1)%N then 1%N else ((t - (h - 1)) * (t * q - C'))%N in
  let S := (alpha * (t * q) + (beta - alpha) * C')%N in
  let P := if (h =? 1)%N then fine else rough in
  ((0 <? n) && (0 <? h) && (h <=? t) && (alpha <=? beta) && ((h =? 1) || (0 <? alpha)) && (0 <? t * q) &&
   (A * unit_of P + t * g * hi P S
    <? t * g * lo P (t * q) + (h - 1) * g * lo P alpha + (t - (h - 1)) * g * lo P beta))%N.

Fixpoint ladder_ok (A g t q C : N) (runs : list (N * N)) : bool :=
  match runs with
  | [] => true
  | r :: rest => run_ok A g t q C r && ladder_ok A g t q (C + fst r * snd r)%N rest
  end.

Definition ladder_x (runs : list (N * N)) : N := (1 + fold_right N.add 0 (map snd runs))%N.
Definition ladder_theta (t : N) (runs : list (N * N)) : N :=
  (t + fold_right N.add 0 (map (fun r => fst r * snd r) runs))%N.

Lemma run_ok_spec A g t q C h n : run_ok A g t q C (h, n) = true ->
  0 < N.to_nat n /\ exists alpha beta,
  step_ok (N.to_nat t) (N.to_nat q) (N.to_nat g) (2 ^ A) (N.to_nat C + (N.to_nat n - 1) * N.to_nat h) (N.to_nat h) alpha beta.
Proof.
  unfold run_ok; intros H.
  set (C' := (C + (n - 1) * h)%N) in *; set (alpha := ((h - 1) * C')%N) in *.
  set (beta := if (h =? 1)%N then 1%N else ((t - (h - 1)) * (t * q - C'))%N) in *.
  set (S := (alpha * (t * q) + (beta - alpha) * C')%N) in *.
  set (P := if (h =? 1)%N then fine else rough) in *; clearbody P.
  apply andb_prop in H; destruct H as [H H7]; apply andb_prop in H; destruct H as [H H6]; apply andb_prop in H; destruct H as [H H5];
    apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H1, H2, H6, H7; apply N.leb_le in H3, H4; apply orb_prop in H5.
  split; [lia|]; exists alpha, beta; split; [exact H4|]; split; [lia|].
  assert (Hal : (0 < alpha \/ h - 1 = 0)%N)
    by (destruct H5 as [H5|H5]; [apply N.eqb_eq in H5; right; lia|apply N.ltb_lt in H5; left; exact H5]).
  assert (Hbe : (0 < beta)%N).
  { destruct Hal as [Hal|Hal]; [lia|]. unfold beta; replace (h =? 1)%N with true; [lia|].
    symmetry; apply N.eqb_eq; lia. }
  replace (nN (N.to_nat C + (N.to_nat n - 1) * N.to_nat h)) with C'
    by (unfold C'; rewrite Nat2N.inj_add, Nat2N.inj_mul, Nat2N.inj_sub, !N2Nat.id; reflexivity).
  replace (nN (N.to_nat t * N.to_nat g)) with (t * g)%N by lia.
  replace (nN (N.to_nat t * N.to_nat q)) with (t * q)%N by lia.
  replace (nN (N.to_nat h - 1)) with (h - 1)%N by lia.
  replace (nN (N.to_nat t - (N.to_nat h - 1))) with (t - (h - 1))%N by lia.
  rewrite !N2Nat.id; fold S; set (all := (t * q)%N) in *.
  apply (root P); rewrite !N.pow_mul_l, bits_pow.
  apply N.le_lt_trans with (2 ^ (A * unit_of P) * 2 ^ (t * g * hi P S))%N; [apply N.mul_le_mono_l, hi_pow|].
  rewrite <- N.pow_add_r.
  apply N.lt_le_trans with (2 ^ (t * g * lo P all + (h - 1) * g * lo P alpha + (t - (h - 1)) * g * lo P beta))%N;
    [apply N.pow_lt_mono_r; lia|].
  rewrite !N.pow_add_r, <- N.mul_assoc; apply N.mul_le_mono; [apply lo_pow; left; exact H6|].
  rewrite <- !(N.pow_mul_r _ _ g).
  apply N.mul_le_mono.
  - apply lo_pow; destruct Hal as [Hal|Hal]; [left; exact Hal|right; rewrite Hal; reflexivity].
  - apply lo_pow; left; exact Hbe.
Qed.

Lemma ladder_reach A g t q D : (0 < N.to_nat t) -> NoDup D ->
  (forall y, In y D -> length y = N.to_nat t /\ forall v, In v y -> v < N.to_nat q) ->
  (nN (N.to_nat q) ^ nN (N.to_nat t * N.to_nat g) <= 2 ^ A * size D ^ nN (N.to_nat g))%N ->
  forall runs x C, reach (N.to_nat t) D x (N.to_nat C) -> ladder_ok A g t q C runs = true ->
  reach (N.to_nat t) D (x + N.to_nat (fold_right N.add 0 (map snd runs))%N)
    (N.to_nat (C + fold_right N.add 0 (map (fun r => fst r * snd r) runs))%N).
Proof.
  intros Ht HD Hw Hdense; induction runs as [|[h n] runs IH]; intros x C Hr Hok.
  - cbn; rewrite N.add_0_r, Nat.add_0_r; exact Hr.
  - cbn [ladder_ok] in Hok; apply andb_prop in Hok; destruct Hok as [H1 H2]; cbn [fst snd] in H2.
    destruct (run_ok_spec _ _ _ _ _ _ _ H1) as (Hn & alpha & beta & Hstep).
    pose proof (reach_run (N.to_nat t) (N.to_nat q) Ht D HD Hw (N.to_nat g) (2 ^ A)%N Hdense (N.to_nat h) alpha beta
                  (N.to_nat n) x (N.to_nat C) Hr Hn Hstep) as Hr'.
    replace (N.to_nat C + N.to_nat n * N.to_nat h) with (N.to_nat (C + h * n)%N) in Hr' by lia.
    specialize (IH _ _ Hr' H2); cbn [map fold_right fst snd].
    replace (x + N.to_nat (n + fold_right N.add 0 (map snd runs))%N)
      with (x + N.to_nat n + N.to_nat (fold_right N.add 0 (map snd runs))%N) by lia.
    rewrite N.add_assoc; exact IH.
Qed.

(** ** What theorems use *)
Definition spreads (N0 t q g : nat) (K : N) (x Theta : nat) : Prop :=
  forall kappa : (nat -> nat) -> N, (forall f, (kappa f < K)%N) ->
  exists (U : list nat) (fs : list (nat -> nat)) (I : list (nat * nat)),
    length U = t /\ (forall u, In u U -> start N0 t g <= u < N0) /\
    length fs = x /\ (forall f, In f fs -> in_fam N0 t q g f) /\
    (forall f f', In f fs -> In f' fs -> kappa f = kappa f') /\
    length I = Theta /\ (forall p, In p I -> fst p < x /\ snd p < t) /\
    NoDup (map (fun p => nth (fst p) fs (fun i => i) (nth (snd p) U 0)) I).

Fixpoint place (y : list nat) (l : list (list nat)) : nat :=
  match l with [] => 0 | a :: r => if list_eq_dec Nat.eq_dec a y then 0 else S (place y r) end.

Lemma place_spec y l : In y l -> place y l < length l /\ nth (place y l) l [] = y.
Proof.
  induction l as [|a l IH]; intros H; [contradiction|]; cbn [place].
  destruct (list_eq_dec Nat.eq_dec a y) as [->|Hne]; [split; [simpl; lia|reflexivity]|].
  destruct H as [H|H]; [congruence|]; destruct (IH H); split; [simpl; lia|auto].
Qed.

(** Groups may have more indices than values. *)
Theorem ladder_spreads_wide : forall (N0 : nat) (A g t q : N) (runs : list (N * N)),
  (0 < t)%N -> (0 < q)%N -> (0 < g)%N -> N.to_nat t * N.to_nat g <= N0 ->
  ladder_ok A g t q t runs = true ->
  spreads N0 (N.to_nat t) (N.to_nat q) (N.to_nat g) (2 ^ A)
    (N.to_nat (ladder_x runs)) (N.to_nat (ladder_theta t runs)).
Proof.
  intros N0 A g t q runs Ht Hq Hg HN0 Hok kappa Hk.
  set (t' := N.to_nat t) in *; set (q' := N.to_nat q) in *; set (g' := N.to_nat g) in *.
  set (F := fam N0 t' q' g').
  destruct (popular (fun z => kappa (F z)) _ (below (nN q' ^ nN (t' * g'))) (fun z _ => Hk _)) as [c Hc].
  rewrite below_size in Hc.
  set (cls := filter (fun z => (kappa (F z) =? c)%N) (below (nN q' ^ nN (t' * g')))) in *.
  (* the word of a choice of one index per group *)
  set (pr := fun j z => map (fun b => entry (nN q') z (b * g' + j)) (seq 0 t')).
  set (Dj := fun j => nodup (list_eq_dec Nat.eq_dec) (map (pr j) cls)).
  set (len := fun j => length (Dj j)).
  assert (Hg0 : 0 < g') by (unfold g'; lia).
  assert (Hq0 : (0 < nN q')%N) by (unfold q'; lia).
  assert (Hin : forall z j, In z cls -> In (pr j z) (Dj j)) by (intros z j Hz; apply nodup_In, in_map, Hz).
  assert (Hprod : (size cls <= prodf (fun j => nN (len j)) g')%N).
  { apply (pigeon_list (fun z => mixed_code (fun j => nN (len j)) (fun j => nN (place (pr j z) (Dj j))) g')).
    - apply NoDup_filter, below_NoDup.
    - intros z Hz; apply mixed_lt; intros j _; unfold len; destruct (place_spec _ _ (Hin z j Hz)); lia.
    - intros z z' Hz Hz' E.
      assert (B : forall z j, In z cls -> (nN (place (pr j z) (Dj j)) < nN (len j))%N)
        by (intros y j Hy; unfold len; destruct (place_spec _ _ (Hin y j Hy)); lia).
      pose proof (mixed_inj _ _ _ _ (fun j _ => B z j Hz) (fun j _ => B z' j Hz') E) as E'.
      assert (Bd : forall y, In y cls -> (y < nN q' ^ nN (t' * g'))%N)
        by (intros y Hy; apply filter_In in Hy; apply below_in; tauto).
      apply (entry_inj (nN q') (t' * g')); auto.
      intros i Hi; specialize (E' (i mod g') ltac:(apply Nat.mod_upper_bound; lia)); cbv beta in E'; apply Nat2N.inj in E'.
      destruct (place_spec _ _ (Hin z (i mod g') Hz)) as [_ Ez]; destruct (place_spec _ _ (Hin z' (i mod g') Hz')) as [_ Ez'].
      rewrite E', Ez' in Ez; clear E' Ez'.
      assert (Hb : i / g' < t') by (apply Nat.div_lt_upper_bound; lia).
      assert (N1 : forall y, nth (i / g') (pr (i mod g') y) 0 = entry (nN q') y i).
      { intros y; unfold pr.
        rewrite (nth_indep _ 0 (entry (nN q') y (0 * g' + i mod g'))) by (rewrite map_length, seq_length; exact Hb).
        rewrite (map_nth (fun b => entry (nN q') y (b * g' + i mod g'))), seq_nth by exact Hb.
        f_equal; rewrite (Nat.div_mod i g') at 3 by lia; lia. }
      rewrite <- (N1 z), <- (N1 z'), Ez; reflexivity. }
  set (j := argmax len 0 g').
  destruct (argmax_spec len 0 g' Hg0) as [Hj Hmax]; fold j in Hj, Hmax.
  assert (Hdense : (nN q' ^ nN (t' * g') <= 2 ^ A * size (Dj j) ^ nN g')%N).
  { apply N.le_trans with (1 := Hc); apply N.mul_le_mono_l, N.le_trans with (1 := Hprod).
    apply prodf_le; intros k Hkg; unfold size; fold (len j); specialize (Hmax k ltac:(lia)); lia. }
  assert (HD : NoDup (Dj j)) by apply NoDup_nodup.
  assert (Hw : forall y, In y (Dj j) -> length y = t' /\ forall v, In v y -> v < q').
  { intros y Hy; apply nodup_In, in_map_iff in Hy; destruct Hy as [z [<- _]]; unfold pr.
    split; [rewrite map_length, seq_length; reflexivity|].
    intros v Hv; apply in_map_iff in Hv; destruct Hv as [b [<- _]].
    pose proof (entry_lt (nN q') z (b * g' + j) Hq0); lia. }
  assert (Hne : Dj j <> []).
  { intros E; rewrite E in Hdense; unfold size in Hdense; cbn [length] in Hdense.
    rewrite N.pow_0_l in Hdense by lia.
    assert (nN q' ^ nN (t' * g') <> 0)%N by (apply N.pow_nonzero; lia); lia. }
  pose proof (reach_start t' q' ltac:(unfold t'; lia) (Dj j) HD Hw Hne) as R0.
  pose proof (ladder_reach A g t q (Dj j) ltac:(lia) HD Hw Hdense runs 1 t R0 Hok) as (ys & I & Hx & Hys & HI & HIb & Hnd).
  (* back to functions *)
  set (pick := fun y => F (hd 0%N (filter (fun z => if list_eq_dec Nat.eq_dec (pr j z) y then true else false) cls))).
  assert (Hpick : forall y, In y (Dj j) -> exists z, pick y = F z /\ In z cls /\ pr j z = y).
  { intros y Hy; apply nodup_In, in_map_iff in Hy; destruct Hy as [z [Ez Hz]]; unfold pick.
    assert (Hf : In z (filter (fun z => if list_eq_dec Nat.eq_dec (pr j z) y then true else false) cls)).
    { apply filter_In; split; [exact Hz|]. destruct (list_eq_dec Nat.eq_dec (pr j z) y); congruence. }
    destruct (filter _ cls) as [|z1 r] eqn:Ef; [contradiction|].
    assert (H1 : In z1 (filter (fun z => if list_eq_dec Nat.eq_dec (pr j z) y then true else false) cls))
      by (rewrite Ef; left; reflexivity).
    apply filter_In in H1; destruct H1 as [H1 E1].
    exists z1; split; [reflexivity|]; split; [exact H1|].
    destruct (list_eq_dec Nat.eq_dec (pr j z1) y); [assumption|discriminate]. }
  exists (map (fun b => start N0 t' g' + (b * g' + j)) (seq 0 t')), (map pick ys), I.
  assert (Ex : length ys = N.to_nat (ladder_x runs)) by (rewrite Hx; unfold ladder_x; lia).
  split; [rewrite map_length, seq_length; reflexivity|]. split.
  { intros u Hu; apply in_map_iff in Hu; destruct Hu as [b [<- Hb]]; apply in_seq in Hb.
    assert (S b * g' <= t' * g') by (apply Nat.mul_le_mono_r; lia); cbn [Nat.mul] in H.
    unfold start; lia. }
  split; [rewrite map_length; exact Ex|]. split.
  { intros f Hf; apply in_map_iff in Hf; destruct Hf as [y [<- Hy]].
    destruct (Hpick y (Hys y Hy)) as (z & -> & _ & _); apply fam_in; unfold q'; lia. }
  split.
  { assert (E : forall f, In f (map pick ys) -> kappa f = c).
    { intros f Hf; apply in_map_iff in Hf; destruct Hf as [y [<- Hy]].
      destruct (Hpick y (Hys y Hy)) as (z & -> & Hz & _); apply filter_In in Hz; destruct Hz as [_ Hz].
      apply N.eqb_eq in Hz; exact Hz. }
    intros f f' Hf Hf'; rewrite (E f), (E f'); auto. }
  split; [rewrite HI; unfold ladder_theta; reflexivity|]. split; [intros p Hp; rewrite <- Ex, Hx; apply HIb, Hp|].
  (* values are b q + v *)
  assert (Hval : forall p, In p I ->
     nth (fst p) (map pick ys) (fun i => i) (nth (snd p) (map (fun b => start N0 t' g' + (b * g' + j)) (seq 0 t')) 0)
     = snd (taken ys p) + fst (taken ys p) * q' /\ snd (taken ys p) < q').
  { intros p Hp; destruct (HIb p Hp) as [Hf Hs]; rewrite <- Hx in Hf.
    assert (Hy : In (nth (fst p) ys []) ys) by (apply nth_In; exact Hf).
    rewrite (nth_indep _ (fun i => i) (pick [])) by (rewrite map_length; exact Hf).
    rewrite (map_nth pick).
    destruct (Hpick _ (Hys _ Hy)) as (z & -> & Hz & Ez).
    rewrite (nth_indep _ 0 (start N0 t' g' + (0 * g' + j))) by (rewrite map_length, seq_length; exact Hs).
    rewrite (map_nth (fun b => start N0 t' g' + (b * g' + j))), seq_nth by exact Hs; cbn [plus].
    unfold F; rewrite fam_value by (unfold g', q' in *; lia).
    unfold taken; cbn [fst snd]; rewrite <- Ez; unfold pr.
    rewrite (nth_indep _ 0 (entry (nN q') z (0 * g' + j))) by (rewrite map_length, seq_length; exact Hs).
    rewrite (map_nth (fun b => entry (nN q') z (b * g' + j))), seq_nth by exact Hs; cbn [plus].
    split; [lia|]. pose proof (entry_lt (nN q') z (snd p * g' + j) Hq0); lia. }
  clear - Hnd Hval; induction I as [|p I IH]; cbn [map] in *; [constructor|].
  inversion Hnd as [|? ? Hn Hd]; subst; constructor; [|apply IH; [exact Hd|intros; apply Hval; right; assumption]].
  intros C; apply in_map_iff in C; destruct C as [p' [E Hp']].
  destruct (Hval p' (or_intror Hp')) as [E1 L1]; destruct (Hval p (or_introl eq_refl)) as [E2 L2].
  rewrite E1, E2 in E; rewrite !(Nat.add_comm (snd _)) in E; apply block_inj in E; auto; destruct E as [Ea Eb].
  apply Hn, in_map_iff; exists p'; split; [|exact Hp'].
  rewrite (surjective_pairing (taken ys p')), (surjective_pairing (taken ys p)), Ea, Eb; reflexivity.
Qed.

Theorem ladder_spreads : forall (N0 : nat) (A g t q : N) (runs : list (N * N)),
  (0 < t)%N -> (0 < g <= q)%N -> N.to_nat t * N.to_nat q <= N0 ->
  ladder_ok A g t q t runs = true ->
  spreads N0 (N.to_nat t) (N.to_nat q) (N.to_nat g) (2 ^ A)
    (N.to_nat (ladder_x runs)) (N.to_nat (ladder_theta t runs)).
Proof.
  intros N0 A g t q runs Ht Hg HN0; apply ladder_spreads_wide; try lia.
  apply Nat.le_trans with (N.to_nat t * N.to_nat q); [apply Nat.mul_le_mono_l; lia|exact HN0].
Qed.
