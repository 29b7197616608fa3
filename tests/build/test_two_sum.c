/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The constructions for two-sum against the oracle: every prompt of small sizes, samples of large ones, the prompts that
 * are hardest for a narrow format, and models that are broken on purpose.
 */
#include "build/build_test.h"

static void assert_all_right(const char *text, const char *const *formats, size_t count, size_t samples)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t wrong = wrong_of(text, formats[i], samples);
        if (wrong) fail_msg("%s in %s: %llu wrong", text, formats[i] ? formats[i] : "fp32", (unsigned long long)wrong);
    }
}

static const char *const small_formats[] = {NULL, "f32", "bf16", "e8m3", "e8m2"};
static const char *const large_formats[] = {NULL, "f32", "e8m12", "f16"};

static void every_small_prompt_is_right(void **state)
{
    static const char *const texts[] = {
        "two-sum M=2 N=1",
        "two-sum M=2 N=3",
        "two-sum M=3 N=2",
        "two-sum M=4 N=4",
        "two-sum M=6 N=3",
        "two-sum M=5 N=4",
        "two-sum M=5 N=2 form=position",
        "two-sum M=5 N=4 form=position",
        "two-sum M=6 N=4 form=position",
        "two-sum M=5 N=2 form=position self=0",
        "two-sum M=5 N=4 form=position self=0",
        "two-sum M=6 N=4 form=position self=0",
        "two-sum M=2 N=2 form=causal",
        "two-sum M=5 N=4 form=causal",
        "two-sum M=6 N=4 form=causal",
        "two-sum M=3 N=2 form=global",
        "two-sum M=4 N=3 form=global",
        "two-sum M=6 N=4 form=global",
        "two-sum M=2 N=3 by=dsa",
        "two-sum M=3 N=2 by=dsa",
        "two-sum M=4 N=4 by=dsa",
        "two-sum M=6 N=3 by=dsa",
        "two-sum M=5 N=3 by=dsa blank=0",
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(texts); i++)
        assert_all_right(texts[i], small_formats, RUNG_COUNT(small_formats), 0);
}

static void large_prompts_are_right(void **state)
{
    static const char *const texts[] = {
        "two-sum M=61 N=60",
        "two-sum M=61 N=60 form=position",
        "two-sum M=61 N=60 form=position self=0",
        "two-sum M=64 N=60 form=position self=0",
        "two-sum M=61 N=60 form=causal",
        "two-sum M=64 N=60 form=causal",
        "two-sum M=61 N=30 form=causal dist=hard",
        "two-sum M=61 N=60 form=global",
        "two-sum M=64 N=60 form=global",
        "two-sum M=61 N=60 by=dsa",
        "two-sum M=61 N=24 dist=hard",
        "two-sum M=61 N=30 form=position dist=hard",
        "two-sum M=61 N=40 form=global dist=hard",
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(texts); i++)
        assert_all_right(texts[i], large_formats, RUNG_COUNT(large_formats), 60);
}

/* ---- prompts of one's own -------------------------------------------------------------------------------------------- */

/* All numbers 1, which have no partner, but for `copies` of x from position `at` on; solved by the task's own oracle. */
static void run_copies(trial *t, uint32_t x, size_t at, size_t copies)
{
    rung_instance *in = &t->instance;
    size_t numbers = (size_t)rung_task_param(t->task, "N");
    in->tokens = t->task->tokens;
    in->token[0] = (uint32_t)(t->task->vocab - 1);
    for (size_t i = 0; i < numbers; i++) in->token[1 + i] = i >= at && i < at + copies ? x : 1;
    if (rung_task_param(t->task, "form") == 2) in->token[1 + numbers] = (uint32_t)rung_task_param(t->task, "M");
    CHECK(t->task->task->solve(in, t->task, &check_err));
    trial_run(t);
}

