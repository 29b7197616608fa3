/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition without a full layer (theorem A: the first table must pass through the states), and one function with one
 * full layer between recurrent ones (theorem A').
 *
 * A'. Prompt: table z_1, z_0, w. Layers R^a F R^b with A state bits before F and B after it, and an accumulator of c
 * bits. Impossible if
 *
 *     ceil(N_0 2^-A) (log2 V - B) > A + c.
 *
 * Where keys are added in tiles of T, only the first N_0 - (T-1) entries vary: the others may share a tile with z_0.
 *
 * Without recurrent layers before F (A = 0) all z_0 are in one class, and uniform tables and z_0 are hard on average:
 * each entry is decoded from c bits for all of them and B bits of its own. Proofs: docs/theory.md, Theorem A and
 * Theorem A prime.
 */
#include "compose_one.h"

#include <math.h>
#include <stdio.h>

/* The smallest whole *x in 2..2^61 for which the inequality certainly holds, if it is monotone; 0 if there is none. *x
 * is part of the context. */
static rung_status least(double *x, bound_side *side, const void *context, rung_error *err)
{
    double low = 1, high = 2;
    bool surely = false;
    rung_status status = RUNG_OK;
    while (status == RUNG_OK && !surely && high < 0x1p61) {
        *x = high;
        status = bound_surely(&surely, side, context, err);
        if (!surely) low = high, high *= 2;
    }
    while (status == RUNG_OK && surely && high - low > fmax(1, high * 0x1p-50)) {
        bool enough;
        *x = low + floor((high - low) / 2);
        status = bound_surely(&enough, side, context, err);
        if (enough)
            high = *x;
        else
            low = *x;
    }
    *x = surely ? high : 0;
    return status;
}

/* ---- A for seqcomp ----------------------------------------------------------------------------------------------- */

enum { ONES_MAX = 64 }; /* one-bits of a number of tokens, at most */

/* The one-bits of N_0 n_1. Sizes are whole numbers; a product that is not certainly exact counts as all ones. */
static unsigned ones_of(const passing *p)
{
    if (p->ones) return p->ones;
    return p->N0 * p->n1 < 0x1p53 ? (unsigned)__builtin_popcountll((uint64_t)(p->N0 * p->n1)) : ONES_MAX;
}

bound_sides compose_passing_sides(rung_certified *s, const void *context)
{
    const passing *p = context;
    rung_ival entries = compose_product(s, p->N0, p->n1);
    rung_ival levels = rung_ival_mul(s, rung_ival_u64(s, p->level), rung_ival_u64(s, ones_of(p)));
    return (bound_sides){rung_ival_mul(s, entries, compose_values_log2(s, p->task, p->N0, entries)),
                         rung_ival_add(s, rung_ival_u64(s, p->state), levels)};
}

static double passing_tokens(const passing *p)
{
    return compose_round_up((long double)p->N0 * p->n1 + (long double)p->others * p->N0 + 2);
}

static bool passing_holds(double n1, const void *context)
{
    const passing *p = context;
    double bits = (double)p->state + (double)p->level * ones_of(p);
    return n1 * p->N0 * log2(compose_values(p->task, p->N0, p->N0 * n1)) > bits;
}

/* flat=1 has V = N_0: tries every N_0 while they are few, then steps of 0.1 %. Levels all count as in use here; how many
 * are is asked at the point that is found. */
static void flat_sizes(passing *best, bool *exact)
{
    double least_tokens = INFINITY;
    *exact = best->level == 0;
    best->ones = ONES_MAX;
    for (double N0 = 2; (best->others + 1) * N0 + 2 < least_tokens && N0 < 0x1p60;) {
        passing p = *best;
        p.N0 = N0, p.n1 = compose_least_n1(passing_holds, &p);
        if (p.n1 > 0 && passing_tokens(&p) < least_tokens) least_tokens = passing_tokens(&p), *best = p;
        if (N0 > 0x1p14) *exact = false;
        N0 += N0 > 0x1p14 ? floor(N0 / 1024) : 1;
    }
}

/* The least number with at most `ones` one-bits that is not below x: below x + its lowest one-bit all numbers have at
 * least the one-bits of x. */
static uint64_t with_few_ones(uint64_t x, unsigned ones)
{
    while ((unsigned)__builtin_popcountll(x) > ones) x += x & -x;
    return x;
}

/* The smallest *size, a part of p, with levels: for each number of one-bits the least size that would suffice, then the
 * next one with so few of them. */
static rung_status least_size(double *size, passing *p, rung_error *err)
{
    uint64_t best = 0;
    p->ones = 1;
    if (!p->level) return least(size, compose_passing_sides, p, err);
    for (; p->ones <= ONES_MAX; p->ones++) {
        RUNG_TRY(least(size, compose_passing_sides, p, err));
        if (!(*size > 0) || *size >= 0x1p53 || (best && *size >= (double)best)) break;
        uint64_t next = with_few_ones((uint64_t)*size, p->ones);
        if (!best || next < best) best = next;
    }
    *size = (double)best;
    return RUNG_OK;
}

/* With free sizes, n_1 = ... = n_{L-2} = 1 and N_0 = 1 leave a first table of n_{L-1} entries before L-1 tables of one
 * entry each: it is nearly the whole prompt. With one function that table is the only one, and N_0 is its size. */
static rung_status passing_sizes(passing *p, bool *exact, rung_error *err)
{
    *exact = true;
    p->N0 = p->n1 = 1;
    if (p->task->L == 1) return least_size(&p->N0, p, err);
    if (!p->task->flat) return least_size(&p->n1, p, err);
    flat_sizes(p, exact);
    return RUNG_OK;
}

static rung_status evaluate_none(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                 rung_error *err)
{
    compose_task t = compose_of(q);
    bool exact = false;
    if (p->full || p->sparse)
        return bound_missing(answer, "a layer keeps all tokens; the statement is about recurrent layers only");
    passing a = {&t, (double)q->task->derived[t.L - 1], 1, (double)(t.L - 1), p->all_state, p->levels_state, 0};
    RUNG_TRY(t.free ? passing_sizes(&a, &exact, err) : RUNG_OK);
    a.ones = 0; /* whatever the search assumed */
    if (!(a.N0 > 0 && a.n1 > 0)) return bound_missing(answer, "no size below 2^60 satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &t, compose_passing_sides, &a, t.L == 1 ? &a.N0 : &a.n1, err));
    answer->point = compose_point(&t, a.N0, a.n1);
    compose_finish(answer, q, &t, passing_tokens(&a), exact && a.N0 * a.n1 < 0x1p50);
    snprintf(answer->premise, sizeof answer->premise, "every layer carries a state; any chain of thought");
    snprintf(answer->statement, sizeof answer->statement,
             "N_%llu log2 V = %.0f x %.4f = %.1f > %.0f bits of state, with V = %.0f", (unsigned long long)(t.L - 1),
             a.N0 * a.n1, log2(compose_values(&t, a.N0, a.N0 * a.n1)), answer->lhs, answer->rhs,
             compose_values(&t, a.N0, a.N0 * a.n1));
    /* The index that is asked for is uniform and independent of the first table, whatever the number of functions:
     * (w_{L-1}, i_{L-1}), where i_{L-1} is a value of uniform tables or, if z_1 is the identity and L = 2, z_0. With L
     * = 1 there is no dist=identity. */
    bound_ceiling(answer, answer->rhs, a.N0 * a.n1, compose_values(&t, a.N0, a.N0 * a.n1));
    return RUNG_OK;
}

const rung_bound rung_bound_compose_none = {
    .id = "A-compose",
    .summary = "recurrent layers compose only if the first table fits into their states",
    .task = "seqcomp",
    .source = "ours, from the lookup bound",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-a",
    .needs = NEEDS_STATES,
    .evaluate = evaluate_none,
};

/* ---- A' ---------------------------------------------------------------------------------------------------------- */

bound_sides compose_single_sides(rung_certified *s, const void *context)
{
    const single *a = context;
    rung_ival power = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), rung_ival_u64(s, a->before)));
    rung_ival entries = rung_ival_real(s, a->N0 - a->task->lost);
    rung_ival class = rung_ival_ceil(s, rung_ival_mul(s, entries, power));
    rung_ival each =
        rung_ival_sub(s, compose_values_log2(s, a->task, a->N0, rung_ival_real(s, a->N0)), rung_ival_u64(s, a->after));
    return (bound_sides){rung_ival_mul(s, class, each),
                         rung_ival_add(s, rung_ival_u64(s, a->before), rung_ival_u64(s, a->message))};
}

