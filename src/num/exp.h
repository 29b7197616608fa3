/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: approximations of exp with stated error bounds, written so that a loop over them vectorises.
 * They never decide a result alone: a Ziv test does (fn.c, vec_isa.c), so it does not matter that a machine
 * with fused multiply-add gives other last bits here than one without.
 */
#ifndef RUNG_NUM_EXP_H
#define RUNG_NUM_EXP_H

#include "rounded_ops.h"

/* exp_quick is meant for |x| <= EXP_RANGE and clamps other arguments. e^-700 < 2^-1009 and e^700 > 2^1009; every float
 * with X <= 10 rounds these to zero and infinity, as it rounds the true value, and fixed point to zero and its largest
 * value. */
#define EXP_RANGE 700.0
/* Relative error of exp_quick: 2^-50.4 is proved below. The constant is more than twice as large. */
#define EXP_QUICK_ERROR 0x1p-49
/* Relative error of exp_double; see there. */
#define EXP_DOUBLE_ERROR 0x1p-75

/* Uses a fused operation only where the machine has one; a call of a software fma would be slower than anything
 * else. */
ALWAYS_INLINE double mul_then_add(double a, double b, double c)
{
#if defined(__FMA__) || defined(RUNG_NEON)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

ALWAYS_INLINE double exp_clamp(double x)
{
    const double high = EXP_RANGE < x ? EXP_RANGE : x;
    return -EXP_RANGE > high ? -EXP_RANGE : high;
}

/* x + 1.5 * 2^52 has the nearest integer to x in its low bits. */
#define EXP_SHIFT   0x1.8p52
#define EXP_LOG2_E  0x1.71547652b82fep0
#define EXP_LN2_TOP 0x1.62e42feep-1 /* 32 bits, so that k times it is exact */
#define EXP_LN2_LOW 0x1.a39ef35793c76p-33

/* 2^k from shifted = k + EXP_SHIFT, |k| <= 1022: k + 1023 becomes the exponent field. */
ALWAYS_INLINE double exp_power(double shifted)
{
    return double_of((bits_of(shifted) + 1023) << 52);
}

/* x = k ln 2 + r, |r| <= 0.3466; e^r by Taylor's series to r^12 / 12!.
 * Errors, relative: the rest of the series, 0.3466^13 / 13! / e^-0.3466 < 2^-51.9; r itself, whose first
 * subtraction is exact and whose second rounds at 2^-55, with k (ln 2 - top - low) < 2^-75; Horner's scheme,
 * where the last step rounds at 2^-53, the product before it at 2^-55, and each step before that counts |r| <
 * 0.35 times the one after it: together below 2^-51.4. Sum below 2^-50.4. The scaling by 2^k is exact. */
ALWAYS_INLINE double exp_quick(double any)
{
    const double x = exp_clamp(any);
    const double shifted = x * EXP_LOG2_E + EXP_SHIFT;
    const double k = shifted - EXP_SHIFT;
    const double r = (x - k * EXP_LN2_TOP) - k * EXP_LN2_LOW;
    double series = 1.0 / 479001600;
    series = mul_then_add(series, r, 1.0 / 39916800);
    series = mul_then_add(series, r, 1.0 / 3628800);
    series = mul_then_add(series, r, 1.0 / 362880);
    series = mul_then_add(series, r, 1.0 / 40320);
    series = mul_then_add(series, r, 1.0 / 5040);
    series = mul_then_add(series, r, 1.0 / 720);
    series = mul_then_add(series, r, 1.0 / 120);
    series = mul_then_add(series, r, 1.0 / 24);
    series = mul_then_add(series, r, 1.0 / 6);
    series = mul_then_add(series, r, 1.0 / 2);
    series = mul_then_add(series, r, 1.0);
    series = mul_then_add(series, r, 1.0);
    return series * exp_power(shifted);
}

/* ---- exp to 2^-75, for f64 --------------------------------------------------------------------------------------- */

/* hi + lo, |lo| <= half an ulp of hi. */
typedef struct pair {
    double hi, lo;
} pair;

/* Exact when |a| >= |b|. */
ALWAYS_INLINE pair fast_two_sum(double a, double b)
{
    const double sum = a + b;
    return (pair){sum, b - (sum - a)};
}

/* The upper 26 bits of a (Veltkamp). */
ALWAYS_INLINE double upper_half(double a)
{
    const double shifted = a * 0x1.0000002p27;
    const double rest = shifted - a;
    return shifted - rest;
}

/* a * b exactly (Dekker without fused multiply-add). */
ALWAYS_INLINE pair two_product(double a, double b)
{
    const double product = a * b;
#if defined(__FMA__) || defined(RUNG_NEON)
    return (pair){product, __builtin_fma(a, b, -product)};
#else
    const double a_hi = upper_half(a), b_hi = upper_half(b);
    const double a_lo = a - a_hi, b_lo = b - b_hi;
    return (pair){product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
#endif
}

/* Relative error below 2^-101: the products of a half with the other whole round at 2^-105 each, lo * lo is
 * dropped. */
ALWAYS_INLINE pair pair_mul(pair a, pair b)
{
    const pair product = two_product(a.hi, b.hi);
    return fast_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* c + b for |c| >= |b.hi|. */
ALWAYS_INLINE pair pair_add_to(double c, pair b)
{
    const pair sum = fast_two_sum(c, b.hi);
    return fast_two_sum(sum.hi, sum.lo + b.lo);
}

/* ln 2 = EXP_LN2_TOP + EXP_LN2_MID + EXP_LN2_END up to 2^-119; k times the first two, of at most 32 bits, is
 * exact. */
#define EXP_LN2_MID 0x1.a39ef356p-33
#define EXP_LN2_END 0x1.93c7673007e5fp-65
#define EXP_SIXTH   ((pair){0x1.5555555555555p-3, 0x1.5555555555555p-57})

/* e^(r/256) - 1 = t + t^2/2 + t^3/6 in pairs, and from t^4/24 to t^7/5040 in double: t < 2^-9.5, so the last
 * omitted term is below 2^-91 and the double part rounds below 2^-94. */
ALWAYS_INLINE pair exp_series(pair t)
{
    const double tail = 1.0 / 24 + t.hi * (1.0 / 120 + t.hi * (1.0 / 720 + t.hi * (1.0 / 5040)));
    const double square = t.hi * t.hi;
    pair sum = pair_mul(EXP_SIXTH, t);
    sum = pair_mul(pair_add_to(0.5, sum), t);
    sum = pair_mul(pair_add_to(1.0, sum), t);
    sum.lo += tail * (square * square);
    return fast_two_sum(sum.hi, sum.lo);
}

/* e^x 2^-k for |x| <= EXP_RANGE, with 2^k in *power; relative error below 2^-80: each of eight squarings
 * doubles the error 2^-91 of the series and adds 2^-101. EXP_DOUBLE_ERROR leaves a factor of 32. */
ALWAYS_INLINE pair exp_double(double *power, double x)
{
    const double shifted = x * EXP_LOG2_E + EXP_SHIFT;
    const double k = shifted - EXP_SHIFT;
    const double first = x - k * EXP_LN2_TOP, second = k * EXP_LN2_MID;
    const double hi = first - second;
    const double back = first - hi;
    /* Knuth's two-sum: `first` may be smaller than `second` when x is close to a multiple of ln 2. */
    const double lo = (first - (hi + back)) + (back - second);
    const pair t = fast_two_sum(hi * 0x1p-8, (lo - k * EXP_LN2_END) * 0x1p-8);
    pair result = pair_add_to(1.0, exp_series(t));
    for (int i = 0; i < 8; i++) result = pair_mul(result, result);
    *power = exp_power(shifted);
    return result;
}

/* ---- the Ziv test ------------------------------------------------------------------------------------------------ */

/* Both bounds of exp(x), rounded to the format; it is decided when low == high. */
typedef struct exp_bounds {
    double low, high;
} exp_bounds;

ALWAYS_INLINE exp_bounds exp_try(const rung_fmt *fmt, route way, double x)
{
    exp_bounds out;
    if (way == ROUTE_F64) {
        double power;
        const pair value = exp_double(&power, exp_clamp(x));
        const double margin = value.hi * EXP_DOUBLE_ERROR;
        out.low = (value.hi + (value.lo - margin)) * power;
        out.high = (value.hi + (value.lo + margin)) * power;
    } else {
        const double value = exp_quick(x), margin = value * EXP_QUICK_ERROR;
        out.low = op_round(fmt, way, value - margin);
        out.high = op_round(fmt, way, value + margin);
    }
    /* With eleven exponent bits the format reaches beyond the clamp. */
    const bool clamped = (way == ROUTE_F64 || way == ROUTE_WIDE) && !(fabs(x) <= EXP_RANGE);
    out.high = clamped ? NAN : out.high;
    return out;
}

/* ---- exp to 2^-66 with a table, for f64 in lanes ----------------------------------------------------------------- */

/* 2^(i/128) as pairs, in exp_roots.c. */
enum { EXP_ROOTS = 128 };
extern const double rung_exp_roots[2 * EXP_ROOTS];

/* Proved below: 2^-67. */
#define EXP_ROOTS_ERROR 0x1p-66

/* x = (128 n + i) (ln 2)/128 + r + r_low, |r| <= 2^-8.5, so that e^x = 2^n 2^(i/128) (1 + r + q) with q = r^2/2 + ... +
 * r^6/720 + r_low (1 + r). r_low is below 2^-54, mostly k times the last part of ln 2, and not below half an ulp of r.
 * Errors relative to e^x: the rest of the series, r^7/5040 < 2^-71.8, and r_low r^2/2 < 2^-72; q < 2^-18 in double,
 * five roundings of 2^-71; the product of the root with r is exact; what is summed below the leading double is below
 * 2^-17, six roundings of 2^-71 at most; together below 2^-67. Half of the margin is given away. */
ALWAYS_INLINE exp_bounds exp_try_roots(double any)
{
    const double x = exp_clamp(any);
    const double shifted = x * (EXP_LOG2_E * EXP_ROOTS) + EXP_SHIFT;
    const double k = shifted - EXP_SHIFT;
    const double first = x - k * (EXP_LN2_TOP / EXP_ROOTS), second = k * (EXP_LN2_MID / EXP_ROOTS);
    const double r = first - second;
    const double back = first - r;
    const double r_low = ((first - (r + back)) + (back - second)) - k * (EXP_LN2_END / EXP_ROOTS);
    double q = mul_then_add(r, 1.0 / 720, 1.0 / 120);
    q = mul_then_add(q, r, 1.0 / 24);
    q = mul_then_add(q, r, 1.0 / 6);
    q = mul_then_add(q, r, 1.0 / 2);
    q = mul_then_add(q, r * r, mul_then_add(r_low, r, r_low));
    const uint64_t bits = bits_of(shifted), root = bits & (EXP_ROOTS - 1);
    const double top = rung_exp_roots[2 * root], low = rung_exp_roots[2 * root + 1];
    const pair product = two_product(top, r), sum = fast_two_sum(top, product.hi);
    const double tail = (sum.lo + product.lo) + (mul_then_add(low, r, low) + top * q);
    const double margin = top * EXP_ROOTS_ERROR;
    const double power = double_of(((bits >> 7) + 1023) << 52); /* bits of EXP_SHIFT are zero where they matter */
    exp_bounds out = {(sum.hi + (tail - margin)) * power, (sum.hi + (tail + margin)) * power};
    out.high = !(fabs(any) <= EXP_RANGE) ? NAN : out.high;
    return out;
}

#endif
