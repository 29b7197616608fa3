/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The interval of the depth: its evidence against quadrature, its coverage by simulation of the whole rule, at accuracies
 * that make it hard (exactly the threshold, hardly below).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "rung/probe.h"

#define DEPTHS 6

static double evidence_by_quadrature(double s, double f, double theta)
{
    const int steps = 200000;
    double sum = 0;
    for (int i = 0; i < steps; i++) {
        double q = theta + (1 - theta) * (i + 0.5) / steps;
        sum += exp(s * log(q / theta) + f * (log1p(-q) - log1p(-theta)));
    }
    return log(sum / steps);
}

static void evidence_is_the_integral(void **state)
{
    (void)state;
    static const uint64_t counts[][2] = {{0, 0}, {1, 0}, {0, 1}, {5, 5}, {30, 2}, {2, 30}, {200, 100}};
    static const double thetas[] = {0.1, 0.5, 0.9};
    for (size_t i = 0; i < RUNG_COUNT(counts); i++)
        for (size_t t = 0; t < RUNG_COUNT(thetas); t++) {
            double got = rung_depth_evidence(counts[i][0], counts[i][1], thetas[t]);
            double want = evidence_by_quadrature((double)counts[i][0], (double)counts[i][1], thetas[t]);
            assert_true(fabs(got - want) < 1e-4 * (1 + fabs(want)));
        }
}

/* E[evidence after one more | p = theta] = evidence: it is fair at the threshold, exactly. */
static void evidence_is_a_martingale_at_the_threshold(void **state)
{
    (void)state;
    for (uint64_t s = 0; s < 40; s += 3)
        for (uint64_t f = 0; f < 40; f += 3) {
            double theta = 0.6, now = exp(rung_depth_evidence(s, f, theta));
            double then = theta * exp(rung_depth_evidence(s + 1, f, theta)) +
                          (1 - theta) * exp(rung_depth_evidence(s, f + 1, theta));
            assert_true(fabs(now - then) < 1e-9 * now);
        }
}

static size_t true_depth(const double *p, double theta)
{
    size_t d = 0;
    while (d < DEPTHS && p[d] >= theta) d++;
    return d;
}

typedef struct tally {
    size_t covered, settled, questions;
} tally;

/* One probe as `rung probe` does it: a few questions everywhere, then where they are needed. */
static void simulate(tally *t, const double *p, double theta, uint64_t least, uint64_t most, rung_rng *rng)
{
    rung_side side[DEPTHS] = {0};
    uint64_t asked[DEPTHS] = {0}, right[DEPTHS] = {0};
    size_t at = 0;
    while (at != SIZE_MAX) {
        for (size_t i = 0; i < DEPTHS && asked[DEPTHS - 1] < least; i++)
            for (; asked[i] < least; asked[i]++) right[i] += rung_rng_unit(rng) < p[i];
        for (size_t i = 0; i < DEPTHS; i++)
            if (side[i] == RUNG_SIDE_OPEN)
                side[i] = rung_depth_side(right[i], asked[i] - right[i], theta, 0.95, DEPTHS);
        at = rung_depth_next(side, asked, most, DEPTHS);
        if (at == SIZE_MAX) break;
        for (int k = 0; k < 8; k++, asked[at]++) right[at] += rung_rng_unit(rng) < p[at];
    }
    rung_depth d = rung_depth_of(side, DEPTHS);
    size_t truth = true_depth(p, theta);
    t->covered += d.low <= truth && truth <= d.high;
    t->settled += d.low == d.high;
    for (size_t i = 0; i < DEPTHS; i++) t->questions += asked[i];
}

static tally simulate_many(const double *p, double theta, uint64_t most, size_t times, uint64_t seed)
{
    tally t = {0};
    rung_rng rng;
    rung_rng_init(&rng, seed, 5, 0);
    for (size_t i = 0; i < times; i++) simulate(&t, p, theta, 24, most, &rng);
    return t;
}

/* 2000 simulations: 4 standard deviations of a rate of 0.95 are 0.0195. */
static void interval_covers_as_often_as_it_says(void **state)
{
    (void)state;
    static const double cases[][DEPTHS] = {
        {0.5, 0.5, 0.5, 0.5, 0.5, 0.5},       /* all exactly at the threshold: D = 6 */
        {0.49, 0.5, 0.5, 0.5, 0.5, 0.5},      /* D = 0, hardly */
        {0.9, 0.52, 0.48, 0.9, 0.9, 0.9},     /* recovers beyond: D = 2 all the same */
        {0.99, 0.9, 0.7, 0.55, 0.3, 0.1},     /* usual */
        {0.51, 0.51, 0.51, 0.51, 0.51, 0.51}, /* D = 6, every depth a chance to be wrong */
        {1, 1, 1, 0, 0, 0},                   /* sharp */
    };
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        tally t = simulate_many(cases[c], 0.5, 200, 2000, c);
        if ((double)t.covered / 2000 < 0.95 - 0.0195) print_error("case %zu: %zu of 2000\n", c, t.covered);
        assert_true((double)t.covered / 2000 >= 0.95 - 0.0195);
    }
}

static void interval_is_narrow_where_it_can_be(void **state)
{
    (void)state;
    static const double sharp[DEPTHS] = {1, 1, 1, 0.05, 0.05, 0.05};
    static const double usual[DEPTHS] = {0.95, 0.9, 0.8, 0.25, 0.1, 0.1};
    tally t = simulate_many(sharp, 0.5, 200, 500, 1);
    assert_int_equal(t.settled, 500);
    assert_true(t.questions / 500 <= 6 * 24); /* the first questions were enough */
    t = simulate_many(usual, 0.5, 400, 500, 2);
    assert_true(t.settled > 475);
}

static void asking_goes_on_only_where_it_matters(void **state)
{
    (void)state;
    const rung_side side[4] = {RUNG_SIDE_ABOVE, RUNG_SIDE_OPEN, RUNG_SIDE_BELOW, RUNG_SIDE_OPEN};
    const uint64_t asked[4] = {10, 10, 10, 10}, full[4] = {10, 20, 10, 10};
    assert_int_equal(rung_depth_next(side, asked, 20, 4), 1);
    assert_int_equal(rung_depth_next(side, full, 20, 4), SIZE_MAX); /* depth 4 cannot change D */
    rung_depth d = rung_depth_of(side, 4);
    assert_int_equal(d.low, 1);
    assert_int_equal(d.high, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_the_integral),
        cmocka_unit_test(evidence_is_a_martingale_at_the_threshold),
        cmocka_unit_test(interval_covers_as_often_as_it_says),
        cmocka_unit_test(interval_is_narrow_where_it_can_be),
        cmocka_unit_test(asking_goes_on_only_where_it_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
