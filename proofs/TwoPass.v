(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Two passes: one full layer whose softmax takes the maximum of the whole row first, two functions, w last

    Each of H heads scores all tokens up to the receiver; the sum that follows, from left to right, knows the H row maxima from its
    start.  Scores are numbers of any ordered finite format, so they are natural numbers here. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0.
Import ListNotations.
Local Notation nN := N.of_nat.

Record two_pass (Y : Type) := {
  score : nat -> nat -> nat -> token -> token -> nat;          (* head, receiver t, sender j, x_t, x_j *)
  Acc : nat -> Type;
  first : list nat -> forall t : nat, token -> Acc 0;          (* given the maxima of the row *)
  step : list nat -> forall t j : nat, Acc j -> token -> token -> Acc (S j);
  result : list nat -> forall t, Acc (S t) -> token -> Y }.
Arguments score {Y}. Arguments Acc {Y}. Arguments first {Y}. Arguments step {Y}. Arguments result {Y}.

Definition maximum (l : list nat) : nat := fold_right Nat.max 0 l.

Definition row_maxima {Y} (l : two_pass Y) (H : nat) (x : nat -> token) (t : nat) : list nat :=
  map (fun h => maximum (map (fun j => score l h t j (x t) (x j)) (seq 0 (S t)))) (seq 0 H).

Definition apply_two_pass {Y} (l : two_pass Y) (H : nat) (x : nat -> token) (t : nat) : Y :=
  let mx := row_maxima l H x t in result l mx t (acc (first l mx) (step l mx) x t (S t)) (x t).

(** The accumulator of the second pass: with numerators and a denominator H (dv+1) p bits. *)
Definition two_pass_fits {Y} (l : two_pass Y) (c : N) : Prop := forall t, card_le (Acc l t) (2 ^ c).

Definition ImpossibleTwoPass (H : nat) (c : N) (k : task) : Prop :=
  forall (l : two_pass nat), two_pass_fits l c -> ~ (forall p t v, k p t v -> apply_two_pass l H p t = v).

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

Theorem two_pass_states : forall (N0 n1 k2 M H : nat) (V c : N) k,
  two_functions N0 n1 (N.to_nat V) k2 M k -> 0 < n1 -> H < N0 -> (0 < V)%N -> (2 ^ c < V ^ nN (N0 - H))%N ->
  ImpossibleTwoPass H c k.
Proof.
  intros N0 n1 k2 M H V c k (P & HP & Htask) Hn1 HH HV Hlt l Hl Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (lay_entry _ _ _ _ HP) as (idx & tok & Hent).
  set (k1 := k2 + M + N0) in *; set (kw := k1 + 1) in *.
  set (id := fun i : nat => i).
  set (xw := P id id 0 0 kw).                                     (* the last token *)
  assert (Pw : forall g f u, P g f u 0 kw = xw) by (intros; apply (lay_w _ _ _ _ HP)).
  (* one entry per head fixes the maxima over z_2, and one per head those over z_1 *)
  destruct (fix_maxima (fun h t v => score l h kw t xw (tok t v)) idx (seq 0 k2) (N.to_nat V) ltac:(lia) H)
    as (X2 & b2 & m2 & N2 & L2 & B2 & F2).
  destruct (fix_maxima (fun h i v => score l h kw (k2 + M + i) xw (num v)) id (seq 0 N0) N0 ltac:(lia) H)
    as (X1 & b1 & m1 & Nd1 & L1 & B1 & F1).
  destruct (exists_free N0 X1 ltac:(lia)) as (u & Hu & HuX).
  set (J := firstn (N0 - H) (others N0 X2)).
  assert (HJl : length J = N0 - H) by (unfold J; rewrite firstn_length; pose proof (others_ge N0 X2); lia).
  assert (HJ : forall i, In i J -> i < N0 /\ ~ In i X2) by (intros i Hi; apply firstn_In in Hi; apply others_spec in Hi; exact Hi).
  assert (HJd : NoDup J) by (apply firstn_NoDup, NoDup_filter, seq_NoDup).
  (* tables: the free entries of row 0 *)
  set (T := fun (e : nat -> nat) i => if in_dec Nat.eq_dec i X2 then b2 i else e (index_of i J)).
  set (f := fun v i => if i =? u then v else b1 i).
  assert (HT : forall e, (forall i, e i < N.to_nat V) -> forall i, T e i < N.to_nat V)
    by (intros e He i; unfold T; destruct (in_dec Nat.eq_dec i X2); auto).
  assert (Hf : forall v, v < N0 -> forall i, f v i < N0) by (intros v Hv i; unfold f; destruct (i =? u); auto).
  (* so the row maxima of w are constant *)
  set (part := fun h x a n => maximum (map (fun j => score l h kw j xw (x j)) (seq a n))).
  assert (Split : forall h x, maximum (map (fun j => score l h kw j xw (x j)) (seq 0 (S kw))) =
     Nat.max (part h x 0 k2) (Nat.max (part h x k2 M) (Nat.max (part h x (k2 + M) N0) (part h x k1 2)))).
  { intros h x; unfold part; replace (S kw) with (k2 + (M + (N0 + 2))) by (unfold kw, k1; lia).
    rewrite !seq_app, !map_app, !maximum_app; reflexivity. }
  assert (Const : forall e e' v v', (forall i, e i < N.to_nat V) -> (forall i, e' i < N.to_nat V) -> v < N0 -> v' < N0 ->
     row_maxima l H (P (T e) (f v) u 0) kw = row_maxima l H (P (T e') (f v') u 0) kw).
  { intros e e' v v' He He' Hv Hv'; unfold row_maxima; apply map_ext_in; intros h Hh; apply in_seq in Hh.
    rewrite !Pw, !Split; f_equal; [|f_equal; [|f_equal]].
    - assert (A : forall e v, (forall i, e i < N.to_nat V) -> part h (P (T e) (f v) u 0) 0 k2 = m2 h).
      { intros d y Hd; unfold part; rewrite <- (F2 (T d)); [|apply HT, Hd| |lia].
        - f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; rewrite Hent by lia; reflexivity.
        - intros i Hi; unfold T; destruct (in_dec Nat.eq_dec i X2); [reflexivity|contradiction]. }
      rewrite (A e v He), (A e' v' He'); reflexivity.
    - unfold part; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; f_equal; apply (lay_middle _ _ _ _ HP); lia.
    - assert (A : forall e v, v < N0 -> part h (P (T e) (f v) u 0) (k2 + M) N0 = m1 h).
      { intros d y Hy; unfold part; rewrite <- (F1 (f y)); [|apply Hf, Hy| |lia].
        - replace (seq (k2 + M) N0) with (map (fun i => k2 + M + i) (seq 0 N0)).
          + rewrite map_map; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; rewrite (lay_z1 _ _ _ _ HP) by lia; reflexivity.
          + clear; generalize (k2 + M); intros a; revert a; induction N0 as [|n IH]; intros a; [reflexivity|].
            cbn [seq map]; rewrite Nat.add_0_r; f_equal; rewrite <- seq_shift, map_map, <- (IH (S a)).
            apply map_ext; intros; lia.
        - intros i Hi; unfold f; destruct (Nat.eqb_spec i u) as [->|]; [contradiction|reflexivity]. }
      rewrite (A e v Hv), (A e' v' Hv'); reflexivity.
    - unfold part; f_equal; apply map_ext_in; intros j Hj; apply in_seq in Hj; f_equal; apply (lay_query HP); fold k1; lia. }
  set (e0 := fun _ : nat => 0).
  assert (He0 : forall i, e0 i < N.to_nat V) by (intros; unfold e0; lia).
  set (mx := row_maxima l H (P (T e0) (f 0) u 0) kw).
  destruct (Hl k2) as (cA & cA_inj & cA_lt).
  apply (tables_le V (N0 - H) _ (fun e => cA (acc (first l mx) (step l mx) (P (T e) (f 0) u 0) kw k2))); [exact HV|intros; apply cA_lt|].
  intros e e' He He' E i Hi; apply cA_inj in E.
  set (v := nth i J 0).
  assert (HvJ : In v J) by (apply nth_In; lia).
  destruct (HJ v HvJ) as [Hv HvX].
  assert (Tv : forall d, T d v = d i).
  { intros d; unfold T; destruct (in_dec Nat.eq_dec v X2); [contradiction|]. f_equal.
    destruct (index_of_spec v J HvJ) as [Li Ei].
    apply (proj1 (NoDup_nth J 0) HJd); [exact Li|lia|exact Ei]. }
  assert (Ans : forall d, (forall i, d i < N.to_nat V) -> apply_two_pass l H (P (T d) (f v) u 0) kw = d i).
  { intros d Hd; rewrite <- (Tv d).
    replace (T d v) with (T d (0 * N0 + f v u)) by (unfold f; rewrite Nat.eqb_refl; reflexivity).
    apply Hs, Htask; auto. }
  rewrite <- (Ans e He), <- (Ans e' He'); unfold apply_two_pass.
  rewrite (Const e e0 v 0 He He0 Hv ltac:(lia)), (Const e' e0 v 0 He' He0 Hv ltac:(lia)); fold mx.
  assert (Q : forall d, acc (first l mx) (step l mx) (P (T d) (f v) u 0) kw k2 = acc (first l mx) (step l mx) (P (T d) (f 0) u 0) kw k2).
  { intros d; apply acc_ext; [rewrite !Pw; reflexivity|intros; apply (lay_first _ _ _ _ HP); assumption]. }
  assert (Ea : acc (first l mx) (step l mx) (P (T e) (f v) u 0) kw (S kw) = acc (first l mx) (step l mx) (P (T e') (f v) u 0) kw (S kw)).
  { apply (acc_from _ _ _ _ kw k2); [rewrite !Pw; reflexivity|rewrite (Q e), (Q e'); exact E|unfold kw, k1; lia|].
    intros y Hy; apply (lay_later HP); fold k1; unfold kw in Hy; lia. }
  rewrite Ea, !Pw; reflexivity.
Qed.

(** (N_0 - H) log2 V > c, c = H (dv+1) p, N_0 > H. *)
Definition two_pass_check (N0 : N) (ns : list N) (V H c : N) : bool :=
  positive N0 ns && (0 <? N.of_nat (length ns))%N && (H <? N0)%N && exceeds V (N0 - H) c.

Theorem two_passes : forall flat N0 ns V H c, two_pass_check N0 ns V H c = true ->
  ImpossibleTwoPass (N.to_nat H) c (seqcomp flat N0 ns V).
Proof.
  unfold two_pass_check; intros flat N0 ns V H c K.
  apply andb_prop in K; destruct K as [K K4]; apply andb_prop in K; destruct K as [K K3]; apply andb_prop in K; destruct K as [K1 K2].
  apply N.ltb_lt in K3; apply exceeds_spec in K4; destruct K4 as [HV K4].
  apply (two_pass_states _ _ _ _ (N.to_nat H) V c _ (seqcomp_two flat N0 ns V K1 (nonempty _ K2))); [|clear - K3; lia|exact HV|].
  - pose proof (proj2 (positive_spec N0 ns K1) (length ns)) as Hn; rewrite n_at_spec in Hn; exact Hn.
  - replace (nN (N.to_nat N0 - N.to_nat H)) with (N0 - H)%N by (clear; lia); exact K4.
Qed.
