(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cuts of tasks that recall what a state selects: palindrome, stacks, state-recall, parity-recall, variable-tracking, and retrieval
    with keys that repeat *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Binomial.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** palindrome: N symbols below V, then N questions (V); the j-th asks for the j-th symbol from the end *)
Definition reversed (N V : nat) (x : list nat) (t v : nat) : Prop :=
  exists (f : nat -> nat) i, (forall j, j < N -> f j < V) /\ i < N /\ x = spell f N ++ repeat V N /\ t = N + i /\ v = f (N - 1 - i).

Definition palindrome (N V : N) : task := words (reversed (N.to_nat N) (N.to_nat V)).

Lemma palindrome_within n N V : (2 * N <=? n)%N = true -> within n (palindrome N V).
Proof. intros H; apply words_within; intros x t v (f & i & _ & Hi & _ & -> & _); apply N.leb_le in H; lia. Qed.

Theorem cut_palindrome N V arch : is_recurrent arch && exceeds V N (bits_at N arch) = true ->
  forall T, ImpossibleThinking arch T (palindrome N V).
Proof.
  intros H; set (n := N.to_nat N).
  apply (cut_tables _ N N V (fun f => spell f n)); [intros; apply spell_length| |exact H].
  intros f f' i Hf Hf' Hi Hne; fold n in Hi |- *.
  exists (repeat (N.to_nat V) n), (n + (n - 1 - i)), (f i), (f' i).
  split; [lia|]; split; [|split; [|exact Hne]].
  - exists f, (n - 1 - i); fold n; repeat split; auto; [lia|f_equal; lia].
  - exists f', (n - 1 - i); fold n; repeat split; auto; [lia|f_equal; lia].
Qed.

(** ** stacks: T operations on S stacks, stack V + value a push, S V + stack a pop of a stack that is not empty; asked at a pop for the value
    that comes off *)
Definition operate (S V s : nat) (pile : list nat) (y : nat) : list nat :=
  if y <? S * V then (if y / V =? s then y mod V :: pile else pile) else if y - S * V =? s then tl pile else pile.

Definition pile (S V s : nat) (x : list nat) : list nat := fold_left (operate S V s) x [].

Definition popped (T S V : nat) (x : list nat) (t v : nat) : Prop :=
  length x = T /\ (forall y, In y x -> y < S * V + S) /\
  (forall u, u < T -> S * V <= nth u x 0 -> pile S V (nth u x 0 - S * V) (firstn u x) <> []) /\
  t < T /\ S * V <= nth t x 0 /\ v = hd 0 (pile S V (nth t x 0 - S * V) (firstn t x)).

Definition stacks (T S V : N) : task := words (popped (N.to_nat T) (N.to_nat S) (N.to_nat V)).

Lemma stacks_within n T S V : (T <=? n)%N = true -> within n (stacks T S V).
Proof. intros H; apply words_within; intros x t v (_ & _ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

Section Stacks.
Variables (S V : nat).
Hypothesis HS : 0 < S.
Hypothesis HV : 0 < V.

Lemma pushes_pile f n : (forall j, f j < V) -> pile S V 0 (spell f n) = rev (spell f n).
Proof.
  intros Hf; induction n as [|n IH]; [reflexivity|].
  unfold pile, spell in *; rewrite seq_S, map_app, fold_left_app, rev_app_distr, IH; cbn [map fold_left rev app plus].
  unfold operate; pose proof (Hf n); destruct (Nat.ltb_spec (f n) (S * V)); [|nia].
  rewrite Nat.div_small, Nat.mod_small, Nat.eqb_refl by assumption; reflexivity.
Qed.

Lemma pops_pile d p : fold_left (operate S V 0) (repeat (S * V) d) p = skipn d p.
Proof.
  revert p; induction d as [|d IH]; intros p; [reflexivity|]; cbn [repeat fold_left].
  unfold operate at 2; rewrite Nat.ltb_irrefl, Nat.sub_diag, Nat.eqb_refl, IH; destruct p; [apply skipn_nil|reflexivity].
Qed.

Lemma others_pile d p : 1 < S -> fold_left (operate S V 0) (repeat V d) p = p.
Proof.
  intros H; induction d as [|d IH]; [reflexivity|]; cbn [repeat fold_left].
  replace (operate S V 0 p V) with p; [exact IH|].
  unfold operate; destruct (Nat.ltb_spec V (S * V)); [|nia]. rewrite Nat.div_same by lia; reflexivity.
Qed.

Lemma skipn_hd (l : list nat) d : hd 0 (skipn d l) = nth d l 0.
Proof. revert l; induction d as [|d IH]; intros [|a l]; try reflexivity; apply IH. Qed.

Lemma skipn_some (l : list nat) d : d < length l -> skipn d l <> [].
Proof. intros H E; apply (f_equal (@length nat)) in E; rewrite skipn_length in E; simpl in E; lia. Qed.

Lemma spell_rev f n d : d < n -> nth d (rev (spell f n)) 0 = f (n - 1 - d).
Proof. intros H; rewrite rev_nth by (rewrite spell_length; exact H); rewrite spell_length, spell_nth by lia; f_equal; lia. Qed.

Lemma firstn_more {A} (a b : list A) u : length a <= u -> firstn u (a ++ b) = a ++ firstn (u - length a) b.
Proof. intros H; rewrite firstn_app, firstn_all2 by exact H; reflexivity. Qed.

Lemma firstn_repeat {A} (a : A) n u : u <= n -> firstn u (repeat a n) = repeat a u.
Proof. revert n; induction u as [|u IH]; intros [|n] H; try reflexivity; [lia|]; cbn; rewrite IH by lia; reflexivity. Qed.

(** P values on stack 0, d of them off, e pushes onto stack 1, and one more off: what the last of them asks for. *)
Lemma popped_at f P d e : (forall j, f j < V) -> d < P -> e = 0 \/ 1 < S ->
  popped (P + (d + e + 1)) S V (spell f P ++ repeat (S * V) d ++ repeat V e ++ [S * V]) (P + (d + e)) (f (P - 1 - d)).
Proof.
  intros Hf Hd He; set (c := repeat (S * V) d ++ repeat V e ++ [S * V]).
  assert (Lc : length c = d + e + 1) by (unfold c; rewrite !app_length, !repeat_length; simpl; lia).
  assert (Hpush : forall u, u < P -> nth u (spell f P ++ c) 0 < S * V).
  { intros u Hu; rewrite app_nth1, spell_nth by (rewrite ?spell_length; exact Hu); pose proof (Hf u); nia. }
  assert (Hpop : forall u, u < d -> nth (P + u) (spell f P ++ c) 0 = S * V).
  { intros u Hu; rewrite app_nth2, spell_length by (rewrite spell_length; lia); replace (P + u - P) with u by lia.
    unfold c; rewrite app_nth1 by (rewrite repeat_length; exact Hu).
    apply (repeat_spec d (S * V)), nth_In; rewrite repeat_length; exact Hu. }
  assert (Hother : forall u, u < e -> nth (P + (d + u)) (spell f P ++ c) 0 < S * V).
  { intros u Hu; rewrite app_nth2, spell_length by (rewrite spell_length; lia); replace (P + (d + u) - P) with (d + u) by lia.
    unfold c; rewrite app_nth2, repeat_length by (rewrite repeat_length; lia); replace (d + u - d) with u by lia.
    rewrite app_nth1 by (rewrite repeat_length; exact Hu).
    replace (nth u (repeat V e) 0) with V by (symmetry; apply (repeat_spec e V), nth_In; rewrite repeat_length; exact Hu). nia. }
  assert (Hlast : nth (P + (d + e)) (spell f P ++ c) 0 = S * V).
  { rewrite app_nth2, spell_length by (rewrite spell_length; lia); replace (P + (d + e) - P) with (d + e) by lia.
    unfold c; rewrite !app_nth2, !repeat_length by (rewrite ?repeat_length; lia); replace (d + e - d - e) with 0 by lia; reflexivity. }
  assert (Dpop : forall u, u <= d -> pile S V 0 (firstn (P + u) (spell f P ++ c)) = skipn u (rev (spell f P))).
  { intros u Hu; rewrite firstn_more, spell_length by (rewrite spell_length; lia); replace (P + u - P) with u by lia.
    unfold c; rewrite firstn_app, repeat_length; replace (u - d) with 0 by lia; rewrite app_nil_r, firstn_repeat by exact Hu.
    unfold pile; rewrite fold_left_app; fold (pile S V 0 (spell f P)); rewrite pushes_pile, pops_pile by exact Hf; reflexivity. }
  assert (Dlast : pile S V 0 (firstn (P + (d + e)) (spell f P ++ c)) = skipn d (rev (spell f P))).
  { rewrite firstn_more, spell_length by (rewrite spell_length; lia); replace (P + (d + e) - P) with (d + e) by lia.
    unfold c; rewrite firstn_more, repeat_length by (rewrite repeat_length; lia); replace (d + e - d) with e by lia.
    rewrite firstn_app, repeat_length, Nat.sub_diag, app_nil_r, firstn_repeat by lia.
    unfold pile; rewrite !fold_left_app; fold (pile S V 0 (spell f P)); rewrite pushes_pile, pops_pile by exact Hf.
    destruct He as [->|He]; [reflexivity|apply others_pile, He]. }
  assert (Lr : length (rev (spell f P)) = P) by (rewrite rev_length, spell_length; reflexivity).
  split; [rewrite app_length, spell_length, Lc; reflexivity|]. split.
  { intros y Hy; apply in_app_iff in Hy; destruct Hy as [Hy|Hy]; [apply spell_in in Hy; destruct Hy as (j & _ & <-); pose proof (Hf j); nia|].
    unfold c in Hy; apply in_app_iff in Hy; destruct Hy as [Hy|Hy]; [apply repeat_spec in Hy; lia|].
    apply in_app_iff in Hy; destruct Hy as [Hy|[<-|[]]]; [apply repeat_spec in Hy; subst; nia|lia]. }
  split.
  { intros u Hu Ho; destruct (Nat.lt_ge_cases u P) as [L|L]; [pose proof (Hpush u L); lia|].
    destruct (Nat.lt_ge_cases (u - P) d) as [L2|L2].
    - replace u with (P + (u - P)) by lia; rewrite Hpop, Nat.sub_diag, Dpop by lia; apply skipn_some; lia.
    - destruct (Nat.lt_ge_cases (u - P - d) e) as [L3|L3].
      + replace u with (P + (d + (u - P - d))) in Ho by lia; pose proof (Hother (u - P - d) L3); lia.
      + replace u with (P + (d + e)) by lia; rewrite Hlast, Nat.sub_diag, Dlast; apply skipn_some; lia. }
  split; [lia|]. split; [rewrite Hlast; lia|].
  rewrite Hlast, Nat.sub_diag, Dlast, skipn_hd, spell_rev by exact Hd; reflexivity.
Qed.
End Stacks.

(** What follows the answer does not matter, as long as nothing is popped that is not there. *)
Lemma popped_then S V T x t v z : popped T S V x t v -> z < S * V -> popped (T + 1) S V (x ++ [z]) t v.
Proof.
  intros (L & Hy & Hu & Ht & Ho & ->) Hz; split; [rewrite app_length; simpl; lia|]. split.
  { intros y H; apply in_app_iff in H; destruct H as [H|[<-|[]]]; [apply Hy, H|lia]. }
  assert (E : forall u, u < T -> nth u (x ++ [z]) 0 = nth u x 0 /\ firstn u (x ++ [z]) = firstn u x).
  { intros u H; rewrite app_nth1 by lia; rewrite firstn_app; replace (u - length x) with 0 by lia; rewrite app_nil_r; auto. }
  split; [|destruct (E t Ht) as [-> ->]; repeat split; auto; lia].
  intros u H Hp; destruct (Nat.eq_dec u T) as [->|Hn].
  - rewrite app_nth2, L, Nat.sub_diag in Hp by lia; simpl in Hp; lia.
  - destruct (E u ltac:(lia)) as [E1 E2]; rewrite E1 in Hp |- *; rewrite E2; apply Hu; auto; lia.
Qed.

Lemma popped_and S V T x t v k : 0 < S * V -> popped T S V x t v -> popped (T + k) S V (x ++ repeat 0 k) t v.
Proof.
  intros H K; revert T x K; induction k as [|k IH]; intros T x K; [rewrite app_nil_r, Nat.add_0_r; exact K|].
  replace (T + Datatypes.S k) with (T + 1 + k) by lia; replace (x ++ repeat 0 (Datatypes.S k)) with ((x ++ [0]) ++ repeat 0 k).
  - apply IH, popped_then; assumption.
  - rewrite <- app_assoc; reflexivity.
Qed.

(** P values on stack 0; as many pops as are needed, then pushes. *)
Theorem cut_stacks T S V arch : (0 <? S)%N && (is_recurrent arch && exceeds V (T / 2) (bits_at (T / 2) arch)) = true ->
  forall t, ImpossibleThinking arch t (stacks T S V).
Proof.
  intros H; apply andb_prop in H; destruct H as [HS H]; apply N.ltb_lt in HS.
  assert (HV : (0 < V)%N) by (apply andb_prop in H; destruct H as [_ H]; apply exceeds_spec in H; apply H).
  pose proof (N.mul_div_le T 2 ltac:(lia)) as HT.
  set (P := N.to_nat (T / 2)); set (s := N.to_nat S); set (w := N.to_nat V).
  apply (cut_tables _ (T / 2) (T / 2) V (fun f => spell f P)); [intros; apply spell_length| |exact H].
  intros f f' i Hf Hf' Hi Hne; fold P w in Hf, Hf', Hi |- *; set (d := P - 1 - i).
  assert (Hd : d < P) by (unfold d; lia).
  assert (G : forall g, (forall j, g j < w) ->
    popped (N.to_nat T) s w (spell g P ++ (repeat (s * w) d ++ repeat w 0 ++ [s * w]) ++ repeat 0 (N.to_nat T - (P + (d + 0 + 1))))
      (P + (d + 0)) (g i)).
  { intros g Hg; rewrite app_assoc; replace (N.to_nat T) with ((P + (d + 0 + 1)) + (N.to_nat T - (P + (d + 0 + 1)))) at 1 by (unfold P in *; lia).
    apply popped_and; [unfold s, w; nia|]. replace i with (P - 1 - d) by (unfold d; lia).
    apply popped_at; auto; unfold s, w; lia. }
  eexists; exists (P + (d + 0)), (f i), (f' i); split; [lia|]. split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

(** With the last operation fixed, pushes onto another stack fill the time before it. *)
Theorem cut_one_stacks T S V c s arch : one_layer (T / 2) c s arch = true -> (1 <? S)%N && exceeds V (T / 2) (c + s) = true ->
  Impossible arch (stacks T S V).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [HS H]; apply N.ltb_lt in HS.
  assert (HV : (0 < V)%N) by (apply exceeds_spec in H; apply H).
  pose proof (N.mul_div_le T 2 ltac:(lia)) as HT.
  set (P := N.to_nat (T / 2)); set (r := N.to_nat S); set (w := N.to_nat V).
  apply (cut_one_tables _ (T / 2) (T / 2) V (N.to_nat T - 1 - P) (r * w) (fun f => spell f P) c s arch); auto; [intros; apply spell_length|].
  intros f f' i Hf Hf' Hi Hne; fold P w in Hf, Hf', Hi |- *; set (d := P - 1 - i); set (e := N.to_nat T - 1 - P - d).
  assert (Hd : d < P) by (unfold d; lia).
  assert (E : N.to_nat T - 1 - P = d + e) by (unfold e, P in *; lia).
  assert (G : forall g, (forall j, g j < w) ->
    popped (N.to_nat T) r w (spell g P ++ (repeat (r * w) d ++ repeat w e) ++ [r * w]) (P + (N.to_nat T - 1 - P)) (g i)).
  { intros g Hg; rewrite <- app_assoc, E; replace (N.to_nat T) with (P + (d + e + 1)) by (unfold P in *; lia).
    replace i with (P - 1 - d) by (unfold d; lia). apply popped_at; auto; unfold r, w; lia. }
  exists (repeat (r * w) d ++ repeat w e), (f i), (f' i).
  split; [rewrite app_length, !repeat_length; lia|]. split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

(** ** state-recall: N values below V, K registers that point to them, M steps that exchange two registers each (a K + b with a < b), and a
    register; asked for what it points to *)
Definition before_step (i : nat) (step : nat * nat) : nat :=
  let (a, b) := step in if i =? a then b else if i =? b then a else i.

(** The register whose first content is in register i after the steps: the last step is undone first. *)
Definition came_from (steps : list (nat * nat)) (i : nat) : nat := fold_left before_step (rev steps) i.

Definition pointed (N V K M : nat) (x : list nat) (t v : nat) : Prop :=
  exists (f r : nat -> nat) (steps : list (nat * nat)) i, (forall j, j < N -> f j < V) /\ (forall j, j < K -> r j < N) /\
  length steps = M /\ (forall a b, In (a, b) steps -> a < b < K) /\ i < K /\
  x = spell f N ++ spell r K ++ map (fun s => fst s * K + snd s) steps ++ [i] /\ t = N + K + M /\ v = f (r (came_from steps i)).

Definition state_recall (N V K M : N) : task := words (pointed (N.to_nat N) (N.to_nat V) (N.to_nat K) (N.to_nat M)).

Lemma state_recall_within n N V K M : (N + K + M <? n)%N = true -> within n (state_recall N V K M).
Proof. intros H; apply words_within; intros x t v (f & r & l & i & _ & _ & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

(** All registers point to the entry, so that no step matters. *)
Lemma pointed_told N V K M f f' i : 1 < K -> (forall j, f j < V) -> (forall j, f' j < V) -> i < N -> f i <> f' i ->
  told_last (pointed N V K M) N (K + M) 0 (spell f N) (spell f' N).
Proof.
  intros HK Hf Hf' Hi Hne; set (steps := repeat (0, 1) M).
  exists (spell (fun _ => i) K ++ map (fun s => fst s * K + snd s) steps), (f i), (f' i).
  assert (G : forall g, (forall j, g j < V) ->
    pointed N V K M (spell g N ++ (spell (fun _ => i) K ++ map (fun s => fst s * K + snd s) steps) ++ [0]) (N + (K + M)) (g i)).
  { intros g Hg; exists g, (fun _ => i), steps, 0; repeat split; auto; try lia; try (rewrite <- app_assoc; reflexivity).
    - apply repeat_length.
    - apply repeat_spec in H; inversion H; lia.
    - apply repeat_spec in H; inversion H; lia. }
  split; [rewrite app_length, spell_length, map_length; unfold steps; rewrite repeat_length; reflexivity|].
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

Theorem cut_state_recall N V K M arch : (1 <? K)%N && (is_recurrent arch && exceeds V N (bits_at N arch)) = true ->
  forall T, ImpossibleThinking arch T (state_recall N V K M).
Proof.
  intros H; apply andb_prop in H; destruct H as [HK H]; apply N.ltb_lt in HK.
  apply (cut_tables _ N N V (fun f => spell f (N.to_nat N))); [intros; apply spell_length| |exact H].
  intros f f' i Hf Hf' Hi Hne; eapply told_of_last, pointed_told; eauto; lia.
Qed.

Theorem cut_one_state_recall N V K M c s arch : one_layer N c s arch = true -> (1 <? K)%N && exceeds V N (c + s) = true ->
  Impossible arch (state_recall N V K M).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [HK H]; apply N.ltb_lt in HK.
  apply (cut_one_tables _ N N V (N.to_nat K + N.to_nat M) 0 (fun f => spell f (N.to_nat N)) c s arch); auto; [intros; apply spell_length|].
  intros f f' i Hf Hf' Hi Hne; apply (pointed_told _ _ _ _ f f' i); auto; lia.
Qed.

(** ** parity-recall: f_b(x) at place 2x + b of 2N values below V, a key, M bits, a question mark (0); asked for f_b(key), b the parity of the
    bits *)
Definition by_parity (N V M : nat) (x : list nat) (t v : nat) : Prop :=
  exists (f : nat -> nat) key bits, (forall j, j < 2 * N -> f j < V) /\ key < N /\ length bits = M /\ (forall b, In b bits -> b < 2) /\
  x = spell f (2 * N) ++ [key] ++ bits ++ [0] /\ t = 2 * N + 1 + M /\ v = f (2 * key + list_sum bits mod 2).

Definition parity_recall (N V M : N) : task := words (by_parity (N.to_nat N) (N.to_nat V) (N.to_nat M)).

Lemma parity_recall_within n N V M : (2 * N + 1 + M <? n)%N = true -> within n (parity_recall N V M).
Proof. intros H; apply words_within; intros x t v (f & k & l & _ & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Lemma by_parity_told N V M f f' i : 0 < M -> (forall j, f j < V) -> (forall j, f' j < V) -> i < 2 * N -> f i <> f' i ->
  told_last (by_parity N V M) (2 * N) (1 + M) 0 (spell f (2 * N)) (spell f' (2 * N)).
Proof.
  intros HM Hf Hf' Hi Hne; set (bits := i mod 2 :: repeat 0 (M - 1)).
  assert (Hb : i mod 2 < 2) by (apply Nat.mod_upper_bound; lia).
  assert (Lb : length bits = M) by (unfold bits; simpl; rewrite repeat_length; lia).
  assert (Sb : list_sum bits = i mod 2).
  { unfold bits; cbn [list_sum fold_right]; replace (fold_right Nat.add 0 (repeat 0 (M - 1))) with 0; [lia|].
    clear; induction (M - 1) as [|m IH]; [reflexivity|exact IH]. }
  exists ([i / 2] ++ bits), (f i), (f' i).
  assert (G : forall g, (forall j, g j < V) -> by_parity N V M (spell g (2 * N) ++ ([i / 2] ++ bits) ++ [0]) (2 * N + (1 + M)) (g i)).
  { intros g Hg; exists g, (i / 2), bits; repeat split; auto; try lia; try (rewrite <- app_assoc; reflexivity).
    - apply Nat.div_lt_upper_bound; lia.
    - unfold bits; intros b [<-|H]; [exact Hb|apply repeat_spec in H; lia].
    - rewrite Sb, (Nat.mod_small (i mod 2)) by exact Hb; f_equal; apply Nat.div_mod; lia. }
  split; [rewrite app_length, Lb; reflexivity|]. split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

Theorem cut_parity_recall N V M arch : (0 <? M)%N && (is_recurrent arch && exceeds V (2 * N) (bits_at (2 * N) arch)) = true ->
  forall T, ImpossibleThinking arch T (parity_recall N V M).
Proof.
  intros H; apply andb_prop in H; destruct H as [HM H]; apply N.ltb_lt in HM.
  apply (cut_tables _ (2 * N) (2 * N) V (fun f => spell f (2 * N.to_nat N))); [intros; rewrite spell_length; lia| |exact H].
  intros f f' i Hf Hf' Hi Hne; replace (N.to_nat (2 * N)) with (2 * N.to_nat N) in * by lia.
  eapply told_of_last, by_parity_told; eauto; lia.
Qed.

Theorem cut_one_parity_recall N V M c s arch : one_layer (2 * N) c s arch = true -> (0 <? M)%N && exceeds V (2 * N) (c + s) = true ->
  Impossible arch (parity_recall N V M).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [HM H]; apply N.ltb_lt in HM.
  apply (cut_one_tables _ (2 * N) (2 * N) V (1 + N.to_nat M) 0 (fun f => spell f (2 * N.to_nat N)) c s arch); auto;
    [intros; rewrite spell_length; lia|].
  intros f f' i Hf Hf' Hi Hne; replace (N.to_nat (2 * N)) with (2 * N.to_nat N) in * by lia.
  apply (by_parity_told _ _ _ f f' i); auto; lia.
Qed.

(** ** variable-tracking: N assignments of a value, or of a variable that has one, to different variables below K, then a variable; asked for its
    value.  No value is copied more than [hops] times in a row.

    An assignment (a, s) is the number a (V + K) + s: the value s < V, or variable s - V. *)
Fixpoint holds (V : nat) (latest_first : list (nat * nat)) (name : nat) : option (nat * nat) :=      (* value, copies *)
  match latest_first with
  | [] => None
  | (a, s) :: earlier =>
      if name =? a then
        if s <? V then Some (s, 0) else match holds V earlier (s - V) with Some (v, d) => Some (v, S d) | None => None end
      else holds V earlier name
  end.

Definition tracked (N hops V K : nat) (x : list nat) (t v : nat) : Prop :=
  exists (l : list (nat * nat)) name d, length l = N /\ NoDup (map fst l) /\
  (forall a s, In (a, s) l -> a < K /\ s < V + K /\ exists u e, holds V l a = Some (u, e) /\ e <= hops) /\
  holds V l name = Some (v, d) /\ x = map (fun y => fst y * (V + K) + snd y) (rev l) ++ [K * (V + K) + name] /\ t = N.

Definition variable_tracking (N hops V K : N) : task := words (tracked (N.to_nat N) (N.to_nat hops) (N.to_nat V) (N.to_nat K)).

Lemma variable_tracking_within n N hops V K : (N <? n)%N = true -> within n (variable_tracking N hops V K).
Proof. intros H; apply words_within; intros x t v (l & a & d & _ & _ & _ & _ & _ & ->); apply N.ltb_lt in H; lia. Qed.

Definition given (f : nat -> nat) (n : nat) : list (nat * nat) := rev (map (fun j => (j, f j)) (seq 0 n)).

Lemma given_S f n : given f (S n) = (n, f n) :: given f n.
Proof. unfold given; rewrite seq_S, map_app, rev_app_distr; reflexivity. Qed.

Lemma given_length f n : length (given f n) = n.
Proof. unfold given; rewrite rev_length, map_length, seq_length; reflexivity. Qed.

Lemma given_in f n a s : In (a, s) (given f n) -> a < n /\ s = f a.
Proof.
  unfold given; rewrite <- in_rev, in_map_iff; intros (j & E & H); apply in_seq in H; inversion E; subst; split; [lia|reflexivity].
Qed.

Lemma given_names f n : NoDup (map fst (given f n)).
Proof.
  induction n as [|n IH]; [constructor|]; rewrite given_S; constructor; [|exact IH].
  intros H; apply in_map_iff in H; destruct H as ([a s] & E & H); apply given_in in H; simpl in E; lia.
Qed.

Lemma given_holds V f n i : (forall j, f j < V) -> i < n -> holds V (given f n) i = Some (f i, 0).
Proof.
  intros Hf; induction n as [|n IH]; intros Hi; [lia|]; rewrite given_S; cbn [holds].
  destruct (Nat.eqb_spec i n) as [->|Hn]; [destruct (Nat.ltb_spec (f n) V); [reflexivity|specialize (Hf n); lia]|apply IH; lia].
Qed.

Definition assigned (V K : nat) (f : nat -> nat) (n : nat) : list nat := map (fun y => fst y * (V + K) + snd y) (rev (given f n)).

Lemma assigned_length V K f n : length (assigned V K f n) = n.
Proof. unfold assigned; rewrite map_length, rev_length; apply given_length. Qed.

Theorem cut_variable_tracking N hops V K arch : (N <=? K)%N && (is_recurrent arch && exceeds V N (bits_at N arch)) = true ->
  forall T, ImpossibleThinking arch T (variable_tracking N hops V K).
Proof.
  intros H; apply andb_prop in H; destruct H as [HK H]; apply N.leb_le in HK.
  set (n := N.to_nat N); set (w := N.to_nat V); set (k := N.to_nat K).
  apply (cut_tables _ N N V (fun f => assigned w k f n)); [intros; apply assigned_length| |exact H].
  intros f f' i Hf Hf' Hi Hne; fold n w in Hf, Hf', Hi |- *.
  exists [k * (w + k) + i], n, (f i), (f' i); split; [lia|].
  assert (G : forall g, (forall j, g j < w) -> tracked n (N.to_nat hops) w k (assigned w k g n ++ [k * (w + k) + i]) n (g i)).
  { intros g Hg; exists (given g n), i, 0; split; [apply given_length|]. split; [apply given_names|].
    split; [|split; [apply given_holds; assumption|split; reflexivity]].
    intros a s Ha; apply given_in in Ha; destruct Ha as [Ha ->]; split; [unfold n, k in *; lia|].
    split; [specialize (Hg a); lia|]. exists (g a), 0; split; [apply given_holds; assumption|lia]. }
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

(** With the question fixed: all variables but one have values, and the last assignment copies one of them to the variable that is asked. *)
Theorem cut_one_variable_tracking N hops V K c s arch : one_layer (N - 1) c s arch = true ->
  (1 <=? hops)%N && (1 <=? N)%N && (N <=? K)%N && exceeds V (N - 1) (c + s) = true -> Impossible arch (variable_tracking N hops V K).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  set (n := N.to_nat (N - 1)); set (w := N.to_nat V); set (k := N.to_nat K).
  apply (cut_one_tables _ (N - 1) (N - 1) V 1 (k * (w + k) + n) (fun f => assigned w k f n) c s arch); auto; [intros; apply assigned_length|].
  intros f f' i Hf Hf' Hi Hne; fold n w in Hf, Hf', Hi |- *.
  exists [n * (w + k) + (w + i)], (f i), (f' i); split; [reflexivity|].
  assert (G : forall g, (forall j, g j < w) ->
    tracked (N.to_nat N) (N.to_nat hops) w k (assigned w k g n ++ [n * (w + k) + (w + i)] ++ [k * (w + k) + n]) (n + 1) (g i)).
  { intros g Hg; set (l := (n, w + i) :: given g n).
    assert (Hl : holds w l n = Some (g i, 1)).
    { cbn [l holds]; rewrite Nat.eqb_refl; destruct (Nat.ltb_spec (w + i) w); [lia|].
      replace (w + i - w) with i by lia; rewrite given_holds by assumption; reflexivity. }
    exists l, n, 1; split; [cbn [l length]; rewrite given_length; unfold n; lia|]. split.
    { cbn [l map fst]; constructor; [|apply given_names]. intros I; apply in_map_iff in I; destruct I as ([a u] & E & I).
      apply given_in in I; simpl in E; lia. }
    split; [|split; [exact Hl|split; [|unfold n; lia]]].
    - intros a u [E|Ha]; [inversion E; subst; split; [unfold n, k; lia|]; split; [unfold n, k in *; lia|]; exists (g i), 1; split; [exact Hl|lia]|].
      apply given_in in Ha; destruct Ha as [Ha ->]; split; [unfold n, k in *; lia|]. split; [specialize (Hg a); lia|].
      exists (g a), 0; split; [|lia]. cbn [l holds]; destruct (Nat.eqb_spec a n); [lia|apply given_holds; assumption].
    - unfold l, assigned; cbn [rev]; rewrite map_app, <- app_assoc; reflexivity. }
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

(** ** retrieval, distinct=0: N entries, key V + value, and a key (K V + key) that one entry alone has; the others may repeat *)
Definition once_keyed (N K V : nat) (x : list nat) (t v : nat) : Prop :=
  exists (a f : nat -> nat) i, (forall j, j < N -> a j < K /\ f j < V) /\ i < N /\ (forall j, j < N -> a j = a i -> j = i) /\
  x = spell (fun j => a j * V + f j) N ++ [K * V + a i] /\ t = N /\ v = f i.

Definition once_table (N K V : N) : task := words (once_keyed (N.to_nat N) (N.to_nat K) (N.to_nat V)).

Lemma once_table_within n N K V : (N <? n)%N = true -> within n (once_table N K V).
Proof. intros H; apply words_within; intros x t v (a & f & i & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

(** More entries than keys: the last key fills the remaining places, and is not asked for. *)
Definition asked_keys (entries keys : N) : N := if (entries <=? keys)%N then entries else (keys - 1)%N.

Theorem cut_once_table N K V arch : is_recurrent arch && exceeds V (asked_keys N K) (bits_at N arch) = true ->
  forall T, ImpossibleThinking arch T (once_table N K V).
Proof.
  intros H; assert (HV : (0 < V)%N) by (apply andb_prop in H; destruct H as [_ H]; apply exceeds_spec in H; apply H).
  set (n := N.to_nat N); set (k := N.to_nat K); set (w := N.to_nat V); set (e := N.to_nat (asked_keys N K)).
  assert (He : e <= n /\ e <= k) by (unfold e, asked_keys, n, k; destruct (N.leb_spec N K); lia).
  set (key := fun j => Nat.min j (k - 1)); set (filled := fun (f : nat -> nat) j => if j <? e then f j else 0).
  apply (cut_tables _ N (asked_keys N K) V (fun f => spell (fun j => key j * w + filled f j) n)); [intros; apply spell_length| |exact H].
  intros f f' i Hf Hf' Hi Hne; fold e w n in Hf, Hf', Hi |- *; exists [k * w + key i], n, (f i), (f' i); split; [lia|].
  assert (G : forall g, (forall j, g j < w) -> once_keyed n k w (spell (fun j => key j * w + filled g j) n ++ [k * w + key i]) n (g i)).
  { intros g Hg; exists key, (filled g), i; repeat split; auto; try (unfold key; lia).
    - unfold filled; destruct (j <? e); [apply Hg|unfold w; lia].
    - assert (E' : e = n \/ e = k - 1) by (unfold e, asked_keys, n, k; destruct (N.leb_spec N K); lia). unfold key; lia.
    - unfold filled; destruct (Nat.ltb_spec i e); [reflexivity|lia]. }
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.
