/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The feature map elu1 of linear attention, x + 1 for x > 0 and e^x otherwise, compiled once per instruction set. It is
 * e^min(x, 0) + max(x, 0): one of the two terms is 1 or 0, so the sum is exact or the rounded x + 1.
 */
#include "chunk_table.h"
#include "kern_lanes.h"

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* e^x for x <= 0, as exp_one() of elementary.h: 2^n e^r with the Taylor polynomial of degree 7, and 0 below -86.9. */
INLINE lanes exp_negative(lanes x)
{
    const lanes magic = everywhere(12582912.0f);
    lanes clamped = larger_of(everywhere(-87), x);
    lanes shifted = multiply_add(clamped, everywhere(1.44269504f), magic), whole = minus(shifted, magic);
    lanes r = multiply_add(whole, everywhere(-0.693359375f), clamped);
    r = multiply_add(whole, everywhere(2.12194440e-4f), r);
    lanes p = multiply_add(everywhere(1.0f / 5040), r, everywhere(1.0f / 720));
    p = multiply_add(p, r, everywhere(1.0f / 120));
    p = multiply_add(p, r, everywhere(1.0f / 24));
    p = multiply_add(p, r, everywhere(1.0f / 6));
    p = multiply_add(p, r, everywhere(0.5f));
    p = multiply_add(p, r, everywhere(1));
    p = multiply_add(p, r, everywhere(1));
    return zero_below(raise_by(p, shifted), x, -86.9f);
}

/* A NaN is one in both terms. */
INLINE lanes map(lanes x)
{
    return plus(exp_negative(smaller_of(everywhere(0), x)), larger_of(everywhere(0), x));
}

void ISA(rung_elu1)(float *y, size_t y_row, const float *x, size_t x_row, size_t rows, size_t n)
{
    for (size_t t = 0; t < rows; t++, x += x_row, y += y_row) {
        size_t i = 0;
        for (; i + LANES <= n; i += LANES) store(y + i, map(load(x + i)));
        if (i < n) store_some(y + i, map(load_some(x + i, n - i)), n - i);
    }
}
