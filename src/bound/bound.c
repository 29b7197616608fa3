/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The registry, the premises that all rows share, and certified inequalities.
 */
#include "bound_rows.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- inequalities ------------------------------------------------------------------------------------------------ */

rung_status bound_missing(rung_bound_answer *answer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(answer->premise, sizeof answer->premise, format, args);
    va_end(args);
    answer->applies = false;
    return RUNG_OK;
}

/* Bits that remain unknown of a value that is guessed with error rate e. They rise with e up to 1 - 1/V, where nothing
 * is known. */
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
    answer->ceiling = low > 1e-9 ? 1 - low + 1e-12 : 0; /* the error of the logarithms is smaller */
}

void bound_ceiling(rung_bound_answer *answer, double bits, double entries, double V)
{
    bound_ceiling_of(answer, bits, entries, V, log2(V));
}

/* Precisions in bits that are tried. An equality is never decided, and so does not hold. */
static const size_t precisions[] = {128, 384, 1024};

typedef struct decision {
    rung_certainty more; /* lhs > rhs */
    double lhs, rhs;     /* on the safe side: lhs rounded down, rhs rounded up */
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
    RUNG_TRY(decide(&d, side, context, err));
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

/* ---- a question -------------------------------------------------------------------------------------------------- */

static bool speaks_of(const rung_bound *bound, const char *task)
{
    size_t len = strlen(task);
    for (const char *at = bound->task; (at = strstr(at, task)); at += len)
        if ((at == bound->task || at[-1] == ' ') && (at[len] == ' ' || !at[len])) return true;
    return false;
}

bool rung_bound_covers(const rung_bound *bound, rung_kernel kernel)
{
    if (!(bound->needs & RUNG_NEEDS(RUNG_PREMISE_ORDER))) return true;
    return kernel == RUNG_KERNEL_ONLINE || (bound->kernels & RUNG_COVERS(kernel));
}

/* Refuses a row unless all its premises are established, and names the first that is not. */
static bool premises_hold(rung_bound_answer *answer, const rung_bound *bound, const rung_claim *claim,
                          const rung_pattern *layers)
{
    /* A layer that selects single tokens is a scan whatever softmax does with them. The bits of the fast evaluator are
     * not those of the claim. */
    bool any_order =
        layers->full && layers->top == layers->full && rung_claim_arithmetic(claim)->kernel != RUNG_KERNEL_FAST;
    for (int p = 0; p < RUNG_PREMISES; p++) {
        rung_known known = rung_claim_premise(claim, (rung_premise)p);
        if (!(bound->needs & RUNG_NEEDS(p)) || known.is == RUNG_ESTABLISHED) continue;
        bool another = p == RUNG_PREMISE_ORDER && known.is == RUNG_VIOLATED; /* another order, which is known */
        if (another && any_order) continue;
        if (another && rung_bound_covers(bound, rung_claim_arithmetic(claim)->kernel)) continue;
        answer->missing = p;
        bound_missing(answer, "needs that %s: %s", rung_premise_text((rung_premise)p),
                      known.why                   ? known.why
                      : known.is == RUNG_VIOLATED ? "it is not so"
                                                  : "it is not established");
        return false;
    }
    return true;
}

/* Asks a row, with log-linear layers as states where its proof allows it. */
/* Rows that cover tiles leave tile - 1 entries of a table constant; the sides are those of the others. */
static void say_what_tiles_cost(rung_bound_answer *answer, const rung_arithmetic *arithmetic)
{
    size_t used = strlen(answer->statement);
    if (answer->applies && arithmetic->kernel == RUNG_KERNEL_TILES &&
        (answer->bound->kernels & RUNG_COVERS(RUNG_KERNEL_TILES)))
        snprintf(answer->statement + used, sizeof answer->statement - used,
                 "; without %d entries, which may share a tile with what follows", (int)arithmetic->tile - 1);
}

static rung_status evaluate_row(rung_bound_answer *answer, const rung_bound *bound, const bound_question *q,
                                const rung_pattern *p, rung_error *err)
{
    bound_question asked = *q;
    rung_pattern all = *p;
    asked.levels = bound->levels_are_states && p->levels_state && !p->headwise;
    if (asked.levels) all = bound_levels_as_states(p, q->n ? q->n : q->task->tokens);
    if (all.overflow) return bound_missing(answer, "the layers hold more than 2^62 bits; the numbers do not fit");
    RUNG_TRY(bound->evaluate(answer, &asked, &all, err));
    say_what_tiles_cost(answer, q->arithmetic);
    return RUNG_OK;
}

static rung_status answer_one(rung_bound_answer *answer, const rung_bound *bound, const rung_claim *claim,
                              const bound_question *q, const rung_pattern *p, rung_error *err)
{
    *answer = (rung_bound_answer){.bound = bound, .verdict = RUNG_UNKNOWN, .applies = true, .missing = -1};
    if (!premises_hold(answer, bound, claim, p)) return RUNG_OK;
    rung_status status = evaluate_row(answer, bound, q, p, err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "bound %s", bound->id);
    assert(!answer->applies || (answer->statement[0] && answer->premise[0]));
    assert(!answer->applies || !answer->holds || !(answer->lhs < answer->rhs));
    assert(answer->ceiling >= 0 && answer->ceiling <= 1);
    if (answer->applies && answer->holds) answer->verdict = RUNG_CANNOT;
    if (answer->margin == 0 && answer->rhs > 0) answer->margin = answer->lhs / answer->rhs;
    return RUNG_OK;
}

static rung_status ask_rows(rung_bound_report *report, const rung_claim *claim, const bound_question *q,
                            rung_error *err)
{
    *report = (rung_bound_report){.pattern = rung_pattern_of(q->ledger, q->arithmetic), .verdict = RUNG_UNKNOWN};
    rung_status status = RUNG_OK;
    bool proper = false;
    for (size_t i = 0; status == RUNG_OK && i < RUNG_COUNT(rows); i++) {
        if (!speaks_of(rows[i], q->task->task->name)) continue;
        rung_bound_answer *answer = &report->answer[report->count++];
        status = answer_one(answer, rows[i], claim, q, &report->pattern, err);
        if (answer->verdict != RUNG_CANNOT) continue;
        report->verdict = RUNG_CANNOT;
        report->trivial = answer->trivial;
        proper = proper || !answer->trivial;
    }
    if (proper) report->trivial = NULL;
    return status;
}

/* ---- thresholds -------------------------------------------------------------------------------------------------- */

/* Longer than any prompt length that is searched one by one. Rows about composition find their sizes first and compare
 * afterwards. */
#define FAR_TOKENS (UINT64_C(1) << 40)

/* A row that chooses the sizes of the task also says how long a prompt it would need. A shorter prompt is not
 * refuted. */
static void take_answer(rung_bound_answer *to, const rung_bound_answer *far, size_t tokens)
{
    if (!(far->n_threshold > (double)tokens)) return;
    *to = *far;
    to->holds = false, to->verdict = RUNG_UNKNOWN;
    to->margin = (double)tokens / far->n_threshold;
}

/* Both reports have the same rows in the same order: those that cover the task. A row may cover free sizes only. */
static void take_thresholds(rung_bound_report *report, const rung_bound_report *far, size_t tokens)
{
    assert(report->count == far->count);
    for (size_t i = 0; i < report->count; i++) {
        rung_bound_answer *to = &report->answer[i];
        const rung_bound_answer *from = &far->answer[i];
        assert(to->bound == from->bound);
        if (!from->applies || to->n_threshold > 0 || to->log2_n > 0) continue;
        if (!to->applies) take_answer(to, from, tokens);
        to->n_threshold = from->n_threshold, to->log2_n = from->log2_n, to->exact = from->exact;
    }
}

rung_status rung_bound_answers(rung_bound_report *report, const rung_claim *claim, bool thresholds, rung_error *err)
{
    bound_question q = {.ledger = rung_claim_ledger(claim),
                        .task = rung_claim_task(claim),
                        .n = rung_claim_n(claim),
                        .arithmetic = rung_claim_arithmetic(claim),
                        .thresholds = thresholds,
                        .thoughts = rung_claim_thoughts(claim)};
    rung_status status = ask_rows(report, claim, &q, err);
    if (status != RUNG_OK || q.n || !thresholds) return status;
    q.n = FAR_TOKENS;
    rung_bound_report *far = rung_calloc(1, sizeof *far, err);
    if (!far) return RUNG_SYSTEM;
    status = ask_rows(far, claim, &q, err);
    if (status == RUNG_OK) take_thresholds(report, far, q.task->tokens);
    free(far);
    return status;
}
