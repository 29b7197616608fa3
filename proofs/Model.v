(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The model

    Everything that a reader has to trust is in this file: what a layer is, what "so many bits" means, what the tasks ask,
    and what it means to fail.  Positions are counted from 0.  A sequence is a function from positions to values; what
    stands after the prompt is irrelevant, because every layer is causal (Crossing.v proves it).  The types between
    layers are arbitrary: the residual stream is not bounded, so any MLP, norm, position code and residual is covered. *)
From Coq Require Import Arith NArith List.
Import ListNotations.

(** T has at most k elements. *)
Definition card_le (T : Type) (k : N) : Prop :=
  exists code : T -> N, (forall a b, code a = code b -> a = b) /\ (forall a, (code a < k)%N).

(** ** Layers

    [Rec]: h_(t+1) = G(h_t, x_t), output from h_t, h_(t+1) and x_t.  [St t] is the type of the state after t tokens.

    [Full]: for every receiver t a scan from left to right over 0, ..., t: acc_(j+1) = upd(acc_j, x_j, x_t), output from
    acc_(t+1) and x_t.  [A j] is the type of an accumulator that has read j tokens.  The order is part of the definition:
    a softmax that sees the whole row before it adds, or that adds from right to left, is no such layer.

    [Both]: recurrent and full heads on the same input.

    Every function also sees positions. *)
Inductive layer (X Y : Type) : Type :=
| Rec (St : nat -> Type) (h0 : St 0) (G : forall t, St t -> X -> St (S t)) (out : forall t, St t -> St (S t) -> X -> Y)
| Full (A : nat -> Type) (init : forall t : nat, X -> A 0) (upd : forall t j : nat, A j -> X -> X -> A (S j))
       (out : forall t, A (S t) -> X -> Y)
| Both (St : nat -> Type) (h0 : St 0) (G : forall t, St t -> X -> St (S t))
       (A : nat -> Type) (init : forall t : nat, X -> A 0) (upd : forall t j : nat, A j -> X -> X -> A (S j))
       (out : forall t, St t -> St (S t) -> A (S t) -> X -> Y).
Arguments Rec {X Y}.
Arguments Full {X Y}.
Arguments Both {X Y}.

Fixpoint state {X} {St : nat -> Type} (h0 : St 0) (G : forall t, St t -> X -> St (S t)) (x : nat -> X) (t : nat) : St t :=
  match t with
  | 0 => h0
  | S j => G j (state h0 G x j) (x j)
  end.

Fixpoint acc {X} {A : nat -> Type} (init : forall t : nat, X -> A 0) (upd : forall t j : nat, A j -> X -> X -> A (S j))
    (x : nat -> X) (t j : nat) : A j :=
  match j with
  | 0 => init t (x t)
  | S i => upd t i (acc init upd x t i) (x i) (x t)
  end.

Definition apply {X Y} (l : layer X Y) (x : nat -> X) (t : nat) : Y :=
  match l with
  | Rec St h0 G out => out t (state h0 G x t) (state h0 G x (S t)) (x t)
  | Full A init upd out => out t (acc init upd x t (S t)) (x t)
  | Both St h0 G A init upd out => out t (state h0 G x t) (state h0 G x (S t)) (acc init upd x t (S t)) (x t)
  end.

(** A network: layers in order, then a function of the token's own value. *)
Inductive net (X Y : Type) : Type :=
| Out (f : nat -> X -> Y)
| Then (Z : Type) (l : layer X Z) (rest : net Z Y).
Arguments Out {X Y}.
Arguments Then {X Y Z}.

Fixpoint run {X Y} (m : net X Y) : (nat -> X) -> nat -> Y :=
  match m with
  | Out f => fun x t => f t (x t)
  | Then l rest => fun x => run rest (apply l x)
  end.

(** ** Architectures

    How many values the state, and the accumulator, of each layer can take after t tokens. *)
Inductive spec := SR (states : nat -> N) | SF (accs : nat -> N) | SB (states accs : nat -> N).

Definition layer_fits {X Y} (l : layer X Y) (s : spec) : Prop :=
  match l, s with
  | Rec St _ _ _, SR k => forall t, card_le (St t) (k t)
  | Full A _ _ _, SF k => forall t, card_le (A t) (k t)
  | Both St _ _ A _ _ _, SB k k' => forall t, card_le (St t) (k t) /\ card_le (A t) (k' t)
  | _, _ => False
  end.

Fixpoint fits {X Y} (m : net X Y) (a : list spec) : Prop :=
  match m, a with
  | Out _, [] => True
  | Then l rest, s :: a' => layer_fits l s /\ fits rest a'
  | _, _ => False
  end.

(** The same in bits, as the tool's ledger counts them: a recurrent layer of s bits, a full layer with an accumulator of
    c bits, both side by side, log-linear attention, which after t tokens holds one state of s bits for every one-bit
    of t, and full heads of c bits beside log-linear ones of l bits and others of s bits. *)
Inductive bits := R (s : N) | F (c : N) | RF (s c : N) | LL (s : N) | LF (s l c : N).

Fixpoint ones (p : positive) : N := match p with xH => 1 | xO q => ones q | xI q => 1 + ones q end.
Definition popcount (n : N) : N := match n with N0 => 0 | Npos p => ones p end.

