(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * A published statement that is false

    Ye, He, Liao, Wu, Lu (2026), Theorem B.2: no deterministic (L, a_1, ..., a_L)-hybrid protocol composes L functions, if a_1 <= 1
    and inequality (12) holds.  With a_1 = 1 the linear round after the first soft round may hand z_1(z_0) to the last player; then one
    soft round per function is enough.  (With a_1 = 0, which is all that their Theorem 1.1 uses, nothing here contradicts it.) *)
From Coq Require Import Arith NArith List Lia.
Import ListNotations.
Local Open Scope N_scope.

(** ** The model of their page 5

    Players -1, 0, ..., L are 0, 1, ..., L+1 here.  Player -1 holds w, player 0 holds z_0, player i >= 1 the table z_i.  What a player knows
    is its input and the messages it has received, in order. *)
Definition know : Type := (N -> N) * list N.

Record protocol := {
  soft_message : nat -> nat -> nat -> know -> know -> N;      (* epoch, from j, to i < j; both know X_j and X_i *)
  linear_message : nat -> nat -> nat -> know -> N;            (* epoch, round, from i to i-1 *)
  answer : know -> N }.

Section Model.
Variables (L H d p : nat) (a : nat -> nat).                   (* a l: linear rounds in epoch l = 1, ..., L *)

(** Their parameters (5) and (6). *)
Definition K : N := N.of_nat (H * d * p * L) ^ 8 * 8 ^ N.of_nat (2 * L * L).
Definition sqrt_K : N := N.of_nat (H * d * p * L) ^ 4 * 8 ^ N.of_nat (L * L).
Definition x (l : nat) : N := K ^ (8 ^ N.of_nat (L - l - 1)).
Definition n (l : nat) : N := K ^ (4 * 8 ^ N.of_nat (L - l - 1)).
Fixpoint geometric (k : nat) : N := match k with O => 0 | S j => geometric j + 8 ^ N.of_nat j end.
Definition m : N := K ^ (1 + geometric L).
Fixpoint NN (l : nat) : N := match l with O => m | S k => n (S k) * NN k end.          (* N_l *)
Fixpoint product (f : nat -> N) (from count : nat) : N := match count with O => 1 | S k => f from * product f (S from) k end.
Definition W : N := product n 1 (L - 1).

(** (12): H d (d+1) p (a_1 + ... + a_(l+1)) <= sqrt(K) x_0 ... x_(l-1) W for l = 1, ..., L-1. *)
Fixpoint rounds (l : nat) : nat := match l with O => 0 | S k => rounds k + a (S k) end%nat.
Definition inequality_12 : Prop := forall l, (1 <= l < L)%nat ->
  N.of_nat (H * d * (d + 1) * p * rounds (S l)) <= sqrt_K * product x 0 l * W.

(** Tokens of a player, and the sizes of messages in bits. *)
Definition tokens_of (i : nat) : N := match i with O => 1 | S O => 1 | S (S k) => NN k end.
Definition bounded (P : protocol) : Prop :=
  (forall e j i X Y, soft_message P e j i X Y < 2 ^ (N.of_nat (2 * H * d * p) * tokens_of i)) /\
  (forall e r i X, linear_message P e r i X < 2 ^ N.of_nat (H * d * (d + 1) * p)).

Definition soft (P : protocol) (e : nat) (X : nat -> know) (i : nat) : know :=
  (fst (X i), snd (X i) ++ map (fun j => soft_message P e j i (X j) (X i)) (seq (S i) (S L - i))).

(** From player L down; each message may use what its sender has just received.  [s] players are above. *)
Fixpoint linear_at (P : protocol) (e r : nat) (X : nat -> know) (above : nat) (i : nat) : know :=
  match above with
  | O => X i
  | S k => (fst (X i), snd (X i) ++ [linear_message P e r (S i) (linear_at P e r X k (S i))])
  end.
Definition linear (P : protocol) (e r : nat) (X : nat -> know) (i : nat) : know := linear_at P e r X (S L - i) i.

Fixpoint linear_rounds (P : protocol) (e r : nat) (X : nat -> know) : nat -> know :=
  match r with O => X | S k => linear P e k (linear_rounds P e k X) end.

Fixpoint epochs (P : protocol) (e : nat) (X : nat -> know) : nat -> know :=
  match e with O => X | S k => linear_rounds P (S k) (a (S k)) (soft P (S k) (epochs P k X)) end.

(** The task: i_1 = z_1(z_0), i_(l+1) = z_(l+1)(w_l, i_l). *)
Fixpoint value (z : nat -> N -> N) (z0 : N) (w : nat -> N) (l : nat) : N :=
  match l with
  | O => z0
  | S O => z 1%nat z0
  | S k => z (S k) (w k * NN (k - 1) + value z z0 w k)
  end.

Definition start_of (z : nat -> N -> N) (z0 : N) (w : nat -> N) (i : nat) : know :=
  (match i with O => fun l => w (N.to_nat l) | S O => fun _ => z0 | S k => z k end, []).

Definition solves_composition (P : protocol) : Prop :=
  forall z z0 w, (forall l v, v < NN (l - 1) -> z l v < NN (l - 1)) -> z0 < m -> (forall l, w l < n l) ->
  answer P (epochs P L (start_of z z0 w) 0%nat) = value z z0 w L.
