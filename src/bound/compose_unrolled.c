/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Thoughts with two layers of full heads or more. T thoughts after w compute what T more copies of the full layers
 * compute at w, in which only w asks (docs/theory.md, Thoughts, the unrolling lemma): all tokens keep their history, so
 * that a copy can read what entered each layer, and w plays the thoughts one after the other. So theorems D, D-pure, E
 * and H about F (T+1) full layers hold for F full layers with T thoughts. One full layer has a row of its own, K1.
 */
#include "compose_deep.h"

#include <stdio.h>

/* Layers without thoughts that can do as much; false if they are too many. */
static bool unroll(rung_pattern *out, const rung_pattern *p, uint64_t thoughts)
{
    if (thoughts >= RUNG_PATTERN_FULL_MAX || p->full * (thoughts + 1) > DEEP_MAX) return false;
    *out = *p;
    out->full = p->full * (size_t)(thoughts + 1);
    return true;
}

static bool nothing_before_the_second(const rung_pattern *p)
{
    return p->state[0] == 0 && p->state[1] == 0;
}

static rung_status with_more_functions(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                       size_t asks, rung_error *err)
{
    rung_pattern apart = bound_heads_after(p);
    deep d = {.task = compose_of(q), .L = p->full + 1, .c = p->message, .asks = asks};
    if (d.L > DEEP_MAX) return bound_missing(answer, "the theorem is about at most %d functions", DEEP_MAX);
    for (size_t i = 0; i <= p->full; i++) d.r[i] = apart.state[i];
    return deep_evaluate(answer, &d, q, err);
}

static rung_status with_as_many(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, size_t asks,
                                rung_error *err)
{
    deep d = {.task = compose_of(q), .L = p->full, .pure = true, .c = p->message, .asks = asks};
    deep_take_heads(&d, p);
    return deep_evaluate(answer, &d, q, err);
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    rung_pattern all;
    uint64_t L = compose_of(q).L;
    if (q->thoughts == 0) return bound_missing(answer, "the theorem is about at least one thought before the answer");
    if (p->full < 2 || p->too_many || p->sparse || p->levels_state)
        return bound_missing(answer, "the theorem is about at least two layers with full heads; see K1 for one");
    if (!unroll(&all, p, q->thoughts))
        return bound_missing(answer, "the theorem is about at most %d passes through full layers", DEEP_MAX);
    if (L < all.full) return bound_missing(answer, "so many full layers and thoughts can compose so few functions");
    bool as_many = nothing_before_the_second(p);
    if (L == all.full && !as_many)
        return bound_missing(answer,
                             "a recurrent layer before the second full one can pass the pointer on: nothing is proved");
    rung_status status =
        as_many ? with_as_many(answer, q, &all, p->full, err) : with_more_functions(answer, q, &all, p->full, err);
    if (answer->applies)
        snprintf(
            answer->premise, sizeof answer->premise,
            "%zu layers with full heads, %llu thought%s of any content: %zu passes, %zu functions, summed from left "
            "to right, w last",
            p->full, (unsigned long long)q->thoughts, q->thoughts > 1 ? "s" : "", all.full,
            all.full + (as_many ? 0 : 1));
    return status;
}

const rung_bound rung_bound_compose_unrolled = {
    .id = "K",
    .summary = "F layers with full heads and T thoughts cannot compose F (T+1) + 1 functions",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof on paper only",
    .section = "thoughts",
    .needs = NEEDS_THOUGHTS,
    .evaluate = evaluate,
};