static rung_status evaluate_single(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                   rung_error *err)
{
    compose_task t = compose_of(q);
    rung_pattern apart = bound_heads_after(p);
    p = &apart;
    if (t.L != 1) return bound_missing(answer, "the theorem is about one function, L = 1");
    if (p->full != 1 || p->too_many || p->sparse || p->levels_state)
        return bound_missing(answer, "the theorem is about one full layer with recurrent ones before and after it");
    single a = {&t, t.size.N0, p->state[0], p->state[1], p->message};
    /* both factors of the left side rise with N_0 = V */
    RUNG_TRY(t.free ? least(&a.N0, compose_single_sides, &a, err) : RUNG_OK);
    if (!(a.N0 > 0)) return bound_missing(answer, "no size below 2^61 satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &t, compose_single_sides, &a, &a.N0, err));
    double V = compose_values(&t, a.N0, a.N0);
    answer->point = compose_point(&t, a.N0, 1);
    compose_finish(answer, q, &t, a.N0 + 2, a.N0 < 0x1p50);
    answer->trivial = bound_does_not_fit(log2(V) > (double)a.message);
    snprintf(answer->premise, sizeof answer->premise, "R^%zu F R^%zu, summed from left to right, w last", p->layers[0],
             p->layers[1]);
    snprintf(answer->statement, sizeof answer->statement,
             "ceil(N_0 2^-%llu) (log2 V - %llu) = %.1f > %.0f = %llu + c, with N_0 = %.0f, V = %.0f, c = %llu",
             (unsigned long long)a.before, (unsigned long long)a.after, answer->lhs, answer->rhs,
             (unsigned long long)a.before, a.N0, V, (unsigned long long)a.message);
    if (a.before == 0 && t.lost == 0) bound_ceiling(answer, (double)a.message + a.N0 * (double)a.after, a.N0, V);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_single = {
    .id = "A'",
    .levels_are_states = true,
    .kernels = RUNG_COVERS(RUNG_KERNEL_TILES),
    .summary = "one full layer among recurrent ones cannot follow one function of unknown argument",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-a-prime",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_single,
};
