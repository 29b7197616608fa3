/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rng: the stream must never change, so its values are written down here. The published ones are those of the
 * reference implementations (prng.di.unimi.it); the others were computed once by a second implementation in
 * arbitrary-precision integers.
 */
#include "rung/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- golden values ------------------------------------------------------------------------------------------------- */

static void xoshiro_gives_the_published_numbers(void **state)
{
    (void)state;
    static const uint64_t published[] = {11520u,
                                         0u,
                                         1509978240u,
                                         1215971899390074240u,
                                         1216172134540287360u,
                                         607988272756665600u,
                                         16172922978634559625u,
                                         8476171486693032832u,
                                         10595114339597558777u,
                                         2904607092377533576u};
    rung_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < RUNG_COUNT(published); i++) assert_true(rung_rng_u64(&rng) == published[i]);
}

static void splitmix_words(uint64_t *out, uint64_t seed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        out[i] = z ^ (z >> 31);
    }
}

/* The seeding uses splitmix64 and nothing else; the published numbers vouch for this copy of it. */
static void seeding_is_three_steps_of_splitmix64(void **state)
{
    (void)state;
    static const uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u};
    uint64_t words[5], numbers[3] = {0, 0, 0};
    splitmix_words(words, 1234567, 5);
    assert_memory_equal(words, published, sizeof words);
    for (int trial = 0; trial < 1000; trial++) {
        rung_rng rng;
        uint64_t state_word = numbers[0];
        rung_rng_init(&rng, numbers[0], numbers[1], numbers[2]);
        for (int i = 1; i < 3; i++) {
            splitmix_words(words, state_word, 1);
            state_word = words[0] ^ numbers[i];
        }
        splitmix_words(words, state_word, 4);
        assert_memory_equal(rng.s, words, sizeof rng.s);
        for (int i = 0; i < 3; i++) numbers[i] = rung_rng_u64(&rng) >> trial % 64;
    }
}

static void streams_never_change(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, index, first[4];
    } golden[] = {
        {0, 0, 0, {0x8c4986f3f0e565d5, 0xf4547fdf5c2f56b6, 0x6a9e0d6a14f022fb, 0xdf483d9e238576e0}},
        {1, 2, 3, {0x740ddccda2dd6d03, 0xdd861246b0dd6b46, 0xb0774a6b20210e20, 0x528f91a5f3d5552e}},
        {3, 2, 1, {0x25ed5ab5958d231f, 0x8f240c4fa917f66b, 0x893703b200436c72, 0x727b70923da0d7b1}},
        {UINT64_MAX,
         UINT64_MAX,
         UINT64_MAX,
         {0x9e2d8742a0d5beb9, 0xa674d478d14d79f9, 0x537b83b0e6dec9d4, 0x6f5b0702155bd508}},
    };
    for (size_t i = 0; i < RUNG_COUNT(golden); i++) {
        rung_rng rng;
        rung_rng_init(&rng, golden[i].seed, golden[i].stream, golden[i].index);
        for (int j = 0; j < 4; j++) assert_true(rung_rng_u64(&rng) == golden[i].first[j]);
    }
}

static void bounded_draws_never_change(void **state)
{
    (void)state;
    static const struct {
        uint64_t bound, value;
    } golden[] = {{1, 0},
                  {2, 1},
                  {3, 2},
                  {10, 8},
                  {1000, 845},
                  {(uint64_t)1 << 32, 2460524259},
                  {(uint64_t)3 << 62, 8893990922801722215},
                  {UINT64_MAX, 11049975534093203218u},
                  {6, 0},
                  {1000000000000000000, 79302584298675488}};
    rung_rng rng;
    rung_rng_init(&rng, 7, 1, 0);
    for (size_t i = 0; i < RUNG_COUNT(golden); i++)
        assert_true(rung_rng_below(&rng, golden[i].bound) == golden[i].value);
}

