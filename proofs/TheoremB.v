(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem B: two functions, recurrent layers around one full layer, w last *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT LemmaS.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** The two layers R F, on a class of tables z_2 and a class of functions z_1 *)
Section Core.
Context {N0 k2 M : nat} {P : (nat -> nat) -> (nat -> nat) -> nat -> nat -> nat -> token} (HP : layout N0 k2 M P).
Let k1 := k2 + M + N0.
Variables (Z W : Type) (St : nat -> Type) (h0 : St 0) (G : forall t, St t -> token -> St (S t))
  (Fo : forall t, St t -> St (S t) -> token -> Z)
  (A : nat -> Type) (init : forall t : nat, Z -> A 0)
  (upd : forall t j : nat, A j -> Z -> Z -> A (S j)) (fin : forall t : nat, A (S t) -> Z -> W).
Let R1 := Rec St h0 G Fo.
Let Fu := Full A init upd fin.

Variables gs f0 : nat -> nat.           (* a table and a function that fix the classes *)

Definition in_class (g : nat -> nat) : Prop := state h0 G (P g f0 0 0) k2 = state h0 G (P gs f0 0 0) k2.
Definition same_kappa (f : nat -> nat) : Prop := state h0 G (P gs f 0 0) k1 = state h0 G (P gs f0 0 0) k1.

Lemma cl_z2 g f u w : in_class g -> state h0 G (P g f u w) k2 = state h0 G (P gs f0 0 0) k2.
Proof. intros H; rewrite <- H; apply state_ext; intros y Hy; apply (lay_first _ _ _ _ HP); exact Hy. Qed.

Lemma cl_z1 g f u w : in_class g -> same_kappa f -> state h0 G (P g f u w) k1 = state h0 G (P gs f0 0 0) k1.
Proof.
  intros H1 H2; rewrite <- H2.
  transitivity (state h0 G (P g f 0 0) k1).
  - apply state_ext; intros y Hy; apply (lay_prefix HP); exact Hy.
  - apply (state_from h0 G _ _ k2); [|unfold k1; lia|intros; apply (lay_later HP); unfold k1 in *; lia].
    transitivity (state h0 G (P gs f0 0 0) k2); [|symmetry]; apply cl_z2; auto; reflexivity.
Qed.

Lemma st_q g f u w t : in_class g -> same_kappa f -> k1 <= t <= k1 + 2 ->
  state h0 G (P g f u w) t = state h0 G (P gs f0 u w) t.
Proof.
  intros H1 H2 Ht; apply (state_from h0 G _ _ k1); [|lia|intros; apply (lay_query HP); fold k1; lia].
  transitivity (state h0 G (P gs f0 0 0) k1); [|symmetry]; apply cl_z1; auto; reflexivity.
Qed.

(** z_0 and w enter F as functions of u and of (u, w). *)
Lemma val_q g f u w t : in_class g -> same_kappa f -> k1 <= t <= k1 + 1 ->
  apply R1 (P g f u w) t = apply R1 (P gs f0 u w) t.
Proof.
  intros H1 H2 Ht; unfold R1; cbn [apply].
  rewrite (st_q g f u w t), (st_q g f u w (S t)), (lay_query HP g f u w gs f0 t); auto; fold k1; lia.
Qed.

(** So their accumulators over z_2 do not depend on the function. *)
Lemma acc_q g f u w t : in_class g -> same_kappa f -> k1 <= t <= k1 + 1 ->
  acc init upd (apply R1 (P g f u w)) t k2 = acc init upd (apply R1 (P g f0 u w)) t k2.
Proof.
  intros H1 H2 Ht; apply acc_ext.
  - rewrite (val_q g f), (val_q g f0); auto; reflexivity.
  - intros y Hy; apply apply_causal; intros y' Hy'; apply (lay_first _ _ _ _ HP); lia.
Qed.

