/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One state matrix S [dk][dv] per head: the operations of retnet, gla, mamba2, delta, gdelta and kda, and of the levels
 * of log-linear attention. All functions work on one head.
 */
#ifndef RUNG_MECH_MATRIX_H
#define RUNG_MECH_MATRIX_H

#include "mech_rows.h"

/* out = S^T x: the sum over key channels from 0 upwards. */
void rung_matrix_query_f32(float *out, const float *S, const float *x, size_t dk, size_t dv);
void rung_matrix_query_exact(double *out, const double *S, const double *x, size_t dk, size_t dv, const rung_fmt *fmt);
void rung_matrix_query_lanes(double *out, const double *S, const double *x, size_t dk, size_t dv, const rung_fmt *fmt);

/* The backward step of o = S^T x, g the gradient of o: dx += S g (unless dx is NULL), dS += x g^T. */
void rung_matrix_undo_query_f32(float *dx, float *dS, const float *S, const float *x, const float *g, size_t dk,
                                size_t dv);

/* S <- diag(e^g) S, where g is one number for all channels or one per channel. NULL: no decay. */
void rung_matrix_fade_f32(float *S, const float *g, bool per_channel, size_t dk, size_t dv);
void rung_matrix_fade_exact(double *S, const double *g, bool per_channel, size_t dk, size_t dv, const rung_fmt *fmt);
void rung_matrix_fade_lanes(double *S, const double *g, bool per_channel, size_t dk, size_t dv, const rung_fmt *fmt);

/* S <- S + k u^T. */
void rung_matrix_add_f32(float *S, const float *k, const float *u, size_t dk, size_t dv);
void rung_matrix_add_exact(double *S, const double *k, const double *u, size_t dk, size_t dv, const rung_fmt *fmt);
void rung_matrix_add_lanes(double *S, const double *k, const double *u, size_t dk, size_t dv, const rung_fmt *fmt);

/* The delta rule: u = beta (v - S^T k), S <- S + k u^T. u [dv] is scratch. */
void rung_matrix_correct_f32(float *S, const float *k, const float *v, float beta, size_t dk, size_t dv, float *u);
void rung_matrix_correct_exact(double *S, const double *k, const double *v, double beta, size_t dk, size_t dv,
                               const rung_fmt *fmt, double *u);
void rung_matrix_correct_lanes(double *S, const double *k, const double *v, double beta, size_t dk, size_t dv,
                               const rung_fmt *fmt, double *u);

#endif
