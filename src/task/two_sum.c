/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * two-sum: N numbers in [M]; who has a partner with x_i + x_j = 0 mod M?
 *
 * In form=query the last token is a query y of its own type: is there a j with x_j + y = 0? A recurrent state
 * needs log2 C(floor((M-1)/2), N) bits, which is of order N log N only for M >= N^(1+eps).
 *
 * form=position is Match2 (Sanford, Hsu, Telgarsky 2023): for each i, is there a j? The definition allows
 * j = i (self=1), so a number with 2x = 0 is its own partner; self=0 forbids it. Every j counts, also one
 * after i, which a causal model cannot see.
 *
 * In form=global the last token asks whether there are i != j at all. That is not for a single layer: it
 * decides disjointness.
 *
 * form=causal is the published definition (2-Sum of Ye et al. 2026): for each i, is there a strictly earlier j? The
 * proofs ask at the last number only, where it is the query form without a token of its own for the query.
 *
 * blank=1 puts a blank token first, where a head of the trigonometric construction rests when nothing
 * matches.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "halves.h"
#include "residues.h"
#include "task_rows.h"
#include "text_form.h"
#include "two_sum.h"
#include "yes_no.h"

static const char *const form_names[] = {"query", "position", "global", "causal", NULL};
static const char *const dist_names[] = {"uniform", "hard", NULL};

/* The query form has 2M + 1 ids, so M stays below half the limit of the vocabulary. */
static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 24, NULL, "numbers in the prompt"},
    {"M", RUNG_PARAM_INT, 64, 2, (1 << 23) - 1, NULL, "modulus; numbers are 0 to M-1"},
    {"form", RUNG_PARAM_CHOICE, 0, 0, 0, form_names,
     "what is asked: of a query, of each number, of all; of each, among earlier ones"},
    {"self", RUNG_PARAM_INT, 1, 0, 1, NULL, "form=position: may a number be its own partner?"},
    {"blank", RUNG_PARAM_INT, 0, 0, 1, NULL, "1: a blank token comes first"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "uniform, or the prompts of the lower bounds"},
    {0},
};

static two_sum two_sum_of(const rung_task_conf *conf)
{
    return (two_sum){
        .form = (two_sum_form)rung_task_param(conf, "form"),
        .numbers = (size_t)rung_task_param(conf, "N"),
        .modulus = (size_t)rung_task_param(conf, "M"),
        .lead = (size_t)rung_task_param(conf, "blank"),
        .self = rung_task_param(conf, "self") != 0,
        .hard = rung_task_param(conf, "dist") != 0,
    };
}

static size_t least_numbers(const two_sum *sum)
{
    if (sum->form == TWO_SUM_QUERY) return 1;
    if (sum->form == TWO_SUM_CAUSAL) return 2;
    return sum->form == TWO_SUM_GLOBAL && sum->hard ? 4 : 2; /* disjoint sets need a universe of 2 */
}

static size_t least_modulus(const two_sum *sum)
{
    size_t h = sum->numbers / 2;
    switch (sum->form) {
    case TWO_SUM_QUERY: /* floor((M-1)/2) >= N + 1: N members and a non-member */
        return sum->hard ? 2 * (sum->numbers + 1) + 1 : 2;
    case TWO_SUM_POSITION: /* floor((M-1)/2) >= 2h - floor(h/2) distinct values; two pairs {v, -v} at least */
        return sum->hard && 2 * h - h / 2 > 2 ? 2 * (2 * h - h / 2) + 1 : 5;
    case TWO_SUM_GLOBAL: /* see draw_global_hard; one pair {v, -v} at least */
        return sum->hard ? 2 * h + 3 : 3;
    case TWO_SUM_CAUSAL: /* N-1 earlier numbers leave a residue out; hard: N-1 members and a non-member */
        return sum->hard ? 2 * sum->numbers + 1 : sum->numbers;
    }
    return 2;
}

static rung_status check_shape(const two_sum *sum, rung_error *err)
{
    const char *form = form_names[sum->form], *dist = dist_names[sum->hard];
    if (sum->form != TWO_SUM_POSITION && !sum->self)
        return rung_fail(err, RUNG_USAGE, "task two-sum: self=0 is for form=position, not form=%s", form);
    if (sum->numbers < least_numbers(sum))
        return rung_fail(err, RUNG_USAGE, "task two-sum: form=%s dist=%s needs N >= %zu, not %zu", form, dist,
                         least_numbers(sum), sum->numbers);
    if (sum->form == TWO_SUM_POSITION && sum->hard && sum->numbers % 2)
        return rung_fail(err, RUNG_USAGE, "task two-sum: form=position dist=hard needs an even N, not %zu",
                         sum->numbers);
    if (sum->modulus < least_modulus(sum))
        return rung_fail(err, RUNG_USAGE, "task two-sum: form=%s dist=%s with N=%zu needs M >= %zu, not %zu", form,
                         dist, sum->numbers, least_modulus(sum), sum->modulus);
    return RUNG_OK;
}

/* A token after the numbers asks. */
static bool asks_at_end(const two_sum *sum)
{
    return sum->form == TWO_SUM_QUERY || sum->form == TWO_SUM_GLOBAL;
}

/* The first number has no partner, and of each later one a coin decides; dist=hard tosses it for the last one alone. */
static double causal_level(const two_sum *sum)
{
    double n = (double)sum->numbers, coins = sum->hard ? 1 : n - 1;
    return (n - coins / 2) / n;
}

