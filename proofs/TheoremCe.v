(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem Ce: two functions, two full layers and then recurrent ones, w last

    The layers may have recurrent heads beside the full ones (H2 with layers after both).  Those of the second count as a layer after it.
    The values of w come in G batches of beta; each batch has one class of functions z_1.  The first layer's accumulators of the tokens of
    z_1 are listed for each index and value. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT LemmaS TheoremB TheoremC0.
Import ListNotations.
Local Notation nN := N.of_nat.

Definition Ce_rest (once : bool) (Gx M N0 tg : nat) (C2 S2 S1 : N) : N :=
  (if once then S2 * C2 ^ nN (M + (N0 - tg) + Gx * tg) else S1 ^ nN Gx)%N.

(** Tokens of z_1 with what they may show: each index with each of its values, or with its value under each function. *)
Definition Ce_cells (few : bool) (Gb x t g q : nat) : nat := if few then Gb * x * (t * g) else t * g * q.

Theorem Ce_states : forall (N0 Gb beta k2 M t q g x Theta : nat) (V : N) (C C' S1 : nat -> N) (b : list spec) k (m : net token nat)
    (once few : bool),
  two_functions N0 (Gb * beta) (N.to_nat V) k2 M k ->
  recurrent b -> fits m (SB S1 C :: SF C' :: b) -> (0 < V)%N ->
  0 < t -> 0 < g <= q -> t * q <= N0 -> 0 < x -> 0 < beta ->
  spreads N0 t q g (C (k2 + M + N0)%nat ^ nN beta * S1 (k2 + M + N0)%nat) x Theta ->
  let n1 := Gb * beta in
  (C k2 ^ nN n1 * S1 k2 * (C' k2 ^ nN (n1 * t) * (C k2 ^ nN (t * g + (M + (N0 - t * g) + Ce_cells few Gb x t g q)) *
     (C' k2 ^ nN (Gb * x * t) * Ce_rest once (Gb * x) M N0 (t * g) (C' k2) (states_at k2 b) (states_at (k2 + M + N0) b))))
   < V ^ nN (n1 * Theta))%N ->
  ~ solves k m.
Proof.
  intros N0 Gb beta k2 M t q g x Theta V C C' S1 bs k m once few (P & HP & Htask) Hb Hm HV Ht Hg HN0 Hx Hbeta Hsp n1 Hlt Hs.
  fold n1 in Htask.
  apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [Hl Hm]; destruct l as [| |Sb g0 Gb1 A init upd fin]; simpl in Hl; try contradiction.
  assert (HB : forall j, card_le (Sb j) (S1 j)) by (intros; apply Hl); assert (HA : forall j, card_le (A j) (C j)) by (intros; apply Hl); clear Hl.
  destruct rest as [|Z' l rest]; [contradiction|]; destruct Hm as [HA' Hm]; destruct l as [|A' init' upd' fin'|]; simpl in HA'; try contradiction.
  destruct (all_rec rest bs Hb Hm) as (St & h0 & G & Fo & HS & Hrun).
  set (L1 := apply (Both Sb g0 Gb1 A init upd fin)) in *; set (L2 := apply (Full A' init' upd' fin')) in *; set (R3 := Rec St h0 G Fo) in *.
  set (k1 := k2 + M + N0) in *; set (kw := k1 + 1) in *.
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
  destruct (HB k2) as (b2 & b2_inj & b2_lt).
  destruct (HB k1) as (b1 & b1_inj & b1_lt).
  destruct (HS k1) as (s1 & s1_inj & s1_lt).
  destruct (HS k2) as (s2 & s2_inj & s2_lt).
  set (id := fun i : nat => i); set (zf := fun _ : nat => 0).
  assert (HcL : causal L1) by (unfold L1; apply apply_causal).
  assert (HcL2 : causal L2) by (unfold L2; apply apply_causal).
  (* layer-1 accumulators of w over z_2 for all w, and the layer-1 state after z_2 *)
  set (sigma := fun z => pair_code (C k2 ^ nN n1) (digits (C k2) (fun w => cA (acc init upd (P z id 0 w) kw k2)) n1)
                           (b2 (state g0 Gb1 (P z id 0 0) k2))).
  apply (class_tables V (n1 * N0) (n1 * Theta) _ _ sigma); [| |exact HV].
  { intros z; apply pair_lt; [apply digits_lt; intros; apply cA_lt|apply b2_lt]. }
  intros zs _.
  assert (Hsig : forall z f u w, sigma z = sigma zs -> w < n1 ->
            acc init upd (P z f u w) kw k2 = acc init upd (P zs f u w) kw k2).
  { intros z f u w E Hw.
    apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]; destruct E as [E _].
    pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) E w Hw) as E'.
    cbv beta in E'; apply cA_inj in E'.
    transitivity (acc init upd (P z id 0 w) kw k2); [|rewrite E'];
      (apply acc_ext; [apply Pw|intros; apply P2; auto]). }
  (* so all layer-1 states after z_2 are those of zs *)
  assert (Hst2 : forall z f u w y, sigma z = sigma zs -> k2 <= y <= kw + 1 ->
            state g0 Gb1 (P z f u w) y = state g0 Gb1 (P zs f u w) y).
  { intros z f u w y E Hy; apply (state_from g0 Gb1 _ _ k2); [|lia|intros; apply PL; lia].
    apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]; destruct E as [_ E].
    apply b2_inj in E.
    transitivity (state g0 Gb1 (P z id 0 0) k2); [apply state_ext; intros; apply P2; auto|].
    rewrite E; apply state_ext; intros; apply P2; auto. }
  (* a class of functions for each batch *)
  set (cls := fun bt f => pair_code (C k1 ^ nN beta) (digits (C k1) (fun r => cB (acc init upd (P zs f 0 (bt * beta + r)) kw k1)) beta)
                            (b1 (state g0 Gb1 (P zs f 0 0) k1))).
  destruct (finite_choice (fun bt (y : list nat * (list (nat -> nat) * list (nat * nat))) =>
     let U := fst y in let fs := fst (snd y) in let I := snd (snd y) in
     length U = t /\ (forall u, In u U -> st <= u < N0) /\ length fs = x /\ (forall f, In f fs -> in_fam N0 t q g f) /\
     (forall f f', In f fs -> In f' fs -> cls bt f = cls bt f') /\ length I = Theta /\ (forall p, In p I -> fst p < x /\ snd p < t) /\
     NoDup (map (fun p => nth (fst p) fs id (nth (snd p) U 0)) I)) ([], ([], [])) Gb) as [ch Hch].
  { intros bt _. destruct (Hsp (cls bt)) as (U & fs & I & K).
    - intros f; apply pair_lt; [apply digits_lt; intros; apply cB_lt|apply b1_lt].
    - exists (U, (fs, I)); exact K. }
  clear Hsp.
  set (U := fun bt => fst (ch bt)); set (fs := fun bt => fst (snd (ch bt))); set (I := fun bt => snd (snd (ch bt))).
  set (f0 := fun bt => nth 0 (fs bt) id).
  set (val := fun bt (p : nat * nat) => nth (fst p) (fs bt) id (nth (snd p) (U bt) 0)).
  assert (Hbatch : forall w, w < n1 -> w / beta < Gb) by (intros w Hw; apply Nat.div_lt_upper_bound; unfold n1 in Hw; lia).
  destruct (rows_index N0 n1 Theta (fun w => map (val (w / beta)) (I (w / beta)))) as (J & HJ1 & HJ2 & HJ3).
  { intros w Hw; destruct (Hch (w / beta) (Hbatch w Hw)) as (K1 & K2 & K3 & K4 & K5 & K6 & K7 & K8).
    split; [exact K8|]. split; [rewrite map_length; exact K6|].
    intros v Hv; apply in_map_iff in Hv; destruct Hv as [p [<- Hp]]; destruct (K7 p Hp) as [Ka Kb].
    apply (fam_bound N0 t q g HN0 Hg); auto; [apply K4, nth_In; rewrite K3; exact Ka|]. apply K2, nth_In; rewrite K1; exact Kb. }
  (* the other messages *)
  set (nu2 := fun z i => let w := i / t in
     cD (acc init' upd' (L1 (P z (f0 (w / beta)) (nth (i mod t) (U (w / beta)) 0) w)) kw k2)).
  set (nu0 := fun z i => cA (acc init upd (P z id (st + i) 0) k1 k2)).
  (* function e of all: batch e / x, function e mod x *)
  set (fn := fun e => nth (e mod x) (fs (e / x)) id).
  set (rho := fun z i =>
     if i <? M + st then cA (acc init upd (P z zf 0 0) (k2 + i) k2)
     else if few then let i' := i - (M + st) in
          cA (acc init upd (P z (fn (i' / (t * g))) 0 0) (k2 + (M + st) + i' mod (t * g)) k2)
     else let e := (i - (M + st)) / q in
          cA (acc init upd (P z (fun _ => e / g * q + (i - (M + st)) mod q) 0 0) (k2 + (M + st) + e) k2)).
  set (low := fun z i => if i <? t * g then nu0 z i else rho z (i - t * g)).
  assert (Hlow : forall z i, N.lt (low z i) (C k2)).
  { intros z i; unfold low, nu0, rho; destruct (i <? t * g); [apply cA_lt|].
    destruct (i - t * g <? M + st); [apply cA_lt|]. destruct few; apply cA_lt. }
  replace (N0 - t * g) with st by (clear - Hst; lia).
  set (Lo := t * g + (M + st + Ce_cells few Gb x t g q)).
  set (mu0 := fun z i => cD (acc init' upd' (L1 (P z (fn (i / t)) (nth (i mod t) (U (i / t / x)) 0) 0)) k1 k2)).
  set (tau := fun z e => s1 (state h0 G (L2 (L1 (P z (fn e) 0 0))) k1)).
  set (rho2 := fun z i =>
     if i <? M + st then cD (acc init' upd' (L1 (P z zf 0 0)) (k2 + i) k2)
     else let i' := i - (M + st) in
          cD (acc init' upd' (L1 (P z (fn (i' / (t * g))) 0 0)) (k2 + (M + st) + i' mod (t * g)) k2)).
  assert (Hrho2 : forall z i, N.lt (rho2 z i) (C' k2)) by (intros z i; unfold rho2; destruct (i <? M + st); apply cD_lt).
  set (K3 := M + st + Gb * x * (t * g)).
  set (more := fun z => if once then pair_code (states_at k2 bs) (s2 (state h0 G (L2 (L1 (P z id 0 0))) k2)) (digits (C' k2) (rho2 z) K3)
                        else digits (states_at k1 bs) (tau z) (Gb * x)).
  exists J, (fun z => pair_code (C' k2 ^ nN (n1 * t)) (digits (C' k2) (nu2 z) (n1 * t))
                       (pair_code (C k2 ^ nN Lo) (digits (C k2) (low z) Lo)
                         (pair_code (C' k2 ^ nN (Gb * x * t)) (digits (C' k2) (mu0 z) (Gb * x * t)) (more z)))).
  split; [exact HJ1|]. split; [intros i Hi; apply HJ3; auto|]. split; [exact HJ2|].
  split.
  { intros z _; apply pair_lt; [apply digits_lt; intros; apply cD_lt|].
    apply pair_lt; [apply (digits_lt (C k2) (low z) Lo); intros; apply Hlow|].
    apply pair_lt; [apply digits_lt; intros; apply cD_lt|].
    unfold more, Ce_rest; replace (N0 - t * g) with st by (clear - Hst; lia); destruct once.
    - apply pair_lt; [apply s2_lt|]. apply (digits_lt (C' k2) (rho2 z) K3); intros; apply Hrho2.
    - apply digits_lt; intros; apply s1_lt. }
  intros z2 z2' Hz Hz' Sg1 Sg2 E i Hi.
  apply pair_inj in E; [|apply digits_lt; intros; apply cD_lt|apply digits_lt; intros; apply cD_lt]; destruct E as [E2 E].
  apply pair_inj in E; [|apply (digits_lt (C k2)); intros; apply Hlow|apply (digits_lt (C k2)); intros; apply Hlow]; destruct E as [El E].
  apply pair_inj in E; [|apply digits_lt; intros; apply cD_lt|apply digits_lt; intros; apply cD_lt]; destruct E as [Emu Emore].
  pose proof (digits_inj _ _ _ _ (fun k _ => cD_lt _) (fun k _ => cD_lt _) E2) as E2'; cbv beta in E2'.
  pose proof (digits_inj _ _ _ _ (fun k _ => Hlow z2 k) (fun k _ => Hlow z2' k) El) as El'; cbv beta in El'.
  pose proof (digits_inj _ _ _ _ (fun k _ => cD_lt _) (fun k _ => cD_lt _) Emu) as Emu'; cbv beta in Emu'.
  clear E2 El Emu.
  destruct (HJ3 i Hi) as [Hi1 (w & v & Hw & Hv & Ei)].
  set (bt := w / beta) in *; pose proof (Hbatch w Hw) as Hbt; fold bt in Hbt.
  apply in_map_iff in Hv; destruct Hv as [[j iu] [Ev Hp]].
  destruct (Hch bt Hbt) as (Q1' & Q2' & Q3' & Q4' & Q5' & Q6' & Q7' & Q8'); fold (U bt) in *; fold (fs bt) in *; fold (I bt) in *.
  destruct (Q7' _ Hp) as [Lj Lu]; cbn [fst snd] in Lj, Lu.
  unfold val in Ev; cbn [fst snd] in Ev.
  set (f := nth j (fs bt) id) in *; set (u := nth iu (U bt) 0) in *.
  assert (Hf : In f (fs bt)) by (apply nth_In; rewrite Q3'; exact Lj).
  assert (Hf0 : In (f0 bt) (fs bt)) by (apply nth_In; rewrite Q3'; exact Hx).
  assert (Hu : st <= u < N0) by (apply Q2', nth_In; rewrite Q1'; exact Lu).
  pose proof (Q4' f Hf) as Hfam.
  assert (Hfb : forall i, i < N0 -> f i < N0) by (intros; apply (fam_bound N0 t q g HN0 Hg); auto).
  assert (He : bt * x + j < Gb * x) by (apply Nat.lt_le_trans with (S bt * x); [simpl; lia|apply Nat.mul_le_mono_r; lia]).
  assert (Hfn : fn (bt * x + j) = f).
  { unfold fn; rewrite Nat.div_add_l, (Nat.div_small j x), Nat.add_0_r by lia.
    rewrite (Nat.add_comm (bt * x)), Nat.mod_add, Nat.mod_small by lia; reflexivity. }
  (* layer 1, given the accumulator over z_2 *)
  assert (Q : forall u w y, k2 <= y <= kw -> acc init upd (P z2 f u w) y k2 = acc init upd (P z2' f u w) y k2 ->
            L1 (P z2 f u w) y = L1 (P z2' f u w) y).
  { intros u' w' y Hy Ea.
    assert (Et : P z2 f u' w' y = P z2' f u' w' y) by (apply PL; exact Hy).
    assert (Eb : acc init upd (P z2 f u' w') y (S y) = acc init upd (P z2' f u' w') y (S y)).
    { apply (acc_from init upd _ _ y k2); [exact Et|exact Ea|lia|intros; apply PL; lia]. }
    unfold L1; cbn [apply]; rewrite Et, Eb, !(Hst2 z2 f u' w'), !(Hst2 z2' f u' w') by (auto; lia); reflexivity. }
  (* the tokens between z_2 and z_0 *)
  assert (Q1 : forall u w y, k2 <= y < k1 -> L1 (P z2 f u w) y = L1 (P z2' f u w) y).
  { intros u' w' y Hy; apply Q; [lia|].
    assert (Rr : forall z c, P z f u' w' y = P z (fun _ => c) 0 0 y ->
         acc init upd (P z f u' w') y k2 = acc init upd (P z (fun _ => c) 0 0) y k2).
    { intros z c Ec; apply acc_ext; [exact Ec|intros; apply P2; auto]. }
    destruct Hfam as [Hf1 Hf2].
    destruct (Nat.lt_ge_cases y (k2 + (M + st))) as [Ly|Ly].
    - assert (Ec : forall z, P z f u' w' y = P z (fun _ => 0) 0 0 y).
      { intros z; destruct (Nat.lt_ge_cases y (k2 + M)) as [L2'|L2']; [apply PM; lia|].
        replace y with (k2 + M + (y - (k2 + M))) by lia; rewrite !P1 by lia; rewrite Hf1; [reflexivity|fold st; lia]. }
      rewrite (Rr z2 0 (Ec z2)), (Rr z2' 0 (Ec z2')).
      assert (Hk : t * g + (y - k2) < Lo) by (unfold Lo; lia).
      specialize (El' (t * g + (y - k2)) Hk); unfold low in El'.
      rewrite not_ltb_l, sub_l in El'.
      unfold rho in El'; destruct (Nat.ltb_spec (y - k2) (M + st)); [|lia].
      replace (k2 + (y - k2)) with y in El' by lia.
      apply cA_inj in El'; exact El'.
    - assert (Hyk : exists e, y = k2 + (M + st) + e /\ e < t * g)
        by (exists (y - (k2 + (M + st))); clear - Ly Hy K12; lia).
      destruct Hyk as [e [Ey Hk]]; destruct few eqn:Few.
      { assert (Es : forall z, acc init upd (P z f u' w') y k2 = acc init upd (P z f 0 0) y k2).
        { intros z; apply acc_ext; [|intros; apply P2; auto]. rewrite Ey; replace (k2 + (M + st) + e) with (k2 + M + (st + e)) by lia.
          rewrite !P1 by (clear - Hk Hst; lia); reflexivity. }
        rewrite (Es z2), (Es z2').
        assert (HkL : t * g + (M + st + ((bt * x + j) * (t * g) + e)) < Lo).
        { unfold Lo, Ce_cells; assert (S (bt * x + j) * (t * g) <= Gb * x * (t * g)) as Hm' by (apply Nat.mul_le_mono_r; lia).
          cbn [Nat.mul] in Hm'; lia. }
        specialize (El' _ HkL); unfold low in El'; rewrite not_ltb_l, sub_l in El'.
        unfold rho in El'; rewrite not_ltb_l in El'; cbv zeta in El'; rewrite sub_l in El'.
        rewrite Nat.div_add_l, (Nat.div_small e), Nat.add_0_r in El' by lia.
        rewrite (Nat.add_comm ((bt * x + j) * (t * g))), Nat.mod_add, Nat.mod_small in El' by lia.
        rewrite Hfn, <- Ey in El'; apply cA_inj in El'; exact El'. }
      specialize (Hf2 e Hk); fold st in Hf2.
      assert (Hyr : exists r, f (st + e) = e / g * q + r /\ r < q)
        by (exists (f (st + e) - e / g * q); clear - Hf2; lia).
      destruct Hyr as [r [Er Hr]].
      assert (Ec : forall z, P z f u' w' y = P z (fun _ => e / g * q + r) 0 0 y).
      { intros z; rewrite Ey; replace (k2 + (M + st) + e) with (k2 + M + (st + e)) by lia.
        rewrite !P1 by (clear - Hk Hst; lia); rewrite Er; reflexivity. }
      rewrite (Rr z2 _ (Ec z2)), (Rr z2' _ (Ec z2')).
      assert (Hk2 : e * q + r < t * g * q).
      { apply Nat.lt_le_trans with (S e * q); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
      assert (HkL : t * g + (M + st + (e * q + r)) < Lo) by (unfold Lo, Ce_cells; lia).
      specialize (El' _ HkL); unfold low in El'.
      rewrite not_ltb_l, sub_l in El'.
      unfold rho in El'; rewrite not_ltb_l, sub_l in El'.
      rewrite Nat.div_add_l, (Nat.div_small r q), Nat.add_0_r in El' by lia.
      rewrite (Nat.add_comm (e * q) r), Nat.mod_add, Nat.mod_small in El' by lia.
      cbv zeta in El'; rewrite <- Ey in El'.
      apply cA_inj in El'; exact El'. }
  (* z_0 *)
  assert (Q0 : forall w, L1 (P z2 f u w) k1 = L1 (P z2' f u w) k1).
  { intros w'; apply Q; [lia|].
    assert (Rr : forall z, acc init upd (P z f u w') k1 k2 = acc init upd (P z id u 0) k1 k2).
    { intros z; apply acc_ext; [rewrite !P0; reflexivity|intros; apply P2; auto]. }
    rewrite (Rr z2), (Rr z2').
    assert (Hk : u - st < Lo) by (unfold Lo; lia).
    specialize (El' (u - st) Hk); unfold low in El'.
    destruct (Nat.ltb_spec (u - st) (t * g)); [|lia].
    unfold nu0 in El'; replace (st + (u - st)) with u in El' by lia.
    apply cA_inj in El'; exact El'. }
  (* at w: the same for z2, z2' and for the representative of the class *)
  assert (Qw : forall z f', sigma z = sigma zs -> f' = f \/ f' = f0 bt -> L1 (P z f' u w) kw = L1 (P zs (f0 bt) u w) kw).
  { intros z f' Sz Hf'.
    assert (Kc : cls bt f' = cls bt (f0 bt)) by (destruct Hf' as [-> | ->]; auto).
    apply pair_inj in Kc; [|apply digits_lt; intros; apply cB_lt|apply digits_lt; intros; apply cB_lt]; destruct Kc as [Kc Ks]; apply b1_inj in Ks.
    assert (Ka : acc init upd (P zs f' 0 w) kw k1 = acc init upd (P zs (f0 bt) 0 w) kw k1).
    { pose proof (digits_inj _ _ _ _ (fun k _ => cB_lt _) (fun k _ => cB_lt _) Kc (w mod beta)
                    (Nat.mod_upper_bound w beta ltac:(lia))) as Kd; cbv beta in Kd.
      replace (bt * beta + w mod beta) with w in Kd by (unfold bt; rewrite (Nat.div_mod w beta) at 1 by lia; lia).
      apply cB_inj in Kd; exact Kd. }
    assert (Kb : forall f'', acc init upd (P zs f'' u w) kw k1 = acc init upd (P zs f'' 0 w) kw k1).
    { intros f''; apply acc_ext; [apply Pw|intros y Hy; apply Pp; exact Hy]. }
    assert (Ke : acc init upd (P z f' u w) kw k1 = acc init upd (P zs f' u w) kw k1).
    { apply (acc_from init upd _ _ kw k2); [apply Pw|apply Hsig; auto|lia|intros; apply PL; lia]. }
    assert (Kd : acc init upd (P z f' u w) kw (S kw) = acc init upd (P zs (f0 bt) u w) kw (S kw)).
    { apply (acc_from init upd _ _ kw k1); [apply Pw| |lia|intros; apply Pq; lia].
      rewrite Ke, (Kb f'), (Kb (f0 bt)); exact Ka. }
    assert (Kst : forall y, k1 <= y <= S kw -> state g0 Gb1 (P z f' u w) y = state g0 Gb1 (P zs (f0 bt) u w) y).
    { intros y Hy; apply (state_from g0 Gb1 _ _ k1); [|lia|intros; apply Pq; lia].
      rewrite (Hst2 z f' u w k1 Sz) by lia.
      rewrite (state_ext g0 Gb1 (P zs f' u w) (P zs f' 0 0) k1), Ks; [apply state_ext|]; intros; apply Pp; assumption. }
    unfold L1; cbn [apply]; rewrite Kd, (Kst kw), (Kst (S kw)), (Pw z f' u w zs (f0 bt) u) by lia; reflexivity. }
  assert (Et : L1 (P z2 f u w) kw = L1 (P z2' f u w) kw) by (rewrite (Qw z2 f Sg1), (Qw z2' f Sg2); auto).
  assert (QA : forall y, k2 <= y <= kw -> L1 (P z2 f u w) y = L1 (P z2' f u w) y).
  { intros y Hy; destruct (Nat.lt_ge_cases y k1) as [Ly|Ly]; [apply Q1; lia|].
    assert (Hy' : y = k1 \/ y = kw) by lia; destruct Hy' as [-> | ->]; auto. }
  (* layer 2, given the accumulator over z_2 *)
  assert (QB : forall y, k2 <= y <= kw -> acc init' upd' (L1 (P z2 f u w)) y k2 = acc init' upd' (L1 (P z2' f u w)) y k2 ->
            L2 (L1 (P z2 f u w)) y = L2 (L1 (P z2' f u w)) y).
  { intros y Hy Ea.
    assert (Eb : acc init' upd' (L1 (P z2 f u w)) y (S y) = acc init' upd' (L1 (P z2' f u w)) y (S y)).
    { apply (acc_from init' upd' _ _ y k2); [apply QA; exact Hy|exact Ea|lia|intros; apply QA; lia]. }
    unfold L2; cbn [apply]; rewrite (QA y Hy), Eb; reflexivity. }
  assert (Low : forall z f' u' w' f'' u'' w'' y, y < k2 -> L1 (P z f' u' w') y = L1 (P z f'' u'' w'') y)
    by (intros; apply HcL; intros y' Hy'; apply P2; lia).
  assert (B1 : L2 (L1 (P z2 f u w)) kw = L2 (L1 (P z2' f u w)) kw).
  { apply QB; [lia|].
    assert (Rr : forall z, sigma z = sigma zs ->
       acc init' upd' (L1 (P z f u w)) kw k2 = acc init' upd' (L1 (P z (f0 bt) u w)) kw k2).
    { intros z Sz; apply acc_ext; [rewrite (Qw z f Sz), (Qw z (f0 bt) Sz); auto|intros; apply Low; assumption]. }
    rewrite (Rr z2 Sg1), (Rr z2' Sg2).
    assert (Hk : w * t + iu < n1 * t).
    { apply Nat.lt_le_trans with (S w * t); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
    specialize (E2' (w * t + iu) Hk); unfold nu2 in E2'; cbv zeta in E2'.
    rewrite Nat.div_add_l, (Nat.div_small iu t), Nat.add_0_r in E2' by lia.
    rewrite (Nat.add_comm (w * t) iu), Nat.mod_add, Nat.mod_small in E2' by lia.
    fold bt in E2'; fold u in E2'; apply cD_inj in E2'; exact E2'. }
  assert (B0 : L2 (L1 (P z2 f u w)) k1 = L2 (L1 (P z2' f u w)) k1).
  { apply QB; [lia|].
    assert (Rr : forall z, acc init' upd' (L1 (P z f u w)) k1 k2 = acc init' upd' (L1 (P z f u 0)) k1 k2).
    { intros z; apply acc_ext; [|intros; apply Low; assumption].
      apply HcL; intros y Hy; destruct (Nat.eq_dec y k1) as [->|]; [rewrite !P0; reflexivity|apply Pp; lia]. }
    rewrite (Rr z2), (Rr z2').
    assert (Hk : (bt * x + j) * t + iu < Gb * x * t).
    { apply Nat.lt_le_trans with (S (bt * x + j) * t); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
    specialize (Emu' _ Hk); unfold mu0 in Emu'.
    rewrite Nat.div_add_l, (Nat.div_small iu t), Nat.add_0_r in Emu' by lia.
    rewrite (Nat.add_comm ((bt * x + j) * t) iu), Nat.mod_add, Nat.mod_small in Emu' by lia.
    rewrite Hfn in Emu'; rewrite Nat.div_add_l, (Nat.div_small j x), Nat.add_0_r in Emu' by lia.
    fold u in Emu'; apply cD_inj in Emu'; exact Emu'. }
  (* the states of the recurrent layers after z_1 *)
  assert (B2 : state h0 G (L2 (L1 (P z2 f u w))) k1 = state h0 G (L2 (L1 (P z2' f u w))) k1).
  { unfold more in Emore; destruct once.
    - apply pair_inj in Emore; [|apply s2_lt|apply s2_lt]; destruct Emore as [Es2 Erho]; apply s2_inj in Es2.
      pose proof (digits_inj _ _ _ _ (fun k _ => Hrho2 z2 k) (fun k _ => Hrho2 z2' k) Erho) as Er; cbv beta in Er.
      apply (state_from h0 G _ _ k2); [|lia|].
      + assert (D : forall z, state h0 G (L2 (L1 (P z f u w))) k2 = state h0 G (L2 (L1 (P z id 0 0))) k2).
        { intros z; apply state_ext; intros y Hy; apply HcL2; intros y' Hy'; apply Low; lia. }
        rewrite (D z2), (D z2'); exact Es2.
      + intros y Hy; apply QB; [lia|].
        assert (D0 : forall z, acc init' upd' (L1 (P z f u w)) y k2 = acc init' upd' (L1 (P z f 0 0)) y k2).
        { intros z; apply acc_ext; [apply HcL; intros y' Hy'; apply Pp; lia|intros; apply Low; assumption]. }
        rewrite (D0 z2), (D0 z2').
        destruct (Nat.lt_ge_cases y (k2 + (M + st))) as [Ly|Ly].
        * assert (D1 : forall z, acc init' upd' (L1 (P z f 0 0)) y k2 = acc init' upd' (L1 (P z zf 0 0)) y k2).
          { intros z; apply acc_ext; [|intros; apply Low; assumption].
            apply HcL; intros y' Hy'.
            destruct (Nat.lt_ge_cases y' k2) as [La|La]; [apply P2; exact La|].
            destruct (Nat.lt_ge_cases y' (k2 + M)) as [Lb|Lb]; [apply PM; lia|].
            replace y' with (k2 + M + (y' - (k2 + M))) by lia; rewrite !P1 by lia.
            destruct Hfam as [Hf1 _]; rewrite Hf1; [reflexivity|fold st; lia]. }
          rewrite (D1 z2), (D1 z2').
          assert (Hidx : y - k2 < K3) by (unfold K3; lia).
          specialize (Er (y - k2) Hidx); unfold rho2 in Er.
          destruct (Nat.ltb_spec (y - k2) (M + st)) as [_|La]; [|lia]; apply cD_inj in Er.
          replace (k2 + (y - k2)) with y in Er by lia; exact Er.
        * assert (Htg : y - k2 - (M + st) < t * g) by lia.
          assert (Hidx : M + st + ((bt * x + j) * (t * g) + (y - k2 - (M + st))) < K3).
          { unfold K3; assert (S (bt * x + j) * (t * g) <= Gb * x * (t * g)) as Hm' by (apply Nat.mul_le_mono_r; lia).
            cbn [Nat.mul] in Hm'; lia. }
          specialize (Er _ Hidx); unfold rho2 in Er.
          rewrite not_ltb_l in Er; cbv zeta in Er; rewrite sub_l in Er.
          rewrite Nat.div_add_l, (Nat.div_small (y - k2 - (M + st))), Nat.add_0_r in Er by lia.
          rewrite (Nat.add_comm ((bt * x + j) * (t * g))), Nat.mod_add, Nat.mod_small in Er by lia.
          rewrite Hfn in Er; replace (k2 + (M + st) + (y - k2 - (M + st))) with y in Er by lia.
          apply cD_inj in Er; exact Er.
    - pose proof (digits_inj _ _ _ _ (fun k _ => s1_lt _) (fun k _ => s1_lt _) Emore (bt * x + j) He) as Es; cbv beta in Es.
      unfold tau in Es; apply s1_inj in Es; rewrite Hfn in Es.
      assert (D : forall z, state h0 G (L2 (L1 (P z f u w))) k1 = state h0 G (L2 (L1 (P z f 0 0))) k1).
      { intros z; apply state_ext; intros y Hy; apply HcL2; intros y' Hy'; apply HcL; intros y'' Hy''; apply Pp; lia. }
      rewrite (D z2), (D z2'); exact Es. }
  assert (B3 : forall y, k1 <= y <= S kw -> state h0 G (L2 (L1 (P z2 f u w))) y = state h0 G (L2 (L1 (P z2' f u w))) y).
  { intros y Hy; apply (state_from h0 G _ _ k1); [exact B2|lia|].
    intros y' Hy'; assert (C0 : y' = k1 \/ y' = kw) by lia; destruct C0 as [-> | ->]; auto. }
  rewrite Ei, <- Ev.
  rewrite <- (Hs _ _ _ (Htask z2 f u w Hz Hfb ltac:(lia) Hw)), <- (Hs _ _ _ (Htask z2' f u w Hz' Hfb ltac:(lia) Hw)).
  fold k1; fold kw; cbn [run]; fold L1; fold L2; rewrite !Hrun.
  unfold R3; cbn [apply]; rewrite B1, (B3 kw), (B3 (S kw)) by lia; reflexivity.
Qed.

(** n_1 Theta log2 V > c (n_1 (1+t) + g t + N_0 - g t + min(G x, q) g t + middle) + c t x G + min(G x B, B + c (M_2 + middle)), n_1 = G beta,
    M_2 = N_0 - g t + G x g t; c1 and c2 are the accumulators of the two layers.  With recurrent heads of s1 bits beside the first, Theta
    is that of c1 beta + s1 bits, and s1 more are on the right. *)
Definition Ce_check (flat : bool) (N0 : N) (ns : list N) (V s1 c1 c2 : N) (after : list bits) (t q g G beta : N) (runs : list (N * N))
    (once : bool) : bool :=
  let k2 := first_table flat N0 ns in
  let md := between flat N0 ns in
  let k1 := (k2 + md + N0)%N in
  let x := ladder_x runs in
  let n1 := (G * beta)%N in
  positive N0 ns && (0 <? N.of_nat (length ns))%N && is_recurrent after && (n1 <=? last_n ns)%N && (0 <? beta)%N &&
  (0 <? t)%N && (0 <? g)%N && (g <=? q)%N && (t * q <=? N0)%N && ladder_ok (c1 * beta + s1) g t q t runs &&
  exceeds V (n1 * ladder_theta t runs)
    (c1 * n1 + s1 + (c2 * (n1 * t) + (c1 * (t * g + (md + (N0 - t * g) + (if (G * x <? q)%N then G * x * (t * g) else t * g * q))) + (c2 * (G * x * t) +
      (if once then bits_at k2 after + c2 * (md + (N0 - t * g) + G * x * (t * g)) else bits_at k1 after * (G * x)))))).

Theorem headwise_then : forall flat N0 ns V s1 c1 c2 after t q g G beta runs once b1, heads s1 c1 b1 ->
  Ce_check flat N0 ns V s1 c1 c2 after t q g G beta runs once = true ->
  Impossible (b1 :: F c2 :: after) (seqcomp flat N0 ns V).
Proof.
  unfold Ce_check; intros flat N0 ns V s1 c1 c2 after t q g G beta runs once b1 B1 H m Hm Hs; cbn [map spec_of] in Hm.
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [Hl Hm].
  destruct (both_of l s1 c1) as (St & h0 & G0 & A & init & upd & o & HS & HA & E).
  { destruct B1 as [[-> ->]| ->]; auto. }
  set (m' := Then (Both St h0 G0 A init upd o) rest).
  assert (Hs' : solves (seqcomp flat N0 ns V) m').
  { intros p u v Hp; rewrite <- (Hs p u v Hp); unfold m'; cbn [run]; apply run_ext; intros y; symmetry; apply E. }
  assert (Hm' : fits m' (SB (fun _ => 2 ^ s1)%N (fun _ => 2 ^ c1)%N :: map spec_of (F c2 :: after))) by (split; [split; auto|exact Hm]).
  clear Hs Hm E; revert Hs'.
  set (k2 := first_table flat N0 ns) in *; set (md := between flat N0 ns) in *.
  apply andb_prop in H; destruct H as [H H11]; apply andb_prop in H; destruct H as [H H10];
    apply andb_prop in H; destruct H as [H H9]; apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7];
    apply andb_prop in H; destruct H as [H H6]; apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4];
    apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H5, H6, H7; apply N.leb_le in H8, H9; apply N.leb_le in H4; apply exceeds_spec in H11; destruct H11 as [HV H11].
  assert (Htwo : two_functions (N.to_nat N0) (N.to_nat G * N.to_nat beta) (N.to_nat V) (N.to_nat k2) (N.to_nat md) (seqcomp flat N0 ns V)).
  { apply (two_functions_fewer _ (N.to_nat (last_n ns))); [clear - H4; lia|]. apply (seqcomp_two flat N0 ns V H1 (nonempty _ H2)). }
  assert (Hx : 0 < N.to_nat (ladder_x runs)) by (unfold ladder_x; clear; lia).
  assert (HN0 : N.to_nat t * N.to_nat q <= N.to_nat N0) by (clear - H9; lia).
  assert (L1 : 0 < N.to_nat t) by (clear - H6; lia).
  assert (L2 : 0 < N.to_nat g <= N.to_nat q) by (clear - H7 H8; lia).
  assert (L3 : 0 < N.to_nat beta) by (clear - H5; lia).
  apply (Ce_states _ _ _ _ _ (N.to_nat t) (N.to_nat q) (N.to_nat g) (N.to_nat (ladder_x runs)) (N.to_nat (ladder_theta t runs)) V
           _ _ _ _ _ m' once (G * ladder_x runs <? q)%N Htwo (recurrent_bits _ H3) Hm'); auto.
  - rewrite N2Nat.id, <- N.pow_mul_r, <- N.pow_add_r; apply ladder_spreads; auto.
  - assert (Hcut : nN (N.to_nat k2 + N.to_nat md + N.to_nat N0) = (k2 + md + N0)%N) by (clear; lia).
    rewrite !states_bits by exact H3; rewrite Hcut, N2Nat.id.
    replace (nN (N.to_nat G * N.to_nat beta)) with (G * beta)%N by (clear; lia).
    replace (nN (N.to_nat G * N.to_nat beta * N.to_nat t)) with (G * beta * t)%N by (clear; lia).
    replace (nN (N.to_nat G * N.to_nat (ladder_x runs) * N.to_nat t)) with (G * ladder_x runs * t)%N by (clear; lia).
    replace (nN (N.to_nat G * N.to_nat beta * N.to_nat (ladder_theta t runs))) with (G * beta * ladder_theta t runs)%N by (clear; lia).
    unfold Ce_cells.
    replace (nN (N.to_nat t * N.to_nat g + (N.to_nat md + (N.to_nat N0 - N.to_nat t * N.to_nat g) +
        (if (G * ladder_x runs <? q)%N then N.to_nat G * N.to_nat (ladder_x runs) * (N.to_nat t * N.to_nat g)
         else N.to_nat t * N.to_nat g * N.to_nat q))))
      with (t * g + (md + (N0 - t * g) + (if (G * ladder_x runs <? q)%N then G * ladder_x runs * (t * g) else t * g * q)))%N
      by (destruct (G * ladder_x runs <? q)%N; rewrite !Nat2N.inj_add, !Nat2N.inj_mul, Nat2N.inj_sub, !Nat2N.inj_mul, !N2Nat.id; reflexivity).
    unfold Ce_rest.
    replace (nN (N.to_nat G * N.to_nat (ladder_x runs))) with (G * ladder_x runs)%N by (clear; lia).
    replace (nN (N.to_nat md + (N.to_nat N0 - N.to_nat t * N.to_nat g) + N.to_nat G * N.to_nat (ladder_x runs) * (N.to_nat t * N.to_nat g)))
      with (md + (N0 - t * g) + G * ladder_x runs * (t * g))%N
      by (rewrite !Nat2N.inj_add, !Nat2N.inj_mul, Nat2N.inj_sub, !Nat2N.inj_mul, !N2Nat.id; reflexivity).
    eapply N.le_lt_trans; [|exact H11]; apply N.eq_le_incl.
    destruct once; rewrite <- !N.pow_mul_r, <- !N.pow_add_r; reflexivity.
Qed.

Theorem Ce : forall flat N0 ns V c1 c2 after t q g G beta runs once,
  Ce_check flat N0 ns V 0 c1 c2 after t q g G beta runs once = true ->
  Impossible (F c1 :: F c2 :: after) (seqcomp flat N0 ns V).
Proof. intros; eapply headwise_then; [left; split; reflexivity|eassumption]. Qed.
