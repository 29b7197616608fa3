/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: the two sides of theorems A (for composition) and A'.
 */
#ifndef RUNG_BOUND_COMPOSE_ONE_H
#define RUNG_BOUND_COMPOSE_ONE_H

#include "compose_sizes.h"

/* Recurrent layers: N_0 n_1 entries of the first table, all state bits; for log-linear attention the bits of one level,
 * and how many levels are in use after the table. */
typedef struct passing {
    const compose_task *task;
    double N0, n1;
    double others; /* number of tables besides the first; each has N_0 entries in the smallest task */
    uint64_t state, level;
    unsigned ones; /* levels in use; 0: one for each one-bit of the number of entries */
} passing;
bound_sides compose_passing_sides(rung_certified *s, const void *passing);

/* One function, one full layer: state bits before and after it, and c. */
typedef struct single {
    const compose_task *task;
    double N0;
    uint64_t before, after, message;
} single;
bound_sides compose_single_sides(rung_certified *s, const void *single);

#endif
