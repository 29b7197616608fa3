/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Predictions on drawn prompts, and what every position of one prompt carries.
 */
#include <math.h>
#include <stdlib.h>

#include "rung/verify.h"

/* ---- many prompts ---------------------------------------------------------------------------------------------- */

static void score(rung_tally *t, double *squared_error, const rung_judge *j, uint64_t index, size_t keep)
{
    t->thoughts += j->thoughts;
    for (size_t i = 0; i < j->targets; i++) {
        t->targets++;
        if (!j->task->answers) {
            double distance = rung_judge_distance(j, i);
            *squared_error += distance * distance;
            continue;
        }
        rung_prediction p = {index, j->at[i], j->instance.target[j->at[i]], rung_judge_answer(j, i)};
        t->right += p.answer == p.target;
        if (t->kept_count < keep) t->kept[t->kept_count++] = p;
    }
}

static void sum_up(rung_tally *t, double squared_error)
{
    t->interval = rung_wilson(t->right, t->targets);
    if (!t->targets) return;
    t->accuracy = (double)t->right / (double)t->targets;
    t->rms_distance = sqrt(squared_error / (double)t->targets);
}

rung_status rung_judge_tally(rung_tally *t, rung_judge *j, const rung_tally_options *conf, rung_error *err)
{
    double squared_error = 0;
    rung_status status = RUNG_OK;
    *t = (rung_tally){.kept = rung_calloc(conf->keep + 1, sizeof *t->kept, err)};
    if (!t->kept) return RUNG_SYSTEM;
    for (uint64_t i = 0; status == RUNG_OK && i < conf->count; i++) {
        uint64_t index = conf->first + i;
        if (conf->interrupted && conf->interrupted()) break;
        status = rung_task_make(&j->instance, j->task, conf->seed, index, err);
        if (status != RUNG_OK) break;
        status = rung_judge_run(j, conf->form, err);
        if (status != RUNG_OK) rung_fail_at(err, status, "prompt %llu", (unsigned long long)index);
        if (status == RUNG_OK) score(t, &squared_error, j, index, conf->keep);
        t->prompts++;
        if (conf->progress) rung_progress_tick(conf->progress, i + 1);
    }
    sum_up(t, squared_error);
    return status;
}

void rung_tally_clear(rung_tally *t)
{
    free(t->kept);
}

/* ---- one prompt, token by token -------------------------------------------------------------------------------- */

rung_position_bits rung_judge_bits(const rung_judge *j, const rung_model *model)
{
    rung_position_bits bits = {0};
    for (size_t i = 0; i < rung_model_get_arch(model)->layer_count; i++) {
        const rung_carry_bits layer = rung_session_carry_bits(j->session, i);
        bits.recurrent += layer.recurrent, bits.conv += layer.conv;
        bits.window += layer.window, bits.cache += layer.cache;
    }
    bits.total = rung_session_state_bits(j->session);
    return bits;
}

rung_status rung_judge_walk(rung_judge *j, bool (*each)(void *context, const rung_judge *judge, size_t position),
                            void *context, rung_error *err)
{
    const size_t last = 0;
    rung_status status = RUNG_OK;
    for (size_t t = 0; status == RUNG_OK && t < j->instance.tokens; t++) {
        rung_prompt prompt = rung_judge_prompt(j, t, 1);
        status = rung_session_run(j->session, j->out, &prompt, RUNG_FORM_STEP, &last, 1, err);
        if (status == RUNG_OK && !each(context, j, t)) break;
    }
    return status;
}
