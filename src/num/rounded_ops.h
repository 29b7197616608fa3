/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: one rounded operation of every kind of format, without a branch, so that the scalar functions and the
 * vector loops are the same text. A loop is instantiated once per route; the route is a constant there.
 *
 * Why "compute in double, round once" is right (docs/numbers.md has this at length). Let p = Y+1 <= 26 be the
 * precision of the target and n = I+F. Rounding first to the 53 bits of a double is harmful only if the exact result z
 * is not a midpoint m of two neighbours of the target but its double is one: midpoints are doubles (at most p+1 = 27
 * bits) and rounding is monotone, so z cannot jump over one. That needs 0 < |z - m| <= half an ulp of double at m.
 * Write e for the exponent of m, 2^e <= m < 2^(e+1); half an ulp is 2^(e-53), or 2^-1075 among subnormal doubles.
 *
 *   mul    The product of two p-bit numbers has 2p <= 52 bits: the double is exact. With X <= 10 both factors are
 *          multiples of 2^-535, the product one of 2^-1070, and doubles reach down to 2^-1074: exact there too. With
 *          X = 11 a subnormal double loses bits: (3*2^24+3) (2^26-4) 2^-1098 would be wrong. wide_mul scales.
 *   add    Figueroa: 2p+1 <= 53 suffices while the result is normal in the target. Below that, sums are multiples of
 *          the spacing of the subnormals, hence values. Overflow is decided after the one rounding; with X = 11 a sum
 *          that overflows a double, |z| >= 2^1024 - 2^970, is beyond the threshold 2^1024 - 2^(1023-p) of the target.
 *   div    a = A 2^i, b = B 2^j, m = M 2^k with integers A, B < 2^p and M < 2^(p+1). d = z - m = (a - m b) / b. If it
 *          is not zero, |a - m b| >= 2^min(i, k+j). In the case k+j: |d| >= 2^k / B > 2^(k-p); since M < 2^(p+1),
 *          k >= e-p, so |d| > 2^(e-2p) >= 2^(e-52). In the case i: |d| >= z / A > z 2^-p. Both exceed 2^(e-53). Where
 *          the quotient is a subnormal double (X = 11), k = -1023-Y and z is about M 2^k >= 2^k: both bounds give
 *          |d| > 2^(k-p) = 2^(-1024-2Y) >= 2^-1074, more than 2^-1075. (With X <= 10 it becomes zero either way.)
 *   sqrt   M as before. z^2 - m^2 = a - m^2; m^2 is a multiple of 2^(2k), and a, which has p bits and is next to
 *          m^2 >= 2^(2e), one of 2^(2e-p). So |z - m| >= 2^min(2k, 2e-p) / (z+m) > 2^(e-2p-2), as k >= e-p and
 *          z+m < 2^(e+2). Not below 2^(e-53) when 2p+2 <= 53: Y <= 24. At Y = 25 sqrt((2^26-1) 2^28) would be wrong;
 *          fn.c rounds to odd.
 *   fixed  Sums are at most 2^53 units: exact, only clamped. Products have 2n <= 52 bits: exact. Quotients: with codes
 *          A, B and Q = A 2^F / B, midpoints are odd halves, and |Q - m| = |2 A 2^F - (2m) B| / (2|B|) is zero or above
 *          2^-(n+1) (|B| = 2^n divides exactly), while half an ulp of double below 2^n is at most 2^(n-54): 2n <= 53.
 */
#ifndef RUNG_NUM_ROUNDED_OPS_H
#define RUNG_NUM_ROUNDED_OPS_H

#include <math.h>
#include <string.h>

#include "rung/num.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define SIGN_BIT      (UINT64_C(1) << 63)
#define EXPONENT_MASK (UINT64_C(0x7ff) << 52) /* also the bits of infinity */

ALWAYS_INLINE uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ALWAYS_INLINE double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef enum route {
    ROUTE_F64,   /* the machine rounds */
    ROUTE_FLOAT, /* eXmY, X <= 10: double, then one rounding */
    ROUTE_WIDE,  /* e11mY: the same, except where a product underflows */
    ROUTE_FIXED, /* qI.F, I+F <= 26: double, then one rounding */
    ROUTE_LONG,  /* qI.F, I+F > 26: 128-bit integers (long.c), no vector loop */
} route;

static inline route route_of(const rung_fmt *fmt)
{
    if (fmt->is_f64) return ROUTE_F64;
    if (fmt->kind == RUNG_FMT_FIXED) return fmt->double_once_ok ? ROUTE_FIXED : ROUTE_LONG;
    return fmt->double_once_ok ? ROUTE_FLOAT : ROUTE_WIDE;
}

/* ROUTE_LONG, in long.c. */
double rung_long_round(const rung_fmt *fmt, double x);
double rung_long_mul(const rung_fmt *fmt, double a, double b);
double rung_long_div(const rung_fmt *fmt, double a, double b);
double rung_fixed_sqrt(const rung_fmt *fmt, double x); /* of any fixed-point format */

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

/* The larger of two positive doubles, the first given as bits. Bits have the same order as the numbers. gcc compiles
 * the integer form to one instruction where AVX-512 is available, and the other form elsewhere. */
ALWAYS_INLINE double larger(uint64_t a_bits, double b)
{
#ifdef __AVX512F__
    const int64_t a = (int64_t)a_bits, least = (int64_t)bits_of(b);
    return double_of((uint64_t)(a > least ? a : least));
#else
    const double a = double_of(a_bits);
    return a > b ? a : b;
#endif
}

