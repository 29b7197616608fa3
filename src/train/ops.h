/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The operations around the mechanisms, forward and backward, on rows in fp32. The forward formulas are those of the fast
 * evaluator. A gradient is d + the name; gradients of inputs and of weights are added to what is there.
 */
#ifndef RUNG_TRAIN_OPS_H
#define RUNG_TRAIN_OPS_H

#include "net.h"

/* Weights as the forward pass sees them, by offset: as in the file, and matrices transposed. */
typedef struct seen_weights {
    const float *w, *flipped; /* [parameters] */
} seen_weights;

/* y = W x + b; dx (may be NULL) += dy W, dW += dy^T x, db += dy. */
void train_linear(float *y, const float *x, const seen_weights *seen, const net_linear *l, size_t rows);
void train_linear_back(float *dx, float *grad, const float *dy, const float *x, const seen_weights *seen,
                       const net_linear *l, size_t rows);

/* y = (x - mean) / rms * w + b over rows of d, with the mean where `centre`. w, b, dw, db may be NULL. */
void train_norm(float *y, const float *x, const float *w, const float *b, size_t rows, size_t d, bool centre);
void train_norm_back(float *dx, float *dw, float *db, const float *dy, const float *x, const float *w, size_t rows,
                     size_t d, bool centre);

/* y = x / |x| over rows of d. Backward in place: g comes in as dy and goes out as dx. */
void train_unit(float *y, size_t rows, size_t d);
void train_unit_back(float *g, const float *x, size_t rows, size_t d);

typedef enum train_act {
    TRAIN_RELU,
    TRAIN_GELU,
    TRAIN_SILU,
    TRAIN_SIGMOID,
    TRAIN_SOFTPLUS,
    TRAIN_LOG_GATE, /* -softplus(-x) / 16 */
    TRAIN_KEEP,     /* e^{-e^{-1/2} sigmoid(x)} */
} train_act;

/* y = f(x), y may be x; g *= f'(x). */
void train_activate(float *y, const float *x, train_act act, size_t count);
void train_activate_back(float *g, const float *x, train_act act, size_t count);

float train_softplus(float x);
void train_multiply(float *y, const float *x, size_t count); /* y *= x */
void train_add(float *y, const float *x, size_t count);      /* y += x */

#endif
