/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tables of chunk_isa.c and what selective_isa.c, small_isa.c, elu_isa.c and crossed_isa.c add, one per instruction set that the build has.
 */
#ifndef RUNG_KERN_CHUNK_TABLE_H
#define RUNG_KERN_CHUNK_TABLE_H

#include "rung/kern.h"

typedef void rung_selective_scan(const rung_selective *p);
typedef void rung_selective_undo(const rung_selective_back *p);
typedef void rung_small_product(const rung_product *p);
typedef void rung_crossed_pairs(float *A, float *B, const float *q, const float *a, const float *b, const float *k,
                                size_t row, const float *w, size_t w_row, size_t n, size_t d);
typedef void rung_elu1(float *y, size_t y_row, const float *x, size_t x_row, size_t rows, size_t n);

extern const rung_chunk_kernels rung_chunk_kernels_ref;
rung_selective_scan rung_selective_scan_ref;
rung_selective_undo rung_selective_undo_ref;
rung_small_product rung_small_product_ref;
rung_elu1 rung_elu1_ref;
rung_crossed_pairs rung_crossed_pairs_ref;
#if defined(__x86_64__)
extern const rung_chunk_kernels rung_chunk_kernels_avx2, rung_chunk_kernels_avx512;
rung_selective_scan rung_selective_scan_avx2, rung_selective_scan_avx512;
rung_selective_undo rung_selective_undo_avx2, rung_selective_undo_avx512;
rung_small_product rung_small_product_avx2, rung_small_product_avx512;
rung_elu1 rung_elu1_avx2, rung_elu1_avx512;
rung_crossed_pairs rung_crossed_pairs_avx2, rung_crossed_pairs_avx512;
#elif defined(__aarch64__)
extern const rung_chunk_kernels rung_chunk_kernels_neon;
rung_selective_scan rung_selective_scan_neon;
rung_selective_undo rung_selective_undo_neon;
rung_small_product rung_small_product_neon;
rung_elu1 rung_elu1_neon;
rung_crossed_pairs rung_crossed_pairs_neon;
#endif

#endif
