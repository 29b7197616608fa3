/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Membership in a few layers, with a query that opens O(log m) of m blocks. The last eight blocks are opened directly. A
 * level g = 8, 16, 32, ... is about the sources: the blocks at distance g to 2g from the end. The last g blocks serve
 * them, because a server must come later than its source:
 *   sorts     g/2 blocks, each for two sources: token r holds the r-th smallest item of both
 *   samples   one block (six layers only): some items of every source
 *   counts    one block: how many items of a source lie below each border
 *   buckets   the other blocks: all items of the level, in the order of their buckets
 * `sort-six` (six layers, any M, B >= (m/2)^2): the borders between buckets are samples, so that no bucket is large.
 * `sort-four` (four layers, M <= n, B >= m^3/4): the borders are fixed, and a source holds a value once.
 * docs/game.md has the sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "rung/game.h"

enum { DIRECT = 8, PER_MAX = 4, LEVELS_MAX = (RUNG_BLOCKS_SLOTS - 1) / PER_MAX };

/* The blocks of one level. */
typedef struct level {
    size_t number; /* from 0 */
    size_t source, sources;
    size_t sorts, samples, counts; /* first blocks of the servers */
    size_t buckets, bucket_blocks;
    size_t per; /* items that a token of a bucket block holds */
} level;

static size_t levels_of(const rung_blocks_game *game)
{
    size_t count = 0;
    for (size_t g = DIRECT; g < game->blocks; g *= 2) count++;
    return count;
}

static level level_at(const rung_blocks_game *game, size_t number, bool sampled)
{
    size_t g = (size_t)DIRECT << number, m = game->blocks, first = m - g;
    level v = {.number = number, .source = m > 2 * g ? m - 2 * g : 0, .sorts = first, .samples = first + g / 2};
    v.sources = first - v.source;
    v.counts = v.samples + sampled, v.buckets = v.counts + 1, v.bucket_blocks = m - v.buckets;
    v.per = (v.sources + v.bucket_blocks - 1) / v.bucket_blocks;
    return v;
}

