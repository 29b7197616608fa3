/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recurrent layers with as many state bits as the table has: every prompt at small sizes in the tightest format, how many
 * bits the state has, that one bit less is too few, and that a mechanism which forgets is seen.
 */
#include "build_test.h"

#include <math.h>

static const char *const mechs[] = {"linear", "retnet", "gla", "mamba2", "loglinear", "delta", "gdelta", "kda"};
enum { ADDITIVE = 5 }; /* of them */

/* The least I such that two's complement of 1+I bits has V^pack numbers, 1 among them. */
static size_t integer_bits(double values, double pack)
{
    double bits = ceil(pack * log2(values) - 1e-9) - 1;
    return bits < 1 ? 1 : (size_t)bits;
}

static void assert_right(const char *text, const char *format)
{
    uint64_t wrong = wrong_of(text, format, 0);
    if (wrong) fail_msg("%s in %s: %llu prompts wrong", text, format ? format : "fp32", (unsigned long long)wrong);
}

static void every_prompt_is_right_in_the_tightest_format(void **state)
{
    static const size_t sizes[][2] = {{4, 2}, {3, 4}, {4, 3}, {2, 16}, {3, 6}};
    (void)state;
    for (size_t m = 0; m < RUNG_COUNT(mechs); m++)
        for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
            char text[128], format[32];
            snprintf(text, sizeof text, "eva-recurrent mech=%s N=%zu V=%zu", mechs[m], sizes[i][0], sizes[i][1]);
            snprintf(format, sizeof format, "q%zu.0", integer_bits((double)sizes[i][1], 1));
            assert_right(text, format);
            assert_right(text, "f32");
            assert_right(text, "e8m3");
            assert_right(text, NULL);
        }
}

static void several_entries_share_a_number(void **state)
{
    static const size_t sizes[][3] = {{6, 2, 3}, {5, 2, 4}, {4, 3, 4}, {5, 3, 2}, {4, 4, 2}, {3, 6, 3}}; /* N V pack */
    (void)state;
    for (size_t m = 0; m < ADDITIVE; m++)
        for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
            char text[128], format[32];
            size_t bits = integer_bits((double)sizes[i][1], (double)sizes[i][2]);
            snprintf(text, sizeof text, "eva-recurrent mech=%s N=%zu V=%zu pack=%zu", mechs[m], sizes[i][0],
                     sizes[i][1], sizes[i][2]);
            snprintf(format, sizeof format, "q%zu.0", bits);
            assert_right(text, format);
            assert_right(text, NULL);
            snprintf(format, sizeof format, "e8m%zu", bits - 1 ? bits - 1 : 1);
            assert_right(text, format);
        }
}

static void values_in_parts_and_tables_with_keys(void **state)
{
    (void)state;
    for (size_t m = 0; m < RUNG_COUNT(mechs); m++) {
        char text[128];
        snprintf(text, sizeof text, "eva-recurrent mech=%s N=3 V=8 bits=1", mechs[m]);
        assert_right(text, "q1.0");
        snprintf(text, sizeof text, "eva-recurrent mech=%s N=3 V=6 bits=2", mechs[m]);
        assert_right(text, "q1.0");
        assert_right(text, NULL);
        snprintf(text, sizeof text, "eva-recurrent mech=%s form=pair N=2 V=4 K=3", mechs[m]);
        assert_right(text, "q1.0");
        assert_right(text, NULL);
        snprintf(text, sizeof text, "eva-recurrent mech=%s task=index N=6 V=2", mechs[m]);
        assert_right(text, "q1.0");
    }
    assert_right("eva-recurrent form=pair N=3 V=2 K=5 pack=3", "q2.0");
    assert_right("eva-recurrent form=pair N=2 V=3 K=4 pack=2 mech=mamba2", "q3.0");
}

/* Bits that are carried past the table. */
static uint64_t state_bits(const char *text, const char *format)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    trial t = trial_begin(model, &b.task, format, RUNG_SOFTMAX_ONLINE);
    CHECK(rung_task_make(&t.instance, t.task, 1, 0, &check_err));
    rung_prompt table = {.token = t.instance.token, .tokens = t.instance.tokens - 1};
    CHECK(rung_session_run(t.session, NULL, &table, RUNG_FORM_STEP, NULL, 0, &check_err));
    uint64_t bits = rung_session_state_bits(t.session);
    trial_end(&t);
    rung_model_close(model);
    return bits;
}

