(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Sequential composition, as the proofs use it

    Two reductions.  With identities for all tables but the first one in the prompt, every entry of that table is asked.  And with
    the functions between passing their argument on, a composition of L >= 2 functions is one of two, with tokens
    between that say nothing: the middle. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Crossing.
Import ListNotations.

Lemma table_length f n : length (table f n) = n.
Proof. unfold table; rewrite map_length, seq_length; reflexivity. Qed.

Lemma table_nth f n i d : i < n -> nth i (table f n) d = num (f i).
Proof.
  intros H; unfold table; rewrite (nth_indep _ d (num (f 0))) by (rewrite map_length, seq_length; exact H).
  rewrite (map_nth (fun i => num (f i))), seq_nth by exact H; reflexivity.
Qed.

Lemma table_ext f g n : (forall i, i < n -> f i = g i) -> table f n = table g n.
Proof. intros H; apply map_ext_in; intros i Hi; apply in_seq in Hi; rewrite H by lia; reflexivity. Qed.

Section Shape.
Variables (flat : bool) (N0 : nat) (ns : list nat).
Let L := levels ns.
Let rng := range flat N0 ns.
Let ent := entries flat N0 ns.

Fixpoint total (l : nat) : nat := match l with 0 => 0 | S k => ent (S k) + total k end.

Lemma tables_length z l : length (tables flat N0 ns z l) = total l.
Proof. induction l as [|l IH]; simpl; [reflexivity|]. rewrite app_length, table_length, IH; reflexivity. Qed.

Definition last_at : nat := total L + 1.

Lemma prompt_length z z0 w : length (seqcomp_prompt flat N0 ns z z0 w) = S last_at.
Proof. unfold seqcomp_prompt, last_at; rewrite app_length, tables_length; fold L; simpl; lia. Qed.

Lemma prompt_last z z0 w : at_ (seqcomp_prompt flat N0 ns z z0 w) last_at = pick (map w (seq 1 (length ns))).
Proof.
  unfold at_, seqcomp_prompt, last_at; rewrite app_nth2; rewrite tables_length; fold L; [|lia].
  replace (total L + 1 - total L) with 1 by lia; reflexivity.
Qed.

Lemma prompt_z0 z z0 w : at_ (seqcomp_prompt flat N0 ns z z0 w) (total L) = num z0.
Proof.
  unfold at_, seqcomp_prompt; rewrite app_nth2; rewrite tables_length; fold L; [|lia].
  rewrite Nat.sub_diag; reflexivity.
Qed.

Lemma prompt_first z z0 w t : t < ent L -> at_ (seqcomp_prompt flat N0 ns z z0 w) t = num (z L t).
Proof.
  intros H; unfold at_, seqcomp_prompt, L, levels; cbn [tables].
  rewrite <- app_assoc, app_nth1 by (rewrite table_length; exact H). apply table_nth; exact H.
Qed.

Lemma prompt_rest z z' z0 w t : ent L <= t -> (forall l i, 0 < l < L -> i < ent l -> z l i = z' l i) ->
  at_ (seqcomp_prompt flat N0 ns z z0 w) t = at_ (seqcomp_prompt flat N0 ns z' z0 w) t.
Proof.
  intros H Hz; unfold at_, seqcomp_prompt, L, levels in *; cbn [tables].
  rewrite <- !app_assoc, !(app_nth2 (table _ _)) by (rewrite table_length; exact H).
  rewrite !table_length; do 2 f_equal.
  assert (G : forall l, l < S (length ns) -> tables flat N0 ns z l = tables flat N0 ns z' l).
  { induction l as [|l IH]; intros Hl; [reflexivity|]; cbn [tables].
    f_equal; [apply table_ext; intros i Hi; apply Hz; [lia|exact Hi]|apply IH; lia]. }
  apply G; lia.
Qed.

(** ** Every entry of the first table is asked *)
Hypothesis HN0 : 0 < N0.
Hypothesis Hns : forall l, 0 < n_of ns l.

Lemma flat_range l : flat = true -> rng l = N0.
Proof. intros E; unfold rng; destruct l; cbn [range]; [reflexivity|rewrite E; reflexivity]. Qed.

Lemma step_range l : flat = false -> rng (S l) = n_of ns l * rng l.
Proof. intros E; unfold rng; cbn [range]; rewrite E; reflexivity. Qed.

Lemma flat_dec : flat = true \/ flat = false.
Proof. destruct flat; auto. Qed.

Lemma range_divide l : exists k, rng l = N0 * k /\ 0 < k.
Proof.
  induction l as [|l [k [E Hk]]]; [exists 1; cbn; lia|].
  destruct flat_dec as [Ef|Ef]; [exists 1; rewrite flat_range by exact Ef; lia|].
  exists (n_of ns l * k); rewrite step_range, E by exact Ef; specialize (Hns l); nia.
Qed.

Lemma range_pos l : 0 < rng l.
Proof. destruct (range_divide l) as [k [-> Hk]]; nia. Qed.

Lemma range_ge l : N0 <= rng l.
Proof. destruct (range_divide l) as [k [-> Hk]]; nia. Qed.

Definition ids (f : nat -> nat) (l u : nat) : nat := if l =? L then f u else if flat then u mod N0 else u.
Definition w_of (k l : nat) : nat := (k / (rng l / N0)) mod n_of ns l.
Definition ask (f : nat -> nat) (u : nat) : list token := seqcomp_prompt flat N0 ns (ids f) (u mod N0) (w_of (u / N0)).

Lemma w_of_div u l : w_of (u / N0) l = (u / rng l) mod n_of ns l.
Proof.
  unfold w_of; destruct (range_divide l) as [k [E Hk]]; rewrite E.
  rewrite (Nat.mul_comm N0 k), Nat.div_mul by lia.
  rewrite Nat.div_div by lia; rewrite (Nat.mul_comm N0 k); reflexivity.
Qed.

Lemma ids_index f u l : l < L -> index flat N0 ns (ids f) (u mod N0) (w_of (u / N0)) l = u mod rng l.
Proof.
  induction l as [|l IH]; intros Hl; [reflexivity|]; cbn [index].
  rewrite IH by lia; rewrite w_of_div.
  unfold ids; destruct (Nat.eqb_spec (S l) L); [lia|].
  pose proof (range_pos l); pose proof (Hns l); fold (rng l).
  destruct flat_dec as [Ef|Ef]; rewrite Ef.
  - rewrite !flat_range, Nat.add_comm, Nat.mod_add, Nat.mod_mod by (auto; lia); reflexivity.
  - rewrite step_range, (Nat.mul_comm (n_of ns l)), Nat.mod_mul_r by (auto; lia); lia.
Qed.

Lemma ids_answer f u : u < ent L -> index flat N0 ns (ids f) (u mod N0) (w_of (u / N0)) L = f u.
Proof.
  intros Hu; unfold L, levels in *; cbn [index].
  rewrite ids_index by (unfold L, levels; lia).
  unfold ids; fold (levels ns); unfold L, levels; rewrite Nat.eqb_refl.
  f_equal; rewrite w_of_div; fold rng.
  unfold ent, entries in Hu; simpl pred in Hu; fold rng in Hu.
  set (k := length ns) in *; pose proof (range_pos k); pose proof (Hns k).
  rewrite <- (Nat.mod_small u (n_of ns k * rng k)) at 3 by exact Hu.
  rewrite (Nat.mul_comm (n_of ns k)), Nat.mod_mul_r by lia; lia.
Qed.

Lemma ids_valid f l u : 0 < l < L -> u < ent l -> ids f l u < rng l.
Proof.
  intros Hl Hu; unfold ids; destruct (Nat.eqb_spec l L); [lia|].
  destruct l as [|l]; [lia|]; unfold ent, entries in Hu; simpl pred in Hu.
  destruct flat_dec as [Ef|Ef]; rewrite Ef.
  - rewrite flat_range by exact Ef; apply Nat.mod_upper_bound; lia.
  - rewrite step_range by exact Ef; exact Hu.
Qed.

Lemma ask_first f u t : t < ent L -> at_ (ask f u) t = num (f t).
Proof. intros H; unfold ask; rewrite prompt_first by exact H; unfold ids; rewrite Nat.eqb_refl; reflexivity. Qed.

Lemma ask_rest f f' u t : ent L <= t -> at_ (ask f u) t = at_ (ask f' u) t.
Proof.
  intros H; apply prompt_rest; [exact H|]. intros l i Hl _; unfold ids.
  destruct (Nat.eqb_spec l L); [lia|reflexivity].
Qed.

Lemma ask_last f f' u u' : u / N0 = u' / N0 -> at_ (ask f u) last_at = at_ (ask f' u') last_at.
Proof. intros E; unfold ask; rewrite !prompt_last, E; reflexivity. Qed.

Lemma last_after : ent L < last_at.
Proof. unfold last_at, L, levels; simpl; lia. Qed.

(** ** Two functions *)
Hypothesis Hlen : 0 < length ns.
Let r := rng (length ns).

Definition spaced (g : nat -> nat) (i : nat) : nat := if i mod r <? N0 then g (i / r * N0 + i mod r) else 0.
Definition through (g f : nat -> nat) (l i : nat) : nat :=
  if l =? L then spaced g i else if l =? 1 then f i else i mod N0.
Definition last_w (w l : nat) : nat := if l =? length ns then w else 0.
Definition two (g f : nat -> nat) (u w : nat) : list token := seqcomp_prompt flat N0 ns (through g f) u (last_w w).

Lemma through_index g f u w l : (forall i, i < N0 -> f i < N0) -> u < N0 -> 0 < l < L ->
  index flat N0 ns (through g f) u (last_w w) l = f u.
Proof.
  intros Hf Hu; induction l as [|l IH]; intros Hl; [lia|]; cbn [index].
  assert (Ew : last_w w l = 0) by (unfold last_w; destruct (Nat.eqb_spec l (length ns)); unfold L, levels in *; lia).
  rewrite Ew, Nat.mul_0_l, Nat.add_0_l; unfold through at 1.
  destruct (Nat.eqb_spec (S l) L); [lia|].
  destruct (Nat.eqb_spec (S l) 1) as [E|E].
  - replace l with 0 by lia; reflexivity.
  - rewrite IH by lia; apply Nat.mod_small; auto.
Qed.

Lemma through_answer g f u w : (forall i, i < N0 -> f i < N0) -> u < N0 ->
  index flat N0 ns (through g f) u (last_w w) L = g (w * N0 + f u).
Proof.
  intros Hf Hu; unfold L, levels; cbn [index].
  rewrite through_index by (auto; unfold L, levels; lia).
  unfold through, L, levels; rewrite Nat.eqb_refl; unfold spaced, last_w; rewrite Nat.eqb_refl; fold rng; fold r.
  pose proof (range_ge (length ns)) as Hr; fold r in Hr; specialize (Hf u Hu).
  assert (E1 : (w * r + f u) mod r = f u) by (rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia; reflexivity).
  assert (E2 : (w * r + f u) / r = w) by (rewrite Nat.div_add_l, Nat.div_small by lia; lia).
  rewrite E1, E2; apply Nat.ltb_lt in Hf; rewrite Hf; reflexivity.
Qed.

Lemma through_valid g f l u : (forall i, i < N0 -> f i < N0) -> 0 < l < L -> u < ent l -> through g f l u < rng l.
Proof.
  intros Hf Hl Hu; unfold through; destruct (Nat.eqb_spec l L); [lia|].
  destruct (Nat.eqb_spec l 1) as [->|].
  - assert (E : ent 1 = N0) by (unfold ent, entries; cbn; lia).
    apply Nat.lt_le_trans with N0; [apply Hf; lia|apply range_ge].
  - apply Nat.lt_le_trans with N0; [apply Nat.mod_upper_bound; lia|apply range_ge].
Qed.

(** The tables from the last but one down to z_2. *)
Definition middle : nat := total (length ns) - N0.

Lemma total_1 : total 1 = N0.
Proof. cbn; unfold ent, entries; cbn; lia. Qed.

Lemma total_ge l : 0 < l -> N0 <= total l.
Proof.
  induction l as [|[|l] IH]; intros Hl; [lia|rewrite total_1; lia|].
  specialize (IH ltac:(lia)); change (total (S (S l))) with (ent (S (S l)) + total (S l)); lia.
Qed.

Lemma tables_tail z l : 0 < l -> exists mid, tables flat N0 ns z l = mid ++ table (z 1) N0 /\
  length mid = total l - N0 /\
  (forall z', (forall k i, 1 < k <= l -> z k i = z' k i) -> exists mid', mid' = mid /\
     tables flat N0 ns z' l = mid' ++ table (z' 1) N0).
Proof.
  induction l as [|[|l] IH]; intros Hl; [lia| |].
  - exists []; split; [|split].
    + cbn [tables]; rewrite app_nil_r; unfold entries; simpl pred; cbn [range]; unfold n_of; cbn [nth]; rewrite Nat.mul_1_l; reflexivity.
    + rewrite total_1; simpl; lia.
    + intros z' _; exists []; split; [reflexivity|].
      cbn [tables]; rewrite app_nil_r; unfold entries; simpl pred; cbn [range]; unfold n_of; cbn [nth]; rewrite Nat.mul_1_l; reflexivity.
  - destruct (IH ltac:(lia)) as (mid & E & Hm & Hz).
    exists (table (z (S (S l))) (ent (S (S l))) ++ mid); split; [|split].
    + change (tables flat N0 ns z (S (S l))) with (table (z (S (S l))) (ent (S (S l))) ++ tables flat N0 ns z (S l)).
      rewrite E, app_assoc; reflexivity.
    + rewrite app_length, table_length, Hm.
      change (total (S (S l))) with (ent (S (S l)) + total (S l)); pose proof (total_ge (S l)); lia.
    + intros z' H; destruct (Hz z') as (mid' & Em & E'); [intros; apply H; lia|].
      eexists; split; [reflexivity|].
      change (tables flat N0 ns z' (S (S l))) with (table (z' (S (S l))) (ent (S (S l))) ++ tables flat N0 ns z' (S l)).
      rewrite E', Em, app_assoc; f_equal; f_equal; apply table_ext; intros; symmetry; apply H; lia.
Qed.

Lemma two_split : exists mid, length mid = middle /\
  (forall g' f' u' w', two g' f' u' w' =
     table (spaced g') (ent L) ++ mid ++ table f' N0 ++ [num u'; pick (map (last_w w') (seq 1 (length ns)))]).