static void orders_never_change(void **state)
{
    (void)state;
    static const uint32_t shuffled[10] = {1, 9, 0, 2, 8, 4, 7, 6, 3, 5}, sampled[6] = {501, 234, 45, 820, 183, 771};
    uint32_t items[10];
    rung_rng rng;
    for (uint32_t i = 0; i < 10; i++) items[i] = i;
    rung_rng_init(&rng, 7, 2, 0);
    rung_rng_shuffle(&rng, items, 10);
    assert_memory_equal(items, shuffled, sizeof shuffled);
    rung_rng_init(&rng, 7, 3, 0);
    assert_int_equal(rung_rng_sample(&rng, items, 6, 1000, NULL), RUNG_OK);
    assert_memory_equal(items, sampled, sizeof sampled);
}

static void real_draws_never_change(void **state)
{
    (void)state;
    static const double units[] = {0x1.b97fac57ad0a0p-2, 0x1.a2109cbd1f544p-2, 0x1.15d34a03dbe68p-3};
    static const double normals[] = {0x1.8306b91c74253p-1, -0x1.59c3c77bad2bbp-1, -0x1.a611db3cc5718p-1};
    rung_rng rng;
    rung_rng_init(&rng, 7, 4, 0);
    for (int i = 0; i < 3; i++) assert_true(rung_rng_unit(&rng) == units[i]);
    rung_rng_init(&rng, 7, 5, 0);
    for (int i = 0; i < 3; i++) assert_true(rung_rng_normal(&rng) == normals[i]);
}

/* ---- distribution: chi-squared with seeds that are fixed, so the outcome is too ------------------------------------ */

static double chi_squared(const uint32_t *counts, size_t bins, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < bins; i++) sum += ((double)counts[i] - expected) * ((double)counts[i] - expected);
    return sum / expected;
}

/* Mean + 5 standard deviations of chi-squared with `bins - 1` degrees of freedom: sqrt(2 df). A biased
 * generator at the sizes used here lies hundreds of deviations away. Squared to need no sqrt. */
static void assert_plausible(double chi2, size_t bins)
{
    double freedom = (double)bins - 1, excess = chi2 - freedom;
    assert_true(excess < 0 || excess * excess < 25 * 2 * freedom + 50);
}

/* 3 * 2^62 is the worst bound: reducing modulo it doubles the lowest third, multiplying without rejection doubles
 * every third value. */
static void bounded_draws_are_unbiased_at_the_worst_bound(void **state)
{
    (void)state;
    enum { DRAWS = 300000 };
    uint32_t by_third[3] = {0}, by_residue[3] = {0};
    rung_rng rng;
    rung_rng_init(&rng, 8, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t value = rung_rng_below(&rng, (uint64_t)3 << 62);
        assert_true(value < (uint64_t)3 << 62);
        by_third[value >> 62]++;
        by_residue[value % 3]++;
    }
    assert_plausible(chi_squared(by_third, 3, DRAWS / 3.0), 3);
    assert_plausible(chi_squared(by_residue, 3, DRAWS / 3.0), 3);
}

static void small_bounds_are_uniform(void **state)
{
    (void)state;
    for (size_t bound = 1; bound <= 40; bound++) {
        uint32_t counts[40] = {0};
        rung_rng rng;
        rung_rng_init(&rng, 9, bound, 0);
        for (size_t i = 0; i < 4000 * bound; i++) counts[rung_rng_below(&rng, bound)]++;
        if (bound > 1) assert_plausible(chi_squared(counts, bound, 4000), bound);
    }
}

static void neighbouring_streams_and_indices_are_unrelated(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    static uint64_t seen[SIDE * SIDE * 2];
    uint32_t ones[64] = {0};
    size_t count = 0;
    for (uint64_t a = 0; a < SIDE; a++)
        for (uint64_t b = 0; b < SIDE; b++)
            for (uint64_t which = 0; which < 2; which++) {
                rung_rng rng;
                rung_rng_init(&rng, which ? 5 : a, which ? a : b, which ? b : 5);
                uint64_t word = rung_rng_u64(&rng);
                for (int bit = 0; bit < 64; bit++) ones[bit] += word >> bit & 1;
                seen[count++] = word;
            }
    /* The families (a, b, 5) and (5, a, b) share the SIDE points (5, x, 5) and nothing else. */
    size_t equal = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) equal += seen[i] == seen[j];
    assert_int_equal(equal, SIDE);
    for (int bit = 0; bit < 64; bit++) assert_in_range(ones[bit], count / 2 - 230, count / 2 + 230); /* 5 sigma */
}

