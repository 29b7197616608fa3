/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One chunk of the mechanisms in matrix.c on its way back: what their backward pass and that of log-linear attention
 * share.
 */
#ifndef RUNG_MECH_MATRIX_UNDO_H
#define RUNG_MECH_MATRIX_UNDO_H

#include "matrix_chunk.h"

typedef struct matrix_back {
    float *S_flipped, *D_flipped, *u_flipped;       /* panels of the transposes */
    float *upstream, *values, *q_panels, *k_panels; /* panels of g, of dv of the delta rule, of q and k */
    float *du;                                      /* [n][chunk_wide(dv)]: du, then dv of the delta rule */
    float *dA;                                      /* pairs */
    float *W, *flipped;                             /* pairs: E_ts dE_ts, and transposed */
    float *m;                                       /* [n][dk] */
    /* E dE of the state before the chunk with each token, and of each token with the state after it: [n] numbers, or
     * rows of dk. `through`: of what passes through the chunk, or through each of its subchunks. */
    float *from_start, *to_end, *through;
    float *one;      /* [CHUNK] */
    float *unwanted; /* [3][dk], receives gradients that the caller does not want */
} matrix_back;

size_t rung_matrix_back_size(const rung_mech_conf *conf);
matrix_back rung_matrix_back_new(const rung_mech_conf *conf, float *scratch);

/* A chunk after rung_matrix_chunk_enter. The d* point to the head's part of its first token; NULL where they are not
 * wanted. */
typedef struct matrix_step {
    const matrix_back *c;
    matrix_chunk k;
    size_t previous; /* tokens of the chunk before it, whose rows are asked for, and its state, which then stands before
                      * that of this one; 0: nothing is asked for */
    const float *g;  /* the gradient of the outputs; NULL if nothing was read */
    size_t g_row;
    bool silent; /* u is zero */
    float *dq, *dk, *dv, *dbeta, *dg;
} matrix_step;

/* Replaces dS, the gradient of the state after the chunk, by that of S, the state before it. S NULL: it was zero, and
 * dS stays. */
void rung_matrix_undo(float *dS, const float *S, const matrix_step *p);
/* Adds gradients of the pairs A, and of B for the delta rule, that were computed elsewhere. Overwrites both. */
void rung_matrix_undo_weights(float *dA, float *dB, const matrix_step *p);

#endif
