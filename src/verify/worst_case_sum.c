/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Worst case of two-sum with a query: for every query y, bounds of the heads' outputs over all prompts that contain the
 * partner of y and over all that do not, then the table of the MLP and the read-out. The bounds are hulls, not
 * extremes. If they do not decide, the prompts that are extremal in the real numbers are run.
 */
#include "worst_case_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of lane operations over all queries: about a minute. */
#define STEPS_MAX 4e10

enum { BATCH = 8 }; /* queries per worker between two checks for progress and interruption */

typedef struct member_fault {
    wc_outcome outcome;
    bool many; /* too many levels */
    double margin;
} member_fault;

typedef struct member_job {
    const member_task *t;
    member_worker *worker;
    member_fault *fault;
    size_t first;
} member_job;

/* ---- the weights ------------------------------------------------------------------------------------------------- */

static bool structure_known(wc_run *run, const wc_group *numbers)
{
    const wc_weights *w = run->w;
    bool known = wc_ignores_position(w, &w->k, 0, w->heads * w->dk, numbers) &&
                 wc_ignores_position(w, &w->v, 0, w->mixed, numbers);
    if (!known) wc_unknown(run, "the keys or values of numbers depend on the position");
    return known;
}

rung_status wc_member_prepare(member_task *t, wc_run *run)
{
    const wc_weights *w = run->w;
    t->run = run, t->w = w;
    t->numbers = (size_t)rung_task_param(run->task, "N");
    t->modulus = (size_t)rung_task_param(run->task, "M");
    t->lead = (size_t)rung_task_param(run->task, "blank");
    size_t tokens = t->modulus + 1, keys = SIZE_MAX, values = SIZE_MAX; /* so that the allocation refuses it */
    rung_size_mul(&keys, tokens, w->heads * w->dk);
    rung_size_mul(&values, tokens, w->mixed);
    t->key = rung_arena_alloc(&t->arena, keys, sizeof *t->key, run->err);
    t->value = rung_arena_alloc(&t->arena, values, sizeof *t->value, run->err);
    t->range = rung_arena_alloc(&t->arena, w->mixed, sizeof *t->range, run->err);
    double *x = rung_arena_alloc(&t->arena, w->d, sizeof *x, run->err);
    if (!t->key || !t->value || !t->range || !x) return RUNG_SYSTEM;
    for (size_t v = 0; v < t->modulus + t->lead; v++) {
        bool blank = v == t->modulus;
        wc_residual(x, w, blank ? run->task->vocab - 1 : v, blank ? 0 : t->lead);
        for (size_t i = 0; i < w->heads * w->dk; i++)
            t->key[(i / w->dk * tokens + v) * w->dk + i % w->dk] = wc_project(w, &w->k, i, x);
        for (size_t i = 0; i < w->mixed; i++) {
            double value = wc_project(w, &w->v, i, x);
            t->value[v * w->mixed + i] = value;
            t->range[i] = v ? wc_hull(t->range[i], wc_point(value)) : wc_point(value);
            if (!isfinite(value)) t->range[i] = wc_point(value);
        }
    }
    return RUNG_OK;
}

static bool all_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static bool level_init(level *l, member_task *t, rung_error *err)
{
    size_t lanes = t->numbers + 1, dv = t->w->dv, all = SIZE_MAX;
    rung_size_mul(&all, lanes, 2 + 2 * dv);
    l->alive = rung_arena_alloc(&t->arena, lanes, sizeof *l->alive, err);
    l->den_lo = rung_arena_alloc(&t->arena, all, sizeof *l->den_lo, err);
    l->miss_add = rung_arena_alloc(&t->arena, dv, sizeof *l->miss_add, err);
    l->match_add = rung_arena_alloc(&t->arena, dv, sizeof *l->match_add, err);
    if (!l->alive || !l->den_lo || !l->miss_add || !l->match_add) return false;
    l->den_hi = l->den_lo + lanes, l->num_lo = l->den_hi + lanes, l->num_hi = l->num_lo + dv * lanes;
    return true;
}

