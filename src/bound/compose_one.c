/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition without a full layer (theorem A again: the first table must pass through the states), and one function with
 * one full layer between recurrent ones (theorem A').
 *
 * A'. Prompt: table z_1, z_0, w; layers R^a F R^b with state bits A before F and B after it, accumulator of c bits.
 * Fix the states at the cut table|z_0 of the first group (a class of tables of density 2^-A); the states at the cut z_0|w
 * are then a function of z_0: the largest class Z_0 of z_0 with equal ones has at least ceil(N_0 2^-A) elements. Within it
 * the query of w in F does not depend on z_0, so its accumulator over the table is one c-bit function of the table. The
 * answer is a function of z_0, of that accumulator, and of the B bits that cross z_0|w after F. Hence impossible if
 *
 *     ceil(N_0 2^-A) (log2 V - B) > A + c.
 */
#include "compose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- A for seqcomp ----------------------------------------------------------------------------------------------------- */

typedef struct passing {
    uint64_t entries, values, state;
} passing;

static bound_sides passing_sides(rung_certified *s, const void *context)
{
    const passing *p = context;
    rung_ival needs = rung_ival_mul(s, rung_ival_u64(s, p->entries), rung_ival_log2(s, rung_ival_u64(s, p->values)));
    return (bound_sides){needs, rung_ival_u64(s, p->state)};
}

/* With free sizes n_1 = ... = n_{L-2} = 1 and N_0 = 1 leave a first table of n_{L-1} entries before L-1 of one entry each:
 * as good as all of the prompt. */
static rung_status least_entries(uint64_t *entries, uint64_t state, rung_error *err)
{
    uint64_t low = 1, high = 2;
    bool surely = false;
    rung_status status = RUNG_OK;
    while (status == RUNG_OK && !surely && high < UINT64_C(1) << 61) {
        status = bound_surely(&surely, passing_sides, &(passing){high, high, state}, err);
        if (!surely) low = high, high *= 2;
    }
    while (status == RUNG_OK && surely && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool enough;
        status = bound_surely(&enough, passing_sides, &(passing){middle, middle, state}, err);
        if (enough)
            high = middle;
        else
            low = middle;
    }
    *entries = surely ? high : 0;
    return status;
}

static rung_status evaluate_none(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p,
                                 rung_error *err)
{
    compose_task t = compose_of(q);
    if (p->full || p->sparse || p->levels_state)
        return bound_missing(answer, "the statement is about recurrent layers of fixed state only");
    if (!t.last) return bound_missing(answer, "w comes first: the state may already know what will be asked");
    passing a = {(uint64_t)q->task->derived[t.L - 1], t.size.V, p->all_state};
    rung_status status = RUNG_OK;
    if (t.free) {
        status = least_entries(&a.entries, p->all_state, err);
        if (status != RUNG_OK || !a.entries) return status;
        a.values = a.entries;
    }
    status = bound_decide(answer, passing_sides, &a, err);
    if (status != RUNG_OK) return status;
    double tokens = (double)a.entries + (t.L == 1 ? 2 : (double)(t.L - 1) + 2);
    compose_finish(answer, q, &t, tokens, true);
    snprintf(answer->premise, sizeof answer->premise, "every layer carries a state; any chain of thought");
    snprintf(answer->statement, sizeof answer->statement, "N_%llu log2 V = %llu x %.4f = %.1f > %.0f bits of state",
             (unsigned long long)(t.L - 1), (unsigned long long)a.entries, log2((double)a.values), answer->lhs,
             answer->rhs);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_none = {
    .id = "A-compose",
    .summary = "recurrent layers compose only if the first table fits into their states",
    .task = "seqcomp",
    .source = "ours, from the lookup bound",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-a",
    .evaluate = evaluate_none,
};

/* ---- A' ------------------------------------------------------------------------------------------------------------------ */

typedef struct single {
    uint64_t N0, V, before, after, message;
} single;

static bound_sides single_sides(rung_certified *s, const void *context)
{
    const single *a = context;
    rung_ival power = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), rung_ival_u64(s, a->before)));
    rung_ival class = rung_ival_ceil(s, rung_ival_mul(s, rung_ival_u64(s, a->N0), power));
    rung_ival each = rung_ival_sub(s, rung_ival_log2(s, rung_ival_u64(s, a->V)), rung_ival_u64(s, a->after));
    return (bound_sides){rung_ival_mul(s, class, each),
                         rung_ival_add(s, rung_ival_u64(s, a->before), rung_ival_u64(s, a->message))};
}

/* The smallest N_0 = V. Both factors rise with it. */
static rung_status least_N0(single *a, rung_error *err)
{
    uint64_t low = 1, high = 2;
    bool surely = false;
    rung_status status = RUNG_OK;
    while (status == RUNG_OK && !surely && high < UINT64_C(1) << 61) {
        a->N0 = a->V = high;
        status = bound_surely(&surely, single_sides, a, err);
        if (!surely) low = high, high *= 2;
    }
    if (!surely) return a->N0 = 0, status;
    while (status == RUNG_OK && high - low > 1) {
        a->N0 = a->V = low + (high - low) / 2;
        status = bound_surely(&surely, single_sides, a, err);
        if (surely)
            high = a->N0;
        else
            low = a->N0;
    }
    a->N0 = a->V = high;
    return status;
}

static rung_status evaluate_single(rung_bound_answer *answer, const rung_question *q, const rung_pattern *p,
                                   rung_error *err)
{
    compose_task t = compose_of(q);
    if (t.L != 1) return bound_missing(answer, "about one function, L = 1");
    if (p->full != 1 || p->too_many || p->headwise || p->sparse || p->levels_state)
        return bound_missing(answer, "about one full layer with recurrent ones before and after it");
    single a = {t.size.N0, t.size.V, p->state[0], p->state[1], p->message};
    rung_status status = t.free ? least_N0(&a, err) : RUNG_OK;
    if (status != RUNG_OK) return status;
    if (!a.N0) return bound_missing(answer, "no size below 2^61 satisfies the inequality");
    status = bound_decide(answer, single_sides, &a, err);
    if (status != RUNG_OK) return status;
    compose_finish(answer, q, &t, compose_tokens_single(&t, (double)a.N0), true);
    answer->trivial = log2((double)a.V) > (double)a.message;
    snprintf(answer->premise, sizeof answer->premise, "R^%zu F R^%zu, summed from left to right", p->layers[0],
             p->layers[1]);
    snprintf(answer->statement, sizeof answer->statement,
             "ceil(N_0 2^-%llu) (log2 V - %llu) = %.1f > %.0f = %llu + c, with N_0 = %llu, V = %llu, c = %llu",
             (unsigned long long)a.before, (unsigned long long)a.after, answer->lhs, answer->rhs,
             (unsigned long long)a.before, (unsigned long long)a.N0, (unsigned long long)a.V,
             (unsigned long long)a.message);
    return RUNG_OK;
}

const rung_bound rung_bound_compose_single = {
    .id = "A'",
    .summary = "one full layer among recurrent ones cannot follow one function of unknown argument",
    .task = "seqcomp",
    .source = "ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-a-prime",
    .needs_order = true,
    .evaluate = evaluate_single,
};
