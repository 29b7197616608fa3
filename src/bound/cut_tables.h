/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: cuts of tasks that look something up; see cut.h.
 */
#ifndef RUNG_BOUND_CUT_TABLES_H
#define RUNG_BOUND_CUT_TABLES_H

#include "cut.h"

static inline uint64_t cut_param(const cut_question *q, const char *name)
{
    return (uint64_t)rung_task_param(q->task, name);
}

/* The same if the user fixed it, else 0. */
static inline uint64_t cut_fixed(const cut_question *q, const char *name)
{
    size_t at = rung_param_find(q->task->task->params, name);
    return at != SIZE_MAX && q->task->params[at].set ? (uint64_t)q->task->params[at].number : 0;
}

static inline uint64_t cut_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

extern const char cut_too_short[]; /* the reason that most of them give */

const char *cut_assoc_recall(cut_point *point, const cut_question *q);
const char *cut_retrieval(cut_point *point, const cut_question *q);
const char *cut_percom(cut_point *point, const cut_question *q);
const char *cut_mqar(cut_point *point, const cut_question *q);
const char *cut_mkar(cut_point *point, const cut_question *q);
const char *cut_c_gram(cut_point *point, const cut_question *q);
const char *cut_k_hop(cut_point *point, const cut_question *q);
const char *cut_selective_copy(cut_point *point, const cut_question *q);
const char *cut_palindrome(cut_point *point, const cut_question *q);
const char *cut_state_recall(cut_point *point, const cut_question *q);
const char *cut_parity_recall(cut_point *point, const cut_question *q);
const char *cut_variable_tracking(cut_point *point, const cut_question *q);

#endif
