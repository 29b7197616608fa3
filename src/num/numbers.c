/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: the names of mixed formats: "weights=bf16,act=bf16,acc=f32,...". Not how numbers are stored (stored.c).
 */
#include "rounded_ops.h"

#include <string.h>

const char *const rung_quantity_names[] = {"weights", "act", "acc", "state", "cache", "gate", "beta", NULL};

static const rung_served served[] = {
    {"bf16", "weights=bf16,act=bf16,acc=f32,state=bf16,cache=bf16,gate=f32,beta=bf16",
     "a model in bf16 whose states are stored in its own type"},
    {"state32", "weights=bf16,act=bf16,acc=f32,state=f32,cache=bf16,gate=f32,beta=bf16", "the same with states in f32"},
    {"fp8", "weights=bf16,act=bf16,acc=f32,state=f32,cache=e4m3fn,gate=f32,beta=bf16",
     "the same with keys and values in 8 bits, no scale"},
    {"int8", "weights=int8/row,act=bf16,acc=f32,state=f32,cache=int8/row,gate=f32,beta=bf16",
     "weights, keys and values in 8 bits with a scale per row"},
};

const rung_served *rung_served_at(size_t index)
{
    return index < RUNG_COUNT(served) ? &served[index] : NULL;
}

/* ---- one stored format ------------------------------------------------------------------------------------------- */

/* A format without infinities whose top exponent holds numbers, as far as `largest`. */
static rung_status set_finite(rung_stored *s, const char *like, const char *name, double largest, rung_error *err)
{
    RUNG_TRY(rung_fmt_parse(&s->code, like, err));
    s->code.largest = largest, s->code.smallest = -largest, s->finite = true;
    s->code.overflow = INFINITY;
    snprintf(s->code.name, sizeof s->code.name, "%.15s", name);
    return RUNG_OK;
}

static const struct {
    const char *name, *like;
    double largest;
    bool needs_scale;
} codes[] = {
    {"e4m3fn", "e4m3", 448, false},
    {"e2m1fn", "e2m1", 6, true},
    {"int8", "q7.0", 127, true},
    {"int4", "q3.0", 7, true},
};

static const struct {
    const char *name, *means;
} short_names[] = {{"mxfp8", "e4m3fn/32*e8m0"}, {"mxfp4", "e2m1fn/32*e8m0"}};

enum { WORD_MAX = 24, BLOCK_MOST = 1 << 20 };

static rung_status set_code(rung_stored *s, const char *name, bool *needs_scale, rung_error *err)
{
    *needs_scale = false;
    for (size_t i = 0; i < RUNG_COUNT(codes); i++) {
        if (strcmp(name, codes[i].name) != 0) continue;
        *needs_scale = codes[i].needs_scale;
        return set_finite(s, codes[i].like, name, codes[i].largest, err);
    }
    return rung_fmt_parse(&s->code, name, err);
}

/* "row", or a number of 2 and more without leading zeros. */
static bool read_block(size_t *block, const char *text)
{
    size_t value = 0;
    if (strcmp(text, "row") == 0) {
        *block = SIZE_MAX;
        return true;
    }
    if (*text < '1' || *text > '9' || strlen(text) > 7) return false;
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + (size_t)(*text - '0');
    *block = value;
    return *text == '\0' && value >= 2 && value <= BLOCK_MOST;
}

static rung_status set_scale(rung_stored *s, const char *block, const char *scale, rung_error *err)
{
    if (!s->finite)
        return rung_fail(err, RUNG_USAGE,
                         "%.16s takes no scale; formats with one are int8, int4, e4m3fn and e2m1fn, such as int8/row",
                         s->code.name);
    if (!read_block(&s->block, block))
        return rung_fail(err, RUNG_USAGE,
                         "after '/' comes row, or how many numbers share a scale (2 to %d), not '%.24s'", BLOCK_MOST,
                         block);
    s->scaling = scale && strcmp(scale, "e8m0") == 0 ? RUNG_SCALE_POWER : RUNG_SCALE_RATIO;
    if (s->scaling == RUNG_SCALE_POWER) return RUNG_OK;
    const char *name = scale ? scale : "f32";
    if (strcmp(name, "f32") != 0 && strcmp(name, "bf16") != 0 && strcmp(name, "f16") != 0)
        return rung_fail(err, RUNG_USAGE, "a scale is f32, bf16, f16 or e8m0 (powers of two), not '%.24s'", name);
    return rung_fmt_parse(&s->scale, name, err);
}

