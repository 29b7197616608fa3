/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * q-sparse averaging: every subset with a grid of vectors at small sizes, samples at larger ones, the scores computed a
 * second time from the tensors, and that an unequal score is seen.
 */
#include "build_test.h"

#include <math.h>

/* Largest Euclidean distance from the average over all rows of the grid (samples = 0) or so many prompts. */
static double worst_of_model(const rung_model *model, const rung_task_conf *task, const char *format, size_t samples)
{
    trial t = trial_begin(model, task, format, RUNG_SOFTMAX_ONLINE);
    uint64_t count = samples ? samples : rung_task_space(task);
    size_t d = task->d_out;
    double worst = 0;
    assert_true(count > 0 && count < 1000000);
    for (uint64_t i = 0; i < count; i += space_stride(&t, count)) {
        bool is_prompt = true;
        if (samples)
            CHECK(rung_task_make(&t.instance, task, 3, i, &check_err));
        else
            CHECK(rung_task_unrank(&t.instance, &is_prompt, task, i, &check_err));
        if (is_prompt) trial_run(&t);
        for (size_t at = 0; is_prompt && at < task->tokens; at++) {
            double square = 0;
            for (size_t c = 0; c < d; c++) {
                double apart = t.out[at * d + c] - (double)t.instance.target_value[at * d + c];
                square += apart * apart;
            }
            worst = fmax(worst, sqrt(square));
        }
    }
    if (t.wrong) worst = INFINITY; /* the model stopped */
    trial_end(&t);
    return worst;
}

static double worst_of(const char *text, const char *format, size_t samples)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    double worst = worst_of_model(model, &b.task, format, samples);
    rung_model_close(model);
    return worst;
}

static void assert_below(double worst, double eps, const char *text, const char *format)
{
    if (!(worst <= eps)) fail_msg("%s in %s: off by %g", text, format ? format : "fp32", worst);
}

static void every_subset_of_a_grid_is_averaged(void **state)
{
    static const char *const sizes[] = {"N=3 q=1 d=1", "N=3 q=2 d=1", "N=2 q=1 d=2", "N=2 q=2 d=3", "N=3 q=2 d=2"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
        for (int k = 0; k < 2; k++) {
            char text[128];
            snprintf(text, sizeof text, "q-sparse-average keys=%s %s", k ? "random" : "onehot", sizes[i]);
            assert_below(worst_of(text, NULL, 0), 0.01, text, NULL);
            if (i < 3) assert_below(worst_of(text, "f32", 0), 0.01, text, "f32");
            if (k == 0) assert_below(worst_of(text, "bf16", 0), 0.01, text, "bf16");
        }
    assert_below(worst_of("q-sparse-average N=4 q=3 d=1", "bf16", 0), 0.01, "N=4 q=3", "bf16");
}

static void larger_sizes_are_averaged(void **state)
{
    static const char *const sizes[] = {"N=16 q=3 d=4", "N=24 q=4 d=3", "N=200 q=1 d=8", "N=40 q=2 d=5",
                                        "N=17 q=16 d=2"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(sizes); i++) {
        char text[128];
        snprintf(text, sizeof text, "q-sparse-average %s", sizes[i]);
        assert_below(worst_of(text, "f32", 3), 0.01, text, "f32");
        assert_below(worst_of(text, NULL, 10), 0.01, text, NULL);
    }
    assert_below(worst_of("q-sparse-average N=200 q=1 d=8 keys=random", "f32", 5), 0.01, "random", "f32");
    assert_below(worst_of("q-sparse-average N=30 q=3 d=2 keys=random", NULL, 10), 0.01, "random", NULL);
    assert_below(worst_of("q-sparse-average N=11 q=3 dist=hard", "f32", 50), 0.01, "hard", "f32");
}

static void eps_is_kept_and_not_by_far(void **state)
{
    (void)state;
    assert_below(worst_of("q-sparse-average N=3 q=1 d=1 eps=0.00001", "f64", 0), 0.00001, "eps", "f64");
    double loose = worst_of("q-sparse-average N=3 q=1 d=1 eps=0.5", "f64", 0);
    assert_true(loose > 0.05 && loose <= 0.5);
}

static double *numbers_of(const rung_model *model, const char *name)
{
    const rung_tensor *tensor = rung_model_tensor(model, name);
    double *out = calloc(tensor->elements, sizeof *out);
    CHECK(rung_tensor_to_f64(out, tensor, &check_err));
    return out;
}

/* From the tensors: the queries of all sets against the keys of all positions. */
static void check_scores(const char *text, size_t n, size_t q, double eps)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    double *values = numbers_of(model, "layers.0.mlp.values"), *sets = numbers_of(model, "layers.0.mlp.keys");
    double *positions = numbers_of(model, "positions"), *key_of = numbers_of(model, "layers.1.mix.0.k.weight");
    size_t rows = rung_model_tensor(model, "layers.0.mlp.keys")->shape[0],
           d_model = rung_model_get_spec(model)->d_model;
    size_t dk = rung_model_tensor(model, "layers.0.mlp.values")->shape[1], first = 0;
    while (key_of[first] == 0) first++;
    for (size_t r = 0; r < rows; r++) {
        double on = NAN, off = -INFINITY;
        for (size_t j = 0; j < n; j++) {
            double score = 0;
            bool member = false;
            for (size_t k = 0; k < dk; k++) score += values[r * dk + k] * positions[j * d_model + first + k];
            for (size_t i = 0; i < q; i++) member = member || sets[r * q + i] == (double)j;
            if (!member) off = fmax(off, score);
            if (member && !isnan(on)) assert_true(fabs(score - on) < 1e-9);
            if (member) on = score;
        }
        assert_true(on - off > log(4 * (double)n / ((double)q * eps)) - 1e-9);
    }
    free(values), free(sets), free(positions), free(key_of);
    rung_model_close(model);
}

