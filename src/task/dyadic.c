/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Vectors whose coordinates are k / 2^16; see dyadic.h.
 */
#include <assert.h>

#include "dyadic.h"

/* The smallest r with r * r >= square, for square < 2^62. Computes the floor bit by bit. */
static int64_t root_up(int64_t square)
{
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 30; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= square) root += bit;
    return root + (root * root < square);
}

void rung_dyadic_fit(int32_t *out, const int64_t *direction, size_t d, int64_t radius)
{
    assert(d <= RUNG_DYADIC_D_MAX && radius >= 0);
    int64_t square = 0;
    for (size_t i = 0; i < d; i++) square += direction[i] * direction[i];
    int64_t length = root_up(square); /* at least the true length, so the result is not above the radius */
    assert(length > 0);
    for (size_t i = 0; i < d; i++) out[i] = (int32_t)(direction[i] * radius / length);
}

/* Twice the sum of twelve centred numbers of 16 bits: nearly normal, with a magnitude below 12 * 2^16. */
static int64_t bounded_normal(rung_rng *rng)
{
    int64_t sum = 0;
    for (int draw = 0; draw < 3; draw++)
        for (uint64_t bits = rung_rng_u64(rng), field = 0; field < 4; field++, bits >>= 16)
            sum += (int64_t)(bits & 0xffff);
    return 2 * sum - 12 * 0xffff;
}

void rung_dyadic_direction(int64_t *direction, size_t d, rung_rng *rng)
{
    assert(d >= 1 && d <= RUNG_DYADIC_D_MAX);
    bool zero = true;
    while (zero)
        for (size_t i = 0; i < d; i++) {
            direction[i] = bounded_normal(rng);
            zero = zero && direction[i] == 0;
        }
}

/* P(radius <= r) = r^d is the distribution of the largest of d uniform numbers, so no root is needed. */
int64_t rung_dyadic_ball_radius(size_t d, rung_rng *rng)
{
    int64_t largest = 0;
    for (size_t i = 0; i < d; i++) {
        int64_t draw = (int64_t)rung_rng_below(rng, RUNG_DYADIC_ONE + 1);
        if (draw > largest) largest = draw;
    }
    return largest;
}

int64_t rung_dyadic_dot(const int32_t *a, const int32_t *b, size_t d)
{
    int64_t sum = 0;
    for (size_t i = 0; i < d; i++) sum += (int64_t)a[i] * b[i];
    return sum;
}

void rung_dyadic_write(float *feature, const int32_t *a, size_t d)
{
    for (size_t i = 0; i < d; i++) feature[i] = (float)a[i] / RUNG_DYADIC_ONE;
}
