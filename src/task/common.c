/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Code that the task files share; see common.h.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "common.h"

const char *const rung_task_uniform_only[] = {"uniform", NULL};

void rung_task_param_default(rung_task_conf *conf, const char *name, int64_t number)
{
    size_t index = rung_param_find(conf->task->params, name);
    assert(index != SIZE_MAX);
    if (conf->params[index].number == 0) conf->params[index].number = number;
}

rung_status rung_task_too_large(const rung_task_conf *conf, const char *param, rung_error *err)
{
    return rung_fail(err, RUNG_USAGE,
                     "task %s: the prompt would be larger than any that fits (%zu tokens, %zu token ids); lower %s",
                     conf->task->name, RUNG_TASK_TOKENS_MAX, RUNG_TASK_VOCAB_MAX, param);
}

rung_status rung_task_check_limits(const rung_task_conf *conf, const char *param, rung_error *err)
{
    const struct {
        const char *what;
        size_t have, limit;
    } checks[] = {
        {"tokens", conf->tokens, RUNG_TASK_TOKENS_MAX},
        {"token ids", conf->vocab, RUNG_TASK_VOCAB_MAX},
        {"answers", conf->answers, RUNG_TASK_VOCAB_MAX},
    };
    for (size_t i = 0; i < RUNG_COUNT(checks); i++)
        if (checks[i].have > checks[i].limit)
            return rung_fail(err, RUNG_USAGE, "task %s: %zu %s, and the limit is %zu; lower %s", conf->task->name,
                             checks[i].have, checks[i].what, checks[i].limit, param);
    return RUNG_OK;
}

void rung_task_forget(rung_instance *instance, const rung_task_conf *conf)
{
    instance->tokens = 0;
    instance->player_count = 0;
    for (size_t t = 0; t < conf->tokens; t++) instance->target[t] = RUNG_NO_TARGET;
}

rung_status rung_task_expect_tokens(const rung_instance *instance, const rung_task_conf *conf, size_t want,
                                    rung_error *err)
{
    if (instance->tokens == want) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "task %s: the prompt has %zu tokens, and these parameters need %zu",
                     conf->task->name, instance->tokens, want);
}

rung_status rung_task_expect_token(uint32_t *value, const rung_instance *instance, const rung_task_conf *conf,
                                   size_t position, size_t first, size_t count, const char *what, rung_error *err)
{
    assert(position < instance->tokens);
    uint32_t token = instance->token[position];
    if (token < first || token - first >= count)
        return rung_fail(err, RUNG_INPUT, "task %s: position %zu holds token id %u, and %s has ids %zu to %zu",
                         conf->task->name, position, token, what, first, first + count - 1);
    *value = (uint32_t)(token - first);
    return RUNG_OK;
}

size_t rung_task_word_numbers(size_t *numbers, size_t max, const char *word, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < max; i++) numbers[i] = 0;
    for (size_t i = 0; i < len && count < max; i++) {
        if (!isdigit((unsigned char)word[i])) continue;
        for (; i < len && isdigit((unsigned char)word[i]); i++)
            numbers[count] = numbers[count] * 10 + (size_t)(word[i] - '0');
        count++;
    }
    return count;
}

void rung_task_player_add(rung_instance *instance, const char *name, size_t len)
{
    assert(instance->player_count < RUNG_PLAYERS_MAX);
    size_t start = 0;
    if (instance->player_count > 0) {
        const rung_span *before = &instance->player[instance->player_count - 1];
        start = before->start + before->len;
    }
    rung_span *span = &instance->player[instance->player_count++];
    snprintf(span->name, sizeof span->name, "%s", name);
    span->start = start;
    span->len = len;
}

void rung_task_players_two(rung_instance *instance, size_t cut, const char *first, const char *second)
{
    assert(cut <= instance->tokens);
    instance->player_count = 0;
    rung_task_player_add(instance, first, cut);
    rung_task_player_add(instance, second, instance->tokens - cut);
}