/* Adding 1.5 * 2^52 units to x rounds it to a multiple of the unit, ties to even, because the sum lies where
 * doubles are one unit apart and 1.5 * 2^52 is even. The unit is that of the binade of x, or that of the
 * subnormals: the larger one. The magic number of a binade is made from its exponent field by an integer sum; it
 * may overflow only far beyond the overflow of the format. A NaN is not beyond that and stays a NaN. The sign comes
 * back last, for results that became zero as well. */
ALWAYS_INLINE double float_round(const rung_fmt *fmt, double x)
{
    const double size = fabs(x);
    const double magic = larger((bits_of(x) & EXPONENT_MASK) + fmt->binade_magic, fmt->grid_magic);
    const double sum = size + magic;
    const double kept = sum - magic, out = size >= fmt->overflow ? INFINITY : kept;
    return double_of(bits_of(out) | (bits_of(x) & SIGN_BIT));
}

/* The same where that magic number may overflow: half a unit less one bit, plus the last kept bit, is added to
 * the integer that a double is, and the rest is cut off. `scale` says where the subnormals begin for a scaled x.
 * A NaN takes the way of the subnormals, where it survives with any payload. */
ALWAYS_INLINE double wide_round_scaled(const rung_fmt *fmt, double x, double scale)
{
    const double size = fabs(x), magic = fmt->grid_magic * scale;
    const uint64_t bits = bits_of(size), half = fmt->round_half + ((bits >> fmt->round_drop) & 1);
    const double normal = double_of((bits + half) & fmt->round_keep);
    const double sum = size + magic;
    const double rounded = size >= fmt->least_normal * scale ? normal : sum - magic;
    const uint64_t sign = bits_of(x) & SIGN_BIT, kept = bits_of(rounded) | sign;
    return double_of(size >= fmt->overflow ? EXPONENT_MASK | sign : kept);
}

/* Clamping first is right: the bounds are on the grid and rounding is monotone. A NaN passes both
 * comparisons. */
ALWAYS_INLINE double fixed_clamp(const rung_fmt *fmt, double x)
{
    const double high = fmt->largest < x ? fmt->largest : x;
    return fmt->smallest > high ? fmt->smallest : high;
}

/* |x| <= 2^26 units after the clamp, far inside the 2^51 for which the magic number works; it never leaves a
 * -0. */
ALWAYS_INLINE double fixed_round(const rung_fmt *fmt, double x)
{
    const double sum = fixed_clamp(fmt, x) + fmt->grid_magic;
    return sum - fmt->grid_magic;
}

ALWAYS_INLINE double op_round(const rung_fmt *fmt, route way, double x)
{
    switch (way) {
    case ROUTE_F64:
        return x;
    case ROUTE_FLOAT:
        return float_round(fmt, x);
    case ROUTE_WIDE:
        return wide_round_scaled(fmt, x, 1);
    case ROUTE_FIXED:
        return fixed_round(fmt, x);
    case ROUTE_LONG:
        return rung_long_round(fmt, x);
    }
    return NAN;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* A product of e11mY below 2^-900 is computed again 2^200 times larger, where doubles lose nothing, and rounded on the
 * scaled grid; one that is still a subnormal double then is below 2^-1222 and becomes zero. Such products have
 * |a| < 2^147 (|b| >= 2^-1047), so that a * 2^200 is exact, except in large * 0, which must not become inf * 0. */
ALWAYS_INLINE double wide_mul(const rung_fmt *fmt, double a, double b)
{
    const double roomy = fabs(a) < 0x1p200 ? 0x1p200 : 1;
    const double scale = fabs(a * b) < 0x1p-900 ? roomy : 1;
    return wide_round_scaled(fmt, (a * scale) * b, scale) * (scale > 1 ? 0x1p-200 : 1);
}

ALWAYS_INLINE double fixed_div(const rung_fmt *fmt, double a, double b)
{
    const double quotient = a / b;
    return fixed_round(fmt, b == 0 ? NAN : quotient);
}

/* Sums of fixed-point numbers of any length stay on the grid and below 2^53 units. */
ALWAYS_INLINE double op_settle_sum(const rung_fmt *fmt, route way, double sum)
{
    if (way == ROUTE_FIXED || way == ROUTE_LONG) return fixed_clamp(fmt, sum);
    return op_round(fmt, way, sum);
}

ALWAYS_INLINE double op_add(const rung_fmt *fmt, route way, double a, double b)
{
    return op_settle_sum(fmt, way, a + b);
}

ALWAYS_INLINE double op_sub(const rung_fmt *fmt, route way, double a, double b)
{
    return op_settle_sum(fmt, way, a - b);
}

ALWAYS_INLINE double op_mul(const rung_fmt *fmt, route way, double a, double b)
{
    if (way == ROUTE_WIDE) return wide_mul(fmt, a, b);
    if (way == ROUTE_LONG) return rung_long_mul(fmt, a, b);
    return op_round(fmt, way, a * b);
}

ALWAYS_INLINE double op_div(const rung_fmt *fmt, route way, double a, double b)
{
    if (way == ROUTE_FIXED) return fixed_div(fmt, a, b);
    if (way == ROUTE_LONG) return rung_long_div(fmt, a, b);
    return op_round(fmt, way, a / b);
}

#endif
