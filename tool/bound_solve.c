/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * --solve: the smallest n, or the largest p, head dimension or number of recurrent layers, for which CANNOT is proved.
 * Verdicts are monotone (a longer prompt contains the shorter ones; fewer bits can do no more), so that an edge is found by
 * doubling and bisection; both sides of it are asked again in the end.
 */
#include <math.h>
#include <stdlib.h>

#include "bound_ask.h"
#include "bound_ledger.h"
#include "output.h"

const char *const rung_solve_words[] = {"n", "p", "d", "layers", NULL};

/* How far is searched. */
#define TOKENS_FAR  (UINT64_C(1) << 61)
#define THRESHOLD_N (UINT64_C(1) << 40)
static const uint64_t largest[] = {TOKENS_FAR, 65536, 65536, RUNG_LAYERS_MAX};

typedef struct probe {
    const rung_bound_ask *ask;
    const rung_bound_input *input;
    rung_solve what;
    size_t run_first, run_count; /* the recurrent layers, for layers */
    rung_bound_report *report;   /* of the last question */
} probe;

/* ---- one value -------------------------------------------------------------------------------------------------------- */

static bool carries(const rung_held *held)
{
    return rung_layer_bits_of(held, 1, RUNG_MESSAGE_ONLINE).carried > 0;
}

/* Recurrent layers that all are the same and follow each other. */
static rung_status find_run(probe *p, rung_error *err)
{
    const rung_ledger *ledger = &p->input->ledger;
    size_t first = 0, count = 0;
    while (first < ledger->layer_count && !carries(&ledger->layer[first])) first++;
    if (first == ledger->layer_count)
        return rung_fail(err, RUNG_USAGE, "--solve layers: %s has no recurrent layer to repeat", p->input->text);
    while (first + count < ledger->layer_count && rung_layer_same(&ledger->layer[first + count], &ledger->layer[first]))
        count++;
    for (size_t i = first + count; i < ledger->layer_count; i++)
        if (carries(&ledger->layer[i]))
            return rung_fail(err, RUNG_USAGE,
                             "--solve layers: the recurrent layers of %s differ or stand in several places (%zu and "
                             "%zu); give one run of equal ones, such as full,4*linear",
                             p->input->text, first + 1, i + 1);
    p->run_first = first, p->run_count = count;
    return RUNG_OK;
}

/* The ledger with `count` layers in the run; borrows everything but `layer`. */
static rung_status repeat_run(rung_ledger *out, const probe *p, size_t count, rung_error *err)
{
    const rung_ledger *from = &p->input->ledger;
    size_t after = p->run_first + p->run_count, rest = from->layer_count - after;
    *out = *from;
    out->layer_count = p->run_first + count + rest;
    out->layer = rung_calloc(out->layer_count + 1, sizeof *out->layer, err);
    if (!out->layer) return RUNG_SYSTEM;
    for (size_t i = 0; i < p->run_first; i++) out->layer[i] = from->layer[i];
    for (size_t i = 0; i < count; i++) out->layer[p->run_first + i] = from->layer[p->run_first];
    for (size_t i = 0; i < rest; i++) out->layer[p->run_first + count + i] = from->layer[after + i];
    return RUNG_OK;
}

static rung_status at_value(bool *cannot, const probe *p, uint64_t value, rung_error *err)
{
    rung_question q = rung_bound_question(p->ask, p->input);
    rung_arch_defaults defaults = rung_bound_input_defaults(p->ask->words, (size_t)value);
    rung_ledger other;
    rung_status status = RUNG_OK;
    q.thresholds = false;
    if (p->what == RUNG_SOLVE_N) q.n = value;
    if (p->what == RUNG_SOLVE_P) q.bits = (int)value;
    if (p->what == RUNG_SOLVE_D) status = rung_ledger_of_arch(&other, p->input->text, &defaults, err);
    if (p->what == RUNG_SOLVE_LAYERS) status = repeat_run(&other, p, (size_t)value, err);
    if (status != RUNG_OK) return status;
    if (p->what == RUNG_SOLVE_D || p->what == RUNG_SOLVE_LAYERS) q.ledger = &other;
    status = rung_bound_run(p->report, &q, err);
    *cannot = p->report->verdict == RUNG_CANNOT;
    if (p->what == RUNG_SOLVE_D) rung_ledger_clear(&other);
    if (p->what == RUNG_SOLVE_LAYERS) free(other.layer);
    return status;
}

