/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rng: xoshiro256** 1.0 (Blackman and Vigna 2018), seeded by splitmix64 (Steele, Lea and Flood 2014). Not for
 * secrets. The stream is part of the file format of every generated instance: it must never change.
 */
#include "rung/base.h"

#include <assert.h>
#include <stdlib.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio, odd */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Each number is mixed before the next one enters, so (1, 2, 3) and (3, 2, 1) are unrelated. splitmix64 is a
 * bijection of a counter, so at most one of the four words is zero, which xoshiro needs. */
void rung_rng_init(rung_rng *rng, uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t state = seed;
    state = splitmix64(&state) ^ stream;
    state = splitmix64(&state) ^ index;
    for (int i = 0; i < 4; i++) rng->s[i] = splitmix64(&state);
}

static uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

uint64_t rung_rng_u64(rung_rng *rng)
{
    uint64_t *s = rng->s, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* Lemire 2019: the high word of x * bound is uniform once the 2^64 mod bound lowest low words are rejected.
 */
uint64_t rung_rng_below(rung_rng *rng, uint64_t bound)
{
    assert(bound >= 1);
    unsigned __int128 product = (unsigned __int128)rung_rng_u64(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t reject = -bound % bound; /* 2^64 mod bound */
        while ((uint64_t)product < reject) product = (unsigned __int128)rung_rng_u64(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

double rung_rng_unit(rung_rng *rng)
{
    return (double)(rung_rng_u64(rng) >> 11) * 0x1p-53;
}

/* A unit has variance 1/12. The sum is taken in integers, twelve times 53 bits fit, and is rounded once. */
double rung_rng_normal(rung_rng *rng)
{
    int64_t sum = -6 * ((int64_t)1 << 53);
    for (int i = 0; i < 12; i++) sum += (int64_t)(rung_rng_u64(rng) >> 11);
    return (double)sum * 0x1p-53;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t t = *a;
    *a = *b;
    *b = t;
}

/* Fisher-Yates: after step i the first i+1 places hold a uniform ordered choice. */
static void choose_first(rung_rng *rng, uint32_t *items, size_t chosen, size_t count)
{
    assert(chosen <= count);
    for (size_t i = 0; i < chosen; i++) swap(&items[i], &items[i + rung_rng_below(rng, count - i)]);
}

void rung_rng_shuffle(rung_rng *rng, uint32_t *items, size_t count)
{
    choose_first(rng, items, count, count);
}

static rung_status sample_dense(rung_rng *rng, uint32_t *out, size_t k, uint32_t n, rung_error *err)
{
    uint32_t *items = rung_calloc(n, sizeof *items, err);
    if (!items) return RUNG_SYSTEM;
    for (uint32_t i = 0; i < n; i++) items[i] = i;
    choose_first(rng, items, k, n);
    for (size_t i = 0; i < k; i++) out[i] = items[i];
    free(items);
    return RUNG_OK;
}

/* The array 0, 1, ..., n-1 after a few swaps. This open hash table holds only the places that differ from their
 * index. */
typedef struct sparse_place {
    uint32_t place_plus_1, item; /* 0: free. No place is 2^32-1, because n < 2^32. */
} sparse_place;

typedef struct sparse_array {
    sparse_place *places;
    size_t mask;
} sparse_array;

static sparse_place *sparse_find(const sparse_array *array, uint32_t place)
{
    size_t at = (size_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 32) & array->mask;
    while (array->places[at].place_plus_1 && array->places[at].place_plus_1 != place + 1) at = (at + 1) & array->mask;
    return &array->places[at];
}

static uint32_t sparse_get(const sparse_array *array, uint32_t place)
{
    const sparse_place *found = sparse_find(array, place);
    return found->place_plus_1 ? found->item : place;
}

/* The same swaps as choose_first, hence the same result, in O(k) memory. Place i is never read after step i,
 * so only the other end of a swap is stored. */
static rung_status sample_sparse(rung_rng *rng, uint32_t *out, size_t k, uint32_t n, rung_error *err)
{
    assert(0 < k && k <= n);
    size_t size = 2;
    while (size < 2 * k) size *= 2; /* at most half full */
    sparse_array array = {rung_calloc(size, sizeof *array.places, err), size - 1};
    if (!array.places) return RUNG_SYSTEM;
    for (size_t i = 0; i < k; i++) {
        uint32_t from = (uint32_t)(i + rung_rng_below(rng, n - i)), displaced = sparse_get(&array, (uint32_t)i);
        sparse_place *place = sparse_find(&array, from);
        out[i] = place->place_plus_1 ? place->item : from;
        *place = (sparse_place){from + 1, displaced};
    }
    free(array.places);
    return RUNG_OK;
}

rung_status rung_rng_sample(rung_rng *rng, uint32_t *out, size_t k, uint32_t n, rung_error *err)
{
    if (k > n) return rung_fail(err, RUNG_USAGE, "cannot choose %zu distinct numbers out of %u", k, (unsigned)n);
    if (k == 0) return RUNG_OK;
    /* The hash table takes 16 to 32 bytes and a cache miss per chosen number; the plain array takes 4 bytes for each of
     * n. */
    return n / 8 <= k ? sample_dense(rng, out, k, n, err) : sample_sparse(rng, out, k, n, err);
}
