/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A chunk of tokens of one head of the mechanisms in matrix.c, whose head has the equations: what its fast scan and its
 * backward pass share.
 */
#ifndef RUNG_MECH_MATRIX_CHUNK_H
#define RUNG_MECH_MATRIX_CHUNK_H

#include "matrix.h"

#include "rung/kern.h"

/* A decay per channel costs dk exponentials for every pair of tokens in a chunk, so its chunks are shorter. */
enum { CHUNK = 64, CHUNK_CHANNELS = 16 };

typedef enum decay_kind { DECAY_NONE, DECAY_HEAD, DECAY_CHANNEL } decay_kind;

typedef struct matrix_kind {
    decay_kind decay;
    bool corrects; /* the delta rule: an input beta precedes g */
} matrix_kind;

matrix_kind rung_matrix_kind(const rung_mech_conf *conf);
size_t rung_matrix_decay_size(const rung_mech_conf *conf); /* numbers of g per head and token */
size_t rung_matrix_chunk_tokens(const rung_mech_conf *conf);
/* Rows of the exponents and of their exponentials: one for S_0 and one per token of a chunk. */
size_t rung_matrix_exponents(const rung_mech_conf *conf);

/* The rows of one head, whatever the type: first token, and the distance to the next one. */
#define HEAD_ROWS(type)                                                                                                \
    struct {                                                                                                           \
        const type *q, *k, *v, *beta, *g; /* beta, g: NULL when the mechanism has none */                              \
        size_t key_row, value_row, beta_row, g_row;                                                                    \
    }
typedef HEAD_ROWS(float) rows_f32;
typedef HEAD_ROWS(double) rows_exact;

/* Places of beta and g among the inputs, when there are such. */
enum { IN_BETA = 3 };
static inline size_t place_of_g(const rung_mech_conf *conf)
{
    return IN_BETA + rung_matrix_kind(conf).corrects;
}

#define HEAD_ROWS_INIT(in, head, token, conf)                                                                          \
    {                                                                                                                  \
        .q = (in)[IN_Q] + ((token) * (conf)->heads + (head)) * (conf)->dk,                                             \
        .k = (in)[IN_K] + ((token) * (conf)->heads + (head)) * (conf)->dk,                                             \
        .v = (in)[IN_V] + ((token) * (conf)->heads + (head)) * (conf)->dv,                                             \
        .beta = rung_matrix_kind(conf).corrects ? (in)[IN_BETA] + (token) * (conf)->heads + (head) : NULL,             \
        .g = rung_matrix_decay_size(conf)                                                                              \
                 ? (in)[place_of_g(conf)] + ((token) * (conf)->heads + (head)) * rung_matrix_decay_size(conf)          \
                 : NULL,                                                                                               \
        .key_row = (conf)->heads * (conf)->dk, .value_row = (conf)->heads * (conf)->dv, .beta_row = (conf)->heads,     \
        .g_row = (conf)->heads * rung_matrix_decay_size(conf)                                                          \
    }

typedef struct matrix_chunk {
    const rung_kernels *kern;
    rows_f32 r;
    size_t n, dk, dv, dg;
    bool channels;   /* the decay is per key channel */
    float *u;        /* [n][dv] */
    float *residual; /* [n][dv] v - S^T k of the delta rule; NULL: not kept */
    float *exponent; /* [n+1][dg]: of S_0, then of each token, up to the token that is being absorbed */
    float *E;        /* the exponentials; those of token t begin at t * E_step */
    size_t E_step;   /* 0: only those of the last token are kept */
    float *faded;    /* [dk] */
} matrix_chunk;

void rung_matrix_chunk_begin(const matrix_chunk *c);
/* Token t: its decays E_ts and its u_t, from S_0 and the tokens before it. */
void rung_matrix_chunk_enter(const matrix_chunk *c, const float *S, size_t t);
/* y = S_0^T (E_t0 x) + sum over s < count of (k_s . E_ts x) u_s */
void rung_matrix_chunk_recall(float *y, const float *S, const float *x, size_t t, size_t count, const matrix_chunk *c);
/* From S_0 to S_C. */
void rung_matrix_chunk_leave(float *S, const matrix_chunk *c);

/* E_ts of a row (0 is that of S_0, s+1 that of token s), [dg]. */
static inline const float *chunk_decay(const matrix_chunk *c, size_t t, size_t row)
{
    return c->E + t * c->E_step + row * c->dg;
}
/* E_ts x, in c->faded or x itself. */
const float *rung_matrix_chunk_fade(const matrix_chunk *c, const float *x, size_t t, size_t row);

void rung_matrix_backward_f32(const rung_backward *b, size_t head);
size_t rung_matrix_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
