/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * States that are tracked and used: palindrome, state-recall, parity-recall, stacks, variable-tracking. Every prompt at
 * small sizes, samples at larger ones, sizes that are refused, and weights broken on purpose.
 */
#include "build_test.h"

static const char *const formats[] = {NULL, "f32", "bf16", "e8m3"};

static void assert_right(const char *text, const char *format, size_t samples)
{
    uint64_t wrong = wrong_of(text, format, samples);
    if (wrong) fail_msg("%s in %s: %llu prompts wrong", text, format ? format : "fp32", (unsigned long long)wrong);
}

static void assert_right_everywhere(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) assert_right(texts[i], formats[f], 0);
}

/* ---- every prompt ----------------------------------------------------------------------------------------------------- */

static void a_state_selects_an_entry(void **state)
{
    static const char *const texts[] = {
        "state-recall N=1 V=3 K=2 M=2",
        "state-recall N=3 V=2 K=2 M=3",
        "state-recall N=2 V=2 K=3 M=4 mech=gdelta",
        "state-recall N=2 V=2 K=4 M=2 mech=kda",
        "state-recall first=recall N=1 V=3 K=2 M=2",
        "state-recall first=recall N=3 V=2 K=2 M=3",
        "state-recall first=recall N=2 V=3 K=3 M=2 mech=gdelta",
        "state-recall task=parity-recall N=1 V=3 M=5",
        "state-recall task=parity-recall N=2 V=3 M=3",
        "state-recall task=parity-recall N=3 V=2 M=2 mech=gdelta",
        "state-recall task=parity-recall N=2 V=2 M=6 mech=kda",
    };
    (void)state;
    assert_right_everywhere(texts, RUNG_COUNT(texts));
    assert_right("state-recall N=3 V=2 K=2 M=3", "e4m3", 0);
    assert_right("state-recall task=parity-recall N=2 V=3 M=3", "q4.3", 0);
}

/* Without recurrence the numbers must be fine enough to count the bits. */
static void a_parity_is_read_off_an_average(void **state)
{
    static const char *const texts[] = {"parity-recall N=1 V=3 M=5", "parity-recall N=2 V=3 M=3",
                                        "parity-recall N=3 V=2 M=4"};
    (void)state;
    assert_right_everywhere(texts, RUNG_COUNT(texts));
    assert_right("parity-recall N=20 V=9 M=60", "f32", 24);
    assert_right("parity-recall N=20 V=9 M=60", NULL, 60);
    assert_right("parity-recall N=4 V=4 M=31", "e8m4", 60);
    assert_true(goes_wrong("parity-recall N=4 V=4 M=31", "e8m3", 60));
}

static void values_come_off_the_stacks(void **state)
{
    static const char *const texts[] = {"stacks T=2 S=2 V=5",
                                        "stacks T=6 S=1 V=3",
                                        "stacks T=5 S=2 V=2",
                                        "stacks T=4 S=3 V=3",
                                        "stacks T=5 S=1 V=2 count=delta mech=gdelta",
                                        "stacks T=4 S=2 V=2 count=gdelta mech=kda",
                                        "stacks T=5 S=2 V=2 count=kda mech=kda"};
    (void)state;
    assert_right_everywhere(texts, RUNG_COUNT(texts));
    assert_right("stacks T=5 S=2 V=2", "e4m3", 0);
}

static void variables_are_followed(void **state)
{
    static const char *const texts[] = {
        "variable-tracking chains=1 hops=0 V=3", "variable-tracking chains=3 hops=0 V=2",
        "variable-tracking chains=1 hops=1 V=5", "variable-tracking chains=1 hops=2 V=3",
        "variable-tracking chains=1 hops=1 V=2 K=5"};
    (void)state;
    assert_right_everywhere(texts, RUNG_COUNT(texts));
    assert_right("variable-tracking chains=1 hops=2 V=2", "e4m3", 0);
}

static void sequences_are_read_backwards(void **state)
{
    static const char *const keys[] = {"bits", "sign", "trig", "quadratic"}, *const values[] = {"bits", "scalar"};
    static const char *const sizes[] = {"N=1 V=3", "N=2 V=5", "N=4 V=3", "N=5 V=2"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(keys) * RUNG_COUNT(values) * RUNG_COUNT(sizes); i++) {
        char text[128];
        snprintf(text, sizeof text, "lookup task=palindrome keys=%s values=%s %s", keys[i % 4], values[i / 4 % 2],
                 sizes[i / 8]);
        assert_right(text, NULL, 0);
        assert_right(text, "f32", 0);
        assert_right(text, "e8m9", 0);
    }
}

