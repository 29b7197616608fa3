/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Rows of scores become weights of a softmax, and the gradients of weights become gradients of scores. Compiled once
 * per instruction set, as plain loops that the compiler turns into vectors. Column j of a row belongs to lane j mod
 * WIDE in every sum, so that neither the width of a register nor the queries beside this one show in a result.
 */
#include "table.h"

#include "elementary.h"

#include <assert.h>
#include <math.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* Two vectors of the widest registers, because each operation waits for the previous one on the same vector. */
enum { WIDE = RUNG_PANEL };
_Static_assert(WIDE == 2 * LANES, "sum_wide folds once before the tree");

/* e^x for x <= 0, with fused steps. 2^n e^r as in exp_one, but n >= -126: below -87 the result stays e^-87, which is
 * negligible compared with the 1 of the largest score. `magic` contains the exponent's offset of 127; its own bits
 * above the lowest nine are shifted out. One constant is enough for ln2: n times its error is below 2^-22, and below
 * 2^-25 for weights above 2^-16. The polynomial has degree 6 and starts with 1 + r; among those it has the least
 * maximal relative error on |r| <= ln2/2, which is 2^-27.9. */
INLINE float exp_below(float x)
{
    const float magic = 12582912.0f + 127;
    float near = -87.0f > x ? -87.0f : x; /* NaN stays NaN */
    float shifted = fmaf(near, 1.44269504f, magic), whole = shifted - magic, power;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(&power, &bits, sizeof power);
    float r = fmaf(whole, -0.69314718f, near);
    float p = 0x1.6a2434p-10f;
    p = fmaf(p, r, 0x1.1239e2p-7f);
    p = fmaf(p, r, 0x1.5558f2p-5f);
    p = fmaf(p, r, 0x1.555492p-3f);
    p = fmaf(p, r, 0x1.fffffcp-2f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return p * power;
}

/* The columns that a query sees, and the whole strips of WIDE that contain them. */
typedef struct span {
    size_t first, end, from, to;
} span;

static span span_of(size_t first, size_t end)
{
    assert(first < end);
    return (span){first, end, first / WIDE * WIDE, (end + WIDE - 1) / WIDE * WIDE};
}

/* Replaces the columns of a strip outside [first, end) by `value`. */
INLINE void hide_strip(float *x, size_t at, span v, float value)
{
    int32_t first = v.first > at ? (int32_t)(v.first - at) : 0, end = v.end - at < WIDE ? (int32_t)(v.end - at) : WIDE;
    for (int32_t l = 0; l < WIDE; l++) x[at + (size_t)l] = l >= first && l < end ? x[at + (size_t)l] : value;
}

INLINE void hide(float *x, span v, float value)
{
    hide_strip(x, v.from, v, value);
    hide_strip(x, v.to - WIDE, v, value);
}

static void clear_outside(float *x, span v, size_t cols)
{
    assert(cols % WIDE == 0);
    assert(v.to <= cols);
    for (size_t i = 0; i < v.from; i++) x[i] = 0;
    for (size_t i = v.to; i < cols; i++) x[i] = 0;
}

INLINE float sum_wide(float *lane)
{
    for (size_t l = 0; l < LANES; l++) lane[l] += lane[l + LANES];
    return sum_lanes(lane);
}

INLINE float larger(float a, float b)
{
    return a > b ? a : b;
}

INLINE float largest_lane(float *lane)
{
#pragma GCC unroll 8
    for (size_t width = WIDE / 2; width > 0; width /= 2)
        for (size_t l = 0; l < width; l++) lane[l] = larger(lane[l + width], lane[l]);
    return lane[0];
}

static float largest(const float *s, span v)
{
    float lane[WIDE];
    for (size_t l = 0; l < WIDE; l++) lane[l] = s[v.from + l];
    for (size_t i = v.from + WIDE; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) lane[l] = larger(s[i + l], lane[l]);
    return largest_lane(lane);
}

float ISA(rung_soften)(float *s, size_t first, size_t end, size_t cols)
{
    span v = span_of(first, end);
    hide(s, v, -INFINITY);
    float max = largest(s, v), sum[WIDE] = {0};
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) {
            float e = exp_below(s[i + l] - max);
            s[i + l] = e, sum[l] += e;
        }
    hide(s, v, 0);
    clear_outside(s, v, cols);
    return sum_wide(sum);
}

/* Returns the largest dp among the columns with the largest score. */
static float dp_at(const float *s, const float *dp, span v, float max)
{
    float lane[WIDE];
    for (size_t l = 0; l < WIDE; l++) lane[l] = -INFINITY;
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) lane[l] = larger(s[i + l] == max ? dp[i + l] : -INFINITY, lane[l]);
    return largest_lane(lane);
}

float ISA(rung_soften_back)(float *restrict s, float *restrict dp, size_t first, size_t end, size_t cols)
{
    span v = span_of(first, end);
    hide(s, v, -INFINITY);
    float max = largest(s, v), centre = dp_at(s, dp, v, max), sum[WIDE] = {0}, drift[WIDE] = {0};
    hide(dp, v, centre); /* so that hidden columns get the gradient 0 */
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) {
            float e = exp_below(s[i + l] - max);
            s[i + l] = e, sum[l] += e;
            drift[l] = fmaf(e, dp[i + l] - centre, drift[l]);
        }
    hide(s, v, 0);
    float total = sum_wide(sum), scale = 1 / total, mean = sum_wide(drift) * scale;
    for (size_t i = v.from; i < v.to; i++) dp[i] = s[i] * scale * (dp[i] - centre - mean);
    clear_outside(s, v, cols), clear_outside(dp, v, cols);
    return total;
}
