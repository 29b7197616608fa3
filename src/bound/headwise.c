/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One layer that is full and recurrent at once, on sequential composition. c are the bits of an accumulator, s those of
 * the recurrent heads, W = N_{L-1}/N_0 the number of different w that matter (with flat=1: n_{L-1}).
 *
 *     N_{L-1} log2 V > c W + s    is impossible.
 *
 * So recurrent heads beside full ones do not help as a recurrent layer before or after a full one does. Proof:
 * docs/theory.md, Headwise.
 */
#include "bound_rows.h"
#include "least.h"

#include <math.h>
#include <stdio.h>

typedef struct beside {
    uint64_t N0, W, V, message, state, level;
} beside;

static uint64_t ones_of(uint64_t x)
{
    return (uint64_t)__builtin_popcountll(x);
}

static bound_sides sides(rung_certified *s, const void *context)
{
    const beside *x = context;
    uint64_t entries = x->N0 * x->W;
    rung_ival needs = rung_ival_mul(s, rung_ival_u64(s, entries), rung_ival_log2(s, rung_ival_u64(s, x->V)));
    rung_ival messages = rung_ival_mul(s, rung_ival_u64(s, x->message), rung_ival_u64(s, x->W));
    rung_ival levels = rung_ival_mul(s, rung_ival_u64(s, x->level), rung_ival_u64(s, ones_of(entries)));
    return (bound_sides){needs, rung_ival_add(s, messages, rung_ival_add(s, rung_ival_u64(s, x->state), levels))};
}

/* ---- free sizes -------------------------------------------------------------------------------------------------- */

typedef struct sizes {
    beside layer;
    uint64_t L;
    bool flat;
    uint64_t V; /* number of values if the user fixed it; 0: as many as entries */
} sizes;

static double values_of(const sizes *z, double N0, double entries)
{
    return z->flat ? N0 : z->V ? (double)z->V : entries;
}

/* In doubles, and slightly stricter; with the largest possible number of levels. */
static rung_status enough(bool *holds, uint64_t W, const void *context, rung_error *err)
{
    (void)err;
    const sizes *z = context;
    double N0 = (double)z->layer.N0, entries = N0 * (double)W;
    double levels = (double)z->layer.level * (floor(log2(entries)) + 1);
    double each = N0 * log2(values_of(z, N0, entries)) - (double)z->layer.message;
    *holds = (double)W * each > ((double)z->layer.state + levels) * (1 + 1e-12);
    return RUNG_OK;
}

/* The least W, or 0 if there is none. For L = 1 only W = 1 exists. */
static uint64_t least_W(uint64_t N0, const sizes *of)
{
    sizes z = *of;
    uint64_t W = 0;
    z.layer.N0 = N0;
    (void)bound_least(&W, z.L == 1 ? 1 : UINT64_C(1) << 40, enough, &z, NULL); /* the probe never fails */
    return W;
}

/* Prompt length with this N_0 and n_1 = ... = n_{L-2} = 1; INFINITY if no W suffices. */
static double tokens_with(uint64_t N0, const sizes *z)
{
    double W = (double)least_W(N0, z);
    if (!(W > 0) || (double)N0 * W > 0x1p62) return INFINITY;
    return (double)N0 * (W + (double)(z->L - 1)) + 2;
}

static void try_size(uint64_t *best, double *tokens, uint64_t N0, const sizes *z)
{
    double length = tokens_with(N0, z);
    if (length < *tokens) *tokens = length, *best = N0;
}

/* The best sizes found: N_0 on a grid of 2 %, then with halved steps around the best. INFINITY if there are none. */
static double find_sizes(beside *x, uint64_t L, bool flat, uint64_t V)
{
    sizes z = {*x, L, flat, V};
    uint64_t best = 0;
    double tokens = INFINITY;
    for (uint64_t N0 = 1; N0 <= UINT64_C(1) << 40; N0 += N0 / 50 + 1) try_size(&best, &tokens, N0, &z);
    for (uint64_t step = best / 50; step; step /= 2) {
        uint64_t at = best;
        try_size(&best, &tokens, at + step, &z);
        if (at > step) try_size(&best, &tokens, at - step, &z);
    }
    if (!isfinite(tokens)) return tokens;
    x->N0 = best, x->W = least_W(best, &z);
    x->V = flat ? x->N0 : V ? V : x->N0 * x->W;
    return tokens;
}

/* ---- the row ----------------------------------------------------------------------------------------------------- */

static void describe(rung_bound_answer *answer, const beside *x, uint64_t L)
{
    answer->trivial = bound_does_not_fit(log2((double)x->V) > (double)x->message + (double)x->state);
    snprintf(answer->premise, sizeof answer->premise,
             "one layer, full and recurrent heads on the same input, summed from left to right");
    snprintf(answer->statement, sizeof answer->statement,
             "N_%llu log2 V = %llu x %.4f = %.1f > %.0f = c %llu + states, c = %llu, states of %llu bits, N_0 = %llu",
             (unsigned long long)(L - 1), (unsigned long long)(x->N0 * x->W), log2((double)x->V), answer->lhs,
             answer->rhs, (unsigned long long)x->W, (unsigned long long)x->message, (unsigned long long)x->state,
             (unsigned long long)x->N0);
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    if (p->full != 1 || p->recurrent != 1 || !p->headwise || p->sparse || p->too_many)
        return bound_missing(answer, "the theorem is about one layer that is full and recurrent at once");
    uint64_t L = (uint64_t)rung_task_param(q->task, "L"), N0 = (uint64_t)rung_task_param(q->task, "N0");
    beside x = {N0,
                (uint64_t)q->task->derived[L - 1] / N0,
                (uint64_t)rung_task_param(q->task, "V"),
                p->message,
                p->all_state,
                p->levels_state};
    beside chosen = x;
    double tokens = INFINITY;
    if (q->n || q->thresholds)
        tokens = find_sizes(&chosen, L, rung_task_param(q->task, "flat") == 1, bound_fixed(q, "V"));
    if (q->n && !isfinite(tokens)) return bound_missing(answer, "no size below 2^40 satisfies the inequality");
    if (q->n) x = chosen;
    RUNG_TRY(bound_decide(answer, sides, &x, err));
    describe(answer, &x, L);
    answer->point = (rung_bound_point){.known = true, .free = q->n != 0, .N0 = x.N0, .n = x.W, .V = x.V};
    if (isfinite(tokens)) answer->n_threshold = tokens;
    if (q->n && answer->holds && tokens > (double)q->n) answer->holds = false, answer->margin = (double)q->n / tokens;
    return RUNG_OK;
}

const rung_bound rung_bound_headwise_one = {
    .id = "headwise",
    .summary = "one layer of full heads beside recurrent ones composes only if every w, or the state, gets the table",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by Coq",
    .section = "headwise",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate,
};
