/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * selective-copy, in the two forms that go by this name.
 *
 * form=distance (arXiv 2603.08859, Figure 4: 26 symbols, 5 numbers #5 to #9, 100 tokens): the latest number
 * #n says how far back to look, and the target at position t is the token at t - n, whatever it is; none
 * before the first number or where t < n. (The paper's text counts from 1 and reads x_{L+1-n}; its program,
 * which made the figure, reads t - n.) form=list (Gu and Dao 2023; MAD): symbols scattered among blanks, then
 * as many copy tokens: the target at the j-th of them is the j-th symbol.
 */
#include <stdlib.h>

#include "common.h"
#include "symbols.h"
#include "task_rows.h"

enum { FORM_DISTANCE, FORM_LIST };
static const char *const form_names[] = {"distance", "list", NULL};

static const rung_param params[] = {
    {"T", RUNG_PARAM_INT, 100, 2, 1 << 20, NULL, "tokens of the prompt"},
    {"V", RUNG_PARAM_INT, 26, 1, 1 << 20, NULL, "symbols"},
    {"numbers", RUNG_PARAM_INT, 5, 1, 64, NULL, "number tokens to draw from; form=list: symbols to copy"},
    {"first", RUNG_PARAM_INT, 5, 1, 1 << 16, NULL, "the smallest number (form=distance)"},
    {"rate", RUNG_PARAM_INT, 20, 1, 99, NULL, "percent of the tokens that are numbers (form=distance)"},
    {"form", RUNG_PARAM_CHOICE, FORM_DISTANCE, 0, 0, form_names, "look back as far as a number says, or repeat a list"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* The sizes that follow from a configuration. Ids of form=distance: symbols, then numbers; of form=list: symbols, the
 * blank, the copy token. */
typedef struct shape {
    size_t tokens, symbols, numbers, first;
    int64_t rate;
    bool list;
} shape;

static shape shape_of(const rung_task_conf *conf)
{
    return (shape){.tokens = (size_t)rung_task_param(conf, "T"),
                   .symbols = (size_t)rung_task_param(conf, "V"),
                   .numbers = (size_t)rung_task_param(conf, "numbers"),
                   .first = (size_t)rung_task_param(conf, "first"),
                   .rate = rung_task_param(conf, "rate"),
                   .list = rung_task_param(conf, "form") == FORM_LIST};
}

/* ---- form=distance ---- */

/* The current distance after `token`. */
static size_t distance_after(size_t distance, uint32_t token, const shape *s)
{
    return token < s->symbols ? distance : s->first + (token - s->symbols);
}

/* Draws independent tokens. If there is no target the last token becomes a number. T is larger than the largest number,
 * so that it then has one. */
static void draw_tokens(uint32_t *token, const shape *s, rung_rng *rng)
{
    size_t distance = SIZE_MAX;
    bool asked = false;
    for (size_t t = 0; t < s->tokens; t++) {
        if ((int64_t)rung_rng_below(rng, 100) < s->rate)
            token[t] = (uint32_t)(s->symbols + rung_rng_below(rng, s->numbers));
        else
            token[t] = (uint32_t)rung_rng_below(rng, s->symbols);
        distance = distance_after(distance, token[t], s);
        asked = asked || distance <= t;
    }
    if (!asked) token[s->tokens - 1] = (uint32_t)(s->symbols + rung_rng_below(rng, s->numbers));
}

/* The largest number of equal tokens among those that a number at position t could point to, divided by their number:
 * the score of a predictor that sees the prompt but not the number. */
static double best_blind_share(const uint32_t *token, size_t t, const shape *s)
{
    size_t most = 0, reach = 0;
    for (size_t i = 0; i < s->numbers && s->first + i <= t; i++) {
        size_t equal = 0;
        for (size_t j = 0; j < s->numbers && s->first + j <= t; j++)
            equal += token[t - s->first - i] == token[t - s->first - j];
        if (equal > most) most = equal;
        reach++;
    }
    return (double)most / (double)reach;
}

/* The mean of this share over the targets of fixed-seed prompts: 2^16 tokens in total, but at least 8 prompts. In long
 * prompts only every stride-th token counts. */
static rung_status blind_level(double *level, const shape *s, rung_error *err)
{
    uint32_t *token = rung_calloc(s->tokens, sizeof *token, err);
    if (!token) return RUNG_SYSTEM;
    size_t prompts = ((size_t)1 << 16) / s->tokens, targets = 0;
    if (prompts < 8) prompts = 8;
    size_t stride = 1 + prompts * s->tokens / ((size_t)1 << 17);
    double sum = 0;
    for (size_t i = 0; i < prompts; i++) {
        rung_rng rng;
        rung_rng_init(&rng, s->symbols, s->numbers, i);
        draw_tokens(token, s, &rng);
        size_t distance = SIZE_MAX;
        for (size_t t = 0; t < s->tokens; t++) {
            distance = distance_after(distance, token[t], s);
            if (distance > t || (s->tokens - 1 - t) % stride != 0) continue;
            sum += best_blind_share(token, t, s);
            targets++;
        }
    }
    *level = targets ? sum / (double)targets : 1; /* there are targets, except in rare cases */
    free(token);
    return RUNG_OK;
}

static rung_status solve_distance(rung_instance *instance, const rung_task_conf *conf, const shape *s, rung_error *err)
{
    size_t distance = SIZE_MAX, targets = 0;
    for (size_t t = 0; t < s->tokens; t++) {
        uint32_t token;
        rung_status status =
            rung_task_expect_token(&token, instance, conf, t, 0, conf->vocab, "a symbol or number", err);
        RUNG_TRY(status);
        distance = distance_after(distance, token, s);
        bool asked = distance <= t;
        instance->target[t] = asked ? (int32_t)instance->token[t - distance] : RUNG_NO_TARGET;
        targets += asked;
    }
    if (targets > 0) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "task selective-copy: no number points to a position of the prompt");
}

/* ---- form=list ---- */

static rung_status generate_list(rung_instance *instance, const shape *s, rung_rng *rng, rung_error *err)
{
    size_t context = s->tokens - s->numbers;
    uint32_t place[64]; /* the limit of the parameter */
    RUNG_TRY(rung_rng_sample(rng, place, s->numbers, (uint32_t)context, err));
    for (size_t t = 0; t < s->tokens; t++) instance->token[t] = (uint32_t)(s->symbols + (t >= context));
    for (size_t i = 0; i < s->numbers; i++) instance->token[place[i]] = (uint32_t)rung_rng_below(rng, s->symbols);
    return RUNG_OK;
}

static rung_status solve_list(rung_instance *instance, const rung_task_conf *conf, const shape *s, rung_error *err)
{
    size_t context = s->tokens - s->numbers, found = 0;
    for (size_t t = 0; t < s->tokens; t++) instance->target[t] = RUNG_NO_TARGET;
    for (size_t t = 0; t < s->tokens; t++) {
        uint32_t token;
        bool copy = t >= context;
        rung_status status =
            rung_task_expect_token(&token, instance, conf, t, copy ? s->symbols + 1 : 0, copy ? 1 : s->symbols + 1,
                                   copy ? "the copy token" : "a symbol or blank", err);
        RUNG_TRY(status);
        if (copy || token == s->symbols) continue;
        if (found < s->numbers) instance->target[context + found] = (int32_t)token;
        found++;
    }
    if (found == s->numbers) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "task selective-copy: %zu symbols before position %zu; numbers=%zu are needed",
                     found, context, s->numbers);
}

/* ---- both ---- */

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    size_t least = s.list ? 2 * s.numbers : s.first + s.numbers;
    if (s.tokens < least)
        return rung_fail(err, RUNG_USAGE, "task selective-copy: T=%zu is too short for these numbers; use at least %zu",
                         s.tokens, least);
    conf->tokens = s.tokens;
    conf->vocab = s.symbols + (s.list ? 2 : s.numbers);
    conf->answers = s.symbols + (s.list ? 0 : s.numbers);
    conf->chance = 1 / (double)conf->answers;
    if (!s.list) return blind_level(&conf->majority, &s, err);
    conf->majority = rung_task_majority_of_table(s.numbers, s.symbols);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    shape s = shape_of(conf);
    instance->tokens = s.tokens;
    if (s.list) return generate_list(instance, &s, rng, err);
    draw_tokens(instance->token, &s, rng);
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    RUNG_TRY(rung_task_expect_tokens(instance, conf, s.tokens, err));
    return s.list ? solve_list(instance, conf, &s, err) : solve_distance(instance, conf, &s, err);
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    shape s = shape_of(conf);
    if (s.list)
        rung_task_players_two(instance, s.tokens - s.numbers, "sequence", "copies");
    else
        rung_task_players_two(instance, s.tokens - 1, "context", "query");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    shape s = shape_of(conf);
    if (token < s.symbols)
        rung_symbols_answer_word(out, conf, (int32_t)token);
    else if (s.list)
        rung_buf_puts(out, token == s.symbols ? "_" : "copy");
    else
        rung_buf_printf(out, "#%zu", s.first + (token - s.symbols));
}

static void answer_word(rung_buf *out, const rung_task_conf *conf, int32_t answer)
{
    token_word(out, conf, (uint32_t)answer);
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    shape s = shape_of(conf);
    if (!s.list) return rung_task_any_id(conf, pos);
    return pos < s.tokens - s.numbers ? (rung_ids){0, s.symbols + 1} : (rung_ids){s.symbols + 1, 1};
}

const rung_task rung_task_selective_copy = {
    .name = "selective-copy",
    .summary = "copy the token that the latest number points back to, or the symbols among blanks in order",
    .source = "arXiv 2603.08859, Figure 4 (form=distance); Gu and Dao 2023 (form=list)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = answer_word,
    .vote = rung_symbols_vote,
    RUNG_TASK_IDS(ids),
};
