(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * K1 with T >= 2 thoughts, for seqcomp

    T + 1 functions with N_0 entries each (n_1 = ... = 1); further functions of the task pass their argument on. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT LemmaS LemmaSPrime TheoremC0 Thought ThoughtDeep.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Prompts of tables of one size *)
Section Prompts.
Variables (flat : bool) (n0 : nat) (ns : list nat) (Lp : nat).
Hypothesis H0 : 0 < n0.
Hypothesis Hns : forall l, n_of ns l = 1.
Let L := levels ns.
Hypothesis HLp : 2 <= Lp <= L.

Lemma all_range l : range flat n0 ns l = n0.
Proof. clear HLp H0; induction l as [|l IH]; [reflexivity|]; cbn [range]; destruct flat; [reflexivity|]; rewrite Hns, IH; lia. Qed.

Lemma all_entries l : entries flat n0 ns l = n0.
Proof. clear HLp H0; unfold entries; rewrite Hns, all_range; lia. Qed.

(** z_L, ..., z_1 from the first list: the first is z_L, and those after it z_(Lp-1), ..., z_1. *)
Definition z_of (D : list tbl) (i : nat) : tbl :=
  if i =? L then hd (fun r => r) D else if i <? Lp then nth (Lp - i) D (fun r => r) else fun r => r.

Definition prompt (D : list tbl) (u : nat) : nat -> token := at_ (seqcomp_prompt flat n0 ns (z_of D) u (fun _ => 0)).

Fixpoint above (z : nat -> tbl) (l k : nat) : list token :=
  match k with 0 => [] | S k => table (z (S (k + l))) (entries flat n0 ns (S (k + l))) ++ above z l k end.

Lemma above_tables z l k : tables flat n0 ns z (k + l) = above z l k ++ tables flat n0 ns z l.
Proof. induction k as [|k IH]; [reflexivity|]; cbn [plus tables above]; rewrite IH, app_assoc; reflexivity. Qed.

Lemma above_ext z z' l k : (forall i, l < i <= k + l -> z i = z' i) -> above z l k = above z' l k.
Proof.
  induction k as [|k IH]; intros H; [reflexivity|]; cbn [above]; rewrite (H (S (k + l))), IH by (intros; try apply H; lia); reflexivity.
Qed.

Lemma tables_same z z' l : (forall i, 0 < i <= l -> z i = z' i) -> tables flat n0 ns z l = tables flat n0 ns z' l.
Proof. induction l as [|l IH]; intros H; [reflexivity|]; cbn [tables]; rewrite (H (S l)), IH by (intros; try apply H; lia); reflexivity. Qed.

Lemma total_all l : total flat n0 ns l = l * n0.
Proof. clear HLp H0; induction l as [|l IH]; [reflexivity|]; cbn [total]; rewrite IH, all_entries; lia. Qed.

Lemma above_length z l k : length (above z l k) = k * n0.
Proof. induction k as [|k IH]; [reflexivity|]; cbn [above]; rewrite app_length, table_length, all_entries, IH; lia. Qed.

Definition cut (l : nat) : nat := (L - l) * n0.
Definition kw : nat := L * n0 + 1.

Lemma kw_last : last_at flat n0 ns = kw.
Proof. clear HLp H0; unfold last_at; fold L; rewrite total_all; reflexivity. Qed.

Lemma prompt_cut D u l : l <= L ->
  seqcomp_prompt flat n0 ns (z_of D) u (fun _ => 0) =
  above (z_of D) l (L - l) ++ (tables flat n0 ns (z_of D) l ++ [num u; pick (map (fun _ : nat => 0) (seq 1 (length ns)))]).
Proof.
  intros Hl; unfold seqcomp_prompt; fold L; replace L with ((L - l) + l) at 1 by lia; rewrite above_tables, <- app_assoc; reflexivity.
Qed.

