/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * kern: the fp32 kernels of the fast evaluator. A table of function pointers: the reference kernels fill it,
 * an instruction set overrides. Every kernel but gemm sums in 16 fixed lanes, then the lanes pairwise, so the bytes do
 * not depend on the instruction set or on the number of threads. Kernels never allocate and never fail.
 * Layer 1.
 */
#ifndef RUNG_KERN_H
#define RUNG_KERN_H

#include "rung/base.h"

typedef struct rung_kernels {
    const char *name;
    float (*dot)(const float *a, const float *b, size_t n);
    void (*axpy)(float *y, float a, const float *x, size_t n);               /* y += a x */
    void (*fade_axpy)(float *y, float f, float a, const float *x, size_t n); /* y = f y + a x */
    void (*scale)(float *y, float a, size_t n);                              /* y *= a */
    void (*exp)(float *y, const float *x, size_t n); /* relative error below 2^-22; y may be x */
    /* y[T][n] = x[T][m] w[n][m]^T + bias[n]; bias may be NULL. y must not overlap x. */
    void (*linear)(float *y, const float *x, const float *w, const float *bias, size_t T, size_t n, size_t m);
    /* y[rows][cols] += x w, w = [inner][cols], element (i, k) of x at x[i * x_row + k * x_inner], so that x may be the
     * transpose of what is stored. Every element is one sum over k from 0 upwards that starts from y. y must not overlap
     * the others. */
    void (*gemm)(float *y, const float *x, const float *w, size_t rows, size_t cols, size_t inner, size_t x_row,
                 size_t x_inner);
} rung_kernels;

const rung_kernels *rung_kernels_of(rung_isa isa);
const rung_kernels *rung_kernels_get(void); /* of rung_cpu_isa() */

/* What `rung bench` measures against: causal softmax attention of one head in fp32 with a lane per query, as fast as
 * plain C gets. Queries first .. first+count-1, count <= RUNG_YARDSTICK_QUERIES; q, k = [tokens][dk], v, o =
 * [tokens][dv]; scratch has RUNG_YARDSTICK_QUERIES (dk+dv+1) floats. Its bytes do depend on the instruction set. */
#define RUNG_YARDSTICK_QUERIES 64
typedef void rung_yardstick(float *o, const float *q, const float *k, const float *v, size_t first, size_t count,
                            size_t dk, size_t dv, float *scratch);
rung_yardstick *rung_yardstick_get(void); /* of rung_cpu_isa() */

#endif
