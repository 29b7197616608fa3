/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the files of log-linear attention share: places in the Fenwick tree, and chunks of tokens of the fast evaluator.
 *
 * A chunk has n = 2^i <= CHUNK tokens and begins at a multiple of n, so that no bucket before it is smaller than it,
 * every token of it sees such a bucket at the same level, all its tokens end up in one bucket, and two of them, t and
 * s, differ in the same digits as t and s counted from its start. With the base as in matrix.c and T the inverse of (1
 * + beta k_s . E_ts k_t), s < t, of the delta rule, one matrix otherwise,
 *   o_t = sum over matrices m of lambda_t^(m) (what q_t recalls of S_m, as if no value entered)
 *       + sum over s <= t of lambda_t^(level of t, s) (A T beta)_ts v_s.
 */
#ifndef RUNG_MECH_LOGLINEAR_H
#define RUNG_MECH_LOGLINEAR_H

#include "matrix_chunk.h"

enum { LOG_LAMBDA = 3, LOG_G = 4, LOG_BETA = 5 };

bool rung_loglinear_fades(const rung_mech_conf *conf);
bool rung_loglinear_corrects(const rung_mech_conf *conf);
size_t rung_loglinear_levels(const rung_mech_conf *conf);
/* Index of a level's weight in a row of lambda. */
size_t rung_loglinear_weight(size_t level, const rung_mech_conf *conf);
size_t rung_loglinear_matrices(size_t tokens); /* matrices stored after `tokens` tokens */
size_t rung_loglinear_most(size_t tokens);     /* the maximum over all numbers of tokens up to `tokens` */
size_t rung_loglinear_bits(size_t x);          /* number of binary digits */

size_t rung_loglinear_scratch(const rung_mech_conf *conf, size_t tokens);
void rung_loglinear_step_f32(float *o, float *state, const float *const *in, size_t pos, const rung_mech_conf *conf,
                             float *scratch);
void rung_loglinear_scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                             const rung_mech_conf *conf, float *scratch);

typedef struct loglinear_chunk {
    matrix_chunk k;
    size_t pos; /* tokens before it */
    const float *lambda;
    size_t lambda_row, levels;
    float *values;           /* panels of v */
    float *X, *Y;            /* pairs: A T beta (A itself without a delta rule), and weighted by lambda */
    float *flipped, *solved; /* pairs, delta rule only: (A T)^T, and its rows times beta */
    float *part;             /* [n][dv]: the part of the outputs that comes from one matrix */
    float *weight;           /* [n]: the weights of that matrix */
} loglinear_chunk;

size_t rung_loglinear_chunk_size(const rung_mech_conf *conf);
loglinear_chunk rung_loglinear_chunk_new(const rung_mech_conf *conf, float *scratch);
/* Length of the chunk that begins after pos tokens when `rest` tokens are left. */
size_t rung_loglinear_chunk_length(size_t pos, size_t rest);
/* Sets the rows to token t of a stretch that begins after pos tokens. */
void rung_loglinear_chunk_rows(loglinear_chunk *c, const float *const *in, size_t t, size_t pos, size_t tokens,
                               size_t head, const rung_mech_conf *conf);
/* Computes decays and pairs, X and Y. */
void rung_loglinear_chunk_enter(loglinear_chunk *c);
/* Computes u of the chunk as if only matrix S were there and no value entered, then `part`. */
void rung_loglinear_chunk_recall(loglinear_chunk *c, const float *S);
/* Computes `weight` of matrix number m. */
void rung_loglinear_chunk_weigh(const loglinear_chunk *c, size_t m);
/* Advances all matrices, `size` elements apart, over the chunk. Computes u of each again. */
void rung_loglinear_chunk_leave(float *S, size_t size, loglinear_chunk *c);
/* Number of the matrix that matrix m, or a token of the chunk (m = SIZE_MAX), is in after the chunk. */
size_t rung_loglinear_chunk_place(const loglinear_chunk *c, size_t m);

void rung_loglinear_backward_f32(const rung_backward *b, size_t head);
size_t rung_loglinear_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
