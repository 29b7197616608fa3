/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fp32 kernels, compiled once per instruction set (see the Makefile). Plain loops that the compiler turns
 * into vectors: a reduction keeps LANES partial sums, element i going to lane i mod LANES, and adds the lanes
 * in a fixed tree. The width of a register therefore never shows in a result.
 */
#include "table.h"

#include <string.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)
#define TEXT_(suffix)        #suffix
#define TEXT(suffix)         TEXT_(suffix)

enum { LANES = 16 };

static float sum_lanes(float *lane)
{
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) lane[i] += lane[i + width];
    return lane[0];
}

static float dot(const float *restrict a, const float *restrict b, size_t n)
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

static float exp2_int(int32_t n) /* 2^n for -126 <= n <= 127 */
{
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* e^x = 2^n e^r, |r| <= ln2/2. The Taylor polynomial of degree 7 leaves |r|^8/8! < 2^-27; n = round(x/ln2)
 * comes from the low bits of x/ln2 + 1.5*2^23, where a float has no fraction left. 2^n is applied in two
 * halves because n runs from -150 (subnormals) to 128. Below -104 the result is 0, above 88.73 infinite, and
 * a NaN stays one. */
static float exp_one(float x)
{
    const float magic = 12582912.0f;
    float clamped = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    float shifted = clamped * 1.44269504f + magic;
    uint32_t bits, magic_bits;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&magic_bits, &magic, sizeof magic_bits);
    int32_t n = (int32_t)(bits - magic_bits);
    float whole = shifted - magic;
    float r = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t half = n >> 1;
    int32_t safe_half = half < -126 ? -126 : half > 64 ? 64 : half; /* a NaN has arbitrary bits here */
    int32_t rest = n - half;
    int32_t safe_rest = rest < -126 ? -126 : rest > 64 ? 64 : rest;
    return p * exp2_int(safe_half) * exp2_int(safe_rest);
}

static void exp_all(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = exp_one(x[i]);
}

static void linear(float *restrict y, const float *restrict x, const float *restrict w, const float *restrict bias,
                   size_t T, size_t n, size_t m)
{
    for (size_t t = 0; t < T; t++)
        for (size_t j = 0; j < n; j++) y[t * n + j] = dot(x + t * m, w + j * m, m) + (bias ? bias[j] : 0.0f);
}

const rung_kernels ISA(rung_kernels) = {
    .name = &TEXT(RUNG_ISA_SUFFIX)[1], /* without the underscore */
    .dot = dot,
    .axpy = axpy,
    .fade_axpy = fade_axpy,
    .scale = scale,
    .exp = exp_all,
    .linear = linear,
    .gemm = ISA(rung_gemm),
};
