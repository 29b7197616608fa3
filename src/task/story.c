/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Names, sentence order and reading for the facts form; see story.h.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "common.h"
#include "story.h"

/* A name has 2 to 4 syllables, as few as the number of ids needs, and an ending that distinguishes people from
 * places. */
#define CONSONANTS "bdfgklmnprstvz"
#define VOWELS     "aeiou"
#define SYLLABLES  70 /* 14 x 5 */
static const char *const endings[] = {[RUNG_NAME_PERSON] = "n", [RUNG_NAME_PLACE] = "stad"};

typedef struct scrambler {
    size_t syllables, size; /* size = 70^syllables */
    size_t factor, shift;   /* id -> id * factor + shift mod size */
} scrambler;

/* The factor is the golden section of the size, moved to the next number that shares no divisor with 70 = 2 * 5 * 7.
 * Multiples of the golden section are spread evenly, so neighbouring ids differ in every syllable. */
static scrambler scrambler_for(rung_name_kind kind, size_t universe)
{
    static const scrambler known[] = {
        {2, 4900, 3029, 1731},
        {3, 343000, 211987, 121213},
        {4, 24010000, 14838997, 8484901},
    };
    size_t i = 0;
    while (i + 1 < RUNG_COUNT(known) && universe > known[i].size) i++;
    assert(universe <= known[i].size);
    scrambler s = known[i];
    if (kind == RUNG_NAME_PLACE) s.shift /= 3; /* a person and a place with the same id have different stems */
    return s;
}

/* a^-1 mod m by the extended Euclidean algorithm; gcd(a, m) = 1. */
static size_t inverse_mod(size_t a, size_t m)
{
    int64_t r0 = (int64_t)m, r1 = (int64_t)a, t0 = 0, t1 = 1;
    while (r1 != 0) {
        int64_t q = r0 / r1, r2 = r0 - q * r1, t2 = t0 - q * t1;
        r0 = r1, r1 = r2, t0 = t1, t1 = t2;
    }
    return (size_t)(t0 < 0 ? t0 + (int64_t)m : t0);
}

void rung_name_write(rung_buf *out, rung_name_kind kind, size_t id, size_t universe)
{
    assert(id < universe);
    scrambler s = scrambler_for(kind, universe);
    uint64_t code = ((uint64_t)id * s.factor + s.shift) % s.size;
    char name[9] = {0};
    for (size_t i = 0; i < s.syllables; i++, code /= SYLLABLES) {
        name[2 * i] = CONSONANTS[code % SYLLABLES / 5];
        name[2 * i + 1] = VOWELS[code % 5];
    }
    name[0] = (char)toupper((unsigned char)name[0]);
    rung_buf_puts(out, name);
    rung_buf_puts(out, endings[kind]);
}

void rung_scan_init(rung_scan *scan, const char *text, rung_error *err)
{
    *scan = (rung_scan){text, text, RUNG_OK, err};
}

rung_status rung_scan_fail(rung_scan *scan, const char *wanted)
{
    if (scan->status != RUNG_OK) return scan->status;
    scan->status = rung_fail(scan->err, RUNG_INPUT, "text, byte %zu: expected %s, found '%.30s'",
                             (size_t)(scan->at - scan->text), wanted, scan->at);
    return scan->status;
}

void rung_scan_literal(rung_scan *scan, const char *literal)
{
    size_t len = strlen(literal);
    if (scan->status != RUNG_OK) return;
    if (strncmp(scan->at, literal, len) != 0) {
        rung_scan_fail(scan, literal);
        return;
    }
    scan->at += len;
}

/* Index of c in the set, or SIZE_MAX. The NUL of the set does not count. */
static size_t letter_index(const char *set, char c)
{
    const char *found = c ? strchr(set, c) : NULL;
    return found ? (size_t)(found - set) : SIZE_MAX;
}

size_t rung_scan_name(rung_scan *scan, rung_name_kind kind, size_t universe)
{
    if (scan->status != RUNG_OK) return 0;
    scrambler s = scrambler_for(kind, universe);
    uint64_t code = 0, weight = 1;
    for (size_t i = 0; i < s.syllables; i++, weight *= SYLLABLES) {
        char first = scan->at[2 * i];
        if (i == 0 && !isupper((unsigned char)first)) first = 0;
        if (i == 0) first = (char)tolower((unsigned char)first);
        size_t consonant = letter_index(CONSONANTS, first);
        size_t vowel = consonant == SIZE_MAX ? SIZE_MAX : letter_index(VOWELS, scan->at[2 * i + 1]);
        if (vowel == SIZE_MAX) {
            rung_scan_fail(scan, kind == RUNG_NAME_PERSON ? "the name of a person" : "the name of a place");
            return 0;
        }
        code += weight * (consonant * 5 + vowel);
    }
    /* Below 2 * 70^4 * 70^4, so the product fits. */
    uint64_t id = (code + s.size - s.shift) * inverse_mod(s.factor, s.size) % s.size;
    if (id >= universe) {
        rung_scan_fail(scan, "a name that this prompt uses");
        return 0;
    }
    scan->at += 2 * s.syllables;
    rung_scan_literal(scan, endings[kind]);
    return scan->status == RUNG_OK ? (size_t)id : 0;
}

size_t rung_scan_number(rung_scan *scan, size_t high)
{
    if (scan->status != RUNG_OK) return 0;
    const char *at = scan->at;
    size_t number = 0;
    while (isdigit((unsigned char)*at) && number <= high) number = number * 10 + (size_t)(*at++ - '0');
    if (at == scan->at || number > high) {
        rung_scan_fail(scan, "a number in range");
        return 0;
    }
    scan->at = at;
    return number;
}

rung_status rung_scan_end(rung_scan *scan)
{
    if (scan->status != RUNG_OK) return scan->status;
    while (isspace((unsigned char)*scan->at)) scan->at++;
    return *scan->at ? rung_scan_fail(scan, "the end of the text") : RUNG_OK;
}

uint32_t *rung_facts_order(const rung_instance *instance, size_t count, uint64_t salt)
{
    uint32_t *order = rung_calloc(count, sizeof *order, NULL);
    if (!order) return NULL;
    uint64_t digest = 0xcbf29ce484222325u; /* FNV-1a over whole tokens, so the byte order does not matter */
    for (size_t t = 0; t < instance->tokens; t++) digest = (digest ^ instance->token[t]) * 0x100000001b3u;
    rung_rng rng;
    rung_rng_init(&rng, digest, salt, 0);
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)i;
    rung_rng_shuffle(&rng, order, count);
    return order;
}

void rung_facts_begin(rung_instance *instance, const rung_task_conf *conf)
{
    rung_task_forget(instance, conf);
    memset(instance->token, 0xff, conf->tokens * sizeof *instance->token);
}
