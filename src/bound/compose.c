/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sizes of sequential composition.
 */
#include "compose.h"

#include <math.h>

compose_task compose_of(const rung_question *q)
{
    const rung_task_conf *t = q->task;
    const rung_value *n = rung_task_value(t, "n");
    uint64_t L = (uint64_t)rung_task_param(t, "L");
    uint64_t last = n->list_len ? (uint64_t)n->list[n->list_len - 1] : 1;
    uint64_t middle = 0;
    for (uint64_t l = 1; l + 1 < L; l++) middle += t->derived[l];
    return (compose_task){.L = L,
                          .middle = middle,
                          .free = q->n != 0,
                          .last = rung_task_value(t, "order")->number == 0,
                          .size = {.N0 = (uint64_t)rung_task_param(t, "N0"),
                                   .n1 = L > 1 ? last : 1,
                                   .V = (uint64_t)rung_task_param(t, "V")}};
}

double compose_tokens(const compose_task *t, double N0, double n1)
{
    return n1 * N0 + (double)(t->L - 1) * N0 + 2;
}

double compose_tokens_single(const compose_task *t, double N0)
{
    return (double)t->L * N0 + 2;
}

uint64_t compose_middle(const compose_task *t, uint64_t N0)
{
    return t->free ? (t->L > 2 ? t->L - 2 : 0) * N0 : t->middle;
}

uint64_t compose_least_n1(bool (*holds)(double n1, const void *context), const void *context)
{
    uint64_t low = 0, high = 1;
    while (!holds((double)high, context)) {
        low = high, high *= 2;
        if (high > UINT64_C(1) << 40) return 0;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (holds((double)middle, context))
            high = middle;
        else
            low = middle;
    }
    return high;
}

void compose_finish(rung_bound_answer *answer, const rung_question *q, const compose_task *t, double tokens, bool exact)
{
    if (!t->free) return;
    answer->n_threshold = answer->holds ? tokens : 0;
    answer->exact = answer->holds && exact;
    if (answer->holds && tokens > (double)q->n) {
        answer->holds = false;
        answer->margin = (double)q->n / tokens;
    }
}
