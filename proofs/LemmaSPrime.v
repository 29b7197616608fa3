(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Lemma S': a few random functions take many values

    Tables are words: P letters below q.  Of x tables one after the other, a letter at an active place is new if no table before has
    it there.  New letters weigh a, all others b >= a.  The x tables of a tuple weigh a^n b^(xP - n) together, if n letters are new, and
    all tuples together weigh at most the product of (q a + (b-a) j)^T (q b)^(P-T), j < x, where T places are active. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs LemmaT LemmaS.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Tuples *)
Fixpoint tuples {A} (l : list A) (x : nat) : list (list A) :=
  match x with
  | 0 => [[]]
  | S k => flat_map (fun r => map (fun y => y :: r) l) (tuples l k)
  end.

Lemma tuples_in {A} (l : list A) x r : In r (tuples l x) -> length r = x /\ forall y, In y r -> In y l.
Proof.
  revert r; induction x as [|x IH]; intros r H; cbn [tuples] in H.
  - destruct H as [<-|[]]; split; [reflexivity|contradiction].
  - apply in_flat_map in H; destruct H as [r' [H' H]]; apply in_map_iff in H; destruct H as [y [<- Hy]].
    destruct (IH r' H') as [E L]; split; [simpl; lia|]. intros z [<-|Hz]; auto.
Qed.

Lemma total_flat {A B} (f : B -> N) (g : A -> list B) l : total_of f (flat_map g l) = total_of (fun x => total_of f (g x)) l.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite total_app, IH; reflexivity. Qed.

Lemma total_le {A} (f g : A -> N) l : (forall x, In x l -> (f x <= g x)%N) -> (total_of f l <= total_of g l)%N.
Proof.
  induction l as [|x l IH]; intros H; simpl; [lia|].
  specialize (IH (fun y Hy => H y (or_intror Hy))); pose proof (H x (or_introl eq_refl)); lia.
Qed.

Lemma total_ext {A} (f g : A -> N) l : (forall x, f x = g x) -> total_of f l = total_of g l.
Proof. intros H; induction l as [|x l IH]; simpl; [reflexivity|]. rewrite H, IH; reflexivity. Qed.

Lemma total_add {A} (f g : A -> N) l : total_of (fun x => f x + g x)%N l = (total_of f l + total_of g l)%N.
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH; lia. Qed.

Lemma total_const {A} c (l : list A) : total_of (fun _ => c) l = (size l * c)%N.
Proof. unfold size; induction l as [|x l IH]; simpl total_of; [reflexivity|]. rewrite IH; simpl length; lia. Qed.

