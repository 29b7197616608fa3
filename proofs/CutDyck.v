(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cut of dyck: brackets that are left open *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Sparse Binomial.
Import ListNotations.
Local Notation nN := N.of_nat.

(** Type j opens with 2 j and closes with 2 j + 1; [st] are the types that are open, the innermost first; never more than k. *)
Fixpoint balanced (k : nat) (x st : list nat) : bool :=
  match x with
  | [] => match st with [] => true | _ => false end
  | b :: x' => if Nat.even b then (length st <? k) && balanced k x' (Nat.div2 b :: st)
               else match st with [] => false | j :: st' => (j =? Nat.div2 b) && balanced k x' st' end
  end.

Definition bracketed (N types k : nat) (x : list nat) (t v : nat) : Prop :=
  length x = N /\ (forall b, In b x -> b < 2 * types) /\ S t = N /\ v < 2 /\ (v = 1 <-> balanced k x [] = true).

Definition dyck (N types k : N) : task := words (bracketed (N.to_nat N) (N.to_nat types) (N.to_nat k)).

Lemma dyck_within n N types k : (N <=? n)%N = true -> within n (dyck N types k).
Proof. intros H; apply words_within; intros x t v (_ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

Definition opens (s : list nat) : list nat := map (fun j => 2 * j) s.
Definition closes (s : list nat) : list nat := map (fun j => 2 * j + 1) s.
Fixpoint bracket_pairs (m : nat) : list nat := match m with 0 => [] | S m' => 0 :: 1 :: bracket_pairs m' end.

Lemma even_double j : Nat.even (2 * j) = true /\ Nat.div2 (2 * j) = j.
Proof. split; [apply Nat.even_spec; exists j; reflexivity|apply Nat.div2_double]. Qed.

Lemma odd_double j : Nat.even (2 * j + 1) = false /\ Nat.div2 (2 * j + 1) = j.
Proof.
  rewrite Nat.add_1_r; split; [|apply Nat.div2_succ_double].
  rewrite Nat.even_succ, <- Nat.negb_even, (proj1 (even_double j)); reflexivity.
Qed.

Lemma balanced_opens k s : forall st x, length st + length s <= k -> balanced k (opens s ++ x) st = balanced k x (rev s ++ st).
Proof.
  induction s as [|j s IH]; intros st x H; [reflexivity|]; cbn [opens map app]; fold (opens s); cbn [balanced]; cbn [length] in H.
  destruct (even_double j) as [-> ->]; destruct (Nat.ltb_spec (length st) k); [|lia]; cbn [andb].
  rewrite IH by (cbn [length]; lia); cbn [rev]; rewrite <- app_assoc; reflexivity.
Qed.

Lemma balanced_closes k s : forall st x, balanced k (closes s ++ x) (s ++ st) = balanced k x st.
Proof.
  induction s as [|j s IH]; intros st x; [reflexivity|]; cbn [closes map app]; fold (closes s); cbn [balanced].
  destruct (odd_double j) as [-> ->]; rewrite Nat.eqb_refl; apply IH.
Qed.

Lemma balanced_closes_only k s : forall st x, balanced k (closes s ++ x) st = true -> exists st', st = s ++ st' /\ balanced k x st' = true.
Proof.
  induction s as [|j s IH]; intros st x H; [exists st; auto|]; cbn [closes map app] in H; fold (closes s) in H; cbn [balanced] in H.
  destruct (odd_double j) as [E1 E2]; rewrite E1, E2 in H; destruct st as [|i st]; [discriminate|].
  apply andb_prop in H; destruct H as [Hi H]; apply Nat.eqb_eq in Hi; subst i; destruct (IH _ _ H) as (st' & -> & H'); exists st'; auto.
Qed.

Lemma balanced_pairs k m : forall x st, length st < k -> balanced k (bracket_pairs m ++ x) st = balanced k x st.
Proof.
  induction m as [|m IH]; intros x st H; [reflexivity|]; cbn [bracket_pairs app balanced Nat.even Nat.div2].
  destruct (Nat.ltb_spec (length st) k); [|lia]; cbn [andb Nat.eqb]; apply IH; exact H.
Qed.

Lemma balanced_pairs_only k m : forall st, balanced k (bracket_pairs m) st = true -> st = [].
Proof.
  induction m as [|m IH]; intros st H; [destruct st; [reflexivity|discriminate]|]; cbn [bracket_pairs balanced Nat.even Nat.div2] in H.
  apply andb_prop in H; destruct H as [_ H]; cbn [Nat.eqb andb] in H; apply IH, H.
Qed.

Lemma pairs_length m : length (bracket_pairs m) = 2 * m.
Proof. induction m as [|m IH]; [reflexivity|]; cbn [bracket_pairs length]; lia. Qed.

Lemma pairs_in m b : In b (bracket_pairs m) -> b < 2.
Proof. induction m as [|m IH]; intros H; [destruct H|]; destruct H as [<-|[<-|H]]; auto. Qed.

(** d brackets that leave s open. *)
Definition left_open (d : nat) (s : list nat) : list nat := bracket_pairs ((d - length s) / 2) ++ opens s.

Lemma dyck_told N types k d s s' : 0 < types -> 0 < k -> d <= k -> 2 * d <= N -> Nat.even N = true ->
  length s <= d -> length s' <= d -> Nat.even (d - length s) = true -> Nat.even (d - length s') = true ->
  (forall j, In j s -> j < types) -> (forall j, In j s' -> j < types) -> s <> s' ->
  let c := closes (rev s) ++ bracket_pairs ((N - d - length s) / 2) in
  length (left_open d s) = d /\ length (left_open d s') = d /\ d + length c = N /\
  bracketed N types k (left_open d s ++ c) (N - 1) 1 /\ bracketed N types k (left_open d s' ++ c) (N - 1) 0.
Proof.
  intros Ht Hk Hdk HdN HN Ls Ls' Es Es' Bs Bs' Hne c.
  assert (Ev : forall a, Nat.even a = true -> 2 * (a / 2) = a).
  { intros a Ha; apply Nat.even_spec in Ha; destruct Ha as [b ->]; rewrite (Nat.mul_comm 2 b), Nat.div_mul by lia; lia. }
  assert (Lo : forall r, length r <= d -> Nat.even (d - length r) = true -> length (left_open d r) = d).
  { intros r Lr Er; unfold left_open, opens; rewrite app_length, pairs_length, map_length, Ev by exact Er; lia. }
  assert (Ec : Nat.even (N - d - length s) = true).
  { apply Nat.even_spec in HN, Es; destruct HN as [a Ha], Es as [b Hb]; apply Nat.even_spec; exists (a - d + b); lia. }
  assert (Lc : d + length c = N).
  { unfold c, closes; rewrite app_length, map_length, rev_length, pairs_length, Ev by exact Ec; lia. }
  assert (Hin : forall r b, (forall j, In j r -> j < types) -> In b (left_open d r ++ c) -> b < 2 * types).
  { intros r b Br Hb; apply in_app_iff in Hb; destruct Hb as [Hb|Hb]; apply in_app_iff in Hb; destruct Hb as [Hb|Hb];
      try (apply pairs_in in Hb; lia); apply in_map_iff in Hb; destruct Hb as [j [<- Hj]].
    - specialize (Br j Hj); lia.
    - apply in_rev in Hj; specialize (Bs j Hj); lia. }
  assert (Run : forall r, length r <= d -> balanced k (left_open d r ++ c) [] = balanced k c (rev r)).
  { intros r Lr; unfold left_open; rewrite <- app_assoc, balanced_pairs by (simpl; lia).
    rewrite balanced_opens, app_nil_r by (simpl; lia); reflexivity. }
  assert (Hpos : 0 < N).
  { destruct (Nat.eq_dec N 0) as [E0|]; [|lia]. exfalso; apply Hne; destruct s, s'; cbn [length] in *; try reflexivity; lia. }
  split; [apply Lo; auto|]. split; [apply Lo; auto|]. split; [exact Lc|]. split.
  - split; [rewrite app_length, Lo by auto; exact Lc|]. split; [intros b; apply (Hin s b Bs)|]. split; [lia|]. split; [lia|].
    split; [intros _|reflexivity]. rewrite Run by exact Ls; unfold c.
    pose proof (balanced_closes k (rev s) [] (bracket_pairs ((N - d - length s) / 2))) as E; rewrite app_nil_r in E; rewrite E.
    pose proof (balanced_pairs k ((N - d - length s) / 2) [] []) as E'; rewrite app_nil_r in E'; rewrite E' by (simpl; lia); reflexivity.
  - split; [rewrite app_length, Lo by auto; exact Lc|]. split; [intros b; apply (Hin s' b Bs')|]. split; [lia|].
    split; [lia|]. split; [discriminate|]. intros C; exfalso; rewrite Run in C by exact Ls'; unfold c in C.
    apply balanced_closes_only in C; destruct C as (st' & E & C); apply balanced_pairs_only in C; subst st'; rewrite app_nil_r in E.
    apply Hne; rewrite <- (rev_involutive s), <- E, rev_involutive; reflexivity.
Qed.

(** All rows of h types. *)
Fixpoint type_rows (types h : nat) : list (list nat) :=
  match h with 0 => [[]] | S h' => flat_map (fun j => map (cons j) (type_rows types h')) (seq 0 types) end.

Lemma type_rows_size types h : size (type_rows types h) = (nN types ^ nN h)%N.
Proof.
  induction h as [|h IH]; [reflexivity|]; cbn [type_rows]; rewrite (Nat2N.inj_succ h), N.pow_succ_r', <- IH.
  assert (G : forall l : list nat, size (flat_map (fun j => map (cons j) (type_rows types h)) l) = (nN (length l) * size (type_rows types h))%N).
  { induction l as [|j l IHl]; [reflexivity|]; cbn [flat_map length]; unfold size in *; rewrite app_length, map_length; lia. }
  rewrite G, seq_length; reflexivity.
Qed.

Lemma type_rows_in types h s : In s (type_rows types h) -> length s = h /\ forall j, In j s -> j < types.
Proof.
  revert s; induction h as [|h IH]; intros s H; cbn [type_rows] in H; [destruct H as [<-|[]]; split; [reflexivity|intros j []]|].
  apply in_flat_map in H; destruct H as [j [Hj H]]; apply in_map_iff in H; destruct H as [r [<- Hr]]; destruct (IH r Hr) as [L B].
  apply in_seq in Hj; split; [simpl; lia|]. intros i [<-|Hi]; [lia|auto].
Qed.

Lemma type_rows_NoDup types h : NoDup (type_rows types h).
Proof.
  induction h as [|h IH]; cbn [type_rows]; [repeat constructor; intros []|].
  assert (G : forall l, NoDup l -> NoDup (flat_map (fun j => map (cons j) (type_rows types h)) l)).
  { intros l Hl; induction Hl as [|j l Hj Hl IHl]; cbn [flat_map]; [constructor|]. apply NoDup_app; [|exact IHl|].
    - apply NoDup_map_on; [intros a b _ _ E; inversion E; auto|exact IH].
    - intros s Hs C; apply in_map_iff in Hs; destruct Hs as [r [<- _]]; apply in_flat_map in C; destruct C as [i [Hi C]].
      apply in_map_iff in C; destruct C as [r' [E _]]; inversion E; subst; contradiction. }
  apply G, seq_NoDup.
Qed.

(** Stacks of d, d-2, ... types. *)
Fixpoint stacks (types d : nat) : list (list nat) :=
  match d with 0 => type_rows types 0 | 1 => type_rows types 1 | S (S d') => type_rows types d ++ stacks types d' end.

Fixpoint stack_count (types : N) (d : nat) : N :=
  match d with 0 => 1%N | 1 => types | S (S d') => (types ^ nN d + stack_count types d')%N end.

Lemma two_ind (Q : nat -> Prop) : Q 0 -> Q 1 -> (forall n, Q n -> Q (S (S n))) -> forall n, Q n.
Proof. intros H0 H1 H n; enough (Q n /\ Q (S n)) by tauto; induction n as [|n [IH1 IH2]]; auto. Qed.

Lemma stacks_size types : forall d, size (stacks types d) = stack_count (nN types) d.
Proof.
  apply two_ind; [reflexivity| |].
  - change (stacks types 1) with (type_rows types 1); rewrite type_rows_size; apply N.pow_1_r.
  - intros d IH; change (stacks types (S (S d))) with (type_rows types (S (S d)) ++ stacks types d).
    change (stack_count (nN types) (S (S d))) with (nN types ^ nN (S (S d)) + stack_count (nN types) d)%N.
    rewrite <- IH, <- type_rows_size; unfold size; rewrite app_length; lia.
Qed.

Lemma stacks_in types : forall d s, In s (stacks types d) -> length s <= d /\ Nat.even (d - length s) = true /\ forall j, In j s -> j < types.
Proof.
  apply (two_ind (fun d => forall s, In s (stacks types d) -> length s <= d /\ Nat.even (d - length s) = true /\ forall j, In j s -> j < types)).
  - intros s [<-|[]]; repeat split; [simpl; lia|intros j []].
  - intros s H; change (stacks types 1) with (type_rows types 1) in H; apply type_rows_in in H; destruct H as [-> B]; auto.
  - intros d IH s H; change (stacks types (S (S d))) with (type_rows types (S (S d)) ++ stacks types d) in H; apply in_app_iff in H; destruct H as [H|H].
    + apply type_rows_in in H; destruct H as [-> B]; rewrite Nat.sub_diag; auto.
    + destruct (IH s H) as (L & E & B); split; [lia|]. split; [|exact B]. replace (S (S d) - length s) with (S (S (d - length s))) by lia; exact E.
Qed.

Lemma stacks_NoDup types : forall d, NoDup (stacks types d).
Proof.
  apply two_ind; [apply type_rows_NoDup|apply type_rows_NoDup|].
  intros d IH; change (stacks types (S (S d))) with (type_rows types (S (S d)) ++ stacks types d); apply NoDup_app; [apply type_rows_NoDup|exact IH|].
  intros s Hs C; apply type_rows_in in Hs; apply stacks_in in C; lia.
Qed.

Definition dyck_ok (N types k d : N) : bool :=
  (0 <? types)%N && (0 <? k)%N && (d <=? k)%N && (2 * d <=? N)%N && N.even N.

Lemma even_nat n : N.even n = true -> Nat.even (N.to_nat n) = true.
Proof. intros H; apply N.even_spec in H; destruct H as [a ->]; apply Nat.even_spec; exists (N.to_nat a); lia. Qed.

Theorem cut_dyck N types k d arch : dyck_ok N types k d && (is_recurrent arch && exceeds (stack_count types (N.to_nat d)) 1 (bits_at d arch)) = true ->
  forall T, ImpossibleThinking arch T (dyck N types k).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; unfold dyck_ok in H'; apply andb_prop in H'; destruct H' as [H' He]; checked H'; apply even_nat in He.
  apply (cut_words _ d (stacks (N.to_nat types) (N.to_nat d)) (left_open (N.to_nat d)) (stack_count types (N.to_nat d))); [apply stacks_NoDup| | | |exact H].
  - rewrite stacks_size, N2Nat.id; apply N.le_refl.
  - intros s Hs; destruct (stacks_in _ _ _ Hs) as (L & E & B); unfold left_open, opens; rewrite app_length, pairs_length, map_length.
    apply Nat.even_spec in E; destruct E as [a Ea]; rewrite Ea, (Nat.mul_comm 2 a), Nat.div_mul by lia; lia.
  - intros s s' Hs Hs' Hne; destruct (stacks_in _ _ _ Hs) as (L & E & B), (stacks_in _ _ _ Hs') as (L' & E' & B').
    destruct (dyck_told (N.to_nat N) (N.to_nat types) (N.to_nat k) (N.to_nat d) s s') as (_ & _ & Lc & A1 & A0); auto; try lia.
    eexists _, _, 1, 0; split; [|split; [exact A1|split; [exact A0|discriminate]]].
    destruct (Nat.eq_dec (N.to_nat d) 0) as [Ez|]; [|lia].
    exfalso; rewrite Ez in *; destruct s, s'; simpl in *; try lia; congruence.
Qed.

(** One pair more, so that the last bracket is that of a pair. *)
Lemma pairs_end m : bracket_pairs (S m) = (bracket_pairs m ++ [0]) ++ [1].
Proof. induction m as [|m IH]; [reflexivity|]. change (bracket_pairs (S (S m))) with (0 :: 1 :: bracket_pairs (S m)); rewrite IH at 1; reflexivity. Qed.

Theorem cut_one_dyck N types k d c s arch : one_layer d c s arch = true ->
  dyck_ok N types k d && (2 * d + 2 <=? N)%N && exceeds (stack_count types (N.to_nat d)) 1 (c + s) = true -> Impossible arch (dyck N types k).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [H' Hroom]; checked Hroom.
  unfold dyck_ok in H'; apply andb_prop in H'; destruct H' as [H' He]; checked H'; apply even_nat in He.
  set (n := N.to_nat N) in *; set (dd := N.to_nat d) in *.
  assert (Hr : 2 * dd + 2 <= n) by (unfold n, dd; lia).
  apply (cut_one_words _ d (n - dd - 1) 1 (stacks (N.to_nat types) dd) (left_open dd) (stack_count types dd) c s); [apply stacks_NoDup| | | |exact Ho|exact H].
  - rewrite stacks_size, N2Nat.id; apply N.le_refl.
  - intros r Hr'; destruct (stacks_in _ _ _ Hr') as (L & E & B); unfold left_open, opens; rewrite app_length, pairs_length, map_length.
    apply Nat.even_spec in E; destruct E as [a Ea]; rewrite Ea, (Nat.mul_comm 2 a), Nat.div_mul by lia; fold dd; lia.
  - intros r r' Ir Ir' Hne; destruct (stacks_in _ _ _ Ir) as (L & E & B), (stacks_in _ _ _ Ir') as (L' & E' & B').
    destruct (dyck_told n (N.to_nat types) (N.to_nat k) dd r r') as (_ & _ & Lc & A1 & A0); auto; try (unfold dd, n in *; lia).
    assert (Em : exists m, (n - dd - length r) / 2 = S m).
    { exists ((n - dd - length r) / 2 - 1); assert (1 <= (n - dd - length r) / 2) by (apply Nat.div_le_lower_bound; lia); lia. }
    destruct Em as [m Em]; rewrite Em, pairs_end in A1, A0, Lc.
    exists (closes (rev r) ++ bracket_pairs m ++ [0]), 1, 0; split; [rewrite !app_length in *; simpl in *; lia|].
    fold dd; replace (dd + (n - dd - 1)) with (n - 1) by lia; rewrite <- !app_assoc in *; split; [exact A1|]; split; [exact A0|discriminate].
Qed.
