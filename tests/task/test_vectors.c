/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * q-sparse-average and nearest-neighbour: targets computed a second way, in integers and in long double, and
 * the promises of the generators (unit ball, dyadic numbers, subsets, margins).
 */
#include "prompts.h"

#include <math.h>

static size_t number_of(const prompts *p, const char *name)
{
    return (size_t)rung_task_param(&p->conf, name);
}

static float *row_of(prompts *p, size_t position)
{
    return p->in.feature + position * p->conf.d_in;
}

/* The integer k of a feature k / 2^16; fails when it is not one. */
static int64_t dyadic(float value)
{
    double k = ldexp(value, 16);
    assert_true(k == floor(k) && fabs(k) <= 65536);
    return (int64_t)k;
}

static int64_t dot(const float *a, const float *b, size_t d)
{
    int64_t sum = 0;
    for (size_t c = 0; c < d; c++) sum += dyadic(a[c]) * dyadic(b[c]);
    return sum;
}

#define ONE ((int64_t)1 << 32) /* of an inner product */

/* ---- q-sparse-average ---------------------------------------------------------------------------------- */

static const char *const averages[] = {
    "q-sparse-average",
    "q-sparse-average N=1 q=1 d=1",
    "q-sparse-average N=5 q=5 d=2",
    "q-sparse-average N=33 q=7 d=17",
    "q-sparse-average N=5 q=2 d=1 dist=hard",
    "q-sparse-average N=30 q=11 d=3 dist=hard",
};

/* Sum over all positions of [j is in the subset] z_j, in integers; dividing by q 2^16 is the only rounding. */
static void check_average(prompts *p, size_t i, size_t n, size_t q, size_t d)
{
    const float *subset = row_of(p, i) + d;
    for (size_t c = 0; c < d; c++) {
        int64_t sum = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < q; k++)
                if (subset[k] == (float)j) sum += dyadic(row_of(p, j)[c]);
        long double want = (long double)sum / ((long double)q * 65536);
        assert_true(fabsl(p->in.target_value[i * d + c] - want) <= 1e-7L);
    }
}

static void averages_agree_with_a_sum_over_all_positions(void **state)
{
    (void)state;
    for (size_t a = 0; a < RUNG_COUNT(averages); a++) {
        prompts p;
        prompts_open(&p, averages[a]);
        size_t n = number_of(&p, "N"), q = number_of(&p, "q"), d = number_of(&p, "d");
        assert_int_equal(p.conf.d_in, d + q + 1);
        assert_int_equal(p.conf.d_out, d);
        assert_int_equal(p.conf.vocab + p.conf.answers, 0);
        for (uint64_t i = 0; i < 20; i++) {
            prompts_make(&p, i);
            for (size_t t = 0; t < n; t++) {
                assert_int_equal(p.in.target[t], 0);
                check_average(&p, t, n, q, d);
            }
        }
        prompts_close(&p);
    }
}

static void averages_have_vectors_in_the_ball_and_rising_subsets(void **state)
{
    (void)state;
    for (size_t a = 0; a < RUNG_COUNT(averages); a++) {
        prompts p;
        prompts_open(&p, averages[a]);
        size_t n = number_of(&p, "N"), q = number_of(&p, "q"), d = number_of(&p, "d");
        for (uint64_t i = 0; i < 50; i++) {
            prompts_make(&p, i);
            for (size_t t = 0; t < n; t++) {
                const float *row = row_of(&p, t);
                assert_true(dot(row, row, d) <= ONE);
                for (size_t k = 0; k < q; k++) {
                    assert_true(row[d + k] >= 0 && row[d + k] < (float)n);
                    assert_true(k == 0 || row[d + k] > row[d + k - 1]);
                }
                assert_true(row[d + q] == (float)t);
            }
        }
        prompts_close(&p);
    }
}

