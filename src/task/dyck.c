/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * dyck: N brackets of several types; accept iff they are balanced and never nested deeper than k (bounded
 * Dyck-(types, k); Bhattamishra et al. 2024: a recurrent state of k log(types) bits against a one-layer
 * Transformer).
 *
 * A prompt is a uniform word of the language or the same word with two symbols exchanged so that it leaves
 * the language, neither of them the first or the last. Both are made before a coin chooses, so the symbols at
 * both ends, and how often each symbol occurs, say nothing about the answer.
 */
#include <stdlib.h>

#include "common.h"
#include "halves.h"
#include "task_rows.h"

#define DEPTH_MAX 256

enum { DIST_UNIFORM, DIST_HARD };
static const char *const dist_names[] = {"uniform", "hard", NULL};

static const rung_param params[] = {
    {"N", RUNG_PARAM_INT, 32, 4, 1 << 14, NULL, "brackets, an even number"},
    {"types", RUNG_PARAM_INT, 2, 1, 64, NULL, "types of brackets"},
    {"k", RUNG_PARAM_INT, 4, 1, DEPTH_MAX, NULL, "greatest depth that is accepted"},
    {"dist", RUNG_PARAM_CHOICE, DIST_UNIFORM, 0, 0, dist_names,
     "near misses: any two symbols exchanged, or neighbours"},
    {0},
};

static rung_status resolve(rung_task_conf *conf, rung_error *err)
{
    size_t n = (size_t)rung_task_param(conf, "N"), types = (size_t)rung_task_param(conf, "types");
    size_t depth = (size_t)rung_task_param(conf, "k");
    if (n % 2 != 0) return rung_fail(err, RUNG_USAGE, "task dyck: N=%zu is odd; use %zu", n, n + 1);
    /* ()() and (()) are each other's only interior exchange. */
    if (types == 1 && depth >= 2 && n < 6)
        return rung_fail(err, RUNG_USAGE, "task dyck: words of %zu brackets of one type have no near miss; use N >= 6",
                         n);
    conf->tokens = n;
    conf->vocab = 2 * types;
    rung_task_yes_no(conf);
    return RUNG_OK;
}

/* Ids: 2 * type for the opening bracket, one more for the closing one. */
static bool accepts(const uint32_t *bracket, size_t n, size_t depth)
{
    uint32_t open[DEPTH_MAX];
    size_t height = 0;
    for (size_t i = 0; i < n; i++) {
        if (bracket[i] % 2 == 0) {
            if (height == depth) return false;
            open[height++] = bracket[i];
        } else {
            if (height == 0 || open[--height] + 1 != bracket[i]) return false;
        }
    }
    return height == 0;
}

/* ways[r * (depth + 1) + h] is the number of paths of r steps from height h down to 0 within [0, depth], up to a factor
 * per row. Only ratios within a row are used. Rows are scaled by powers of two before they overflow, which is exact on
 * every machine. */
static void count_paths(double *ways, size_t n, size_t depth)
{
    size_t width = depth + 1;
    ways[0] = 1;
    for (size_t r = 1; r <= n; r++) {
        const double *below = ways + (r - 1) * width;
        double *row = ways + r * width, most = 0;
        for (size_t h = 0; h < width; h++) {
            row[h] = (h > 0 ? below[h - 1] : 0) + (h < depth ? below[h + 1] : 0);
            if (row[h] > most) most = row[h];
        }
        for (size_t h = 0; h < width && most > 0x1p512; h++) row[h] *= 0x1p-512;
    }
}

/* Draws a uniform word of the language. */
static void draw_word(uint32_t *bracket, const double *ways, size_t n, size_t types, size_t depth, rung_rng *rng)
{
    uint32_t open[DEPTH_MAX];
    size_t height = 0;
    for (size_t i = 0; i < n; i++) {
        const double *rest = ways + (n - i - 1) * (depth + 1);
        double up = height < depth ? rest[height + 1] : 0, down = height > 0 ? rest[height - 1] : 0;
        if (rung_rng_unit(rng) * (up + down) < up)
            bracket[i] = open[height++] = (uint32_t)(2 * rung_rng_below(rng, types));
        else
            bracket[i] = open[--height] + 1;
    }
}

static void exchange(uint32_t *bracket, size_t i, size_t j)
{
    uint32_t kept = bracket[i];
    bracket[i] = bracket[j];
    bracket[j] = kept;
}

