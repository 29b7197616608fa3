/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The compression of (B,k)-sparse attention: a block of B tokens becomes one key and one value. With x_i the key (or
 * the value) of the i-th token of the block,
 *   mean:  c = (x_0 + ... + x_{B-1}) / B, sums from +0 and i = 0 upwards, each rounded, then one division by r(B);
 *   mlp:   c = W2 relu(W1 [x_0 + p_0; ...; x_{B-1} + p_{B-1}]), p_i the vector of place i: W1 [d][B d], W2 [d][d], no
 *          biases, shared by all heads, other weights for keys and for values;
 *   given: c is an input, read at the last token of the block.
 * shared=1: c is made of the keys alone, and is the value too.
 * relu(x) is +0 for x <= 0, and x otherwise, a NaN too.
 */
#include "sparse.h"

#include "rung/kern.h"

#include <assert.h>
#include <string.h>

/* As sparse_mlp. */
typedef struct weights_exact {
    const double *place, *first, *second;
} weights_exact;

static size_t larger_side(const rung_mech_conf *conf)
{
    return conf->dk > conf->dv ? conf->dk : conf->dv;
}

/* One block needs its tokens and the hidden layer. Many blocks need the hidden layer, the result and an input for BLOCK
 * blocks. */
size_t rung_sparse_compress_scratch(const sparse_plan *plan, const rung_mech_conf *conf)
{
    size_t d = larger_side(conf), one = (plan->B + 1) * d, many = (2 * d + 1) * BLOCK;
    if (plan->comp != SPARSE_MLP) return 0;
    return one > many ? one : many;
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

static void mean_f32(float *c, const float *x, size_t d, const sparse_plan *plan)
{
    const rung_kernels *kern = rung_kernels_get();
    memset(c, 0, d * sizeof *c);
    for (size_t i = 0; i < plan->B; i++) kern->axpy(c, 1, x + i * plan->slot, d);
    for (size_t j = 0; j < d; j++) c[j] /= (float)plan->B;
}

void rung_sparse_mlp_f32(float *c, const float *x, sparse_mlp w, size_t d, const sparse_plan *plan, float *scratch)
{
    const rung_kernels *kern = rung_kernels_get();
    float *all = scratch, *hidden = scratch + plan->B * d;
    for (size_t i = 0; i < plan->B; i++)
        for (size_t j = 0; j < d; j++) all[i * d + j] = x[i * plan->slot + j] + w.place[i * d + j];
    kern->linear(hidden, all, w.first, NULL, 1, d, plan->B * d);
    for (size_t j = 0; j < d; j++) hidden[j] = hidden[j] <= 0 ? 0 : hidden[j];
    kern->linear(c, hidden, w.second, NULL, 1, d, d);
}

void rung_sparse_compress_f32(float *base, const float *const *in, size_t block, size_t row, const sparse_plan *plan,
                              const rung_mech_conf *conf, float *scratch)
{
    const float *k = base + sparse_token(block * plan->B, plan), *v = k + conf->dk;
    float *ck = base + sparse_summary(block, plan), *cv = ck + plan->value;
    switch (plan->comp) {
    case SPARSE_MEAN:
        mean_f32(ck, k, conf->dk, plan);
        if (!plan->shared) mean_f32(cv, v, conf->dv, plan);
        break;
    case SPARSE_MLP:
        rung_sparse_mlp_f32(ck, k, (sparse_mlp){in[IN_PLACE_K], in[IN_FIRST_K], in[IN_SECOND_K]}, conf->dk, plan,
                            scratch);
        if (!plan->shared)
            rung_sparse_mlp_f32(cv, v, (sparse_mlp){in[IN_PLACE_V], in[IN_FIRST_V], in[IN_SECOND_V]}, conf->dv, plan,
                                scratch);
        break;
    case SPARSE_GIVEN:
        memcpy(ck, in[IN_CK] + row * conf->dk, conf->dk * sizeof *ck);
        if (!plan->shared) memcpy(cv, in[IN_CV] + row * conf->dv, conf->dv * sizeof *cv);
    }
    if (plan->shared && cv != ck) memcpy(cv, ck, conf->dk * sizeof *ck); /* who keeps the two apart has two copies */
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

static void mean_exact(double *c, const double *x, size_t d, const sparse_plan *plan, const rung_fmt *fmt)
{
    double count = rung_num_round(fmt, (double)plan->B);
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t i = 0; i < plan->B; i++) sum = rung_num_add(fmt, sum, x[i * plan->slot + j]);
        c[j] = rung_num_div(fmt, sum, count);
    }
}

static void mlp_exact(double *c, const double *x, weights_exact w, size_t d, const sparse_plan *plan,
                      const rung_fmt *fmt, double *scratch)
{
    double *all = scratch, *hidden = scratch + plan->B * d;
    for (size_t i = 0; i < plan->B; i++)
        for (size_t j = 0; j < d; j++) all[i * d + j] = rung_num_add(fmt, x[i * plan->slot + j], w.place[i * d + j]);
    for (size_t r = 0; r < d; r++) hidden[r] = relu(rung_num_dot(fmt, w.first + r * plan->B * d, all, plan->B * d));
    for (size_t r = 0; r < d; r++) c[r] = rung_num_dot(fmt, w.second + r * d, hidden, d);
}

