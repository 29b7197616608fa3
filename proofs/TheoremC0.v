(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem C0: two functions, two full layers, w last

    Proved for two layers that may have recurrent heads beside the full ones, which see the same input; without them it is C0. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT.
Import ListNotations.
Local Notation nN := N.of_nat.

Lemma sub_l a b : a + b - a = b.
Proof. lia. Qed.

Lemma not_ltb_l a b : (a + b <? a) = false.
Proof. apply Nat.ltb_ge; lia. Qed.

Section Two_layers.
Variables (N0 n1 k2 M t q g Theta : nat) (V : N).
Variables (C C' S1 S2 : nat -> N).
Variable P : (nat -> nat) -> (nat -> nat) -> nat -> nat -> nat -> token.
Hypothesis HP : layout N0 k2 M P.
Variables (Z Y : Type)
  (St : nat -> Type) (h0 : St 0) (G : forall t, St t -> token -> St (S t))
  (A : nat -> Type) (init : forall t : nat, token -> A 0) (upd : forall t j : nat, A j -> token -> token -> A (S j))
  (out : forall t, St t -> St (S t) -> A (S t) -> token -> Z)
  (St' : nat -> Type) (h0' : St' 0) (G' : forall t, St' t -> Z -> St' (S t))
  (A' : nat -> Type) (init' : forall t : nat, Z -> A' 0) (upd' : forall t j : nat, A' j -> Z -> Z -> A' (S j))
  (out' : forall t, St' t -> St' (S t) -> A' (S t) -> Z -> Y) (answer : Y -> nat).
Let L1 := apply (Both St h0 G A init upd out).
Let L2 := apply (Both St' h0' G' A' init' upd' out').
Let k1 := k2 + M + N0.
Let kw := k1 + 1.

Theorem two_layers :
  (forall t, card_le (A t) (C t)) -> (forall t, card_le (A' t) (C' t)) ->
  (forall t, card_le (St t) (S1 t)) -> (forall t, card_le (St' t) (S2 t)) -> (0 < V)%N ->
  t * q <= N0 -> 0 < g <= q -> 0 < t -> 0 < Theta ->
  (C k1 * S1 k1 * nN (Theta - 1) ^ nN (t * g) < nN (t * q) ^ nN (t * g))%N ->
  (C k2 ^ nN n1 * S1 k2 *
     (C' k2 ^ nN (n1 * t) * (C k2 ^ nN (t * g + (M + (N0 - t * g) + t * g * q)) * S2 k2)) < V ^ nN (n1 * Theta))%N ->
  ~ (forall z f u w, (forall i, z i < N.to_nat V) -> (forall i, i < N0 -> f i < N0) -> u < N0 -> w < n1 ->
       answer (L2 (L1 (P z f u w)) kw) = z (w * N0 + f u)).
Proof.
  intros HA HA' HS HS' HV HN0 Hg Ht HTh Hsp Hlt Hs; apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  set (st := start N0 t g).
  assert (Hst : st + t * g = N0) by (apply (start_le N0 t q g); auto).
  assert (P2 : forall z f u w f' u' w' y, y < k2 -> P z f u w y = P z f' u' w' y) by (intros; apply (lay_first _ _ _ _ HP); auto).
  assert (PM : forall z f u w z' f' u' w' y, k2 <= y < k2 + M -> P z f u w y = P z' f' u' w' y)
    by (intros; apply (lay_middle _ _ _ _ HP); auto).
  assert (PL : forall z z' f u w y, k2 <= y <= kw -> P z f u w y = P z' f u w y) by (intros; apply (lay_later HP); auto).
  assert (Pp : forall z f u w u' w' y, y < k1 -> P z f u w y = P z f u' w' y) by (intros; apply (lay_prefix HP); auto).
  assert (Pw : forall z f u w z' f' u', P z f u w kw = P z' f' u' w kw) by (intros; apply (lay_w _ _ _ _ HP)).
  assert (P0 : forall z f u w, P z f u w k1 = num u) by (intros; apply (lay_z0 _ _ _ _ HP)).
  assert (P1 : forall z f u w i, i < N0 -> P z f u w (k2 + M + i) = num (f i)) by (intros; apply (lay_z1 _ _ _ _ HP); auto).
  assert (Pq : forall z f u w z' f' y, k1 <= y <= kw -> P z f u w y = P z' f' u w y) by (intros; apply (lay_query HP); auto).
  assert (K12 : k2 + (M + st) + t * g = k1) by (unfold k1; lia).
  assert (Kw : kw = k1 + 1) by reflexivity.
  clear HP.
  destruct (HA k2) as (cA & cA_inj & cA_lt).
  destruct (HA k1) as (cB & cB_inj & cB_lt).
  destruct (HA' k2) as (cD & cD_inj & cD_lt).
  destruct (HS k2) as (sA & sA_inj & sA_lt).
  destruct (HS k1) as (sB & sB_inj & sB_lt).
  destruct (HS' k2) as (sD & sD_inj & sD_lt).
  set (id := fun i : nat => i).
  assert (HcL : causal L1) by (unfold L1; apply apply_causal).
  (* layer-1 accumulators of w over z_2 for all w, and the layer-1 state after z_2 *)
  set (sigma := fun z => pair_code (C k2 ^ nN n1) (digits (C k2) (fun w => cA (acc init upd (P z id 0 w) kw k2)) n1)
                           (sA (state h0 G (P z id 0 0) k2))).
  apply (class_tables V (n1 * N0) (n1 * Theta) _ _ sigma); [| |exact HV].
  { intros z; apply pair_lt; [apply digits_lt; intros; apply cA_lt|apply sA_lt]. }
  intros zs _.
  assert (Hsig : forall z f u w, sigma z = sigma zs -> w < n1 ->
            acc init upd (P z f u w) kw k2 = acc init upd (P zs f u w) kw k2).
  { intros z f u w E Hw.
    apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]; destruct E as [E _].
    pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) E w Hw) as E'.
    cbv beta in E'; apply cA_inj in E'.
    transitivity (acc init upd (P z id 0 w) kw k2); [|rewrite E'];
      (apply acc_ext; [apply Pw|intros; apply P2; auto]). }
  assert (Hst1 : forall z f u w f' u' w', sigma z = sigma zs ->
            state h0 G (P z f u w) k2 = state h0 G (P zs f' u' w') k2).
  { intros z f u w f' u' w' E.
    apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]; destruct E as [_ E].
    apply sA_inj in E.
    transitivity (state h0 G (P z id 0 0) k2); [apply state_ext; intros; apply P2; auto|].
    rewrite E; apply state_ext; intros; apply P2; auto. }
  (* so all layer-1 states after z_2 are those of zs *)
  assert (Hst2 : forall z f u w y, sigma z = sigma zs -> k2 <= y <= kw + 1 -> state h0 G (P z f u w) y = state h0 G (P zs f u w) y).
  { intros z f u w y E Hy; apply (state_from h0 G _ _ k2); [apply Hst1; exact E|lia|intros; apply PL; lia]. }
  (* a class of functions for each w *)
  set (cls := fun w f => pair_code (C k1) (cB (acc init upd (P zs f 0 w) kw k1)) (sB (state h0 G (P zs f 0 0) k1))).
  destruct (finite_choice (fun w (y : list nat * list ((nat -> nat) * nat)) =>
     length (fst y) = t /\ (forall u, In u (fst y) -> st <= u < N0) /\
     length (snd y) = Theta /\ (forall p, In p (snd y) -> in_fam N0 t q g (fst p) /\ snd p < t) /\
     (forall p p', In p (snd y) -> In p' (snd y) -> cls w (fst p) = cls w (fst p')) /\
     NoDup (map (fun p => fst p (nth (snd p) (fst y) 0)) (snd y))) ([], []) n1) as [ch Hch].
  { intros w _.
    destruct (best_of_groups N0 t q g HN0 Hg Ht Theta (N.mul (C k1) (S1 k1))
                (cls w) (fun f => pair_lt _ _ _ _ (cB_lt _) (sB_lt _)) HTh Hsp)
      as (U & sel & K); exists (U, sel); exact K. }
  set (U := fun w => fst (ch w)); set (sel := fun w => snd (ch w)).
  set (f0 := fun w => fst (nth 0 (sel w) (id, 0))).
  set (val := fun w (p : (nat -> nat) * nat) => fst p (nth (snd p) (U w) 0)).
  destruct (rows_index N0 n1 Theta (fun w => map (val w) (sel w))) as (J & HJ1 & HJ2 & HJ3).
  { intros w Hw; destruct (Hch w Hw) as (K1 & K2 & K3 & K4 & K5 & K6).
    split; [exact K6|]. split; [rewrite map_length; exact K3|].
    intros v Hv; apply in_map_iff in Hv; destruct Hv as [p [<- Hp]]; destruct (K4 p Hp) as [Kf Kb].
    apply (fam_bound N0 t q g HN0 Hg); auto; apply K2, nth_In; rewrite K1; exact Kb. }
  (* the other messages *)
  set (nu2 := fun z k => let w := k / t in cD (acc init' upd' (L1 (P z (f0 w) (nth (k mod t) (U w) 0) w)) kw k2)).
  set (nu0 := fun z k => cA (acc init upd (P z id (st + k) 0) k1 k2)).
  set (rho := fun z k =>
     if k <? M + st then cA (acc init upd (P z (fun _ => 0) 0 0) (k2 + k) k2)
     else let i := (k - (M + st)) / q in
          cA (acc init upd (P z (fun _ => i / g * q + (k - (M + st)) mod q) 0 0) (k2 + (M + st) + i) k2)).
  set (low := fun z k => if k <? t * g then nu0 z k else rho z (k - t * g)).
  assert (Hlow : forall z k, N.lt (low z k) (C k2)).
  { intros z k; unfold low, nu0, rho; destruct (k <? t * g); [apply cA_lt|].
    destruct (k - t * g <? M + st); apply cA_lt. }
  replace (N0 - t * g) with st by (clear - Hst; lia).
  set (L := t * g + (M + st + t * g * q)).
  set (tau := fun z => sD (state h0' G' (L1 (P z id 0 0)) k2)).
  exists J, (fun z => pair_code (C' k2 ^ nN (n1 * t)) (digits (C' k2) (nu2 z) (n1 * t))
                        (pair_code (C k2 ^ nN L) (digits (C k2) (low z) L) (tau z))).
  split; [exact HJ1|]. split; [intros i Hi; apply HJ3; auto|]. split; [exact HJ2|].
  split.
  { intros z _; apply pair_lt; [apply digits_lt; intros; apply cD_lt|].
    apply pair_lt; [|apply sD_lt]. apply (digits_lt (C k2) (low z) L); intros; apply Hlow. }
  clear Hsp.
  intros z2 z2' Hz Hz' Sg1 Sg2 E i Hi.
  apply pair_inj in E; [|apply digits_lt; intros; apply cD_lt|apply digits_lt; intros; apply cD_lt].
  destruct E as [E2 El].
  apply pair_inj in El; [|apply (digits_lt (C k2)); intros; apply Hlow|apply (digits_lt (C k2)); intros; apply Hlow].
  destruct El as [El Etau]. unfold tau in Etau; apply sD_inj in Etau.
  pose proof (digits_inj _ _ _ _ (fun k _ => cD_lt _) (fun k _ => cD_lt _) E2) as E2'; cbv beta in E2'.
  pose proof (digits_inj _ _ _ _ (fun k _ => Hlow z2 k) (fun k _ => Hlow z2' k) El) as El'; cbv beta in El'.
  clear E2 El.
  destruct (HJ3 i Hi) as [Hi1 (w & v & Hw & Hv & Ei)].
  apply in_map_iff in Hv; destruct Hv as [[f b] [Ev Hp]].
  destruct (Hch w Hw) as (K1 & K2 & K3 & K4 & K5 & K6); fold (U w) in *; fold (sel w) in *.
  destruct (K4 _ Hp) as [Hfam Hb]; cbn [fst snd] in Hfam, Hb.
  unfold val in Ev; cbn [fst snd] in Ev.
  set (u := nth b (U w) 0) in *.
  assert (Hu : st <= u < N0) by (apply K2, nth_In; rewrite K1; exact Hb).
  assert (Hf0 : In (nth 0 (sel w) (id, 0)) (sel w)) by (apply nth_In; rewrite K3; exact HTh).
  assert (Hfb : forall i, i < N0 -> f i < N0) by (intros; apply (fam_bound N0 t q g HN0 Hg); auto).
  (* layer 1, given the accumulator over z_2 *)
  assert (Q : forall y, k2 <= y <= kw -> acc init upd (P z2 f u w) y k2 = acc init upd (P z2' f u w) y k2 ->
            L1 (P z2 f u w) y = L1 (P z2' f u w) y).
  { intros y Hy Ea.
    assert (Et : P z2 f u w y = P z2' f u w y) by (apply PL; exact Hy).
    assert (Eb : acc init upd (P z2 f u w) y (S y) = acc init upd (P z2' f u w) y (S y)).
    { apply (acc_from init upd _ _ y k2); [exact Et|exact Ea|lia|intros; apply PL; lia]. }
    unfold L1; cbn [apply]; rewrite Et, Eb, !(Hst2 z2 f u w), !(Hst2 z2' f u w) by (auto; lia); reflexivity. }
  (* the tokens between z_2 and z_0 *)
  assert (Q1 : forall y, k2 <= y < k1 -> L1 (P z2 f u w) y = L1 (P z2' f u w) y).
  { intros y Hy; apply Q; [lia|].
    assert (Rr : forall z c, P z f u w y = P z (fun _ => c) 0 0 y ->
         acc init upd (P z f u w) y k2 = acc init upd (P z (fun _ => c) 0 0) y k2).
    { intros z c Ec; apply acc_ext; [exact Ec|intros; apply P2; auto]. }
    destruct Hfam as [Hf1 Hf2].
    destruct (Nat.lt_ge_cases y (k2 + (M + st))) as [Ly|Ly].
    - assert (Ec : forall z, P z f u w y = P z (fun _ => 0) 0 0 y).
      { intros z; destruct (Nat.lt_ge_cases y (k2 + M)) as [L2'|L2']; [apply PM; lia|].
        replace y with (k2 + M + (y - (k2 + M))) by lia; rewrite !P1 by lia; rewrite Hf1; [reflexivity|fold st; lia]. }
      rewrite (Rr z2 0 (Ec z2)), (Rr z2' 0 (Ec z2')).
      assert (Hk : t * g + (y - k2) < L) by (unfold L; lia).
      specialize (El' (t * g + (y - k2)) Hk); unfold low in El'.
      rewrite not_ltb_l, sub_l in El'.
      unfold rho in El'; destruct (Nat.ltb_spec (y - k2) (M + st)); [|lia].
      replace (k2 + (y - k2)) with y in El' by lia.
      apply cA_inj in El'; exact El'.
    - assert (Hyk : exists k, y = k2 + (M + st) + k /\ k < t * g)
        by (exists (y - (k2 + (M + st))); clear - Ly Hy K12; lia).
      destruct Hyk as [k [Ey Hk]].
      specialize (Hf2 k Hk); fold st in Hf2.
      assert (Hyr : exists r, f (st + k) = k / g * q + r /\ r < q)
        by (exists (f (st + k) - k / g * q); clear - Hf2; lia).
      destruct Hyr as [r [Er Hr]].
      assert (Ec : forall z, P z f u w y = P z (fun _ => k / g * q + r) 0 0 y).
      { intros z; rewrite Ey; replace (k2 + (M + st) + k) with (k2 + M + (st + k)) by lia.
        rewrite !P1 by (clear - Hk Hst; lia); rewrite Er; reflexivity. }
      rewrite (Rr z2 _ (Ec z2)), (Rr z2' _ (Ec z2')).
      assert (Hk2 : k * q + r < t * g * q).
      { apply Nat.lt_le_trans with (S k * q); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
      assert (HkL : t * g + (M + st + (k * q + r)) < L) by (unfold L; lia).
      specialize (El' _ HkL); unfold low in El'.
      rewrite not_ltb_l, sub_l in El'.
      unfold rho in El'; rewrite not_ltb_l, sub_l in El'.
      rewrite Nat.div_add_l, (Nat.div_small r q), Nat.add_0_r in El' by lia.
      rewrite (Nat.add_comm (k * q) r), Nat.mod_add, Nat.mod_small in El' by lia.
      cbv zeta in El'; rewrite <- Ey in El'.
      apply cA_inj in El'; exact El'. }
  (* z_0 *)
  assert (Q0 : L1 (P z2 f u w) k1 = L1 (P z2' f u w) k1).
  { apply Q; [lia|].
    assert (Rr : forall z, acc init upd (P z f u w) k1 k2 = acc init upd (P z id u 0) k1 k2).
    { intros z; apply acc_ext; [rewrite !P0; reflexivity|intros; apply P2; auto]. }
    rewrite (Rr z2), (Rr z2').
    assert (Hk : u - st < L) by (unfold L; lia).
    specialize (El' (u - st) Hk); unfold low in El'.
    destruct (Nat.ltb_spec (u - st) (t * g)); [|lia].
    unfold nu0 in El'; replace (st + (u - st)) with u in El' by lia.
    apply cA_inj in El'; exact El'. }
  (* at w: the same for z2, z2' and for the representative of the class *)
  assert (Qw : forall z f', sigma z = sigma zs -> f' = f \/ f' = f0 w ->
            L1 (P z f' u w) kw = L1 (P zs (f0 w) u w) kw).
  { intros z f' Sz Hf'.
    assert (Kc : cls w f' = cls w (f0 w)).
    { destruct Hf' as [-> | ->]; [|reflexivity]. apply (K5 (f, b) (nth 0 (sel w) (id, 0))); auto. }
    apply pair_inj in Kc; [|apply cB_lt|apply cB_lt]; destruct Kc as [Ka Ks]; apply cB_inj in Ka; apply sB_inj in Ks.
    assert (Kb : forall f'', acc init upd (P zs f'' u w) kw k1 = acc init upd (P zs f'' 0 w) kw k1).
    { intros f''; apply acc_ext; [apply Pw|intros y Hy; apply Pp; exact Hy]. }
    assert (Ke : acc init upd (P z f' u w) kw k1 = acc init upd (P zs f' u w) kw k1).
    { apply (acc_from init upd _ _ kw k2); [apply Pw|apply Hsig; auto|lia|intros; apply PL; lia]. }
    assert (Kd : acc init upd (P z f' u w) kw (S kw) = acc init upd (P zs (f0 w) u w) kw (S kw)).
    { apply (acc_from init upd _ _ kw k1); [apply Pw| |lia|intros; apply Pq; lia].
      rewrite Ke, (Kb f'), (Kb (f0 w)); exact Ka. }
    assert (Kst : forall y, k1 <= y <= S kw -> state h0 G (P z f' u w) y = state h0 G (P zs (f0 w) u w) y).
    { intros y Hy; apply (state_from h0 G _ _ k1); [|lia|intros; apply Pq; lia].
      rewrite (Hst2 z f' u w k1 Sz) by lia.
      rewrite (state_ext h0 G (P zs f' u w) (P zs f' 0 0) k1), Ks; [apply state_ext|]; intros; apply Pp; assumption. }
    unfold L1; cbn [apply]; rewrite Kd, (Kst kw), (Kst (S kw)), (Pw z f' u w zs (f0 w) u) by lia; reflexivity. }
  (* layer 2 at w *)
  assert (Q2 : acc init' upd' (L1 (P z2 f u w)) kw k2 = acc init' upd' (L1 (P z2' f u w)) kw k2).
  { assert (Rr : forall z, sigma z = sigma zs ->
       acc init' upd' (L1 (P z f u w)) kw k2 = acc init' upd' (L1 (P z (f0 w) u w)) kw k2).
    { intros z Sz; apply acc_ext; [rewrite (Qw z f Sz), (Qw z (f0 w) Sz); auto|].
      intros y Hy; apply HcL; intros y' Hy'; apply P2; lia. }
    rewrite (Rr z2 Sg1), (Rr z2' Sg2).
    assert (Hk : w * t + b < n1 * t).
    { apply Nat.lt_le_trans with (S w * t); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
    specialize (E2' (w * t + b) Hk); unfold nu2 in E2'; cbv zeta in E2'.
    rewrite Nat.div_add_l, (Nat.div_small b t), Nat.add_0_r in E2' by lia.
    rewrite (Nat.add_comm (w * t) b), Nat.mod_add, Nat.mod_small in E2' by lia.
    fold u in E2'; apply cD_inj in E2'; exact E2'. }
  assert (Et : L1 (P z2 f u w) kw = L1 (P z2' f u w) kw) by (rewrite (Qw z2 f Sg1), (Qw z2' f Sg2); auto).
  assert (QA : forall y, k2 <= y <= kw -> L1 (P z2 f u w) y = L1 (P z2' f u w) y).
  { intros y Hy; destruct (Nat.lt_ge_cases y k1) as [Ly|Ly]; [apply Q1; lia|].
    assert (Hy' : y = k1 \/ y = kw) by lia; destruct Hy' as [-> | ->]; auto. }
  assert (Q3 : acc init' upd' (L1 (P z2 f u w)) kw (S kw) = acc init' upd' (L1 (P z2' f u w)) kw (S kw)).
  { apply (acc_from init' upd' _ _ kw k2); [exact Et|exact Q2|lia|intros; apply QA; lia]. }
  assert (Q4 : forall y, k2 <= y <= S kw -> state h0' G' (L1 (P z2 f u w)) y = state h0' G' (L1 (P z2' f u w)) y).
  { intros y Hy; apply (state_from h0' G' _ _ k2); [|lia|intros; apply QA; lia].
    assert (Dd : forall z, state h0' G' (L1 (P z f u w)) k2 = state h0' G' (L1 (P z id 0 0)) k2)
      by (intros z; apply state_ext; intros y' Hy'; apply HcL; intros y'' Hy''; apply P2; lia).
    rewrite (Dd z2), (Dd z2'); exact Etau. }
  rewrite Ei, <- Ev.
  rewrite <- (Hs z2 f u w), <- (Hs z2' f u w); auto; try lia.
  unfold L2; cbn [apply]; rewrite Q3, Et, (Q4 kw), (Q4 (S kw)) by lia; reflexivity.
Qed.
End Two_layers.

(** A layer with full heads, and perhaps recurrent ones, as [Both]. *)
Lemma both_of {X Y} (l : layer X Y) (s c : N) : layer_fits l (spec_of (F c)) /\ s = 0%N \/ layer_fits l (spec_of (RF s c)) ->
  exists St h0 G A init upd out, (forall t, card_le (St t) (2 ^ s)) /\ (forall t, card_le (A t) (2 ^ c)) /\
  forall x t, apply l x t = apply (@Both X Y St h0 G A init upd out) x t.
Proof.
  intros [[H ->]|H]; destruct l; simpl in H; try contradiction.
  - exists (fun _ => unit), tt, (fun _ _ _ => tt), A, init, upd, (fun t _ _ a x => out t a x).
    split; [intros; apply card_unit|]. split; [exact H|reflexivity].
  - exists St, h0, G, A, init, upd, out. split; [apply H|]. split; [apply H|reflexivity].
Qed.

(** F c, or full and recurrent heads side by side. *)
Definition heads (s c : N) (b : bits) : Prop := b = F c /\ s = 0%N \/ b = RF s c.

(** n_1 ceil(t q 2^(-c/(g t))) log2 V > c (n_1 (1 + t) + N_0 + g t q + middle); with recurrent heads of s1 and s2 bits c + s1 in the place
    of the first c, and s1 + s2 more on the right. *)
Definition C0_check (flat : bool) (N0 : N) (ns : list N) (V s1 c1 s2 c2 t q g Theta : N) : bool :=
  let n1 := last_n ns in
  positive N0 ns && (0 <? N.of_nat (length ns))%N && (t * q <=? N0)%N && (0 <? g)%N && (g <=? q)%N && (0 <? t)%N &&
  kept (c1 + s1) (t * g) Theta (t * q) &&
  exceeds V (n1 * Theta)
    (c1 * n1 + s1 + (c2 * (n1 * t) + (c1 * (t * g + (between flat N0 ns + (N0 - t * g) + t * g * q)) + s2))).

Theorem headwise_two : forall flat N0 ns V s1 c1 s2 c2 t q g Theta b1 b2,
  heads s1 c1 b1 -> heads s2 c2 b2 ->
  C0_check flat N0 ns V s1 c1 s2 c2 t q g Theta = true ->
  Impossible [b1; b2] (seqcomp flat N0 ns V).
Proof.
  unfold C0_check; intros flat N0 ns V s1 c1 s2 c2 t q g Theta b1 b2 B1 B2 H m Hm Hs.
  apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7]; apply andb_prop in H; destruct H as [H H6];
    apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply N.leb_le in H3, H5; apply N.ltb_lt in H4, H6.
  apply kept_spec in H7; destruct H7 as (_ & _ & HT & H7); apply exceeds_spec in H8; destruct H8 as [HV H8].
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [Hl Hm].
  destruct rest as [|Y l' rest]; [contradiction|]; destruct Hm as [Hl' Hm].
  destruct rest as [out|]; [|contradiction].
  destruct (both_of l s1 c1) as (St & h0 & G & A & init & upd & o & HS & HA & E).
  { destruct B1 as [[-> ->]| ->]; auto. }
  destruct (both_of l' s2 c2) as (St' & h0' & G' & A' & init' & upd' & o' & HS' & HA' & E').
  { destruct B2 as [[-> ->]| ->]; auto. }
  destruct (seqcomp_two flat N0 ns V H1 (nonempty _ H2)) as (P & HP & Htask).
  set (k2 := N.to_nat (first_table flat N0 ns)) in *; set (M := N.to_nat (between flat N0 ns)) in *.
  set (n0 := N.to_nat N0) in *; set (n1 := N.to_nat (last_n ns)) in *.
  assert (Htg : (t * g <= N0)%N) by (apply N.le_trans with (t * q)%N; [apply N.mul_le_mono_l; exact H5|exact H3]).
  assert (L1 : N.to_nat t * N.to_nat q <= n0) by (clear - H3; unfold n0; lia).
  assert (L2 : 0 < N.to_nat g <= N.to_nat q) by (clear - H4 H5; lia).
  assert (L3 : 0 < N.to_nat t) by (clear - H6; lia).
  assert (L4 : 0 < N.to_nat Theta) by (clear - HT; lia).
  apply (two_layers n0 n1 k2 M (N.to_nat t) (N.to_nat q) (N.to_nat g) (N.to_nat Theta) V
           (fun _ => 2 ^ c1)%N (fun _ => 2 ^ c2)%N (fun _ => 2 ^ s1)%N (fun _ => 2 ^ s2)%N P HP Z Y St h0 G A init upd o
           St' h0' G' A' init' upd' o' (out (k2 + M + n0 + 1))); auto.
  - replace (nN (N.to_nat t * N.to_nat g)) with (t * g)%N by (clear; lia).
    replace (nN (N.to_nat t * N.to_nat q)) with (t * q)%N by (clear; lia).
    replace (nN (N.to_nat Theta - 1)) with (Theta - 1)%N by (clear; lia).
    rewrite <- N.pow_add_r; exact H7.
  - replace (nN (n1 * N.to_nat t)) with (last_n ns * t)%N by (unfold n1; clear; lia).
    replace (nN (n1 * N.to_nat Theta)) with (last_n ns * Theta)%N by (unfold n1; clear; lia).
    replace (nN (N.to_nat t * N.to_nat g + (M + (n0 - N.to_nat t * N.to_nat g) + N.to_nat t * N.to_nat g * N.to_nat q)))
      with (t * g + (between flat N0 ns + (N0 - t * g) + t * g * q))%N
      by (unfold M, n0; rewrite !Nat2N.inj_add, !Nat2N.inj_mul, Nat2N.inj_sub, !Nat2N.inj_mul, !N2Nat.id; reflexivity).
    unfold n1; rewrite !N2Nat.id, <- !N.pow_mul_r, <- !N.pow_add_r; exact H8.
  - intros z f u w Hz Hf Hu Hw.
    rewrite <- (Hs _ _ _ (Htask z f u w Hz Hf Hu Hw)); cbn [run]; f_equal.
    rewrite E'; apply apply_causal; intros y _; symmetry; apply E.
Qed.

Theorem C0 : forall flat N0 ns V c c' t q g Theta, C0_check flat N0 ns V 0 c 0 c' t q g Theta = true ->
  Impossible [F c; F c'] (seqcomp flat N0 ns V).
Proof. intros; eapply headwise_two; [left; split; reflexivity|left; split; reflexivity|eassumption]. Qed.
