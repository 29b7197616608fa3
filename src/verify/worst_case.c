/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Worst case: is a model of one attention layer right on every prompt of a task at this size and in this number format?
 * The result is a proof from the extremal prompts, a prompt with a wrong answer, or neither. Everything that the proof
 * assumes of the weights is checked in the weights, and a prompt counts as wrong only after the exact evaluator has run
 * it.
 */
#include "worst_case_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Number of prompts that may be run to refute: a few seconds at most, but always two. */
#define TRIES_MAX      64
#define TRY_TOKENS_MAX 2e9 /* squared tokens of all tries together */

typedef enum known_task { TASK_OTHER, TASK_LOOKUP, TASK_PERCOM, TASK_TWO_SUM } known_task;

static known_task kind_of(const rung_task_conf *task)
{
    const char *name = task->task->name;
    if (strcmp(name, "index") == 0) return TASK_LOOKUP;
    if (strcmp(name, "eva") == 0) return rung_task_param(task, "form") == 0 ? TASK_LOOKUP : TASK_OTHER;
    if (strcmp(name, "percom") == 0) return TASK_PERCOM;
    if (strcmp(name, "two-sum") == 0) return rung_task_param(task, "form") == 0 ? TASK_TWO_SUM : TASK_OTHER;
    return TASK_OTHER;
}

uint64_t rung_worst_case_total(const rung_task_conf *task)
{
    known_task kind = kind_of(task);
    if (kind == TASK_OTHER) return 0;
    return (uint64_t)rung_task_param(task, kind == TASK_TWO_SUM ? "M" : "N");
}

rung_status wc_unknown(wc_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run->result->reason, sizeof run->result->reason, format, args);
    va_end(args);
    run->result->verdict = RUNG_UNKNOWN;
    return RUNG_OK;
}

bool wc_interrupted(const wc_run *run)
{
    return run->conf->interrupted && run->conf->interrupted();
}

