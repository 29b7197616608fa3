/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The rows of theorems D, D-pure, E and H.
 */
#include "compose_deep.h"

#include <math.h>
#include <stdio.h>

static void deep_print(rung_bound_answer *answer, const deep *d)
{
    char text[240];
    size_t len = 0;
    for (size_t l = 1; l < d->L && len < sizeof text - 80; l++)
        len += (size_t)snprintf(text + len, sizeof text - len, ", x_%zu = %.12g, q_%zu = %.12g, n_%zu = %.12g", l,
                                d->x[l], l, d->q[l], l, d->n[l]);
    snprintf(answer->statement, sizeof answer->statement,
             "n_%zu Theta log2 V = %.6g > %.6g, with t = %.0f, g = %.12g%s, c = %llu", d->L - 1, answer->lhs,
             answer->rhs, d->t, d->g, text, (unsigned long long)d->c);
}

void deep_take_heads(deep *d, const rung_pattern *p)
{
    d->r[0] = p->beside[0];
    for (size_t i = 2; i <= p->full; i++) d->r[i] = p->state[i] + p->beside[i - 1];
    if (p->state[p->full]) return;
    d->beside_last = d->r[p->full], d->r[p->full] = 0;
}

rung_status deep_evaluate(rung_bound_answer *answer, deep *d, const bound_question *q, rung_error *err)
{
    if (d->task.flat)
        return bound_missing(answer, "the theorem is about tables whose values are as many as their entries; flat=1");
    if (!d->task.free) return bound_missing(answer, "the theorem is about sizes of its own: ask for a length with --n");
    if (d->L > DEEP_MAX)
        return bound_missing(
            answer, "the theorem is about at most %d functions: with more the smallest size has thousands of bits",
            DEEP_MAX);
    if (!deep_choose(d)) return bound_missing(answer, "no size below 2^1000 was found that satisfies the inequality");
    RUNG_TRY(compose_decide(answer, &d->task, deep_sides, d, &d->n[1], err));
    long double tokens = deep_tokens(d);
    double log2_n = (double)log2l(tokens);
    answer->holds = answer->holds && deep_allowed(d);
    bool holds = answer->holds;
    compose_finish(answer, q, &d->task, compose_round_up(tokens), false);
    bool beyond = q->levels && tokens > (long double)q->n;
    answer->log2_n = holds && !beyond ? log2_n : 0; /* always set: such numbers are read as powers */
    answer->trivial = bound_does_not_fit(deep_log2_values(d) > (double)d->c);
    deep_print(answer, d);
    return RUNG_OK;
}

static bool plain(const rung_pattern *p)
{
    return !p->too_many && !p->headwise && !p->sparse && !p->levels_state;
}

static rung_status evaluate_d(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                              rung_error *err)
{
    rung_pattern apart = bound_heads_after(p);
    p = &apart;
    deep d = {.task = compose_of(q), .L = p->full + 1, .c = p->message};
    if (!plain(p) || p->full < 2)
        return bound_missing(answer, "the theorem is about at least two full layers among recurrent ones");
    if (d.task.L < d.L) return bound_missing(answer, "the theorem is about more functions than full layers");
    for (size_t i = 0; i <= p->full && d.L <= DEEP_MAX; i++) d.r[i] = p->state[i];
    rung_status status = deep_evaluate(answer, &d, q, err);
    if (answer->applies)
        snprintf(answer->premise, sizeof answer->premise,
                 "%zu full layers among recurrent ones, %zu functions, summed from left to right, w last", p->full,
                 d.L);
    return status;
}

