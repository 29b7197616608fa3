(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Lemma T: a class of functions takes many values

    Functions that vary on the last g t indices, in t groups of g, group b with the q values from b q on.  In the largest class
    of equal messages the best index of each group takes together at least t q K^(-1/(g t)) values. *)
From Coq Require Import Arith NArith ZArith List Lia.
From Rung Require Import Model Counting.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Arithmetic and geometric mean, in integers *)
Section Means.
Local Open Scope Z_scope.

(** u (u+d)^m >= u^m (u + m d) *)
Lemma bernoulli (u d : Z) (m : nat) : 0 <= u -> 0 <= u + d ->
  u ^ Z.of_nat m * (u + Z.of_nat m * d) <= u * (u + d) ^ Z.of_nat m.
Proof.
  intros Hu Hd; induction m as [|m IH].
  - simpl Z.of_nat; rewrite !Z.pow_0_r; lia.
  - rewrite Nat2Z.inj_succ, !Z.pow_succ_r by lia.
    apply Z.le_trans with ((u + d) * (u ^ Z.of_nat m * (u + Z.of_nat m * d))).
    + assert (0 <= u ^ Z.of_nat m) by (apply Z.pow_nonneg; lia).
      assert (0 <= u ^ Z.of_nat m * (Z.of_nat m * (d * d))) by (apply Z.mul_nonneg_nonneg; nia).
      replace ((u + d) * (u ^ Z.of_nat m * (u + Z.of_nat m * d)))
        with (u * u ^ Z.of_nat m * (u + Z.succ (Z.of_nat m) * d) + u ^ Z.of_nat m * (Z.of_nat m * (d * d))) by ring.
      lia.
    + replace (u * ((u + d) * (u + d) ^ Z.of_nat m)) with ((u + d) * (u * (u + d) ^ Z.of_nat m)) by ring.
      apply Z.mul_le_mono_nonneg_l; auto.
Qed.

Lemma amgm_step (n : nat) (S a : Z) : (0 < n)%nat -> 0 <= S -> 0 <= a ->
  Z.of_nat (n + 1) ^ Z.of_nat (n + 1) * (S ^ Z.of_nat n * a) <= Z.of_nat n ^ Z.of_nat n * (S + a) ^ Z.of_nat (n + 1).
Proof.
  intros Hn HS Ha; destruct (Z.eq_dec S 0) as [->|HS0].
  - rewrite Z.pow_0_l by lia; rewrite Z.mul_0_l, Z.mul_0_r.
    apply Z.mul_nonneg_nonneg; apply Z.pow_nonneg; lia.
  - set (k := Z.of_nat n). replace (Z.of_nat (n + 1)) with (k + 1) by lia.
    pose proof (bernoulli ((k + 1) * S) (k * a - S) (n + 1)) as B.
    replace (Z.of_nat (n + 1)) with (k + 1) in B by lia.
    replace ((k + 1) * S + (k * a - S)) with (k * (S + a)) in B by ring.
    replace ((k + 1) * S + (k + 1) * (k * a - S)) with ((k + 1) * (k * a)) in B by ring.
    rewrite !Z.pow_mul_l in B.
    replace (k ^ (k + 1)) with (k * k ^ k) in B
      by (replace (k + 1) with (Z.succ k) by lia; rewrite Z.pow_succ_r by lia; reflexivity).
    replace (S ^ (k + 1)) with (S * S ^ k) in B
      by (replace (k + 1) with (Z.succ k) by lia; rewrite Z.pow_succ_r by lia; reflexivity).
    assert (B' : (k + 1) * S * k * ((k + 1) ^ (k + 1) * (S ^ k * a)) <= (k + 1) * S * k * (k ^ k * (S + a) ^ (k + 1))).
    { replace ((k + 1) * S * k * ((k + 1) ^ (k + 1) * (S ^ k * a)))
        with ((k + 1) ^ (k + 1) * (S * S ^ k) * ((k + 1) * (k * a))) by ring.
      replace ((k + 1) * S * k * (k ^ k * (S + a) ^ (k + 1)))
        with ((k + 1) * S * (k * k ^ k * (S + a) ^ (k + 1))) by ring.
      apply B; apply Z.mul_nonneg_nonneg; lia. }
    apply Z.mul_le_mono_pos_l in B'; [exact B'|].
    apply Z.mul_pos_pos; [apply Z.mul_pos_pos|]; lia.
