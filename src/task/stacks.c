/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * stacks: T operations on S stacks, each of which pushes a value onto one of them or pops one; the answer at a pop is
 * the value that it removes (one of the three synthetic tasks with which Kimi Linear was designed, arXiv 2510.26692,
 * with 64 stacks). There an operation is several tokens. Here it is one, and nothing is popped off an empty stack.
 */
#include <stdlib.h>

#include "common.h"
#include "symbols.h"
#include "task_rows.h"

static const rung_param params[] = {
    {"T", RUNG_PARAM_INT, 64, 2, 1 << 16, NULL, "operations"},
    {"S", RUNG_PARAM_INT, 8, 1, 1 << 12, NULL, "stacks"},
    {"V", RUNG_PARAM_INT, 8, 1, 1 << 16, NULL, "values"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static size_t stacks_of(const rung_task_conf *conf)
{
    return (size_t)rung_task_param(conf, "S");
}

/* Ids: stack * V + value pushes the value, S * V + stack pops. */
static size_t first_pop(const rung_task_conf *conf)
{
    return conf->vocab - stacks_of(conf);
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    conf->tokens = (size_t)rung_task_param(conf, "T");
    conf->answers = (size_t)rung_task_param(conf, "V");
    conf->vocab = stacks_of(conf) * (conf->answers + 1);
    conf->chance = 1 / (double)conf->answers;
    RUNG_TRY(rung_task_check_limits(conf, "S or V", err));
    return rung_task_majority_by_probe(conf, err);
}

/* ---- prompts ---- */

/* The stacks that are not empty, in no order, so that one of them can be drawn. */
typedef struct open_stacks {
    uint32_t *stack, *place, *height; /* [count] of them; where each stack is listed; how many values it holds */
    size_t count, values;             /* values: on all stacks */
} open_stacks;

static void push(open_stacks *open, uint32_t stack)
{
    if (open->height[stack]++ == 0) {
        open->place[stack] = (uint32_t)open->count;
        open->stack[open->count++] = stack;
    }
    open->values++;
}

static void pop(open_stacks *open, uint32_t stack)
{
    open->values--;
    if (--open->height[stack] > 0) return;
    uint32_t last = open->stack[--open->count];
    open->stack[open->place[stack]] = last;
    open->place[last] = open->place[stack];
}

/* Push and pop are equally likely where both are possible. The last operation is a pop, so the one before leaves it
 * something. */
static void draw(rung_instance *instance, const rung_task_conf *conf, open_stacks *open, rung_rng *rng)
{
    size_t stacks = stacks_of(conf), pops = first_pop(conf);
    for (size_t t = 0; t < conf->tokens; t++) {
        bool last = t + 1 == conf->tokens, scarce = t + 2 == conf->tokens && open->values == 1;
        bool pops_now = open->count > 0 && !scarce && (rung_rng_below(rng, 2) || last);
        uint32_t stack =
            (uint32_t)(pops_now ? open->stack[rung_rng_below(rng, open->count)] : rung_rng_below(rng, stacks));
        if (pops_now) {
            pop(open, stack);
            instance->token[t] = (uint32_t)pops + stack;
        } else {
            push(open, stack);
            instance->token[t] = stack * (uint32_t)conf->answers + (uint32_t)rung_rng_below(rng, conf->answers);
        }
    }
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t stacks = stacks_of(conf);
    uint32_t *memory = rung_calloc(3 * stacks, sizeof *memory, err);
    if (!memory) return RUNG_SYSTEM;
    open_stacks open = {.stack = memory, .place = memory + stacks, .height = memory + 2 * stacks};
    instance->tokens = conf->tokens;
    draw(instance, conf, &open, rng);
    free(memory);
    return RUNG_OK;
}

/* ---- answers ---- */

/* A stack is a list through the prompt: top[s] is one more than the position of its last push, below[t] the same for
 * what lies under the value of position t. */
static rung_status answer(rung_instance *instance, const rung_task_conf *conf, uint32_t *top, uint32_t *below,
                          rung_error *err)
{
    size_t pops = first_pop(conf), targets = 0;
    for (size_t t = 0; t < conf->tokens; t++) {
        uint32_t token;
        RUNG_TRY(rung_task_expect_token(&token, instance, conf, t, 0, conf->vocab, "an operation", err));
        instance->target[t] = RUNG_NO_TARGET;
        if (token < pops) {
            uint32_t stack = token / (uint32_t)conf->answers;
            below[t] = top[stack];
            top[stack] = (uint32_t)t + 1;
            continue;
        }
        uint32_t stack = token - (uint32_t)pops, last = top[stack];
        if (last == 0)
            return rung_fail(err, RUNG_INPUT, "task stacks: position %zu pops stack %u, which is empty", t, stack);
        instance->target[t] = (int32_t)(instance->token[last - 1] % conf->answers);
        top[stack] = below[last - 1];
        targets++;
    }
    if (targets > 0) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "task stacks: no operation pops, so nothing is asked");
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    uint32_t *memory = rung_calloc(stacks_of(conf) + conf->tokens, sizeof *memory, err);
    if (!memory) return RUNG_SYSTEM;
    rung_status status = answer(instance, conf, memory, memory + stacks_of(conf), err);
    free(memory);
    return status;
}

/* ---- text ---- */

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    size_t pops = first_pop(conf);
    if (token < pops)
        rung_buf_printf(out, "push%zu:v%zu", token / conf->answers, token % conf->answers);
    else
        rung_buf_printf(out, "pop%zu", token - pops);
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    size_t number[2], found = rung_task_word_numbers(number, 2, word, len);
    return (uint32_t)(found < 2 ? first_pop(conf) + number[0] : number[0] * conf->answers + number[1]);
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    return token < first_pop(conf) ? (int32_t)(token % conf->answers) : RUNG_NO_TARGET;
}

const rung_task rung_task_stacks = {
    .name = "stacks",
    .summary = "the values that come off several stacks",
    .source = "Kimi Linear, arXiv 2510.26692 (Stack); that an operation is one token is ours",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .token_word = token_word,
    .answer_word = rung_symbols_value_word,
    .vote = vote,
    .token_read = token_read,
    RUNG_TASK_IDS(rung_task_any_id),
};
