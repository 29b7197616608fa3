/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What kern_isa.c, product_isa.c and yardstick_isa.c export, once per instruction set that the build has.
 */
#ifndef RUNG_KERN_TABLE_H
#define RUNG_KERN_TABLE_H

#include "rung/kern.h"

typedef void rung_multiply(const rung_product *p);
typedef void rung_pack(float *restrict panels, const float *restrict w, size_t inner, size_t cols, size_t w_inner,
                       size_t w_col);

typedef float rung_soften(float *s, size_t first, size_t end, size_t cols);
typedef float rung_soften_back(float *restrict s, float *restrict dp, size_t first, size_t end, size_t cols);
typedef float rung_sum(const float *x, size_t n);
typedef void rung_add_rows(float *restrict y, const float *restrict x, size_t rows, size_t n);
typedef double rung_square_sum(const float *x, size_t n);
typedef void rung_norm(float *restrict y, const float *restrict x, const float *restrict w, const float *restrict b,
                       size_t rows, size_t d, bool centre, float epsilon);
typedef void rung_norm_back(float *restrict dx, float *restrict dw, float *restrict db, const float *restrict dy,
                            const float *restrict x, const float *restrict w, size_t rows, size_t d, bool centre,
                            float epsilon, float *restrict room);
typedef float rung_dot(const float *restrict a, const float *restrict b, size_t n);
typedef void rung_slope(float *restrict y, float *restrict x, size_t n);
typedef void rung_activate(float *y, const float *x, rung_act act, size_t n);
typedef void rung_activate_back(float *restrict g, const float *restrict x, rung_act act, size_t n);
typedef void rung_adam(float *restrict w, float *restrict m, float *restrict v, const float *restrict g, size_t n,
                       const rung_adam_step *u);

extern const rung_kernels rung_kernels_ref;
rung_multiply rung_multiply_ref;
rung_pack rung_pack_ref;
rung_soften rung_soften_ref;
rung_soften_back rung_soften_back_ref;
rung_sum rung_sum_ref;
rung_add_rows rung_add_rows_ref;
rung_square_sum rung_square_sum_ref;
rung_norm rung_norm_ref;
rung_norm_back rung_norm_back_ref;
rung_dot rung_dot_ref;
rung_slope rung_relu_ref, rung_gelu_ref;
rung_activate rung_activate_ref;
rung_activate_back rung_activate_back_ref;
rung_adam rung_adam_ref;
rung_yardstick rung_yardstick_ref;
#if defined(__x86_64__)
extern const rung_kernels rung_kernels_avx2, rung_kernels_avx512;
rung_multiply rung_multiply_avx2, rung_multiply_avx512;
rung_pack rung_pack_avx2, rung_pack_avx512;
rung_soften rung_soften_avx2, rung_soften_avx512;
rung_soften_back rung_soften_back_avx2, rung_soften_back_avx512;
rung_sum rung_sum_avx2, rung_sum_avx512;
rung_add_rows rung_add_rows_avx2, rung_add_rows_avx512;
rung_square_sum rung_square_sum_avx2, rung_square_sum_avx512;
rung_norm rung_norm_avx2, rung_norm_avx512;
rung_norm_back rung_norm_back_avx2, rung_norm_back_avx512;
rung_dot rung_dot_avx2, rung_dot_avx512;
rung_slope rung_relu_avx2, rung_gelu_avx2, rung_relu_avx512, rung_gelu_avx512;
rung_activate rung_activate_avx2, rung_activate_avx512;
rung_activate_back rung_activate_back_avx2, rung_activate_back_avx512;
rung_adam rung_adam_avx2, rung_adam_avx512;
rung_yardstick rung_yardstick_avx2, rung_yardstick_avx512;
#elif defined(__aarch64__)
extern const rung_kernels rung_kernels_neon;
rung_multiply rung_multiply_neon;
rung_pack rung_pack_neon;
rung_soften rung_soften_neon;
rung_soften_back rung_soften_back_neon;
rung_sum rung_sum_neon;
rung_add_rows rung_add_rows_neon;
rung_square_sum rung_square_sum_neon;
rung_norm rung_norm_neon;
rung_norm_back rung_norm_back_neon;
rung_dot rung_dot_neon;
rung_slope rung_relu_neon, rung_gelu_neon;
rung_activate rung_activate_neon;
rung_activate_back rung_activate_back_neon;
rung_adam rung_adam_neon;
rung_yardstick rung_yardstick_neon;
#endif

#endif
