(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * K1: one layer with full heads, T thoughts, and T + 1 functions, T >= 2

    Recurrent heads may stand beside the full ones.  From the inside out: for tables z_1, ..., z_(l-1) in small lists, and outer tables in
    a large set, what w and the first l - 1 thoughts compute does not depend on the outer tables.  A step lists a few functions z_l that
    take many values (Lemma S'), and fixes what the next thought hears of the tables outside. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose TheoremB0 LemmaT LemmaS LemmaSPrime TheoremC0 Thought.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** Sets of outer tables

    An outer table is a word; a set is a function to bool on all of them, the next table first. *)
Definition tbl : Type := nat -> nat.

Fixpoint univ (ws : list (list (list nat))) : list (list (list nat)) :=
  match ws with [] => [[]] | w :: r => flat_map (fun o => map (fun y => y :: o) w) (univ r) end.

Fixpoint outer (ds : list (list nat -> tbl)) (o : list (list nat)) : list tbl :=
  match ds, o with d :: ds, y :: o => outer ds o ++ [d y] | _, _ => [] end.

Lemma univ_in ws o : In o (univ ws) -> length o = length ws.
Proof.
  revert o; induction ws as [|w ws IH]; intros o H; cbn [univ] in H; [destruct H as [<-|[]]; reflexivity|].
  apply in_flat_map in H; destruct H as [o' [H' H]]; apply in_map_iff in H; destruct H as [y [<- _]]; cbn [length]; rewrite (IH o' H'); reflexivity.
Qed.