bool wc_member_worker(member_worker *wk, member_task *t, rung_error *err)
{
    const wc_weights *w = t->w;
    for (size_t i = 0; i < WC_LEVELS_MAX; i++)
        if (!level_init(&wk->now[i], t, err) || !level_init(&wk->next[i], t, err)) return false;
    wk->q = rung_arena_alloc(&t->arena, w->dk, sizeof *wk->q, err);
    wk->x = rung_arena_alloc(&t->arena, w->d + w->dv, sizeof *wk->x, err);
    wk->score = rung_arena_alloc(&t->arena, t->modulus + 1, sizeof *wk->score, err);
    wk->low = rung_arena_alloc(&t->arena, 3 * (t->numbers + 1), sizeof *wk->low, err);
    wk->y = rung_arena_alloc(&t->arena, 2 * w->mixed, sizeof *wk->y, err);
    wk->scratch = rung_arena_alloc(&t->arena, w->mixed + 2 * w->d, sizeof *wk->scratch, err);
    if (!wk->q || !wk->x || !wk->score || !wk->low || !wk->y || !wk->scratch) return false;
    wk->high = wk->low + t->numbers + 1, wk->constant = wk->high + t->numbers + 1;
    return true;
}

/* ---- one query --------------------------------------------------------------------------------------------------- */

static void decide_query(void *context, size_t item, size_t worker)
{
    const member_job *job = context;
    const wc_weights *w = job->t->w;
    member_worker *wk = &job->worker[worker];
    member_fault *f = &job->fault[item];
    *f = (member_fault){.outcome = WC_NOT_FINITE, .margin = INFINITY};
    if (!wc_member_bounds(job->t, wk, job->first + item)) {
        f->many = wk->overflow;
        return;
    }
    for (size_t i = 0; i < 2 * w->mixed; i++)
        if (!wc_finite(wk->y[i])) return;
    f->outcome = WC_RIGHT;
    for (size_t answer = 0; answer < 2 && f->outcome == WC_RIGHT; answer++)
        f->outcome = wc_decide(w, wk->x, wk->y + answer * w->mixed, answer, &f->margin, wk->scratch);
}

/* ---- a prompt that goes wrong ------------------------------------------------------------------------------------ */

/* The misses with the largest and the least score of the first head. */
static void extreme_misses(uint32_t miss[2], const member_task *t, member_worker *wk, size_t y)
{
    const wc_weights *w = t->w;
    size_t match = wc_match_of(t, y);
    double most = -INFINITY, least = INFINITY;
    wc_residual(wk->x, w, t->modulus + y, t->lead + t->numbers);
    for (size_t i = 0; i < w->dk; i++) wk->q[i] = wc_project(w, &w->q, i, wk->x);
    miss[0] = miss[1] = (uint32_t)(match ? 0 : 1);
    for (size_t v = 0; v < t->modulus; v++) {
        double s = rung_num_dot(&w->fmt, wk->q, t->key + v * w->dk, w->dk);
        if (v == match) continue;
        if (s > most) most = s, miss[0] = (uint32_t)v;
        if (s < least) least = s, miss[1] = (uint32_t)v;
    }
}

static rung_status try_sum(wc_run *run, const member_task *t, bool *wrong, size_t y, uint32_t first, uint32_t others,
                           uint32_t last)
{
    *wrong = false;
    if (!wc_may_try(run)) return RUNG_OK;
    uint32_t *prompt = run->instance.token;
    if (t->lead) prompt[0] = (uint32_t)(run->task->vocab - 1);
    for (size_t j = 0; j < t->numbers; j++) prompt[t->lead + j] = others;
    prompt[t->lead] = first;
    if (t->numbers > 1) prompt[t->lead + t->numbers - 1] = last;
    prompt[t->lead + t->numbers] = (uint32_t)(t->modulus + y);
    return wc_try_prompt(run, wrong);
}

static rung_status refute(wc_run *run, const member_task *t, member_worker *wk, size_t y, bool *wrong)
{
    uint32_t miss[2], match = (uint32_t)wc_match_of(t, y);
    rung_status status = RUNG_OK;
    extreme_misses(miss, t, wk, y);
    *wrong = false;
    for (size_t i = 0; i < 2 && status == RUNG_OK && !*wrong; i++) {
        status = try_sum(run, t, wrong, y, miss[i], miss[i], miss[i]);
        if (status == RUNG_OK && !*wrong) status = try_sum(run, t, wrong, y, match, miss[i], miss[i]);
        if (status == RUNG_OK && !*wrong) status = try_sum(run, t, wrong, y, miss[i], miss[i], match);
    }
    if (status == RUNG_OK && !*wrong) status = try_sum(run, t, wrong, y, match, match, match);
    return status;
}

/* ---- all queries ------------------------------------------------------------------------------------------------- */

/* Keeps the reason of the first undecided query. Later queries are still searched for a prompt with a wrong answer. */
typedef struct member_sum {
    double margin;
    size_t open, first_open;
    member_fault fault;
} member_sum;

