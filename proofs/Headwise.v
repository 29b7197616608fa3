(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Headwise: one layer, full and recurrent heads on the same input, w last *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne.
Import ListNotations.
Local Notation nN := N.of_nat.

(** N_(L-1) log2 V > c W + s, W = N_(L-1) / N_0; for log-linear heads s counts the levels at that length. *)
Definition headwise_check (flat : bool) (N0 : N) (ns : list N) (V c s : N) : bool :=
  let n := first_table flat N0 ns in positive N0 ns && exceeds V n (c * (n / N0) + s).

Theorem headwise : forall flat N0 ns V c s arch, one_layer (first_table flat N0 ns) c s arch = true -> headwise_check flat N0 ns V c s = true ->
  Impossible arch (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V c s arch Ho H m Hm Hs; unfold headwise_check in H.
  apply andb_prop in H; destruct H as [Hp H]; apply exceeds_spec in H; destruct H as [HV Hlt].
  apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct (as_both _ arch c s m Ho Hm) as (Y & St & h0 & G & A & init & upd & out & f & HS & HA & Hrun).
  destruct (positive_spec N0 ns Hp) as [H0 Hn].
  set (n0 := N.to_nat N0) in *; set (ns' := map N.to_nat ns) in *.
  pose proof (first_table_spec flat N0 ns) as En; fold n0 ns' in En.
  set (n := N.to_nat (first_table flat N0 ns)) in *.
  destruct HS as (cS & cS_inj & cS_lt); destruct (HA n) as (cA & cA_inj & cA_lt).
  pose proof (last_after flat n0 ns') as Hl; rewrite En in Hl.
  set (last := last_at flat n0 ns') in *.
  set (W := N.to_nat (first_table flat N0 ns / N0)).
  assert (HW : W * n0 = n).
  { assert (E : exists k, n = n0 * k).
    { rewrite <- En; unfold entries; destruct (range_divide flat n0 ns' H0 Hn (pred (levels ns'))) as [k [-> _]].
      exists (n_of ns' (pred (levels ns')) * k); lia. }
    destruct E as [k Ek]. unfold W; rewrite N2Nat.inj_div; fold n n0; rewrite Ek, (Nat.mul_comm n0 k), Nat.div_mul by lia; reflexivity. }
  replace (first_table flat N0 ns) with (nN n) by (unfold n; lia).
  replace (nN n / N0)%N with (nN W) by (unfold W, n; rewrite !N2Nat.id; reflexivity).
  rewrite N.pow_add_r, N.pow_mul_r.
  set (Q := fun g u => at_ (ask flat n0 ns' g u)).
  apply (tables_le V n _ (fun g => pair_code ((2 ^ c) ^ nN W)
    (digits (2 ^ c) (fun w => cA (acc init upd (Q g (w * n0)) last n)) W) (cS (state h0 G (Q g 0) n)))); [exact HV| |].
  { intros g _; apply pair_lt; [apply digits_lt; intros; apply cA_lt|apply cS_lt]. }
  intros g g' Hg Hg' E u Hu.
  apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]; destruct E as [Ea Es].
  apply cS_inj in Es.
  pose proof (seqcomp_asks flat N0 ns V g u Hp Hg Hu) as K; pose proof (seqcomp_asks flat N0 ns V g' u Hp Hg' Hu) as K'.
  fold n0 ns' in K, K'; fold (Q g u) in K; fold (Q g' u) in K'; fold last in K, K'.
  rewrite <- (Hs _ _ _ K), <- (Hs _ _ _ K'), !Hrun; f_equal; cbn [apply].
  assert (F1 : forall h v v' t, t < n -> Q h v t = Q h v' t)
    by (intros h v v' t Ht; unfold Q; rewrite !ask_first by (try rewrite En; auto); reflexivity).
  assert (F2 : forall h h' v t, n <= t -> Q h v t = Q h' v t)
    by (intros h h' v t Ht; unfold Q; apply ask_rest; try rewrite En; auto).
  assert (F3 : forall h h' v v', v / n0 = v' / n0 -> Q h v last = Q h' v' last)
    by (intros h h' v v' Ev; unfold Q; apply ask_last; auto).
  assert (Ew : u / n0 < W) by (apply Nat.div_lt_upper_bound; lia).
  pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) Ea (u / n0) Ew) as Ed; cbv beta in Ed; apply cA_inj in Ed.
  assert (D : forall h, acc init upd (Q h u) last n = acc init upd (Q h (u / n0 * n0)) last n).
  { intros h; apply acc_ext; [apply F3; rewrite Nat.div_mul by lia; reflexivity|intros; apply F1; lia]. }
  assert (Et : forall t, n <= t <= S last -> state h0 G (Q g u) t = state h0 G (Q g' u) t).
  { intros t Ht; apply (state_from h0 G _ _ n); [|lia|intros; apply F2; lia].
    rewrite (state_ext h0 G (Q g u) (Q g 0)), Es; [apply state_ext|]; intros; apply F1; lia. }
  assert (Ac : acc init upd (Q g u) last (S last) = acc init upd (Q g' u) last (S last)).
  { apply (acc_from init upd _ _ last n); [apply F2; lia|rewrite !D; exact Ed|lia|intros; apply F2; lia]. }
  rewrite Ac, (Et last), (Et (S last)), (F2 g g' u last) by lia; reflexivity.
Qed.
