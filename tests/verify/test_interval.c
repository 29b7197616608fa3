/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Intervals for a rate, against sums over the binomial distribution.
 */
#include "rung/verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

/* P(X >= k) of n draws at rate p, term by term from the logarithms of the coefficients. */
static double at_least(uint64_t k, uint64_t n, double p)
{
    long double sum = 0, coefficient = 0; /* log C(n, i) */
    for (uint64_t i = 0; i <= n; i++) {
        if (i >= k) sum += expl(coefficient + (long double)i * logl(p) + (long double)(n - i) * log1pl(-p));
        coefficient += logl((long double)(n - i)) - logl((long double)(i + 1));
    }
    return (double)sum;
}

static void assert_near(double got, double want, double tolerance, const char *what, uint64_t k, uint64_t n)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s of %d in %d: %.15g, not %.15g", what, (int)k, (int)n, got, want);
}

static void each_end_of_clopper_pearson_has_its_tail(void **state)
{
    (void)state;
    const uint64_t sizes[] = {1, 2, 3, 10, 37, 200, 1000};
    const double levels[] = {0.95, 0.99, 0.5};
    for (size_t s = 0; s < RUNG_COUNT(sizes); s++)
        for (size_t l = 0; l < RUNG_COUNT(levels); l++)
            for (uint64_t n = sizes[s], k = 0; k <= n; k += 1 + n / 50) {
                double tail = (1 - levels[l]) / 2;
                rung_interval i = rung_clopper_pearson(k, n, levels[l]);
                double rate = (double)k / (double)n;
                assert_true(0 <= i.low && i.low <= rate && rate <= i.high && i.high <= 1);
                if (k > 0) assert_near(at_least(k, n, i.low), tail, 1e-10, "low end", k, n);
                if (k < n) assert_near(1 - at_least(k + 1, n, i.high), tail, 1e-10, "high end", k, n);
                if (k == 0) assert_true(i.low == 0);
                if (k == n) assert_true(i.high == 1);
            }
}

/* No hit among n: 1 - high is the n-th root of the tail. */
static void without_a_hit_the_upper_end_is_a_root(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 1000000000; n *= 10) {
        double high = rung_clopper_pearson(0, n, 0.95).high, root = -expm1(log(0.025) / (double)n);
        if (!(fabs(high / root - 1) < 1e-6)) fail_msg("0 of %d: %.12g, not %.12g", (int)n, high, root);
        assert_near(rung_clopper_pearson(n, n, 0.95).low, 1 - root, 1e-9, "low end", n, n);
    }
}

static void hits_and_misses_are_mirror_images(void **state)
{
    (void)state;
    for (uint64_t k = 0; k <= 60; k++) {
        rung_interval a = rung_clopper_pearson(k, 60, 0.95), b = rung_clopper_pearson(60 - k, 60, 0.95);
        assert_near(a.low, 1 - b.high, 1e-12, "mirror", k, 60);
    }
}

/* Its ends are the rates p from which k/n is z standard deviations away. */
static void each_end_of_wilson_is_z_deviations_away(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 400; n += 57)
        for (uint64_t k = 0; k <= n; k++) {
            rung_interval i = rung_wilson(k, n);
            double rate = (double)k / (double)n, ends[2] = {i.low, i.high};
            for (size_t e = 0; e < 2; e++)
                if (ends[e] > 1e-9 && ends[e] < 1 - 1e-9) /* rounding may move an end off 0 or 1 */
                    assert_near(fabs(rate - ends[e]) / sqrt(ends[e] * (1 - ends[e]) / (double)n), 1.959963984540054,
                                1e-6, "Wilson", k, n);
            assert_true(i.low <= rate + 1e-15 && rate <= i.high + 1e-15 && i.low < i.high);
        }
    rung_interval nothing = rung_wilson(0, 0);
    assert_true(nothing.low == 0 && nothing.high == 1);
    nothing = rung_clopper_pearson(0, 0, 0.95);
    assert_true(nothing.low == 0 && nothing.high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_of_clopper_pearson_has_its_tail),
        cmocka_unit_test(without_a_hit_the_upper_end_is_a_root),
        cmocka_unit_test(hits_and_misses_are_mirror_images),
        cmocka_unit_test(each_end_of_wilson_is_z_deviations_away),
    };
    return cmocka_run_group_tests_name("verify: intervals", tests, NULL, NULL);
}