static rung_status take_batch(member_sum *sum, const member_job *job, size_t count, bool *wrong)
{
    wc_run *run = job->t->run;
    for (size_t i = 0; i < count; i++) {
        const member_fault *f = &job->fault[i];
        sum->margin = fmin(sum->margin, f->margin);
        if (f->outcome == WC_RIGHT) continue;
        if (sum->open++ == 0) sum->first_open = job->first + i, sum->fault = *f;
        rung_status status = refute(run, job->t, &job->worker[0], job->first + i, wrong);
        if (status != RUNG_OK || *wrong) return status;
    }
    return RUNG_OK;
}

static rung_status conclude(const member_task *t, const member_sum *sum, const char *others)
{
    rung_verify_result *result = t->run->result;
    result->cases = 2 * (uint64_t)t->modulus;
    if (others[0]) return wc_unknown(t->run, "%s", others);
    if (sum->open && sum->fault.many)
        return wc_unknown(t->run, "query %zu: the running maximum takes more than %d values", sum->first_open,
                          WC_LEVELS_MAX);
    if (sum->open)
        return wc_unknown(t->run, "%zu of %zu queries undecided, first %zu: %s; no prompt that was tried is wrong",
                          sum->open, t->modulus, sum->first_open, wc_outcome_text(sum->fault.outcome));
    result->verdict = RUNG_CAN;
    result->margin = sum->margin;
    snprintf(result->reason, sizeof result->reason,
             "all %zu^%zu prompts and %zu queries in %s: scores and values depend on the token alone; bounds of all "
             "reachable accumulators by maximum and number of matches decide; least margin %.4g",
             t->modulus, t->numbers, t->modulus, t->w->fmt.name, sum->margin);
    return RUNG_OK;
}

static rung_status judge_all(member_task *t, member_job *job, size_t threads, const char *others)
{
    member_sum sum = {.margin = INFINITY};
    bool wrong = false;
    for (size_t done = 0; done < t->modulus;) {
        size_t count = t->modulus - done < threads * BATCH ? t->modulus - done : threads * BATCH;
        job->first = done;
        rung_par_for(count, threads, decide_query, job);
        rung_status status = take_batch(&sum, job, count, &wrong);
        if (status != RUNG_OK || wrong) return status;
        done += count;
        wc_progress(t->run, done);
        if (done < t->modulus && wc_interrupted(t->run)) {
            t->run->result->complete = false;
            return wc_unknown(t->run, "interrupted after %zu of %zu queries", done, t->modulus);
        }
    }
    return conclude(t, &sum, others);
}

static rung_status judge(wc_run *run, member_task *t, const wc_group groups[2])
{
    const wc_weights *w = t->w;
    size_t threads = run->conf->how.threads ? run->conf->how.threads : rung_cpu_threads();
    char others[160] = "";
    double lanes = (double)t->numbers * (double)t->numbers * (double)t->modulus;
    double steps = lanes * (double)(w->heads * (2 + 2 * w->dv)) * 4;
    if (steps > STEPS_MAX)
        return wc_unknown(run, "%.2g steps are too many (the limit is %.0e): N^2 M times 8 (dv+1) H", steps, STEPS_MAX);
    member_job job = {.t = t};
    job.worker = rung_arena_alloc(&t->arena, threads, sizeof *job.worker, run->err);
    job.fault = rung_arena_alloc(&t->arena, threads * BATCH, sizeof *job.fault, run->err);
    if (!job.worker || !job.fault) return RUNG_SYSTEM;
    for (size_t i = 0; i < threads; i++)
        if (!wc_member_worker(&job.worker[i], t, run->err)) return RUNG_SYSTEM;
    wc_others_safe(others, sizeof others, w, groups, 1 + t->lead, t->range, NULL, job.worker[0].scratch,
                   t->lead + t->numbers);
    return judge_all(t, &job, threads, others);
}

rung_status wc_two_sum(wc_run *run)
{
    member_task t = {.run = run};
    size_t numbers = (size_t)rung_task_param(run->task, "N"), modulus = (size_t)rung_task_param(run->task, "M");
    const wc_group groups[2] = {{0, modulus, (size_t)rung_task_param(run->task, "blank"), numbers},
                                {run->task->vocab - 1, 1, 0, 1}};
    if (!structure_known(run, &groups[0])) return RUNG_OK;
    rung_arena_init(&t.arena);
    rung_status status = wc_member_prepare(&t, run);
    if (status == RUNG_OK && !(all_finite(t.key, (modulus + 1) * run->w->heads * run->w->dk) &&
                               all_finite(t.value, (modulus + 1) * run->w->mixed)))
        status = wc_unknown(run, "a key or value overflows in %s", run->w->fmt.name);
    else if (status == RUNG_OK)
        status = judge(run, &t, groups);
    rung_arena_clear(&t.arena);
    return status;
}