/* ---- edges -------------------------------------------------------------------------------------------------------------- */

/* Between `cannot`, where it is CANNOT, and `open`, where it is not; either may be the larger one. */
static rung_status bisect(uint64_t *cannot, uint64_t *open, const probe *p, rung_error *err)
{
    rung_status status = RUNG_OK;
    while (status == RUNG_OK && (*cannot > *open ? *cannot - *open : *open - *cannot) > 1) {
        uint64_t middle = *cannot / 2 + *open / 2 + (*cannot & *open & 1);
        bool holds;
        status = at_value(&holds, p, middle, err);
        if (holds)
            *cannot = middle;
        else
            *open = middle;
    }
    return status;
}

/* Asks on both sides of the edge again and keeps the row that decides. */
static rung_status confirm(rung_solved *s, const probe *p, uint64_t cannot, uint64_t open, rung_error *err)
{
    bool here, beyond = false;
    rung_status status = s->limit ? RUNG_OK : at_value(&beyond, p, open, err);
    if (status == RUNG_OK) status = at_value(&here, p, cannot, err);
    if (status != RUNG_OK) return status;
    s->found = here, s->value = (double)cannot;
    s->checked = here && !beyond && !s->limit;
    if (here) s->at = *rung_bound_decisive(p->report);
    return RUNG_OK;
}

static void say_why(rung_solved *s, const probe *p, const char *where)
{
    const rung_bound_answer *near = rung_bound_decisive(p->report);
    snprintf(s->reason, sizeof s->reason, "%s: %.120s", where,
             near               ? near->statement
             : p->report->count ? p->report->answer[0].premise
                                : "no theorem speaks of this task");
}

static rung_status solve_largest(rung_solved *s, const probe *p, rung_error *err)
{
    uint64_t cannot = p->what == RUNG_SOLVE_LAYERS ? 0 : 1, open = 0, limit = largest[p->what];
    bool holds;
    rung_status status = at_value(&holds, p, cannot, err);
    if (status != RUNG_OK) return status;
    if (!holds) {
        say_why(s, p, p->what == RUNG_SOLVE_LAYERS ? "not even without them" : "not even at 1");
        return RUNG_OK;
    }
    while (status == RUNG_OK && !open && cannot < limit) {
        uint64_t next = cannot ? cannot * 2 : 1;
        status = at_value(&holds, p, next, err);
        if (holds)
            cannot = next;
        else
            open = next;
    }
    s->limit = !open;
    if (status == RUNG_OK && open) status = bisect(&cannot, &open, p, err);
    return status == RUNG_OK ? confirm(s, p, cannot, open, err) : status;
}

/* The rows know their own thresholds, and the best of them is at or just above the edge. */
static rung_status best_threshold(double *least, double *log2_least, const probe *p, rung_error *err)
{
    rung_question q = rung_bound_question(p->ask, p->input);
    q.n = THRESHOLD_N, q.thresholds = true;
    rung_status status = rung_bound_run(p->report, &q, err);
    *least = *log2_least = 0;
    for (size_t i = 0; status == RUNG_OK && i < p->report->count; i++) {
        const rung_bound_answer *a = &p->report->answer[i];
        if (!a->applies) continue;
        if (a->n_threshold > 0 && (*least <= 0 || a->n_threshold < *least)) *least = a->n_threshold;
        if (a->log2_n > 0 && (*log2_least <= 0 || a->log2_n < *log2_least)) *log2_least = a->log2_n;
    }
    return status;
}

