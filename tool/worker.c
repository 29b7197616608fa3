/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model, a task and an evaluator from the command line; see worker.h.
 */
#include <string.h>

#include "worker.h"

static rung_status choose_task(tool_worker *s, const tool_call *call, rung_error *err)
{
    const char *own = rung_model_get_spec(s->model)->task, *other = s->options->task;
    if (!other && call->pairs)
        return rung_fail(err, RUNG_USAGE, "'%s' is a parameter of which task? add --task NAME", call->pair[0]);
    if (!other && !*own)
        return rung_fail(err, RUNG_USAGE, "the model names no task; add --task NAME ('rung list tasks')");
    RUNG_TRY(other ? rung_task_conf_init(&s->task, other, call->pair, call->pairs, err)
                   : rung_task_conf_parse(&s->task, own, err));
    return rung_judge_fits(s->model, &s->task, err);
}

rung_status tool_worker_open(tool_worker *s, const tool_call *call, const tool_worker_options *options, rung_error *err)
{
    bool exact = strcmp(options->numbers, "fp32") != 0;
    *s = (tool_worker){.options = options};
    s->how = (rung_evaluator){.numbers = exact ? &s->fmt : NULL,
                              .softmax = (rung_softmax)options->softmax,
                              .threads = (size_t)options->threads};
    RUNG_TRY(exact ? rung_numbers_parse(&s->numbers, options->numbers, err) : RUNG_OK);
    s->fmt = s->numbers.acc;
    if (s->numbers.mixed) s->how.mixed = &s->numbers;
    RUNG_TRY(rung_model_open(&s->model, call->argument[0], err));
    return choose_task(s, call, err);
}

void tool_worker_close(tool_worker *s)
{
    rung_model_close(s->model);
}

void tool_worker_print(rung_buf *out, const tool_worker *s)
{
    char digest[65];
    rung_model_digest(digest, s->model);
    rung_buf_printf(out, "model    %s, %zu parameters, sha256 %.12s\ntask     ", rung_model_get_spec(s->model)->arch,
                    rung_model_parameters(s->model), digest);
    rung_task_canonical(out, &s->task);
    rung_buf_printf(out, "\nnumbers  %s",
                    !s->how.numbers ? "fp32, fast evaluator"
                    : s->how.mixed  ? s->numbers.name
                                    : s->options->numbers);
    if (s->how.softmax != RUNG_SOFTMAX_ONLINE) rung_buf_printf(out, ", softmax %s", rung_softmax_names[s->how.softmax]);
    rung_buf_putc(out, '\n');
}

void tool_worker_json(rung_jout *out, const tool_worker *s, const tool_call *call)
{
    char digest[65];
    rung_buf task;
    rung_buf_init(&task);
    rung_task_canonical(&task, &s->task);
    rung_model_digest(digest, s->model);
    rung_jout_string(out, "model", call->argument[0]);
    rung_jout_string(out, "sha256", digest);
    rung_jout_string(out, "arch", rung_model_get_spec(s->model)->arch);
    rung_jout_string(out, "task", task.text);
    rung_jout_string(out, "numbers", s->how.mixed ? s->numbers.name : s->options->numbers);
    rung_jout_int(out, "number_bits", s->how.numbers ? s->fmt.bits : 32);
    rung_jout_string(out, "softmax", rung_softmax_names[s->how.softmax]);
    rung_jout_int(out, "seed", call->seed);
    rung_buf_clear(&task);
}