static void units_fill_the_interval(void **state)
{
    (void)state;
    uint32_t counts[100] = {0};
    rung_rng rng;
    rung_rng_init(&rng, 10, 0, 0);
    for (int i = 0; i < 400000; i++) {
        rung_rng copy = rng;
        double unit = rung_rng_unit(&rng);
        assert_true(unit >= 0 && unit < 1);
        assert_true(unit == (double)(rung_rng_u64(&copy) >> 11) / 9007199254740992.0);
        counts[(int)(100 * unit)]++;
    }
    assert_plausible(chi_squared(counts, 100, 4000), 100);
}

static void normals_have_mean_0_variance_1_and_the_kurtosis_of_twelve_units(void **state)
{
    (void)state;
    enum { DRAWS = 400000 };
    double sum = 0, sum2 = 0, sum4 = 0;
    rung_rng rng;
    rung_rng_init(&rng, 11, 0, 0);
    for (int i = 0; i < DRAWS; i++) {
        rung_rng copy = rng;
        double x = rung_rng_normal(&rng), slow = -6;
        for (int k = 0; k < 12; k++) slow += rung_rng_unit(&copy);
        assert_true(x - slow < 1e-14 && slow - x < 1e-14);
        assert_true(x > -6 && x < 6);
        sum += x, sum2 += x * x, sum4 += x * x * x * x;
    }
    /* Fourth moment 3 - 6/5 / 12 = 2.9; bounds are about 5 standard errors. */
    assert_true(sum / DRAWS > -0.008 && sum / DRAWS < 0.008);
    assert_true(sum2 / DRAWS > 0.988 && sum2 / DRAWS < 1.012);
    assert_true(sum4 / DRAWS > 2.82 && sum4 / DRAWS < 2.98);
}

/* ---- samples ------------------------------------------------------------------------------------------------------- */

/* Every ordered choice of k out of n equally often. */
static void check_uniform_sample(uint32_t n, size_t k, uint64_t stream)
{
    size_t outcomes = 1, bins = 1;
    for (size_t i = 0; i < k; i++) outcomes *= n - i, bins *= n;
    uint32_t *counts = calloc(bins, sizeof *counts);
    rung_rng rng;
    rung_rng_init(&rng, 12, stream, 0);
    for (size_t draw = 0; draw < 200 * outcomes; draw++) {
        uint32_t out[8];
        size_t bin = 0;
        assert_int_equal(rung_rng_sample(&rng, out, k, n, NULL), RUNG_OK);
        for (size_t i = 0; i < k; i++) bin = bin * n + out[i];
        counts[bin]++;
    }
    size_t seen = 0;
    for (size_t bin = 0; bin < bins; bin++)
        if (counts[bin] > 0) counts[seen++] = counts[bin];
    assert_int_equal(seen, outcomes); /* and no choice with a repetition */
    assert_plausible(chi_squared(counts, outcomes, 200), outcomes);
    free(counts);
}

static void samples_are_uniform_over_ordered_choices(void **state)
{
    (void)state;
    check_uniform_sample(5, 3, 0);
    check_uniform_sample(4, 4, 1);
    check_uniform_sample(6, 1, 2);
    check_uniform_sample(30, 2, 3); /* k small beside n: the other algorithm inside */
    check_uniform_sample(17, 2, 4);
    check_uniform_sample(16, 1, 5);
}

