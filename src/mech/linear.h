/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Declarations that linear attention and its backward pass share. State of one head: S [r][dv], then z [r] if there is
 * a normaliser.
 */
#ifndef RUNG_MECH_LINEAR_H
#define RUNG_MECH_LINEAR_H

#include "chunk.h"

enum { PHI_ELU1, PHI_RELU, PHI_IDENTITY, PHI_TAYLOR2 };

int rung_linear_phi(const rung_mech_conf *conf);
bool rung_linear_has_norm(const rung_mech_conf *conf);
size_t rung_linear_features(const rung_mech_conf *conf);
size_t rung_linear_head_size(const rung_mech_conf *conf);

void rung_linear_phi_f32(float *out, const float *x, const rung_mech_conf *conf);
/* S <- S + phi(k) v^T, z <- z + phi(k) */
void rung_linear_absorb_f32(float *S, const float *phi_k, const float *v, const rung_mech_conf *conf);

/* A chunk of n tokens, rows from the first one on; p = phi(q), f = phi(k), A_ts = p_t . f_s. */
typedef struct linear_chunk {
    const float *q, *k, *v;
    size_t n, r, dv, key_width, q_row, v_row;
    size_t next;    /* tokens of the next chunk, whose rows are asked for in time */
    float *p, *f;   /* [n][r] */
    float *flipped; /* panels of f^T */
    float *values;  /* panels of v */
    float *A;
    float *norm, *inverse; /* [n] z . p_t over all tokens up to t, and 1 over it */
    float *one;            /* [CHUNK] */
    float *z;              /* [r] z after the chunk */
} linear_chunk;

size_t rung_linear_chunk_size(const rung_mech_conf *conf);
linear_chunk rung_linear_chunk_new(const rung_mech_conf *conf, float *scratch);
/* Points it at the tokens from `first` on. */
void rung_linear_chunk_rows(linear_chunk *c, const float *const *in, size_t first, size_t tokens, size_t head,
                            const rung_mech_conf *conf);
void rung_linear_chunk_phi(float *phi, const float *x, const linear_chunk *c, const rung_mech_conf *conf);
/* f and the values; with `reads` also p and A. */
void rung_linear_chunk_enter(const linear_chunk *c, const rung_mech_conf *conf, bool reads);
/* The normalisers; z NULL: none. `inside`: with the tokens of the chunk, whose sum becomes c->z. */
void rung_linear_chunk_norms(const linear_chunk *c, const float *z, bool inside);
/* o = S^T p + A v, divided by the normalisers if it `divides`. S in panels. Returns whether all o are finite. */
bool rung_linear_chunk_read(float *o, const float *S, bool divides, const linear_chunk *c);
/* S and z (NULL: none) from before the chunk to after it. `counted`: the pairs and the normalisers inside are known. o
 * is the row of outputs that the next rows are counted from; NULL: none. */
void rung_linear_chunk_leave(float *S, float *z, bool counted, const float *o, const linear_chunk *c);

void rung_linear_backward_f32(const rung_backward *b, size_t head);
size_t rung_linear_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
