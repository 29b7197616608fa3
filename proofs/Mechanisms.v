(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Mechanisms: online softmax and every recurrent step as instances of the model

    The number type has at most 2^p elements and its operations are ANY functions: nothing about rounding, infinities or NaN is assumed.
    Queries, keys, values, gates are any functions of position and token value; the output is any function of what the heads
    read and of the token's own value.  The equations and the order are those of docs/mechanisms. *)
From Coq Require Import Arith NArith List Lia.
From Rung Require Import Model Counting Crossing.
Import ListNotations.

(** ** Vectors *)
Fixpoint vec (T : Type) (n : nat) : Type := match n with 0 => unit | S k => (T * vec T k)%type end.

Fixpoint vmap {S T} (f : S -> T) {n} : vec S n -> vec T n :=
  match n with 0 => fun _ => tt | S k => fun v => (f (fst v), vmap f (snd v)) end.

Fixpoint vmap2 {S T U} (f : S -> T -> U) {n} : vec S n -> vec T n -> vec U n :=
  match n with 0 => fun _ _ => tt | S k => fun v w => (f (fst v) (fst w), vmap2 f (snd v) (snd w)) end.

Fixpoint vfold {S T} (f : S -> T -> S) (s : S) {n} : vec T n -> S :=
  match n with 0 => fun _ => s | S k => fun v => vfold f (f s (fst v)) (snd v) end.

Fixpoint vconst {T} (x : T) n : vec T n := match n with 0 => tt | S k => (x, vconst x k) end.

(** A new first element; the last one is lost. *)
Fixpoint vshift {T} (x : T) {n} : vec T n -> vec T n :=
  match n with 0 => fun _ => tt | S k => fun v => (x, vshift (fst v) (snd v)) end.

Definition vzip {S T} {n} (v : vec S n) (w : vec T n) : vec (S * T) n := vmap2 pair v w.

Lemma card_vec T a n : card_le T a -> card_le (vec T n) (a ^ N.of_nat n).
Proof.
  intros H; induction n as [|n IH]; simpl vec; [apply card_unit|].
  rewrite Nat2N.inj_succ, N.pow_succ_r'; apply card_prod; auto.
Qed.

Section Numbers.
Variable number : Type.
Variable p : N.
Hypothesis Hnumber : card_le number (2 ^ p).
Variables (zero one ninf : number) (add sub mul div fmax : number -> number -> number) (exp sigmoid tanh : number -> number).

Lemma card_block T a n : card_le T (2 ^ a) -> card_le (vec T n) (2 ^ (N.of_nat n * a)).
Proof. intros H; rewrite N.mul_comm, N.pow_mul_r; apply card_vec; exact H. Qed.

Lemma card_both S T a b : card_le S (2 ^ a) -> card_le T (2 ^ b) -> card_le (S * T) (2 ^ (a + b)).
Proof. intros HS HT; rewrite N.pow_add_r; apply card_prod; assumption. Qed.

Lemma card_same T a b : a = b -> card_le T (2 ^ a) -> card_le T (2 ^ b).
Proof. intros ->; auto. Qed.

Definition dot {n} (u v : vec number n) : number := vfold add zero (vmap2 mul u v).

Section Layer.
Variables (X Y : Type) (H dk dv : nat).
Local Notation keys := (vec number dk).
Local Notation values := (vec number dv).
Local Notation matrix := (vec (vec number dv) dk).
Variables (query key : nat -> X -> vec keys H) (value : nat -> X -> vec values H) (out : nat -> vec values H -> X -> Y).

(** *** full: online softmax, from left to right: maximum, denominator, numerator *)
Definition head_acc : Type := (number * (number * values))%type.

Definition head_step (a : head_acc) (s : number) (v : values) : head_acc :=
  let '(mx, (den, nu)) := a in
  let mx' := fmax mx s in
  let scale := exp (sub mx mx') in
  let w := exp (sub s mx') in
  (mx', (add (mul den scale) w, vmap2 (fun o vi => add (mul o scale) (mul w vi)) nu v)).

Definition head_out (a : head_acc) : values := let '(_, (den, nu)) := a in vmap (fun o => div o den) nu.

Definition full_layer : layer X Y :=
  Full (fun _ => vec head_acc H)
    (fun _ _ => vconst (ninf, (zero, vconst zero dv)) H)
    (fun t j a xj xt => vmap2 (fun ah sv => head_step ah (fst sv) (snd sv)) a
         (vzip (vmap2 dot (query t xt) (key j xj)) (value j xj)))
    (fun t a xt => out t (vmap head_out a) xt).

Theorem full_fits : layer_fits full_layer (spec_of (F (N.of_nat (H * (dv + 2)) * p))).
Proof.
  intros t; apply (card_same _ (N.of_nat H * (p + (p + N.of_nat dv * p)))); [lia|].
  apply card_block, card_both; [exact Hnumber|]; apply card_both; [exact Hnumber|apply card_block, Hnumber].
Qed.

(** *** linear: S += phi(k) v^T, z += phi(k); phi is part of key and query *)
Definition linear_head : Type := vec (number * values) dk.

Definition linear_write (h : linear_head) (k : keys) (v : values) : linear_head :=
  vmap2 (fun row ki => (add (fst row) ki, vmap2 (fun s vi => add s (mul ki vi)) (snd row) v)) h k.

Definition linear_read (h : linear_head) (q : keys) : values :=
  let '(den, nu) := vfold (fun a rq => (add (fst a) (mul (snd rq) (fst (fst rq))),
                        vmap2 (fun o s => add o (mul (snd rq) s)) (snd a) (snd (fst rq))))
      (zero, vconst zero dv) (vzip h q) in
  vmap (fun o => div o den) nu.

Definition linear_layer : layer X Y :=
  Rec (fun _ => vec linear_head H) (vconst (vconst (zero, vconst zero dv) dk) H)
    (fun t h x => vmap2 (fun hh kv => linear_write hh (fst kv) (snd kv)) h (vzip (key t x) (value t x)))
    (fun t _ h x => out t (vmap2 linear_read h (query t x)) x).

Theorem linear_fits : layer_fits linear_layer (spec_of (R (N.of_nat (H * dk * (dv + 1)) * p))).
Proof.
  intros t; apply (card_same _ (N.of_nat H * (N.of_nat dk * (p + N.of_nat dv * p)))); [lia|].
  apply card_block, card_block, card_both; [exact Hnumber|apply card_block, Hnumber].
Qed.

(** *** One matrix per head and any step of it: the state of retnet, gla, mamba2, delta, gdelta, kda, rwkv7, mamba *)
Definition matrix_layer (step : nat -> vec matrix H -> X -> vec matrix H) (read : nat -> matrix -> keys -> values) : layer X Y :=
  Rec (fun _ => vec matrix H) (vconst (vconst (vconst zero dv) dk) H) step
    (fun t _ h x => out t (vmap2 (read t) h (query t x)) x).

Theorem matrix_fits step read : layer_fits (matrix_layer step read) (spec_of (R (N.of_nat (H * dk * dv) * p))).
Proof.
  intros t; apply (card_same _ (N.of_nat H * (N.of_nat dk * (N.of_nat dv * p)))); [lia|].
  apply card_block, card_block, card_block, Hnumber.
Qed.

(** S^T q, from row 0 upwards. *)
Definition matrix_read (S : matrix) (q : keys) : values :=
  vfold (fun o rq => vmap2 (fun oi s => add oi (mul s (snd rq))) o (fst rq)) (vconst zero dv) (vzip S q).

Definition fade (w : keys) (S : matrix) : matrix := vmap2 (fun wi row => vmap (mul wi) row) w S.
Definition write (S : matrix) (k : keys) (u : values) : matrix :=
  vmap2 (fun row ki => vmap2 (fun s ui => add s (mul ki ui)) row u) S k.

(** retnet, mamba2 (one decay per head: a constant vector), gla (one per key channel): S <- diag(e^g) S + k v^T. *)
Variable decay : nat -> X -> vec keys H.
Definition additive_step (t : nat) (h : vec matrix H) (x : X) : vec matrix H :=
  vmap2 (fun S a => write (fade (fst a) S) (fst (snd a)) (snd (snd a))) h (vzip (decay t x) (vzip (key t x) (value t x))).

Definition gla_layer : layer X Y := matrix_layer additive_step (fun _ => matrix_read).
Definition gla_fits := matrix_fits additive_step (fun _ => matrix_read).

(** delta (no decay), gdelta, kda: u = beta (v - S^T k), S <- S + k u^T. *)
Variable beta : nat -> X -> vec number H.
Definition correct (S : matrix) (b : number) (k : keys) (v : values) : matrix :=
  write S k (vmap2 (fun vi s => mul b (sub vi s)) v (matrix_read S k)).

Definition delta_step (t : nat) (h : vec matrix H) (x : X) : vec matrix H :=
  vmap2 (fun S a => correct S (fst a) (fst (snd a)) (snd (snd a))) h (vzip (beta t x) (vzip (key t x) (value t x))).
Definition kda_step (t : nat) (h : vec matrix H) (x : X) : vec matrix H := delta_step t (vmap2 fade (decay t x) h) x.

Definition delta_layer : layer X Y := matrix_layer delta_step (fun _ => matrix_read).
Definition delta_fits := matrix_fits delta_step (fun _ => matrix_read).
Definition kda_layer : layer X Y := matrix_layer kda_step (fun _ => matrix_read).
Definition kda_fits := matrix_fits kda_step (fun _ => matrix_read).

(** rwkv7: S <- diag(w) S + b (a^T S) + k v^T. *)
Variables (ra rb : nat -> X -> vec keys H).
Definition rwkv7_head (S : matrix) (w a b k : keys) (v : values) : matrix :=
  let s := matrix_read S a in write (write (fade w S) b s) k v.
Definition rwkv7_step (t : nat) (h : vec matrix H) (x : X) : vec matrix H :=
  vmap2 (fun S a => rwkv7_head S (fst (fst a)) (fst (snd (fst a))) (snd (snd (fst a))) (fst (snd a)) (snd (snd a))) h
    (vzip (vzip (decay t x) (vzip (ra t x) (rb t x))) (vzip (key t x) (value t x))).
Definition rwkv7_layer : layer X Y := matrix_layer rwkv7_step (fun _ => matrix_read).
Definition rwkv7_fits := matrix_fits rwkv7_step (fun _ => matrix_read).

(** mamba: h_nc <- e^(dt_c A_nc) h_nc + (dt_c x_c) B_n; A is a parameter of the layer, B the key, x the value. *)
Variables (dt : nat -> X -> vec values H) (mamba_A : vec matrix H).
Definition mamba_head (h A : matrix) (B : keys) (x d : values) : matrix :=
  vmap2 (fun row ab => vmap2 (fun s ad => add (mul (exp (mul (snd (snd ad)) (fst ad))) s) (mul (mul (snd (snd ad)) (fst (snd ad))) (snd ab)))
                         row (vzip (fst ab) (vzip x d)))
    h (vzip A B).
Definition mamba_step (t : nat) (h : vec matrix H) (x : X) : vec matrix H :=
  vmap2 (fun S a => mamba_head S (fst (fst a)) (snd (fst a)) (fst (snd a)) (snd (snd a))) h
    (vzip (vzip mamba_A (key t x)) (vzip (value t x) (dt t x))).
Definition mamba_layer : layer X Y := matrix_layer mamba_step (fun _ => matrix_read).
Definition mamba_fits := matrix_fits mamba_step (fun _ => matrix_read).

(** *** rnn: h <- tanh(U h + x), and the LSTM with its cell *)
Variable recurrent_U : vec (vec values dv) H.
Definition rnn_head (U : vec values dv) (h x : values) : values := vmap2 (fun row xi => tanh (add (dot row h) xi)) U x.

Definition rnn_layer : layer X Y :=
  Rec (fun _ => vec values H) (vconst (vconst zero dv) H)
    (fun t h x => vmap2 (fun hh a => rnn_head (fst a) hh (snd a)) h (vzip recurrent_U (value t x)))
    (fun t _ h x => out t h x).

Theorem rnn_fits : layer_fits rnn_layer (spec_of (R (N.of_nat (H * dv) * p))).
Proof.
  intros t; apply (card_same _ (N.of_nat H * (N.of_nat dv * p))); [lia|]. apply card_block, card_block, Hnumber.
Qed.

Variables (lstm_gates : nat -> X -> values -> vec (number * (number * (number * number))) dv).
Definition lstm_layer : layer X Y :=
  Rec (fun _ => vec (values * values) H) (vconst (vconst zero dv, vconst zero dv) H)
    (fun t h x => vmap (fun hc =>
       let gates := lstm_gates t x (fst hc) in                              (* i, f, g, p = U h + x *)
       let c := vmap2 (fun a ci => add (mul (sigmoid (fst (snd a))) ci) (mul (sigmoid (fst a)) (tanh (fst (snd (snd a)))))) gates (snd hc) in
       (vmap2 (fun a ci => mul (sigmoid (snd (snd (snd a)))) (tanh ci)) gates c, c)) h)
    (fun t _ h x => out t (vmap fst h) x).

Theorem lstm_fits : layer_fits lstm_layer (spec_of (R (N.of_nat (H * (2 * dv)) * p))).
Proof.
  intros t; apply (card_same _ (N.of_nat H * (N.of_nat dv * p + N.of_nat dv * p))); [lia|].
  apply card_block, card_both; apply card_block, Hnumber.
Qed.

(** *** window: the keys and values of the last W tokens, and any reading of them; a short convolution is the same with its inputs *)
Variables (W : nat) (window_read : nat -> vec (vec (keys * values) H) W -> X -> Y).
Definition window_layer : layer X Y :=
  Rec (fun _ => vec (vec (keys * values) H) W) (vconst (vconst (vconst zero dk, vconst zero dv) H) W)
    (fun t h x => vshift (vzip (key t x) (value t x)) h)
    (fun t _ h x => window_read t h x).

Theorem window_fits : layer_fits window_layer (spec_of (R (N.of_nat (W * (H * (dk + dv))) * p))).
Proof.
  intros t; apply (card_same _ (N.of_nat W * (N.of_nat H * (N.of_nat dk * p + N.of_nat dv * p)))); [lia|].
  apply card_block, card_block, card_both; apply card_block, Hnumber.
Qed.

(** *** loglinear: one matrix per one-bit of the number of tokens, merged as one is added to a binary counter; [every] is what happens to
    each of them at a token (nothing, a decay, a correction). *)
Fixpoint buckets (q : positive) : Type :=
  match q with xH => vec matrix H | xO r => buckets r | xI r => (vec matrix H * buckets r)%type end.

Definition merge (a b : vec matrix H) : vec matrix H := vmap2 (fun S T => vmap2 (fun r s => vmap2 add r s) S T) a b.

Fixpoint count_up (q : positive) (new : vec matrix H) : buckets q -> buckets (Pos.succ q) :=
  match q with
  | xH => fun b => merge new b
  | xO r => fun b => (new, b)
  | xI r => fun b => count_up r (merge new (fst b)) (snd b)
  end.

Fixpoint each (f : vec matrix H -> vec matrix H) (q : positive) : buckets q -> buckets q :=
  match q with xH => f | xO r => each f r | xI r => fun b => (f (fst b), each f r (snd b)) end.

Definition held (t : nat) : Type := match t with 0 => unit | S n => buckets (Pos.of_succ_nat n) end.

Variables (every : nat -> X -> vec matrix H -> vec matrix H) (enter : nat -> X -> vec matrix H)
          (loglinear_read : forall t, held t -> X -> Y).

Definition loglinear_step (t : nat) : held t -> X -> held (S t) :=
  match t with
  | 0 => fun _ x => enter 0 x
  | S n => fun h x => count_up (Pos.of_succ_nat n) (enter (S n) x) (each (every (S n) x) (Pos.of_succ_nat n) h)
  end.

Definition loglinear_layer : layer X Y := Rec held tt loglinear_step (fun t h _ x => loglinear_read t h x).

Lemma buckets_card q : card_le (buckets q) (2 ^ (N.of_nat (H * dk * dv) * p * ones q)).
Proof.
  assert (M : card_le (vec matrix H) (2 ^ (N.of_nat (H * dk * dv) * p))).
  { apply (card_same _ (N.of_nat H * (N.of_nat dk * (N.of_nat dv * p)))); [lia|]. apply card_block, card_block, card_block, Hnumber. }
  induction q as [q IH|q IH|]; cbn [buckets ones].
  - apply (card_same _ (N.of_nat (H * dk * dv) * p + N.of_nat (H * dk * dv) * p * ones q)); [lia|]. apply card_both; assumption.
  - exact IH.
  - rewrite N.mul_1_r; exact M.
Qed.

Theorem loglinear_fits : layer_fits loglinear_layer (spec_of (LL (N.of_nat (H * dk * dv) * p))).
Proof.
  intros [|n]; cbn [held N.of_nat popcount].
  - rewrite N.mul_0_r; apply card_unit.
  - apply buckets_card.
Qed.
End Layer.

(** Networks of such layers meet the premises of the theorems: [built m arch] collects layers whose bits are known. *)
Inductive built : forall X Y, net X Y -> list bits -> Prop :=
| built_out X Y f : built X Y (Out f) []
| built_layer X Y Z (l : layer X Z) (b : bits) rest arch :
    layer_fits l (spec_of b) -> built Z Y rest arch -> built X Y (Then l rest) (b :: arch).

Theorem built_fits X Y (m : net X Y) arch : built X Y m arch -> fits m (map spec_of arch).
Proof. induction 1; simpl; auto. Qed.
End Numbers.
