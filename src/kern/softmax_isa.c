/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Rows of scores become weights of a softmax, and the gradients of weights become gradients of scores. Compiled once per
 * instruction set, as plain loops that the compiler turns into vectors. Column j of a row belongs to lane j mod WIDE in every
 * sum, so that neither the width of a register nor the queries beside this one show in a result.
 */
#include "table.h"

#include "elementary.h"

#include <math.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* Two vectors of the widest registers: each waits for the one before it. */
enum { WIDE = RUNG_PANEL };
_Static_assert(WIDE == 2 * LANES, "sum_wide folds once before the tree");

/* e^x for x <= 0, with fused steps. 2^n e^r as in exp_one, but n >= -126: what is smaller is 0, next to the 1 of the largest
 * score. The exponent's offset of 127 is in `magic`, whose own bits above the lowest nine are shifted out. The polynomial is
 * the one of degree 6 with 1 + r in front whose largest relative error on |r| <= ln2/2 is least: 2^-27.9. */
INLINE float exp_below(float x)
{
    const float magic = 12582912.0f + 127;
    float shifted = fmaf(x, 1.44269504f, magic), whole = shifted - magic, power;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 23;
    memcpy(&power, &bits, sizeof power);
    float r = fmaf(whole, 2.12194440e-4f, fmaf(whole, -0.693359375f, x));
    float p = 0x1.6a2434p-10f;
    p = fmaf(p, r, 0x1.1239e2p-7f);
    p = fmaf(p, r, 0x1.5558f2p-5f);
    p = fmaf(p, r, 0x1.555492p-3f);
    p = fmaf(p, r, 0x1.fffffcp-2f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return x < -87 ? 0 : p * power;
}

/* The whole strips of WIDE columns that hold [first, end) of a row. */
typedef struct span {
    size_t from, to;
} span;

static span span_of(size_t first, size_t end)
{
    return (span){first / WIDE * WIDE, (end + WIDE - 1) / WIDE * WIDE};
}

INLINE void fill(float *x, size_t from, size_t to, float value)
{
    for (size_t i = from; i < to; i++) x[i] = value;
}

/* What the query does not see: 0 outside of the span, and in it what the exponential turns into 0. */
static void hide_scores(float *s, size_t first, size_t end, size_t cols)
{
    span v = span_of(first, end);
    fill(s, 0, v.from, 0), fill(s, v.to, cols, 0);
    fill(s, v.from, first, -INFINITY), fill(s, end, v.to, -INFINITY);
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

static float largest(const float *s, span v)
{
    float lane[WIDE];
    fill(lane, 0, WIDE, -INFINITY);
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) lane[l] = larger(s[i + l], lane[l]);
    for (size_t width = WIDE / 2; width > 0; width /= 2)
        for (size_t l = 0; l < width; l++) lane[l] = larger(lane[l + width], lane[l]);
    return lane[0];
}

float ISA(rung_soften)(float *s, size_t first, size_t end, size_t cols)
{
    span v = span_of(first, end);
    hide_scores(s, first, end, cols);
    float max = largest(s, v), sum[WIDE] = {0};
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) {
            float e = exp_below(s[i + l] - max);
            s[i + l] = e, sum[l] += e;
        }
    return sum_wide(sum);
}

/* The largest dp among those whose score is the largest. */
static float dp_at(const float *s, const float *dp, span v, float max)
{
    float lane[WIDE];
    fill(lane, 0, WIDE, -INFINITY);
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) lane[l] = larger(s[i + l] == max ? dp[i + l] : -INFINITY, lane[l]);
    for (size_t width = WIDE / 2; width > 0; width /= 2)
        for (size_t l = 0; l < width; l++) lane[l] = larger(lane[l + width], lane[l]);
    return lane[0];
}

float ISA(rung_soften_back)(float *restrict s, float *restrict dp, size_t first, size_t end, size_t cols)
{
    span v = span_of(first, end);
    hide_scores(s, first, end, cols);
    fill(dp, 0, first, 0), fill(dp, end, cols, 0);
    float max = largest(s, v), centre = dp_at(s, dp, v, max), sum[WIDE] = {0}, drift[WIDE] = {0};
    for (size_t i = v.from; i < v.to; i += WIDE)
        for (size_t l = 0; l < WIDE; l++) {
            float e = exp_below(s[i + l] - max);
            s[i + l] = e, sum[l] += e;
            drift[l] = fmaf(e, dp[i + l] - centre, drift[l]);
        }
    float total = sum_wide(sum), scale = 1 / total, mean = sum_wide(drift) * scale;
    for (size_t i = v.from; i < v.to; i++) dp[i] = s[i] * scale * (dp[i] - centre - mean);
    return total;
}