/* Item i of a level has a slot of its own. */
static size_t slot_of(const level *v, size_t i)
{
    return v->number * PER_MAX + i;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* An item is value x n + position: equal values stay apart. Bits of an item, of a number up to n, of a value. */
static uint64_t tokens_of(const rung_blocks_game *game)
{
    return (uint64_t)game->block * game->blocks;
}

static unsigned item_bits(const rung_blocks_game *game)
{
    return rung_game_width(game->M * tokens_of(game) + 1);
}

static unsigned count_bits(const rung_blocks_game *game)
{
    return rung_game_width(tokens_of(game) + 1);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What is wanted: the number that makes 0 with the query. */
static uint64_t wanted(rung_blocks_reader *r, const rung_blocks_game *game)
{
    return (game->M - rung_blocks_number(r, rung_blocks_token(r)) % game->M) % game->M;
}

/* Scratch for one block; a reader that cannot get it tells nothing, and the answer is then wrong. */
static uint64_t *scratch(size_t count)
{
    return malloc((count + 1) * sizeof(uint64_t));
}

/* All items of a block in order. */
static uint64_t *sorted_items(rung_blocks_reader *r, const rung_blocks_game *game, size_t block)
{
    uint64_t *items = scratch(game->block);
    rung_blocks_open(r, block);
    for (size_t i = 0; items && i < game->block; i++) {
        size_t token = block * game->block + i;
        items[i] = rung_blocks_number(r, token) * tokens_of(game) + token;
    }
    if (items) qsort(items, game->block, sizeof *items, by_value);
    return items;
}

/* ---- both: the last blocks, places of servers, buckets ----------------------------------------------------------- */

/* Slot of the query for what it has found; the last one, so that no level uses it. */
enum { FOUND = RUNG_BLOCKS_SLOTS - 1 };

static void look_nearby(rung_blocks_reader *r, const rung_blocks_game *game)
{
    uint64_t v = wanted(r, game), found = 0;
    for (size_t block = game->blocks > DIRECT ? game->blocks - DIRECT : 0; block < game->blocks; block++) {
        rung_blocks_open(r, block);
        for (size_t i = 0; i < game->block; i++) found |= rung_blocks_number(r, block * game->block + i) == v;
    }
    rung_blocks_tell(r, FOUND, found, 1);
}

/* The source that a token of a sorting block serves as number `half`; false: none. */
static bool source_served(size_t *source, const level *v, const rung_blocks_game *game, size_t token, size_t half)
{
    size_t block = token / game->block, which = 2 * (block - v->sorts) + half;
    if (block < v->sorts || block >= v->samples || which >= v->sources) return false;
    *source = which;
    return true;
}

static size_t sorting_block(const level *v, size_t source)
{
    return v->sorts + source / 2;
}

/* What the sorting block was told in layer 1 of the r-th item of a source; the block must be open. */
static uint64_t sorted_item(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t source,
                            size_t rank)
{
    return rung_blocks_told(r, sorting_block(v, source) * game->block + rank, 1, slot_of(v, source % 2));
}

/* Items of a source below border `u`, as the counting block was told in layer `layer`; `borders` of them per source. */
static uint64_t below(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t layer, size_t borders,
                      size_t source, size_t u)
{
    return rung_blocks_told(r, v->counts * game->block + source * borders + u, layer, slot_of(v, 0));
}

/* The items of a level in the order of bucket, source, rank. `all`: items of a source, where there is no further
 * border. */
typedef struct place {
    size_t source, rank;
    bool there;
} place;

typedef struct order {
    size_t layer, borders;
    size_t total_slot; /* of the counting block: the number of items of a source; SIZE_MAX: B */
} order;

static uint64_t up_to(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, const order *o,
                      size_t source, size_t u)
{
    if (u < o->borders) return below(r, v, game, o->layer, o->borders, source, u);
    if (o->total_slot == SIZE_MAX) return game->block;
    return rung_blocks_told(r, v->counts * game->block + source * o->borders, o->layer, slot_of(v, o->total_slot));
}

static place place_of(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, const order *o,
                      uint64_t item)
{
    uint64_t passed = 0;
    for (size_t u = 0; u < o->borders; u++)
        for (size_t s = 0; s < v->sources; s++) {
            uint64_t from = up_to(r, v, game, o, s, u), to = up_to(r, v, game, o, s, u + 1);
            if (item < passed + (to - from)) return (place){s, (size_t)(from + item - passed), true};
            passed += to - from;
        }
    return (place){0, 0, false};
}

/* Where the items of bucket u begin. */
static uint64_t start_of(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, const order *o, size_t u)
{
    uint64_t passed = 0;
    for (size_t s = 0; s < v->sources; s++) passed += up_to(r, v, game, o, s, u);
    return passed;
}

static bool in_buckets(const level *v, const rung_blocks_game *game, size_t token)
{
    return token / game->block >= v->buckets && token / game->block < game->blocks;
}

/* A token of a bucket block learns which items it will hold. Places are told as source x B + rank, 0 for none. */
static void learn_places(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, const order *o)
{
    uint64_t first = (rung_blocks_token(r) - v->buckets * game->block) * v->per;
    rung_blocks_open(r, v->counts);
    for (size_t i = 0; i < v->per; i++) {
        place p = place_of(r, v, game, o, first + i);
        uint64_t code = p.there ? (uint64_t)p.source * game->block + p.rank + 1 : 0;
        rung_blocks_tell(r, slot_of(v, i), code, count_bits(game));
    }
}

/* And fetches them. An item is told as itself + 1, 0 for none. */
static void fetch_items(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t learnt,
                        unsigned bits)
{
    for (size_t i = 0; i < v->per; i++) {
        uint64_t code = rung_blocks_told(r, rung_blocks_token(r), learnt, slot_of(v, i));
        if (!code) continue;
        size_t source = (size_t)((code - 1) / game->block), rank = (size_t)((code - 1) % game->block);
        rung_blocks_open(r, sorting_block(v, source));
        rung_blocks_tell(r, slot_of(v, i), sorted_item(r, v, game, source, rank), bits);
    }
}

/* The query learns the interval of its bucket. */
static void learn_interval(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, const order *o,
                           size_t u)
{
    rung_blocks_open(r, v->counts);
    rung_blocks_tell(r, slot_of(v, 0), start_of(r, v, game, o, u), count_bits(game));
    rung_blocks_tell(r, slot_of(v, 1), start_of(r, v, game, o, u + 1), count_bits(game));
}

/* And looks through it. `scale`: an item + 1 is value x scale + something + 1. */
static bool look_through(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t learnt,
                         size_t fetched, uint64_t scale)
{
    size_t query = rung_blocks_token(r);
    uint64_t from = rung_blocks_told(r, query, learnt, slot_of(v, 0)), v_wanted = wanted(r, game);
    uint64_t to = rung_blocks_told(r, query, learnt, slot_of(v, 1));
    bool found = false;
    for (uint64_t item = from; item < to; item++) {
        size_t token = v->buckets * game->block + (size_t)(item / v->per);
        rung_blocks_open(r, token / game->block);
        uint64_t held = rung_blocks_told(r, token, fetched, slot_of(v, (size_t)(item % v->per)));
        found = found || (held && (held - 1) / scale == v_wanted);
    }
    return found;
}

/* ---- six layers -------------------------------------------------------------------------------------------------- */

static rung_status six_fits(const rung_blocks_game *game, rung_error *err)
{
    size_t half = game->blocks / 2;
    if (levels_of(game) > LEVELS_MAX || half > (1u << 20) || (game->blocks > DIRECT && half * half > game->block))
        return rung_fail(err, RUNG_USAGE,
                         "sort-six needs blocks of at least (m/2)^2 tokens: %zu blocks of %zu have fewer", game->blocks,
                         game->block);
    return RUNG_OK;
}

/* Layer 1: sorted copies as item + 1, and samples. */
static void six_copy(rung_blocks_reader *r, const level *v, const rung_blocks_game *game)
{
    size_t token = rung_blocks_token(r), block = token / game->block, at = token % game->block, source;
    for (size_t half = 0; half < 2; half++) {
        if (!source_served(&source, v, game, token, half)) continue;
        uint64_t *items = sorted_items(r, game, v->source + source);
        if (items) rung_blocks_tell(r, slot_of(v, half), items[at] + 1, item_bits(game));
        free(items);
    }
    if (block != v->samples || at >= v->sources * v->sources) return;
    uint64_t *items = sorted_items(r, game, v->source + at / v->sources);
    if (items)
        rung_blocks_tell(r, slot_of(v, 0), items[at % v->sources * game->block / v->sources] + 1, item_bits(game));
    free(items);
}

/* The samples of all sources in order; border u > 0 is sample u m_s. */
static uint64_t *sorted_samples(rung_blocks_reader *r, const level *v, const rung_blocks_game *game)
{
    size_t count = v->sources * v->sources;
    uint64_t *sample = scratch(count);
    rung_blocks_open(r, v->samples);
    for (size_t i = 0; sample && i < count; i++)
        sample[i] = rung_blocks_told(r, v->samples * game->block + i, 1, slot_of(v, 0));
    if (sample) qsort(sample, count, sizeof *sample, by_value);
    return sample;
}

static bool counts_for(size_t *source, size_t *border, const level *v, const rung_blocks_game *game, size_t token)
{
    size_t at = token % game->block;
    *source = at / v->sources, *border = at % v->sources;
    return token / game->block == v->counts && at < v->sources * v->sources;
}

/* Layer 2: a token of the counting block learns its border, the query its bucket, and whether the next border is what it
 * wants. */
static void six_borders(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, bool query)
{
    size_t source = 0, border = 0;
    if (!query && !counts_for(&source, &border, v, game, rung_blocks_token(r))) return;
    uint64_t *sample = sorted_samples(r, v, game);
    if (sample && !query) rung_blocks_tell(r, slot_of(v, 0), border ? sample[border * v->sources] : 0, item_bits(game));
    if (sample && query) {
        uint64_t least = wanted(r, game) * tokens_of(game) + 1, bucket = 0;
        while (bucket + 1 < v->sources && sample[(bucket + 1) * v->sources] < least) bucket++;
        bool next =
            bucket + 1 < v->sources && (sample[(bucket + 1) * v->sources] - 1) / tokens_of(game) == wanted(r, game);
        rung_blocks_tell(r, slot_of(v, 0), bucket, count_bits(game));
        rung_blocks_tell(r, slot_of(v, 1), next, 1);
    }
    free(sample);
}

/* Layer 3: how many items of its source lie below its border. */
static void six_count(rung_blocks_reader *r, const level *v, const rung_blocks_game *game)
{
    size_t source, border;
    if (!counts_for(&source, &border, v, game, rung_blocks_token(r))) return;
    uint64_t from = rung_blocks_told(r, rung_blocks_token(r), 2, slot_of(v, 0)), count = 0;
    rung_blocks_open(r, sorting_block(v, source));
    for (size_t rank = 0; rank < game->block; rank++) count += sorted_item(r, v, game, source, rank) < from;
    rung_blocks_tell(r, slot_of(v, 0), border ? count : 0, count_bits(game));
}

static void six_query(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t layer)
{
    const order o = {3, v->sources, SIZE_MAX};
    if (layer == 2) six_borders(r, v, game, true);
    if (layer == 4) learn_interval(r, v, game, &o, (size_t)rung_blocks_told(r, rung_blocks_token(r), 2, slot_of(v, 0)));
    if (layer == 6) rung_blocks_tell(r, slot_of(v, 0), look_through(r, v, game, 4, 5, tokens_of(game)), 1);
}

static void six_token(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t layer)
{
    const order o = {3, v->sources, SIZE_MAX};
    bool bucket = in_buckets(v, game, rung_blocks_token(r));
    if (layer == 1) six_copy(r, v, game);
    if (layer == 2) six_borders(r, v, game, false);
    if (layer == 3) six_count(r, v, game);
    if (layer == 4 && bucket) learn_places(r, v, game, &o);
    if (layer == 5 && bucket) fetch_items(r, v, game, 4, item_bits(game));
}

static void six_read(rung_blocks_reader *r, const rung_blocks_game *game, size_t layer)
{
    bool query = rung_blocks_token(r) == tokens_of(game);
    if (query && layer == 1) look_nearby(r, game);
    for (size_t i = 0; i < levels_of(game); i++) {
        level v = level_at(game, i, true);
        (query ? six_query : six_token)(r, &v, game, layer);
    }
}

static bool six_answer(rung_blocks_reader *r, const rung_blocks_game *game)
{
    size_t query = rung_blocks_token(r);
    bool found = rung_blocks_told(r, query, 1, FOUND) != 0;
    for (size_t i = 0; i < levels_of(game); i++) {
        level v = level_at(game, i, true);
        found = found || rung_blocks_told(r, query, 2, slot_of(&v, 1)) || rung_blocks_told(r, query, 6, slot_of(&v, 0));
    }
    return found;
}

/* ---- four layers ------------------------------------------------------------------------------------------------- */

static rung_status four_fits(const rung_blocks_game *game, rung_error *err)
{
    size_t m = game->blocks;
    if (game->M > tokens_of(game) || m > (1u << 20) || levels_of(game) > LEVELS_MAX ||
        (m > DIRECT && m * m / 4 * m > game->block))
        return rung_fail(
            err, RUNG_USAGE,
            "sort-four needs M <= N and blocks of at least m^3/4 tokens: there are %zu blocks of %zu, and M "
            "= %llu",
            m, game->block, (unsigned long long)game->M);
    return RUNG_OK;
}

static size_t ranges_of(const level *v, const rung_blocks_game *game)
{
    return game->block / v->sources;
}

static uint64_t width_of(const level *v, const rung_blocks_game *game)
{
    uint64_t ranges = ranges_of(v, game);
    return (game->M + ranges - 1) / ranges;
}

/* The different values of a block in order; returns how many. */
static size_t distinct_values(uint64_t **out, rung_blocks_reader *r, const rung_blocks_game *game, size_t block)
{
    uint64_t *value = sorted_items(r, game, block);
    size_t count = 0;
    for (size_t i = 0; value && i < game->block; i++) {
        uint64_t x = value[i] / tokens_of(game);
        if (count == 0 || value[count - 1] != x) value[count++] = x;
    }
    *out = value;
    return count;
}

static unsigned value_bits(const rung_blocks_game *game)
{
    return rung_game_width(game->M + 1);
}

/* Layer 1: sorted copies as value + 1, and counts from the source itself; the first of a source also gets the total. */
static void four_first(rung_blocks_reader *r, const level *v, const rung_blocks_game *game)
{
    size_t token = rung_blocks_token(r), at = token % game->block, ranges = ranges_of(v, game), source;
    uint64_t *value;
    for (size_t half = 0; half < 2; half++) {
        if (!source_served(&source, v, game, token, half)) continue;
        size_t count = distinct_values(&value, r, game, v->source + source);
        if (at < count) rung_blocks_tell(r, slot_of(v, half), value[at] + 1, value_bits(game));
        free(value);
    }
    if (token / game->block != v->counts || at >= ranges * v->sources) return;
    size_t count = distinct_values(&value, r, game, v->source + at / ranges);
    uint64_t border = at % ranges * width_of(v, game), lower = 0;
    for (size_t i = 0; value && i < count; i++) lower += value[i] < border;
    rung_blocks_tell(r, slot_of(v, 0), lower, count_bits(game));
    rung_blocks_tell(r, slot_of(v, 1), at % ranges ? 0 : count, count_bits(game));
    free(value);
}

static void four_read_level(rung_blocks_reader *r, const level *v, const rung_blocks_game *game, size_t layer)
{
    const order o = {1, ranges_of(v, game), 1};
    bool query = rung_blocks_token(r) == tokens_of(game), bucket = in_buckets(v, game, rung_blocks_token(r));
    if (layer == 1 && !query) four_first(r, v, game);
    if (layer == 2 && query) learn_interval(r, v, game, &o, (size_t)(wanted(r, game) / width_of(v, game)));
    if (layer == 2 && bucket) learn_places(r, v, game, &o);
    if (layer == 3 && bucket) fetch_items(r, v, game, 2, value_bits(game));
    if (layer == 4 && query) rung_blocks_tell(r, slot_of(v, 0), look_through(r, v, game, 2, 3, 1), 1);
}

static void four_read(rung_blocks_reader *r, const rung_blocks_game *game, size_t layer)
{
    if (rung_blocks_token(r) == tokens_of(game) && layer == 1) look_nearby(r, game);
    for (size_t i = 0; i < levels_of(game); i++) {
        level v = level_at(game, i, false);
        four_read_level(r, &v, game, layer);
    }
}

static bool four_answer(rung_blocks_reader *r, const rung_blocks_game *game)
{
    size_t query = rung_blocks_token(r);
    bool found = rung_blocks_told(r, query, 1, FOUND) != 0;
    for (size_t i = 0; i < levels_of(game); i++) {
        level v = level_at(game, i, false);
        found = found || rung_blocks_told(r, query, 4, slot_of(&v, 0));
    }
    return found;
}

/* ---- the registry ------------------------------------------------------------------------------------------------ */

static const rung_blocks_protocol protocols[] = {
    {"sort-six", "blocks: membership in six layers, the query opens O(log m) of m blocks", 6, six_fits, six_read,
     six_answer},
    {"sort-four", "blocks: the same in four layers, for M <= N", 4, four_fits, four_read, four_answer},
};

size_t rung_blocks_protocol_count(void)
{
    return RUNG_COUNT(protocols);
}

const rung_blocks_protocol *rung_blocks_protocol_at(size_t index)
{
    return &protocols[index];
}

const rung_blocks_protocol *rung_blocks_protocol_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(protocols); i++)
        if (strcmp(protocols[i].name, name) == 0) return &protocols[i];
    return NULL;
}