Proof.
  destruct (tables_tail (through (fun _ => 0) (fun i => i)) (length ns) Hlen) as (mid & E & Hm & Hz).
  exists mid; split; [exact Hm|]. intros g' f' u' w'.
  unfold two, seqcomp_prompt, levels; cbn [tables].
  destruct (Hz (through g' f')) as (mid' & -> & E').
  { intros k i Hk; unfold through, L, levels; destruct (Nat.eqb_spec k (S (length ns))); [lia|].
    destruct (Nat.eqb_spec k 1); [lia|reflexivity]. }
  rewrite E', <- !app_assoc; f_equal.
  - apply table_ext; intros i _; unfold through, L, levels; rewrite Nat.eqb_refl; reflexivity.
  - f_equal; f_equal; apply table_ext; intros i _; unfold through, L, levels.
    destruct (Nat.eqb_spec 1 (S (length ns))); [lia|reflexivity].
Qed.
End Shape.

(** ** The layout that proofs about two functions work with

    z_2 in the first k2 tokens, each of which shows at most one entry, M tokens that say nothing, z_1 in N0 tokens, z_0, and w last. *)
Record layout (N0 k2 M : nat) (P : (nat -> nat) -> (nat -> nat) -> nat -> nat -> nat -> token) : Prop := {
  lay_first : forall g f u w f' u' w' t, t < k2 -> P g f u w t = P g f' u' w' t;
  lay_entry : exists (idx : nat -> nat) (tok : nat -> nat -> token), forall g f u w t, t < k2 -> P g f u w t = tok t (g (idx t));
  lay_middle : forall g f u w g' f' u' w' t, k2 <= t < k2 + M -> P g f u w t = P g' f' u' w' t;
  lay_z1 : forall g f u w i, i < N0 -> P g f u w (k2 + M + i) = num (f i);
  lay_z0 : forall g f u w, P g f u w (k2 + M + N0) = num u;
  lay_w : forall g f u w g' f' u', P g f u w (k2 + M + N0 + 1) = P g' f' u' w (k2 + M + N0 + 1) }.

