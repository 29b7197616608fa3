/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Causal softmax attention in fp32, written for speed only: `rung bench` compares the exact evaluator with it. One lane
 * per query; keys in tiles of 16 that share one rescaling; four keys at a time against a few vectors of queries, so
 * that sums stay in registers and a load serves several products; fused products and sums; no scalar arithmetic. No
 * other code uses it, and its last bits depend on the instruction set. It must not be tuned any more: a faster one
 * would change the meaning of every ratio that was printed before.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast,no-trapping-math")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT ON
#endif

#include "table.h"

#include <stdint.h>
#include <string.h>

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* GROUPS vectors of queries times KEYS keys give as many sums as there are registers for. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, GROUPS = 4 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, GROUPS = 2 };
#else
enum { VECTOR_BYTES = 16, GROUPS = 2 };
#endif

enum {
    QUERIES = RUNG_YARDSTICK_QUERIES,
    LANES = VECTOR_BYTES / 4,
    VECTORS = QUERIES / LANES,
    KEYS = 4,
    TILE = 16,
};

typedef float lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t ints __attribute__((vector_size(VECTOR_BYTES)));

static inline lanes choose(ints mask, lanes yes, lanes no)
{
    return (lanes)((mask & (ints)yes) | (~mask & (ints)no));
}

/* e^x for x <= 0: 2^n e^r with a polynomial of degree 6, relative error below 2^-20. Arguments below -87 give e^-87. */
static inline lanes exp_lanes(lanes x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: no fraction left */
    const lanes low = x - x - 87.0f, clamped = choose(x > low, x, low);
    const lanes shifted = clamped * 1.44269504f + magic, whole = shifted - magic;
    const lanes r = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
    lanes p = r * (1.0f / 720) + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    return p * (lanes)(((ints)shifted + 127) << 23);
}

/* The block of queries that is being computed. The arrays are rows of VECTORS vectors. */
typedef struct block {
    lanes *q, *num; /* [dk], [dv] */
    lanes max[VECTORS], den[VECTORS];
    lanes s[TILE][VECTORS]; /* scores, then weights */
    size_t dk, dv;
} block;

/* s[row .. row+keys) = q.k for GROUPS vectors from g on. */
static inline __attribute__((always_inline)) void score(block *b, const float *k, size_t row, size_t g, size_t keys)
{
    lanes sum[KEYS][GROUPS];
    for (size_t j = 0; j < keys; j++)
        for (size_t n = 0; n < GROUPS; n++) sum[j][n] = (lanes){0};
    for (size_t i = 0; i < b->dk; i++)
        for (size_t j = 0; j < keys; j++)
            for (size_t n = 0; n < GROUPS; n++) sum[j][n] += b->q[i * VECTORS + g + n] * k[j * b->dk + i];
    for (size_t j = 0; j < keys; j++)
        for (size_t n = 0; n < GROUPS; n++) b->s[row + j][g + n] = sum[j][n];
}

/* num += e v. */
static inline __attribute__((always_inline)) void weigh(block *b, const float *v, size_t row, size_t g, size_t keys)
{
    lanes e[KEYS][GROUPS];
    for (size_t j = 0; j < keys; j++)
        for (size_t n = 0; n < GROUPS; n++) e[j][n] = b->s[row + j][g + n];
    for (size_t i = 0; i < b->dv; i++)
        for (size_t n = 0; n < GROUPS; n++) {
            lanes sum = b->num[i * VECTORS + g + n];
            for (size_t j = 0; j < keys; j++) sum += e[j][n] * v[j * b->dv + i];
            b->num[i * VECTORS + g + n] = sum;
        }
}

/* Lane l of the block sees key j of the tile if j <= l + gap. Hides the others; that is necessary only in tiles on the
 * diagonal. */
static void hide_later_keys(block *b, size_t keys, ptrdiff_t gap)
{
    for (size_t j = 0; j < keys; j++)
        for (size_t n = 0; n < VECTORS; n++)
            for (size_t l = 0; l < LANES; l++)
                if ((ptrdiff_t)j > (ptrdiff_t)(n * LANES + l) + gap) b->s[j][n][l] = -1e30f;
}

static void rescale(block *b, size_t keys)
{
    for (size_t n = 0; n < VECTORS; n++) {
        lanes max = b->max[n], sum = (lanes){0};
        for (size_t j = 0; j < keys; j++) max = choose(b->s[j][n] > max, b->s[j][n], max);
        const lanes fade = exp_lanes(b->max[n] - max);
        for (size_t j = 0; j < keys; j++) {
            b->s[j][n] = exp_lanes(b->s[j][n] - max);
            sum += b->s[j][n];
        }
        b->den[n] = b->den[n] * fade + sum;
        b->max[n] = max;
        for (size_t i = 0; i < b->dv; i++) b->num[i * VECTORS + n] *= fade;
    }
}

static void absorb(block *b, const float *k, const float *v, size_t keys, ptrdiff_t gap)
{
    for (size_t g = 0; g < VECTORS; g += GROUPS) {
        size_t j = 0;
        for (; j + KEYS <= keys; j += KEYS) score(b, k + j * b->dk, j, g, KEYS);
        for (; j < keys; j++) score(b, k + j * b->dk, j, g, 1);
    }
    if (gap < (ptrdiff_t)keys) hide_later_keys(b, keys, gap);
    rescale(b, keys);
    for (size_t g = 0; g < VECTORS; g += GROUPS) {
        size_t j = 0;
        for (; j + KEYS <= keys; j += KEYS) weigh(b, v + j * b->dv, j, g, KEYS);
        for (; j < keys; j++) weigh(b, v + j * b->dv, j, g, 1);
    }
}

static lanes *aligned(float *scratch)
{
    return (lanes *)(((uintptr_t)scratch + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES);
}

void ISA(rung_yardstick)(float *o, const float *q, const float *k, const float *v, size_t first, size_t count,
                         size_t dk, size_t dv, float *scratch)
{
    block b = {.q = aligned(scratch), .dk = dk, .dv = dv};
    b.num = b.q + dk * VECTORS;
    memset(b.q, 0, (dk + dv) * QUERIES * sizeof(float));
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < dk; i++) b.q[i * VECTORS + n / LANES][n % LANES] = q[(first + n) * dk + i];
    for (size_t n = 0; n < VECTORS; n++) b.max[n] = (lanes){0} - 1e30f, b.den[n] = (lanes){0};
    for (size_t j = 0; j < first + count; j += TILE) {
        size_t keys = first + count - j < TILE ? first + count - j : TILE;
        absorb(&b, k + j * dk, v + j * dv, keys, (ptrdiff_t)first - (ptrdiff_t)j);
    }
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < dv; i++)
            o[(first + n) * dv + i] = b.num[i * VECTORS + n / LANES][n % LANES] / b.den[n / LANES][n % LANES];
}
