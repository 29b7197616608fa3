/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The inverse question: the smallest n, or the largest p, head dimension or number of recurrent layers, for which
 * CANNOT is proved; and the depth of composition. Verdicts are monotone in the first four (a longer prompt contains the
 * shorter ones; fewer bits can do no more). So the edge is found by doubling and bisection, and both sides of it are
 * asked again at the end. Nothing is assumed of the depth: every L is asked.
 */
#include "resize_task.h"

#include <math.h>
#include <stdlib.h>

const char *const rung_solve_names[] = {"n", "p", "d", "layers", "L", NULL};

/* Limits of the search. */
#define TOKENS_FAR  (UINT64_C(1) << 61)
#define THRESHOLD_N (UINT64_C(1) << 40)
static const uint64_t largest[] = {TOKENS_FAR, 65536, 65536, RUNG_LAYERS_MAX, RUNG_DEPTH_MAX};

typedef struct probe {
    const rung_solve_options *conf;
    size_t run_first, run_count; /* range of the recurrent layers, for --solve layers */
    rung_bound_report *report;   /* of the last claim that was asked */
} probe;

/* ---- one value --------------------------------------------------------------------------------------------------- */

static bool carries(const rung_ledger_layer *held)
{
    static const rung_arithmetic bits = {.accumulator_bits = 1, .state_bits = 1, .cache_bits = 1};
    return rung_layer_bits_of(held, &bits).carried > 0;
}

/* Finds the recurrent layers, which must all be equal and adjacent. */
static rung_status find_run(probe *p, rung_error *err)
{
    const rung_ledger *ledger = rung_subject_ledger(p->conf->subject);
    size_t first = 0, count = 0;
    while (first < ledger->layer_count && !carries(&ledger->layer[first])) first++;
    if (first == ledger->layer_count)
        return rung_fail(err, RUNG_USAGE, "--solve layers: %s has no recurrent layer to repeat", ledger->name);
    while (first + count < ledger->layer_count &&
           rung_ledger_layer_same(&ledger->layer[first + count], &ledger->layer[first]))
        count++;
    for (size_t i = first + count; i < ledger->layer_count; i++)
        if (carries(&ledger->layer[i]))
            return rung_fail(err, RUNG_USAGE,
                             "--solve layers: the recurrent layers of %s differ or stand in several places (%zu and "
                             "%zu); give one run of equal ones, such as full,4*linear",
                             ledger->name, first + 1, i + 1);
    p->run_first = first, p->run_count = count;
    return RUNG_OK;
}

/* Makes the subject with another head dimension or number of layers. NULL: the subject itself. */
static rung_status other_subject(rung_subject **out, const probe *p, uint64_t value, rung_error *err)
{
    const rung_subject *s = p->conf->subject;
    *out = NULL;
    if (p->conf->what == RUNG_SOLVE_LAYERS)
        return rung_subject_repeat(out, s, p->run_first, p->run_count, (size_t)value, err);
    if (p->conf->what != RUNG_SOLVE_D) return RUNG_OK;
    rung_arch_defaults defaults = *rung_subject_arch_defaults(s);
    defaults.dk = defaults.dv = (size_t)value;
    return rung_subject_arch(out, rung_subject_arch_text(s), &defaults, err);
}

static rung_status ask(const probe *p, const rung_subject *subject, const rung_claim_spec *about, bool thresholds,
                       rung_error *err)
{
    rung_claim *claim;
    RUNG_TRY(rung_claim_new(&claim, subject, about, err));
    rung_status status = rung_bound_answers(p->report, claim, thresholds, err);
    rung_claim_free(claim);
    return status;
}