Qed.
End Means.

Theorem amgm (f : nat -> N) (t : nat) : (nN t ^ nN t * prodf f t <= sumf f t ^ nN t)%N.
Proof.
  induction t as [|t IH]; [simpl; lia|].
  destruct (Nat.eq_dec t 0) as [->|Ht].
  { change (nN 1) with 1%N; rewrite !N.pow_1_r; change (prodf f 1) with (1 * f O)%N; change (sumf f 1) with (0 + f O)%N; lia. }
  pose proof (amgm_step t (Z.of_N (sumf f t)) (Z.of_N (f t)) ltac:(lia) ltac:(lia) ltac:(lia)) as B.
  assert (B' : (nN (t + 1) ^ nN (t + 1) * (sumf f t ^ nN t * f t) <= nN t ^ nN t * (sumf f t + f t) ^ nN (t + 1))%N).
  { apply N2Z.inj_le; rewrite ?N2Z.inj_mul, ?N2Z.inj_pow, ?N2Z.inj_add, ?N2Z.inj_mul, ?N2Z.inj_pow, ?nat_N_Z; exact B. }
  replace (S t) with (t + 1) by lia.
  replace (prodf f (t + 1)) with (prodf f t * f t)%N by (rewrite Nat.add_1_r; reflexivity).
  replace (sumf f (t + 1)) with (sumf f t + f t)%N by (rewrite Nat.add_1_r; reflexivity).
  assert (P : (nN t ^ nN t <> 0)%N) by (apply N.pow_nonzero; lia).
  apply (N.mul_le_mono_pos_l _ _ (nN t ^ nN t)); [lia|].
  eapply N.le_trans; [|exact B'].
  replace (nN t ^ nN t * (nN (t + 1) ^ nN (t + 1) * (prodf f t * f t)))%N
    with (nN (t + 1) ^ nN (t + 1) * (nN t ^ nN t * prodf f t * f t))%N by lia.
  apply N.mul_le_mono_l, N.mul_le_mono_r; exact IH.
Qed.

(** ** Products *)
Lemma prodf_add f a b : prodf f (a + b) = (prodf f a * prodf (fun k => f (a + k)%nat) b)%N.
Proof.
  induction b as [|b IH]; [rewrite Nat.add_0_r; simpl; lia|].
  rewrite Nat.add_succ_r; simpl; rewrite IH; lia.
Qed.

Lemma prodf_le f M m : (forall k, k < m -> (f k <= M)%N) -> (prodf f m <= M ^ nN m)%N.
Proof.
  induction m as [|m IH]; intros H; [simpl; lia|].
  rewrite Nat2N.inj_succ, N.pow_succ_r'; simpl prodf; rewrite N.mul_comm.
  apply N.mul_le_mono; [apply H; lia|apply IH; intros; apply H; lia].
Qed.

Lemma prodf_groups f best g t :
  (forall b k, b < t -> b * g <= k < b * g + g -> (f k <= best b)%N) -> (prodf f (t * g) <= prodf best t ^ nN g)%N.
Proof.
  induction t as [|t IH]; intros H.
  - simpl; rewrite N.pow_1_l; lia.
  - replace (S t * g) with (t * g + g) by lia; rewrite prodf_add; simpl prodf.
    rewrite N.pow_mul_l; apply N.mul_le_mono.
    + apply IH; intros b k Hb Hk; apply H; lia.
    + apply prodf_le; intros k Hk; apply H; lia.
Qed.

Fixpoint argmax (f : nat -> nat) (s n : nat) : nat :=
  match n with
  | 0 => s
  | S n' => let r := argmax f s n' in if f r <? f (s + n') then s + n' else r
  end.

Lemma argmax_spec f s n : 0 < n -> s <= argmax f s n < s + n /\ forall k, s <= k < s + n -> f k <= f (argmax f s n).
Proof.
  induction n as [|n IH]; intros Hn; [lia|]; cbn [argmax].
  destruct (Nat.eq_dec n 0) as [->|Hne].
  - cbn [argmax]; rewrite Nat.add_0_r, Nat.ltb_irrefl; split; [lia|].
    intros k Hk; replace k with s by lia; lia.
  - destruct (IH ltac:(lia)) as [H1 H2].
    destruct (Nat.ltb_spec (f (argmax f s n)) (f (s + n))) as [L|L]; split; try lia.
    + intros k Hk; destruct (Nat.eq_dec k (s + n)) as [->|]; [lia|]. specialize (H2 k); lia.
    + intros k Hk; destruct (Nat.eq_dec k (s + n)) as [->|]; [lia|]. apply H2; lia.
Qed.

Lemma block_inj q b v b' v' : v < q -> v' < q -> b * q + v = b' * q + v' -> b = b' /\ v = v'.
Proof.
  intros H H' E; assert (b = b') by (destruct (Nat.lt_trichotomy b b') as [L|[L|L]]; nia).
  subst; split; [reflexivity|lia].
Qed.

(** ** The family *)
Section Family.
Variables (N0 t q g : nat).

(** Indices before [start] are constant; index start + k is in group k/g. *)
Definition start : nat := N0 - t * g.
Definition fam (z : N) (i : nat) : nat :=
  if i <? start then 0 else (i - start) / g * q + entry (nN q) z (i - start).

Definition in_fam (f : nat -> nat) : Prop :=
  (forall i, i < start -> f i = 0) /\ (forall k, k < t * g -> k / g * q <= f (start + k) < k / g * q + q).

Lemma fam_in z : 0 < q -> in_fam (fam z).
Proof.
  intros Hq; split.
  - intros i Hi; unfold fam; apply Nat.ltb_lt in Hi; rewrite Hi; reflexivity.
  - intros k Hk; unfold fam; destruct (Nat.ltb_spec (start + k) start); [lia|].
    replace (start + k - start) with k by lia.
    pose proof (entry_lt (nN q) z k); lia.
Qed.

Lemma fam_value z b j : b < t -> j < g -> fam z (start + (b * g + j)) = b * q + entry (nN q) z (b * g + j).
Proof.
  intros Hb Hj; unfold fam; destruct (Nat.ltb_spec (start + (b * g + j)) start); [lia|].
  replace (start + (b * g + j) - start) with (b * g + j) by lia.
  rewrite Nat.div_add_l, (Nat.div_small j g) by lia; rewrite Nat.add_0_r; reflexivity.
Qed.

(** Below t q, and so a value of the table if N_0 >= t q. *)
Lemma fam_below f i : 0 < t -> 0 < q -> 0 < g -> t * g <= N0 -> in_fam f -> i < N0 -> f i < t * q.
Proof.
  intros Ht Hq Hg Hw [H1 H2] Hi; destruct (Nat.lt_ge_cases i start) as [L|L]; [rewrite H1 by exact L; nia|].
  unfold start in *; specialize (H2 (i - (N0 - t * g)) ltac:(lia)); replace (N0 - t * g + (i - (N0 - t * g))) with i in H2 by lia.
  assert ((i - (N0 - t * g)) / g < t) by (apply Nat.div_lt_upper_bound; lia). nia.
Qed.

Hypothesis HN0 : t * q <= N0.
Hypothesis Hg : 0 < g <= q.
Hypothesis Ht : 0 < t.

Lemma start_le : start + t * g = N0.
Proof. unfold start; nia. Qed.

Lemma fam_bound f i : in_fam f -> i < N0 -> f i < N0.
Proof. intros Hf Hi; apply Nat.lt_le_trans with (t * q); [|exact HN0]. apply fam_below; auto; nia. Qed.

Theorem best_of_groups (Theta : nat) (K : N) (kappa : (nat -> nat) -> N) :
  (forall f, (kappa f < K)%N) -> 0 < Theta ->
  (K * nN (Theta - 1) ^ nN (t * g) < nN (t * q) ^ nN (t * g))%N ->
  exists (U : list nat) (sel : list ((nat -> nat) * nat)),
    length U = t /\ (forall u, In u U -> start <= u < N0) /\
    length sel = Theta /\ (forall p, In p sel -> in_fam (fst p) /\ snd p < t) /\
    (forall p p', In p sel -> In p' sel -> kappa (fst p) = kappa (fst p')) /\
    NoDup (map (fun p => fst p (nth (snd p) U 0)) sel).
Proof.
  intros Hk HT Hlt.
  destruct (popular (fun z => kappa (fam z)) K (below (nN q ^ nN (t * g))) (fun z _ => Hk _)) as [c Hc].
  rewrite below_size in Hc.
  set (cls := filter (fun z => (kappa (fam z) =? c)%N) (below (nN q ^ nN (t * g)))) in *.
  set (vals := fun k => nodup Nat.eq_dec (map (fun z => entry (nN q) z k) cls)).
  set (len := fun k => length (vals k)).
  set (best := fun b => argmax len (b * g) g).
  assert (Hin : forall z k, In z cls -> In (entry (nN q) z k) (vals k)).
  { intros z k Hz; apply nodup_In, in_map_iff; exists z; auto. }
  assert (Hsize : (size cls <= prodf (fun k => nN (len k)) (t * g))%N).
  { set (d := fun z k => nN (index_of (entry (nN q) z k) (vals k))).
    assert (Hd : forall z k, In z cls -> (d z k < nN (len k))%N).
    { intros z k Hz; unfold d, len; destruct (index_of_spec _ _ (Hin z k Hz)) as [L _]; lia. }
    apply (pigeon_list (fun z => mixed_code (fun k => nN (len k)) (d z) (t * g))).
    - apply NoDup_filter, below_NoDup.
    - intros z Hz; apply mixed_lt; auto.
    - intros z z' Hz Hz' E.
      pose proof (mixed_inj _ _ _ _ (fun k _ => Hd z k Hz) (fun k _ => Hd z' k Hz') E) as E'.
      assert (B : forall y, In y cls -> (y < nN q ^ nN (t * g))%N)
        by (intros y Hy; apply filter_In in Hy; apply below_in; tauto).
      apply (entry_inj (nN q) (t * g)); auto; [lia|].
      intros k Hkg; specialize (E' k Hkg); unfold d in E'; apply Nat2N.inj in E'.
      destruct (index_of_spec _ _ (Hin z k Hz)) as [_ <-].
      destruct (index_of_spec _ _ (Hin z' k Hz')) as [_ <-].
      rewrite E'; reflexivity. }
  set (total := sumf (fun b => nN (len (best b))) t).
  assert (Htot : (nN Theta <= total)%N).
  { destruct (N.le_gt_cases (nN Theta) total) as [|L]; auto; exfalso.
    apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
    pose proof (amgm (fun b => nN (len (best b))) t) as AG; fold total in AG.
    assert (PG : (prodf (fun k => nN (len k)) (t * g) <= prodf (fun b => nN (len (best b))) t ^ nN g)%N).
    { apply prodf_groups; intros b k Hb Hkb.
      destruct (argmax_spec len (b * g) g ltac:(lia)) as [_ M]; specialize (M k Hkb).
      unfold best; lia. }
    replace (nN (t * q)) with (nN t * nN q)%N by lia; rewrite N.pow_mul_l.
    assert (E1 : (nN t ^ nN (t * g) * size cls <= total ^ nN (t * g))%N).
    { replace (nN (t * g)) with (nN t * nN g)%N by lia; rewrite !N.pow_mul_r.
      apply N.le_trans with ((nN t ^ nN t * prodf (fun b => nN (len (best b))) t) ^ nN g)%N.
      - rewrite N.pow_mul_l; apply N.mul_le_mono_l.
        apply N.le_trans with (1 := Hsize); exact PG.
      - apply N.pow_le_mono_l; exact AG. }
    assert (E2 : (total ^ nN (t * g) <= nN (Theta - 1) ^ nN (t * g))%N) by (apply N.pow_le_mono_l; lia).
    apply N.le_trans with (nN t ^ nN (t * g) * (K * size cls))%N; [apply N.mul_le_mono_l; exact Hc|].
    replace (nN t ^ nN (t * g) * (K * size cls))%N with (K * (nN t ^ nN (t * g) * size cls))%N by lia.
    apply N.mul_le_mono_l; lia. }
  (* one pair (group, value) for each value of each best index *)
  set (pairs := flat_map (fun b => map (fun v => (b, v)) (vals (best b))) (seq 0 t)).
  assert (Hplen : nN (length pairs) = total).
  { assert (G : forall n, nN (length (flat_map (fun b => map (fun v => (b, v)) (vals (best b))) (seq 0 n)))
                          = sumf (fun b => nN (len (best b))) n).
    { induction n as [|n IH]; [reflexivity|].
      rewrite seq_S, flat_map_app, app_length; simpl flat_map; rewrite app_nil_r, map_length.
      simpl sumf; rewrite <- IH; unfold len; lia. }
    apply G. }
  assert (Hpin : forall b v, In (b, v) pairs -> b < t /\ In v (vals (best b))).
  { intros b v Hp; apply in_flat_map in Hp; destruct Hp as [b' [Hb' Hp]]; apply in_seq in Hb'.
    apply in_map_iff in Hp; destruct Hp as [v' [E Hv]]; inversion E; subst; split; [lia|auto]. }
  assert (Hpnd : NoDup pairs).
  { assert (G : forall l, NoDup l -> NoDup (flat_map (fun b => map (fun v => (b, v)) (vals (best b))) l)).
    { intros l Hl; induction Hl as [|b l Hb Hl IH]; simpl; [constructor|].
      apply NoDup_app; auto.
      - apply NoDup_map_on; [intros x y _ _ E; inversion E; auto|apply NoDup_nodup].
      - intros p Hp C; apply in_map_iff in Hp; destruct Hp as [v [<- _]].
        apply in_flat_map in C; destruct C as [b' [Hb' C]]; apply in_map_iff in C; destruct C as [v' [E _]].
        inversion E; subst; auto. }
    apply G, seq_NoDup. }
  set (pick := fun p : nat * nat => hd 0%N (filter (fun z => entry (nN q) z (best (fst p)) =? snd p) cls)).
  assert (Hpick : forall b v, In v (vals (best b)) ->
            In (pick (b, v)) cls /\ entry (nN q) (pick (b, v)) (best b) = v).
  { intros b v Hv; apply nodup_In, in_map_iff in Hv; destruct Hv as [z [Ez Hz]].
    assert (Hf : In z (filter (fun z => entry (nN q) z (best b) =? v) cls))
      by (apply filter_In; split; [auto|apply Nat.eqb_eq; auto]).
    unfold pick; cbn [fst snd].
    destruct (filter (fun z => entry (nN q) z (best b) =? v) cls) as [|y r] eqn:Ef; [contradiction|].
    assert (Hy : In y (filter (fun z => entry (nN q) z (best b) =? v) cls)) by (rewrite Ef; left; auto).
    apply filter_In in Hy; destruct Hy as [Hy Ey]; apply Nat.eqb_eq in Ey; simpl; auto. }
  set (U := map (fun b => start + best b) (seq 0 t)).
  assert (Hbest : forall b, b < t -> b * g <= best b < b * g + g)
    by (intros b Hb; apply argmax_spec; lia).
  assert (HUn : forall b, b < t -> nth b U 0 = start + best b).
  { intros b Hb; unfold U.
    rewrite (nth_indep _ 0 (start + best 0)) by (rewrite map_length, seq_length; lia).
    rewrite (map_nth (fun b => start + best b)), seq_nth by lia; reflexivity. }
  set (some := firstn Theta pairs).
  assert (Hsl : length some = Theta) by (unfold some; rewrite firstn_length; lia).
  assert (Hsin : forall p, In p some -> In p pairs)
    by (intros p Hp; rewrite <- (firstn_skipn Theta pairs); apply in_app_iff; auto).
  assert (Hsnd : NoDup some) by (apply firstn_NoDup; exact Hpnd).
  exists U, (map (fun p => (fam (pick p), fst p)) some).
  split; [unfold U; rewrite map_length, seq_length; reflexivity|].
  split.
  { intros u Hu; apply in_map_iff in Hu; destruct Hu as [b [<- Hb]]; apply in_seq in Hb.
    specialize (Hbest b ltac:(lia)); pose proof start_le.
    assert (S b * g <= t * g) by (apply Nat.mul_le_mono_r; lia). clear Hlt Hc Hsize; simpl in H0; lia. }
  split; [rewrite map_length; exact Hsl|].
  split.
  { intros p Hp; apply in_map_iff in Hp; destruct Hp as [[b v] [<- Hp]]; cbn [fst snd].
    split; [apply fam_in; lia|apply (Hpin b v); auto]. }
  split.
  { assert (E : forall p, In p (map (fun p => (fam (pick p), fst p)) some) -> kappa (fst p) = c).
    { intros p Hp; apply in_map_iff in Hp; destruct Hp as [[b v] [<- Hp]]; cbn [fst].
      apply Hsin, Hpin in Hp; destruct Hp as [_ Hv]; destruct (Hpick b v Hv) as [Hc' _].
      apply filter_In in Hc'; destruct Hc' as [_ Hc']; apply N.eqb_eq in Hc'; exact Hc'. }
    intros p p' Hp Hp'; rewrite (E p), (E p'); auto. }
  rewrite map_map.
  assert (Hval : forall b v, In (b, v) some -> fam (pick (b, v)) (nth b U 0) = b * q + v).
  { intros b v Hp; apply Hsin, Hpin in Hp; destruct Hp as [Hb Hv].
    rewrite HUn by exact Hb; specialize (Hbest b Hb).
    replace (start + best b) with (start + (b * g + (best b - b * g))) by lia.
    rewrite fam_value by lia; replace (b * g + (best b - b * g)) with (best b) by lia.
    destruct (Hpick b v Hv) as [_ ->]; reflexivity. }
  assert (Hvq : forall b v, In (b, v) some -> v < q).
  { intros b v Hp; apply Hsin, Hpin in Hp; destruct Hp as [_ Hv].
    apply nodup_In, in_map_iff in Hv; destruct Hv as [z [<- _]].
    pose proof (entry_lt (nN q) z (best b)); lia. }
  apply NoDup_map_on; [|exact Hsnd].
  intros [b v] [b' v'] Hp Hp' E; cbn [fst snd] in E.
  rewrite (Hval b v Hp), (Hval b' v' Hp') in E.
  pose proof (Hvq b v Hp); pose proof (Hvq b' v' Hp').
  apply block_inj in E; auto; destruct E as [-> ->]; reflexivity.
Qed.
End Family.
