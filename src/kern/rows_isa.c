/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What happens to rows between the products of a training step: norms, activations, their gradients, the optimiser.
 * Compiled once per instruction set, as plain loops that the compiler turns into vectors. A sum over a row keeps LANES
 * partial sums, element i going to lane i mod LANES, and adds the lanes in a fixed tree, so the width of a register
 * never shows.
 */
#include "table.h"

#include "elementary.h"

#include <math.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* ---- sums -------------------------------------------------------------------------------------------------------- */

float ISA(rung_sum)(const float *x, size_t n)
{
    float lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l];
    for (size_t l = 0; i + l < n; l++) lane[l] += x[i + l];
    return sum_lanes(lane);
}

double ISA(rung_square_sum)(const float *x, size_t n)
{
    double lane[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += (double)x[i + l] * (double)x[i + l];
    for (size_t l = 0; i + l < n; l++) lane[l] += (double)x[i + l] * (double)x[i + l];
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t l = 0; l < width; l++) lane[l] += lane[l + width];
    return lane[0];
}

/* LANES columns at a time, so that their sums stay in registers. */
void ISA(rung_add_rows)(float *restrict y, const float *restrict x, size_t rows, size_t n)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        float lane[LANES];
        for (size_t l = 0; l < LANES; l++) lane[l] = y[i + l];
        for (size_t r = 0; r < rows; r++)
            for (size_t l = 0; l < LANES; l++) lane[l] += x[r * n + i + l];
        for (size_t l = 0; l < LANES; l++) y[i + l] = lane[l];
    }
    for (; i < n; i++)
        for (size_t r = 0; r < rows; r++) y[i] += x[r * n + i];
}

/* ---- norms ------------------------------------------------------------------------------------------------------- */

/* The number that is subtracted from a row of d numbers, and the factor it is multiplied by. */
typedef struct centre_and_scale {
    float mean, scale;
} centre_and_scale;

static centre_and_scale measure(const float *x, size_t d, bool centre, float epsilon)
{
    float lane[LANES] = {0}, mean = centre ? ISA(rung_sum)(x, d) / (float)d : 0;
    size_t i = 0;
    for (; i + LANES <= d; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += (x[i + l] - mean) * (x[i + l] - mean);
    for (size_t l = 0; i + l < d; l++) lane[l] += (x[i + l] - mean) * (x[i + l] - mean);
    return (centre_and_scale){mean, 1 / sqrtf(sum_lanes(lane) / (float)d + epsilon)};
}

void ISA(rung_norm)(float *restrict y, const float *restrict x, const float *restrict w, const float *restrict b,
                    size_t rows, size_t d, bool centre, float epsilon)
{
    for (size_t r = 0; r < rows; r++, x += d, y += d) {
        centre_and_scale m = measure(x, d, centre, epsilon);
        for (size_t i = 0; i < d; i++) y[i] = (x[i] - m.mean) * m.scale;
        for (size_t i = 0; w && i < d; i++) y[i] *= w[i];
        for (size_t i = 0; b && i < d; i++) y[i] += b[i];
    }
}

/* With x^ = (x - mean) s and s = 1/rms: dx = s (dx^ - mean(dx^) - x^ mean(dx^ x^)), the first mean only where the norm
 * centres. room: a row of x^ and one of dx^. */
void ISA(rung_norm_back)(float *restrict dx, float *restrict dw, float *restrict db, const float *restrict dy,
                         const float *restrict x, const float *restrict w, size_t rows, size_t d, bool centre,
                         float epsilon, float *restrict room)
{
    float *restrict hat = room, *restrict g = room + d;
    for (size_t r = 0; r < rows; r++, dx += d, dy += d, x += d) {
        centre_and_scale m = measure(x, d, centre, epsilon);
        for (size_t i = 0; i < d; i++) hat[i] = (x[i] - m.mean) * m.scale;
        for (size_t i = 0; i < d; i++) g[i] = w ? dy[i] * w[i] : dy[i];
        float mean = centre ? ISA(rung_sum)(g, d) / (float)d : 0, share = ISA(rung_dot)(g, hat, d) / (float)d;
        for (size_t i = 0; i < d; i++) dx[i] += m.scale * (g[i] - mean - hat[i] * share);
        for (size_t i = 0; dw && i < d; i++) dw[i] += dy[i] * hat[i];
        for (size_t i = 0; db && i < d; i++) db[i] += dy[i];
    }
}

/* ---- activations ------------------------------------------------------------------------------------------------- */

#define ROOT_HALF  0.70710678f /* sqrt(1/2) */
#define KEEP_SCALE 0.60653066f /* e^{-1/2} */

INLINE float sigmoid(float x)
{
    return 1 / (1 + exp_one(-x));
}

/* log(1 + e^-|x|) = 2 atanh(u / (2 + u)), u = e^-|x| <= 1: the argument is at most 1/3, and seven terms of the series
 * leave less than 2e-8 of it. */
INLINE float softplus(float x)
{
    float u = exp_one(x > 0 ? -x : x), s = u / (2 + u), z = s * s;
    float p = 1.0f / 13;
    p = fused(p, z, 1.0f / 11);
    p = fused(p, z, 1.0f / 9);
    p = fused(p, z, 1.0f / 7);
    p = fused(p, z, 1.0f / 5);
    p = fused(p, z, 1.0f / 3);
    p = fused(p, z, 1.0f);
    return (x > 0 ? x : 0) + 2 * s * p;
}

/* Chooses by bits. Conditional expressions that depend on each other become branches, and a loop with branches is not
 * vectorised. */
INLINE float by_sign(float x, float if_negative, float otherwise)
{
    uint32_t sign, a, b;
    memcpy(&sign, &x, sizeof sign);
    memcpy(&a, &if_negative, sizeof a);
    memcpy(&b, &otherwise, sizeof b);
    uint32_t mask = -(sign >> 31), bits = (a & mask) | (b & ~mask);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* y = x Phi(x), and x becomes the slope Phi(x) + x phi(x), where phi(x) = e^{-x^2/2} / sqrt(2 pi) and Phi is its
 * integral. With z = |x| / sqrt(2) and t = 1 / (1 + z/2), Phi(-|x|) = erfc(z) / 2, and erfc(z) e^{z^2} / t is a
 * polynomial of degree 8 in t up to a relative error of 6e-8 for z < 9.8 (interpolated at Chebyshev points). For larger
 * z, e^{-z^2} is 0. Arguments are cut at 40, where x phi(x) is 0 and not inf * 0. */
void ISA(rung_gelu)(float *restrict y, float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float size = __builtin_fabsf(x[i]), cut = by_sign(40 - size, 40, size), near = __builtin_copysignf(cut, x[i]);
        float low = by_sign(x[i], near, x[i]), z = cut * ROOT_HALF; /* NaN stays NaN */
        float t = 1 / fused(z, 0.5f, 1), bell = exp_one(-z * z), p = -0.05954839211f;
        p = fused(p, t, 0.2869803429f);
        p = fused(p, t, -0.4922891005f);
        p = fused(p, t, 0.2839693679f);
        p = fused(p, t, -0.03070702142f);
        p = fused(p, t, 0.2043995084f);
        p = fused(p, t, 0.242680594f);
        p = fused(p, t, 0.2824312596f);
        p = fused(p, t, 0.2820834005f);
        float tail = 0.5f * t * p * bell, rest = 1 - tail, below = by_sign(near, tail, rest);
        y[i] = low * below;
        x[i] = fused(near * 0.39894228f, bell, below);
    }
}

/* y = max(x, 0), and x becomes the slope. */
void ISA(rung_relu)(float *restrict y, float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float slope = x[i] > 0 ? 1 : 0;
        y[i] = x[i] > 0 ? x[i] : 0;
        x[i] = slope;
    }
}

