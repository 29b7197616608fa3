(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Theorem C1: two functions, two full layers with a narrow state between them, w last *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT TheoremC0.
Import ListNotations.
Local Notation nN := N.of_nat.

(** In each group the most frequent key: together they keep a K-th part. *)
Lemma popular_in_groups {A} (group : A -> nat) (key : A -> N) (K : N) (t : nat) : forall l : list A,
  (forall x, In x l -> group x < t) -> (forall x, In x l -> (key x < K)%N) ->
  exists most : nat -> N, (size l <= K * size (filter (fun x => (key x =? most (group x))%N) l))%N.
Proof.
  induction t as [|t IH]; intros l Hg Hk.
  - exists (fun _ => 0%N); destruct l as [|x l]; [unfold size; simpl; lia|]. specialize (Hg x (or_introl eq_refl)); lia.
  - set (own := fun x => group x =? t).
    destruct (IH (filter (fun x => negb (own x)) l)) as [most Hm].
    { intros x Hx; apply filter_In in Hx; destruct Hx as [Hx E]; specialize (Hg x Hx); unfold own in E.
      destruct (Nat.eqb_spec (group x) t); [discriminate|lia]. }
    { intros x Hx; apply filter_In in Hx; apply Hk, Hx. }
    destruct (popular key K (filter own l)) as [v Hv]; [intros x Hx; apply filter_In in Hx; apply Hk, Hx|].
    exists (fun b => if b =? t then v else most b).
    set (keep := fun x => (key x =? (if Nat.eqb (group x) t then v else most (group x)))%N).
    rewrite (size_split own l), (size_split own (filter keep l)).
    assert (E1 : filter own (filter keep l) = filter (fun x => (key x =? v)%N) (filter own l)).
    { clear; induction l as [|x l IH]; [reflexivity|]; cbn [filter].
      destruct (own x) eqn:O; unfold keep at 1; unfold own in O.
      - rewrite O; cbn [filter]; destruct (key x =? v)%N eqn:Kx; cbn [filter]; [change (own x) with (group x =? t); rewrite O|]; rewrite IH; reflexivity.
      - rewrite O; destruct (key x =? most (group x))%N; cbn [filter]; [change (own x) with (group x =? t); rewrite O|]; exact IH. }
    assert (E2 : filter (fun x => negb (own x)) (filter keep l) =
                 filter (fun x => (key x =? most (group x))%N) (filter (fun x => negb (own x)) l)).
    { clear; induction l as [|x l IH]; [reflexivity|]; cbn [filter].
      destruct (own x) eqn:O; unfold keep at 1; unfold own in O; rewrite O; cbn [negb].
      - destruct (key x =? v)%N; cbn [filter]; [change (own x) with (group x =? t); rewrite O; cbn [negb]|]; exact IH.
      - cbn [filter]; destruct (key x =? most (group x))%N; cbn [filter]; [change (own x) with (group x =? t); rewrite O; cbn [negb]|]; rewrite IH; reflexivity. }
    rewrite E1, E2; lia.
Qed.

Lemma NoDup_map_filter {A B} (f : A -> B) (p : A -> bool) l : NoDup (map f l) -> NoDup (map f (filter p l)).
Proof.
  induction l as [|x l IH]; intros H; [exact H|]; cbn [map filter] in *; inversion H as [|y r Hx Hl]; subst.
  destruct (p x); [|auto]; cbn [map]; constructor; [|auto].
  intros C; apply Hx; apply in_map_iff in C; destruct C as [y [E Hy]]; apply filter_In in Hy; apply in_map_iff; exists y; tauto.
Qed.

Lemma map_firstn {A B} (f : A -> B) n l : map f (firstn n l) = firstn n (map f l).
Proof. revert n; induction l as [|x l IH]; intros [|n]; cbn; [reflexivity..|rewrite IH; reflexivity]. Qed.

Theorem C1_states : forall (N0 n1 k2 M t q g Theta0 Theta : nat) (V : N) (C C' : nat -> N) (a : list spec) k (m : net token nat),
  two_functions N0 n1 (N.to_nat V) k2 M k -> recurrent a -> fits m (SF C :: a ++ [SF C']) -> (0 < V)%N ->
  t * q <= N0 -> 0 < g <= q -> 0 < t -> 0 < Theta0 -> 0 < Theta ->
  let k1 := k2 + M + N0 in
  (C k1 * nN (Theta0 - 1) ^ nN (t * g) < nN (t * q) ^ nN (t * g))%N ->
  (states_at (k1 + 1) a * nN (Theta - 1) < nN Theta0)%N ->
  (C k2 ^ nN n1 * (C k2 ^ nN (t * g + (M + (N0 - t * g) + t * g * q)) * states_at k2 a) * C' k2 ^ nN (n1 * t) < V ^ nN (n1 * Theta))%N ->
  ~ solves k m.
Proof.
  intros N0 n1 k2 M t q g Theta0 Theta V C C' a k m (P & HP & Htask) Ha Hm HV HN0 Hg Ht HTh0 HTh k1 Hsp Hrel Hlt Hs.
  apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct m as [out0|Z l rest]; [contradiction|].
  destruct Hm as [HA Hm]; destruct l as [|A init upd fin|]; simpl in HA; try contradiction.
  destruct (split_rec rest a [SF C'] Ha Hm) as (W & St & h0 & G & F0 & m' & HS & Hm' & Hrun).
  destruct m' as [|Y l' rest']; [contradiction|].
  destruct Hm' as [HA' Hm']; destruct l' as [|A' init' upd' fin'|]; simpl in HA'; try contradiction.
  destruct rest' as [answer|]; [|contradiction].
  set (L1 := apply (Full A init upd fin)) in *; set (R1 := apply (Rec St h0 G F0)) in *; set (L2 := apply (Full A' init' upd' fin')) in *.
  set (kw := k1 + 1) in *.
  assert (Hans : forall z f u w, (forall i, z i < N.to_nat V) -> (forall i, i < N0 -> f i < N0) -> u < N0 -> w < n1 ->
            answer kw (L2 (R1 (L1 (P z f u w))) kw) = z (w * N0 + f u)).
  { intros z f u w Hz Hf Hu Hw; rewrite <- (Hs _ _ _ (Htask z f u w Hz Hf Hu Hw)); cbn [run]; rewrite Hrun; reflexivity. }
  clear Hs Htask Hrun.
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
  destruct (HS kw) as (sB & sB_inj & sB_lt).
  set (id := fun i : nat => i).
  assert (HcL : causal L1) by (unfold L1; apply apply_causal).
  assert (HcR : causal (fun x => R1 (L1 x))).
  { intros x x' y H; unfold R1; apply apply_causal; intros y' Hy'; apply HcL; intros y'' Hy''; apply H; lia. }
  (* what is fixed over z_2: layer-1 accumulators of w, of z_0 and of the tokens between, and the state after z_2 *)
  set (nuw := fun z w => cA (acc init upd (P z id 0 w) kw k2)).
  set (low := fun z k => if k <? t * g then cA (acc init upd (P z id (st + k) 0) k1 k2)
     else if k - t * g <? M + st then cA (acc init upd (P z (fun _ => 0) 0 0) (k2 + (k - t * g)) k2)
     else let i := (k - t * g - (M + st)) / q in
          cA (acc init upd (P z (fun _ => i / g * q + (k - t * g - (M + st)) mod q) 0 0) (k2 + (M + st) + i) k2)).
  assert (Hnuw : forall z k, N.lt (nuw z k) (C k2)) by (intros; apply cA_lt).
  assert (Hlow : forall z k, N.lt (low z k) (C k2)).
  { intros z k0; unfold low; destruct (k0 <? t * g); [apply cA_lt|]. destruct (k0 - t * g <? M + st); apply cA_lt. }
  replace (N0 - t * g) with st by (clear - Hst; lia).
  set (Lc := t * g + (M + st + t * g * q)).
  set (sigma := fun z => pair_code (C k2 ^ nN n1) (digits (C k2) (nuw z) n1)
                           (pair_code (C k2 ^ nN Lc) (digits (C k2) (low z) Lc) (sA (state h0 G (L1 (P z id 0 0)) k2)))).
  apply (class_tables V (n1 * N0) (n1 * Theta) _ _ sigma); [| |exact HV].
  { intros z; apply pair_lt; [apply digits_lt; intros; apply Hnuw|].
    apply pair_lt; [apply (digits_lt (C k2)); intros; apply Hlow|apply sA_lt]. }
  intros zs _.
  assert (Hsig : forall z, sigma z = sigma zs -> (forall k, k < n1 -> nuw z k = nuw zs k) /\ (forall k, k < Lc -> low z k = low zs k) /\
            state h0 G (L1 (P z id 0 0)) k2 = state h0 G (L1 (P zs id 0 0)) k2).
  { intros z E; apply pair_inj in E; [|apply digits_lt; intros; apply Hnuw|apply digits_lt; intros; apply Hnuw]; destruct E as [E1 E].
    apply pair_inj in E; [|apply (digits_lt (C k2)); intros; apply Hlow|apply (digits_lt (C k2)); intros; apply Hlow]; destruct E as [E2 E3].
    split; [exact (digits_inj _ _ _ _ (fun k _ => Hnuw z k) (fun k _ => Hnuw zs k) E1)|].
    split; [exact (digits_inj _ _ _ _ (fun k _ => Hlow z k) (fun k _ => Hlow zs k) E2)|apply sA_inj, E3]. }
  (* layer 1 after z_2 *)
  assert (In1 : forall z f u w y, sigma z = sigma zs -> in_fam N0 t q g f -> st <= u < N0 -> w < n1 -> k2 <= y <= kw ->
            L1 (P z f u w) y = L1 (P zs f u w) y).
  { intros z f u w y Sz [Hf1 Hf2] Hu Hw Hy; destruct (Hsig z Sz) as (E1 & E2 & _).
    assert (Q : acc init upd (P z f u w) y k2 = acc init upd (P zs f u w) y k2 -> L1 (P z f u w) y = L1 (P zs f u w) y).
    { intros Ea; assert (Et : P z f u w y = P zs f u w y) by (apply PL; exact Hy).
      assert (Eb : acc init upd (P z f u w) y (S y) = acc init upd (P zs f u w) y (S y)).
      { apply (acc_from init upd _ _ y k2); [exact Et|exact Ea|lia|intros; apply PL; lia]. }
      unfold L1; cbn [apply]; rewrite Et, Eb; reflexivity. }
    apply Q; clear Q.
    destruct (Nat.eq_dec y kw) as [->|Nw]; [|destruct (Nat.eq_dec y k1) as [->|N1]].
    - specialize (E1 w Hw); unfold nuw in E1; apply cA_inj in E1.
      transitivity (acc init upd (P z id 0 w) kw k2); [|rewrite E1]; (apply acc_ext; [apply Pw|intros; apply P2; auto]).
    - assert (Hk : u - st < Lc) by (unfold Lc; lia).
      specialize (E2 (u - st) Hk); unfold low in E2.
      destruct (Nat.ltb_spec (u - st) (t * g)); [|lia].
      replace (st + (u - st)) with u in E2 by lia; apply cA_inj in E2.
      transitivity (acc init upd (P z id u 0) k1 k2); [|rewrite E2]; (apply acc_ext; [rewrite !P0; reflexivity|intros; apply P2; auto]).
    - assert (Rr : forall z c, P z f u w y = P z (fun _ => c) 0 0 y ->
           acc init upd (P z f u w) y k2 = acc init upd (P z (fun _ => c) 0 0) y k2).
      { intros z' c Ec; apply acc_ext; [exact Ec|intros; apply P2; auto]. }
      destruct (Nat.lt_ge_cases y (k2 + (M + st))) as [Ly|Ly].
      + assert (Ec : forall z, P z f u w y = P z (fun _ => 0) 0 0 y).
        { intros z'; destruct (Nat.lt_ge_cases y (k2 + M)) as [L2'|L2']; [apply PM; lia|].
          replace y with (k2 + M + (y - (k2 + M))) by lia; rewrite !P1 by lia; rewrite Hf1; [reflexivity|fold st; lia]. }
        rewrite (Rr z 0 (Ec z)), (Rr zs 0 (Ec zs)).
        assert (Hk : t * g + (y - k2) < Lc) by (unfold Lc; lia).
        specialize (E2 (t * g + (y - k2)) Hk); unfold low in E2; rewrite not_ltb_l, sub_l in E2.
        destruct (Nat.ltb_spec (y - k2) (M + st)); [|lia].
        replace (k2 + (y - k2)) with y in E2 by lia; apply cA_inj in E2; exact E2.
      + assert (Hyk : exists k, y = k2 + (M + st) + k /\ k < t * g)
          by (exists (y - (k2 + (M + st))); clear - Ly Hy Nw N1 K12 Kw; lia).
        destruct Hyk as [k0 [Ey Hk]].
        specialize (Hf2 k0 Hk); fold st in Hf2.
        assert (Hyr : exists r, f (st + k0) = k0 / g * q + r /\ r < q)
          by (exists (f (st + k0) - k0 / g * q); clear - Hf2; lia).
        destruct Hyr as [r [Er Hr]].
        assert (Ec : forall z, P z f u w y = P z (fun _ => k0 / g * q + r) 0 0 y).
        { intros z'; rewrite Ey; replace (k2 + (M + st) + k0) with (k2 + M + (st + k0)) by lia.
          rewrite !P1 by (clear - Hk Hst; lia); rewrite Er; reflexivity. }
        rewrite (Rr z _ (Ec z)), (Rr zs _ (Ec zs)).
        assert (Hk2 : k0 * q + r < t * g * q).
        { apply Nat.lt_le_trans with (S k0 * q); [simpl; lia|apply Nat.mul_le_mono_r; lia]. }
        assert (HkL : t * g + (M + st + (k0 * q + r)) < Lc) by (unfold Lc; lia).
        specialize (E2 _ HkL); unfold low in E2; rewrite not_ltb_l, !sub_l, not_ltb_l in E2.
        rewrite Nat.div_add_l, (Nat.div_small r q), Nat.add_0_r in E2 by lia.
        rewrite (Nat.add_comm (k0 * q) r), Nat.mod_add, Nat.mod_small in E2 by lia.
        cbv zeta in E2; rewrite <- Ey in E2; apply cA_inj in E2; exact E2. }
  (* and what enters layer 2 *)
  assert (InS : forall z f u w y, sigma z = sigma zs -> in_fam N0 t q g f -> st <= u < N0 -> w < n1 -> k2 <= y <= S kw ->
            state h0 G (L1 (P z f u w)) y = state h0 G (L1 (P zs f u w)) y).
  { intros z f u w y Sz Hf Hu Hw Hy; apply (state_from h0 G _ _ k2); [|lia|intros; apply In1; auto; lia].
    destruct (Hsig z Sz) as (_ & _ & E).
    assert (D : forall z, state h0 G (L1 (P z f u w)) k2 = state h0 G (L1 (P z id 0 0)) k2).
    { intros z'; apply state_ext; intros y' Hy'; apply HcL; intros y'' Hy''; apply P2; lia. }
    rewrite (D z), (D zs); exact E. }
  assert (In2 : forall z f u w y, sigma z = sigma zs -> in_fam N0 t q g f -> st <= u < N0 -> w < n1 -> k2 <= y <= kw ->
            R1 (L1 (P z f u w)) y = R1 (L1 (P zs f u w)) y).
  { intros z f u w y Sz Hf Hu Hw Hy; unfold R1; cbn [apply].
    rewrite (InS z f u w y), (InS z f u w (S y)), (In1 z f u w y) by (auto; lia); reflexivity. }
  (* for each w a class of functions, and in it the values that share the state which passes from z_0 to w *)
  set (cls := fun w f => cB (acc init upd (P zs f 0 w) kw k1)).
  set (key := fun (U : list nat) (p : (nat -> nat) * nat) => sB (state h0 G (L1 (P zs (fst p) (nth (snd p) U 0) 0)) kw)).
  destruct (finite_choice (fun w (y : list nat * list ((nat -> nat) * nat)) =>
     length (fst y) = t /\ (forall u, In u (fst y) -> st <= u < N0) /\
     length (snd y) = Theta /\ (forall p, In p (snd y) -> in_fam N0 t q g (fst p) /\ snd p < t) /\
     (forall p p', In p (snd y) -> In p' (snd y) -> cls w (fst p) = cls w (fst p')) /\
     (forall p p', In p (snd y) -> In p' (snd y) -> snd p = snd p' -> key (fst y) p = key (fst y) p') /\
     NoDup (map (fun p => fst p (nth (snd p) (fst y) 0)) (snd y))) ([], []) n1) as [ch Hch].
  { intros w _.
    destruct (best_of_groups N0 t q g HN0 Hg Ht Theta0 (C k1) (cls w) (fun f => cB_lt _) HTh0 Hsp)
      as (U & sel & K1 & K2 & K3 & K4 & K5 & K6).
    destruct (popular_in_groups snd (key U) (states_at kw a) t sel) as [most Hmost].
    { intros p Hp; apply K4, Hp. }
    { intros p _; apply sB_lt. }
    set (kept := filter (fun p => (key U p =? most (snd p))%N) sel) in *.
    assert (HTk : Theta <= length kept).
    { destruct (Nat.le_gt_cases Theta (length kept)); auto; exfalso; unfold size in Hmost; rewrite K3 in Hmost.
      assert (states_at kw a * nN (length kept) <= states_at kw a * nN (Theta - 1))%N by (apply N.mul_le_mono_l; lia). lia. }
    assert (Hkept : forall p, In p (firstn Theta kept) -> In p sel /\ key U p = most (snd p)).
    { intros p Hp; apply firstn_In in Hp; apply filter_In in Hp; destruct Hp as [Hp E]; apply N.eqb_eq in E; auto. }
    exists (U, firstn Theta kept); cbn [fst snd].
    split; [exact K1|]; split; [exact K2|]; split; [rewrite firstn_length; lia|].
    split; [intros p Hp; apply K4, Hkept, Hp|]; split; [intros p p' Hp Hp'; apply K5; apply Hkept; assumption|].
    split.
    - intros p p' Hp Hp' E; rewrite (proj2 (Hkept p Hp)), (proj2 (Hkept p' Hp')), E; reflexivity.
    - rewrite map_firstn; apply firstn_NoDup, NoDup_map_filter, K6. }
  set (U := fun w => fst (ch w)); set (sel := fun w => snd (ch w)).
  set (rep := fun w b => fst (hd (id, 0) (filter (fun p => snd p =? b) (sel w)))).
  set (val := fun w (p : (nat -> nat) * nat) => fst p (nth (snd p) (U w) 0)).
  destruct (rows_index N0 n1 Theta (fun w => map (val w) (sel w))) as (J & HJ1 & HJ2 & HJ3).
  { intros w Hw; destruct (Hch w Hw) as (K1 & K2 & K3 & K4 & K5 & K6 & K7).
    split; [exact K7|]. split; [rewrite map_length; exact K3|].
    intros v Hv; apply in_map_iff in Hv; destruct Hv as [p [<- Hp]]; destruct (K4 p Hp) as [Kf Kb].
    apply (fam_bound N0 t q g HN0 Hg); auto; apply K2, nth_In; rewrite K1; exact Kb. }
  set (nu2 := fun z k => let w := k / t in
     cD (acc init' upd' (R1 (L1 (P z (rep w (k mod t)) (nth (k mod t) (U w) 0) w))) kw k2)).
  exists J, (fun z => digits (C' k2) (nu2 z) (n1 * t)).
  split; [exact HJ1|]. split; [intros i Hi; apply HJ3; auto|]. split; [exact HJ2|].
  split; [intros z _; apply (digits_lt (C' k2) (nu2 z)); intros; apply cD_lt|].
  clear Hsp Hrel.
  intros z2 z2' Hz Hz' Sg1 Sg2 E i Hi.
  pose proof (digits_inj _ _ _ _ (fun k _ => cD_lt _) (fun k _ => cD_lt _) E) as E2; cbv beta in E2; clear E.
  destruct (HJ3 i Hi) as [Hi1 (w & v & Hw & Hv & Ei)].
  apply in_map_iff in Hv; destruct Hv as [[f b] [Ev Hp]].
  destruct (Hch w Hw) as (K1 & K2 & K3 & K4 & K5 & K6 & K7); fold (U w) in *; fold (sel w) in *.
  destruct (K4 _ Hp) as [Hfam Hb]; cbn [fst snd] in Hfam, Hb.
  unfold val in Ev; cbn [fst snd] in Ev.
  set (u := nth b (U w) 0) in *.
  assert (Hu : st <= u < N0) by (apply K2, nth_In; rewrite K1; exact Hb).
  assert (Hfb : forall i, i < N0 -> f i < N0) by (intros; apply (fam_bound N0 t q g HN0 Hg); auto).
  (* the representative of the group *)
  assert (Hrep : exists p0, In p0 (sel w) /\ snd p0 = b /\ fst p0 = rep w b).
  { unfold rep; destruct (filter (fun p => snd p =? b) (sel w)) as [|p0 r] eqn:Ef.
    - assert (In (f, b) []) by (rewrite <- Ef; apply filter_In; split; [exact Hp|apply Nat.eqb_refl]); contradiction.
    - exists p0; cbn [hd]; assert (Hq : In p0 (filter (fun p => snd p =? b) (sel w))) by (rewrite Ef; left; reflexivity).
      apply filter_In in Hq; destruct Hq as [Hq Eb]; apply Nat.eqb_eq in Eb; auto. }
  destruct Hrep as (p0 & Hp0 & Eb0 & Er0); set (f0 := rep w b) in *.
  destruct (K4 _ Hp0) as [Hfam0 _]; rewrite Er0 in Hfam0.
  assert (Ecls : cls w f = cls w f0) by (rewrite <- Er0; apply (K5 (f, b) p0); auto).
  assert (Ekey : state h0 G (L1 (P zs f u 0)) kw = state h0 G (L1 (P zs f0 u 0)) kw).
  { pose proof (K6 (f, b) p0 Hp Hp0 (eq_sym Eb0)) as Ek; unfold key in Ek; cbn [fst snd] in Ek; rewrite Eb0, Er0 in Ek.
    apply sB_inj in Ek; exact Ek. }
  (* w enters layer 2 in the same way for f and for the representative *)
  assert (Qs : R1 (L1 (P zs f u w)) kw = R1 (L1 (P zs f0 u w)) kw).
  { assert (V1 : L1 (P zs f u w) kw = L1 (P zs f0 u w) kw).
    { unfold cls in Ecls; apply cB_inj in Ecls.
      assert (Kb : forall f'', acc init upd (P zs f'' u w) kw k1 = acc init upd (P zs f'' 0 w) kw k1).
      { intros f''; apply acc_ext; [apply Pw|intros y Hy; apply Pp; exact Hy]. }
      assert (Kd : acc init upd (P zs f u w) kw (S kw) = acc init upd (P zs f0 u w) kw (S kw)).
      { apply (acc_from init upd _ _ kw k1); [apply Pw|rewrite (Kb f), (Kb f0); exact Ecls|lia|intros; apply Pq; lia]. }
      unfold L1; cbn [apply]; rewrite Kd, (Pw zs f u w zs f0 u); reflexivity. }
    assert (V2 : forall f', state h0 G (L1 (P zs f' u w)) kw = state h0 G (L1 (P zs f' u 0)) kw).
    { intros f'; apply state_ext; intros y Hy; apply HcL; intros y' Hy'.
      destruct (Nat.eq_dec y' k1) as [->|]; [rewrite !P0; reflexivity|apply Pp; lia]. }
    assert (V3 : state h0 G (L1 (P zs f u w)) kw = state h0 G (L1 (P zs f0 u w)) kw) by (rewrite (V2 f), (V2 f0); exact Ekey).
    unfold R1; cbn [apply state]; rewrite V1, V3; reflexivity. }
  assert (Q2 : forall z, sigma z = sigma zs -> acc init' upd' (R1 (L1 (P z f u w))) kw k2 = acc init' upd' (R1 (L1 (P z f0 u w))) kw k2).
  { intros z Sz; apply acc_ext.
    - rewrite (In2 z f u w kw), (In2 z f0 u w kw) by (auto; lia); exact Qs.
    - intros y Hy; apply HcR; intros y' Hy'; apply P2; lia. }
  assert (Q3 : acc init' upd' (R1 (L1 (P z2 f u w))) kw k2 = acc init' upd' (R1 (L1 (P z2' f u w))) kw k2).
  { rewrite (Q2 z2 Sg1), (Q2 z2' Sg2).
    assert (Hk : w * t + b < n1 * t) by nia.
    specialize (E2 _ Hk); unfold nu2 in E2; cbv zeta in E2.
    rewrite Nat.div_add_l, (Nat.div_small b t), Nat.add_0_r in E2 by lia.
    rewrite (Nat.add_comm (w * t) b), Nat.mod_add, Nat.mod_small in E2 by lia.
    apply cD_inj in E2; exact E2. }
  assert (Qv : forall y, k2 <= y <= kw -> R1 (L1 (P z2 f u w)) y = R1 (L1 (P z2' f u w)) y).
  { intros y Hy; rewrite (In2 z2 f u w y), (In2 z2' f u w y) by (auto; lia); reflexivity. }
  assert (Qa : acc init' upd' (R1 (L1 (P z2 f u w))) kw (S kw) = acc init' upd' (R1 (L1 (P z2' f u w))) kw (S kw)).
  { apply (acc_from init' upd' _ _ kw k2); [apply Qv; lia|exact Q3|lia|intros; apply Qv; lia]. }
  rewrite Ei, <- Ev.
  rewrite <- (Hans z2 f u w), <- (Hans z2' f u w) by (auto; lia).
  f_equal; unfold L2; cbn [apply]; rewrite Qa, (Qv kw) by lia; reflexivity.
Qed.

(** n_1 Theta log2 V > c (n_1 (1 + t) + N_0 + g t q + middle) + r, Theta = ceil(t q 2^(-c/(g t) - r)), which is
    ceil(All 2^-r) with All = ceil(t q 2^(-c/(g t))); both may be less. *)
Definition C1_check (flat : bool) (N0 : N) (ns : list N) (V c : N) (between_them : list bits) (c' t q g All Theta : N) : bool :=
  let n1 := last_n ns in
  let k2 := first_table flat N0 ns in
  let md := between flat N0 ns in
  positive N0 ns && (0 <? N.of_nat (length ns))%N && is_recurrent between_them &&
  (0 <? t)%N && (0 <? g)%N && (g <=? q)%N && (t * q <=? N0)%N &&
  kept c (t * g) All (t * q) && kept (bits_at (k2 + md + N0 + 1) between_them) 1 Theta All &&
  exceeds V (n1 * Theta)
    (c * n1 + (c * (t * g + (md + (N0 - t * g) + t * g * q)) + bits_at k2 between_them) + c' * (n1 * t)).

Theorem C1 : forall flat N0 ns V c between_them c' t q g All Theta,
  C1_check flat N0 ns V c between_them c' t q g All Theta = true ->
  Impossible (F c :: between_them ++ [F c']) (seqcomp flat N0 ns V).
Proof.
  unfold C1_check; intros flat N0 ns V c bt c' t q g All Theta H m Hm.
  set (k2 := first_table flat N0 ns) in *; set (md := between flat N0 ns) in *; set (n1 := last_n ns) in *.
  apply andb_prop in H; destruct H as [H H10]; apply andb_prop in H; destruct H as [H H9]; apply andb_prop in H; destruct H as [H H8];
    apply andb_prop in H; destruct H as [H H7]; apply andb_prop in H; destruct H as [H H6]; apply andb_prop in H; destruct H as [H H5];
    apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3]; apply andb_prop in H; destruct H as [H1 H2].
  apply N.ltb_lt in H4, H5; apply N.leb_le in H6, H7.
  apply kept_spec in H8; destruct H8 as (_ & _ & HAll & H8).
  apply kept_spec in H9; destruct H9 as (_ & _ & HTh & H9); rewrite !N.pow_1_r in H9.
  apply exceeds_spec in H10; destruct H10 as [HV H10].
  assert (Em : map spec_of (F c :: bt ++ [F c']) = SF (fun _ => 2 ^ c)%N :: map spec_of bt ++ [SF (fun _ => 2 ^ c')%N])
    by (cbn [map spec_of]; rewrite map_app; reflexivity).
  rewrite Em in Hm.
  assert (Hcut : nN (N.to_nat k2 + N.to_nat md + N.to_nat N0 + 1) = (k2 + md + N0 + 1)%N) by (clear; lia).
  assert (Htg : (t * g <= N0)%N) by (apply N.le_trans with (t * q)%N; [apply N.mul_le_mono_l; exact H6|exact H7]).
  apply (C1_states _ _ _ _ (N.to_nat t) (N.to_nat q) (N.to_nat g) (N.to_nat All) (N.to_nat Theta) V _ _ _ _ m
           (seqcomp_two flat N0 ns V H1 (nonempty _ H2)) (recurrent_bits _ H3) Hm HV);
    [clear - H7; lia|clear - H5 H6; lia|clear - H4; lia|clear - HAll; lia|clear - HTh; lia| | |].
  - replace (nN (N.to_nat All - 1)) with (All - 1)%N by (clear; lia).
    replace (nN (N.to_nat t * N.to_nat g)) with (t * g)%N by (clear; lia); replace (nN (N.to_nat t * N.to_nat q)) with (t * q)%N by (clear; lia); exact H8.
  - rewrite states_bits by exact H3; fold k2 md; rewrite Hcut.
    replace (nN (N.to_nat Theta - 1)) with (Theta - 1)%N by (clear; lia); rewrite N2Nat.id; exact H9.
  - fold k2 md n1; rewrite states_bits by exact H3.
    replace (nN (N.to_nat n1 * N.to_nat t)) with (n1 * t)%N by (clear; lia).
    replace (nN (N.to_nat n1 * N.to_nat Theta)) with (n1 * Theta)%N by (clear; lia).
    replace (nN (N.to_nat n1)) with n1 by (clear; lia).
    replace (nN (N.to_nat t * N.to_nat g + (N.to_nat md + (N.to_nat N0 - N.to_nat t * N.to_nat g) + N.to_nat t * N.to_nat g * N.to_nat q)))
      with (t * g + (md + (N0 - t * g) + t * g * q))%N
      by (rewrite !Nat2N.inj_add, !Nat2N.inj_mul, Nat2N.inj_sub, !Nat2N.inj_mul, !N2Nat.id; reflexivity).
    rewrite N2Nat.id, <- !N.pow_mul_r, <- !N.pow_add_r; exact H10.
Qed.
