/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One full layer and nothing else, for softmax that is not one scan from left to right. H heads, p bits per number, and
 * c = H (dv+1) p bits of numerator and denominator. Proofs: docs/theory.md, Other kernels.
 *
 * two-pass. L >= 2. The layer takes the maximum of the row first, then adds from left to right. Impossible if
 *
 *     (N_0 - H) log2 V > c.
 *
 * It holds for one pass with a running maximum too, which then costs entries instead of bits.
 *
 * eager. L >= 2. Weights are divided by their sum and rounded, then values are added from left to right. Impossible if
 *
 *     ceil((N_0 - H) 2^(-H p)) log2 V > c.
 *
 * The sum of the weights may hold all of z_1(z_0): the maximum of the row can tell w what z_0 is before it adds.
 *
 * split. L >= 1. Splits of T keys are added up each on its own, in any order, with H (dv+2) p bits each. Whatever the
 * place of the first border, some split contains l = min(T, ceil(N_0/2)) entries of a row of the first table and not the
 * last entry of z_1, if N_{L-1} and the tables between have T entries. (L = 1: l = min(T, N_0-T+1), in a split before z_0.)
 * Impossible if
 *
 *     l log2 V > c.
 */
#include "compose_sizes.h"

#include <math.h>
#include <stdio.h>

typedef struct one_kernel {
    compose_task task;
    double N0, n1;
    uint64_t heads, message, tile;
    uint64_t loss; /* eager: H p */
} one_kernel;

static rung_ival log2_values(rung_certified *s, const one_kernel *k)
{
    return compose_values_log2(s, &k->task, k->N0, compose_product(s, k->N0, k->n1));
}

/* ---- the three inequalities -------------------------------------------------------------------------------------- */

static bound_sides two_pass_sides(rung_certified *s, const void *context)
{
    const one_kernel *k = context;
    rung_ival entries = rung_ival_sub(s, rung_ival_real(s, k->N0), rung_ival_u64(s, k->heads));
    return (bound_sides){rung_ival_mul(s, entries, log2_values(s, k)), rung_ival_u64(s, k->message)};
}

static bound_sides eager_sides(rung_certified *s, const void *context)
{
    const one_kernel *k = context;
    rung_ival others = rung_ival_sub(s, rung_ival_real(s, k->N0), rung_ival_u64(s, k->heads));
    rung_ival share = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), rung_ival_u64(s, k->loss)));
    rung_ival entries = rung_ival_ceil(s, rung_ival_mul(s, others, share));
    return (bound_sides){rung_ival_mul(s, entries, log2_values(s, k)), rung_ival_u64(s, k->message)};
}

/* Entries of one row in one split. */
static double split_entries(const one_kernel *k, double N0)
{
    double T = (double)k->tile;
    return fmax(0, fmin(T, k->task.L == 1 ? N0 - T + 1 : ceil(N0 / 2)));
}

