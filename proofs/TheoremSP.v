(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * SP: two-sum with a query, several layers of block-sparse attention, and recurrent layers among them

    The values of a block after a layer may depend on its values before, on the summaries of all earlier blocks, on the recurrent
    state that reaches the block, and on what its tokens hear in this layer: any function of all values up to this block, but of few
    bits.  So its tokens may open any number of blocks.  The query sees the last blocks (its own and those of windows), all
    summaries and the recurrent state, and opens few other blocks.  It sees those completely. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs LemmaS LemmaSPrime.
Import ListNotations.
Local Notation nN := N.of_nat.

Record deep_net := {
  value : Type;                                                           (* of a block, in any layer *)
  enter : nat -> list nat -> value;                                       (* block b with these numbers *)
  summarize : nat -> nat -> value -> N;                                   (* layer i, block b *)
  tell : nat -> nat -> list value -> N;                                   (* what block b hears of blocks 0, ..., b *)
  start_state : nat -> N;
  carry : nat -> nat -> N -> value -> N;                                  (* the recurrent state after block b *)
  renew : nat -> nat -> value -> list N -> N -> N -> value;               (* own value, summaries, heard, state *)
  asking : Type;                                                          (* the query's own state *)
  ask : nat -> asking;
  open : nat -> asking -> list N -> list value -> N -> list nat;          (* from summaries, last blocks, recurrent state *)
  hear : nat -> asking -> list N -> list value -> N -> list value -> asking;
  say : asking -> bool }.

Section Run.
Variables (D : deep_net) (m near : nat) (x : nat -> list nat).

Fixpoint passed (i : nat) (X : nat -> value D) (b : nat) : N :=
  match b with 0 => start_state D i | S a => carry D i a (passed i X a) (X a) end.

Definition sums (i : nat) (X : nat -> value D) (b : nat) : list N := map (fun a => summarize D i a (X a)) (seq 0 b).

Fixpoint vals (i : nat) : nat -> value D :=
  match i with
  | 0 => fun b => enter D b (x b)
  | S k => let X := vals k in
           fun b => renew D k b (X b) (sums k X b) (tell D k b (map X (seq 0 (S b)))) (passed k X b)
  end.

(** m blocks, then those that the query sees anyway. *)
Definition last_blocks (i : nat) : list (value D) := map (vals i) (seq m near).

Definition opened (i : nat) (q : asking D) : list nat :=
  open D i q (sums i (vals i) (m + near)) (last_blocks i) (passed i (vals i) (m + near)).

Fixpoint asked (v : nat) (i : nat) : asking D :=
  match i with
  | 0 => ask D v
  | S k => let q := asked v k in
           hear D k q (sums k (vals k) (m + near)) (last_blocks k) (passed k (vals k) (m + near))
                (map (vals k) (filter (fun b => b <? m) (opened k q)))
  end.

Definition deep_run (l v : nat) : bool := say D (asked v l).
End Run.

(** In all l layers together a block has kappa bits of summaries, and the query opens at most K blocks; a token hears [heard]
    bits in all but the last; the recurrent states have [state] bits. *)
Definition deep_fits (D : deep_net) (l : nat) (B kappa heard state K : N) : Prop := exists ka he st op : nat -> N,
  (forall i b X, i < l -> (summarize D i b X < 2 ^ ka i)%N) /\
  (forall i b h, i < l -> (tell D i b h < 2 ^ (he i * B))%N) /\
  (forall i, i < l -> (start_state D i < 2 ^ st i)%N /\ forall b s X, (carry D i b s X < 2 ^ st i)%N) /\
  (forall i q s n r, i < l -> (nN (length (open D i q s n r)) <= op i)%N) /\
  (sumf ka l <= kappa)%N /\ (sumf he (pred l) <= heard)%N /\ (sumf st l <= state)%N /\ (sumf op l <= K)%N.

(** m blocks of B numbers below M, then [near] blocks, the last of which need not be full, then the query: is there a number x
    with x + query = 0 (mod M)? *)
Definition solves_deep (D : deep_net) (l m near B M : nat) (own : nat -> nat) : Prop :=
  forall x v, (forall b, b < m + near -> length (x b) = (if b <? m then B else own b) /\ forall y, In y (x b) -> y < M) -> v < M ->
  (deep_run D m near x l v = true <-> exists b y, b < m + near /\ In y (x b) /\ (y + v) mod M = 0).

(** ** What a view of the blocks lo, ..., hi-1 determines *)
Section Flow.
Variables (D : deep_net) (l m near lo hi : nat) (x x' : nat -> list nat).
Hypotheses (Hlo : lo <= hi) (Hhi : hi <= m).
Let nb := m + near.
Let out b := b < nb /\ ~ (lo <= b < hi).
Hypotheses (Hx : forall b, out b -> x b = x' b)
  (Hsum : forall i b, i < l -> lo <= b < hi -> summarize D i b (vals D x i b) = summarize D i b (vals D x' i b))
  (Htell : forall i b, S i < l -> hi <= b < nb ->
     tell D i b (map (vals D x i) (seq 0 (S b))) = tell D i b (map (vals D x' i) (seq 0 (S b))))
  (Hpass : forall i, i < l -> passed D i (vals D x i) hi = passed D i (vals D x' i) hi).

Lemma passed_before i X X' b : (forall a, a < b -> X a = X' a) -> passed D i X b = passed D i X' b.
Proof. induction b as [|b IH]; intros H; [reflexivity|]; cbn [passed]; rewrite IH, H by auto; reflexivity. Qed.

Lemma passed_after i X X' b : passed D i X hi = passed D i X' hi -> (forall a, hi <= a < b -> X a = X' a) -> hi <= b ->
  passed D i X b = passed D i X' b.
Proof.
  intros E; induction b as [|b IH]; intros H L; [replace hi with 0 in E by lia; exact E|].
  destruct (Nat.eq_dec hi (S b)) as [<-|]; [exact E|].
  cbn [passed]; rewrite IH, H by (try (intros; apply H); lia); reflexivity.
Qed.

Lemma same_sums i b : i < l -> b <= nb -> (forall a, out a -> vals D x i a = vals D x' i a) ->
  sums D i (vals D x i) b = sums D i (vals D x' i) b.
Proof.
  intros Hi Hb H; apply map_ext_in; intros a Ha; apply in_seq in Ha.
  destruct (le_lt_dec lo a), (le_lt_dec hi a); try (f_equal; apply H; unfold out; lia). apply Hsum; lia.
Qed.

Lemma same_passed i b : i < l -> b <= nb -> b <= lo \/ hi <= b -> (forall a, out a -> vals D x i a = vals D x' i a) ->
  passed D i (vals D x i) b = passed D i (vals D x' i) b.
Proof.
  intros Hi Hb [L|L] H; [apply passed_before|apply passed_after; auto]; intros a Ha; apply H; unfold out; lia.
Qed.

Lemma same_vals i : i < l -> forall b, out b -> vals D x i b = vals D x' i b.
Proof.
  induction i as [|i IH]; intros Hi b Hb; [cbn [vals]; rewrite Hx by exact Hb; reflexivity|].
  specialize (IH ltac:(lia)); unfold out in Hb.
  cbn [vals]; rewrite (same_sums i b), (same_passed i b), (IH b) by (auto; lia); f_equal.
  destruct (le_lt_dec hi b); [apply Htell; lia|].
  f_equal; apply map_ext_in; intros a Ha; apply in_seq in Ha; apply IH; unfold out; lia.
Qed.

Lemma same_asked v : (forall i b, i < l -> In b (opened D m near x i (asked D m near x v i)) -> ~ (lo <= b < hi)) ->
  forall i, i <= l -> asked D m near x v i = asked D m near x' v i.
Proof.
  intros Hno; induction i as [|i IH]; intros Hi; [reflexivity|].
  assert (V := same_vals i ltac:(lia)); specialize (IH ltac:(lia)).
  assert (Es := same_sums i nb ltac:(lia) (le_n _) V).
  assert (Ep := same_passed i nb ltac:(lia) (le_n _) ltac:(unfold nb; lia) V).
  assert (El : last_blocks D m near x i = last_blocks D m near x' i).
  { apply map_ext_in; intros b Hb; apply in_seq in Hb; apply V; unfold out, nb; lia. }
  specialize (Hno i); cbn [asked]; rewrite <- IH.
  assert (Eo : opened D m near x i (asked D m near x v i) = opened D m near x' i (asked D m near x v i)).
  { unfold opened; fold nb; rewrite Es, Ep, El; reflexivity. }
  fold nb; rewrite <- Eo, Es, Ep, El; f_equal.
  apply map_ext_in; intros b Hb; apply filter_In in Hb; destruct Hb as [Hb L]; apply Nat.ltb_lt in L.
  apply V; split; [unfold nb; lia|apply Hno; [lia|exact Hb]].
Qed.
End Flow.

(** ** The view in bits *)
Section View.
Variables (D : deep_net) (l m near lo hi : nat) (B : N) (ka he st : nat -> N).
Hypotheses (Hlo : lo <= hi) (Hhi : hi <= m)
  (Hka : forall i b X, i < l -> (summarize D i b X < 2 ^ ka i)%N)
  (Hhe : forall i b h, i < l -> (tell D i b h < 2 ^ (he i * B))%N)
  (Hst : forall i, i < l -> (start_state D i < 2 ^ st i)%N /\ forall b s X, (carry D i b s X < 2 ^ st i)%N).
Let g := m + near - hi.

Definition heard_in (i : nat) : N := if S i <? l then he i else 0%N.
Definition wide (i : nat) : N := (2 ^ (ka i * nN (hi - lo) + (heard_in i * (B * nN g) + st i)))%N.

Definition summaries_of (x : nat -> list nat) (i : nat) : N :=
  digits (2 ^ ka i) (fun t => summarize D i (lo + t) (vals D x i (lo + t))) (hi - lo).
Definition told_of (x : nat -> list nat) (i : nat) : N :=
  if S i <? l then digits (2 ^ (he i * B)) (fun t => tell D i (hi + t) (map (vals D x i) (seq 0 (S (hi + t))))) g else 0%N.
Definition layer_code (x : nat -> list nat) (i : nat) : N :=
  pair_code (2 ^ (ka i * nN (hi - lo))) (summaries_of x i)
    (pair_code (2 ^ (heard_in i * (B * nN g))) (told_of x i) (passed D i (vals D x i) hi)).
Definition view (x : nat -> list nat) : N := mixed_code wide (layer_code x) l.

Lemma summaries_lt x i : i < l -> (summaries_of x i < 2 ^ (ka i * nN (hi - lo)))%N.
Proof. intros Hi; unfold summaries_of; rewrite N.pow_mul_r; apply digits_lt; intros; apply Hka, Hi. Qed.

Lemma told_lt x i : i < l -> (told_of x i < 2 ^ (heard_in i * (B * nN g)))%N.
Proof.
  intros Hi; unfold told_of, heard_in; destruct (S i <? l); [|apply N.neq_0_lt_0, N.pow_nonzero; lia].
  rewrite N.mul_assoc, (N.pow_mul_r 2 (he i * B)); apply digits_lt; intros; apply Hhe, Hi.
Qed.

Lemma passed_lt i X b : i < l -> (passed D i X b < 2 ^ st i)%N.
Proof. intros Hi; destruct b; cbn [passed]; apply Hst, Hi. Qed.

Lemma layer_code_lt x i : i < l -> (layer_code x i < wide i)%N.
Proof.
  intros Hi; unfold layer_code, wide; rewrite !N.pow_add_r.
  apply pair_lt; [apply summaries_lt, Hi|]; apply pair_lt; [apply told_lt, Hi|apply passed_lt, Hi].
Qed.

Lemma view_same x x' : view x = view x' -> forall i, i < l ->
  (forall b, lo <= b < hi -> summarize D i b (vals D x i b) = summarize D i b (vals D x' i b)) /\
  (S i < l -> forall b, hi <= b < m + near ->
     tell D i b (map (vals D x i) (seq 0 (S b))) = tell D i b (map (vals D x' i) (seq 0 (S b)))) /\
  passed D i (vals D x i) hi = passed D i (vals D x' i) hi.
Proof.
  intros E i Hi; unfold view in E.
  apply mixed_inj with (i := i) in E; try (intros; apply layer_code_lt; assumption); [|exact Hi].
  apply pair_inj in E; try (apply summaries_lt, Hi); destruct E as [E1 E].
  apply pair_inj in E; try (apply told_lt, Hi); destruct E as [E2 E3].
  repeat split; [| |exact E3].
  - intros b Hb; unfold summaries_of in E1; apply digits_inj with (i := b - lo) in E1; try (intros; apply Hka, Hi); [|lia].
    cbv beta in E1; replace (lo + (b - lo)) with b in E1 by lia; exact E1.
  - intros Hl b Hb; apply Nat.ltb_lt in Hl; unfold told_of in E2; rewrite Hl in E2.
    apply digits_inj with (i := b - hi) in E2; try (intros; apply Hhe, Hi); [|unfold g; lia].
    cbv beta in E2; replace (hi + (b - hi)) with b in E2 by lia; exact E2.
Qed.

Lemma prodf_pow f n : prodf (fun i => 2 ^ f i)%N n = (2 ^ sumf f n)%N.
Proof. induction n as [|n IH]; [reflexivity|]; cbn [prodf sumf]; rewrite IH, N.pow_add_r; reflexivity. Qed.

Lemma heard_sum : sumf heard_in l = sumf he (pred l).
Proof.
  destruct l as [|k] eqn:El; [reflexivity|]; cbn [pred sumf].
  assert (H : forall n, n <= k -> sumf heard_in n = sumf he n).
  { induction n as [|n IH]; intros Hn; [reflexivity|]; cbn [sumf]; rewrite IH by lia; f_equal.
    unfold heard_in; rewrite El; destruct (Nat.ltb_spec (S n) (S k)); [reflexivity|lia]. }
  rewrite H by lia; unfold heard_in; rewrite El, Nat.ltb_irrefl; lia.
Qed.

Lemma view_lt x kappa heard state : (sumf ka l <= kappa)%N -> (sumf he (pred l) <= heard)%N -> (sumf st l <= state)%N ->
  (view x < 2 ^ (kappa * nN (hi - lo) + heard * (B * nN g) + state))%N.
Proof.
  intros H1 H2 H3.
  apply N.lt_le_trans with (prodf wide l); [apply mixed_lt; intros; apply layer_code_lt; assumption|].
  unfold wide; rewrite prodf_pow; apply N.pow_le_mono_r; [lia|].
  assert (E : forall n, sumf (fun i => ka i * nN (hi - lo) + (heard_in i * (B * nN g) + st i))%N n =
     (sumf ka n * nN (hi - lo) + sumf heard_in n * (B * nN g) + sumf st n)%N).
  { induction n as [|n IH]; [reflexivity|]; cbn [sumf]; rewrite IH; lia. }
  rewrite E, heard_sum.
  apply N.add_le_mono; [apply N.add_le_mono; apply N.mul_le_mono_r; assumption|assumption].
Qed.
End View.

(** ** Words *)
Lemma skipn_in {A} (y : A) n w : In y (skipn n w) -> In y w.
Proof. intros H; rewrite <- (firstn_skipn n w); apply in_or_app; right; exact H. Qed.

Lemma nth_first (w : list nat) r : forall p, p < r -> p < length w -> In (nth p w 0) (firstn r w).
Proof.
  revert r; induction w as [|y w IH]; intros [|r] p H L; try (simpl in L; lia); destruct p as [|p]; cbn [firstn nth]; [left; reflexivity|].
  right; apply IH; simpl in L; lia.
Qed.

Lemma nth_slice q : forall (w : list nat) r p, q <= p < q + r -> p < length w -> In (nth p w 0) (firstn r (skipn q w)).
Proof.
  induction q as [|q IH]; intros w r p H L; [change (skipn 0 w) with w; apply nth_first; lia|].
  destruct w as [|y w]; [simpl in L; lia|]; destruct p as [|p]; [lia|]; cbn [skipn nth]; apply IH; simpl in L; lia.
Qed.

Lemma skipn_add {A} a b (w : list A) : skipn (a + b) w = skipn b (skipn a w).
Proof. revert w; induction a as [|a IH]; intros w; [reflexivity|]; destruct w; [cbn; rewrite skipn_nil; reflexivity|cbn; apply IH]. Qed.

Lemma app_same {A} (a b a' b' : list A) : length a = length a' -> a ++ b = a' ++ b' -> a = a' /\ b = b'.
Proof.
  revert a'; induction a as [|y a IH]; intros [|y' a'] L E; try discriminate; [auto|].
  cbn in E; inversion E; subst; destruct (IH a') as [-> ->]; auto.
Qed.

(** Words in which only some values occur. *)
Lemma restricted (L : list nat) (n : nat) (C : list (list nat)) : NoDup C ->
  (forall w, In w C -> length w = n /\ forall y, In y w -> In y L) -> (size C <= nN (length L) ^ nN n)%N.
Proof.
  intros HC H; rewrite <- words_size.
  set (f := map (fun y => index_of y L)).
  assert (Hf : forall w, (forall y, In y w -> In y L) -> map (fun i => nth i L 0) (f w) = w).
  { intros w Hw; unfold f; rewrite map_map; rewrite <- (map_id w) at 2; apply map_ext_in; intros y Hy; apply index_of_spec, Hw, Hy. }
  replace (size C) with (size (map f C)) by (unfold size; rewrite map_length; reflexivity).
  unfold size; enough (length (map f C) <= length (words (length L) n)) by lia.
  apply NoDup_incl_length.
  - apply NoDup_map_on; [|exact HC]. intros a b Ha Hb E.
    rewrite <- (Hf a), <- (Hf b) by (apply H; assumption); rewrite E; reflexivity.
  - intros y Hy; apply in_map_iff in Hy; destruct Hy as [w [<- Hw]]; destruct (H w Hw) as [Hl Hi].
    apply words_in; [unfold f; rewrite map_length; exact Hl|].
    intros v Hv; apply in_map_iff in Hv; destruct Hv as [y [<- Hy]]; apply index_of_spec, Hi, Hy.
Qed.

(** ** The prompts: the first r numbers of each block from [from] on *)
Section Prompts.
Variables (m near from B r u : nat) (own : nat -> nat).
Hypotheses (Hfrom : from <= m) (Hr : 0 < r <= B).

Definition content (w : list nat) (b : nat) : list nat :=
  if b <? m then
    if from <=? b then map S (firstn r (skipn ((b - from) * r) w)) ++ repeat 0 (B - r) else repeat 0 B
  else repeat 0 (own b).

Definition total : nat := (m - from) * r.

Lemma content_length w b : length w = total -> length (content w b) = (if b <? m then B else own b).
Proof.
  intros Hw; unfold content; destruct (Nat.ltb_spec b m); [|apply repeat_length].
  destruct (Nat.leb_spec from b); [|apply repeat_length].
  rewrite app_length, map_length, repeat_length, firstn_length, skipn_length, Hw; unfold total.
  assert ((b - from) * r + r <= (m - from) * r) by nia. lia.
Qed.

Lemma content_in w b y : In y (content w b) -> y = 0 \/ exists v, y = S v /\ In v w.
Proof.
  unfold content; destruct (b <? m); [|intros H; left; apply (repeat_spec _ _ _ H)].
  destruct (from <=? b); [|intros H; left; apply (repeat_spec _ _ _ H)].
  intros H; apply in_app_iff in H; destruct H as [H|H]; [right|left; apply (repeat_spec _ _ _ H)].
  apply in_map_iff in H; destruct H as [v [<- H]]; exists v; split; [reflexivity|apply firstn_In, skipn_in in H; exact H].
Qed.

Lemma content_has w v : length w = total -> In v w -> exists b, b < m /\ In (S v) (content w b).
Proof.
  intros Hw Hv; apply (In_nth w v 0) in Hv; destruct Hv as [p [Hp <-]].
  pose proof (Nat.div_mod p r ltac:(lia)); pose proof (Nat.mod_upper_bound p r ltac:(lia)).
  rewrite Hw in Hp; unfold total in Hp.
  assert (Hd : p / r < m - from) by (apply Nat.div_lt_upper_bound; lia).
  exists (from + p / r); split; [lia|]. unfold content.
  destruct (Nat.ltb_spec (from + p / r) m); [|lia]. destruct (Nat.leb_spec from (from + p / r)); [|lia].
  apply in_app_iff; left; apply in_map, nth_slice; [|rewrite Hw; unfold total; lia].
  replace (from + p / r - from) with (p / r) by lia; nia.
Qed.

(** Outside of the blocks lo, ..., hi-1. *)
Definition outer (lo hi : nat) (w : list nat) : list nat := firstn ((lo - from) * r) w ++ skipn ((hi - from) * r) w.

Lemma outer_parts lo hi w w' : length w = length w' -> outer lo hi w = outer lo hi w' ->
  firstn ((lo - from) * r) w = firstn ((lo - from) * r) w' /\ skipn ((hi - from) * r) w = skipn ((hi - from) * r) w'.
Proof. intros L; apply app_same; rewrite !firstn_length, L; reflexivity. Qed.

Lemma content_outer lo hi w w' : length w = length w' -> from <= lo -> lo <= hi -> outer lo hi w = outer lo hi w' ->
  forall b, ~ (lo <= b < hi) -> content w b = content w' b.
Proof.
  intros L H1 H2 E b Hb; apply outer_parts in E; [|exact L]; destruct E as [E1 E2]; unfold content.
  destruct (b <? m); [|reflexivity]. destruct (Nat.leb_spec from b); [|reflexivity]. do 2 f_equal.
  destruct (le_lt_dec lo b).
  - replace ((b - from) * r) with ((hi - from) * r + (b - hi) * r) by nia; rewrite !skipn_add, E2; reflexivity.
  - assert (G : forall z : list nat, firstn r (skipn ((b - from) * r) z) = firstn r (skipn ((b - from) * r) (firstn ((lo - from) * r) z))).
    { intros z; rewrite skipn_firstn_comm, firstn_firstn; f_equal.
      assert ((b - from) * r + r <= (lo - from) * r) by nia. lia. }
    rewrite (G w), (G w'), E1; reflexivity.
Qed.

Definition inner (lo hi : nat) (w : list nat) : list nat := firstn ((hi - lo) * r) (skipn ((lo - from) * r) w).

Lemma word_parts lo hi w : from <= lo -> lo <= hi ->
  w = firstn ((lo - from) * r) w ++ inner lo hi w ++ skipn ((hi - from) * r) w.
Proof.
  intros H1 H2; unfold inner; replace ((hi - from) * r) with ((lo - from) * r + (hi - lo) * r) by nia.
  rewrite skipn_add, !firstn_skipn; reflexivity.
Qed.

Lemma outer_length lo hi w : from <= lo -> lo <= hi -> hi <= m -> length w = total ->
  length (outer lo hi w) = total - (hi - lo) * r /\ length (inner lo hi w) = (hi - lo) * r /\ (hi - lo) * r <= total.
Proof.
  intros H1 H2 H3 L; unfold outer, inner; rewrite app_length, !firstn_length, !skipn_length, L; unfold total.
  replace (m - from) with ((lo - from) + (hi - lo) + (m - hi)) by lia; replace (hi - from) with ((lo - from) + (hi - lo)) by lia.
  rewrite !Nat.mul_add_distr_r; generalize ((lo - from) * r) ((hi - lo) * r) ((m - hi) * r); intros a b c.
  repeat split; try lia.
Qed.
End Prompts.

(** ** The theorem on natural numbers

    g 0 = near < g 1 < ... < g (K+1) are distances from the end in blocks. *)
Section Main.
Variables (D : deep_net) (l m near B M r K a : nat) (own g : nat -> nat) (kappa heard state : N).
Hypotheses (Hfit : deep_fits D l (nN B) kappa heard state (nN K)) (Hg0 : g 0 = near)
  (Hup : forall j, j <= K -> g j < g (S j)) (Hlong : g (S K) <= m + near) (Hr : 0 < r <= B).
Let u := M - 1.
Let from := m + near - g (S K).
Let T := total m from r.
Let lo j := m + near - g (S j).
Let hi j := m + near - g j.
Let bits j : N := (kappa * nN (hi j - lo j) + heard * (nN B * nN (m + near - hi j)) + state)%N.
Hypotheses (Hu : 0 < u) (Ha : forall n, u <= S K * n -> a + T <= n)
  (Hj : forall j, j <= K ->
     (nN (S K) * (2 ^ bits j * nN (u - a) ^ nN ((hi j - lo j) * r)) < nN u ^ nN ((hi j - lo j) * r))%N).

Let cont w := content m from B r own w.

Lemma mono j j' : j <= j' -> j' <= S K -> g j <= g j'.
Proof. induction 1 as [|j' L IH]; intros H; [lia|]. specialize (IH ltac:(lia)); specialize (Hup j' ltac:(lia)); lia. Qed.

Lemma places j : j <= K -> from <= lo j /\ lo j < hi j /\ hi j <= m.
Proof.
  intros H; pose proof (mono (S j) (S K) ltac:(lia) ltac:(lia)); pose proof (mono 0 j ltac:(lia) ltac:(lia)).
  specialize (Hup j H); unfold from, lo, hi; lia.
Qed.

Lemma from_m : from <= m.
Proof. destruct (places 0 ltac:(lia)) as (? & ? & ?); lia. Qed.

(** The query for v opens no block of the j-th stretch. *)
Definition free (w : list nat) (j v : nat) : bool :=
  forallb (fun i => forallb (fun b => negb ((lo j <=? b) && (b <? hi j)))
    (opened D m near (cont w) i (asked D m near (cont w) (M - S v) i))) (seq 0 l).

Lemma free_spec w j v : free w j v = true ->
  forall i b, i < l -> In b (opened D m near (cont w) i (asked D m near (cont w) (M - S v) i)) -> ~ (lo j <= b < hi j).
Proof.
  intros H i b Hi Hb [C1 C2]; unfold free in H; rewrite forallb_forall in H.
  specialize (H i ltac:(apply in_seq; lia)); cbv beta in H; rewrite forallb_forall in H; specialize (H b Hb).
  apply Nat.leb_le in C1; apply Nat.ltb_lt in C2; rewrite C1, C2 in H; discriminate.
Qed.

Lemma some_free w v : exists j, j <= K /\ free w j v = true.
Proof.
  destruct (existsb (fun j => free w j v) (seq 0 (S K))) eqn:Ex.
  { apply existsb_exists in Ex; destruct Ex as [j [H E]]; apply in_seq in H; exists j; split; [lia|exact E]. }
  exfalso.
  set (ops := fun i => opened D m near (cont w) i (asked D m near (cont w) (M - S v) i)).
  assert (Hb : forall j, j < S K -> exists b, In b (flat_map ops (seq 0 l)) /\ lo j <= b < hi j).
  { intros j Hjk; destruct (existsb (fun b => (lo j <=? b) && (b <? hi j)) (flat_map ops (seq 0 l))) eqn:Eb.
    - apply existsb_exists in Eb; destruct Eb as [b [Hb E]]; apply andb_prop in E; destruct E as [E1 E2].
      apply Nat.leb_le in E1; apply Nat.ltb_lt in E2; exists b; auto.
    - exfalso; enough (existsb (fun j => free w j v) (seq 0 (S K)) = true) by congruence.
      apply existsb_exists; exists j; split; [apply in_seq; lia|].
      unfold free; apply forallb_forall; intros i Hi; apply forallb_forall; intros b Hb.
      destruct ((lo j <=? b) && (b <? hi j)) eqn:E; [|reflexivity].
      enough (existsb (fun b => (lo j <=? b) && (b <? hi j)) (flat_map ops (seq 0 l)) = true) by congruence.
      apply existsb_exists; exists b; split; [apply in_flat_map; exists i; split; assumption|exact E]. }
  destruct (finite_choice (fun j b => In b (flat_map ops (seq 0 l)) /\ lo j <= b < hi j) 0 (S K) Hb) as [f Hf].
  assert (L1 : length (map f (seq 0 (S K))) <= length (flat_map ops (seq 0 l))).
  { apply NoDup_incl_length.
    - apply NoDup_map_on; [|apply seq_NoDup]. intros j j' H H' E; apply in_seq in H, H'.
      destruct (Hf j ltac:(lia)) as [_ F1], (Hf j' ltac:(lia)) as [_ F2].
      destruct (lt_eq_lt_dec j j') as [[L|]|L]; [exfalso| assumption |exfalso].
      + pose proof (mono (S j) j' ltac:(lia) ltac:(lia)); unfold lo, hi in *; lia.
      + pose proof (mono (S j') j ltac:(lia) ltac:(lia)); unfold lo, hi in *; lia.
    - intros b H; apply in_map_iff in H; destruct H as [j [<- H]]; apply in_seq in H; apply Hf; lia. }
  rewrite map_length, seq_length in L1.
  destruct Hfit as (ka & he & st & op & _ & _ & _ & Hop & _ & _ & _ & HK).
  assert (L2 : forall n, n <= l -> (nN (length (flat_map ops (seq 0 n))) <= sumf op n)%N).
  { induction n as [|n IH]; intros Hn; [cbn; lia|]. rewrite seq_S, flat_map_app, app_length; cbn [flat_map plus sumf].
    rewrite app_nil_r; specialize (IH ltac:(lia)).
    assert (nN (length (ops n)) <= op n)%N by (apply Hop; lia). lia. }
  specialize (L2 l (le_n _)); lia.
Qed.

Definition served (w : list nat) (j : nat) : bool := u <=? S K * length (filter (free w j) (seq 0 u)).

Definition first_of (p : nat -> bool) : nat := match find p (seq 0 (S K)) with Some j => j | None => 0 end.

Lemma first_of_spec p : (exists j, j <= K /\ p j = true) -> first_of p <= K /\ p (first_of p) = true.
Proof.
  intros (j & H & E); unfold first_of; destruct (find p (seq 0 (S K))) as [i|] eqn:F.
  - apply find_some in F; destruct F as [F1 F2]; apply in_seq in F1; split; [lia|exact F2].
  - pose proof (find_none _ _ F j ltac:(apply in_seq; lia)); congruence.
Qed.

Lemma some_served w : exists j, j <= K /\ served w j = true.
Proof.
  set (f := fun v => nN (first_of (fun j => free w j v))).
  assert (Hf : forall v, first_of (fun j => free w j v) <= K /\ free w (first_of (fun j => free w j v)) v = true)
    by (intros v; apply (first_of_spec (fun j => free w j v)), some_free).
  destruct (popular_in f (nN (S K)) (seq 0 u)) as (v0 & _ & H).
  - destruct u; [lia|discriminate].
  - intros v _; unfold f; destruct (Hf v); lia.
  - exists (first_of (fun j => free w j v0)); split; [apply Hf|]. apply Nat.leb_le.
    set (j := first_of (fun j => free w j v0)) in *.
    assert (L : length (filter (fun v => (f v =? f v0)%N) (seq 0 u)) <= length (filter (free w j) (seq 0 u))).
    { apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|]. intros v Hv; apply filter_In in Hv; destruct Hv as [Hv E].
      apply N.eqb_eq in E; unfold f in E; apply Nat2N.inj in E; apply filter_In; split; [exact Hv|].
      destruct (Hf v) as [_ Fv]; rewrite E in Fv; exact Fv. }
    unfold size in H; rewrite seq_length in H; nia.
Qed.

Hypothesis Hs : solves_deep D l m near B M own.

Lemma answers w v : length w = T -> (forall y, In y w -> y < u) -> v < u ->
  deep_run D m near (cont w) l (M - S v) = true <-> In v w.
Proof.
  intros Hw Hlt Hv.
  assert (HM : forall z, 0 < z < M + M -> z mod M = 0 -> z = M).
  { intros z Hz E; pose proof (Nat.div_mod z M ltac:(lia)) as Ed; rewrite E in Ed; destruct (z / M) as [|[|q]]; nia. }
  pose proof from_m as Hfm.
  rewrite (Hs (cont w) (M - S v)); [split| |lia].
  - intros (b & y & Hb & Hy & E); apply HM in E.
    + apply content_in in Hy; destruct Hy as [->|(v' & -> & Hv')]; [unfold u in *; lia|]. specialize (Hlt v' Hv'); replace v with v' by (unfold u in *; lia); exact Hv'.
    + apply content_in in Hy; destruct Hy as [->|(v' & -> & Hv')]; [lia|]. specialize (Hlt v' Hv'); unfold u in *; lia.
  - intros Hin; destruct (content_has m from B r own Hfm Hr w v Hw Hin) as (b & Hb & Hc).
    exists b, (S v); split; [lia|]; split; [exact Hc|]. replace (S v + (M - S v)) with M by (unfold u in *; lia).
    apply Nat.mod_same; unfold u in *; lia.
  - intros b Hb; split; [apply content_length; assumption|].
    intros y Hy; apply content_in in Hy; destruct Hy as [->|(v' & -> & Hv')]; [unfold u in *; lia|].
    specialize (Hlt v' Hv'); unfold u in *; lia.
Qed.

Theorem not_solved : False.
Proof.
  pose proof Hfit as (ka & he & st & op & Hka & Hhe & Hst & _ & Ska & She & Sst & _).
  pose proof from_m as Hfm.
  set (f := fun w => nN (first_of (served w))).
  assert (Hf : forall w, first_of (served w) <= K /\ served w (first_of (served w)) = true)
    by (intros w; apply first_of_spec, some_served).
  assert (Hn : (nN u <> 0)%N) by lia.
  destruct (popular_in f (nN (S K)) (words u T)) as (w1 & _ & H1).
  { intros C; pose proof (words_size u T) as E; rewrite C in E; unfold size in E; cbn [length nN] in E.
    symmetry in E; apply N.pow_nonzero in E; auto. }
  { intros w _; unfold f; destruct (Hf w); lia. }
  set (j := first_of (served w1)) in *.
  assert (HjK : j <= K) by apply Hf.
  set (A := filter (fun w => (f w =? f w1)%N) (words u T)) in *.
  assert (HA : forall w, In w A -> (length w = T /\ forall y, In y w -> y < u) /\ served w j = true).
  { intros w Hw; apply filter_In in Hw; destruct Hw as [Hw E]; split; [apply words_spec, Hw|].
    apply N.eqb_eq in E; unfold f in E; apply Nat2N.inj in E; fold j in E; rewrite <- E; apply Hf. }
  assert (HAn : NoDup A) by (apply NoDup_filter, words_NoDup).
  destruct (places j HjK) as (P1 & P2 & P3).
  set (h := (hi j - lo j) * r) in *.
  set (Dg := fun w t => nN (nth t (outer from r (lo j) (hi j) w) 0)).
  set (vw := fun w => view D l m near (lo j) (hi j) (nN B) ka he st (cont w)).
  set (fc := fun w => pair_code (nN u ^ nN (T - h)) (digits (nN u) (Dg w) (T - h)) (vw w)).
  assert (Hout : forall w, In w A -> forall t, t < T - h -> (Dg w t < nN u)%N).
  { intros w Hw t Ht; destruct (HA w Hw) as [[Lw Hlt] _].
    destruct (outer_length m from B r Hfm Hr (lo j) (hi j) w P1 ltac:(lia) P3 Lw) as (Lo & _ & _).
    unfold Dg; enough (nth t (outer from r (lo j) (hi j) w) 0 < u) by lia. apply Hlt.
    assert (Hin : In (nth t (outer from r (lo j) (hi j) w) 0) (outer from r (lo j) (hi j) w)) by (apply nth_In; rewrite Lo; exact Ht).
    unfold outer in Hin at 2; apply in_app_iff in Hin; destruct Hin as [Hin|Hin]; [apply firstn_In in Hin|apply skipn_in in Hin]; exact Hin. }
  destruct (popular_in fc (nN u ^ nN (T - h) * 2 ^ bits j) A) as (w0 & Hw0 & H2).
  { intros C; rewrite C in H1; unfold size in H1 at 2; cbn [length nN] in H1; rewrite words_size in H1.
    pose proof (N.pow_nonzero (nN u) (nN T) Hn); lia. }
  { intros w Hw; apply pair_lt; [apply digits_lt; intros; apply Hout; assumption|].
    apply view_lt; auto; lia. }
  set (C := filter (fun w => (fc w =? fc w0)%N) A) in *.
  destruct (HA w0 Hw0) as [[L0 Hlt0] S0].
  set (E := filter (fun v => free w0 j v && negb (existsb (Nat.eqb v) w0)) (seq 0 u)).
  assert (HE : a <= length E).
  { apply Nat.leb_le, Ha in S0.
    assert (Lf : length (filter (free w0 j) (seq 0 u)) <= length (E ++ w0)).
    { apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|]. intros v Hv; apply filter_In in Hv; destruct Hv as [Hv Fv].
      apply in_app_iff; destruct (existsb (Nat.eqb v) w0) eqn:Ev; [right; apply existsb_eqb, Ev|left].
      apply filter_In; split; [exact Hv|rewrite Fv, Ev; reflexivity]. }
    rewrite app_length, L0 in Lf; lia. }
  assert (HC : forall w, In w C -> (length w = T /\ forall y, In y w -> y < u) /\
     outer from r (lo j) (hi j) w = outer from r (lo j) (hi j) w0 /\ vw w0 = vw w).
  { intros w Hw; apply filter_In in Hw; destruct Hw as [Hw Ew]; apply N.eqb_eq in Ew; destruct (HA w Hw) as [[Lw Hlt] _].
    split; [auto|]. apply pair_inj in Ew; try (apply digits_lt; intros; apply Hout; assumption).
    destruct Ew as [E1 E2]; split; [|auto].
    destruct (outer_length m from B r Hfm Hr (lo j) (hi j) w P1 ltac:(lia) P3 Lw) as (Lo & _ & _).
    destruct (outer_length m from B r Hfm Hr (lo j) (hi j) w0 P1 ltac:(lia) P3 L0) as (Lo0 & _ & _).
    apply (nth_ext _ _ 0 0); [congruence|]. intros t Ht; rewrite Lo in Ht.
    apply Nat2N.inj; apply digits_inj with (i := t) in E1; auto; intros; apply Hout; assumption. }
  assert (Hno : forall w, In w C -> forall y, In y w -> In y (others u E)).
  { intros w Hw y Hy; destruct (HC w Hw) as ([Lw Hlt] & Eo & Ev); apply others_spec; split; [apply Hlt, Hy|].
    intros Hin; apply filter_In in Hin; destruct Hin as [_ Hin]; apply andb_prop in Hin; destruct Hin as [Fy Ny].
    assert (Yes : deep_run D m near (cont w) l (M - S y) = true) by (apply answers; auto).
    assert (Same : asked D m near (cont w0) (M - S y) l = asked D m near (cont w) (M - S y) l).
    { assert (V := view_same D l m near (lo j) (hi j) (nN B) ka he st (Nat.lt_le_incl _ _ P2) P3 Hka Hhe Hst (cont w0) (cont w) Ev).
      apply (same_asked D l m near (lo j) (hi j) (cont w0) (cont w)); try lia.
      - intros b [_ Hb]; apply (content_outer m from B r own Hfm Hr (lo j) (hi j)); [congruence|exact P1|lia|symmetry; exact Eo|exact Hb].
      - intros i b Hi Hb; apply V; assumption.
      - intros i b Hi Hb; apply V; [lia|exact Hi|exact Hb].
      - intros i Hi; apply V, Hi.
      - apply free_spec, Fy. }
    assert (In y w0).
    { apply answers; auto. unfold deep_run in *; rewrite Same; exact Yes. }
    apply negb_true_iff in Ny; enough (existsb (Nat.eqb y) w0 = true) by congruence. apply existsb_eqb; assumption. }
  assert (HCn : NoDup C) by (apply NoDup_filter, HAn).
  assert (Hsize : (size C <= nN (length (others u E)) ^ nN h)%N).
  { replace (size C) with (size (map (inner from r (lo j) (hi j)) C)) by (unfold size; rewrite map_length; reflexivity).
    apply restricted.
    - apply NoDup_map_on; [|exact HCn]. intros w w' Hw Hw' Ei.
      destruct (HC w Hw) as ([Lw _] & Eo & _), (HC w' Hw') as ([Lw' _] & Eo' & _).
      rewrite <- Eo' in Eo; apply outer_parts in Eo; [|congruence]; destruct Eo as [Q1 Q2].
      rewrite (word_parts m from B r Hfm Hr (lo j) (hi j) w P1 ltac:(lia)), (word_parts m from B r Hfm Hr (lo j) (hi j) w' P1 ltac:(lia)), Q1, Q2, Ei.
      reflexivity.
    - intros y Hy; apply in_map_iff in Hy; destruct Hy as [w [<- Hw]]; destruct (HC w Hw) as ([Lw _] & _ & _).
      destruct (outer_length m from B r Hfm Hr (lo j) (hi j) w P1 ltac:(lia) P3 Lw) as (_ & Li & _); split; [exact Li|].
      intros v Hv; apply (Hno w Hw); unfold inner in Hv; apply firstn_In, skipn_in in Hv; exact Hv. }
  assert (Lo : length (others u E) <= u - a).
  { pose proof (others_length u E ltac:(apply NoDup_filter, seq_NoDup)) as O.
    assert (forall i, In i E -> i < u) by (intros i Hi; apply filter_In in Hi; destruct Hi as [Hi _]; apply in_seq in Hi; lia).
    specialize (O H); lia. }
  assert (Hp : (nN (length (others u E)) ^ nN h <= nN (u - a) ^ nN h)%N) by (apply N.pow_le_mono_l; lia).
  specialize (Hj j HjK); fold h in Hj.
  rewrite words_size in H1.
  destruct (outer_length m from B r Hfm Hr (lo j) (hi j) w0 P1 ltac:(lia) P3 L0) as (_ & _ & LT); fold h T in LT.
  replace (nN T) with (nN (T - h) + nN h)%N in H1 by lia; rewrite N.pow_add_r in H1.
  pose proof (N.pow_nonzero (nN u) (nN (T - h)) Hn) as Hz.
  set (X := (nN u ^ nN (T - h))%N) in *; set (Y := (nN u ^ nN h)%N) in *; set (Z := (nN (u - a) ^ nN h)%N) in *.
  set (W := (2 ^ bits j)%N) in *; set (k := nN (S K)) in *.
  assert (B1 : (X * Y <= k * (X * W * Z))%N).
  { apply N.le_trans with (1 := H1), N.mul_le_mono_l, N.le_trans with (1 := H2), N.mul_le_mono_l.
    apply N.le_trans with (1 := Hsize); exact Hp. }
  replace (k * (X * W * Z))%N with (X * (k * (W * Z)))%N in B1 by lia.
  apply N.mul_le_mono_pos_l in B1; lia.
Qed.
End Main.

(** ** The checker

    u = M-1 values, a of which a stretch cannot have: a = ceil(u/(K+1)) - (G - near) r, where G is the last distance.  For each stretch
    h r log2 (u/(u-a)) > kappa h + heard B g + state + log2 (K+1), with h = g' - g blocks. *)
Local Open Scope N_scope.

Definition stretch_check (kappa heard state K B r u a g g' : N) : bool :=
  let h := g' - g in
  (g <? g') &&
  ((kappa * h + heard * (B * g) + state) * unit_of fine + hi fine (K + 1) + h * r * hi fine (u - a) <? h * r * lo fine u).

Fixpoint stretches_check (kappa heard state K B r u a : N) (gs : list N) : bool :=
  match gs with
  | g :: (g' :: _) as rest => stretch_check kappa heard state K B r u a g g' && stretches_check kappa heard state K B r u a rest
  | _ => true
  end.

Definition deep_check (kappa heard state K B m near M r : N) (gs : list N) : bool :=
  let u := M - 1 in let G := last gs 0 in let t := (G - near) * r in let each := (u + K) / (K + 1) in
  (0 <? r) && (r <=? B) && (0 <? u) && (nN (length gs) =? K + 2) && (hd 0 gs =? near) && (G <=? m + near) && (t <=? each) &&
  stretches_check kappa heard state K B r u (each - t) gs.

Lemma stretch_spec kappa heard state K B r u a g g' : 0 < u -> stretch_check kappa heard state K B r u a g g' = true ->
  g < g' /\ (K + 1) * (2 ^ (kappa * (g' - g) + heard * (B * g) + state) * (u - a) ^ ((g' - g) * r)) < u ^ ((g' - g) * r).
Proof.
  intros Hu H; unfold stretch_check in H; apply andb_prop in H; destruct H as [H1 H2]; apply N.ltb_lt in H1, H2; split; [exact H1|].
  set (n := (g' - g) * r) in *; set (b := kappa * (g' - g) + heard * (B * g) + state) in *.
  apply (root fine); rewrite !N.pow_mul_l, bits_pow.
  apply N.lt_le_trans with (2 ^ (n * lo fine u)); [|apply lo_pow; auto].
  apply N.le_lt_trans with (2 ^ hi fine (K + 1) * (2 ^ (b * unit_of fine) * 2 ^ (n * hi fine (u - a)))).
  - apply N.mul_le_mono; [apply hi_spec|]. apply N.mul_le_mono_l, hi_pow.
  - rewrite <- !N.pow_add_r; apply N.pow_lt_mono_r; lia.
Qed.

Lemma stretches_spec kappa heard state K B r u a gs : stretches_check kappa heard state K B r u a gs = true ->
  forall j, (S j < length gs)%nat -> stretch_check kappa heard state K B r u a (nth j gs 0) (nth (S j) gs 0) = true.
Proof.
  induction gs as [|g [|g' gs] IH]; intros H j Hj; try (simpl in Hj; lia).
  cbn [stretches_check] in H; apply andb_prop in H; destruct H as [H1 H2].
  destruct j as [|j]; [exact H1|]. apply (IH H2 j); simpl in Hj |- *; lia.
Qed.

Lemma last_nth (gs : list N) : last gs 0 = nth (pred (length gs)) gs 0.
Proof.
  induction gs as [|g [|g' gs] IH]; [reflexivity|reflexivity|].
  change (last (g :: g' :: gs) 0) with (last (g' :: gs) 0); rewrite IH; reflexivity.
Qed.

Theorem deep_sparse : forall kappa heard state K B m near M r gs, deep_check kappa heard state K B m near M r gs = true ->
  forall (D : deep_net) (l : nat) own, deep_fits D l B kappa heard state K ->
  ~ solves_deep D l (N.to_nat m) (N.to_nat near) (N.to_nat B) (N.to_nat M) own.
Proof.
  unfold deep_check; intros kappa heard state K B m near M r gs H D l own Hfit Hs.
  checked H; set (u := M - 1) in *; set (G := last gs 0) in *; set (t := (G - near) * r) in *; set (each := (u + K) / (K + 1)) in *.
  assert (Hst := stretches_spec _ _ _ _ _ _ _ _ _ H).
  assert (Hlen : length gs = S (S (N.to_nat K))) by lia.
  set (g := fun j => N.to_nat (nth j gs 0)).
  assert (HG : g (S (N.to_nat K)) = N.to_nat G) by (unfold g, G; rewrite last_nth, Hlen; reflexivity).
  assert (Hg0 : g 0%nat = N.to_nat near) by (unfold g; destruct gs; cbn [hd nth] in *; [discriminate|lia]).
  assert (Hlong : (g (S (N.to_nat K)) <= N.to_nat m + N.to_nat near)%nat) by lia.
  assert (Hj : forall j, (j <= N.to_nat K)%nat -> nth j gs 0 < nth (S j) gs 0 /\
     (K + 1) * (2 ^ (kappa * (nth (S j) gs 0 - nth j gs 0) + heard * (B * nth j gs 0) + state) * (u - (each - t)) ^ ((nth (S j) gs 0 - nth j gs 0) * r))
       < u ^ ((nth (S j) gs 0 - nth j gs 0) * r)).
  { intros j Hj; apply stretch_spec; [assumption|apply Hst; lia]. }
  assert (Hup : forall j, (j <= N.to_nat K)%nat -> (g j < g (S j))%nat) by (intros j L; destruct (Hj j L); unfold g; lia).
  assert (Hlow : forall i j, (i <= j)%nat -> (j <= S (N.to_nat K))%nat -> (g i <= g j)%nat).
  { intros i j L; induction L as [|j L IH]; intros Hb; [lia|]. specialize (IH ltac:(lia)); specialize (Hup j ltac:(lia)); lia. }
  apply (not_solved D l (N.to_nat m) (N.to_nat near) (N.to_nat B) (N.to_nat M) (N.to_nat r) (N.to_nat K) (N.to_nat (each - t)) own g
           kappa heard state); auto.
  - rewrite !N2Nat.id; exact Hfit.
  - lia.
  - lia.
  - intros n Hn; rewrite HG; unfold total.
    replace (N.to_nat m - (N.to_nat m + N.to_nat near - N.to_nat G))%nat with (N.to_nat (G - near)).
    2: { specialize (Hlow 0%nat (S (N.to_nat K)) ltac:(lia) ltac:(lia)); lia. }
    rewrite <- N2Nat.inj_mul; fold t.
    enough (each <= nN n) by lia. unfold each.
    apply N.lt_succ_r, N.div_lt_upper_bound; [lia|]. unfold u in *; nia.
  - intros j L; destruct (Hj j L) as [_ E]; pose proof (Hup j L) as L'.
    pose proof (Hlow (S j) (S (N.to_nat K)) ltac:(lia) ltac:(lia)) as Lt; rewrite HG in Lt.
    replace (N.to_nat m + N.to_nat near - g j - (N.to_nat m + N.to_nat near - g (S j)))%nat with (g (S j) - g j)%nat by lia.
    replace (N.to_nat m + N.to_nat near - (N.to_nat m + N.to_nat near - g j))%nat with (g j) by lia.
    replace (nN (g (S j) - g j)) with (nth (S j) gs 0 - nth j gs 0) by (unfold g in *; lia).
    replace (nN (g j)) with (nth j gs 0) by (unfold g; lia).
    replace (nN ((g (S j) - g j) * N.to_nat r)) with ((nth (S j) gs 0 - nth j gs 0) * r) by (unfold g in *; lia).
    replace (nN (N.to_nat M - 1)) with u by lia.
    replace (nN (N.to_nat M - 1 - N.to_nat (each - t))) with (u - (each - t)) by lia.
    replace (nN (S (N.to_nat K))) with (K + 1) by lia. rewrite N2Nat.id; exact E.
Qed.
