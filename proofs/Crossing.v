(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * What crosses a cut

    Networks are causal; recurrent layers in a row are one recurrent layer; a state hands over all that is known of a
    prefix, an accumulator all that its receiver knows of one. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting.
Import ListNotations.

Definition agree {X} (k t : nat) (x x' : nat -> X) : Prop := forall u, k <= u <= t -> x u = x' u.

Definition causal {X Z} (g : (nat -> X) -> nat -> Z) : Prop := forall x x' t, agree 0 t x x' -> g x t = g x' t.

Lemma state_ext {X} {St : nat -> Type} h0 (G : forall t, St t -> X -> St (S t)) x x' k :
  (forall u, u < k -> x u = x' u) -> state h0 G x k = state h0 G x' k.
Proof.
  induction k as [|k IH]; intros H; simpl; [reflexivity|].
  rewrite IH by (intros; apply H; lia). rewrite (H k) by lia. reflexivity.
Qed.

Lemma state_from {X} {St : nat -> Type} h0 (G : forall t, St t -> X -> St (S t)) x x' k t :
  state h0 G x k = state h0 G x' k -> k <= t -> (forall u, k <= u < t -> x u = x' u) ->
  state h0 G x t = state h0 G x' t.
Proof.
  intros E Hk; induction Hk as [|t Hk IH]; intros H; [exact E|].
  simpl; rewrite IH by (intros; apply H; lia). rewrite (H t) by lia. reflexivity.
Qed.

Lemma acc_ext {X} {A : nat -> Type} init (upd : forall t j : nat, A j -> X -> X -> A (S j)) x x' t j :
  x t = x' t -> (forall u, u < j -> x u = x' u) -> acc init upd x t j = acc init upd x' t j.
Proof.
  intros Et; induction j as [|j IH]; intros H; simpl; rewrite Et; [reflexivity|].
  rewrite IH by (intros; apply H; lia). rewrite (H j) by lia. reflexivity.
Qed.

Lemma acc_from {X} {A : nat -> Type} init (upd : forall t j : nat, A j -> X -> X -> A (S j)) x x' t k j :
  x t = x' t -> acc init upd x t k = acc init upd x' t k -> k <= j -> (forall u, k <= u < j -> x u = x' u) ->
  acc init upd x t j = acc init upd x' t j.
Proof.
  intros Et E Hk; induction Hk as [|j Hk IH]; intros H; [exact E|].
  simpl; rewrite IH by (intros; apply H; lia). rewrite (H j), Et by lia. reflexivity.
Qed.

Lemma apply_causal {X Y} (l : layer X Y) : causal (apply l).
Proof.
  intros x x' t H.
  assert (Hx : forall u, u < S t -> x u = x' u) by (intros; apply H; lia).
  assert (Hy : forall u, u < t -> x u = x' u) by (intros; apply H; lia).
  destruct l; cbn [apply].
  - rewrite (state_ext h0 G x x' t Hy), (state_ext h0 G x x' (S t) Hx), (Hx t) by lia; reflexivity.
  - rewrite (acc_ext init upd x x' t (S t) (Hx t ltac:(lia)) Hx), (Hx t) by lia; reflexivity.
  - rewrite (state_ext h0 G x x' t Hy), (state_ext h0 G x x' (S t) Hx),
      (acc_ext init upd x x' t (S t) (Hx t ltac:(lia)) Hx), (Hx t) by lia; reflexivity.
Qed.

Lemma run_causal {X Y} (m : net X Y) : causal (run m).
Proof.
  induction m as [X Y f|X Y Z l rest IH]; intros x x' t H; simpl.
  - rewrite (H t) by lia; reflexivity.
  - apply IH; intros u Hu; apply apply_causal; intros v Hv; apply H; lia.
Qed.

Lemma run_ext {X Y} (m : net X Y) x x' t : (forall u, x u = x' u) -> run m x t = run m x' t.
Proof. intros H; apply run_causal; intros u _; apply H. Qed.

(** ** Recurrent layers in a row are one *)
Fixpoint recurrent (a : list spec) : Prop :=
  match a with
  | [] => True
  | SR _ :: a' => recurrent a'
  | _ => False
  end.

(** The number of values that all their states have after k tokens. *)
Fixpoint states_at (k : nat) (a : list spec) : N :=
  match a with
  | SR f :: a' => (f k * states_at k a')%N
  | _ => 1%N
  end.

Lemma merge2 {X Y Z} St h0 G F St' h0' G' F' :
  let l1 := @Rec X Y St h0 G F in
  let l2 := @Rec Y Z St' h0' G' F' in
  let l := @Rec X Z (fun t => (St t * St' t)%type) (h0, h0')
             (fun t s x => let h := G t (fst s) x in (h, G' t (snd s) (F t (fst s) h x)))
             (fun t s s' x => F' t (snd s) (snd s') (F t (fst s) (fst s') x)) in
  forall x t, apply l x t = apply l2 (apply l1 x) t.
Proof.
  intros l1 l2 l x t.
  set (GG := fun t (s : St t * St' t) x => let h := G t (fst s) x in (h, G' t (snd s) (F t (fst s) h x))).
  assert (E : forall t, state (St := fun t => (St t * St' t)%type) (h0, h0') GG x t =
                        (state h0 G x t, state h0' G' (apply l1 x) t)).
  { intros u; induction u as [|u IH]; [reflexivity|]. cbn [state]; rewrite IH; reflexivity. }
  unfold l; cbn [apply]; fold GG; rewrite !E; reflexivity.
Qed.

Lemma split_rec {X Y} (m : net X Y) a b : recurrent a -> fits m (a ++ b) ->
  exists Z St h0 G F (m' : net Z Y),
    (forall k, card_le (St k) (states_at k a)) /\ fits m' b /\
    (forall x t, run m x t = run m' (apply (@Rec X Z St h0 G F) x) t).
Proof.
  revert m; revert X; induction a as [|[f|f|f f'] a IH]; intros X m Ha Hm; simpl in Ha; try tauto.
  - exists X, (fun _ => unit), tt, (fun _ _ _ => tt), (fun _ _ _ x => x), m; repeat split; auto.
    intros k; apply card_unit.
  - destruct m as [out|Z l rest]; [contradiction|].
    destruct Hm as [Hc Hm]; destruct l as [St h0 G F0| |]; simpl in Hc; try contradiction.
    destruct (IH Z rest Ha Hm) as (Z' & St' & h0' & G' & F' & m' & H1 & H2 & H3).
    eexists Z', _, _, _, _, m'; split; [|split; [exact H2|]].
    2: { intros x t; simpl run; rewrite H3; apply run_ext; intros u.
         symmetry; apply (merge2 St h0 G F0 St' h0' G' F'). }
    intros k; simpl; apply card_prod; auto.
Qed.

(** Recurrent layers to the end. *)
Lemma all_rec {X Y} (m : net X Y) a : recurrent a -> fits m a ->
  exists St h0 G F, (forall k, card_le (St k) (states_at k a)) /\
    (forall x t, run m x t = apply (@Rec X Y St h0 G F) x t).
Proof.
  intros Ha Hm; rewrite <- (app_nil_r a) in Hm.
  destruct (split_rec m a [] Ha Hm) as (Z & St & h0 & G & F & m' & H1 & H2 & H3).
  destruct m' as [f|]; [|contradiction].
  exists St, h0, G, (fun t h h' x => f t (F t h h' x)); split; [exact H1|].
  intros x t; rewrite H3; reflexivity.
Qed.

(** A message below K, made of what is before the cut, and what follows the cut determine all that is computed after it. *)
Definition crosses {X Z} (g : (nat -> X) -> nat -> Z) (k : nat) (K : N) : Prop :=
  exists code : (nat -> X) -> N,
    (forall x, (code x < K)%N) /\
    (forall x x', (forall u, u < k -> x u = x' u) -> code x = code x') /\
    (forall x x' t, k <= t -> code x = code x' -> agree k t x x' -> g x t = g x' t).

Lemma recurrent_crosses {X Y} (m : net X Y) a k : recurrent a -> fits m a -> crosses (run m) k (states_at k a).
Proof.
  intros Ha Hm.
  destruct (all_rec m a Ha Hm) as (St & h0 & G & F & H1 & H2).
  destruct (H1 k) as (code & Hinj & Hlt).
  exists (fun x => code (state h0 G x k)); repeat split; auto.
  - intros x x' H; rewrite (state_ext h0 G x x' k); auto.
  - intros x x' t Hk E H; apply Hinj in E; rewrite !H2; cbn [apply].
    rewrite (state_from h0 G x x' k t), (state_from h0 G x x' k (S t)), (H t);
      auto; try lia; intros; apply H; lia.
Qed.

(** R^a F R^b is R F R. *)
Lemma split_rfr {X Y} (m : net X Y) a C b : recurrent a -> recurrent b -> fits m (a ++ SF C :: b) ->
  exists Z W St h0 G F A init upd fin St' h0' G' F',
    (forall k, card_le (St k) (states_at k a)) /\ (forall k, card_le (A k) (C k)) /\
    (forall k, card_le (St' k) (states_at k b)) /\
    (forall x t, run m x t =
       apply (@Rec W Y St' h0' G' F') (apply (@Full Z W A init upd fin) (apply (@Rec X Z St h0 G F) x)) t).
Proof.
  intros Ha Hb Hm.
  destruct (split_rec m a (SF C :: b) Ha Hm) as (Z & St & h0 & G & F & m' & H1 & H2 & H3).
  destruct m' as [f|W l rest]; [contradiction|].
  destruct H2 as [HA Hr]; destruct l as [|A init upd fin|]; simpl in HA; try contradiction.
  destruct (all_rec rest b Hb Hr) as (St' & h0' & G' & F' & H4 & H5).
  exists Z, W, St, h0, G, F, A, init, upd, fin, St', h0', G', F'; repeat split; auto.
  intros x t; rewrite H3; simpl run; rewrite H5; reflexivity.
Qed.

(** ** The same in bits *)
Fixpoint is_recurrent (a : list bits) : bool :=
  match a with
  | [] => true
  | R _ :: a' | LL _ :: a' => is_recurrent a'
  | _ => false
  end.

(** Bits of all states after k tokens. *)
Fixpoint bits_at (k : N) (a : list bits) : N :=
  match a with
  | R s :: a' => s + bits_at k a'
  | LL s :: a' => s * popcount k + bits_at k a'
  | _ => 0
  end.

Lemma recurrent_bits a : is_recurrent a = true -> recurrent (map spec_of a).
Proof. induction a as [|[] a IH]; simpl; auto; discriminate. Qed.

Lemma states_bits k a : is_recurrent a = true -> states_at k (map spec_of a) = (2 ^ bits_at (N.of_nat k) a)%N.
Proof.
  induction a as [|[] a IH]; simpl; intros H; try discriminate; auto; rewrite IH, <- N.pow_add_r by exact H; reflexivity.
Qed.

(** ** Chains of thought do not touch the prompt, and only see what the network sees *)
Lemma think_before {Y} (m : net token Y) next p last T t : t <= last -> think m next p last T t = p t.
Proof.
  induction T as [|T IH]; intros H; cbn [think]; [reflexivity|].
  destruct (Nat.eqb_spec t (last + S T)); [lia|auto].
Qed.

Lemma think_crosses {Y} (m : net token Y) next k K : crosses (run m) k K ->
  exists code : (nat -> token) -> N,
    (forall x, (code x < K)%N) /\
    (forall x x', (forall u, u < k -> x u = x' u) -> code x = code x') /\
    (forall x x' last T, k <= last -> code x = code x' -> agree k last x x' ->
       run m (think m next x last T) (last + T) = run m (think m next x' last T) (last + T)).
Proof.
  intros (code & Hlt & Hpre & Hpost); exists code; split; [exact Hlt|]; split; [exact Hpre|].
  intros x x' last T Hk E Hx.
  assert (C : forall T, code (think m next x last T) = code (think m next x' last T)).
  { intros T'; rewrite (Hpre _ x), (Hpre (think m next x' last T') x'), E; auto;
      intros u Hu; apply think_before; lia. }
  assert (D : forall T, agree k (last + T) (think m next x last T) (think m next x' last T)).
  { induction T0 as [|T0 IH]; intros u Hu; cbn [think]; [apply Hx; lia|].
    destruct (Nat.eqb_spec u (last + S T0)) as [Eu|Eu].
    - f_equal; apply Hpost; [lia|apply C|exact IH].
    - apply IH; lia. }
  apply Hpost; [lia|apply C|apply D].
Qed.

Lemma thinking_0 k (m : net token nat) : solves k m -> solves_thinking k 0 m num (fun y => y).
Proof. intros H p t v Hk; cbn [think]; rewrite Nat.add_0_r; apply H, Hk. Qed.

Lemma plain_of_thinking arch k : ImpossibleThinking arch 0 k -> Impossible arch k.
Proof. intros H m Hm Hs; exact (H nat m num (fun y => y) Hm (thinking_0 k m Hs)). Qed.
