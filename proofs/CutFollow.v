(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cuts of mkar (stream), c-gram and k-hop: what follows a key

    Three families of sequences.  Blocks: some symbols make keys, the others values.  Rows: all symbols differ.  Trees: after each symbol its
    parent, children first, so that the latest occurrence of a symbol is followed by its parent. *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Sparse Binomial.
Import ListNotations.
Local Notation nN := N.of_nat.

(** The key g ends at place e of x. *)
Definition occurs (key : nat) (x : list nat) (e : nat) (g : list nat) : Prop :=
  key <= S e /\ forall i, i < key -> nth (e - i) x 0 = nth (key - 1 - i) g 0.

(** It is followed by v, after its only occurrence or its latest; no occurrence reaches from the end of x into a copy of g behind it. *)
Definition found (once : bool) (x : list nat) (key : nat) (g : list nat) (v : nat) : Prop :=
  (key = 1 \/ ~ In (nth (length x - 1) x 0) g) /\
  exists e, S e < length x /\ occurs key x e g /\ v = nth (S e) x 0 /\
    forall e', e' < length x -> occurs key x e' g -> if once then e' = e else e' <= e.

Definition family (once : bool) (key V P : nat) (D : N) : Prop :=
  exists pre : N -> list nat, (forall i, (i < D)%N -> length (pre i) = P /\ forall s, In s (pre i) -> s < V) /\
  forall i j, (i < D)%N -> (j < D)%N -> i <> j -> exists g v v', length g = key /\ (forall s, In s g -> s < V) /\
    found once (pre i) key g v /\ found once (pre j) key g v' /\ v <> v'.

(** The same with keys of one kind. *)
Definition family_of (K : list nat -> Prop) (once : bool) (key V P : nat) (D : N) : Prop :=
  exists pre : N -> list nat, (forall i, (i < D)%N -> length (pre i) = P /\ forall s, In s (pre i) -> s < V) /\
  forall i j, (i < D)%N -> (j < D)%N -> i <> j -> exists g v v', length g = key /\ (forall s, In s g -> s < V) /\
    found once (pre i) key g v /\ found once (pre j) key g v' /\ v <> v' /\ K g.

Lemma family_any K once key V P D : family_of K once key V P D -> family once key V P D.
Proof.
  intros (pre & H1 & H2); exists pre; split; [exact H1|]. intros i j Hi Hj Hne.
  destruct (H2 i j Hi Hj Hne) as (g & v & v' & L & B & F & F' & Hv & _); exists g, v, v'; auto.
Qed.

Lemma found_latest x key g v : found true x key g v -> found false x key g v.
Proof.
  intros [C (e & E1 & E2 & E3 & E4)]; split; [exact C|]. exists e; split; [exact E1|]; split; [exact E2|]; split; [exact E3|].
  intros e' He Ho; rewrite (E4 e' He Ho); lia.
Qed.

Lemma family_latest key V P D : family true key V P D -> family false key V P D.
Proof.
  intros (pre & H1 & H2); exists pre; split; [exact H1|]. intros i j Hi Hj Hne.
  destruct (H2 i j Hi Hj Hne) as (g & v & v' & L & B & F & F' & Hv); exists g, v, v'; split; [exact L|]; split; [exact B|]; split; [apply found_latest, F|]; split; [apply found_latest, F'|exact Hv].
Qed.

(** ** Blocks *)
Definition block_symbol (key a : nat) (r : nat) (f : nat -> nat) (u : nat) : nat :=
  if u <? r * S key then (if u mod S key <? key then entry (nN a) (nN (u / S key)) (u mod S key) else a + f (u / S key)) else a.

Lemma blocks_keys (key a V P : nat) (r : N) : 0 < key -> 0 < a -> (r <= nN a ^ nN key)%N -> N.to_nat r * S key <= P -> a < V -> (0 < r)%N ->
  family_of (fun g => exists q, (q < r)%N /\ g = spell (entry (nN a) q) key) true key V P (nN (V - a) ^ r).
