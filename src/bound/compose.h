/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the bounds on sequential composition share: the sizes of the task, and how a theorem about two functions speaks of
 * L of them.
 *
 * Sizes: N_0, then N_1 = n_1 N_0 entries in the table that comes first, V values in it. A theorem about L = 2 holds for
 * every L >= 2: let the last function be z_2, and z_2 .. z_{L-1} of the larger task pass their argument on (w_1 .. w_{L-2}
 * constant). Their tokens are constants between the blocks of z_2 and z_1, the `middle`: they ask nothing, but where a
 * proof lists what each token of z_1 receives of z_2, they are listed too. With free sizes they are L-2 tables of N_0
 * entries.
 */
#ifndef RUNG_BOUND_COMPOSE_H
#define RUNG_BOUND_COMPOSE_H

#include "rows.h"

typedef struct compose_size {
    uint64_t N0, n1, V;
} compose_size;

typedef struct compose_task {
    uint64_t L;
    bool free;         /* sizes are chosen by the prover, V = N_{L-1} */
    bool last;         /* w comes last */
    compose_size size; /* otherwise: N_0, n_{L-1}, V */
    uint64_t middle;   /* and the tokens between */
} compose_task;

compose_task compose_of(const rung_question *q);
/* Prompt length of the smallest L-task that contains these sizes as its part with L' = 2; and with L' = 1. */
double compose_tokens(const compose_task *t, double N0, double n1);
double compose_tokens_single(const compose_task *t, double N0);
/* Tokens between the first table and z_1, when z_1 has N0 entries. */
uint64_t compose_middle(const compose_task *t, uint64_t N0);
/* The smallest n1 in 1..2^40 for which holds(n1) is true, if the truth never turns back; 0 if there is none. */
uint64_t compose_least_n1(bool (*holds)(double n1, const void *context), const void *context);

/* Fills n_threshold, and holds = false with n below the threshold; call after bound_decide with the point of the
 * threshold (or of the given size). `tokens` of that point. */
void compose_finish(rung_bound_answer *answer, const rung_question *q, const compose_task *t, double tokens,
                    bool exact);

#endif
