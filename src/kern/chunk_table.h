/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tables of chunk_isa.c and what selective_isa.c, small_isa.c, state_isa.c, elu_isa.c,
 * crossed_isa.c and crossed_undo_isa.c add, one per instruction set that the build has.
 */
#ifndef RUNG_KERN_CHUNK_TABLE_H
#define RUNG_KERN_CHUNK_TABLE_H

#include "rung/kern.h"

typedef void rung_selective_scan(const rung_selective *p);
typedef void rung_selective_undo(const rung_selective_back *p);
typedef void rung_small_product(const rung_product *p);
typedef void rung_crossed_pairs(float *A, float *B, const float *q, const float *a, const float *b, const float *k,
                                size_t row, const float *w, size_t w_row, size_t n, size_t d);
typedef void rung_channel_pairs(float *A, float *B, const float *q, size_t q_row, const float *k, size_t k_row,
                                const float *w, size_t n, size_t d);
typedef void rung_undo_crossed(const rung_crossed_back *p);
typedef bool rung_read_state(const rung_chunk_read *p);
typedef void rung_leave_state(const rung_chunk_leave *p);
typedef void rung_elu1(float *y, size_t y_row, const float *x, size_t x_row, size_t rows, size_t n);

#define CHUNK_KERNELS_OF(set)                                                                                          \
    extern const rung_chunk_kernels rung_chunk_kernels_##set;                                                          \
    rung_selective_scan rung_selective_scan_##set;                                                                     \
    rung_selective_undo rung_selective_undo_##set;                                                                     \
    rung_small_product rung_small_product_##set;                                                                       \
    rung_elu1 rung_elu1_##set, rung_exp_rows_##set;                                                                    \
    rung_read_state rung_read_state_##set;                                                                             \
    rung_leave_state rung_leave_state_##set;                                                                           \
    rung_crossed_pairs rung_crossed_pairs_##set;                                                                       \
    rung_channel_pairs rung_channel_pairs_##set;                                                                       \
    rung_undo_crossed rung_undo_crossed_##set

CHUNK_KERNELS_OF(ref);
#if defined(__x86_64__)
CHUNK_KERNELS_OF(avx2);
CHUNK_KERNELS_OF(avx512);
#elif defined(__aarch64__)
CHUNK_KERNELS_OF(neon);
#endif

#endif
