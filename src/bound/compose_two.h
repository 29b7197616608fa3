/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: the two sides of theorems B0 and B.
 */
#ifndef RUNG_BOUND_COMPOSE_TWO_H
#define RUNG_BOUND_COMPOSE_TWO_H

#include "compose_sizes.h"

typedef struct one_full {
    compose_task task;
    double N0, n1;
    double A, B, c; /* for the search: the integers are below 2^62, and doubles only guess */
    uint64_t state_before, state_after, message;
    /* parameters of the proof, whole numbers */
    double x0, x1;     /* B0 */
    double t, q, g, x; /* B */
    double y, ladder;  /* of the lemmas S' and S */
    double theta;      /* an estimate for the search */
} one_full;

bound_sides compose_b0_sides(rung_certified *s, const void *one_full);
bound_sides compose_b_sides(rung_certified *s, const void *one_full);

#endif
