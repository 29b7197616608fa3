/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * mqar: multi-query associative recall (Arora, Eyuboglu et al. 2024, "Zoology"). Pairs of a key and a value,
 * then every key once more, at even distances from the pairs that follow a power law; the target at each of
 * these positions is the key's value, and the other slots are filler.
 *
 * The slots are drawn as in the published generator. There the first pairs also get the nearer slots, so that
 * the place of a query says something about its answer; here the slots are dealt to the keys at random.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "symbols.h"
#include "task_rows.h"

enum { FILLER_BLANK, FILLER_RANDOM };
static const char *const filler_names[] = {"blank", "random", NULL};

static const rung_param params[] = {
    {"T", RUNG_PARAM_INT, 64, 4, 1 << 16, NULL, "tokens of the prompt, even, at least 4 pairs"},
    {"pairs", RUNG_PARAM_INT, 4, 1, 1 << 14, NULL, "key-value pairs, each asked once"},
    {"vocab", RUNG_PARAM_INT, 8192, 4, 1 << 22, NULL, "token ids: the filler, keys, and values from vocab/2 on"},
    {"power", RUNG_PARAM_INT, 1, 1, 100, NULL, "a in hundredths: distance k has weight k^(a-1); 100 is uniform"},
    {"filler", RUNG_PARAM_CHOICE, FILLER_BLANK, 0, 0, filler_names,
     "slots without a query: id 0, or any id but the keys"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t tokens = (size_t)rung_task_param(conf, "T"), pairs = (size_t)rung_task_param(conf, "pairs");
    size_t vocab = (size_t)rung_task_param(conf, "vocab"), first_value = vocab / 2;
    if (tokens % 2 != 0) return rung_fail(err, RUNG_USAGE, "task mqar: T=%zu is odd; use %zu", tokens, tokens + 1);
    if (4 * pairs > tokens)
        return rung_fail(err, RUNG_USAGE,
                         "task mqar: %zu pairs need at least 4 tokens each, and T=%zu; lower pairs or raise T", pairs,
                         tokens);
    if (pairs > first_value - 1)
        return rung_fail(err, RUNG_USAGE, "task mqar: vocab=%zu has %zu keys, too few for %zu pairs; raise vocab",
                         vocab, first_value - 1, pairs);
    conf->derived[0] = first_value;
    conf->tokens = tokens;
    conf->vocab = vocab;
    conf->answers = vocab - first_value;
    conf->chance = 1 / (double)conf->answers;
    /* the values of a prompt are different, and any key may be asked at any place */
    conf->majority = 1 / (double)pairs;
    return RUNG_OK;
}

static double int_power(double base, int64_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* k^(1/100) by Newton's iteration, which decreases monotonically from 1.2 (1.2^100 = 8.3e7 is above every slot number
 * 2^15). It uses only + - * /, which are the same on every machine, so the instances are too. */
static double hundredth_root(double k)
{
    for (double root = 1.2;;) {
        double next = (99 * root + k / int_power(root, 99)) / 100;
        if (next >= root) return root;
        root = next;
    }
}

/* Index of the first entry above `mark`. The sums ascend. */
static size_t first_above(const double *sum, size_t count, double mark)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sum[middle] > mark)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draws `pairs` different slots one after the other, with probabilities proportional to the weights of the free ones,
 * then shuffles them. A slot that is taken is drawn again. Even if all slots get taken this is a few times space log^2
 * space draws, as for a collector of coupons. */
static rung_status draw_slots(uint32_t *slot, size_t pairs, size_t space, int64_t power, rung_rng *rng, rung_error *err)
{
    double *sum = rung_calloc(space, sizeof *sum, err), total = 0;
    uint8_t *taken = rung_calloc(space, 1, err);
    rung_status status = sum && taken ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; i < space && status == RUNG_OK; i++) {
        double k = (double)(i + 1);
        total += int_power(hundredth_root(k), power) / k;
        sum[i] = total;
    }
    for (size_t drawn = 0; drawn < pairs && status == RUNG_OK;) {
        size_t i = first_above(sum, space, rung_rng_unit(rng) * total);
        if (taken[i]) continue;
        taken[i] = 1;
        slot[drawn++] = (uint32_t)i;
    }
    if (status == RUNG_OK) rung_rng_shuffle(rng, slot, pairs);
    free(sum);
    free(taken);
    return status;
}

