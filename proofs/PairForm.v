(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * seqcomp with form=pair: an entry names its argument, and the entries of a table come in any order

    With the entries in order the argument is the position, which every function sees.  So a network for this form is one for the other. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Crossing Compose Within.
Import ListNotations.

Section PairPrompt.
Variables (flat : bool) (N0 : nat) (ns : list nat).

Definition named (f perm : nat -> nat) (n : nat) : list token := map (fun i => pick [perm i; f (perm i)]) (seq 0 n).

Fixpoint named_tables (z perm : nat -> nat -> nat) (l : nat) : list token :=
  match l with
  | 0 => []
  | S k => named (z (S k)) (perm (S k)) (entries flat N0 ns (S k)) ++ named_tables z perm k
  end.

Definition named_prompt (z perm : nat -> nat -> nat) (z0 : nat) (w : nat -> nat) : list token :=
  named_tables z perm (levels ns) ++ [num z0; pick (map w (seq 1 (length ns)))].

(** The argument at position u of the tables. *)
Fixpoint place (l u : nat) : nat :=
  match l with 0 => 0 | S k => if u <? entries flat N0 ns (S k) then u else place k (u - entries flat N0 ns (S k)) end.

Definition with_argument (u : nat) (x : token) : token :=
  if u <? total flat N0 ns (levels ns) then match x with num v => pick [place (levels ns) u; v] | _ => x end else x.

Lemma named_nth f n i : i < n -> nth i (named f (fun j => j) n) (num 0) = pick [i; f i].
Proof.
  intros H; unfold named; rewrite (nth_indep _ (num 0) (pick [0; f 0])) by (rewrite map_length, seq_length; exact H).
  rewrite (map_nth (fun i => pick [i; f i])), seq_nth by exact H; reflexivity.
Qed.

Lemma named_length f perm n : length (named f perm n) = n.
Proof. unfold named; rewrite map_length, seq_length; reflexivity. Qed.

Lemma named_tables_length z perm l : length (named_tables z perm l) = total flat N0 ns l.
Proof. induction l as [|l IH]; simpl; [reflexivity|]. rewrite app_length, named_length, IH; reflexivity. Qed.

Lemma named_tables_nth z l : forall u, u < total flat N0 ns l ->
  exists v, nth u (tables flat N0 ns z l) (num 0) = num v /\ nth u (named_tables z (fun _ j => j) l) (num 0) = pick [place l u; v].
Proof.
  induction l as [|l IH]; intros u Hu; [simpl in Hu; lia|]. cbn [tables named_tables place total] in *.
  destruct (Nat.ltb_spec u (entries flat N0 ns (S l))) as [L|L].
  - exists (z (S l) u); rewrite !app_nth1 by (rewrite ?table_length, ?named_length; exact L).
    rewrite table_nth, named_nth by exact L; auto.
  - rewrite !app_nth2 by (rewrite ?table_length, ?named_length; exact L). rewrite table_length, named_length. apply IH; lia.
Qed.

Lemma prompt_named z z0 w u : at_ (named_prompt z (fun _ j => j) z0 w) u = with_argument u (at_ (seqcomp_prompt flat N0 ns z z0 w) u).
Proof.
  unfold at_, named_prompt, seqcomp_prompt, with_argument.
  destruct (Nat.ltb_spec u (total flat N0 ns (levels ns))) as [L|L].
  - rewrite !app_nth1 by (rewrite ?tables_length, ?named_tables_length; exact L).
    destruct (named_tables_nth z (levels ns) u L) as (v & -> & ->); reflexivity.
  - rewrite !app_nth2 by (rewrite ?tables_length, ?named_tables_length; exact L). rewrite tables_length, named_tables_length; reflexivity.
Qed.
End PairPrompt.

Definition seqcomp_pair (flat : bool) (N0 : N) (ns : list N) (V : N) : task := fun p t v =>
  let N0 := N.to_nat N0 in let ns := map N.to_nat ns in let L := levels ns in
  exists z perm z0 w,
    (forall l u, 0 < l < L -> u < entries flat N0 ns l -> z l u < range flat N0 ns l) /\
    (forall u, u < entries flat N0 ns L -> z L u < N.to_nat V) /\
    (forall l u, 0 < l <= L -> u < entries flat N0 ns l -> perm l u < entries flat N0 ns l) /\
    (forall l u u', 0 < l <= L -> u < entries flat N0 ns l -> u' < entries flat N0 ns l -> perm l u = perm l u' -> u = u') /\
    z0 < N0 /\ w 0 = 0 /\ (forall l, 0 < l < L -> w l < n_of ns l) /\
    p = at_ (named_prompt flat N0 ns z perm z0 w) /\
    S t = length (named_prompt flat N0 ns z perm z0 w) /\
    v = index flat N0 ns z z0 w L.

Lemma named_prompt_length flat N0 ns z perm z0 w : length (named_prompt flat N0 ns z perm z0 w) = S (last_at flat N0 ns).
Proof. unfold named_prompt, last_at; rewrite app_length, named_tables_length; simpl; lia. Qed.

Lemma seqcomp_pair_within n flat N0 ns V : (tokens flat N0 ns <=? n)%N = true -> within n (seqcomp_pair flat N0 ns V).
Proof.
  intros H p t v (z & perm & z0 & w & _ & _ & _ & _ & _ & _ & _ & _ & Ht & _); apply N.leb_le in H.
  rewrite named_prompt_length in Ht; unfold last_at, tokens in *.
  pose proof (total_at_spec flat N0 ns (S (length ns))) as E.
  rewrite levels_spec, E in Ht; lia.
Qed.

(** ** A network that first rewrites its tokens, by their positions *)
Section Rewrite.
Variable enc : nat -> token -> token.

Definition rewriting_layer {Y} (l : layer token Y) : layer token Y :=
  match l with
  | Rec St h0 G out => Rec St h0 (fun t s x => G t s (enc t x)) (fun t s s' x => out t s s' (enc t x))
  | Full A init upd out => Full A (fun t x => init t (enc t x)) (fun t j a x y => upd t j a (enc j x) (enc t y)) (fun t a x => out t a (enc t x))
  | Both St h0 G A init upd out => Both St h0 (fun t s x => G t s (enc t x)) A (fun t x => init t (enc t x))
      (fun t j a x y => upd t j a (enc j x) (enc t y)) (fun t s s' a x => out t s s' a (enc t x))
  end.

Definition rewriting {Y} (m : net token Y) : net token Y :=
  match m with
  | Out f => Out (fun t x => f t (enc t x))
  | Then l rest => Then (rewriting_layer l) rest
  end.

Lemma state_rewriting {St : nat -> Type} h0 (G : forall t, St t -> token -> St (S t)) x t :
  state h0 (fun t s y => G t s (enc t y)) x t = state h0 G (fun u => enc u (x u)) t.
Proof. induction t as [|t IH]; [reflexivity|]; cbn [state]; rewrite IH; reflexivity. Qed.

Lemma acc_rewriting {A : nat -> Type} init (upd : forall t j : nat, A j -> token -> token -> A (S j)) x t j :
  acc (fun t y => init t (enc t y)) (fun t j a y z => upd t j a (enc j y) (enc t z)) x t j = acc init upd (fun u => enc u (x u)) t j.
Proof. induction j as [|j IH]; [reflexivity|]; cbn [acc]; rewrite IH; reflexivity. Qed.

Lemma apply_rewriting {Y} (l : layer token Y) x t : apply (rewriting_layer l) x t = apply l (fun u => enc u (x u)) t.
Proof.
  destruct l; cbn [rewriting_layer apply].
  - rewrite !(state_rewriting h0 G); reflexivity.
  - rewrite (acc_rewriting init upd); reflexivity.
  - rewrite !(state_rewriting h0 G), (acc_rewriting init upd); reflexivity.
Qed.

Lemma run_rewriting {Y} (m : net token Y) x t : run (rewriting m) x t = run m (fun u => enc u (x u)) t.
Proof. unfold rewriting; destruct m as [f|Z l rest]; [reflexivity|]; cbn [run]; apply run_ext; intros u; apply apply_rewriting. Qed.

Lemma fits_rewriting {Y} (m : net token Y) a : fits m a -> fits (rewriting m) a.
Proof.
  unfold rewriting; destruct m as [f|Z l rest], a as [|s a]; cbn [fits]; auto.
  intros [H1 H2]; split; [|exact H2]. destruct l, s; exact H1.
Qed.

Lemma think_rewriting {Y} (m : net token Y) next p p' last T : (forall u x, last < u -> enc u x = x) -> (forall u, u <= last -> p' u = enc u (p u)) ->
  forall u, u <= last + T -> enc u (think (rewriting m) next p last T u) = think m next p' last T u.
