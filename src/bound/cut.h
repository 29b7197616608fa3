/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: cuts, that is how many prefixes of a prompt a model must distinguish. Two prefixes of the same
 * length are distinguishable if some continuation makes prompts of both whose answers after the cut differ. If fewer
 * bits cross the cut than log2 of the size of a set of pairwise distinguishable prefixes, the answer to some prompt is
 * wrong. Prompts are all that the task's oracle answers and its promise allows, not only those that dist draws.
 * docs/theory.md proves every count.
 */
#ifndef RUNG_BOUND_CUT_H
#define RUNG_BOUND_CUT_H

#include "bound_rows.h"

/* A count that may be astronomical. Only lower bounds of it are needed, and only its logarithm is computed. */
typedef enum cut_kind {
    CUT_POWER,   /* a^b */
    CUT_CHOOSE,  /* C(a,b) */
    CUT_SUBSETS, /* sum over j = 1..b of C(a,j): non-empty sets of at most b out of a */
    CUT_SIGNED,  /* sum over j = 1..b of C(a,j) 2^j: the same with a sign for every element */
    CUT_FALLING, /* a (a-1) ... (a-b+1) */
    CUT_STACKS,  /* a^b + a^(b-2) + ...: stacks of b, b-2, ... symbols */
} cut_kind;

typedef struct cut_count {
    cut_kind kind;
    uint64_t a, b;
} cut_count;

/* log2 of the count, or of a smaller number within 1/4 bit of it: of long sums of binomials only the largest 4096 terms
 * are added. */
rung_ival cut_log2(rung_certified *sheet, const cut_count *count);
double cut_log2_estimate(const cut_count *count);
void cut_print(char *text, size_t size, const cut_count *count);

/* What one task implies at one size. */
typedef struct cut_point {
    cut_count count;
    uint64_t prefix;  /* tokens before the cut */
    bool odd_lengths; /* not every length occurs, so with free sizes bit lengths are used instead of popcounts */
    uint64_t entries, values; /* a table of uniform values, of which a random one is asked; 0: none */
    bool together;            /* its values are not independent: all tables together have log2 count bits */
} cut_point;

typedef struct cut_question {
    const rung_task_conf *task;
    uint64_t tokens; /* take the largest size of the task with at most this many; 0: the task's own size */
    bool last;       /* only continuations with one and the same last token */
} cut_question;

typedef struct cut_task {
    const char *name;
    /* Fills in the point. Returns NULL, or why there is no statement. */
    const char *(*at)(cut_point *point, const cut_question *q);
} cut_task;

extern const cut_task cut_tasks[]; /* ends with a name NULL */
/* All names of the table, for the registry. */
#define CUT_TASKS                                                                                                      \
    "two-sum three-sum string-equality disjointness count is-tree assoc-recall retrieval percom mqar mkar c-gram "     \
    "k-hop selective-copy dyck q-sparse-average palindrome stacks state-recall parity-recall variable-tracking"

#endif