Definition spec_of (b : bits) : spec :=
  match b with
  | R s => SR (fun _ => 2 ^ s)%N
  | F c => SF (fun _ => 2 ^ c)%N
  | RF s c => SB (fun _ => 2 ^ s)%N (fun _ => 2 ^ c)%N
  | LL s => SR (fun t => 2 ^ (s * popcount (N.of_nat t)))%N
  | LF s l c => SB (fun t => 2 ^ (s + l * popcount (N.of_nat t)))%N (fun _ => 2 ^ c)%N
  end.

(** ** Tasks

    A token is a number; the last token of a composition is a tuple of numbers.  A task says which answer is right at
    which position of which prompt.  The answer is read at the last token of the prompt, so nothing follows it. *)
Inductive token := num (v : nat) | pick (w : list nat).

Definition task := (nat -> token) -> nat -> nat -> Prop.

Definition solves (k : task) (m : net token nat) : Prop := forall p t v, k p t v -> run m p t = v.

Definition Impossible (arch : list bits) (k : task) : Prop :=
  forall m : net token nat, fits m (map spec_of arch) -> ~ solves k m.

(** Chain of thought: after the prompt, whose last position is [last], T tokens follow, each made from the output at the
    token before it; the answer is read at the last of them.  T = 0 is the plain task. *)
Fixpoint think {Y} (m : net token Y) (next : Y -> token) (p : nat -> token) (last T : nat) : nat -> token :=
  match T with
  | 0 => p
  | S T' => let p' := think m next p last T' in fun t => if t =? last + S T' then next (run m p' (last + T')) else p' t
  end.

Definition solves_thinking {Y} (k : task) (T : nat) (m : net token Y) (next : Y -> token) (answer : Y -> nat) : Prop :=
  forall p t v, k p t v -> answer (run m (think m next p t T) (t + T)) = v.

Definition ImpossibleThinking (arch : list bits) (T : nat) (k : task) : Prop :=
  forall (Y : Type) (m : net token Y) (next : Y -> token) (answer : Y -> nat),
  fits m (map spec_of arch) -> ~ solves_thinking k T m next answer.

(** A prompt is a list of tokens. *)
Definition at_ (p : list token) (t : nat) : token := nth t p (num 0).

(** *** eva, index: a table of N entries with V values, then the query. *)
Definition table (f : nat -> nat) (n : nat) : list token := map (fun i => num (f i)) (seq 0 n).

Definition eva_prompt (n : nat) (f : nat -> nat) (q : nat) : list token := table f n ++ [num q].

Definition eva (N V : N) : task := fun p t v =>
  exists f q, (forall i, i < N.to_nat N -> f i < N.to_nat V) /\ q < N.to_nat N /\
  p = at_ (eva_prompt (N.to_nat N) f q) /\ t = N.to_nat N /\ v = f q.

(** *** seqcomp: i_0 = z_0, i_1 = z_1(i_0), i_(l+1) = z_(l+1)(w_l, i_l), the answer is i_L.

    The list ns is n_1, ..., n_(L-1).  i_l is below [range l], z_(l+1) has [entries (l+1)] entries, and the pair (w_l, i_l) is entry
    w_l * range l + i_l.  With [flat] all values are below N_0.  The last table has V values, which may be more or fewer than
    its entries. *)
Section Seqcomp.
Variables (flat : bool) (N0 : nat) (ns : list nat).

Definition n_of (l : nat) : nat := nth l (1 :: ns) 1.

Fixpoint range (l : nat) : nat :=
  match l with
  | 0 => N0
  | S k => if flat then N0 else n_of k * range k
  end.

Definition entries (l : nat) : nat := n_of (pred l) * range (pred l).

Fixpoint index (z : nat -> nat -> nat) (z0 : nat) (w : nat -> nat) (l : nat) : nat :=
  match l with
  | 0 => z0
  | S k => z (S k) (w k * range k + index z z0 w k)
  end.

Definition levels : nat := S (length ns).                          (* L *)

(** z_L, ..., z_2, z_1, then z_0, then w. *)
Fixpoint tables (z : nat -> nat -> nat) (l : nat) : list token :=
  match l with
  | 0 => []
  | S k => table (z (S k)) (entries (S k)) ++ tables z k
  end.

Definition seqcomp_prompt (z : nat -> nat -> nat) (z0 : nat) (w : nat -> nat) : list token :=
  tables z levels ++ [num z0; pick (map w (seq 1 (length ns)))].
End Seqcomp.

(** In the tool's words: L = 1 + the length of ns, order=last. *)
Definition seqcomp (flat : bool) (N0 : N) (ns : list N) (V : N) : task := fun p t v =>
  let N0 := N.to_nat N0 in let ns := map N.to_nat ns in let L := levels ns in
  exists z z0 w,
    (forall l u, 0 < l < L -> u < entries flat N0 ns l -> z l u < range flat N0 ns l) /\
    (forall u, u < entries flat N0 ns L -> z L u < N.to_nat V) /\
    z0 < N0 /\ w 0 = 0 /\ (forall l, 0 < l < L -> w l < n_of ns l) /\
    p = at_ (seqcomp_prompt flat N0 ns z z0 w) /\
    S t = length (seqcomp_prompt flat N0 ns z z0 w) /\
    v = index flat N0 ns z z0 w L.