static bound_sides split_sides(rung_certified *s, const void *context)
{
    const one_kernel *k = context;
    rung_ival entries = rung_ival_real(s, split_entries(k, k->N0));
    return (bound_sides){rung_ival_mul(s, entries, log2_values(s, k)), rung_ival_u64(s, k->message)};
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Entries that the theorem counts at these sizes, in doubles. */
typedef double entries_at(const one_kernel *k, double N0, double n1);

static double two_pass_entries(const one_kernel *k, double N0, double n1)
{
    (void)n1;
    return N0 - (double)k->heads;
}

static double eager_entries(const one_kernel *k, double N0, double n1)
{
    (void)n1;
    double H = (double)k->heads;
    return N0 > H ? ceil((N0 - H) * exp2(-(double)k->loss)) : 0;
}

/* The last entry of z_1 lies behind the split. */
static bool split_reaches(const one_kernel *k, double N0, double n1)
{
    return k->task.L == 1 || N0 * n1 + compose_middle(&k->task, N0) >= (double)k->tile;
}

static double split_entries_at(const one_kernel *k, double N0, double n1)
{
    return split_reaches(k, N0, n1) ? split_entries(k, N0) : 0;
}

typedef struct probe {
    const one_kernel *k;
    entries_at *entries;
    double N0;
} probe;

static bool enough(double n1, const void *context)
{
    const probe *p = context;
    double V = compose_values(&p->k->task, p->N0, p->N0 * n1);
    return p->entries(p->k, p->N0, n1) * log2(V) > (double)p->k->message;
}

/* The smallest task: every N_0 up to 2^14, then steps of 0.1 %, each with its least n_1. With L = 1 there is no n_1. */
static double find_sizes(one_kernel *k, entries_at *entries, bool *exact)
{
    double tokens = INFINITY;
    *exact = true;
    for (double N0 = 1; (double)k->task.L * N0 + 2 < tokens && N0 < 0x1p40;) {
        probe p = {k, entries, N0};
        double n1 = k->task.L > 1 ? compose_least_n1(enough, &p) : enough(1, &p);
        double n = n1 > 0 ? compose_tokens(&k->task, N0, n1) : INFINITY;
        if (n < tokens) tokens = n, k->N0 = N0, k->n1 = n1;
        if (N0 > 0x1p14) *exact = false;
        N0 += N0 > 0x1p14 ? floor(N0 / 1024) : 1;
    }
    return tokens;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The only layer that mixes tokens; false, with the reason, where there are others. */
static bool only_full(rung_bound_answer *answer, one_kernel *k, const bound_question *q, const rung_pattern *p)
{
    *k = (one_kernel){.task = compose_of(q), .message = p->message, .tile = q->arithmetic->tile};
    k->N0 = k->task.size.N0, k->n1 = k->task.size.n1;
    for (size_t i = 0; i < q->ledger->layer_count; i++)
        if (q->ledger->layer[i].full) k->heads = q->ledger->layer[i].heads;
    bool one = p->full == 1 && !p->recurrent && !p->sparse && !p->top && !p->levels_state && !p->too_many;
    if (!one) bound_missing(answer, "the theorem is about one full layer and no other that mixes tokens");
    return one;
}

static rung_status decide(rung_bound_answer *answer, one_kernel *k, const bound_question *q, bound_side *side,
                          entries_at *entries, rung_error *err)
{
    bool exact = false;
    if (k->task.free && find_sizes(k, entries, &exact) == INFINITY)
        return bound_missing(answer, "no size below 2^40 satisfies the inequality");
    if (!(entries(k, k->N0, k->n1) > 0))
        return bound_missing(answer, "the tables have too few entries: the proof keeps some of them constant");
    RUNG_TRY(compose_decide(answer, &k->task, side, k, k->task.L > 1 ? &k->n1 : &k->N0, err));
    compose_finish(answer, q, &k->task, compose_tokens(&k->task, k->N0, k->n1), exact);
    answer->point = compose_point(&k->task, k->N0, k->n1);
    answer->trivial = bound_does_not_fit(log2(compose_values(&k->task, k->N0, k->N0 * k->n1)) > (double)k->message);
    return RUNG_OK;
}

static void put_sizes(rung_bound_answer *answer, const one_kernel *k, const char *entries)
{
    snprintf(answer->statement, sizeof answer->statement,
             "%s log2 V = %.1f > %.0f = c, with N_0 = %.0f, n_1 = %.0f, V = %.0f, H = %llu", entries, answer->lhs,
             answer->rhs, k->N0, k->n1, compose_values(&k->task, k->N0, k->N0 * k->n1), (unsigned long long)k->heads);
}

static rung_status evaluate_two_pass(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                     rung_error *err)
{
    one_kernel k;
    if (!only_full(answer, &k, q, p)) return RUNG_OK;
    if (k.task.L < 2) return bound_missing(answer, "the theorem is about at least two functions");
    if (q->arithmetic->kernel == RUNG_KERNEL_ONLINE && q->arithmetic->message == RUNG_MESSAGE_ONLINE) {
        /* the running maximum is not counted: it is constant */
        uint64_t each = k.message / (k.heads ? k.heads : 1) / (uint64_t)q->arithmetic->accumulator_bits;
        k.message = k.heads * (each - 1) * (uint64_t)q->arithmetic->accumulator_bits;
    }
    RUNG_TRY(decide(answer, &k, q, two_pass_sides, two_pass_entries, err));
    if (!answer->applies) return RUNG_OK;
    put_sizes(answer, &k, "(N_0 - H)");
    snprintf(answer->premise, sizeof answer->premise,
             "F, the maximum of a row known before or while keys are added from left to right; w last");
    return RUNG_OK;
}

static rung_status evaluate_eager(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                  rung_error *err)
{
    one_kernel k;
    if (!only_full(answer, &k, q, p)) return RUNG_OK;
    if (q->arithmetic->kernel != RUNG_KERNEL_EAGER)
        return bound_missing(answer, "the theorem is about rounded probabilities; see two-pass");
    if (k.task.L < 2) return bound_missing(answer, "the theorem is about at least two functions");
    k.loss = k.heads * (uint64_t)q->arithmetic->accumulator_bits;
    RUNG_TRY(decide(answer, &k, q, eager_sides, eager_entries, err));
    if (!answer->applies) return RUNG_OK;
    put_sizes(answer, &k, "ceil((N_0 - H) 2^(-H p))");
    snprintf(answer->premise, sizeof answer->premise,
             "F, weights and then values added from left to right, weights rounded in between; w last");
    return RUNG_OK;
}

static rung_status evaluate_split(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                  rung_error *err)
{
    one_kernel k;
    char entries[64];
    if (!only_full(answer, &k, q, p)) return RUNG_OK;
    if (q->arithmetic->kernel != RUNG_KERNEL_SPLIT)
        return bound_missing(answer, "the theorem is about splits of keys (--kernel split:T)");
    RUNG_TRY(decide(answer, &k, q, split_sides, split_entries_at, err));
    if (!answer->applies) return RUNG_OK;
    snprintf(entries, sizeof entries, "%.0f entries of a row in one split x", split_entries(&k, k.N0));
    put_sizes(answer, &k, entries);
    snprintf(answer->premise, sizeof answer->premise,
             "F, splits of %llu keys with borders anywhere, any order inside; w last", (unsigned long long)k.tile);
    return RUNG_OK;
}

#define NEEDS_ONE_FULL (NEEDS_SCANS & ~RUNG_NEEDS(RUNG_PREMISE_STATE))

const rung_bound rung_bound_compose_two_pass = {
    .id = "two-pass",
    .summary = "one full layer that knows the maximum of a row beforehand cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "other-kernels",
    .needs = NEEDS_ONE_FULL,
    .kernels = RUNG_COVERS(RUNG_KERNEL_TWO_PASS),
    .evaluate = evaluate_two_pass,
};

const rung_bound rung_bound_compose_eager = {
    .id = "eager",
    .summary = "one full layer that rounds probabilities before it adds values cannot compose two functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "other-kernels",
    .needs = NEEDS_ONE_FULL,
    .kernels = RUNG_COVERS(RUNG_KERNEL_EAGER),
    .evaluate = evaluate_eager,
};

const rung_bound rung_bound_compose_split = {
    .id = "split",
    .summary = "one full layer in splits of keys cannot follow a function whose entries fill a split",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "other-kernels",
    .needs = NEEDS_ONE_FULL,
    .kernels = RUNG_COVERS(RUNG_KERNEL_SPLIT),
    .evaluate = evaluate_split,
};
