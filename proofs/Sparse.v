(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Sparse: two-sum with a query, one layer of (B,k)-sparse attention

    The query learns of every block a summary, which may depend on the block's place; from the summaries it chooses at most k blocks,
    over all heads, and sees those completely.  Its own block and window it sees anyway.  Nothing else is assumed: summaries, choice and
    answer are any functions. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs LemmaS.
Import ListNotations.
Local Notation nN := N.of_nat.

Record sparse_layer := {
  summary : nat -> list nat -> N;                                         (* of block j with these numbers *)
  choose : list N -> list nat -> nat -> list nat;                         (* from summaries, own tokens, query *)
  decide : list N -> list (option (list nat)) -> list nat -> nat -> bool }.

(** What the query answers, m blocks. *)
Definition sparse_run (l : sparse_layer) (m : nat) (blocks : nat -> list nat) (own : list nat) (query : nat) : bool :=
  let sums := map (fun j => summary l j (blocks j)) (seq 0 m) in
  let chosen := choose l sums own query in
  let opened := map (fun j => if existsb (Nat.eqb j) chosen then Some (blocks j) else None) (seq 0 m) in
  decide l sums opened own query.

Definition sparse_fits (l : sparse_layer) (kappa : N) (k : nat) : Prop :=
  (forall j b, (summary l j b < 2 ^ kappa)%N) /\ (forall s o q, length (choose l s o q) <= k).

(** m blocks of B numbers below M, some numbers of its own, then the query: is there a number x with x + query = 0 (mod M)? *)
Definition solves_two_sum (l : sparse_layer) (m B M own : nat) : Prop :=
  forall blocks o query, (forall j, j < m -> length (blocks j) = B /\ forall x, In x (blocks j) -> x < M) ->
  length o = own -> (forall x, In x o -> x < M) -> query < M ->
  (sparse_run l m blocks o query = true <->
   (exists j x, j < m /\ In x (blocks j) /\ (x + query) mod M = 0) \/ exists x, In x o /\ (x + query) mod M = 0).

(** ** Sets of at most b out of n values *)
Fixpoint subs (l : list nat) (b : nat) : list (list nat) :=
  match l, b with
  | [], _ | _, 0 => [[]]
  | x :: r, S b' => subs r b ++ map (cons x) (subs r b')
  end.

