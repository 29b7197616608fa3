/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The selection of sparse and dsa against a stable sort, on rows full of equal numbers, zeros of both signs, infinities,
 * subnormals and neighbours in the last place, in float and in double.
 */
#include "../../src/mech/top.h"
#include "mech_test.h"

#include <float.h>

static double draw(rung_rng *rng, int style)
{
    static const double corners[] = {0.0,     -0.0,     INFINITY,  -INFINITY, FLT_MAX, -FLT_MAX,
                                     FLT_MIN, 0x1p-149, -0x1p-149, 1,         -1};
    switch (style) {
    case 0:
        return rung_rng_normal(rng);
    case 1:
        return (double)rung_rng_below(rng, 4) - 1.5;
    case 2:
        return corners[rung_rng_below(rng, RUNG_COUNT(corners))];
    case 3: /* neighbours, of a float too */
        return (double)(1 + (float)rung_rng_below(rng, 3) * FLT_EPSILON) * (rung_rng_below(rng, 2) ? 1 : -1);
    default:
        return 7;
    }
}

typedef struct place {
    double score;
    size_t index;
} place;

static int by_rank(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void compare(rung_top top, const double *score, size_t count, size_t k)
{
    place *want = mech_alloc(count, sizeof *want);
    size_t chosen = k < count ? k : count;
    for (size_t i = 0; i < count; i++) want[i] = (place){score[i], i};
    qsort(want, count, sizeof *want, by_rank);
    qsort(want, chosen, sizeof *want, by_index);
    assert_false(top.nan);
    for (size_t i = 0; i < chosen; i++) assert_int_equal(rung_top_next(&top), want[i].index);
    assert_true(rung_top_next(&top) == SIZE_MAX);
    free(want);
}

static void the_chosen_are_those_of_a_stable_sort(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 12, 0, 0);
    for (int round = 0; round < 6000; round++) {
        size_t count = (size_t)rung_rng_below(&rng, round % 10 ? 40 : 700);
        size_t k = 1 + (size_t)rung_rng_below(&rng, count + 3);
        double *x = mech_alloc(count, sizeof *x), *wide = mech_alloc(count, sizeof *wide);
        float *f = mech_alloc(count, sizeof *f);
        for (size_t i = 0; i < count; i++) {
            x[i] = f[i] = (float)draw(&rng, round % 5);
            wide[i] = round % 5 == 3 ? 1 + (double)rung_rng_below(&rng, 3) * DBL_EPSILON : x[i];
        }
        compare(rung_top_f32(f, count, k), x, count, k);
        compare(rung_top_exact(x, count, k), x, count, k);
        compare(rung_top_exact(wide, count, k), wide, count, k);
        free(x), free(f), free(wide);
    }
}

/* Which ones is undefined, but it is said, and their number is right: lanes of a scan rely on it. */
static void a_nan_is_reported_and_the_number_is_right(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 13, 0, 0);
    for (size_t k = 1; k <= 9; k++) {
        double x[7] = {1, 2, 3, 4, 5, 6, 7};
        float f[7] = {1, 2, 3, 4, 5, 6, 7};
        size_t bad = (size_t)rung_rng_below(&rng, 7), count[2] = {0};
        x[bad] = k % 2 ? NAN : -NAN, f[bad] = k % 2 ? NAN : -NAN;
        rung_top top[2] = {rung_top_f32(f, 7, k), rung_top_exact(x, 7, k)};
        for (int i = 0; i < 2; i++) {
            assert_true(top[i].nan);
            while (rung_top_next(&top[i]) != SIZE_MAX) count[i]++;
            assert_int_equal(count[i], k < 7 ? k : 7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chosen_are_those_of_a_stable_sort),
        cmocka_unit_test(a_nan_is_reported_and_the_number_is_right),
    };
    return cmocka_run_group_tests_name("mech: top", tests, NULL, NULL);
}
