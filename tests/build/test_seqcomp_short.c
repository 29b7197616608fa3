/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Composition of L functions with fewer layers than a decoder needs in one pass: by thoughts, and without a mask.
 */
#include "seqcomp_test.h"

static const variant variants[] = {
    {"seqcomp-cot", "e8m1"},
    {"seqcomp-cot full=2", "e8m1"},
    {"seqcomp-cot full=3 thoughts=2", "e8m1"},
    {"seqcomp-cot linear=first", "e8m1"},
    {"seqcomp-cot linear=first full=2", "e8m1"},
    {"seqcomp-cot linear=first full=3", "e8m1"},
    {"seqcomp-cot linear=first full=2 thoughts=3", "e8m1"},
    {"seqcomp-encoder", "e8m1"},
    {0},
};

static const least_gap gaps[] = {{"seqcomp-cot", 1.67},
                                 {"seqcomp-cot linear=first", 1.67},
                                 {"seqcomp-cot linear=first full=2", 2.24},
                                 {"seqcomp-encoder", 3.28},
                                 {0}};

static const breakage broken[] = {
    {"seqcomp-cot", "layers.0.mix.0.q.weight", true},
    {"seqcomp-cot", "layers.0.mlp.values", true},
    {"seqcomp-cot linear=first", "layers.0.mix.0.k.weight", false},
    {"seqcomp-cot linear=first", "layers.0.mix.0.q.weight", false},
    {"seqcomp-cot linear=first", "layers.0.mix.0.v.weight", false},
    {"seqcomp-cot linear=first", "layers.0.out.weight", true},
    {"seqcomp-cot linear=first", "layers.1.mix.0.q.weight", true},
    {"seqcomp-cot linear=first full=2", "layers.2.mlp.values", true},
    {"seqcomp-encoder", "layers.0.mix.0.q.weight", true},
    {"seqcomp-encoder", "layers.1.mix.0.k.weight", true},
    {0},
};

static void an_encoder_has_a_logarithm_of_layers(void **state)
{
    static const size_t wanted[] = {0, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6};
    char text[128];
    (void)state;
    for (size_t L = 1; L < RUNG_COUNT(wanted); L += effort(1, 3)) {
        snprintf(text, sizeof text, "seqcomp-encoder N0=2 flat=1 L=%zu", L);
        assert_int_equal(layers_of(text).full, wanted[L]);
        assert_int_equal(wrong_of(text, "e8m1", 6), 0);
        if (L > 7) continue;
        snprintf(text, sizeof text, "seqcomp-encoder N0=3 flat=1 L=%zu", L);
        assert_int_equal(wrong_of(text, "f32", 4), 0);
    }
}

static size_t thoughts_of(const char *text)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    trial t = trial_begin(model, &b.task, "e8m1", RUNG_SOFTMAX_ONLINE);
    size_t thoughts, first = SIZE_MAX;
    for (uint64_t i = 0; i < effort(4, 2); i++) {
        CHECK(rung_task_make(&t.instance, &b.task, 3, i, &check_err));
        rung_prompt prompt = {.token = t.instance.token, .tokens = t.instance.tokens};
        rung_session_reset(t.session);
        CHECK(rung_session_run_thoughts(t.session, t.out, &thoughts, &prompt, RUNG_FORM_STEP, &check_err));
        assert_int_equal(rung_argmax(t.out, t.spec->answers), t.instance.target[t.instance.tokens - 1]);
        if (first == SIZE_MAX) first = thoughts;
        assert_int_equal(thoughts, first);
    }
    trial_end(&t);
    rung_model_close(model);
    return first;
}

/* The least number of passes of `full` hops each, less the one that answers. */
static size_t least_thoughts(size_t hops, size_t full)
{
    size_t passes = 1;
    while (passes * full < hops) passes++;
    return passes - 1;
}

/* T is the least, or what one asks for, and no fewer. */
static void assert_thoughts(const char *construction, size_t L, size_t full, size_t linear)
{
    char text[128], hint[64];
    size_t hops = L + 1 - linear, least = least_thoughts(hops, full);
    snprintf(text, sizeof text, "%s N0=3 flat=1 L=%zu full=%zu", construction, L, full);
    layers l = layers_of(text);
    assert_true(l.full == full && l.linear == linear);
    assert_int_equal(thoughts_of(text), least);
    snprintf(text, sizeof text, "%s N0=3 flat=1 L=%zu full=%zu thoughts=%zu", construction, L, full, least + 2);
    assert_int_equal(thoughts_of(text), least + 2);
    if (least == 0) return;
    snprintf(text, sizeof text, "%s N0=3 flat=1 L=%zu full=%zu thoughts=%zu", construction, L, full, least - 1);
    snprintf(hint, sizeof hint,
             linear ? "needs %zu after the linear layer; take thoughts=%zu" : "needs L+1=%zu; take thoughts=%zu", hops,
             least);
    assert_refused(text, hint);
}

/* F (T+1) >= L+1, or L with a linear layer. */
static void thoughts_are_as_many_as_needed(void **state)
{
    (void)state;
    for (size_t L = 1; L <= 4; L++)
        for (size_t full = 1; full <= L + 2; full++) {
            assert_thoughts("seqcomp-cot", L, full, 0);
            assert_thoughts("seqcomp-cot linear=first", L, full, 1);
        }
}

/* What a refusal says to take is built. */
static void the_linear_layer_is_proposed_where_it_suffices(void **state)
{
    (void)state;
    assert_refused("seqcomp-cot L=3 full=3 thoughts=0", "take thoughts=1, linear=first or more full layers");
    assert_int_equal(thoughts_of("seqcomp-cot L=3 full=3 thoughts=0 linear=first"), 0);
    assert_refused("seqcomp-cot L=3 full=1 thoughts=1", "take thoughts=3 or more full layers");
    assert_refused("seqcomp-cot L=3 full=1 thoughts=1 linear=first", "take thoughts=2 or more full layers");
    assert_refused("seqcomp-cot linear=after", "unknown");
}

static void sizes_and_words_are_refused(void **state)
{
    (void)state;
    assert_refused("seqcomp-cot L=3 N0=64 n=100 flat=1", "more than the 1048576");
}

int main(void)
{
    static suite all = {variants, gaps, broken};
    const struct CMUnitTest tests[] = {
        SEQCOMP_TESTS(&all),
        cmocka_unit_test(an_encoder_has_a_logarithm_of_layers),
        cmocka_unit_test(thoughts_are_as_many_as_needed),
        cmocka_unit_test(the_linear_layer_is_proposed_where_it_suffices),
        cmocka_unit_test(sizes_and_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
