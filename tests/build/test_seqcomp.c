/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition of L functions by decoders in one pass, addresses in bits: every prompt at small sizes, samples at larger
 * ones, narrow formats, how many layers there are, and that what is broken is seen.
 */
#include "seqcomp_test.h"

static const variant variants[] = {
    {"seqcomp", "e8m1"},
    {"seqcomp linear=first", "e8m1"},
    {"seqcomp linear=after", "e8m1"},
    {0},
};

static const least_gap gaps[] = {{"seqcomp", 2.53}, {0}};

static const breakage broken[] = {
    {"seqcomp", "layers.1.mix.0.q.weight", true},
    {"seqcomp", "layers.2.mix.0.k.weight", true},
    {"seqcomp", "layers.2.out.weight", false},
    {"seqcomp linear=first", "layers.0.mix.0.q.bias", false},
    {"seqcomp linear=after", "layers.1.mix.0.k.weight", false},
    {0},
};

/* 274 tokens: bits need the least of all formats, also with few exponent bits or none. */
static void bits_need_few_bits(void **state)
{
    static const char *const tiny[] = {"e8m1", "e5m2", "e4m3", "q7.4"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(tiny); i++)
        assert_int_equal(wrong_of("seqcomp L=2 N0=16 n=16 flat=1", tiny[i], 10), 0);
}

/* L full layers alone cannot compose L functions, nor L-1 with few linear ones: neither is offered. */
static void nothing_impossible_is_offered(void **state)
{
    static const char *const keys[] = {"bits", "trig", "quadratic"};
    char text[128];
    (void)state;
    for (size_t L = 1; L <= effort(6, 4); L++)
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
    assert_refused("seqcomp keys=sines", "unknown");
    assert_refused("seqcomp linear=last", "unknown");
}

int main(void)
{
    static suite all = {variants, gaps, broken};
    const struct CMUnitTest tests[] = {
        SEQCOMP_TESTS(&all),
        cmocka_unit_test(bits_need_few_bits),
        cmocka_unit_test(nothing_impossible_is_offered),
        cmocka_unit_test(sizes_and_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