Definition two_functions (N0 n1 V k2 M : nat) (k : task) : Prop :=
  exists P, layout N0 k2 M P /\
  forall g f u w, (forall i, g i < V) -> (forall i, i < N0 -> f i < N0) -> u < N0 -> w < n1 ->
  k (P g f u w) (k2 + M + N0 + 1) (g (w * N0 + f u)).

(** Some of the values of w may never be asked. *)
Lemma two_functions_fewer N0 n1 n1' V k2 M k : n1' <= n1 -> two_functions N0 n1 V k2 M k -> two_functions N0 n1' V k2 M k.
Proof. intros Hn (P & HP & Ht); exists P; split; [exact HP|]. intros; apply Ht; auto; lia. Qed.

(** Sizes as binary numbers, for checkers. *)
Section Sizes.
Variables (flat : bool) (N0 : N) (ns : list N).

Definition n_at (l : nat) : N := nth l (1%N :: ns) 1%N.
Fixpoint range_at (l : nat) : N :=
  match l with 0 => N0 | S k => if flat then N0 else (n_at k * range_at k)%N end.
Definition entries_at (l : nat) : N := (n_at (pred l) * range_at (pred l))%N.
Fixpoint total_at (l : nat) : N := match l with 0 => 0%N | S k => (entries_at (S k) + total_at k)%N end.

