/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The worst case against brute force: every prompt through the real evaluator. A wrong proof is the worst that can happen,
 * so every premise of the proof is broken here once.
 */
#include "../../src/verify/worst_case_lookup.h"
#include "worst_case_models.h"

/* ---- verdicts ---------------------------------------------------------------------------------------------------------- */

typedef struct tally {
    size_t proved, refuted, unknown;
} tally;

static void compare_with_brute_force(tally *t, const rung_model *model, const rung_task_conf *task, const char *format,
                                     bool decided)
{
    rung_verify_result result = worst_case(model, task, format);
    uint64_t wrong = brute_force(model, task, format, NULL, NULL);
    if (result.verdict == RUNG_CAN && wrong)
        fail_msg("%s: proved, but %llu are wrong", format, (unsigned long long)wrong);
    if (result.verdict == RUNG_CANNOT && !wrong) fail_msg("%s: refuted, but none is wrong", format);
    if (result.verdict == RUNG_UNKNOWN && decided) fail_msg("%s: unknown: %s", format, result.reason);
    if (result.verdict == RUNG_CANNOT) assert_witness(&result, model, task, format);
    if (result.verdict == RUNG_CAN) assert_true(result.margin >= 0 && result.cases > 0 && !result.witness);
    t->proved += result.verdict == RUNG_CAN, t->refuted += result.verdict == RUNG_CANNOT;
    t->unknown += result.verdict == RUNG_UNKNOWN;
    free(result.witness);
}

static const char *const formats[] = {"e8m1", "e8m2", "e8m3", "e8m4", "e5m2", "q3.4", "q4.2"};

static void sweep(tally *t, recipe r, const double *scales, size_t count, bool decided)
{
    rung_task_conf task = eva_task(r.n, r.v);
    for (size_t s = 0; s < count; s++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            r.scale = scales[s];
            rung_model *model = make_lookup(&r);
            compare_with_brute_force(t, model, &task, formats[f], decided);
            rung_model_close(model);
        }
}

static void verdict_is_that_of_every_table(void **state)
{
    static const recipe recipes[] = {
        {.n = 2, .v = 2},
        {.n = 4, .v = 4},
        {.n = 8, .v = 2},
        {.n = 4, .v = 3},
        {.n = 5, .v = 2},
        {.n = 4, .v = 4, .pairs = true},
        {.n = 3, .v = 4},
        {.n = 1, .v = 3},
        {.n = 4, .v = 4, .own_value = 1},
        {.n = 4, .v = 4, .own_value = -1, .own_key = 0.5},
        {.n = 4, .v = 4, .bent = true},
    };
    static const double scales[] = {0.25, 0.5, 0.75, 1, 1.5, 3, 40};
    tally t = {0};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(recipes); i++) sweep(&t, recipes[i], scales, RUNG_COUNT(scales), true);
    assert_true(t.proved > 50 && t.refuted > 50);
}

static void scalar_values_are_decided_too(void **state)
{
    static const double scales[] = {0.5, 1, 2, 4};
    tally t = {0};
    (void)state;
    sweep(&t, (recipe){.n = 4, .v = 4, .scalar = true}, scales, RUNG_COUNT(scales), true);
    sweep(&t, (recipe){.n = 3, .v = 5, .scalar = true}, scales, RUNG_COUNT(scales), true);
    assert_true(t.proved > 5 && t.refuted > 5);
}

static void membership_agrees_with_every_prompt(void **state)
{
    static const double gaps[] = {0.5, 2, 4, 8, 16};
    static const char *const names[] = {"e8m2", "e8m4", "e8m7", "q6.6", "e5m10"};
    tally t = {0};
    (void)state;
    for (size_t m = 4; m <= 8; m++)
        for (size_t g = 0; g < RUNG_COUNT(gaps); g++) {
            sum_recipe r = {
                .n = m > 6 ? 2 : 3, .m = m, .gap = gaps[g], .blank = g % 2 == 0 || m % 2, .no_table = m == 7};
            rung_task_conf task = sum_task(&r);
            rung_model *model = make_sum(&r);
            for (size_t f = 0; f < RUNG_COUNT(names); f++) compare_with_brute_force(&t, model, &task, names[f], false);
            rung_model_close(model);
        }
    print_message("proved %zu refuted %zu unknown %zu\n", t.proved, t.refuted, t.unknown);
    assert_true(t.proved > 20 && t.refuted > 20 && t.unknown < 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_is_that_of_every_table),
        cmocka_unit_test(scalar_values_are_decided_too),
        cmocka_unit_test(membership_agrees_with_every_prompt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
