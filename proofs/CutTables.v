(* SPDX-License-Identifier: MIT
   Copyright (c) The rung authors *)

(** * The cuts of tasks that look something up in a table *)
From Coq Require Import Arith NArith List Lia Bool.
From Rung Require Import Model Counting Logs Crossing Compose Cut CutOne Within Words Sparse Binomial.
Import ListNotations.
Local Notation nN := N.of_nat.

(** ** eva with form=pair, retrieval: N entries, each with its key and its value, in any order; then a key

    An entry is the number key V + value, the query the number K V + key. *)
Definition pair_entries (N K V : nat) (x : list nat) (t v : nat) : Prop :=
  exists (a f : nat -> nat) i, (forall j, j < N -> a j < K /\ f j < V) /\ (forall j j', j < N -> j' < N -> a j = a j' -> j = j') /\
  i < N /\ x = spell (fun j => a j * V + f j) N ++ [K * V + a i] /\ t = N /\ v = f i.

Definition pair_table (N K V : N) : task := words (pair_entries (N.to_nat N) (N.to_nat K) (N.to_nat V)).

Lemma pair_table_within n N K V : (N <? n)%N = true -> within n (pair_table N K V).
Proof. intros H; apply words_within; intros x t v (a & f & i & _ & _ & _ & _ & -> & _); apply N.ltb_lt in H; lia. Qed.

Theorem cut_pair_table N K V arch : (N <=? K)%N && (is_recurrent arch && exceeds V N (bits_at N arch)) = true ->
  forall T, ImpossibleThinking arch T (pair_table N K V).
