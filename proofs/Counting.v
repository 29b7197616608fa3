(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Counting

    Tables are numbers written with digits, messages are numbers, and a message that determines a table needs at least as
    many values as there are tables. *)
From Coq Require Import Arith NArith List Lia.
From Rung Require Import Model.
Import ListNotations.
Local Open Scope N_scope.
Local Notation nN := N.of_nat.

Lemma NoDup_map_on {A B} (f : A -> B) (l : list A) :
  (forall a b, In a l -> In b l -> f a = f b -> a = b) -> NoDup l -> NoDup (map f l).
Proof.
  intros Hinj Hl; induction Hl as [|a l Ha Hl IH]; simpl; constructor.
  - intros Hin; apply in_map_iff in Hin; destruct Hin as [b [E Hb]].
    apply Ha; rewrite (Hinj a b); simpl; auto.
  - apply IH; intros x y Hx Hy; apply Hinj; simpl; auto.
Qed.

Lemma NoDup_app {A} (l1 l2 : list A) : NoDup l1 -> NoDup l2 -> (forall p, In p l1 -> ~ In p l2) -> NoDup (l1 ++ l2).
Proof.
  intros H1 H2; induction H1 as [|p l1 Hp H1 IH1]; intros Hd; simpl; auto.
  constructor.
  - rewrite in_app_iff; intros [C|C]; [auto|apply (Hd p); simpl; auto].
  - apply IH1; intros q Hq; apply Hd; simpl; auto.
Qed.