/* The law of the radius is r^d, and no direction is preferred: mean 0, and mean square 1/(d+2) each. */
static void vectors_fill_the_ball_evenly(void **state)
{
    (void)state;
    prompts p;
    double mean[3] = {0}, square[3] = {0};
    size_t inner = 0, count = 0;
    prompts_open(&p, "q-sparse-average N=100 q=1 d=3");
    for (uint64_t i = 0; i < 200; i++) {
        prompts_make(&p, i);
        for (size_t t = 0; t < 100; t++, count++) {
            const float *z = row_of(&p, t);
            inner += dot(z, z, 3) < ONE / 4;
            for (size_t c = 0; c < 3; c++) {
                mean[c] += z[c];
                square[c] += (double)z[c] * z[c];
            }
        }
    }
    assert_in_range(inner, 2250, 2750); /* 20000 / 8, five deviations */
    for (size_t c = 0; c < 3; c++) {
        assert_true(fabs(mean[c] / (double)count) < 0.016); /* five deviations of sqrt(0.2 / 20000) */
        assert_true(fabs(square[c] / (double)count - 0.2) < 0.008);
    }
    prompts_close(&p);
}

/* At the last position the first coordinate is -1 (disjoint) or -1 + 2/q (one common element). */
static void hard_average_decides_disjointness(void **state)
{
    (void)state;
    prompts p;
    size_t common = 0;
    prompts_open(&p, "q-sparse-average N=30 q=11 d=3 dist=hard");
    for (uint64_t i = 0; i < 2000; i++) {
        prompts_make(&p, i);
        double value = p.in.target_value[29 * 3];
        bool meets = value > -0.95;
        common += meets;
        assert_true(fabs(value - (meets ? -1 + 2.0 / 11 : -1)) < 1e-6);
        size_t alice = 0, bob = 0;
        for (size_t e = 0; e < 11; e++) {
            assert_true(row_of(&p, 2 * e)[0] == -1);
            alice += row_of(&p, 2 * e + 1)[0] == 1;
            float asked = row_of(&p, 29)[3 + e];
            assert_true(asked == (float)(2 * e) || asked == (float)(2 * e + 1));
            bob += asked == (float)(2 * e + 1);
        }
        assert_int_equal(alice, 3); /* (11+1)/4 */
        assert_int_equal(bob, 3);
    }
    prompts_fair(common, 2000, "q-sparse-average dist=hard", 29);
    prompts_close(&p);
}

static void average_example(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "q-sparse-average N=3 q=2 d=1");
    const float rows[] = {0.5f, 0, 1, 0, -0.25f, 2, 0, 1, 1, 2, 1, 2};
    const float want[] = {0.125f, 0.75f, 0.375f};
    memcpy(p.in.feature, rows, sizeof rows);
    p.in.tokens = 3;
    assert_int_equal(prompts_solve(&p), RUNG_OK);
    for (size_t i = 0; i < 3; i++) assert_true(p.in.target_value[i] == want[i]);
    prompts_close(&p);
}

/* A correct prompt, spoilt at one feature. */
static void spoil(const char *text, size_t position, size_t feature, float value, const char *place)
{
    prompts p;
    prompts_open(&p, text);
    prompts_make(&p, 2);
    row_of(&p, position)[feature] = value;
    prompts_refused(&p, place);
    prompts_close(&p);
}

static void averages_refuse_wrong_features(void **state)
{
    (void)state;
    const char *text = "q-sparse-average N=4 q=2 d=2";
    spoil(text, 0, 0, NAN, "position 0");
    spoil(text, 1, 1, INFINITY, "position 1");
    spoil(text, 1, 1, -1.01f, "position 1");
    spoil(text, 2, 2, NAN, "position 2");
    spoil(text, 2, 3, INFINITY, "position 2");
    spoil(text, 2, 3, 4, "position 2");
    spoil(text, 2, 3, -1, "position 2");
    spoil(text, 2, 3, 0.5f, "position 2: 0.5 is no index");
    spoil(text, 3, 3, 1e30f, "position 3");
    spoil(text, 3, 4, 2, "position 3");
    spoil(text, 3, 4, NAN, "position 3");
    prompts p;
    prompts_open(&p, text);
    prompts_make(&p, 2);
    row_of(&p, 1)[3] = row_of(&p, 1)[2];
    prompts_refused(&p, "twice");
    p.in.tokens = 3;
    prompts_refused(&p, "tokens");
    prompts_close(&p);
}

