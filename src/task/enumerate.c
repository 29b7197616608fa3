/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Every prompt of a task, by number: the digits of the number in mixed radix are the choices at the positions, the last
 * position varies fastest. Numbers whose row is no prompt are kept, so that a number can be turned into its row without
 * counting the ones before it.
 */
#include "common.h"

#include <assert.h>

rung_ids rung_task_any_id(const rung_task_conf *conf, size_t pos)
{
    (void)pos;
    return (rung_ids){0, conf->vocab};
}

uint64_t rung_task_ids_choices(const rung_task_conf *conf, size_t pos)
{
    return conf->task->ids(conf, pos).count;
}

void rung_task_ids_choose(rung_instance *instance, const rung_task_conf *conf, size_t pos, uint64_t index)
{
    assert(pos < conf->tokens);
    instance->token[pos] = (uint32_t)(conf->task->ids(conf, pos).first + index);
}

uint64_t rung_task_space(const rung_task_conf *conf)
{
    uint64_t space = 1;
    if (!conf->task->choices) return 0;
    for (size_t pos = 0; pos < conf->tokens; pos++) {
        uint64_t choices = conf->task->choices(conf, pos);
        if (choices > UINT64_MAX / space) return UINT64_MAX;
        space *= choices;
    }
    return space;
}

static rung_status no_such_row(const rung_task_conf *conf, uint64_t index, rung_error *err)
{
    if (!conf->task->choices)
        return rung_fail(err, RUNG_USAGE, "task %s: its prompts cannot be enumerated", conf->task->name);
    return rung_fail(err, RUNG_USAGE, "task %s: there is no prompt number %llu, only %llu", conf->task->name,
                     (unsigned long long)index, (unsigned long long)rung_task_space(conf));
}

rung_status rung_task_unrank(rung_instance *instance, bool *is_prompt, const rung_task_conf *conf, uint64_t index,
                             rung_error *err)
{
    uint64_t rest = index;
    rung_error refusal;
    *is_prompt = false;
    if (!conf->task->choices) return no_such_row(conf, index, err);
    rung_task_blank(instance, conf);
    instance->tokens = conf->tokens;
    for (size_t pos = conf->tokens; pos-- > 0;) {
        uint64_t choices = conf->task->choices(conf, pos);
        conf->task->choose(instance, conf, pos, rest % choices);
        rest /= choices;
    }
    if (rest > 0) return no_such_row(conf, index, err);
    rung_status status = rung_task_finish(instance, conf, &refusal);
    if (status == RUNG_INPUT) return RUNG_OK;
    if (status != RUNG_OK) return rung_fail(err, status, "%s", refusal.text);
    *is_prompt = !conf->task->promise || conf->task->promise(instance, conf);
    return RUNG_OK;
}
