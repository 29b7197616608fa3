/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recall by content, assoc-recall and c-gram, with every mechanism in the first layer: every prompt at small sizes, samples at
 * larger ones, refusals, and that what is broken is seen.
 */
#include "build_test.h"

static const char *const by[] = {"full", "window", "delta", "gdelta", "kda", "retnet", "linear"};
static const char *const formats[] = {NULL, "f32", "f64", "e8m1"};

/* One size with every mechanism and in every format above. */
static void assert_all_right(const char *construction, const char *size, size_t samples)
{
    for (size_t m = 0; m < RUNG_COUNT(by); m++) {
        char text[160];
        snprintf(text, sizeof text, "%s %s by=%s", construction, size, by[m]);
        rung_build b = build_of(text);
        rung_model *model = model_of(&b);
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            uint64_t wrong = wrong_of_model(model, &b.task, formats[f], RUNG_SOFTMAX_ONLINE, samples);
            if (wrong) fail_msg("%s in %s: %llu wrong", text, formats[f] ? formats[f] : "fp32", (long long)wrong);
        }
        rung_model_close(model);
    }
}

static void every_pair_is_recalled(void **state)
{
    static const char *const sizes[] = {"N=1 K=1 V=3", "N=2 K=4 V=3", "N=3 K=3 V=2", "N=3 K=4 V=2"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) assert_all_right("assoc-recall", sizes[i], 0);
}

static void every_gram_is_continued(void **state)
{
    static const char *const sizes[] = {"c=2 N=5 V=3", "c=3 N=6 V=2", "c=3 N=4 V=3", "c=5 N=6 V=2"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) assert_all_right("c-gram", sizes[i], 0);
}

static void larger_prompts_are_right(void **state)
{
    (void)state;
    assert_all_right("assoc-recall", "N=40 V=30", 12);
    assert_all_right("c-gram", "c=4 N=60 V=5 dist=hard", 8);
    assert_int_equal(wrong_of("assoc-recall N=400 V=400 by=delta dist=distinct", "e8m1", 6), 0);
    assert_int_equal(wrong_of("assoc-recall N=400 V=400", "bf16", 6), 0);
    assert_int_equal(wrong_of("c-gram c=12 N=150 V=3 by=retnet", "e8m1", 6), 0);
}

/* Small exponents too: nothing in these models is large. */
static void short_exponents_are_enough(void **state)
{
    (void)state;
    assert_int_equal(wrong_of("assoc-recall N=3 K=5 V=2 by=delta", "e4m1", 0), 0);
    assert_int_equal(wrong_of("assoc-recall N=3 K=5 V=2", "f16", 0), 0);
    assert_int_equal(wrong_of("c-gram c=3 N=6 V=2", "e4m3", 0), 0);
}

static void the_order_of_the_softmax_is_free(void **state)
{
    static const rung_softmax orders[] = {RUNG_SOFTMAX_TWO_PASS, RUNG_SOFTMAX_REVERSE};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(orders); i++) {
        rung_build b = build_of("assoc-recall N=3 K=4 V=2 by=delta");
        rung_model *model = model_of(&b);
        assert_int_equal(wrong_of_model(model, &b.task, "e8m1", orders[i], 0), 0);
        rung_model_close(model);
    }
}

/* One recurrent state of 2 x 2b numbers and one full layer. */
static void the_hybrid_has_a_small_state(void **state)
{
    (void)state;
    rung_build b = build_of("assoc-recall N=64 K=128 by=delta");
    rung_model *model = model_of(&b);
    const rung_arch *arch = rung_model_get_arch(model);
    assert_int_equal(arch->layer_count, 2);
    assert_true(arch->layer[0].group[0].mech->recurrent);
    assert_int_equal(rung_mech_state_elements(arch->layer[0].group, 1000), 2 * 2 * 7);
    assert_int_equal(rung_model_mlp(model, 0), RUNG_MLP_NONE);
    assert_int_equal(rung_model_mlp(model, 1), RUNG_MLP_NONE);
    rung_model_close(model);
}

