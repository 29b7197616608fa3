(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Eager: one full layer that rounds its weights before it adds values, two functions, w last

    For each of H heads a row has three passes: the maximum of the scores; the sum of the weights, from left to right; the sum of the
    values with rounded weights, from left to right.  The second pass knows the maxima, the third one also the sums of weights. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 TwoPass.
Import ListNotations.
Local Notation nN := N.of_nat.

Record eager (Y : Type) := {
  weigh : scores;
  Weights : nat -> Type;                                       (* sums of weights *)
  weights0 : list nat -> forall t : nat, token -> Weights 0;
  weigh_in : list nat -> forall t j : nat, Weights j -> token -> token -> Weights (S j);
  Values : nat -> Type;                                        (* sums of values *)
  values0 : list nat -> forall t : nat, Weights (S t) -> token -> Values 0;
  value_in : list nat -> forall t : nat, Weights (S t) -> forall j : nat, Values j -> token -> token -> Values (S j);
  gives : list nat -> forall t : nat, Weights (S t) -> Values (S t) -> token -> Y }.
Arguments weigh {Y}. Arguments Weights {Y}. Arguments weights0 {Y}. Arguments weigh_in {Y}. Arguments Values {Y}.
Arguments values0 {Y}. Arguments value_in {Y}. Arguments gives {Y}.

Definition weights_of {Y} (l : eager Y) (mx : list nat) (x : nat -> token) (t j : nat) : Weights l j :=
  acc (weights0 l mx) (weigh_in l mx) x t j.

Definition values_of {Y} (l : eager Y) (mx : list nat) (x : nat -> token) (t : nat) (s : Weights l (S t)) (j : nat) : Values l j :=
  acc (fun _ : nat => values0 l mx t s) (fun _ : nat => value_in l mx t s) x t j.

Definition apply_eager {Y} (l : eager Y) (H : nat) (x : nat -> token) (t : nat) : Y :=
  let mx := maxima (weigh l) H x t (S t) in
  let s := weights_of l mx x t (S t) in gives l mx t s (values_of l mx x t s (S t)) (x t).

(** d bits for the sums of weights, a bits for the sums of values: H p and H dv p. *)
Definition eager_fits {Y} (l : eager Y) (d a : N) : Prop :=
  forall j, card_le (Weights l j) (2 ^ d) /\ card_le (Values l j) (2 ^ a).

Definition ImpossibleEager (H : nat) (d a : N) (k : task) : Prop :=
  forall (l : eager nat), eager_fits l d a -> ~ (forall p t v, k p t v -> apply_eager l H p t = v).

(** Of so many values that are not among the fixed entries, those with the most frequent sum of weights. *)
Theorem eager_states : forall (N0 n1 k2 M H r : nat) (V d a : N) k,
  two_functions N0 n1 (N.to_nat V) k2 M k -> 0 < n1 -> H < N0 -> (0 < V)%N -> 0 < r ->
  (2 ^ d * nN (r - 1) < nN (N0 - H))%N -> (2 ^ d * 2 ^ a < V ^ nN r)%N ->
  ImpossibleEager H d a k.
Proof.
  intros N0 n1 k2 M H r V d a k (P & HP & Htask) Hn1 HH HV Hr Hkept Hlt l Hl Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  set (kw := k2 + M + N0 + 1) in *.
  destruct (constant_row HP (weigh l) H (N.to_nat V) ltac:(lia) HH) as (X & b & f & u & mx & HX & Hb & Hu & Hf & Hfu & Hmx).
  destruct (free_entries N0 X H HX) as (J & HJ & HJl & HJin).
  assert (Pw : forall g g' f f' u u', P g f u 0 kw = P g' f' u' 0 kw) by (intros; apply (lay_w _ _ _ _ HP)).
  set (T := free_row X b).
  destruct (Hl k2) as [(cS & cS_inj & cS_lt) (cA & cA_inj & cA_lt)].
  destruct (Hl (S kw)) as [(cF & cF_inj & cF_lt) _].
  set (sums := fun e v j => weights_of l mx (P (T e) (f v) u 0) kw j).
  apply (class_tables V N0 r _ _ (fun e => cS (sums e 0 k2))); [intros; apply cS_lt| |exact HV].
  intros es Hes.
  (* the sums of weights after z_2 do not depend on z_1, and with them z_1(u) gives the sums of the row *)
  assert (S2 : forall e v, sums e v k2 = sums e 0 k2).
  { intros e v; unfold sums, weights_of; apply acc_ext; [apply Pw|intros; apply (lay_first _ _ _ _ HP); assumption]. }
  assert (Sw : forall e v, cS (sums e 0 k2) = cS (sums es 0 k2) -> sums e v (S kw) = sums es v (S kw)).
  { intros e v E; apply cS_inj in E; unfold sums, weights_of; apply (acc_from _ _ _ _ kw k2); [apply Pw| |unfold kw; lia|].
    - change (sums e v k2 = sums es v k2); rewrite (S2 e v), (S2 es v); exact E.
    - intros y Hy; apply (lay_later HP); unfold kw in Hy; lia. }
  destruct (popular (fun v => cF (sums es v (S kw))) (2 ^ d) J (fun v _ => cF_lt _)) as [most Hmost].
  set (cl := filter _ _) in Hmost.
  assert (Hlen : r <= length cl).
  { unfold size in Hmost; rewrite HJl in Hmost. destruct (Nat.le_gt_cases r (length cl)); auto; exfalso.
    assert (2 ^ d * nN (length cl) <= 2 ^ d * nN (r - 1))%N by (apply N.mul_le_mono_l; lia). lia. }
  assert (Hcl : forall v, In v (firstn r cl) -> (v < N0 /\ ~ In v X) /\ cF (sums es v (S kw)) = most).
  { intros v Hv; apply firstn_In in Hv; apply filter_In in Hv; destruct Hv as [Hv E]; apply N.eqb_eq in E; split; auto. }
  set (v0 := nth 0 (firstn r cl) 0).
  assert (Hv0 : In v0 (firstn r cl)) by (apply nth_In; rewrite firstn_length; lia).
  set (s := sums es v0 (S kw)).
  assert (Same : forall e v, cS (sums e 0 k2) = cS (sums es 0 k2) -> In v (firstn r cl) -> sums e v (S kw) = s).
  { intros e v E Hv; rewrite (Sw e v E); apply cF_inj; unfold s; destruct (Hcl v Hv), (Hcl v0 Hv0); congruence. }
  exists (firstn r cl), (fun e => cA (values_of l mx (P (T e) (f 0) u 0) kw s k2)).
  split; [apply firstn_NoDup, NoDup_filter, HJ|].
  split; [intros v Hv; apply (Hcl v Hv)|].
  split; [rewrite firstn_length; lia|].
  split; [intros; apply cA_lt|].
  intros e e' He He' E1 E2 E v Hv; apply cA_inj in E; destruct (Hcl v Hv) as [[Hv1 Hv2] _].
  assert (Ans : forall c, (forall i, c i < N.to_nat V) -> cS (sums c 0 k2) = cS (sums es 0 k2) ->
            gives l mx kw s (values_of l mx (P (T c) (f v) u 0) kw s (S kw)) (P (T c) (f v) u 0 kw) = c v).
  { intros c Hc Ec; assert (HT : forall i, T c i < N.to_nat V) by (apply free_row_below; assumption).
    rewrite <- (Same c v Ec Hv); unfold sums.
    rewrite <- (Hmx (T c) v HT (free_row_fixed X b c) Hv1).
    rewrite <- (free_row_free X b c v Hv2); fold T; replace (T c v) with (T c (0 * N0 + f v u)) by (rewrite Hfu; reflexivity).
    apply Hs, Htask; auto. }
  rewrite <- (Ans e He E1), <- (Ans e' He' E2).
  assert (Q : forall c, values_of l mx (P (T c) (f v) u 0) kw s k2 = values_of l mx (P (T c) (f 0) u 0) kw s k2).
  { intros c; unfold values_of; apply acc_ext; [apply Pw|intros; apply (lay_first _ _ _ _ HP); assumption]. }
  assert (Ea : values_of l mx (P (T e) (f v) u 0) kw s (S kw) = values_of l mx (P (T e') (f v) u 0) kw s (S kw)).
  { unfold values_of; apply (acc_from _ _ _ _ kw k2); [apply Pw| |unfold kw; lia|intros y Hy; apply (lay_later HP); unfold kw in Hy; lia].
    change (values_of l mx (P (T e) (f v) u 0) kw s k2 = values_of l mx (P (T e') (f v) u 0) kw s k2).
    rewrite (Q e), (Q e'); exact E. }
  rewrite Ea, (Pw (T e) (T e') (f v) (f v) u u); reflexivity.
Qed.

(** ceil((N_0 - H) 2^(-d)) log2 V > d + a, d = H p, a = H dv p; r is the ceiling, or less. *)
Definition eager_check (N0 : N) (ns : list N) (V H d a r : N) : bool :=
  positive N0 ns && (0 <? N.of_nat (length ns))%N && (H <? N0)%N && kept d 1 r (N0 - H) && exceeds V r (d + a).

Theorem rounded_weights : forall flat N0 ns V H d a r, eager_check N0 ns V H d a r = true ->
  ImpossibleEager (N.to_nat H) d a (seqcomp flat N0 ns V).
Proof.
  unfold eager_check; intros flat N0 ns V H d a r K.
  apply andb_prop in K; destruct K as [K K5]; apply andb_prop in K; destruct K as [K K4]; apply andb_prop in K; destruct K as [K K3];
    apply andb_prop in K; destruct K as [K1 K2].
  apply N.ltb_lt in K3.
  apply kept_spec in K4; destruct K4 as (_ & _ & Hr & K4); rewrite !N.pow_1_r in K4.
  apply exceeds_spec in K5; destruct K5 as [HV K5]; rewrite N.pow_add_r in K5.
  apply (eager_states _ _ _ _ _ (N.to_nat r) V d a _ (seqcomp_two flat N0 ns V K1 (nonempty _ K2))); [|lia|exact HV|lia| |].
  - pose proof (proj2 (positive_spec N0 ns K1) (length ns)) as Hn; rewrite n_at_spec in Hn; exact Hn.
  - replace (nN (N.to_nat N0 - N.to_nat H)) with (N0 - H)%N by lia; replace (nN (N.to_nat r - 1)) with (r - 1)%N by lia; exact K4.
  - rewrite N2Nat.id; exact K5.
Qed.
