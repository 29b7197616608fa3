/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One layer that selects k single tokens (an indexer, DSA) and no other layer that mixes tokens, L >= 1. Impossible if
 *
 *     (N_0 - k) log2 V > log2 C(N_0, k),
 *
 * whatever the bits of its numbers and the order of its softmax: the last token sees k tokens and nothing else. Proof:
 * docs/theory.md, Top.
 */
#include "compose_sizes.h"

#include <math.h>
#include <stdio.h>

typedef struct choice {
    compose_task task;
    double N0, n1;
    uint64_t k;
} choice;

static bound_sides sides(rung_certified *s, const void *context)
{
    const choice *c = context;
    rung_ival V = compose_values_log2(s, &c->task, c->N0, compose_product(s, c->N0, c->n1));
    rung_ival entries = rung_ival_sub(s, rung_ival_real(s, c->N0), rung_ival_u64(s, c->k));
    return (bound_sides){rung_ival_mul(s, entries, V), rung_ival_log2_choose(s, (uint64_t)c->N0, c->k)};
}

static double log2_choose(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2);
}

typedef struct probe {
    const choice *c;
    double N0;
} probe;

static bool enough(double n1, const void *context)
{
    const probe *p = context;
    double k = (double)p->c->k, V = compose_values(&p->c->task, p->N0, p->N0 * n1);
    return p->N0 > k && (p->N0 - k) * log2(V) > log2_choose(p->N0, k) * (1 + 1e-12);
}

/* Every N_0 above k while a prompt of that size can be the shortest: entries beyond k cost log2 C(N_0, k) at first, and
 * bring log2 V each. */
static double find_sizes(choice *c)
{
    double tokens = INFINITY, k = (double)c->k;
    for (double N0 = k + 1; (double)c->task.L * N0 + 2 < tokens && N0 < 0x1p40; N0 += fmax(1, floor((N0 - k) / 256))) {
        probe p = {c, N0};
        double n1 = c->task.L > 1 ? compose_least_n1(enough, &p) : enough(1, &p);
        double n = n1 > 0 ? compose_tokens(&c->task, N0, n1) : INFINITY;
        if (n < tokens) tokens = n, c->N0 = N0, c->n1 = n1;
    }
    return tokens;
}

static uint64_t chosen_tokens(const rung_ledger *ledger)
{
    for (size_t i = 0; i < ledger->layer_count; i++)
        if (ledger->layer[i].sparse) return ledger->layer[i].top;
    return 0;
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    choice c = {.task = compose_of(q), .k = chosen_tokens(q->ledger)};
    c.N0 = c.task.size.N0, c.n1 = c.task.size.n1;
    if (p->full != 1 || p->top != 1 || p->recurrent || p->sparse || p->levels_state || p->too_many)
        return bound_missing(
            answer, "the theorem is about one layer that selects single tokens and no other that mixes tokens");
    if (c.k >> 30) return bound_missing(answer, "the layer selects more tokens than a prompt has");
    if (c.task.free && find_sizes(&c) == INFINITY)
        return bound_missing(answer, "no size below 2^40 satisfies the inequality");
    if (c.N0 <= (double)c.k) return bound_missing(answer, "the layer can select a whole row of the table");
    RUNG_TRY(compose_decide(answer, &c.task, sides, &c, c.task.L > 1 ? &c.n1 : &c.N0, err));
    compose_finish(answer, q, &c.task, compose_tokens(&c.task, c.N0, c.n1), false);
    answer->point = compose_point(&c.task, c.N0, c.n1);
    snprintf(answer->premise, sizeof answer->premise,
             "one layer in which a query sees %llu tokens, numbers of any width, any order of sums; w last",
             (unsigned long long)c.k);
    snprintf(answer->statement, sizeof answer->statement,
             "(N_0 - k) log2 V = %.1f > %.1f = log2 C(N_0, k), with N_0 = %.0f, n_1 = %.0f, V = %.0f, k = %llu",
             answer->lhs, answer->rhs, c.N0, c.n1, compose_values(&c.task, c.N0, c.N0 * c.n1), (unsigned long long)c.k);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_top = {
    .id = "dsa-one",
    .summary = "one layer in which a query sees k tokens cannot follow a function, whatever its numbers",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "top",
    .needs = NEEDS_LAYERS | RUNG_NEEDS(RUNG_PREMISE_LAYOUT) | RUNG_NEEDS(RUNG_PREMISE_ENDS) |
             RUNG_NEEDS(RUNG_PREMISE_AT_ONCE),
    .evaluate = evaluate,
};
