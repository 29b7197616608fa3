/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Index: s_1 .. s_N over an alphabet of V symbols, then a position p; the answer is s_p (Wen et al. 2024).
 * Positions are counted from 0. Unlike eva, the alphabet is small beside N.
 */
#include "lookup.h"
#include "task_rows.h"
#include "text_form.h"

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "N, symbols before the query"},
    {"V", RUNG_PARAM_INT, 4, 1, (int64_t)RUNG_TASK_VOCAB_MAX, NULL, "size of the alphabet"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N");
    rung_lookup shape = {.entries = n, .keys = n, .values = (size_t)rung_task_param(conf, "V")};
    return rung_lookup_resolve(conf, &shape, "N or V", err);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    rung_lookup shape = rung_lookup_of(conf);
    if (token < shape.values)
        rung_buf_printf(out, "s%u", token);
    else
        rung_buf_printf(out, "p%zu", token - shape.values);
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    size_t number;
    rung_task_word_numbers(&number, 1, word, len);
    return (uint32_t)(word[0] == 'p' ? conf->answers + number : number);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    (void)conf;
    rung_buf_printf(out, "s%d", (int)answer);
}

const rung_task rung_task_index = {
    .name = "index",
    .summary = "the symbol at a position that is named after the sequence",
    .source = "Wen et al. 2024 (Index)",
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
    .text = &rung_text_index,
};
