/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to build: what the two constructions for two-sum share. The tokens of the task: ids 0 .. M-1 are numbers;
 * from M on come the queries of form=query, or the one asking token of form=global.
 */
#ifndef RUNG_BUILD_TWO_SUM_WEIGHTS_H
#define RUNG_BUILD_TWO_SUM_WEIGHTS_H

#include "sheet.h"

/* The choices of the task. */
typedef enum two_sum_form { TWO_SUM_QUERY, TWO_SUM_POSITION, TWO_SUM_GLOBAL, TWO_SUM_CAUSAL } two_sum_form;

typedef struct two_sum_plan {
    two_sum_form form;
    size_t numbers, modulus; /* N, M */
    size_t asking;           /* first id after the numbers */
    size_t blank;            /* its id, or SIZE_MAX */
} two_sum_plan;

/* The query form with one dsa layer. */
void two_sum_build_dsa(rung_sheet *s, const two_sum_plan *p);

#endif