(** The tokens after z_2 enter F as functions of what follows z_2. *)
Lemma val_z1 g g' f u w t : in_class g -> in_class g' -> k2 <= t <= k1 + 1 ->
  apply R1 (P g f u w) t = apply R1 (P g' f u w) t.
Proof.
  intros H1 H2 Ht; unfold R1; cbn [apply].
  assert (E : forall t, k2 <= t <= k1 + 2 -> state h0 G (P g f u w) t = state h0 G (P g' f u w) t).
  { intros k Hk; apply (state_from h0 G _ _ k2); [|lia|intros; apply (lay_later HP); fold k1; lia].
    rewrite (cl_z2 g), (cl_z2 g'); auto. }
  rewrite (E t), (E (S t)), (lay_later HP g g' f u w t) by (fold k1; lia); reflexivity.
Qed.

(** What a token receives is determined by its accumulator over z_2. *)
Lemma out_any g g' f u w t : in_class g -> in_class g' -> k2 <= t <= k1 + 1 ->
  acc init upd (apply R1 (P g f u w)) t k2 = acc init upd (apply R1 (P g' f u w)) t k2 ->
  apply Fu (apply R1 (P g f u w)) t = apply Fu (apply R1 (P g' f u w)) t.
Proof.
  intros H1 H2 Ht E.
  assert (Ev : apply R1 (P g f u w) t = apply R1 (P g' f u w) t) by (apply val_z1; auto; lia).
  assert (Ea : acc init upd (apply R1 (P g f u w)) t (S t) = acc init upd (apply R1 (P g' f u w)) t (S t)).
  { apply (acc_from init upd _ _ t k2); [exact Ev|exact E|lia|intros; apply val_z1; auto; lia]. }
  unfold Fu; cbn [apply]; rewrite Ev, Ea; reflexivity.
Qed.

Lemma out_q g g' f u w t : in_class g -> in_class g' -> same_kappa f -> k1 <= t <= k1 + 1 ->
  acc init upd (apply R1 (P g f0 u w)) t k2 = acc init upd (apply R1 (P g' f0 u w)) t k2 ->
  apply Fu (apply R1 (P g f u w)) t = apply Fu (apply R1 (P g' f u w)) t.
Proof.
  intros H1 H2 H3 Ht E; apply out_any; auto; [unfold k1 in *; lia|].
  rewrite (acc_q g f), (acc_q g' f); auto.
Qed.

(** The accumulator of z_0 does not depend on w. *)
Lemma acc_z0 g f u w w' : acc init upd (apply R1 (P g f u w)) k1 k2 = acc init upd (apply R1 (P g f u w')) k1 k2.
Proof.
  apply acc_ext.
  - apply apply_causal; intros y Hy; destruct (Nat.eq_dec y k1) as [->|Hne].
    + unfold k1; rewrite !(lay_z0 _ _ _ _ HP); reflexivity.
    + apply (lay_prefix HP); fold k1; lia.
  - intros y Hy; apply apply_causal; intros y' Hy'; apply (lay_first _ _ _ _ HP); lia.
Qed.
End Core.

Lemma index_split N0 n1 (Vs : list nat) : NoDup Vs -> (forall v, In v Vs -> v < N0) ->
  exists J, NoDup J /\ length J = n1 * length Vs /\
  (forall i, In i J -> i < n1 * N0 /\ exists w v, w < n1 /\ In v Vs /\ i = w * N0 + v).
Proof. intros H HV; apply (rows_index N0 n1 (length Vs) (fun _ => Vs)); auto. Qed.

(** What the recurrent layers after F add to the list: nothing, their states after z_1 for each function, or their states after z_2 once
    with the accumulators of all tokens between. *)
Inductive rest := Nothing | PerFunction | Once.

Definition rest_values (r : rest) (x M N0 tg : nat) (C2 S2 S1 : N) (t : nat) : N :=
  match r with
  | Nothing => 1
  | PerFunction => C2 ^ nN t * S1 ^ nN x
  | Once => C2 ^ nN t * (S2 * C2 ^ nN (M + (N0 - tg) + x * tg))
  end%N.

Theorem B_states : forall (N0 n1 k2 M t q g x Theta : nat) (V : N) (C : nat -> N) (a b : list spec) k (m : net token nat)
    (r : rest),
  two_functions N0 n1 (N.to_nat V) k2 M k ->
  recurrent a -> recurrent b -> fits m (a ++ SF C :: b) -> (r = Nothing -> b = []) -> (0 < V)%N ->
  0 < t -> 0 < g <= q -> t * q <= N0 -> 0 < x ->
  spreads N0 t q g (states_at (k2 + M + N0) a) x Theta ->
  (states_at k2 a * (C k2 ^ nN (t * n1) * rest_values r x M N0 (t * g) (C k2) (states_at k2 b) (states_at (k2 + M + N0) b) t)
   < V ^ nN (n1 * Theta))%N ->
  ~ solves k m.
Proof.
  intros N0 n1 k2 M t q g x Theta V C a b k m r (P & HP & Htask) Ha Hb Hm Hr HV Ht Hg HN0 Hx Hsp Hlt Hs.
  apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (split_rfr m a C b Ha Hb Hm)
    as (Z & W & St & h0 & G & F0 & A & init & upd & fin & St' & h0' & G' & F' & H1 & H2 & H3 & Hrun).
  set (R1 := Rec St h0 G F0) in *; set (Fu := Full A init upd fin) in *; set (R2 := Rec St' h0' G' F') in *.
  set (k1 := k2 + M + N0) in *.
  destruct (H1 k2) as (c1 & c1_inj & c1_lt).
  destruct (H1 k1) as (c1' & c1'_inj & c1'_lt).
  destruct (H2 k2) as (cA & cA_inj & cA_lt).
  destruct (H3 k1) as (c2 & c2_inj & c2_lt).
  destruct (H3 k2) as (c3 & c3_inj & c3_lt).
  set (id := fun i : nat => i).
  apply (class_tables V (n1 * N0) (n1 * Theta) _ _ (fun g => c1 (state h0 G (P g id 0 0) k2))); [intros; apply c1_lt| |exact HV].
  intros gs _.
  destruct (Hsp (fun f => c1' (state h0 G (P gs f 0 0) k1)) (fun f => c1'_lt _))
    as (U & fs & I & HUl & HU & Hfl & Hfv & Hfk & HIl & HI & HInd).
  assert (Hfb : forall f, In f fs -> forall i, i < N0 -> f i < N0)
    by (intros f Hf i Hi; apply (fam_bound N0 t q g HN0 Hg); auto).
  set (f0 := nth 0 fs id).
  assert (Hf0 : In f0 fs) by (apply nth_In; lia).
  set (val := fun p : nat * nat => nth (fst p) fs id (nth (snd p) U 0)) in *.
  assert (HVs : forall v, In v (map val I) -> v < N0).
  { intros v Hv; apply in_map_iff in Hv; destruct Hv as [p [<- Hp]]; destruct (HI p Hp) as [L1 L2].
    unfold val; apply Hfb; [apply nth_In; lia|]. assert (In (nth (snd p) U 0) U) by (apply nth_In; lia). apply HU in H; lia. }
  destruct (index_split N0 n1 (map val I) HInd HVs) as (J & HJ1 & HJ2 & HJ3).
  set (st := start N0 t g).
  assert (Hst : st + t * g = N0) by (apply (start_le N0 t q g); auto).
  set (nu1 := fun h i => cA (acc init upd (apply R1 (P h f0 (nth (i / n1) U 0) (i mod n1))) (k1 + 1) k2)).
  set (nu0 := fun h i => cA (acc init upd (apply R1 (P h f0 (nth i U 0) 0)) k1 k2)).
  set (tau := fun h j => c2 (state h0' G' (apply Fu (apply R1 (P h (nth j fs id) 0 0))) k1)).
  set (tau2 := fun h => c3 (state h0' G' (apply Fu (apply R1 (P h id 0 0))) k2)).
  (* the tokens between z_2 and z_0 *)
  set (rho := fun h i => if i <? M + st then cA (acc init upd (apply R1 (P h f0 0 0)) (k2 + i) k2)
     else let i' := i - (M + st) in
          cA (acc init upd (apply R1 (P h (nth (i' / (t * g)) fs id) 0 0)) (k2 + (M + st) + i' mod (t * g)) k2)).
  assert (Hrho : forall h i, N.lt (rho h i) (C k2)) by (intros h i; unfold rho; destruct (i <? M + st); apply cA_lt).
  set (K2 := (M + (N0 - t * g) + x * (t * g))).
  set (more := fun h => match r with
     | Nothing => 0%N
     | PerFunction => pair_code (C k2 ^ nN t) (digits (C k2) (nu0 h) t) (digits (states_at k1 b) (tau h) x)
     | Once => pair_code (C k2 ^ nN t) (digits (C k2) (nu0 h) t)
                 (pair_code (states_at k2 b) (tau2 h) (digits (C k2) (rho h) K2))
     end).
  exists J, (fun h => pair_code (C k2 ^ nN (t * n1)) (digits (C k2) (nu1 h) (t * n1)) (more h)).
  split; [exact HJ1|]. split; [intros i Hi; apply HJ3; auto|].
  split; [rewrite HJ2, map_length; lia|].
  split.
  { intros h _; apply pair_lt; [apply digits_lt; intros; apply cA_lt|].
    unfold more, rest_values; destruct r; [lia| |].
    - apply pair_lt; apply digits_lt; intros; [apply cA_lt|apply c2_lt].
    - apply pair_lt; [apply digits_lt; intros; apply cA_lt|]. apply pair_lt; [apply c3_lt|].
      apply (digits_lt (C k2) (rho h) K2); intros; apply Hrho. }
  intros h h' Hh Hh' S1 S2 E i Hi.
  apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt].
  destruct E as [Enu Emore].
  pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) Enu) as Enu'; cbv beta in Enu'; clear Enu.
  apply c1_inj in S1, S2.
  destruct (HJ3 i Hi) as [Hi1 (w & v & Hw & Hv & Ei)].
  apply in_map_iff in Hv; destruct Hv as [[j iu] [Ev Hp]]; destruct (HI _ Hp) as [Lj Lu]; cbn [fst snd] in Lj, Lu.
  unfold val in Ev; cbn [fst snd] in Ev.
  set (f := nth j fs id) in *; set (u := nth iu U 0) in *.
  assert (Hf : In f fs) by (apply nth_In; lia).
  assert (Hu : u < N0) by (assert (Hu : In u U) by (apply nth_In; lia); apply HU in Hu; lia).
  assert (Kcl : forall h, state h0 G (P h id 0 0) k2 = state h0 G (P gs id 0 0) k2 -> in_class (k2 := k2) (P := P) St h0 G gs f0 h).
  { intros e Eg; unfold in_class.
    transitivity (state h0 G (P e id 0 0) k2); [|rewrite Eg]; apply state_ext; intros y Hy; apply (lay_first _ _ _ _ HP); exact Hy. }
  pose proof (Kcl h S1) as C1; pose proof (Kcl h' S2) as C2.
  assert (Ksame : same_kappa (N0 := N0) (k2 := k2) (M := M) (P := P) St h0 G gs f0 f) by (apply c1'_inj, Hfk; auto).
  (* what w receives *)
  assert (Q1 : apply Fu (apply R1 (P h f u w)) (k1 + 1) = apply Fu (apply R1 (P h' f u w)) (k1 + 1)).
  { apply (out_q HP Z W St h0 G F0 A init upd fin gs f0); auto; [fold k1; lia|fold k1; fold R1].
    specialize (Enu' (iu * n1 + w) ltac:(nia)); unfold nu1 in Enu'; apply cA_inj in Enu'.
    rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r in Enu' by lia.
    rewrite (Nat.add_comm (iu * n1)), Nat.mod_add, Nat.mod_small in Enu' by lia.
    exact Enu'. }
  rewrite Ei, <- Ev.
  rewrite <- (Hs _ _ _ (Htask h f u w Hh (Hfb f Hf) Hu Hw)), <- (Hs _ _ _ (Htask h' f u w Hh' (Hfb f Hf) Hu Hw)).
  fold k1; rewrite !Hrun.
  destruct r.
  { (* no recurrent layer after F *)
    specialize (Hr eq_refl); subst b.
    assert (E1 : forall s (x y : St' s), x = y).
    { intros s y y'; destruct (H3 s) as (cc & ci & cl); apply ci; pose proof (cl y); pose proof (cl y'); cbn in *; lia. }
    unfold R2; cbn [apply]; rewrite Q1; f_equal; apply E1. }
  all: assert (Enu0 : digits (C k2) (nu0 h) t = digits (C k2) (nu0 h') t)
    by (apply pair_inj in Emore; [tauto|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]).
  all: pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) Enu0 iu Lu) as En0; cbv beta in En0;
    unfold nu0 in En0; apply cA_inj in En0; fold u in En0.
  all: assert (Q0 : apply Fu (apply R1 (P h f u w)) k1 = apply Fu (apply R1 (P h' f u w)) k1)
    by (apply (out_q HP Z W St h0 G F0 A init upd fin gs f0); auto; [fold k1; lia|fold k1; fold R1];
        rewrite !(acc_z0 HP Z St h0 G F0 A init upd _ f0 u w 0); exact En0).
  all: assert (Q2 : state h0' G' (apply Fu (apply R1 (P h f u w))) k1 = state h0' G' (apply Fu (apply R1 (P h' f u w))) k1).
  1: { (* states after z_1, for each function *)
    apply pair_inj in Emore; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt].
    destruct Emore as [_ Etau].
    pose proof (digits_inj _ _ _ _ (fun k _ => c2_lt _) (fun k _ => c2_lt _) Etau j Lj) as Et; cbv beta in Et.
    unfold tau in Et; apply c2_inj in Et; fold f in Et.
    assert (D : forall e, state h0' G' (apply Fu (apply R1 (P e f u w))) k1 = state h0' G' (apply Fu (apply R1 (P e f 0 0))) k1).
    { intros e; apply state_ext; intros y Hy; apply apply_causal; intros y' Hy'; apply apply_causal;
        intros y'' Hy''; apply (lay_prefix HP); fold k1; lia. }
    rewrite (D h), (D h'); exact Et. }
  2: { (* states after z_2, and what the tokens between receive *)
    apply pair_inj in Emore; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt].
    destruct Emore as [_ Emore]; apply pair_inj in Emore; [|apply c3_lt|apply c3_lt]; destruct Emore as [Et2 Erho].
    apply c3_inj in Et2.
    pose proof (digits_inj _ _ _ _ (fun k _ => Hrho h k) (fun k _ => Hrho h' k) Erho) as Er; cbv beta in Er.
    apply (state_from h0' G' _ _ k2); [|unfold k1; lia|].
    - assert (D : forall e, state h0' G' (apply Fu (apply R1 (P e f u w))) k2 = state h0' G' (apply Fu (apply R1 (P e id 0 0))) k2).
      { intros e; apply state_ext; intros y Hy; apply apply_causal; intros y' Hy'; apply apply_causal;
          intros y'' Hy''; apply (lay_first _ _ _ _ HP); lia. }
      rewrite (D h), (D h'); exact Et2.
    - intros y Hy; apply (out_any HP Z W St h0 G F0 A init upd fin gs f0); auto; [fold k1; lia|fold R1].
      assert (D0 : forall e, acc init upd (apply R1 (P e f u w)) y k2 = acc init upd (apply R1 (P e f 0 0)) y k2).
      { intros e; apply acc_ext; [|intros y' Hy'; apply apply_causal; intros y'' Hy''; apply (lay_first _ _ _ _ HP); lia].
        apply apply_causal; intros y' Hy'; apply (lay_prefix HP); fold k1; lia. }
      rewrite (D0 h), (D0 h').
      destruct (Nat.lt_ge_cases y (k2 + (M + st))) as [Ly|Ly].
      + assert (Hidx : y - k2 < K2) by (unfold K2; lia).
        specialize (Er (y - k2) Hidx); unfold rho in Er.
        destruct (Nat.ltb_spec (y - k2) (M + st)) as [_|L]; [|lia]; apply cA_inj in Er.
        replace (k2 + (y - k2)) with y in Er by lia.
        assert (D1 : forall e, acc init upd (apply R1 (P e f 0 0)) y k2 = acc init upd (apply R1 (P e f0 0 0)) y k2).
        { intros e; apply acc_ext; [|intros y' Hy'; apply apply_causal; intros y'' Hy''; apply (lay_first _ _ _ _ HP); lia].
          apply apply_causal; intros y' Hy'.
          destruct (Nat.lt_ge_cases y' k2) as [L1|L1]; [apply (lay_first _ _ _ _ HP); exact L1|].
          destruct (Nat.lt_ge_cases y' (k2 + M)) as [L2|L2]; [apply (lay_middle _ _ _ _ HP); lia|].
          replace y' with (k2 + M + (y' - (k2 + M))) by lia; rewrite !(lay_z1 _ _ _ _ HP) by lia.
          destruct (Hfv f Hf) as [Z1 _], (Hfv f0 Hf0) as [Z2 _]; rewrite Z1, Z2 by (fold st; lia); reflexivity. }
        rewrite (D1 h), (D1 h'); exact Er.
      + assert (Htg : y - k2 - (M + st) < t * g) by (unfold k1 in *; lia).
        assert (Hidx : M + st + (j * (t * g) + (y - k2 - (M + st))) < K2).
        { unfold K2; replace (N0 - t * g) with st by lia.
          assert (S j * (t * g) <= x * (t * g)) by (apply Nat.mul_le_mono_r; lia); cbn [Nat.mul] in H; lia. }
        specialize (Er _ Hidx); unfold rho in Er.
        destruct (Nat.ltb_spec (M + st + (j * (t * g) + (y - k2 - (M + st)))) (M + st)) as [L|_]; [lia|].
        cbv zeta in Er; replace (M + st + (j * (t * g) + (y - k2 - (M + st))) - (M + st))
          with (j * (t * g) + (y - k2 - (M + st))) in Er by lia.
        rewrite Nat.div_add_l, (Nat.div_small (y - k2 - (M + st))), Nat.add_0_r in Er by lia.
        rewrite (Nat.add_comm (j * (t * g))), Nat.mod_add, Nat.mod_small in Er by lia.
        fold f in Er; replace (k2 + (M + st) + (y - k2 - (M + st))) with y in Er by lia.
        apply cA_inj in Er; exact Er. }
  all: assert (Q3 : forall s, k1 <= s <= k1 + 2 ->
     state h0' G' (apply Fu (apply R1 (P h f u w))) s = state h0' G' (apply Fu (apply R1 (P h' f u w))) s)
    by (intros s Hss; apply (state_from h0' G' _ _ k1); [exact Q2|lia|];
        intros y Hy; assert (Hy' : y = k1 \/ y = k1 + 1) by lia; destruct Hy' as [-> | ->]; auto).
  all: unfold R2; cbn [apply]; rewrite Q1, (Q3 (k1 + 1)), (Q3 (S (k1 + 1))) by lia; reflexivity.
Qed.

(** n_1 Theta log2 V > A + c t n_1 + [B > 0] (c t + min(x B, B + c M)), M = N_0 - g t + x g t + middle. *)
Definition B_rest (flat : bool) (N0 : N) (ns : list N) (c : N) (after : list bits) (t g x : N) (r : rest) : N :=
  let k2 := first_table flat N0 ns in
  let k1 := (k2 + between flat N0 ns + N0)%N in
  match r with
  | Nothing => 0
  | PerFunction => c * t + bits_at k1 after * x
  | Once => c * t + (bits_at k2 after + c * (between flat N0 ns + (N0 - t * g) + x * (t * g)))
  end%N.

Definition B_check (flat : bool) (N0 : N) (ns : list N) (V : N) (before : list bits) (c : N) (after : list bits)
    (t q g : N) (runs : list (N * N)) (r : rest) : bool :=
  let k2 := first_table flat N0 ns in
  let k1 := (k2 + between flat N0 ns + N0)%N in
  let x := ladder_x runs in
  let Theta := ladder_theta t runs in
  let n1 := last_n ns in
  positive N0 ns && (0 <? N.of_nat (length ns))%N && is_recurrent before && is_recurrent after &&
  match r, after with Nothing, _ :: _ => false | _, _ => true end &&
  (0 <? t)%N && (0 <? g)%N && (g <=? q)%N && (t * q <=? N0)%N &&
  ladder_ok (bits_at k1 before) g t q t runs &&
  exceeds V (n1 * Theta) (bits_at k2 before + (c * (t * n1) + B_rest flat N0 ns c after t g x r)).

Theorem B : forall flat N0 ns V before c after t q g runs r,
  B_check flat N0 ns V before c after t q g runs r = true ->
  Impossible (before ++ F c :: after) (seqcomp flat N0 ns V).
Proof.
  unfold B_check; intros flat N0 ns V before c after t q g runs r H m Hm.
  set (k2 := first_table flat N0 ns) in *; set (md := between flat N0 ns) in *; set (n1 := last_n ns) in *.
  apply andb_prop in H; destruct H as [H H11]; apply andb_prop in H; destruct H as [H H10];
    apply andb_prop in H; destruct H as [H H9]; apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7];
    apply andb_prop in H; destruct H as [H H6]; apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4];
    apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H6, H7; apply N.leb_le in H8, H9; apply exceeds_spec in H11; destruct H11 as [HV H11].
  rewrite map_app in Hm; cbn [map spec_of] in Hm.
  assert (Hx : 0 < N.to_nat (ladder_x runs)) by (unfold ladder_x; lia).
  assert (HN0 : N.to_nat t * N.to_nat q <= N.to_nat N0) by lia.
  assert (Hcut : nN (N.to_nat k2 + N.to_nat md + N.to_nat N0) = (k2 + md + N0)%N) by lia.
  apply (B_states _ _ _ _ (N.to_nat t) (N.to_nat q) (N.to_nat g) (N.to_nat (ladder_x runs)) (N.to_nat (ladder_theta t runs)) V
           _ _ _ _ m r (seqcomp_two flat N0 ns V H1 (nonempty _ H2)) (recurrent_bits _ H3) (recurrent_bits _ H4) Hm); auto; try lia.
  - intros ->; destruct after; [reflexivity|discriminate].
  - rewrite states_bits by exact H3; fold k2 md; rewrite Hcut; apply ladder_spreads; auto; lia.
  - fold k2 md n1; rewrite !states_bits by assumption; rewrite Hcut, N2Nat.id.
    assert (Htg : (t * g <= N0)%N) by (apply N.le_trans with (t * q)%N; [apply N.mul_le_mono_l; exact H8|exact H9]).
    replace (nN (N.to_nat t * N.to_nat n1)) with (t * n1)%N by lia.
    replace (nN (N.to_nat n1 * N.to_nat (ladder_theta t runs))) with (n1 * ladder_theta t runs)%N by lia.
    eapply N.le_lt_trans; [|exact H11]; apply N.eq_le_incl; rewrite !N.pow_add_r; f_equal; rewrite <- N.pow_mul_r; f_equal.
    unfold B_rest, rest_values; fold k2 md; destruct r; rewrite ?N.pow_0_r, ?N.pow_add_r; auto.
    + rewrite !N2Nat.id, <- !N.pow_mul_r; reflexivity.
    + replace (nN (N.to_nat md + (N.to_nat N0 - N.to_nat t * N.to_nat g) + N.to_nat (ladder_x runs) * (N.to_nat t * N.to_nat g)))
        with (md + (N0 - t * g) + ladder_x runs * (t * g))%N
        by (rewrite !Nat2N.inj_add, !Nat2N.inj_mul, Nat2N.inj_sub, !Nat2N.inj_mul, !N2Nat.id; reflexivity).
      rewrite !N2Nat.id, <- !N.pow_mul_r; reflexivity.
Qed.
