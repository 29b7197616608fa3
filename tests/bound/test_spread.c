/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lemmas S and S': the certified numbers against whole numbers, and the lemmas themselves against every set, every tuple or
 * the exact distribution at small sizes.
 */
#include "compose_test.h"
#include "effort.h"

#include "../../src/bound/spread.h"

static rung_certified *sheet;
static rung_rng rng;

static int setup(void **state)
{
    (void)state;
    rung_rng_init(&rng, 7, 1, 0);
    return rung_certified_new(&sheet, 192, &check_err) == RUNG_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rung_certified_free(sheet);
    return 0;
}

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rung_rng_below(&rng, high - low + 1);
}

static rung_ival fraction(uint64_t a, uint64_t b)
{
    return rung_ival_div(sheet, rung_ival_u64(sheet, a), rung_ival_u64(sheet, b));
}

/* ---- S -------------------------------------------------------------------------------------------------------------------- */

static void test_theta_is_the_one_of_whole_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < effort(60000, 3000); i++) {
        uint64_t t = between(1, 7), q = between(1, 12), x = between(1, 16), D = between(0, 40), g = between(1, 12);
        rung_certified_reset(sheet);
        double got = spread_surely(sheet, (double)t, (double)q, fraction(D, g), (double)x, SPREAD_FINE);
        double guess = spread_estimate((double)t, (double)q, (double)D / (double)g, (double)x, SPREAD_ROUGH);
        uint64_t want = spread_of(t, q, D, g, x);
        if (t == 1 && want < 1) want = 1;
        if (got != (double)want || fabs(guess - (double)want) > (double)t)
            fail_msg("t=%d q=%d D=%d/%d x=%d: %g, estimated %g, not %d", (int)t, (int)q, (int)D, (int)g, (int)x, got,
                     guess, (int)want);
    }
}

/* Runs of steps, and ladders that leave gains out, never exceed the steps one by one, and lose little. */
static void test_runs_of_steps_are_safe(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        uint64_t t = between(20, 400), q = between(5, 60), D = between(1, 4 * t), x = between(1, 40);
        rung_certified_reset(sheet);
        double fine = spread_surely(sheet, (double)t, (double)q, fraction(D, 3), (double)x, SPREAD_FINE);
        double rough = spread_surely(sheet, (double)t, (double)q, fraction(D, 3), (double)x, SPREAD_ROUGH);
        double want = (double)spread_of(t, q, D, 3, x);
        assert_true(fine <= want && rough <= fine + 0.01 * want);
        assert_true(fine >= 0.97 * want && rough >= 0.88 * want);
    }
}

/* More than doubles count exactly is refused. */
static void test_too_many_pairs_are_refused(void **state)
{
    (void)state;
    rung_certified_reset(sheet);
    assert_true(spread_surely(sheet, 2, 0x1p52, fraction(1, 1), 10, SPREAD_FINE) == 0);
}

/* ---- S against sets ------------------------------------------------------------------------------------------------------- */

/* Functions of t coordinates with q values are numbers in base q. */
typedef struct family {
    unsigned t, q, count; /* of the set K */
    unsigned member[1024];
} family;

static unsigned digit(unsigned f, unsigned u, unsigned q)
{
    while (u--) f /= q;
    return f % q;
}

static uint64_t pairs_of(const family *k, unsigned f)
{
    uint64_t pairs = 0;
    for (unsigned u = 0; u < k->t; u++) pairs |= UINT64_C(1) << (u * k->q + digit(f, u, k->q));
    return pairs;
}

static int ones(uint64_t x)
{
    return __builtin_popcountll(x);
}

static int greedy(const family *k, unsigned x)
{
    uint64_t covered = 0;
    for (unsigned j = 0; j < x; j++) {
        uint64_t best = covered;
        for (unsigned i = 0; i < k->count; i++)
            if (ones(covered | pairs_of(k, k->member[i])) > ones(best)) best = covered | pairs_of(k, k->member[i]);
        covered = best;
    }
    return ones(covered);
}

static int best_of(const family *k, unsigned x, unsigned from, uint64_t covered)
{
    int best = ones(covered);
    for (unsigned i = from; x > 0 && i < k->count; i++) {
        int with = best_of(k, x - 1, i + 1, covered | pairs_of(k, k->member[i]));
        if (with > best) best = with;
    }
    return best;
}

