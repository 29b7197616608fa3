(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Logarithms on binary numbers

    The inequalities compare products of bits and logarithms.  [lo P x] and [hi P x] are whole numbers with
    lo <= 2^P log2 x <= hi, by P squarings of a rounded mantissa; both are exact where x is a power of two.  All checkers
    that vm_compute runs are made of them. *)
From Coq Require Import Arith NArith List Lia Bool.
Local Open Scope N_scope.

(** Bits of a mantissa: what P squarings may lose is then far below 2^-P. *)
Definition width (P : nat) : N := N.max 32 (N.of_nat P).

Definition excess (w m : N) : N := N.size m - w.

Fixpoint lo_steps (w : N) (P : nat) (m e : N) : N :=
  match P with
  | O => e + N.log2 m
  | S k => let d := excess w (m * m) in lo_steps w k (N.shiftr (m * m) d) (2 * e + d)
  end.

Definition up (m d : N) : N := let h := N.shiftr m d in if N.shiftl h d =? m then h else h + 1.

Fixpoint hi_steps (w : N) (P : nat) (m e : N) : N :=
  match P with
  | O => e + N.log2_up m
  | S k => let d := excess w (m * m) in hi_steps w k (up (m * m) d) (2 * e + d)
  end.

Definition lo (P : nat) (x : N) : N := lo_steps (width P) P x 0.
Definition hi (P : nat) (x : N) : N := hi_steps (width P) P x 0.
Definition unit_of (P : nat) : N := 2 ^ N.of_nat P.

Lemma unit_S P : unit_of (S P) = 2 * unit_of P.
Proof. unfold unit_of; rewrite Nat2N.inj_succ, N.pow_succ_r'; reflexivity. Qed.

Lemma unit_nonzero P : unit_of P <> 0.
Proof. unfold unit_of; apply N.pow_nonzero; lia. Qed.

Lemma shiftr_le m d : N.shiftr m d * 2 ^ d <= m.
Proof.
  rewrite N.shiftr_div_pow2, N.mul_comm; apply N.mul_div_le; apply N.pow_nonzero; lia.
Qed.

Lemma up_le m d : m <= up m d * 2 ^ d.
Proof.
  unfold up; rewrite N.shiftl_mul_pow2, N.shiftr_div_pow2.
  destruct (N.eqb_spec (m / 2 ^ d * 2 ^ d) m) as [->|_]; [lia|].
  assert (H : 2 ^ d <> 0) by (apply N.pow_nonzero; lia).
  pose proof (N.div_mod m (2 ^ d) H); pose proof (N.mod_lt m (2 ^ d) H); nia.
Qed.

Lemma sqr_pow m e : (m * 2 ^ e) * (m * 2 ^ e) = m * m * 2 ^ (2 * e).
Proof. replace (2 * e) with (e + e) by lia; rewrite N.pow_add_r; lia. Qed.

Lemma shiftr_pos w m d : 0 < w -> N.size m - w = d -> 0 < m -> 0 < N.shiftr m d.
Proof.
  intros Hw <- Hm; rewrite N.shiftr_div_pow2; apply N.div_str_pos; split.
  - apply N.neq_0_lt_0, N.pow_nonzero; lia.
  - apply N.le_trans with (2 ^ N.log2 m); [|apply N.log2_spec; exact Hm].
    apply N.pow_le_mono_r; [lia|]. rewrite N.size_log2 by lia; lia.
Qed.

Lemma lo_steps_spec w P : 0 < w -> forall m e, 0 < m -> 2 ^ lo_steps w P m e <= (m * 2 ^ e) ^ unit_of P.
Proof.
  intros Hw; induction P as [|P IH]; intros m e Hm; cbn [lo_steps].
  - change (unit_of 0) with 1; rewrite N.pow_1_r, N.pow_add_r, N.mul_comm.
    apply N.mul_le_mono_r; apply N.log2_spec; exact Hm.
  - rewrite unit_S, N.pow_mul_r, N.pow_2_r, sqr_pow.
    set (d := excess w (m * m)).
    apply N.le_trans with ((N.shiftr (m * m) d * 2 ^ (2 * e + d)) ^ unit_of P).
    + apply IH; apply (shiftr_pos w); [exact Hw|reflexivity|nia].
    + apply N.pow_le_mono_l; rewrite N.pow_add_r.
      pose proof (shiftr_le (m * m) d); set (a := N.shiftr (m * m) d) in *.
      replace (a * (2 ^ (2 * e) * 2 ^ d)) with (a * 2 ^ d * 2 ^ (2 * e)) by lia.
      apply N.mul_le_mono_r; assumption.
Qed.

Lemma log2_up_le m : m <= 2 ^ N.log2_up m.
Proof.
  destruct (N.le_gt_cases m 1) as [H|H].
  - apply N.le_trans with 1; [exact H|]. pose proof (N.pow_nonzero 2 (N.log2_up m)); lia.
  - apply N.log2_up_spec; exact H.
Qed.

