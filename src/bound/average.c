/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * q-sparse-average at the last position of one full layer of H heads in numbers of p bits:
 *
 *     log2 C(N-1, q) > H dk p + H (dv+2) p    is impossible.
 *
 * The last token is the whole query, so an accumulator that depends on it could hold just the answer. But it depends on
 * it only through the query vectors, H dk p bits. For N = 2q+1 the bound is about 2q bits; the reduction from
 * disjointness gives q. Proof: docs/theory.md, Average.
 */
#include "bound_rows.h"
#include "least.h"

#include <math.h>
#include <stdio.h>

typedef struct averaging {
    uint64_t positions, size, query, message;
} averaging;

static bound_sides sides(rung_certified *s, const void *context)
{
    const averaging *x = context;
    return (bound_sides){rung_ival_log2_choose(s, x->positions - 1, x->size),
                         rung_ival_add(s, rung_ival_u64(s, x->query), rung_ival_u64(s, x->message))};
}

/* Bits of the query vectors of the full layer; UINT64_MAX if unknown or too large. */
static uint64_t query_bits(const bound_question *q)
{
    for (size_t i = 0; i < q->ledger->layer_count; i++) {
        const rung_ledger_layer *held = &q->ledger->layer[i];
        uint64_t bits;
        if (!held->full) continue;
        if (!held->key_dim || __builtin_mul_overflow(held->heads, held->key_dim, &bits) ||
            __builtin_mul_overflow(bits, (uint64_t)bound_widest(q), &bits) || bits >> 62)
            return UINT64_MAX;
        return bits;
    }
    return UINT64_MAX;
}

static rung_status holds_at(bool *holds, uint64_t positions, const void *context, rung_error *err)
{
    averaging x = *(const averaging *)context;
    x.positions = positions;
    return bound_surely(holds, sides, &x, err);
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    if (p->full != 1 || p->recurrent || p->sparse || p->top || p->too_many)
        return bound_missing(answer, "the theorem is about one full layer and no other that mixes tokens");
    averaging x = {q->n ? q->n : (uint64_t)rung_task_param(q->task, "N"), (uint64_t)rung_task_param(q->task, "q"),
                   query_bits(q), p->message};
    if (x.query == UINT64_MAX) return bound_missing(answer, "the size of a query vector is not known");
    if (x.positions < x.size + 1) return bound_missing(answer, "no %llu other positions", (unsigned long long)x.size);
    RUNG_TRY(bound_decide(answer, sides, &x, err));
    snprintf(answer->premise, sizeof answer->premise,
             "one layer, summed from left to right; queries in numbers of p bits; an answer must be nearer than 1/q");
    snprintf(answer->statement, sizeof answer->statement,
             "log2 C(N-1, q) = log2 C(%llu, %llu) = %.1f > %.0f = %llu bits of queries + %llu of the accumulator",
             (unsigned long long)x.positions - 1, (unsigned long long)x.size, answer->lhs, answer->rhs,
             (unsigned long long)x.query, (unsigned long long)x.message);
    if (!q->thresholds) return RUNG_OK;
    uint64_t least;
    rung_status status = bound_least(&least, UINT64_C(1) << 60, holds_at, &x, err);
    answer->n_threshold = (double)least, answer->exact = least > 0;
    return status;
}

const rung_bound rung_bound_average_one = {
    .id = "average",
    .summary = "one full layer averages q of N vectors only with log2 C(N-1,q) bits in queries and accumulator",
    .task = "q-sparse-average",
    .source = "after Sanford, Hsu, Telgarsky 2023, Theorem 4; the count: ours",
    .checked = "rank argument checked by search at small sizes",
    .section = "average",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate,
};
