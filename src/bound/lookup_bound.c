/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Looking up a table with recurrent layers only. Theorem A: R layers of s bits in all solve eva with N entries of V
 * values only if
 *
 *     s >= N log2 V,
 *
 * with any chain of thought. For log-linear attention the state after N tokens is one matrix per one-bit of N. Proof:
 * docs/theory.md, Theorem A.
 *
 * The verdict is about all tables, whatever `dist` draws. The ceiling is about the tables that are drawn: with
 * dist=zipf an entry has H < log2 V bits, and a state that is too small for some table may be right more often than on
 * uniform ones.
 */
#include "bound_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct lookup {
    uint64_t entries, values, state, levels;
    unsigned ones; /* one-bits of the prefix length */
} lookup;

static unsigned ones_of(uint64_t n)
{
    return (unsigned)__builtin_popcountll(n);
}

static bound_sides sides(rung_certified *s, const void *context)
{
    const lookup *l = context;
    rung_ival needs = rung_ival_mul(s, rung_ival_u64(s, l->entries), rung_ival_log2(s, rung_ival_u64(s, l->values)));
    rung_ival levels = rung_ival_mul(s, rung_ival_u64(s, l->levels), rung_ival_u64(s, l->ones));
    return (bound_sides){needs, rung_ival_add(s, rung_ival_u64(s, l->state), levels)};
}

static lookup of_entries(uint64_t entries, uint64_t values, const rung_pattern *p)
{
    return (lookup){entries, values, p->all_state, p->levels_state, ones_of(entries)};
}

/* Alphabets of tables of any length: values, or 0 for as many as entries; and the largest number of entries, if keys
 * come from an alphabet. What the user fixed stays. */
typedef struct alphabets {
    uint64_t values, most;
} alphabets;

static alphabets alphabets_of(const bound_question *q)
{
    bool eva = strcmp(q->task->task->name, "eva") == 0;
    uint64_t keys = eva && rung_task_param(q->task, "form") == 1 ? bound_fixed(q, "K") : 0;
    return (alphabets){eva ? bound_fixed(q, "V") : (uint64_t)rung_task_param(q->task, "V"),
                       keys ? keys : UINT64_C(1) << 61};
}

static lookup of_length(uint64_t entries, const alphabets *a, const rung_pattern *p)
{
    return of_entries(entries, a->values ? a->values : entries, p);
}

/* The smallest N with N log2 V > state bits. Without levels the left side rises, so bisection finds the true minimum;
 * with levels every N below the first hit is tried. */
static rung_status threshold(uint64_t *entries, bool *exact, const rung_pattern *p, const alphabets *a, rung_error *err)
{
    uint64_t high = 2, low;
    bool surely = false;
    rung_status status = RUNG_OK;
    *exact = true;
    for (; status == RUNG_OK && !surely && high < UINT64_C(1) << 61; high *= 2) {
        lookup l = of_length(high, a, p);
        status = bound_surely(&surely, sides, &l, err);
    }
    if (!surely) return *entries = 0, status;
    high /= 2, low = p->levels_state ? 1 : high / 2;
    if (p->levels_state && high > 1 << 16) *exact = false, low = high / 2;
    while (status == RUNG_OK && p->levels_state && low < high) { /* popcounts jump, so they are tried one by one */
        lookup l = of_length(low, a, p);
        status = bound_surely(&surely, sides, &l, err);
        if (surely || (!*exact && low > high / 2 + (1 << 16))) break;
        low++;
    }
    if (p->levels_state) return *entries = surely ? low : high, status;
    while (status == RUNG_OK && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        lookup l = of_length(middle, a, p);
        status = bound_surely(&surely, sides, &l, err);
        if (surely)
            high = middle;
        else
            low = middle;
    }
    *entries = high;
    return status;
}

/* The entries to decide about: the task's own, or with --n as many as fit before the query and have keys. For
 * log-linear attention the best number of entries below that is a power of two. */
static lookup asked(const bound_question *q, const rung_pattern *p)
{
    alphabets a = alphabets_of(q);
    if (!q->n) return of_entries((uint64_t)rung_task_param(q->task, "N"), (uint64_t)rung_task_param(q->task, "V"), p);
    uint64_t most = q->n - 1 < a.most ? q->n - 1 : a.most, best = most;
    double best_ratio = 0;
    for (uint64_t entries = most, tried = 0; p->levels_state && entries > 0 && tried < 128; tried++) {
        double bits = (double)entries * log2((double)(a.values ? a.values : entries));
        double held = (double)p->all_state + (double)p->levels_state * ones_of(entries);
        if (bits / held > best_ratio) best_ratio = bits / held, best = entries;
        entries &= entries - 1; /* drop the lowest one-bit: the next count with fewer of them */
    }
    return of_length(best, &a, p);
}

/* For more values the sum takes too long, and no ceiling is stated. */
#define ZIPF_VALUES_MAX (UINT64_C(1) << 20)

/* The entropy of v in [0, V) with weights 1/(v+1), from below: log2 S + T/S with S = sum 1/k and T = sum log2(k)/k.
 * Terms are positive, and each sum has a relative error below (V + 4) 2^-53. What is subtracted is more than twice the
 * effect of both. */
static double zipf_entropy_below(uint64_t values)
{
    double weights = 0, logs = 0;
    for (uint64_t k = values; k > 0; k--) weights += 1 / (double)k, logs += log2((double)k) / (double)k;
    double entropy = log2(weights) + logs / weights;
    return entropy - 4 * ((double)values + 16) * 0x1p-53 * (1 + entropy);
}

static void set_ceiling(rung_bound_answer *answer, const bound_question *q, const lookup *l)
{
    double bits = answer->rhs, entries = (double)l->entries, V = (double)l->values;
    if (rung_task_param(q->task, "dist") == 0)
        bound_ceiling(answer, bits, entries, V);
    else if (l->values <= ZIPF_VALUES_MAX)
        bound_ceiling_of(answer, bits, entries, V, zipf_entropy_below(l->values));
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, rung_error *err)
{
    if (p->full || p->sparse)
        return bound_missing(answer, "a layer keeps all tokens; the statement is about recurrent layers only");
    if (q->n == 1) return bound_missing(answer, "one token is too short for a table and a query");
    lookup l = asked(q, p);
    RUNG_TRY(bound_decide(answer, sides, &l, err));
    snprintf(answer->premise, sizeof answer->premise,
             "every layer carries a state; the query comes after the table; any chain of thought");
    snprintf(answer->statement, sizeof answer->statement, "N log2 V = %llu x %.4f = %.1f > %.0f bits of state",
             (unsigned long long)l.entries, log2((double)l.values), answer->lhs, answer->rhs);
    set_ceiling(answer, q, &l);
    answer->point = (rung_bound_point){.known = true, .free = q->n != 0, .n = l.entries, .V = l.values};
    if (!q->thresholds) return RUNG_OK;
    uint64_t entries;
    alphabets a = alphabets_of(q);
    rung_status status = threshold(&entries, &answer->exact, p, &a, err);
    answer->n_threshold = entries && entries <= a.most ? (double)entries + 1 : 0;
    return status;
}

const rung_bound rung_bound_lookup_recurrent = {
    .id = "A",
    .summary = "recurrent layers look up N values only with N log2 V bits of state, with any chain of thought",
    .task = "eva index",
    .source = "Bhattamishra et al. 2024, Wen, Dang, Lyu 2025; with constants: ours",
    .checked = "proof checked by search at small sizes",
    .section = "theorem-a",
    .needs = NEEDS_STATES,
    .evaluate = evaluate,
};