static void scores_on_a_set_are_equal_and_others_far_below(void **state)
{
    (void)state;
    check_scores("q-sparse-average N=9 q=3", 9, 3, 0.01);
    check_scores("q-sparse-average N=12 q=3 keys=random eps=0.1", 12, 3, 0.1);
    check_scores("q-sparse-average N=60 q=2 keys=random m=100", 60, 2, 0.01);
}

static void what_is_not_right_is_refused(void **state)
{
    (void)state;
    assert_refused("q-sparse-average N=12 q=3 keys=random m=8", "raise m");
    assert_refused("q-sparse-average N=12 q=3 m=8", "keys=random");
    assert_refused("q-sparse-average N=40 q=20", "lower q");
    assert_refused("q-sparse-average N=60 q=6", "C(60,6)");
    assert_refused("q-sparse-average eps=2", "eps=2");
}

static void what_is_broken_is_seen(void **state)
{
    static const struct {
        const char *tensor;
        double add;
    } changes[] = {
        {"layers.0.mlp.values", -2}, {"positions", 1}, {"layers.1.mix.0.v.weight", 0.1}, {"readout.weight", 1}};
    (void)state;
    rung_build b = build_of("q-sparse-average N=3 q=2 d=1");
    rung_model *model = model_of(&b);
    for (size_t i = 0; i < RUNG_COUNT(changes); i++) {
        rung_model *changed = model_with(model, changes[i].tensor, 0, changes[i].add);
        assert_true(worst_of_model(changed, &b.task, "f32", 0) > 0.01);
        rung_model_close(changed);
    }
    rung_model_close(model);
    assert_true(worst_of("q-sparse-average N=9 q=3 keys=random", "bf16", 20) > 0.1); /* scores are not equal any more */
    assert_true(worst_of("q-sparse-average N=16 q=3", "e8m3", 20) > 0.01);
    assert_true(worst_of("q-sparse-average N=20 q=1", "e8m3", 20) > 0.5); /* it has no number 17 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_subset_of_a_grid_is_averaged),
        cmocka_unit_test(larger_sizes_are_averaged),
        cmocka_unit_test(eps_is_kept_and_not_by_far),
        cmocka_unit_test(scores_on_a_set_are_equal_and_others_far_below),
        cmocka_unit_test(what_is_not_right_is_refused),
        cmocka_unit_test(what_is_broken_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