/* ---- nearest-neighbour ----------------------------------------------------------------------------------- */

static const char *const clouds[] = {
    "nearest-neighbour",
    "nearest-neighbour form=split",
    "nearest-neighbour dist=hard",
    "nearest-neighbour N=2 d=2 gamma=60 dist=hard form=split",
    "nearest-neighbour N=7 d=6 labels=7 gamma=50",
    "nearest-neighbour N=20 d=40 labels=3 gamma=400 dist=hard",
};

/* Where the label of point i is. */
static const float *label_row(prompts *p, size_t i)
{
    size_t n = number_of(p, "N");
    return row_of(p, p->conf.tokens == n + 1 ? i : 2 * i + 1) + number_of(p, "d");
}

static const float *point_row(prompts *p, size_t i)
{
    return row_of(p, p->conf.tokens == number_of(p, "N") + 1 ? i : 2 * i);
}

static size_t label_at(prompts *p, size_t i)
{
    const float *row = label_row(p, i);
    size_t label = 0;
    while (row[label] != 1) label++;
    return label;
}

/* The closest point by squared distance in integers, and its lead in distance and in inner product. */
static size_t closest_point(prompts *p, int64_t *distance_lead, int64_t *product_lead)
{
    size_t n = number_of(p, "N"), d = number_of(p, "d"), best = 0;
    const float *query = row_of(p, p->conf.tokens - 1);
    int64_t *distance = calloc(n, sizeof *distance);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < d; c++) {
            int64_t difference = dyadic(query[c]) - dyadic(point_row(p, i)[c]);
            distance[i] += difference * difference;
        }
        if (distance[i] < distance[best]) best = i;
    }
    *distance_lead = *product_lead = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (i == best) continue;
        int64_t product = dot(query, point_row(p, best), d) - dot(query, point_row(p, i), d);
        if (distance[i] - distance[best] < *distance_lead) *distance_lead = distance[i] - distance[best];
        if (product < *product_lead) *product_lead = product;
    }
    free(distance);
    return best;
}

static void closest_point_wins_by_the_margin(void **state)
{
    (void)state;
    for (size_t a = 0; a < RUNG_COUNT(clouds); a++) {
        prompts p;
        prompts_open(&p, clouds[a]);
        int64_t gamma = rung_task_param(&p.conf, "gamma"), lead, product;
        for (uint64_t i = 0; i < 200; i++) {
            prompts_make(&p, i);
            size_t best = closest_point(&p, &lead, &product), last = p.conf.tokens - 1;
            assert_true(product * 1000 >= gamma * ONE);
            assert_true(lead * 1000 >= 2 * gamma * ONE);
            assert_int_equal(p.in.target[last], label_at(&p, best));
            for (size_t t = 0; t < last; t++) assert_int_equal(p.in.target[t], RUNG_NO_TARGET);
        }
        prompts_close(&p);
    }
}

/* The two margins differ by rounding only, so it takes many prompts to meet one where just one of them holds. */
static void margin_holds_to_the_last_bit(void **state)
{
    (void)state;
    prompts p;
    int64_t lead, product;
    prompts_open(&p, "nearest-neighbour N=2 d=2 gamma=60 dist=hard");
    for (uint64_t i = 0; i < 60000; i++) {
        prompts_make(&p, i);
        closest_point(&p, &lead, &product);
        assert_true(product * 1000 >= 60 * ONE && lead * 1000 >= 120 * ONE);
    }
    prompts_close(&p);
}

