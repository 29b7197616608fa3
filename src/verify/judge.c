/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Runs a model on a task: one session, one instance, the answers.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "prefixes.h"

static size_t rows_of(const rung_task_conf *task)
{
    return task->answers ? task->answers : task->d_out;
}

rung_status rung_judge_fits(const rung_model *model, const rung_task_conf *task, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    const char *made_for = *spec->task ? spec->task : "no task";
    if (spec->positions != RUNG_POS_NONE && task->tokens > spec->max_tokens)
        return rung_fail(err, RUNG_USAGE,
                         "the model has %zu positions, but a prompt of %s has %zu tokens; the model was made for: %s",
                         spec->max_tokens, task->task->name, task->tokens, made_for);
    size_t vocab = task->vocab ? task->vocab + spec->thoughts : 0;
    if (spec->vocab == vocab && spec->d_in == task->d_in && spec->answers == rows_of(task) + spec->thoughts)
        return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "the model has %zu tokens (or %zu features) and %zu answers, but the task %s has %zu (%zu) and "
                     "%zu; the model was made for: %s",
                     spec->vocab - spec->thoughts, spec->d_in, spec->answers - spec->thoughts, task->task->name,
                     task->vocab, task->d_in, rows_of(task), made_for);
}

static rung_status make_room(rung_judge *j, size_t targets, rung_error *err)
{
    size_t elements;
    if (targets <= j->room) return RUNG_OK;
    if (!rung_size_mul(&elements, targets, j->wide))
        return rung_fail(err, RUNG_SYSTEM, "%zu read-outs of %zu answers do not fit into memory", targets, j->wide);
    free(j->out);
    j->out = rung_calloc(elements, sizeof *j->out, err);
    j->room = j->out ? targets : 0;
    return j->out ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_judge_init(rung_judge *j, const rung_model *model, const rung_program *program,
                            const rung_task_conf *task, rung_error *err)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    size_t tokens = spec->thoughts && spec->max_tokens > task->tokens ? spec->max_tokens : task->tokens;
    *j = (rung_judge){.task = task, .program = program, .spec = spec, .wide = spec->answers};
    RUNG_TRY(rung_instance_init(&j->instance, task, err));
    RUNG_TRY(make_room(j, 1, err));
    j->at = rung_calloc(task->tokens, sizeof *j->at, err);
    return j->at ? rung_session_new(&j->session, program, tokens, err) : RUNG_SYSTEM;
}

void rung_judge_clear(rung_judge *j)
{
    prefixes_free(j->prefixes);
    rung_session_free(j->session);
    rung_instance_clear(&j->instance);
    free(j->out);
    free(j->at);
    memset(j, 0, sizeof *j);
}

rung_prompt rung_judge_prompt(const rung_judge *j, size_t first, size_t tokens)
{
    assert(first <= j->task->tokens && tokens <= j->task->tokens - first);
    return (rung_prompt){.token = j->task->vocab ? j->instance.token + first : NULL,
                         .feature = j->task->d_in ? j->instance.feature + first * j->task->d_in : NULL,
                         .tokens = tokens};
}

static void find_targets(rung_judge *j)
{
    j->targets = 0;
    for (size_t t = 0; t < j->instance.tokens; t++)
        if (j->instance.target[t] != RUNG_NO_TARGET) j->at[j->targets++] = t;
}

rung_status rung_judge_share(rung_judge *j, rung_error *err)
{
    return j->prefixes ? RUNG_OK : prefixes_new(&j->prefixes, j, err);
}

static rung_status check_thoughts(const rung_judge *j, rung_error *err)
{
    size_t tokens = j->instance.tokens;
    if (j->targets == 1 && j->at[0] + 1 == tokens) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "a model with a chain of thought answers once, at the end, but the prompt of %s asks %zu "
                     "times (up to position %zu of %zu); use a form of the task that asks at the last token",
                     j->task->task->name, j->targets, j->targets ? j->at[j->targets - 1] : 0, tokens);
}

/* Runs the tokens from `first` on; the session has those before. */
static rung_status run_rest(rung_judge *j, size_t first, rung_form form, rung_error *err)
{
    rung_prompt prompt = rung_judge_prompt(j, first, j->instance.tokens - first);
    if (j->spec->thoughts) return rung_session_run_thoughts(j->session, j->out, &j->thoughts, &prompt, form, err);
    for (size_t i = 0; i < j->targets; i++) j->at[i] -= first;
    rung_status status = rung_session_run(j->session, j->out, &prompt, form, j->at, j->targets, err);
    for (size_t i = 0; i < j->targets; i++) j->at[i] += first;
    return status;
}

rung_status rung_judge_run(rung_judge *j, rung_form form, rung_error *err)
{
    size_t first = 0;
    find_targets(j);
    j->thoughts = 0;
    RUNG_TRY(make_room(j, j->targets, err));
    if (j->spec->thoughts) RUNG_TRY(check_thoughts(j, err));
    if (j->prefixes)
        prefixes_continue(&first, j->prefixes);
    else
        rung_session_reset(j->session);
    rung_status status = run_rest(j, first, form, err);
    if (status != RUNG_INPUT || first == 0) return status;
    rung_session_reset(j->session); /* the message of a whole run names the first layer that stops */
    return run_rest(j, 0, form, err);
}

int32_t rung_judge_answer(const rung_judge *j, size_t i)
{
    assert(i < j->room && j->wide > j->spec->thoughts);
    size_t row = rung_argmax(j->out + i * j->wide, j->wide);
    return row < j->wide - j->spec->thoughts ? (int32_t)row : RUNG_NO_TARGET;
}

double rung_judge_distance(const rung_judge *j, size_t i)
{
    assert(i < j->targets && j->task->d_out <= j->wide);
    const double *row = j->out + i * j->wide;
    const float *want = j->instance.target_value + j->at[i] * j->task->d_out;
    double sum = 0;
    for (size_t c = 0; c < j->task->d_out; c++) sum += (row[c] - (double)want[c]) * (row[c] - (double)want[c]);
    return sqrt(sum);
}
