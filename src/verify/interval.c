/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Intervals for a rate. Clopper and Pearson (1934): the rates p for which seeing so many hits or more, and so many hits
 * or fewer, each has probability at least (1 - level)/2. P(X >= k) of n draws at rate p is the regularised incomplete
 * beta function I_p(k, n-k+1), and it rises with p, so that bisection finds both ends.
 */
#include <math.h>

#include "rung/verify.h"

static double away_from_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of I_x(a, b) by Lentz's method; it converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
    for (double m = 1; m < 1e7; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        value *= c * d;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        value *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return value;
}

/* I_x(a, b) for 0 < x < 1. Where the fraction is slow it uses the symmetry I_x(a, b) = 1 - I_{1-x}(b, a). */
static double incomplete_beta(double x, double a, double b)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* The rate at which at least k of n hits (1 <= k <= n) have this probability, by bisection until neighbouring doubles
 * are reached. */
static double rate_with_tail(double k, double n, double probability)
{
    double low = 0, high = 1;
    for (double middle; middle = low + (high - low) / 2, low < middle && middle < high;) {
        if (incomplete_beta(middle, k, n - k + 1) < probability)
            low = middle;
        else
            high = middle;
    }
    return high;
}

rung_interval rung_clopper_pearson(uint64_t hits, uint64_t tried, double level)
{
    rung_interval interval = {0, 1};
    double k = (double)hits, n = (double)tried, tail = (1 - level) / 2;
    if (hits > 0) interval.low = rate_with_tail(k, n, tail);
    if (hits < tried) interval.high = rate_with_tail(k + 1, n, 1 - tail);
    return interval;
}

rung_interval rung_wilson(uint64_t hits, uint64_t tried)
{
    const double z = 1.959963984540054; /* a normal variable is within z of its mean with probability 95 % */
    if (tried == 0) return (rung_interval){0, 1};
    double n = (double)tried, rate = (double)hits / n, z2n = z * z / n;
    double centre = (rate + z2n / 2) / (1 + z2n);
    double half = z / (1 + z2n) * sqrt(rate * (1 - rate) / n + z2n / (4 * n));
    return (rung_interval){fmax(0, centre - half), fmin(1, centre + half)};
}
