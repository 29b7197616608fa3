/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to verify: membership (two-sum with a query). Shared by the reachable accumulators and the decisions about
 * them.
 */
#ifndef RUNG_VERIFY_WORST_CASE_SUM_H
#define RUNG_VERIFY_WORST_CASE_SUM_H

#include "worst_case_parts.h"

enum { WC_LEVELS_MAX = 48 }; /* largest number of values of the running maximum */

typedef struct member_task {
    wc_run *run;
    const wc_weights *w;
    size_t numbers, modulus, lead; /* N, M, 1 when a blank comes first */
    double *key;                   /* [heads][modulus+1][dk], the blank last */
    double *value;                 /* [modulus+1][mixed] */
    wc_span *range;                /* [mixed] of the values */
    rung_arena arena;
} member_task;

/* Accumulators with the same running maximum m, by the number k of matches so far: hulls of den and of every
 * numerator. */
typedef struct level {
    double m;
    bool *alive;                               /* [numbers+1] */
    double *den_lo, *den_hi, *num_lo, *num_hi; /* [numbers+1], [dv][numbers+1] */
    /* What tokens that do not raise m add: the misses together, and the match. */
    bool misses, match;
    wc_span miss_e, *miss_add;
    double match_e, *match_add;
} level;

typedef struct member_worker {
    level now[WC_LEVELS_MAX], next[WC_LEVELS_MAX]; /* the same maxima in both */
    size_t levels;
    bool overflow; /* more levels than WC_LEVELS_MAX */
    double *q, *x, *score, *low, *high, *constant;
    wc_span *y; /* [2][mixed]: answer no, answer yes */
    wc_span *scratch;
} member_worker;

/* worst_case_reach.c: bounds of the heads' outputs for query y over all prompts with answer no and with answer yes.
 * false when there are too many levels or a number of the query is not finite. */
bool wc_member_bounds(const member_task *t, member_worker *worker, size_t y);

/* worst_case_sum.c: prepares what is the same for all queries, and the memory of one worker, both in the arena of t. */
rung_status wc_member_prepare(member_task *t, wc_run *run);
bool wc_member_worker(member_worker *worker, member_task *t, rung_error *err);

static inline size_t wc_match_of(const member_task *t, size_t y)
{
    return (t->modulus - y) % t->modulus;
}

#endif