static weights_exact key_weights(const double *const *in)
{
    return (weights_exact){in[IN_PLACE_K], in[IN_FIRST_K], in[IN_SECOND_K]};
}

static weights_exact value_weights(const double *const *in)
{
    return (weights_exact){in[IN_PLACE_V], in[IN_FIRST_V], in[IN_SECOND_V]};
}

void rung_sparse_compress_exact(double *base, const double *const *in, size_t block, size_t row,
                                const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt,
                                double *scratch)
{
    const double *k = base + sparse_token(block * plan->B, plan), *v = k + conf->dk;
    double *ck = base + sparse_summary(block, plan), *cv = ck + plan->value;
    switch (plan->comp) {
    case SPARSE_MEAN:
        mean_exact(ck, k, conf->dk, plan, fmt);
        if (!plan->shared) mean_exact(cv, v, conf->dv, plan, fmt);
        return;
    case SPARSE_MLP:
        mlp_exact(ck, k, key_weights(in), conf->dk, plan, fmt, scratch);
        if (!plan->shared) mlp_exact(cv, v, value_weights(in), conf->dv, plan, fmt, scratch);
        return;
    case SPARSE_GIVEN:
        memcpy(ck, in[IN_CK] + row * conf->dk, conf->dk * sizeof *ck);
        if (!plan->shared) memcpy(cv, in[IN_CV] + row * conf->dv, conf->dv * sizeof *cv);
    }
}

/* ---- exact, many ------------------------------------------------------------------------------------------------- */

/* y[r] += W[r][column] x for every row r. Lanes are blocks. */
static void add_column(double *y, const double *W, size_t column, size_t columns, const double *x, size_t d,
                       size_t lanes, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    for (size_t r = 0; r < d; r++) num->scale_add(fmt, y + r * BLOCK, x, W[r * columns + column], lanes);
}

/* x is the side of the first token of the first block, c that of the first summary. The sum of every row still runs
 * over its columns from 0 upwards. */
static void mlp_lanes(double *c, const double *x, size_t lanes, weights_exact w, size_t d, const sparse_plan *plan,
                      const rung_fmt *fmt, double *scratch)
{
    size_t stride = sparse_stride(plan);
    double *hidden = scratch, *y = hidden + d * BLOCK, *column = y + d * BLOCK;
    memset(scratch, 0, 2 * d * BLOCK * sizeof *scratch);
    for (size_t i = 0; i < plan->B; i++)
        for (size_t j = 0; j < d; j++) {
            for (size_t n = 0; n < lanes; n++)
                column[n] = rung_num_add(fmt, x[n * stride + i * plan->slot + j], w.place[i * d + j]);
            add_column(hidden, w.first, i * d + j, plan->B * d, column, d, lanes, fmt);
        }
    for (size_t e = 0; e < d * BLOCK; e++) hidden[e] = relu(hidden[e]);
    for (size_t j = 0; j < d; j++) add_column(y, w.second, j, d, hidden + j * BLOCK, d, lanes, fmt);
    for (size_t n = 0; n < lanes; n++)
        for (size_t j = 0; j < d; j++) c[n * stride + j] = y[j * BLOCK + n];
}

/* Adds all channels at once. */
static void mean_lanes(double *c, const double *x, size_t d, const sparse_plan *plan, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    double count = rung_num_round(fmt, (double)plan->B);
    memset(c, 0, d * sizeof *c);
    for (size_t i = 0; i < plan->B; i++) num->add(fmt, c, c, x + i * plan->slot, d);
    for (size_t j = 0; j < d; j++) c[j] = rung_num_div(fmt, c[j], count);
}

/* Compression without an mlp costs one operation per number, so it goes block by block. */
static void simple_lanes(double *base, const double *const *in, size_t pos, size_t block, size_t head,
                         const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const double *k = base + sparse_token(block * plan->B, plan);
    double *ck = base + sparse_summary(block, plan);
    size_t row = (block * plan->B + plan->B - 1 - pos) * conf->heads + head;
    if (plan->comp == SPARSE_MEAN) {
        mean_lanes(ck, k, plan->shared ? conf->dk : conf->dk + conf->dv, plan, fmt);
        return;
    }
    memcpy(ck, in[IN_CK] + row * conf->dk, conf->dk * sizeof *ck);
    if (!plan->shared) memcpy(ck + conf->dk, in[IN_CV] + row * conf->dv, conf->dv * sizeof *ck);
}

void rung_sparse_compress_lanes(double *base, const double *const *in, size_t pos, size_t first, size_t end,
                                size_t head, const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt,
                                double *scratch)
{
    assert(first <= end && pos / plan->B <= first);
    for (size_t b = first; plan->comp != SPARSE_MLP && b < end; b++)
        simple_lanes(base, in, pos, b, head, plan, conf, fmt);
    for (size_t b = first; plan->comp == SPARSE_MLP && b < end; b += BLOCK) {
        const double *k = base + sparse_token(b * plan->B, plan);
        double *ck = base + sparse_summary(b, plan);
        size_t lanes = size_min(BLOCK, end - b);
        mlp_lanes(ck, k, lanes, key_weights(in), conf->dk, plan, fmt, scratch);
        if (plan->shared) continue;
        mlp_lanes(ck + conf->dk, k + conf->dk, lanes, value_weights(in), conf->dv, plan, fmt, scratch);
    }
}
