(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * dsa-one: one layer in which every receiver sees its k best tokens and nothing else

    An index score ranks the tokens up to the receiver; of equal ones the earlier is better. Scores are numbers of any ordered format, so
    they are natural numbers here. What the layer makes of the k tokens is any function of them: numbers may have any width, and sums any
    order. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 Binomial TheoremSplit.
Import ListNotations.
Local Notation nN := N.of_nat.

Record top_layer (Y : Type) := {
  index_score : nat -> nat -> token -> token -> nat;           (* receiver t, sender j, x_t, x_j *)
  outcome : nat -> token -> list (nat * token) -> Y }.         (* of the receiver, and of the tokens that it sees, with their places *)
Arguments index_score {Y}. Arguments outcome {Y}.

(** Token j with score b after token i with score a. *)
Definition better (score : nat -> nat) (i j : nat) : bool := (score j <? score i) || ((score j =? score i) && (i <? j)).

Definition count (p : nat -> bool) (l : list nat) : nat := length (filter p l).

Definition rank (score : nat -> nat) (n j : nat) : nat := count (fun i => better score i j) (seq 0 n).

Definition seen {Y} (l : top_layer Y) (k : nat) (x : nat -> token) (t : nat) : list nat :=
  filter (fun j => rank (fun i => index_score l t i (x t) (x i)) (S t) j <? k) (seq 0 (S t)).

Definition apply_top {Y} (l : top_layer Y) (k : nat) (x : nat -> token) (t : nat) : Y :=
  outcome l t (x t) (map (fun j => (j, x j)) (seen l k x t)).

Definition ImpossibleTop (k : nat) (task : task) : Prop :=
  forall (l : top_layer nat), ~ (forall p t v, task p t v -> apply_top l k p t = v).

(** ** Ranks *)
Lemma filter_true_all {A} (l : list A) : filter (fun _ => true) l = l.
Proof. induction l as [|a l IH]; simpl; congruence. Qed.

Lemma filter_comm {A} (p q : A -> bool) l : filter p (filter q l) = filter q (filter p l).
Proof.
  induction l as [|a l IH]; [reflexivity|]; simpl.
  destruct (q a) eqn:Q; destruct (p a) eqn:E; simpl; rewrite ?Q, ?E; congruence.
Qed.

Lemma filter_length_le {A} (p : A -> bool) l : length (filter p l) <= length l.
Proof. induction l as [|a l IH]; [reflexivity|]; simpl; destruct (p a); simpl; lia. Qed.

Lemma better_spec s i j : better s i j = true <-> s j < s i \/ s j = s i /\ i < j.
Proof.
  unfold better; rewrite orb_true_iff, andb_true_iff, !Nat.ltb_lt, Nat.eqb_eq; tauto.
Qed.

Lemma better_trans s i j h : better s i j = true -> better s j h = true -> better s i h = true.
Proof. rewrite !better_spec; lia. Qed.

Lemma better_total s i j : i <> j -> better s i j = true \/ better s j i = true.
Proof. rewrite !better_spec; lia. Qed.

Lemma better_not s i : better s i i = false.
Proof. destruct (better s i i) eqn:E; [apply better_spec in E; lia|reflexivity]. Qed.

Lemma count_le (p q : nat -> bool) l : (forall i, In i l -> p i = true -> q i = true) -> count p l <= count q l.
Proof.
  unfold count; induction l as [|a l IH]; intros H; [reflexivity|]; simpl.
  assert (H' : count p l <= count q l) by (apply IH; intros; apply H; simpl; auto); unfold count in H'.
  destruct (p a) eqn:E; [rewrite (H a) by (simpl; auto); simpl; lia|destruct (q a); simpl; lia].
Qed.

Lemma count_lt (p q : nat -> bool) l j : (forall i, In i l -> p i = true -> q i = true) -> In j l -> p j = false -> q j = true ->
  count p l < count q l.
Proof.
  unfold count; induction l as [|a l IH]; intros H Hj Hp Hq; [contradiction|]; simpl.
  assert (H' : count p l <= count q l) by (apply count_le; intros; apply H; simpl; auto); unfold count in H'.
  destruct Hj as [->|Hj]; [rewrite Hp, Hq; simpl; lia|].
  specialize (IH (fun i Hi => H i (or_intror Hi)) Hj Hp Hq).
  destruct (p a) eqn:E; [rewrite (H a) by (simpl; auto); simpl; lia|destruct (q a); simpl; lia].
Qed.

Lemma count_ext (p q : nat -> bool) l : (forall i, In i l -> p i = q i) -> count p l = count q l.
Proof. intros H; unfold count; f_equal; apply filter_ext_in; exact H. Qed.

Lemma count_app p a b : count p (a ++ b) = count p a + count p b.
Proof. unfold count; rewrite filter_app, app_length; reflexivity. Qed.

Lemma rank_lt s n i j : i < n -> better s i j = true -> rank s n i < rank s n j.
Proof.
  intros Hi H; apply (count_lt _ _ _ i); [|apply in_seq; lia|apply better_not|exact H].
  intros h _ Hh; apply (better_trans s h i j); assumption.
Qed.

Lemma rank_bound s n j : j < n -> rank s n j < n.
Proof.
  intros Hj; rewrite <- (seq_length n 0) at 2; rewrite <- (filter_true_all (seq 0 n)).
  apply (count_lt _ (fun _ => true) _ j); auto; [apply in_seq; lia|apply better_not].
Qed.

(** The k best of n. *)
Definition best (s : nat -> nat) (n k : nat) : list nat := filter (fun j => rank s n j <? k) (seq 0 n).

Lemma rank_inj s n i j : i < n -> j < n -> rank s n i = rank s n j -> i = j.
Proof.
  intros Hi Hj E; destruct (Nat.eq_dec i j) as [|Hne]; [assumption|].
  destruct (better_total s i j Hne) as [B|B]; apply (rank_lt s n) in B; lia.
Qed.

Lemma best_length s n k : k <= n -> length (best s n k) = k.
Proof.
  intros Hk; unfold best; set (r := rank s n).
  assert (Hr : forall i j, i < n -> j < n -> r i = r j -> i = j) by (intros; apply (rank_inj s n); assumption).
  assert (Hall : forall v, v < n -> exists j, j < n /\ r j = v).
  { assert (Hn : NoDup (map r (seq 0 n))).
    { apply NoDup_map_on; [|apply seq_NoDup]. intros a b Ha Hb; apply in_seq in Ha, Hb; apply Hr; lia. }
    assert (Hi : incl (seq 0 n) (map r (seq 0 n))).
    { apply NoDup_length_incl; [exact Hn|rewrite map_length; lia|].
      intros v Hv; apply in_map_iff in Hv; destruct Hv as [j [<- Hj]]; apply in_seq in Hj; apply in_seq.
      pose proof (rank_bound s n j ltac:(lia)); unfold r; lia. }
    intros v Hv; assert (Iv : In v (seq 0 n)) by (apply in_seq; lia); apply Hi in Iv.
    apply in_map_iff in Iv; destruct Iv as [j [E Hj]]; apply in_seq in Hj; exists j; split; [lia|exact E]. }
  set (b := filter (fun j => r j <? k) (seq 0 n)).
  replace (length b) with (length (map r b)) by apply map_length.
  transitivity (length (seq 0 k)); [|apply seq_length]; subst b; apply Nat.le_antisymm.
  - apply NoDup_incl_length.
    + apply NoDup_map_on; [|apply NoDup_filter, seq_NoDup].
      intros a b Ha Hb; apply filter_In in Ha, Hb; destruct Ha as [Ha _], Hb as [Hb _]; apply in_seq in Ha, Hb; apply Hr; lia.
    + intros v Hv; apply in_map_iff in Hv; destruct Hv as [j [<- Hj]]; apply filter_In in Hj; destruct Hj as [_ Hj].
      apply Nat.ltb_lt in Hj; apply in_seq; lia.
  - apply NoDup_incl_length; [apply seq_NoDup|].
    intros v Hv; apply in_seq in Hv; destruct (Hall v ltac:(lia)) as [j [Hj E]].
    apply in_map_iff; exists j; split; [exact E|]. apply filter_In; split; [apply in_seq; lia|apply Nat.ltb_lt; lia].
Qed.

(** A token, wherever it is, has fewer than m <= k better ones in the row exactly if it has so few among the k best of the row. *)
Lemma best_decide s n k m j : k <= n -> m <= k ->
  (count (fun i => better s i j) (seq 0 n) <? m) = (count (fun i => better s i j) (best s n k) <? m).
Proof.
  intros Hk Hm; set (p := fun i => better s i j).
  assert (Hle : count p (best s n k) <= count p (seq 0 n)).
  { unfold count, best; rewrite filter_comm; pose proof (filter_length_le (fun j => rank s n j <? k) (filter p (seq 0 n))); lia. }
  destruct (Nat.ltb_spec (count p (best s n k)) m) as [L|L]; [|apply Nat.ltb_ge; lia].
  apply Nat.ltb_lt.
  destruct (forallb (fun i => negb (p i) || (rank s n i <? k)) (seq 0 n)) eqn:E.
  - rewrite forallb_forall in E.
    assert (Hall : count p (seq 0 n) <= count p (best s n k)).
    { unfold count, best; rewrite filter_comm; apply Nat.eq_le_incl; f_equal.
      rewrite <- (filter_true_all (filter p (seq 0 n))) at 1; apply filter_ext_in.
      intros i Hi; apply filter_In in Hi; destruct Hi as [Hi Hp]; specialize (E i Hi); rewrite Hp in E; symmetry; exact E. }
    lia.
  - (* a better one that is not among the k best: all k best are better *)
    exfalso; assert (X : exists i, In i (seq 0 n) /\ p i = true /\ k <= rank s n i).
    { clear - E; induction (seq 0 n) as [|a l IH]; [discriminate|]; simpl in E.
      destruct (p a) eqn:Ea; [destruct (Nat.ltb_spec (rank s n a) k)|]; simpl in E;
        try (destruct IH as (i & Hi & Hp); [exact E|exists i; split; [right; exact Hi|exact Hp]]).
      exists a; split; [left; reflexivity|split; assumption]. }
    destruct X as (i & Hi & Hp & Hr); apply in_seq in Hi.
    assert (Hc : count p (best s n k) = k).
    { rewrite <- (best_length s n k Hk) at 2; unfold count; f_equal.
      rewrite <- (filter_true_all (best s n k)) at 2; apply filter_ext_in.
      intros h Hh; apply filter_In in Hh; destruct Hh as [Hh Hb]; apply in_seq in Hh; apply Nat.ltb_lt in Hb.
      destruct (better_total s h i) as [B|B]; [intros ->; lia|apply (better_trans s h i j); assumption|].
      apply (rank_lt s n) in B; lia. }
    lia.
Qed.

Lemma rank_ext s s' n j : (forall i, i < n -> s i = s' i) -> j < n -> rank s n j = rank s' n j.
Proof. intros H Hj; apply count_ext; intros i Hi; apply in_seq in Hi; unfold better; rewrite !H by lia; reflexivity. Qed.

Lemma best_ext s s' n k : (forall i, i < n -> s i = s' i) -> best s n k = best s' n k.
Proof. intros H; apply filter_ext_in; intros j Hj; apply in_seq in Hj; rewrite (rank_ext s s') by (auto; lia); reflexivity. Qed.

(** ** Which ones, as a number *)
Lemma filter_choices (p : nat -> bool) l : In (filter p l) (choices l (length (filter p l))).
Proof.
  induction l as [|a l IH]; [left; reflexivity|]; simpl; destruct (p a).
  - cbn [length choices]; apply in_app_iff; left; apply in_map; exact IH.
  - destruct (filter p l) as [|b r] eqn:E; [left; reflexivity|].
    cbn [length choices] in *; apply in_app_iff; right; exact IH.
Qed.

Fixpoint place (s : list nat) (l : list (list nat)) : nat :=
  match l with [] => 0 | a :: r => if list_eq_dec Nat.eq_dec a s then 0 else S (place s r) end.

Lemma place_spec s l : In s l -> place s l < length l /\ nth (place s l) l [] = s.
Proof.
  induction l as [|a l IH]; intros H; [contradiction|]; simpl; destruct (list_eq_dec Nat.eq_dec a s) as [->|Hne]; [split; [lia|reflexivity]|].
  destruct H as [H|H]; [contradiction|]; destruct (IH H); split; [lia|assumption].
Qed.

(** Two rows with the same k best, and the same values there, look the same to every receiver that is the same. *)
Lemma seen_same (s s' : nat -> nat) (x x' : nat -> token) (n k m : nat) : k <= n -> n <= m ->
  best s n k = best s' n k ->
  (forall j, n <= j \/ In j (best s n k) -> s j = s' j /\ x j = x' j) ->
  map (fun j => (j, x j)) (filter (fun j => rank s m j <? k) (seq 0 m)) =
  map (fun j => (j, x' j)) (filter (fun j => rank s' m j <? k) (seq 0 m)).
Proof.
  intros Hk Hm Eb H.
  assert (Cut : forall s j, rank s m j = count (fun i => better s i j) (seq 0 n) + count (fun i => better s i j) (seq n (m - n))).
  { intros r j; unfold rank; replace m with (n + (m - n)) at 1 by lia; rewrite seq_app, count_app; reflexivity. }
  assert (D : forall j, (rank s m j <? k) = (rank s' m j <? k) /\ ((rank s m j <? k) = true -> x j = x' j)).
  { intros j; destruct (in_dec Nat.eq_dec j (best s n k)) as [I|I]; [|destruct (Nat.lt_ge_cases j n) as [L|L]].
    2: { assert (Out : forall r, best r n k = best s n k -> (rank r m j <? k) = false).
         { intros r E; apply Nat.ltb_ge; rewrite Cut; change (count (fun i => better r i j) (seq 0 n)) with (rank r n j).
           destruct (Nat.lt_ge_cases (rank r n j) k) as [C|C]; [|lia].
           exfalso; apply I; rewrite <- E; apply filter_In; split; [apply in_seq; lia|apply Nat.ltb_lt; exact C]. }
         rewrite (Out s), (Out s') by congruence; split; [reflexivity|discriminate]. }
    all: assert (Hj : s j = s' j /\ x j = x' j) by (apply H; auto); destruct Hj as [Ej Ex]; split; [|intros _; exact Ex].
    all: rewrite !Cut; rewrite <- (count_ext (fun i => better s i j) (fun i => better s' i j) (seq n (m - n)))
           by (intros i Hi; apply in_seq in Hi; destruct (H i (or_introl (proj1 Hi))) as [Ei _]; unfold better; rewrite Ej, Ei; reflexivity).
    all: set (c := count _ (seq n (m - n))).
    all: destruct (Nat.lt_ge_cases c k) as [Lc|Lc];
      [|transitivity false; [|symmetry]; apply Nat.ltb_ge; lia].
    all: assert (Sh : forall a, (a + c <? k) = (a <? k - c))
           by (intros a; destruct (Nat.ltb_spec (a + c) k), (Nat.ltb_spec a (k - c)); (reflexivity || lia)).
    all: rewrite !Sh, (best_decide s n k (k - c)), (best_decide s' n k (k - c)) by lia; rewrite <- Eb.
    all: rewrite (count_ext (fun i => better s i j) (fun i => better s' i j) (best s n k)); [reflexivity|].
    all: intros i Hi; unfold better; rewrite Ej, (proj1 (H i (or_intror Hi))); reflexivity. }
  rewrite <- (filter_ext (fun j => rank s m j <? k) _ (fun j => proj1 (D j))).
  apply map_ext_in; intros j Hj; apply filter_In in Hj; rewrite (proj2 (D j) (proj2 Hj)); reflexivity.
Qed.

Theorem top_states : forall flat (N0 : N) ns V (k : nat), positive N0 ns = true -> k <= N.to_nat N0 -> (0 < V)%N ->
  (binomial (N.to_nat N0) k < V ^ nN (N.to_nat N0 - k))%N -> ImpossibleTop k (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V k Hp Hk HV Hlt m Hs.
  destruct (positive_spec N0 ns Hp) as [H0 Hn].
  pose proof (first_table_spec flat N0 ns) as En.
  assert (Hent : N.to_nat N0 <= entries flat (N.to_nat N0) (map N.to_nat ns) (levels (map N.to_nat ns))).
  { unfold entries; pose proof (range_ge flat _ _ H0 Hn (pred (levels (map N.to_nat ns)))).
    pose proof (Hn (pred (levels (map N.to_nat ns)))); nia. }
  pose proof (fun f u => seqcomp_asks flat N0 ns V f u Hp) as Hask.
  pose proof (last_after flat (N.to_nat N0) (map N.to_nat ns) H0) as Hla.
  set (n0 := N.to_nat N0) in *; set (ns' := map N.to_nat ns) in *; set (last := last_at flat n0 ns') in *.
  set (F := fun (e : nat -> nat) i => if i <? n0 then e i else 0).
  assert (HF : forall e, (forall i, e i < N.to_nat V) -> forall i, F e i < N.to_nat V)
    by (intros e He i; unfold F; destruct (_ <? _); [apply He|lia]).
  set (Q := fun e u => at_ (ask flat n0 ns' (F e) u)).
  assert (Pw : forall e u e' u', u < n0 -> u' < n0 -> Q e u last = Q e' u' last)
    by (intros; unfold Q, last; apply ask_last; rewrite !Nat.div_small by assumption; reflexivity).
  assert (Prow : forall e u j, j < n0 -> Q e u j = num (e j)).
  { intros e u j Hj; unfold Q; rewrite ask_first by lia; unfold F; destruct (Nat.ltb_spec j n0); [reflexivity|lia]. }
  assert (Prest : forall e e' u j, n0 <= j -> Q e u j = Q e' u j).
  { intros e e' u j Hj; unfold Q; destruct (Nat.lt_ge_cases j (entries flat n0 ns' (levels ns'))) as [L|L]; [|apply ask_rest; assumption].
    rewrite !ask_first by exact L; unfold F; destruct (Nat.ltb_spec j n0); [lia|reflexivity]. }
  set (xw := Q (fun _ => 0) 0 last).
  set (row := fun (e : nat -> nat) i => index_score m last i xw (num (e i))).
  set (top := fun e => best (row e) n0 k).
  set (K := binomial n0 k).
  assert (Ht : forall e, In (top e) (choices (seq 0 n0) k)).
  { intros e; pose proof (filter_choices (fun j => rank (row e) n0 j <? k) (seq 0 n0)) as C.
    fold (best (row e) n0 k) in C; rewrite best_length in C by exact Hk; exact C. }
  assert (Hc : nN (length (choices (seq 0 n0) k)) = K)
    by (pose proof (choices_length (seq 0 n0) k) as C; rewrite seq_length in C; exact C).
  set (which := fun e => nN (place (top e) (choices (seq 0 n0) k))).
  assert (Hw : forall e, (which e < K)%N) by (intros e; unfold which; destruct (place_spec _ _ (Ht e)) as [L _]; lia).
  assert (Hle : (V ^ nN n0 <= K * V ^ nN k)%N).
  { apply (tables_le V n0 _ (fun e => pair_code K (which e) (digits V (fun i => nN (e (nth i (top e) 0))) k))); [exact HV| |].
    { intros e He; apply pair_lt; [apply Hw|apply digits_lt; intros i _; specialize (He (nth i (top e) 0)); lia]. }
    intros e e' He He' E u Hu; apply pair_inj in E; [|apply Hw|apply Hw]; destruct E as [Ew Ed].
    assert (Et : top e = top e').
    { apply Nat2N.inj in Ew; rewrite <- (proj2 (place_spec _ _ (Ht e))), Ew; apply place_spec, Ht. }
    assert (Ev : forall j, In j (top e) -> e j = e' j).
    { intros j Hj; destruct (In_nth _ _ 0 Hj) as (i & Hi & Ei).
      unfold top in Hi; rewrite best_length in Hi by exact Hk.
      assert (Ei' : nN (e (nth i (top e) 0)) = nN (e' (nth i (top e') 0))).
      { apply (digits_inj V (fun h => nN (e (nth h (top e) 0))) (fun h => nN (e' (nth h (top e') 0))) k); [| |exact Ed|exact Hi].
        - intros h _; specialize (He (nth h (top e) 0)); lia.
        - intros h _; specialize (He' (nth h (top e') 0)); lia. }
      rewrite <- Et, Ei in Ei'; lia. }
    assert (Ans : forall d, (forall i, d i < N.to_nat V) -> apply_top m k (Q d u) last = d u).
    { intros d Hd; replace (d u) with (F d u) by (unfold F; destruct (Nat.ltb_spec u n0); [reflexivity|lia]).
      apply Hs, Hask; [apply HF; exact Hd|rewrite <- En; lia]. }
    rewrite <- (Ans e He), <- (Ans e' He'); unfold apply_top, seen.
    rewrite !(Pw _ u (fun _ => 0) 0) by (assumption || lia); fold xw; f_equal.
    assert (Hrow : forall d i, i < n0 -> index_score m last i xw (Q d u i) = row d i)
      by (intros d i Hi; rewrite Prow by exact Hi; reflexivity).
    apply (seen_same _ _ (Q e u) (Q e' u) n0 k (S last)); [exact Hk|lia| |].
    - rewrite (best_ext _ (row e) n0 k (Hrow e)), (best_ext _ (row e') n0 k (Hrow e')); exact Et.
    - intros j [Hj|Hj]; [rewrite (Prest e e' u j Hj); split; reflexivity|].
      rewrite (best_ext _ (row e) n0 k (Hrow e)) in Hj; fold (top e) in Hj.
      assert (Lj : j < n0) by (apply filter_In in Hj; destruct Hj as [Hj _]; apply in_seq in Hj; lia).
      rewrite !Prow, (Ev j Hj) by exact Lj; split; reflexivity. }
  replace n0 with ((n0 - k) + k) in Hle by lia; rewrite Nat2N.inj_add, N.pow_add_r in Hle.
  apply N.mul_le_mono_pos_r in Hle; [fold K in Hlt; lia|]. apply N.neq_0_lt_0, N.pow_nonzero; lia.
Qed.

Lemma binomial_all n : binomial n n = 1%N.
Proof. induction n as [|n IH]; [reflexivity|]; cbn [binomial]; rewrite IH, binomial_over by lia; reflexivity. Qed.

Lemma binomial_sym n : forall a b, a + b = n -> binomial n a = binomial n b.
Proof.
  induction n as [|n IH]; intros [|a] [|b] E; try lia; try reflexivity.
  - replace (S b) with (S n) by lia; rewrite binomial_all, binomial_0; reflexivity.
  - replace (S a) with (S n) by lia; rewrite binomial_all, binomial_0; reflexivity.
  - cbn [binomial]; rewrite (IH a (S b)), (IH (S a) b) by lia; lia.
Qed.

(** (N_0 - k) log2 V > log2 C(N_0, k), computed as C(N_0, N_0 - k) where this is shorter. *)
Definition top_check (N0 : N) (ns : list N) (V k : N) : bool :=
  positive N0 ns && (k <=? N0)%N && (0 <? V)%N && (hi fine (binomial_of N0 (N.min k (N0 - k))) <? (N0 - k) * lo fine V)%N.

Theorem dsa_one : forall flat N0 ns V k, top_check N0 ns V k = true -> ImpossibleTop (N.to_nat k) (seqcomp flat N0 ns V).
Proof.
  unfold top_check; intros flat N0 ns V k H.
  apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.leb_le in H2; apply N.ltb_lt in H3, H4; rewrite binomial_of_spec in H4.
  replace (binomial (N.to_nat N0) (N.to_nat (N.min k (N0 - k)))) with (binomial (N.to_nat N0) (N.to_nat k)) in H4
    by (destruct (N.min_spec k (N0 - k)) as [[_ ->]|[_ ->]]; [reflexivity|apply binomial_sym; lia]).
  apply top_states; auto; [lia|].
  replace (nN (N.to_nat N0 - N.to_nat k)) with (N0 - k)%N by lia.
  apply (root fine); apply N.le_lt_trans with (2 ^ hi fine (binomial (N.to_nat N0) (N.to_nat k)))%N; [apply hi_spec|].
  apply N.lt_le_trans with (2 ^ ((N0 - k) * lo fine V))%N; [apply N.pow_lt_mono_r; [lia|exact H4]|apply lo_pow; auto].
Qed.
