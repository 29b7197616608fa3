/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Projections, norms and activations with their gradients. Sums run in a fixed order.
 */
#include "ops.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

/* As in the evaluators of the model module. */
#define NORM_EPSILON 1e-5f
#define UNIT_EPSILON 1e-6f

void train_add(float *y, const float *x, size_t count)
{
    rung_kernels_get()->axpy(y, 1, x, count);
}

void train_multiply(float *y, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) y[i] *= x[i];
}

/* ---- projections --------------------------------------------------------------------------------------------------- */

void train_linear(float *y, const float *x, const seen_weights *seen, const net_linear *l, size_t rows)
{
    if (l->bias == ABSENT)
        memset(y, 0, rows * l->rows * sizeof *y);
    else
        for (size_t r = 0; r < rows; r++) memcpy(y + r * l->rows, seen->w + l->bias, l->rows * sizeof *y);
    rung_kernels_get()->gemm(y, x, seen->flipped + l->weight, rows, l->rows, l->cols, l->cols, 1);
}

void train_linear_back(float *dx, float *grad, const float *dy, const float *x, const seen_weights *seen,
                       const net_linear *l, size_t rows)
{
    const rung_kernels *kern = rung_kernels_get();
    if (dx) kern->gemm(dx, dy, seen->w + l->weight, rows, l->cols, l->rows, l->rows, 1);
    kern->gemm(grad + l->weight, dy, x, l->rows, l->cols, rows, 1, l->rows);
    for (size_t r = 0; l->bias != ABSENT && r < rows; r++) train_add(grad + l->bias, dy + r * l->rows, l->rows);
}

/* ---- norms ------------------------------------------------------------------------------------------------------------ */

/* hat = the row without its mean (where `centre`); returns 1 / rms of that. */
static float normalise(float *hat, const float *x, size_t d, bool centre)
{
    float mean = 0;
    for (size_t i = 0; centre && i < d; i++) mean += x[i];
    mean /= (float)d;
    for (size_t i = 0; i < d; i++) hat[i] = x[i] - mean;
    return 1 / sqrtf(rung_kernels_get()->dot(hat, hat, d) / (float)d + NORM_EPSILON);
}

void train_norm(float *y, const float *x, const float *w, const float *b, size_t rows, size_t d, bool centre)
{
    for (size_t r = 0; r < rows; r++, x += d, y += d) {
        float scale = normalise(y, x, d, centre);
        for (size_t i = 0; i < d; i++) y[i] = y[i] * scale * (w ? w[i] : 1) + (b ? b[i] : 0);
    }
}

/* One row. With x^ = (x - mean) s and s = 1/rms: dx = s (dx^ - mean(dx^) - x^ mean(dx^ x^)), the first mean only where
 * the norm centres. x^ is computed again where it is needed. */
static void norm_row_back(float *dx, float *dw, float *db, const float *dy, const float *x, const float *w, size_t d,
                          bool centre)
{
    float mean = 0, square = 0, sum = 0, along = 0;
    for (size_t i = 0; centre && i < d; i++) mean += x[i];
    mean /= (float)d;
    for (size_t i = 0; i < d; i++) square += (x[i] - mean) * (x[i] - mean);
    float scale = 1 / sqrtf(square / (float)d + NORM_EPSILON);
    for (size_t i = 0; i < d; i++) {
        float hat = (x[i] - mean) * scale, g = dy[i] * (w ? w[i] : 1);
        sum += g;
        along += g * hat;
        if (dw) dw[i] += dy[i] * hat;
        if (db) db[i] += dy[i];
    }
    sum = centre ? sum / (float)d : 0;
    along /= (float)d;
    for (size_t i = 0; i < d; i++) dx[i] += scale * (dy[i] * (w ? w[i] : 1) - sum - (x[i] - mean) * scale * along);
}

