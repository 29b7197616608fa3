/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * palindrome: N symbols, then N tokens that ask for them backwards (one of the three synthetic tasks with which Kimi
 * Linear was designed, arXiv 2510.26692). There the model writes the answers itself and reads them again. Here each is
 * asked for by the same token, so that every sequence of symbols is one prompt and no answer gives another away.
 */
#include "common.h"
#include "symbols.h"
#include "task_rows.h"

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 20, NULL, "symbols"},
    {"V", RUNG_PARAM_INT, 8, 1, 1 << 20, NULL, "size of the alphabet"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static size_t symbols_of(const rung_task_conf *conf)
{
    return conf->tokens / 2;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t symbols = (size_t)rung_task_param(conf, "N");
    conf->tokens = 2 * symbols;
    conf->answers = (size_t)rung_task_param(conf, "V");
    conf->vocab = conf->answers + 1; /* symbols, the token that asks */
    RUNG_TRY(rung_task_check_limits(conf, "N or V", err));
    conf->chance = 1 / (double)conf->answers;
    conf->majority = rung_task_majority_of_table(symbols, conf->answers);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t symbols = symbols_of(conf);
    (void)err;
    instance->tokens = conf->tokens;
    for (size_t t = 0; t < symbols; t++) instance->token[t] = (uint32_t)rung_rng_below(rng, conf->answers);
    for (size_t t = symbols; t < conf->tokens; t++) instance->token[t] = (uint32_t)conf->answers;
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t symbols = symbols_of(conf);
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    for (size_t t = 0; t < symbols; t++) {
        uint32_t symbol, ask;
        RUNG_TRY(rung_task_expect_token(&symbol, instance, conf, t, 0, conf->answers, "a symbol", err));
        RUNG_TRY(rung_task_expect_token(&ask, instance, conf, symbols + t, conf->answers, 1, "a question", err));
        instance->target[t] = RUNG_NO_TARGET;
        instance->target[conf->tokens - 1 - t] = (int32_t)symbol;
    }
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, symbols_of(conf), "sequence", "questions");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    if (token < conf->answers)
        rung_symbols_answer_word(out, conf, (int32_t)token);
    else
        rung_buf_puts(out, "<");
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    size_t number;
    rung_task_word_numbers(&number, 1, word, len);
    return (uint32_t)(word[0] == '<' ? conf->answers : number);
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    return pos < symbols_of(conf) ? (rung_ids){0, conf->answers} : (rung_ids){conf->answers, 1};
}

const rung_task rung_task_palindrome = {
    .name = "palindrome",
    .summary = "the symbols of a sequence in reverse order",
    .source = "Kimi Linear, arXiv 2510.26692 (Palindrome); that a token asks for each symbol is ours",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_answer_word,
    .vote = rung_symbols_vote,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
};
