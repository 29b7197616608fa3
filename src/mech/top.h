/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The k largest of a row of scores, among equal ones those with the lower index: the one selection of sparse and dsa.
 * Deterministic and linear in the row whatever the numbers are.
 */
#ifndef RUNG_MECH_TOP_H
#define RUNG_MECH_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rung_top {
    const float *f; /* the row: one of the two */
    const double *x;
    size_t count;
    uint64_t least; /* keys above this one are chosen, */
    size_t ties;    /* and this many that equal it */
    size_t at;      /* everything below this index has been examined */
    bool nan;       /* the row contains a NaN, so there is no order, and the choice is meaningless */
} rung_top;

/* Chooses min(k, count) of the row, k >= 1. The row must not change while rung_top_next is called. */
rung_top rung_top_f32(const float *score, size_t count, size_t k);
rung_top rung_top_exact(const double *score, size_t count, size_t k);
/* Returns the indices of the chosen elements in ascending order, then SIZE_MAX. */
size_t rung_top_next(rung_top *top);

#endif