static void points_are_on_the_sphere_up_to_rounding(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "nearest-neighbour");
    for (uint64_t i = 0; i < 100; i++) {
        prompts_make(&p, i);
        for (size_t t = 0; t < 17; t++) {
            int64_t square = dot(row_of(&p, t), row_of(&p, t), 8);
            assert_true(square <= ONE && square >= ONE - ONE / 4096); /* 2 (1 + sqrt 8) 2^-16 < 2^-12 */
        }
    }
    prompts_close(&p);
}

/* A hard query has a runner-up with another label whose lead is small; a random one need not. */
static void hard_queries_are_close_calls(void **state)
{
    (void)state;
    prompts p;
    int64_t lead, product;
    size_t close = 0;
    prompts_open(&p, "nearest-neighbour dist=hard");
    for (uint64_t i = 0; i < 300; i++) {
        prompts_make(&p, i);
        closest_point(&p, &lead, &product);
        close += product * 1000 < 140 * ONE; /* gamma is 100; steps of 1/64 are about 0.03 */
    }
    assert_true(close > 270);
    prompts_close(&p);
}

/* Labels are as even as possible and every point is the closest one equally often, so that naming the most
 * frequent label scores `majority` exactly. */
static void labels_are_even_and_winners_are_uniform(void **state)
{
    (void)state;
    prompts p;
    size_t winner[7] = {0}, answer[3] = {0}, first_two_alike = 0;
    int64_t lead, product;
    prompts_open(&p, "nearest-neighbour N=7 d=6 labels=3 gamma=50");
    assert_true(fabs(p.conf.majority - 3.0 / 7) < 1e-15);
    assert_true(fabs(p.conf.chance - 1.0 / 3) < 1e-15);
    for (uint64_t i = 0; i < 2100; i++) {
        size_t count[3] = {0};
        prompts_make(&p, i);
        for (size_t k = 0; k < 7; k++) count[label_at(&p, k)]++;
        for (size_t c = 0; c < 3; c++) assert_in_range(count[c], 2, 3);
        first_two_alike += label_at(&p, 0) == label_at(&p, 1);
        winner[closest_point(&p, &lead, &product)]++;
        answer[p.in.target[7]]++;
    }
    assert_in_range(first_two_alike, 400, 600);                          /* 2100 (3 * 2 + 2 * 1 * 2) / (7 * 6) = 500 */
    for (size_t k = 0; k < 7; k++) assert_in_range(winner[k], 220, 380); /* 300, five deviations of 16 */
    for (size_t c = 0; c < 3; c++) assert_in_range(answer[c], 590, 810); /* 700, five deviations of 22 */
    prompts_close(&p);
    for (size_t a = 0; a < RUNG_COUNT(clouds); a++) prompts_no_leak(clouds[a], 600);
}

static void nearest_neighbour_example(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "nearest-neighbour N=2 d=2 gamma=1 form=split");
    const float rows[] = {1, 0, 0,      0, 0, /**/ 0, 0, 0,     1,    0, /**/ 0, 1, 0,
                          0, 0, /**/ 0, 0, 1, 0,      0, 0.25f, 0.5f, 0, 0,      1};
    memcpy(p.in.feature, rows, sizeof rows);
    p.in.tokens = 5;
    assert_int_equal(prompts_solve(&p), RUNG_OK);
    assert_int_equal(p.in.target[4], 0);
    row_of(&p, 4)[0] = 0.75f;
    assert_int_equal(prompts_solve(&p), RUNG_OK);
    assert_int_equal(p.in.target[4], 1);
    row_of(&p, 4)[0] = 0.5f; /* as far from both */
    prompts_refused(&p, "position 2");
    row_of(&p, 3)[2] = 0; /* the same label on both: no ambiguity */
    row_of(&p, 3)[3] = 1;
    assert_int_equal(prompts_solve(&p), RUNG_OK);
    assert_int_equal(p.in.target[4], 1);
    prompts_close(&p);
}

