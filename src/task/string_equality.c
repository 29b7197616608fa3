/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * string-equality: u and v in {0,1}^N, is u = v? The first half reaches the last token of a one-layer decoder
 * through H(d+1)p bits only, and a recurrent state holds what is left of u: both need N bits. Two layers of
 * logarithmic size do it: every token of v fetches its counterpart, then the last token averages the
 * mismatches.
 *
 * One flipped bit changes the parity of all ones, so a model that counts ones modulo 2 solves dist=hard with
 * flips=1 without comparing anything; flips=2 closes that door.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "halves.h"
#include "task_rows.h"
#include "yes_no.h"

static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 16, 1, 1 << 24, NULL, "bits per string; the prompt has 2N tokens"},
    {"flips", RUNG_PARAM_INT, 1, 1, 1 << 24, NULL, "places in which a near miss differs (dist=hard)"},
    {"dist", RUNG_PARAM_CHOICE, 0, 0, 0, dist_names, "unequal pairs: any (uniform) or near misses (hard)"},
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    int64_t bits = rung_task_param(conf, "N"), flips = rung_task_param(conf, "flips");
    if (flips > bits)
        return rung_fail(err, RUNG_USAGE,
                         "task string-equality: flips=%lld, and the strings have N=%lld places; lower flips",
                         (long long)flips, (long long)bits);
    if (flips != 1 && rung_task_param(conf, "dist") == 0)
        return rung_fail(err, RUNG_USAGE, "task string-equality: flips=%lld needs dist=hard", (long long)flips);
    rung_halves_resolve(conf, (size_t)bits);
    return RUNG_OK;
}

static void random_bits(uint8_t *bits, size_t count, rung_rng *rng)
{
    for (size_t i = 0; i < count; i++) bits[i] = (uint8_t)rung_rng_below(rng, 2);
}

/* Inverts `flips` random places of v. */
static rung_status flip_places(uint8_t *v, size_t bits, size_t flips, rung_rng *rng, rung_error *err)
{
    uint32_t *place = rung_calloc(flips, sizeof *place, err);
    if (!place) return RUNG_SYSTEM;
    rung_status status = rung_rng_sample(rng, place, flips, (uint32_t)bits, err);
    for (size_t i = 0; i < flips && status == RUNG_OK; i++) v[place[i]] ^= 1;
    free(place);
    return status;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t bits = conf->derived[0];
    uint8_t *u = rung_calloc(bits, 2, err);
    if (!u) return RUNG_SYSTEM;
    uint8_t *v = u + bits;
    rung_status status = RUNG_OK;
    bool same = rung_rng_below(rng, 2);
    random_bits(u, bits, rng);
    memcpy(v, u, bits);
    if (!same && rung_task_param(conf, "dist") == 1)
        status = flip_places(v, bits, (size_t)rung_task_param(conf, "flips"), rng, err);
    else if (!same)
        while (memcmp(u, v, bits) == 0) random_bits(v, bits, rng);
    rung_halves_write(instance, u, v, bits);
    free(u);
    return status;
}

static int32_t equal(const uint8_t *u, const uint8_t *v, size_t bits)
{
    return memcmp(u, v, bits) == 0;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    return rung_halves_solve(instance, conf, equal, err);
}

static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    rung_halves_word(out, token, 'u', 'v');
}

const rung_task rung_task_string_equality = {
    .name = "string-equality",
    .summary = "u and v of N bits each: are they equal?",
    .source = "Bhattamishra et al. 2024; needs N bits across the middle",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = rung_halves_players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    RUNG_TASK_IDS(rung_halves_ids),
};