static double log2_of(unsigned a)
{
    return log2((double)a);
}

/* Theta with D = log2(q^t / |K|) is a number of pairs that x functions of K do take. Returns whether that is exact. */
static bool assert_spreads(const family *k, unsigned x)
{
    rung_certified_reset(sheet);
    rung_ival all = rung_ival_u64(sheet, 1);
    for (unsigned u = 0; u < k->t; u++) all = rung_ival_mul(sheet, all, rung_ival_u64(sheet, k->q));
    rung_ival D = rung_ival_log2(sheet, rung_ival_div(sheet, all, rung_ival_u64(sheet, k->count)));
    double theta = spread_surely(sheet, k->t, k->q, D, x, SPREAD_FINE);
    int reached = greedy(k, x);
    if (reached < theta || x <= 2) reached = best_of(k, x, 0, 0);
    if (reached < theta)
        fail_msg("t=%u q=%u |K|=%u x=%u (D=%g): Theta %g, but only %d pairs", k->t, k->q, k->count, x,
                 k->t * log2_of(k->q) - log2_of(k->count), theta, reached);
    return reached == theta;
}

static unsigned power(unsigned q, unsigned t)
{
    return t ? q * power(q, t - 1) : 1;
}

static void test_every_set_spreads(void **state)
{
    static const unsigned shapes[][2] = {{1, 2}, {1, 5}, {1, 9}, {2, 2}, {2, 3}, {3, 2}};
    (void)state;
    int tight = 0;
    for (size_t s = 0; s < RUNG_COUNT(shapes); s++) {
        family k = {.t = shapes[s][0], .q = shapes[s][1]};
        unsigned all = power(k.q, k.t);
        for (unsigned set = 1; set < 1u << all; set++) {
            k.count = 0;
            for (unsigned f = 0; f < all; f++)
                if (set >> f & 1) k.member[k.count++] = f;
            for (unsigned x = 1; x <= 4; x++) tight += assert_spreads(&k, x);
        }
    }
    assert_true(tight > 1000);
}

/* The sets that concentrate most: balls around a function, products of subsets, and random ones. */
static void test_balls_and_cubes_spread(void **state)
{
    static const unsigned shapes[][2] = {{2, 4}, {2, 6}, {3, 3}, {3, 4}, {4, 2},
                                         {4, 3}, {5, 2}, {6, 2}, {5, 3}, {8, 2}};
    (void)state;
    for (size_t s = 0; s < RUNG_COUNT(shapes); s++) {
        unsigned t = shapes[s][0], q = shapes[s][1], all = power(q, t);
        for (unsigned radius = 0; radius <= t; radius++)
            for (unsigned width = 1; width <= q; width++) {
                family ball = {.t = t, .q = q}, cube = {.t = t, .q = q}, random = {.t = t, .q = q};
                for (unsigned f = 0; f < all; f++) {
                    unsigned away = 0, outside = 0;
                    for (unsigned u = 0; u < t; u++) {
                        away += digit(f, u, q) != 0;
                        outside += u < radius && digit(f, u, q) >= width;
                    }
                    if (away <= radius) ball.member[ball.count++] = f;
                    if (!outside) cube.member[cube.count++] = f;
                    if (rung_rng_below(&rng, q) < width) random.member[random.count++] = f;
                }
                for (unsigned x = 1; x <= 5; x++) {
                    assert_spreads(&ball, x), assert_spreads(&cube, x);
                    if (random.count) assert_spreads(&random, x);
                }
            }
    }
}

/* Without the condition (h-1)/t < p the lemma would promise more pairs than a product of sets of nine has. */
static void test_the_chernoff_branch(void **state)
{
    (void)state;
    rung_certified_reset(sheet);
    rung_ival tenths = rung_ival_log2(sheet, fraction(10, 9));
    double theta =
        spread_surely(sheet, 10, 10, rung_ival_mul(sheet, tenths, rung_ival_u64(sheet, 10)), 10, SPREAD_FINE);
    assert_true(theta <= 90);
}

/* ---- S' ------------------------------------------------------------------------------------------------------------------- */

/* P[fewer than theta pairs] when x uniform functions are drawn on T coordinates: coordinates are independent, and the number
 * of different values among x draws follows a chain. */
