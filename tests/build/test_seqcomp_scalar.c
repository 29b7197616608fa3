/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition of L functions by decoders in one pass, an address being one number.
 */
#include "seqcomp_test.h"

static const variant variants[] = {
    {"seqcomp keys=trig", "e8m6"},
    {"seqcomp keys=trig linear=first", "e8m6"},
    {"seqcomp keys=trig linear=after", "e8m6"},
    {"seqcomp keys=quadratic", "e8m5"},
    {"seqcomp keys=quadratic linear=first", "e8m5"},
    {"seqcomp keys=quadratic linear=after", "e8m5"},
    {0},
};

static const least_gap gaps[] = {{"seqcomp keys=trig", 0.84}, {"seqcomp keys=quadratic", 1.34}, {0}};

static const breakage broken[] = {
    {"seqcomp keys=trig", "layers.0.mlp.values", false},
    {"seqcomp keys=quadratic", "layers.1.mix.0.q.bias", true},
    {"seqcomp keys=quadratic", "layers.2.mix.0.q.weight", true},
    {0},
};

/* A scalar address must tell n^2/4 from its neighbour: quadratic keys need ceil(2 log2 n) - 3 mantissa bits, and one less is
 * too few. */
static void scalars_need_many_bits(void **state)
{
    static const struct {
        const char *size, *enough, *few;
    } cases[] = {{"N0=2 n=2", "e8m3", "e8m2"},
                 {"N0=4 n=3", "e8m6", "e8m5"},
                 {"N0=8 n=6", "e8m9", "e8m8"},
                 {"N0=40 n=2", "e8m11", "e8m10"},
                 {"N0=16 n=16", "e8m14", "e8m13"}};
    char text[128];
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        snprintf(text, sizeof text, "seqcomp keys=quadratic L=2 flat=1 %s", cases[i].size);
        assert_int_equal(wrong_of(text, cases[i].enough, 30), 0);
        assert_true(goes_wrong(text, cases[i].few, 30));
    }
    /* Only a power of two keeps whole numbers exact. */
    assert_true(goes_wrong("seqcomp keys=quadratic L=2 flat=1 N0=40 n=2 gap=12", "e8m11", 30));
    assert_int_equal(wrong_of("seqcomp keys=trig L=2 N0=16 n=16 flat=1", "e8m13", 10), 0);
    assert_true(goes_wrong("seqcomp keys=trig L=2 N0=16 n=16 flat=1", "e8m11", 10));
}

static void a_table_that_is_too_large_is_refused(void **state)
{
    (void)state;
    assert_refused("seqcomp keys=trig L=2 N0=128 n=5000 flat=1", "keys=quadratic");
}

int main(void)
{
    static suite all = {variants, gaps, broken};
    const struct CMUnitTest tests[] = {
        SEQCOMP_TESTS(&all),
        cmocka_unit_test(scalars_need_many_bits),
        cmocka_unit_test(a_table_that_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
