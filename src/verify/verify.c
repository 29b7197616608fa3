/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runs a model on every prompt of a task, or on a sample. The candidates are divided into chunks of consecutive
 * numbers, and the threads work on the chunks in rounds. After a round the chunks are added up in their order. So the
 * counts and the first wrong answers are the same for any number of threads, and an interrupted run covers the first
 * candidates.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "rung/par.h"
#include "rung/verify.h"
#include "worst_case.h"

const char *const rung_method_names[] = {"exhaustive", "sampled", "worst-case", NULL};

/* Long enough that starting threads takes no noticeable time, short enough for a progress bar. */
#define ROUND_S           0.05
#define CHUNKS_PER_THREAD 4 /* so that uneven chunks balance */
#define GRAIN_MAX         ((uint64_t)1 << 20)

/* Consecutive candidates. */
typedef struct chunk {
    uint64_t first, count;
    uint64_t prompts, targets, wrong;
    double max_distance;
    rung_wrong *first_wrong; /* [show] */
    size_t shown;
    bool interrupted; /* then the other fields are meaningless */
    rung_status status;
    rung_error err;
} chunk;

typedef struct verification {
    const rung_model *model;
    const rung_task_conf *task;
    const rung_verify_options *conf;
    size_t show, threads;
    bool shares; /* prompts follow each other in order, and a continued run has the bits of a whole one */
    rung_program *program;
    rung_judge *judge; /* [threads], made when a thread needs its own for the first time */
    chunk *chunks;     /* [chunk_count] */
    size_t chunk_count;
    rung_wrong *wrongs; /* of all chunks */
} verification;

/* ---- one prompt -------------------------------------------------------------------------------------------------- */

static bool is_wrong(rung_wrong *wrong, double *max_distance, const rung_judge *j, size_t i, double tolerance)
{
    *wrong = (rung_wrong){.position = j->at[i], .target = j->instance.target[j->at[i]], .answer = RUNG_NO_TARGET};
    if (j->task->answers) {
        wrong->answer = rung_judge_answer(j, i);
        return wrong->answer != wrong->target;
    }
    wrong->distance = rung_judge_distance(j, i);
    if (wrong->distance > *max_distance) *max_distance = wrong->distance;
    return !(wrong->distance <= tolerance);
}

static void note_wrong(chunk *c, const rung_wrong *wrong, uint64_t index, size_t show)
{
    c->wrong++;
    if (c->shown == show) return;
    c->first_wrong[c->shown] = *wrong;
    c->first_wrong[c->shown++].index = index;
}

/* The model stopped on this prompt: there is no answer, so the prompt is wrong. */
static void note_stop(chunk *c, const rung_judge *j, const rung_error *why, uint64_t index, size_t show)
{
    rung_wrong wrong = {.position = j->at[0], .target = j->instance.target[j->at[0]], .answer = RUNG_NO_TARGET};
    snprintf(wrong.why, sizeof wrong.why, "%.*s", (int)sizeof wrong.why - 1, why->text);
    note_wrong(c, &wrong, index, show);
}

static void score(chunk *c, const rung_judge *j, uint64_t index, const verification *v)
{
    rung_wrong first = {0};
    bool found = false;
    for (size_t i = 0; i < j->targets; i++) {
        rung_wrong now;
        if (!is_wrong(&now, &c->max_distance, j, i, v->conf->tolerance) || found) continue;
        first = now;
        found = true;
    }
    if (found) note_wrong(c, &first, index, v->show);
}

static rung_status try_candidate(chunk *c, rung_judge *j, uint64_t index, const verification *v)
{
    bool is_prompt = true;
    rung_error stopped = {""};
    rung_status status = v->conf->method == RUNG_EXHAUSTIVE
                             ? rung_task_unrank(&j->instance, &is_prompt, v->task, index, &c->err)
                             : rung_task_make(&j->instance, v->task, v->conf->seed, index, &c->err);
    if (status != RUNG_OK || !is_prompt) return status;
    status = rung_judge_run(j, RUNG_FORM_SCAN, &stopped);
    if (status != RUNG_OK && status != RUNG_INPUT) return rung_fail(&c->err, status, "%s", stopped.text);
    c->prompts++;
    c->targets += j->targets;
    if (status == RUNG_OK)
        score(c, j, index, v);
    else
        note_stop(c, j, &stopped, index, v->show);
    return RUNG_OK;
}

/* ---- many, in parallel ------------------------------------------------------------------------------------------- */

static void try_chunk(void *context, size_t item, size_t worker)
{
    verification *v = context;
    chunk *c = &v->chunks[item];
    rung_judge *j = &v->judge[worker];
    if (!j->session) {
        rung_judge_clear(j); /* left by an earlier failure */
        c->status = rung_judge_init(j, v->model, v->program, v->task, &c->err);
        if (v->shares) RUNG_NEXT(c->status, rung_judge_share(j, &c->err));
    }
    for (uint64_t i = 0; i < c->count && c->status == RUNG_OK && !c->interrupted; i++) {
        c->interrupted = v->conf->interrupted && v->conf->interrupted();
        if (!c->interrupted) c->status = try_candidate(c, j, c->first + i, v);
    }
}

static void add_chunk(rung_verify_result *result, const chunk *c, size_t show)
{
    assert(c->wrong <= c->prompts && c->prompts <= c->count && c->shown <= show);
    result->candidates += c->count;
    result->prompts += c->prompts;
    result->targets += c->targets;
    result->wrong += c->wrong;
    if (c->max_distance > result->max_distance) result->max_distance = c->max_distance;
    for (size_t i = 0; i < c->shown && result->shown < show; i++)
        result->first_wrong[result->shown++] = c->first_wrong[i];
}