Lemma hi_steps_spec w P : forall m e, (m * 2 ^ e) ^ unit_of P <= 2 ^ hi_steps w P m e.
Proof.
  induction P as [|P IH]; intros m e; cbn [hi_steps].
  - change (unit_of 0) with 1; rewrite N.pow_1_r, N.pow_add_r, N.mul_comm.
    apply N.mul_le_mono_l; apply log2_up_le.
  - rewrite unit_S, N.pow_mul_r, N.pow_2_r, sqr_pow.
    set (d := excess w (m * m)).
    apply N.le_trans with ((up (m * m) d * 2 ^ (2 * e + d)) ^ unit_of P); [|apply IH].
    apply N.pow_le_mono_l; rewrite N.pow_add_r.
    pose proof (up_le (m * m) d); set (a := up (m * m) d) in *.
    replace (a * (2 ^ (2 * e) * 2 ^ d)) with (a * 2 ^ d * 2 ^ (2 * e)) by lia.
    apply N.mul_le_mono_r; assumption.
Qed.

Lemma lo_spec P x : 0 < x -> 2 ^ lo P x <= x ^ unit_of P.
Proof. intros H; unfold lo; pose proof (lo_steps_spec (width P) P ltac:(unfold width; lia) x 0 H) as L; rewrite N.pow_0_r, N.mul_1_r in L; exact L. Qed.

Lemma hi_spec P x : x ^ unit_of P <= 2 ^ hi P x.
Proof. unfold hi; pose proof (hi_steps_spec (width P) P x 0) as L; rewrite N.pow_0_r, N.mul_1_r in L; exact L. Qed.

(** The same with an exponent; at exponent 0 the base may be 0. *)
Lemma pow_swap (x a b : N) : (x ^ a) ^ b = (x ^ b) ^ a.
Proof. rewrite <- !N.pow_mul_r, (N.mul_comm a b); reflexivity. Qed.

Lemma lo_pow P x n : 0 < x \/ n = 0 -> 2 ^ (n * lo P x) <= (x ^ n) ^ unit_of P.
Proof.
  intros [H| ->].
  - rewrite pow_swap, (N.mul_comm n (lo P x)), N.pow_mul_r; apply N.pow_le_mono_l, lo_spec, H.
  - rewrite N.mul_0_l, !N.pow_0_r, N.pow_1_l; lia.
Qed.

Lemma hi_pow P x n : (x ^ n) ^ unit_of P <= 2 ^ (n * hi P x).
Proof. rewrite pow_swap, (N.mul_comm n (hi P x)), N.pow_mul_r; apply N.pow_le_mono_l, hi_spec. Qed.

Lemma bits_pow P b : (2 ^ b) ^ unit_of P = 2 ^ (b * unit_of P).
Proof. rewrite N.pow_mul_r; reflexivity. Qed.

Lemma root P a b : a ^ unit_of P < b ^ unit_of P -> a < b.
Proof. intros H; apply N.pow_lt_mono_l_iff in H; [exact H|apply unit_nonzero]. Qed.

Definition fine : nat := 64.                                  (* for the inequality of a theorem *)
Definition rough : nat := 24.                                 (* for the many steps of Lemma S with more than one new pair *)

(** V^n > 2^b, that is n log2 V > b. *)
Definition exceeds (V n b : N) : bool := (0 <? V) && (b * unit_of fine <? n * lo fine V).

Lemma exceeds_spec V n b : exceeds V n b = true -> 0 < V /\ 2 ^ b < V ^ n.
Proof.
  unfold exceeds; intros H; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H1, H2; split; [exact H1|].
  apply (root fine); rewrite bits_pow.
  apply N.lt_le_trans with (2 ^ (n * lo fine V)); [apply N.pow_lt_mono_r; lia|].
  apply lo_pow; auto.
Qed.

(** 2^A (Theta - 1)^g < N^g, that is Theta <= ceil(N 2^(-A/g)). *)
Definition kept (A g Theta N : N) : bool :=
  (0 <? g) && (0 <? N) && (0 <? Theta) &&
  ((Theta =? 1) || (A * unit_of fine + g * hi fine (Theta - 1) <? g * lo fine N)).

Lemma kept_spec A g Theta N : kept A g Theta N = true ->
  0 < g /\ 0 < N /\ 0 < Theta /\ 2 ^ A * (Theta - 1) ^ g < N ^ g.
Proof.
  unfold kept; intros H; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H1, H2, H3; repeat split; auto.
  apply orb_prop in H4; destruct H4 as [H4|H4].
  - apply N.eqb_eq in H4; subst Theta; change (1 - 1) with 0.
    rewrite N.pow_0_l, N.mul_0_r by lia; apply N.neq_0_lt_0, N.pow_nonzero; lia.
  - apply N.ltb_lt in H4; apply (root fine); rewrite N.pow_mul_l, bits_pow.
    apply N.le_lt_trans with (2 ^ (A * unit_of fine) * 2 ^ (g * hi fine (Theta - 1))).
    + apply N.mul_le_mono_l, hi_pow.
    + rewrite <- N.pow_add_r; apply N.lt_le_trans with (2 ^ (g * lo fine N)); [apply N.pow_lt_mono_r; lia|].
      apply lo_pow; auto.
Qed.

(** Checkers are conjunctions; this takes one apart. *)
Ltac checked H :=
  repeat match type of H with
  | (_ && _)%bool = true => let H' := fresh "K" in apply andb_prop in H; destruct H as [H' H]; checked H'
  | (_ <? _) = true => apply N.ltb_lt in H
  | (_ <=? _) = true => apply N.leb_le in H
  | (_ =? _) = true => apply N.eqb_eq in H
  end.
