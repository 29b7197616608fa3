/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One table and one query; see lookup.h. Behind the tasks eva, index and retrieval.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"

size_t rung_lookup_first_query(const rung_lookup *lookup)
{
    return lookup->pairs ? lookup->keys * lookup->values : lookup->values;
}

rung_lookup rung_lookup_of(const rung_task_conf *conf)
{
    const size_t *kept = conf->derived;
    return (rung_lookup){.pairs = kept[0] != 0,
                         .entries = kept[1],
                         .values = kept[2],
                         .keys = kept[3],
                         .zipf = kept[4] != 0,
                         .repeats = kept[5] != 0};
}

static void keep_shape(rung_task_conf *conf, const rung_lookup *lookup)
{
    conf->derived[0] = lookup->pairs;
    conf->derived[1] = lookup->entries;
    conf->derived[2] = lookup->values;
    conf->derived[3] = lookup->keys;
    conf->derived[4] = lookup->zipf;
    conf->derived[5] = lookup->repeats;
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Draws keys of which token[asked] is the only one of its kind. */
static void draw_keys(uint32_t *token, size_t asked, const rung_lookup *lookup, rung_rng *rng)
{
    uint32_t key = (uint32_t)rung_rng_below(rng, lookup->keys);
    for (size_t i = 0; i < lookup->entries; i++) {
        uint32_t other = i == asked ? 0 : (uint32_t)rung_rng_below(rng, lookup->keys - 1);
        token[i] = i == asked ? key : other + (other >= key);
    }
}

/* The share of the most frequent value among the entries whose key occurs once: any of them may be asked for, and all
 * are equally likely. */
static double share_among_unique(const uint32_t *token, uint32_t *keys, uint32_t *values, const rung_lookup *lookup,
                                 rung_rng *rng)
{
    size_t unique = 0, most = 0;
    memset(keys, 0, lookup->keys * sizeof *keys);
    memset(values, 0, lookup->values * sizeof *values);
    for (size_t i = 0; i < lookup->entries; i++) keys[token[i]]++;
    for (size_t i = 0; i < lookup->entries; i++) {
        if (keys[token[i]] != 1) continue;
        uint32_t same = ++values[rung_rng_below(rng, lookup->values)];
        most = same > most ? same : most;
        unique++;
    }
    return (double)most / (double)unique;
}

/* The mean over draws with a fixed seed, 2^21 entries, keys and values in total but at least 2^10 draws. 1, the safe
 * side, when memory runs out. */
static double majority_of_repeats(const rung_lookup *lookup)
{
    rung_error err;
    size_t each = lookup->entries + lookup->keys + lookup->values;
    size_t draws = ((size_t)1 << 21) / each > 1 << 10 ? ((size_t)1 << 21) / each : 1 << 10;
    uint32_t *token = rung_calloc(each, sizeof *token, &err);
    if (!token) return 1;
    double sum = 0;
    rung_rng rng;
    rung_rng_init(&rng, UINT64_MAX, each, 0); /* a seed that no caller uses */
    for (size_t i = 0; i < draws; i++) {
        draw_keys(token, (size_t)rung_rng_below(&rng, lookup->entries), lookup, &rng);
        sum += share_among_unique(token, token + lookup->entries, token + lookup->entries + lookup->keys, lookup, &rng);
    }
    free(token);
    return sum / (double)draws;
}

static double majority_of(const rung_lookup *lookup)
{
    if (lookup->repeats) return majority_of_repeats(lookup);
    return (lookup->zipf ? rung_task_majority_of_zipf : rung_task_majority_of_table)(lookup->entries, lookup->values);
}

/* ---- the members of a row ---------------------------------------------------------------------------------------- */

rung_status rung_lookup_resolve(rung_task_conf *conf, const rung_lookup *lookup, const char *param, rung_error *err)
{
    size_t ids = lookup->values;
    if (lookup->pairs && !rung_size_mul(&ids, lookup->keys, lookup->values))
        return rung_task_too_large(conf, param, err);
    if (!rung_size_add(&conf->vocab, ids, lookup->keys)) return rung_task_too_large(conf, param, err);
    conf->tokens = lookup->entries + 1;
    conf->answers = lookup->values;
    RUNG_TRY(rung_task_check_limits(conf, param, err));
    conf->chance = 1 / (double)lookup->values;
    keep_shape(conf, lookup);
    conf->majority = majority_of(lookup);
    return RUNG_OK;
}

rung_status rung_lookup_generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    assert(conf->tokens > 1);
    rung_lookup lookup = rung_lookup_of(conf);
    size_t n = lookup.entries;
    uint32_t *token = instance->token;
    instance->tokens = n + 1;
    if (lookup.pairs && !lookup.repeats) {
        RUNG_TRY(rung_rng_sample(rng, token, n, (uint32_t)lookup.keys, err));
    }
    uint32_t asked = (uint32_t)rung_rng_below(rng, n);
    if (lookup.repeats) draw_keys(token, asked, &lookup, rng);
    token[n] = (uint32_t)rung_lookup_first_query(&lookup) + (lookup.pairs ? token[asked] : asked);
    for (size_t i = 0; i < n; i++) {
        uint32_t value = (uint32_t)(lookup.zipf ? rung_task_zipf : rung_rng_below)(rng, lookup.values);
        token[i] = lookup.pairs ? token[i] * (uint32_t)lookup.values + value : value;
    }
    return RUNG_OK;
}

