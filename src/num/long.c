/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: fixed point with I+F > 26, where a product or quotient does not fit into a double, and the square root
 * of every fixed-point format: integers of 128 bits, exact, one rounding to nearest even.
 */
#include <math.h>

#include "rounded_ops.h"

__extension__ typedef unsigned __int128 u128;

static uint64_t magnitude(const rung_fmt *fmt, double x)
{
    return (uint64_t)(fabs(x) / fmt->spacing);
}

/* Rounds whole + rest/unit to nearest even and applies the sign. `whole` may be far beyond the range. */
static double settle(const rung_fmt *fmt, u128 whole, u128 rest, u128 unit, bool negative)
{
    if (2 * rest > unit || (2 * rest == unit && (whole & 1))) whole++;
    const uint64_t limit = UINT64_C(1) << (fmt->integer_bits + fmt->fraction_bits);
    if (negative) return whole >= limit ? fmt->smallest : 0.0 - (double)whole * fmt->spacing;
    return whole >= limit ? fmt->largest : (double)whole * fmt->spacing;
}

/* Codes have up to 52 bits, so x / spacing is exact and rint is the one rounding. The sum removes a minus
 * zero. */
double rung_long_round(const rung_fmt *fmt, double x)
{
    return rint(fixed_clamp(fmt, x) / fmt->spacing) * fmt->spacing + 0.0;
}

double rung_long_mul(const rung_fmt *fmt, double a, double b)
{
    if (isnan(a) || isnan(b)) return NAN;
    const u128 product = (u128)magnitude(fmt, a) * magnitude(fmt, b);
    const u128 unit = (u128)1 << fmt->fraction_bits;
    return settle(fmt, product / unit, product % unit, unit, (a < 0) != (b < 0));
}

double rung_long_div(const rung_fmt *fmt, double a, double b)
{
    if (isnan(a) || isnan(b) || b == 0) return NAN;
    const u128 dividend = (u128)magnitude(fmt, a) << fmt->fraction_bits; /* below 2^105 */
    const u128 divisor = magnitude(fmt, b);
    return settle(fmt, dividend / divisor, dividend % divisor, divisor, (a < 0) != (b < 0));
}

/* The root of A 2^F in units; A 2^F < 2^104, so the root in double is off by one at most. A tie would need
 * (s + 1/2)^2 = s^2 + s + 1/4 to be an integer, so rounding up is deciding whether the remainder exceeds s.
 */
double rung_fixed_sqrt(const rung_fmt *fmt, double x)
{
    if (!(x >= 0)) return NAN;
    const u128 square = (u128)magnitude(fmt, x) << fmt->fraction_bits;
    u128 root = (u128)sqrt((double)square);
    while (root * root > square) root--;
    while ((root + 1) * (root + 1) <= square) root++;
    if (square - root * root > root) root++;
    return fixed_clamp(fmt, (double)root * fmt->spacing);
}
