/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Exponentials of the rows of a chunk, compiled once per instruction set; and the feature map elu1 of linear attention,
 * x + 1 for x > 0 and e^x otherwise. It is e^min(x, 0) + max(x, 0): one of the two terms is 1 or 0, so the sum is exact
 * or the rounded x + 1.
 */
#include "chunk_table.h"
#include "kern_lanes.h"

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* x = n ln 2 + r; n in the low bits of *shifted. Returns e^r by the Taylor polynomial of degree 7. As exp_one() of
 * elementary.h. */
INLINE lanes exp_of_rest(lanes x, lanes *shifted)
{
    const lanes magic = everywhere(12582912.0f);
    *shifted = multiply_add(x, everywhere(1.44269504f), magic);
    lanes whole = minus(*shifted, magic), r = multiply_add(whole, everywhere(-0.693359375f), x);
    r = multiply_add(whole, everywhere(2.12194440e-4f), r);
    lanes p = multiply_add(everywhere(1.0f / 5040), r, everywhere(1.0f / 720));
    p = multiply_add(p, r, everywhere(1.0f / 120));
    p = multiply_add(p, r, everywhere(1.0f / 24));
    p = multiply_add(p, r, everywhere(1.0f / 6));
    p = multiply_add(p, r, everywhere(0.5f));
    p = multiply_add(p, r, everywhere(1));
    return multiply_add(p, r, everywhere(1));
}

/* e^x for x <= 0, and 0 below -86.9. */
INLINE lanes exp_negative(lanes x)
{
    lanes shifted, p = exp_of_rest(larger_of(everywhere(-87), x), &shifted);
    return zero_below(raise_by(p, shifted), x, -86.9f);
}

/* e^x: infinite above 88.73. 2^n is applied as 2^(n-1) 2, because n goes up to 128. The difference is 0 or NaN. */
INLINE lanes exp_any(lanes x)
{
    lanes clamped = smaller_of(everywhere(89), larger_of(everywhere(-87), x));
    lanes shifted, p = exp_of_rest(clamped, &shifted), half = times(p, raise_by(everywhere(0.5f), shifted));
    return zero_below(plus(times(half, everywhere(2)), minus(clamped, clamped)), x, -86.9f);
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

void ISA(rung_exp_rows)(float *y, size_t y_row, const float *x, size_t x_row, size_t rows, size_t n)
{
    for (size_t t = 0; t < rows; t++, x += x_row, y += y_row) {
        size_t i = 0;
        for (; i + LANES <= n; i += LANES) store(y + i, exp_any(load(x + i)));
        if (i < n) store_some(y + i, exp_any(load_some(x + i, n - i)), n - i);
    }
}