/* Finds the value of the asked key, and checks that keys differ, or that this one does from all others. */
static rung_status find_pair(uint32_t *value, const rung_instance *instance, const rung_lookup *lookup, uint32_t asked,
                             const rung_task_conf *conf, rung_error *err)
{
    bool *met = rung_calloc(lookup->keys, sizeof *met, err);
    if (!met) return RUNG_SYSTEM;
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < lookup->entries && status == RUNG_OK; i++) {
        uint32_t key = instance->token[i] / (uint32_t)lookup->values;
        if (met[key] && (key == asked || !lookup->repeats))
            status = rung_fail(err, RUNG_INPUT, "task %s: position %zu repeats key %u", conf->task->name, i, key);
        met[key] = true;
        if (key == asked) *value = instance->token[i] % (uint32_t)lookup->values;
    }
    if (status == RUNG_OK && !met[asked])
        status = rung_fail(err, RUNG_INPUT, "task %s: position %zu asks for key %u, which no entry has",
                           conf->task->name, lookup->entries, asked);
    free(met);
    return status;
}

rung_status rung_lookup_solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    rung_lookup lookup = rung_lookup_of(conf);
    size_t n = lookup.entries, first_query = rung_lookup_first_query(&lookup);
    uint32_t value = 0, asked = 0;
    rung_status status = rung_task_expect_tokens(instance, conf, n + 1, err);
    for (size_t i = 0; i < n && status == RUNG_OK; i++)
        status = rung_task_expect_token(&value, instance, conf, i, 0, first_query, "an entry", err);
    RUNG_TRY(status);
    status = rung_task_expect_token(&asked, instance, conf, n, first_query, lookup.keys, "the query", err);
    RUNG_TRY(status);
    if (lookup.pairs)
        status = find_pair(&value, instance, &lookup, asked, conf, err);
    else
        value = instance->token[asked];
    RUNG_TRY(status);
    for (size_t i = 0; i < n; i++) instance->target[i] = RUNG_NO_TARGET;
    instance->target[n] = (int32_t)value;
    return RUNG_OK;
}

void rung_lookup_players(rung_instance *instance, const rung_task_conf *conf)
{
    (void)conf;
    rung_task_players_two(instance, instance->tokens - 1, "table", "query");
}

int32_t rung_lookup_vote(const rung_task_conf *conf, uint32_t token)
{
    rung_lookup lookup = rung_lookup_of(conf);
    if (token >= rung_lookup_first_query(&lookup)) return RUNG_NO_TARGET;
    return (int32_t)(token % lookup.values);
}

rung_ids rung_lookup_ids(const rung_task_conf *conf, size_t pos)
{
    rung_lookup lookup = rung_lookup_of(conf);
    size_t first_query = rung_lookup_first_query(&lookup);
    return pos < lookup.entries ? (rung_ids){0, first_query} : (rung_ids){first_query, lookup.keys};
}