Lemma NoDup_prod {A B} (l : list A) (l' : list B) : NoDup l -> NoDup l' -> NoDup (list_prod l l').
Proof.
  intros H H'; induction H as [|x l Hx H IH]; simpl; [constructor|].
  apply NoDup_app; auto.
  - apply NoDup_map_on; [|exact H']. intros a b _ _ E; inversion E; auto.
  - intros [a b] Hp C; apply in_map_iff in Hp; destruct Hp as [y [E _]].
    inversion E; subst; apply in_prod_iff in C; tauto.
Qed.

Lemma firstn_In {A} (x : A) n l : In x (firstn n l) -> In x l.
Proof. rewrite <- (firstn_skipn n l) at 2; intros H; apply in_app_iff; auto. Qed.

Lemma firstn_NoDup {A} n (l : list A) : NoDup l -> NoDup (firstn n l).
Proof.
  revert n; induction l as [|x l IH]; intros [|n] H; simpl; try constructor; inversion H; subst.
  - intros C; apply firstn_In in C; auto.
  - apply IH; auto.
Qed.

Definition size {A} (l : list A) : N := nN (length l).

Lemma pigeon_list {A} (f : A -> N) (K : N) (l : list A) : NoDup l ->
  (forall x, In x l -> f x < K) -> (forall x y, In x l -> In y l -> f x = f y -> x = y) -> size l <= K.
Proof.
  intros Hl Hlt Hinj.
  assert (HN : NoDup (map (fun x => N.to_nat (f x)) l)).
  { apply NoDup_map_on; auto; intros a b Ha Hb E; apply Hinj; auto; lia. }
  assert (HI : incl (map (fun x => N.to_nat (f x)) l) (seq 0 (N.to_nat K))).
  { intros y Hy; apply in_map_iff in Hy; destruct Hy as [x [E Hx]].
    apply in_seq; specialize (Hlt x Hx); lia. }
  pose proof (NoDup_incl_length HN HI) as L; rewrite map_length, seq_length in L.
  unfold size; lia.
Qed.

(** All numbers below a. *)
Definition below (a : N) : list N := map N.of_nat (seq 0 (N.to_nat a)).

Lemma below_in a z : In z (below a) <-> z < a.
Proof.
  unfold below; rewrite in_map_iff; split.
  - intros [i [E Hi]]; apply in_seq in Hi; lia.
  - intros H; exists (N.to_nat z); split; [lia|apply in_seq; lia].
Qed.

Lemma below_size a : size (below a) = a.
Proof. unfold size, below; rewrite map_length, seq_length; lia. Qed.

Lemma below_NoDup a : NoDup (below a).
Proof. apply NoDup_map_on; [intros; lia|apply seq_NoDup]. Qed.

Lemma pigeonhole (f : N -> N) (a b : N) :
  (forall i, i < a -> f i < b) -> (forall i j, i < a -> j < a -> f i = f j -> i = j) -> a <= b.
Proof.
  intros Hb Hinj; rewrite <- (below_size a); apply (pigeon_list f).
  - apply below_NoDup.
  - intros x Hx; apply Hb, below_in, Hx.
  - intros x y Hx Hy; apply Hinj; apply below_in; auto.
Qed.

(** ** Several numbers in one *)
Definition pair_code (P p q : N) : N := p + P * q.

Lemma pair_lt P Q p q : p < P -> q < Q -> pair_code P p q < P * Q.
Proof. unfold pair_code; nia. Qed.

Lemma pair_inj P p q p' q' : p < P -> p' < P -> pair_code P p q = pair_code P p' q' -> p = p' /\ q = q'.
Proof.
  unfold pair_code; intros H H' E.
  assert (q = q') by (destruct (N.lt_trichotomy q q') as [L|[L|L]]; nia).
  subst; split; [lia|reflexivity].
Qed.

(** m digits, digit i below b i. *)
Fixpoint prodf (f : nat -> N) (t : nat) : N := match t with O => 1 | S k => prodf f k * f k end.
Fixpoint sumf (f : nat -> N) (t : nat) : N := match t with O => 0 | S k => sumf f k + f k end.

Fixpoint mixed_code (b d : nat -> N) (m : nat) : N :=
  match m with O => 0 | S k => pair_code (b k) (d k) (mixed_code b d k) end.

Lemma mixed_lt b d m : (forall i, (i < m)%nat -> d i < b i) -> mixed_code b d m < prodf b m.
Proof.
  induction m as [|m IH]; intros H; [simpl; lia|].
  simpl; rewrite N.mul_comm; apply pair_lt; [apply H; lia|apply IH; intros; apply H; lia].
Qed.

Lemma mixed_inj b d d' m : (forall i, (i < m)%nat -> d i < b i) -> (forall i, (i < m)%nat -> d' i < b i) ->
  mixed_code b d m = mixed_code b d' m -> forall i, (i < m)%nat -> d i = d' i.
Proof.
  induction m as [|m IH]; intros H H' E i Hi; [lia|].
  simpl in E; apply pair_inj in E; [|apply H; lia|apply H'; lia]; destruct E as [E1 E2].
  destruct (Nat.eq_dec i m) as [->|]; [exact E1|].
  apply IH; [intros; apply H; lia|intros; apply H'; lia|exact E2|lia].
Qed.

Lemma prodf_const b m : prodf (fun _ => b) m = b ^ nN m.
Proof.
  induction m as [|m IH]; [reflexivity|].
  rewrite Nat2N.inj_succ, N.pow_succ_r'; simpl; rewrite IH; lia.
Qed.

(** m digits below b. *)
Definition digits (b : N) (d : nat -> N) (m : nat) : N := mixed_code (fun _ => b) d m.

Lemma digits_lt b d m : (forall i, (i < m)%nat -> d i < b) -> digits b d m < b ^ nN m.
Proof. intros H; rewrite <- prodf_const; apply mixed_lt; exact H. Qed.

Lemma digits_inj b d d' m : (forall i, (i < m)%nat -> d i < b) -> (forall i, (i < m)%nat -> d' i < b) ->
  digits b d m = digits b d' m -> forall i, (i < m)%nat -> d i = d' i.
Proof. apply mixed_inj. Qed.

(** ** Cardinalities *)
Lemma card_prod S T a b : card_le S a -> card_le T b -> card_le (S * T) (a * b).
Proof.
  intros (c & Hi & Hl) (c' & Hi' & Hl').
  exists (fun v => pair_code a (c (fst v)) (c' (snd v))); split.
  - intros [s t] [s' t'] E; simpl in E; apply pair_inj in E; auto.
    destruct E as [E E']; apply Hi in E; apply Hi' in E'; subst; reflexivity.
  - intros [s t]; apply pair_lt; auto.
Qed.

Lemma card_unit : card_le unit 1.
Proof. exists (fun _ => 0); split; [intros [] []; reflexivity|intros; reflexivity]. Qed.

(** ** Tables: entry i of the z-th table with values below V is digit i of z. *)
Definition entry (V z : N) (i : nat) : nat := N.to_nat (z / V ^ nN i mod V).

Lemma entry_lt V z i : 0 < V -> (entry V z i < N.to_nat V)%nat.
Proof. intros HV; unfold entry; pose proof (N.mod_lt (z / V ^ nN i) V); lia. Qed.

Lemma entry_inj V n : 0 < V -> forall z z', z < V ^ nN n -> z' < V ^ nN n ->
  (forall i, (i < n)%nat -> entry V z i = entry V z' i) -> z = z'.
Proof.
  intros HV; induction n as [|n IH]; intros z z' Hz Hz' E; [simpl in *; lia|].
  rewrite Nat2N.inj_succ, N.pow_succ_r' in Hz, Hz'.
  assert (E0 : z mod V = z' mod V).
  { specialize (E 0%nat ltac:(lia)); unfold entry in E; simpl nN in E.
    rewrite N.pow_0_r, !N.div_1_r in E; lia. }
  assert (E1 : z / V = z' / V).
  { apply IH.
    - apply N.div_lt_upper_bound; lia.
    - apply N.div_lt_upper_bound; lia.
    - intros i Hi; specialize (E (S i) ltac:(lia)); unfold entry in E |- *.
      rewrite Nat2N.inj_succ, N.pow_succ_r' in E.
      rewrite !N.div_div by (try apply N.pow_nonzero; lia). exact E. }
  rewrite (N.div_mod z V), (N.div_mod z' V) by lia.
  rewrite E0, E1; reflexivity.
Qed.

(** ** The most frequent message *)
Lemma size_split {A} (p : A -> bool) (l : list A) :
  size l = size (filter p l) + size (filter (fun x => negb (p x)) l).
Proof. unfold size; induction l as [|x l IH]; [reflexivity|]; simpl; destruct (p x); simpl length; lia. Qed.

Lemma filter_le {A} (p q : A -> bool) (l : list A) : size (filter p (filter q l)) <= size (filter p l).
Proof.
  unfold size; induction l as [|x l IH]; simpl; [lia|].
  destruct (q x); simpl; destruct (p x); simpl length; lia.
Qed.

Lemma popular {A} (f : A -> N) (K : N) : forall l : list A,
  (forall x, In x l -> f x < K) -> exists v, size l <= K * size (filter (fun x => f x =? v) l).
Proof.
  induction K as [|K IH] using N.peano_ind; intros l H.
  - exists 0; destruct l as [|x l]; [unfold size; simpl; lia|].
    specialize (H x (or_introl eq_refl)); lia.
  - set (r := filter (fun x => negb (f x =? K)) l).
    pose proof (size_split (fun x => f x =? K) l) as E; cbv beta in E; fold r in E.
    destruct (N.le_gt_cases (size l) (N.succ K * size (filter (fun x => f x =? K) l))) as [L|L]; [exists K; exact L|].
    destruct (IH r) as [v Hv].
    { intros x Hx; apply filter_In in Hx; destruct Hx as [Hx Hn].
      specialize (H x Hx); destruct (N.eqb_spec (f x) K); [discriminate|lia]. }
    exists v.
    pose proof (filter_le (fun x => f x =? v) (fun x => negb (f x =? K)) l) as M; fold r in M.
    set (v1 := size (filter (fun x => f x =? v) r)) in *.
    set (v2 := size (filter (fun x => f x =? v) l)) in *.
    set (a := size (filter (fun x => f x =? K) l)) in *.
    rewrite N.mul_succ_l in L |- *.
    assert (E' : K * size l = K * a + K * size r) by (rewrite E; apply N.mul_add_distr_l).
    assert (F1 : K * v1 <= K * v2) by (apply N.mul_le_mono_l; assumption).
    assert (F2 : K * size r <= K * (K * v2)) by (apply N.mul_le_mono_l; lia).
    clearbody a v1 v2 r.
    assert (HK : K <> 0) by (intros HK; rewrite HK in L, Hv; lia).
    apply N.lt_le_incl, (N.mul_lt_mono_pos_l K); [lia|].
    rewrite N.mul_add_distr_l; lia.
Qed.

(** A popular value that is taken. *)
Lemma popular_in {A} (f : A -> N) (K : N) (l : list A) : l <> [] -> (forall x, In x l -> f x < K) ->
  exists x0, In x0 l /\ size l <= K * size (filter (fun x => f x =? f x0) l).
Proof.
  intros Hl H; destruct (popular f K l H) as [v Hv].
  destruct (filter (fun x => f x =? v) l) as [|x0 r] eqn:E.
  - destruct l; [congruence|]; unfold size in Hv; simpl length in Hv; lia.
  - assert (Hx : In x0 (filter (fun x => f x =? v) l)) by (rewrite E; left; reflexivity).
    apply filter_In in Hx; destruct Hx as [Hx Ev]; apply N.eqb_eq in Ev.
    exists x0; split; [exact Hx|]. rewrite Ev, E; exact Hv.
Qed.

(** The indices that are not in J. *)
Definition others (n : nat) (J : list nat) : list nat := filter (fun i => negb (existsb (Nat.eqb i) J)) (seq 0 n).

Lemma existsb_eqb i J : existsb (Nat.eqb i) J = true <-> In i J.
Proof.
  rewrite existsb_exists; split.
  - intros [x [H E]]; apply Nat.eqb_eq in E; subst; auto.
  - intros H; exists i; split; auto; apply Nat.eqb_refl.
Qed.

Lemma others_spec n J i : In i (others n J) <-> (i < n)%nat /\ ~ In i J.
Proof.
  unfold others; rewrite filter_In, in_seq, <- existsb_eqb.
  destruct (existsb (Nat.eqb i) J); simpl; split; intros [H H']; split; auto; try lia; try discriminate.
Qed.

Lemma others_length n J : NoDup J -> (forall i, In i J -> (i < n)%nat) -> (length J + length (others n J) <= n)%nat.
Proof.
  intros HJ H; rewrite <- app_length.
  apply Nat.le_trans with (length (seq 0 n)); [|rewrite seq_length; lia].
  apply NoDup_incl_length.
  - apply NoDup_app; auto; [apply NoDup_filter, seq_NoDup|].
    intros i Hi C; apply others_spec in C; tauto.
  - intros i Hi; apply in_app_iff in Hi; apply in_seq; destruct Hi as [Hi|Hi].
    + specialize (H i Hi); lia.
    + apply others_spec in Hi; lia.
Qed.

(** ** The main counting lemma

    sigma has at most S values on tables of n entries; for every table f*, within its class, a message below K determines r
    entries.  Then V^r <= S K. *)
Lemma class_tables (V : N) (n r : nat) (S K : N) (sigma : (nat -> nat) -> N) :
  (forall f, sigma f < S) ->
  (forall fs, (forall i, (fs i < N.to_nat V)%nat) ->
     exists (J : list nat) (msg : (nat -> nat) -> N),
       NoDup J /\ (forall i, In i J -> (i < n)%nat) /\ length J = r /\
       (forall f, (forall i, (f i < N.to_nat V)%nat) -> msg f < K) /\
       (forall f f', (forall i, (f i < N.to_nat V)%nat) -> (forall i, (f' i < N.to_nat V)%nat) ->
          sigma f = sigma fs -> sigma f' = sigma fs -> msg f = msg f' -> forall i, In i J -> f i = f' i)) ->
  0 < V -> V ^ nN r <= S * K.
Proof.
  intros HS H HV.
  assert (Hn : below (V ^ nN n) <> []).
  { intros C; pose proof (below_size (V ^ nN n)) as E; rewrite C in E; unfold size in E; simpl in E.
    symmetry in E; revert E; apply N.pow_nonzero; lia. }
  destruct (popular_in (fun z => sigma (entry V z)) S (below (V ^ nN n)) Hn) as [zs [Hzs Hpop]].
  { intros; apply HS. }
  rewrite below_size in Hpop; cbv beta in Hpop.
  assert (He : forall z i, (entry V z i < N.to_nat V)%nat) by (intros; apply entry_lt; auto).
  destruct (H (entry V zs) (He zs)) as (J & msg & HJ & HJn & HJr & Hlt & Hdet).
  set (cls := filter (fun z => sigma (entry V z) =? sigma (entry V zs)) (below (V ^ nN n))) in *.
  pose proof (others_length n J HJ HJn) as HO; rewrite HJr in HO.
  set (O := others n J) in *.
  assert (Hb : size cls <= K * V ^ nN (n - r)).
  { set (rest := fun z k => nN (entry V z (nth k O 0%nat))).
    assert (Hr : forall z k, rest z k < V) by (intros z k; unfold rest; specialize (He z (nth k O 0%nat)); lia).
    apply (pigeon_list (fun z => pair_code K (msg (entry V z)) (digits V (rest z) (n - r)))).
    - apply NoDup_filter, below_NoDup.
    - intros z _; apply pair_lt; [apply Hlt, He|apply digits_lt; intros; apply Hr].
    - intros z z' Hz Hz' E; apply pair_inj in E; [|apply Hlt, He|apply Hlt, He].
      destruct E as [E1 E2].
      apply filter_In in Hz; apply filter_In in Hz'.
      destruct Hz as [Hz Sz], Hz' as [Hz' Sz'].
      apply below_in in Hz, Hz'; apply N.eqb_eq in Sz, Sz'.
      apply (entry_inj V n); auto.
      intros i Hi; destruct (in_dec Nat.eq_dec i J) as [EJ|EJ].
      + apply (Hdet (entry V z) (entry V z')); auto.
      + assert (HiO : In i O) by (apply others_spec; auto).
        destruct (In_nth O i 0%nat HiO) as [k [Hk Ek]].
        pose proof (digits_inj V (rest z) (rest z') (n - r) (fun j _ => Hr z j) (fun j _ => Hr z' j) E2 k) as D.
        unfold rest in D; rewrite Ek in D; lia. }
  assert (Hrn : (r <= n)%nat) by lia.
  replace (nN n) with (nN r + nN (n - r)) in Hpop by lia.
  rewrite N.pow_add_r in Hpop.
  assert (HP : V ^ nN (n - r) <> 0) by (apply N.pow_nonzero; lia).
  apply (N.mul_le_mono_pos_r _ _ (V ^ nN (n - r))); [lia|].
  fold cls in Hpop; nia.
Qed.

(** Without a class: a message below K that determines r entries of every table needs V^r <= K. *)
Lemma tables_le (V : N) (n : nat) (K : N) (msg : (nat -> nat) -> N) : 0 < V ->
  (forall f, (forall i, (f i < N.to_nat V)%nat) -> msg f < K) ->
  (forall f f', (forall i, (f i < N.to_nat V)%nat) -> (forall i, (f' i < N.to_nat V)%nat) ->
     msg f = msg f' -> forall i, (i < n)%nat -> f i = f' i) ->
  V ^ nN n <= K.
Proof.
  intros HV Hlt Hdet; rewrite <- (N.mul_1_l K).
  apply (class_tables V n n 1 K (fun _ => 0)); [lia| |exact HV].
  intros fs _; exists (seq 0 n), msg.
  split; [apply seq_NoDup|]. split; [intros i Hi; apply in_seq in Hi; lia|]. split; [apply seq_length|].
  split; [exact Hlt|]. intros f f' Hf Hf' _ _ E i Hi; apply in_seq in Hi; apply (Hdet f f'); auto; lia.
Qed.

(** ** Choices *)
Lemma finite_choice {Y} (P : nat -> Y -> Prop) (d : Y) n :
  (forall w, (w < n)%nat -> exists y, P w y) -> exists f, forall w, (w < n)%nat -> P w (f w).
Proof.
  induction n as [|n IH]; intros H; [exists (fun _ => d); lia|].
  destruct IH as [f Hf]; [intros; apply H; lia|].
  destruct (H n ltac:(lia)) as [y Hy].
  exists (fun w => if Nat.eqb w n then y else f w); intros w Hw.
  destruct (Nat.eqb_spec w n) as [->|]; [exact Hy|apply Hf; lia].
Qed.

Fixpoint index_of (v : nat) (l : list nat) : nat :=
  match l with
  | [] => 0%nat
  | a :: l' => if Nat.eqb a v then 0%nat else S (index_of v l')
  end.

Lemma index_of_spec v l : In v l -> (index_of v l < length l)%nat /\ nth (index_of v l) l 0%nat = v.
Proof.
  induction l as [|a l IH]; intros H; [contradiction|]; simpl.
  destruct (Nat.eqb_spec a v) as [->|Hne]; [split; [lia|reflexivity]|].
  destruct H as [H|H]; [congruence|]; destruct (IH H); split; [lia|auto].
Qed.

(** Theta entries in each of n1 rows of N0. *)
Lemma rows_index N0 n1 Theta (I : nat -> list nat) :
  (forall w, (w < n1)%nat -> NoDup (I w) /\ length (I w) = Theta /\ forall v, In v (I w) -> (v < N0)%nat) ->
  exists J, NoDup J /\ length J = (n1 * Theta)%nat /\
    (forall i, In i J -> (i < n1 * N0)%nat /\ exists w v, (w < n1)%nat /\ In v (I w) /\ i = (w * N0 + v)%nat).
Proof.
  induction n1 as [|n1 IH]; intros H.
  - exists []; split; [constructor|split; [reflexivity|intros i []]].
  - destruct IH as (J & H1 & H2 & H3); [intros; apply H; lia|].
    destruct (H n1 ltac:(lia)) as (I1 & I2 & I3).
    exists (map (fun v => n1 * N0 + v)%nat (I n1) ++ J); split; [|split].
    + apply NoDup_app; [apply NoDup_map_on; [intros; lia|exact I1]|exact H1|].
      intros p Hp C; apply in_map_iff in Hp; destruct Hp as [v [<- _]]; apply H3 in C; lia.
    + rewrite app_length, map_length, H2, I2; lia.
    + intros i Hi; apply in_app_iff in Hi; destruct Hi as [Hi|Hi].
      * apply in_map_iff in Hi; destruct Hi as [v [<- Hv]]; specialize (I3 v Hv).
        split; [lia|exists n1, v; repeat split; auto].
      * destruct (H3 i Hi) as [L (w & v & Hw & Hv & E)].
        split; [lia|exists w, v; repeat split; auto].
Qed.
