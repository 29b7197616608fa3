(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Thought: two functions, one full layer and one thought, w last

    The thought may be any value.  It reads the raw prompt, so what the tokens of z_1 and z_0 receive does not count. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT.
Import ListNotations.
Local Notation nN := N.of_nat.

Theorem thought_states : forall (N0 n1 k2 M t q g Theta : nat) (V : N) (C : nat -> N) k (Y : Type) (m : net token Y) next answer,
  two_functions N0 n1 (N.to_nat V) k2 M k -> fits m [SF C] -> (0 < V)%N ->
  t * q <= N0 -> 0 < g <= q -> 0 < t -> 0 < Theta ->
  (C (k2 + M + N0)%nat * nN (Theta - 1) ^ nN (t * g) < nN (t * q) ^ nN (t * g))%N ->
  (C k2 ^ nN n1 * C k2 ^ nN (n1 * t) < V ^ nN (n1 * Theta))%N ->
  ~ solves_thinking k 1 m next answer.
Proof.
  intros N0 n1 k2 M t q g Theta V C k Y m next answer (P & HP & Htask) Hm HV HN0 Hg Ht HTh Hsp Hlt Hs.
  apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [HA Hm]; destruct l as [|A init upd fin|]; simpl in HA; try contradiction.
  destruct rest as [out|]; [|contradiction].
  set (F1 := Full A init upd fin) in *; set (m := Then F1 (Out out)) in *.
  set (k1 := k2 + M + N0) in *; set (kw := k1 + 1) in *.
  set (st := start N0 t g).
  assert (P2 : forall z f u w f' u' w' y, y < k2 -> P z f u w y = P z f' u' w' y) by (intros; apply (lay_first _ _ _ _ HP); auto).
  assert (PL : forall z z' f u w y, k2 <= y <= kw -> P z f u w y = P z' f u w y) by (intros; apply (lay_later HP); auto).
  assert (Pp : forall z f u w u' w' y, y < k1 -> P z f u w y = P z f u' w' y) by (intros; apply (lay_prefix HP); auto).
  assert (Pw : forall z f u w z' f' u', P z f u w kw = P z' f' u' w kw) by (intros; apply (lay_w _ _ _ _ HP)).
  assert (Pq : forall z f u w z' f' y, k1 <= y <= kw -> P z f u w y = P z' f' u w y) by (intros; apply (lay_query HP); auto).
  assert (K12 : k2 <= k1) by (unfold k1; lia).
  assert (Kw : kw = k1 + 1) by reflexivity.
  destruct (HA k2) as (cA & cA_inj & cA_lt).
  destruct (HA k1) as (cB & cB_inj & cB_lt).
  set (id := fun i : nat => i).
  set (sigma := fun z => digits (C k2) (fun w => cA (acc init upd (P z id 0 w) kw k2)) n1).
  apply (class_tables V (n1 * N0) (n1 * Theta) _ _ sigma); [| |exact HV].
  { intros z; apply digits_lt; intros; apply cA_lt. }
  intros zs _.
  assert (Hsig : forall z f u w, sigma z = sigma zs -> w < n1 ->
            acc init upd (P z f u w) kw k2 = acc init upd (P zs f u w) kw k2).
  { intros z f u w E Hw.
    pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) E w Hw) as E'.
    cbv beta in E'; apply cA_inj in E'.
    transitivity (acc init upd (P z id 0 w) kw k2); [|rewrite E'];
      (apply acc_ext; [apply Pw|intros; apply P2; auto]). }
  destruct (finite_choice (fun w (y : list nat * list ((nat -> nat) * nat)) =>
     length (fst y) = t /\ (forall u, In u (fst y) -> st <= u < N0) /\
     length (snd y) = Theta /\ (forall p, In p (snd y) -> in_fam N0 t q g (fst p) /\ snd p < t) /\
     (forall p p', In p (snd y) -> In p' (snd y) ->
        cB (acc init upd (P zs (fst p) 0 w) kw k1) = cB (acc init upd (P zs (fst p') 0 w) kw k1)) /\
     NoDup (map (fun p => fst p (nth (snd p) (fst y) 0)) (snd y))) ([], []) n1) as [ch Hch].
  { intros w _.
    destruct (best_of_groups N0 t q g HN0 Hg Ht Theta (C k1)
                (fun f => cB (acc init upd (P zs f 0 w) kw k1)) (fun f => cB_lt _) HTh Hsp)
      as (U & sel & K); exists (U, sel); exact K. }
  clear Hsp.
  set (U := fun w => fst (ch w)); set (sel := fun w => snd (ch w)).
  set (f0 := fun w => fst (nth 0 (sel w) (id, 0))).
  set (val := fun w (p : (nat -> nat) * nat) => fst p (nth (snd p) (U w) 0)).
  destruct (rows_index N0 n1 Theta (fun w => map (val w) (sel w))) as (J & HJ1 & HJ2 & HJ3).
  { intros w Hw; destruct (Hch w Hw) as (K1 & K2 & K3 & K4 & K5 & K6).
    split; [exact K6|]. split; [rewrite map_length; exact K3|].
    intros v Hv; apply in_map_iff in Hv; destruct Hv as [p [<- Hp]]; destruct (K4 p Hp) as [Kf Kb].
    apply (fam_bound N0 t q g HN0 Hg); auto; apply K2, nth_In; rewrite K1; exact Kb. }
  set (th := fun z f u w => think m next (P z f u w) kw 1).
  set (kt := kw + 1).
  assert (T1 : forall z f u w, th z f u w kt = next (out kw (apply F1 (P z f u w) kw))).
  { intros; unfold th, kt; cbn [think]; rewrite Nat.eqb_refl, Nat.add_0_r; reflexivity. }
  assert (T0 : forall z f u w y, y <= kw -> th z f u w y = P z f u w y) by (intros; apply think_before; assumption).

  set (nu2 := fun z k => let w := k / t in cA (acc init upd (th z (f0 w) (nth (k mod t) (U w) 0) w) kt k2)).
  exists J, (fun z => digits (C k2) (nu2 z) (n1 * t)).
  split; [exact HJ1|]. split; [intros i Hi; apply HJ3; auto|]. split; [exact HJ2|].
  split; [intros z _; apply digits_lt; intros; apply cA_lt|].
  intros z2 z2' Hz Hz' S1 S2 E2 i Hi.
  pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) E2) as E2'; cbv beta in E2'; clear E2.
  destruct (HJ3 i Hi) as [Hi1 (w & v & Hw & Hv & Ei)].
  apply in_map_iff in Hv; destruct Hv as [[f b] [Ev Hp]].
  destruct (Hch w Hw) as (K1 & K2 & K3 & K4 & K5 & K6); fold (U w) in *; fold (sel w) in *.
  destruct (K4 _ Hp) as [Hfam Hb]; cbn [fst snd] in Hfam, Hb.
  unfold val in Ev; cbn [fst snd] in Ev.
  set (u := nth b (U w) 0) in *.
  assert (Hu : st <= u < N0) by (apply K2, nth_In; rewrite K1; exact Hb).
  assert (Hf0 : In (nth 0 (sel w) (id, 0)) (sel w)) by (apply nth_In; rewrite K3; exact HTh).
  assert (Hfb : forall i, i < N0 -> f i < N0) by (intros; apply (fam_bound N0 t q g HN0 Hg); auto).
  (* at w: the same for z2, z2' and for the representative of the class *)
  assert (Qw : forall z f', sigma z = sigma zs -> f' = f \/ f' = f0 w -> apply F1 (P z f' u w) kw = apply F1 (P zs (f0 w) u w) kw).
  { intros z f' Sz Hf'.
    assert (Ka : acc init upd (P zs f' 0 w) kw k1 = acc init upd (P zs (f0 w) 0 w) kw k1).
    { destruct Hf' as [-> | ->]; [|reflexivity]. apply cB_inj, (K5 (f, b) (nth 0 (sel w) (id, 0))); auto. }
    assert (Kb : forall f'', acc init upd (P zs f'' u w) kw k1 = acc init upd (P zs f'' 0 w) kw k1).
    { intros f''; apply acc_ext; [apply Pw|intros y Hy; apply Pp; exact Hy]. }
    assert (Kc : acc init upd (P z f' u w) kw k1 = acc init upd (P zs f' u w) kw k1).
    { apply (acc_from init upd _ _ kw k2); [apply Pw|apply Hsig; auto|lia|intros; apply PL; lia]. }
    assert (Kd : acc init upd (P z f' u w) kw (S kw) = acc init upd (P zs (f0 w) u w) kw (S kw)).
    { apply (acc_from init upd _ _ kw k1); [apply Pw| |lia|intros; apply Pq; lia].
      rewrite Kc, (Kb f'), (Kb (f0 w)); exact Ka. }
    unfold F1; cbn [apply]; rewrite Kd, (Pw z f' u w zs (f0 w) u); reflexivity. }
  assert (Q2 : acc init upd (th z2 f u w) kt k2 = acc init upd (th z2' f u w) kt k2).
  { assert (Rr : forall z, sigma z = sigma zs -> acc init upd (th z f u w) kt k2 = acc init upd (th z (f0 w) u w) kt k2).
    { intros z Sz; apply acc_ext; [rewrite !T1, (Qw z f Sz), (Qw z (f0 w) Sz); auto|].
      intros y Hy; rewrite !T0 by lia; apply P2; lia. }
    rewrite (Rr z2 S1), (Rr z2' S2).
    assert (Hk : w * t + b < n1 * t).
    { apply Nat.lt_le_trans with (S w * t); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
    specialize (E2' (w * t + b) Hk); unfold nu2 in E2'; cbv zeta in E2'.
    rewrite Nat.div_add_l, (Nat.div_small b t), Nat.add_0_r in E2' by lia.
    rewrite (Nat.add_comm (w * t) b), Nat.mod_add, Nat.mod_small in E2' by lia.
    fold u in E2'; apply cA_inj in E2'; exact E2'. }
  assert (Et : th z2 f u w kt = th z2' f u w kt) by (rewrite !T1, (Qw z2 f S1), (Qw z2' f S2); auto).
  assert (Q3 : acc init upd (th z2 f u w) kt (S kt) = acc init upd (th z2' f u w) kt (S kt)).
  { apply (acc_from init upd _ _ kt k2); [exact Et|exact Q2|unfold kt; lia|].
    intros y Hy; destruct (Nat.le_gt_cases y kw) as [Ly|Ly]; [rewrite !T0 by lia; apply PL; lia|].
    replace y with kt by (unfold kt in *; lia); exact Et. }
  rewrite Ei, <- Ev.
  rewrite <- (Hs _ _ _ (Htask z2 f u w Hz Hfb ltac:(lia) Hw)), <- (Hs _ _ _ (Htask z2' f u w Hz' Hfb ltac:(lia) Hw)).
  fold k1; fold kw; fold kt.
  fold (th z2 f u w); fold (th z2' f u w).
  unfold m; cbn [run]; unfold F1; cbn [apply]; rewrite Q3, Et; reflexivity.
Qed.

(** n_1 ceil(t q 2^(-c/(g t))) log2 V > c n_1 (1 + t). *)
Definition thought_check (N0 : N) (ns : list N) (V c t q g Theta : N) : bool :=
  let n1 := last_n ns in
  positive N0 ns && (0 <? N.of_nat (length ns))%N && (t * q <=? N0)%N && (0 <? g)%N && (g <=? q)%N && (0 <? t)%N &&
  kept c (t * g) Theta (t * q) && exceeds V (n1 * Theta) (c * n1 + c * (n1 * t)).

Theorem thought : forall flat N0 ns V c t q g Theta, thought_check N0 ns V c t q g Theta = true ->
  ImpossibleThinking [F c] 1 (seqcomp flat N0 ns V).
Proof.
  unfold thought_check; intros flat N0 ns V c t q g Theta H Y m next answer Hm.
  apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7]; apply andb_prop in H; destruct H as [H H6];
    apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply N.leb_le in H3, H5; apply N.ltb_lt in H4, H6.
  apply kept_spec in H7; destruct H7 as (_ & _ & HT & H7); apply exceeds_spec in H8; destruct H8 as [HV H8].
  cbn [map spec_of] in Hm.
  assert (L1 : N.to_nat t * N.to_nat q <= N.to_nat N0) by (clear - H3; lia).
  assert (L2 : 0 < N.to_nat g <= N.to_nat q) by (clear - H4 H5; lia).
  assert (L3 : 0 < N.to_nat t) by (clear - H6; lia).
  assert (L4 : 0 < N.to_nat Theta) by (clear - HT; lia).
  apply (thought_states _ _ _ _ (N.to_nat t) (N.to_nat q) (N.to_nat g) (N.to_nat Theta) V _ _ Y m next answer
           (seqcomp_two flat N0 ns V H1 (nonempty _ H2)) Hm); auto.
  - replace (nN (N.to_nat t * N.to_nat g)) with (t * g)%N by (clear; lia).
    replace (nN (N.to_nat t * N.to_nat q)) with (t * q)%N by (clear; lia).
    replace (nN (N.to_nat Theta - 1)) with (Theta - 1)%N by (clear; lia). exact H7.
  - replace (nN (N.to_nat (last_n ns) * N.to_nat t)) with (last_n ns * t)%N by (clear; lia).
    replace (nN (N.to_nat (last_n ns) * N.to_nat Theta)) with (last_n ns * Theta)%N by (clear; lia).
    rewrite !N2Nat.id, <- !N.pow_mul_r, <- N.pow_add_r; exact H8.
Qed.

(** Fewer thoughts are no better: a network that answers at once can say its answer as a thought and read it. *)
Lemma answer_as_thought (k : task) (last : nat) (c : N) : (forall p t v, k p t v -> t = last) ->
  ImpossibleThinking [F c] 1 k -> ImpossibleThinking [F c] 0 k.
Proof.
  intros Hlast H Y m next answer Hm Hs.
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [HA Hm]; destruct l as [|A init upd fin|]; simpl in HA; try contradiction.
  destruct rest as [out|]; [|contradiction].
  set (m' := Then (Full A init upd (fun t a x => (fin t a x, x)))
               (Out (fun t (z : Z * token) => if t =? last then inl (out t (fst z)) else inr (snd z) : Y + token))).
  set (next' := fun y : Y + token => match y with inl z => num (answer z) | inr x => x end).
  set (answer' := fun y : Y + token => match y with inl z => answer z | inr (num v) => v | inr _ => 0 end).
  apply (H (Y + token)%type m' next' answer'); [simpl; split; [exact HA|exact I]|].
  intros p t v Hk; pose proof (Hlast p t v Hk) as ->; specialize (Hs p last v Hk); cbn [think] in Hs; rewrite Nat.add_0_r in Hs.
  assert (E : think m' next' p last 1 (last + 1) = num v).
  { cbn [think]; rewrite Nat.eqb_refl, Nat.add_0_r; unfold m'; cbn [run apply]; rewrite Nat.eqb_refl; unfold next'; cbn [fst].
    rewrite <- Hs; cbn [run apply]; reflexivity. }
  unfold m' at 1; cbn [run apply]; destruct (Nat.eqb_spec (last + 1) last) as [C|_]; [lia|]. cbn [snd]; rewrite E; reflexivity.
Qed.

Theorem one_thought : forall flat N0 ns V c t q g Theta, thought_check N0 ns V c t q g Theta = true ->
  forall T, T <= 1 -> ImpossibleThinking [F c] T (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V c t q g Theta H T HT; pose proof (thought flat N0 ns V c t q g Theta H) as K.
  assert (ET : T = 1 \/ T = 0) by lia; destruct ET as [-> | ->]; [exact K|].
  apply (answer_as_thought _ (last_at flat (N.to_nat N0) (map N.to_nat ns))); [|exact K].
  intros p u v (z & z0 & w & _ & _ & _ & _ & _ & _ & Ht & _); rewrite prompt_length in Ht; lia.
Qed.
