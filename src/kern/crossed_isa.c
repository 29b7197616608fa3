/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Pairs of tokens where every channel has its own decay, compiled once per instruction set: one or two queries of a
 * token meet one or two keys of every token before it. The queries of a token fade in registers on their way back to
 * the keys of earlier and earlier tokens; the lanes of all sums of a row of pairs are added together at its end.
 */
#include "chunk_table.h"
#include "kern_lanes.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* Sums are those of 16 lanes for every instruction set. */
enum { SUB = RUNG_SUBCHUNK, C = RUNG_CHUNK, WIDE = SUM_LANES, TOGETHER = 4, QUERIES = 2, KEYS = 2 };
_Static_assert(2 * SUB == C, "a row of pairs has room for both keys");
_Static_assert(SUB == WIDE, "the sums of a row fill a vector");

/* The lanes of all pairs of one token: by query, by key, by token of the key. */
typedef float row_sums[QUERIES][KEYS][SUB][WIDE];

/* Which pairs: the second query meets only tokens before its own, and its decays are those up to its own token or, if
 * it is `late`, up to the one before. */
typedef struct meeting {
    const float *query[QUERIES], *key[KEYS], *w; /* NULL: there is none */
    size_t query_row, key_row, w_row, n, d;
    bool late;
} meeting;

/* The channels from `at` on whose sums are in the lanes from `lane` on. */
typedef struct place {
    size_t at, lane;
    bool first; /* nothing was summed up yet */
} place;

/* The channels of vector v; with more than one vector all are there. */
INLINE lanes load_channels(const float *row, size_t v, size_t vectors, const meeting *m, const place *p)
{
    return vectors > 1 ? load(row + p->at + v * WIDE) : load_part(row, p->at, m->d);
}

INLINE void meet_keys(row_sums sums, size_t query, const lanes *faded, size_t s, size_t keys, size_t vectors,
                      const meeting *m, const place *p)
{
    for (size_t key = 0; key < keys; key++) {
        float *at = &sums[query][key][s][p->lane];
        lanes sum = p->first ? everywhere(0) : load(at);
        for (size_t v = 0; v < vectors; v++)
            sum = multiply_add(faded[v], load_channels(m->key[key] + s * m->key_row, v, vectors, m, p), sum);
        store(at, sum);
    }
}

INLINE void load_query(lanes *faded, size_t query, size_t t, size_t vectors, const meeting *m, const place *p)
{
    for (size_t v = 0; v < vectors; v++) faded[v] = load_channels(m->query[query] + t * m->query_row, v, vectors, m, p);
}

/* What is constant for the compiler: the numbers of queries, keys and vectors, and `late`. */
INLINE void meet_row(row_sums sums, size_t t, size_t queries, size_t keys, bool late, size_t vectors, const meeting *m,
                     const place *p)
{
    lanes first[TOGETHER], second[TOGETHER];
    load_query(first, 0, t, vectors, m, p);
    if (queries > 1) load_query(second, 1, t, vectors, m, p);
    meet_keys(sums, 0, first, t, keys, vectors, m, p);
    for (size_t s = t; s-- > 0;) {
        for (size_t v = 0; v < vectors; v++) {
            lanes fade = load_channels(m->w + (s + 1) * m->w_row, v, vectors, m, p);
            first[v] = times(first[v], fade);
            if (queries > 1 && (!late || s + 1 < t)) second[v] = times(second[v], fade);
        }
        meet_keys(sums, 0, first, s, keys, vectors, m, p);
        if (queries > 1) meet_keys(sums, 1, second, s, keys, vectors, m, p);
    }
}

INLINE void meet_all(row_sums sums, size_t t, size_t queries, size_t keys, bool late, const meeting *m)
{
    const size_t whole = m->d / (TOGETHER * WIDE) * TOGETHER * WIDE;
    place p;
    for (p.lane = 0; p.lane < WIDE; p.lane += LANES) {
        for (p.at = p.lane; p.at < p.lane + whole; p.at += TOGETHER * WIDE) {
            p.first = p.at == p.lane;
            meet_row(sums, t, queries, keys, late, TOGETHER, m, &p);
        }
        for (; p.at < m->d || p.at == p.lane; p.at += WIDE) {
            p.first = p.at == p.lane;
            meet_row(sums, t, queries, keys, late, 1, m, &p);
        }
    }
}

