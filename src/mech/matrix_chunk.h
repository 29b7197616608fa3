/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A chunk of tokens of one head of the mechanisms in matrix.c, whose head has the equations: what its fast scan and its
 * backward pass share.
 */
#ifndef RUNG_MECH_MATRIX_CHUNK_H
#define RUNG_MECH_MATRIX_CHUNK_H

#include "chunk.h"
#include "matrix.h"

typedef enum decay_kind { DECAY_NONE, DECAY_HEAD, DECAY_CHANNEL } decay_kind;

typedef struct matrix_kind {
    decay_kind decay;
    bool corrects; /* the delta rule: an input beta precedes g */
} matrix_kind;

matrix_kind rung_matrix_kind(const rung_mech_conf *conf);
matrix_kind rung_loglinear_kind(const rung_mech_conf *conf); /* of its base */
size_t rung_matrix_decay_size(const rung_mech_conf *conf);   /* numbers of g per head and token */

/* The rows of one head, for any type: the first token, and the distance to the next one. */
#define HEAD_ROWS(type)                                                                                                \
    struct {                                                                                                           \
        const type *q, *k, *v, *beta, *g; /* beta, g: NULL when the mechanism has none */                              \
        size_t key_row, value_row, beta_row, g_row;                                                                    \
    }
typedef HEAD_ROWS(float) rows_f32;
typedef HEAD_ROWS(double) rows_exact;

/* Indices of beta and g among the inputs, if there are any. */
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

/* n tokens from the first one of r on, in the notation of matrix.c. "Faded from the start" means the row times E_t0,
 * "faded to the end" the row times E_Cs. In a chunk without decays the pointers point to the rows themselves. */
typedef struct matrix_chunk {
    rows_f32 r;
    size_t n, dk, dv;
    matrix_kind kind;
    size_t next; /* tokens of the next chunk, whose rows are asked for in time */
    bool scans;  /* only outputs and states are wanted, no rows for a backward pass */

    float *A, *B; /* pairs: k_s . E_ts q_t for s <= t; -k_s . E_ts k_t for s < t (delta rule) */
    float *u;     /* panels of u */
    float *rest;  /* [n][chunk_wide(dv)] v - S^T k of the delta rule, which is u / beta */
    float *beta;  /* [n] */
    float *keys;  /* panels of keys, transposed */

    chunk_factor from_q, from_k, to_k; /* q and -k faded from the start, k faded to the end */
    float *faded_q, *faded_k, *ended_k;

    float *w, *start, *end, *E; /* DECAY_HEAD: [n] e^g, E_t0, E_Cs; pairs E_ts */

    /* DECAY_CHANNEL, [n][dk]: e^g, and its products since the start and until the end of the token's subchunk; `whole`:
     * of the whole chunk. A chunk has at most two subchunks. */
    float *since, *until, *whole, *faded;
} matrix_chunk;
_Static_assert(CHUNK == 2 * SUBCHUNK, "a chunk has two subchunks");

size_t rung_matrix_chunk_size(const rung_mech_conf *conf);
matrix_chunk rung_matrix_chunk_new(const rung_mech_conf *conf, float *scratch);
/* Sets the rows to the tokens from `first` on. */
void rung_matrix_chunk_rows(matrix_chunk *c, const float *const *in, size_t first, size_t tokens, size_t head,
                            const rung_mech_conf *conf);
/* Computes decays and pairs: B for the delta rule, and A if `reads`. */
void rung_matrix_chunk_pairs(matrix_chunk *c, bool reads);
/* Computes u from the values v and from S, the state before the chunk in panels. NULL: zeros. */
void rung_matrix_chunk_values(matrix_chunk *c, const float *v, const float *S);
/* Does both, with the values of the tokens. */
void rung_matrix_chunk_enter(matrix_chunk *c, const float *S, bool reads);
/* Computes o_t of all tokens; returns whether all are finite. */
bool rung_matrix_chunk_read(float *o, const float *S, const matrix_chunk *c);
/* Sets S <- E_C0 S; and computes the state after the chunk. */
void rung_matrix_chunk_fade(float *S, const matrix_chunk *c);
void rung_matrix_chunk_leave(float *S, const float *o, const matrix_chunk *c);

/* Number of tokens of a subchunk, and the decay until its end. */
static inline size_t chunk_part(const matrix_chunk *c, size_t part)
{
    return part ? c->n - size_min(c->n, SUBCHUNK) : size_min(c->n, SUBCHUNK);
}
static inline const float *chunk_part_decay(const matrix_chunk *c, size_t part)
{
    return c->since + (part * SUBCHUNK + chunk_part(c, part) - 1) * c->dk;
}

void rung_matrix_backward_f32(const rung_backward *b, size_t head);
size_t rung_matrix_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
