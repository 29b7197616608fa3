/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Projections and rows of length 1 with their gradients. Sums run in a fixed order.
 */
#include "ops.h"

#include <math.h>

/* As in the evaluators of the model module. */
#define UNIT_EPSILON 1e-6f

void train_add(float *y, const float *x, size_t count)
{
    rung_kernels_get()->axpy(y, 1, x, count);
}

void train_multiply(float *y, const float *x, size_t count)
{
    rung_kernels_get()->times(y, x, count);
}

/* ---- projections ------------------------------------------------------------------------------------------------- */

void train_linear(float *y, const float *x, const float *start, const seen_weights *seen, const net_linear *l,
                  size_t rows)
{
    if (seen->words) {
        train_bf16_linear(y, x, start, seen, l, rows);
        return;
    }
    rung_kernels_get()->multiply(&(rung_product){.y = y,
                                                 .x = x,
                                                 .panels = seen->panels + l->panels,
                                                 .start = start,
                                                 .bias = l->bias == ABSENT ? NULL : seen->w + l->bias,
                                                 .rows = rows,
                                                 .cols = l->rows,
                                                 .inner = l->cols,
                                                 .y_row = l->rows,
                                                 .x_row = l->cols,
                                                 .x_inner = 1,
                                                 .start_row = l->rows});
}

void train_linear_input_back(float *dx, const float *start, const float *dy, const float *factor,
                             const seen_weights *seen, const net_linear *l, size_t rows)
{
    if (seen->words) {
        train_bf16_input_back(dx, start, dy, factor, seen, l, rows);
        return;
    }
    rung_kernels_get()->multiply(&(rung_product){.y = dx,
                                                 .x = dy,
                                                 .panels = seen->w + l->weight,
                                                 .w_row = l->cols,
                                                 .start = start,
                                                 .factor = factor,
                                                 .rows = rows,
                                                 .cols = l->cols,
                                                 .inner = l->rows,
                                                 .y_row = l->cols,
                                                 .x_row = l->rows,
                                                 .x_inner = 1,
                                                 .start_row = l->cols});
}

static void weight_back(float *dw, const float *dy, const float *x, const net_linear *l, size_t rows, bool fresh)
{
    rung_kernels_get()->multiply(&(rung_product){.y = dw,
                                                 .x = dy,
                                                 .panels = x,
                                                 .w_row = l->cols,
                                                 .start = fresh ? NULL : dw,
                                                 .rows = l->rows,
                                                 .cols = l->cols,
                                                 .inner = rows,
                                                 .y_row = l->cols,
                                                 .x_row = 1,
                                                 .x_inner = l->rows,
                                                 .start_row = l->cols});
}

void train_linear_weight_back(float *grad, const float *dy, const float *x, const seen_weights *seen,
                              const net_linear *l, size_t rows, bool fresh)
{
    if (seen->words)
        train_bf16_weight_back(grad + l->weight, dy, x, seen, l, rows, fresh);
    else
        weight_back(grad + l->weight, dy, x, l, rows, fresh);
    if (l->bias != ABSENT) rung_kernels_get()->add_rows(grad + l->bias, dy, rows, l->rows);
}

/* ---- rows of length 1 -------------------------------------------------------------------------------------------- */

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

/* ---- rows with a norm and weights -------------------------------------------------------------------------------- */

static float norm_scale(const float *x, float epsilon, size_t d)
{
    return 1 / sqrtf(rung_kernels_get()->dot(x, x, d) / (float)d + epsilon);
}

void train_row_norm(float *y, const float *weight, float epsilon, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r++, y += d) {
        float s = norm_scale(y, epsilon, d);
        for (size_t i = 0; i < d; i++) y[i] = y[i] * s * weight[i];
    }
}

/* y_i = x_i s w_i, s = (x.x / d + eps)^(-1/2): dw_i += g_i x_i s, dx = s (w g - x s^2 (x.(w g)) / d). */
void train_row_norm_back(float *g, float *dw, const float *x, const float *weight, float epsilon, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r++, g += d, x += d) {
        float s = norm_scale(x, epsilon, d);
        for (size_t i = 0; i < d; i++) {
            dw[i] += g[i] * x[i] * s;
            g[i] *= weight[i];
        }
        float along = rung_kernels_get()->dot(x, g, d) * s * s / (float)d;
        for (size_t i = 0; i < d; i++) g[i] = s * (g[i] - x[i] * along);
    }
}
