(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Recurrent heads beside full ones are no better than a recurrent layer after them

    The full layer hands on its input and what its receiver has accumulated; a recurrent layer then reads the input.  So a theorem
    about F c :: R s is one about RF s c. *)
From Coq Require Import Arith NArith List Lia Bool Eqdep_dec.
From Rung Require Import Model Counting Crossing Thought.
Import ListNotations.

Section Apart.
Context {X Y : Type} {St : nat -> Type} (h0 : St 0) (G : forall t, St t -> X -> St (S t)) {A : nat -> Type}
  (init : forall t : nat, X -> A 0) (upd : forall t j : nat, A j -> X -> X -> A (S j)) (out : forall t, St t -> St (S t) -> A (S t) -> X -> Y).

Definition heard := {t : nat & A (S t)}.

Definition full_part : layer X (X * heard) := Full A init upd (fun t a x => (x, existT (fun t => A (S t)) t a)).

(** A value that was heard at another position is never read. *)
Definition read_heard (t : nat) (s : St t) (s' : St (S t)) (w : X * heard) : Y :=
  let x := fst w in
  match Nat.eq_dec (projT1 (snd w)) t with
  | left e => out t s s' (eq_rect _ (fun t => A (S t)) (projT2 (snd w)) t e) x
  | right _ => out _ (state h0 G (fun _ => x) _) (state h0 G (fun _ => x) _) (projT2 (snd w)) x
  end.

Definition recurrent_part : layer (X * heard) Y := Rec St h0 (fun t s w => G t s (fst w)) read_heard.

Lemma apart x t : apply recurrent_part (apply full_part x) t = apply (Both St h0 G A init upd out) x t.
Proof.
  assert (E : forall u, state h0 (fun t s (w : X * heard) => G t s (fst w)) (apply full_part x) u = state h0 G x u)
    by (induction u as [|u IH]; [reflexivity|]; cbn [state]; rewrite IH; reflexivity).
  unfold recurrent_part; cbn [apply]; rewrite !E; unfold read_heard; cbn [apply full_part snd fst projT1 projT2].
  destruct (Nat.eq_dec t t) as [e|C]; [|contradiction]; rewrite (UIP_refl_nat t e); reflexivity.
Qed.
End Apart.

Lemma beside_as_after {X Y} (m : net X Y) before s c after : fits m (map spec_of (before ++ RF s c :: after)) ->
  exists m' : net X Y, fits m' (map spec_of (before ++ F c :: R s :: after)) /\ forall x t, run m' x t = run m x t.
Proof.
  revert X m; induction before as [|b before IH]; intros X m Hm; destruct m as [|Z l rest]; try contradiction; destruct Hm as [Hl Hm].
  - destruct l as [| |St h0 G A init upd out]; try contradiction; simpl in Hl.
    exists (Then (full_part init upd) (Then (recurrent_part h0 G out) rest)); split.
    + simpl; split; [intros; apply Hl|]; split; [intros; apply Hl|exact Hm].
    + intros x t; cbn [run]; apply run_ext, apart.
  - destruct (IH Z rest Hm) as (m' & Hm' & E); exists (Then l m'); split; [split; [exact Hl|exact Hm']|]. intros x t; cbn [run]; apply E.
Qed.

Theorem heads_after k before s c after :
  Impossible (before ++ F c :: R s :: after) k -> Impossible (before ++ RF s c :: after) k.
Proof.
  intros H m Hm Hs; destruct (beside_as_after m before s c after Hm) as (m' & Hm' & E); apply (H m' Hm').
  intros p t v Hp; rewrite E; apply (Hs p t v Hp).
Qed.

Theorem heads_after_thinking k T before s c after :
  ImpossibleThinking (before ++ F c :: R s :: after) T k -> ImpossibleThinking (before ++ RF s c :: after) T k.
Proof.
  intros H Y m next answer Hm Hs; destruct (beside_as_after m before s c after Hm) as (m' & Hm' & E); apply (H Y m' next answer Hm').
  intros p t v Hp; rewrite E, <- (Hs p t v Hp); f_equal; apply run_ext; intros u; apply think_ext, E.
Qed.
