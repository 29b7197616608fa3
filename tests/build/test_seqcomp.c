/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition of L functions by decoders in one pass: every prompt at small sizes, samples at larger ones, narrow formats,
 * how many layers there are, and that what is broken is seen.
 */
#include "seqcomp_test.h"

static const variant variants[] = {
    {"seqcomp", "e8m1"},
    {"seqcomp linear=first", "e8m1"},
    {"seqcomp linear=after", "e8m1"},
    {"seqcomp keys=trig", "e8m6"},
    {"seqcomp keys=trig linear=first", "e8m6"},
    {"seqcomp keys=trig linear=after", "e8m6"},
    {"seqcomp keys=quadratic", "e8m6"},
    {"seqcomp keys=quadratic linear=first", "e8m6"},
    {"seqcomp keys=quadratic linear=after", "e8m6"},
};

/* 274 tokens. Bits need the least of all formats, also with few exponent bits or none; a scalar address must tell n^2/4
 * from its neighbour. */
static void bits_need_few_bits_and_scalars_many(void **state)
{
    static const char *const tiny[] = {"e8m1", "e5m2", "e4m3", "q7.4"};
    const char *text = "seqcomp L=2 N0=16 n=16 flat=1";
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(tiny); i++) assert_int_equal(wrong_of(text, tiny[i], 10), 0);
    assert_int_equal(wrong_of("seqcomp keys=quadratic L=2 N0=16 n=16 flat=1", "e8m14", 10), 0);
    assert_true(wrong_of("seqcomp keys=quadratic L=2 N0=16 n=16 flat=1", "e8m13", 10) > 0);
    assert_int_equal(wrong_of("seqcomp keys=trig L=2 N0=16 n=16 flat=1", "e8m13", 10), 0);
    assert_true(wrong_of("seqcomp keys=trig L=2 N0=16 n=16 flat=1", "e8m11", 10) > 0);
}

/* L full layers alone cannot compose L functions, nor L-1 with few linear ones: neither is offered. */
static void nothing_impossible_is_offered(void **state)
{
    static const char *const keys[] = {"bits", "trig", "quadratic"};
    char text[128];
    (void)state;
    for (size_t L = 1; L <= 6; L++)
        for (size_t k = 0; k < RUNG_COUNT(keys); k++) {
            snprintf(text, sizeof text, "seqcomp keys=%s N0=2 flat=1 L=%zu", keys[k], L);
            layers none = layers_of(text);
            assert_true(none.full == L + 1 && none.linear == 0);
            snprintf(text, sizeof text, "seqcomp keys=%s linear=first N0=2 flat=1 L=%zu", keys[k], L);
            layers first = layers_of(text);
            assert_true(first.full == L && first.linear == 1);
            snprintf(text, sizeof text, "seqcomp keys=%s linear=after N0=2 flat=1 L=%zu", keys[k], L);
            layers after = layers_of(text);
            assert_true(after.full == L && after.linear == 1);
        }
}

static void sizes_and_words_are_refused(void **state)
{
    (void)state;
    assert_refused("seqcomp keys=trig L=2 N0=128 n=5000 flat=1", "keys=quadratic");
    assert_refused("seqcomp keys=sines", "unknown");
    assert_refused("seqcomp linear=last", "unknown");
}

static void the_least_gap_is_enough(void **state)
{
    (void)state;
    least_gap_is_enough("seqcomp", 2.53);
    least_gap_is_enough("seqcomp keys=trig", 0.84);
    least_gap_is_enough("seqcomp keys=quadratic", 1.34);
}

static void a_missing_weight_is_seen(void **state)
{
    static const breakage broken[] = {
        {"seqcomp", "layers.1.mix.0.q.weight", true},
        {"seqcomp", "layers.2.mix.0.k.weight", true},
        {"seqcomp", "layers.2.out.weight", false},
        {"seqcomp linear=first", "layers.0.mix.0.q.bias", false},
        {"seqcomp linear=after", "layers.1.mix.0.k.weight", false},
        {"seqcomp keys=trig", "layers.0.mlp.values", false},
        {"seqcomp keys=quadratic", "layers.1.mix.0.q.bias", true},
        {"seqcomp keys=quadratic", "layers.2.mix.0.q.weight", true},
    };
    (void)state;
    missing_weights_are_seen(broken, RUNG_COUNT(broken));
}

int main(void)
{
    static variant_list list = {variants, RUNG_COUNT(variants)};
    const struct CMUnitTest tests[] = {
        SEQCOMP_TESTS(&list),
        cmocka_unit_test(bits_need_few_bits_and_scalars_many),
        cmocka_unit_test(nothing_impossible_is_offered),
        cmocka_unit_test(sizes_and_words_are_refused),
        cmocka_unit_test(the_least_gap_is_enough),
        cmocka_unit_test(a_missing_weight_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