void wc_progress(const wc_run *run, size_t done)
{
    if (run->conf->progress) rung_progress_tick(run->conf->progress, done);
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

bool wc_may_try(const wc_run *run)
{
    double cost = (double)run->task->tokens * (double)run->task->tokens * (double)(run->tried + 1);
    return run->tried < 2 || (run->tried < TRIES_MAX && cost <= TRY_TOKENS_MAX);
}

static rung_status prepare_session(wc_run *run)
{
    if (run->session) {
        rung_session_reset(run->session);
        return RUNG_OK;
    }
    return rung_session_new(&run->session, run->program, run->task->tokens, run->err);
}

static rung_status keep_witness(wc_run *run, const char *why)
{
    rung_verify_result *result = run->result;
    size_t tokens = run->instance.tokens;
    result->witness = rung_calloc(tokens, sizeof *result->witness, run->err);
    if (!result->witness) return RUNG_SYSTEM;
    memcpy(result->witness, run->instance.token, tokens * sizeof *result->witness);
    result->witness_tokens = tokens;
    result->verdict = RUNG_CANNOT;
    snprintf(result->reason, sizeof result->reason, "%s", why);
    return RUNG_OK;
}

/* The first target that the read-outs miss; SIZE_MAX if there is none. */
static size_t first_wrong(const double *out, const rung_instance *in, const size_t *at, size_t targets, size_t answers)
{
    for (size_t i = 0; i < targets; i++)
        if ((int32_t)rung_argmax(out + i * answers, answers) != in->target[at[i]]) return i;
    return SIZE_MAX;
}

static rung_status run_prompt(wc_run *run, bool *wrong, double *out, size_t *at, size_t targets, size_t answers)
{
    const rung_instance *in = &run->instance;
    rung_prompt prompt = {.token = in->token, .tokens = in->tokens};
    char why[160];
    rung_error stop = {""};
    rung_status ran = rung_session_run(run->session, out, &prompt, RUNG_FORM_SCAN, at, targets, &stop);
    if (ran != RUNG_OK && ran != RUNG_INPUT) return rung_fail(run->err, ran, "%s", stop.text);
    size_t missed = ran == RUNG_OK ? first_wrong(out, in, at, targets, answers) : 0;
    *wrong = missed != SIZE_MAX;
    if (!*wrong) return RUNG_OK;
    if (ran == RUNG_INPUT)
        snprintf(why, sizeof why, "the witness stops the model: %.120s", stop.text);
    else
        snprintf(why, sizeof why, "the model answers %zu to the witness, but %d is right",
                 rung_argmax(out + missed * answers, answers), (int)in->target[at[missed]]);
    return keep_witness(run, why);
}

/* A prompt that stops the model (a NaN, a missing key) counts as wrong too. */
rung_status wc_try_prompt(wc_run *run, bool *wrong)
{
    rung_instance *in = &run->instance;
    size_t targets = 0, answers = rung_model_get_spec(run->model)->answers;
    in->tokens = run->task->tokens, *wrong = false, run->tried++;
    rung_status status = run->task->task->solve(in, run->task, run->err);
    RUNG_NEXT(status, prepare_session(run));
    RUNG_TRY(status);
    size_t *at = rung_calloc(in->tokens, sizeof *at, run->err);
    for (size_t t = 0; at && t < in->tokens; t++)
        if (in->target[t] != RUNG_NO_TARGET) at[targets++] = t;
    double *out = at ? rung_calloc(targets * answers, sizeof *out, run->err) : NULL;
    status = out ? run_prompt(run, wrong, out, at, targets, answers) : RUNG_SYSTEM;
    free(out);
    free(at);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static rung_status judge(wc_run *run, known_task kind)
{
    wc_weights w;
    rung_status status = wc_weights_load(&w, run->model, run->conf->how.numbers, run->err);
    run->w = &w;
    if (status == RUNG_OK && !wc_weights_finite(&w))
        status = wc_unknown(run, "a weight is not finite in %s", w.fmt.name);
    else if (status == RUNG_OK)
        status = kind == TASK_TWO_SUM ? wc_two_sum(run) : wc_lookup(run, kind == TASK_PERCOM);
    wc_weights_clear(&w);
    return status;
}

static rung_status check_sizes(const rung_model *model, const rung_task_conf *task, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    if (spec->vocab != task->vocab || spec->answers != task->answers)
        return rung_fail(err, RUNG_USAGE,
                         "the model has %zu tokens and %zu answers, but task %s has %zu and %zu; choose the task that "
                         "the model is for",
                         spec->vocab, spec->answers, task->task->name, task->vocab, task->answers);
    if (spec->positions != RUNG_POS_NONE && spec->max_tokens < task->tokens)
        return rung_fail(err, RUNG_USAGE, "the model has %zu positions, but task %s needs %zu", spec->max_tokens,
                         task->task->name, task->tokens);
    return RUNG_OK;
}

rung_status rung_worst_case(rung_verify_result *result, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_options *conf, rung_error *err)
{
    wc_run run = {.result = result, .model = model, .task = task, .conf = conf, .err = err};
    known_task kind = kind_of(task);
    result->method = RUNG_WORST_CASE, result->complete = true, result->verdict = RUNG_UNKNOWN;
    result->witness = NULL, result->witness_tokens = 0, result->cases = 0, result->margin = 0;
    if (kind == TASK_OTHER)
        return wc_unknown(
            &run, "there is no worst case for this task; it exists for eva form=position, index, percom and two-sum "
                  "form=query");
    if (!wc_shape_known(result->reason, sizeof result->reason, model, &conf->how)) return RUNG_OK;
    rung_status status = check_sizes(model, task, err);
    RUNG_NEXT(status, rung_instance_init(&run.instance, task, err));
    RUNG_NEXT(status, rung_program_new(&run.program, model, &conf->how, err));
    RUNG_NEXT(status, judge(&run, kind));
    assert(status != RUNG_OK || (result->verdict == RUNG_CANNOT) == (result->witness != NULL));
    assert(status != RUNG_OK || result->verdict != RUNG_CAN || !(result->margin < 0));
    rung_session_free(run.session);
    rung_program_free(run.program);
    rung_instance_clear(&run.instance);
    return status;
}