/* The state has exactly the N log2 V bits of the bound. */
static void a_recurrent_layer_reads_backwards_with_the_least_state(void **state)
{
    static const char *const mechs[] = {"linear", "retnet", "gla", "mamba2", "loglinear", "delta", "gdelta", "kda"};
    (void)state;
    for (size_t m = 0; m < RUNG_COUNT(mechs); m++) {
        char text[128];
        snprintf(text, sizeof text, "eva-recurrent task=palindrome mech=%s N=4 V=4", mechs[m]);
        assert_right(text, "q1.0", 0);
        assert_right(text, NULL, 0);
        assert_right(text, "e8m3", 0);
        snprintf(text, sizeof text, "eva-recurrent task=palindrome mech=%s N=5 V=3", mechs[m]);
        assert_right(text, NULL, 0);
        assert_true(goes_wrong(text, "q0.1", 0));
    }
    assert_right("eva-recurrent task=palindrome N=6 V=2 pack=3", "q2.0", 0);
    rung_build b = build_of("eva-recurrent task=palindrome N=8 V=4");
    rung_model *model = model_of(&b);
    trial t = trial_begin(model, &b.task, "q1.0", RUNG_SOFTMAX_ONLINE);
    assert_int_equal(rung_session_state_bits(t.session), 8 * 2);
    trial_end(&t);
    rung_model_close(model);
}

/* ---- larger sizes ----------------------------------------------------------------------------------------------------- */

static void larger_sizes_are_right_on_samples(void **state)
{
    static const char *const texts[] = {
        "state-recall",
        "state-recall N=200 V=16 K=12 M=100 mech=gdelta",
        "state-recall first=recall N=200 V=16 K=12 M=100 mech=kda",
        "state-recall task=parity-recall",
        "state-recall task=parity-recall N=100 V=9 M=300 mech=kda",
        "stacks T=40 S=6 V=12",
        "stacks T=40 S=4 V=5 count=kda mech=gdelta",
        "variable-tracking",
        "variable-tracking chains=3 hops=13 V=30 K=60",
        "lookup task=palindrome N=100 keys=sign",
        "eva-recurrent task=palindrome N=40 V=6 mech=delta",
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        assert_right(texts[i], NULL, 60);
        assert_right(texts[i], "bf16", 12);
    }
    assert_right("state-recall N=200 V=16 K=12 M=100", "e8m3", 12);
    assert_right("stacks T=16 S=3 V=4", "e8m3", 24); /* heights up to 15 */
    assert_true(goes_wrong("stacks T=60 S=1 V=4", "e8m3", 60));
}

/* Layers grow with the logarithm of the hops, and one layer less follows too few of them. */
static void layers_double_the_hops(void **state)
{
    static const struct {
        const char *text, *arch;
    } cases[] = {{"variable-tracking chains=1 hops=0", "1*full:dk=2:dv=8"},
                 {"variable-tracking chains=1 hops=1", "2*full:dk=2:dv=8"},
                 {"variable-tracking chains=1 hops=2", "2*full:dk=4:dv=10"},
                 {"variable-tracking chains=1 hops=3", "3*full:dk=4:dv=10"},
                 {"variable-tracking chains=1 hops=6", "3*full:dk=6:dv=12"},
                 {"variable-tracking chains=1 hops=7", "4*full:dk=6:dv=12"}};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_build b = build_of(cases[i].text);
        rung_model *model = model_of(&b);
        assert_string_equal(rung_model_get_spec(model)->arch, cases[i].arch);
        rung_model_close(model);
    }
    rung_build few = build_of("variable-tracking chains=2 hops=2 V=4 K=8");
    rung_build none = build_of("variable-tracking chains=6 hops=0 V=4 K=8");
    rung_build many = build_of("variable-tracking chains=1 hops=5 V=4 K=8");
    rung_model *two_layers = model_of(&few);
    assert_int_equal(wrong_of_model(two_layers, &few.task, "f32", RUNG_SOFTMAX_ONLINE, 60), 0);
    assert_int_equal(wrong_of_model(two_layers, &none.task, "f32", RUNG_SOFTMAX_ONLINE, 60), 0);
    assert_true(goes_wrong_model(two_layers, &many.task, "f32", 60));
    rung_model_close(two_layers);
}

/* ---- refusals and broken weights --------------------------------------------------------------------------------------- */

static void what_would_be_wrong_is_refused(void **state)
{
    (void)state;
    assert_refused("state-recall gap=0.5", "take gap=");
    assert_refused("state-recall task=parity-recall gap=0.3", "take gap=");
    assert_refused("state-recall mech=mamba2", "mech");
    assert_refused("state-recall task=parity-recall first=recall", "take first=state");
    assert_refused("variable-tracking gap=1", "take gap=");
    assert_refused("parity-recall gap=2", "take gap=");
    assert_refused("parity-recall M=70000", "lower M");
    assert_refused("stacks T=600 S=2", "lower S or T");
    assert_refused("lookup task=palindrome N=16 gap=1", "take gap=");
    assert_refused("lookup task=palindrome N=300 keys=sign gap=1.9", "take gap=");
}