/* The canonical name: no scale of f32, and the short names. */
static void name_stored(rung_stored *s)
{
    char block[16] = "row";
    if (s->block != SIZE_MAX) snprintf(block, sizeof block, "%d", (int)s->block);
    if (s->scaling == RUNG_SCALE_NONE)
        snprintf(s->name, sizeof s->name, "%.15s", s->code.name);
    else if (s->scaling == RUNG_SCALE_POWER)
        snprintf(s->name, sizeof s->name, "%.7s/%.7s*e8m0", s->code.name, block);
    else
        snprintf(s->name, sizeof s->name, "%.7s/%.7s%s%.4s", s->code.name, block,
                 strcmp(s->scale.name, "f32") == 0 ? "" : "*", strcmp(s->scale.name, "f32") == 0 ? "" : s->scale.name);
    for (size_t i = 0; i < RUNG_COUNT(short_names); i++)
        if (strcmp(s->name, short_names[i].means) == 0) snprintf(s->name, sizeof s->name, "%s", short_names[i].name);
}

/* "FORMAT", or "CODE/BLOCK" or "CODE/BLOCK*SCALE". */
static rung_status parse_stored(rung_stored *s, const char *text, rung_error *err)
{
    char word[WORD_MAX];
    bool needs_scale;
    for (size_t i = 0; i < RUNG_COUNT(short_names); i++)
        if (strcmp(text, short_names[i].name) == 0) text = short_names[i].means;
    snprintf(word, sizeof word, "%s", text);
    char *block = strchr(word, '/'), *scale = block ? strchr(block, '*') : NULL;
    if (block) *block++ = '\0';
    if (scale) *scale++ = '\0';
    *s = (rung_stored){.block = 0};
    RUNG_TRY(set_code(s, word, &needs_scale, err));
    if (block) RUNG_TRY(set_scale(s, block, scale, err));
    if (needs_scale && !block)
        return rung_fail(err, RUNG_USAGE, "%s needs a scale: %s/row, or %s/32 for one of every 32 numbers", word, word,
                         word);
    name_stored(s);
    return RUNG_OK;
}

static void store_in(rung_stored *s, const rung_fmt *fmt)
{
    *s = (rung_stored){.code = *fmt};
    name_stored(s);
}

/* ---- all quantities ---------------------------------------------------------------------------------------------- */

static void all_in(rung_numbers *n, const rung_fmt *fmt)
{
    for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++) store_in(&n->of[q], fmt);
}

void rung_numbers_of_fmt(rung_numbers *numbers, const rung_fmt *fmt)
{
    *numbers = (rung_numbers){.acc = *fmt, .chunk = 1};
    all_in(numbers, fmt);
    snprintf(numbers->name, sizeof numbers->name, "%s", fmt->name);
}

const rung_stored *rung_numbers_state_after(const rung_numbers *numbers, size_t tokens)
{
    return &numbers->of[tokens % numbers->chunk ? RUNG_QUANTITY_ACC : RUNG_QUANTITY_STATE];
}

/* Whether every value of `inner` is one of `outer`. */
static bool holds_all(const rung_fmt *outer, const rung_fmt *inner)
{
    if (outer->is_f64) return true;
    if (outer->kind == RUNG_FMT_FIXED)
        return inner->kind == RUNG_FMT_FIXED && inner->integer_bits <= outer->integer_bits &&
               inner->fraction_bits <= outer->fraction_bits;
    int digits = inner->kind == RUNG_FMT_FIXED ? inner->bits - 1 : inner->mantissa_bits + 1;
    return digits <= outer->mantissa_bits + 1 && inner->spacing >= outer->spacing && -inner->smallest <= outer->largest;
}

static rung_status check_places(const rung_numbers *n, rung_error *err)
{
    for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++) {
        const bool kept = q == RUNG_QUANTITY_WEIGHTS || q == RUNG_QUANTITY_STATE || q == RUNG_QUANTITY_CACHE;
        const char *name = rung_quantity_names[q];
        if (n->of[q].finite && !kept)
            return rung_fail(err, RUNG_USAGE, "numbers: %s=%s: that format is for weights, state and cache, not for %s",
                             name, n->of[q].name, name);
    }
    return RUNG_OK;
}

