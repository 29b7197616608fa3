/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What kern_isa.c, gemm_isa.c and yardstick_isa.c export, once per instruction set that the build has.
 */
#ifndef RUNG_KERN_TABLE_H
#define RUNG_KERN_TABLE_H

#include "rung/kern.h"

typedef void rung_gemm(float *restrict y, const float *restrict x, const float *restrict w, size_t rows, size_t cols,
                       size_t inner, size_t x_row, size_t x_inner);

extern const rung_kernels rung_kernels_ref;
rung_gemm rung_gemm_ref;
rung_yardstick rung_yardstick_ref;
#if defined(__x86_64__)
extern const rung_kernels rung_kernels_avx2, rung_kernels_avx512;
rung_gemm rung_gemm_avx2, rung_gemm_avx512;
rung_yardstick rung_yardstick_avx2, rung_yardstick_avx512;
#endif

#endif