/* N log2 V bits are necessary, and here they are: equality when V^pack is a power of two. */
static void the_state_is_as_small_as_the_bound(void **state)
{
    (void)state;
    for (size_t m = 0; m < RUNG_COUNT(mechs); m++) {
        char text[128];
        snprintf(text, sizeof text, "eva-recurrent mech=%s N=16 V=16", mechs[m]);
        assert_int_equal(state_bits(text, "q3.0"), 16 * 4);
        assert_int_equal(wrong_of(text, "q3.0", 200), 0);
    }
    assert_int_equal(state_bits("eva-recurrent N=30 V=2 pack=10", "q9.0"), 30);
    assert_int_equal(wrong_of("eva-recurrent N=30 V=2 pack=10", "q9.0", 300), 0);
    assert_int_equal(state_bits("eva-recurrent N=30 V=3 pack=5", "q7.0"), 48); /* 30 log2 3 = 47.5 */
    assert_int_equal(wrong_of("eva-recurrent N=30 V=3 pack=5", "q7.0", 300), 0);
    assert_int_equal(state_bits("eva-recurrent mech=loglinear N=15 V=16", "q3.0"), 4 * 15 * 4); /* popcount 15 = 4 */
    assert_int_equal(state_bits("eva-recurrent task=index N=500 V=4 pack=5", "q9.0"), 1000);
    assert_int_equal(wrong_of("eva-recurrent task=index N=500 V=4 pack=5", "q9.0", 20), 0);
    assert_int_equal(wrong_of("eva-recurrent task=index N=500 V=4 pack=5 mech=mamba2", NULL, 20), 0);
}

/* By the bound some prompt must go wrong. */
static void one_bit_less_is_too_few(void **state)
{
    (void)state;
    for (size_t m = 0; m < RUNG_COUNT(mechs); m++) {
        char text[128];
        snprintf(text, sizeof text, "eva-recurrent mech=%s N=3 V=8", mechs[m]);
        assert_int_equal(wrong_of(text, "q2.0", 0), 0);
        assert_true(goes_wrong(text, "q1.0", 0));
    }
    assert_true(goes_wrong("eva-recurrent N=6 V=2 pack=3", "q1.0", 0));
    assert_true(goes_wrong("eva-recurrent N=4 V=3 pack=4", "q5.0", 0));
    assert_true(goes_wrong("eva-recurrent N=4 V=4 pack=2", "e8m1", 0));
}

static void what_is_not_right_is_refused(void **state)
{
    (void)state;
    assert_refused("eva-recurrent mech=delta pack=2", "replaces what a key held");
    assert_refused("eva-recurrent mech=kda pack=2", "take pack=1");
    assert_refused("eva-recurrent pack=2 bits=1", "leave out bits=1");
    assert_refused("eva-recurrent V=4 bits=3", "take bits=2 or 0");
    assert_refused("eva-recurrent V=16 pack=5", "lower pack");
    assert_refused("eva-recurrent V=1000000 bits=1", "raise bits");
    assert_refused("eva-recurrent N=3000 V=2", "raise pack");
    assert_refused("eva-recurrent mech=mamba3", "did you mean 'mamba2'");
}

static void a_layer_that_forgets_is_seen(void **state)
{
    static const struct {
        const char *mech, *tensor;
        double add;
    } changes[] = {
        {"retnet", "layers.0.mix.0.g.A", -1},
        {"gla", "layers.0.mix.0.g.bias", -1020},
        {"mamba2", "layers.0.mix.0.g.A", 1000},
        {"mamba2", "layers.0.mix.0.g.bias", 2},
        {"gdelta", "layers.0.mix.0.g.A", 1000},
        {"kda", "layers.0.mix.0.g.A", 1000},
        {"delta", "layers.0.mix.0.beta.bias", -64},
        {"loglinear", "layers.0.mix.0.lambda.bias", 2},
        {"linear", "layers.0.mix.0.k.weight", 1},
        {"linear", "layers.0.mlp.keys", 100},
        {"linear", "embed.weight", 1},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(changes); i++) {
        char text[128];
        /* lambda's second level is asked where N = 3: the last entry before the query. */
        size_t element = strcmp(changes[i].mech, "loglinear") == 0 ? 1 : 0;
        snprintf(text, sizeof text, "eva-recurrent mech=%s N=3 V=4", changes[i].mech);
        if (!goes_wrong_with(text, "f32", 0, changes[i].tensor, element, changes[i].add))
            fail_msg("%s: %s + %g is not seen", changes[i].mech, changes[i].tensor, changes[i].add);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prompt_is_right_in_the_tightest_format),
        cmocka_unit_test(several_entries_share_a_number),
        cmocka_unit_test(values_in_parts_and_tables_with_keys),
        cmocka_unit_test(the_state_is_as_small_as_the_bound),
        cmocka_unit_test(one_bit_less_is_too_few),
        cmocka_unit_test(what_is_not_right_is_refused),
        cmocka_unit_test(a_layer_that_forgets_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
