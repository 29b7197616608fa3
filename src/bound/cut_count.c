/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Numbers of prefixes: their logarithms, certified from below; estimates; and text.
 */
#include "cut.h"

#include <math.h>
#include <stdio.h>

/* Number of terms of a sum of binomials that are added. The terms have one peak of width about sqrt(a). For M < 2^23
 * residues, the limit of two-sum, 4096 terms are at least 84 % of the sum: a quarter of a bit. */
enum { TERMS = 4096 };

static rung_ival times_u64(rung_certified *s, rung_ival x, uint64_t y)
{
    return rung_ival_mul(s, x, rung_ival_u64(s, y));
}

/* log2 n!, from n! = C(n, n/2) (n/2)! (n - n/2)!. The factorials of k and k+1 give those of 2k and 2k+1, or of 2k+1 and
 * 2k+2, so it processes one bit of n after the other. */
static rung_ival log2_factorial(rung_certified *s, uint64_t n)
{
    rung_ival zero = rung_ival_u64(s, 0), low = zero, high = zero; /* of k! and (k+1)!, k = the leading bits of n */
    for (int bit = n ? 63 - __builtin_clzll(n) : -1; bit >= 0; bit--) {
        uint64_t k = n >> bit >> 1;
        rung_ival both = rung_ival_add(s, low, high);
        rung_ival even = rung_ival_add(s, rung_ival_log2_choose(s, 2 * k, k), rung_ival_add(s, low, low));
        rung_ival odd = rung_ival_add(s, rung_ival_log2_choose(s, 2 * k + 1, k), both);
        rung_ival next = rung_ival_add(s, rung_ival_log2_choose(s, 2 * k + 2, k + 1), rung_ival_add(s, high, high));
        bool one = n >> bit & 1;
        low = one ? odd : even, high = one ? next : odd;
    }
    return low;
}

/* sum over j = 1..b of C(a,j) w^j, the largest TERMS of them. */
static rung_ival log2_subsets(rung_certified *s, uint64_t a, uint64_t b, uint64_t w)
{
    rung_ival all = times_u64(s, rung_ival_log2(s, rung_ival_u64(s, 1 + w)), a), one = rung_ival_u64(s, 1);
    if (b >= a) return rung_ival_log2(s, rung_ival_sub(s, rung_ival_exp2(s, all), one));
    uint64_t peak = a - a / (1 + w), last = b < peak + TERMS / 2 ? b : peak + TERMS / 2;
    uint64_t j = last > TERMS ? last - TERMS + 1 : 1;
    rung_ival weight = times_u64(s, rung_ival_log2(s, rung_ival_u64(s, w)), j);
    rung_ival start = rung_ival_add(s, rung_ival_log2_choose(s, a, j), weight);
    rung_ival term = j == 1 ? rung_ival_mul(s, rung_ival_u64(s, a), rung_ival_u64(s, w)) : rung_ival_exp2(s, start);
    rung_ival sum = term;
    for (; j < last; j++) {
        term = rung_ival_div(s, times_u64(s, times_u64(s, term, a - j), w), rung_ival_u64(s, j + 1));
        sum = rung_ival_add(s, sum, term);
    }
    return rung_ival_log2(s, sum);
}

static rung_ival log2_stacks(rung_certified *s, uint64_t a, uint64_t b)
{
    rung_ival sum = rung_ival_u64(s, b % 2 ? a : 1),
              square = rung_ival_mul(s, rung_ival_u64(s, a), rung_ival_u64(s, a));
    rung_ival power = sum;
    for (uint64_t depth = b % 2 + 2; depth <= b; depth += 2) {
        power = rung_ival_mul(s, power, square);
        sum = rung_ival_add(s, sum, power);
    }
    return rung_ival_log2(s, sum);
}

rung_ival cut_log2(rung_certified *s, const cut_count *c)
{
    switch (c->kind) {
    case CUT_POWER:
        return times_u64(s, rung_ival_log2(s, rung_ival_u64(s, c->a)), c->b);
    case CUT_CHOOSE:
        return rung_ival_log2_choose(s, c->a, c->b);
    case CUT_SUBSETS:
        return log2_subsets(s, c->a, c->b, 1);
    case CUT_SIGNED:
        return log2_subsets(s, c->a, c->b, 2);
    case CUT_FALLING:
        return rung_ival_add(s, rung_ival_log2_choose(s, c->a, c->b), log2_factorial(s, c->b));
    case CUT_STACKS:
        return log2_stacks(s, c->a, c->b);
    }
    return rung_ival_u64(s, 0);
}

static double log2_choose_estimate(double a, double b)
{
    return (lgamma(a + 1) - lgamma(b + 1) - lgamma(a - b + 1)) / M_LN2;
}

/* Estimates sums by their largest term. */
double cut_log2_estimate(const cut_count *c)
{
    double a = (double)c->a, b = (double)c->b, w = c->kind == CUT_SIGNED ? 2 : 1, peak = a * w / (1 + w);
    double top = b < peak ? b : peak;
    switch (c->kind) {
    case CUT_POWER:
    case CUT_STACKS:
        return b * log2(a);
    case CUT_CHOOSE:
        return log2_choose_estimate(a, b);
    case CUT_SUBSETS:
    case CUT_SIGNED:
        return log2_choose_estimate(a, top) + top * log2(w);
    case CUT_FALLING:
        return (lgamma(a + 1) - lgamma(a - b + 1)) / M_LN2;
    }
    return 0;
}

void cut_print(char *text, size_t size, const cut_count *c)
{
    static const char *const formats[] = {
        [CUT_POWER] = "%llu^%llu",
        [CUT_CHOOSE] = "C(%llu, %llu)",
        [CUT_SUBSETS] = "the sets out of %llu with 1 to %llu elements",
        [CUT_SIGNED] = "the sets out of %llu with 1 to %llu elements, each with a sign",
        [CUT_FALLING] = "the rows out of %llu with %llu different elements",
        [CUT_STACKS] = "the stacks of %llu types with %llu symbols or an even number fewer",
    };
    snprintf(text, size, formats[c->kind], (unsigned long long)c->a, (unsigned long long)c->b);
}
