/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The operations on one state matrix, three times: fp32 kernels; exact in scalar code, which is the specification; and
 * exact with the dv values of a row as lanes, which does the same roundings.
 */
#include "matrix.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

/* ---- fast -------------------------------------------------------------------------------------------------------- */

void rung_matrix_query_f32(float *out, const float *S, const float *x, size_t dk, size_t dv)
{
    const rung_kernels *kern = rung_kernels_get();
    memset(out, 0, dv * sizeof *out);
    for (size_t j = 0; j < dk; j++) kern->axpy(out, x[j], S + j * dv, dv);
}

void rung_matrix_undo_query_f32(float *dx, float *dS, const float *S, const float *x, const float *g, size_t dk,
                                size_t dv)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t j = 0; j < dk; j++) {
        if (dx) dx[j] += kern->dot(S + j * dv, g, dv);
        kern->axpy(dS + j * dv, x[j], g, dv);
    }
}

void rung_matrix_fade_f32(float *S, const float *g, bool per_channel, size_t dk, size_t dv)
{
    const rung_kernels *kern = rung_kernels_get();
    if (!g) return;
    if (!per_channel) {
        kern->scale(S, expf(g[0]), dk * dv);
        return;
    }
    for (size_t j = 0; j < dk; j++) kern->scale(S + j * dv, expf(g[j]), dv);
}

void rung_matrix_add_f32(float *S, const float *k, const float *u, size_t dk, size_t dv)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t j = 0; j < dk; j++) kern->axpy(S + j * dv, k[j], u, dv);
}

void rung_matrix_correct_f32(float *S, const float *k, const float *v, float beta, size_t dk, size_t dv, float *u)
{
    rung_matrix_query_f32(u, S, k, dk, dv);
    for (size_t i = 0; i < dv; i++) u[i] = beta * (v[i] - u[i]);
    rung_matrix_add_f32(S, k, u, dk, dv);
}

/* ---- exact, the specification ------------------------------------------------------------------------------------ */

void rung_matrix_query_exact(double *out, const double *S, const double *x, size_t dk, size_t dv, const rung_fmt *fmt)
{
    for (size_t i = 0; i < dv; i++) {
        out[i] = 0;
        for (size_t j = 0; j < dk; j++) out[i] = rung_num_add(fmt, out[i], rung_num_mul(fmt, S[j * dv + i], x[j]));
    }
}

void rung_matrix_fade_exact(double *S, const double *g, bool per_channel, size_t dk, size_t dv, const rung_fmt *fmt)
{
    for (size_t j = 0; g && j < dk; j++) {
        double decay = rung_num_fn(fmt, RUNG_FN_EXP, g[per_channel ? j : 0]);
        for (size_t i = 0; i < dv; i++) S[j * dv + i] = rung_num_mul(fmt, S[j * dv + i], decay);
    }
}

void rung_matrix_add_exact(double *S, const double *k, const double *u, size_t dk, size_t dv, const rung_fmt *fmt)
{
    for (size_t j = 0; j < dk; j++)
        for (size_t i = 0; i < dv; i++) S[j * dv + i] = rung_num_add(fmt, S[j * dv + i], rung_num_mul(fmt, k[j], u[i]));
}

void rung_matrix_correct_exact(double *S, const double *k, const double *v, double beta, size_t dk, size_t dv,
                               const rung_fmt *fmt, double *u)
{
    rung_matrix_query_exact(u, S, k, dk, dv, fmt);
    for (size_t i = 0; i < dv; i++) u[i] = rung_num_mul(fmt, beta, rung_num_sub(fmt, v[i], u[i]));
    rung_matrix_add_exact(S, k, u, dk, dv, fmt);
}

/* ---- exact, in lanes --------------------------------------------------------------------------------------------- */

void rung_matrix_query_lanes(double *out, const double *S, const double *x, size_t dk, size_t dv, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    memset(out, 0, dv * sizeof *out);
    for (size_t j = 0; j < dk; j++) num->scale_add(fmt, out, S + j * dv, x[j], dv);
}

void rung_matrix_fade_lanes(double *S, const double *g, bool per_channel, size_t dk, size_t dv, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    if (!g) return;
    if (!per_channel) {
        num->scale(fmt, S, S, rung_num_fn(fmt, RUNG_FN_EXP, g[0]), dk * dv);
        return;
    }
    for (size_t j = 0; j < dk; j++) num->scale(fmt, S + j * dv, S + j * dv, rung_num_fn(fmt, RUNG_FN_EXP, g[j]), dv);
}

void rung_matrix_add_lanes(double *S, const double *k, const double *u, size_t dk, size_t dv, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    for (size_t j = 0; j < dk; j++) num->scale_add(fmt, S + j * dv, u, k[j], dv);
}

void rung_matrix_correct_lanes(double *S, const double *k, const double *v, double beta, size_t dk, size_t dv,
                               const rung_fmt *fmt, double *u)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    rung_matrix_query_lanes(u, S, k, dk, dv, fmt);
    num->sub(fmt, u, v, u, dv);
    num->scale(fmt, u, u, beta, dv);
    rung_matrix_add_lanes(S, k, u, dk, dv, fmt);
}