static long double probability_below(unsigned T, unsigned q, unsigned x, double theta)
{
    long double distinct[32] = {1}, sum[512] = {1};
    for (unsigned j = 0; j < x; j++)
        for (unsigned d = j + 1; d-- > 0;) {
            distinct[d + 1] += distinct[d] * (long double)(q - d) / q;
            distinct[d] *= (long double)d / q;
        }
    for (unsigned u = 0, most = 0; u < T; u++, most += x)
        for (unsigned s = most + 1; s-- > 0;) {
            long double here = sum[s];
            sum[s] = 0;
            for (unsigned d = 1; d <= x; d++) sum[s + d] += here * distinct[d];
        }
    long double below = 0;
    for (unsigned s = 0; s < theta && s <= T * x; s++) below += sum[s];
    return below;
}

static void test_random_functions_spread(void **state)
{
    (void)state;
    int meaningful = 0;
    for (size_t i = 0; i < effort(20000, 2000); i++) {
        unsigned T = (unsigned)between(1, 12), q = (unsigned)between(2, 24), x = (unsigned)between(1, q);
        double y = exp2(-0.05 - 8 * rung_rng_unit(&rng)), bits = spread_random_bits(y, x, q);
        double budget = T * bits * rung_rng_unit(&rng);
        rung_certified_reset(sheet);
        rung_ival values = spread_random_surely(sheet, rung_ival_u64(sheet, T), y, x, q, rung_ival_real(sheet, budget));
        double theta = rung_ival_low(sheet, values);
        if (theta <= T) continue;
        meaningful++;
        long double below = probability_below(T, q, x, theta);
        if (below > exp2l(-(long double)budget) * (1 + 1e-12L))
            fail_msg("T=%u q=%u x=%u y=%g budget=%g: fewer than %g with probability 2^%Lg", T, q, x, y, budget, theta,
                     log2l(below));
    }
    assert_true(meaningful > (int)effort(3000, 300));
}

/* The integral stands for the sum from above: bits are never more than the sum of all terms, and hardly less. */
static void test_the_integral_is_above_the_sum(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i++) {
        double q = (double)between(1, 4000), x = (double)between(1, (uint64_t)q);
        double y = exp2(-0.01 - 30 * pow(rung_rng_unit(&rng), 3)), bits = spread_random_bits(y, x, q);
        long double sum = 0;
        for (double j = 0; j < x; j++) sum -= log2l(y + (1 - (long double)y) * j / q);
        assert_true(bits <= sum * (1 + 1e-12L) + 1e-12L);
        assert_true(bits >= sum * 0.99L - 1);
        rung_certified_reset(sheet);
        rung_ival T = rung_ival_u64(sheet, 1000000), zero = rung_ival_u64(sheet, 0);
        double theta = rung_ival_low(sheet, spread_random_surely(sheet, T, y, x, q, zero));
        assert_true(theta <= 1 + 1e6L * sum / -log2l(y) && theta >= 1e6 * bits / -log2(y) * (1 - 1e-9) - 1);
    }
}

/* The best y found is as good as a fine scan, within the accuracy that is asked for. */
static void test_the_best_y(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        double q = (double)between(2, 100000), x = (double)between(1, (uint64_t)q), y, scanned = -INFINITY;
        double budget = spread_random_bits(0.01, x, q) * rung_rng_unit(&rng);
        double rate = spread_random_rate(&y, 0x1p-50, 0.9999, x, q, budget);
        for (double l = 2e-4; l < 50; l *= 1.02)
            scanned = fmax(scanned, (spread_random_bits(exp2(-l), x, q) - budget) / l);
        assert_true(rate >= scanned - 1e-3 * fabs(scanned));
        assert_true(fabs(rate - (spread_random_bits(y, x, q) - budget) / -log2(y)) <= 1e-9 * fabs(rate) + 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_theta_is_the_one_of_whole_numbers),
        cmocka_unit_test(test_runs_of_steps_are_safe),
        cmocka_unit_test(test_too_many_pairs_are_refused),
        cmocka_unit_test(test_every_set_spreads),
        cmocka_unit_test(test_balls_and_cubes_spread),
        cmocka_unit_test(test_the_chernoff_branch),
        cmocka_unit_test(test_random_functions_spread),
        cmocka_unit_test(test_the_integral_is_above_the_sum),
        cmocka_unit_test(test_the_best_y),
    };
    return cmocka_run_group_tests_name("spread", tests, setup, teardown);
}
