/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * mkar: associative recall where a key is a tuple of symbols (arXiv 2603.08859, Figure 6: 8 symbols, key 2,
 * 100 tokens). Keys and values share one alphabet, so a single symbol means nothing.
 *
 * layout=stream is the published form: independent symbols; at every position the last `key` symbols are a
 * query, and where they have occurred before, the target is the symbol that followed their latest earlier
 * occurrence. (The published program does not enter the tuple at positions 0 .. key-1; the definition, and
 * we, do.) layout=pairs: different keys, each followed by its value, then one of the keys; the target is its
 * value.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "halves.h"
#include "symbols.h"
#include "task_rows.h"

enum { LAYOUT_STREAM, LAYOUT_PAIRS };
static const char *const layout_names[] = {"stream", "pairs", NULL};

static const rung_param params[] = {
    {"T", RUNG_PARAM_INT, 100, 3, 1 << 20, NULL, "tokens; layout=pairs uses as many as whole pairs and a query fill"},
    {"V", RUNG_PARAM_INT, 8, 2, 1 << 20, NULL, "symbols"},
    {"key", RUNG_PARAM_INT, 2, 1, 16, NULL, "symbols of a key"},
    {"layout", RUNG_PARAM_CHOICE, LAYOUT_STREAM, 0, 0, layout_names, "every suffix is a query, or pairs and one query"},
    RUNG_TASK_DIST_UNIFORM,
    {0},
};

/* Keys are numbers in base V. The table of their continuations has V^key entries. */
#define KEYS_MAX ((size_t)1 << 22)

/* The sizes that follow from a configuration. */
typedef struct shape {
    size_t symbols, key, keys, tokens, pairs;
    bool stream;
} shape;

static shape shape_of(const rung_task_conf *conf)
{
    return (shape){.symbols = (size_t)rung_task_param(conf, "V"),
                   .key = (size_t)rung_task_param(conf, "key"),
                   .keys = conf->derived[0],
                   .tokens = conf->tokens,
                   .pairs = conf->derived[1],
                   .stream = rung_task_param(conf, "layout") == LAYOUT_STREAM};
}

/* ---- layout=stream ---- */

/* How often each symbol is the continuation of a key, and the score of always naming the most common one. */
typedef struct tally {
    uint32_t *keys_with;    /* [symbols] keys that the symbol followed last */
    uint32_t *symbols_with; /* [tokens + 1] symbols that have this many keys */
    size_t most, keys;
    double score;
} tally;

static rung_status tally_open(tally *y, const shape *s, rung_error *err)
{
    *y = (tally){.keys_with = rung_calloc(s->symbols, sizeof *y->keys_with, err),
                 .symbols_with = rung_calloc(s->tokens + 1, sizeof *y->symbols_with, err)};
    return y->keys_with && y->symbols_with ? RUNG_OK : RUNG_SYSTEM;
}

static void tally_reset(tally *y, const shape *s)
{
    memset(y->keys_with, 0, s->symbols * sizeof *y->keys_with);
    memset(y->symbols_with, 0, (s->tokens + 1) * sizeof *y->symbols_with);
    y->symbols_with[0] = (uint32_t)s->symbols;
    y->most = y->keys = 0;
}

static void tally_close(tally *y)
{
    free(y->keys_with);
    free(y->symbols_with);
}

/* Records that `now` follows a key that `before` followed (0: a new key, else 1 + the symbol). */
static void tally_replace(tally *y, uint32_t before, uint32_t now)
{
    if (before == 0) y->keys++;
    if (before > 0) {
        y->symbols_with[y->keys_with[before - 1]--]--;
        y->symbols_with[y->keys_with[before - 1]]++;
    }
    y->symbols_with[y->keys_with[now]++]--;
    y->symbols_with[y->keys_with[now]]++;
    if (y->keys_with[now] > y->most) y->most = y->keys_with[now];
    if (y->symbols_with[y->most] == 0) y->most--;
}

/* Writes the targets of a stream and returns their number. followed[keys] is scratch: 1 + the symbol after the latest
 * occurrence. `blind` may be NULL. */