/* Whether exchanging the neighbours a b of a word of the language gives a word outside it. `height` brackets are open
 * before them, and `top` is the innermost. Two opening or two closing brackets of different types cross after the
 * exchange. "()" becomes ")(", which stays in the language inside a bracket of the same type. ")(" becomes "()", which
 * stays in it for equal types unless it is too deep. */
static bool breaks(uint32_t a, uint32_t b, size_t height, uint32_t top, size_t depth)
{
    if (a % 2 == b % 2) return a != b;
    if (a % 2 == 0) return height == 0 || top != a;
    return height == depth || a != b + 1;
}

/* Finds a random pair of interior neighbours whose exchange leaves the language. Returns false when there is none. */
static bool find_neighbours(size_t *i, size_t *j, const uint32_t *bracket, size_t n, size_t depth, rung_rng *rng)
{
    uint32_t open[DEPTH_MAX] = {0};
    size_t height = 0, seen = 0;
    for (size_t t = 0; t + 2 < n; t++) {
        uint32_t top = height > 0 ? open[height - 1] : 0;
        if (t > 0 && breaks(bracket[t], bracket[t + 1], height, top, depth) && rung_rng_below(rng, ++seen) == 0) *i = t;
        if (bracket[t] % 2 == 0)
            open[height++] = bracket[t];
        else
            height--;
    }
    if (seen > 0) *j = *i + 1;
    return seen > 0;
}

/* Finds two random interior positions whose exchange leaves the language, in a few tries. Returns false if it found
 * none. */
static bool find_any(size_t *i, size_t *j, uint32_t *bracket, size_t n, size_t depth, rung_rng *rng)
{
    for (size_t tries = 0; tries < 64; tries++) {
        *i = 1 + rung_rng_below(rng, n - 2);
        *j = 1 + rung_rng_below(rng, n - 2);
        exchange(bracket, *i, *j);
        bool rejected = !accepts(bracket, n, depth);
        exchange(bracket, *i, *j);
        if (rejected) return true;
    }
    return false;
}

static rung_status generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    size_t n = conf->tokens, types = (size_t)rung_task_param(conf, "types"), i = 0, j = 0;
    size_t depth = (size_t)rung_task_param(conf, "k");
    bool neighbours = rung_task_param(conf, "dist") == DIST_HARD;
    double *ways = rung_calloc((n + 1) * (depth + 1), sizeof *ways, err);
    if (!ways) return RUNG_SYSTEM;
    count_paths(ways, n, depth);
    bool found = false;
    while (!found) {
        draw_word(instance->token, ways, n, types, depth, rng);
        found = neighbours ? find_neighbours(&i, &j, instance->token, n, depth, rng)
                           : find_any(&i, &j, instance->token, n, depth, rng);
    }
    if (rung_rng_below(rng, 2)) exchange(instance->token, i, j);
    instance->tokens = n;
    free(ways);
    return RUNG_OK;
}

static rung_status solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    uint32_t bracket;
    rung_status status = rung_task_expect_tokens(instance, conf, conf->tokens, err);
    for (size_t t = 0; t < conf->tokens && status == RUNG_OK; t++)
        status = rung_task_expect_token(&bracket, instance, conf, t, 0, conf->vocab, "a bracket", err);
    RUNG_TRY(status);
    rung_task_answer_last(instance, accepts(instance->token, conf->tokens, (size_t)rung_task_param(conf, "k")));
    return RUNG_OK;
}

static void players(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_players_two(instance, conf->tokens / 2, "first", "second");
}

/* ( ) [ ] { } < > and then (4 )4 (5 )5 ... */
static void token_word(rung_buf *out, const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    if (token < 8)
        rung_buf_putc(out, "()[]{}<>"[token]);
    else
        rung_buf_printf(out, "%c%u", "()"[token % 2], token / 2);
}

const rung_task rung_task_dyck = {
    .name = "dyck",
    .summary = "brackets: are they balanced, and never deeper than k?",
    .source = "Bhattamishra et al. 2024: bounded Dyck languages",
    .params = params,
    .resolve = resolve,
    .generate = generate,
    .solve = solve,
    .players = players,
    .token_word = token_word,
    .answer_word = rung_task_yes_no_word,
    RUNG_TASK_IDS(rung_task_any_id),
};
