/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * count: N symbols, a symbol q, a threshold t; does q occur more than t times (Wen, Dang, Lyu 2025)?
 *
 * The generator never looks at the answer: it picks two symbols a and b of the sequence with count(a) <= t <
 * count(b) and then asks, on the toss of a coin, for a or for b. So the answer is independent of the sequence
 * and t together, and of q and t together: a predictor that misses one of the three scores exactly 1/2.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "halves.h"
#include "task_rows.h"

enum { DIST_UNIFORM, DIST_HARD };
static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 32, 1, 1 << 20, NULL, "symbols of the sequence; the prompt has N + 2 tokens"},
    {"V", RUNG_PARAM_INT, 8, 2, 1 << 16, NULL, "alphabet"},
    {"dist", RUNG_PARAM_CHOICE, DIST_UNIFORM, 0, 0, dist_names, "any two counts, or two that are next to each other"},
    {0},
};

/* Ids: symbols, queries for a symbol, thresholds 0 .. N. */
static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    (void)err;
    size_t n = (size_t)rung_task_param(conf, "N"), alphabet = (size_t)rung_task_param(conf, "V");
    conf->tokens = n + 2;
    conf->vocab = 2 * alphabet + n + 1;
    rung_task_yes_no(conf);
    return RUNG_OK;
}

/* Two symbols with different counts, the rarer one first. */
typedef struct rivals {
    uint32_t rare, common;
} rivals;

static rivals any_rivals(const uint32_t *count, size_t alphabet, rung_rng *rng)
{
    for (;;) {
        uint32_t a = (uint32_t)rung_rng_below(rng, alphabet), b = (uint32_t)rung_rng_below(rng, alphabet);
        if (count[a] < count[b]) return (rivals){a, b};
    }
}

/* Returns a random symbol with this count; there is at least one. */
static uint32_t symbol_with(const uint32_t *count, size_t alphabet, uint32_t wanted, rung_rng *rng)
{
    uint32_t chosen = 0;
    size_t seen = 0;
    for (size_t v = 0; v < alphabet; v++)
        if (count[v] == wanted && rung_rng_below(rng, ++seen) == 0) chosen = (uint32_t)v;
    return chosen;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Returns two symbols whose counts differ by the least positive difference of any two counts. scratch[alphabet]. */
static rivals closest_rivals(const uint32_t *count, uint32_t *scratch, size_t alphabet, rung_rng *rng)
{
    uint32_t gap = UINT32_MAX, low = 0;
    size_t seen = 0;
    memcpy(scratch, count, alphabet * sizeof *count);
    qsort(scratch, alphabet, sizeof *scratch, by_value);
    for (size_t i = 0; i + 1 < alphabet; i++) {
        uint32_t step = scratch[i + 1] - scratch[i];
        if (step == 0 || step > gap) continue;
        if (step < gap) seen = 0;
        gap = step;
        if (rung_rng_below(rng, ++seen) == 0) low = scratch[i];
    }
    rivals r;
    r.rare = symbol_with(count, alphabet, low, rng);
    r.common = symbol_with(count, alphabet, low + gap, rng);
    return r;
}

static bool all_equal(const uint32_t *count, size_t alphabet)
{
    for (size_t v = 1; v < alphabet; v++)
        if (count[v] != count[0]) return false;
    return true;
}

static void draw_symbols(uint32_t *symbol, uint32_t *count, size_t n, size_t alphabet, rung_rng *rng)
{
    do {
        memset(count, 0, alphabet * sizeof *count);
        for (size_t i = 0; i < n; i++) {
            symbol[i] = (uint32_t)rung_rng_below(rng, alphabet);
            count[symbol[i]]++;
        }
    } while (all_equal(count, alphabet));
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N"), alphabet = (size_t)rung_task_param(conf, "V");
    uint32_t *count = rung_calloc(2 * alphabet, sizeof *count, err);
    if (!count) return RUNG_SYSTEM;
    draw_symbols(instance->token, count, n, alphabet, rng);
    rivals r = rung_task_param(conf, "dist") == DIST_HARD ? closest_rivals(count, count + alphabet, alphabet, rng)
                                                          : any_rivals(count, alphabet, rng);
    uint64_t threshold = count[r.rare] + rung_rng_below(rng, count[r.common] - count[r.rare]);
    uint32_t asked = rung_rng_below(rng, 2) ? r.common : r.rare;
    instance->token[n] = (uint32_t)alphabet + asked;
    instance->token[n + 1] = (uint32_t)(2 * alphabet + threshold);
    instance->tokens = n + 2;
    free(count);
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N"), alphabet = (size_t)rung_task_param(conf, "V");
    uint32_t asked = 0, threshold = 0, symbol, count = 0;
    rung_status status = rung_task_expect_tokens(instance, conf, n + 2, err);
    RUNG_NEXT(status, rung_task_expect_token(&asked, instance, conf, n, alphabet, alphabet, "a query", err));
    RUNG_NEXT(status,
              rung_task_expect_token(&threshold, instance, conf, n + 1, 2 * alphabet, n + 1, "a threshold", err));
    for (size_t t = 0; t < n && status == RUNG_OK; t++) {
        status = rung_task_expect_token(&symbol, instance, conf, t, 0, alphabet, "a symbol", err);
        count += status == RUNG_OK && symbol == asked;
    }
    if (status == RUNG_OK) rung_task_answer_last(instance, count > threshold);
    return status;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, (size_t)rung_task_param(conf, "N"), "sequence", "query");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    uint32_t alphabet = (uint32_t)rung_task_param(conf, "V");
    if (token < alphabet)
        rung_buf_printf(out, "s%u", token);
    else if (token < 2 * alphabet)
        rung_buf_printf(out, "#s%u", token - alphabet);
    else
        rung_buf_printf(out, ">%u", token - 2 * alphabet);
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    size_t n = (size_t)rung_task_param(conf, "N"), alphabet = (size_t)rung_task_param(conf, "V");
    if (pos < n) return (rung_ids){0, alphabet};
    return pos == n ? (rung_ids){alphabet, alphabet} : (rung_ids){2 * alphabet, n + 1};
}

const rung_task rung_task_counting = {
    .name = "count",
    .summary = "a sequence, a symbol and a threshold: does the symbol occur more often?",
    .source = "Wen, Dang, Lyu 2025: counting",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    RUNG_TASK_IDS(ids),
};
