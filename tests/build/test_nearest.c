/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The nearest neighbour: every choice of points and query of a grid, samples at larger sizes, refusals, and that a query
 * which finds itself is seen.
 */
#include "build_test.h"

static void every_prompt_of_a_grid_is_right(void **state)
{
    static const char *const sizes[] = {"N=2 d=2", "N=2 d=2 form=split", "N=3 d=2 gamma=50 labels=3",
                                        "N=3 d=2 gamma=50 form=split", "N=2 d=3 gamma=200"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        char text[128];
        snprintf(text, sizeof text, "nearest-neighbour %s", sizes[i]);
        assert_int_equal(wrong_of(text, NULL, 0), 0);
        if (i > 1) continue;
        assert_int_equal(wrong_of(text, "f32", 0), 0);
        assert_int_equal(wrong_of(text, "e8m4", 0), 0);
    }
    assert_int_equal(wrong_of("nearest-neighbour N=3 d=2 gamma=50", "bf16", 0), 0);
}

static void larger_clouds_are_right(void **state)
{
    static const char *const sizes[] = {"N=16 d=8", "N=16 d=8 dist=hard", "N=100 d=16 labels=10 dist=hard",
                                        "N=16 d=8 gamma=10 dist=hard", "N=64 d=4 gamma=5 labels=64"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (int split = 0; split < 2; split++) {
            char text[128];
            snprintf(text, sizeof text, "nearest-neighbour %s form=%s", sizes[i], split ? "split" : "joint");
            assert_int_equal(wrong_of(text, NULL, 300), 0);
            assert_int_equal(wrong_of(text, "f32", 50), 0);
        }
    assert_int_equal(wrong_of("nearest-neighbour dist=hard", "bf16", 500), 0);
    assert_int_equal(wrong_of("nearest-neighbour dist=hard form=split", "bf16", 300), 0);
}

/* The least beta of the refusal, on all points of a grid. */
static void the_least_beta_is_enough(void **state)
{
    (void)state;
    assert_int_equal(wrong_of("nearest-neighbour N=2 d=2 beta=13.87", "f64", 0), 0);
    assert_refused("nearest-neighbour N=16 beta=20", "take beta=34.66 or more");
    assert_refused("nearest-neighbour N=2 d=2 beta=0.1", "take beta=13.86 or more");
    assert_refused("nearest-neighbour betta=1", "did you mean 'beta'");
}

/* The worst cloud: all rivals are the same point, exactly as far from the query as the margin wants, and of the other
 * label. Right at the least beta, in both forms: a first layer that handed half of a point over would halve the margin. */
static void a_crowd_at_the_margin_does_not_win(void **state)
{
    (void)state;
    for (int split = 0; split < 2; split++) {
        char text[128];
        snprintf(text, sizeof text, "nearest-neighbour N=16 d=8 gamma=100 beta=34.66 form=%s",
                 split ? "split" : "joint");
        rung_build b = build_of(text);
        rung_model *model = model_of(&b);
        trial t = trial_begin(model, &b.task, "f64", RUNG_SOFTMAX_ONLINE);
        CHECK(
            rung_task_make(&t.instance, &b.task, 1, 0, &check_err)); /* sizes and targets; what follows overwrites it */
        memset(t.instance.feature, 0, b.task.tokens * b.task.d_in * sizeof *t.instance.feature);
        for (size_t i = 0; i < 16; i++) {
            float *point = t.instance.feature + (i << split) * b.task.d_in,
                  *label = point + (split ? b.task.d_in : 0) + 8;
            point[0] = i == 5 ? 1 : 0.9F, point[1] = i == 5 ? 0 : 0.43588F; /* sqrt(1 - 0.81) */
            label[i == 5] = 1;
        }
        float *query = t.instance.feature + (b.task.tokens - 1) * b.task.d_in;
        query[0] = 1, query[b.task.d_in - 1] = 1;
        t.instance.target[b.task.tokens - 1] = 1;
        trial_run(&t);
        assert_int_equal(t.wrong, 0);
        trial_end(&t);
        rung_model_close(model);
    }
}

static void too_few_bits_are_seen(void **state)
{
    (void)state;
    assert_true(goes_wrong("nearest-neighbour dist=hard", "e8m3", 500));
    assert_true(goes_wrong("nearest-neighbour dist=hard gamma=10", "bf16", 500));
}

/* Columns of q.bias: the last one keeps tokens without a label away. */
static void what_is_broken_is_seen(void **state)
{
    static const struct {
        const char *form, *tensor;
        size_t element;
        double add;
    } changes[] = {
        {"joint", "layers.0.mix.0.q.bias", 2, 180},
        {"joint", "layers.0.mix.0.q.weight", 0, -50},
        {"joint", "embed.weight", 10, 3},
        {"joint", "readout.weight", 1, 2},
        {"split", "layers.0.mix.0.k.weight", 2, 80},
        {"split", "layers.1.mix.0.q.bias", 2, 180},
        {"split", "layers.1.mix.0.k.weight", 4, -1},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(changes); i++) {
        char text[128];
        snprintf(text, sizeof text, "nearest-neighbour N=2 d=2 form=%s", changes[i].form);
        if (!goes_wrong_with(text, "f32", 0, changes[i].tensor, changes[i].element, changes[i].add))
            fail_msg("%s: %s[%zu] + %g is not seen", text, changes[i].tensor, changes[i].element, changes[i].add);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prompt_of_a_grid_is_right), cmocka_unit_test(larger_clouds_are_right),
        cmocka_unit_test(the_least_beta_is_enough),        cmocka_unit_test(a_crowd_at_the_margin_does_not_win),
        cmocka_unit_test(too_few_bits_are_seen),           cmocka_unit_test(what_is_broken_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