/* 0 and M/2 are their own partners; one copy is none, two are. */
static void a_number_is_not_its_own_partner(void **state)
{
    static const char *const texts[] = {"two-sum M=64 N=60 form=position self=0", "two-sum M=64 N=60 form=global",
                                        "two-sum M=64 N=60 form=causal"};
    static const char *const formats[] = {NULL, "f32", "e8m10"};
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(texts); i++)
        for (size_t f = 0; f < RUNG_COUNT(formats); f++) {
            rung_build b = build_of(texts[i]);
            rung_model *model = model_of(&b);
            trial t = trial_begin(model, &b.task, formats[f], RUNG_SOFTMAX_ONLINE);
            for (size_t at = 0; at < 57; at += 7)
                for (size_t copies = 0; copies <= 3; copies++)
                    run_copies(&t, 0, at, copies), run_copies(&t, 32, at, copies);
            assert_int_equal(t.prompts, 72);
            assert_int_equal(t.wrong, 0);
            trial_end(&t);
            rung_model_close(model);
        }
}

/* The query y after `copies` times x, the first or the last of them replaced by the partner of y if wanted. */
typedef enum partner { PARTNER_NONE, PARTNER_FIRST, PARTNER_LAST } partner;

static void run_misses(trial *t, size_t y, size_t x, partner with)
{
    rung_instance *in = &t->instance;
    size_t numbers = (size_t)rung_task_param(t->task, "N"), m = (size_t)rung_task_param(t->task, "M");
    uint32_t match = (uint32_t)((m - y) % m);
    in->tokens = numbers + 2;
    in->token[0] = (uint32_t)(2 * m);
    for (size_t i = 1; i <= numbers; i++) in->token[i] = (uint32_t)x;
    if (with != PARTNER_NONE) in->token[with == PARTNER_FIRST ? 1 : numbers] = match;
    in->token[numbers + 1] = (uint32_t)(m + y);
    CHECK(t->task->task->solve(in, t->task, &check_err));
    trial_run(t);
}

static uint64_t wrong_misses(const char *text, const char *format)
{
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    trial t = trial_begin(model, &b.task, format, RUNG_SOFTMAX_ONLINE);
    size_t m = (size_t)rung_task_param(&b.task, "M");
    for (size_t y = 0; y < m; y++)
        for (size_t x = 0; x < m; x++)
            for (partner with = PARTNER_NONE; with <= PARTNER_LAST; with++) run_misses(&t, y, x, with);
    uint64_t wrong = t.wrong;
    trial_end(&t);
    rung_model_close(model);
    return wrong;
}

/* The smallest mantissas of docs/constructions/two_sum.md: N copies of each residue for each query, with and without a
 * partner. One bit fewer is too few. */
static void the_mantissa_grows_with_twice_the_bits_of_the_modulus(void **state)
{
    static const struct {
        const char *text, *enough, *too_few;
    } cases[] = {
        {"two-sum M=8 N=8", "e8m2", "e8m1"},          {"two-sum M=16 N=16", "e8m4", "e8m3"},
        {"two-sum M=32 N=32", "e8m7", "e8m6"},        {"two-sum M=8 N=8 by=dsa", "e8m2", "e8m1"},
        {"two-sum M=16 N=16 by=dsa", "e8m3", "e8m2"}, {"two-sum M=32 N=32 by=dsa", "e8m5", "e8m4"},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        uint64_t wrong = wrong_misses(cases[i].text, cases[i].enough);
        if (wrong) fail_msg("%s in %s: %llu wrong", cases[i].text, cases[i].enough, (unsigned long long)wrong);
        if (!wrong_misses(cases[i].text, cases[i].too_few)) fail_msg("%s in %s", cases[i].text, cases[i].too_few);
    }
}

/* ---- conditions ------------------------------------------------------------------------------------------------------ */

static void parameters_that_are_not_right_are_refused(void **state)
{
    (void)state;
    assert_refused("two-sum blank=0", "take blank=1");
    assert_refused("two-sum M=6 N=4 gap=2.77", "take gap=2.78");
    assert_refused("two-sum M=6 N=1 gap=1.3", "take gap=1.40");
    assert_refused("two-sum by=dsa form=position", "take by=full");
    assert_refused("two-sum by=dsa form=global", "take by=full");
    assert_refused("two-sum by=dsa gap=9", "leave gap out");
    assert_refused("two-sum form=global self=0", "self=0");
}

