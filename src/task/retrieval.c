/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Retrieval: N tokens (a_i, b_i) with a_i, b_i in {0,1}^D and the a_i distinct, then a token a that equals
 * one a_i; the answer is b_i. The setting of the retrieval head with binary keys. distinct=0 promises less: only the
 * asked a is the only one of its kind, and the others may repeat.
 */
#include "lookup.h"
#include "task_rows.h"
#include "text_form.h"

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 2048, NULL, "N, pairs; at most 2^D if all keys differ"},
    /* 2^D 2^D + 2^D ids stay below 2^24 up to D = 11. */
    {"D", RUNG_PARAM_INT, 5, 1, 11, NULL, "D, bits of a key and of a value"},
    {"distinct", RUNG_PARAM_SWITCH, 1, 0, 1, NULL, "1: all keys differ; 0: only the asked one differs from all others"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N"), words = (size_t)1 << rung_task_param(conf, "D");
    bool repeats = rung_task_param(conf, "distinct") == 0;
    rung_lookup shape = {.pairs = true, .entries = n, .keys = words, .values = words, .repeats = repeats};
    if (!repeats && shape.entries > shape.keys)
        return rung_fail(err, RUNG_USAGE,
                         "task retrieval: N=%zu distinct keys do not exist with D=%d bits; raise D, or take distinct=0",
                         shape.entries, (int)rung_task_param(conf, "D"));
    return rung_lookup_resolve(conf, &shape, "D", err);
}

static void put_bits(rung_buf *out, const rung_task_conf *conf, size_t word)
{
    for (int64_t bit = rung_task_param(conf, "D"); bit-- > 0;) rung_buf_putc(out, word >> bit & 1 ? '1' : '0');
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    rung_lookup shape = rung_lookup_of(conf);
    size_t first_query = rung_lookup_first_query(&shape);
    if (token >= first_query) {
        put_bits(out, conf, token - first_query);
        rung_buf_putc(out, '?');
        return;
    }
    put_bits(out, conf, token / shape.values);
    rung_buf_putc(out, ':');
    put_bits(out, conf, token % shape.values);
}

/* The bits of a pair are those of key * values + value, one after the other. */
static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    rung_lookup shape = rung_lookup_of(conf);
    uint32_t bits = 0;
    for (size_t i = 0; i < len; i++)
        if (word[i] == '0' || word[i] == '1') bits = 2 * bits + (word[i] == '1');
    return bits + (word[len - 1] == '?' ? (uint32_t)rung_lookup_first_query(&shape) : 0);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    put_bits(out, conf, (size_t)answer);
}

const rung_task rung_task_retrieval = {
    .name = "retrieval",
    .summary = "the value b_i of the pair (a_i, b_i) whose key is asked for, all of D bits",
    .source = "retrieval head with binary keys",
    .params = params,
    .resolve = resolve,
    .generate = rung_lookup_generate,
    .solve = rung_lookup_solve,
    .players = rung_lookup_players,
    .token_word = token_word,
    .answer_word = answer_word,
    .vote = rung_lookup_vote,
    .token_read = token_read,
    RUNG_TASK_IDS(rung_lookup_ids),
    .text = &rung_text_lookup,
};
