/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * assoc-recall: N pairs of a key and a value, then a key that occurs exactly once; the answer is the token
 * that follows it (Wen, Dang, Lyu 2025). A query has the id of the key that it repeats: finding the earlier
 * copy and reading one token further is the task. A recurrent state must hold all pairs, which is N log V
 * bits and more.
 */
#include <stdlib.h>

#include "common.h"
#include "halves.h"
#include "symbols.h"
#include "task_rows.h"
#include "text_form.h"

enum { DIST_UNIFORM, DIST_DISTINCT };
static const char *const dist_names[] = {"uniform", "distinct", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 22, NULL, "pairs; the prompt has 2N + 1 tokens"},
    {"K", RUNG_PARAM_INT, 0, 0, 1 << 23, NULL, "keys to draw from, at least N; 0 means 2N"},
    {"V", RUNG_PARAM_INT, 16, 1, 1 << 23, NULL, "values"},
    {"dist", RUNG_PARAM_CHOICE, DIST_UNIFORM, 0, 0, dist_names, "values independent, or all different"},
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t pairs = (size_t)rung_task_param(conf, "N"), values = (size_t)rung_task_param(conf, "V");
    rung_task_param_default(conf, "K", (int64_t)(2 * pairs));
    size_t keys = (size_t)rung_task_param(conf, "K");
    bool distinct = rung_task_param(conf, "dist") == DIST_DISTINCT;
    if (keys < pairs)
        return rung_fail(err, RUNG_USAGE, "task assoc-recall: K=%zu keys are too few for N=%zu; raise K", keys, pairs);
    if (distinct && values < pairs)
        return rung_fail(err, RUNG_USAGE, "task assoc-recall: dist=distinct needs V >= N, and V=%zu, N=%zu; raise V",
                         values, pairs);
    conf->tokens = 2 * pairs + 1;
    conf->vocab = keys + values;
    conf->answers = values;
    conf->chance = 1 / (double)values;
    conf->majority = distinct ? 1 / (double)pairs : rung_task_majority_of_table(pairs, values);
    return RUNG_OK;
}

static rung_status draw_values(uint32_t *value, size_t pairs, const rung_task_conf *conf, rung_rng *rng,
                               rung_error *err)
{
    uint32_t values = (uint32_t)conf->answers;
    if (rung_task_param(conf, "dist") == DIST_DISTINCT) return rung_rng_sample(rng, value, pairs, values, err);
    for (size_t i = 0; i < pairs; i++) value[i] = (uint32_t)rung_rng_below(rng, values);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t pairs = (size_t)rung_task_param(conf, "N");
    uint32_t keys = (uint32_t)rung_task_param(conf, "K");
    uint32_t *key = rung_calloc(2 * pairs, sizeof *key, err);
    if (!key) return RUNG_SYSTEM;
    uint32_t *value = key + pairs;
    rung_status status = rung_rng_sample(rng, key, pairs, keys, err);
    RUNG_NEXT(status, draw_values(value, pairs, conf, rng, err));
    for (size_t i = 0; i < pairs; i++) {
        instance->token[2 * i] = key[i];
        instance->token[2 * i + 1] = keys + value[i];
    }
    instance->token[2 * pairs] = key[rung_rng_below(rng, pairs)];
    instance->tokens = 2 * pairs + 1;
    free(key);
    return status;
}

/* Reads pair i. */
static rung_status read_pair(uint32_t *key, uint32_t *value, size_t i, const rung_instance *instance,
                             const rung_task_conf *conf, rung_error *err)
{
    size_t keys = (size_t)rung_task_param(conf, "K");
    RUNG_TRY(rung_task_expect_token(key, instance, conf, 2 * i, 0, keys, "a key", err));
    return rung_task_expect_token(value, instance, conf, 2 * i + 1, keys, conf->answers, "a value", err);
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t pairs = (size_t)rung_task_param(conf, "N"), found = 0;
    uint32_t query, key = 0, value = 0, answer = 0;
    rung_status status = rung_task_expect_tokens(instance, conf, 2 * pairs + 1, err);
    RUNG_TRY(status);
    status =
        rung_task_expect_token(&query, instance, conf, 2 * pairs, 0, (size_t)rung_task_param(conf, "K"), "a key", err);
    for (size_t i = 0; i < pairs && status == RUNG_OK; i++) {
        status = read_pair(&key, &value, i, instance, conf, err);
        if (status != RUNG_OK || key != query) continue;
        found++;
        answer = value;
    }
    RUNG_TRY(status);
    if (found != 1)
        return rung_fail(err, RUNG_INPUT,
                         "task assoc-recall: position %zu asks for key k%u, which occurs %zu times before; "
                         "once is needed",
                         2 * pairs, query, found);
    rung_task_answer_last(instance, (int32_t)answer);
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    (void)conf;
    rung_task_players_two(instance, instance->tokens - 1, "pairs", "query");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    uint32_t keys = (uint32_t)rung_task_param(conf, "K");
    if (token < keys)
        rung_buf_printf(out, "k%u", token);
    else
        rung_symbols_value_word(out, conf, (int32_t)(token - keys));
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    uint32_t keys = (uint32_t)rung_task_param(conf, "K");
    return token < keys ? RUNG_NO_TARGET : (int32_t)(token - keys);
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    size_t keys = (size_t)rung_task_param(conf, "K");
    return pos % 2 ? (rung_ids){keys, conf->answers} : (rung_ids){0, keys};
}

static bool keys_differ(const rung_instance *instance, const rung_task_conf *conf)
{
    (void)conf;
    for (size_t i = 0; i + 1 < instance->tokens; i += 2)
        for (size_t j = 0; j < i; j += 2)
            if (instance->token[i] == instance->token[j]) return false;
    return true;
}

const rung_task rung_task_assoc_recall = {
    .name = "assoc-recall",
    .summary = "N key-value pairs, then a key: the value that follows it",
    .source = "Wen, Dang, Lyu 2025: one retrieval for attention, N log V bits for a recurrent state",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_value_word,
    .vote = vote,
    RUNG_TASK_IDS(ids),
    .promise = keys_differ,
    .text = &rung_text_assoc_recall,
};