Lemma before A B B' u u' p : length A + length B = Lp -> length B = length B' -> length B < Lp -> p < cut (length B) ->
  prompt (A ++ B) u p = prompt (A ++ B') u' p.
Proof.
  intros H1 H2 H3 Hp; unfold prompt, at_; rewrite !(prompt_cut _ _ (length B)) by lia.
  rewrite !app_nth1 by (rewrite above_length; exact Hp).
  f_equal; apply above_ext; intros i Hi; unfold z_of.
  destruct A as [|z A]; [cbn [length] in H1; lia|].
  destruct (i =? L); [reflexivity|]; destruct (Nat.ltb_spec i Lp); [|reflexivity].
  rewrite !app_nth1 by lia; reflexivity.
Qed.

Lemma after A A' B u p : length A + length B = Lp -> length A = length A' -> length B < Lp -> cut (length B) <= p <= kw ->
  prompt (A ++ B) u p = prompt (A' ++ B) u p.
Proof.
  intros H1 H2 H3 Hp; unfold prompt, at_; rewrite !(prompt_cut _ _ (length B)) by lia.
  rewrite !(app_nth2 (above _ _ _)) by (rewrite above_length; apply Hp). rewrite !above_length; f_equal; f_equal.
  apply tables_same; intros i Hi; unfold z_of.
  destruct (Nat.eqb_spec i L); [lia|]; destruct (Nat.ltb_spec i Lp); [|lia].
  rewrite !app_nth2 by lia; rewrite H2; reflexivity.
Qed.

Lemma last_token D u D' u' : prompt D u kw = prompt D' u' kw.
Proof. unfold prompt; rewrite <- kw_last, !prompt_last; reflexivity. Qed.

Lemma skipn_nth {A} (l : list A) d : forall k, k < length l -> skipn k l = nth k l d :: skipn (S k) l.
Proof. induction l as [|a l IH]; intros [|k] H; cbn [length] in H; try lia; [reflexivity|]. cbn [skipn nth]; rewrite (IH k) by lia; reflexivity. Qed.

Lemma index_chase D u l : length D = Lp -> l < Lp -> index flat n0 ns (z_of D) u (fun _ => 0) l = chase (skipn (Lp - l) D) u.
Proof.
  intros HD; induction l as [|l IH]; intros Hl.
  - rewrite Nat.sub_0_r, skipn_all2 by lia; reflexivity.
  - cbn [index]; rewrite IH, Nat.mul_0_l, Nat.add_0_l by lia.
    rewrite (skipn_nth D (fun r => r) (Lp - S l)) by lia; cbn [chase]; replace (S (Lp - S l)) with (Lp - l) by lia.
    unfold z_of; destruct (Nat.eqb_spec (S l) L); [lia|]; destruct (Nat.ltb_spec (S l) Lp); [reflexivity|lia].
Qed.

Lemma index_answer D u : length D = Lp -> index flat n0 ns (z_of D) u (fun _ => 0) L = chase D u.
Proof.
  intros HD.
  assert (M : forall k, Lp - 1 + k < L -> index flat n0 ns (z_of D) u (fun _ => 0) (Lp - 1 + k) = chase (skipn 1 D) u).
  { induction k as [|k IH]; intros Hk.
    - rewrite Nat.add_0_r, index_chase by lia; do 2 f_equal; lia.
    - rewrite Nat.add_succ_r; cbn [index]; rewrite IH, Nat.mul_0_l, Nat.add_0_l by lia.
      unfold z_of at 1; destruct (Nat.eqb_spec (S (Lp - 1 + k)) L); [lia|]; destruct (Nat.ltb_spec (S (Lp - 1 + k)) Lp); [lia|reflexivity]. }
  assert (E : exists k, L = S k /\ Lp - 1 <= k) by (exists (L - 1); lia); destruct E as (k & E & Hk); rewrite E; cbn [index].
  replace k with (Lp - 1 + (k - (Lp - 1))) at 3 by lia; rewrite M, Nat.mul_0_l, Nat.add_0_l by lia.
  unfold z_of at 1; rewrite <- E, Nat.eqb_refl; destruct D as [|z D]; [cbn [length] in HD; lia|]; reflexivity.
Qed.
End Prompts.

(** ** The inequality on binary numbers

    A step: x functions with an alphabet of q letters, theta values, weights a and b of Lemma S'. *)
Record step := Step { s_q : N; s_x : N; s_theta : N; s_a : N; s_b : N }.

(** Blocks of Lemma S': one by one at first, then 1/256 of what is behind. *)
Fixpoint blocks_from (most : nat) (j x : N) : list N :=
  match most with
  | 0 => []
  | S most => if (x =? 0)%N then [] else let len := N.min x (1 + j / 256) in len :: blocks_from most (j + len) (x - len)
  end.

Definition blocks (x : N) : list N := blocks_from 4096 0 x.

Definition level_of (v : step) : level := {| q := N.to_nat (s_q v); x := N.to_nat (s_x v); theta := N.to_nat (s_theta v); a := s_a v; b := s_b v |}.

Fixpoint steps_ok (N0 V c P Theta X D : N) (lv : list step) : bool :=
  match lv with
  | [] => (P <=? N0)%N && exceeds V Theta D
  | v :: lv => (0 <? s_x v)%N && random_ok (D * s_x v + 1) (s_q v) Theta (s_x v) (s_a v) (s_b v) (s_theta v) (blocks (s_x v)) &&
      steps_ok N0 V c (P * s_q v) (s_theta v) (s_x v * X) (D * s_x v + 1 + c * X) lv
  end.

Lemma steps_ok_spec N0 V c lv : forall P Theta X D, steps_ok N0 V c P Theta X D lv = true ->
  ok (N.to_nat N0) V c (N.to_nat P) (N.to_nat Theta) (N.to_nat X) D (map level_of lv) /\ (0 < V)%N.
Proof.
  induction lv as [|v lv IH]; intros P Theta X D H; cbn [steps_ok map ok] in *.
  - apply andb_prop in H; destruct H as [H1 H2]; apply N.leb_le in H1; apply exceeds_spec in H2; destruct H2 as [HV H2].
    rewrite N2Nat.id; repeat split; auto; lia.
  - apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2]; apply N.ltb_lt in H1.
    apply random_ok_spec in H2; destruct H2 as (Q1 & Q2 & Q3 & Q4); apply IH in H3; destruct H3 as [H3 HV].
    split; [|exact HV]. cbn [level_of q x theta a b].
    split; [lia|]. split; [lia|]. split; [split; [lia|]; rewrite <- N2Nat.inj_mul; lia|]. split; [exact Q2|]. split.
    + rewrite !Nat2N.inj_mul, !Nat2N.inj_sub, !Nat2N.inj_mul, !N2Nat.id; exact Q4.
    + rewrite !N2Nat.inj_mul in H3; rewrite !N2Nat.id; exact H3.
Qed.

(** D_2 = s + c (1 + t); see steps_ok for the others. Impossible if D_L < Theta_(L-1) log2 V. *)
Definition thoughts_check (N0 : N) (ns : list N) (V s c t q g : N) (runs : list (N * N)) (lv : list step) : bool :=
  (0 <? N0)%N && forallb (fun n => n =? 1)%N ns && (S (length lv) <=? length ns) &&
  (0 <? t)%N && (0 <? q)%N && (0 <? g)%N && (t * g <=? N0)%N && ladder_ok (c + s) g t q t runs &&
  steps_ok N0 V c (t * q) (ladder_theta t runs) (t * ladder_x runs) (c + s + c * t) lv.

Lemma ones_of ns : forallb (fun n => n =? 1)%N ns = true -> forall l, n_of (map N.to_nat ns) l = 1.
Proof.
  intros H l; rewrite n_at_spec; unfold n_at; destruct l as [|l]; [reflexivity|]; cbn [nth].
  destruct (Nat.lt_ge_cases l (length ns)) as [Hl|Hl]; [|rewrite nth_overflow by exact Hl; reflexivity].
  rewrite forallb_forall in H; specialize (H _ (nth_In ns 1%N Hl)); apply N.eqb_eq in H; rewrite H; reflexivity.
Qed.

Theorem many_thoughts : forall flat N0 ns V s c t q g runs lv b, heads s c b -> thoughts_check N0 ns V s c t q g runs lv = true ->
  ImpossibleThinking [b] (S (length lv)) (seqcomp flat N0 ns V).
Proof.
  unfold thoughts_check; intros flat N0 ns V s c t q g runs lv b Hb H Y m next answer Hm Hs.
  apply andb_prop in H; destruct H as [H H9]; apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7];
    apply andb_prop in H; destruct H as [H H6]; apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4];
    apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H1, H4, H5, H6; apply N.leb_le in H7; apply Nat.leb_le in H3; pose proof (ones_of ns H2) as Hn.
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [Hl Hm]; destruct rest as [out|]; [|contradiction].
  destruct (both_of l s c) as (St & h0 & G & A & init & upd & o & HS & HA & E).
  { destruct Hb as [[-> ->]| ->]; auto. }
  apply steps_ok_spec in H9; destruct H9 as [H9 HV].
  set (n0 := N.to_nat N0) in *; set (ns' := map N.to_nat ns) in *; set (Lp := S (S (length (map level_of lv)))).
  assert (HLp : 2 <= Lp <= levels ns') by (unfold Lp, levels, ns'; rewrite !map_length; lia).
  assert (ELp : Lp - 1 = S (length lv)) by (unfold Lp; rewrite map_length; lia).
  assert (Hn0 : 0 < n0) by (unfold n0; lia).
  assert (Hx : 0 < N.to_nat (ladder_x runs)) by (unfold ladder_x; lia).
  apply (deep_start n0 V Lp (prompt flat n0 ns' Lp) (cut n0 ns') (kw n0 ns')) with (Z := Z) (Y := Y) (St := St) (h0 := h0) (G := G)
    (Ac := A) (init := init) (upd := upd) (out := o) (fin := out) (next := next) (answer := answer) (c := c) (s := s)
    (t := N.to_nat t) (q0 := N.to_nat q) (g := N.to_nat g) (x1 := N.to_nat (ladder_x runs)) (Theta1 := N.to_nat (ladder_theta t runs))
    (lv := map level_of lv); auto; try lia.
  - intros k Hk; unfold cut, kw; nia.
  - intros k Hk; unfold cut; apply Nat.mul_le_mono_r; lia.
  - intros; eapply before; eauto.
  - intros; eapply after; eauto.
  - intros; eapply (last_token flat n0 ns' Lp); eauto.
  - intros D u HD Hu Hz HV'.
    assert (K : seqcomp flat N0 ns V (prompt flat n0 ns' Lp D u) (kw n0 ns') (chase D u)).
    { exists (z_of ns' Lp D), u, (fun _ => 0); fold n0 ns'.
      split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]]; auto.
      - intros i r Hi Hr; rewrite all_range by auto; rewrite all_entries in Hr by auto; unfold z_of.
        destruct (Nat.eqb_spec i (levels ns')); [lia|]; destruct (Nat.ltb_spec i Lp); [|exact Hr].
        apply Hz; [|exact Hr]. destruct D as [|z D]; [cbn [length] in HD; lia|]; cbn [tl length] in *.
        replace (Lp - i) with (S (Lp - i - 1)) by lia; cbn [nth]; apply nth_In.
        assert (K : forall d, S d = Lp -> Lp - i - 1 < d) by (intros; lia); exact (K _ HD).
      - intros r Hr; rewrite all_entries in Hr by auto; unfold z_of; rewrite Nat.eqb_refl.
        specialize (HV' r Hr); destruct D; [cbn [length] in HD; lia|exact HV'].
      - intros i Hi; rewrite Hn; lia.
      - rewrite prompt_length, (kw_last flat n0 ns' Hn); reflexivity.
      - symmetry; apply index_answer; auto. }
    rewrite <- (Hs _ _ _ K); unfold says, th; rewrite ELp; f_equal.
    set (m := Then l (Out out)) in *; set (m' := m1 _ _ _ _ _ _ _ _ _ _).
    assert (Em : forall x t, run m' x t = run m x t) by (intros x t'; unfold m, m', m1, layer1; cbn [run]; rewrite E; reflexivity).
    rewrite Em; apply run_ext; intros y; apply think_ext, Em.
  - apply ladder_spreads_wide; auto; rewrite <- N2Nat.inj_mul; unfold n0; lia.
  - rewrite N2Nat.inj_mul, N2Nat.inj_mul in H9; rewrite N2Nat.id; exact H9.
Qed.

Theorem thoughts : forall flat N0 ns V s c t q g runs lv b, heads s c b -> thoughts_check N0 ns V s c t q g runs lv = true ->
  forall T, T <= S (length lv) -> ImpossibleThinking [b] T (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V s c t q g runs lv b Hb H T HT.
  apply (fewer_thoughts _ _ _ (S (length lv)) T (seqcomp_last flat N0 ns V) HT), (many_thoughts flat N0 ns V s c t q g runs lv b Hb H).
Qed.
