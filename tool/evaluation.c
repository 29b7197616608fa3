/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model at work on a task.
 */
#include "evaluation.h"

#include <stdlib.h>

rung_status rung_evaluation_start(rung_evaluation *e, const rung_fmt *numbers, size_t threads, rung_error *err)
{
    e->wide = e->task.answers ? e->task.answers : e->task.d_out;
    rung_status status = rung_instance_init(&e->instance, &e->task, err);
    e->has_instance = status == RUNG_OK;
    if (status != RUNG_OK) return status;
    e->at = rung_calloc(e->task.tokens, sizeof *e->at, err);
    status =
        e->at ? rung_program_new(&e->program, e->model, &(rung_evaluator){.numbers = numbers, .threads = threads}, err)
              : RUNG_SYSTEM;
    if (status == RUNG_OK) status = rung_session_new(&e->session, e->program, e->task.tokens, err);
    return status;
}

void rung_evaluation_close(rung_evaluation *e)
{
    rung_session_free(e->session);
    rung_program_free(e->program);
    if (e->has_instance) rung_instance_clear(&e->instance);
    rung_model_close(e->model);
    free(e->out);
    free(e->at);
}

size_t rung_evaluation_targets(rung_evaluation *e)
{
    size_t count = 0;
    for (size_t t = 0; t < e->instance.tokens; t++)
        if (e->instance.target[t] != RUNG_NO_TARGET) e->at[count++] = t;
    return count;
}

rung_status rung_evaluation_room(rung_evaluation *e, size_t targets, rung_error *err)
{
    size_t elements;
    if (targets <= e->out_targets) return RUNG_OK;
    if (!rung_size_mul(&elements, targets, e->wide))
        return rung_fail(err, RUNG_SYSTEM, "%zu read-outs of %zu answers do not fit into memory", targets, e->wide);
    free(e->out);
    e->out = rung_calloc(elements, sizeof *e->out, err);
    e->out_targets = e->out ? targets : 0;
    return e->out ? RUNG_OK : RUNG_SYSTEM;
}

rung_prompt rung_evaluation_prompt(const rung_evaluation *e, size_t first, size_t tokens)
{
    return (rung_prompt){.token = e->task.vocab ? e->instance.token + first : NULL,
                         .feature = e->task.d_in ? e->instance.feature + first * e->task.d_in : NULL,
                         .tokens = tokens};
}