static rung_status solve_n(rung_solved *s, const probe *p, rung_error *err)
{
    double least, log2_least;
    bool below;
    rung_status status = best_threshold(&least, &log2_least, p, err);
    if (status != RUNG_OK) return status;
    if (least <= 0 || least >= (double)TOKENS_FAR) {
        s->log2_value = least > 0 ? log2(least) : log2_least;
        if (s->log2_value <= 0) say_why(s, p, "at no n");
        return RUNG_OK;
    }
    uint64_t cannot = (uint64_t)least, open = cannot - 1;
    if (open) status = at_value(&below, p, open, err);
    if (status == RUNG_OK && open && below) {
        cannot = open, open = 0;
        status = bisect(&cannot, &open, p, err);
    }
    if (!open) open = 1; /* one token is never enough for a question */
    return status == RUNG_OK ? confirm(s, p, cannot, open, err) : status;
}

rung_status rung_bound_solve(rung_solved *solved, const rung_bound_ask *ask, const rung_bound_input *input,
                             rung_solve what, rung_error *err)
{
    probe p = {.ask = ask, .input = input, .what = what};
    *solved = (rung_solved){.what = what};
    if (what == RUNG_SOLVE_D && !input->is_arch)
        return rung_fail(err, RUNG_USAGE,
                         "--solve d: %s has its own head dimension; give an arch, such as full,4*linear", input->text);
    rung_status status = what == RUNG_SOLVE_LAYERS ? find_run(&p, err) : RUNG_OK;
    if (status != RUNG_OK) return status;
    p.report = rung_calloc(1, sizeof *p.report, err);
    if (!p.report) return RUNG_SYSTEM;
    status = what == RUNG_SOLVE_N ? solve_n(solved, &p, err) : solve_largest(solved, &p, err);
    free(p.report);
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"n (prompt tokens)", "p (bits per number)", "d (dk = dv = d)",
                                    "number of recurrent layers"};

void rung_solved_print(rung_buf *out, const rung_bound_ask *ask, const rung_bound_input *input, const rung_solved *s)
{
    rung_buf_printf(out, "%s%s%s, ", rung_style_bold(), input->text, rung_style_off());
    if (ask->n && s->what != RUNG_SOLVE_N)
        rung_buf_printf(out, "%s with at most %llu tokens", ask->task->task->name, (unsigned long long)ask->n);
    else if (s->what == RUNG_SOLVE_N)
        rung_buf_puts(out, ask->task->task->name);
    else
        rung_task_canonical(out, ask->task);
    if (s->what != RUNG_SOLVE_P) rung_buf_printf(out, ", p = %d", input->bits);
    rung_buf_printf(out, "\n%s %s with CANNOT: ", s->what == RUNG_SOLVE_N ? "smallest" : "largest", names[s->what]);
    if (!s->found) {
        if (s->log2_value > 0)
            rung_buf_printf(out, "2^%.1f\n", s->log2_value);
        else
            rung_buf_printf(out, "none\n%s\n", s->reason);
        return;
    }
    rung_buf_printf(out, "%s%.0f", s->limit ? "at least " : "", s->value);
    if (s->checked) rung_buf_printf(out, ", and UNKNOWN at %.0f", s->value + (s->what == RUNG_SOLVE_N ? -1 : 1));
    rung_buf_puts(out, s->at.trivial ? " (trivial: the answer does not fit into one message)\n" : "\n");
    rung_two_columns(out, s->at.bound->id, s->at.statement, 2 + 10);
}

void rung_solved_json(rung_jout *out, const rung_solved *s)
{
    rung_jout_object(out, "solve");
    rung_jout_string(out, "what", rung_solve_words[s->what]);
    if (s->found)
        rung_jout_real(out, "value", s->value);
    else
        rung_jout_null(out, "value");
    if (s->log2_value > 0) rung_jout_real(out, "log2_value", s->log2_value);
    rung_jout_bool(out, "both_sides_checked", s->checked);
    rung_jout_bool(out, "searched_to_the_limit", s->limit);
    rung_jout_string(out, "theorem", s->found ? s->at.bound->id : NULL);
    rung_jout_string(out, "statement", s->found ? s->at.statement : NULL);
    rung_jout_bool(out, "trivial", s->found && s->at.trivial);
    rung_jout_string(out, "reason", s->found || !s->reason[0] ? NULL : s->reason);
    rung_jout_end(out);
}