/* Answer of the query form to y after `numbers` copies of x, by a model that may have been built for fewer. */
static size_t answer_to_copies(const rung_model *model, size_t m, size_t numbers, uint32_t x, uint32_t y)
{
    rung_fmt fmt;
    rung_program *program;
    rung_session *session;
    uint32_t token[16] = {(uint32_t)(2 * m)};
    double out[2];
    size_t last = numbers + 1;
    for (size_t i = 1; i <= numbers; i++) token[i] = x;
    token[last] = (uint32_t)m + y;
    CHECK(rung_fmt_parse(&fmt, "f64", &check_err));
    CHECK(rung_program_new(&program, model, &(rung_evaluator){.numbers = &fmt, .threads = 1}, &check_err));
    CHECK(rung_session_new(&session, program, 16, &check_err));
    CHECK(rung_session_run(session, out, &(rung_prompt){.token = token, .tokens = last + 1}, RUNG_FORM_SCAN, &last, 1,
                           &check_err));
    rung_session_free(session);
    rung_program_free(program);
    return rung_argmax(out, 2);
}

/* The condition on the gap is sharp: what is enough for 4 numbers is too little for 5. */
static void the_least_gap_is_enough_for_n_numbers_and_no_more(void **state)
{
    static const char text[] = "two-sum M=6 N=4 gap=2.78";
    rung_build b = build_of(text);
    rung_model *model = model_of(&b);
    (void)state;
    assert_int_equal(wrong_of(text, "f64", 0), 0);
    assert_int_equal(answer_to_copies(model, 6, 4, 1, 4), 0);
    assert_int_equal(answer_to_copies(model, 6, 5, 1, 4), 1);
    rung_model_close(model);
}

/* Rows and columns of embed.weight: keys, queries (3 each, 4 where a number must not find itself), value, ... */
static void one_wrong_weight_is_noticed(void **state)
{
    static const char query[] = "two-sum M=4 N=4", position[] = "two-sum M=6 N=4 form=position self=0";
    static const char global[] = "two-sum M=4 N=3 form=global", dsa[] = "two-sum M=4 N=3 by=dsa";
    (void)state;
    assert_true(goes_wrong_with(query, "f32", 0, "embed.weight", 8 * 9 + 2, 1));      /* the blank above a match */
    assert_true(goes_wrong_with(query, "f32", 0, "embed.weight", 8 * 9 + 6, 1));      /* the blank says yes */
    assert_true(goes_wrong_with(query, "f32", 0, "embed.weight", 1 * 9 + 1, -2));     /* 1 stands where 3 does */
    assert_true(goes_wrong_with(position, "f32", 0, "embed.weight", 3 * 11 + 3, 2));  /* M/2 counts as 0 */
    assert_true(goes_wrong_with(position, "f32", 0, "embed.weight", 0 * 11 + 6, -1)); /* 0 finds itself */
    assert_true(goes_wrong_with(global, "f32", 0, "embed.weight", 4 * 14 + 6, -9));   /* the last token has a flag */
    assert_true(goes_wrong_with(global, "f32", 0, "embed.weight", 4 * 14 + 11, -9));  /* an average, not an or */
    assert_true(goes_wrong_with(dsa, "f32", 0, "embed.weight", 8 * 8 + 4, -4));       /* the blank passes for a 0 */
    assert_true(goes_wrong_with(dsa, "f32", 0, "embed.weight", 1 * 8 + 4, -1));       /* 1 says that it is no 1 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_prompt_is_right),
        cmocka_unit_test(large_prompts_are_right),
        cmocka_unit_test(a_number_is_not_its_own_partner),
        cmocka_unit_test(the_mantissa_grows_with_twice_the_bits_of_the_modulus),
        cmocka_unit_test(parameters_that_are_not_right_are_refused),
        cmocka_unit_test(the_least_gap_is_enough_for_n_numbers_and_no_more),
        cmocka_unit_test(one_wrong_weight_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
