/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fp32 kernels, compiled once per instruction set (see the Makefile). Plain loops that the compiler turns
 * into vectors: a reduction keeps LANES partial sums, element i going to lane i mod LANES, and adds the lanes
 * in a fixed tree. The width of a register therefore never shows in a result.
 */
#include "table.h"

#include "elementary.h"

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)
#define TEXT_(suffix)        #suffix
#define TEXT(suffix)         TEXT_(suffix)

float ISA(rung_dot)(const float *restrict a, const float *restrict b, size_t n)
{
    float lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i + l < n; l++) lane[l] += a[i + l] * b[i + l];
    return sum_lanes(lane);
}

static void axpy(float *restrict y, float a, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void fade_axpy(float *restrict y, float f, float a, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = f * y[i] + a * x[i];
}

static void scale(float *y, float a, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] *= a;
}

static void times(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] *= x[i];
}

static void exp_all(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = exp_one(x[i]);
}

static void linear(float *restrict y, const float *restrict x, const float *restrict w, const float *restrict bias,
                   size_t T, size_t n, size_t m)
{
    for (size_t t = 0; t < T; t++)
        for (size_t j = 0; j < n; j++) y[t * n + j] = ISA(rung_dot)(x + t * m, w + j * m, m) + (bias ? bias[j] : 0.0f);
}

const rung_kernels ISA(rung_kernels) = {
    .name = &TEXT(RUNG_ISA_SUFFIX)[1], /* without the underscore */
    .dot = ISA(rung_dot),
    .axpy = axpy,
    .fade_axpy = fade_axpy,
    .scale = scale,
    .times = times,
    .add_rows = ISA(rung_add_rows),
    .exp = exp_all,
    .linear = linear,
    .pack = ISA(rung_pack),
    .multiply = ISA(rung_multiply),
    .soften = ISA(rung_soften),
    .soften_back = ISA(rung_soften_back),
    .sum = ISA(rung_sum),
    .square_sum = ISA(rung_square_sum),
    .norm = ISA(rung_norm),
    .norm_back = ISA(rung_norm_back),
    .relu = ISA(rung_relu),
    .gelu = ISA(rung_gelu),
    .activate = ISA(rung_activate),
    .activate_back = ISA(rung_activate_back),
    .adam = ISA(rung_adam),
};