Proof.
  intros H; apply andb_prop in H; destruct H as [HK H]; apply N.leb_le in HK.
  apply (cut_tables _ N N V (fun f => spell (fun j => j * N.to_nat V + f j) (N.to_nat N))); [intros; apply spell_length| |exact H].
  intros f f' i Hf Hf' Hi Hne; exists [N.to_nat K * N.to_nat V + i], (N.to_nat N), (f i), (f' i).
  split; [lia|]; split; [|split; [|exact Hne]].
  - exists (fun j => j), f, i; repeat split; auto; lia.
  - exists (fun j => j), f', i; repeat split; auto; lia.
Qed.

(** ** mkar, layout=pairs: different keys of k symbols, each followed by its value, then one of the keys *)
Definition keyed (k : nat) (key : nat -> nat -> nat) (f : nat -> nat) (N : nat) : list nat :=
  flat_map (fun j => spell (key j) k ++ [f j]) (seq 0 N).

Definition keyed_pairs (N k V : nat) (x : list nat) (t v : nat) : Prop :=
  exists (key : nat -> nat -> nat) f i, (forall j, j < N -> f j < V /\ forall s, s < k -> key j s < V) /\
  (forall j j', j < N -> j' < N -> (forall s, s < k -> key j s = key j' s) -> j = j') /\
  i < N /\ x = keyed k key f N ++ spell (key i) k /\ S t = N * S k + k /\ v = f i.

Definition mkar_pairs (N k V : N) : task := words (keyed_pairs (N.to_nat N) (N.to_nat k) (N.to_nat V)).

Lemma mkar_pairs_within n N k V : (N * (k + 1) + k <=? n)%N = true -> within n (mkar_pairs N k V).
Proof. intros H; apply words_within; intros x t v (a & f & i & _ & _ & _ & _ & Ht & _); apply N.leb_le in H; nia. Qed.

Lemma keyed_length k key f N : length (keyed k key f N) = N * S k.
Proof.
  unfold keyed; generalize 0 as s; induction N as [|N IH]; intros s; [reflexivity|]; cbn [seq flat_map].
  rewrite !app_length, spell_length, IH; simpl; lia.
Qed.

Theorem cut_mkar_pairs N k V arch : (0 <? k)%N && ((0 <? V) && (N <=? V ^ k))%N &&
  (is_recurrent arch && exceeds V N (bits_at (N * (k + 1)) arch)) = true -> forall T, ImpossibleThinking arch T (mkar_pairs N k V).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [Hk H']; apply andb_prop in H'; destruct H' as [HV HN].
  apply N.ltb_lt in HV, Hk; apply N.leb_le in HN.
  apply (cut_tables _ (N * (k + 1)) N V (fun f => keyed (N.to_nat k) (fun j => entry V (nN j)) f (N.to_nat N))); [| |exact H].
  { intros f; rewrite keyed_length; lia. }
  intros f f' i Hf Hf' Hi Hne.
  assert (He : forall j s, entry V (nN j) s < N.to_nat V) by (intros; apply entry_lt, HV).
  assert (Hinj : forall j j', j < N.to_nat N -> j' < N.to_nat N -> (forall s, s < N.to_nat k -> entry V (nN j) s = entry V (nN j') s) -> j = j').
  { intros j j' Hj Hj' E; apply Nat2N.inj, (entry_inj V (N.to_nat k)); try rewrite N2Nat.id; auto; lia. }
  exists (spell (entry V (nN i)) (N.to_nat k)), (N.to_nat N * S (N.to_nat k) + N.to_nat k - 1), (f i), (f' i).
  split; [lia|]. split; [|split; [|exact Hne]].
  - exists (fun j => entry V (nN j)), f, i; repeat split; auto; lia.
  - exists (fun j => entry V (nN j)), f', i; repeat split; auto; lia.
Qed.

(** One layer: the first M keys end with symbol 0, and their values are free; the others have value 0. *)
Theorem cut_one_mkar_pairs N k V M c s arch : one_layer (N * (k + 1)) c s arch = true ->
  (1 <? k)%N && ((0 <? V) && (N <=? V ^ k) && (M <=? N) && (M <=? V ^ (k - 1)))%N && exceeds V M (c + s) = true -> Impossible arch (mkar_pairs N k V).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; apply andb_prop in H'; destruct H' as [Hk H'].
  apply andb_prop in H'; destruct H' as [H' HW]; apply andb_prop in H'; destruct H' as [H' HM]; apply andb_prop in H'; destruct H' as [HV HN].
  apply N.ltb_lt in HV, Hk; apply N.leb_le in HN, HM, HW.
  set (kk := N.to_nat k) in *; set (nn := N.to_nat N) in *; set (g := fun (f : nat -> nat) j => if j <? N.to_nat M then f j else 0).
  apply (cut_one_tables _ (N * (k + 1)) M V (kk - 1) 0 (fun f => keyed kk (fun j => entry V (nN j)) (g f) nn) c s); [| |exact Ho|exact H].
  { intros f; rewrite keyed_length; unfold nn, kk; lia. }
  intros f f' i Hf Hf' Hi Hne.
  assert (He : forall j s, entry V (nN j) s < N.to_nat V) by (intros; apply entry_lt, HV).
  assert (Hinj : forall j j', j < nn -> j' < nn -> (forall s, s < kk -> entry V (nN j) s = entry V (nN j') s) -> j = j').
  { intros j j' Hj Hj' E; apply Nat2N.inj, (entry_inj V kk); unfold kk, nn in *; try rewrite N2Nat.id; auto; lia. }
  assert (Hg : forall h j, (forall u, h u < N.to_nat V) -> g h j < N.to_nat V) by (intros h j Hh; unfold g; destruct (j <? N.to_nat M); [apply Hh|lia]).
  assert (Last : spell (entry V (nN i)) kk = spell (entry V (nN i)) (kk - 1) ++ [0]).
  { unfold spell; replace kk with (kk - 1 + 1) at 1 by (unfold kk; lia); rewrite seq_app, map_app; f_equal; cbn [seq map]; f_equal.
    rewrite Nat.add_0_l; unfold entry; replace (nN (kk - 1)) with (k - 1)%N by (unfold kk; lia).
    rewrite N.div_small by lia; reflexivity. }
  assert (At : forall h, (forall u, h u < N.to_nat V) ->
    keyed_pairs nn kk (N.to_nat V) (keyed kk (fun j => entry V (nN j)) (g h) nn ++ spell (entry V (nN i)) (kk - 1) ++ [0]) (N.to_nat (N * (k + 1)) + (kk - 1)) (h i)).
  { intros h Hh; rewrite <- Last; exists (fun j => entry V (nN j)), (g h), i; repeat split; auto; try (unfold nn, kk; lia).
    unfold g; destruct (Nat.ltb_spec i (N.to_nat M)); [reflexivity|lia]. }
  exists (spell (entry V (nN i)) (kk - 1)), (f i), (f' i); split; [apply spell_length|]. split; [apply At, Hf|]. split; [apply At, Hf'|exact Hne].
Qed.

(** ** mqar: P pairs of a key (1 to K) and a value (after the keys), both different, then at some even distances the keys again, 0 elsewhere;
    asked at each of them *)
Definition asked_again (a : nat -> nat) (slot : nat -> nat) (P slots : nat) : list nat :=
  flat_map (fun s => [match find (fun j => slot j =? s) (seq 0 P) with Some j => a j | None => 0 end; 0]) (seq 0 slots).

Definition recalled (P K V slots : nat) (x : list nat) (t v : nat) : Prop :=
  exists (a f slot : nat -> nat) i, (forall j, j < P -> 0 < a j <= K /\ f j < V /\ slot j < slots) /\
  (forall j j', j < P -> j' < P -> a j = a j' \/ f j = f j' \/ slot j = slot j' -> j = j') /\
  i < P /\ x = flat_map (fun j => [a j; S K + f j]) (seq 0 P) ++ asked_again a slot P slots /\ t = 2 * P + 2 * slot i /\ v = f i.

Definition mqar (P K V slots : N) : task := words (recalled (N.to_nat P) (N.to_nat K) (N.to_nat V) (N.to_nat slots)).

Lemma mqar_within n P K V slots : (2 * P + 2 * slots <=? n)%N = true -> within n (mqar P K V slots).
Proof.
  intros H; apply words_within; intros x t v (a & f & slot & i & Hb & _ & Hi & _ & -> & _); apply N.leb_le in H.
  destruct (Hb i Hi) as (_ & _ & Hs); lia.
Qed.

Lemma pairs_of_length (g : nat -> list nat) s n : (forall j, length (g j) = 2) -> length (flat_map g (seq s n)) = 2 * n.
Proof. intros H; revert s; induction n as [|n IH]; intros s; [reflexivity|]; cbn [seq flat_map]; rewrite app_length, H, IH; lia. Qed.

Theorem cut_mqar P K V slots arch : (P <=? K)%N && ((P <=? slots)%N && (is_recurrent arch && exceeds (falling_of V P) 1 (bits_at (2 * P) arch))) = true ->
  forall T, ImpossibleThinking arch T (mqar P K V slots).
Proof.
  intros H; apply andb_prop in H; destruct H as [HK H]; apply andb_prop in H; destruct H as [HS H]; apply N.leb_le in HK, HS.
  set (p := N.to_nat P) in *.
  apply (cut_words _ (2 * P) (rows (seq 0 (N.to_nat V)) p)
    (fun s => flat_map (fun j => [S j; S (N.to_nat K) + nth j s 0]) (seq 0 p)) (falling_of V P)); [apply rows_NoDup, seq_NoDup| | | |exact H].
  { rewrite rows_length, seq_length, falling_of_spec by apply seq_NoDup; apply N.le_refl. }
  { intros s _; rewrite pairs_of_length by reflexivity; unfold p; lia. }
  intros s s' Hs Hs' Hne; destruct (rows_in _ _ _ Hs) as (L & I & D); destruct (rows_in _ _ _ Hs') as (L' & I' & D').
  destruct (differ_at s s') as [i [Hi E]]; [lia|exact Hne|].
  exists (asked_again S (fun j => j) p (N.to_nat slots)), (2 * p + 2 * i), (nth i s 0), (nth i s' 0).
  assert (G : forall r, length r = p -> incl r (seq 0 (N.to_nat V)) -> NoDup r ->
    recalled p (N.to_nat K) (N.to_nat V) (N.to_nat slots)
      (flat_map (fun j => [S j; S (N.to_nat K) + nth j r 0]) (seq 0 p) ++ asked_again S (fun j => j) p (N.to_nat slots)) (2 * p + 2 * i) (nth i r 0)).
  { intros r Lr Ir Dr; exists S, (fun j => nth j r 0), (fun j => j), i.
    split; [|split; [|split; [lia|split; [reflexivity|split; reflexivity]]]].
    - intros j Hj; assert (In (nth j r 0) (seq 0 (N.to_nat V))) as Hn by (apply Ir, nth_In; lia); apply in_seq in Hn; lia.
    - intros j j' Hj Hj' [E'|[E'|E']]; [lia| |exact E']. apply (proj1 (NoDup_nth r 0) Dr); auto; lia. }
  split; [lia|]. split; [apply G; auto|]. split; [apply G; auto|exact E].
Qed.

(** ** percom: two permutations of N numbers; asked for their composition at every number of the second *)
Definition permutation_of (N : nat) (s : list nat) : Prop := length s = N /\ NoDup s /\ forall v, In v s -> v < N.

Definition composed (N : nat) (x : list nat) (t v : nat) : Prop :=
  exists s r i, permutation_of N s /\ permutation_of N r /\ i < N /\ x = s ++ map (fun y => N + y) r /\ t = N + i /\ v = nth (nth i r 0) s 0.

Definition percom (N : N) : task := words (composed (N.to_nat N)).

Lemma percom_within n N : (2 * N <=? n)%N = true -> within n (percom N).
Proof. intros H; apply words_within; intros x t v (s & r & i & _ & _ & Hi & _ & -> & _); apply N.leb_le in H; lia. Qed.

Theorem cut_percom N arch : is_recurrent arch && exceeds (falling_of N N) 1 (bits_at N arch) = true ->
  forall T, ImpossibleThinking arch T (percom N).
Proof.
  intros H; set (n := N.to_nat N).
  apply (cut_words _ N (rows (seq 0 n) n) (fun s => s) (falling_of N N)); [apply rows_NoDup, seq_NoDup| | | |exact H].
  { rewrite rows_length, seq_length, falling_of_spec by apply seq_NoDup; apply N.le_refl. }
  { intros s Hs; apply rows_in in Hs; apply Hs. }
  assert (G : forall s, In s (rows (seq 0 n) n) -> permutation_of n s).
  { intros s Hs; destruct (rows_in _ _ _ Hs) as (L & I & D); repeat split; auto. intros v Hv; apply I, in_seq in Hv; lia. }
  intros s s' Hs Hs' Hne; pose proof (G s Hs) as Ps; pose proof (G s' Hs') as Ps'.
  destruct (differ_at s s') as [i [Hi E]]; [destruct Ps as [-> _], Ps' as [-> _]; reflexivity|exact Hne|].
  assert (Hin : i < n) by (destruct Ps as [L _]; lia).
  assert (Id : permutation_of n (seq 0 n)) by (repeat split; [apply seq_length|apply seq_NoDup|intros v Hv; apply in_seq in Hv; lia]).
  exists (map (fun y => n + y) (seq 0 n)), (n + i), (nth i s 0), (nth i s' 0); fold n; split; [lia|]. split; [|split; [|exact E]].
  - exists s, (seq 0 n), i; rewrite seq_nth by exact Hin; repeat split; auto; apply Ps || apply Id.
  - exists s', (seq 0 n), i; rewrite seq_nth by exact Hin; repeat split; auto; apply Ps' || apply Id.
Qed.

(** ** selective-copy, form=distance: V symbols and the numbers #first, ..., V + j for #(first + j); asked for the token as far back as the latest
    number says *)
Definition copied (T V numbers first : nat) (x : list nat) (t v : nat) : Prop :=
  length x = T /\ (forall y, In y x -> y < V + numbers) /\ t < T /\
  exists s j, s <= t /\ nth s x 0 = V + j /\ j < numbers /\ (forall u, s < u <= t -> nth u x 0 < V) /\ first + j <= t /\
  v = nth (t - (first + j)) x 0.

Definition selective_copy (T V numbers first : N) : task := words (copied (N.to_nat T) (N.to_nat V) (N.to_nat numbers) (N.to_nat first)).

Lemma selective_copy_within n T V numbers first : (T <=? n)%N = true -> within n (selective_copy T V numbers first).
Proof. intros H; apply words_within; intros x t v (_ & _ & Ht & _); apply N.leb_le in H; lia. Qed.

(** After r symbols or fewer the number asks for any of numbers + r places before the cut. *)
Theorem cut_selective_copy T V numbers first r arch :
  (0 <? V)%N && (r <? first)%N && (first + numbers + r <=? T)%N && (0 <? numbers)%N &&
  (is_recurrent arch && exceeds (V + numbers) (numbers + r) (bits_at (T - 1 - r) arch)) = true ->
  forall t, ImpossibleThinking arch t (selective_copy T V numbers first).
Proof.
  intros H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  set (cut := N.to_nat (T - 1 - r)); set (nn := N.to_nat numbers) in *; set (rr := N.to_nat r); set (ff := N.to_nat first); set (vv := N.to_nat V).
  set (p0 := cut - (ff + nn - 1)).
  (* entry i stands ff - rr + i places before the cut *)
  set (sym := fun (f : nat -> nat) u => if u <? p0 then 0 else f (ff + nn - 1 - (ff - rr) - (u - p0))).
  apply (cut_tables _ (T - 1 - r) (numbers + r) (V + numbers) (fun f => spell (sym f) cut)); [intros; apply spell_length| |exact H].
  intros f f' i Hf Hf' Hi Hne.
  assert (Hi' : i < nn + rr) by (unfold nn, rr; lia).
  assert (Hff : rr < ff) by (unfold rr, ff; lia).
  assert (Hnn : 0 < nn) by (unfold nn; lia).
  assert (Ej : exists n' j', n' < nn /\ j' <= rr /\ ff + n' - j' = ff - rr + i /\ j' <= ff + n').
  { destruct (Nat.le_gt_cases rr i) as [L|L]; [exists (i - rr), 0; lia|exists 0, (rr - i); lia]. }
  destruct Ej as (n' & j' & Hn' & Hj' & Eij & Hle).
  set (c := repeat 0 j' ++ [vv + n'] ++ repeat 0 (rr - j')).
  exists c, (cut + j'), (f i), (f' i); split; [unfold cut; lia|].
  assert (Lc : length c = S rr) by (unfold c; rewrite !app_length, !repeat_length; simpl; lia).
  assert (HT : cut + S rr = N.to_nat T) by (unfold cut, rr; lia).
  assert (G : forall h, (forall j, h j < N.to_nat (V + numbers)) -> copied (N.to_nat T) vv nn ff (spell (sym h) cut ++ c) (cut + j') (h i)).
  { intros h Hh; split; [rewrite app_length, spell_length, Lc; exact HT|]. split.
    { intros y Hy; apply in_app_iff in Hy; destruct Hy as [Hy|Hy].
      - apply spell_in in Hy; destruct Hy as (u & Hu & <-); unfold sym; destruct (u <? p0); [unfold vv, nn; lia|].
        specialize (Hh (ff + nn - 1 - (ff - rr) - (u - p0))); rewrite N2Nat.inj_add in Hh; exact Hh.
      - unfold c in Hy; apply in_app_iff in Hy; destruct Hy as [Hy|Hy]; [apply repeat_spec in Hy; unfold vv, nn; lia|].
        apply in_app_iff in Hy; destruct Hy as [[<-|[]]|Hy]; [unfold vv; lia|apply repeat_spec in Hy; unfold vv, nn; lia]. }
    split; [lia|]. exists (cut + j'), n'; split; [lia|].
    assert (E1 : nth (cut + j') (spell (sym h) cut ++ c) 0 = vv + n').
    { rewrite app_nth2 by (rewrite spell_length; lia); rewrite spell_length; replace (cut + j' - cut) with j' by lia.
      unfold c; rewrite app_nth2 by (rewrite repeat_length; lia); rewrite repeat_length, Nat.sub_diag; reflexivity. }
    split; [exact E1|]. split; [exact Hn'|]. split; [intros u Hu; lia|].
    assert (Hcut : ff + nn - 1 <= cut) by (unfold cut, ff, nn; lia).
    split; [lia|].
    rewrite app_nth1, spell_nth by (rewrite ?spell_length; lia).
    unfold sym; destruct (Nat.ltb_spec (cut + j' - (ff + n')) p0); [unfold p0 in *; lia|].
    f_equal; unfold p0; lia. }
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

(** In one layer: a number, then the symbol 0 as the last token, which asks for the place one nearer to the cut.  The number 1 asks for itself. *)
Theorem cut_one_selective_copy T V numbers first c s arch : one_layer (T - 2) c s arch = true ->
  (0 <? V)%N && (0 <? first)%N && (first + numbers <=? T)%N && (2 <=? T)%N &&
  exceeds (V + numbers) (if (first =? 1)%N then numbers - 1 else numbers) (c + s) = true -> Impossible arch (selective_copy T V numbers first).
Proof.
  intros Ho H; apply andb_prop in H; destruct H as [H' H]; checked H'.
  set (places := (if (first =? 1)%N then numbers - 1 else numbers)%N) in *.
  set (cut := N.to_nat (T - 2)); set (nn := N.to_nat numbers); set (ff := N.to_nat first); set (vv := N.to_nat V).
  set (d := if (first =? 1)%N then 1 else 0).
  assert (Hd : 2 <= ff + d) by (unfold d, ff; destruct (N.eqb_spec first 1); lia).
  assert (Hp : forall i, i < N.to_nat places -> i + d < nn) by (intros i; unfold d, places, nn; destruct (N.eqb_spec first 1); lia).
  set (sym := fun (f : nat -> nat) u => f (cut + 1 - ff - d - u)).
  apply (cut_one_tables _ (T - 2) places (V + numbers) 1 0 (fun f => spell (sym f) cut) c s arch); auto; [intros; apply spell_length|].
  intros f f' i Hf Hf' Hi Hne; specialize (Hp i Hi); fold cut; exists [vv + (i + d)], (f i), (f' i); split; [reflexivity|].
  assert (HT : cut + 2 = N.to_nat T) by (unfold cut; lia).
  assert (Hff : ff + nn <= cut + 2) by (unfold ff, nn; lia).
  assert (G : forall h, (forall j, h j < N.to_nat (V + numbers)) -> copied (N.to_nat T) vv nn ff (spell (sym h) cut ++ [vv + (i + d)] ++ [0]) (cut + 1) (h i)).
  { intros h Hh; split; [rewrite app_length, spell_length; cbn; exact HT|]. split.
    { intros y Hy; apply in_app_iff in Hy; destruct Hy as [Hy|[<-|[<-|[]]]]; [|lia|unfold vv; lia].
      apply spell_in in Hy; destruct Hy as (u & Hu & <-); unfold sym; specialize (Hh (cut + 1 - ff - d - u)); unfold vv, nn; lia. }
    split; [lia|]. exists cut, (i + d); split; [lia|].
    assert (E : forall e, nth (cut + e) (spell (sym h) cut ++ [vv + (i + d)] ++ [0]) 0 = nth e [vv + (i + d); 0] 0).
    { intros e; rewrite app_nth2, spell_length by (rewrite spell_length; lia); f_equal; lia. }
    split; [rewrite <- (Nat.add_0_r cut) at 1; rewrite E; reflexivity|]. split; [lia|].
    split; [intros u Hu; replace u with (cut + 1) by lia; rewrite E; cbn; unfold vv; lia|]. split; [lia|].
    rewrite app_nth1, spell_nth by (rewrite ?spell_length; lia); unfold sym; f_equal; lia. }
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.

(** ** selective-copy, form=list: k symbols (1 to V) at any places among blanks (0), then k copy tokens (V + 1); asked for the symbols in order *)
Definition listed (T V k : nat) (x : list nat) (t v : nat) : Prop :=
  exists y j, length y + k = T /\ (forall s, In s y -> s <= V) /\ length (filter (fun s => negb (s =? 0)) y) = k /\
  x = y ++ repeat (S V) k /\ j < k /\ t = T - k + j /\ S v = nth j (filter (fun s => negb (s =? 0)) y) 0.

Definition selective_list (T V k : N) : task := words (listed (N.to_nat T) (N.to_nat V) (N.to_nat k)).

Lemma selective_list_within n T V k : (T <=? n)%N = true -> within n (selective_list T V k).
Proof. intros H; apply words_within; intros x t v (y & j & L & _ & _ & _ & Hj & -> & _); apply N.leb_le in H; lia. Qed.

Lemma filter_none (m : nat) : filter (fun s => negb (s =? 0)) (repeat 0 m) = [].
Proof. induction m as [|m IH]; [reflexivity|exact IH]. Qed.

Lemma filter_all (f : nat -> nat) l : filter (fun s => negb (s =? 0)) (map (fun j => S (f j)) l) = map (fun j => S (f j)) l.
Proof. induction l as [|a l IH]; [reflexivity|]; cbn; rewrite IH; reflexivity. Qed.

Theorem cut_selective_list T V k arch : (2 * k <=? T)%N && (is_recurrent arch && exceeds V k (bits_at (T - k) arch)) = true ->
  forall t, ImpossibleThinking arch t (selective_list T V k).
Proof.
  intros H; apply andb_prop in H; destruct H as [HT H]; apply N.leb_le in HT.
  set (tt := N.to_nat T); set (kk := N.to_nat k); set (vv := N.to_nat V).
  apply (cut_tables _ (T - k) k V (fun f => repeat 0 (tt - kk - kk) ++ spell (fun j => S (f j)) kk)); [| |exact H].
  { intros f; rewrite app_length, repeat_length, spell_length; unfold tt, kk; lia. }
  intros f f' i Hf Hf' Hi Hne; exists (repeat (S vv) kk), (tt - kk + i), (f i), (f' i); split; [unfold tt, kk; lia|].
  assert (G : forall h, (forall j, h j < vv) -> listed tt vv kk ((repeat 0 (tt - kk - kk) ++ spell (fun j => S (h j)) kk) ++ repeat (S vv) kk) (tt - kk + i) (h i)).
  { intros h Hh; exists (repeat 0 (tt - kk - kk) ++ spell (fun j => S (h j)) kk), i.
    assert (Ef : filter (fun s => negb (s =? 0)) (repeat 0 (tt - kk - kk) ++ spell (fun j => S (h j)) kk) = spell (fun j => S (h j)) kk)
      by (rewrite filter_app, filter_none; apply filter_all).
    split; [rewrite app_length, repeat_length, spell_length; unfold tt, kk; lia|]. split.
    { intros s Hs; apply in_app_iff in Hs; destruct Hs as [Hs|Hs]; [apply repeat_spec in Hs; lia|].
      apply spell_in in Hs; destruct Hs as (j & _ & <-); apply Hh. }
    rewrite Ef, spell_length, spell_nth by exact Hi; repeat split; auto. }
  split; [apply G, Hf|]. split; [apply G, Hf'|exact Hne].
Qed.
