/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lemmas S and S', estimated and certified.
 */
#include "spread.h"

#include <math.h>

/* ---- S, in doubles ----------------------------------------------------------------------------------------------- */

/* Pairs are counted exactly below 2^52. */
static bool fits(double t, double q)
{
    return t * q < 0x1p52;
}

static double plogp(double a, double p)
{
    return a > 0 ? a * log2(a / p) : 0;
}

/* KL(a || p) for 0 <= a < p <= 1, infinite at p = 1. */
static double divergence(double a, double p)
{
    return p >= 1 ? INFINITY : plogp(a, p) + plogp(1 - a, 1 - p);
}

/* The p > a = (h-1)/t at which t KL(a || p) = D. The divergence is convex and rises with p, so Newton's steps from the
 * right never overshoot; dropping the term -a log2 p gives the start. */
static double last_share(double t, double h, double D)
{
    double a = (h - 1) / t, want = D / t;
    double entropy = a > 0 ? -a * log2(a) - (1 - a) * log2(1 - a) : 0, p = 1 - exp2(-(want + entropy) / (1 - a));
    for (int i = 0; a > 0 && i < 50 && p < 1; i++) {
        double step = (divergence(a, p) - want) * p * (1 - p) * log(2) / (p - a);
        if (!(step > 1e-15 * p)) break;
        p -= step;
    }
    return p;
}

/* Number of steps of gain h that start at C_j <= all (1 - p). */
static double steps_of(double h, double covered, double all, double p, double left)
{
    double limit = all * (1 - p);
    return limit < covered ? 0 : fmin(floor((limit - covered) / h) + 1, left);
}

static double next_gain(double h, double ladder)
{
    return fmin(h - 1, floor(h * ladder));
}

double spread_estimate(double t, double q, double D, double x, double ladder)
{
    double all = t * q, covered = 0, left = x;
    if (t == 1) return fmin(x, fmax(1, ceil(q * exp2(-D))));
    for (double h = t; h >= 1 && left > 0; h = next_gain(h, ladder)) {
        double steps = steps_of(h, covered, all, last_share(t, h, D), left);
        covered += steps * h, left -= steps;
    }
    return covered;
}

/* ---- S, certified ------------------------------------------------------------------------------------------------ */

static rung_ival quotient(rung_certified *s, double a, double b)
{
    return rung_ival_div(s, rung_ival_real(s, a), rung_ival_real(s, b));
}

/* a log2(a/p) with a = i/t and p = r/all, all whole. */
static rung_ival part(rung_certified *s, double i, double t, double r, double all)
{
    rung_ival a = quotient(s, i, t);
    if (i == 0) return rung_ival_u64(s, 0);
    return rung_ival_mul(s, a, rung_ival_log2(s, rung_ival_div(s, a, quotient(s, r, all))));
}

/* True if h new pairs are certain when `covered` of all = t q are credited. */
static bool gains(rung_certified *s, double h, double t, double q, double covered, rung_ival D)
{
    double left = t * q - covered;
    if (covered == 0) return h <= t;         /* p = 1: every value is new */
    if (!((h - 1) * q < left)) return false; /* (h-1)/t < p, exactly: the numbers are below 2^53 */
    rung_ival kl = rung_ival_add(s, part(s, h - 1, t, left, t * q), part(s, t - h + 1, t, covered, t * q));
    return rung_ival_less(s, D, rung_ival_mul(s, rung_ival_real(s, t), kl)) == RUNG_SURELY;
}

/* t = 1: the projection on the one coordinate has at least ceil(q 2^-D) values, and K is not empty. */
static double spread_single(rung_certified *s, double q, rung_ival D, double x)
{
    rung_ival power = rung_ival_exp2(s, rung_ival_sub(s, rung_ival_u64(s, 0), D));
    double values = rung_ival_low(s, rung_ival_ceil(s, rung_ival_mul(s, rung_ival_real(s, q), power)));
    return fmin(x, fmax(1, values));
}

/* Steps of gain h: guessed in doubles, then proved at the last one; fewer until it can be proved. */
static double steps_surely(rung_certified *s, double h, double t, double q, double covered, rung_ival D, double left)
{
    double share = last_share(t, h, rung_ival_high(s, D)), steps = steps_of(h, covered, t * q, share, left);
    for (double less = 1; steps > 0 && !gains(s, h, t, q, covered + (steps - 1) * h, D); less *= 2)
        steps = fmax(steps - less, 0);
    return steps;
}

double spread_surely(rung_certified *s, double t, double q, rung_ival D, double x, double ladder)
{
    double covered = 0, left = x;
    if (t == 1) return spread_single(s, q, D, x);
    for (double h = t; h >= 1 && left > 0 && fits(t, q); h = next_gain(h, ladder)) {
        double steps = steps_surely(s, h, t, q, covered, D, left);
        covered += steps * h, left -= steps;
    }
    return covered;
}

size_t spread_runs(spread_run *run, size_t room, rung_certified *s, double t, double q, rung_ival D, double x,
                   double ladder)
{
    size_t count = 0;
    double covered = 0, left = x;
    if (t == 1 && room) {
        double theta = spread_single(s, q, D, x);
        run[0] = (spread_run){1, (uint64_t)theta};
        return 1;
    }
    for (double h = t; h >= 1 && left > 0 && fits(t, q) && count < room; h = next_gain(h, ladder)) {
        double steps = steps_surely(s, h, t, q, covered, D, left);
        if (steps > 0) run[count++] = (spread_run){(uint64_t)h, (uint64_t)steps};
        covered += steps * h, left -= steps;
    }
    return count;
}