Definition first_table : N := entries_at (S (length ns)).          (* entries of z_L *)
Definition last_n : N := n_at (length ns).                         (* n_(L-1) *)
Definition between : N := total_at (length ns) - N0.               (* tokens of z_(L-1), ..., z_2 *)
Definition tokens : N := total_at (S (length ns)) + 2.             (* of the prompt *)
Definition positive : bool := (0 <? N0)%N && forallb (fun n => 0 <? n)%N ns.
End Sizes.

Section Bridge.
Variables (flat : bool) (N0 : N) (ns : list N).
Let ns' := map N.to_nat ns.
Let N0' := N.to_nat N0.

Lemma n_at_spec l : n_of ns' l = N.to_nat (n_at ns l).
Proof.
  unfold n_of, n_at, ns'; destruct l as [|l]; [reflexivity|]; cbn [nth].
  apply (map_nth N.to_nat ns 1%N l).
Qed.

Lemma range_at_spec l : range flat N0' ns' l = N.to_nat (range_at flat N0 ns l).
Proof.
  induction l as [|l IH]; [reflexivity|]; cbn [range range_at].
  destruct flat; [reflexivity|]. rewrite n_at_spec, IH; lia.
Qed.

Lemma entries_at_spec l : entries flat N0' ns' l = N.to_nat (entries_at flat N0 ns l).
Proof. unfold entries, entries_at; rewrite n_at_spec, range_at_spec; lia. Qed.

