/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * state-recall: an array, a few registers that point into it, steps that exchange registers, and the question what a
 * register points to. So one must keep track of a state, here a permutation of the registers, and then recall what it
 * selects: state-based recall, the kind of problem for which Merrill et al. 2026 (Olmo Hybrid, arXiv 2604.03444)
 * combine recurrent layers with attention. Registers, steps and tokens are ours.
 */
#include "common.h"
#include "symbols.h"
#include "task_rows.h"
#include "yes_no.h"

enum { REGISTERS_MAX = 64 };

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 20, NULL, "entries of the array"},
    {"V", RUNG_PARAM_INT, 8, 1, 1 << 20, NULL, "values of an entry"},
    {"K", RUNG_PARAM_INT, 5, 2, REGISTERS_MAX, NULL, "registers"},
    {"M", RUNG_PARAM_INT, 16, 1, 1 << 20, NULL, "steps, each of which exchanges two registers"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* The parts of a prompt, in their order: how many tokens each has, and its ids. */
enum { PART_ARRAY, PART_REGISTERS, PART_STEPS, PART_QUERY, PARTS };

typedef struct shape {
    size_t tokens[PARTS], first[PARTS], ids[PARTS];
} shape;

static shape shape_of(const rung_task_conf *conf)
{
    size_t entries = (size_t)rung_task_param(conf, "N"), registers = (size_t)rung_task_param(conf, "K");
    shape s = {.tokens = {entries, registers, (size_t)rung_task_param(conf, "M"), 1},
               .ids = {(size_t)rung_task_param(conf, "V"), entries, registers * (registers - 1) / 2, registers}};
    for (size_t part = 1; part < PARTS; part++) s.first[part] = s.first[part - 1] + s.ids[part - 1];
    return s;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    conf->tokens = conf->vocab = 0;
    for (size_t part = 0; part < PARTS; part++) conf->tokens += s.tokens[part], conf->vocab += s.ids[part];
    conf->answers = s.ids[PART_ARRAY];
    RUNG_TRY(rung_task_check_limits(conf, "N, M or V", err));
    conf->chance = 1 / (double)conf->answers;
    conf->majority = rung_task_majority_of_table(s.tokens[PART_ARRAY], conf->answers);
    return RUNG_OK;
}

static size_t part_at(const shape *s, size_t pos)
{
    size_t part = PART_ARRAY;
    while (part + 1 < PARTS && pos >= s->tokens[part]) pos -= s->tokens[part++];
    return part;
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    shape s = shape_of(conf);
    size_t part = part_at(&s, pos);
    return (rung_ids){s.first[part], s.ids[part]};
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    shape s = shape_of(conf);
    size_t t = 0;
    (void)err;
    instance->tokens = conf->tokens;
    for (size_t part = 0; part < PARTS; part++)
        for (size_t i = 0; i < s.tokens[part]; i++)
            instance->token[t++] = (uint32_t)(s.first[part] + rung_rng_below(rng, s.ids[part]));
    return RUNG_OK;
}

/* Step number k, in the order 1-0 2-0 2-1 3-0 ... */
static void registers_of_step(size_t *low, size_t *high, size_t k)
{
    *high = 1;
    while (k >= *high) k -= (*high)++;
    *low = k;
}

static rung_status read_part(uint32_t *value, const rung_instance *instance, const rung_task_conf *conf, const shape *s,
                             size_t part, size_t position, rung_error *err)
{
    static const char *const what[PARTS] = {"an entry", "a pointer", "a step", "a question"};
    return rung_task_expect_token(value, instance, conf, position, s->first[part], s->ids[part], what[part], err);
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    uint32_t pointer[REGISTERS_MAX], value, asked;
    size_t t = 0;
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    for (size_t i = 0; i < s.tokens[PART_ARRAY]; i++)
        RUNG_TRY(read_part(&value, instance, conf, &s, PART_ARRAY, t++, err));
    for (size_t i = 0; i < s.tokens[PART_REGISTERS]; i++)
        RUNG_TRY(read_part(&pointer[i], instance, conf, &s, PART_REGISTERS, t++, err));
    for (size_t i = 0; i < s.tokens[PART_STEPS]; i++) {
        size_t low, high;
        RUNG_TRY(read_part(&value, instance, conf, &s, PART_STEPS, t++, err));
        registers_of_step(&low, &high, value);
        uint32_t moved = pointer[low];
        pointer[low] = pointer[high];
        pointer[high] = moved;
    }
    RUNG_TRY(read_part(&asked, instance, conf, &s, PART_QUERY, t, err));
    rung_task_answer_last(instance, (int32_t)instance->token[pointer[asked]]);
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    static const char *const names[PARTS] = {"array", "registers", "steps", "query"};
    shape s = shape_of(conf);
    instance->player_count = 0;
    for (size_t part = 0; part < PARTS; part++) rung_task_player_add(instance, names[part], s.tokens[part]);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    shape s = shape_of(conf);
    size_t low, high;
    if (token < s.first[PART_REGISTERS]) {
        rung_buf_printf(out, "v%u", token);
    } else if (token < s.first[PART_STEPS]) {
        rung_buf_printf(out, "p%zu", token - s.first[PART_REGISTERS]);
    } else if (token < s.first[PART_QUERY]) {
        registers_of_step(&low, &high, token - s.first[PART_STEPS]);
        rung_buf_printf(out, "r%zu-r%zu", low, high);
    } else {
        rung_buf_printf(out, "r%zu?", token - s.first[PART_QUERY]);
    }
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    shape s = shape_of(conf);
    size_t number[2], found = rung_task_word_numbers(number, 2, word, len);
    if (word[0] == 'v') return (uint32_t)number[0];
    if (word[0] == 'p') return (uint32_t)(s.first[PART_REGISTERS] + number[0]);
    if (found < 2) return (uint32_t)(s.first[PART_QUERY] + number[0]);
    return (uint32_t)(s.first[PART_STEPS] + (number[1] % REGISTERS_MAX) * (number[1] % REGISTERS_MAX - 1) / 2 +
                      number[0]);
}

const rung_task rung_task_state_recall = {
    .name = "state-recall",
    .summary = "what a register points to after registers were exchanged",
    .source = "after the state-based recall of Merrill et al. 2026 (Olmo Hybrid, arXiv 2604.03444); the form is ours",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_value_word,
    .vote = rung_symbols_vote,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
};