#define BEND_SLOPE 1.5957691f /* 2 sqrt(2 / pi) */
#define BEND_CUBIC 0.044715f

INLINE float gelu_tanh_bend(float x)
{
    return BEND_SLOPE * (x * (1 + BEND_CUBIC * (x * x)));
}

INLINE float gelu_tanh_slope(float x)
{
    float s = sigmoid(gelu_tanh_bend(x)), far = x * (1 - s); /* 0 where x is large, so that no x^3 is left of it */
    float bend = BEND_SLOPE * (1 + 3 * BEND_CUBIC * (x * x));
    return s + s * far * bend;
}

void ISA(rung_activate)(float *y, const float *x, rung_act act, size_t n)
{
    switch (act) {
    case RUNG_ACT_SILU:
        for (size_t i = 0; i < n; i++) y[i] = x[i] * sigmoid(x[i]);
        break;
    case RUNG_ACT_SIGMOID:
        for (size_t i = 0; i < n; i++) y[i] = sigmoid(x[i]);
        break;
    case RUNG_ACT_SOFTPLUS:
        for (size_t i = 0; i < n; i++) y[i] = softplus(x[i]);
        break;
    case RUNG_ACT_LOG_GATE:
        for (size_t i = 0; i < n; i++) y[i] = -softplus(-x[i]) / 16;
        break;
    case RUNG_ACT_KEEP:
        for (size_t i = 0; i < n; i++) y[i] = exp_one(-KEEP_SCALE * sigmoid(x[i]));
        break;
    case RUNG_ACT_GELU_TANH:
        for (size_t i = 0; i < n; i++) y[i] = x[i] * sigmoid(gelu_tanh_bend(x[i]));
        break;
    }
}

INLINE float silu_slope(float x)
{
    float s = sigmoid(x);
    return s * (1 + x * (1 - s));
}

INLINE float keep_slope(float x)
{
    float s = sigmoid(x);
    return -KEEP_SCALE * s * (1 - s) * exp_one(-KEEP_SCALE * s);
}

void ISA(rung_activate_back)(float *restrict g, const float *restrict x, rung_act act, size_t n)
{
    switch (act) {
    case RUNG_ACT_SILU:
        for (size_t i = 0; i < n; i++) g[i] *= silu_slope(x[i]);
        break;
    case RUNG_ACT_SIGMOID:
        for (size_t i = 0; i < n; i++) g[i] *= sigmoid(x[i]) * (1 - sigmoid(x[i]));
        break;
    case RUNG_ACT_SOFTPLUS:
        for (size_t i = 0; i < n; i++) g[i] *= sigmoid(x[i]);
        break;
    case RUNG_ACT_LOG_GATE:
        for (size_t i = 0; i < n; i++) g[i] *= (1 - sigmoid(x[i])) / 16;
        break;
    case RUNG_ACT_KEEP:
        for (size_t i = 0; i < n; i++) g[i] *= keep_slope(x[i]);
        break;
    case RUNG_ACT_GELU_TANH:
        for (size_t i = 0; i < n; i++) g[i] *= gelu_tanh_slope(x[i]);
        break;
    }
}

/* ---- optimiser --------------------------------------------------------------------------------------------------- */

void ISA(rung_adam)(float *restrict w, float *restrict m, float *restrict v, const float *restrict g, size_t n,
                    const rung_adam_step *u)
{
    for (size_t i = 0; i < n; i++) {
        float slope = g[i] * u->clip;
        m[i] = u->beta1 * m[i] + u->rest1 * slope;
        v[i] = u->beta2 * v[i] + u->rest2 * slope * slope;
        w[i] = w[i] * u->keep - u->step * m[i] / (sqrtf(v[i]) / u->root + u->epsilon);
    }
}