Lemma total_at_spec l : total flat N0' ns' l = N.to_nat (total_at flat N0 ns l).
Proof.
  induction l as [|l IH]; [reflexivity|]; cbn [total total_at]; rewrite IH, entries_at_spec; lia.
Qed.

Lemma levels_spec : levels ns' = S (length ns).
Proof. unfold levels, ns'; rewrite map_length; reflexivity. Qed.

Lemma first_table_spec : entries flat N0' ns' (levels ns') = N.to_nat (first_table flat N0 ns).
Proof. rewrite levels_spec; apply entries_at_spec. Qed.

Lemma between_spec : middle flat N0' ns' = N.to_nat (between flat N0 ns).
Proof. unfold middle, between, ns'; rewrite map_length; fold ns'; rewrite total_at_spec; unfold N0'; lia. Qed.

Lemma positive_spec : positive N0 ns = true -> 0 < N0' /\ forall l, 0 < n_of ns' l.
Proof.
  unfold positive; intros H; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H1; split; [unfold N0'; lia|]. intros l; rewrite n_at_spec.
  assert (G : (0 < n_at ns l)%N); [|lia].
  unfold n_at; destruct l as [|l]; [cbn; lia|]; cbn [nth].
  destruct (Nat.lt_ge_cases l (length ns)) as [Hl|Hl].
  - rewrite forallb_forall in H2; apply N.ltb_lt, H2, nth_In, Hl.
  - rewrite nth_overflow by exact Hl; lia.
Qed.

Lemma seqcomp_asks V f u : positive N0 ns = true -> (forall i, f i < N.to_nat V) ->
  u < N.to_nat (first_table flat N0 ns) ->
  seqcomp flat N0 ns V (at_ (ask flat N0' ns' f u)) (last_at flat N0' ns') (f u).
Proof.
  intros Hp Hf Hu; destruct (positive_spec Hp) as [H0 Hn].
  rewrite <- first_table_spec in Hu.
  exists (ids flat N0' ns' f), (u mod N0'), (w_of flat N0' ns' (u / N0')).
  split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]].
  - intros l i Hl Hi; apply ids_valid; auto.
  - intros i _; unfold ids; fold ns'; rewrite Nat.eqb_refl; apply Hf.
  - apply Nat.mod_upper_bound; lia.
  - unfold w_of, n_of; cbn [nth]; apply Nat.mod_1_r.
  - intros l _; apply Nat.mod_upper_bound; specialize (Hn l); fold ns'; lia.
  - reflexivity.
  - symmetry; apply prompt_length.
  - symmetry; apply ids_answer; auto.
