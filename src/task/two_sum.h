/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * two-sum: the numbers that follow from its parameters, and the draws of its generator. Private to the
 * module.
 */
#ifndef RUNG_TASK_TWO_SUM_H
#define RUNG_TASK_TWO_SUM_H

#include "rung/task.h"

typedef enum two_sum_form { TWO_SUM_QUERY, TWO_SUM_POSITION, TWO_SUM_GLOBAL, TWO_SUM_CAUSAL } two_sum_form;

typedef struct two_sum {
    two_sum_form form;
    size_t numbers, modulus; /* N and M */
    size_t lead;             /* 1 when a blank token comes first */
    bool self;               /* position form: j = i counts */
    bool hard;
} two_sum;

/* No two elements of {1..half}, equal or not, sum to 0 mod M. */
static inline size_t two_sum_half(const two_sum *sum)
{
    return (sum->modulus - 1) / 2;
}

/* Fills x[N], and *query in the query form. */
rung_status rung_two_sum_draw(uint32_t *x, uint32_t *query, const two_sum *sum, rung_rng *rng, rung_error *err);

#endif
