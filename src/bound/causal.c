/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Targets that depend on later tokens. A causal model answers at a position before it has seen the later tokens, so it
 * gives the same answer to two prompts that agree up to there:
 *
 *   two-sum form=position     1, 1, ..., 1 and 1, ..., 1, -1 (M >= 5): has the first number a partner?
 *   three-sum form=position   1, 1, ..., 1 and 1, ..., 1, -2 (M >= 30): is the first number in a triple?
 *   q-sparse-average          position 0 asks for the last vector, which is e_1 or -e_1.
 *
 * The size of the model does not matter, so this separates no mechanism from another. A model that answers after the
 * prompt, or after a chain of thought, has seen everything: the row needs an answer at its position. docs/theory.md,
 * Causal.
 */
#include "bound_rows.h"

#include <stdio.h>
#include <string.h>

/* The shortest prompts whose first answer depends on the last token. A subset of q positions needs as many. */
static uint64_t least_numbers(const rung_task_conf *task)
{
    if (strcmp(task->task->name, "two-sum") == 0) return 2;
    if (strcmp(task->task->name, "three-sum") == 0) return 3;
    uint64_t q = (uint64_t)rung_task_param(task, "q");
    return q > 2 ? q : 2;
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    (void)p, (void)err;
    const char *name = q->task->task->name;
    bool two = strcmp(name, "two-sum") == 0, three = strcmp(name, "three-sum") == 0;
    if (two && rung_task_param(q->task, "form") != 1)
        return bound_missing(answer, "the theorem is about form=position only");
    if (three && rung_task_param(q->task, "form") != 0)
        return bound_missing(answer, "the theorem is about form=position only");
    uint64_t lead = two ? (uint64_t)rung_task_param(q->task, "blank") : 0, least = lead + least_numbers(q->task);
    snprintf(answer->premise, sizeof answer->premise, "a causal model of any size and number of layers");
    snprintf(answer->statement, sizeof answer->statement,
             "the answer at position %llu depends on the last token: 1 bit > 0 bits that come back",
             (unsigned long long)lead);
    answer->lhs = 1, answer->rhs = 0;
    answer->holds = (q->n ? q->n : q->task->tokens) >= least;
    answer->trivial = "no causal model of any size can";
    answer->n_threshold = (double)least, answer->exact = true;
    answer->point =
        (rung_bound_point){.known = true, .free = q->n != 0, .n = (q->n ? least : (uint64_t)q->task->tokens) - lead};
    return RUNG_OK;
}

const rung_bound rung_bound_causal = {
    .id = "causal",
    .summary = "no causal model answers at a position what depends on later tokens",
    .task = "two-sum three-sum q-sparse-average",
    .source = "definition of the task",
    .checked = "prompts checked at small sizes",
    .section = "causal",
    .needs = RUNG_NEEDS(RUNG_PREMISE_CAUSAL) | RUNG_NEEDS(RUNG_PREMISE_LAYOUT) | RUNG_NEEDS(RUNG_PREMISE_AT_ONCE),
    .evaluate = evaluate,
};