static rung_status at_value(bool *cannot, const probe *p, uint64_t value, rung_error *err)
{
    rung_claim_spec about = *p->conf->about;
    rung_subject *other;
    if (p->conf->what == RUNG_SOLVE_N) about.n = value;
    if (p->conf->what == RUNG_SOLVE_P) rung_claim_spec_set_bits(&about, (int)value);
    rung_status status = other_subject(&other, p, value, err);
    RUNG_NEXT(status, ask(p, other ? other : p->conf->subject, &about, false, err));
    *cannot = status == RUNG_OK && p->report->verdict == RUNG_CANNOT;
    rung_subject_free(other);
    return status;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Bisects between `cannot`, whose verdict is CANNOT, and `open`, whose verdict is not; either may be the larger one. */
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

/* Asks both sides of the edge again, and keeps the row that decides. */
static rung_status confirm(rung_solved *s, const probe *p, uint64_t cannot, uint64_t open, rung_error *err)
{
    bool here, beyond = false;
    RUNG_TRY(s->limit ? RUNG_OK : at_value(&beyond, p, open, err));
    RUNG_TRY(at_value(&here, p, cannot, err));
    s->found = here, s->value = (double)cannot;
    s->checked = here && !beyond && !s->limit;
    if (!here) return RUNG_OK;
    const rung_bound_answer *a = rung_bound_decisive(p->report);
    s->by = a->bound, s->trivial = a->trivial;
    snprintf(s->statement, sizeof s->statement, "%s", a->statement);
    return RUNG_OK;
}

static void say_why(rung_solved *s, const probe *p, const char *where)
{
    const rung_bound_answer *near = rung_bound_decisive(p->report);
    snprintf(s->reason, sizeof s->reason, "%s: %.120s", where,
             near               ? near->statement
             : p->report->count ? p->report->answer[0].premise
                                : "no theorem is about this task");
}

static rung_status solve_largest(rung_solved *s, const probe *p, rung_error *err)
{
    bool layers = p->conf->what == RUNG_SOLVE_LAYERS, holds;
    uint64_t cannot = layers ? 0 : 1, open = 0, limit = largest[p->conf->what];
    rung_status status = at_value(&holds, p, cannot, err);
    RUNG_TRY(status);
    if (!holds) {
        say_why(s, p, layers ? "not even without them" : "not even at 1");
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
    RUNG_TRY(status);
    return confirm(s, p, cannot, open, err);
}

/* Each row knows its own threshold. The least of them is at or just above the edge. */
static rung_status best_threshold(double *least, double *log2_least, const probe *p, rung_error *err)
{
    rung_claim_spec about = *p->conf->about;
    about.n = THRESHOLD_N;
    rung_status status = ask(p, p->conf->subject, &about, true, err);
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
    RUNG_TRY(status);
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
    if (!open) open = 1; /* a question has more than one token */
    RUNG_TRY(status);
    return confirm(s, p, cannot, open, err);
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

static rung_status decide_depth(rung_verdict *verdict, const probe *p, const rung_task_conf *task, rung_error *err)
{
    rung_claim_spec about = *p->conf->about;
    rung_claim *claim;
    rung_decision d;
    about.task = task;
    RUNG_TRY(rung_claim_new(&claim, p->conf->subject, &about, err));
    rung_status status = rung_decide(&d, claim, p->conf->means, err);
    *verdict = d.verdict;
    rung_decision_clear(&d);
    rung_claim_free(claim);
    return status;
}

static void read_depths(rung_solved *s)
{
    while (s->can_up_to < s->deepest && s->depth[s->can_up_to + 1] == RUNG_CAN) s->can_up_to++;
    s->sampled_up_to = s->can_up_to;
    while (s->sampled_up_to < s->deepest &&
           (s->depth[s->sampled_up_to + 1] == RUNG_CAN || s->depth[s->sampled_up_to + 1] == RUNG_CAN_SAMPLED))
        s->sampled_up_to++;
    for (size_t L = s->deepest; L > 0 && s->depth[L] == RUNG_CANNOT; L--) s->cannot_from = L;
    s->found = s->sampled_up_to || s->cannot_from;
    s->value = (double)s->can_up_to;
}

/* Asks every L up to the first that has no instance of this length. */
static rung_status solve_depth(rung_solved *s, const probe *p, rung_error *err)
{
    const rung_claim_spec *about = p->conf->about;
    rung_status status = RUNG_OK;
    for (int L = 1; status == RUNG_OK && L <= RUNG_DEPTH_MAX; L++) {
        rung_task_conf task, instance;
        if (decide_task_with(&task, about->task, "L", L, NULL) != RUNG_OK) break;
        if (about->n && rung_decide_instance(&instance, &task, about->n, NULL) != RUNG_OK) break;
        status = decide_depth(&s->depth[L], p, &task, err);
        s->deepest = (size_t)L;
    }
    if (status == RUNG_OK) read_depths(s);
    if (!s->deepest) snprintf(s->reason, sizeof s->reason, "the shortest prompt of the task is longer than that");
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static rung_status check_usage(const rung_solve_options *conf, rung_error *err)
{
    const rung_ledger *ledger = rung_subject_ledger(conf->subject);
    if (conf->what == RUNG_SOLVE_D && rung_subject_kind_of(conf->subject) != RUNG_SUBJECT_ARCH)
        return rung_fail(err, RUNG_USAGE,
                         "--solve d: %s has its own head dimension; give an arch, such as full,4*linear", ledger->name);
    if (conf->what == RUNG_SOLVE_DEPTH && rung_param_find(conf->about->task->task->params, "L") == SIZE_MAX)
        return rung_fail(err, RUNG_USAGE, "--solve L: %s has no depth; take --task seqcomp",
                         conf->about->task->task->name);
    return RUNG_OK;
}

rung_status rung_solve_run(rung_solved *solved, const rung_solve_options *conf, rung_error *err)
{
    probe p = {.conf = conf};
    *solved = (rung_solved){.what = conf->what};
    rung_status status = check_usage(conf, err);
    if (status == RUNG_OK && conf->what == RUNG_SOLVE_LAYERS) status = find_run(&p, err);
    RUNG_TRY(status);
    if (conf->what == RUNG_SOLVE_DEPTH) return solve_depth(solved, &p, err);
    p.report = rung_calloc(1, sizeof *p.report, err);
    if (!p.report) return RUNG_SYSTEM;
    status = conf->what == RUNG_SOLVE_N ? solve_n(solved, &p, err) : solve_largest(solved, &p, err);
    free(p.report);
    return status;
}