/* A state that is in acc anyway has nothing to wait for. */
static rung_status check_chunk(const rung_numbers *n, rung_error *err)
{
    const bool stored = n->stochastic || strcmp(n->of[RUNG_QUANTITY_STATE].name, n->of[RUNG_QUANTITY_ACC].name) != 0;
    if (n->chunk == 1 || stored) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "numbers: chunk=%zu is for states in another format than acc=%s; add one, such as state=e4m3, or "
                     "leave the chunk out",
                     n->chunk, n->acc.name);
}

static rung_status check_held(const rung_numbers *n, rung_error *err)
{
    const bool roomy = n->acc.kind == RUNG_FMT_FLOAT && n->acc.exponent_bits >= 8 && n->acc.mantissa_bits >= 23;
    for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++) {
        const rung_stored *s = &n->of[q];
        const char *name = rung_quantity_names[q];
        if (s->scaling != RUNG_SCALE_NONE && !roomy)
            return rung_fail(err, RUNG_USAGE, "numbers: %s=%s: numbers with a scale need acc=f32 or wider, not acc=%s",
                             name, s->name, n->acc.name);
        if (s->scaling == RUNG_SCALE_NONE && !holds_all(&n->acc, &s->code))
            return rung_fail(
                err, RUNG_USAGE,
                "numbers: %s=%s: acc=%s cannot hold every number of that format, and operations compute in acc; "
                "choose a wider acc",
                name, s->name, n->acc.name);
    }
    return RUNG_OK;
}

/* Sets `mixed` and the canonical name. */
static void settle(rung_numbers *n)
{
    n->acc = n->of[RUNG_QUANTITY_ACC].code;
    n->mixed = n->stochastic;
    for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++)
        n->mixed = n->mixed || strcmp(n->of[q].name, n->of[RUNG_QUANTITY_ACC].name) != 0;
    size_t used = 0;
    if (!n->mixed) snprintf(n->name, sizeof n->name, "%s", n->acc.name);
    for (size_t q = 0; n->mixed && q < RUNG_QUANTITY_COUNT; q++)
        used += (size_t)snprintf(n->name + used, sizeof n->name - used, "%s%s=%s", q ? "," : "", rung_quantity_names[q],
                                 n->of[q].name);
    if (n->chunk > 1) used += (size_t)snprintf(n->name + used, sizeof n->name - used, ",chunk=%zu", n->chunk);
    if (n->stochastic)
        snprintf(n->name + used, sizeof n->name - used, ",round=stochastic,seed=%llu", (unsigned long long)n->seed);
}

enum { CHUNK_MOST = 1 << 20 };

/* A number from 1 to CHUNK_MOST without leading zeros. */
static bool read_chunk(size_t *chunk, const char *text)
{
    size_t value = 0;
    if (*text < '1' || *text > '9' || strlen(text) > 7) return false;
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + (size_t)(*text - '0');
    *chunk = value;
    return *text == '\0' && value <= CHUNK_MOST;
}

static bool read_seed(uint64_t *seed, const char *text)
{
    uint64_t value = 0;
    if (strlen(text) > 16 || *text == '\0' || (*text == '0' && text[1])) return false; /* 16 digits: no overflow */
    for (; *text >= '0' && *text <= '9'; text++) value = 10 * value + (uint64_t)(*text - '0');
    *seed = value;
    return *text == '\0' && value >> 53 == 0;
}

static rung_status unknown_key(const char *key, rung_error *err)
{
    const char *near = rung_nearest_name(key, rung_quantity_names, RUNG_QUANTITY_COUNT);
    if (near) return rung_fail(err, RUNG_USAGE, "numbers: unknown quantity '%.24s'; did you mean '%s'?", key, near);
    return rung_fail(err, RUNG_USAGE,
                     "numbers: unknown quantity '%.24s'; there are weights, act, acc, state, cache, gate, beta, and "
                     "chunk=N, round=stochastic and seed=N",
                     key);
}

typedef struct seen_keys {
    bool quantity[RUNG_QUANTITY_COUNT], chunk, round, seed;
} seen_keys;

static rung_status once(bool *seen, const char *key, rung_error *err)
{
    if (*seen) return rung_fail(err, RUNG_USAGE, "numbers: '%s' comes twice", key);
    *seen = true;
    return RUNG_OK;
}

