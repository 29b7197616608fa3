/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What log-linear attention and its backward pass share: places in the Fenwick tree, and chunks of the fast scan.
 */
#ifndef RUNG_MECH_LOGLINEAR_H
#define RUNG_MECH_LOGLINEAR_H

#include "matrix.h"

enum { IN_LAMBDA = 3, IN_G = 4, IN_BETA = 5 };

/* Tokens of one chunk of the fast scan: quadratic inside, the matrices of levels above 6 from outside. A power of two,
 * so that chunks that begin at its multiples see no smaller buckets. */
enum { CHUNK = 64 };

bool rung_loglinear_fades(const rung_mech_conf *conf);
bool rung_loglinear_corrects(const rung_mech_conf *conf);
size_t rung_loglinear_levels(const rung_mech_conf *conf);
/* Place of a level's weight in a row of lambda. */
size_t rung_loglinear_weight(size_t level, const rung_mech_conf *conf);
size_t rung_loglinear_matrices(size_t tokens); /* after so many tokens */
size_t rung_loglinear_most(size_t tokens);     /* after any number of tokens up to this one */
size_t rung_loglinear_bits(size_t x);          /* binary digits */

/* Tokens pos .. pos+n-1 of one head. The rows are those of the first token, the next ones H rows on. */
typedef struct loglinear_chunk {
    const float *q, *k, *v, *lambda, *g; /* g NULL: nothing fades inside the chunk */
    size_t pos, n;
    size_t step;   /* from one matrix of the head to the next */
    float *weight; /* [n] decay of token s up to the token in hand */
    float *total;  /* [n] decay at token t of all that came before the chunk */
} loglinear_chunk;

/* The chunk that begins at token t of the stretch; work = 2 CHUNK elements. A base that corrects takes one token at a
 * time. */
loglinear_chunk rung_loglinear_chunk(const float *const *in, size_t t, size_t pos, size_t tokens, size_t head,
                                     const rung_mech_conf *conf, float *work);
/* The weights and the total of token t. */
void rung_loglinear_decays_f32(const loglinear_chunk *c, size_t t, const rung_mech_conf *conf);
/* The delta rule on every matrix as if nothing entered, then u = beta v; zero = [dv] zeros. */
void rung_loglinear_age_f32(float *S, const loglinear_chunk *c, float beta, float *u, const float *zero,
                            const rung_mech_conf *conf);
/* The matrices from before the chunk to after it; the decays are those of its last token. */
void rung_loglinear_merge_f32(float *S, const loglinear_chunk *c, const rung_mech_conf *conf);

void rung_loglinear_backward_f32(const rung_backward *b, size_t head);
size_t rung_loglinear_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
