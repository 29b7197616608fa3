/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * self-compose: the table f(0) .. f(N-1) of a function f : [N] -> [N], then a question mark; is f(f(0)) = 0, or what is
 * f(f(0))? (arXiv 2501.19215, function composition.) The published prompt has a blank token first, where an encoder
 * answers; here the token that asks is last, where a causal model has seen the table.
 *
 * Counting. f(0) = 0 is a yes whatever the other N-1 entries are: N^(N-1) tables. With f(0) = j != 0 it is a yes iff
 * f(j) = 0, which leaves N-2 entries free: (N-1) N^(N-2) tables. A no has f(0) = j != 0 and f(j) != 0: (N-1)^2 N^(N-2)
 * tables. So a uniform table is a yes with probability p = 1/N + (N-1)/N^2 = (2N-1)/N^2, and of 2N-1 equally likely
 * yeses N have f(0) = 0 and one each f(0) = j, j = 1 .. N-1.
 */
#include "common.h"
#include "task_rows.h"
#include "text_form.h"
#include "yes_no.h"

enum { ASK_ZERO, ASK_VALUE };
static const char *const ask_words[] = {"zero", "value", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 25, 2, (int64_t)RUNG_TASK_VOCAB_MAX - 1, NULL, "N, entries and values of the table"},
    {"ask", RUNG_PARAM_CHOICE, ASK_ZERO, 0, 0, ask_words,
     "is f(f(0)) = 0, half of the prompts each; or what is f(f(0))"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static size_t entries_of(const rung_task_conf *conf)
{
    return conf->tokens - 1;
}

static bool asks_value(const rung_task_conf *conf)
{
    return rung_task_param(conf, "ask") == ASK_VALUE;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Both levels are those of a predictor that knows how often each value v occurs in the table, c_v times, but not where.
 * All orders of these values are equally likely. f(0) = 0 with probability c_0/N, and f(0) = j != 0, f(j) = v with
 * c_j/N times (c_v - [j = v])/(N-1). Summed over j: f(f(0)) is 0 with probability c_0 (2N-1-c_0) / (N (N-1)), and v !=
 * 0 with c_v (N-1-c_0) / (N (N-1)). */

/* N times the probability of the likeliest value. Changing one entry changes neither of the two products by more than
 * 2(N-1). So by Efron and Stein its share of N has a variance of at most 2/N, and the mean over tables with 2^21
 * entries in total has a standard error of at most 2^-10. */
static double likeliest(const uint32_t *count, const uint32_t *table, size_t n)
{
    double most = 0, zeros = count[0], size = (double)n;
    for (size_t i = 0; i < n; i++)
        if (table[i] > 0 && count[table[i]] > most) most = count[table[i]];
    double other = most * (size - 1 - zeros), zero = zeros * (2 * size - 1 - zeros);
    return (other > zero ? other : zero) / (size - 1);
}

/* The predictor says yes iff there is a zero: with one zero, yes has probability 2/N > p, and with none it is
 * impossible. So every yes is right, and a no is right when the table has no zero: ((N-1)/N)^N of all tables, while
 * ((N-1)/N)^2 of all tables have the answer no. */
static double zero_level(size_t n)
{
    double base = 1 - 1 / (double)n, power = 1;
    for (size_t e = n - 2; e > 0; e >>= 1, base *= base)
        if (e & 1) power *= base;
    return (1 + power) / 2;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N");
    conf->tokens = conf->vocab = n + 1;
    rung_task_yes_no(conf);
    conf->majority = zero_level(n);
    if (!asks_value(conf)) return rung_task_check_limits(conf, "N", err);
    conf->answers = n;
    conf->chance = 1 / (double)n;
    conf->majority = rung_task_mean_over_tables(n, n, likeliest);
    return rung_task_check_limits(conf, "N", err);
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

/* Makes a uniform table with this answer from a uniform table. Only f(0) and f(f(0)) are drawn again. */
static void impose(uint32_t *f, size_t n, bool yes, rung_rng *rng)
{
    if (yes) {
        uint64_t ticket = rung_rng_below(rng, 2 * n - 1);
        f[0] = (uint32_t)(ticket < n ? 0 : ticket - n + 1);
        f[f[0]] = 0;
    } else {
        f[0] = 1 + (uint32_t)rung_rng_below(rng, n - 1);
        f[f[0]] = 1 + (uint32_t)rung_rng_below(rng, n - 1);
    }
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)err;
    size_t n = entries_of(conf);
    for (size_t x = 0; x < n; x++) instance->token[x] = (uint32_t)rung_rng_below(rng, n);
    if (!asks_value(conf)) impose(instance->token, n, rung_rng_below(rng, 2) == 1, rng);
    instance->token[n] = (uint32_t)n;
    instance->tokens = n + 1;
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t n = entries_of(conf);
    uint32_t token;
    rung_status status = rung_task_expect_tokens(instance, conf, n + 1, err);
    for (size_t x = 0; x < n && status == RUNG_OK; x++)
        status = rung_task_expect_token(&token, instance, conf, x, 0, n, "an entry of the table", err);
    RUNG_TRY(status);
    status = rung_task_expect_token(&token, instance, conf, n, n, 1, "the question", err);
    RUNG_TRY(status);
    uint32_t twice = instance->token[instance->token[0]];
    rung_task_answer_last(instance, asks_value(conf) ? (int32_t)twice : twice == 0);
    return RUNG_OK;
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    if (token < entries_of(conf))
        rung_buf_printf(out, "f:%u", token);
    else
        rung_buf_putc(out, '?');
}

static uint32_t token_read(const rung_task_conf *conf, const char *word, size_t len)
{
    size_t number;
    rung_task_word_numbers(&number, 1, word, len);
    return (uint32_t)(word[0] == '?' ? entries_of(conf) : number);
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    if (asks_value(conf))
        rung_buf_printf(out, "%d", (int)answer);
    else
        rung_task_yes_no_word(out, conf, answer);
}

/* An entry votes for its value. With ask=zero, zeros vote for yes and the question for no. So two zeros are needed to
 * outvote it, and one zero makes hardly any difference (2/N against p). */
static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    bool entry = token < entries_of(conf);
    if (asks_value(conf)) return entry ? (int32_t)token : RUNG_NO_TARGET;
    if (!entry) return 0;
    return token == 0 ? 1 : RUNG_NO_TARGET;
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    size_t n = entries_of(conf);
    return pos < n ? (rung_ids){0, n} : (rung_ids){n, 1};
}

const rung_task rung_task_self_compose = {
    .name = "self-compose",
    .summary = "the table of a function f: is f(f(0)) = 0?",
    .source = "Kozachinskiy et al. 2025 (function composition, arXiv 2501.19215)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .token_word = token_word,
    .answer_word = answer_word,
    .vote = vote,
    .token_read = token_read,
    RUNG_TASK_IDS(ids),
    .text = &rung_text_self_compose,
};
