/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Counting: every sequence, symbol and threshold at small sizes, and the mantissa that it takes, which is computed a second
 * way: from the two numbers that must stay apart.
 */
#include "build_test.h"

#include "rung/num.h"

static const char *const by[] = {"full", "window", "delta", "gdelta", "kda", "retnet", "linear"};

static void every_count_is_right(void **state)
{
    static const char *const sizes[] = {"N=1 V=3", "N=3 V=4", "N=4 V=3", "N=5 V=2"};
    static const char *const formats[] = {NULL, "f32", "f64", "bf16", "e8m2"};
    (void)state;
    for (size_t m = 0; m < RUNG_COUNT(by); m++)
        for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
            for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
                char text[96];
                snprintf(text, sizeof text, "count %s by=%s", sizes[i], by[m]);
                uint64_t wrong = wrong_of(text, formats[f], 0);
                if (wrong) fail_msg("%s in %s: %llu wrong", text, formats[f] ? formats[f] : "fp32", (long long)wrong);
            }
}

static void larger_counts_are_right(void **state)
{
    (void)state;
    assert_int_equal(wrong_of("count N=300 V=2 dist=hard", "e8m9", 20), 0);
    assert_int_equal(wrong_of("count N=300 V=5 dist=hard by=delta", "f32", 20), 0);
    assert_int_equal(wrong_of("count N=2000 V=2 dist=hard by=window", NULL, 10), 0);
}

/* Whether the thresholds are apart from the counts behind them, and the sum of N+1 ones is exact. */
static bool mantissa_suffices(int mantissa, size_t n)
{
    char name[16];
    rung_fmt fmt;
    snprintf(name, sizeof name, "e8m%d", mantissa);
    CHECK(rung_fmt_parse(&fmt, name, &check_err));
    if (n + 1 > (size_t)2 << mantissa) return false;
    for (size_t t = 0; t < n; t++)
        if (rung_num_round(&fmt, 1 / ((double)t + 2)) >= rung_num_round(&fmt, 1 / ((double)t + 1.25))) return false;
    return true;
}

/* All prompts are right exactly from there on, for every size; one bit less, or one symbol more, and one goes wrong. */
static void the_mantissa_is_the_logarithm_of_the_length(void **state)
{
    static const int expected[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3}; /* of N = 1, 2, ... */
    (void)state;
    for (size_t n = 1; n < effort(RUNG_COUNT(expected), 6); n++) {
        int least = 1;
        while (!mantissa_suffices(least, n)) least++;
        assert_int_equal(least, expected[n]);
        for (int mantissa = 1; mantissa <= least; mantissa++) {
            char text[32], format[16];
            snprintf(text, sizeof text, "count V=2 N=%zu", n);
            snprintf(format, sizeof format, "e8m%d", mantissa);
            assert_int_equal(wrong_of(text, format, 0) == 0, mantissa == least);
        }
    }
}

/* The promise of the head of the file: Y >= log2(4/3 (N+1)). */
static void the_bound_on_the_mantissa_holds(void **state)
{
    (void)state;
    for (int mantissa = 2; mantissa <= 12; mantissa++)
        assert_true(mantissa_suffices(mantissa, (size_t)3 * ((size_t)1 << mantissa) / 4 - 1));
}

static void what_cannot_be_right_is_refused(void **state)
{
    (void)state;
    assert_refused("count N=16 gap=3", "take gap=");
    assert_refused("count N=60 by=linear", "by=delta");
    assert_refused("count N=5 V=2 gap=5", "take gap=5.92");
    assert_int_equal(wrong_of("count N=5 V=2 gap=5.92", "f64", 0), 0);
}

static void a_changed_weight_is_seen(void **state)
{
    const char *text = "count N=4 V=2";
    (void)state;
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    size_t width = rung_model_get_spec(model)->d_model;
    rung_model_close(model);
    assert_true(goes_wrong_with(text, "f32", 0, "layers.1.out.weight", 5, 1));
    assert_true(goes_wrong_with(text, "f32", 0, "layers.1.mix.0.v.weight", 4, -1));
    assert_true(goes_wrong_with(text, "f32", 0, "layers.0.mix.0.v.weight", 2, -1));
    /* The token that asks, taken for a q: ids 2, 3; its symbol is the code of ones. */
    assert_true(goes_wrong_with(text, "f32", 0, "embed.weight", 2 * width, -1));
    /* A threshold half a count too high. */
    assert_true(goes_wrong_with(text, "f32", 0, "embed.weight", 5 * width + 5, 1 / 3.3 - 1 / 2.25));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count_is_right),
        cmocka_unit_test(larger_counts_are_right),
        cmocka_unit_test(the_mantissa_is_the_logarithm_of_the_length),
        cmocka_unit_test(the_bound_on_the_mantissa_holds),
        cmocka_unit_test(what_cannot_be_right_is_refused),
        cmocka_unit_test(a_changed_weight_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