/* "KEY=VALUE" */
static rung_status take_setting(rung_numbers *n, char *word, seen_keys *seen, rung_error *err)
{
    char *value = strchr(word, '=');
    *value++ = '\0';
    if (strcmp(word, "round") == 0) {
        RUNG_TRY(once(&seen->round, word, err));
        n->stochastic = strcmp(value, "stochastic") == 0;
        if (n->stochastic || strcmp(value, "nearest") == 0) return RUNG_OK;
        return rung_fail(err, RUNG_USAGE, "numbers: round is nearest or stochastic, not '%.24s'", value);
    }
    if (strcmp(word, "chunk") == 0) {
        RUNG_TRY(once(&seen->chunk, word, err));
        if (read_chunk(&n->chunk, value)) return RUNG_OK;
        return rung_fail(err, RUNG_USAGE, "numbers: chunk is a number of tokens from 1 to %d, not '%.24s'", CHUNK_MOST,
                         value);
    }
    if (strcmp(word, "seed") == 0) {
        RUNG_TRY(once(&seen->seed, word, err));
        if (read_seed(&n->seed, value)) return RUNG_OK;
        return rung_fail(err, RUNG_USAGE, "numbers: seed is a number below 2^53, not '%.24s'", value);
    }
    for (size_t q = 0; q < RUNG_QUANTITY_COUNT; q++) {
        if (strcmp(word, rung_quantity_names[q]) != 0) continue;
        RUNG_TRY(once(&seen->quantity[q], word, err));
        rung_error inner = {{0}};
        rung_status status = parse_stored(&n->of[q], value, &inner);
        return status == RUNG_OK ? RUNG_OK : rung_fail(err, status, "numbers: %s: %s", word, inner.text);
    }
    return unknown_key(word, err);
}

static rung_status take_settings(rung_numbers *n, const char *text, rung_error *err)
{
    seen_keys seen = {0};
    while (text) {
        char word[64];
        const char *comma = strchr(text, ',');
        const size_t len = comma ? (size_t)(comma - text) : strlen(text);
        if (len >= sizeof word || len == 0 || !memchr(text, '=', len))
            return rung_fail(err, RUNG_USAGE,
                             "numbers: '%.*s' is no setting; write QUANTITY=FORMAT between commas, such as "
                             "f32,state=bf16",
                             (int)(len < 40 ? len : 40), text);
        memcpy(word, text, len);
        word[len] = '\0';
        RUNG_TRY(take_setting(n, word, &seen, err));
        text = comma ? comma + 1 : NULL;
    }
    if (seen.seed && !n->stochastic)
        return rung_fail(err, RUNG_USAGE, "numbers: seed is for round=stochastic; add it, or leave the seed out");
    return RUNG_OK;
}

static rung_status unknown_set(const char *name, size_t len, rung_error *err)
{
    char known[96] = "";
    for (size_t i = 0, used = 0; i < RUNG_COUNT(served) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%sserved:%s", i ? ", " : "", served[i].name);
    return rung_fail(err, RUNG_USAGE, "unknown set of number formats 'served:%.*s'; there are %s",
                     (int)(len < 24 ? len : 24), name, known);
}

static rung_status take_set(rung_numbers *n, const char *name, size_t len, rung_error *err)
{
    for (size_t i = 0; i < RUNG_COUNT(served); i++)
        if (strlen(served[i].name) == len && memcmp(served[i].name, name, len) == 0)
            return take_settings(n, served[i].text, err);
    return unknown_set(name, len, err);
}

rung_status rung_numbers_parse(rung_numbers *numbers, const char *text, rung_error *err)
{
    static const char set[] = "served:";
    const char *comma = strchr(text, ','), *rest = comma ? comma + 1 : NULL;
    const size_t len = comma ? (size_t)(comma - text) : strlen(text), skip = sizeof set - 1;
    char word[WORD_MAX] = "f32";
    rung_fmt fmt;
    if (strncmp(text, set, skip) != 0 && !memchr(text, '=', len))
        snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), text);
    RUNG_TRY(rung_fmt_parse(&fmt, word, err));
    rung_numbers_of_fmt(numbers, &fmt);
    if (strncmp(text, set, skip) == 0)
        RUNG_TRY(take_set(numbers, text + skip, len - skip, err));
    else if (memchr(text, '=', len))
        rest = text;
    if (rest) RUNG_TRY(take_settings(numbers, rest, err));
    settle(numbers);
    RUNG_TRY(check_places(numbers, err));
    RUNG_TRY(check_chunk(numbers, err));
    return check_held(numbers, err);
}
