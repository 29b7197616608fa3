/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The two rows about cuts. Let P be a set of pairwise distinguishable prefixes of one length (cut.h).
 *
 *   Recurrent layers only, with state bits s and any chain of thought:             s < log2 |P| is impossible.
 *   One layer, full (accumulator of c bits), or full beside recurrent (s bits):    c + s < log2 |P| is impossible,
 *   if all continuations that distinguish P have the same last token, where the answer is asked.
 *
 * Proofs: docs/theory.md, Cut and Cut one.
 */
#include "cut.h"
#include "least.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct cut {
    cut_point point;
    uint64_t fixed, level; /* bits that cross the cut: fixed + level * ones */
    unsigned ones;
} cut;

static bound_sides sides(rung_certified *s, const void *context)
{
    const cut *c = context;
    rung_ival levels = rung_ival_mul(s, rung_ival_u64(s, c->level), rung_ival_u64(s, c->ones));
    return (bound_sides){cut_log2(s, &c->point.count), rung_ival_add(s, rung_ival_u64(s, c->fixed), levels)};
}

static unsigned bit_length(uint64_t x)
{
    return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

typedef struct cut_job {
    const cut_task *task;
    const bound_question *q;
    const rung_pattern *p;
    bool last;
} cut_job;

static const char *cut_at(cut *c, const cut_job *job, uint64_t tokens)
{
    cut_question ask = {job->q->task, tokens, job->last};
    *c = (cut){.fixed = job->p->all_state + (job->last ? job->p->message : 0), .level = job->p->levels_state};
    const char *why = job->task->at(&c->point, &ask);
    bool exactly = !tokens || !c->point.odd_lengths;
    c->ones = exactly ? (unsigned)__builtin_popcountll(c->point.prefix) : bit_length(c->point.prefix);
    return why;
}

/* The largest number of tokens, at most `tokens`, whose prefix has at most `limit`. Prefixes never get shorter in
 * longer prompts. 0: none. */
static uint64_t tokens_with_prefix(const cut_job *job, uint64_t tokens, uint64_t limit)
{
    uint64_t low = 0, high = tokens + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        cut c;
        if (cut_at(&c, job, middle) || c.point.prefix <= limit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The next shorter prefix that may be better because fewer levels are in use. For popcounts it drops the lowest
 * one-bit, for bit lengths it is one bit shorter. Every length in between has as many levels and fewer prefixes. */
static uint64_t next_limit(const cut_point *p)
{
    if (!p->odd_lengths) return p->prefix & (p->prefix - 1);
    unsigned length = bit_length(p->prefix);
    return length > 1 ? (UINT64_C(1) << (length - 1)) - 1 : 0;
}

static rung_status decide(rung_bound_answer *answer, cut *best, const cut_job *job, uint64_t tokens, rung_error *err)
{
    const char *why = cut_at(best, job, tokens);
    if (why) return bound_missing(answer, "%s", why);
    rung_status status = bound_decide(answer, sides, best, err);
    cut c = *best;
    while (status == RUNG_OK && tokens && c.level && !answer->holds) {
        uint64_t limit = next_limit(&c.point), shorter = limit ? tokens_with_prefix(job, tokens, limit) : 0;
        rung_bound_answer other = *answer;
        if (!shorter || cut_at(&c, job, shorter) || c.point.prefix > limit) break;
        status = bound_decide(&other, sides, &c, err);
        if (other.lhs * answer->rhs > answer->lhs * other.rhs) *answer = other, *best = c;
    }
    return status;
}

static rung_status holds_at(bool *holds, uint64_t tokens, const void *context, rung_error *err)
{
    rung_bound_answer answer = {0};
    cut c;
    rung_status status = decide(&answer, &c, context, tokens, err);
    *holds = answer.holds;
    return status;
}

/* The longest prompt that is searched. Longer ones are never easier. */
#define TOKENS_LIMIT (UINT64_C(1) << 40)

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

static const cut_task *task_of(const bound_question *q)
{
    const cut_task *t = cut_tasks;
    while (t->name && strcmp(t->name, q->task->task->name) != 0) t++;
    return t->name ? t : NULL;
}

/* Independent values have log2 V bits each. Others have the bits of all together, shared out evenly: the entropies of
 * single entries, given the state, sum to at least that of all of them. */
static void set_ceiling(rung_bound_answer *answer, const cut_point *p)
{
    double entries = (double)p->entries, values = (double)p->values;
    if (p->together)
        bound_ceiling_of(answer, answer->rhs, entries, values, answer->lhs / entries);
    else
        bound_ceiling(answer, answer->rhs, entries, values);
}

static void describe(rung_bound_answer *answer, const cut_job *job, const cut *c)
{
    char count[96];
    cut_print(count, sizeof count, &c->point.count);
    bool vectors = job->q->task->d_out > 0, sizes = job->q->n != 0;
    snprintf(answer->premise, sizeof answer->premise, "%s; all prompts count, whatever dist draws%s%s",
             job->last ? "one layer, summed from left to right" : "every layer carries a state; any chain of thought",
             sizes ? "; lengths up to n, alphabets as given" : "",
             vectors ? "; an answer must be nearer than 1/q" : "");
    snprintf(answer->statement, sizeof answer->statement,
             "log2 of %s = %.1f > %.0f bits that cross the cut after %llu tokens", count, answer->lhs, answer->rhs,
             (unsigned long long)c->point.prefix);
    answer->trivial =
        bound_does_not_fit(job->q->task->answers > 0 && answer->rhs < log2((double)job->q->task->answers));
    set_ceiling(answer, &c->point);
}

static rung_status evaluate(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p, bool last,
                            rung_error *err)
{
    cut_job job = {task_of(q), q, p, last};
    cut c;
    if (!job.task) return bound_missing(answer, "no count for this task");
    rung_status status = decide(answer, &c, &job, q->n, err);
    if (status != RUNG_OK || !answer->applies) return status;
    describe(answer, &job, &c);
    answer->point = (rung_bound_point){.known = true,
                                       .free = q->n != 0,
                                       .prefix = c.point.prefix,
                                       .a = c.point.count.a,
                                       .b = c.point.count.b,
                                       .count = (int)c.point.count.kind};
    if (!q->thresholds) return RUNG_OK;
    uint64_t tokens;
    status = bound_least(&tokens, TOKENS_LIMIT, holds_at, &job, err);
    answer->n_threshold = (double)tokens, answer->exact = tokens > 0;
    return status;
}

static rung_status evaluate_recurrent(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                      rung_error *err)
{
    if (p->full || p->sparse)
        return bound_missing(answer, "a layer keeps all tokens; the statement is about recurrent layers only");
    return evaluate(answer, q, p, false, err);
}

static rung_status evaluate_one(rung_bound_answer *answer, const bound_question *q, const rung_pattern *p,
                                rung_error *err)
{
    bool beside = p->recurrent == 1 && p->headwise;
    if (p->full != 1 || p->sparse || p->too_many || (p->recurrent && !beside))
        return bound_missing(answer, "the theorem is about one layer that mixes tokens, full or full beside recurrent");
    return evaluate(answer, q, p, true, err);
}

const rung_bound rung_bound_cut_recurrent = {
    .id = "cut",
    .summary = "recurrent layers distinguish no more prefixes than their states have values, with any chain of thought",
    .task = CUT_TASKS,
    .source = "the method of Bhattamishra et al. 2024 and Wen, Dang, Lyu 2025; counts and constants: ours",
    .checked = "counts checked by all prompts at small sizes",
    .section = "cut",
    .needs = NEEDS_STATES,
    .evaluate = evaluate_recurrent,
};

const rung_bound rung_bound_cut_one = {
    .id = "cut-one",
    .summary = "one full layer distinguishes no more prefixes at its last token than its accumulator has values",
    .task = CUT_TASKS,
    .source = "the method of Bhattamishra et al. 2024; counts and constants: ours",
    .checked = "counts checked by all prompts at small sizes",
    .section = "cut-one",
    .needs = NEEDS_SCANS,
    .evaluate = evaluate_one,
};