Qed.

Lemma seqcomp_two V : positive N0 ns = true -> ns <> [] ->
  two_functions N0' (N.to_nat (last_n ns)) (N.to_nat V) (N.to_nat (first_table flat N0 ns))
    (N.to_nat (between flat N0 ns)) (seqcomp flat N0 ns V).
Proof.
  intros Hp Hne; destruct (positive_spec Hp) as [H0 Hn].
  assert (Hlen : 0 < length ns') by (unfold ns'; rewrite map_length; destruct ns; [congruence|simpl; lia]).
  destruct (two_split flat N0' ns' H0 Hlen) as (mid & Hm & E).
  exists (fun g f u w => at_ (two flat N0' ns' g f u w)).
  rewrite <- first_table_spec, <- between_spec.
  set (k2 := entries flat N0' ns' (levels ns')) in *; set (M := middle flat N0' ns') in *.
  assert (Hlast : last_at flat N0' ns' = k2 + M + N0' + 1).
  { unfold last_at, levels; cbn [total]; fold (levels ns'); change (entries flat N0' ns' (S (length ns'))) with k2.
    unfold M, middle; assert (N0' <= total flat N0' ns' (length ns')) by (apply total_ge; auto); lia. }
  split.
  - constructor; intros; try rewrite !E; unfold at_.
    + rewrite !app_nth1 by (rewrite table_length; exact H); reflexivity.
    + set (r := range flat N0' ns' (length ns')).
      exists (fun t => t / r * N0' + t mod r), (fun t v => if t mod r <? N0' then num v else num 0).
      intros g f u w t Ht; rewrite E, app_nth1 by (rewrite table_length; exact Ht).
      rewrite table_nth by exact Ht; unfold spaced; fold r; destruct (t mod r <? N0'); reflexivity.
    + assert (Ht : forall h, ~ t < length (table (spaced flat N0' ns' h) k2)) by (intros h; rewrite table_length; lia).
      rewrite !(app_nth2 (table _ _)) by (rewrite table_length; lia); rewrite !table_length.
      rewrite !(app_nth1 mid) by lia; reflexivity.
    + rewrite (app_nth2 (table _ _)) by (rewrite table_length; lia); rewrite table_length.
      rewrite (app_nth2 mid) by lia; rewrite Hm.
      rewrite app_nth1 by (rewrite table_length; lia).
      replace (k2 + M + i - k2 - M) with i by lia; apply table_nth; assumption.
    + rewrite (app_nth2 (table _ _)) by (rewrite table_length; lia); rewrite table_length.
      rewrite (app_nth2 mid) by lia; rewrite Hm.
      rewrite app_nth2 by (rewrite table_length; lia); rewrite table_length.
      replace (k2 + M + N0' - k2 - M - N0') with 0 by lia; reflexivity.
    + rewrite !(app_nth2 (table _ k2)) by (rewrite table_length; lia); rewrite !table_length.
      rewrite !(app_nth2 mid) by lia; rewrite Hm.
      rewrite !app_nth2 by (rewrite table_length; lia); rewrite !table_length.
      replace (k2 + M + N0' + 1 - k2 - M - N0') with 1 by lia; reflexivity.
  - intros g f u w Hg Hf Hu Hw; rewrite <- Hlast.
    exists (through flat N0' ns' g f), u, (last_w ns' w).
    split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]].
    + intros l i Hl Hi; apply through_valid; auto.
    + intros i _; unfold through; fold ns'; rewrite Nat.eqb_refl; unfold spaced; destruct (_ <? _); [apply Hg|specialize (Hg 0); lia].
    + exact Hu.
    + unfold last_w; destruct (Nat.eqb_spec 0 (length ns')); [lia|reflexivity].
    + intros l Hl; fold ns' in Hl |- *; unfold last_w; destruct (Nat.eqb_spec l (length ns')) as [El|]; [|apply Hn].
      rewrite El, n_at_spec; unfold ns'; rewrite map_length; exact Hw.
    + reflexivity.
    + symmetry; apply prompt_length.
    + symmetry; apply through_answer; auto.
Qed.
End Bridge.