Lemma univ_cons w ws y o : In (y :: o) (univ (w :: ws)) <-> In y w /\ In o (univ ws).
Proof.
  cbn [univ]; rewrite in_flat_map; split.
  - intros (o' & H' & H); apply in_map_iff in H; destruct H as [y' [E H]]; injection E as -> ->; auto.
  - intros [H H']; exists o; split; [exact H'|]. apply in_map_iff; exists y; auto.
Qed.

Lemma univ_size w ws : size (univ (w :: ws)) = (size w * size (univ ws))%N.
Proof.
  cbn [univ]; unfold size; induction (univ ws) as [|o r IH]; [simpl; lia|]. cbn [flat_map length]; rewrite app_length, map_length; lia.
Qed.

Lemma univ_count w ws mem :
  size (filter mem (univ (w :: ws))) = total_of (fun o => size (filter (fun y => mem (y :: o)) w)) (univ ws).
Proof.
  cbn [univ]; rewrite size_total, total_flat; apply total_ext; intros o; rewrite total_map, size_total; reflexivity.
Qed.

Lemma outer_length ds o : length ds = length o -> length (outer ds o) = length o.
Proof.
  revert o; induction ds as [|d ds IH]; intros [|y o] E; try discriminate; [reflexivity|]; cbn [outer length] in *.
  rewrite app_length, IH by congruence; cbn; lia.
Qed.

(** What i_(l-1) is, if the inner tables are z_(l-1), ..., z_1. *)
Fixpoint chase (B : list tbl) (u : nat) : nat := match B with [] => u | z :: B => z (chase B u) end.

(** ** Two sequences that a receiver does not tell apart *)
Lemma same_output {X Y St} h0 G {A} init upd out (x x' : nat -> X) r k k0 : x r = x' r -> k <= S r -> k0 <= r ->
  acc init upd x r k = acc init upd x' r k -> state h0 G x k0 = state h0 G x' k0 ->
  (forall y, k <= y <= r -> x y = x' y) -> (forall y, k0 <= y <= r -> x y = x' y) ->
  apply (@Both X Y St h0 G A init upd out) x r = apply (Both St h0 G A init upd out) x' r.
Proof.
  intros E Hk Hk0 Ea Es Ht Ht0; cbn [apply].
  rewrite (acc_from init upd x x' r k (S r)) by (auto; intros; apply Ht; lia).
  rewrite (state_from h0 G x x' k0 r), (state_from h0 G x x' k0 (S r)), E by (auto; try lia; intros; apply Ht0; lia); reflexivity.
Qed.

Section Deep.
Variables (n0 : nat) (V : N) (Lp : nat).                   (* Lp functions *)
Variables (P : list tbl -> nat -> nat -> token) (cut : nat -> nat) (kw : nat).
Hypothesis Hcut : forall l, l < Lp -> cut l <= kw.
Hypothesis Hdown : forall l, 1 <= l < Lp -> cut l <= cut 1.
Hypothesis Hbefore : forall A B B' u u' p, length A + length B = Lp -> length B = length B' -> length B < Lp -> p < cut (length B) ->
  P (A ++ B) u p = P (A ++ B') u' p.
Hypothesis Hafter : forall A A' B u p, length A + length B = Lp -> length A = length A' -> length B < Lp -> cut (length B) <= p <= kw ->
  P (A ++ B) u p = P (A' ++ B) u p.
Hypothesis Hlast : forall A u A' u', length A = Lp -> length A' = Lp -> P A u kw = P A' u' kw.

Variables (Z Y : Type) (St : nat -> Type) (h0 : St 0) (G : forall t, St t -> token -> St (S t))
  (Ac : nat -> Type) (init : forall t : nat, token -> Ac 0) (upd : forall t j : nat, Ac j -> token -> token -> Ac (S j))
  (out : forall t, St t -> St (S t) -> Ac (S t) -> token -> Z) (fin : nat -> Z -> Y) (next : Y -> token) (answer : Y -> nat).
Variables (c s : N).
Hypothesis HS : forall t, card_le (St t) (2 ^ s).
Hypothesis HA : forall t, card_le (Ac t) (2 ^ c).

Definition layer1 : layer token Z := Both St h0 G Ac init upd out.
Definition m1 : net token Y := Then layer1 (Out fin).

(** The prompt with its first j thoughts, and what the last of them computes. *)
Definition th (D : list tbl) (u j : nat) : nat -> token := think m1 next (P D u) kw j.
Definition says (D : list tbl) (u j : nat) : Y := run m1 (th D u j) (kw + j).

Lemma th_prompt D u j y : y <= kw -> th D u j y = P D u y.
Proof. apply think_before. Qed.

Lemma th_thought D u j i : i < j -> th D u j (kw + S i) = next (says D u i).
Proof.
  revert i; induction j as [|j IH]; intros i Hi; [lia|]; unfold th; cbn [think].
  destruct (Nat.eqb_spec (kw + S i) (kw + S j)) as [E|E]; [replace i with j by lia; reflexivity|]. apply IH; lia.
Qed.

(** The thought number j, if those before it say the same, hears the same before k, and the same prompt follows k. *)
Lemma says_same D D' u u' j k k0 : k <= kw -> k0 <= kw ->
  (forall i, i < j -> says D u i = says D' u' i) ->
  (forall y, k <= y <= kw -> P D u y = P D' u' y) -> (forall y, k0 <= y <= kw -> P D u y = P D' u' y) ->
  state h0 G (P D u) k0 = state h0 G (P D' u') k0 ->
  acc init upd (th D u j) (kw + j) k = acc init upd (th D' u' j) (kw + j) k ->
  says D u j = says D' u' j.
Proof.
  intros Hk Hk0 Hi Ht Ht0 Es Ea; unfold says; cbn [run m1]; f_equal.
  assert (E : forall b y, b <= kw -> (forall y, b <= y <= kw -> P D u y = P D' u' y) -> b <= y <= kw + j -> th D u j y = th D' u' j y).
  { intros b y Hb HP Hy; destruct (Nat.le_gt_cases y kw) as [L|L]; [rewrite !th_prompt by exact L; apply HP; lia|].
    replace y with (kw + S (y - kw - 1)) by lia; rewrite !th_thought by lia; rewrite Hi by lia; reflexivity. }
  apply (same_output h0 G init upd out (th D u j) (th D' u' j) (kw + j) k k0); try lia; auto.
  - apply (E k); auto; lia.
  - rewrite (state_ext h0 G (th D u j) (P D u)), (state_ext h0 G (th D' u' j) (P D' u')) by (intros; apply th_prompt; lia); exact Es.
  - intros y Hy; apply (E k); auto.
  - intros y Hy; apply (E k0); auto.
Qed.

(** What a receiver with this token hears of the tables A. *)
Definition hears (r k : nat) (y : token) (A : list tbl) (B : list tbl) : Ac k :=
  acc init upd (fun p => if p =? r then y else P (A ++ B) 0 p) r k.

Lemma hears_spec A B B' u j : length A + length B = Lp -> length B = length B' -> length B < Lp ->
  acc init upd (th (A ++ B) u j) (kw + j) (cut (length B)) =
  hears (kw + j) (cut (length B)) (th (A ++ B) u j (kw + j)) A B'.
Proof.
  intros H1 H2 H3; unfold hears; pose proof (Hcut _ H3); apply acc_ext; [rewrite Nat.eqb_refl; reflexivity|].
  intros y Hy; destruct (Nat.eqb_spec y (kw + j)); [lia|]. rewrite th_prompt by lia; apply Hbefore; auto.
Qed.

(** ** The levels that are left *)
Record level := { q : nat; x : nat; theta : nat; a : N; b : N }.

(** z_l maps r < P to r q + letter. *)
Definition dec (Pl ql : nat) (y : list nat) : tbl := fun r => if r <? Pl then r * ql + nth r y 0 else 0.
Definition dec_last (y : list nat) : tbl := fun r => nth r y 0.

Fixpoint decs (Pl : nat) (lv : list level) : list (list nat -> tbl) :=
  match lv with [] => [dec_last] | v :: lv => dec Pl (q v) :: decs (Pl * q v) lv end.
Fixpoint spaces (Pl : nat) (lv : list level) : list (list (list nat)) :=
  match lv with [] => [words (N.to_nat V) n0] | v :: lv => words (q v) Pl :: spaces (Pl * q v) lv end.

Lemma decs_length Pl lv : length (decs Pl lv) = S (length lv).
Proof. revert Pl; induction lv as [|v lv IH]; intros Pl; cbn; [reflexivity|rewrite IH; reflexivity]. Qed.
Lemma spaces_length Pl lv : length (spaces Pl lv) = S (length lv).
Proof. revert Pl; induction lv as [|v lv IH]; intros Pl; cbn; [reflexivity|rewrite IH; reflexivity]. Qed.

Lemma outer_of Pl lv o : In o (univ (spaces Pl lv)) -> length (outer (decs Pl lv) o) = S (length lv).
Proof.
  intros H; apply univ_in in H; rewrite spaces_length in H; rewrite outer_length; [exact H|rewrite decs_length; congruence].
Qed.

(** Exponents of densities: D, then x D + 1 + c X, where X contexts are listed. *)
Fixpoint ok (Pl Theta X : nat) (D : N) (lv : list level) : Prop :=
  match lv with
  | [] => Pl <= n0 /\ (2 ^ D < V ^ nN Theta)%N
  | v :: lv =>
      0 < q v /\ 0 < x v /\ 0 < theta v <= x v * Theta /\ (0 < a v <= b v)%N /\
      (2 ^ (D * nN (x v) + 1) * prodf (fun j => nN (q v) * a v + (b v - a v) * nN j) (x v) ^ nN Theta <
       nN (q v) ^ nN (x v * Theta) * (a v ^ nN (theta v - 1) * b v ^ nN (x v * Theta - (theta v - 1))))%N /\
      ok (Pl * q v) (theta v) (x v * X) (D * nN (x v) + 1 + c * nN X) lv
  end.

Hypothesis HV : (0 < V)%N.

Lemma univ_pos Pl lv Theta X D : ok Pl Theta X D lv -> univ (spaces Pl lv) <> [].
Proof.
  intros H C; assert (E : size (univ (spaces Pl lv)) = 0%N) by (rewrite C; reflexivity); clear C.
  revert Pl Theta X D H E; induction lv as [|v lv IH]; intros Pl Theta X D H E; cbn [spaces ok] in *; rewrite univ_size in E.
  - change (size (univ [])) with 1%N in E; rewrite words_size in E.
    assert (nN (N.to_nat V) ^ nN n0 <> 0)%N by (apply N.pow_nonzero; lia); lia.
  - destruct H as (H1 & _ & _ & _ & _ & H); rewrite words_size in E.
    assert (nN (q v) ^ nN Pl <> 0)%N by (apply N.pow_nonzero; lia).
    apply (IH _ _ _ _ H); apply N.eq_mul_0 in E; tauto.
Qed.

Hypothesis Hsolves : forall D u, length D = Lp -> u < n0 ->
  (forall z r, In z (tl D) -> r < n0 -> z r < n0) -> (forall r, r < n0 -> hd (fun _ => 0) D r < N.to_nat V) ->
  answer (says D u (Lp - 1)) = chase D u.

(** ** The induction *)
Theorem deep : forall lv l Pl Theta (D : N) (ctxs : list (nat * list tbl)) (J : list nat) (mem : list (list nat) -> bool) (s0 : St (cut 1)),
  2 <= l -> l + length lv = Lp ->
  (forall ub, In ub ctxs -> fst ub < n0 /\ length (snd ub) = l - 1 /\ forall z r, In z (snd ub) -> r < n0 -> z r < n0) ->
  NoDup J -> length J = Theta -> (forall r, In r J -> r < Pl /\ exists ub, In ub ctxs /\ chase (snd ub) (fst ub) = r) ->
  (size (univ (spaces Pl lv)) <= 2 ^ D * size (filter mem (univ (spaces Pl lv))))%N ->
  (forall ub o o' j, In ub ctxs -> In o (univ (spaces Pl lv)) -> In o' (univ (spaces Pl lv)) -> mem o = true -> mem o' = true -> j < l ->
     says (outer (decs Pl lv) o ++ snd ub) (fst ub) j = says (outer (decs Pl lv) o' ++ snd ub) (fst ub) j) ->
  (forall ub o, In ub ctxs -> In o (univ (spaces Pl lv)) -> mem o = true ->
     state h0 G (P (outer (decs Pl lv) o ++ snd ub) (fst ub)) (cut 1) = s0) ->
  ok Pl Theta (length ctxs) D lv -> False.
Proof.
  induction lv as [|v lv IH]; intros l Pl Theta D ctxs J mem s0 Hl Hlv Hctx HJ HJl HJr Hd Hst Hss Hok; cbn [ok] in Hok.
  - (* the last table *)
    cbn [spaces decs] in *; destruct Hok as [HP Hlt]; cbn [length] in Hlv.
    set (W := words (N.to_nat V) n0) in *.
    assert (Hu : forall y, In y W -> In [y] (univ [W])) by (intros y Hy; apply univ_cons; split; [exact Hy|left; reflexivity]).
    set (cls := filter (fun y => mem [y]) W).
    assert (Ec : size (filter mem (univ [W])) = size cls).
    { rewrite univ_count; cbn [univ total_of]; unfold cls; lia. }
    rewrite Ec, univ_size in Hd; change (size (univ [])) with 1%N in Hd; rewrite N.mul_1_r in Hd.
    assert (HJn : forall r, In r J -> r < n0) by (intros r Hr; destruct (HJr r Hr); lia).
    set (O := others n0 J); pose proof (others_length n0 J HJ HJn) as HO; fold O in HO.
    assert (Hc : (size cls <= V ^ nN (length O))%N).
    { apply (pigeon_list (fun y => digits V (fun k => nN (nth (nth k O 0) y 0)) (length O))).
      - apply NoDup_filter, words_NoDup.
      - intros y Hy; apply filter_In in Hy; destruct Hy as [Hy _]; apply words_spec in Hy; destruct Hy as [Ly By].
        apply digits_lt; intros k Hk.
        assert (Io : In (nth k O 0) O) by (apply nth_In; exact Hk); apply others_spec in Io.
        specialize (By (nth (nth k O 0) y 0) ltac:(apply nth_In; lia)); lia.
      - intros y y' Hy Hy' E; apply filter_In in Hy, Hy'; destruct Hy as [Hy My], Hy' as [Hy' My'].
        pose proof (words_spec _ _ _ Hy) as [Ly By]; pose proof (words_spec _ _ _ Hy') as [Ly' By'].
        assert (Bn : forall w, In w W -> forall r, r < n0 -> nth r w 0 < N.to_nat V)
          by (intros w Hw r Hr; apply words_spec in Hw; destruct Hw as [Lw Bw]; apply Bw, nth_In; lia).
        apply (nth_ext _ _ 0 0); [congruence|]. intros r Hr; rewrite Ly in Hr.
        destruct (in_dec Nat.eq_dec r J) as [I|I].
        + destruct (HJr r I) as (_ & ub & Hub & Er); destruct (Hctx ub Hub) as (Hu0 & HB & HBz).
          assert (Ans : forall w, In w W -> answer (says (outer [dec_last] [w] ++ snd ub) (fst ub) (Lp - 1)) = nth r w 0).
          { intros w Hw; rewrite Hsolves; cbn [outer app chase tl hd length]; [rewrite Er; reflexivity|idtac|exact Hu0|exact HBz|]; [etransitivity; [apply (f_equal S HB)|lia]|].
            intros r' Hr'; apply (Bn w Hw); exact Hr'. }
          rewrite <- (Ans y Hy), <- (Ans y' Hy'); f_equal; apply Hst; auto; lia.
        + assert (Io : In r O) by (apply others_spec; auto); destruct (In_nth O r 0 Io) as (k & Hk & Ek).
          assert (LO : forall i, i < length O -> nth i O 0 < n0) by (intros i Hi; assert (X' : In (nth i O 0) O) by (apply nth_In; exact Hi); apply others_spec in X'; tauto).
          pose proof (digits_inj V (fun k => nN (nth (nth k O 0) y 0)) (fun k => nN (nth (nth k O 0) y' 0)) (length O)) as DI; cbv beta in DI.
          specialize (DI ltac:(intros i Hi; specialize (Bn y Hy _ (LO i Hi)); lia) ltac:(intros i Hi; specialize (Bn y' Hy' _ (LO i Hi)); lia) E k Hk).
          rewrite Ek in DI; lia. }
    unfold W in Hd; rewrite words_size, N2Nat.id in Hd.
    apply N.lt_nge in Hlt; apply Hlt.
    assert (HVn : (V ^ nN (n0 - Theta) <> 0)%N) by (apply N.pow_nonzero; lia).
    apply (N.mul_le_mono_pos_r _ _ (V ^ nN (n0 - Theta))); [lia|]. rewrite <- N.pow_add_r.
    replace (nN Theta + nN (n0 - Theta))%N with (nN n0) by lia.
    eapply N.le_trans; [exact Hd|]. apply N.mul_le_mono_l; eapply N.le_trans; [exact Hc|]. apply N.pow_le_mono_r; lia.
  - (* a step *)
    destruct Hok as (Hq & Hx & Hth & Hab & Hineq & Hok); cbn [spaces decs length] in *.
    set (Zs := words (q v) Pl) in *; set (Os := univ (spaces (Pl * q v) lv)) in *.
    set (act := fun k => existsb (Nat.eqb k) J).
    assert (Hact : length (filter act (seq 0 Pl)) = Theta).
    { rewrite <- HJl; apply Nat.le_antisymm.
      - apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|]. intros k Hk; apply filter_In in Hk; destruct Hk as [_ Hk]; apply existsb_eqb, Hk.
      - apply NoDup_incl_length; [exact HJ|]. intros k Hk; apply filter_In; split; [apply in_seq; destruct (HJr k Hk); lia|apply existsb_eqb, Hk]. }
    assert (HOs : Os <> []) by (apply (univ_pos _ _ _ _ _ Hok)).
    set (K := (2 ^ D)%N); set (bad := poor act (theta v)).
    destruct (good_tuple Zs Os (fun z o => mem (z :: o)) K (x v) bad HOs) as (ys & Hys & Hgood & Hmany).
    { rewrite univ_size, univ_count in Hd; exact Hd. }
    { pose proof (few_poor_share (a v) (b v) (q v) Pl act (proj2 Hab) (2 * K ^ nN (x v))%N (x v) (theta v) Hq (proj1 Hab)) as F.
      rewrite Hact in F; unfold bad, Zs; apply F; [exact Hth|].
      replace (2 * K ^ nN (x v))%N with (2 ^ (D * nN (x v) + 1))%N by (unfold K; rewrite N.pow_add_r, N.pow_mul_r; lia); exact Hineq. }
    destruct (tuples_in _ _ _ Hys) as [Lys Bys].
    set (Os' := filter (fun o => forallb (fun z => mem (z :: o)) ys) Os) in *.
    assert (HK : (K <> 0)%N) by (apply N.pow_nonzero; lia).
    assert (HOs' : Os' <> []).
    { intros C; rewrite C in Hmany; unfold size in Hmany; cbn [length] in Hmany; destruct Os; [congruence|cbn [length] in Hmany; lia]. }
    assert (exists oo, In oo Os') as (oo & Hoo) by (destruct Os' as [|e r]; [congruence|exists e; left; reflexivity]).
    assert (Hin' : forall o, In o Os' -> In o Os /\ forall y, In y ys -> mem (y :: o) = true).
    { intros o Ho; apply filter_In in Ho; destruct Ho as [Ho Hf]; rewrite forallb_forall in Hf; auto. }
    assert (exists y0, In y0 ys) as (y0 & Hy0) by (destruct ys as [|y0 yr]; [cbn in Lys; lia|exists y0; left; reflexivity]).
    set (dl := dec Pl (q v)) in *; set (ds := decs (Pl * q v) lv) in *.
    assert (Hun : forall y o, In y ys -> In o Os' -> In (y :: o) (univ (Zs :: spaces (Pl * q v) lv)))
      by (intros y o Hy Ho; apply univ_cons; split; [apply Bys, Hy|apply Hin', Ho]).
    assert (HlO : forall o, In o Os' -> length (outer ds o) = S (length lv)) by (intros o Ho; apply outer_of, Hin', Ho).
    (* a thought more: what it says first does not depend on the tables outside, nor on z_l *)
    set (tau := fun ub : nat * list tbl => next (says (outer ds oo ++ [dl y0] ++ snd ub) (fst ub) (l - 1))).
    set (X := length ctxs) in *.
    set (dummy := repeat (fun _ : nat => 0) l : list tbl).
    assert (Ldum : length dummy = l) by apply repeat_length.
    destruct (HA (cut l)) as (cA & cA_inj & cA_lt).
    set (msg := fun o => digits (2 ^ c) (fun k => cA (hears (kw + l) (cut l) (tau (nth k ctxs (0, []))) (outer ds o) dummy)) X).
    destruct (popular_in msg ((2 ^ c) ^ nN X) Os') as (os & Hos & Hpop); [congruence|intros; apply digits_lt; intros; apply cA_lt|].
    set (mem' := fun o => forallb (fun z => mem (z :: o)) ys && (msg o =? msg os)%N).
    assert (Em : filter mem' Os = filter (fun o => (msg o =? msg os)%N) Os').
    { unfold mem', Os'; generalize Os; intros L; induction L as [|e L IHL]; [reflexivity|]; cbn [filter].
      destruct (forallb (fun z => mem (z :: e)) ys); cbn [andb]; [cbn [filter]|]; rewrite IHL; reflexivity. }
    set (ctxs' := flat_map (fun y => map (fun ub : nat * list tbl => (fst ub, dl y :: snd ub)) ctxs) ys).
    assert (Lc : length ctxs' = x v * X).
    { unfold ctxs'; rewrite <- Lys; clear; induction ys as [|y ys IHy]; [reflexivity|]; cbn [flat_map length]; rewrite app_length, map_length, IHy; unfold X; lia. }
    assert (Ic : forall ub', In ub' ctxs' -> exists y ub, In y ys /\ In ub ctxs /\ ub' = (fst ub, dl y :: snd ub)).
    { intros ub' H; apply in_flat_map in H; destruct H as (y & Hy & H); apply in_map_iff in H; destruct H as (ub & <- & Hub); exists y, ub; auto. }
    assert (HPq : Pl * q v <= n0).
    { clear - Hok; revert Hok; generalize (Pl * q v) (theta v) (x v * X) (D * nN (x v) + 1 + c * nN X)%N; induction lv as [|w lv IH]; intros p' t' x' d' H; cbn [ok] in H; [tauto|].
      destruct H as (Hq & _ & _ & _ & _ & H); apply IH in H; nia. }
    set (fr := fresh act ys).
    assert (Hpl : forall y, In y ys -> length y = Pl /\ forall w, In w y -> w < q v) by (intros y Hy; apply (words_spec _ _ _ (Bys y Hy))).
    set (J' := map (fun kv => fst kv * q v + snd kv) (firstn (theta v) fr)).
    assert (Hfr : theta v <= length fr) by (unfold bad, poor in Hgood; apply Nat.ltb_ge in Hgood; exact Hgood).
    assert (Ifr : forall kv, In kv (firstn (theta v) fr) -> fst kv < Pl /\ In (fst kv) J /\ snd kv < q v /\ exists y, In y ys /\ nth (fst kv) y 0 = snd kv).
    { intros [k w] H; apply firstn_In in H; destruct (fresh_in 0 0 Pl act (N.le_refl 0) ys k w (fun y Hy => proj1 (Hpl y Hy)) H) as (H1 & H2 & y & Hy & E).
      cbn [fst snd]; split; [exact H1|]. split; [apply existsb_eqb, H2|]. split; [|exists y; auto].
      rewrite <- E; destruct (Hpl y Hy) as [L B]; apply B, nth_In; lia. }
    rewrite <- Lc in Hok.
    apply (IH (S l) (Pl * q v) (theta v) (D * nN (x v) + 1 + c * nN X)%N ctxs' J' mem' s0); try lia.
    + intros ub' H; destruct (Ic ub' H) as (y & ub & Hy & Hub & ->); destruct (Hctx ub Hub) as (H1 & H2 & H3); cbn [fst snd length].
      split; [exact H1|]. split; [lia|]. intros z r [<-|Hz] Hr; [|apply H3; auto].
      unfold dl, dec; destruct (Nat.ltb_spec r Pl) as [Lr|Lr]; [|lia].
      destruct (Hpl y Hy) as [L B]; specialize (B (nth r y 0) ltac:(apply nth_In; lia)); nia.
    + unfold J'; apply NoDup_map_on; [|apply firstn_NoDup, (fresh_NoDup 0 0 Pl act (N.le_refl 0)), Hpl].
      intros [k w] [k' w'] H H' E; destruct (Ifr _ H) as (_ & _ & B & _), (Ifr _ H') as (_ & _ & B' & _); cbn [fst snd] in *.
      apply block_inj in E; auto; destruct E; congruence.
    + unfold J'; rewrite map_length, firstn_length; lia.
    + intros r Hr; apply in_map_iff in Hr; destruct Hr as ([k w] & <- & Hkw); destruct (Ifr _ Hkw) as (H1 & H2 & H3 & y & Hy & E); cbn [fst snd] in *.
      split; [nia|]. destruct (HJr k H2) as (_ & ub & Hub & Ek); exists (fst ub, dl y :: snd ub); cbn [fst snd chase]; split.
      * apply in_flat_map; exists y; split; [exact Hy|]. apply in_map_iff; exists ub; auto.
      * rewrite Ek; unfold dl, dec; destruct (Nat.ltb_spec k Pl); [rewrite E; reflexivity|lia].
    + fold Os; rewrite Em.
      eapply N.le_trans; [exact Hmany|]. eapply N.le_trans; [apply N.mul_le_mono_l, Hpop|].
      rewrite !N.pow_add_r, (N.pow_mul_r 2 D), (N.pow_mul_r 2 c), N.pow_1_r; fold K; rewrite N.mul_assoc.
      apply N.mul_le_mono_r; lia.
    + (* the outputs *)
      intros ub' o o' j H Ho Ho' Mo Mo' Hj; destruct (Ic ub' H) as (y & ub & Hy & Hub & ->); cbn [fst snd]; fold ds.
      destruct (Hctx ub Hub) as (Hu & HB & HBz).
      assert (In o Os' /\ (msg o =? msg os)%N = true) as [Io Eo].
      { unfold mem' in Mo; apply andb_prop in Mo; destruct Mo as [M1 M2]; split; [apply filter_In; auto|exact M2]. }
      assert (In o' Os' /\ (msg o' =? msg os)%N = true) as [Io' Eo'].
      { unfold mem' in Mo'; apply andb_prop in Mo'; destruct Mo' as [M1 M2]; split; [apply filter_In; auto|exact M2]. }
      apply N.eqb_eq in Eo, Eo'.
      assert (Old : forall y1 y2 o1 o2 i, In y1 ys -> In y2 ys -> In o1 Os' -> In o2 Os' -> i < l ->
        says (outer ds o1 ++ dl y1 :: snd ub) (fst ub) i = says (outer ds o2 ++ dl y2 :: snd ub) (fst ub) i).
      { intros y1 y2 o1 o2 i Y1 Y2 O1 O2 Hi.
        pose proof (Hst ub (y1 :: o1) (y2 :: o2) i Hub (Hun _ _ Y1 O1) (Hun _ _ Y2 O2) (proj2 (Hin' o1 O1) y1 Y1) (proj2 (Hin' o2 O2) y2 Y2) Hi) as E.
        cbn [outer] in E; fold dl ds in E; rewrite <- !app_assoc in E; exact E. }
      destruct (Nat.eq_dec j l) as [->|Hne]; [|apply Old; auto; lia].
      assert (LB : length (dl y :: snd ub) = l) by (cbn [length]; lia).
      assert (LA : forall e, In e Os' -> length (outer ds e) + length (dl y :: snd ub) = Lp) by (intros e He; rewrite (HlO e He), LB; lia).
      assert (HlL : l < Lp) by lia.
      apply (says_same _ _ _ _ l (cut l) (cut 1)).
      * apply Hcut; lia.
      * apply Hcut; lia.
      * intros i Hi; apply Old; auto.
      * intros p Hp; apply (Hafter (outer ds o) (outer ds o') (dl y :: snd ub)); rewrite ?LB, ?HlO by assumption; auto; lia.
      * intros p Hp; pose proof (Hdown l ltac:(lia)); apply (Hafter (outer ds o) (outer ds o') (dl y :: snd ub)); rewrite ?LB, ?HlO by assumption; auto; lia.
      * pose proof (Hss ub (y :: o) Hub (Hun _ _ Hy Io) (proj2 (Hin' o Io) y Hy)) as S1.
        pose proof (Hss ub (y :: o') Hub (Hun _ _ Hy Io') (proj2 (Hin' o' Io') y Hy)) as S2.
        cbn [outer] in S1, S2; fold dl ds in S1, S2; rewrite <- !app_assoc in S1, S2; cbn [app] in S1, S2; congruence.
      * assert (Tok : forall e, In e Os' -> th (outer ds e ++ dl y :: snd ub) (fst ub) l (kw + l) = tau ub).
        { intros e He; replace (kw + l) with (kw + S (l - 1)) by lia; rewrite th_thought by lia; unfold tau; f_equal.
          apply (Old y y0 e oo); auto; lia. }
        assert (Hh : forall e, In e Os' -> acc init upd (th (outer ds e ++ dl y :: snd ub) (fst ub) l) (kw + l) (cut l) = hears (kw + l) (cut l) (tau ub) (outer ds e) dummy).
        { intros e He; rewrite <- (Tok e He); pose proof (hears_spec (outer ds e) (dl y :: snd ub) dummy (fst ub) l (LA e He) ltac:(lia) ltac:(lia)) as E.
          rewrite LB in E; exact E. }
        rewrite (Hh o Io), (Hh o' Io').
        destruct (In_nth ctxs ub (0, []) Hub) as (k & Hk & Ek).
        assert (E : msg o = msg o') by congruence.
        pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) E k Hk) as E'; cbv beta in E'.
        rewrite Ek in E'; apply cA_inj; exact E'.
    + (* the states *)
      intros ub' o H Ho Mo; destruct (Ic ub' H) as (y & ub & Hy & Hub & ->); cbn [fst snd]; fold ds.
      assert (Io : In o Os').
      { unfold mem' in Mo; apply andb_prop in Mo; destruct Mo as [M1 M2]; apply filter_In; auto. }
      pose proof (Hss ub (y :: o) Hub (Hun _ _ Hy Io) (proj2 (Hin' o Io) y Hy)) as S1.
      cbn [outer] in S1; fold dl ds in S1; rewrite <- !app_assoc in S1; exact S1.
    + exact Hok.
Qed.

Lemma ok_below lv : forall Pl Theta X D, ok Pl Theta X D lv -> Pl <= n0.
Proof.
  induction lv as [|v lv IH]; intros Pl Theta X D H; cbn [ok] in H; [tauto|].
  destruct H as (Hq & _ & _ & _ & _ & H); apply IH in H; nia.
Qed.

(** ** The start: w, and the first thought *)
Theorem deep_start : forall (t q0 g x1 Theta1 : nat) lv, S (S (length lv)) = Lp -> 0 < t -> 0 < q0 -> 0 < g -> t * g <= n0 -> 0 < x1 ->
  spreads n0 t q0 g (2 ^ (c + s)) x1 Theta1 -> ok (t * q0) Theta1 (t * x1) (c + s + c * nN t) lv -> False.
Proof.
  intros t q0 g x1 Theta1 lv Hlv Ht Hq Hg Hw Hx1 Hsp Hok.
  pose proof (ok_below _ _ _ _ _ Hok) as HPl.
  set (ds := decs (t * q0) lv); set (Us := univ (spaces (t * q0) lv)).
  assert (HUs : Us <> []) by (apply (univ_pos _ _ _ _ _ Hok)).
  assert (LO : forall o, In o Us -> length (outer ds o) = S (length lv)) by (intros o Ho; apply outer_of, Ho).
  pose proof (Hcut 1 ltac:(lia)) as Hc1; pose proof (Hcut 0 ltac:(lia)) as Hc0.
  set (zero := (fun _ => 0) : tbl) in *; set (xw := P (repeat zero Lp) 0 kw).
  assert (Pw : forall D u, length D = Lp -> P D u kw = xw) by (intros D u HD; apply Hlast; [exact HD|apply repeat_length]).
  destruct (HA (cut 1)) as (cA & cA_inj & cA_lt); destruct (HS (cut 1)) as (cB & cB_inj & cB_lt).
  destruct (HA (cut 0)) as (cA0 & cA0_inj & cA0_lt); destruct (HS (cut 0)) as (cB0 & cB0_inj & cB0_lt).
  set (sigma := fun o => pair_code (2 ^ c) (cA (hears (kw + 0) (cut 1) xw (outer ds o) [zero])) (cB (state h0 G (P (outer ds o ++ [zero]) 0) (cut 1)))).
  assert (Hsig : forall o, (sigma o < 2 ^ c * 2 ^ s)%N) by (intros; apply pair_lt; auto).
  destruct (popular_in sigma (2 ^ c * 2 ^ s) Us HUs (fun o _ => Hsig o)) as (os & Hos & Hpop).
  set (cl := filter (fun o => (sigma o =? sigma os)%N) Us) in *.
  set (kappa := fun f : tbl => pair_code (2 ^ c) (cA0 (hears (kw + 0) (cut 0) xw (outer ds os ++ [f]) [])) (cB0 (state h0 G (P ((outer ds os ++ [f]) ++ []) 0) (cut 0)))).
  destruct (Hsp kappa) as (U & fs & I & HU & HUb & Hfs & Hfam & Hsame & HI & HIb & Hnd).
  { intros f; rewrite N.pow_add_r; apply pair_lt; auto. }
  clear Hsp; set (f0 := nth 0 fs zero : tbl).
  assert (Hf0 : In f0 fs) by (apply nth_In; lia).
  set (tau := fun u => next (says (outer ds os ++ [f0]) u 0)).
  set (msg := fun o => digits (2 ^ c) (fun k => cA (hears (kw + 1) (cut 1) (tau (nth k U 0)) (outer ds o) [zero])) t).
  assert (Hcl : cl <> []).
  { intros C; assert (X : In os cl) by (apply filter_In; split; [exact Hos|apply N.eqb_refl]); rewrite C in X; exact X. }
  destruct (popular_in msg ((2 ^ c) ^ nN t) cl Hcl) as (o2 & Ho2 & Hpop2); [intros; apply digits_lt; intros; apply cA_lt|].
  set (mem := fun o => (sigma o =? sigma os)%N && (msg o =? msg o2)%N).
  assert (Em : filter mem Us = filter (fun o => (msg o =? msg o2)%N) cl).
  { unfold mem, cl; generalize Us; intros L; induction L as [|e L IHL]; [reflexivity|]; cbn [filter].
    destruct (sigma e =? sigma os)%N; cbn [andb]; [cbn [filter]|]; rewrite IHL; reflexivity. }
  (* states that leave z_2, and w *)
  assert (LA : forall o (f : tbl), In o Us -> length (outer ds o ++ [f]) = Lp) by (intros o f Ho; rewrite app_length, LO by exact Ho; cbn [length]; lia).
  assert (Hst1 : forall o (f : tbl) u, In o Us -> sigma o = sigma os -> state h0 G (P (outer ds o ++ [f]) u) (cut 1) = state h0 G (P (outer ds os ++ [zero]) 0) (cut 1)).
  { intros o f u Ho E; apply pair_inj in E; [|apply cA_lt|apply cA_lt]; destruct E as [_ E]; apply cB_inj in E; rewrite <- E.
    apply state_ext; intros y Hy; apply (Hbefore (outer ds o) [f] [zero]); cbn [length]; rewrite ?LO by exact Ho; auto; lia. }
  assert (Hear : forall o (f : tbl) u j, In o Us -> acc init upd (th (outer ds o ++ [f]) u j) (kw + j) (cut 1) = hears (kw + j) (cut 1) (th (outer ds o ++ [f]) u j (kw + j)) (outer ds o) [zero]).
  { intros o f u j Ho; apply (hears_spec (outer ds o) [f] [zero]); cbn [length]; rewrite ?LO by exact Ho; auto; lia. }
  assert (After : forall o o' (f : tbl) u p, In o Us -> In o' Us -> cut 1 <= p <= kw -> P (outer ds o ++ [f]) u p = P (outer ds o' ++ [f]) u p).
  { intros o o' f u p Ho Ho' Hp; apply (Hafter (outer ds o) (outer ds o') [f]); cbn [length]; rewrite ?LO by assumption; auto; lia. }
  assert (W1 : forall o (f : tbl) u, In o Us -> sigma o = sigma os -> says (outer ds o ++ [f]) u 0 = says (outer ds os ++ [f]) u 0).
  { intros o f u Ho E; apply (says_same _ _ _ _ 0 (cut 1) (cut 1)); auto; [intros; lia|transitivity (state h0 G (P (outer ds os ++ [zero]) 0) (cut 1)); [|symmetry]; apply Hst1; auto|].
    rewrite !Hear by auto.
    assert (Tw : forall e, In e Us -> th (outer ds e ++ [f]) u 0 (kw + 0) = xw) by (intros e He; rewrite Nat.add_0_r; apply Pw, LA, He).
    rewrite !Tw by auto; apply pair_inj in E; [|apply cA_lt|apply cA_lt]; destruct E as [E _]; apply cA_inj in E; exact E. }
  assert (W2 : forall (f : tbl) u, In f fs -> says (outer ds os ++ [f]) u 0 = says (outer ds os ++ [f0]) u 0).
  { intros f u Hf; pose proof (Hsame f f0 Hf Hf0) as E; apply pair_inj in E; [|apply cA0_lt|apply cA0_lt]; destruct E as [E1 E2].
    apply cA0_inj in E1; apply cB0_inj in E2.
    assert (Q : forall h : tbl, outer ds os ++ [h] = (outer ds os ++ [h]) ++ []) by (intros; symmetry; apply app_nil_r).
    assert (A0 : forall p, cut 0 <= p <= kw -> P (outer ds os ++ [f]) u p = P (outer ds os ++ [f0]) u p).
    { intros p Hp; rewrite (Q f), (Q f0); apply (Hafter (outer ds os ++ [f]) (outer ds os ++ [f0]) []); cbn [length]; rewrite ?LA by exact Hos; auto; lia. }
    assert (S0 : forall h : tbl, state h0 G (P (outer ds os ++ [h]) u) (cut 0) = state h0 G (P ((outer ds os ++ [h]) ++ []) 0) (cut 0)).
    { intros h; replace (P (outer ds os ++ [h]) u) with (P ((outer ds os ++ [h]) ++ []) u) by (rewrite app_nil_r; reflexivity); apply state_ext; intros y Hy; apply (Hbefore (outer ds os ++ [h]) [] []); cbn [length]; rewrite ?LA by exact Hos; auto; lia. }
    assert (H0 : forall h : tbl, acc init upd (th (outer ds os ++ [h]) u 0) (kw + 0) (cut 0) = hears (kw + 0) (cut 0) xw (outer ds os ++ [h]) []).
    { intros h; pose proof (hears_spec (outer ds os ++ [h]) [] [] u 0) as E; cbn [length] in E.
      rewrite app_nil_r in E; rewrite E by (rewrite ?LA by exact Hos; lia); f_equal; rewrite Nat.add_0_r; apply Pw, LA, Hos. }
    apply (says_same _ _ _ _ 0 (cut 0) (cut 0)); auto; [intros; lia|rewrite !S0; exact E2|rewrite !H0; exact E1]. }
  assert (W0 : forall o (f : tbl) u, In o Us -> sigma o = sigma os -> In f fs -> says (outer ds o ++ [f]) u 0 = says (outer ds os ++ [f0]) u 0)
    by (intros o f u Ho E Hf; rewrite (W1 o f u Ho E); apply W2, Hf).
  set (ctxs := map (fun uf : nat * tbl => (fst uf, [snd uf])) (list_prod U fs)).
  assert (Lc : length ctxs = t * x1) by (unfold ctxs; rewrite map_length, prod_length, HU, Hfs; reflexivity).
  assert (Ic : forall ub, In ub ctxs -> exists u (f : tbl), In u U /\ In f fs /\ ub = (u, [f])).
  { intros ub H; apply in_map_iff in H; destruct H as ([u f] & <- & H); apply in_prod_iff in H; exists u, f; tauto. }
  assert (HUn : forall u, In u U -> u < n0) by (intros u Hu; apply HUb in Hu; lia).
  assert (Hfb : forall f r, In f fs -> r < n0 -> f r < t * q0) by (intros f r Hf Hr; apply (fam_below n0 t q0 g); auto).
  rewrite <- Lc in Hok.
  apply (deep lv 2 (t * q0) Theta1 (c + s + c * nN t)%N ctxs (map (fun p => nth (fst p) fs (fun i => i) (nth (snd p) U 0)) I) mem
           (state h0 G (P (outer ds os ++ [zero]) 0) (cut 1))); try lia; auto.
  - intros ub H; destruct (Ic ub H) as (u & f & Hu & Hf & ->); cbn [fst snd length]; split; [auto|]. split; [reflexivity|].
    intros z r [<-|[]] Hr; specialize (Hfb f r Hf Hr); lia.
  - rewrite map_length; exact HI.
  - intros r Hr; apply in_map_iff in Hr; destruct Hr as (p & <- & Hp); destruct (HIb p Hp) as [H1 H2].
    assert (Ff : In (nth (fst p) fs (fun i => i)) fs) by (apply nth_In; lia).
    assert (Fu : In (nth (snd p) U 0) U) by (apply nth_In; lia).
    split; [apply Hfb; auto|]. exists (nth (snd p) U 0, [nth (fst p) fs (fun i => i)]); split; [|reflexivity].
    apply in_map_iff; exists (nth (snd p) U 0, nth (fst p) fs (fun i => i)); split; [reflexivity|apply in_prod_iff; auto].
  - fold Us; rewrite Em; eapply N.le_trans; [exact Hpop|]. eapply N.le_trans; [apply N.mul_le_mono_l, Hpop2|].
    rewrite !N.pow_add_r, (N.pow_mul_r 2 c), N.mul_assoc; apply N.le_refl.
  - intros ub o o' j H Ho Ho' Mo Mo' Hj; destruct (Ic ub H) as (u & f & Hu & Hf & ->); cbn [fst snd]; fold ds; fold Us in Ho, Ho'.
    unfold mem in Mo, Mo'; apply andb_prop in Mo, Mo'; destruct Mo as [So Mo], Mo' as [So' Mo']; apply N.eqb_eq in So, So', Mo, Mo'.
    destruct j as [|j]; [rewrite (W0 o f u), (W0 o' f u) by auto; reflexivity|]; replace j with 0 by lia.
    apply (says_same _ _ _ _ 1 (cut 1) (cut 1)); auto.
    + intros i Hi; replace i with 0 by lia; rewrite (W0 o f u), (W0 o' f u) by auto; reflexivity.
    + transitivity (state h0 G (P (outer ds os ++ [zero]) 0) (cut 1)); [|symmetry]; apply Hst1; auto.
    + rewrite !Hear by auto.
      assert (Tk : forall e, In e Us -> sigma e = sigma os -> th (outer ds e ++ [f]) u 1 (kw + 1) = tau u).
      { intros e He Se; rewrite th_thought by lia; unfold tau; f_equal; apply W0; auto. }
      rewrite !Tk by auto.
      destruct (In_nth U u 0 Hu) as (k & Hk & Ek); rewrite HU in Hk.
      assert (E : msg o = msg o') by congruence.
      pose proof (digits_inj _ _ _ _ (fun k _ => cA_lt _) (fun k _ => cA_lt _) E k Hk) as E'; cbv beta in E'.
      rewrite Ek in E'; apply cA_inj; exact E'.
  - intros ub o H Ho Mo; destruct (Ic ub H) as (u & f & Hu & Hf & ->); cbn [fst snd]; fold ds; fold Us in Ho.
    unfold mem in Mo; apply andb_prop in Mo; destruct Mo as [So _]; apply N.eqb_eq in So; apply Hst1; auto.
Qed.
End Deep.