/* Ids: numbers [0, M); then queries [M, 2M), or the one asking token; the blank is the last id. */
static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    two_sum sum = two_sum_of(conf);
    RUNG_TRY(check_shape(&sum, err));
    const size_t askers[] = {[TWO_SUM_QUERY] = sum.modulus, [TWO_SUM_GLOBAL] = 1, [TWO_SUM_CAUSAL] = 0};
    conf->tokens = sum.lead + sum.numbers + asks_at_end(&sum);
    conf->vocab = sum.modulus + askers[sum.form] + sum.lead;
    rung_task_yes_no(conf);
    if (sum.form == TWO_SUM_CAUSAL) conf->majority = causal_level(&sum);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    two_sum sum = two_sum_of(conf);
    uint32_t query = 0;
    instance->tokens = conf->tokens;
    if (sum.lead) instance->token[0] = (uint32_t)(conf->vocab - 1);
    rung_status status = rung_two_sum_draw(instance->token + sum.lead, &query, &sum, rng, err);
    if (asks_at_end(&sum)) instance->token[sum.lead + sum.numbers] = (uint32_t)sum.modulus + query;
    return status;
}

/* True if a number sums to 0 with v. One copy of v itself does not count unless `self`. */
static bool has_partner(const uint32_t *count, uint32_t v, size_t modulus, bool self)
{
    uint32_t w = rung_residue_negative(v, modulus);
    return count[w] > (w == v && !self ? 1u : 0u);
}

static bool any_partner(const uint32_t *count, const uint32_t *x, const two_sum *sum)
{
    for (size_t i = 0; i < sum->numbers; i++)
        if (has_partner(count, x[i], sum->modulus, false)) return true;
    return false;
}

/* Each number among those before it. `count` is emptied and filled again. */
static void answer_causal(rung_instance *instance, uint32_t *count, const two_sum *sum)
{
    const uint32_t *x = instance->token + sum->lead;
    memset(count, 0, sum->modulus * sizeof *count);
    rung_task_answer_last(instance, 0);
    for (size_t i = 0; i < sum->numbers; i++) {
        instance->target[sum->lead + i] = has_partner(count, x[i], sum->modulus, true);
        count[x[i]]++;
    }
}

static rung_status answer(rung_instance *instance, const rung_task_conf *conf, uint32_t *count, const two_sum *sum,
                          rung_error *err)
{
    const uint32_t *x = instance->token + sum->lead;
    size_t last = instance->tokens - 1;
    uint32_t asked = 0;
    rung_status status = RUNG_OK;
    switch (sum->form) {
    case TWO_SUM_QUERY:
        status = rung_task_expect_token(&asked, instance, conf, last, sum->modulus, sum->modulus, "a query", err);
        if (status == RUNG_OK) rung_task_answer_last(instance, has_partner(count, asked, sum->modulus, true));
        break;
    case TWO_SUM_POSITION:
        rung_task_answer_last(instance, 0);
        for (size_t i = 0; i < sum->numbers; i++)
            instance->target[sum->lead + i] = has_partner(count, x[i], sum->modulus, sum->self);
        break;
    case TWO_SUM_GLOBAL:
        status = rung_task_expect_token(&asked, instance, conf, last, sum->modulus, 1, "the question", err);
        if (status == RUNG_OK) rung_task_answer_last(instance, any_partner(count, x, sum));
        break;
    case TWO_SUM_CAUSAL:
        answer_causal(instance, count, sum);
        break;
    }
    return status;
}

/* O(N + M): a table of counts. */
static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    two_sum sum = two_sum_of(conf);
    uint32_t blank;
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    if (status == RUNG_OK && sum.lead)
        status = rung_task_expect_token(&blank, instance, conf, 0, conf->vocab - 1, 1, "the blank", err);
    RUNG_TRY(status);
    uint32_t *count = rung_residue_counts(&status, instance, conf, sum.lead, sum.numbers, sum.modulus, err);
    if (!count) return status;
    status = answer(instance, conf, count, &sum, err);
    free(count);
    return status;
}

/* The blank belongs to the first player. */
static void players(rung_instance *instance, const rung_task_conf *conf)
{
    two_sum sum = two_sum_of(conf);
    if (sum.form == TWO_SUM_QUERY)
        rung_task_players_two(instance, instance->tokens - 1, "numbers", "query");
    else if (sum.form == TWO_SUM_CAUSAL)
        rung_task_players_two(instance, instance->tokens - 1, "numbers", "last");
    else
        rung_halves_split(instance, sum.lead + sum.numbers / 2, sum.form == TWO_SUM_GLOBAL);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    two_sum sum = two_sum_of(conf);
    if (token < sum.modulus)
        rung_buf_printf(out, "%u", token);
    else if (sum.lead && token == conf->vocab - 1)
        rung_buf_puts(out, "_");
    else if (sum.form == TWO_SUM_QUERY)
        rung_buf_printf(out, "%zu?", token - sum.modulus);
    else
        rung_buf_puts(out, "?");
}

static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    two_sum sum = two_sum_of(conf);
    if (pos < sum.lead) return (rung_ids){conf->vocab - 1, 1};
    if (pos < sum.lead + sum.numbers) return (rung_ids){0, sum.modulus};
    return (rung_ids){sum.modulus, sum.form == TWO_SUM_QUERY ? sum.modulus : 1};
}

const rung_task rung_task_two_sum = {
    .name = "two-sum",
    .summary = "N numbers modulo M: which have a partner that they sum to 0 with?",
    .source = "Match2 of Sanford, Hsu, Telgarsky 2023; 2-Sum of Ye et al. 2026 (form=causal)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    RUNG_TASK_IDS(ids),
    .balanced = true,
    .text = &rung_text_two_sum,
};
