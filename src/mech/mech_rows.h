/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The rows of the mechanism registry, one or two per file of this directory, and what those files share.
 */
#ifndef RUNG_MECH_ROWS_H
#define RUNG_MECH_ROWS_H

#include "rung/mech.h"

extern const rung_mech rung_mech_full, rung_mech_window, rung_mech_linear, rung_mech_retnet, rung_mech_gla,
    rung_mech_mamba2, rung_mech_delta, rung_mech_gdelta, rung_mech_kda, rung_mech_mamba, rung_mech_rwkv7, rung_mech_rnn,
    rung_mech_loglinear, rung_mech_sparse, rung_mech_dsa;

/* All of rung_pads: sums start at 0, and zero inputs add only zeros. */
unsigned rung_pads_all(const rung_mech_conf *conf);

/* The two forms of a row, for files whose functions have the names of its members. */
#define RUNG_MECH_FORMS                                                                                                \
    .update_f32 = update_f32, .read_f32 = read_f32, .update_exact = update_exact, .read_exact = read_exact,            \
    .scan_f32 = scan_f32, .scan_exact = scan_exact

/* Places in rung_mech.inputs that every mechanism with keys and values uses. */
enum { IN_Q = 0, IN_K = 1, IN_V = 2 };

/* Lanes of one call of an exact kernel. 64 doubles are 512 bytes, so a dozen such rows fit into the L1 cache. */
enum { BLOCK = 64 };

static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* NaN stays NaN. */
static inline double relu(double x)
{
    return x <= 0 ? 0 : x;
}

/* The product, or SIZE_MAX if it overflows. An allocation of SIZE_MAX fails with a message. */
static inline size_t size_times(size_t a, size_t b)
{
    size_t product;
    return rung_size_mul(&product, a, b) ? product : SIZE_MAX;
}

static inline size_t size_plus(size_t a, size_t b)
{
    size_t sum;
    return rung_size_add(&sum, a, b) ? sum : SIZE_MAX;
}

#endif