Lemma total_swap {A B} (f : A -> B -> N) l l' : total_of (fun x => total_of (f x) l') l = total_of (fun y => total_of (fun x => f x y) l) l'.
Proof.
  induction l as [|x l IH]; simpl total_of; [rewrite (total_const 0 l'); lia|].
  rewrite IH, <- total_add; reflexivity.
Qed.

Lemma size_total {A} (p : A -> bool) l : size (filter p l) = total_of (fun x => if p x then 1 else 0)%N l.
Proof. unfold size; induction l as [|x l IH]; simpl; [reflexivity|]. destruct (p x); simpl length; rewrite <- IH; lia. Qed.

Lemma size_filter {A} (p : A -> bool) l : (size (filter p l) <= size l)%N.
Proof. rewrite (size_split p l); lia. Qed.

Lemma words_size q P : size (words q P) = (nN q ^ nN P)%N.
Proof.
  induction P as [|P IH]; [reflexivity|]; cbn [words].
  assert (E : forall l, size (flat_map (fun v => map (cons v) (words q P)) l) = (size l * size (words q P))%N).
  { unfold size; induction l as [|v l IHl]; simpl flat_map; [reflexivity|].
    rewrite app_length, map_length; simpl length; lia. }
  rewrite E, IH; unfold size; rewrite seq_length, Nat2N.inj_succ, N.pow_succ_r'; lia.
Qed.

Lemma words_spec q P y : In y (words q P) -> length y = P /\ forall v, In v y -> v < q.
Proof.
  revert y; induction P as [|P IH]; intros y H; cbn [words] in H.
  - destruct H as [<-|[]]; split; [reflexivity|contradiction].
  - apply in_flat_map in H; destruct H as [v [Hv H]]; apply in_map_iff in H; destruct H as [y' [<- Hy]].
    destruct (IH y' Hy) as [E L]; apply in_seq in Hv; split; [simpl; lia|]. intros z [<-|Hz]; [lia|auto].
Qed.

Lemma words_NoDup q P : NoDup (words q P).
Proof.
  induction P as [|P IH]; cbn [words]; [repeat constructor; auto|].
  generalize (seq_NoDup q 0); generalize (seq 0 q); intros l Hl; induction Hl as [|v l Hv Hl IHl]; simpl; [constructor|].
  apply NoDup_app; auto; [apply NoDup_map_on; [intros y y' _ _ E; inversion E; auto|exact IH]|].
  intros y Hy C; apply in_map_iff in Hy; destruct Hy as [y' [<- _]].
  apply in_flat_map in C; destruct C as [v' [Hv' C]]; apply in_map_iff in C; destruct C as [y'' [E _]]; inversion E; subst; auto.
Qed.

(** ** The weight of a tuple *)
Section Rows.
Variables (a b : N) (q P : nat) (act : nat -> bool).
Hypothesis Hab : (a <= b)%N.
Let T := length (filter act (seq 0 P)).

Definition seen (ys : list (list nat)) (k v : nat) : bool := negb (act k) || existsb (fun y => nth k y 0 =? v) ys.

Fixpoint mass (ys : list (list nat)) : N := match ys with [] => 1%N | y :: r => (weigh a b (seen r) 0 y * mass r)%N end.
Fixpoint fresh (ys : list (list nat)) : list (nat * nat) := match ys with [] => [] | y :: r => news (seen r) 0 y ++ fresh r end.

Lemma mass_exact ys : (forall y, In y ys -> length y = P) ->
  mass ys = (a ^ nN (length (fresh ys)) * b ^ nN (length ys * P - length (fresh ys)))%N /\ length (fresh ys) <= length ys * P.
Proof.
  induction ys as [|y ys IH]; intros H; [split; reflexivity|]; cbn [mass fresh length].
  destruct (IH (fun z Hz => H z (or_intror Hz))) as [E L]; rewrite E, app_length.
  destruct (weigh_exact a b (seen ys) y 0) as [E' L']; rewrite E'; rewrite (H y (or_introl eq_refl)) in *.
  set (m := length (news (seen ys) 0 y)) in *; set (n := length (fresh ys)) in *; split; [|lia].
  replace (nN (m + n)) with (nN m + nN n)%N by lia.
  replace (nN (S (length ys) * P - (m + n))) with (nN (P - m) + nN (length ys * P - n))%N by lia.
  rewrite !N.pow_add_r; lia.
Qed.

Lemma fresh_in ys k v : (forall y, In y ys -> length y = P) -> In (k, v) (fresh ys) ->
  k < P /\ act k = true /\ exists y, In y ys /\ nth k y 0 = v.
Proof.
  induction ys as [|y ys IH]; intros H Hp; [contradiction|]; cbn [fresh] in Hp; apply in_app_iff in Hp; destruct Hp as [Hp|Hp].
  - apply news_in in Hp; cbn [fst snd] in Hp; destruct Hp as (L & E & S); rewrite (H y (or_introl eq_refl)), Nat.sub_0_r in *.
    unfold seen in S; apply orb_false_iff in S; destruct S as [S _]; apply negb_false_iff in S.
    repeat split; [lia|exact S|]. exists y; split; [left; reflexivity|auto].
  - destruct (IH (fun z Hz => H z (or_intror Hz)) Hp) as (L & E & z & Hz & Ez); repeat split; auto.
    exists z; split; [right; exact Hz|exact Ez].
Qed.

Lemma fresh_NoDup ys : (forall y, In y ys -> length y = P) -> NoDup (fresh ys).
Proof.
  induction ys as [|y ys IH]; intros H; cbn [fresh]; [constructor|].
  assert (H' : forall z, In z ys -> length z = P) by (intros z Hz; apply H; right; exact Hz).
  apply NoDup_app; [apply news_NoDup|apply IH, H'|].
  intros [k v] Hp C; apply news_in in Hp; cbn [fst snd] in Hp; destruct Hp as (_ & _ & S).
  destruct (fresh_in ys k v H' C) as (_ & _ & z & Hz & Ez).
  unfold seen in S; apply orb_false_iff in S; destruct S as [_ S].
  assert (existsb (fun y => nth k y 0 =? v) ys = true) by (apply existsb_exists; exists z; split; [exact Hz|apply Nat.eqb_eq, Ez]); congruence.
Qed.

Lemma prodf_two f al be n : (forall k, k < n -> (f k <= if act k then al else be)%N) ->
  (prodf f n <= al ^ nN (length (filter act (seq 0 n))) * be ^ nN (n - length (filter act (seq 0 n))))%N.
Proof.
  assert (L : forall n, length (filter act (seq 0 n)) <= n)
    by (intros m; rewrite <- (seq_length m 0) at 2; generalize (seq 0 m); intros l; induction l as [|i l IH]; simpl; [lia|destruct (act i); simpl; lia]).
  induction n as [|n IH]; intros H; [simpl; lia|].
  specialize (IH (fun k Hk => H k (Nat.lt_lt_succ_r _ _ Hk))); pose proof (H n (Nat.lt_succ_diag_r n)) as Hn; specialize (L n).
  rewrite seq_S, filter_app, app_length; cbn [prodf filter plus].
  apply N.le_trans with (al ^ nN (length (filter act (seq 0 n))) * be ^ nN (n - length (filter act (seq 0 n))) * (if act n then al else be))%N;
    [apply N.mul_le_mono; assumption|]. set (m := length (filter act (seq 0 n))) in *; clearbody m.
  destruct (act n); cbn [length].
  - replace (nN (m + 1)) with (N.succ (nN m)) by lia; replace (S n - (m + 1)) with (n - m) by lia; rewrite N.pow_succ_r'; lia.
  - replace (nN (S n - (m + 0))) with (N.succ (nN (n - m))) by lia; rewrite Nat.add_0_r, N.pow_succ_r'; lia.
Qed.

Definition step_mass (j : nat) : N := ((nN q * a + (b - a) * nN j) ^ nN T * (nN q * b) ^ nN (P - T))%N.

Lemma row_mass ys : (total_of (weigh a b (seen ys) 0) (words q P) <= step_mass (length ys))%N.
Proof.
  rewrite weigh_words; apply prodf_two; intros k _; cbn [plus]; rewrite (weight_sum a b (seen ys) k _ Hab).
  assert (Sq : size (seq 0 q) = nN q) by (unfold size; rewrite seq_length; reflexivity); rewrite Sq.
  destruct (act k) eqn:Ea.
  - rewrite (N.mul_comm a); apply N.add_le_mono_l, N.mul_le_mono_l.
    unfold size; enough (length (filter (seen ys k) (seq 0 q)) <= length (map (fun y => nth k y 0) ys)) as L by (rewrite map_length in L; lia).
    apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|]. intros v Hv; apply filter_In in Hv; destruct Hv as [_ Hv].
    unfold seen in Hv; rewrite Ea in Hv; cbn [negb orb] in Hv; apply existsb_exists in Hv; destruct Hv as [y [Hy E]].
    apply Nat.eqb_eq in E; subst v; apply (in_map (fun y => nth k y 0)), Hy.
  - assert (L : (size (filter (seen ys k) (seq 0 q)) <= nN q)%N).
    { rewrite <- Sq; apply size_filter. }
    assert ((b - a) * size (filter (seen ys k) (seq 0 q)) <= (b - a) * nN q)%N by (apply N.mul_le_mono_l, L).
    replace (nN q * b)%N with (a * nN q + (b - a) * nN q)%N by (rewrite <- N.mul_add_distr_r; replace (a + (b - a))%N with b by lia; lia). lia.
Qed.

Lemma all_mass x : (total_of mass (tuples (words q P) x) <= prodf step_mass x)%N.
Proof.
  induction x as [|x IH]; [simpl; lia|]; cbn [tuples prodf].
  rewrite total_flat.
  apply N.le_trans with (total_of (fun r => step_mass x * mass r)%N (tuples (words q P) x)).
  - apply total_le; intros r Hr; rewrite total_map; cbn [mass].
    apply N.le_trans with (mass r * total_of (weigh a b (seen r) 0) (words q P))%N.
    + rewrite <- total_scale; apply total_le; intros; lia.
    + rewrite N.mul_comm; apply N.mul_le_mono_r; destruct (tuples_in _ _ _ Hr) as [<- _]; apply row_mass.
  - rewrite total_scale, N.mul_comm; apply N.mul_le_mono_r, IH.
Qed.

(** The lemma: tuples with fewer than Theta values are few. *)
Definition poor (Theta : nat) (ys : list (list nat)) : bool := length (fresh ys) <? Theta.

Theorem few_poor x Theta : 0 < Theta <= x * P ->
  (size (filter (poor Theta) (tuples (words q P) x)) * (a ^ nN (Theta - 1) * b ^ nN (x * P - (Theta - 1))) <= prodf step_mass x)%N.
Proof.
  intros HTh; eapply N.le_trans; [|apply all_mass].
  rewrite size_total, N.mul_comm, <- total_scale; apply total_le; intros ys Hys.
  destruct (tuples_in _ _ _ Hys) as [Hl Hin].
  assert (Hlen : forall y, In y ys -> length y = P) by (intros y Hy; apply (words_spec q P y (Hin y Hy))).
  destruct (poor Theta ys) eqn:Ep; [|lia].
  apply Nat.ltb_lt in Ep; destruct (mass_exact ys Hlen) as [-> L]; rewrite Hl in *.
  rewrite N.mul_1_r; apply fewer_new; auto; lia.
Qed.

(** In the form that uses it: 2^e tuples as many as all are more than the poor ones. *)
Theorem few_poor_share (E : N) x Theta : 0 < q -> (0 < a)%N -> 0 < Theta <= x * T ->
  (E * prodf (fun j => nN q * a + (b - a) * nN j) x ^ nN T < nN q ^ nN (x * T) * (a ^ nN (Theta - 1) * b ^ nN (x * T - (Theta - 1))))%N ->
  (E * size (filter (poor Theta) (tuples (words q P) x)) < size (words q P) ^ nN x)%N.
Proof.
  intros Hq Ha HTh Hlt.
  assert (HT : T <= P) by (unfold T; rewrite <- (seq_length P 0) at 2; generalize (seq 0 P); intros l; induction l as [|i l IH]; simpl; [lia|destruct (act i); simpl; lia]).
  assert (HxT : x * T <= x * P) by (apply Nat.mul_le_mono_l, HT).
  pose proof (few_poor x Theta ltac:(lia)) as F.
  assert (Es : prodf step_mass x = (prodf (fun j => nN q * a + (b - a) * nN j) x ^ nN T * (nN q * b) ^ nN (x * (P - T)))%N).
  { clear; induction x as [|x IH]; [simpl; rewrite N.pow_1_l; lia|]. cbn [prodf]; rewrite IH; unfold step_mass.
    replace (nN (S x * (P - T))) with (nN (x * (P - T)) + nN (P - T))%N by lia.
    rewrite (N.pow_mul_l (prodf _ x)), N.pow_add_r.
    set (u := (prodf _ x ^ nN T)%N); set (v := ((nN q * b) ^ nN (x * (P - T)))%N); clearbody u v; lia. }
  rewrite Es, N.pow_mul_l in F; clear Es.
  rewrite words_size, <- N.pow_mul_r; replace (nN P * nN x)%N with (nN (x * T) + nN (x * (P - T)))%N
    by (replace (nN P * nN x)%N with (nN (x * P)) by lia; replace P with (T + (P - T)) at 2 by lia; rewrite Nat.mul_add_distr_l; lia).
  replace (nN (x * P - (Theta - 1))) with (nN (x * T - (Theta - 1)) + nN (x * (P - T)))%N in F
    by (clear F Hlt; replace (x * P) with (x * T + x * (P - T)) by (rewrite <- Nat.mul_add_distr_l; f_equal; lia); lia).
  rewrite N.pow_add_r in F |- *.
  set (n := size _) in *; set (pr := prodf _ x) in *; clearbody n pr.
  set (A := (a ^ nN (Theta - 1))%N) in *; set (B := (b ^ nN (x * T - (Theta - 1)))%N) in *; set (B' := (b ^ nN (x * (P - T)))%N) in *.
  set (Q := (nN q ^ nN (x * T))%N) in *; set (Q' := (nN q ^ nN (x * (P - T)))%N) in *.
  assert (HA : (A <> 0)%N) by (apply N.pow_nonzero; lia).
  assert (HB : (B <> 0)%N) by (apply N.pow_nonzero; lia).
  assert (HB' : (B' <> 0)%N) by (apply N.pow_nonzero; lia).
  assert (HQ' : (Q' <> 0)%N) by (apply N.pow_nonzero; lia).
  apply (N.mul_lt_mono_pos_r (A * (B * B'))); [apply N.neq_0_lt_0; rewrite !N.eq_mul_0; tauto|].
  apply N.le_lt_trans with (E * (pr ^ nN T * (Q' * B')))%N; [rewrite <- N.mul_assoc; apply N.mul_le_mono_l; exact F|].
  replace (E * (pr ^ nN T * (Q' * B')))%N with (E * pr ^ nN T * (Q' * B'))%N by lia.
  replace (Q * Q' * (A * (B * B')))%N with (Q * (A * B) * (Q' * B'))%N by lia.
  apply N.mul_lt_mono_pos_r; [apply N.neq_0_lt_0; rewrite N.eq_mul_0; tauto|exact Hlt].
Qed.
End Rows.

(** ** Many elements share a good tuple *)
Lemma chebyshev {A} (d : A -> N) x l :
  (total_of d l * total_of (fun o => d o ^ x) l <= size l * total_of (fun o => d o ^ N.succ x) l)%N.
Proof.
  assert (H : forall u v : N, (u * v ^ x + v * u ^ x <= u ^ N.succ x + v ^ N.succ x)%N).
  { assert (G : forall u v, (u <= v)%N -> (u * v ^ x + v * u ^ x <= u ^ N.succ x + v ^ N.succ x)%N).
    { intros u v L; rewrite !N.pow_succ_r'; pose proof (N.pow_le_mono_l u v x L) as Lx; revert Lx.
      generalize (u ^ x)%N (v ^ x)%N; intros U W LW.
      replace v with (u + (v - u))%N by lia; replace W with (U + (W - U))%N by lia.
      generalize (v - u)%N (W - U)%N; intros; lia. }
    intros u v; destruct (N.le_gt_cases u v) as [L|L]; [apply G, L|]. specialize (G v u ltac:(lia)); lia. }
  unfold size; induction l as [|e l IH]; [simpl; lia|]; cbn [total_of length].
  assert (M : (total_of d l * d e ^ x + d e * total_of (fun o => d o ^ x) l <= total_of (fun o => d o ^ N.succ x) l + nN (length l) * d e ^ N.succ x)%N).
  { clear IH; induction l as [|o l IH]; [simpl; lia|]; cbn [total_of length]; specialize (H (d o) (d e)); rewrite Nat2N.inj_succ; revert IH H.
    generalize (total_of d l) (total_of (fun o => d o ^ x)%N l) (total_of (fun o => d o ^ N.succ x)%N l) (d e ^ x)%N (d e ^ N.succ x)%N (d o ^ x)%N (d o ^ N.succ x)%N (d e) (d o) (nN (length l)).
    intros; lia. }
  rewrite Nat2N.inj_succ; revert IH M; rewrite !(N.pow_succ_r' (d e)).
  generalize (total_of d l) (total_of (fun o => d o ^ x)%N l) (total_of (fun o => d o ^ N.succ x)%N l) (d e ^ x)%N (d e) (nN (length l)).
  intros; lia.
Qed.

Lemma power_mean {A} (d : A -> N) x l :
  (total_of d l ^ nN x * size l <= size l ^ nN x * total_of (fun o => d o ^ nN x) l)%N.
Proof.
  induction x as [|x IH].
  - change (nN 0) with 0%N; rewrite !N.pow_0_r, !N.mul_1_l.
    apply N.le_trans with (total_of (fun _ => 1%N) l); [rewrite total_const; lia|]. apply total_le; intros; rewrite N.pow_0_r; lia.
  - rewrite !Nat2N.inj_succ, !N.pow_succ_r'; pose proof (chebyshev d (nN x) l) as C.
    apply N.le_trans with (total_of d l * (size l ^ nN x * total_of (fun o => d o ^ nN x) l))%N; [rewrite <- N.mul_assoc; apply N.mul_le_mono_l, IH|].
    replace (total_of d l * (size l ^ nN x * total_of (fun o => d o ^ nN x) l))%N
      with (size l ^ nN x * (total_of d l * total_of (fun o => d o ^ nN x) l))%N by lia.
    replace (size l * size l ^ nN x * total_of (fun o => d o ^ N.succ (nN x)) l)%N
      with (size l ^ nN x * (size l * total_of (fun o => d o ^ N.succ (nN x)) l))%N by lia.
    apply N.mul_le_mono_l, C.
Qed.

Lemma tuples_all {A} (p : A -> bool) l x : size (filter (forallb p) (tuples l x)) = (size (filter p l) ^ nN x)%N.
Proof.
  induction x as [|x IH]; [reflexivity|]; cbn [tuples]; rewrite Nat2N.inj_succ, N.pow_succ_r', <- IH, !size_total, total_flat.
  rewrite <- total_scale; apply total_ext; intros r; rewrite total_map; cbn [forallb]. rewrite N.mul_comm.
  destruct (forallb p r); cbn [andb]; [rewrite N.mul_1_l|rewrite N.mul_0_l].
  - clear; induction l as [|y l IH]; cbn [total_of]; [reflexivity|]. rewrite IH, andb_true_r; reflexivity.
  - clear; induction l as [|y l IH]; cbn [total_of]; [reflexivity|]. rewrite IH, andb_false_r; reflexivity.
Qed.

Theorem good_tuple {Z O} (Zs : list Z) (Os : list O) (mem : Z -> O -> bool) (K : N) (x : nat) (bad : list Z -> bool) : Os <> [] ->
  (size Zs * size Os <= K * total_of (fun o => size (filter (fun z => mem z o) Zs)) Os)%N ->
  (2 * K ^ nN x * size (filter bad (tuples Zs x)) < size Zs ^ nN x)%N ->
  exists ys, In ys (tuples Zs x) /\ bad ys = false /\
    (size Os <= 2 * K ^ nN x * size (filter (fun o => forallb (fun z => mem z o) ys) Os))%N.
Proof.
  intros HO Hd Hbad.
  set (cnt := fun ys => size (filter (fun o => forallb (fun z => mem z o) ys) Os)).
  set (n := size Os) in *; assert (Hn : (0 < n)%N) by (unfold n, size; destruct Os; [congruence|simpl length; lia]).
  set (E := (2 * K ^ nN x)%N) in *.
  destruct (existsb (fun ys => negb (bad ys) && (n <=? E * cnt ys)%N) (tuples Zs x)) eqn:Ex.
  { apply existsb_exists in Ex; destruct Ex as [ys [Hy H]]; apply andb_prop in H; destruct H as [H1 H2].
    exists ys; split; [exact Hy|]. split; [apply negb_true_iff, H1|apply N.leb_le, H2]. }
  exfalso.
  assert (Hno : forall ys, In ys (tuples Zs x) -> bad ys = false -> (E * cnt ys < n)%N).
  { intros ys Hy Hb; destruct (N.le_gt_cases n (E * cnt ys)) as [L|L]; [|exact L]. exfalso.
    assert (C : existsb (fun ys => negb (bad ys) && (n <=? E * cnt ys)%N) (tuples Zs x) = true); [|congruence].
    apply existsb_exists; exists ys; split; [exact Hy|]. rewrite Hb; cbn; apply N.leb_le, L. }
  set (d := fun o => size (filter (fun z => mem z o) Zs)) in *.
  pose proof (power_mean d x Os) as PM; fold n in PM.
  (* the tuples of each o, counted twice *)
  assert (Esw : total_of (fun o => d o ^ nN x)%N Os = total_of cnt (tuples Zs x)).
  { transitivity (total_of (fun o => total_of (fun ys => if forallb (fun z => mem z o) ys then 1 else 0)%N (tuples Zs x)) Os).
    - apply total_ext; intros o; unfold d; rewrite <- tuples_all, size_total; reflexivity.
    - rewrite total_swap; apply total_ext; intros r; symmetry; apply size_total. }
  rewrite Esw in PM.
  assert (Htot : size (tuples Zs x) = (size Zs ^ nN x)%N).
  { pose proof (tuples_all (fun _ => true) Zs x) as H.
    assert (F : forall A (p : A -> bool) l, (forall y, p y = true) -> filter p l = l)
      by (intros A p l Hp; induction l as [|y l IH]; simpl; [reflexivity|]; rewrite Hp, IH; reflexivity).
    rewrite F in H by (intros r; induction r; simpl; auto); rewrite (F _ (fun _ => true)) in H by auto; exact H. }
  set (B := (size Zs ^ nN x)%N) in *.
  (* at most E (bad) n + B n *)
  assert (Hup : (E * total_of cnt (tuples Zs x) <= E * size (filter bad (tuples Zs x)) * n + B * n)%N).
  { rewrite <- Htot, <- total_scale, size_total.
    replace (E * total_of (fun ys => if bad ys then 1 else 0) (tuples Zs x) * n)%N with (total_of (fun ys => E * n * (if bad ys then 1 else 0))%N (tuples Zs x))
      by (rewrite total_scale; lia).
    rewrite <- (total_const n (tuples Zs x)), <- total_add; apply total_le; intros ys Hy.
    destruct (bad ys) eqn:Eb.
    - assert (Hc : (cnt ys <= n)%N) by apply size_filter.
      apply N.le_trans with (E * n)%N; [apply N.mul_le_mono_l, Hc|lia].
    - specialize (Hno ys Hy Eb); lia. }
  assert (Hlow : (2 * (B * n) <= E * total_of cnt (tuples Zs x))%N).
  { assert (H1 : ((size Zs * n) ^ nN x <= (K * total_of d Os) ^ nN x)%N) by (apply N.pow_le_mono_l, Hd).
    rewrite !N.pow_mul_l in H1; fold B in H1.
    assert (Hnx : (n ^ nN x <> 0)%N) by (apply N.pow_nonzero; lia).
    apply (N.mul_le_mono_pos_l _ _ (n ^ nN x)%N); [lia|]. unfold E.
    apply N.le_trans with (2 * (K ^ nN x * total_of d Os ^ nN x) * n)%N.
    - replace (n ^ nN x * (2 * (B * n)))%N with (2 * (B * n ^ nN x) * n)%N by lia. apply N.mul_le_mono_r, N.mul_le_mono_l, H1.
    - replace (n ^ nN x * (2 * K ^ nN x * total_of cnt (tuples Zs x)))%N with (2 * K ^ nN x * (n ^ nN x * total_of cnt (tuples Zs x)))%N by lia.
      replace (2 * (K ^ nN x * total_of d Os ^ nN x) * n)%N with (2 * K ^ nN x * (total_of d Os ^ nN x * n))%N by lia.
      apply N.mul_le_mono_l, PM. }
  assert (H3 : (E * size (filter bad (tuples Zs x)) * n < B * n)%N) by (apply N.mul_lt_mono_pos_r; assumption). lia.
Qed.

(** ** The inequality on binary numbers

    The product over j < x is bounded block by block, in each by the power of its mean. *)
Lemma block_mean (c d : N) (j len : nat) : 0 < len ->
  (2 ^ nN len * prodf (fun i => c + d * nN (j + i)) len <= (2 * c + d * nN (2 * j + len - 1)) ^ nN len)%N.
Proof.
  intros Hl; pose proof (amgm (fun i => c + d * nN (j + i))%N len) as H.
  assert (E : forall n, 0 < n -> (2 * sumf (fun i => c + d * nN (j + i)) n = nN n * (2 * c + d * nN (2 * j + n - 1)))%N).
  { induction n as [|n IH]; intros Hn; [lia|]. destruct (Nat.eq_dec n 0) as [->|Hne].
    - cbn [sumf]; rewrite Nat.add_0_r; replace (2 * j + 1 - 1) with (2 * j) by lia; lia.
    - cbn [sumf]; rewrite N.mul_add_distr_l, (IH ltac:(lia)).
      replace (nN (2 * j + S n - 1)) with (2 * nN j + nN n)%N by lia; replace (nN (2 * j + n - 1)) with (2 * nN j + nN n - 1)%N by lia.
      replace (nN (j + n)) with (nN j + nN n)%N by lia; rewrite Nat2N.inj_succ.
      replace (2 * nN j + nN n - 1)%N with (2 * nN j + (nN n - 1))%N by lia.
      assert (Hm : exists m, nN n = (m + 1)%N) by (exists (nN n - 1)%N; lia); destruct Hm as [m ->].
      replace (m + 1 - 1)%N with m by lia; lia. }
  assert (P : (nN len ^ nN len <> 0)%N) by (apply N.pow_nonzero; lia).
  apply (N.mul_le_mono_pos_l _ _ (nN len ^ nN len)%N); [lia|].
  rewrite <- (N.pow_mul_l (nN len)), <- (E len Hl), N.pow_mul_l.
  replace (nN len ^ nN len * (2 ^ nN len * prodf (fun i => c + d * nN (j + i)) len))%N
    with (2 ^ nN len * (nN len ^ nN len * prodf (fun i => c + d * nN (j + i)) len))%N by lia.
  apply N.mul_le_mono_l, H.
Qed.

Fixpoint mean_logs (c d j : N) (lens : list N) : N :=
  match lens with
  | [] => 0
  | len :: r => len * hi fine (2 * c + d * (2 * j + len - 1)) + mean_logs c d (j + len) r
  end%N.

Definition sum_of (lens : list N) : N := fold_right N.add 0%N lens.

Lemma mean_logs_spec c d lens : forallb (fun len => 0 <? len)%N lens = true -> forall j,
  ((2 ^ sum_of lens * prodf (fun i => c + d * nN (N.to_nat j + i)) (N.to_nat (sum_of lens))) ^ unit_of fine <= 2 ^ mean_logs c d j lens)%N.
Proof.
  induction lens as [|len lens IH]; intros H j; cbn [mean_logs sum_of fold_right forallb] in *.
  - cbn [N.to_nat prodf]; rewrite N.pow_0_r, N.mul_1_l, N.pow_1_l; lia.
  - apply andb_prop in H; destruct H as [H1 H2]; apply N.ltb_lt in H1; fold (sum_of lens).
    specialize (IH H2 (j + len)%N).
    replace (N.to_nat (len + sum_of lens)) with (N.to_nat len + N.to_nat (sum_of lens)) by lia.
    rewrite prodf_add, !N.pow_add_r.
    assert (E : prodf (fun i => (c + d * nN (N.to_nat j + (N.to_nat len + i)))%N) (N.to_nat (sum_of lens)) =
                prodf (fun i => (c + d * nN (N.to_nat (j + len) + i))%N) (N.to_nat (sum_of lens))).
    { generalize (N.to_nat (sum_of lens)); intros n; induction n as [|n IHn]; cbn [prodf]; [reflexivity|]. rewrite IHn; do 4 f_equal; lia. }
    rewrite E; clear E; pose proof (block_mean c d (N.to_nat j) (N.to_nat len) ltac:(lia)) as B.
    rewrite N2Nat.id in B; replace (nN (2 * N.to_nat j + N.to_nat len - 1)) with (2 * j + len - 1)%N in B by lia.
    set (p1 := prodf _ (N.to_nat len)) in *; set (p2 := prodf _ (N.to_nat (sum_of lens))) in *.
    replace (2 ^ len * 2 ^ sum_of lens * (p1 * p2))%N with (2 ^ len * p1 * (2 ^ sum_of lens * p2))%N by lia.
    rewrite N.pow_mul_l; apply N.mul_le_mono; [|exact IH].
    eapply N.le_trans; [apply N.pow_le_mono_l, B|]. apply hi_pow.
Qed.

(** x functions on T places with q letters each: fewer than Theta values with probability below 2^-D. *)
Definition random_ok (D q T x a b Theta : N) (lens : list N) : bool :=
  ((0 <? q) && (0 <? a) && (a <=? b) && (0 <? Theta) && (Theta <=? x * T) && (sum_of lens =? x) && forallb (fun len => 0 <? len) lens &&
   (D * unit_of fine + T * mean_logs (q * a) (b - a) 0 lens
    <? T * x * unit_of fine + x * T * lo fine q + (Theta - 1) * lo fine a + (x * T - (Theta - 1)) * lo fine b))%N.

Lemma random_ok_spec D q T x a b Theta lens : random_ok D q T x a b Theta lens = true ->
  (0 < q)%N /\ (0 < a <= b)%N /\ (0 < Theta <= x * T)%N /\
  (2 ^ D * prodf (fun j => q * a + (b - a) * nN j) (N.to_nat x) ^ T < q ^ (x * T) * (a ^ (Theta - 1) * b ^ (x * T - (Theta - 1))))%N.
Proof.
  unfold random_ok; intros H.
  apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7]; apply andb_prop in H; destruct H as [H H6];
    apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H1, H2, H4, H8; apply N.leb_le in H3, H5; apply N.eqb_eq in H6.
  repeat split; auto.
  pose proof (mean_logs_spec (q * a) (b - a) lens H7 0) as M; rewrite H6 in M; cbn [N.to_nat plus] in M.
  set (pr := prodf _ (N.to_nat x)) in *; clearbody pr.
  apply (root fine).
  assert (Hx : ((2 ^ (T * x)) ^ unit_of fine <> 0)%N) by (apply N.pow_nonzero, N.pow_nonzero; lia).
  apply (N.mul_lt_mono_pos_l ((2 ^ (T * x)) ^ unit_of fine)%N); [lia|].
  apply N.le_lt_trans with (2 ^ (D * unit_of fine + T * mean_logs (q * a) (b - a) 0 lens))%N.
  - rewrite N.pow_mul_l, (bits_pow fine D), N.pow_add_r.
    assert (M' : (((2 ^ x * pr) ^ unit_of fine) ^ T <= (2 ^ mean_logs (q * a) (b - a) 0 lens) ^ T)%N) by (apply N.pow_le_mono_l, M).
    rewrite <- N.pow_mul_r, (N.mul_comm _ T), N.pow_mul_r in M'.
    replace (2 ^ (T * mean_logs (q * a) (b - a) 0 lens))%N with ((2 ^ mean_logs (q * a) (b - a) 0 lens) ^ T)%N
      by (rewrite <- N.pow_mul_r, N.mul_comm; reflexivity).
    rewrite N.pow_mul_l in M'; rewrite N.pow_mul_l, <- (N.pow_mul_r 2 x T) in M'; rewrite (N.mul_comm x T) in M'.
    set (A1 := (2 ^ (D * unit_of fine))%N); set (A2 := ((2 ^ (T * x)) ^ unit_of fine)%N) in *; set (A3 := ((pr ^ T) ^ unit_of fine)%N) in *.
    replace (A2 * (A1 * A3))%N with (A1 * (A2 * A3))%N by lia; apply N.mul_le_mono_l; exact M'.
  - eapply N.lt_le_trans; [apply N.pow_lt_mono_r; [lia|exact H8]|].
    pose proof (lo_pow fine q (x * T) (or_introl H1)) as L1; pose proof (lo_pow fine a (Theta - 1) (or_introl H2)) as L2.
    pose proof (lo_pow fine b (x * T - (Theta - 1)) (or_introl (N.lt_le_trans _ _ _ H2 H3))) as L3.
    rewrite !N.pow_add_r, (N.pow_mul_l (q ^ (x * T))), (N.pow_mul_l (a ^ (Theta - 1))), (bits_pow fine (T * x)).
    rewrite !N.mul_assoc; repeat apply N.mul_le_mono; auto; apply N.le_refl.
Qed.
