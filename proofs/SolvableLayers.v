(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Small layers that compose: what two full layers cannot do, three can, with accumulators of one value *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Crossing Compose Tight Solvable.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** A full layer that looks up: the token at a place that the receiver names, and of that a number *)
Section Lookup.
Variables (X : Type) (c : N) (where_ : nat -> X -> nat) (what : nat -> X -> nat).

Definition keep (v : nat) : fin (2 ^ c) := mk (2 ^ c) (nought c) (nN v).

Definition lookup : layer X (X * nat) :=
  Full (fun _ => fin (2 ^ c)) (fun _ _ => nought c) (fun t j a xj xt => if j =? where_ t xt then keep (what j xj) else a)
    (fun t a x => (x, N.to_nat (proj1_sig a))).

Lemma lookup_fits : layer_fits lookup (spec_of (F c)).
Proof. intros t; apply fin_card. Qed.

Lemma lookup_own x t : fst (apply lookup x t) = x t.
Proof. reflexivity. Qed.

Lemma lookup_found x t : where_ t (x t) <= t -> (nN (what (where_ t (x t)) (x (where_ t (x t)))) < 2 ^ c)%N ->
  snd (apply lookup x t) = what (where_ t (x t)) (x (where_ t (x t))).
Proof.
  intros Ht Hv; set (i := where_ t (x t)) in *; cbn [apply lookup snd].
  set (upd := fun (t j : nat) (a : fin (2 ^ c)) xj xt => if j =? where_ t xt then keep (what j xj) else a).
  assert (E : forall j, i < j -> acc (A := fun _ => fin (2 ^ c)) (fun _ _ => nought c) upd x t j = keep (what i (x i))).
  { induction j as [|j IH]; intros Hj; [lia|]; cbn [acc]; unfold upd at 1; fold i.
    destruct (Nat.eqb_spec j i) as [->|Hn]; [reflexivity|apply IH; lia]. }
  fold upd; rewrite E by lia; unfold keep; rewrite mk_val by exact Hv; lia.
Qed.
End Lookup.

