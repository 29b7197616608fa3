/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The registry, the premises that all rows share, and inequalities decided with certainty.
 */
#include "rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const rung_bound *const rows[] = {
#define X(name) &rung_bound_##name,
    RUNG_BOUNDS(X)
#undef X
};

_Static_assert(RUNG_COUNT(rows) <= RUNG_BOUND_MAX, "a report has room for every row");

size_t rung_bound_count(void)
{
    return RUNG_COUNT(rows);
}

const rung_bound *rung_bound_at(size_t index)
{
    return rows[index];
}

const rung_bound *rung_bound_get(const char *id)
{
    for (size_t i = 0; i < RUNG_COUNT(rows); i++)
        if (strcmp(rows[i]->id, id) == 0) return rows[i];
    return NULL;
}

/* ---- inequalities ---------------------------------------------------------------------------------------------------- */

rung_status bound_missing(rung_bound_answer *answer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(answer->premise, sizeof answer->premise, format, args);
    va_end(args);
    answer->applies = false;
    return RUNG_OK;
}

/* What is not known of a value that is guessed with error rate e: it rises with e up to 1 - 1/V, where nothing is known. */
static double unknown_bits(double e, double V)
{
    double entropy = e > 0 ? -e * log2(e) - (1 - e) * log2(1 - e) : 0;
    return entropy + e * log2(V - 1);
}

void bound_ceiling_of(rung_bound_answer *answer, double bits, double entries, double V, double entropy)
{
    if (!(entries > 0) || !(V >= 2)) return;
    double missing = entropy - bits / entries, low = 0, high = 1 - 1 / V;
    for (int i = 0; i < 60; i++) {
        double e = (low + high) / 2;
        if (unknown_bits(e, V) < missing)
            low = e;
        else
            high = e;
    }
    answer->ceiling = low > 1e-9 ? 1 - low + 1e-12 : 0; /* logarithms err by less */
}

void bound_ceiling(rung_bound_answer *answer, double bits, double entries, double V)
{
    bound_ceiling_of(answer, bits, entries, V, log2(V));
}

/* Precisions that are tried; an equality is never decided, and then does not hold. */
static const size_t precisions[] = {128, 384, 1024};

typedef struct decision {
    rung_certainty more; /* lhs > rhs */
    double lhs, rhs;     /* what is certainly on the safe side: lhs rounded down, rhs up */
} decision;

static rung_status decide(decision *d, bound_side *side, const void *context, rung_error *err)
{
    rung_status status = RUNG_OK;
    d->more = RUNG_UNSURE;
    for (size_t i = 0; status == RUNG_OK && d->more == RUNG_UNSURE && i < RUNG_COUNT(precisions); i++) {
        rung_certified *sheet;
        status = rung_certified_new(&sheet, precisions[i], err);
        if (status != RUNG_OK) break;
        bound_sides sides = side(sheet, context);
        d->more = rung_ival_less(sheet, sides.rhs, sides.lhs);
        d->lhs = rung_ival_low(sheet, sides.lhs), d->rhs = rung_ival_high(sheet, sides.rhs);
        if (rung_certified_failed(sheet)) status = rung_fail(err, RUNG_SYSTEM, "out of memory for certified numbers");
        rung_certified_free(sheet);
    }
    return status;
}

rung_status bound_decide(rung_bound_answer *answer, bound_side *side, const void *context, rung_error *err)
{
    decision d;
    rung_status status = decide(&d, side, context, err);
    if (status != RUNG_OK) return status;
    answer->lhs = d.lhs, answer->rhs = d.rhs;
    answer->holds = d.more == RUNG_SURELY;
    return RUNG_OK;
}

rung_status bound_surely(bool *surely, bound_side *side, const void *context, rung_error *err)
{
    decision d;
    rung_status status = decide(&d, side, context, err);
    *surely = status == RUNG_OK && d.more == RUNG_SURELY;
    return status;
}

/* ---- a question ------------------------------------------------------------------------------------------------------ */

static bool speaks_of(const rung_bound *bound, const char *task)
{
    size_t len = strlen(task);
    for (const char *at = bound->task; (at = strstr(at, task)); at += len)
        if ((at == bound->task || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

/* Premises that do not depend on the row; false when one is missing. */
static bool common_premises(rung_bound_answer *answer, const rung_bound *bound, const rung_question *q,
                            const rung_pattern *p)
{
    if (q->ledger->known[RUNG_LEDGER_CAUSAL].is != RUNG_ESTABLISHED)
        bound_missing(answer, "without a causal mask every token sees the query; the bounds are about decoders");
    else if (p->overflow)
        bound_missing(answer, "the layers hold more bits than 2^62; the numbers do not fit");
    else if (bound->needs_order && p->full && q->softmax == RUNG_SOFTMAX_REVERSE)
        bound_missing(answer, "a softmax from right to left can do what this theorem forbids");
    else if (bound->needs_order && p->full && q->softmax == RUNG_SOFTMAX_TWO_PASS)
        bound_missing(answer,
                      "the proof needs a sum from left to right; with a maximum known beforehand it is open, or false");
    else if (bound->needs_order && p->full && q->ledger->thinks)
        bound_missing(answer,
                      "the model says thoughts after the last token of the task; each is a new receiver that the "
                      "proof does not count");
    else if (bound->needs_order && p->full && q->tokens_after)
        bound_missing(answer,
                      "tokens follow the last one of the task; each is a new receiver that the proof does not count");
    else
        return true;
    return false;
}

static rung_status answer_one(rung_bound_answer *answer, const rung_bound *bound, const rung_question *q,
                              const rung_pattern *p, rung_error *err)
{
    *answer = (rung_bound_answer){.bound = bound, .verdict = RUNG_UNKNOWN, .applies = true};
    if (!common_premises(answer, bound, q, p)) return RUNG_OK;
    rung_status status = bound->evaluate(answer, q, p, err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "bound %s", bound->id);
    if (answer->applies && answer->holds) answer->verdict = RUNG_CANNOT;
    if (answer->margin == 0 && answer->rhs > 0) answer->margin = answer->lhs / answer->rhs;
    return RUNG_OK;
}

rung_status rung_bound_run(rung_bound_report *report, const rung_question *q, rung_error *err)
{
    *report = (rung_bound_report){.pattern = rung_pattern_of(q), .verdict = RUNG_UNKNOWN};
    rung_status status = RUNG_OK;
    bool proper = false;
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(rows); i++) {
        if (!speaks_of(rows[i], q->task->task->name)) continue;
        rung_bound_answer *answer = &report->answer[report->count++];
        status = answer_one(answer, rows[i], q, &report->pattern, err);
        if (answer->verdict != RUNG_CANNOT) continue;
        report->verdict = RUNG_CANNOT;
        proper = proper || !answer->trivial;
    }
    report->trivial = report->verdict == RUNG_CANNOT && !proper;
    return status;
}