Proof.
  intros Hk Ha Hr HP HV Hr0; set (rr := N.to_nat r) in *.
  set (sym := block_symbol key a rr).
  assert (Wpos : (0 < nN (V - a))%N) by lia.
  assert (Dig : forall z s, entry (nN a) z s < a) by (intros z s; pose proof (entry_lt (nN a) z s ltac:(lia)); lia).
  exists (fun i => spell (sym (entry (nN (V - a)) i)) P); split.
  { intros i _; split; [apply spell_length|]. intros s Hs; apply spell_in in Hs; destruct Hs as (u & _ & <-); unfold sym, block_symbol.
    destruct (u <? rr * S key); [destruct (u mod S key <? key)|]; [specialize (Dig (nN (u / S key)) (u mod S key)); lia| |lia].
    pose proof (entry_lt (nN (V - a)) i (u / S key) Wpos); lia. }
  intros i j Hi Hj Hne; set (f := entry (nN (V - a)) i); set (f' := entry (nN (V - a)) j).
  assert (E : exists q, q < rr /\ f q <> f' q).
  { destruct (existsb (fun y => negb (f y =? f' y)) (seq 0 rr)) eqn:Ex.
    - apply existsb_exists in Ex; destruct Ex as [y [Hy Ey]]; apply in_seq in Hy; exists y; split; [lia|].
      intros C; rewrite C, Nat.eqb_refl in Ey; discriminate.
    - exfalso; apply Hne, (entry_inj (nN (V - a)) rr); auto; try (unfold rr; rewrite N2Nat.id; assumption).
      intros y Hy; destruct (Nat.eq_dec (f y) (f' y)) as [|Hn]; [assumption|exfalso].
      assert (C : existsb (fun y => negb (f y =? f' y)) (seq 0 rr) = true); [|congruence].
      apply existsb_exists; exists y; split; [apply in_seq; lia|]. apply Nat.eqb_neq in Hn; rewrite Hn; reflexivity. }
  destruct E as (q & Hq & Hd); set (g := spell (entry (nN a) (nN q)) key).
  exists g, (a + f q), (a + f' q); split; [apply spell_length|]. split.
  { intros s Hs; apply spell_in in Hs; destruct Hs as (u & _ & <-); specialize (Dig (nN q) u); lia. }
  assert (Gn : forall s, s < key -> nth s g 0 = entry (nN a) (nN q) s) by (intros; apply spell_nth; assumption).
  assert (Small : forall s, In s g -> s < a) by (intros s Hs; apply spell_in in Hs; destruct Hs as (u & _ & <-); apply Dig).
  assert (InBlock : forall h b s, b < rr -> s < key -> sym h (b * S key + s) = entry (nN a) (nN b) s).
  { intros h b s Hb Hs; unfold sym, block_symbol.
    assert (b * S key + s < rr * S key) by (apply Nat.lt_le_trans with (S b * S key); [simpl; lia|apply Nat.mul_le_mono_r; lia]).
    destruct (Nat.ltb_spec (b * S key + s) (rr * S key)); [|lia].
    rewrite (Nat.add_comm (b * S key)), Nat.mod_add, (Nat.mod_small s), Nat.div_add, (Nat.div_small s) by lia.
    destruct (Nat.ltb_spec s key); [reflexivity|lia]. }
  assert (Value : forall h b, b < rr -> sym h (b * S key + key) = a + h b).
  { intros h b Hb; unfold sym, block_symbol.
    assert (b * S key + key < rr * S key) by (apply Nat.lt_le_trans with (S b * S key); [simpl; lia|apply Nat.mul_le_mono_r; lia]).
    destruct (Nat.ltb_spec (b * S key + key) (rr * S key)); [|lia].
    rewrite (Nat.add_comm (b * S key)), Nat.mod_add, (Nat.mod_small key), Nat.div_add, (Nat.div_small key) by lia.
    rewrite Nat.ltb_irrefl; reflexivity. }
  assert (Letter : forall h u, sym h u < a -> u < rr * S key /\ u mod S key < key).
  { intros h u Hu; unfold sym, block_symbol in Hu; destruct (Nat.ltb_spec u (rr * S key)); [|lia]. split; [assumption|].
    destruct (Nat.ltb_spec (u mod S key) key); [assumption|lia]. }
  assert (Full : q * S key + key < P) by (apply Nat.lt_le_trans with (rr * S key); [apply Nat.lt_le_trans with (S q * S key); [simpl; lia|apply Nat.mul_le_mono_r; lia]|exact HP]).
  assert (F : forall h, found true (spell (sym h) P) key g (a + h q)).
  { intros h; split.
    { right; rewrite spell_length, spell_nth by lia; intros C; apply Small in C; apply Letter in C; destruct C as [C1 C2].
      assert (Ep : P = rr * S key) by lia.
      assert (Em : (P - 1) mod S key = key).
      { rewrite Ep; replace (rr * S key - 1) with (key + (rr - 1) * S key) by (destruct rr; simpl in *; lia). rewrite Nat.mod_add, Nat.mod_small by lia; reflexivity. }
      lia. }
    exists (q * S key + (key - 1)); rewrite spell_length; split; [lia|]. split; [|split].
    - split; [lia|]. intros s Hs; rewrite spell_nth, Gn by lia; replace (q * S key + (key - 1) - s) with (q * S key + (key - 1 - s)) by lia.
      apply InBlock; lia.
    - replace (S (q * S key + (key - 1))) with (q * S key + key) by lia; rewrite spell_nth, Value by lia; reflexivity.
    - intros e' He [Ho1 Ho2].
      assert (Small' : forall s, s < key -> sym h (e' - s) < a).
      { intros s Hs; specialize (Ho2 s Hs); rewrite spell_nth in Ho2 by lia; rewrite Ho2; apply Small, nth_In; unfold g; rewrite spell_length; lia. }
      (* the window is one whole key *)
      set (b := e' / S key); assert (Eb : e' = S key * b + e' mod S key) by (apply Nat.div_mod; lia).
      destruct (Letter h e' ltac:(replace e' with (e' - 0) at 1 by lia; apply Small'; lia)) as [Lr Lm].
      assert (Hm : e' mod S key = key - 1).
      { destruct (Nat.eq_dec (e' mod S key) (key - 1)) as [|Hn]; [assumption|exfalso].
        destruct (Nat.eq_dec b 0) as [Eb0|Hb0]; [rewrite Eb0 in Eb; lia|].
        assert (Hs : S (e' mod S key) < key) by lia.
        pose proof (Small' (S (e' mod S key)) Hs) as Hx; apply Letter in Hx; destruct Hx as [_ Hx].
        assert (e' - S (e' mod S key) = key + (b - 1) * S key) as Ez by (destruct b; simpl in *; lia).
        rewrite Ez, Nat.mod_add, Nat.mod_small in Hx; lia. }
      assert (Hb : b < rr) by (apply Nat.div_lt_upper_bound; lia).
      assert (Eq : b = q); [|subst b; rewrite Eq in *; lia].
      apply Nat2N.inj, (entry_inj (nN a) key); [lia| | |].
      + eapply N.lt_le_trans; [|exact Hr]; unfold rr in Hb; lia.
      + eapply N.lt_le_trans; [|exact Hr]; unfold rr in Hq; lia.
      + intros s Hs; rewrite <- (InBlock h b s Hb Hs), <- (Gn s Hs).
        specialize (Ho2 (key - 1 - s) ltac:(lia)); rewrite spell_nth in Ho2 by lia.
        replace (key - 1 - (key - 1 - s)) with s in Ho2 by lia; rewrite <- Ho2; f_equal; lia. }
  split; [apply F|]. split; [apply F|]. split; [lia|]. exists (nN q); split; [unfold rr in Hq; lia|reflexivity].
Qed.

Lemma blocks_family (key a V P : nat) (r : N) : 0 < key -> 0 < a -> (r <= nN a ^ nN key)%N -> N.to_nat r * S key <= P -> a < V -> (0 < r)%N ->
  family true key V P (nN (V - a) ^ r).
Proof. intros; apply (family_any (fun g => exists q, (q < r)%N /\ g = spell (entry (nN a) q) key)), blocks_keys; assumption. Qed.

(** Keys whose last symbol is 0: the first a^(key-1). *)
Lemma spell_zero (a : N) key q : 0 < key -> (0 < a)%N -> (q < a ^ nN (key - 1))%N -> spell (entry a q) key = spell (entry a q) (key - 1) ++ [0].
Proof.
  intros Hk Ha Hq; unfold spell; replace key with (key - 1 + 1) at 1 by lia; rewrite seq_app, map_app; f_equal; cbn [seq map]; f_equal.
  rewrite Nat.add_0_l; unfold entry; rewrite N.div_small by exact Hq; reflexivity.
Qed.

Lemma blocks_last (key a V P : nat) (r : N) : 1 < key -> 0 < a -> (r <= nN a ^ nN (key - 1))%N -> N.to_nat r * S key <= P -> a < V -> (0 < r)%N ->
  family_of (fun g => exists g', length g' = key - 1 /\ g = g' ++ [0]) true key V P (nN (V - a) ^ r).
Proof.
  intros Hk Ha Hr HP HV Hr0; destruct (blocks_keys key a V P r) as (pre & H1 & H2); auto; try lia.
  { eapply N.le_trans; [exact Hr|]; apply N.pow_le_mono_r; lia. }
  exists pre; split; [exact H1|]. intros i j Hi Hj Hne; destruct (H2 i j Hi Hj Hne) as (g & v & v' & L & B & F & F' & Hv & q & Hq & Eg).
  exists g, v, v'; repeat (split; [assumption|]). exists (spell (entry (nN a) q) (key - 1)); split; [apply spell_length|].
  rewrite Eg; apply spell_zero; lia.
Qed.

Lemma family_of_latest (K : list nat -> Prop) key V P D : family_of K true key V P D -> family_of K false key V P D.
Proof.
  intros (pre & H1 & H2); exists pre; split; [exact H1|]. intros i j Hi Hj Hne.
  destruct (H2 i j Hi Hj Hne) as (g & v & v' & L & B & F & F' & Hv & HK); exists g, v, v'; split; [exact L|]; split; [exact B|];
    split; [apply found_latest, F|]; split; [apply found_latest, F'|auto].
Qed.

(** ** Keys of one symbol *)
Lemma found_one (once : bool) x g v l1 l2 : x = l1 ++ g :: v :: l2 -> ~ In g (v :: l2) -> (once = true -> ~ In g l1) -> found once x 1 [g] v.
Proof.
  intros -> H2 H1; split; [left; reflexivity|]. exists (length l1); rewrite app_length; cbn [length]; split; [lia|]. split; [|split].
  - split; [lia|]. intros i Hi; replace i with 0 by lia; rewrite Nat.sub_0_r, app_nth2, Nat.sub_diag by lia; reflexivity.
  - rewrite app_nth2 by lia; replace (S (length l1) - length l1) with 1 by lia; reflexivity.
  - intros e' He [_ Ho]; specialize (Ho 0 ltac:(lia)); rewrite Nat.sub_0_r in Ho; cbn [nth Nat.sub] in Ho.
    assert (L : e' <= length l1).
    { destruct (Nat.le_gt_cases e' (length l1)) as [|L]; [assumption|exfalso]. rewrite app_nth2 in Ho by lia.
      destruct (e' - length l1) as [|k] eqn:Ek; [lia|]. cbn [nth] in Ho; apply H2; rewrite <- Ho.
      change (In (nth k (v :: l2) 0) (v :: l2)); apply nth_In; cbn [length]; lia. }
    destruct once; [|exact L]. destruct (Nat.eq_dec e' (length l1)) as [|Hn]; [assumption|exfalso].
    rewrite app_nth1 in Ho by lia; apply (H1 eq_refl); rewrite <- Ho; apply nth_In; lia.
Qed.

Lemma NoDup_suffix {A} (l l' : list A) : NoDup (l ++ l') -> NoDup l'.
Proof. induction l as [|a l IH]; intros H; [exact H|]; inversion H; auto. Qed.

(** ** Rows: m - 1 different symbols, then the last one to the end *)
Lemma last_difference (s s' : list nat) : length s = length s' -> s <> s' ->
  exists l a b l' r, s = l ++ a :: r /\ s' = l' ++ b :: r /\ length l = length l' /\ a <> b.
Proof.
  revert s'; induction s as [|x s IH]; intros [|x' s'] L H; try discriminate; [congruence|].
  destruct (list_eq_dec Nat.eq_dec s s') as [->|Hne].
  - exists [], x, x', [], s'; repeat split; congruence.
  - destruct (IH s') as (l & a & b & l' & r & -> & -> & Ll & Hab); [simpl in L; lia|exact Hne|].
    exists (x :: l), a, b, (x' :: l'), r; split; [reflexivity|]; split; [reflexivity|]; split; [simpl; lia|exact Hab].
Qed.

Lemma rows_family (m V P : nat) : 1 < m -> m <= P -> m <= V -> family true 1 V P (falling (m - 1) (m - 1)).
Proof.
  intros Hm HP HV; set (l := rows (seq 0 (m - 1)) (m - 1)).
  assert (Hsz : size l = falling (m - 1) (m - 1)) by (unfold l; rewrite rows_length, seq_length by apply seq_NoDup; reflexivity).
  set (tail := repeat (m - 1) (S (P - m))).
  exists (fun i => nth (N.to_nat i) l [] ++ tail); rewrite <- Hsz; unfold size.
  assert (Get : forall i, (i < nN (length l))%N -> In (nth (N.to_nat i) l []) l) by (intros i Hi; apply nth_In; lia).
  split.
  { intros i Hi; destruct (rows_in _ _ _ (Get i Hi)) as (L & I & D); split; [unfold tail; rewrite app_length, repeat_length, L; lia|].
    intros s Hs; apply in_app_iff in Hs; destruct Hs as [Hs|Hs]; [apply I, in_seq in Hs; lia|apply repeat_spec in Hs; lia]. }
  intros i j Hi Hj Hne; set (s := nth (N.to_nat i) l []); set (s' := nth (N.to_nat j) l []).
  assert (Hs : s <> s').
  { intros E; apply Hne, N2Nat.inj, (proj1 (NoDup_nth l []) (rows_NoDup _ _ (seq_NoDup _ _))); auto; lia. }
  destruct (rows_in _ _ _ (Get i Hi)) as (L & I & D); fold s in L, I, D; destruct (rows_in _ _ _ (Get j Hj)) as (L' & I' & D'); fold s' in L', I', D'.
  destruct (last_difference s s') as (p & a & b & p' & r & Es & Es' & Lp & Hab); [lia|exact Hs|].
  (* the symbols are the same: a stands before b in s' *)
  assert (Ia : In a s').
  { assert (incl (seq 0 (m - 1)) s') as C by (apply NoDup_length_incl; [exact D'|rewrite seq_length; lia|exact I']).
    apply C, I; rewrite Es; apply in_elt. }
  rewrite Es' in Ia; apply in_app_iff in Ia; destruct Ia as [Ia|[Ia|Ia]]; [|congruence|].
  2: { exfalso; rewrite Es in D; apply NoDup_remove_2 in D; apply D, in_app_iff; right; exact Ia. }
  destruct (in_split a p' Ia) as (p1 & p2 & Ep).
  assert (Bound : forall v t, In v t -> incl t (seq 0 (m - 1)) -> v < m - 1) by (intros v t Hv Ht; apply Ht, in_seq in Hv; lia).
  assert (Ha : a < m - 1) by (apply (Bound a s); [rewrite Es; apply in_elt|exact I]).
  assert (Nt : ~ In a tail) by (intros C; apply repeat_spec in C; lia).
  exists [a], (hd 0 (r ++ tail)), (hd 0 (p2 ++ b :: r ++ tail)).
  assert (Ht : exists v t, r ++ tail = v :: t) by (destruct r as [|v r']; [exists (m - 1), (repeat (m - 1) (P - m)); reflexivity|exists v, (r' ++ tail); reflexivity]).
  destruct Ht as (v & t & Ht).
  assert (Ht' : exists v' t', p2 ++ b :: r ++ tail = v' :: t') by (destruct p2 as [|v' p2']; [exists b, (r ++ tail); reflexivity|exists v', (p2' ++ b :: r ++ tail); reflexivity]).
  destruct Ht' as (v' & t' & Ht').
  split; [reflexivity|]. split; [intros x [<-|[]]; lia|]. split; [|split].
  - rewrite Ht; cbn [hd]; apply (found_one true _ a v p t); [rewrite Es, <- app_assoc; cbn [app]; rewrite Ht; reflexivity| |].
    + rewrite <- Ht; intros C; apply in_app_iff in C; destruct C as [C|C]; [|contradiction].
      rewrite Es in D; apply NoDup_remove_2 in D; apply D, in_app_iff; right; exact C.
    + intros _ C; rewrite Es in D; apply NoDup_remove_2 in D; apply D, in_app_iff; left; exact C.
  - assert (D2 : NoDup (p1 ++ a :: p2 ++ b :: r)) by (rewrite Es', Ep, <- app_assoc in D'; exact D').
    rewrite Ht'; cbn [hd]; apply (found_one true _ a v' p1 t'); [rewrite Es', Ep, <- !app_assoc; cbn [app]; rewrite Ht'; reflexivity| |].
    + rewrite <- Ht'; intros C; apply NoDup_remove_2 in D2; apply D2, in_app_iff; right.
      change (p2 ++ b :: r ++ tail) with (p2 ++ (b :: r) ++ tail) in C; rewrite app_assoc in C; apply in_app_iff in C; destruct C as [C|C]; [exact C|contradiction].
    + intros _ C; apply NoDup_remove_2 in D2; apply D2, in_app_iff; left; exact C.
  - rewrite Ht', Ht; cbn [hd]; intros Ev.
    (* v stands in r or is the last symbol, v' before that *)
    assert (Hv : In v r \/ r = [] /\ v = m - 1) by (destruct r as [|v0 r0]; [right; split; [reflexivity|cbn in Ht; inversion Ht; reflexivity]|left; cbn in Ht; inversion Ht; left; reflexivity]).
    assert (Hv' : In v' (p2 ++ [b])) by (destruct p2 as [|v0 p0]; cbn in Ht'; inversion Ht'; left; reflexivity).
    assert (Din : In v' s') by (rewrite Es', Ep; apply in_app_iff in Hv'; destruct Hv' as [C|[C|[]]]; [apply in_app_iff; left; apply in_app_iff; right; right; exact C|rewrite C; apply in_elt]).
    assert (Hlt : v' < m - 1) by (apply (Bound v' s'); [exact Din|exact I']).
    destruct Hv as [Hv|[_ Hv]]; [|lia].
    assert (D3 : NoDup ((p2 ++ [b]) ++ r)).
    { rewrite Es', Ep in D'; rewrite <- app_assoc in D'; apply NoDup_suffix in D'; inversion D' as [|? ? _ D4]; subst; rewrite <- app_assoc; exact D4. }
    clear - Hv Hv' D3 Ev; subst v'; revert Hv' D3; generalize (p2 ++ [b]) as z; intros z; induction z as [|y z IH]; intros Hz Dz; [destruct Hz|].
    inversion Dz as [|? ? Ny Dz']; subst; destruct Hz as [->|Hz]; [apply Ny, in_app_iff; right; exact Hv|auto].
Qed.

(** ** Trees: Prüfer's codes

    A code C lists the parents, the root last.  Of the vertices S that are left, one more than C has entries, the first that is no parent any more
    is written, followed by its parent, and taken away. *)
Definition leaf (S C : list nat) : nat := hd 0 (filter (fun v => negb (mem v C)) S).

Fixpoint decode (S C : list nat) : list (nat * nat) :=
  match C with [] => [] | c :: C' => (leaf S C, c) :: decode (remove Nat.eq_dec (leaf S C) S) C' end.

Definition symbols (e : list (nat * nat)) : list nat := flat_map (fun p => [fst p; snd p]) e.

Section Trees.
Variable root : nat.

Definition code (S C : list nat) : Prop := NoDup S /\ length S = 1 + length C /\ In root S /\ last C root = root.

Lemma leaf_spec S C : NoDup S -> length C < length S -> In (leaf S C) S /\ ~ In (leaf S C) C.
Proof.
  intros Hd HL; unfold leaf; destruct (filter (fun v => negb (mem v C)) S) as [|v r] eqn:E.
  - exfalso; assert (length S <= length C); [|lia]. apply NoDup_incl_length; [exact Hd|]. intros v Hv.
    destruct (mem v C) eqn:M; [apply mem_spec, M|]. assert (I : In v (filter (fun v => negb (mem v C)) S)) by (apply filter_In; rewrite M; auto).
    rewrite E in I; destruct I.
  - cbn [hd]; assert (I : In v (filter (fun v => negb (mem v C)) S)) by (rewrite E; left; reflexivity).
    apply filter_In in I; destruct I as [I N]; split; [exact I|]. intros C'; apply mem_spec in C'; rewrite C' in N; discriminate.
Qed.

Lemma root_in S C c : code S (c :: C) -> In root (c :: C).
Proof.
  intros (_ & _ & _ & E); assert (G : forall C d, In (last (d :: C) root) (d :: C)); [|specialize (G C c); rewrite E in G; exact G].
  clear; induction C as [|x C IH]; intros d; [left; reflexivity|]. right; apply (IH x).
Qed.

Lemma code_next S C c : code S (c :: C) -> code (remove Nat.eq_dec (leaf S (c :: C)) S) C.
Proof.
  intros H; pose proof (root_in S C c H) as Hr; destruct H as (Hd & HL & Hi & El).
  destruct (leaf_spec S (c :: C)) as [L1 L2]; [exact Hd|rewrite HL; lia|].
  split; [apply remove_NoDup, Hd|]. split; [|split].
  - pose proof (remove_length _ S Hd L1); cbn [length] in HL; lia.
  - apply in_in_remove; [intros E; apply L2; rewrite <- E; exact Hr|exact Hi].
  - destruct C as [|x C]; [reflexivity|exact El].
Qed.

Lemma decode_snd C : forall S, map snd (decode S C) = C.
Proof. induction C as [|c C IH]; intros S; [reflexivity|]; cbn [decode map snd]; rewrite IH; reflexivity. Qed.

Lemma decode_in C : forall S, code S C -> forall q c, In (q, c) (decode S C) -> In q S /\ In c C /\ q <> root.
Proof.
  induction C as [|c0 C IH]; intros S H q c Hq; [destruct Hq|]; cbn [decode] in Hq.
  destruct (leaf_spec S (c0 :: C)) as [L1 L2]; [apply H|destruct H as (_ & -> & _); lia|].
  destruct Hq as [E|Hq].
  - inversion E; subst; split; [exact L1|]. split; [left; reflexivity|]. intros E'; apply L2; rewrite E'; apply (root_in S); exact H.
  - destruct (IH _ (code_next _ _ _ H) q c Hq) as (I1 & I2 & I3); apply in_remove in I1; split; [apply I1|]. split; [right; exact I2|exact I3].
Qed.

(** Every vertex but the root is written once before a parent. *)
Lemma decode_all C : forall S, code S C -> forall q, In q S -> q <> root -> exists c, In (q, c) (decode S C).
Proof.
  induction C as [|c C IH]; intros S H q Hq Hr.
  - exfalso; destruct H as (Hd & HL & Hi & _); destruct S as [|a [|b S]]; try discriminate; destruct Hq as [<-|[]], Hi as [<-|[]]; congruence.
  - cbn [decode]; destruct (Nat.eq_dec q (leaf S (c :: C))) as [->|Hn]; [exists c; left; reflexivity|].
    destruct (IH _ (code_next _ _ _ H) q) as [c' Hc]; [apply in_in_remove; auto|exact Hr|]. exists c'; right; exact Hc.
Qed.

(** After its pair a vertex does not occur. *)
Lemma decode_late C : forall S l1 q c l2, code S C -> decode S C = l1 ++ (q, c) :: l2 -> ~ In q (c :: symbols l2).
Proof.
  induction C as [|c0 C IH]; intros S l1 q c l2 H E; [destruct l1; discriminate|]; cbn [decode] in E.
  destruct (leaf_spec S (c0 :: C)) as [L1 L2]; [apply H|destruct H as (_ & -> & _); lia|].
  destruct l1 as [|p l1]; cbn [app] in E; inversion E; subst.
  - intros [C1|C1]; [apply L2; left; exact C1|]. unfold symbols in C1; apply in_flat_map in C1; destruct C1 as [[a b] [Hp C1]]; cbn in C1.
    destruct (decode_in _ _ (code_next _ _ _ H) a b Hp) as (I1 & I2 & _); apply in_remove in I1.
    destruct C1 as [C1|[C1|[]]]; [apply I1; exact C1|apply L2; right; rewrite <- C1; exact I2].
  - apply (IH _ l1 q c l2 (code_next _ _ _ H)); assumption.
Qed.

(** The parents determine the code. *)
Lemma decode_inj C : forall C' S, code S C -> code S C' ->
  (forall q c c', In (q, c) (decode S C) -> In (q, c') (decode S C') -> c = c') -> C = C'.
Proof.
  induction C as [|c C IH]; intros C' S H H' E.
  - destruct H as (_ & HL & _), H' as (_ & HL' & _); destruct C'; [reflexivity|cbn [length] in *; lia].
  - destruct C' as [|c' C']; [destruct H as (_ & HL & _), H' as (_ & HL' & _); cbn [length] in *; lia|].
    assert (Sub : forall B B', code S B -> code S B' -> (forall q c c', In (q, c) (decode S B) -> In (q, c') (decode S B') -> c = c') -> incl B B').
    { intros B B' HB HB' EB v Hv; rewrite <- (decode_snd B S) in Hv; apply in_map_iff in Hv; destruct Hv as [[q x] [Ex Hq]]; cbn in Ex; subst x.
      destruct (decode_in _ _ HB q v Hq) as (Q1 & _ & Q3); destruct (decode_all _ _ HB' q Q1 Q3) as [y Hy].
      rewrite (EB q v y Hq Hy); apply (decode_in _ _ HB' q y Hy). }
    assert (I1 : incl (c :: C) (c' :: C')) by (apply Sub; auto).
    assert (I2 : incl (c' :: C') (c :: C)) by (apply Sub; auto; intros q x y Hx Hy; symmetry; apply (E q y x); auto).
    assert (M : forall v, mem v (c :: C) = mem v (c' :: C')).
    { intros v; destruct (mem v (c :: C)) eqn:M1, (mem v (c' :: C')) eqn:M2; try reflexivity.
      - apply mem_spec, I1, mem_spec in M1; congruence.
      - apply mem_spec, I2, mem_spec in M2; congruence. }
    assert (El : leaf S (c :: C) = leaf S (c' :: C')).
    { unfold leaf; f_equal; apply filter_ext; intros v; rewrite M; reflexivity. }
    assert (Ec : c = c') by (apply (E (leaf S (c :: C)) c c'); cbn [decode]; [left; reflexivity|left; rewrite El; reflexivity]); subst c'.
    f_equal; apply (IH C' (remove Nat.eq_dec (leaf S (c :: C)) S)); [apply code_next, H|rewrite El; apply code_next, H'|].
    intros q x y Hx Hy; apply (E q x y); cbn [decode]; right; [exact Hx|rewrite <- El; exact Hy].
Qed.
End Trees.

Lemma symbols_app a b : symbols (a ++ b) = symbols a ++ symbols b.
Proof. apply flat_map_app. Qed.

Lemma symbols_length e : length (symbols e) = 2 * length e.
Proof. induction e as [|p e IH]; [reflexivity|]; cbn [symbols flat_map app length]; fold (symbols e); lia. Qed.

(** m^(m-2) of them. *)
Lemma trees_family (m V P : nat) : 1 < m -> m <= V -> 2 * (m - 1) <= P -> family false 1 V P (nN m ^ nN (m - 2)).
Proof.
  intros Hm HV HP; set (root := m - 1); set (S0 := seq 0 m); set (cd := fun i => spell (entry (nN m) i) (m - 2) ++ [root]).
  assert (Hc : forall i, code root S0 (cd i)).
  { intros i; split; [apply seq_NoDup|]. unfold cd; split; [unfold S0; rewrite seq_length, app_length, spell_length; simpl; lia|].
    split; [apply in_seq; unfold root; lia|apply last_last]. }
  assert (Hlt : forall i c, In c (cd i) -> c < m).
  { intros i c H; unfold cd in H; apply in_app_iff in H; destruct H as [H|[<-|[]]]; [|unfold root; lia].
    apply spell_in in H; destruct H as (u & _ & <-); pose proof (entry_lt (nN m) i u ltac:(lia)); lia. }
  set (pad := repeat root (P - 2 * (m - 1))).
  exists (fun i => pad ++ symbols (decode S0 (cd i))); split.
  { intros i _; split.
    - unfold pad; rewrite app_length, repeat_length, symbols_length, <- (map_length snd), decode_snd; unfold cd; rewrite app_length, spell_length; simpl; lia.
    - intros s Hs; apply in_app_iff in Hs; destruct Hs as [Hs|Hs]; [apply repeat_spec in Hs; unfold root in Hs; lia|].
      unfold symbols in Hs; apply in_flat_map in Hs; destruct Hs as [[q c] [Hq Hs]]; cbn in Hs.
      destruct (decode_in root _ _ (Hc i) q c Hq) as (I1 & I2 & _); apply in_seq in I1; apply Hlt in I2.
      destruct Hs as [<-|[<-|[]]]; lia. }
  intros i j Hi Hj Hne.
  assert (Dc : cd i <> cd j).
  { intros E; unfold cd in E; apply app_inj_tail in E; destruct E as [E _]; apply Hne, (entry_inj (nN m) (m - 2)); [lia|exact Hi|exact Hj|].
    intros u Hu; rewrite <- (spell_nth (entry (nN m) i) (m - 2) u 0 Hu), E; apply spell_nth, Hu. }
  destruct (existsb (fun p => existsb (fun p' => (fst p =? fst p') && negb (snd p =? snd p')) (decode S0 (cd j))) (decode S0 (cd i))) eqn:Ex.
  2: { exfalso; apply Dc, (decode_inj root _ _ S0 (Hc i) (Hc j)); intros q c c' H H'.
       destruct (Nat.eq_dec c c') as [|Hn]; [assumption|exfalso].
       assert (C : existsb (fun p => existsb (fun p' => (fst p =? fst p') && negb (snd p =? snd p')) (decode S0 (cd j))) (decode S0 (cd i)) = true); [|congruence].
       apply existsb_exists; exists (q, c); split; [exact H|]. apply existsb_exists; exists (q, c'); split; [exact H'|]. cbn [fst snd].
       apply Nat.eqb_neq in Hn; rewrite Nat.eqb_refl, Hn; reflexivity. }
  apply existsb_exists in Ex; destruct Ex as [[q c] [Hq Ex]]; apply existsb_exists in Ex; destruct Ex as [[q' c'] [Hq' Ex]]; cbn [fst snd] in Ex.
  apply andb_prop in Ex; destruct Ex as [Eq En]; apply Nat.eqb_eq in Eq; subst q'.
  assert (F : forall i c, In (q, c) (decode S0 (cd i)) -> found false (pad ++ symbols (decode S0 (cd i))) 1 [q] c).
  { intros k x Hx; destruct (in_split _ _ Hx) as (l1 & l2 & E).
    apply (found_one false _ q x (pad ++ symbols l1) (symbols l2)); [|apply (decode_late root _ _ _ _ _ _ (Hc k) E)|discriminate].
    rewrite E, symbols_app, <- app_assoc; reflexivity. }
  exists [q], c, c'; split; [reflexivity|]. split.
  { intros s [<-|[]]; destruct (decode_in root _ _ (Hc i) q c Hq) as (I1 & _); apply in_seq in I1; lia. }
  split; [apply F, Hq|]. split; [apply F, Hq'|]. intros E; rewrite E, Nat.eqb_refl in En; discriminate.
Qed.

(** ** Which family, with its size; the sequences have P symbols *)
Inductive shape := Blocks (letters keys : N) | Rows (m : N) | Trees (m : N).

(** (V-a)^r; (m-1)!; m^(m-2). *)
Definition shape_base (sh : shape) (V : N) : N := match sh with Blocks a _ => V - a | Rows m => falling_of (m - 1) (m - 1) | Trees m => m end%N.
Definition shape_exponent (sh : shape) : N := match sh with Blocks _ r => r | Rows _ => 1 | Trees m => m - 2 end%N.

Definition shape_ok (sh : shape) (once : bool) (key V P : N) : bool :=
  match sh with
  | Blocks a r => (0 <? key) && (0 <? a) && (a <? V) && (0 <? r) && (r <=? a ^ key) && (r * (key + 1) <=? P)
  | Rows m => (key =? 1) && (1 <? m) && (m <=? P) && (m <=? V)
  | Trees m => negb once && (key =? 1) && (1 <? m) && (m <=? V) && (2 * (m - 1) <=? P)
  end%N.

Lemma shape_family sh once key V P : shape_ok sh once key V P = true ->
  family once (N.to_nat key) (N.to_nat V) (N.to_nat P) (shape_base sh V ^ shape_exponent sh).
Proof.
  destruct sh as [a r|m|m]; cbn [shape_ok shape_base shape_exponent]; intros H.
  - checked H. replace (V - a)%N with (nN (N.to_nat V - N.to_nat a)) by lia.
    assert (F : family true (N.to_nat key) (N.to_nat V) (N.to_nat P) (nN (N.to_nat V - N.to_nat a) ^ r)).
    { apply blocks_family; try lia; rewrite !N2Nat.id; lia. }
    destruct once; [exact F|apply family_latest, F].
  - checked H; subst key; rewrite N.pow_1_r, falling_of_spec, N2Nat.inj_sub; change (N.to_nat 1) with 1.
    assert (F : family true 1 (N.to_nat V) (N.to_nat P) (falling (N.to_nat m - 1) (N.to_nat m - 1))) by (apply rows_family; lia).
    destruct once; [exact F|apply family_latest, F].
  - apply andb_prop in H; destruct H as [H H5]; apply andb_prop in H; destruct H as [H H4]; apply andb_prop in H; destruct H as [H H3];
      apply andb_prop in H; destruct H as [H1 H2]; checked H2; checked H3; checked H4; checked H5; subst key; destruct once; [discriminate|].
    pose proof (trees_family (N.to_nat m) (N.to_nat V) (N.to_nat P) ltac:(lia) ltac:(lia) ltac:(lia)) as F.
    replace (nN (N.to_nat m - 2)) with (m - 2)%N in F by lia; rewrite N2Nat.id in F; exact F.
Qed.

(** ** mkar, layout=stream: T symbols below V; asked for the symbol after the latest earlier occurrence of the last [key] symbols *)
Definition streamed (T V key : nat) (x : list nat) (t v : nat) : Prop :=
  length x = T /\ (forall s, In s x -> s < V) /\ t < T /\ key <= S t /\
  exists e, key <= S e /\ e < t /\ (forall i, i < key -> nth (e - i) x 0 = nth (t - i) x 0) /\
    (forall e', e < e' < t -> key <= S e' -> exists i, i < key /\ nth (e' - i) x 0 <> nth (t - i) x 0) /\ v = nth (S e) x 0.

Definition mkar_stream (T V key : N) : task := words (streamed (N.to_nat T) (N.to_nat V) (N.to_nat key)).

Lemma mkar_stream_within n T V key : (T <=? n)%N = true -> within n (mkar_stream T V key).
Proof. intros H; apply words_within; intros x t v (_ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

Lemma not_all_key key (f g : nat -> nat) : ~ (forall i, i < key -> f i = g i) -> exists i, i < key /\ f i <> g i.
Proof.
  intros H; destruct (existsb (fun i => negb (f i =? g i)) (seq 0 key)) eqn:E.
  - apply existsb_exists in E; destruct E as [i [Hi E]]; apply in_seq in Hi; exists i; split; [lia|]. intros C; rewrite C, Nat.eqb_refl in E; discriminate.
  - exfalso; apply H; intros i Hi; destruct (Nat.eqb_spec (f i) (g i)) as [|N]; [assumption|exfalso].
    assert (C : existsb (fun i => negb (f i =? g i)) (seq 0 key) = true); [|congruence].
    apply existsb_exists; exists i; split; [apply in_seq; lia|]. apply Nat.eqb_neq in N; rewrite N; reflexivity.
Qed.

Lemma stream_asks V P key x g v : 0 < key -> length x = P -> (forall s, In s x -> s < V) -> length g = key -> (forall s, In s g -> s < V) ->
  found false x key g v -> streamed (P + key) V key (x ++ g) (P + key - 1) v.
Proof.
  intros Hk Lx Bx Lg Bg [Hc (e & He & [Ho1 Ho2] & Hv & Hl)].
  assert (Low : forall u, u < P -> nth u (x ++ g) 0 = nth u x 0) by (intros; apply app_nth1; lia).
  assert (High : forall i, i < key -> nth (P + key - 1 - i) (x ++ g) 0 = nth (key - 1 - i) g 0)
    by (intros i Hi; rewrite app_nth2, Lx by lia; f_equal; lia).
  split; [rewrite app_length; lia|]. split; [intros s Hs; apply in_app_iff in Hs; destruct Hs; auto|]. split; [lia|]. split; [lia|].
  exists e; split; [exact Ho1|]. split; [lia|]. split; [|split].
  - intros i Hi; rewrite Low, High by lia; apply Ho2, Hi.
  - intros e' He' Hk'; apply not_all_key; intros C.
    destruct (Nat.lt_ge_cases e' P) as [L|L].
    + assert (e' <= e); [|lia]. apply (Hl e' ltac:(lia)); split; [exact Hk'|]. intros i Hi; rewrite <- (High i Hi), <- (Low (e' - i)) by lia; apply C, Hi.
    + destruct Hc as [Hc|Hc]; [lia|]. apply Hc.
      specialize (C (e' - (P - 1)) ltac:(lia)); rewrite High in C by lia; replace (e' - (e' - (P - 1))) with (P - 1) in C by lia.
      rewrite Low in C by lia; rewrite Lx, C; apply nth_In; lia.
  - rewrite Low by lia; exact Hv.
Qed.

Theorem cut_mkar_stream T V key sh arch :
  shape_ok sh false key V (T - key) && (0 <? key)%N && (key <=? T)%N &&
  (is_recurrent arch && exceeds (shape_base sh V) (shape_exponent sh) (bits_at (T - key) arch)) = true ->
  forall t, ImpossibleThinking arch t (mkar_stream T V key).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [H' H2]; apply andb_prop in H'; destruct H' as [Hs H1].
  checked H1; checked H2; apply andb_prop in H; destruct H as [Hr H].
  apply (cut_power _ (T - key) (shape_base sh V) (shape_exponent sh)); auto.
  destruct (shape_family _ _ _ _ _ Hs) as (pre & B & F); exists (fun i => word (pre i)); intros i j Hi Hj Hne.
  destruct (B i Hi) as [Li Bi], (B j Hj) as [Lj Bj]; destruct (F i j Hi Hj Hne) as (g & v & v' & Lg & Bg & F1 & F2 & Hv).
  apply told_apart; auto; exists g, (N.to_nat (T - key) + N.to_nat key - 1), v, v'; split; [lia|].
  replace (N.to_nat T) with (N.to_nat (T - key) + N.to_nat key) by lia.
  split; [apply stream_asks; auto; lia|]. split; [apply stream_asks; auto; lia|exact Hv].
Qed.

(** One layer: r keys of [a] letters that end with symbol 0. *)
Definition blocks_ok (a r key V P : N) : bool :=
  ((1 <? key) && (0 <? a) && (a <? V) && (0 <? r) && (r <=? a ^ (key - 1)) && (r * (key + 1) <=? P))%N.

Lemma blocks_ok_last a r key V P once : blocks_ok a r key V P = true ->
  family_of (fun g => exists g', length g' = N.to_nat key - 1 /\ g = g' ++ [0]) once (N.to_nat key) (N.to_nat V) (N.to_nat P) ((V - a) ^ r).
Proof.
  unfold blocks_ok; intros H; checked H; replace (V - a)%N with (nN (N.to_nat V - N.to_nat a)) by lia.
  assert (F : family_of (fun g => exists g', length g' = N.to_nat key - 1 /\ g = g' ++ [0]) true (N.to_nat key) (N.to_nat V) (N.to_nat P)
    (nN (N.to_nat V - N.to_nat a) ^ r)).
  { apply blocks_last; try lia; replace (nN (N.to_nat key - 1)) with (key - 1)%N by lia; rewrite !N2Nat.id; lia. }
  destruct once; [exact F|apply family_of_latest, F].
Qed.

Theorem cut_one_mkar_stream T V key a r c s arch : one_layer (T - key) c s arch = true ->
  blocks_ok a r key V (T - key) && (key <=? T)%N && exceeds (V - a) r (c + s) = true -> Impossible arch (mkar_stream T V key).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [Hb H1]; checked H1.
  apply exceeds_spec in H; destruct H as [_ H].
  assert (Hk : 1 < N.to_nat key) by (unfold blocks_ok in Hb; checked Hb; lia).
  destruct (blocks_ok_last a r key V (T - key) false Hb) as (pre & B & F).
  apply (cut_one _ (T - key) ((V - a) ^ r) (N.to_nat (T - key) + (N.to_nat key - 1)) (num 0) (fun i => word (pre i)) c s arch Ho); [|exact H].
  intros i j Hi Hj Hne; destruct (B i Hi) as [Li Bi], (B j Hj) as [Lj Bj]; destruct (F i j Hi Hj Hne) as (g & v & v' & Lg & Bg & F1 & F2 & Hv & g' & Lg' & Eg).
  apply told_apart_last; auto; exists g', v, v'; rewrite <- Eg; split; [exact Lg'|].
  replace (N.to_nat T) with (N.to_nat (T - key) + N.to_nat key) by lia.
  replace (N.to_nat (T - key) + (N.to_nat key - 1)) with (N.to_nat (T - key) + N.to_nat key - 1) by lia.
  split; [apply stream_asks; auto; lia|]. split; [apply stream_asks; auto; lia|exact Hv].
Qed.

(** ** c-gram: N symbols below V, a separator (V), then k = c - 1 symbols that occur in the sequence with one continuation only *)
Definition gram (N V k : nat) (x : list nat) (t v : nat) : Prop :=
  exists y g, length y = N /\ (forall s, In s y -> s < V) /\ length g = k /\ (forall s, In s g -> s < V) /\ x = y ++ V :: g /\ t = N + k /\
  (exists e, S e < N /\ occurs k y e g /\ v = nth (S e) y 0) /\ (forall e, S e < N -> occurs k y e g -> v = nth (S e) y 0).

Definition c_gram (N V k : N) : task := words (gram (N.to_nat N) (N.to_nat V) (N.to_nat k)).

Lemma c_gram_within n N V k : (N + k <? n)%N = true -> within n (c_gram N V k).
Proof. intros H; apply words_within; intros x t v (y & g & _ & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Lemma gram_asks N V k x g w : length x = N -> (forall s, In s x -> s < V) -> length g = k -> (forall s, In s g -> s < V) -> found true x k g w ->
  gram N V k (x ++ V :: g) (N + k) w.
Proof.
  intros Lx Bx Lg Bg [_ (e & E1 & E2 & E3 & E4)]; exists x, g; repeat split; auto; [exists e; rewrite <- Lx; auto|].
  intros e' He Ho; rewrite (E4 e') by (auto; lia); exact E3.
Qed.

Theorem cut_c_gram N V k sh arch : shape_ok sh true k V N && (is_recurrent arch && exceeds (shape_base sh V) (shape_exponent sh) (bits_at N arch)) = true ->
  forall T, ImpossibleThinking arch T (c_gram N V k).
Proof.
  intros H; apply andb_prop in H; destruct H as [Hs H]; apply andb_prop in H; destruct H as [Hr H].
  apply (cut_power _ N (shape_base sh V) (shape_exponent sh)); auto.
  destruct (shape_family _ _ _ _ _ Hs) as (pre & B & F); exists (fun i => word (pre i)); intros i j Hi Hj Hne.
  destruct (B i Hi) as [Li Bi], (B j Hj) as [Lj Bj]; destruct (F i j Hi Hj Hne) as (g & v & v' & Lg & Bg & F1 & F2 & Hv).
  apply told_apart; auto; exists (N.to_nat V :: g), (N.to_nat N + N.to_nat k), v, v'; split; [lia|].
  split; [apply gram_asks; auto|]. split; [apply gram_asks; auto|exact Hv].
Qed.

Theorem cut_one_c_gram N V k a r c s arch : one_layer N c s arch = true -> blocks_ok a r k V N && exceeds (V - a) r (c + s) = true -> Impossible arch (c_gram N V k).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [Hb H]; apply exceeds_spec in H; destruct H as [_ H].
  assert (Hk : 1 < N.to_nat k) by (unfold blocks_ok in Hb; checked Hb; lia).
  destruct (blocks_ok_last a r k V N true Hb) as (pre & B & F).
  apply (cut_one _ N ((V - a) ^ r) (N.to_nat N + N.to_nat k) (num 0) (fun i => word (pre i)) c s arch Ho); [|exact H].
  intros i j Hi Hj Hne; destruct (B i Hi) as [Li Bi], (B j Hj) as [Lj Bj]; destruct (F i j Hi Hj Hne) as (g & v & v' & Lg & Bg & F1 & F2 & Hv & g' & Lg' & Eg).
  apply told_apart_last; auto; exists (N.to_nat V :: g'), v, v'; cbn [app]; rewrite <- Eg; split; [cbn [length]; lia|].
  split; [apply gram_asks; auto|]. split; [apply gram_asks; auto|exact Hv].
Qed.

(** ** k-hop: the number of hops (A + h), then N symbols below A; a hop goes from i to the successor of the last earlier occurrence of y_i.  Asked
    at the last symbol, which the tool asks in both forms; h = k, or with [uniform] any h up to k *)
Definition hop (y : list nat) (i j : nat) : Prop :=
  0 < j <= i /\ nth (j - 1) y 0 = nth i y 0 /\ forall j', j < j' <= i -> nth (j' - 1) y 0 <> nth i y 0.

Inductive hops (y : list nat) : nat -> nat -> nat -> Prop :=
| hops_0 i : hops y 0 i i
| hops_S h i j l : hop y i j -> hops y h j l -> hops y (S h) i l.

Definition hopped (uniform : bool) (N A k : nat) (x : list nat) (t v : nat) : Prop :=
  exists y h i j, (h = k \/ uniform = true /\ h <= k) /\ length y = N /\ (forall s, In s y -> s < A) /\ x = (A + h) :: y /\ S i = N /\ t = N /\
  hops y h i j /\ v = nth j y 0.

Definition k_hop (uniform : bool) (N A k : N) : task := words (hopped uniform (N.to_nat N) (N.to_nat A) (N.to_nat k)).

Lemma k_hop_within n uniform N A k : (N <? n)%N = true -> within n (k_hop uniform N A k).
Proof. intros H; apply words_within; intros x t v (y & h & i & j & _ & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

(** b_1 leads into the prefix, and neighbours differ: the tail is b_2 b_1, b_3 b_2, ..., b_h b_(h-1), b_h. *)
Definition tail_symbol (b : nat -> nat) (h n : nat) : nat :=
  if n =? 2 * (h - 1) then b h else if Nat.even n then b (Nat.div2 n + 2) else b (Nat.div2 n + 1).

Lemma tail_hops b h p e v : 0 < h -> (forall j, 0 < j < h -> b j <> b (S j)) -> S e < length p -> nth e p 0 = b 1 ->
  (forall e', e < e' < length p -> nth e' p 0 <> b 1) -> v = nth (S e) p 0 ->
  let y := p ++ spell (tail_symbol b h) (2 * h - 1) in exists j, hops y h (length y - 1) j /\ v = nth j y 0.
Proof.
  intros Hh Hb He Eq Hl Hv y; set (q := b 1) in *; set (P := length p) in *.
  assert (Ly : length y = P + (2 * h - 1)) by (unfold y; rewrite app_length, spell_length; reflexivity).
  assert (Low : forall u, u < P -> nth u y 0 = nth u p 0) by (intros; apply app_nth1; assumption).
  assert (Hi : forall n, n < 2 * h - 1 -> nth (P + n) y 0 = tail_symbol b h n).
  { intros n Hn; unfold y; rewrite app_nth2 by (unfold P; lia); replace (P + n - length p) with n by (unfold P; lia); apply spell_nth, Hn. }
  assert (Even : forall m, m < h - 1 -> nth (P + 2 * m) y 0 = b (m + 2)).
  { intros m Hm; rewrite Hi by lia; unfold tail_symbol; destruct (Nat.eqb_spec (2 * m) (2 * (h - 1))); [lia|].
    rewrite Nat.div2_double; replace (Nat.even (2 * m)) with true by (symmetry; apply Nat.even_spec; exists m; reflexivity); reflexivity. }
  assert (Odd : forall m, m < h - 1 -> nth (P + (2 * m + 1)) y 0 = b (m + 1)).
  { intros m Hm; rewrite Hi by lia; unfold tail_symbol; destruct (Nat.eqb_spec (2 * m + 1) (2 * (h - 1))); [lia|].
    replace (2 * m + 1) with (S (2 * m)) by lia; rewrite Nat.div2_succ_double.
    replace (Nat.even (S (2 * m))) with false; [reflexivity|]. symmetry; rewrite Nat.even_succ, <- Nat.negb_even.
    replace (Nat.even (2 * m)) with true by (symmetry; apply Nat.even_spec; exists m; reflexivity); reflexivity. }
  assert (Last : nth (P + 2 * (h - 1)) y 0 = b h).
  { rewrite Hi by lia; unfold tail_symbol; rewrite Nat.eqb_refl; reflexivity. }
  exists (S e); split; [|rewrite Low by exact He; exact Hv].
  (* from the second symbol of pair m down to the prefix *)
  assert (Down : forall m, m < h - 1 -> hops y (S m) (P + (2 * m + 1)) (S e)).
  { induction m as [|m IH]; intros Hm.
    - apply (hops_S y 0 _ (S e)); [|constructor]. split; [lia|]. rewrite (Odd 0 Hm); change (b (0 + 1)) with q; split; [rewrite Nat.sub_succ, Nat.sub_0_r, Low by lia; exact Eq|].
      intros j' Hj'; destruct (Nat.eq_dec j' (P + 1)) as [->|].
      + replace (P + 1 - 1) with (P + 2 * 0) by lia; rewrite (Even 0 Hm); intros C; apply (Hb 1); [lia|]; symmetry; exact C.
      + rewrite Low by lia; apply Hl; lia.
    - apply (hops_S y (S m) _ (P + (2 * m + 1))); [|apply IH; lia]. split; [lia|]. rewrite (Odd (S m) Hm); split.
      + replace (P + (2 * m + 1) - 1) with (P + 2 * m) by lia; rewrite Even by lia; f_equal; lia.
      + intros j' Hj'; assert (C : j' = P + (2 * m + 1) + 1 \/ j' = P + 2 * S m + 1) by lia; destruct C as [-> | ->].
        * replace (P + (2 * m + 1) + 1 - 1) with (P + (2 * m + 1)) by lia; rewrite Odd by lia; replace (S m + 1) with (S (m + 1)) by lia; apply Hb; lia.
        * replace (P + 2 * S m + 1 - 1) with (P + 2 * S m) by lia; rewrite Even by exact Hm; replace (S m + 2) with (S (S m + 1)) by lia.
          intros C; symmetry in C; revert C; apply Hb; lia. }
  replace (length y - 1) with (P + 2 * (h - 1)) by lia; destruct (Nat.eq_dec h 1) as [->|Hh1].
  - apply (hops_S y 0 _ (S e)); [|constructor]. split; [lia|]. rewrite Last; change (b 1) with q; split; [rewrite Nat.sub_succ, Nat.sub_0_r, Low by lia; exact Eq|].
    intros j' Hj'; rewrite Low by lia; apply Hl; lia.
  - destruct h as [|h]; [lia|]. apply (hops_S y h _ (P + (2 * (h - 1) + 1))).
    + split; [lia|]. rewrite Last; split.
      * replace (P + (2 * (h - 1) + 1) - 1) with (P + 2 * (h - 1)) by lia; rewrite Even by lia; f_equal; lia.
      * intros j' Hj'; assert (C : j' = P + (2 * (h - 1) + 1) + 1) by lia; subst j'.
        replace (P + (2 * (h - 1) + 1) + 1 - 1) with (P + (2 * (h - 1) + 1)) by lia; rewrite Odd by lia.
        replace (S h) with (S (h - 1 + 1)) by lia; apply Hb; lia.
    + replace h with (S (h - 1)) at 1 by lia; apply Down; lia.
Qed.

Lemma hop_asks uniform N A k h b x w : h = k \/ uniform = true /\ h <= k -> 0 < h -> 2 * h - 1 <= N -> length x = N - (2 * h - 1) -> (forall s, In s x -> s < A) ->
  (forall j, b j < A) -> (forall j, 0 < j < h -> b j <> b (S j)) -> found false x 1 [b 1] w ->
  hopped uniform N A k (((A + h) :: x) ++ spell (tail_symbol b h) (2 * h - 1)) N w.
Proof.
  intros Hh H0 HN Lx Bx Bb Hb [_ (e & E1 & [_ E2] & E3 & E4)]; destruct (tail_hops b h x e w) as (l & Hhops & Hw); auto.
  - specialize (E2 0 ltac:(lia)); rewrite Nat.sub_0_r in E2; exact E2.
  - intros e' He C; assert (e' <= e); [|lia]. apply (E4 e' ltac:(lia)); split; [lia|]. intros s Hs0; replace s with 0 by lia; rewrite Nat.sub_0_r; exact C.
  - set (c := spell (tail_symbol b h) (2 * h - 1)) in *; assert (Lxc : length (x ++ c) = N) by (unfold c; rewrite app_length, spell_length, Lx; lia).
    exists (x ++ c), h, (N - 1), l; split; [exact Hh|]. split; [exact Lxc|]. split.
    { intros s Hs; apply in_app_iff in Hs; destruct Hs as [Hs|Hs]; [apply Bx, Hs|]. apply spell_in in Hs; destruct Hs as (u & _ & <-); unfold tail_symbol.
      destruct (u =? 2 * (h - 1)); [apply Bb|]; destruct (Nat.even u); apply Bb. }
    split; [reflexivity|]. split; [lia|]. split; [reflexivity|]. rewrite <- Lxc at 1; auto.
Qed.

Lemma hops_asked (uniform : bool) h k : (h =? k)%N || uniform && (h <=? k)%N = true -> N.to_nat h = N.to_nat k \/ uniform = true /\ N.to_nat h <= N.to_nat k.
Proof.
  intros H; apply orb_prop in H; destruct H as [H|H]; [left; checked H; subst h; reflexivity|right].
  apply andb_prop in H; destruct H as [-> H]; checked H; split; [reflexivity|lia].
Qed.

(** h hops with h = k, or h = 1 where h is drawn; P = N - (2 h - 1) symbols before the cut. *)
Theorem cut_k_hop uniform N A k h sh arch :
  ((h =? k)%N || uniform && (h <=? k)%N) && (0 <? h)%N && (1 <? A)%N && (2 * h - 1 <=? N)%N && shape_ok sh false 1 A (N - (2 * h - 1)) &&
  (is_recurrent arch && exceeds (shape_base sh A) (shape_exponent sh) (bits_at (N - (2 * h - 1) + 1) arch)) = true ->
  forall T, ImpossibleThinking arch T (k_hop uniform N A k).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [H' Hs]; apply andb_prop in H'; destruct H' as [H' H4];
    apply andb_prop in H'; destruct H' as [H' H3]; apply andb_prop in H'; destruct H' as [H1 H2]; checked H2; checked H3; checked H4.
  apply andb_prop in H; destruct H as [Hr H]; apply hops_asked in H1.
  set (P := (N - (2 * h - 1))%N) in *.
  apply (cut_power _ (P + 1) (shape_base sh A) (shape_exponent sh)); auto.
  destruct (shape_family _ _ _ _ _ Hs) as (pre & B & F); set (hh := N.to_nat h) in *; set (aa := N.to_nat A) in *.
  exists (fun i => word ((aa + hh) :: pre i)); intros i j Hi Hj Hne.
  destruct (B i Hi) as [Li Bi], (B j Hj) as [Lj Bj]; destruct (F i j Hi Hj Hne) as (g & v & v' & Lg & Bg & F1 & F2 & Hv).
  change (N.to_nat 1) with 1 in *.
  destruct g as [|q [|q' g]]; try discriminate; assert (Hq : q < aa) by (apply Bg; left; reflexivity).
  (* q and another symbol, in turn *)
  set (o := if q =? 0 then 1 else 0); assert (Ho : q <> o /\ o < aa) by (unfold o, aa in *; destruct (Nat.eqb_spec q 0); lia).
  set (b := fun j => if Nat.even j then o else q).
  assert (Bb : forall j, b j < aa) by (intros u; unfold b; destruct (Nat.even u); [apply Ho|exact Hq]).
  assert (Nb : forall j, 0 < j < hh -> b j <> b (S j)).
  { intros u _; unfold b; rewrite Nat.even_succ, <- Nat.negb_even; destruct (Nat.even u); cbn [negb]; destruct Ho; congruence. }
  apply told_apart; try (cbn [length]; lia).
  exists (spell (tail_symbol b hh) (2 * hh - 1)), (N.to_nat N), v, v'; split; [unfold P, hh in *; lia|].
  split; [|split; [|exact Hv]]; apply hop_asks; auto; unfold P, hh in *; lia.
Qed.

(** One layer: h >= 2 hops, and the last symbol is A - 1.  It and, for h > 2, others are kept out of the prefix. *)
Definition aside (h : N) : N := N.min (h - 1) 3.

Theorem cut_one_k_hop uniform N A k h sh c s arch : one_layer (N - (2 * h - 1) + 1) c s arch = true ->
  ((h =? k)%N || uniform && (h <=? k)%N) && (1 <? h)%N && (2 * h - 1 <=? N)%N && shape_ok sh false 1 (A - aside h) (N - (2 * h - 1)) &&
  exceeds (shape_base sh (A - aside h)) (shape_exponent sh) (c + s) = true -> Impossible arch (k_hop uniform N A k).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [H' Hs]; apply andb_prop in H'; destruct H' as [H' H4];
    apply andb_prop in H'; destruct H' as [H1 H2]; checked H2; checked H4; apply hops_asked in H1; apply exceeds_spec in H; destruct H as [_ H].
  set (P := (N - (2 * h - 1))%N) in *.
  destruct (shape_family _ _ _ _ _ Hs) as (pre & B & F); set (hh := N.to_nat h) in *; set (aa := N.to_nat A) in *.
  apply (cut_one _ (P + 1) _ (N.to_nat (P + 1) + (2 * hh - 2)) (num (aa - 1)) (fun i => word ((aa + hh) :: pre i)) c s arch Ho) with (2 := H).
  intros i j Hi Hj Hne; destruct (B i Hi) as [Li Bi], (B j Hj) as [Lj Bj]; destruct (F i j Hi Hj Hne) as (g & v & v' & Lg & Bg & F1 & F2 & Hv).
  change (N.to_nat 1) with 1 in *.
  destruct g as [|q [|q' g]]; try discriminate; assert (Hq : q < N.to_nat (A - aside h)) by (apply Bg; left; reflexivity).
  assert (Hside : q < aa - 1 /\ (2 < hh -> q < aa - 2)) by (unfold aside, aa, hh in *; lia).
  assert (In_aa : forall y, y < N.to_nat (A - aside h) -> y < aa) by (unfold aa; lia).
  set (b := fun j => if j =? 1 then q else if Nat.even (hh - j) then aa - 1 else aa - 2).
  assert (Bb : forall j, b j < aa) by (intros u; unfold b; destruct (u =? 1); [|destruct (Nat.even (hh - u))]; lia).
  assert (Nb : forall j, 0 < j < hh -> b j <> b (S j)).
  { intros u Hu; unfold b; destruct (Nat.eqb_spec (S u) 1); [lia|]. destruct (Nat.eqb_spec u 1) as [->|Hu1].
    - destruct (Nat.even (hh - 2)) eqn:E; [lia|]. destruct (Nat.eq_dec hh 2) as [E2|]; [rewrite E2 in E; discriminate|lia].
    - replace (hh - u) with (S (hh - S u)) by lia; rewrite Nat.even_succ, <- Nat.negb_even; destruct (Nat.even (hh - S u)); cbn [negb]; lia. }
  assert (Last : spell (tail_symbol b hh) (2 * hh - 1) = spell (tail_symbol b hh) (2 * hh - 2) ++ [aa - 1]).
  { unfold spell; replace (2 * hh - 1) with (2 * hh - 2 + 1) by (unfold hh; lia); rewrite seq_app, map_app; f_equal; cbn [seq map]; f_equal.
    unfold tail_symbol; destruct (Nat.eqb_spec (0 + (2 * hh - 2)) (2 * (hh - 1))); [|lia]. unfold b; destruct (Nat.eqb_spec hh 1); [unfold hh in *; lia|].
    rewrite Nat.sub_diag; reflexivity. }
  apply told_apart_last; try (cbn [length]; lia).
  exists (spell (tail_symbol b hh) (2 * hh - 2)), v, v'; rewrite <- Last; split; [apply spell_length|].
  replace (N.to_nat (P + 1) + (2 * hh - 2)) with (N.to_nat N) by (unfold P, hh in *; lia).
  split; [|split; [|exact Hv]]; apply hop_asks; auto; try (unfold P, hh in *; lia).
Qed.