static size_t stream_targets(int32_t *target, uint32_t *followed, tally *blind, const uint32_t *token, const shape *s)
{
    size_t code = 0, targets = 0;
    memset(followed, 0, s->keys * sizeof *followed);
    for (size_t t = 0; t < s->tokens; t++) {
        if (t >= s->key) {
            if (blind) tally_replace(blind, followed[code], token[t]);
            followed[code] = token[t] + 1;
        }
        code = (code * s->symbols + token[t]) % s->keys;
        bool asked = t + 1 >= s->key && followed[code] > 0;
        target[t] = asked ? (int32_t)followed[code] - 1 : RUNG_NO_TARGET;
        targets += asked;
        if (asked && blind) blind->score += (double)blind->most / (double)blind->keys;
    }
    return targets;
}

/* Draws independent symbols. If no key recurs, a copy of an early key is written to the end, so that every prompt has a
 * target. */
static void draw_stream(uint32_t *token, int32_t *target, uint32_t *followed, const shape *s, rung_rng *rng)
{
    for (size_t t = 0; t < s->tokens; t++) token[t] = (uint32_t)rung_rng_below(rng, s->symbols);
    if (stream_targets(target, followed, NULL, token, s) > 0) return;
    size_t from = rung_rng_below(rng, s->tokens - 2 * s->key);
    memcpy(token + s->tokens - s->key, token + from, s->key * sizeof *token);
}

/* The level without the query: a predictor that knows what followed each key so far, but not which key is asked, names
 * the most common continuation. Measured on fixed-seed streams, 2^18 tokens in total, but at least 16 streams. */
static rung_status stream_level(double *level, const shape *s, rung_error *err)
{
    tally blind;
    rung_status status = tally_open(&blind, s, err);
    uint32_t *token = rung_calloc(s->tokens, sizeof *token, err);
    int32_t *target = rung_calloc(s->tokens, sizeof *target, err);
    uint32_t *followed = rung_calloc(s->keys, sizeof *followed, err);
    if (!token || !target || !followed) status = RUNG_SYSTEM;
    size_t targets = 0, streams = ((size_t)1 << 18) / s->tokens;
    if (streams < 16) streams = 16;
    for (size_t i = 0; i < streams && status == RUNG_OK; i++) {
        rung_rng rng;
        rung_rng_init(&rng, s->symbols, s->key, i);
        draw_stream(token, target, followed, s, &rng);
        tally_reset(&blind, s);
        targets += stream_targets(target, followed, &blind, token, s);
    }
    *level = targets ? blind.score / (double)targets : 1;
    tally_close(&blind);
    free(token);
    free(target);
    free(followed);
    return status;
}

static rung_status generate_stream(rung_instance *instance, const shape *s, rung_rng *rng, rung_error *err)
{
    uint32_t *followed = rung_calloc(s->keys, sizeof *followed, err);
    if (!followed) return RUNG_SYSTEM;
    draw_stream(instance->token, instance->target, followed, s, rng);
    free(followed);
    return RUNG_OK;
}

static rung_status solve_stream(rung_instance *instance, const shape *s, rung_error *err)
{
    uint32_t *followed = rung_calloc(s->keys, sizeof *followed, err);
    if (!followed) return RUNG_SYSTEM;
    size_t targets = stream_targets(instance->target, followed, NULL, instance->token, s);
    free(followed);
    if (targets > 0) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "task mkar: no key of %zu symbols occurs twice in the stream, so the prompt has no target",
                     s->key);
}

/* ---- layout=pairs ---- */

static void write_key(uint32_t *token, size_t code, const shape *s)
{
    for (size_t i = s->key; i-- > 0; code /= s->symbols) token[i] = (uint32_t)(code % s->symbols);
}

static rung_status generate_pairs(rung_instance *instance, const shape *s, rung_rng *rng, rung_error *err)
{
    uint32_t *code = rung_calloc(s->pairs, sizeof *code, err);
    if (!code) return RUNG_SYSTEM;
    rung_status status = rung_rng_sample(rng, code, s->pairs, (uint32_t)s->keys, err);
    for (size_t i = 0; i < s->pairs; i++) {
        uint32_t *pair = instance->token + i * (s->key + 1);
        write_key(pair, code[i], s);
        pair[s->key] = (uint32_t)rung_rng_below(rng, s->symbols);
    }
    write_key(instance->token + s->pairs * (s->key + 1), code[rung_rng_below(rng, s->pairs)], s);
    free(code);
    return status;
}