/* Two far points at the same distance do not make a prompt ambiguous when a third one is closer. */
static void tie_of_far_points_is_no_tie(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "nearest-neighbour N=3 d=2 gamma=1");
    const float rows[] = {1, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0.5f, 0, 0, 1};
    memcpy(p.in.feature, rows, sizeof rows);
    p.in.tokens = 4;
    assert_int_equal(prompts_solve(&p), RUNG_OK);
    assert_int_equal(p.in.target[3], 0);
    prompts_close(&p);
}

static void nearest_neighbour_refuses_wrong_features(void **state)
{
    (void)state;
    const char *joint = "nearest-neighbour N=3 d=2 gamma=10", *split = "nearest-neighbour N=3 d=2 gamma=10 form=split";
    spoil(joint, 0, 0, NAN, "position 0");
    spoil(joint, 1, 1, INFINITY, "position 1");
    spoil(joint, 3, 0, -INFINITY, "position 3");
    spoil(joint, 1, 2, NAN, "position 1");
    spoil(joint, 1, 3, 0.5f, "position 1");
    spoil(joint, 2, 4, 1, "position 2");
    spoil(joint, 3, 4, 0, "position 3");
    spoil(joint, 3, 4, NAN, "position 3");
    spoil(joint, 3, 2, 1, "position 3");
    spoil(split, 0, 2, 1, "position 0");
    spoil(split, 1, 0, 0.5f, "position 1");
    spoil(split, 1, 4, 1, "position 1");
    prompts p;
    prompts_open(&p, joint);
    prompts_make(&p, 0);
    memset(row_of(&p, 1) + 2, 0, 2 * sizeof(float));
    prompts_refused(&p, "position 1");
    prompts_make(&p, 0);
    row_of(&p, 0)[2] = row_of(&p, 0)[3] = 1;
    prompts_refused(&p, "position 0");
    p.in.tokens = 3;
    prompts_refused(&p, "tokens");
    prompts_close(&p);
}

/* ---- both -------------------------------------------------------------------------------------------------- */

static void impossible_parameters_are_refused(void **state)
{
    (void)state;
    prompts_not_a_task("q-sparse-average N=3 q=4");
    prompts_not_a_task("q-sparse-average N=6 q=3 dist=hard");
    prompts_not_a_task("q-sparse-average N=6 q=1 dist=hard");
    prompts_not_a_task("q-sparse-average N=16777216 q=1000000");
    prompts_not_a_task("nearest-neighbour N=4 labels=5");
    prompts_not_a_task("nearest-neighbour N=64 d=2");
    prompts_not_a_task("nearest-neighbour N=16384 labels=16384 d=1000");
}

static void vectors_have_no_words_and_say_so(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "q-sparse-average");
    assert_int_equal(rung_task_symbols_read(&p.in, "1 2 3", &p.conf, &p.err), RUNG_USAGE);
    assert_non_null(strstr(p.err.text, "q-sparse-average"));
    prompts_close(&p);
    prompts_players("q-sparse-average N=5", "context query", (size_t[]){0, 4});
    prompts_players("nearest-neighbour N=5", "context query", (size_t[]){0, 5});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_agree_with_a_sum_over_all_positions),
        cmocka_unit_test(averages_have_vectors_in_the_ball_and_rising_subsets),
        cmocka_unit_test(vectors_fill_the_ball_evenly),
        cmocka_unit_test(hard_average_decides_disjointness),
        cmocka_unit_test(average_example),
        cmocka_unit_test(averages_refuse_wrong_features),
        cmocka_unit_test(closest_point_wins_by_the_margin),
        cmocka_unit_test(margin_holds_to_the_last_bit),
        cmocka_unit_test(points_are_on_the_sphere_up_to_rounding),
        cmocka_unit_test(hard_queries_are_close_calls),
        cmocka_unit_test(labels_are_even_and_winners_are_uniform),
        cmocka_unit_test(nearest_neighbour_example),
        cmocka_unit_test(tie_of_far_points_is_no_tie),
        cmocka_unit_test(nearest_neighbour_refuses_wrong_features),
        cmocka_unit_test(impossible_parameters_are_refused),
        cmocka_unit_test(vectors_have_no_words_and_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