/* Cuts chunks of `grain` candidates from `first` on; returns the number of chunks. */
static size_t cut_round(verification *v, uint64_t first, uint64_t total, uint64_t grain)
{
    size_t chunks = 0;
    for (; chunks < v->chunk_count && first < total; chunks++) {
        uint64_t count = total - first < grain ? total - first : grain;
        v->chunks[chunks] = (chunk){.first = first, .count = count, .first_wrong = v->wrongs + chunks * v->show};
        first += count;
    }
    return chunks;
}

static rung_status try_all(rung_verify_result *result, verification *v, uint64_t total, rung_error *err)
{
    for (uint64_t grain = 1; result->candidates < total;) {
        size_t chunks = cut_round(v, result->candidates, total, grain);
        double started_s = rung_wall_s();
        rung_par_for(chunks, v->threads, try_chunk, v);
        for (size_t i = 0; i < chunks; i++) {
            const chunk *c = &v->chunks[i];
            if (c->status != RUNG_OK) return rung_fail(err, c->status, "%s", c->err.text);
            if (c->interrupted) return RUNG_OK;
            add_chunk(result, c, v->show);
        }
        if (v->conf->progress) rung_progress_tick(v->conf->progress, result->candidates);
        if (rung_wall_s() - started_s < ROUND_S && grain < GRAIN_MAX) grain *= 2;
    }
    result->complete = true;
    return RUNG_OK;
}

/* Each thread runs whole prompts. Only if there are fewer prompts than threads, threads share a prompt. */
static rung_status start(verification *v, uint64_t total, rung_error *err)
{
    rung_evaluator how = v->conf->how;
    size_t threads = how.threads ? how.threads : rung_cpu_threads();
    v->shares = v->conf->method == RUNG_EXHAUSTIVE && how.numbers && how.softmax == RUNG_SOFTMAX_ONLINE;
    v->threads = total < threads ? (size_t)total : threads;
    how.threads = threads / v->threads;
    v->chunk_count = v->threads * CHUNKS_PER_THREAD;
    v->show = v->conf->show < RUNG_WRONG_MAX ? v->conf->show : RUNG_WRONG_MAX;
    v->judge = rung_calloc(v->threads, sizeof *v->judge, err);
    v->chunks = rung_calloc(v->chunk_count, sizeof *v->chunks, err);
    v->wrongs = rung_calloc(v->chunk_count * RUNG_WRONG_MAX, sizeof *v->wrongs, err);
    if (!v->judge || !v->chunks || !v->wrongs) return RUNG_SYSTEM;
    return rung_program_new(&v->program, v->model, &how, err);
}

static void finish(verification *v)
{
    for (size_t i = 0; v->judge && i < v->threads; i++) rung_judge_clear(&v->judge[i]);
    rung_program_free(v->program);
    free(v->judge);
    free(v->chunks);
    free(v->wrongs);
}

/* ---- the three methods ------------------------------------------------------------------------------------------- */

uint64_t rung_verify_total(const rung_task_conf *task, const rung_verify_options *conf)
{
    switch (conf->method) {
    case RUNG_EXHAUSTIVE:
        return rung_task_space(task);
    case RUNG_SAMPLED:
        return conf->samples;
    case RUNG_WORST_CASE:
        return rung_worst_case_total(task);
    }
    return 0;
}

static rung_status check_total(const rung_task_conf *task, uint64_t total, rung_method method, rung_error *err)
{
    if (method == RUNG_SAMPLED && total == 0) return rung_fail(err, RUNG_USAGE, "a sample needs at least one prompt");
    if (total == 0)
        return rung_fail(err, RUNG_USAGE, "the prompts of %s cannot be enumerated; try a sample", task->task->name);
    if (total == UINT64_MAX)
        return rung_fail(err, RUNG_USAGE, "%s has 2^64 prompts or more; try a sample, the worst case or a smaller task",
                         task->task->name);
    return RUNG_OK;
}

/* The first prompts of an enumeration are no random sample: if it was interrupted, nothing follows for the rest. */
static void set_interval(rung_verify_result *result)
{
    rung_interval interval = {0, 1};
    if (result->method == RUNG_SAMPLED)
        interval = rung_clopper_pearson(result->wrong, result->prompts, 0.95);
    else if (result->complete)
        interval.low = interval.high = (double)result->wrong / (double)result->prompts;
    assert(interval.low >= 0 && interval.low <= interval.high && interval.high <= 1);
    result->error_low = interval.low;
    result->error_high = interval.high;
}

rung_status rung_verify_run(rung_verify_result *result, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_options *conf, rung_error *err)
{
    memset(result, 0, sizeof *result);
    result->method = conf->method;
    RUNG_TRY(rung_judge_fits(model, task, err));
    if (conf->method == RUNG_WORST_CASE) return rung_worst_case(result, model, task, conf, err);
    uint64_t total = rung_verify_total(task, conf);
    RUNG_TRY(check_total(task, total, conf->method, err));
    verification v = {.model = model, .task = task, .conf = conf};
    rung_status status = start(&v, total, err);
    RUNG_NEXT(status, try_all(result, &v, total, err));
    finish(&v);
    if (status == RUNG_OK && result->complete && result->prompts == 0)
        status = rung_fail(err, RUNG_USAGE, "none of the %llu candidates is a prompt of %s; nothing was verified",
                           (unsigned long long)total, task->task->name);
    if (status == RUNG_OK) set_interval(result);
    return status;
}

void rung_verify_clear(rung_verify_result *result)
{
    free(result->witness);
    memset(result, 0, sizeof *result);
}
