/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * parity-recall: two tables f_0, f_1 of N entries, a key x, then bits; the answer is f_b(x), where b is the parity of
 * the bits. Steifer 2026 (arXiv 2605.16640) shows with a parity-conditioned retrieval task that recurrent layers and
 * attention together need few thoughts where each alone needs many or cannot. This is our form of such a task: the key
 * comes before the bits, and a token that is always the same asks.
 */
#include "common.h"
#include "symbols.h"
#include "task_rows.h"
#include "yes_no.h"

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 8, 1, 1 << 20, NULL, "entries of each of the two tables"},
    {"V", RUNG_PARAM_INT, 8, 1, 1 << 20, NULL, "values of an entry"},
    {"M", RUNG_PARAM_INT, 16, 1, 1 << 20, NULL, "bits whose parity chooses the table"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* Positions: entry f_b(x) is at 2x + b, then the key, the bits, the question. Ids: values, keys, two bits, the
 * question. */
typedef struct shape {
    size_t entries, keys, values, bits;
} shape;

static shape shape_of(const rung_task_conf *conf)
{
    size_t keys = (size_t)rung_task_param(conf, "N");
    return (shape){2 * keys, keys, (size_t)rung_task_param(conf, "V"), (size_t)rung_task_param(conf, "M")};
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    conf->tokens = s.entries + 1 + s.bits + 1;
    conf->vocab = s.values + s.keys + 3;
    conf->answers = s.values;
    RUNG_TRY(rung_task_check_limits(conf, "N, M or V", err));
    conf->chance = 1 / (double)s.values;
    conf->majority = rung_task_majority_of_table(s.entries, s.values);
    return RUNG_OK;
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    shape s = shape_of(conf);
    if (pos < s.entries) return (rung_ids){0, s.values};
    if (pos == s.entries) return (rung_ids){s.values, s.keys};
    return pos + 1 < conf->tokens ? (rung_ids){s.values + s.keys, 2} : (rung_ids){s.values + s.keys + 2, 1};
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)err;
    instance->tokens = conf->tokens;
    for (size_t t = 0; t < conf->tokens; t++) {
        rung_ids range = ids(conf, t);
        instance->token[t] = (uint32_t)(range.first + rung_rng_below(rng, range.count));
    }
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    uint32_t value, key = 0, parity = 0;
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    for (size_t t = 0; t < conf->tokens; t++) {
        rung_ids range = ids(conf, t);
        bool last = t + 1 == conf->tokens;
        const char *what = t < s.entries ? "an entry" : t == s.entries ? "a key" : last ? "the question" : "a bit";
        RUNG_TRY(rung_task_expect_token(&value, instance, conf, t, range.first, range.count, what, err));
        if (t == s.entries) key = value;
        if (t > s.entries && !last) parity ^= value;
    }
    rung_task_answer_last(instance, (int32_t)instance->token[2 * key + parity]);
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    shape s = shape_of(conf);
    instance->player_count = 0;
    rung_task_player_add(instance, "tables", s.entries);
    rung_task_player_add(instance, "key", 1);
    rung_task_player_add(instance, "bits", s.bits);
    rung_task_player_add(instance, "query", 1);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    shape s = shape_of(conf);
    if (token < s.values)
        rung_buf_printf(out, "v%u", token);
    else if (token < s.values + s.keys)
        rung_buf_printf(out, "x%zu", token - s.values);
    else if (token < s.values + s.keys + 2)
        rung_buf_printf(out, "b%zu", token - s.values - s.keys);
    else
        rung_buf_puts(out, "?");
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    shape s = shape_of(conf);
    size_t number;
    rung_task_word_numbers(&number, 1, word, len);
    if (word[0] == 'v') return (uint32_t)number;
    if (word[0] == 'x') return (uint32_t)(s.values + number);
    return (uint32_t)(s.values + s.keys + (word[0] == 'b' ? number : 2));
}

const rung_task rung_task_parity_recall = {
    .name = "parity-recall",
    .summary = "an entry of one of two tables; the parity of bits says which",
    .source = "after the parity-conditioned retrieval of Steifer 2026 (arXiv 2605.16640); the form is ours",
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