/* The sums of 16 rows of 16 lanes, each in the tree of sum_sixteen. */
#if defined(__AVX512F__)
#define HALVES(a, b)                                                                                                   \
    _mm512_add_ps(_mm512_shuffle_f32x4((a), (b), 0x44), _mm512_shuffle_f32x4((a), (b), 0xee)) /* 8 of a, 8 of b */
#define QUARTERS(a, b)                                                                                                 \
    _mm512_add_ps(_mm512_shuffle_f32x4((a), (b), 0x88), _mm512_shuffle_f32x4((a), (b), 0xdd)) /* 4 of each of four */
#define PAIRS(a, b) _mm512_add_ps(_mm512_shuffle_ps((a), (b), 0x44), _mm512_shuffle_ps((a), (b), 0xee))
#define ONES(a, b)  _mm512_add_ps(_mm512_shuffle_ps((a), (b), 0x88), _mm512_shuffle_ps((a), (b), 0xdd))

/* Of rows 0, 4, 8, 12 counted from the first, each in its quarter, the lanes that differ by 8 and by 4 added. */
INLINE __m512 add_quarters(const float row[SUB][WIDE], size_t first)
{
    __m512 low = HALVES(_mm512_loadu_ps(row[first]), _mm512_loadu_ps(row[first + 4]));
    __m512 high = HALVES(_mm512_loadu_ps(row[first + 8]), _mm512_loadu_ps(row[first + 12]));
    return QUARTERS(low, high);
}

INLINE void sum_rows(float *out, const float row[SUB][WIDE])
{
    __m512 a = PAIRS(add_quarters(row, 0), add_quarters(row, 1)), b = PAIRS(add_quarters(row, 2), add_quarters(row, 3));
    _mm512_storeu_ps(out, ONES(a, b));
}
#else
INLINE void sum_rows(float *out, const float row[SUB][WIDE])
{
    for (size_t s = 0; s < SUB; s++) out[s] = sum_sixteen(row[s]);
}
#endif

/* What a row does not reach stays 0. */
static void clear(float sums[SUB][WIDE])
{
    memset(sums, 0, SUB * sizeof *sums);
}

void ISA(rung_crossed_pairs)(float *A, float *B, const float *q, const float *a, const float *b, const float *k,
                             size_t row, const float *w, size_t w_row, size_t n, size_t d)
{
    row_sums sums;
    const meeting m = {{q, a}, {b, k}, w, row, row, w_row, n, d, true};
    assert(n <= SUB);
    for (size_t query = 0; query < QUERIES; query++)
        for (size_t key = 0; key < KEYS; key++) clear(sums[query][key]);
    for (size_t t = 0; t < n; t++) {
        meet_all(sums, t, 2, 2, true, &m);
        for (size_t key = 0; key < KEYS; key++) {
            sum_rows(A + t * C + key * SUB, sums[0][key]);
            sum_rows(B + t * C + key * SUB, sums[1][key]);
        }
    }
}

void ISA(rung_channel_pairs)(float *A, float *B, const float *q, size_t q_row, const float *k, size_t k_row,
                             const float *w, size_t n, size_t d)
{
    row_sums sums;
    const meeting m = {{q, k}, {k, NULL}, w, q_row, k_row, d, n, d, false};
    assert(n <= SUB && (!B || q_row == k_row));
    clear(sums[0][0]);
    if (B) clear(sums[1][0]);
    for (size_t t = 0; t < n; t++) {
        if (B)
            meet_all(sums, t, 2, 1, false, &m);
        else
            meet_all(sums, t, 1, 1, false, &m);
        sum_rows(A + t * C, sums[0][0]);
        if (!B) continue;
        sum_rows(B + t * C, sums[1][0]);
        for (size_t s = 0; s < SUB; s++) B[t * C + s] = 0 - B[t * C + s];
    }
}