static rung_status solve_pairs(rung_instance *instance, const shape *s, rung_error *err)
{
    const uint32_t *query = instance->token + s->pairs * (s->key + 1);
    size_t found = 0;
    uint32_t answer = 0;
    for (size_t i = 0; i < s->pairs; i++) {
        const uint32_t *pair = instance->token + i * (s->key + 1);
        if (memcmp(pair, query, s->key * sizeof *query) != 0) continue;
        found++;
        answer = pair[s->key];
    }
    if (found != 1)
        return rung_fail(err, RUNG_INPUT, "task mkar: the key at position %zu is the key of %zu pairs; one is needed",
                         s->pairs * (s->key + 1), found);
    rung_task_answer_last(instance, (int32_t)answer);
    return RUNG_OK;
}

/* ---- both ---- */

static rung_status count_keys(size_t *keys, size_t symbols, size_t key, rung_error *err)
{
    *keys = 1;
    for (size_t i = 0; i < key; i++)
        if (!rung_size_mul(keys, *keys, symbols) || *keys > KEYS_MAX)
            return rung_fail(err, RUNG_USAGE, "task mkar: V^key = %zu^%zu is above the limit %zu; lower V or key",
                             symbols, key, KEYS_MAX);
    return RUNG_OK;
}

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    size_t budget = (size_t)rung_task_param(conf, "T");
    RUNG_TRY(count_keys(&s.keys, s.symbols, s.key, err));
    if (budget < 2 * s.key + 1)
        return rung_fail(err, RUNG_USAGE,
                         "task mkar: T=%zu has no room for a key of %zu, its value and a query; raise T", budget,
                         s.key);
    s.pairs = s.stream ? 0 : (budget - s.key) / (s.key + 1);
    s.tokens = s.stream ? budget : s.pairs * (s.key + 1) + s.key;
    if (s.pairs > s.keys)
        return rung_fail(err, RUNG_USAGE,
                         "task mkar: T=%zu has %zu pairs, and there are %zu keys; raise V or key, or lower T", budget,
                         s.pairs, s.keys);
    conf->derived[0] = s.keys;
    conf->derived[1] = s.pairs;
    conf->tokens = s.tokens;
    conf->vocab = conf->answers = s.symbols;
    conf->chance = 1 / (double)s.symbols;
    if (s.stream) return stream_level(&conf->majority, &s, err);
    conf->majority = rung_task_majority_of_table(s.pairs, s.symbols);
    return RUNG_OK;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    shape s = shape_of(conf);
    instance->tokens = s.tokens;
    return s.stream ? generate_stream(instance, &s, rng, err) : generate_pairs(instance, &s, rng, err);
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    shape s = shape_of(conf);
    uint32_t value;
    rung_status status = rung_task_expect_tokens(instance, conf, s.tokens, err);
    for (size_t t = 0; t < s.tokens && status == RUNG_OK; t++)
        status = rung_task_expect_token(&value, instance, conf, t, 0, s.symbols, "a symbol", err);
    RUNG_TRY(status);
    return s.stream ? solve_stream(instance, &s, err) : solve_pairs(instance, &s, err);
}

/* The query is the last key in both layouts. */
static void players(rung_instance *instance, const rung_task_conf *conf)
{
    shape s = shape_of(conf);
    rung_task_players_two(instance, s.tokens - s.key, s.stream ? "stream" : "pairs", "query");
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    rung_symbols_answer_word(out, conf, (int32_t)token);
}

static bool keys_differ(const rung_instance *instance, const rung_task_conf *conf)
{
    shape s = shape_of(conf);
    for (size_t i = 0; i < s.pairs; i++)
        for (size_t j = 0; j < i; j++)
            if (memcmp(instance->token + i * (s.key + 1), instance->token + j * (s.key + 1),
                       s.key * sizeof *instance->token) == 0)
                return false;
    return true;
}

const rung_task rung_task_mkar = {
    .name = "mkar",
    .summary = "associative recall where a key is a tuple of symbols",
    .source = "arXiv 2603.08859, Figure 6",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_symbols_answer_word,
    .vote = rung_symbols_vote,
    RUNG_TASK_IDS(rung_task_any_id),
    .promise = keys_differ,
};