/* L full layers with nothing recurrent before the second one, and L functions: D-pure and E. */
static rung_status evaluate_full_first(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                       const char *where, rung_error *err)
{
    deep d = {.task = compose_of(q), .L = p->full, .pure = true, .c = p->message};
    if (d.task.L < d.L) return bound_missing(answer, "the theorem is about at least as many functions as full layers");
    for (size_t i = 2; i <= p->full && d.L <= DEEP_MAX; i++) d.r[i] = p->state[i];
    rung_status status = deep_evaluate(answer, &d, q, err);
    if (answer->applies)
        snprintf(answer->premise, sizeof answer->premise,
                 "%zu full layers, recurrent ones after the %s only, %zu functions, summed from left to right, w last",
                 p->full, where, d.L);
    return status;
}

/* Bits of the recurrent layers after the second full layer and before the last one. */
static bool states_between(const rung_pattern *p)
{
    for (size_t i = 2; i < p->full; i++)
        if (p->state[i]) return true;
    return false;
}

static rung_status evaluate_pure(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                 rung_error *err)
{
    if (!plain(p) || p->full < 3) return bound_missing(answer, "the theorem is about at least three full layers");
    if (p->state[0] || p->state[1] || states_between(p))
        return bound_missing(answer, "a recurrent layer before the last full one: see D and E");
    return evaluate_full_first(answer, q, p, "last", err);
}

static rung_status evaluate_e(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                              rung_error *err)
{
    if (!plain(p) || p->full < 3) return bound_missing(answer, "the theorem is about at least three full layers");
    if (p->state[0] || p->state[1])
        return bound_missing(answer,
                             "a recurrent layer before the second full one can pass the pointer on: nothing is proved");
    if (!states_between(p)) return bound_missing(answer, "no recurrent layer before the last full one: see D-pure");
    return evaluate_full_first(answer, q, p, "second", err);
}

/* Recurrent heads beside full ones: those of the first layer stay there, all others count as layers after. */
static rung_status evaluate_h(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                              rung_error *err)
{
    if (p->too_many || p->sparse || p->levels_state || p->full < 3)
        return bound_missing(answer, "the theorem is about at least three layers with full heads");
    if (p->state[0] || p->state[1])
        return bound_missing(answer,
                             "a recurrent layer before the second full one can pass the pointer on: nothing is proved");
    if (!p->headwise) return bound_missing(answer, "no recurrent heads stand beside the full ones: see D-pure and E");
    deep d = {.task = compose_of(q), .L = p->full, .pure = true, .c = p->message};
    if (d.task.L < d.L) return bound_missing(answer, "the theorem is about at least as many functions as full layers");
    if (d.L <= DEEP_MAX) deep_take_heads(&d, p);
    rung_status status = deep_evaluate(answer, &d, q, err);
    if (answer->applies)
        snprintf(answer->premise, sizeof answer->premise,
                 "%zu layers with full heads, recurrent heads beside them, recurrent layers after the second only, %zu "
                 "functions, summed from left to right, w last",
                 p->full, d.L);
    return status;
}

const rung_bound rung_bound_headwise_deep = {
    .id = "H",
    .summary = "L layers of full heads with recurrent ones beside cannot compose L functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by dataflow on small models",
    .section = "theorem-h",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_h,
};

const rung_bound rung_bound_compose_deep = {
    .id = "D",
    .levels_are_states = true,
    .summary = "L-1 full layers among recurrent ones cannot compose L functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Ye et al. 2026",
    .checked = "proof on paper only",
    .section = "theorem-d",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_d,
};

const rung_bound rung_bound_compose_deep_full = {
    .id = "D-pure",
    .levels_are_states = true,
    .summary = "L full layers cannot compose L functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Chen, Peng, Wu 2024",
    .checked = "proof on paper only",
    .section = "theorem-d",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_pure,
};

const rung_bound rung_bound_compose_deep_between = {
    .id = "E",
    .levels_are_states = true,
    .summary = "L full layers, recurrent ones after the second only, cannot compose L functions",
    .task = "seqcomp",
    .source = "ours; in the limit: Ye et al. 2026, Theorem B.2 for a_1 = 0",
    .checked = "proof checked by dataflow on small models",
    .section = "theorem-d",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_e,
};
