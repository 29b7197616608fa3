/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the files that write proofs for Coq share. Each theorem of proofs/ has a checker, a function to bool, and a
 * file is accepted only if the checker computes true. So every row repeats that computation, on intervals, and
 * writes nothing unless it surely comes out true with the logarithms of proofs/Logs.v, which are rounded to 64
 * binary places (24 in lemma S).
 */
#ifndef RUNG_BOUND_PROOF_H
#define RUNG_BOUND_PROOF_H

#include "bound_rows.h"

__extension__ typedef unsigned __int128 proof_wide;

/* What is to be proved. */
typedef struct proof_job {
    const rung_claim *claim;
    const rung_task_conf *task;
    const rung_bound_point *point;
    uint64_t n;      /* at most so many tokens; 0: exactly the task's size */
    rung_spec *spec; /* layers that carry something, or are full */
    size_t specs;
    size_t full; /* the place of the first full one; specs: none */
    bool apart;  /* the recurrent heads beside it are proved as a layer after it (Beside.v) */

    rung_buf task_text; /* the task in Coq, in parentheses */
    bool pair;          /* of composition: entries name their arguments, and PairForm.v reduces it to the other form */
    const char *within; /* the lemma that bounds the length of its prompts */
    rung_buf claim_text, tactic;
    rung_proof *proof;
} proof_job;

/* Whether Coq has the theorem of this row. */
bool proof_has(const char *id);

/* Leaves the reason in proof->why; always RUNG_OK, so that a row can end with it. */
rung_status proof_none(proof_job *job, const char *format, ...) RUNG_PRINTF(2, 3);

/* A layer of the claim as Coq writes it. */
void proof_put_layer(rung_buf *out, const proof_job *job, size_t at);
/* Why nothing is written where log-linear heads stand beside full ones. */
extern const char proof_beside_levels[];

/* Layers [from, to) as a list of Coq. */
void proof_put_layers(rung_buf *out, const proof_job *job, size_t from, size_t to);
/* Bits of their states after `tokens` tokens. */
proof_wide proof_bits(const proof_job *job, size_t from, size_t to, uint64_t tokens);
/* The same for all that counts as after the full layer `full`: the heads beside it, and the layers behind. */
proof_wide proof_bits_after(const proof_job *job, size_t full, uint64_t tokens);

rung_ival proof_wide_ival(rung_certified *s, proof_wide x);
rung_ival proof_log2(rung_certified *s, uint64_t x);

/* exceeds V n bits of Logs.v: n log2 V > bits. */
rung_status proof_exceeds(bool *surely, uint64_t V, proof_wide n, proof_wide bits, rung_error *err);
/* kept A g Theta N of Logs.v: Theta = 1 or A + g log2 (Theta - 1) < g log2 N. */
rung_status proof_kept(bool *surely, proof_wide A, uint64_t g, uint64_t theta, uint64_t N, rung_error *err);

/* ---- sequential composition ------------------------------------------------------------------------------------ */

typedef struct proof_sizes {
    uint64_t L, N0, last, V; /* last: n_{L-1}, or 1 */
    uint64_t first, middle;  /* entries of z_L; tokens of z_{L-1} to z_2 */
} proof_sizes;

/* Writes the task, and gives its sizes; false, with the reason, where the prompts are of another form. */
bool proof_seqcomp(proof_sizes *sizes, proof_job *job);

/* The rows: proof_<theorem> writes claim_text and tactic, or says why not. */
typedef rung_status proof_row(proof_job *job, rung_error *err);
proof_row proof_lookup, proof_passing, proof_single, proof_first, proof_between, proof_two_full, proof_full_then;
proof_row proof_cut, proof_cut_one, proof_headwise, proof_sparse, proof_thought, proof_two_pass, proof_headwise_two;
proof_row proof_split, proof_choice, proof_causal, proof_eager, proof_relay, proof_sparse_deep;

#endif