End Model.

(** The statement as printed. *)
Definition Theorem_B2 : Prop := forall (L H d p : nat) (a : nat -> nat) (P : protocol),
  (2 <= L)%nat -> (a 1 <= 1)%nat -> inequality_12 L H d p a -> bounded L H d p P -> ~ solves_composition L H d p a P.

(** ** The counterexample: L = 2, one head of dimension 1 with numbers of 1024 bits, one linear round in the first epoch *)
Definition relay : protocol := {|
  soft_message := fun e j i X Y =>
    (match e, j, i with
     | 1%nat, 2%nat, 1%nat => fst X (fst Y 0)                              (* player 1 tells player 0: z_1(z_0) *)
     | 2%nat, 3%nat, 0%nat => fst X (fst Y 1 * NN 2 1 1 1024 0 + nth 3 (snd Y) 0)   (* player 2 tells player -1: z_2(w_1, i_1) *)
     | _, _, _ => 0
     end) mod 2 ^ 2048;
  linear_message := fun e r i X => match i with 1%nat => nth 0 (snd X) 0 mod 2 ^ 2048 | _ => 0 end;
  answer := fun X => nth 6 (snd X) 0 |}.

Lemma m_value : m 2 1 1 1024 = 2 ^ 1120. Proof. vm_compute; reflexivity. Qed.
Lemma n_value : n 2 1 1 1024 1 = 2 ^ 448. Proof. vm_compute; reflexivity. Qed.

Theorem relay_solves : solves_composition 2 1 1 1024 (fun l => match l with 1%nat => 1%nat | _ => 0%nat end) relay.
Proof.
  intros z z0 w Hz Hz0 Hw.
  assert (H1 : z 1%nat z0 < 2 ^ 1120) by (rewrite <- m_value; apply (Hz 1%nat); exact Hz0).
  assert (H2 : z 2%nat (w 1%nat * NN 2 1 1 1024 0 + z 1%nat z0) < 2 ^ 1568).
  { assert (E : NN 2 1 1 1024 1 = 2 ^ 1568) by (vm_compute; reflexivity). rewrite <- E.
    apply (Hz 2%nat); cbn [Nat.sub NN]; fold (m 2 1 1 1024); rewrite m_value, n_value.
    specialize (Hw 1%nat); rewrite n_value in Hw; nia. }
  assert (M1 : z 1%nat z0 mod 2 ^ 2048 = z 1%nat z0).
  { apply N.mod_small, (N.lt_le_trans _ _ _ H1), N.pow_le_mono_r; lia. }
  assert (M2 : z 2%nat (w 1%nat * NN 2 1 1 1024 0 + z 1%nat z0) mod 2 ^ 2048 = z 2%nat (w 1%nat * NN 2 1 1 1024 0 + z 1%nat z0)).
  { apply N.mod_small, (N.lt_le_trans _ _ _ H2), N.pow_le_mono_r; lia. }
  cbn -[N.pow N.modulo N.mul N.add NN]; change (N.to_nat 1) with 1%nat.
  change (Pos.to_nat 1) with 1%nat; rewrite !M1, M2; reflexivity.
Qed.

Theorem B2_is_false : ~ Theorem_B2.
Proof.
  intros B2.
  apply (B2 2%nat 1%nat 1%nat 1024%nat (fun l => match l with 1%nat => 1%nat | _ => 0%nat end) relay); [lia|lia| | |exact relay_solves].
  - intros l Hl; assert (l = 1)%nat as -> by lia; vm_compute; discriminate.
  - split.
    + intros e j i X Y; cbn [soft_message relay].
      apply N.lt_le_trans with (2 ^ 2048); [apply N.mod_lt, N.pow_nonzero; lia|].
      apply N.pow_le_mono_r; [lia|]. change (N.of_nat (2 * 1 * 1 * 1024)) with 2048.
      assert (1 <= tokens_of 2 1 1 1024 i); [|nia].
      destruct i as [|[|k]]; cbn [tokens_of]; try lia.
      assert (G : forall k, 1 <= NN 2 1 1 1024 k); [|apply G].
      assert (P : forall e, 1 <= K 2 1 1 1024 ^ e) by (intros e'; assert (K 2 1 1 1024 ^ e' <> 0); [apply N.pow_nonzero; vm_compute; discriminate|lia]).
      intros k0; induction k0 as [|k0 IH]; cbn [NN]; [apply P|].
      pose proof (P (4 * 8 ^ N.of_nat (2 - S k0 - 1))) as P'; unfold n at 1.
      set (e1 := K 2 1 1 1024 ^ (4 * 8 ^ N.of_nat (2 - S k0 - 1))) in *; clearbody e1; set (e2 := NN 2 1 1 1024 k0) in *; clearbody e2; nia.
    + intros e r i X; cbn [linear_message relay]. change (N.of_nat (1 * 1 * (1 + 1) * 1024)) with 2048.
      destruct i as [|[|k]]; [| |]; try (apply N.mod_lt, N.pow_nonzero; lia); apply N.neq_0_lt_0, N.pow_nonzero; lia.
Qed.