/* beta = 1 is not needed: for a large gap, more than b/(b+1) of the new value is enough. b = 2: 0.73 is, 0.12 is not. */
static void a_gate_that_is_nearly_open_is_enough(void **state)
{
    const char *text = "assoc-recall N=3 K=4 V=2 by=delta", *beta = "layers.0.mix.0.beta.bias";
    (void)state;
    assert_false(goes_wrong_with(text, "f32", 0, beta, 0, 1 - 64));
    assert_true(goes_wrong_with(text, "f32", 0, beta, 0, -2 - 64));
}

static void what_cannot_be_right_is_refused(void **state)
{
    (void)state;
    assert_refused("assoc-recall gap=2", "take gap=");
    assert_refused("c-gram gap=4", "take gap=");
    assert_refused("assoc-recall N=70 by=linear", "by=delta");
    assert_refused("assoc-recall N=200 by=linear", "by=delta");
    assert_refused("assoc-recall by=lienar", "did you mean 'linear'");
}

/* The gap that a refusal names is right, in numbers that hide nothing. */
static void the_least_gap_is_enough(void **state)
{
    (void)state;
    assert_refused("c-gram c=2 N=5 V=2 gap=3.2", "take gap=3.33");
    assert_int_equal(wrong_of("c-gram c=2 N=5 V=2 gap=3.33", "f64", 0), 0);
    assert_refused("assoc-recall N=3 K=4 V=2 gap=1.5", "take gap=2.47");
    assert_int_equal(wrong_of("assoc-recall N=3 K=4 V=2 gap=2.47", "f64", 0), 0);
}

/* In every tensor there is a weight without which some prompt goes wrong. */
static void a_changed_weight_is_seen(void **state)
{
    static const char *const tensors[] = {
        "embed.weight",        "layers.0.mix.0.k.weight", "layers.0.mix.0.v.weight", "layers.0.mix.0.q.weight",
        "layers.0.out.weight", "layers.1.mix.0.q.weight", "layers.1.mix.0.k.weight", "layers.1.mix.0.v.weight",
        "layers.1.out.weight", "readout.weight"};
    static const char *const texts[] = {"assoc-recall N=2 K=3 V=2 by=delta", "c-gram c=3 N=4 V=2"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(texts); i++)
        for (size_t k = 0; k < RUNG_COUNT(tensors); k++) {
            rung_build b = build_of(texts[i]);
            rung_model *model = model_of(&b);
            const rung_tensor *tensor = rung_model_tensor(model, tensors[k]);
            double *value = calloc(tensor->elements, sizeof *value);
            size_t element = 0;
            CHECK(rung_tensor_to_f64(value, tensor, &check_err));
            while (value[element] == 0) element++;
            assert_true(goes_wrong_with(texts[i], "f32", 0, tensors[k], element, -3 * value[element]));
            free(value);
            rung_model_close(model);
        }
}

/* Coordinates of c-gram: the code of a symbol (2b), then whether it is barred. V=2: b = 1. */
static void the_separator_and_the_bars_are_needed(void **state)
{
    const char *text = "c-gram c=3 N=5 V=2";
    (void)state;
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    size_t width = rung_model_get_spec(model)->d_model;
    rung_model_close(model);
    /* A separator that looks like symbol 0: the grams behind it match. */
    assert_true(goes_wrong_with(text, "f32", 0, "embed.weight", 2 * width, -1));
    /* Token 1 without its bar: twice the first symbol seems to stand before it. */
    assert_true(goes_wrong_with(text, "f32", 0, "positions", width + 2, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_recalled),
        cmocka_unit_test(every_gram_is_continued),
        cmocka_unit_test(larger_prompts_are_right),
        cmocka_unit_test(short_exponents_are_enough),
        cmocka_unit_test(the_order_of_the_softmax_is_free),
        cmocka_unit_test(the_hybrid_has_a_small_state),
        cmocka_unit_test(a_gate_that_is_nearly_open_is_enough),
        cmocka_unit_test(what_cannot_be_right_is_refused),
        cmocka_unit_test(the_least_gap_is_enough),
        cmocka_unit_test(a_changed_weight_is_seen),
        cmocka_unit_test(the_separator_and_the_bars_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
