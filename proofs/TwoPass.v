(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * One full layer whose softmax knows a maximum of its own: two functions, w last

    Each of H heads scores all tokens up to the receiver.  In two passes the sum, from left to right, knows the H row maxima from its
    start.  In one pass it carries the maxima of the keys that it has read.  Scores are numbers of any ordered finite format, so they
    are natural numbers here.  Eager.v has a third order. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0.
Import ListNotations.
Local Notation nN := N.of_nat.

Definition scores := nat -> nat -> nat -> token -> token -> nat.     (* head, receiver t, sender j, x_t, x_j *)

Definition maximum (l : list nat) : nat := fold_right Nat.max 0 l.

(** The maxima of the H heads of receiver t over its first j keys. *)
Definition maxima (sc : scores) (H : nat) (x : nat -> token) (t j : nat) : list nat :=
  map (fun h => maximum (map (fun i => sc h t i (x t) (x i)) (seq 0 j))) (seq 0 H).

Record two_pass (Y : Type) := {
  score : scores;
  Acc : nat -> Type;
  first : list nat -> forall t : nat, token -> Acc 0;          (* given the maxima of the row *)
  step : list nat -> forall t j : nat, Acc j -> token -> token -> Acc (S j);
  result : list nat -> forall t, Acc (S t) -> token -> Y }.
Arguments score {Y}. Arguments Acc {Y}. Arguments first {Y}. Arguments step {Y}. Arguments result {Y}.

Definition apply_two_pass {Y} (l : two_pass Y) (H : nat) (x : nat -> token) (t : nat) : Y :=
  let mx := maxima (score l) H x t (S t) in result l mx t (acc (first l mx) (step l mx) x t (S t)) (x t).

(** The accumulator of the second pass: with numerators and a denominator H (dv+1) p bits. *)
Definition two_pass_fits {Y} (l : two_pass Y) (c : N) : Prop := forall t, card_le (Acc l t) (2 ^ c).

Definition ImpossibleTwoPass (H : nat) (c : N) (k : task) : Prop :=
  forall (l : two_pass nat), two_pass_fits l c -> ~ (forall p t v, k p t v -> apply_two_pass l H p t = v).

(** The same in one pass: the maxima before and after each key are known when the key is added, and they are not counted. *)
Record one_pass (Y : Type) := {
  score_of : scores;
  Sum : nat -> Type;
  begin : forall t : nat, token -> Sum 0;
  add : list nat -> list nat -> forall t j : nat, Sum j -> token -> token -> Sum (S j);
  output : list nat -> forall t, Sum (S t) -> token -> Y }.
Arguments score_of {Y}. Arguments Sum {Y}. Arguments begin {Y}. Arguments add {Y}. Arguments output {Y}.

Fixpoint sum_of {Y} (l : one_pass Y) (H : nat) (x : nat -> token) (t j : nat) : Sum l j :=
  match j with
  | 0 => begin l t (x t)
  | S i => add l (maxima (score_of l) H x t i) (maxima (score_of l) H x t (S i)) t i (sum_of l H x t i) (x i) (x t)
  end.

Definition apply_one_pass {Y} (l : one_pass Y) (H : nat) (x : nat -> token) (t : nat) : Y :=
  output l (maxima (score_of l) H x t (S t)) t (sum_of l H x t (S t)) (x t).

Definition one_pass_fits {Y} (l : one_pass Y) (c : N) : Prop := forall t, card_le (Sum l t) (2 ^ c).

Definition ImpossibleOnePass (H : nat) (c : N) (k : task) : Prop :=
  forall (l : one_pass nat), one_pass_fits l c -> ~ (forall p t v, k p t v -> apply_one_pass l H p t = v).

Lemma maximum_app a b : maximum (a ++ b) = Nat.max (maximum a) (maximum b).
Proof. induction a as [|x a IH]; simpl; [reflexivity|]. unfold maximum in *; rewrite IH; lia. Qed.

Lemma maximum_ge a x : In x a -> x <= maximum a.
Proof. induction a as [|y a IH]; intros []; simpl; [subst; lia|]. specialize (IH H); unfold maximum in *; lia. Qed.

Lemma maximum_le a m : (forall x, In x a -> x <= m) -> maximum a <= m.
Proof.
  induction a as [|y a IH]; intros H; simpl; [lia|].
  pose proof (H y (or_introl eq_refl)); specialize (IH (fun x Hx => H x (or_intror Hx))); unfold maximum in *; lia.
Qed.

Lemma best_of {A} (f : A -> nat) (l : list A) : l <> [] -> exists x, In x l /\ forall y, In y l -> f y <= f x.
Proof.
  induction l as [|a l IH]; intros H; [congruence|].
  destruct l as [|b l]; [exists a; split; [left; reflexivity|intros y [<-|[]]; lia]|].
  destruct IH as [x [Hx Hm]]; [congruence|].
  destruct (le_lt_dec (f a) (f x)) as [L|L].
  - exists x; split; [right; exact Hx|]. intros y [<-|Hy]; auto.
  - exists a; split; [left; reflexivity|]. intros y [<-|Hy]; [lia|]. specialize (Hm y Hy); lia.
Qed.

(** At most one slot per head fixes the maxima of all heads over some positions: position t shows slot [idx t], slots have V values, and head
    h scores value v at position t with [sc h t v]. *)
Lemma fix_maxima (sc : nat -> nat -> nat -> nat) (idx : nat -> nat) (pos : list nat) (V : nat) : 0 < V -> forall H,
  exists (fixed : list nat) (b : nat -> nat) (mx : nat -> nat), NoDup fixed /\ length fixed <= H /\ (forall i, b i < V) /\
  forall g, (forall i, g i < V) -> (forall i, In i fixed -> g i = b i) ->
  forall h, h < H -> maximum (map (fun t => sc h t (g (idx t))) pos) = mx h.
Proof.
  intros HV; induction H as [|H (fixed & b & mx & Hnd & Hlen & Hb & Hfix)].
  - exists [], (fun _ => 0), (fun _ => 0); repeat split; auto; [constructor|intros; lia].
  - destruct pos as [|t0 pos0] eqn:Epos.
    { exists fixed, b, (fun _ => 0); repeat split; auto. }
    rewrite <- Epos in *.
    set (allowed := filter (fun tv => if in_dec Nat.eq_dec (idx (fst tv)) fixed then snd tv =? b (idx (fst tv)) else true)
                      (list_prod pos (seq 0 V))).
    assert (Hallow : forall t v, In (t, v) allowed <-> In t pos /\ v < V /\ (In (idx t) fixed -> v = b (idx t))).
    { intros t v; unfold allowed; rewrite filter_In, in_prod_iff, in_seq; cbn [fst snd].
      destruct (in_dec Nat.eq_dec (idx t) fixed) as [I|I].
      - rewrite Nat.eqb_eq; split; [intros [[? ?] ?]; repeat split; auto; lia|intros (? & ? & E); repeat split; auto; lia].
      - split; [intros [[? ?] _]; repeat split; auto; try lia; contradiction|intros (? & ? & _); repeat split; auto; lia]. }
    assert (Hg : forall g, (forall i, g i < V) -> (forall i, In i fixed -> g i = b i) -> forall t, In t pos -> In (t, g (idx t)) allowed).
    { intros g G1 G2 t Ht; apply Hallow; repeat split; auto. }
    destruct (best_of (fun tv => sc H (fst tv) (snd tv)) allowed) as ((t & v) & Hin & Hbest).
    { assert (I0 : In (t0, b (idx t0)) allowed) by (apply Hg; auto; rewrite Epos; left; reflexivity).
      destruct allowed; [contradiction|congruence]. }
    cbn [fst snd] in Hbest; pose proof (proj1 (Hallow t v) Hin) as (Ht & Hv & Hfv).
    set (b' := fun i => if Nat.eq_dec i (idx t) then v else b i).
    set (fixed' := if in_dec Nat.eq_dec (idx t) fixed then fixed else idx t :: fixed).
    exists fixed', b', (fun h => if h =? H then sc H t v else mx h).
    assert (Hincl : incl fixed fixed' /\ In (idx t) fixed').
    { unfold fixed'; destruct (in_dec Nat.eq_dec (idx t) fixed) as [I|I]; (split; [intros y Hy|]); auto; [right; exact Hy|left; reflexivity]. }
    split; [unfold fixed'; destruct (in_dec Nat.eq_dec (idx t) fixed); [exact Hnd|constructor; auto]|].
    split; [unfold fixed'; destruct (in_dec Nat.eq_dec (idx t) fixed); simpl; lia|].
    split; [intros i; unfold b'; destruct (Nat.eq_dec i (idx t)); auto|].
    intros g G1 G2 h Hh.
    assert (G2' : forall i, In i fixed -> g i = b i).
    { intros i Hi; rewrite (G2 i (proj1 Hincl i Hi)); unfold b'; destruct (Nat.eq_dec i (idx t)) as [->|]; [symmetry; symmetry; apply Hfv, Hi|reflexivity]. }
    destruct (Nat.eqb_spec h H) as [->|Hne]; [|apply Hfix; auto; lia].
    apply Nat.le_antisymm.
    + apply maximum_le; intros x Hx; apply in_map_iff in Hx; destruct Hx as [t' [<- Ht']].
      apply (Hbest (t', g (idx t'))), Hg; auto.
    + apply maximum_ge, in_map_iff; exists t; split; [|exact Ht].
      f_equal; rewrite (G2 _ (proj2 Hincl)); unfold b'; destruct (Nat.eq_dec (idx t) (idx t)); congruence.
Qed.

Lemma exists_free (n : nat) (fixed : list nat) : length fixed < n -> exists u, u < n /\ ~ In u fixed.
Proof.
  intros H; destruct (existsb (fun u => negb (existsb (Nat.eqb u) fixed)) (seq 0 n)) eqn:Ex.
  - apply existsb_exists in Ex; destruct Ex as [u [Hu E]]; apply in_seq in Hu; exists u; split; [lia|].
    intros C; apply existsb_eqb in C; rewrite C in E; discriminate.
  - exfalso; assert (I : incl (seq 0 n) fixed).
    { intros u Hu; destruct (in_dec Nat.eq_dec u fixed) as [|Hn]; [assumption|exfalso].
      assert (T : existsb (fun u => negb (existsb (Nat.eqb u) fixed)) (seq 0 n) = true).
      { apply existsb_exists; exists u; split; [exact Hu|]. destruct (existsb (Nat.eqb u) fixed) eqn:E; [apply existsb_eqb in E; contradiction|reflexivity]. }
      congruence. }
    apply NoDup_incl_length in I; [rewrite seq_length in I; lia|apply seq_NoDup].
Qed.

Lemma others_ge n J : n - length J <= length (others n J).
Proof.
  assert (I : incl (seq 0 n) (J ++ others n J)).
  { intros i Hi; apply in_app_iff; destruct (in_dec Nat.eq_dec i J); [left; assumption|right; apply others_spec; apply in_seq in Hi; split; [lia|assumption]]. }
  apply NoDup_incl_length in I; [rewrite seq_length, app_length in I; lia|apply seq_NoDup].
Qed.

Lemma maxima_app sc H x t a b :
  maxima sc H x t (a + b) =
  map (fun h => Nat.max (maximum (map (fun i => sc h t i (x t) (x i)) (seq 0 a)))
                        (maximum (map (fun i => sc h t i (x t) (x i)) (seq a b)))) (seq 0 H).
Proof. unfold maxima; apply map_ext; intros h; rewrite seq_app, map_app, maximum_app; reflexivity. Qed.

(** At most H entries of z_2 fix the maxima of w over z_2, whatever z_1 and z_0 are. *)
Lemma constant_first {N0 k2 M P} (HP : layout N0 k2 M P) (sc : scores) (H V : nat) : 0 < V ->
  let kw := k2 + M + N0 + 1 in
  exists (X : list nat) (b : nat -> nat) (mx : nat -> nat), NoDup X /\ length X <= H /\ (forall i, b i < V) /\
  forall g f u, (forall i, g i < V) -> (forall i, In i X -> g i = b i) ->
  forall h, h < H -> maximum (map (fun j => sc h kw j (P g f u 0 kw) (P g f u 0 j)) (seq 0 k2)) = mx h.
Proof.
  intros HV kw; destruct (lay_entry _ _ _ _ HP) as (idx & tok & Hent).
  set (id := fun i : nat => i); set (xw := P id id 0 0 kw).
  destruct (fix_maxima (fun h t v => sc h kw t xw (tok t v)) idx (seq 0 k2) V HV H) as (X & b & mx & K1 & K2 & K3 & K4).
  exists X, b, mx; split; [exact K1|]; split; [exact K2|]; split; [exact K3|].
  intros g f u G1 G2 h Hh; rewrite <- (K4 g G1 G2 h Hh); f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj.
  rewrite (lay_w _ _ _ _ HP g f u 0 id id 0 : P g f u 0 kw = xw), Hent by lia; reflexivity.
Qed.

(** With one more entry of z_1 for each head, and z_0 = u among the others, the maxima of the whole row are constant while z_1(u) takes
    every value. *)
Lemma constant_row {N0 k2 M P} (HP : layout N0 k2 M P) (sc : scores) (H V : nat) : 0 < V -> H < N0 ->
  let kw := k2 + M + N0 + 1 in
  exists (X : list nat) (b : nat -> nat) (f : nat -> nat -> nat) (u : nat) (mx : list nat),
    length X <= H /\ (forall i, b i < V) /\ u < N0 /\ (forall v i, v < N0 -> f v i < N0) /\ (forall v, f v u = v) /\
    forall g v, (forall i, g i < V) -> (forall i, In i X -> g i = b i) -> v < N0 -> maxima sc H (P g (f v) u 0) kw (S kw) = mx.
Proof.
  intros HV HH kw; set (k1 := k2 + M + N0) in *.
  set (id := fun i : nat => i); set (xw := P id id 0 0 kw).
  assert (Pw : forall g f u, P g f u 0 kw = xw) by (intros; apply (lay_w _ _ _ _ HP)).
  destruct (constant_first HP sc H V HV) as (X & b & m2 & K1 & K2 & K3 & K4).
  destruct (fix_maxima (fun h i v => sc h kw (k2 + M + i) xw (num v)) id (seq 0 N0) N0 ltac:(lia) H)
    as (X1 & b1 & m1 & Nd1 & L1 & B1 & F1).
  destruct (exists_free N0 X1 ltac:(lia)) as (u & Hu & HuX).
  set (f := fun v i => if i =? u then v else b1 i).
  assert (Hf : forall v i, v < N0 -> f v i < N0) by (intros v i Hv; unfold f; destruct (i =? u); auto).
  assert (Hfu : forall v, f v u = v) by (intros v; unfold f; rewrite Nat.eqb_refl; reflexivity).
  set (part := fun h x a n => maximum (map (fun j => sc h kw j xw (x j)) (seq a n))).
  set (x0 := P b (f 0) u 0).
  exists X, b, f, u,
    (map (fun h => Nat.max (m2 h) (Nat.max (part h x0 k2 M) (Nat.max (m1 h) (part h x0 k1 2)))) (seq 0 H)).
  repeat (split; [assumption|]).
  intros g v G1 G2 Hv; unfold maxima; apply map_ext_in; intros h Hh; apply in_seq in Hh.
  replace (S kw) with (k2 + (M + (N0 + 2))) by (unfold kw, k1; lia).
  rewrite Pw, !seq_app, !map_app, !maximum_app; f_equal; [|f_equal; [|f_equal]].
  - rewrite <- (K4 g (f v) u G1 G2 h ltac:(lia)); fold kw; rewrite Pw; reflexivity.
  - unfold part; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; f_equal; apply (lay_middle _ _ _ _ HP); lia.
  - rewrite <- (F1 (f v)); [|intros i; apply Hf; exact Hv| |lia].
    + replace (seq (0 + k2 + M) N0) with (map (fun i => k2 + M + i) (seq 0 N0)).
      * rewrite map_map; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; rewrite (lay_z1 _ _ _ _ HP) by lia; reflexivity.
      * clear; cbn [Nat.add]; generalize (k2 + M); intros a; revert a; induction N0 as [|n IH]; intros a; [reflexivity|].
        cbn [seq map]; rewrite Nat.add_0_r; f_equal; rewrite <- seq_shift, map_map, <- (IH (S a)).
        apply map_ext; intros; lia.
    + intros i Hi; unfold f; destruct (Nat.eqb_spec i u) as [->|]; [contradiction|reflexivity].
  - cbn [Nat.add]; fold k1; unfold part; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; f_equal.
    apply (lay_query HP); fold k1; lia.
Qed.

(** Tables of row 0 whose entries outside of X are free: those that J lists are the ones that are asked. *)
Section Free_row.
Variables (N0 V : nat) (X : list nat) (b : nat -> nat).
Definition free_row (e : nat -> nat) (i : nat) : nat := if in_dec Nat.eq_dec i X then b i else e i.

Lemma free_row_below e : (forall i, b i < V) -> (forall i, e i < V) -> forall i, free_row e i < V.
Proof. intros Hb He i; unfold free_row; destruct (in_dec Nat.eq_dec i X); auto. Qed.

Lemma free_row_fixed e i : In i X -> free_row e i = b i.
Proof. intros Hi; unfold free_row; destruct (in_dec Nat.eq_dec i X); [reflexivity|contradiction]. Qed.

Lemma free_row_free e i : ~ In i X -> free_row e i = e i.
Proof. intros Hi; unfold free_row; destruct (in_dec Nat.eq_dec i X); [contradiction|reflexivity]. Qed.
End Free_row.

(** The N0 - H entries that are asked, at least. *)
Lemma free_entries N0 X H : length X <= H -> exists J, NoDup J /\ length J = N0 - H /\ forall i, In i J -> i < N0 /\ ~ In i X.
Proof.
  intros HX; exists (firstn (N0 - H) (others N0 X)); split; [apply firstn_NoDup, NoDup_filter, seq_NoDup|]; split.
  - rewrite firstn_length; pose proof (others_ge N0 X); lia.
  - intros i Hi; apply firstn_In in Hi; apply others_spec in Hi; exact Hi.
Qed.

(** A message below K that determines so many listed entries of every table. *)
Lemma listed_le (V : N) (n : nat) (K : N) (msg : (nat -> nat) -> N) (J : list nat) : (0 < V)%N ->
  NoDup J -> (forall i, In i J -> i < n) ->
  (forall f, (forall i, f i < N.to_nat V) -> (msg f < K)%N) ->
  (forall f f', (forall i, f i < N.to_nat V) -> (forall i, f' i < N.to_nat V) -> msg f = msg f' -> forall i, In i J -> f i = f' i) ->
  (V ^ nN (length J) <= K)%N.
Proof.
  intros HV HJ HJn Hlt Hdet; rewrite <- (N.mul_1_l K); apply (class_tables V n (length J) 1 K (fun _ => 0%N)); [lia| |exact HV].
  intros fs _; exists J, msg; repeat split; auto; intros f f' Hf Hf' _ _; apply Hdet; auto.
Qed.

Theorem two_pass_states : forall (N0 n1 k2 M H : nat) (V c : N) k,
  two_functions N0 n1 (N.to_nat V) k2 M k -> 0 < n1 -> H < N0 -> (0 < V)%N -> (2 ^ c < V ^ nN (N0 - H))%N ->
  ImpossibleTwoPass H c k.
Proof.
  intros N0 n1 k2 M H V c k (P & HP & Htask) Hn1 HH HV Hlt l Hl Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  set (kw := k2 + M + N0 + 1) in *.
  destruct (constant_row HP (score l) H (N.to_nat V) ltac:(lia) HH) as (X & b & f & u & mx & HX & Hb & Hu & Hf & Hfu & Hmx).
  destruct (free_entries N0 X H HX) as (J & HJ & HJl & HJin); rewrite <- HJl.
  assert (Pw : forall g g' f f' u u', P g f u 0 kw = P g' f' u' 0 kw) by (intros; apply (lay_w _ _ _ _ HP)).
  set (T := free_row X b).
  destruct (Hl k2) as (cA & cA_inj & cA_lt).
  apply (listed_le V N0 _ (fun e => cA (acc (first l mx) (step l mx) (P (T e) (f 0) u 0) kw k2))); auto; [intros i Hi; apply HJin, Hi|].
  intros e e' He He' E i Hi; apply cA_inj in E; destruct (HJin i Hi) as [Hi0 HiX].
  assert (Ans : forall d, (forall i, d i < N.to_nat V) ->
            result l mx kw (acc (first l mx) (step l mx) (P (T d) (f i) u 0) kw (S kw)) (P (T d) (f i) u 0 kw) = d i).
  { intros d Hd; assert (HT : forall i, T d i < N.to_nat V) by (apply free_row_below; assumption).
    rewrite <- (Hmx (T d) i HT (free_row_fixed X b d) Hi0).
    rewrite <- (free_row_free X b d i HiX); fold T; replace (T d i) with (T d (0 * N0 + f i u)) by (rewrite Hfu; reflexivity).
    apply Hs, Htask; auto. }
  rewrite <- (Ans e He), <- (Ans e' He').
  assert (Q : forall d, acc (first l mx) (step l mx) (P (T d) (f i) u 0) kw k2 = acc (first l mx) (step l mx) (P (T d) (f 0) u 0) kw k2).
  { intros d; apply acc_ext; [apply Pw|intros; apply (lay_first _ _ _ _ HP); assumption]. }
  assert (Ea : acc (first l mx) (step l mx) (P (T e) (f i) u 0) kw (S kw) = acc (first l mx) (step l mx) (P (T e') (f i) u 0) kw (S kw)).
  { apply (acc_from _ _ _ _ kw k2); [apply Pw|rewrite (Q e), (Q e'); exact E|unfold kw; lia|].
    intros y Hy; apply (lay_later HP); unfold kw in Hy; lia. }
  rewrite Ea, (Pw (T e) (T e') (f i) (f i) u u); reflexivity.
Qed.

(** In one pass z_0 and z_1 come too late to change what w has heard of z_2. *)
Theorem one_pass_states : forall (N0 n1 k2 M H : nat) (V c : N) k,
  two_functions N0 n1 (N.to_nat V) k2 M k -> 0 < n1 -> (0 < V)%N -> (2 ^ c < V ^ nN (N0 - H))%N ->
  ImpossibleOnePass H c k.
Proof.
  intros N0 n1 k2 M H V c k (P & HP & Htask) Hn1 HV Hlt l Hl Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  set (kw := k2 + M + N0 + 1) in *.
  destruct (constant_first HP (score_of l) H (N.to_nat V) ltac:(lia)) as (X & b & mx & _ & HX & Hb & Hmx); fold kw in Hmx.
  destruct (free_entries N0 X H HX) as (J & HJ & HJl & HJin); rewrite <- HJl.
  assert (Pw : forall g g' f f' u u', P g f u 0 kw = P g' f' u' 0 kw) by (intros; apply (lay_w _ _ _ _ HP)).
  set (T := free_row X b); set (id := fun i : nat => i).
  destruct (Hl k2) as (cA & cA_inj & cA_lt).
  apply (listed_le V N0 _ (fun e => cA (sum_of l H (P (T e) id 0 0) kw k2))); auto; [intros i Hi; apply HJin, Hi|].
  intros e e' He He' E i Hi; apply cA_inj in E; destruct (HJin i Hi) as [Hi0 HiX].
  assert (Ans : forall d, (forall i, d i < N.to_nat V) -> apply_one_pass l H (P (T d) id i 0) kw = d i).
  { intros d Hd; assert (HT : forall i, T d i < N.to_nat V) by (apply free_row_below; assumption).
    rewrite <- (free_row_free X b d i HiX); fold T; replace (T d i) with (T d (0 * N0 + id i)) by reflexivity.
    apply Hs, Htask; auto. }
  rewrite <- (Ans e He), <- (Ans e' He'); unfold apply_one_pass.
  (* before the cut *)
  assert (Ext : forall x x' j, x kw = x' kw -> (forall y, y < j -> x y = x' y) -> maxima (score_of l) H x kw j = maxima (score_of l) H x' kw j).
  { intros x x' j Ew Ex; unfold maxima; apply map_ext; intros h; f_equal; apply map_ext_in; intros y Hy; apply in_seq in Hy.
    rewrite Ew, Ex by lia; reflexivity. }
  assert (Q : forall d j, j <= k2 -> sum_of l H (P (T d) id i 0) kw j = sum_of l H (P (T d) id 0 0) kw j).
  { intros d j; induction j as [|j IH]; intros Hj; cbn [sum_of]; [f_equal; apply Pw|].
    assert (Pj : forall y, y < S j -> P (T d) id i 0 y = P (T d) id 0 0 y) by (intros; apply (lay_first _ _ _ _ HP); lia).
    rewrite IH by lia; rewrite (Ext _ _ j (Pw _ (T d) _ id _ 0) ltac:(intros; apply Pj; lia)), (Ext _ _ (S j) (Pw _ (T d) _ id _ 0) Pj).
    rewrite (Pj j) by lia; rewrite (Pw (T d) (T d) id id i 0); reflexivity. }
  (* after it *)
  assert (Pl : forall y, k2 <= y <= kw -> P (T e) id i 0 y = P (T e') id i 0 y) by (intros; apply (lay_later HP); unfold kw in *; lia).
  assert (Mx : forall r, k2 + r <= S kw -> maxima (score_of l) H (P (T e) id i 0) kw (k2 + r) = maxima (score_of l) H (P (T e') id i 0) kw (k2 + r)).
  { intros r Hr; rewrite !maxima_app; apply map_ext_in; intros h Hh; apply in_seq in Hh; f_equal.
    - rewrite !Hmx; auto; try lia; try (apply free_row_below; assumption); apply free_row_fixed.
    - f_equal; apply map_ext_in; intros y Hy; apply in_seq in Hy; rewrite (Pw (T e) (T e') id id i i), Pl by lia; reflexivity. }
  assert (Later : forall r, k2 + r <= S kw -> sum_of l H (P (T e) id i 0) kw (k2 + r) = sum_of l H (P (T e') id i 0) kw (k2 + r)).
  { induction r as [|r IH]; intros Hr; [rewrite Nat.add_0_r, !Q by lia; exact E|].
    rewrite Nat.add_succ_r; cbn [sum_of]; rewrite IH by lia; rewrite (Mx r) by lia.
    pose proof (Mx (S r) Hr) as Mr; rewrite Nat.add_succ_r in Mr; rewrite Mr, (Pw (T e) (T e') id id i i), (Pl (k2 + r)) by lia; reflexivity. }
  replace (S kw) with (k2 + (M + N0 + 2)) by (unfold kw; lia).
  pose proof (Later (M + N0 + 2) ltac:(unfold kw; lia)) as EL; pose proof (Mx (M + N0 + 2) ltac:(unfold kw; lia)) as EM.
  revert EL EM; replace (k2 + (M + N0 + 2)) with (S kw) by (unfold kw; lia); intros -> ->.
  rewrite (Pw (T e) (T e') id id i i); reflexivity.
Qed.

(** (N_0 - H) log2 V > c, c = H (dv+1) p, N_0 > H. *)
Definition two_pass_check (N0 : N) (ns : list N) (V H c : N) : bool :=
  positive N0 ns && (0 <? N.of_nat (length ns))%N && (H <? N0)%N && exceeds V (N0 - H) c.

Lemma two_pass_check_spec flat N0 ns V H c : two_pass_check N0 ns V H c = true ->
  two_functions (N.to_nat N0) (N.to_nat (last_n ns)) (N.to_nat V) (N.to_nat (first_table flat N0 ns)) (N.to_nat (between flat N0 ns))
    (seqcomp flat N0 ns V) /\ 0 < N.to_nat (last_n ns) /\ N.to_nat H < N.to_nat N0 /\ (0 < V)%N /\
  (2 ^ c < V ^ nN (N.to_nat N0 - N.to_nat H))%N.
Proof.
  unfold two_pass_check; intros K.
  apply andb_prop in K; destruct K as [K K4]; apply andb_prop in K; destruct K as [K K3]; apply andb_prop in K; destruct K as [K1 K2].
  apply N.ltb_lt in K3; apply exceeds_spec in K4; destruct K4 as [HV K4].
  split; [exact (seqcomp_two flat N0 ns V K1 (nonempty _ K2))|]; split; [|split; [lia|split; [exact HV|]]].
  - pose proof (proj2 (positive_spec N0 ns K1) (length ns)) as Hn; rewrite n_at_spec in Hn; exact Hn.
  - replace (nN (N.to_nat N0 - N.to_nat H)) with (N0 - H)%N by (clear; lia); exact K4.
Qed.

Theorem two_passes : forall flat N0 ns V H c, two_pass_check N0 ns V H c = true ->
  ImpossibleTwoPass (N.to_nat H) c (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V H c K; destruct (two_pass_check_spec flat _ _ _ _ _ K) as (K1 & K2 & K3 & K4 & K5).
  exact (two_pass_states _ _ _ _ _ V c _ K1 K2 K3 K4 K5).
Qed.

(** The same inequality: a maximum that is carried along costs no bits. *)
Theorem one_pass_maximum : forall flat N0 ns V H c, two_pass_check N0 ns V H c = true ->
  ImpossibleOnePass (N.to_nat H) c (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V H c K; destruct (two_pass_check_spec flat _ _ _ _ _ K) as (K1 & K2 & _ & K4 & K5).
  exact (one_pass_states _ _ _ _ _ V c _ K1 K2 K4 K5).
Qed.