/* ---- S' ---------------------------------------------------------------------------------------------------------- */

/* The first terms of the sum are added one by one. The others rise and are concave in j, so that the trapezoids lie
 * below the integral: sum_{j=h}^{x-1} f(j) <= integral_h^x f - (f(x) - f(h))/2. */
enum { TERMS = 16 };

double spread_random_bits(double y, double x, double q)
{
    double k = (1 - y) / q, product = 1, head = fmin(x, TERMS);
    for (double j = 0; j < head; j++) product *= y + k * j;
    if (head == x) return -log2(product);
    double from = y + k * head, to = y + k * x, log_from = log(from), log_to = log(to);
    double integral = ((to * log_to - to) - (from * log_from - from)) / k;
    return -log2(product) - (integral - (log_to - log_from) / 2) / log(2);
}

/* With y = 2^-l the bits are concave in l (each term is minus the logarithm of a mean of 2^(-l v)), so Theta/T = (bits
 * - budget)/l has one peak. */
double spread_random_rate(double *y, double from, double to, double x, double q, double budget)
{
    const double golden = 0.6180339887498949;
    double low = log(-log2(to)), high = log(-log2(from)), rate[2], at[2] = {high - golden * (high - low), 0};
    at[1] = low + golden * (high - low);
    for (int i = 0; i < 2; i++) rate[i] = (spread_random_bits(exp2(-exp(at[i])), x, q) - budget) / exp(at[i]);
    while (high - low > 3e-3) {
        int worse = rate[0] < rate[1] ? 0 : 1;
        if (worse == 0)
            low = at[0], at[0] = at[1], rate[0] = rate[1], at[1] = low + golden * (high - low);
        else
            high = at[1], at[1] = at[0], rate[1] = rate[0], at[0] = high - golden * (high - low);
        int fresh = 1 - worse;
        rate[fresh] = (spread_random_bits(exp2(-exp(at[fresh])), x, q) - budget) / exp(at[fresh]);
    }
    int best = rate[0] < rate[1];
    *y = exp2(-exp(at[best]));
    return rate[best];
}

/* A primitive of log2: u log2 u - u / ln 2. */
static rung_ival primitive(rung_certified *s, rung_ival u)
{
    return rung_ival_sub(s, rung_ival_mul(s, u, rung_ival_log2(s, u)), rung_ival_mul(s, u, rung_ival_log2e(s)));
}

/* An upper bound of the sum of Lemma S'. */
static rung_ival random_sum(rung_certified *s, double y, double x, double q)
{
    rung_ival base = rung_ival_real(s, y), product = rung_ival_u64(s, 1);
    rung_ival k = rung_ival_div(s, rung_ival_sub(s, product, base), rung_ival_real(s, q));
    double head = fmin(x, TERMS);
    for (double j = 0; j < head; j++)
        product = rung_ival_mul(s, product, rung_ival_add(s, base, rung_ival_mul(s, k, rung_ival_real(s, j))));
    rung_ival sum = rung_ival_log2(s, product);
    if (head == x) return sum;
    rung_ival from = rung_ival_add(s, base, rung_ival_mul(s, k, rung_ival_real(s, head)));
    rung_ival to = rung_ival_add(s, base, rung_ival_mul(s, k, rung_ival_real(s, x)));
    rung_ival rise = rung_ival_sub(s, rung_ival_log2(s, to), rung_ival_log2(s, from));
    sum = rung_ival_sub(s, sum, rung_ival_div(s, rise, rung_ival_u64(s, 2)));
    return rung_ival_add(s, sum, rung_ival_div(s, rung_ival_sub(s, primitive(s, to), primitive(s, from)), k));
}

rung_ival spread_random_surely(rung_certified *s, rung_ival T, double y, double x, double q, rung_ival budget)
{
    rung_ival zero = rung_ival_u64(s, 0);
    if (!(y > 0 && y < 1 && x <= q)) return zero;
    rung_ival gain = rung_ival_sub(s, zero, rung_ival_mul(s, T, random_sum(s, y, x, q)));
    rung_ival each = rung_ival_sub(s, zero, rung_ival_log2(s, rung_ival_real(s, y)));
    return rung_ival_ceil(s, rung_ival_div(s, rung_ival_sub(s, gain, budget), each));
}

/* ---- a class of density 2^-D ------------------------------------------------------------------------------------- */

/* x independent functions are all in the class with probability at least 2^-(x D); the probability of a bad tuple must
 * be strictly below. */
double spread_from_class(double *y, double t, double q, double D, double x, double ladder)
{
    *y = 0;
    if (t == 1 || fits(t, q)) return spread_estimate(t, q, D, x, ladder);
    double values = t * spread_random_rate(y, 0x1p-50, 0.9999, x, q, (x * D * (1 + 1e-9) + 1e-8) / t);
    return fmax(ceil(values), t); /* the class is not empty */
}

rung_ival spread_from_class_surely(rung_certified *s, double t, double q, rung_ival D, double x, double y)
{
    if (y == 0) return rung_ival_real(s, spread_surely(s, t, q, D, x, SPREAD_FINE));
    rung_ival budget = rung_ival_add(s, rung_ival_mul(s, D, rung_ival_real(s, x)), rung_ival_real(s, 1e-9));
    return spread_random_surely(s, rung_ival_real(s, t), y, x, q, budget);
}
