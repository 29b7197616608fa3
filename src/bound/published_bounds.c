/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Published theorems, with their own constants; that about hybrids is in published_hybrid.c.
 *
 *   Chen, Peng, Wu 2024 (arXiv 2412.02975), Theorem 1.1: L layers of full attention with H d p <= n^(2^(-4L)) do not
 *   solve L-sequential function composition.
 *   Ye, He, Liao, Wu, Lu 2026 (arXiv 2602.01763), Theorem 1.2: one (B,k)-sparse layer needs H d p = Omega(B log n) for
 *   two-sum.
 *
 * The proof of the first chooses the sizes of the task, so only prompt lengths can be asked for. It takes p >= log n; a
 * smaller p is counted as log n. Fewer layers are covered: a layer may pass everything on.
 *
 * At L = 2 the exponent is 256, so no size that can be run is reached. The rows are there for comparison.
 */
#include "bound_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct published {
    uint64_t exponent, n, width, bits; /* n >= (H d max(p, log n))^exponent */
} published;

static bound_sides sides(rung_certified *s, const void *context)
{
    const published *x = context;
    rung_ival log_n = rung_ival_log2(s, rung_ival_u64(s, x->n)), p = rung_ival_u64(s, x->bits);
    /* the larger of p and log n, as -min(-p, -log n) */
    rung_ival zero = rung_ival_u64(s, 0);
    rung_ival more = rung_ival_sub(s, zero, rung_ival_min(s, rung_ival_sub(s, zero, p), rung_ival_sub(s, zero, log_n)));
    rung_ival size = rung_ival_log2(s, rung_ival_mul(s, rung_ival_u64(s, x->width), more));
    return (bound_sides){log_n, rung_ival_mul(s, rung_ival_u64(s, x->exponent), size)};
}

/* log2 of the n from which on it holds: the largest x with x = E log2(H d max(p, x)), approached from above. (A tiny
 * model satisfies the inequality also below its smallest solution, at n = 2; the theorems do not mean that.) */
static double least_log2_n(const published *x)
{
    double log_n = 1e40, E = (double)x->exponent, before;
    do {
        before = log_n;
        log_n = E * log2((double)x->width * fmax((double)x->bits, log_n));
    } while (log_n < before);
    return before;
}

/* H d of the widest layer. */
static uint64_t width_of(const rung_ledger *ledger)
{
    uint64_t width = 1;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *held = &ledger->layer[i];
        uint64_t dim = held->key_dim > held->value_dim ? held->key_dim : held->value_dim;
        if (held->full && held->heads * dim > width) width = held->heads * dim;
    }
    return width;
}

static uint64_t functions_of(const bound_question *q)
{
    return (uint64_t)rung_task_param(q->task, "L");
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, unsigned shift, rung_error *err)
{
    if (!q->n) return bound_missing(answer, "the theorem chooses the sizes of the task; ask for a prompt length n");
    if (shift > 60) return bound_missing(answer, "the exponent 2^%u does not fit", shift);
    published x = {UINT64_C(1) << shift, q->n, width_of(q->ledger), (uint64_t)bound_widest(q)};
    RUNG_TRY(bound_decide(answer, sides, &x, err));
    answer->log2_n = least_log2_n(&x);
    answer->holds = answer->holds && answer->lhs > answer->log2_n;
    snprintf(answer->premise, sizeof answer->premise,
             "as published; p at least log2 n; sizes of the task as in the proof");
    snprintf(answer->statement, sizeof answer->statement,
             "log2 n = %.1f > 2^%u log2(H d p) = %.0f, L = %llu, H d = %llu; holds from log2 n = %.4g on", answer->lhs,
             shift, answer->rhs, (unsigned long long)functions_of(q), (unsigned long long)x.width, answer->log2_n);
    return RUNG_OK;
}

static rung_status evaluate_full(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                 rung_error *err)
{
    uint64_t L = functions_of(q);
    if (p->recurrent || p->sparse || p->top || p->levels_state)
        return bound_missing(answer, "the theorem is about layers of full attention only");
    if (p->too_many || p->full > L)
        return bound_missing(answer, "the theorem is about at most L = %llu full layers", (unsigned long long)L);
    return evaluate(answer, q, (unsigned)(4 * L), err);
}

static rung_status evaluate_sparse(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                   rung_error *err)
{
    (void)q, (void)p, (void)err;
    return bound_missing(answer, "H d p = Omega(B log n) has no constant, so no number follows; see the row sparse");
}

const rung_bound rung_bound_published_full = {
    .id = "published-full",
    .summary = "L full layers with H d p <= n^(2^(-4L)) do not compose L functions",
    .task = "seqcomp",
    .source = "Chen, Peng, Wu 2024, Theorem 1.1",
    .checked = "published",
    .section = "published",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_full,
};

const rung_bound rung_bound_published_sparse = {
    .id = "published-sparse",
    .summary = "one (B,k)-sparse layer needs H d p = Omega(B log n) for two-sum",
    .task = "two-sum",
    .source = "Ye, He, Liao, Wu, Lu 2026, Theorem 1.2",
    .checked = "published",
    .section = "published",
    .needs = NEEDS_LAYERS,
    .evaluate = evaluate_sparse,
};