void train_norm_back(float *dx, float *dw, float *db, const float *dy, const float *x, const float *w, size_t rows,
                     size_t d, bool centre)
{
    for (size_t r = 0; r < rows; r++) norm_row_back(dx + r * d, dw, db, dy + r * d, x + r * d, w, d, centre);
}

static float length_scale(const float *x, size_t d)
{
    return 1 / sqrtf(rung_kernels_get()->dot(x, x, d) + UNIT_EPSILON);
}

void train_unit(float *y, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r++) rung_kernels_get()->scale(y + r * d, length_scale(y + r * d, d), d);
}

/* y = x s, s = (x.x + eps)^(-1/2): dx = s (dy - x s^2 (x.dy)). */
void train_unit_back(float *g, const float *x, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r++, g += d, x += d) {
        float s = length_scale(x, d), along = rung_kernels_get()->dot(x, g, d) * s * s;
        for (size_t i = 0; i < d; i++) g[i] = s * (g[i] - x[i] * along);
    }
}

/* ---- activations --------------------------------------------------------------------------------------------------------- */

#define KEEP_SCALE 0.60653066f /* e^{-1/2} */

enum { CHUNK = 256 };

float train_softplus(float x)
{
    return (x > 0 ? x : 0) + log1pf(expf(-fabsf(x)));
}

static float gelu(float x)
{
    return x < -40 ? -0.0f : 0.5f * x * erfcf(-x * 0.70710678f); /* not -inf * 0 */
}

/* Phi(x) + x phi(x), phi(x) = e^{-x^2/2} / sqrt(2 pi). */
static float gelu_slope(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f) + x * 0.39894228f * expf(-0.5f * x * x);
}

static void sigmoids(float *y, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) y[i] = -x[i];
    rung_kernels_get()->exp(y, y, count);
    for (size_t i = 0; i < count; i++) y[i] = 1 / (1 + y[i]);
}

static float activate_one(float x, float s, train_act act)
{
    switch (act) {
    case TRAIN_RELU:
        return x > 0 ? x : 0;
    case TRAIN_GELU:
        return gelu(x);
    case TRAIN_SILU:
        return x * s;
    case TRAIN_SIGMOID:
        return s;
    case TRAIN_SOFTPLUS:
        return train_softplus(x);
    case TRAIN_LOG_GATE:
        return -train_softplus(-x) / 16;
    case TRAIN_KEEP:
        return expf(-KEEP_SCALE * s);
    }
    return x;
}

static float slope_of(float x, float s, train_act act)
{
    switch (act) {
    case TRAIN_RELU:
        return x > 0 ? 1 : 0;
    case TRAIN_GELU:
        return gelu_slope(x);
    case TRAIN_SILU:
        return s * (1 + x * (1 - s));
    case TRAIN_SIGMOID:
        return s * (1 - s);
    case TRAIN_SOFTPLUS:
        return s;
    case TRAIN_LOG_GATE:
        return (1 - s) / 16;
    case TRAIN_KEEP:
        return -KEEP_SCALE * s * (1 - s) * expf(-KEEP_SCALE * s);
    }
    return 1;
}

static bool needs_sigmoid(train_act act)
{
    return act != TRAIN_RELU && act != TRAIN_GELU;
}

void train_activate(float *y, const float *x, train_act act, size_t count)
{
    float s[CHUNK] = {0};
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t part = count - done < CHUNK ? count - done : CHUNK;
        if (needs_sigmoid(act)) sigmoids(s, x + done, part);
        for (size_t i = 0; i < part; i++) y[done + i] = activate_one(x[done + i], s[i], act);
    }
}

void train_activate_back(float *g, const float *x, train_act act, size_t count)
{
    float s[CHUNK] = {0};
    for (size_t done = 0; done < count; done += CHUNK) {
        size_t part = count - done < CHUNK ? count - done : CHUNK;
        if (needs_sigmoid(act)) sigmoids(s, x + done, part);
        for (size_t i = 0; i < part; i++) g[done + i] *= slope_of(x[done + i], s[i], act);
    }
}
