/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The expected share of the most frequent value of a random table: the largest of V multinomial counts of N
 * throws. P(max <= k) = N! [x^N] (sum_{j<=k} (x/V)^j / j!)^V, by repeated squaring of polynomials cut at
 * degree N. Tables by Zipf's law are drawn.
 */
#include <assert.h>
#include <stdlib.h>

#include "common.h"

/* about 6 million operations at N = 64: N^2/2 products, at most 2 log2 V <= 48 of them, for N bounds k */
#define EXACT_MAX 64
/* Changing one throw moves the maximum by at most 1, so (Efron and Stein) its variance is at most N/2, and
 * the mean of D draws of max/N has a standard error of at most 1/sqrt(2 N D) = 2^-11 at N D = 2^21. */
#define DRAWN_ENTRIES ((size_t)1 << 21)

typedef struct poly {
    double c[EXACT_MAX + 1];
} poly;

/* a := a * b up to degree n. Goes from the top down, so that no coefficient of a is overwritten before its last use. */
static void poly_mul(poly *a, const poly *b, size_t n)
{
    for (size_t i = n + 1; i-- > 0;) {
        double sum = 0;
        for (size_t j = 0; j <= i; j++) sum += a->c[i - j] * b->c[j];
        a->c[i] = sum;
    }
}

/* Coefficients far below the largest may underflow to zero. They stand for nearly all throws in a few of many cells,
 * which does not affect the result. */
static double chance_max_at_most(size_t k, size_t n, size_t values)
{
    poly base = {{0}}, power = {{1}}, square;
    double weight = 1, factorial = 1;
    for (size_t j = 0; j <= k; j++) {
        base.c[j] = weight;
        weight /= (double)values * (double)(j + 1);
    }
    for (size_t v = values; v > 0; v >>= 1) {
        if (v & 1) poly_mul(&power, &base, n);
        square = base;
        poly_mul(&base, &square, n);
    }
    for (size_t j = 2; j <= n; j++) factorial *= (double)j;
    return power.c[n] * factorial;
}

static double exact_share(size_t n, size_t values)
{
    double mean = 0; /* E[max] = sum_{k>=0} P(max > k) */
    for (size_t k = 0; k < n; k++) mean += 1 - chance_max_at_most(k, n, values);
    return mean / (double)n;
}

typedef uint64_t draw_value(rung_rng *rng, uint64_t values);

/* Clears counts entry by entry, because there may be far more values than entries. */
static double mean_over(size_t n, size_t values, draw_value *draw, rung_task_score *score)
{
    uint32_t *count = rung_calloc(values, sizeof *count, NULL), *table = rung_calloc(n, sizeof *table, NULL);
    size_t draws = DRAWN_ENTRIES / n + 1;
    double total = 0;
    rung_rng rng;
    rung_rng_init(&rng, n, values, 0);
    for (size_t d = 0; d < draws && count && table; d++) {
        for (size_t i = 0; i < n; i++) count[table[i] = (uint32_t)draw(&rng, values)]++;
        total += score(count, table, n);
        for (size_t i = 0; i < n; i++) count[table[i]] = 0;
    }
    bool drawn = count && table;
    free(count);
    free(table);
    return drawn ? total / ((double)draws * (double)n) : 1;
}

double rung_task_mean_over_tables(size_t n, size_t values, rung_task_score *score)
{
    return mean_over(n, values, rung_rng_below, score);
}

static double largest_count(const uint32_t *count, const uint32_t *table, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++)
        if (count[table[i]] > most) most = count[table[i]];
    return most;
}

double rung_task_majority_of_table(size_t entries, size_t values)
{
    if (entries == 0 || values == 0) return 0;
    if (values == 1) return 1;
    return entries <= EXACT_MAX ? exact_share(entries, values)
                                : rung_task_mean_over_tables(entries, values, largest_count);
}

/* Octave j is k in [2^j, 2^(j+1)), where 1/k is between 2^-j and half of it. Every octave is proposed equally often,
 * and k uniformly in it. A proposal is accepted with probability 2^j / k if k is in range, which is more than half of
 * the proposals. */
uint64_t rung_task_zipf(rung_rng *rng, uint64_t values)
{
    assert(values >= 1 && values <= (uint64_t)1 << 62);
    unsigned octaves = 64 - (unsigned)__builtin_clzll(values);
    for (;;) {
        uint64_t low = UINT64_C(1) << rung_rng_below(rng, octaves), k = low + rung_rng_below(rng, low);
        if (k <= values && rung_rng_below(rng, k) < low) return k - 1;
    }
}

/* The bound on the variance above holds for any independent throws. The draws take about 50 ms, and a sweep asks for
 * the same task a thousand times in a row, so the last result is cached. */
double rung_task_majority_of_zipf(size_t entries, size_t values)
{
    static _Thread_local size_t last_entries, last_values;
    static _Thread_local double of_last;
    if (entries == last_entries && values == last_values) return of_last;
    of_last = mean_over(entries, values, rung_task_zipf, largest_count);
    last_entries = entries, last_values = values;
    return of_last;
}
