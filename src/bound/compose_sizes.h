/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the bounds on sequential composition share: the sizes of the task, and how a theorem about two functions covers
 * L of them.
 *
 * Sizes: N_0, then N_1 = n_1 N_0 entries in the table that comes first, V values in it. A theorem about L = 2 holds for
 * every L >= 2: let the last function be z_2, and let z_2 .. z_{L-1} of the larger task pass their argument on (w_1 ..
 * w_{L-2} constant). Their tokens are constants between the blocks of z_2 and z_1, the `middle`. They ask nothing, but
 * a proof that lists what each token of z_1 receives of z_2 lists them too. With free sizes they are L-2 tables of N_0
 * entries.
 *
 * Whole numbers are doubles, so that no product of them wraps. Searches may round; certified sides never do.
 */
#ifndef RUNG_BOUND_COMPOSE_SIZES_H
#define RUNG_BOUND_COMPOSE_SIZES_H

#include "bound_rows.h"

typedef struct compose_size {
    double N0, n1, V;
} compose_size;

/* A left side that is 0 (one value has no bits) still has a share. */
#define COMPOSE_SMALL 0x1p-100

typedef struct compose_task {
    uint64_t L;
    bool free;         /* the prover chooses the sizes */
    bool flat;         /* every table has values in [N_0] */
    bool identity;     /* in the prompts that the task draws, z_1 is the identity */
    double V;          /* free sizes: the number of values of z_L if the user fixed it, else 0 */
    compose_size size; /* given sizes: N_0, n_{L-1}, V */
    double row;        /* given sizes, L > 1: N_{L-2}, the entries of z_L for one w */
    double middle;     /* given sizes: the tokens of z_2 .. z_{L-1} */
    double lost;       /* entries at the end of a table that stay constant, so that a tile of keys may hold them too */
} compose_task;

compose_task compose_of(const bound_question *q);

/* V of a task whose first table has `entries` entries, and log2 of it. */
double compose_values(const compose_task *t, double N0, double entries);
rung_ival compose_values_log2(rung_certified *s, const compose_task *t, double N0, rung_ival entries);
/* Prompt length of the smallest L-task that contains these sizes as its part with L' = 2, rounded up. */
double compose_tokens(const compose_task *t, double N0, double n1);
/* The least double that is not below x. */
double compose_round_up(long double x);
/* Constant tokens between the entries of the first table that vary and z_1, when z_1 has N0 entries. */
double compose_middle(const compose_task *t, double N0);
/* The smallest n1 in 1..2^60 for which holds(n1) is true, if holds is monotone; 0 if there is none. */
double compose_least_n1(bool (*holds)(double n1, const void *context), const void *context);

/* Calls bound_decide. With free sizes the search may have rounded in its own favour: then *grow is raised a little
 * until the inequality holds. *grow is part of the context. */
rung_status compose_decide(rung_bound_answer *answer, const compose_task *t, bound_side *side, const void *context,
                           double *grow, rung_error *err);
/* Fills in n_threshold, and sets holds = false if n is below it. Call it after compose_decide, with the tokens of the
 * point that was decided. */
void compose_finish(rung_bound_answer *answer, const bound_question *q, const compose_task *t, double tokens,
                    bool exact);

/* The sizes of the point that was decided; known only if they fit. */
rung_bound_point compose_point(const compose_task *t, double N0, double n1);

/* Shorthands for sides. */
rung_ival compose_product(rung_certified *s, double a, double b);

#endif
