/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: the two sides of theorems C0, C1, Ce and H2.
 */
#ifndef RUNG_BOUND_COMPOSE_FULL_H
#define RUNG_BOUND_COMPOSE_FULL_H

#include "compose_sizes.h"

typedef struct two_full {
    compose_task task;
    double N0, n1; /* n_1 = G beta in Ce */
    double B, c;
    uint64_t state_after, message;
    uint64_t relay;                     /* C1: state bits between the two full layers; C0: 0 */
    uint64_t beside_first, beside_last; /* H2: bits of the recurrent heads of the two layers */
    double t, q, g;                     /* all */
    double x, beta, G;                  /* Ce */
    double y, ladder;                   /* of the lemmas S' and S */
    double theta;                       /* an estimate for the search */
} two_full;

bound_sides compose_c0_sides(rung_certified *s, const void *two_full); /* and C1 */
bound_sides compose_ce_sides(rung_certified *s, const void *two_full);

#endif
