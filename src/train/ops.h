/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: the operations around the mechanisms, forward and backward, on rows in fp32. The forward formulas
 * are those of the fast evaluator. The gradient of x is called dx. Gradients of inputs and of weights are added to what
 * is there.
 */
#ifndef RUNG_TRAIN_OPS_H
#define RUNG_TRAIN_OPS_H

#include "net.h"

#include "rung/kern.h"

/* Weights as the forward pass sees them, by offset, and the panels of every projection. If `words` is not NULL,
 * projections and their gradients are products of bf16 numbers. */
typedef struct seen_weights {
    const float *w;                      /* [parameters] */
    const float *panels;                 /* of the network */
    const uint32_t *words, *word_panels; /* neighbours in the columns of W; panels of W^T at the places of `panels` */
    uint32_t *room;                      /* train_words_room words of this worker */
} seen_weights;

/* y = start + W x + b; start = [rows][l->rows] or NULL. */
void train_linear(float *y, const float *x, const float *start, const seen_weights *seen, const net_linear *l,
                  size_t rows);
/* dx = (start + dy W) factor; start may be NULL or dx, factor NULL. */
void train_linear_input_back(float *dx, const float *start, const float *dy, const float *factor,
                             const seen_weights *seen, const net_linear *l, size_t rows);
/* dW += dy^T x, db += dy. If dW is fresh, it is overwritten instead. */
void train_linear_weight_back(float *grad, const float *dy, const float *x, const seen_weights *seen,
                              const net_linear *l, size_t rows, bool fresh);

/* The same by products of bf16 numbers; see rung/kern.h. */
void train_bf16_linear(float *y, const float *x, const float *start, const seen_weights *seen, const net_linear *l,
                       size_t rows);
void train_bf16_input_back(float *dx, const float *start, const float *dy, const float *factor,
                           const seen_weights *seen, const net_linear *l, size_t rows);
void train_bf16_weight_back(float *dw, const float *dy, const float *x, const seen_weights *seen, const net_linear *l,
                            size_t rows, bool fresh);
/* Makes the words of one projection, at its places. */
void train_bf16_pack(uint32_t *words, uint32_t *panels, const float *w, const net_linear *l);
/* Words of scratch memory that these need for any projection of the network. */
size_t train_words_room(const rung_net *net);

/* y = x / |x| over rows of d. Backward in place: g is dy on entry and dx on return. */
void train_unit(float *y, size_t rows, size_t d);
void train_unit_back(float *g, const float *x, size_t rows, size_t d);
/* y = x / sqrt(mean of x^2 + epsilon) times weights [d], and backward in place as well. dw gets the gradient added. */
void train_row_norm(float *y, const float *weight, float epsilon, size_t rows, size_t d);
void train_row_norm_back(float *g, float *dw, const float *x, const float *weight, float epsilon, size_t rows,
                         size_t d);

void train_multiply(float *y, const float *x, size_t count); /* y *= x */
void train_add(float *y, const float *x, size_t count);      /* y += x */

#endif
