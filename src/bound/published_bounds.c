/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The published theorems, with their own constants.
 *
 *   Chen, Peng, Wu 2024 (arXiv 2412.02975), Theorem 1.1: L layers of full attention with H d p <= n^(2^(-4L)) do not
 *   solve L-sequential function composition.
 *   Ye, He, Liao, Wu, Lu 2026 (arXiv 2602.01763), Theorem 1.1: nor do L-1 of them with up to 2^(3L^2) linear layers
 *   after each, for H d p <= n^(2^(-4L-2)). Theorem 1.2: one (B,k)-sparse layer needs H d p = Omega(B log n) for
 *   two-sum.
 *
 * The proofs choose the sizes of the task, so only prompt lengths can be asked for. They take p >= log n; a smaller p
 * is counted as log n. H d p of a recurrent layer is counted as the bits of its state, which is not less. Fewer layers
 * are covered: a layer may pass everything on.
 *
 * At L = 2 the exponents are 256 and 1024, so no size that can be run is reached. The rows are there for comparison.
 */
#include "bound_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct published {
    uint64_t exponent, n, width, bits; /* n >= (H d max(p, log n))^exponent */
    uint64_t full_width;               /* H d of the full layers alone */
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

/* H d of the widest layer. A recurrent layer of s bits counts as s/p, rounded up. */
static void find_widths(published *x, const rung_ledger *ledger)
{
    x->width = x->full_width = 1;
    for (size_t i = 0; i < ledger->layer_count; i++) {
        const rung_ledger_layer *held = &ledger->layer[i];
        uint64_t dim = held->key_dim > held->value_dim ? held->key_dim : held->value_dim;
        uint64_t wide = held->full ? held->heads * dim : 0,
                 state = held->state_elements + held->conv_elements + held->extra_elements + held->window_elements;
        if (wide > x->full_width) x->full_width = wide;
        if (state > x->width) x->width = state;
    }
    if (x->full_width > x->width) x->width = x->full_width;
}

/* Prints "H d = 2"; if a state is wider, says that it is a state. */
static void print_width(char *out, size_t room, const published *x)
{
    if (x->width == x->full_width)
        snprintf(out, room, "H d = %llu", (unsigned long long)x->width);
    else
        snprintf(out, room, "H d = %llu (numbers in the largest state; full layers have %llu)",
                 (unsigned long long)x->width, (unsigned long long)x->full_width);
}

static uint64_t functions_of(const bound_question *q)
{
    return (uint64_t)rung_task_param(q->task, "L");
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, unsigned shift, rung_error *err)
{
    if (!q->n) return bound_missing(answer, "the theorem chooses the sizes of the task; ask for a prompt length n");
    if (shift > 60) return bound_missing(answer, "the exponent 2^%u does not fit", shift);
    published x = {.exponent = UINT64_C(1) << shift, .n = q->n, .bits = (uint64_t)bound_widest(q)};
    char width[96];
    find_widths(&x, q->ledger);
    print_width(width, sizeof width, &x);
    RUNG_TRY(bound_decide(answer, sides, &x, err));
    answer->log2_n = least_log2_n(&x);
    answer->holds = answer->holds && answer->lhs > answer->log2_n;
    snprintf(answer->premise, sizeof answer->premise,
             "as published; p at least log2 n; sizes of the task as in the proof");
    snprintf(answer->statement, sizeof answer->statement,
             "log2 n = %.1f > 2^%u log2(H d p) = %.0f, L = %llu, %s; holds from log2 n = %.4g on", answer->lhs, shift,
             answer->rhs, (unsigned long long)functions_of(q), width, answer->log2_n);
    return RUNG_OK;
}

static rung_status evaluate_full(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                 rung_error *err)
{
    uint64_t L = functions_of(q);
    if (p->recurrent || p->sparse || p->levels_state)
        return bound_missing(answer, "the theorem is about layers of full attention only");
    if (p->too_many || p->full > L)
        return bound_missing(answer, "the theorem is about at most L = %llu full layers", (unsigned long long)L);
    return evaluate(answer, q, (unsigned)(4 * L), err);
}

/* Whether 2^(3 L^2) is less than `layers`. */
static bool too_many_linear(size_t layers, uint64_t L)
{
    return 3 * L * L < 63 && layers > UINT64_C(1) << (3 * L * L);
}

static rung_status evaluate_hybrid(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                   rung_error *err)
{
    uint64_t L = functions_of(q);
    if (p->headwise || p->sparse || p->levels_state)
        return bound_missing(answer, "the theorem is about full layers and linear layers, one after the other");
    if (p->too_many || p->full + 1 > L)
        return bound_missing(answer, "the theorem is about at most L-1 = %llu full layers",
                             (unsigned long long)(L - 1));
    if (p->layers[0] && p->full + 1 == L)
        return bound_missing(
            answer, "linear layers stand before the first full one; the published theorem does not allow them there");
    for (size_t g = 0; g <= p->full; g++)
        if (too_many_linear(p->layers[g], L)) return bound_missing(answer, "more than 2^(3L^2) linear layers in a row");
    return evaluate(answer, q, (unsigned)(4 * L + 2), err);
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

const rung_bound rung_bound_published_hybrid = {
    .id = "published-hybrid",
    .summary = "L-1 full layers, 2^(3L^2) linear ones after each, H d p <= n^(2^(-4L-2)): do not compose L functions",
    .task = "seqcomp",
    .source = "Ye, He, Liao, Wu, Lu 2026, Theorem 1.1",
    .checked = "published",
    .section = "published",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_hybrid,
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
