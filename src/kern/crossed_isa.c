/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The pairs of tokens of RWKV-7, where two queries of a token meet two keys of every token before it, compiled once per
 * instruction set. The keys of one token fade in registers while the queries of the later tokens meet them.
 */
#include "chunk_table.h"
#include "kern_lanes.h"

#include <assert.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* Sums are those of 16 lanes for every instruction set. */
enum { SUB = RUNG_SUBCHUNK, C = RUNG_CHUNK, WIDE = SUM_LANES, TOGETHER = LANES == 16 ? 4 : 1 };
_Static_assert(2 * SUB == C, "a row of pairs has room for both keys");

enum { Q_B, Q_K, A_B, A_K, MEETINGS };

/* The lanes of the channels from `at` on that sum up in the lanes from `lane` on. */
typedef struct place {
    const float *q, *a, *w;
    size_t row, w_row, n, d, at, lane;
    bool first; /* nothing was summed up yet */
} place;

INLINE void add_meeting(float sums[MEETINGS][WIDE], size_t which, const lanes *query, const lanes *key, size_t vectors,
                        const place *p)
{
    lanes sum = p->first ? everywhere(0) : load(&sums[which][p->lane]);
    for (size_t v = 0; v < vectors; v++) sum = multiply_add(query[v], key[v], sum);
    store(&sums[which][p->lane], sum);
}

/* The keys of token s with all queries that see them. The number of vectors is constant for the compiler. */
INLINE void meet(float sums[SUB][MEETINGS][WIDE], const float *b, const float *k, size_t s, size_t vectors,
                 const place *p)
{
    lanes faded_b[TOGETHER], faded_k[TOGETHER], query[TOGETHER];
    for (size_t v = 0; v < vectors; v++) {
        faded_b[v] = load_part(b, p->at + v * WIDE, p->d);
        faded_k[v] = load_part(k, p->at + v * WIDE, p->d);
    }
    for (size_t t = s; t < p->n; t++) {
        for (size_t v = 0; t > s && v < vectors; v++) {
            lanes fade = load_part(p->w + t * p->w_row, p->at + v * WIDE, p->d);
            faded_b[v] = times(faded_b[v], fade);
            faded_k[v] = times(faded_k[v], fade);
        }
        for (size_t v = 0; v < vectors; v++) query[v] = load_part(p->q + t * p->row, p->at + v * WIDE, p->d);
        add_meeting(sums[t], Q_B, query, faded_b, vectors, p);
        add_meeting(sums[t], Q_K, query, faded_k, vectors, p);
        if (t + 1 == p->n) break;
        for (size_t v = 0; v < vectors; v++) query[v] = load_part(p->a + (t + 1) * p->row, p->at + v * WIDE, p->d);
        add_meeting(sums[t], A_B, query, faded_b, vectors, p);
        add_meeting(sums[t], A_K, query, faded_k, vectors, p);
    }
}

static void meet_all(float sums[SUB][MEETINGS][WIDE], const float *b, const float *k, size_t s, place p)
{
    const size_t whole = p.d / (TOGETHER * WIDE) * TOGETHER * WIDE;
    for (p.lane = 0; p.lane < WIDE; p.lane += LANES) {
        for (p.at = p.lane; p.at < p.lane + whole; p.at += TOGETHER * WIDE) {
            p.first = p.at == p.lane;
            meet(sums, b, k, s, TOGETHER, &p);
        }
        for (; p.at < p.d || p.at == p.lane; p.at += WIDE) {
            p.first = p.at == p.lane;
            meet(sums, b, k, s, 1, &p);
        }
    }
}

void ISA(rung_crossed_pairs)(float *A, float *B, const float *q, const float *a, const float *b, const float *k,
                             size_t row, const float *w, size_t w_row, size_t n, size_t d)
{
    float sums[SUB][MEETINGS][WIDE];
    const place p = {.q = q, .a = a, .w = w, .row = row, .w_row = w_row, .n = n, .d = d};
    assert(n <= SUB);
    memset(A, 0, n * C * sizeof *A);
    memset(B, 0, n * C * sizeof *B);
    for (size_t s = 0; s < n; s++) {
        meet_all(sums, b + s * row, k + s * row, s, p);
        for (size_t t = s; t < n; t++) {
            A[t * C + s] = sum_sixteen(sums[t][Q_B]);
            A[t * C + SUB + s] = sum_sixteen(sums[t][Q_K]);
            if (t + 1 == n) break;
            B[(t + 1) * C + s] = sum_sixteen(sums[t][A_B]);
            B[(t + 1) * C + SUB + s] = sum_sixteen(sums[t][A_K]);
        }
    }
}