/* Every weight of both layers that is not 0, and some that are. */
static void a_changed_weight_is_seen(void **state)
{
    static const struct {
        const char *text, *tensor;
        size_t element;
        double add;
    } changes[] = {
        {"state-recall N=3 V=2 K=2 M=2", "layers.0.mix.0.beta.bias", 0, -64}, /* half of a reflection */
        {"state-recall N=3 V=2 K=2 M=2", "layers.0.mix.0.k.weight", 0, -1},
        {"state-recall N=3 V=2 K=2 M=2", "layers.0.mix.0.k.weight", 1, 1},
        {"state-recall N=3 V=2 K=2 M=2", "layers.0.mix.0.q.weight", 2, -1},
        {"state-recall N=3 V=2 K=2 M=2", "layers.0.mix.0.v.weight", 4, -1},
        {"state-recall N=3 V=2 K=2 M=2", "layers.1.mix.0.v.weight", 16, -1},
        {"state-recall N=3 V=2 K=2 M=2", "embed.weight", 5 * 20, 1}, /* a step that writes */
        {"state-recall first=recall N=3 V=2 K=2 M=2", "layers.1.mix.0.beta.bias", 0, -64},
        {"state-recall first=recall N=3 V=2 K=2 M=2", "layers.0.mix.0.v.weight", 13, -1},
        {"state-recall first=recall N=4 V=2 K=2 M=1", "layers.0.mix.0.k.weight", 4 * 19 + 17, -1}, /* steps fetch */
        {"state-recall N=3 V=2 K=2 M=2 mech=gdelta", "layers.0.mix.0.g.A", 0, 1000},
        {"state-recall task=parity-recall N=2 V=2 M=3", "layers.0.mix.0.beta.bias", 0, -64},
        {"state-recall task=parity-recall N=2 V=2 M=3", "layers.0.mix.0.k.weight", 1, 1},
        {"state-recall task=parity-recall N=2 V=2 M=3", "positions", 0, -1},
        {"parity-recall N=2 V=2 M=3", "layers.0.mix.0.q.weight", 0, 8},  /* entries are averaged too */
        {"parity-recall N=2 V=2 M=3", "layers.0.mix.0.v.weight", 2, -1}, /* bits do not count */
        {"parity-recall N=2 V=2 M=3", "layers.0.mlp.values", 0, 1},
        {"parity-recall N=2 V=2 M=3", "layers.1.mix.0.q.weight", 9, 8},
        {"stacks T=5 S=2 V=2", "layers.1.mix.0.beta.weight", 5, 128}, /* pops write */
        {"stacks T=5 S=2 V=2", "layers.0.mix.0.v.weight", 3, -1},
        {"stacks T=5 S=2 V=2 count=delta", "layers.0.mix.0.beta.bias", 0, 2}, /* every push adds e^2 */
        {"stacks T=5 S=2 V=2 count=gdelta", "layers.0.mix.0.g.A", 0, 1000},   /* heights are forgotten */
        {"stacks T=5 S=2 V=2", "layers.0.mlp.values", 0, -1},
        {"stacks T=5 S=2 V=2", "layers.1.out.weight", 16 * 2, -1},
        {"variable-tracking chains=1 hops=2 V=2", "layers.1.mix.0.q.weight", 12, 12},
        {"variable-tracking chains=1 hops=2 V=2", "layers.0.mix.0.v.weight", 4, -1},
        {"variable-tracking chains=1 hops=2 V=2", "layers.0.mix.0.k.weight", 0, -1},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(changes); i++)
        if (!goes_wrong_with(changes[i].text, "f32", 0, changes[i].tensor, changes[i].element, changes[i].add))
            fail_msg("%s: %s[%zu] += %g is not seen", changes[i].text, changes[i].tensor, changes[i].element,
                     changes[i].add);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_selects_an_entry),
        cmocka_unit_test(a_parity_is_read_off_an_average),
        cmocka_unit_test(values_come_off_the_stacks),
        cmocka_unit_test(variables_are_followed),
        cmocka_unit_test(sequences_are_read_backwards),
        cmocka_unit_test(a_recurrent_layer_reads_backwards_with_the_least_state),
        cmocka_unit_test(larger_sizes_are_right_on_samples),
        cmocka_unit_test(layers_double_the_hops),
        cmocka_unit_test(what_would_be_wrong_is_refused),
        cmocka_unit_test(a_changed_weight_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