Proof.
  intros He Hp; induction T as [|T IH]; intros u Hu; cbn [think]; [rewrite Hp by lia; reflexivity|].
  destruct (Nat.eqb_spec u (last + S T)) as [->|Hn].
  - rewrite He by lia; f_equal; rewrite run_rewriting; apply run_causal; intros y Hy; apply IH; lia.
  - apply IH; lia.
Qed.

Theorem rewritten (k k' : task) arch : (forall p t v, k p t v -> exists p', k' p' t v /\ (forall u, u <= t -> p' u = enc u (p u)) /\ forall u x, t < u -> enc u x = x) ->
  forall T, ImpossibleThinking arch T k -> ImpossibleThinking arch T k'.
Proof.
  intros Hk T H Y m next answer Hm Hs; apply (H Y (rewriting m) next answer (fits_rewriting m _ Hm)).
  intros p t v Hp; destruct (Hk p t v Hp) as (p' & Hp' & Ep & Ee).
  rewrite <- (Hs p' t v Hp'), run_rewriting; f_equal; apply run_causal; intros u Hu; apply think_rewriting; auto; lia.
Qed.
End Rewrite.

Lemma pair_prompts flat N0 ns V p t v : seqcomp flat N0 ns V p t v -> let enc := with_argument flat (N.to_nat N0) (map N.to_nat ns) in
  exists p', seqcomp_pair flat N0 ns V p' t v /\ (forall u, u <= t -> p' u = enc u (p u)) /\ forall u x, t < u -> enc u x = x.
Proof.
  intros (z & z0 & w & H1 & H2 & H3 & H4 & H5 & -> & Ht & ->) enc.
  exists (at_ (named_prompt flat (N.to_nat N0) (map N.to_nat ns) z (fun _ j => j) z0 w)); split; [|split].
  - exists z, (fun _ j => j), z0, w; rewrite named_prompt_length; rewrite prompt_length in Ht; repeat split; auto.
  - intros u _; apply prompt_named.
  - intros u x Hu; unfold enc, with_argument; rewrite prompt_length in Ht; unfold last_at in Ht.
    destruct (Nat.ltb_spec u (total flat (N.to_nat N0) (map N.to_nat ns) (levels (map N.to_nat ns)))); [lia|reflexivity].
Qed.

Theorem pair_form_thinking flat N0 ns V arch T : ImpossibleThinking arch T (seqcomp flat N0 ns V) -> ImpossibleThinking arch T (seqcomp_pair flat N0 ns V).
Proof. intros H; apply (rewritten (with_argument flat (N.to_nat N0) (map N.to_nat ns)) (seqcomp flat N0 ns V)); [apply pair_prompts|exact H]. Qed.

Theorem pair_form flat N0 ns V arch : Impossible arch (seqcomp flat N0 ns V) -> Impossible arch (seqcomp_pair flat N0 ns V).
Proof.
  intros H m Hm Hs; apply (H (rewriting (with_argument flat (N.to_nat N0) (map N.to_nat ns)) m) (fits_rewriting _ m _ Hm)).
  intros p t v Hp; destruct (pair_prompts _ _ _ _ _ _ _ Hp) as (p' & Hp' & Ep & _); rewrite run_rewriting, <- (Hs p' t v Hp').
  apply run_causal; intros u Hu; symmetry; apply Ep; lia.
Qed.