(** Their number, row by row of Pascal's triangle. *)
Fixpoint cnt (n b : nat) : N :=
  match n, b with
  | 0, _ | _, 0 => 1%N
  | S n', S b' => (cnt n' b + cnt n' b')%N
  end.

Lemma subs_length l b : nN (length (subs l b)) = cnt (length l) b.
Proof.
  revert b; induction l as [|x l IH]; intros [|b]; cbn [subs length cnt]; try reflexivity.
  rewrite app_length, map_length, Nat2N.inj_add, !IH; reflexivity.
Qed.

Lemma subs_in l b s : In s (subs l b) -> length s <= b /\ incl s l.
Proof.
  revert b s; induction l as [|x l IH]; intros [|b] s H; cbn [subs] in H.
  1,2,3: destruct H as [<-|[]]; split; [simpl; lia|intros y []].
  apply in_app_iff in H; destruct H as [H|H].
  - destruct (IH _ _ H); split; auto; intros y Hy; right; auto.
  - apply in_map_iff in H; destruct H as [s' [<- H]]; destruct (IH _ _ H) as [L I]; split; [simpl; lia|].
    intros y [<-|Hy]; [left; reflexivity|right; auto].
Qed.

Lemma subs_NoDup l b : NoDup l -> NoDup (subs l b).
Proof.
  revert b; induction l as [|x l IH]; intros [|b] H; cbn [subs]; try (repeat constructor; intros []; fail).
  inversion H as [|? ? Hx Hl]; subst; apply NoDup_app; auto.
  - apply NoDup_map_on; [intros a a' _ _ E; inversion E; auto|auto].
  - intros s Hs C; apply in_map_iff in C; destruct C as [s' [<- _]].
    apply subs_in in Hs; destruct Hs as [_ I]; apply Hx, I; left; reflexivity.
Qed.

(** Two of these lists with the same elements are equal. *)
Lemma subs_ext l b : NoDup l -> forall s s', In s (subs l b) -> In s' (subs l b) -> (forall v, In v s <-> In v s') -> s = s'.
Proof.
  revert b; induction l as [|x l IH]; intros b Hl s s' Hs Hs' E.
  - destruct b; cbn in Hs, Hs'; destruct Hs as [<-|[]], Hs' as [<-|[]]; reflexivity.
  - destruct b as [|b]; [cbn in Hs, Hs'; destruct Hs as [<-|[]], Hs' as [<-|[]]; reflexivity|].
    inversion Hl as [|? ? Hx Hl']; subst; cbn [subs] in Hs, Hs'; apply in_app_iff in Hs, Hs'.
    assert (N : forall b s, In s (subs l b) -> ~ In x s) by (intros b0 s0 H0 C; apply subs_in in H0; destruct H0 as [_ I]; auto).
    destruct Hs as [Hs|Hs], Hs' as [Hs'|Hs'].
    + apply (IH (S b)); auto.
    + apply in_map_iff in Hs'; destruct Hs' as [r [<- Hr]]; exfalso; apply (N _ _ Hs), E; left; reflexivity.
    + apply in_map_iff in Hs; destruct Hs as [r [<- Hr]]; exfalso; apply (N _ _ Hs'), E; left; reflexivity.
    + apply in_map_iff in Hs; destruct Hs as [r [<- Hr]]; apply in_map_iff in Hs'; destruct Hs' as [r' [<- Hr']].
      f_equal; apply (IH b); auto; intros v; split; intros Hv.
      * destruct (proj1 (E v) (or_intror Hv)) as [<-|]; [exfalso; apply (N _ _ Hr Hv)|assumption].
      * destruct (proj2 (E v) (or_intror Hv)) as [<-|]; [exfalso; apply (N _ _ Hr' Hv)|assumption].
Qed.

(** A block that holds exactly such a set: the first element repeated. *)
Definition filled (B : nat) (s : list nat) : list nat := s ++ repeat (hd 0 s) (B - length s).

Lemma filled_length B s : length s <= B -> length (filled B s) = B.
Proof. intros H; unfold filled; rewrite app_length, repeat_length; lia. Qed.

Lemma filled_in B s v : s <> [] -> In v (filled B s) <-> In v s.
Proof.
  intros Hs; unfold filled; rewrite in_app_iff; split; [|auto].
  intros [H|H]; [exact H|]. apply repeat_spec in H; subst v; destruct s; [congruence|left; reflexivity].
Qed.

Definition mem (v : nat) (s : list nat) : bool := existsb (Nat.eqb v) s.

Lemma mem_spec v s : mem v s = true <-> In v s.
Proof. apply existsb_eqb. Qed.

Lemma pigeon_two {A} (f : A -> N) (K : N) (l : list A) : NoDup l -> (forall x, In x l -> (f x < K)%N) -> (K < size l)%N ->
  exists x y, In x l /\ In y l /\ x <> y /\ f x = f y.
Proof.
  intros Hl Hb Hlt.
  assert (Hd : forall l, NoDup l -> (exists x y, In x l /\ In y l /\ x <> y /\ f x = f y) \/
             (forall x y, In x l -> In y l -> f x = f y -> x = y)).
  { clear; induction l as [|a l IH]; intros Hl; [right; intros ? ? []|].
    inversion Hl as [|? ? Ha Hl']; subst.
    destruct (IH Hl') as [(x & y & Hx & Hy & Hne & E)|Hinj]; [left; exists x, y; repeat split; auto; right; auto|].
    destruct (existsb (fun y => (f y =? f a)%N) l) eqn:Ex.
    - apply existsb_exists in Ex; destruct Ex as [y [Hy E]]; apply N.eqb_eq in E.
      left; exists a, y; repeat split; [left; reflexivity|right; exact Hy| |auto]. intros ->; contradiction.
    - right; assert (Hn : forall y, In y l -> f y <> f a).
      { intros y Hy C; assert (T : existsb (fun y => (f y =? f a)%N) l = true)
          by (apply existsb_exists; exists y; split; [exact Hy|apply N.eqb_eq; exact C]). congruence. }
      intros x y [<-|Hx] [<-|Hy] E; auto; exfalso; [apply (Hn y Hy)|apply (Hn x Hx)]; auto. }
  destruct (Hd l Hl) as [H|H]; [exact H|]. exfalso; pose proof (pigeon_list f K l Hl Hb H); lia.
Qed.

Lemma double_count (p : nat -> nat -> bool) (m M a k : nat) :
  (forall t, t < m -> a <= length (filter (p t) (seq 0 M))) -> k * M < m * a ->
  exists v, v < M /\ k < length (filter (fun t => p t v) (seq 0 m)).
Proof.
  intros Ha Hk.
  destruct (existsb (fun v => k <? length (filter (fun t => p t v) (seq 0 m))) (seq 0 M)) eqn:Ex.
  - apply existsb_exists in Ex; destruct Ex as [v [Hv E]]; apply in_seq in Hv; apply Nat.ltb_lt in E; exists v; split; [lia|exact E].
  - exfalso.
    assert (Hs : forall v, v < M -> length (filter (fun t => p t v) (seq 0 m)) <= k).
    { intros v Hv; destruct (Nat.le_gt_cases (length (filter (fun t => p t v) (seq 0 m))) k) as [|L]; [assumption|].
      assert (T : existsb (fun v => k <? length (filter (fun t => p t v) (seq 0 m))) (seq 0 M) = true)
        by (apply existsb_exists; exists v; split; [apply in_seq; lia|apply Nat.ltb_lt; exact L]). congruence. }
    set (one := fun b : bool => if b then 1 else 0).
    assert (Lf : forall (q : nat -> bool) l, length (filter q l) = list_sum (map (fun x => one (q x)) l)).
    { intros q l; induction l as [|x l IH]; [reflexivity|]; cbn [filter map list_sum]; unfold list_sum in *; cbn [fold_right].
      destruct (q x); cbn [length one]; rewrite IH; reflexivity. }
    assert (Sw : forall l l', list_sum (map (fun t => list_sum (map (fun v => one (p t v)) l')) l) =
                              list_sum (map (fun v => list_sum (map (fun t => one (p t v)) l)) l')).
    { assert (Z0 : forall A (l : list A), list_sum (map (fun _ => 0) l) = 0)
        by (intros A l; induction l as [|x l IH]; [reflexivity|]; unfold list_sum in *; cbn; exact IH).
      assert (Ad : forall A (f g : A -> nat) l, list_sum (map (fun x => f x + g x) l) = list_sum (map f l) + list_sum (map g l))
        by (intros A f g l; induction l as [|x l IH]; [reflexivity|]; unfold list_sum in *; cbn; rewrite IH; lia).
      induction l as [|t l IH]; intros l'.
      - cbn [map list_sum fold_right]; symmetry; apply Z0.
      - cbn [map]; unfold list_sum at 1; cbn [fold_right]; fold (list_sum (map (fun t => list_sum (map (fun v => one (p t v)) l')) l)).
        rewrite IH, <- Ad; f_equal; apply map_ext; intros v; reflexivity. }
    assert (Lo : forall n, n <= m -> n * a <= list_sum (map (fun t => list_sum (map (fun v => one (p t v)) (seq 0 M))) (seq 0 n))).
    { induction n as [|n IH]; intros Hn; [lia|]. rewrite seq_S, map_app, list_sum_app; cbn [map list_sum fold_right plus].
      specialize (IH ltac:(lia)); specialize (Ha n ltac:(lia)); rewrite Lf in Ha; lia. }
    assert (Up : forall n, n <= M -> list_sum (map (fun v => list_sum (map (fun t => one (p t v)) (seq 0 m))) (seq 0 n)) <= k * n).
    { induction n as [|n IH]; intros Hn; [cbn; lia|]. rewrite seq_S, map_app, list_sum_app; cbn [map list_sum fold_right plus].
      specialize (IH ltac:(lia)); specialize (Hs n ltac:(lia)); rewrite Lf in Hs; lia. }
    specialize (Lo m (le_n m)); specialize (Up M (le_n M)); rewrite Sw in Lo; lia.
Qed.

Theorem sparse_values : forall (l : sparse_layer) (kappa : N) (k m B M own u : nat),
  sparse_fits l kappa k -> 0 < B -> 1 < M -> u <= M -> (2 ^ kappa < cnt u B - 1)%N -> k * M < m * (M - u + 1) ->
  ~ solves_two_sum l m B M own.
Proof.
  intros l kappa k m B M own u [Hsum Hch] HB HM Hu Hcnt Hk Hs.
  (* v is separable at block t if two contents with equal summaries differ in v *)
  set (all := words M B).
  set (witness := fun t v ab => ((summary l t (fst ab) =? summary l t (snd ab))%N && mem v (fst ab) && negb (mem v (snd ab)))%bool).
  set (sep := fun t v => existsb (witness t v) (list_prod all all)).
  assert (Hall : forall s, length s = B -> (forall x, In x s -> x < M) -> In s all) by (intros; apply words_in; auto).
  assert (Hsep : forall t, t < m -> M - u + 1 <= length (filter (sep t) (seq 0 M))).
  { intros t _.
    set (non := filter (fun v => negb (sep t v)) (seq 0 M)).
    pose proof (size_split (sep t) (seq 0 M)) as E; unfold size in E; fold non in E; rewrite seq_length in E.
    destruct (Nat.lt_ge_cases (length non) u) as [L|L]; [lia|exfalso].
    set (Z := firstn u non).
    assert (HZ : NoDup Z) by (apply firstn_NoDup, NoDup_filter, seq_NoDup).
    assert (HZl : length Z = u) by (unfold Z; rewrite firstn_length; lia).
    assert (HZi : forall v, In v Z -> v < M /\ sep t v = false).
    { intros v Hv; apply firstn_In in Hv; apply filter_In in Hv; destruct Hv as [Hv E']; apply in_seq in Hv.
      split; [lia|]. destruct (sep t v); [discriminate|reflexivity]. }
    set (sets := filter (fun s => negb (Nat.eqb (length s) 0)) (subs Z B)).
    assert (Hsets : forall s, In s sets -> In s (subs Z B) /\ s <> []).
    { intros s H; apply filter_In in H; destruct H as [H1 H2]; split; [exact H1|]. intros ->; discriminate. }
    assert (Hsize : (2 ^ kappa < size sets)%N).
    { assert (Hc : size (subs Z B) = cnt u B) by (unfold size; rewrite subs_length, HZl; reflexivity).
      pose proof (size_split (fun s => negb (Nat.eqb (length s) 0)) (subs Z B)) as Es; fold sets in Es.
      assert (Hone : (size (filter (fun s => negb (negb (Nat.eqb (length s) 0))) (subs Z B)) <= 1)%N).
      { unfold size; enough (length (filter (fun s => negb (negb (Nat.eqb (length s) 0))) (subs Z B)) <= 1) by lia.
        change 1 with (length [@nil nat]); apply NoDup_incl_length; [apply NoDup_filter, subs_NoDup, HZ|].
        intros s H; apply filter_In in H; destruct H as [_ H]; destruct s; [left; reflexivity|discriminate]. }
      lia. }
    destruct (pigeon_two (fun s => summary l t (filled B s)) (2 ^ kappa) sets) as (s & s' & Is & Is' & Hne & Es).
    { apply NoDup_filter, subs_NoDup, HZ. } { intros; apply Hsum. } { exact Hsize. }
    destruct (Hsets s Is) as [Ss Sne], (Hsets s' Is') as [Ss' Sne'].
    destruct (subs_in _ _ _ Ss) as [Ls Js], (subs_in _ _ _ Ss') as [Ls' Js'].
    (* they differ in some value of Z *)
    assert (D : exists v, In v Z /\ mem v s <> mem v s').
    { destruct (existsb (fun v => negb (Bool.eqb (mem v s) (mem v s'))) Z) eqn:Ex.
      - apply existsb_exists in Ex; destruct Ex as [v [Hv E']]; exists v; split; [exact Hv|].
        intros C; rewrite C, Bool.eqb_reflx in E'; discriminate.
      - exfalso; apply Hne, (subs_ext Z B HZ); auto.
        assert (Eq : forall v, In v Z -> mem v s = mem v s').
        { intros v Hv; destruct (Bool.eqb (mem v s) (mem v s')) eqn:E'; [apply Bool.eqb_prop, E'|].
          assert (T : existsb (fun v => negb (Bool.eqb (mem v s) (mem v s'))) Z = true)
            by (apply existsb_exists; exists v; split; [exact Hv|rewrite E'; reflexivity]). congruence. }
        intros v; split; intros Hv.
        + apply mem_spec; rewrite <- Eq by auto; apply mem_spec; exact Hv.
        + apply mem_spec; rewrite Eq by auto; apply mem_spec; exact Hv. }
    destruct D as [v [HvZ Dv]]; destruct (HZi v HvZ) as [HvM Hsepv].
    assert (Hin : forall x, In x (subs Z B) -> x <> [] -> In (filled B x) all).
    { intros x Hx Hxe; destruct (subs_in _ _ _ Hx) as [Lx Jx]; apply Hall; [apply filled_length, Lx|].
      intros y Hy; apply filled_in in Hy; [|exact Hxe]; apply HZi, Jx, Hy. }
    assert (Hw : forall a b, In a all -> In b all -> summary l t a = summary l t b -> mem v a = true -> mem v b = false -> False).
    { intros a b Ha Hb Ea Hva Hvb; enough (sep t v = true) by congruence.
      apply existsb_exists; exists (a, b); split; [apply in_prod; auto|]. unfold witness; cbn [fst snd].
      rewrite Ea, N.eqb_refl, Hva, Hvb; reflexivity. }
    assert (Hm : forall x, x <> [] -> mem v (filled B x) = mem v x).
    { intros x Hx; destruct (mem v x) eqn:E1; [apply mem_spec, filled_in, mem_spec; auto|].
      destruct (mem v (filled B x)) eqn:E2; [|reflexivity]. apply mem_spec, filled_in, mem_spec in E2; auto; congruence. }
    destruct (mem v s) eqn:M1, (mem v s') eqn:M2; try congruence.
    - apply (Hw (filled B s) (filled B s')); auto; rewrite Hm; auto.
    - apply (Hw (filled B s') (filled B s)); auto; rewrite Hm; auto. }
  destruct (double_count sep m M (M - u + 1) k Hsep Hk) as (v & Hv & Hcount).
  set (T := filter (fun t => sep t v) (seq 0 m)) in *.
  destruct (finite_choice (fun t ab => sep t v = true -> In (fst ab) all /\ In (snd ab) all /\ witness t v ab = true) ([], []) m)
    as [ch Hch']. 
  { intros t _; destruct (sep t v) eqn:E; [|exists ([], []); discriminate].
    apply existsb_exists in E; destruct E as [[a b] [Hin Hw]]; apply in_prod_iff in Hin; exists (a, b); tauto. }
  assert (Hallin : forall s, In s all -> length s = B /\ forall x, In x s -> x < M).
  { assert (G : forall n s, In s (words M n) -> length s = n /\ forall x, In x s -> x < M).
    { induction n as [|n IH]; intros s H; cbn [words] in H; [destruct H as [<-|[]]; split; [reflexivity|intros x []]|].
      apply in_flat_map in H; destruct H as [y [Hy H]]; apply in_seq in Hy; apply in_map_iff in H; destruct H as [s' [<- H]].
      destruct (IH _ H) as [L Hb]; split; [simpl; lia|]. intros x [<-|Hx]; [lia|auto]. }
    apply G. }
  set (w0 := if v =? 0 then 1 else 0).
  assert (Hw0 : w0 <> v /\ w0 < M) by (unfold w0; destruct (Nat.eqb_spec v 0); lia).
  set (base := fun t => if sep t v then snd (ch t) else repeat w0 B).
  set (own_tokens := repeat w0 own).
  set (query := (M - v) mod M).
  assert (Hq : forall x, x < M -> ((x + query) mod M = 0 <-> x = v)).
  { intros x Hx; unfold query; rewrite Nat.add_mod_idemp_r by lia; split; intros E.
    - destruct (Nat.lt_trichotomy x v) as [L|[L|L]]; [|exact L|].
      + rewrite Nat.mod_small in E by lia; lia.
      + replace (x + (M - v)) with (x - v + 1 * M) in E by lia; rewrite Nat.mod_add, Nat.mod_small in E by lia; lia.
    - subst x; replace (v + (M - v)) with M by lia; apply Nat.mod_same; lia. }
  assert (Hbase : forall j, j < m -> length (base j) = B /\ (forall x, In x (base j) -> x < M) /\ ~ In v (base j)).
  { intros j Hj; unfold base; destruct (sep j v) eqn:E.
    - destruct (Hch' j Hj E) as (_ & Hb & Hw); destruct (Hallin _ Hb) as [L Hb']; repeat split; auto.
      unfold witness in Hw; apply andb_prop in Hw; destruct Hw as [_ Hw]; intros C; apply mem_spec in C; rewrite C in Hw; discriminate.
    - split; [apply repeat_length|]; split; intros x; [intros Hx; apply repeat_spec in Hx; lia|apply repeat_spec in x; lia]. }
  set (sums := map (fun j => summary l j (base j)) (seq 0 m)).
  set (chosen := choose l sums own_tokens query).
  (* a separable block that is not opened *)
  assert (Ht : exists t, In t T /\ ~ In t chosen).
  { destruct (existsb (fun t => negb (existsb (Nat.eqb t) chosen)) T) eqn:Ex.
    - apply existsb_exists in Ex; destruct Ex as [t [Ht E]]; exists t; split; [exact Ht|].
      intros C; apply existsb_eqb in C; rewrite C in E; discriminate.
    - exfalso; assert (I : incl T chosen).
      { intros t Ht; destruct (in_dec Nat.eq_dec t chosen) as [|Hn]; [assumption|].
        assert (X : existsb (fun t => negb (existsb (Nat.eqb t) chosen)) T = true).
        { apply existsb_exists; exists t; split; [exact Ht|].
          destruct (existsb (Nat.eqb t) chosen) eqn:E'; [apply existsb_eqb in E'; contradiction|reflexivity]. }
        congruence. }
      assert (length T <= length chosen) by (apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|exact I]).
      pose proof (Hch sums own_tokens query) as Hc; fold chosen in Hc; lia. }
  destruct Ht as [t [HtT Htc]]; apply filter_In in HtT; destruct HtT as [Htm Hts]; apply in_seq in Htm.
  destruct (Hch' t ltac:(lia) Hts) as (Ha & Hb & Hw); unfold witness in Hw.
  apply andb_prop in Hw; destruct Hw as [Hw _]; apply andb_prop in Hw; destruct Hw as [Hsm Hva].
  apply N.eqb_eq in Hsm; apply mem_spec in Hva.
  set (other := fun j => if j =? t then fst (ch t) else base j).
  assert (Hown : forall x, In x own_tokens -> x < M /\ x <> v) by (intros x Hx; apply repeat_spec in Hx; lia).
  assert (Hquery : query < M) by (apply Nat.mod_upper_bound; lia).
  assert (Same : sparse_run l m other own_tokens query = sparse_run l m base own_tokens query).
  { unfold sparse_run; cbv zeta.
    assert (Es : map (fun j => summary l j (other j)) (seq 0 m) = sums).
    { apply map_ext_in; intros j _; unfold other; destruct (Nat.eqb_spec j t) as [->|]; [|reflexivity].
      unfold base; rewrite Hts; exact Hsm. }
    rewrite Es; fold sums; fold chosen; f_equal; apply map_ext_in; intros j _.
    destruct (existsb (Nat.eqb j) chosen) eqn:Eo; [|reflexivity].
    unfold other; destruct (Nat.eqb_spec j t) as [->|]; [apply existsb_eqb in Eo; contradiction|reflexivity]. }
  assert (No : sparse_run l m base own_tokens query = false).
  { destruct (sparse_run l m base own_tokens query) eqn:E; [exfalso|reflexivity].
    apply (Hs base own_tokens query) in E.
    - destruct E as [(j & x & Hj & Hx & E)|(x & Hx & E)].
      + destruct (Hbase j Hj) as (_ & Hlt & Hnot); apply Hq in E; [subst x; contradiction|auto].
      + destruct (Hown x Hx); apply Hq in E; auto.
    - intros j Hj; destruct (Hbase j Hj) as (? & ? & _); auto.
    - apply repeat_length.
    - intros x Hx; apply Hown, Hx.
    - exact Hquery. }
  assert (Yes : sparse_run l m other own_tokens query = true).
  { apply Hs.
    - intros j Hj; unfold other; destruct (Nat.eqb_spec j t) as [->|]; [apply Hallin, Ha|]. destruct (Hbase j Hj) as (? & ? & _); auto.
    - apply repeat_length.
    - intros x Hx; apply Hown, Hx.
    - exact Hquery.
    - left; exists t, v; split; [lia|]; split; [unfold other; rewrite Nat.eqb_refl; exact Hva|]. apply Hq; auto. }
  congruence.
Qed.

(** ** The checker: rows of Pascal's triangle, cnt u 0, ..., cnt u B *)
Fixpoint next_row (left : N) (row : list N) : list N :=
  match row with [] => [] | x :: r => (left + x)%N :: next_row x r end.

Fixpoint row (B : nat) (u : nat) : list N :=
  match u with 0 => repeat 1%N (S B) | S k => next_row 0 (row B k) end.

Lemma next_row_nth r : forall left b, b < length r -> nth b (next_row left r) 0%N =
  N.add (match b with O => left | S c => nth c r 0%N end) (nth b r 0%N).
Proof.
  induction r as [|x r IH]; intros left b H; [simpl in H; lia|]; destruct b as [|b]; [reflexivity|]; cbn [next_row nth].
  rewrite IH by (simpl in H; lia); destruct b; reflexivity.
Qed.

Lemma next_row_length left r : length (next_row left r) = length r.
Proof. revert left; induction r as [|x r IH]; intros left; cbn [next_row length]; auto. Qed.

Lemma cnt_0 n : cnt n 0 = 1%N.
Proof. destruct n; reflexivity. Qed.

Lemma row_spec B u : length (row B u) = S B /\ forall b, b <= B -> nth b (row B u) 0%N = cnt u b.
Proof.
  induction u as [|u [IL IH]]; cbn [row].
  - split; [apply repeat_length|]. intros b Hb; rewrite (nth_indep _ 0%N 1%N), nth_repeat by (rewrite repeat_length; lia); reflexivity.
  - split; [rewrite next_row_length; exact IL|]. intros b Hb; rewrite next_row_nth by lia.
    destruct b as [|b]; [rewrite IH, !cnt_0 by lia; reflexivity|]. rewrite !IH by lia; cbn [cnt]; lia.
Qed.

(** N(u) > 2^kappa and m (M - u + 1) > k M; k blocks opened over all heads, m closed blocks, u the least such number. *)
Definition sparse_check (kappa k m B M u : N) : bool :=
  let sets := (last (row (N.to_nat B) (N.to_nat u)) 0 - 1)%N in
  (0 <? B)%N && (1 <? M)%N && (u <=? M)%N && ((kappa <=? N.log2 sets) && (2 ^ kappa <? sets))%N &&
  (k * M <? m * (M - u + 1))%N.

Theorem sparse : forall kappa k m B M u, sparse_check kappa k m B M u = true ->
  forall (l : sparse_layer) own, sparse_fits l kappa (N.to_nat k) ->
  ~ solves_two_sum l (N.to_nat m) (N.to_nat B) (N.to_nat M) own.
Proof.
  unfold sparse_check; intros kappa k m B M u H l own Hf.
  apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply andb_prop in H4; destruct H4 as [_ H4].
  apply N.ltb_lt in H1, H2, H4, H5; apply N.leb_le in H3.
  apply (sparse_values l kappa (N.to_nat k) (N.to_nat m) (N.to_nat B) (N.to_nat M) own (N.to_nat u) Hf); try lia.
  destruct (row_spec (N.to_nat B) (N.to_nat u)) as [Hl Hn].
  assert (E : last (row (N.to_nat B) (N.to_nat u)) 0%N = cnt (N.to_nat u) (N.to_nat B)).
  { rewrite <- Hn by lia; replace (N.to_nat B) with (length (row (N.to_nat B) (N.to_nat u)) - 1) at 2 by lia.
    generalize (row (N.to_nat B) (N.to_nat u)); clear; intros r; induction r as [|x [|y r] IH]; [reflexivity|reflexivity|].
    change (last (x :: y :: r) 0%N) with (last (y :: r) 0%N); rewrite IH; simpl; rewrite Nat.sub_0_r; reflexivity. }
  rewrite E in H4; exact H4.
Qed.
