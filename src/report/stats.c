/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Intervals. The distribution of Student's t is computed from the incomplete beta function by its continued fraction
 * (Lentz's method) and inverted by bisection. Speed does not matter here.
 */
#include <math.h>

#include "rung/report.h"

#define Z95 1.959963984540054 /* 97.5 % quantile of the normal distribution */

static double away_from_zero(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of I_x(a, b), good for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d), c = away_from_zero(1 + even / c), h *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d), c = away_from_zero(1 + odd / c), h *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return h;
}

static double beta_regular(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| > t) = I_{df/(df+t^2)}(df/2, 1/2). */
double rung_student_quantile(double df)
{
    double low = 0, high = 16;
    if (!(df > 0)) return INFINITY; /* one value has no spread */
    while (beta_regular(df / 2, 0.5, df / (df + high * high)) > 0.05) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
        double t = (low + high) / 2;
        if (beta_regular(df / 2, 0.5, df / (df + t * t)) > 0.05)
            low = t;
        else
            high = t;
    }
    return (low + high) / 2;
}

rung_estimate rung_estimate_mean(const double *values, size_t count)
{
    rung_estimate out = {NAN, NAN, NAN, count};
    double sum = 0, squares = 0;
    if (count == 0) return out;
    for (size_t i = 0; i < count; i++) sum += values[i];
    out.mean = sum / (double)count;
    if (count == 1) return out;
    for (size_t i = 0; i < count; i++) squares += (values[i] - out.mean) * (values[i] - out.mean);
    double half = rung_student_quantile((double)count - 1) * sqrt(squares / ((double)count - 1) / (double)count);
    out.low = out.mean - half, out.high = out.mean + half;
    return out;
}

rung_estimate rung_estimate_rate(size_t hits, size_t count)
{
    rung_estimate out = {NAN, NAN, NAN, count};
    double n = (double)count, z2 = Z95 * Z95;
    if (count == 0) return out;
    double p = (double)hits / n, middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = Z95 / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    out.mean = p;
    out.low = hits == 0 ? 0 : middle - half; /* exact, without rounding error */
    out.high = hits == count ? 1 : middle + half;
    return out;
}
