/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Comparing two halves: all pairs of strings at small sizes, near misses at larger ones, and that what is broken is seen.
 */
#include "build_test.h"

static const char *const constructions[] = {"string-equality", "disjointness"};

static void every_pair_of_halves_is_right(void **state)
{
    static const char *const formats[] = {NULL, "f32", "f64", "bf16", "e8m1", "e5m2", "e4m1"};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(constructions); c++)
        for (size_t n = 2; n <= 5; n++)
            for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
                char text[48];
                snprintf(text, sizeof text, "%s N=%zu", constructions[c], n);
                uint64_t wrong = wrong_of(text, formats[f], 0);
                if (wrong) fail_msg("%s in %s: %llu wrong", text, formats[f] ? formats[f] : "fp32", (long long)wrong);
            }
    assert_int_equal(wrong_of("string-equality N=1", "e8m1", 0), 0);
}

static void one_place_among_many_is_found(void **state)
{
    static const char *const formats[] = {NULL, "f32", "e8m1"};
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(constructions); c++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            char text[48];
            snprintf(text, sizeof text, "%s N=300 dist=hard", constructions[c]);
            assert_int_equal(wrong_of(text, formats[f], 16), 0);
        }
}

static void the_order_of_the_softmax_is_free(void **state)
{
    static const rung_softmax orders[] = {RUNG_SOFTMAX_TWO_PASS, RUNG_SOFTMAX_REVERSE};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(orders); i++) {
        rung_build b = build_of("string-equality N=4");
        rung_model *model = model_of(&b);
        assert_int_equal(wrong_of_model(model, &b.task, "e8m1", orders[i], 0), 0);
        rung_model_close(model);
    }
}

static void too_small_a_gap_is_refused(void **state)
{
    (void)state;
    assert_refused("string-equality N=300 gap=12", "take gap=");
    assert_refused("disjointness N=16 gap=5", "take gap=");
    assert_int_equal(wrong_of("disjointness N=4 gap=5", "f64", 0), 0);
    assert_int_equal(wrong_of("string-equality N=4 gap=6.5", "f64", 0), 0);
    assert_refused("string-equality N=4 gap=5.5", "take gap=");
}

/* Coordinates: u 0-1, v 2-3, handed 4-5, then positions (3 bits for 8 tokens: 6 and 6), barred, second half, found. */
static void a_changed_weight_is_seen(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(constructions); c++) {
        char text[48];
        snprintf(text, sizeof text, "%s N=4", constructions[c]);
        rung_build b = build_of(text);
        rung_model *model = model_of(&b);
        size_t width = rung_model_get_spec(model)->d_model;
        rung_model_close(model);
        assert_int_equal(width, 6 + 12 + 3);
        assert_true(goes_wrong_with(text, "f32", 0, "positions", 18, -0.5));            /* nowhere to rest */
        assert_true(goes_wrong_with(text, "f32", 0, "positions", 18, 1));               /* rests too low */
        assert_true(goes_wrong_with(text, "f32", 0, "positions", 5 * width + 18, 1));   /* place 1 is not seen */
        assert_true(goes_wrong_with(text, "f32", 0, "positions", width + 6, -1));       /* a place mistaken */
        assert_true(goes_wrong_with(text, "f32", 0, "positions", 5 * width + 12, -16)); /* another one fetched */
        assert_true(goes_wrong_with(text, "f32", 0, "layers.1.mix.0.k.weight", 1, 1));  /* takes off nothing */
        assert_true(goes_wrong_with(text, "f32", 0, "layers.1.mix.0.q.bias", 0, 15));   /* a gap of 1 */
        assert_true(goes_wrong_with(text, "f32", 0, "readout.bias", c, 1));             /* another threshold */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_halves_is_right),    cmocka_unit_test(one_place_among_many_is_found),
        cmocka_unit_test(the_order_of_the_softmax_is_free), cmocka_unit_test(too_small_a_gap_is_refused),
        cmocka_unit_test(a_changed_weight_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
