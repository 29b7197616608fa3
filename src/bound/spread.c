/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lemma S, estimated and certified.
 */
#include "spread.h"

#include <math.h>

static double plogp(double a, double p)
{
    return a > 0 ? a * log2(a / p) : 0;
}

/* KL(a || p) for 0 <= a < p <= 1, infinite at p = 1. */
static double divergence(double a, double p)
{
    return p >= 1 ? INFINITY : plogp(a, p) + plogp(1 - a, 1 - p);
}

/* The largest h in 1..t with (h-1)/t < p and t KL((h-1)/t || p) > D, or 0; the divergence falls as h rises. */
static uint64_t largest_gain(uint64_t t, double p, double D)
{
    uint64_t low = 0, high = t;
    while (low < high) {
        uint64_t h = high - (high - low) / 2;
        double a = (double)(h - 1) / (double)t;
        if (a < p && (double)t * divergence(a, p) > D)
            low = h;
        else
            high = h - 1;
    }
    return low;
}

double spread_estimate(uint64_t t, uint64_t q, double D, uint64_t x)
{
    double all = (double)t * (double)q, covered = 0;
    if (t == 1) return fmin((double)x, ceil((double)q * exp2(-D)));
    for (uint64_t j = 0; j < x; j++) {
        uint64_t h = largest_gain(t, 1 - covered / all, D);
        if (h == 0) break;
        covered += (double)h;
    }
    return covered;
}

/* a log2(a/p) with a = i/t and p = r/s as integers. */
static rung_ival part(rung_certified *s, uint64_t i, uint64_t t, uint64_t r, uint64_t all)
{
    rung_ival a = rung_ival_div(s, rung_ival_u64(s, i), rung_ival_u64(s, t));
    rung_ival p = rung_ival_div(s, rung_ival_u64(s, r), rung_ival_u64(s, all));
    return i == 0 ? rung_ival_u64(s, 0) : rung_ival_mul(s, a, rung_ival_log2(s, rung_ival_div(s, a, p)));
}

/* Whether h new pairs are certain when `covered` of `all` are credited. */
static bool gains(rung_certified *s, uint64_t h, uint64_t t, uint64_t covered, uint64_t all, rung_ival D)
{
    if (covered == 0) return h <= t; /* p = 1: every value is new */
    uint64_t left = all - covered;
    if ((unsigned __int128)(h - 1) * all >= (unsigned __int128)t * left) return false;
    rung_ival kl = rung_ival_add(s, part(s, h - 1, t, left, all), part(s, t - h + 1, t, covered, all));
    return rung_ival_less(s, D, rung_ival_mul(s, rung_ival_u64(s, t), kl)) == RUNG_SURELY;
}

/* t = 1: the projection on the one coordinate has at least ceil(q 2^-D) values. */
static uint64_t spread_single(rung_certified *s, uint64_t q, rung_ival D, uint64_t x)
{
    rung_ival power = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), D));
    double values = rung_ival_low(s, rung_ival_ceil(s, rung_ival_mul(s, rung_ival_u64(s, q), power)));
    return values < (double)x ? (uint64_t)values : x;
}

uint64_t spread_surely(rung_certified *s, uint64_t t, uint64_t q, rung_ival D, uint64_t x)
{
    uint64_t all, covered = 0;
    if (t == 1) return spread_single(s, q, D, x);
    if (__builtin_mul_overflow(t, q, &all) || all > UINT64_C(1) << 52) return 0; /* doubles guess the steps */
    for (uint64_t j = 0; j < x; j++) {
        uint64_t h = largest_gain(t, 1 - (double)covered / (double)all, rung_ival_high(s, D));
        while (h > 0 && !gains(s, h, t, covered, all, D)) h--;
        if (h == 0) break;
        covered += h;
    }
    return covered;
}
