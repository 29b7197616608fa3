(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cut of q-sparse-average, and average: one full layer

    The vectors are e_1 (1) or -e_1 (0), so an average over q of them is 2 v/q - 1, v the number of ones among them; an answer that is nearer
    than 1/q to the right one determines v.  A token is its vector, its set of places, and its own place, which functions see anyway. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Sparse Binomial CutSets.
Import ListNotations.
Local Notation nN := N.of_nat.

Definition ones_among (z : nat -> nat) (y : list nat) : nat := list_sum (map z y).

(** Asked at the last place alone, which is among the places that the tool asks at. *)
Definition averages (N q : N) : task := fun p t v =>
  exists (z : nat -> nat) (y : nat -> list nat), (forall i, z i < 2) /\ (forall i, i < N.to_nat N -> set_of (N.to_nat N) (N.to_nat q) (y i)) /\
  p = (fun i => if i <? N.to_nat N then pick (z i :: y i) else num 0) /\ S t = N.to_nat N /\ v = ones_among z (y t).

Lemma averages_within n N q : (N <=? n)%N = true -> within n (averages N q).
Proof. intros H p t v (z & y & _ & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

Lemma sum_same (z z' : nat -> nat) l : (forall i, In i l -> z i = z' i) -> ones_among z l = ones_among z' l.
Proof. intros H; unfold ones_among; f_equal; apply map_ext_in; exact H. Qed.

(** Rows of N-1 signs that differ at i: with q-1 further places, either i or the last one makes the sums differ. *)
Theorem cut_averages N q arch : (0 <? q)%N && (q <? N)%N && (is_recurrent arch && exceeds 2 (N - 1) (bits_at (N - 1) arch)) = true ->
  forall T, ImpossibleThinking arch T (averages N q).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; checked H'; apply andb_prop in H; destruct H as [Hr H].
  set (n := N.to_nat N); set (k := N.to_nat q); set (ct := n - 1).
  assert (Hk : 0 < k < n) by (unfold k, n; lia).
  set (one := seq 0 k).
  set (pre := fun (f : nat -> nat) i => if i <? n then pick (f i :: one) else num 0).
  apply (cut_power _ (N - 1) 2 (N - 1)); auto; replace (N.to_nat (N - 1)) with ct by (unfold ct, n; lia).
  apply (apart_tables _ (N - 1) 2 pre); [lia|]. intros f f' i Hf Hf' Hi Hne; replace (N.to_nat (N - 1)) with ct in Hi by (unfold ct, n; lia).
  change (N.to_nat 2) with 2 in Hf, Hf'.
  set (A := firstn (k - 1) (others n [i; ct])).
  assert (HA : length A = k - 1 /\ NoDup A /\ forall v, In v A -> v < n /\ v <> i /\ v <> ct).
  { pose proof (others_ge n [i; ct]) as G; cbn [length] in G; split; [unfold A; rewrite firstn_length; lia|].
    split; [apply firstn_NoDup, NoDup_filter, seq_NoDup|]. intros v Hv; apply firstn_In, others_spec in Hv; destruct Hv as [Hv C].
    split; [exact Hv|]. split; intros ->; apply C; [left|right; left]; reflexivity. }
  destruct HA as (A1 & A2 & A3).
  assert (Hct : ct < n) by (unfold ct; lia).
  set (g := fun (h : nat -> nat) j => if j <? ct then h j else 0).
  assert (Sets : forall j, j = i \/ j = ct -> set_of n k (j :: A)).
  { intros j Hj; split; [cbn [length]; lia|]. split; [constructor; [intros C; destruct (A3 j C) as (_ & ? & ?); destruct Hj; congruence|exact A2]|].
    intros v [<-|Hv]; [destruct Hj; lia|apply A3, Hv]. }
  assert (Ask : forall h j, (forall u, h u < 2) -> j = i \/ j = ct ->
    averages N q (fun u => if u <? n then pick (g h u :: (if u =? ct then j :: A else one)) else num 0) ct (ones_among (g h) (j :: A))).
  { intros h j Hh Hj; exists (g h), (fun u => if u =? ct then j :: A else one); split; [intros u; unfold g; destruct (u <? ct); [apply Hh|lia]|].
    split; [|split; [reflexivity|split; [fold n; unfold ct; lia|rewrite Nat.eqb_refl; reflexivity]]].
    intros u _; fold n k; destruct (u =? ct); [apply Sets, Hj|]. repeat split; [apply seq_length|apply seq_NoDup|]. intros v Hv; apply in_seq in Hv; lia. }
  assert (Go : forall j, j = i \/ j = ct -> ones_among (g f) (j :: A) <> ones_among (g f') (j :: A) -> apart (averages N q) ct (pre f) (pre f')).
  { intros j Hj Hd; exists (fun u => if u <? n then pick (g f u :: (if u =? ct then j :: A else one)) else num 0),
      (fun u => if u <? n then pick (g f' u :: (if u =? ct then j :: A else one)) else num 0), ct, (ones_among (g f) (j :: A)), (ones_among (g f') (j :: A)).
    assert (Same : forall h u, u < ct -> (if u <? n then pick (g h u :: (if u =? ct then j :: A else one)) else num 0) = pre h u).
    { intros h u Hu; unfold pre, g; destruct (Nat.ltb_spec u n); [|lia]; destruct (Nat.ltb_spec u ct); [|lia]; destruct (Nat.eqb_spec u ct); [lia|reflexivity]. }
    split; [intros; apply Same; assumption|]. split; [intros; apply Same; assumption|]. split; [lia|]. split.
    - intros u Hu; replace u with ct by lia; unfold g; rewrite Nat.ltb_irrefl; reflexivity.
    - split; [apply Ask; auto|]. split; [apply Ask; auto|exact Hd]. }
  assert (Di : g f i <> g f' i) by (unfold g; destruct (Nat.ltb_spec i ct); [exact Hne|lia]).
  assert (Dc : g f ct = g f' ct) by (unfold g; rewrite Nat.ltb_irrefl; reflexivity).
  destruct (Nat.eq_dec (ones_among (g f) A) (ones_among (g f') A)) as [E|E].
  - apply (Go i); auto; unfold ones_among in *; cbn [map list_sum fold_right]; unfold list_sum in E; lia.
  - apply (Go ct); auto; unfold ones_among in *; cbn [map list_sum fold_right]; unfold list_sum in E; lia.
Qed.

(** q = N: only the sum of all counts, and N - 1 signs have N sums. *)
Theorem cut_averages_all N arch : (0 <? N)%N && (is_recurrent arch && exceeds N 1 (bits_at (N - 1) arch)) = true ->
  forall T, ImpossibleThinking arch T (averages N N).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; checked H'; apply andb_prop in H; destruct H as [Hr H].
  apply (Cut.cut _ (N - 1) N); auto; set (n := N.to_nat N); set (ct := N.to_nat (N - 1)).
  set (z := fun (i : BinNums.N) (u : nat) => if u <? N.to_nat i then 1 else 0).
  set (x := fun i u => if u <? n then pick (z i u :: seq 0 n) else num 0).
  assert (Ask : forall i, averages N N (x i) ct (ones_among (z i) (seq 0 n))).
  { intros i; exists (z i), (fun _ => seq 0 n); split; [intros u; unfold z; destruct (u <? N.to_nat i); lia|].
    split; [|split; [reflexivity|split; [unfold ct; lia|reflexivity]]]. intros u _; fold n; repeat split; [apply seq_length|apply seq_NoDup|].
    intros v Hv; apply in_seq in Hv; lia. }
  assert (Sum : forall i m, ones_among (z i) (seq 0 m) = Nat.min (N.to_nat i) m).
  { intros i m; induction m as [|m IH]; [cbn; lia|]. unfold ones_among in *; rewrite seq_S, map_app, list_sum_app, IH; cbn; unfold z.
    destruct (Nat.ltb_spec m (N.to_nat i)); lia. }
  exists x; intros i j Hi Hj Hne; exists (x i), (x j), ct, (ones_among (z i) (seq 0 n)), (ones_among (z j) (seq 0 n)).
  split; [reflexivity|]. split; [reflexivity|]. split; [lia|]. split; [|split; [apply Ask|split; [apply Ask|rewrite !Sum; unfold n; lia]]].
  intros u Hu; unfold x, z; replace u with ct by lia; destruct (ct <? n); [|reflexivity].
  destruct (Nat.ltb_spec ct (N.to_nat i)); [unfold ct in *; lia|]. destruct (Nat.ltb_spec ct (N.to_nat j)); [unfold ct in *; lia|reflexivity].
Qed.
