/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A bounded stack in one tanh layer: every row of brackets at small sizes, generated words and near misses at larger
 * ones, prompts of any length, and that a changed weight is seen.
 */
#include "build_test.h"

static void every_row_of_brackets_is_right(void **state)
{
    static const char *const sizes[] = {"N=8 types=1 k=1", "N=10 types=1 k=3", "N=6 types=2 k=1",
                                        "N=6 types=2 k=2", "N=4 types=3 k=2",  "N=4 types=5 k=2"};
    static const char *const formats[] = {NULL, "f32", "e8m3", "bf16"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            char text[128];
            snprintf(text, sizeof text, "dyck %s", sizes[i]);
            uint64_t wrong = wrong_of(text, formats[f], 0);
            if (wrong) fail_msg("%s, format %zu: %llu wrong", text, f, (unsigned long long)wrong);
        }
    assert_int_equal(wrong_of("dyck N=8 types=2 k=3", NULL, 0), 0);
    assert_int_equal(wrong_of("dyck N=6 types=3 k=2", NULL, 0), 0);
}

static void long_words_and_near_misses_are_right(void **state)
{
    static const char *const sizes[] = {"N=32", "N=200 types=2 k=12", "N=64 types=64 k=4", "N=300 types=4 k=20",
                                        "N=100 types=1 k=40"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        char text[128];
        snprintf(text, sizeof text, "dyck %s", sizes[i]);
        assert_int_equal(wrong_of(text, "e8m3", 4), 0);
        assert_int_equal(wrong_of(text, NULL, 60), 0);
        snprintf(text, sizeof text, "dyck %s dist=hard", sizes[i]);
        assert_int_equal(wrong_of(text, NULL, 60), 0);
    }
}

/* The second way: all words of length 4 are run on a model that was built for N = 8, without positions. */
static void the_length_is_not_in_the_weights(void **state)
{
    (void)state;
    rung_build b = build_of("dyck N=8 types=2 k=2"), shorter = build_of("dyck N=4 types=2 k=2");
    rung_model *model = model_of(&b);
    assert_int_equal(wrong_of_model(model, &shorter.task, "e8m3", RUNG_SOFTMAX_ONLINE, 0), 0);
    rung_model_close(model);
}

static void the_state_is_the_stack_not_its_contents(void **state)
{
    (void)state;
    rung_build b = build_of("dyck N=8 types=4 k=10"); /* 4^10 contents of a full stack */
    rung_model *model = model_of(&b);
    trial t = trial_begin(model, &b.task, "bf16", RUNG_SOFTMAX_ONLINE);
    assert_int_equal(rung_session_state_bits(t.session), (10 * (2 + 3 * 2) + 3) * 16);
    trial_end(&t);
    rung_model_close(model);
}

static void the_gain_and_the_format_matter(void **state)
{
    (void)state;
    assert_int_equal(wrong_of("dyck N=8 types=2 k=2 gain=4", "e4m3", 0), 0);
    assert_int_equal(wrong_of("dyck N=8 types=2 k=2 gain=4", NULL, 0), 0);
    assert_int_equal(wrong_of("dyck N=8 types=2 k=2 gain=4", "q7.4", 0), 0);
    assert_true(goes_wrong("dyck N=6 types=2 k=2", "e8m2", 0));
    assert_true(goes_wrong("dyck N=6 types=2 k=2", "e4m3", 0)); /* 32 times 9 overflows */
}

static void what_is_too_large_is_refused(void **state)
{
    (void)state;
    assert_refused("dyck N=600 types=64 k=256", "lower k");
    assert_refused("dyck gain=0", "gain=0");
    assert_refused("dyck depth=3", "unknown parameter");
}

/* A sixth of the weights of U: most changes are seen, some only make a sum larger that was large enough. */
static void a_changed_weight_is_seen(void **state)
{
    (void)state;
    rung_build b = build_of("dyck N=6 types=2 k=2");
    rung_model *model = model_of(&b);
    size_t units = 2 * 5 + 3, seen = 0, tried = 0;
    for (size_t u = 0; u < units; u++)
        for (size_t v = u % 6; v < units; v += 6) {
            rung_model *changed = model_with(model, "layers.0.mix.0.U", u * units + v, 3 * 32);
            seen += goes_wrong_model(changed, &b.task, NULL, 0);
            tried++;
            rung_model_close(changed);
        }
    if (seen < tried * 3 / 4) fail_msg("only %zu of %zu changes of U are seen", seen, tried);
    rung_model_close(model);
    assert_true(goes_wrong_with("dyck N=6 types=2 k=2", "f32", 0, "readout.bias", 0, 2));
    assert_true(goes_wrong_with("dyck N=6 types=2 k=2", "f32", 0, "layers.0.mix.0.x.weight", 5, -64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_brackets_is_right),   cmocka_unit_test(long_words_and_near_misses_are_right),
        cmocka_unit_test(the_length_is_not_in_the_weights), cmocka_unit_test(the_state_is_the_stack_not_its_contents),
        cmocka_unit_test(the_gain_and_the_format_matter),   cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(a_changed_weight_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
