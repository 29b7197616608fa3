(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * What the theorems exclude is possible above: networks of Model.v that solve the tasks

    An automaton with at most 2^b states at each length is a recurrent layer of b bits, and a full layer with an accumulator of b bits.
    Layers that only pass on what they get may stand before and after it. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremA Tight Binomial Words Cut CutOne CutTables CutRecall Sparse TwoSum TwoPass Thought.
Import ListNotations.
Local Notation nN := N.of_nat.

Definition Solvable (arch : list bits) (k : task) : Prop := exists m : net token nat, fits m (map spec_of arch) /\ solves k m.

Lemma solvable_possible arch k : Solvable arch k -> ~ Impossible arch k.
Proof. intros (m & Hm & Hs) H; exact (H m Hm Hs). Qed.

Lemma solvable_thinking arch k : Solvable arch k -> ~ ImpossibleThinking arch 0 k.
Proof. intros (m & Hm & Hs) H; exact (H nat m num (fun y => y) Hm (thinking_0 k m Hs)). Qed.

Lemma card_more T a b : card_le T a -> (a <= b)%N -> card_le T b.
Proof. intros (c & Hi & Hl) H; exists c; split; [exact Hi|intros x; specialize (Hl x); lia]. Qed.

(** ** Automata

    [enc] numbers the states that occur after t tokens. *)
Section Automaton.
Variables (Q : Type) (q0 : Q) (step : nat -> Q -> token -> Q) (enc : nat -> Q -> N) (dec : nat -> N -> Q).

Fixpoint reads (x : nat -> token) (t : nat) : Q := match t with 0 => q0 | S j => step j (reads x j) (x j) end.

Variables (k : task) (answer : nat -> Q -> token -> nat) (b : N).

(** On every prompt of the task the states that occur are numbered below 2^b, and the last of them knows the answer. *)
Definition decides : Prop := forall p t v, k p t v ->
  (forall j, j <= t -> (enc j (reads p j) < 2 ^ b)%N /\ dec j (enc j (reads p j)) = reads p j) /\ answer t (reads p t) (p t) = v.

Hypothesis Hdec : decides.

Lemma zero_lt : (0 <? 2 ^ b)%N = true.
Proof. apply N.ltb_lt; pose proof (N.pow_nonzero 2 b); lia. Qed.

Definition nought : fin (2 ^ b) := exist _ 0%N zero_lt.
Definition code (t : nat) (q : Q) : fin (2 ^ b) := mk (2 ^ b) nought (enc t q).
Definition known (t : nat) (h : fin (2 ^ b)) : Q := dec t (proj1_sig h).

Definition by_state {Y} (out : nat -> Q -> token -> Y) : layer token Y :=
  Rec (fun _ => fin (2 ^ b)) (code 0 q0) (fun t h x => code (S t) (step t (known t h) x)) (fun t h _ x => out t (known t h) x).

(** The accumulator need not hold the receiver's own token. *)
Definition first_acc (t : nat) (x : token) : fin (2 ^ b) := code 0 q0.
Definition next_acc (t j : nat) (a : fin (2 ^ b)) (xj xt : token) : fin (2 ^ b) :=
  if j <? t then code (S j) (step j (known j a) xj) else a.
Definition by_accumulator {Y} (out : nat -> Q -> token -> Y) : layer token Y :=
  Full (fun _ => fin (2 ^ b)) first_acc next_acc (fun t a x => out t (known t a) x).

Lemma state_reads p t v : k p t v -> forall j, j <= t ->
  state (St := fun _ => fin (2 ^ b)) (code 0 q0) (fun t h x => code (S t) (step t (known t h) x)) p j = code j (reads p j).
Proof.
  intros K; destruct (Hdec p t v K) as [H _]; induction j as [|j IH]; intros Hj; [reflexivity|]; cbn [state reads].
  rewrite IH by lia; destruct (H j ltac:(lia)) as [L E]; unfold known, code at 2; rewrite mk_val by exact L; rewrite E; reflexivity.
Qed.

Lemma acc_reads p t v : k p t v -> forall j, j <= t -> acc (A := fun _ => fin (2 ^ b)) first_acc next_acc p t j = code j (reads p j).
Proof.
  intros K; destruct (Hdec p t v K) as [H _]; induction j as [|j IH]; intros Hj; [reflexivity|]; cbn [acc reads].
  unfold next_acc at 1; destruct (Nat.ltb_spec j t); [|lia].
  rewrite IH by lia; destruct (H j ltac:(lia)) as [L E]; unfold known, code at 2; rewrite mk_val by exact L; rewrite E; reflexivity.
Qed.

Lemma last_acc p t v : k p t v -> acc (A := fun _ => fin (2 ^ b)) first_acc next_acc p t (S t) = code t (reads p t).
Proof. intros K; cbn [acc]; unfold next_acc at 1; rewrite Nat.ltb_irrefl; apply (acc_reads p t v K); lia. Qed.

Lemma knows p t v : k p t v -> answer t (known t (code t (reads p t))) (p t) = v.
Proof.
  intros K; destruct (Hdec p t v K) as [H A]; destruct (H t ltac:(lia)) as [L E].
  unfold known, code; rewrite mk_val by exact L; rewrite E; exact A.
Qed.

(** Both kinds of layer give the answer; as a layer of heads of both kinds the others idle. *)
Lemma by_state_right p t v : k p t v -> apply (by_state answer) p t = v.
Proof. intros K; cbn [apply by_state]; rewrite (state_reads p t v K) by lia; apply (knows p t v K). Qed.

Lemma by_accumulator_right p t v : k p t v -> apply (by_accumulator answer) p t = v.
Proof. intros K; cbn [apply by_accumulator]; rewrite (last_acc p t v K); apply (knows p t v K). Qed.

(** *** Layers that pass on what they get *)
Definition idle (s : bits) {X} : layer X X :=
  match s with
  | R _ | LL _ => Rec (fun _ => unit) tt (fun _ _ _ => tt) (fun _ _ _ x => x)
  | F _ => Full (fun _ => unit) (fun _ _ => tt) (fun _ _ _ _ _ => tt) (fun _ _ x => x)
  | RF _ _ | LF _ _ _ => Both (fun _ => unit) tt (fun _ _ _ => tt) (fun _ => unit) (fun _ _ => tt) (fun _ _ _ _ _ => tt) (fun _ _ _ _ x => x)
  end.

Lemma unit_fits n : card_le unit (2 ^ n).
Proof. apply (card_more _ 1); [apply card_unit|]. pose proof (N.pow_nonzero 2 n); lia. Qed.

Lemma idle_fits s X : layer_fits (@idle s X) (spec_of s).
Proof. destruct s; cbn; intros; try split; apply unit_fits. Qed.

Lemma idle_apply s X (x : nat -> X) t : apply (idle s) x t = x t.
Proof. destruct s; reflexivity. Qed.

Fixpoint idles (l : list bits) {X Y} (m : net X Y) : net X Y := match l with [] => m | s :: r => Then (idle s) (idles r m) end.

Lemma idles_fits l X Y (m : net X Y) a : fits m a -> fits (idles l m) (map spec_of l ++ a).
Proof. intros H; induction l as [|s l IH]; [exact H|]; cbn [idles map app fits]; split; [apply idle_fits|exact IH]. Qed.

Lemma idles_run l X Y (m : net X Y) x t : run (idles l m) x t = run m x t.
Proof.
  revert x; induction l as [|s l IH]; intros x; [reflexivity|]; cbn [idles run]; rewrite IH.
  apply run_ext; intros u; apply idle_apply.
Qed.

(** One layer that is large enough, anywhere in a stack. *)
Definition large (s : bits) : Prop :=
  match s with R n => (b <= n)%N | F c => (b <= c)%N | RF n c => (b <= n)%N \/ (b <= c)%N | LL _ | LF _ _ _ => False end.

Lemma fin_fits n : (b <= n)%N -> card_le (fin (2 ^ b)) (2 ^ n).
Proof. intros H; apply (card_more _ (2 ^ b)); [apply fin_card|apply N.pow_le_mono_r; lia]. Qed.

Lemma large_layer s : large s -> exists l : layer token nat, layer_fits l (spec_of s) /\ forall p t v, k p t v -> apply l p t = v.
Proof.
  destruct s as [n|c|n c| |]; intros H; cbn in H; [| |destruct H as [H|H]|contradiction|contradiction].
  - exists (by_state answer); split; [intros t; apply fin_fits, H|apply by_state_right].
  - exists (by_accumulator answer); split; [intros t; apply fin_fits, H|apply by_accumulator_right].
  - exists (Both (fun _ => fin (2 ^ b)) (code 0 q0) (fun t h x => code (S t) (step t (known t h) x)) (fun _ => unit) (fun _ _ => tt)
      (fun _ _ _ _ _ => tt) (fun t h _ _ x => answer t (known t h) x)).
    split; [intros t; split; [apply fin_fits, H|apply unit_fits]|].
    intros p t v K; cbn [apply]; rewrite (state_reads p t v K) by lia; apply (knows p t v K).
  - exists (Both (fun _ => unit) tt (fun _ _ _ => tt) (fun _ => fin (2 ^ b)) first_acc next_acc (fun t _ _ a x => answer t (known t a) x)).
    split; [intros t; split; [apply unit_fits|apply fin_fits, H]|].
    intros p t v K; cbn [apply]; rewrite (last_acc p t v K); apply (knows p t v K).
Qed.

Theorem one_large_layer before s after : large s -> Solvable (before ++ s :: after) k.
Proof.
  intros H; destruct (large_layer s H) as (l & Hl & Hr).
  exists (idles before (Then l (idles after (Out (fun _ y => y))))); split.
  - rewrite map_app; apply idles_fits; cbn [map fits]; split; [exact Hl|].
    rewrite <- (app_nil_r (map spec_of after)); apply idles_fits; exact I.
  - intros p t v K; rewrite idles_run; cbn [run]; rewrite idles_run; cbn [run]; apply Hr, K.
Qed.

(** A softmax of two passes whose scores say nothing. *)
Theorem large_two_pass H c : (b <= c)%N -> ~ ImpossibleTwoPass H c k.
Proof.
  intros Hc Im.
  apply (Im {| score := fun _ _ _ _ _ => 0; Acc := fun _ => fin (2 ^ b); first := fun _ => first_acc; TwoPass.step := fun _ => next_acc;
              result := fun _ t a x => answer t (known t a) x |}); [intros t; apply fin_fits, Hc|].
  intros p t v K; unfold apply_two_pass; cbn [first TwoPass.step result Acc].
  rewrite (last_acc p t v K); apply (knows p t v K).
Qed.
End Automaton.

(** ** Reading everything: digit j of the state is what token j says, below base j *)
Fixpoint read_code (say : nat -> token -> nat) (base : nat -> N) (x : nat -> token) (t : nat) : N :=
  match t with 0 => 0%N | S j => (read_code say base x j + nN (say j (x j)) * prodf base j)%N end.

Definition nth_read (base : nat -> N) (z : N) (j : nat) : nat := N.to_nat (z / prodf base j mod base j).

Lemma prodf_pos base t : (forall j, (0 < base j)%N) -> (0 < prodf base t)%N.
Proof. intros H; induction t as [|t IH]; cbn [prodf]; [lia|]; specialize (H t); nia. Qed.

Lemma prodf_divides base i t : i < t -> exists r, prodf base t = (r * (base i * prodf base i))%N.
Proof.
  induction t as [|t IH]; intros H; [lia|]; cbn [prodf].
  destruct (Nat.eq_dec i t) as [->|Hn]; [exists 1%N; lia|]. destruct IH as [r E]; [lia|]. exists (r * base t)%N; rewrite E; lia.
Qed.

Lemma read_code_spec say base x t : (forall j, (0 < base j)%N) -> (forall j, j < t -> (nN (say j (x j)) < base j)%N) ->
  (read_code say base x t < prodf base t)%N /\ forall i, i < t -> nth_read base (read_code say base x t) i = say i (x i).
Proof.
  intros Hb; induction t as [|t IH]; intros H; [split; [reflexivity|intros; lia]|]; cbn [read_code prodf].
  destruct IH as [L E]; [intros; apply H; lia|]. pose proof (H t ltac:(lia)) as Ht; split; [nia|].
  assert (P0 : forall j, prodf base j <> 0%N) by (intros j; pose proof (prodf_pos base j Hb); lia).
  intros i Hi; unfold nth_read in *; destruct (Nat.eq_dec i t) as [->|Hn].
  - rewrite N.div_add, N.div_small, N.mod_small by auto; lia.
  - destruct (prodf_divides base i t ltac:(lia)) as [r Er]; rewrite Er.
    replace (read_code say base x t + nN (say t (x t)) * (r * (base i * prodf base i)))%N
      with (read_code say base x t + (nN (say t (x t)) * r * base i) * prodf base i)%N by lia.
    pose proof (Hb i); rewrite N.div_add, N.mod_add by (auto; lia); apply E; lia.
Qed.

(** What the first n tokens say is below their bases, and the answer is a function of them and of the last token. *)
Section Reading.
Variables (k : task) (say : nat -> token -> nat) (base : nat -> N) (n : nat) (answer : nat -> (nat -> nat) -> token -> nat).
Hypothesis Hbase : forall j, (0 < base j)%N.
Hypothesis Hread : forall p t v, k p t v ->
  (forall j, j < n -> j < t -> (nN (say j (p j)) < base j)%N) /\
  forall f, (forall j, j < n -> j < t -> f j = say j (p j)) -> answer t f (p t) = v.

Definition read_step (t : nat) (q : N) (x : token) : N := if t <? n then (q + nN (say t x) * prodf base t)%N else q.

Lemma reads_code x t : reads N 0%N read_step x t = read_code say base x (Nat.min t n).
Proof.
  induction t as [|t IH]; [reflexivity|]; cbn [reads]; rewrite IH; unfold read_step; destruct (Nat.ltb_spec t n).
  - rewrite (Nat.min_l t n), (Nat.min_l (S t) n) by lia; reflexivity.
  - rewrite (Nat.min_r t n), (Nat.min_r (S t) n) by lia; reflexivity.
Qed.

Lemma prodf_le i j : i <= j -> (prodf base i <= prodf base j)%N.
Proof. induction 1 as [|m _ IH]; [lia|]; cbn [prodf]; pose proof (Hbase m); nia. Qed.

Lemma reading_decides b : (prodf base n <= 2 ^ b)%N ->
  decides N 0%N read_step (fun _ q => q) (fun _ z => z) k (fun t q x => answer t (nth_read base q) x) b.
Proof.
  intros Hb p t v K; destruct (Hread p t v K) as [Hv Ha].
  assert (G : forall j, j <= t -> (read_code say base p (Nat.min j n) < prodf base (Nat.min j n))%N /\
    forall i, i < Nat.min j n -> nth_read base (read_code say base p (Nat.min j n)) i = say i (p i)).
  { intros j Hj; apply read_code_spec; [exact Hbase|intros i Hi; apply Hv; lia]. }
  split.
  - intros j Hj; split; [|reflexivity]. rewrite reads_code; destruct (G j Hj) as [L _].
    pose proof (prodf_le (Nat.min j n) n ltac:(lia)); lia.
  - rewrite reads_code; apply Ha; intros j Hj Ht; apply (proj2 (G t ltac:(lia))); lia.
Qed.

(** A layer that holds everything it has read. *)
Theorem reading_solves b before s after : (prodf base n <= 2 ^ b)%N -> large b s -> Solvable (before ++ s :: after) k.
Proof. intros Hb; apply (one_large_layer _ _ _ _ _ _ _ b (reading_decides b Hb)). Qed.

Theorem reading_two_pass b H c : (prodf base n <= 2 ^ b)%N -> (b <= c)%N -> ~ ImpossibleTwoPass H c k.
Proof. intros Hb; apply (large_two_pass _ _ _ _ _ _ _ b (reading_decides b Hb)). Qed.
End Reading.

(** ** eva, index: exact *)
Theorem A_solvable N V b before s after : (0 < V)%N -> (V ^ N <= 2 ^ b)%N -> large b s -> Solvable (before ++ s :: after) (eva N V).
Proof.
  intros HV Hb; apply (reading_solves (eva N V) (fun _ => value_of) (fun _ => V) (N.to_nat N) (fun _ f x => f (value_of x))); [intros; exact HV| |].
  - intros p t v (f & q & Hf & Hq & -> & -> & ->); set (n := N.to_nat N) in *; split.
    + intros j Hj _; rewrite eva_before by exact Hj; cbn [value_of]; specialize (Hf j Hj); lia.
    + intros g Hg; rewrite eva_query; cbn [value_of]; rewrite Hg by exact Hq; rewrite eva_before by exact Hq; reflexivity.
  - rewrite prodf_const, N2Nat.id; exact Hb.
Qed.

(** ** Compositions: all tables and z_0 *)
Lemma total_mono flat N0 ns l K : l <= K -> total flat N0 ns l <= total flat N0 ns K.
Proof. induction 1 as [|m _ IH]; [lia|]; cbn [total]; lia. Qed.

Section Compositions.
Variables (flat : bool) (N0 : nat) (ns : list nat) (z : nat -> nat -> nat) (z0 : nat) (w : nat -> nat).
Let L := levels ns.
Let ent := entries flat N0 ns.
Let tot := total flat N0 ns.

Lemma tables_nth K : forall l i rest, 0 < l <= K -> i < ent l -> at_ (tables flat N0 ns z K ++ rest) (tot K - tot l + i) = num (z l i).
Proof.
  induction K as [|K IH]; intros l i rest Hl Hi; [lia|]; cbn [tables]; rewrite <- app_assoc; unfold at_.
  assert (M : tot l <= tot K \/ l = S K).
  { destruct (Nat.eq_dec l (S K)); [right; assumption|left; apply total_mono; lia]. }
  destruct (Nat.eq_dec l (S K)) as [->|Hn].
  - rewrite Nat.sub_diag, app_nth1 by (rewrite table_length; exact Hi); apply table_nth, Hi.
  - destruct M as [M|M]; [|contradiction]. assert (ET : tot (S K) = ent (S K) + tot K) by reflexivity; rewrite ET.
    rewrite app_nth2 by (rewrite table_length; fold (ent (S K)); lia); rewrite table_length; fold (ent (S K)).
    replace (ent (S K) + tot K - tot l + i - ent (S K)) with (tot K - tot l + i) by lia.
    apply (IH l i rest); auto; lia.
Qed.

Lemma prompt_table l i : 0 < l <= L -> i < ent l -> at_ (seqcomp_prompt flat N0 ns z z0 w) (tot L - tot l + i) = num (z l i).
Proof. intros Hl Hi; apply tables_nth; assumption. Qed.

Hypothesis Hz : forall l u, 0 < l < L -> u < ent l -> z l u < range flat N0 ns l.
Hypothesis Hz0 : z0 < N0.
Hypothesis Hw0 : w 0 = 0.
Hypothesis Hw : forall l, 0 < l < L -> w l < n_of ns l.

Lemma pair_in l i : l < L -> i < range flat N0 ns l -> w l * range flat N0 ns l + i < ent (S l).
Proof.
  intros Hl Hi; unfold ent, entries; cbn [pred].
  assert (w l < n_of ns l) by (destruct l; [rewrite Hw0; cbn; lia|apply Hw; lia]). nia.
Qed.

Lemma index_range l : l < L -> index flat N0 ns z z0 w l < range flat N0 ns l.
Proof.
  induction l as [|l IH]; intros Hl; [exact Hz0|]. cbn [index]; apply Hz; [lia|]. apply pair_in; [lia|apply IH; lia].
Qed.

(** Only entries of the tables matter. *)
Lemma index_known z' z0' w' l : l <= L -> z0' = z0 -> (forall i, i < L -> w' i = w i) ->
  (forall m u, 0 < m <= L -> u < ent m -> z' m u = z m u) -> index flat N0 ns z' z0' w' l = index flat N0 ns z z0 w l.
Proof.
  intros Hl E0 Ew Ez; induction l as [|l IH]; [exact E0|]; cbn [index].
  rewrite IH, Ew by lia; apply Ez; [lia|]. apply pair_in; [lia|apply index_range; lia].
Qed.
End Compositions.

(** How many values the tables and z_0 have together. *)
Section Values.
Variables (flat : bool) (N0 : N) (ns : list N) (V : N).

Definition values_of (l : nat) : N := if l =? S (length ns) then V else range_at flat N0 ns l.

Fixpoint table_values (l : nat) : N :=
  match l with 0 => 1%N | S j => (values_of (S j) ^ entries_at flat N0 ns (S j) * table_values j)%N end.

Definition seqcomp_values : N := (table_values (S (length ns)) * N0)%N.

Fixpoint table_bases (l : nat) : list N :=
  match l with 0 => [] | S j => repeat (values_of (S j)) (N.to_nat (entries_at flat N0 ns (S j))) ++ table_bases j end.

Definition bases : list N := table_bases (S (length ns)) ++ [N0].
End Values.

Definition product_of (l : list N) : N := fold_right N.mul 1%N l.

Lemma product_of_app a b : product_of (a ++ b) = (product_of a * product_of b)%N.
Proof. induction a as [|x a IH]; unfold product_of in *; cbn [app fold_right]; [lia|rewrite IH; lia]. Qed.

Lemma product_of_repeat x n : product_of (repeat x n) = (x ^ nN n)%N.
Proof. induction n as [|n IH]; [reflexivity|]; rewrite Nat2N.inj_succ, N.pow_succ_r'; cbn [repeat product_of fold_right]; unfold product_of in IH; rewrite IH; reflexivity. Qed.

Lemma prodf_list l : forall k, k <= length l -> prodf (fun j => nth j l 1%N) k = product_of (firstn k l).
Proof.
  induction k as [|k IH]; intros H; [reflexivity|]; cbn [prodf]; rewrite IH by lia.
  assert (E : firstn (S k) l = firstn k l ++ [nth k l 1%N]).
  { clear IH; revert l H; induction k as [|k IHk]; intros [|x l] H; cbn in *; try lia; [reflexivity|]. rewrite IHk by lia; reflexivity. }
  rewrite E, product_of_app; cbn; lia.
Qed.

Lemma bases_product flat N0 ns V : product_of (bases flat N0 ns V) = seqcomp_values flat N0 ns V.
Proof.
  unfold bases, seqcomp_values; rewrite product_of_app; cbn [product_of fold_right]; rewrite N.mul_1_r; f_equal.
  generalize (S (length ns)) as l; induction l as [|l IH]; [reflexivity|]; cbn [table_bases table_values].
  rewrite product_of_app, product_of_repeat, N2Nat.id, IH; reflexivity.
Qed.

Definition w_in (x : token) (l : nat) : nat := match x, l with pick u, S j => nth j u 0 | _, _ => 0 end.

Section Composed.
Variables (flat : bool) (N0 : N) (ns : list N) (V : N).
Hypothesis Hp : positive N0 ns = true.
Hypothesis HV : (0 < V)%N.
Let n0 := N.to_nat N0.
Let ns' := map N.to_nat ns.
Let L := levels ns'.
Let tot := total flat n0 ns'.
Let base := fun j => nth j (bases flat N0 ns V) 1%N.

Definition composed_from (f : nat -> nat) (x : token) : nat :=
  index flat n0 ns' (fun l i => f (tot L - tot l + i)) (f (tot L)) (w_in x) L.

Lemma values_pos l : (0 < values_of flat N0 ns V l)%N.
Proof.
  unfold values_of; destruct (l =? S (length ns)); [exact HV|]. destruct (positive_spec N0 ns Hp) as [H0 Hn].
  pose proof (range_pos flat (N.to_nat N0) (map N.to_nat ns) H0 Hn l) as H; rewrite range_at_spec in H; lia.
Qed.

Lemma base_pos j : (0 < base j)%N.
Proof.
  unfold base; destruct (Nat.lt_ge_cases j (length (bases flat N0 ns V))) as [Lt|Ge]; [|rewrite nth_overflow by exact Ge; lia].
  assert (G : forall x, In x (bases flat N0 ns V) -> (0 < x)%N); [|apply G, nth_In, Lt].
  intros x Hx; unfold bases in Hx; apply in_app_iff in Hx; destruct Hx as [Hx|[<-|[]]].
  - revert Hx; generalize (S (length ns)) as l; induction l as [|l IH]; intros Hx; [contradiction|]; cbn [table_bases] in Hx.
    apply in_app_iff in Hx; destruct Hx as [Hx|Hx]; [apply repeat_spec in Hx; subst; apply values_pos|apply IH, Hx].
  - unfold positive in Hp; apply andb_prop in Hp; destruct Hp as [H _]; apply N.ltb_lt in H; exact H.
Qed.

Lemma table_bases_length l : length (table_bases flat N0 ns V l) = tot l.
Proof.
  induction l as [|l IH]; [reflexivity|]; cbn [table_bases]; rewrite app_length, repeat_length, IH.
  unfold tot; cbn [total]; unfold n0, ns'; rewrite entries_at_spec; reflexivity.
Qed.

Lemma bases_length : length (bases flat N0 ns V) = tot L + 1.
Proof. unfold bases; rewrite app_length, table_bases_length; unfold L, ns'; rewrite levels_spec; reflexivity. Qed.

(** Every position of the tables is entry i of some table l. *)
Lemma position_of K j : j < tot K -> exists l i, 0 < l <= K /\ i < entries flat n0 ns' l /\ j = tot K - tot l + i /\
  forall rest, nth j (table_bases flat N0 ns V K ++ rest) 1%N = values_of flat N0 ns V l.
Proof.
  revert j; induction K as [|K IH]; intros j Hj; [cbn in Hj; lia|].
  unfold tot in Hj; cbn [total] in Hj; fold tot in Hj; cbn [table_bases].
  assert (Len : length (repeat (values_of flat N0 ns V (S K)) (N.to_nat (entries_at flat N0 ns (S K)))) = entries flat n0 ns' (S K))
    by (rewrite repeat_length; unfold n0, ns'; rewrite entries_at_spec; reflexivity).
  destruct (Nat.lt_ge_cases j (entries flat n0 ns' (S K))) as [Lt|Ge].
  - exists (S K), j; repeat split; try lia. intros rest; rewrite <- app_assoc, app_nth1 by (rewrite Len; exact Lt).
    apply (repeat_spec (N.to_nat (entries_at flat N0 ns (S K)))), nth_In; rewrite Len; exact Lt.
  - destruct (IH (j - entries flat n0 ns' (S K))) as (l & i & Hl & Hi & E & G); [lia|].
    exists l, i; split; [lia|]. split; [exact Hi|].
    assert (M : tot l <= tot K) by (apply total_mono; lia).
    split; [unfold tot at 1; cbn [total]; fold tot; lia|].
    intros rest; rewrite <- app_assoc, app_nth2, Len by (rewrite Len; exact Ge); apply G.
Qed.

Lemma composed_reading p t v : seqcomp flat N0 ns V p t v ->
  (forall j, j < tot L + 1 -> j < t -> (nN (value_of (p j)) < base j)%N) /\
  forall f, (forall j, j < tot L + 1 -> j < t -> f j = value_of (p j)) -> composed_from f (p t) = v.
Proof.
  intros (z & z0 & w & Hz & HzL & Hz0 & Hw0 & Hw & Ep & Et & ->); fold n0 ns' in Hz, HzL, Hz0, Hw, Ep, Et |- *; fold L in Hz, HzL, Hw |- *.
  rewrite prompt_length in Et; unfold last_at in Et; fold L tot in Et; assert (Ht : t = tot L + 1) by lia; clear Et; subst p t.
  assert (E0 : at_ (seqcomp_prompt flat n0 ns' z z0 w) (tot L) = num z0) by apply prompt_z0.
  assert (EL : S (length ns) = L) by (unfold L, ns'; rewrite levels_spec; reflexivity).
  split.
  - intros j Hj _; destruct (Nat.eq_dec j (tot L)) as [->|Hn].
    + rewrite E0; unfold base, bases; rewrite EL, app_nth2, table_bases_length, Nat.sub_diag by (rewrite table_bases_length; lia).
      cbn; unfold n0 in Hz0; lia.
    + destruct (position_of L j) as (l & i & Hl & Hi & E & G); [lia|].
      rewrite E at 1; unfold tot at 1 2; rewrite prompt_table by assumption; cbn [value_of].
      unfold base, bases; rewrite EL, G.
      unfold values_of; destruct (Nat.eqb_spec l (S (length ns))) as [El|El]; rewrite EL in El.
      * rewrite El in Hi |- *; specialize (HzL i Hi); lia.
      * assert (l < L) by lia.
        assert (z l i < range flat n0 ns' l) as Hr by (apply Hz; [lia|exact Hi]). unfold n0, ns' in Hr; rewrite range_at_spec in Hr; lia.
  - intros f Hf; unfold composed_from; apply index_known; auto.
    + rewrite Hf, E0 by lia; reflexivity.
    + intros i Hi; replace (tot L + 1) with (last_at flat n0 ns') by reflexivity; rewrite prompt_last; cbn [w_in].
      destruct i as [|i]; [symmetry; exact Hw0|].
      rewrite (nth_indep _ 0 (w 0)) by (rewrite map_length, seq_length; unfold L, levels in Hi; lia).
      rewrite (map_nth w), seq_nth by (unfold L, levels in Hi; lia); reflexivity.
    + intros m u Hm Hu; assert (tot L - tot m + u < tot L).
      { assert (S1 : tot m <= tot L) by (apply total_mono; lia).
        destruct m as [|m]; [lia|]. assert (tot (S m) = entries flat n0 ns' (S m) + tot m) by reflexivity; lia. }
      rewrite Hf by lia; unfold tot; rewrite prompt_table by assumption; reflexivity.
Qed.

(** Any stack with one layer that has so many values: recurrent (A-compose), full (A', B0, B, C0, Ce) or both (headwise, H2). *)
Theorem composition_solvable b before s after : (seqcomp_values flat N0 ns V <= 2 ^ b)%N -> large b s ->
  Solvable (before ++ s :: after) (seqcomp flat N0 ns V).
Proof.
  intros Hb; apply (reading_solves _ (fun _ => value_of) base (tot L + 1) (fun _ => composed_from) base_pos composed_reading).
  unfold base; rewrite <- bases_length, prodf_list, firstn_all, bases_product by lia; exact Hb.
Qed.

Theorem two_pass_solvable b H c : (seqcomp_values flat N0 ns V <= 2 ^ b)%N -> (b <= c)%N -> ~ ImpossibleTwoPass H c (seqcomp flat N0 ns V).
Proof.
  intros Hb; apply (reading_two_pass _ (fun _ => value_of) base (tot L + 1) (fun _ => composed_from) base_pos composed_reading).
  unfold base; rewrite <- bases_length, prodf_list, firstn_all, bases_product by lia; exact Hb.
Qed.

(** K1: so large an accumulator needs no thought, and those that it has may be the answer. *)
Theorem thought_solvable b c T : (seqcomp_values flat N0 ns V <= 2 ^ b)%N -> (b <= c)%N ->
  ~ ImpossibleThinking [F c] T (seqcomp flat N0 ns V).
Proof.
  intros Hb Hc K; apply (solvable_thinking [F c] (seqcomp flat N0 ns V)); [apply (composition_solvable b [] (F c) []); assumption|].
  apply (fewer_thoughts _ _ _ T 0 (seqcomp_last flat N0 ns V)); [lia|exact K].
Qed.
End Composed.

(** ** Cuts: palindrome and assoc-recall, exact *)
Theorem palindrome_solvable N V b before s after : (0 < V)%N -> (V ^ N <= 2 ^ b)%N -> large b s ->
  Solvable (before ++ s :: after) (palindrome N V).
Proof.
  intros HV Hb; set (n := N.to_nat N).
  apply (reading_solves _ (fun _ => value_of) (fun _ => V) n (fun t f _ => f (n - 1 - (t - n)))); [intros; exact HV| |].
  - intros p t v (x & -> & f & i & Hf & Hi & -> & -> & ->); fold n in Hf, Hi |- *.
    assert (E : forall j, j < n -> word (spell f n ++ repeat (N.to_nat V) n) j = num (f j)).
    { intros j Hj; rewrite word_first by (rewrite spell_length; exact Hj); unfold word, at_.
      rewrite (map_nth num), spell_nth by exact Hj; reflexivity. }
    split; [intros j Hj _; rewrite E by exact Hj; cbn [value_of]; specialize (Hf j Hj); lia|].
    intros g Hg; replace (n + i - n) with i by lia; rewrite Hg, E by lia; reflexivity.
  - rewrite prodf_const; unfold n; rewrite N2Nat.id; exact Hb.
Qed.

Lemma pairs_nth (f : nat -> nat) n : forall s i d, i < n ->
  nth (2 * i + 1) (flat_map (fun i => [num i; num (f i)]) (seq s n)) d = num (f (s + i)).
Proof.
  induction n as [|n IH]; intros s i d Hi; [lia|]; cbn [seq flat_map app].
  destruct i as [|i]; [cbn; rewrite Nat.add_0_r; reflexivity|].
  replace (2 * S i + 1) with (S (S (2 * i + 1))) by lia; cbn [nth]; rewrite IH by lia; f_equal; f_equal; lia.
Qed.

Theorem assoc_recall_solvable N V b before s after : (0 < V)%N -> (V ^ N <= 2 ^ b)%N -> large b s ->
  Solvable (before ++ s :: after) (assoc_recall N V).
Proof.
  intros HV Hb; set (n := N.to_nat N).
  apply (reading_solves _ (fun j x => if Nat.odd j then value_of x else 0) (fun j => if Nat.odd j then V else 1%N) (2 * n)
    (fun t f x => f (2 * value_of x + 1))); [intros j; destruct (Nat.odd j); lia| |].
  - intros p t v (f & q & Hf & Hq & -> & -> & ->); fold n in Hf, Hq |- *.
    assert (Ev : forall i, i < n -> at_ (pair_prompt n f q) (2 * i + 1) = num (f i)).
    { intros i Hi; unfold at_, pair_prompt; rewrite app_nth1 by (rewrite pairs_length; lia); apply (pairs_nth f n 0 i), Hi. }
    assert (Eq : at_ (pair_prompt n f q) (2 * n) = num q).
    { unfold at_, pair_prompt; rewrite app_nth2, pairs_length, Nat.sub_diag by (rewrite pairs_length; lia); reflexivity. }
    split.
    + intros j Hj _; destruct (Nat.odd j) eqn:O; [|lia]. apply Nat.odd_spec in O; destruct O as [i ->].
      rewrite Ev by lia; cbn [value_of]; specialize (Hf i ltac:(lia)); lia.
    + intros g Hg; rewrite Eq; cbn [value_of]; rewrite Hg by lia.
      replace (Nat.odd (2 * q + 1)) with true by (symmetry; apply Nat.odd_spec; exists q; reflexivity). rewrite Ev by exact Hq; reflexivity.
  - replace (prodf (fun j => if Nat.odd j then V else 1%N) (2 * n)) with (V ^ N)%N; [exact Hb|].
    replace N with (nN n) by (unfold n; apply N2Nat.id); clear; induction n as [|n IH]; [reflexivity|].
    replace (2 * S n) with (S (S (2 * n))) by lia; cbn [prodf]; rewrite <- IH.
    rewrite Nat.odd_succ, Nat.even_mul, Nat.odd_mul, Nat2N.inj_succ, N.pow_succ_r'; cbn; lia.
Qed.

(** ** string-equality: exact.  After the first comparison the first bit says whether all were equal. *)
Section Equality.
Variable n : nat.

Definition still (t : nat) (q : N) (x : token) : bool := ((t =? n) || N.odd q) && (entry 2 q (t - n) =? value_of x).

Definition compare_step (t : nat) (q : N) (x : token) : N :=
  if t <? n then (q + nN (value_of x) * 2 ^ nN t)%N else (2 * (q / 2) + if still t q x then 1 else 0)%N.

Lemma entry_flag q i (f : bool) : 0 < i -> entry 2 (2 * (q / 2) + if f then 1 else 0) i = entry 2 q i.
Proof.
  intros H; unfold entry; destruct i as [|i]; [lia|].
  rewrite Nat2N.inj_succ, N.pow_succ_r', <- !N.div_div by (try apply N.pow_nonzero; lia).
  replace ((2 * (q / 2) + (if f then 1 else 0)) / 2)%N with (q / 2)%N; [reflexivity|].
  apply (N.div_unique _ 2 _ (if f then 1 else 0)%N); destruct f; lia.
Qed.

Lemma odd_flag q (f : bool) : N.odd (2 * (q / 2) + if f then 1 else 0) = f.
Proof. rewrite N.odd_add, N.odd_mul; destruct f; reflexivity. Qed.

Variables (u u' : nat -> nat).
Hypothesis Hn : 0 < n.
Hypothesis Hu : forall i, i < n -> u i < 2 /\ u' i < 2.
Let p := at_ (table u n ++ table u' n).
Let U := read_code (fun _ => value_of) (fun _ => 2%N) p n.
Let q := reads N 0%N compare_step p.

Lemma left_at j : j < n -> p j = num (u j).
Proof. intros H; unfold p, at_; rewrite app_nth1 by (rewrite table_length; exact H); apply table_nth, H. Qed.

Lemma right_at j : j < n -> p (n + j) = num (u' j).
Proof.
  intros H; unfold p, at_; rewrite app_nth2, table_length by (rewrite table_length; lia).
  replace (n + j - n) with j by lia; apply table_nth, H.
Qed.

Lemma left_read j : j <= n -> q j = read_code (fun _ => value_of) (fun _ => 2%N) p j /\ (q j < 2 ^ nN j)%N.
Proof.
  intros H; assert (E : q j = read_code (fun _ => value_of) (fun _ => 2%N) p j).
  { unfold q; induction j as [|j IH]; [reflexivity|]; cbn [reads read_code]; rewrite IH by lia; unfold compare_step.
    destruct (Nat.ltb_spec j n); [rewrite prodf_const; reflexivity|lia]. }
  split; [exact E|]. rewrite E, <- prodf_const; apply read_code_spec; [intros; lia|].
  intros i Hi; rewrite left_at by lia; cbn; destruct (Hu i); lia.
Qed.

Lemma U_entry i : i < n -> entry 2 U i = u i.
Proof.
  intros H; destruct (read_code_spec (fun _ => value_of) (fun _ => 2%N) p n) as [_ E]; [intros; lia| |].
  - intros j Hj; rewrite left_at by exact Hj; cbn; destruct (Hu j Hj); lia.
  - specialize (E i H); unfold nth_read in E; rewrite prodf_const in E; unfold entry; fold U in E; rewrite E, left_at by exact H; reflexivity.
Qed.

Definition equal_to (j : nat) : bool := forallb (fun i => u i =? u' i) (seq 0 j).

Lemma equal_S j : equal_to (S j) = equal_to j && (u j =? u' j).
Proof. unfold equal_to; rewrite seq_S, forallb_app; cbn; rewrite andb_true_r; reflexivity. Qed.

Lemma right_read j : 0 < j <= n -> q (n + j) = (2 * (U / 2) + if equal_to j then 1 else 0)%N.
Proof.
  assert (Q0 : q n = U) by (apply left_read; lia).
  induction j as [|j IH]; intros H; [lia|].
  replace (n + S j) with (S (n + j)) by lia; unfold q; cbn [reads]; fold (q (n + j)).
  unfold compare_step; destruct (Nat.ltb_spec (n + j) n); [lia|]. rewrite right_at by lia; unfold still; cbn [value_of].
  replace (n + j - n) with j by lia; rewrite equal_S; destruct j as [|j].
  - rewrite Nat.add_0_r, Q0, Nat.eqb_refl, U_entry by lia; reflexivity.
  - rewrite IH by lia; destruct (Nat.eqb_spec (n + S j) n); [lia|]. cbn [orb].
    rewrite odd_flag, entry_flag, U_entry by lia.
    replace ((2 * (U / 2) + (if equal_to (S j) then 1 else 0)) / 2)%N with (U / 2)%N; [reflexivity|].
    apply (N.div_unique _ 2 _ (if equal_to (S j) then 1 else 0)%N); destruct (equal_to (S j)); lia.
Qed.

Lemma compare_lt j : j < 2 * n -> (q j < 2 ^ nN n)%N.
Proof.
  intros H; destruct (Nat.le_gt_cases j n) as [Le|Gt].
  - destruct (left_read j Le) as [_ Lt]; eapply N.lt_le_trans; [exact Lt|apply N.pow_le_mono_r; lia].
  - replace j with (n + (j - n)) by lia; rewrite right_read by lia.
    assert (HU : (U < 2 ^ nN n)%N) by (destruct (left_read n) as [E Lt]; [lia|]; rewrite E in Lt; exact Lt).
    replace (nN n) with (N.succ (nN (n - 1))) in HU |- * by lia; rewrite N.pow_succ_r' in HU |- *.
    assert (U / 2 < 2 ^ nN (n - 1))%N by (apply N.div_lt_upper_bound; lia). destruct (equal_to (j - n)); lia.
Qed.

Lemma compared : still (2 * n - 1) (q (2 * n - 1)) (p (2 * n - 1)) = equal_to n.
Proof.
  replace (2 * n - 1) with (n + (n - 1)) by lia; rewrite right_at by lia; unfold still; cbn [value_of].
  replace (n + (n - 1) - n) with (n - 1) by lia.
  assert (En : equal_to n = equal_to (n - 1) && (u (n - 1) =? u' (n - 1))) by (rewrite <- equal_S; f_equal; lia); rewrite En.
  destruct (Nat.eq_dec n 1) as [E1|N1].
  - assert (Q0 : q n = U) by (apply left_read; lia).
    replace (n + (n - 1)) with n by lia; rewrite Nat.eqb_refl, Q0, U_entry by lia.
    replace (equal_to (n - 1)) with true by (rewrite E1; reflexivity); reflexivity.
  - destruct (Nat.eqb_spec (n + (n - 1)) n); [lia|]. rewrite right_read by lia; cbn [orb]; rewrite odd_flag, entry_flag, U_entry by lia; reflexivity.
Qed.
End Equality.

Theorem string_equality_solvable N b before s after : (0 < N)%N -> (N <= b)%N -> large b s -> Solvable (before ++ s :: after) (string_equality N).
Proof.
  intros HN Hb; set (n := N.to_nat N); assert (Hn : 0 < n) by (unfold n; lia).
  apply (one_large_layer BinNums.N 0%N (compare_step n) (fun _ q => q) (fun _ z => z) _ (fun t q x => if still n t q x then 1 else 0)).
  intros p t v (u & u' & Hu & -> & Ht & Hv & Hv2); fold n in Hu, Ht, Hv |- *; assert (t = 2 * n - 1) as -> by lia; split.
  - intros j Hj; split; [|reflexivity]. eapply N.lt_le_trans; [apply compare_lt; auto; lia|apply N.pow_le_mono_r; unfold n; lia].
  - rewrite compared by auto; unfold equal_to; destruct (forallb (fun i => u i =? u' i) (seq 0 n)) eqn:E.
    + symmetry; apply Hv; intros i Hi; apply Nat.eqb_eq, (proj1 (forallb_forall _ _) E), in_seq; lia.
    + assert (v <> 1); [|lia]. intros ->; assert (A : forall i, i < n -> u i = u' i) by (apply Hv; reflexivity).
      assert (C : forallb (fun i => u i =? u' i) (seq 0 n) = true); [|congruence].
      apply forallb_forall; intros i Hi; apply in_seq in Hi; apply Nat.eqb_eq, A; lia.
Qed.

(** ** States from a list: state after t tokens is one of [states t] *)
Fixpoint position (q : list nat) (l : list (list nat)) : nat :=
  match l with [] => 0 | a :: r => if list_eq_dec Nat.eq_dec a q then 0 else S (position q r) end.

Lemma position_spec q l : In q l -> position q l < length l /\ nth (position q l) l [] = q.
Proof.
  induction l as [|a l IH]; intros []; cbn [position length nth]; destruct (list_eq_dec Nat.eq_dec a q); subst; try (split; [lia|reflexivity]).
  - contradiction.
  - destruct (IH H) as [L E]; split; [lia|exact E].
Qed.

Lemma listed_decides (q0 : list nat) step (states : nat -> list (list nat)) (k : task) answer b :
  (forall p t v, k p t v -> (forall j, j <= t -> In (reads _ q0 step p j) (states j) /\ (size (states j) <= 2 ^ b)%N) /\
     answer t (reads _ q0 step p t) (p t) = v) ->
  decides _ q0 step (fun t q => nN (position q (states t))) (fun t z => nth (N.to_nat z) (states t) []) k answer b.
Proof.
  intros H p t v K; destruct (H p t v K) as [Hj Ha]; split; [|exact Ha].
  intros j Le; destruct (Hj j Le) as [I Sz]; destruct (position_spec _ _ I) as [L E]; unfold size in Sz.
  split; [lia|rewrite Nat2N.id; exact E].
Qed.

Theorem listed_solves (q0 : list nat) step (states : nat -> list (list nat)) (k : task) answer b before s after :
  (forall p t v, k p t v -> (forall j, j <= t -> In (reads _ q0 step p j) (states j) /\ (size (states j) <= 2 ^ b)%N) /\
     answer t (reads _ q0 step p t) (p t) = v) -> large b s -> Solvable (before ++ s :: after) k.
Proof. intros H; eapply one_large_layer, listed_decides, H. Qed.

Lemma firstn_step (l : list nat) : forall m, m < length l -> firstn (S m) l = firstn m l ++ [nth m l 0].
Proof.
  induction l as [|a l IH]; intros m H; [cbn in H; lia|]. destruct m as [|m]; [reflexivity|].
  change (a :: firstn (S m) l = a :: firstn m l ++ [nth m l 0]); rewrite IH by (cbn in H; lia); reflexivity.
Qed.

(** ** percom: exact *)
Lemma rows_all k : forall l s, length s = k -> NoDup s -> incl s l -> In s (rows l k).
Proof.
  induction k as [|k IH]; intros l [|x s] Hl Hs Hi; cbn [rows]; try discriminate; [left; reflexivity|].
  inversion Hs; subst; apply in_flat_map; exists x; split; [apply Hi; left; reflexivity|].
  apply in_map, IH; [cbn in Hl; lia|assumption|]. intros y Hy; apply in_in_remove; [intros ->; contradiction|apply Hi; right; exact Hy].
Qed.

Lemma falling_mono n : forall j k, j <= k <= n -> (falling n j <= falling n k)%N.
Proof.
  induction n as [|n IH]; intros j k H; [replace j with 0 by lia; replace k with 0 by lia; lia|].
  destruct j as [|j], k as [|k]; try lia; cbn [falling pred].
  - specialize (IH 0 k ltac:(lia)); cbn [falling] in IH; nia.
  - specialize (IH j k ltac:(lia)); nia.
Qed.

Theorem percom_solvable N b before s after : (falling_of N N <= 2 ^ b)%N -> large b s -> Solvable (before ++ s :: after) (percom N).
Proof.
  intros Hb; rewrite falling_of_spec in Hb; set (n := N.to_nat N) in *.
  set (step := fun (t : nat) (q : list nat) x => if t <? n then q ++ [value_of x] else q).
  apply (listed_solves [] step (fun t => rows (seq 0 n) (Nat.min t n)) _ (fun t q x => nth (value_of x - n) q 0)).
  intros p t v (x & -> & q & r & i & (Lq & Dq & Bq) & (Lr & Dr & Br) & Hi & -> & -> & ->); fold n in Lq, Bq, Lr, Br, Hi |- *.
  set (y := q ++ map (fun y => n + y) r).
  assert (E : forall j, reads _ [] step (word y) j = firstn (Nat.min j n) q).
  { induction j as [|j IH]; [reflexivity|]; cbn [reads]; rewrite IH; unfold step; destruct (Nat.ltb_spec j n).
    - rewrite (Nat.min_l j n), (Nat.min_l (S j) n) by lia; unfold y; rewrite word_first by lia; unfold word, at_; rewrite (map_nth num); cbn [value_of].
      symmetry; apply firstn_step; lia.
    - rewrite (Nat.min_r j n), (Nat.min_r (S j) n) by lia; reflexivity. }
  split.
  - intros j Hj; rewrite E; split.
    + apply rows_all; [rewrite firstn_length; lia|apply firstn_NoDup, Dq|]. intros a Ha; apply firstn_In, Bq in Ha; apply in_seq; lia.
    + rewrite rows_length, seq_length by apply seq_NoDup; eapply N.le_trans; [apply falling_mono|exact Hb]; lia.
  - rewrite E, Nat.min_r, firstn_all2 by lia; unfold y; rewrite word_later, Lq by lia; replace (n + i - n) with i by lia.
    unfold word, at_; rewrite (map_nth num); cbn [value_of].
    rewrite (nth_indep (map (fun y => n + y) r) 0 (n + 0)) by (rewrite map_length; lia); rewrite (map_nth (fun y => n + y)).
    replace (n + nth i r 0 - n) with (nth i r 0) by lia; reflexivity.
Qed.

(** ** Sets: two-sum, and blocks of sparse attention *)
Definition set_of (M : nat) (x : list nat) : list nat := filter (fun v => existsb (Nat.eqb v) x) (seq 0 M).

Lemma set_of_in M x v : In v (set_of M x) <-> v < M /\ In v x.
Proof.
  unfold set_of; rewrite filter_In, in_seq, existsb_exists; split.
  - intros [H (a & Ha & E)]; apply Nat.eqb_eq in E; subst; split; [lia|exact Ha].
  - intros [H Hv]; split; [lia|]. exists v; split; [exact Hv|apply Nat.eqb_refl].
Qed.

Lemma filter_subs f l : forall b, length (filter f l) <= b -> In (filter f l) (subs l b).
Proof.
  induction l as [|x l IH]; intros b H; [left; reflexivity|]; cbn [filter] in *; destruct b as [|b]; cbn [subs].
  - left; destruct (f x); [cbn in H; lia|]. symmetry; apply length_zero_iff_nil; lia.
  - apply in_app_iff; destruct (f x); [right; apply in_map, IH; cbn in H; lia|left; apply IH, H].
Qed.

Lemma set_of_subs M x b : length x <= b -> In (set_of M x) (subs (seq 0 M) b).
Proof.
  intros H; apply filter_subs; eapply Nat.le_trans; [|exact H]; apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|].
  intros v Hv; apply (set_of_in M x v) in Hv; apply Hv.
Qed.

Definition answers (M : nat) (q : list nat) (y : nat) : bool := existsb (fun a => (a + y) mod M =? 0) q.

Lemma answers_spec M x y : (forall a, In a x -> a < M) -> (answers M (set_of M x) y = true <-> exists a, In a x /\ (a + y) mod M = 0).
Proof.
  intros H; unfold answers; rewrite existsb_exists; split; intros (a & Ha & E); exists a.
  - apply set_of_in in Ha; apply Nat.eqb_eq in E; split; [apply Ha|exact E].
  - split; [apply set_of_in; auto|apply Nat.eqb_eq, E].
Qed.

(** One state more than the bound asks for: no number read yet. *)
Theorem two_sum_solvable lead N M b before s after : (cnt (N.to_nat M) (N.to_nat N) <= 2 ^ b)%N -> large b s ->
  Solvable (before ++ s :: after) (two_sum lead N M).
Proof.
  intros Hb; set (l := N.to_nat lead); set (n := N.to_nat N) in *; set (m := N.to_nat M) in *.
  set (step := fun (t : nat) (q : list nat) x => if t <? l then q else set_of m (value_of x :: q)).
  apply (listed_solves [] step (fun t => subs (seq 0 m) n) _ (fun t q x => if answers m q (value_of x) then 1 else 0)).
  intros p t v (x & y & Lx & Bx & By & -> & -> & Hv & Hv2); fold l n m in Lx, Bx, By, Hv |- *.
  assert (E : forall j, j <= l + n -> reads _ [] step (at_ (two_sum_prompt l x y)) j = set_of m (firstn (j - l) x)).
  { assert (E0 : set_of m [] = []) by (unfold set_of; generalize (seq 0 m) as r; induction r as [|a r IHr]; [reflexivity|exact IHr]).
    induction j as [|j IH]; intros Hj; [symmetry; exact E0|]; cbn [reads]; rewrite IH by lia; unfold step; destruct (Nat.ltb_spec j l).
    - replace (j - l) with 0 by lia; replace (S j - l) with 0 by lia; reflexivity.
    - assert (Et : at_ (two_sum_prompt l x y) j = num (nth (j - l) x 0)).
      { unfold at_, two_sum_prompt; rewrite app_nth2, repeat_length, app_nth1 by (rewrite ?repeat_length, ?map_length; lia); apply (map_nth num). }
      rewrite Et; cbn [value_of]; unfold set_of at 1; unfold set_of at 2; apply filter_ext_in; intros v' Hv'; apply in_seq in Hv'.
      apply eq_iff_eq_true; rewrite !existsb_exists.
      replace (S j - l) with (S (j - l)) by lia; rewrite firstn_step by lia; split.
      + intros (a & [<-|Ha] & Ea); [exists (nth (j - l) x 0); split; [apply in_app_iff; right; left; reflexivity|exact Ea]|].
        apply (set_of_in m) in Ha; exists a; split; [apply in_app_iff; left; apply Ha|exact Ea].
      + intros (a & Ha & Ea); exists a; split; [|exact Ea]. apply in_app_iff in Ha; destruct Ha as [Ha|[<-|[]]]; [right|left; reflexivity].
        apply (set_of_in m); split; [apply Nat.eqb_eq in Ea; subst; lia|exact Ha]. }
  split.
  - intros j Hj; rewrite E by exact Hj; split; [apply set_of_subs; rewrite firstn_length; lia|].
    unfold size; rewrite subs_length, seq_length; exact Hb.
  - rewrite E by lia; replace (l + n - l) with n by lia; rewrite <- Lx, firstn_all.
    replace (at_ (two_sum_prompt l x y) (l + length x)) with (num y).
    + cbn [value_of]; pose proof (answers_spec m x y Bx) as A; destruct (answers m (set_of m x) y); [symmetry; apply Hv, A; reflexivity|].
      assert (v <> 1); [|lia]. intros ->; assert (false = true); [apply A, Hv; reflexivity|discriminate].
    + unfold at_, two_sum_prompt; rewrite app_nth2, repeat_length, app_nth2, map_length by (rewrite ?repeat_length, ?map_length; lia).
      replace (l + length x - l - length x) with 0 by lia; reflexivity.
Qed.

(** Sparse: summaries that name the set of a block need no block to be opened. *)
Theorem sparse_solvable kappa k m B M own : (cnt M B <= 2 ^ kappa)%N -> exists l, sparse_fits l kappa k /\ solves_two_sum l m B M own.
Proof.
  intros Hk; set (sets := subs (seq 0 M) B).
  assert (Sz : (nN (length sets) <= 2 ^ kappa)%N) by (unfold sets; rewrite subs_length, seq_length; exact Hk).
  set (name := fun x => if position (set_of M x) sets <? length sets then nN (position (set_of M x) sets) else 0%N).
  exists {| summary := fun _ x => name x; choose := fun _ _ _ => [];
            decide := fun sums _ o y => existsb (fun z => answers M (nth (N.to_nat z) sets []) y) sums || answers M (set_of M o) y |}.
  split; [split; [intros j x; cbn; unfold name; destruct (Nat.ltb_spec (position (set_of M x) sets) (length sets)); [lia|]|intros; cbn; lia]|].
  { pose proof (N.pow_nonzero 2 kappa); lia. }
  intros blocks o y Hbl _ Ho Hy; unfold sparse_run; cbn [summary choose decide].
  rewrite orb_true_iff, (answers_spec M o y Ho), existsb_exists.
  assert (Name : forall j, j < m -> nth (N.to_nat (name (blocks j))) sets [] = set_of M (blocks j)).
  { intros j Hj; destruct (Hbl j Hj) as [Lb _]; destruct (position_spec (set_of M (blocks j)) sets) as [Lt E]; [apply set_of_subs; lia|].
    unfold name; destruct (Nat.ltb_spec (position (set_of M (blocks j)) sets) (length sets)); [|lia]. rewrite Nat2N.id; exact E. }
  split; (intros [H|H]; [left|right; exact H]).
  - destruct H as (z & Hz & A); apply in_map_iff in Hz; destruct Hz as (j & <- & Hj); apply in_seq in Hj.
    rewrite Name in A by lia; apply answers_spec in A; [|apply Hbl; lia]. destruct A as (a & Ha & E); exists j, a; repeat split; auto; lia.
  - destruct H as (j & a & Hj & Ha & E); exists (name (blocks j)); split; [apply (in_map (fun j => name (blocks j))), in_seq; lia|].
    rewrite Name by exact Hj; apply answers_spec; [apply Hbl, Hj|exists a; auto].
Qed.

(** ** Exact: impossible with one state fewer *)
Theorem A_exact N V b : (0 < V)%N -> (Solvable [R b] (eva N V) <-> (V ^ N <= 2 ^ b)%N).
Proof.
  intros HV; split; [|intros H; apply (A_solvable N V b [] (R b) []); cbn; auto; lia].
  intros (m & Hm & Hs); apply N.le_ngt; intros H.
  apply (A_states N V 0 (map spec_of [R b]) nat m num (fun y => y)); auto; [cbn; exact I|cbn; lia|apply thinking_0, Hs].
Qed.

Theorem string_equality_exact N b : (0 < N)%N -> (Solvable [R b] (string_equality N) <-> (N <= b)%N).
Proof.
  intros HN; split; [|intros H; apply (string_equality_solvable N b [] (R b) []); cbn; auto; lia].
  intros (m & Hm & Hs); apply N.le_ngt; intros H.
  apply (cut_states (string_equality N) (N.to_nat N) (2 ^ N) 0 (map spec_of [R b]) nat m num (fun y => y)); auto; [cbn; exact I|apply string_equality_apart, HN| |apply thinking_0, Hs].
  cbn; rewrite N.mul_1_r; apply N.pow_lt_mono_r; lia.
Qed.

(** In one full layer too. *)
Theorem string_equality_one_exact N c : (0 < N)%N -> (Solvable [F c] (string_equality N) <-> (N <= c)%N).
Proof.
  intros HN; split; [|intros H; apply (string_equality_solvable N c [] (F c) []); cbn; auto; lia].
  intros (m & Hm & Hs); apply N.le_ngt; intros H.
  apply (cut_one_string_equality N c 0 [F c]) in Hm; [exact (Hm Hs)|cbn; rewrite N.eqb_refl; reflexivity|].
  unfold exceeds; rewrite N.add_0_r; change (lo fine 2) with (unit_of fine); apply andb_true_intro; split; [reflexivity|].
  apply N.ltb_lt, N.mul_lt_mono_pos_r; [reflexivity|exact H].
Qed.
