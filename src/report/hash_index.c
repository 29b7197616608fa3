/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A hash table from 64-bit keys to numbers, with open addressing and linear probing; and growing arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

uint64_t report_hash(uint64_t seed, uint64_t value)
{
    uint64_t both[2] = {seed, value};
    return rung_hash64(both, sizeof both);
}

uint64_t report_hash_text(const char *text)
{
    return rung_hash64(text, strlen(text));
}

void report_index_clear(report_index *index)
{
    free(index->key);
    free(index->value);
    memset(index, 0, sizeof *index);
}

/* Hash 0 marks a free slot, so the key 0 is stored as another key. */
static size_t place_of(const report_index *index, uint64_t key)
{
    size_t at = (size_t)key & (index->room - 1);
    while (index->key[at] && index->key[at] != key) at = (at + 1) & (index->room - 1);
    return at;
}

static bool enlarge(report_index *index, rung_error *err)
{
    report_index larger = {.room = index->room ? 2 * index->room : 64};
    larger.key = rung_calloc(larger.room, sizeof *larger.key, err);
    larger.value = rung_calloc(larger.room, sizeof *larger.value, err);
    if (!larger.key || !larger.value) {
        report_index_clear(&larger);
        return false;
    }
    for (size_t i = 0; i < index->room; i++) {
        if (!index->key[i]) continue;
        size_t at = place_of(&larger, index->key[i]);
        larger.key[at] = index->key[i], larger.value[at] = index->value[i];
    }
    larger.count = index->count;
    report_index_clear(index);
    *index = larger;
    return true;
}

size_t *report_index_put(report_index *index, uint64_t key, bool *fresh, rung_error *err)
{
    if (!key) key = 1;
    if (2 * (index->count + 1) > index->room && !enlarge(index, err)) return NULL;
    size_t at = place_of(index, key);
    *fresh = index->key[at] == 0;
    if (*fresh) index->key[at] = key, index->value[at] = 0, index->count++;
    return &index->value[at];
}

const size_t *report_index_get(const report_index *index, uint64_t key)
{
    if (!key) key = 1;
    if (!index->room) return NULL;
    size_t at = place_of(index, key);
    return index->key[at] ? &index->value[at] : NULL;
}

void *report_grow(void *items, size_t count, size_t *room, size_t size, rung_error *err)
{
    size_t bytes, more = *room ? 2 * *room : 16;
    if (count < *room) return items;
    void *larger = rung_size_mul(&bytes, more, size) ? realloc(items, bytes) : NULL;
    if (!larger) {
        rung_fail(err, RUNG_SYSTEM, "out of memory: %zu more rows", more);
        return NULL;
    }
    *room = more;
    return larger;
}