static void shuffle_is_uniform_over_orders(void **state)
{
    (void)state;
    uint32_t counts[256] = {0};
    rung_rng rng;
    rung_rng_init(&rng, 13, 0, 0);
    for (int draw = 0; draw < 24 * 2000; draw++) {
        uint32_t items[4] = {0, 1, 2, 3};
        rung_rng_shuffle(&rng, items, 4);
        counts[items[0] << 6 | items[1] << 4 | items[2] << 2 | items[3]]++;
    }
    uint32_t orders = 0;
    for (int i = 0; i < 256; i++)
        if (counts[i] > 0) counts[orders++] = counts[i];
    assert_int_equal(orders, 24);
    assert_plausible(chi_squared(counts, 24, 2000), 24);
    rung_rng_shuffle(&rng, NULL, 0);
}

/* Fisher-Yates on a list of the moved places, searched from the newest: too slow for use, hard to get wrong.
 */
static void sample_by_list(rung_rng *rng, uint32_t *out, size_t k, uint32_t n)
{
    uint32_t *place = calloc(k, sizeof *place), *item = calloc(k, sizeof *item);
    for (size_t i = 0; i < k; i++) {
        uint32_t from = (uint32_t)(i + rung_rng_below(rng, n - i)), here = (uint32_t)i;
        out[i] = from;
        for (size_t j = i; j-- > 0;)
            if (place[j] == from) {
                out[i] = item[j];
                break;
            }
        for (size_t j = i; j-- > 0;)
            if (place[j] == i) {
                here = item[j];
                break;
            }
        place[i] = from;
        item[i] = here;
    }
    free(place);
    free(item);
}

static void both_ways_of_sampling_agree_with_a_list(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 8, 9, 100, 1000, 4000, 65536, UINT32_MAX - 1, UINT32_MAX};
    uint32_t got[1500], expected[1500];
    rung_rng rng;
    rung_rng_init(&rng, 14, 0, 0);
    for (int trial = 0; trial < 600; trial++) {
        uint32_t n = sizes[rung_rng_below(&rng, RUNG_COUNT(sizes))];
        size_t most = n < 1500 ? n : 1500, k = 1 + rung_rng_below(&rng, most);
        if (trial % 3 == 0) k = 1 + k / 10;
        if (k > most) k = most;
        rung_rng copy = rng;
        assert_int_equal(rung_rng_sample(&rng, got, k, n, NULL), RUNG_OK);
        sample_by_list(&copy, expected, k, n);
        assert_memory_equal(got, expected, k * sizeof got[0]);
        assert_memory_equal(&rng, &copy, sizeof rng);
    }
}

static void impossible_and_empty_samples(void **state)
{
    (void)state;
    uint32_t out[4];
    rung_rng rng;
    rung_error err = {""};
    rung_rng_init(&rng, 15, 0, 0);
    assert_int_equal(rung_rng_sample(&rng, out, 4, 3, &err), RUNG_USAGE);
    assert_string_equal(err.text, "cannot choose 4 distinct numbers out of 3");
    assert_int_equal(rung_rng_sample(&rng, out, 0, 0, &err), RUNG_OK);
    assert_int_equal(rung_rng_sample(&rng, out, 0, 5, &err), RUNG_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xoshiro_gives_the_published_numbers),
        cmocka_unit_test(seeding_is_three_steps_of_splitmix64),
        cmocka_unit_test(streams_never_change),
        cmocka_unit_test(bounded_draws_never_change),
        cmocka_unit_test(orders_never_change),
        cmocka_unit_test(real_draws_never_change),
        cmocka_unit_test(bounded_draws_are_unbiased_at_the_worst_bound),
        cmocka_unit_test(small_bounds_are_uniform),
        cmocka_unit_test(neighbouring_streams_and_indices_are_unrelated),
        cmocka_unit_test(units_fill_the_interval),
        cmocka_unit_test(normals_have_mean_0_variance_1_and_the_kurtosis_of_twelve_units),
        cmocka_unit_test(samples_are_uniform_over_ordered_choices),
        cmocka_unit_test(shuffle_is_uniform_over_orders),
        cmocka_unit_test(both_ways_of_sampling_agree_with_a_list),
        cmocka_unit_test(impossible_and_empty_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