(** ** One function: z_0 in a state of N_0 values, then a lookup with V values: A' asks for no more *)
Theorem remember_and_look_up flat N0 V b c : (0 < N0)%N -> (N0 <= 2 ^ b)%N -> (V <= 2 ^ c)%N -> Solvable [R b; F c] (seqcomp flat N0 [] V).
Proof.
  intros H0 Hb Hc; set (n := N.to_nat N0).
  set (G := fun (t : nat) (h : fin (2 ^ b)) (x : token) => if t =? n then keep b (value_of x) else h).
  set (remember := @Rec token (token * nat) (fun _ => fin (2 ^ b)) (nought b) G (fun t h _ x => (x, N.to_nat (proj1_sig h)))).
  exists (Then remember (Then (lookup _ c (fun _ y => snd y) (fun _ y => value_of (fst y))) (Out (fun _ y => snd y)))).
  split; [cbn; repeat split; intros; apply fin_card|].
  intros p t v (z & z0 & w & _ & Hz & Hz0 & Hw0 & _ & -> & Ht & ->); cbn [map levels length] in *; fold n in Hz, Hz0, Ht |- *.
  rewrite prompt_length in Ht; unfold last_at in Ht.
  assert (ET : total flat n [] (levels []) = n) by (cbn; unfold entries; cbn; lia).
  rewrite ET in Ht; assert (t = n + 1) as -> by lia; clear Ht.
  set (p := at_ (seqcomp_prompt flat n [] z z0 w)).
  assert (E0 : p n = num z0) by (rewrite <- ET at 1; apply prompt_z0).
  assert (Hn : entries flat n [] 1 = n) by (unfold entries; cbn; lia).
  assert (Es : apply remember p (n + 1) = (p (n + 1), z0)).
  { cbn [apply remember]; f_equal; replace (n + 1) with (S n) by lia; cbn [state]; unfold G at 1; rewrite Nat.eqb_refl, E0.
    unfold keep; cbn [value_of]; rewrite mk_val by (unfold n in Hz0; lia); lia. }
  assert (Ez : value_of (fst (apply remember p z0)) = z 1 z0).
  { replace (fst (apply remember p z0)) with (p z0) by reflexivity; unfold p.
    rewrite (prompt_first flat n [] z z0 w z0) by (change (levels (@nil nat)) with 1; rewrite Hn; exact Hz0); reflexivity. }
  assert (Hv : z 1 z0 < N.to_nat V) by (apply (Hz z0); change (z0 < entries flat n [] 1); rewrite Hn; exact Hz0).
  cbn [run]; rewrite lookup_found; rewrite Es; cbn [snd]; rewrite ?Ez; [|lia|lia].
  change (z 1 z0 = z 1 (w 0 * n + z0)); rewrite Hw0; reflexivity.
Qed.

(** ** Two functions in three full layers: z_0 finds i_1, the last token finds i_1 at z_0, then entry (w, i_1) of z_2 *)
Theorem three_full_layers flat N0 n1 V c c' : (0 < N0)%N -> (0 < n1)%N -> (N0 <= 2 ^ c)%N -> (V <= 2 ^ c')%N ->
  Solvable [F c; F c; F c'] (seqcomp flat N0 [n1] V).
Proof.
  intros H0 H1 Hc Hc'; set (n := N.to_nat N0); set (ns := [N.to_nat n1]); set (T := N.to_nat n1 * n).
  set (here := T + n).
  set (first := lookup token c (fun t x => if t =? here then T + value_of x else 0) (fun _ x => value_of x)).
  set (second := lookup (token * nat) c (fun _ _ => here) (fun _ y => snd y)).
  set (third := lookup (token * nat * nat) c' (fun _ y => w_in (fst (fst y)) 1 * n + snd y) (fun _ y => value_of (fst (fst y)))).
  exists (Then first (Then second (Then third (Out (fun _ y => snd y))))).
  split; [cbn; repeat split; intros; apply fin_card|].
  intros p t v (z & z0 & w & Hz & HzL & Hz0 & Hw0 & Hw & -> & Ht & ->); cbn [map] in *; fold n ns in Hz, HzL, Hz0, Hw, Ht |- *.
  assert (R1 : range flat n ns 1 = n) by (cbn; destruct flat; [reflexivity|cbn; lia]).
  assert (E1 : entries flat n ns 1 = n) by (unfold entries; cbn; lia).
  assert (E2 : entries flat n ns 2 = T) by (unfold entries; cbn [pred]; rewrite R1; reflexivity).
  change (levels ns) with 2 in *.
  assert (T1 : total flat n ns 1 = n) by (cbn [total]; rewrite E1; lia).
  assert (T2 : total flat n ns 2 = here) by (change (total flat n ns 2) with (entries flat n ns 2 + total flat n ns 1); rewrite E2, T1; reflexivity).
  rewrite prompt_length in Ht; unfold last_at in Ht; change (levels ns) with 2 in Ht; rewrite T2 in Ht; assert (t = here + 1) as -> by lia; clear Ht.
  set (p := at_ (seqcomp_prompt flat n ns z z0 w)).
  assert (P0 : p here = num z0) by (rewrite <- T2; apply (prompt_z0 flat n ns)).
  assert (PL : p (here + 1) = pick [w 1]) by (rewrite <- T2; apply (prompt_last flat n ns)).
  assert (P1 : forall i, i < n -> p (T + i) = num (z 1 i)).
  { intros i Hi; replace (T + i) with (total flat n ns 2 - total flat n ns 1 + i) by (rewrite T1, T2; unfold here; lia).
    apply (prompt_table flat n ns z z0 w 1 i); [change (levels ns) with 2; lia|rewrite E1; exact Hi]. }
  assert (P2 : forall i, i < T -> p i = num (z 2 i)) by (intros i Hi; apply (prompt_first flat n ns); change (levels ns) with 2; rewrite E2; exact Hi).
  assert (I1 : z 1 z0 < n) by (rewrite <- R1; apply Hz; [lia|rewrite E1; exact Hz0]).
  assert (W1 : w 1 < N.to_nat n1) by (apply (Hw 1); lia).
  set (at2 := w 1 * n + z 1 z0); assert (L2 : at2 < T) by (unfold at2, T; nia).
  assert (V2 : z 2 at2 < N.to_nat V) by (apply HzL; rewrite E2; exact L2).
  assert (A1 : snd (apply first p here) = z 1 z0).
  { unfold first; rewrite lookup_found; rewrite P0, Nat.eqb_refl; cbn [value_of]; rewrite ?P1 by exact Hz0; cbn [value_of];
      [reflexivity|unfold here; lia|unfold n in I1; lia]. }
  set (x1 := apply first p) in *.
  assert (A2 : snd (apply second x1 (here + 1)) = z 1 z0).
  { unfold second; rewrite lookup_found; rewrite ?A1; [reflexivity|lia|unfold n in I1; lia]. }
  set (x2 := apply second x1) in *.
  assert (F2 : forall u, fst (fst (x2 u)) = p u) by reflexivity.
  cbn [run]; fold x1; fold x2; unfold third; rewrite lookup_found; rewrite !F2, PL, A2; cbn [w_in nth];
    fold at2; rewrite ?F2, ?P2 by exact L2; cbn [value_of]; [|unfold here; lia|lia].
  change (z 2 at2 = z 2 (w 1 * range flat n ns 1 + z 1 (w 0 * n + z0))); rewrite Hw0, R1; reflexivity.
Qed.