/* Fills every slot without a query with any id that is not a key of this prompt. */
static rung_status fill_at_random(rung_instance *instance, const uint32_t *key, size_t pairs,
                                  const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    uint8_t *is_key = rung_calloc(conf->vocab, 1, err);
    if (!is_key) return RUNG_SYSTEM;
    for (size_t i = 0; i < pairs; i++) is_key[key[i] + 1] = 1;
    for (size_t t = 2 * pairs; t < conf->tokens; t++) {
        if (instance->token[t] != 0) continue;
        do instance->token[t] = (uint32_t)rung_rng_below(rng, conf->vocab);
        while (is_key[instance->token[t]]);
    }
    free(is_key);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t pairs = (size_t)rung_task_param(conf, "pairs"), first_value = conf->derived[0];
    uint32_t *key = rung_calloc(3 * pairs, sizeof *key, err);
    if (!key) return RUNG_SYSTEM;
    uint32_t *value = key + pairs, *slot = value + pairs;
    rung_status status = rung_rng_sample(rng, key, pairs, (uint32_t)(first_value - 1), err);
    RUNG_NEXT(status, rung_rng_sample(rng, value, pairs, (uint32_t)conf->answers, err));
    RUNG_NEXT(status,
              draw_slots(slot, pairs, (conf->tokens - 2 * pairs) / 2, rung_task_param(conf, "power"), rng, err));
    for (size_t i = 0; i < pairs && status == RUNG_OK; i++) {
        instance->token[2 * i] = key[i] + 1;
        instance->token[2 * i + 1] = (uint32_t)first_value + value[i];
        instance->token[2 * pairs + 2 * slot[i]] = key[i] + 1;
    }
    if (status == RUNG_OK && rung_task_param(conf, "filler") == FILLER_RANDOM)
        status = fill_at_random(instance, key, pairs, conf, rng, err);
    instance->tokens = conf->tokens;
    free(key);
    return status;
}

/* value_of[key] = 1 + the value; 0 for keys that do not occur. */
static rung_status read_pairs(uint32_t *value_of, const rung_instance *instance, const rung_task_conf *conf,
                              size_t pairs, rung_error *err)
{
    size_t first_value = conf->derived[0];
    for (size_t i = 0; i < pairs; i++) {
        uint32_t key, value;
        RUNG_TRY(rung_task_expect_token(&key, instance, conf, 2 * i, 1, first_value - 1, "a key", err));
        RUNG_TRY(rung_task_expect_token(&value, instance, conf, 2 * i + 1, first_value, conf->answers, "a value", err));
        if (value_of[key])
            return rung_fail(err, RUNG_INPUT, "task mqar: position %zu repeats key k%u; keys must be different", 2 * i,
                             key + 1);
        value_of[key] = value + 1;
    }
    return RUNG_OK;
}

/* The target at position t, after the pairs. */
static rung_status read_slot(int32_t *target, const uint32_t *value_of, const rung_instance *instance,
                             const rung_task_conf *conf, size_t t, rung_error *err)
{
    uint32_t id;
    RUNG_TRY(rung_task_expect_token(&id, instance, conf, t, 0, conf->vocab, "any token", err));
    bool known = id > 0 && id < conf->derived[0] && value_of[id - 1] > 0;
    if (!known && id != 0 && rung_task_param(conf, "filler") == FILLER_BLANK)
        return rung_fail(
            err, RUNG_INPUT,
            "task mqar: position %zu holds token id %u, which is neither the filler 0 nor a key of the pairs", t, id);
    *target = known ? (int32_t)value_of[id - 1] - 1 : RUNG_NO_TARGET;
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    size_t pairs = (size_t)rung_task_param(conf, "pairs"), queries = 0;
    RUNG_TRY(rung_task_expect_tokens(instance, conf, conf->tokens, err));
    uint32_t *value_of = rung_calloc(conf->derived[0], sizeof *value_of, err);
    if (!value_of) return RUNG_SYSTEM;
    rung_status status = read_pairs(value_of, instance, conf, pairs, err);
    for (size_t t = 0; t < conf->tokens && status == RUNG_OK; t++) {
        instance->target[t] = RUNG_NO_TARGET;
        if (t >= 2 * pairs) status = read_slot(&instance->target[t], value_of, instance, conf, t, err);
        queries += instance->target[t] != RUNG_NO_TARGET;
    }
    if (status == RUNG_OK && queries == 0)
        status = rung_fail(err, RUNG_INPUT, "task mqar: no key is asked for at positions %zu to %zu", 2 * pairs,
                           conf->tokens - 1);
    free(value_of);
    return status;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, 2 * (size_t)rung_task_param(conf, "pairs"), "pairs", "queries");
}

static int32_t vote(const rung_task_conf *conf, uint32_t token)
{
    size_t first_value = conf->derived[0];
    return token < first_value ? RUNG_NO_TARGET : (int32_t)(token - first_value);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    if (token == 0)
        rung_buf_putc(out, '_');
    else if (token < conf->derived[0])
        rung_buf_printf(out, "k%u", token);
    else
        rung_symbols_value_word(out, conf, vote(conf, token));
}

/* After the pairs: the filler and the keys, or any id. */
static rung_ids ids(const rung_task_conf *conf, size_t pos)
{
    size_t pairs = (size_t)rung_task_param(conf, "pairs"), first_value = conf->derived[0];
    if (pos >= 2 * pairs)
        return (rung_ids){0, rung_task_param(conf, "filler") == FILLER_BLANK ? first_value : conf->vocab};
    return pos % 2 ? (rung_ids){first_value, conf->answers} : (rung_ids){1, first_value - 1};
}

const rung_task rung_task_mqar = {
    .name = "mqar",
    .summary = "key-value pairs, then every key again among filler: its value at each of these places",
    .source = "Arora, Eyuboglu et al. 2024 (Zoology)",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_value_word,
    .vote = vote,
    RUNG_TASK_IDS(ids),
};
