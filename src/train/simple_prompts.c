/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Simpler prompts for training. Few values: the entries of each table are drawn from g of its entries, g = 1, 2, 4, ...
 * equally likely. With g = 1 attention need not choose at all to be right, with g = 2 a rough choice is right half of
 * the time: so there is a slope at every stage of learning, where uniform tables have a plateau. Growth: the tables
 * keep their places, but questions ask about their first entries only.
 */
#include "data.h"

#include <string.h>

enum { LEVELS = 64 };

static bool is_two_sum(const rung_task_conf *task)
{
    return strcmp(task->task->name, "two-sum") == 0;
}

/* Ids of tokens that are a value and nothing else: id = first + answer. A pair of key and value is no such token. */
static bool find_values(rung_ids *values, const rung_task_conf *task)
{
    *values = (rung_ids){0, 0};
    if (!task->task->vote || !task->vocab || !task->answers) return false;
    for (uint32_t id = 0; id < task->vocab; id++) {
        int32_t answer = task->task->vote(task, id);
        if (answer == RUNG_NO_TARGET) continue;
        if (values->count == 0) values->first = id;
        if ((size_t)answer != values->count || id != values->first + values->count) return false;
        values->count++;
    }
    return values->count > 0;
}

rung_status train_few_check(rung_ids *values, const rung_task_conf *task, rung_error *err)
{
    *values = (rung_ids){0, 0};
    if (train_is_seqcomp(task)) return train_seqcomp_check(task, "prompts with few values", err);
    if (is_two_sum(task) && rung_task_param(task, "form") == 0) return RUNG_OK;
    if (find_values(values, task)) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "task %s with these parameters has no tokens that are values alone; leave out "
                     "--few-values",
                     task->task->name);
}

/* The number of distinct values, at most: a power of two, at most `count`. */
static size_t draw_distinct(size_t count, rung_rng *rng)
{
    size_t levels = 1;
    while (levels < LEVELS - 1 && ((size_t)1 << levels) <= count) levels++;
    return (size_t)1 << rung_rng_below(rng, levels);
}

/* Entries at[0..count) of the prompt, in a random order from g of them. Entry u < g serves as value u; those behind it
 * are drawn before it is overwritten. */
static void draw_few(uint32_t *token, const size_t *at, size_t count, rung_rng *rng)
{
    size_t g = draw_distinct(count, rng);
    for (size_t u = count; u-- > g;) token[at[u]] = token[at[rung_rng_below(rng, g)]];
    for (size_t u = count; u-- > 1;) {
        size_t other = rung_rng_below(rng, u + 1);
        uint32_t kept = token[at[u]];
        token[at[u]] = token[at[other]], token[at[other]] = kept;
    }
}

static void list_span(size_t *at, size_t first, size_t count)
{
    for (size_t u = 0; u < count; u++) at[u] = first + u;
}

static size_t list_values(size_t *at, const rung_instance *instance, rung_ids values)
{
    size_t count = 0;
    for (size_t t = 0; t < instance->tokens; t++)
        if (instance->token[t] - values.first < values.count) at[count++] = t;
    return count;
}

void train_few_values(rung_instance *instance, size_t *at, rung_ids values, const rung_task_conf *task, rung_rng *rng)
{
    size_t first, count;
    if (train_is_seqcomp(task)) {
        for (size_t l = 1; l <= (size_t)rung_task_param(task, "L"); l++) {
            train_seqcomp_table(&first, &count, task, l);
            list_span(at, first, count);
            draw_few(instance->token, at, count, rng);
        }
        return;
    }
    if (is_two_sum(task)) {
        first = rung_task_param(task, "blank") == 1;
        count = instance->tokens - 1 - first;
        list_span(at, first, count);
    } else {
        count = list_values(at, instance, values);
    }
    if (count) draw_few(instance->token, at, count, rng);
}

bool train_few_answers(rung_instance *instance, const rung_task_conf *task)
{
    if (strcmp(task->task->name, "percom") != 0) return false;
    size_t n = task->answers;
    for (size_t i = n; i < 2 * n; i++) instance->target[i] = (int32_t)instance->token[instance->token[i] - n];
    return true;
}

bool train_draw_partner(rung_instance *instance, const rung_task_conf *task, rung_rng *rng)
{
    if (!is_two_sum(task) || rung_task_param(task, "form") != 0) return false;
    size_t m = (size_t)rung_task_param(task, "M"), first = rung_task_param(task, "blank") == 1;
    size_t at = first + rung_rng_below(rng, task->tokens - 1 - first);
    instance->token[task->tokens - 1] = (uint32_t)(m + (m - instance->token[at] % m) % m);
    return true;
}

size_t train_grown(size_t count, double grown)
{
    size_t part = (size_t)(grown * (double)count);
    return part < 1 ? 1 : part < count ? part : count;
}
