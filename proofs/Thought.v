(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * Thought: two functions, one full layer and one thought, w last

    The layer may have recurrent heads beside the full ones, which see the same input.  The thought may be any value.  It reads the
    raw prompt, so what the tokens of z_1 and z_0 receive does not count. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT TheoremC0.
Import ListNotations.
Local Notation nN := N.of_nat.

Theorem thought_states : forall (N0 n1 k2 M t q g Theta : nat) (V : N) (Sb C : nat -> N) k (Y : Type) (m : net token Y) next answer,
  two_functions N0 n1 (N.to_nat V) k2 M k -> fits m [SB Sb C] -> (0 < V)%N ->
  t * q <= N0 -> 0 < g <= q -> 0 < t -> 0 < Theta ->
  (C (k2 + M + N0)%nat * Sb (k2 + M + N0)%nat * nN (Theta - 1) ^ nN (t * g) < nN (t * q) ^ nN (t * g))%N ->
  (C k2 ^ nN n1 * Sb k2 * C k2 ^ nN (n1 * t) < V ^ nN (n1 * Theta))%N ->
  ~ solves_thinking k 1 m next answer.
Proof.
  intros N0 n1 k2 M t q g Theta V Sb C k Y m next answer (P & HP & Htask) Hm HV HN0 Hg Ht HTh Hsp Hlt Hs.
  apply N.lt_nge in Hlt; apply Hlt; clear Hlt.
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [Hl Hm]; destruct l as [| |St h0 G A init upd fin]; simpl in Hl; try contradiction.
  destruct rest as [out|]; [|contradiction].
  assert (HS : forall j, card_le (St j) (Sb j)) by (intros; apply Hl); assert (HA : forall j, card_le (A j) (C j)) by (intros; apply Hl); clear Hl.
  set (F1 := Both St h0 G A init upd fin) in *; set (m := Then F1 (Out out)) in *.
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
  destruct (HS k2) as (sA & sA_inj & sA_lt).
  destruct (HS k1) as (sB & sB_inj & sB_lt).
  set (id := fun i : nat => i).
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
  (* so all states after z_2 are those of zs *)
  assert (Hst2 : forall z f u w y, sigma z = sigma zs -> k2 <= y <= kw + 1 -> state h0 G (P z f u w) y = state h0 G (P zs f u w) y).
  { intros z f u w y E Hy; apply (state_from h0 G _ _ k2); [|lia|intros; apply PL; lia].
    apply pair_inj in E; [|apply digits_lt; intros; apply cA_lt|apply digits_lt; intros; apply cA_lt]; destruct E as [_ E].
    apply sA_inj in E.
    transitivity (state h0 G (P z id 0 0) k2); [apply state_ext; intros; apply P2; auto|].
    rewrite E; apply state_ext; intros; apply P2; auto. }
  set (cls := fun w f => pair_code (C k1) (cB (acc init upd (P zs f 0 w) kw k1)) (sB (state h0 G (P zs f 0 0) k1))).
  destruct (finite_choice (fun w (y : list nat * list ((nat -> nat) * nat)) =>
     length (fst y) = t /\ (forall u, In u (fst y) -> st <= u < N0) /\
     length (snd y) = Theta /\ (forall p, In p (snd y) -> in_fam N0 t q g (fst p) /\ snd p < t) /\
     (forall p p', In p (snd y) -> In p' (snd y) -> cls w (fst p) = cls w (fst p')) /\
     NoDup (map (fun p => fst p (nth (snd p) (fst y) 0)) (snd y))) ([], []) n1) as [ch Hch].
  { intros w _.
    destruct (best_of_groups N0 t q g HN0 Hg Ht Theta (N.mul (C k1) (Sb k1))
                (cls w) (fun f => pair_lt _ _ _ _ (cB_lt _) (sB_lt _)) HTh Hsp)
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
    assert (Ka : cls w f' = cls w (f0 w)).
    { destruct Hf' as [-> | ->]; [|reflexivity]. apply (K5 (f, b) (nth 0 (sel w) (id, 0))); auto. }
    apply pair_inj in Ka; [|apply cB_lt|apply cB_lt]; destruct Ka as [Ka Ks]; apply cB_inj in Ka; apply sB_inj in Ks.
    assert (Kb : forall f'', acc init upd (P zs f'' u w) kw k1 = acc init upd (P zs f'' 0 w) kw k1).
    { intros f''; apply acc_ext; [apply Pw|intros y Hy; apply Pp; exact Hy]. }
    assert (Kc : acc init upd (P z f' u w) kw k1 = acc init upd (P zs f' u w) kw k1).
    { apply (acc_from init upd _ _ kw k2); [apply Pw|apply Hsig; auto|lia|intros; apply PL; lia]. }
    assert (Kd : acc init upd (P z f' u w) kw (S kw) = acc init upd (P zs (f0 w) u w) kw (S kw)).
    { apply (acc_from init upd _ _ kw k1); [apply Pw| |lia|intros; apply Pq; lia].
      rewrite Kc, (Kb f'), (Kb (f0 w)); exact Ka. }
    assert (Kst : forall y, k1 <= y <= S kw -> state h0 G (P z f' u w) y = state h0 G (P zs (f0 w) u w) y).
    { intros y Hy; apply (state_from h0 G _ _ k1); [|lia|intros; apply Pq; lia].
      rewrite (Hst2 z f' u w k1 Sz) by lia.
      rewrite (state_ext h0 G (P zs f' u w) (P zs f' 0 0) k1), Ks; [apply state_ext|]; intros; apply Pp; assumption. }
    unfold F1; cbn [apply]; rewrite Kd, (Kst kw), (Kst (S kw)), (Pw z f' u w zs (f0 w) u) by lia; reflexivity. }
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
  assert (Q4 : forall y, kt <= y <= S kt -> state h0 G (th z2 f u w) y = state h0 G (th z2' f u w) y).
  { intros y Hy; apply (state_from h0 G _ _ kt); [|lia|intros y' Hy'; replace y' with kt by lia; exact Et].
    assert (D : forall z, state h0 G (th z f u w) kt = state h0 G (P z f u w) kt) by (intros; apply state_ext; intros; apply T0; unfold kt in *; lia).
    rewrite (D z2), (D z2'), (Hst2 z2), (Hst2 z2') by (unfold kt; auto; lia); reflexivity. }
  rewrite Ei, <- Ev.
  rewrite <- (Hs _ _ _ (Htask z2 f u w Hz Hfb ltac:(lia) Hw)), <- (Hs _ _ _ (Htask z2' f u w Hz' Hfb ltac:(lia) Hw)).
  fold k1; fold kw; fold kt.
  fold (th z2 f u w); fold (th z2' f u w).
  unfold m; cbn [run]; unfold F1; cbn [apply]; rewrite Q3, (Q4 kt), (Q4 (S kt)), Et by lia; reflexivity.
Qed.

(** n_1 ceil(t q 2^(-(c+s)/(g t))) log2 V > c n_1 (1 + t) + s. *)
Definition thought_check (N0 : N) (ns : list N) (V s c t q g Theta : N) : bool :=
  let n1 := last_n ns in
  positive N0 ns && (0 <? N.of_nat (length ns))%N && (t * q <=? N0)%N && (0 <? g)%N && (g <=? q)%N && (0 <? t)%N &&
  kept (c + s) (t * g) Theta (t * q) && exceeds V (n1 * Theta) (c * n1 + s + c * (n1 * t)).

Lemma think_ext {Y} (m m' : net token Y) next p last T : (forall x t, run m x t = run m' x t) ->
  forall u, think m next p last T u = think m' next p last T u.
Proof.
  intros E; induction T as [|T IH]; intros u; cbn [think]; [reflexivity|].
  destruct (u =? last + S T); [|apply IH]. rewrite E; f_equal; apply run_ext, IH.
Qed.

Theorem thought : forall flat N0 ns V s c t q g Theta b, heads s c b -> thought_check N0 ns V s c t q g Theta = true ->
  ImpossibleThinking [b] 1 (seqcomp flat N0 ns V).
Proof.
  unfold thought_check; intros flat N0 ns V s c t q g Theta b Hb H Y m next answer Hm Hs.
  apply andb_prop in H; destruct H as [H H8]; apply andb_prop in H; destruct H as [H H7]; apply andb_prop in H; destruct H as [H H6];
    apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
    apply andb_prop in H; destruct H as [H1 H2].
  apply N.leb_le in H3, H5; apply N.ltb_lt in H4, H6.
  apply kept_spec in H7; destruct H7 as (_ & _ & HT & H7); apply exceeds_spec in H8; destruct H8 as [HV H8].
  destruct m as [|Z l rest]; [contradiction|]; destruct Hm as [Hl Hm]; destruct rest as [out|]; [|contradiction].
  destruct (both_of l s c) as (St & h0 & G & A & init & upd & o & HS & HA & E).
  { destruct Hb as [[-> ->]| ->]; auto. }
  set (m := Then l (Out out)) in *; set (m' := Then (Both St h0 G A init upd o) (Out out)).
  assert (Em : forall x t, run m x t = run m' x t) by (intros x t'; unfold m, m'; cbn [run]; rewrite E; reflexivity).
  assert (L1 : N.to_nat t * N.to_nat q <= N.to_nat N0) by (clear - H3; lia).
  assert (L2 : 0 < N.to_nat g <= N.to_nat q) by (clear - H4 H5; lia).
  assert (L3 : 0 < N.to_nat t) by (clear - H6; lia).
  assert (L4 : 0 < N.to_nat Theta) by (clear - HT; lia).
  apply (thought_states _ _ _ _ (N.to_nat t) (N.to_nat q) (N.to_nat g) (N.to_nat Theta) V (fun _ => 2 ^ s)%N (fun _ => 2 ^ c)%N _ Y m' next answer
           (seqcomp_two flat N0 ns V H1 (nonempty _ H2))); auto.
  - split; [split; auto|exact I].
  - replace (nN (N.to_nat t * N.to_nat g)) with (t * g)%N by (clear; lia).
    replace (nN (N.to_nat t * N.to_nat q)) with (t * q)%N by (clear; lia).
    replace (nN (N.to_nat Theta - 1)) with (Theta - 1)%N by (clear; lia). rewrite <- N.pow_add_r; exact H7.
  - replace (nN (N.to_nat (last_n ns) * N.to_nat t)) with (last_n ns * t)%N by (clear; lia).
    replace (nN (N.to_nat (last_n ns) * N.to_nat Theta)) with (last_n ns * Theta)%N by (clear; lia).
    rewrite !N2Nat.id, <- !N.pow_mul_r, <- !N.pow_add_r; exact H8.
  - intros p u v Hp; rewrite <- (Hs p u v Hp), Em; f_equal; apply run_ext; intros y; symmetry; apply think_ext, Em.
Qed.

(** ** Fewer thoughts are no better

    A network that has its answer can say it as a thought, and then read it.  For that a token keeps what it was. *)
Definition keeping_layer {X X' Z} (f : X' -> X) (l : layer X Z) : layer X' (Z * X') :=
  match l with
  | Rec St h0 G out => Rec St h0 (fun t s x => G t s (f x)) (fun t s s' x => (out t s s' (f x), x))
  | Full A init upd out =>
      Full A (fun t x => init t (f x)) (fun t j a x x' => upd t j a (f x) (f x')) (fun t a x => (out t a (f x), x))
  | Both St h0 G A init upd out =>
      Both St h0 (fun t s x => G t s (f x)) A (fun t x => init t (f x)) (fun t j a x x' => upd t j a (f x) (f x'))
        (fun t s s' a x => (out t s s' a (f x), x))
  end.

Fixpoint keeping {X Y} (m : net X Y) : forall X' E, (X' -> X) -> (X' -> E) -> net X' (Y * E) :=
  match m with
  | Out g => fun X' E f e => Out (fun t x => (g t (f x), e x))
  | Then l rest => fun X' E f e => Then (keeping_layer f l) (keeping rest _ _ fst (fun zx => e (snd zx)))
  end.

Lemma keeping_layer_apply {X X' Z} (f : X' -> X) (l : layer X Z) x t :
  apply (keeping_layer f l) x t = (apply l (fun u => f (x u)) t, x t).
Proof.
  assert (S1 : forall St h0 (G : forall t, St t -> X -> St (S t)) u, state h0 (fun t s x => G t s (f x)) x u = state h0 G (fun u => f (x u)) u)
    by (intros St h0 G u; induction u as [|u IH]; [reflexivity|]; cbn [state]; rewrite IH; reflexivity).
  assert (A1 : forall A init (upd : forall t j : nat, A j -> X -> X -> A (S j)) j,
            acc (fun t x => init t (f x)) (fun t j a x x' => upd t j a (f x) (f x')) x t j = acc init upd (fun u => f (x u)) t j)
    by (intros A init upd j; induction j as [|j IH]; [reflexivity|]; cbn [acc]; rewrite IH; reflexivity).
  destruct l; cbn [keeping_layer apply]; rewrite ?(S1 St h0 G), ?(A1 A init upd); reflexivity.
Qed.

Lemma keeping_run {X Y} (m : net X Y) : forall X' E (f : X' -> X) (e : X' -> E) x t,
  run (keeping m X' E f e) x t = (run m (fun u => f (x u)) t, e (x t)).
Proof.
  induction m as [X Y g|X Y Z l rest IH]; intros X' E f e x t; cbn [keeping run]; [reflexivity|].
  rewrite IH, keeping_layer_apply; cbn [snd]; f_equal; apply run_ext; intros u; rewrite keeping_layer_apply; reflexivity.
Qed.

Lemma keeping_fits {X Y} (m : net X Y) : forall X' E f e a, fits m a -> fits (keeping m X' E f e) a.
Proof.
  induction m as [X Y g|X Y Z l rest IH]; intros X' E f e [|s a] H; cbn [keeping fits] in *; auto.
  destruct H as [H1 H2]; split; [destruct l, s; exact H1|apply IH, H2].
Qed.

(** A last function of the token's own value. *)
Fixpoint followed {X Y Z} (m : net X Y) (h : nat -> Y -> Z) : net X Z :=
  match m with
  | Out g => Out (fun t x => h t (g t x))
  | Then l rest => Then l (followed rest h)
  end.

Lemma followed_run {X Y Z} (m : net X Y) (h : nat -> Y -> Z) x t : run (followed m h) x t = h t (run m x t).
Proof. induction m; cbn [followed run]; auto. Qed.

Lemma followed_fits {X Y Z} (m : net X Y) (h : nat -> Y -> Z) a : fits m a -> fits (followed m h) a.
Proof. revert a; induction m as [|X Y W l rest IH]; intros [|s a] H; cbn [followed fits] in *; auto; destruct H; split; auto. Qed.

Lemma one_more_thought (k : task) (last : nat) arch T : (forall p t v, k p t v -> t = last) ->
  ImpossibleThinking arch (S T) k -> ImpossibleThinking arch T k.
Proof.
  intros Hlast H Y m next answer Hm Hs.
  set (m' := followed (keeping m token token (fun x => x) (fun x => x))
               (fun t z => if t <? last + T then inl (fst z) else if t =? last + T then inr (num (answer (fst z))) else inr (snd z) : Y + token)).
  set (next' := fun y : Y + token => match y with inl z => next z | inr x => x end).
  set (answer' := fun y : Y + token => match y with inr (num v) => v | _ => 0 end).
  apply (H (Y + token)%type m' next' answer'); [apply followed_fits, keeping_fits, Hm|].
  intros p t v Hk; pose proof (Hlast p t v Hk) as ->; specialize (Hs p last v Hk).
  assert (R : forall x u, run m' x u = if u <? last + T then inl (run m x u) else if u =? last + T then inr (num (answer (run m x u))) else inr (x u))
    by (intros x u; unfold m'; rewrite followed_run, keeping_run; reflexivity).
  assert (E : forall j, j <= T -> forall u, think m' next' p last j u = think m next p last j u).
  { induction j as [|j IH]; intros Hj u; cbn [think]; [reflexivity|].
    destruct (u =? last + S j); [|apply IH; lia].
    rewrite R; destruct (Nat.ltb_spec (last + j) (last + T)); [|lia]; cbn; f_equal; apply run_ext, IH; lia. }
  rewrite R; destruct (Nat.ltb_spec (last + S T) (last + T)); [lia|]; destruct (Nat.eqb_spec (last + S T) (last + T)); [lia|].
  cbn [think]; rewrite Nat.eqb_refl, R; destruct (Nat.ltb_spec (last + T) (last + T)); [lia|]; rewrite Nat.eqb_refl; cbn.
  rewrite <- Hs; f_equal; apply run_ext, E; lia.
Qed.

Lemma fewer_thoughts (k : task) (last : nat) arch T T' : (forall p t v, k p t v -> t = last) -> T' <= T ->
  ImpossibleThinking arch T k -> ImpossibleThinking arch T' k.
Proof. intros Hl HT; induction HT as [|T HT IH]; [auto|]. intros H; apply IH, (one_more_thought k last); auto. Qed.

Lemma seqcomp_last flat N0 ns V p t v : seqcomp flat N0 ns V p t v -> t = last_at flat (N.to_nat N0) (map N.to_nat ns).
Proof. intros (z & z0 & w & _ & _ & _ & _ & _ & _ & Ht & _); rewrite prompt_length in Ht; lia. Qed.

Theorem one_thought : forall flat N0 ns V s c t q g Theta b, heads s c b -> thought_check N0 ns V s c t q g Theta = true ->
  forall T, T <= 1 -> ImpossibleThinking [b] T (seqcomp flat N0 ns V).
Proof.
  intros flat N0 ns V s c t q g Theta b Hb H T HT.
  apply (fewer_thoughts _ _ _ 1 T (seqcomp_last flat N0 ns V) HT), (thought flat N0 ns V s c t q g Theta b Hb H).
Qed.
