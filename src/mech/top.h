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
    uint64_t least; /* what is chosen: keys above this one, */
    size_t ties;    /* and so many that equal it */
    size_t at;      /* everything below has been looked at */
    bool nan;       /* a NaN is in the row: there is no order, and what is chosen means nothing */
} rung_top;

/* min(k, count) are chosen, k >= 1. The row must stay as it is while rung_top_next is called. */
rung_top rung_top_f32(const float *score, size_t count, size_t k);
rung_top rung_top_exact(const double *score, size_t count, size_t k);
/* The indices of the chosen ones from low to high, then SIZE_MAX. */
size_t rung_top_next(rung_top *top);

#endif
