/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: approximations of exp with stated error bounds, written so that a loop over them vectorises.
 * They never decide a result alone: a Ziv test does (fn.c, vec_isa.c), so it does not matter that a machine
 * with fused multiply-add gives other last bits here than one without.
 */
#ifndef RUNG_NUM_EXP_H
#define RUNG_NUM_EXP_H

#include "ops.h"

/* exp_quick is meant for |x| <= EXP_RANGE and clamps the rest: e^-700 < 2^-1009 and e^700 > 2^1009, which
 * every float with X <= 10 rounds to zero and infinity like the true value, and fixed point to zero and its
 * largest value. */
#define EXP_RANGE 700.0
/* Relative error of exp_quick, proved below: 2^-50.4. Another factor of two is given away. */
#define EXP_QUICK_ERROR 0x1p-49
/* Relative error of exp_double; see there. */
#define EXP_DOUBLE_ERROR 0x1p-75

/* Fused where the machine has it, since a call to a software fma would be the slowest way of all. */
ALWAYS_INLINE double mul_then_add(double a, double b, double c)
{
#ifdef __FMA__
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

#endif
