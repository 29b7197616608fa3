/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finite sets by number; see grid.h.
 */
#include "grid.h"

#include <assert.h>

uint64_t rung_grid_times(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    for (uint64_t rest; b > 0; b = rest) {
        rest = a % b;
        a = b;
    }
    return a;
}

/* C(n, k) is the product of (n-k+i)/i, which is an integer after every step and increases. The common divisor of i and
 * the product so far is divided out first, and the rest then divides n-k+i. So only a result that does not fit
 * overflows. */
uint64_t rung_grid_subsets(uint64_t n, uint64_t k)
{
    uint64_t count = 1;
    if (k > n) return 0;
    if (k > n - k) k = n - k;
    for (uint64_t i = 1; i <= k && count < UINT64_MAX; i++) {
        uint64_t common = common_divisor(count, i);
        count = rung_grid_times(count / common, (n - k + i) / (i / common));
    }
    return count;
}

/* The subsets that begin with v are the subsets of k-1 numbers above v. */
void rung_grid_subset(float *out, uint64_t n, uint64_t k, uint64_t index)
{
    assert(k <= n);
    uint64_t v = 0;
    for (uint64_t i = 0; i < k; i++, v++) {
        for (uint64_t block; index >= (block = rung_grid_subsets(n - v - 1, k - i - 1)); v++) index -= block;
        out[i] = (float)v;
    }
}

static uint64_t power(uint64_t base, size_t exponent)
{
    uint64_t result = 1;
    for (size_t i = 0; i < exponent && result < UINT64_MAX; i++) result = rung_grid_times(result, base);
    return result;
}

/* All points of the cube except those in its interior. */
uint64_t rung_grid_cube(size_t d, int64_t r)
{
    uint64_t all = power(2 * (uint64_t)r + 1, d);
    return all == UINT64_MAX ? all : all - power(2 * (uint64_t)r - 1, d);
}

/* Goes coordinate by coordinate from the first. Once one of them is +-r the others are free. */
void rung_grid_cube_point(int64_t *out, size_t d, int64_t r, uint64_t index)
{
    bool free = false;
    for (size_t c = 0; c < d; c++) {
        for (int64_t v = -r; v <= r; v++) {
            bool now = free || v == -r || v == r;
            uint64_t block = now ? power(2 * (uint64_t)r + 1, d - c - 1) : rung_grid_cube(d - c - 1, r);
            out[c] = v;
            if (index < block) break;
            index -= block;
        }
        free = free || out[c] == -r || out[c] == r;
    }
}
