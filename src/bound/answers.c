/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * All rows that speak of a task, thresholds included, and the one of them that decides.
 */
#include "rung/bound.h"

#include <stdlib.h>

/* Longer than any prompt that is looked for one by one; rows about composition find their sizes first and compare then. */
#define FAR_TOKENS (UINT64_C(1) << 40)

/* A row that chooses the sizes says at least how long a prompt it would need; a prompt that is shorter is not refuted. */
static void take_answer(rung_bound_answer *to, const rung_bound_answer *far, size_t tokens)
{
    if (!(far->n_threshold > (double)tokens)) return;
    *to = *far;
    to->holds = false, to->verdict = RUNG_UNKNOWN;
    to->margin = (double)tokens / far->n_threshold;
}

/* Both reports have the same rows in the same order: those that speak of the task. A row may speak of free sizes only. */
static void take_thresholds(rung_bound_report *report, const rung_bound_report *far, size_t tokens)
{
    for (size_t i = 0; i < report->count; i++) {
        rung_bound_answer *to = &report->answer[i];
        const rung_bound_answer *from = &far->answer[i];
        if (!from->applies || to->n_threshold > 0 || to->log2_n > 0) continue;
        if (!to->applies) take_answer(to, from, tokens);
        to->n_threshold = from->n_threshold, to->log2_n = from->log2_n, to->exact = from->exact;
    }
}

rung_status rung_bound_answers(rung_bound_report *report, const rung_question *q, rung_error *err)
{
    rung_status status = rung_bound_run(report, q, err);
    if (status != RUNG_OK || q->n || !q->thresholds) return status;
    rung_question free_sizes = *q;
    free_sizes.n = FAR_TOKENS;
    rung_bound_report *far = rung_calloc(1, sizeof *far, err);
    if (!far) return RUNG_SYSTEM;
    status = rung_bound_run(far, &free_sizes, err);
    if (status == RUNG_OK) take_thresholds(report, far, q->task->tokens);
    free(far);
    return status;
}

static bool decides_more(const rung_bound_answer *a, const rung_bound_answer *b)
{
    bool can = a->verdict == RUNG_CANNOT, other = b->verdict == RUNG_CANNOT;
    if (can != other) return can;
    if (can && a->trivial != b->trivial) return !a->trivial;
    return a->margin > b->margin;
}

double rung_bound_ceiling(const rung_bound_report *report)
{
    double lowest = 0;
    for (size_t i = 0; i < report->count; i++) {
        const rung_bound_answer *a = &report->answer[i];
        if (!a->applies || !(a->ceiling > 0) || a->ceiling_over) continue;
        if (!(lowest > 0) || a->ceiling < lowest) lowest = a->ceiling;
    }
    return lowest;
}

const rung_bound_answer *rung_bound_decisive(const rung_bound_report *report)
{
    const rung_bound_answer *best = NULL;
    for (size_t i = 0; i < report->count; i++)
        if (report->answer[i].applies && (!best || decides_more(&report->answer[i], best))) best = &report->answer[i];
    return best;
}
