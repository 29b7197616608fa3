/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * string-equality and disjointness: the answers against a loop over the places, and the promises of their
 * generators: one half alone, or the number of ones, says nothing.
 */
#include "prompts.h"

typedef struct tally {
    size_t ones_first, ones_second, different, common;
} tally;

static tally count_places(const prompts *p)
{
    tally c = {0};
    size_t n = p->in.tokens / 2;
    for (size_t i = 0; i < n; i++) {
        uint32_t a = p->in.token[i], b = p->in.token[n + i] - 2;
        assert_in_range(a, 0, 1);
        assert_in_range(b, 0, 1);
        c.ones_first += a;
        c.ones_second += b;
        c.different += a != b;
        c.common += a && b;
    }
    return c;
}

static const char *const equalities[] = {
    "string-equality",           "string-equality N=1",
    "string-equality N=2",       "string-equality N=1 dist=hard",
    "string-equality dist=hard", "string-equality N=5 flips=2 dist=hard",
};

static const char *const disjointnesses[] = {
    "disjointness",           "disjointness N=2",           "disjointness N=9 k=4",
    "disjointness N=40 k=1",  "disjointness N=2 dist=hard", "disjointness N=9 k=4 dist=hard",
    "disjointness dist=hard",
};

static void check_answer(const prompts *p, int32_t want)
{
    size_t last = p->in.tokens - 1;
    for (size_t t = 0; t < last; t++) assert_int_equal(p->in.target[t], RUNG_NO_TARGET);
    assert_int_equal(p->in.target[last], want);
}

/* Generated prompts, and prompts of independent bits. */
static void compare_with_places(const char *text, bool equality)
{
    prompts p;
    rung_rng rng;
    prompts_open(&p, text);
    rung_rng_init(&rng, 5, 0, 0);
    for (uint64_t i = 0; i < 500; i++) {
        prompts_make(&p, i);
        tally c = count_places(&p);
        check_answer(&p, equality ? c.different == 0 : c.common > 0);
        uint64_t rare = 1 + rung_rng_below(&rng, 6);
        for (size_t t = 0; t < p.in.tokens; t++)
            p.in.token[t] = (t < p.in.tokens / 2 ? 0 : 2) + (rung_rng_below(&rng, rare) == 0);
        assert_int_equal(prompts_solve(&p), RUNG_OK);
        c = count_places(&p);
        check_answer(&p, equality ? c.different == 0 : c.common > 0);
    }
    prompts_close(&p);
}

static void oracles_agree_with_a_loop_over_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(equalities); i++) compare_with_places(equalities[i], true);
    for (size_t i = 0; i < RUNG_COUNT(disjointnesses); i++) compare_with_places(disjointnesses[i], false);
}

static void yes_is_as_frequent_as_no(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(equalities); i++) prompts_balanced(equalities[i], 3000);
    for (size_t i = 0; i < RUNG_COUNT(disjointnesses); i++) prompts_balanced(disjointnesses[i], 3000);
}

static void no_predictor_without_attention_beats_a_coin(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(equalities); i++) prompts_no_leak(equalities[i], 2000);
    for (size_t i = 0; i < RUNG_COUNT(disjointnesses); i++) prompts_no_leak(disjointnesses[i], 2000);
}

/* Counts every value of one half; each must be followed (or preceded) by yes as often as by no. */
static void half_is_independent_of_answer(const char *text, size_t first)
{
    prompts p;
    size_t seen[64] = {0}, yes[64] = {0}, bits;
    prompts_open(&p, text);
    bits = p.conf.tokens / 2;
    assert_true(bits <= 6);
    for (uint64_t i = 0; i < 40000; i++) {
        prompts_make(&p, i);
        size_t value = 0;
        for (size_t t = 0; t < bits; t++) value = 2 * value + p.in.token[first * bits + t] % 2;
        seen[value]++;
        yes[value] += p.in.target[2 * bits - 1] == 1;
    }
    for (size_t v = 0; v < 64; v++) prompts_fair(yes[v], seen[v], text, v);
    prompts_close(&p);
}

static void one_half_alone_says_nothing(void **state)
{
    (void)state;
    const char *const tasks[] = {
        "string-equality N=3",  "string-equality N=3 dist=hard",  "disjointness N=5 k=2",
        "disjointness N=6 k=1", "disjointness N=6 k=2 dist=hard",
    };
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++)
        for (size_t half = 0; half < 2; half++) half_is_independent_of_answer(tasks[i], half);
}

static void near_misses_differ_in_exactly_the_asked_number_of_places(void **state)
{
    (void)state;
    prompts p;
    for (size_t flips = 1; flips <= 3; flips++) {
        char text[80];
        size_t at[8] = {0};
        snprintf(text, sizeof text, "string-equality N=8 dist=hard flips=%zu", flips);
        prompts_open(&p, text);
        for (uint64_t i = 0; i < 4000; i++) {
            prompts_make(&p, i);
            tally c = count_places(&p);
            assert_int_equal(c.different, p.in.target[15] ? 0 : flips);
            for (size_t t = 0; t < 8; t++) at[t] += p.in.token[t] + 2 != p.in.token[8 + t];
        }
        for (size_t t = 0; t < 8; t++) assert_in_range(at[t], 200 * flips, 300 * flips); /* 2000 flips / 8 */
        prompts_close(&p);
    }
}

static void sets_have_k_elements_and_meet_as_promised(void **state)
{
    (void)state;
    prompts p;
    size_t more_than_once = 0;
    for (int hard = 0; hard < 2; hard++) {
        prompts_open(&p, hard ? "disjointness N=19 dist=hard" : "disjointness N=19");
        for (uint64_t i = 0; i < 1000; i++) {
            prompts_make(&p, i);
            tally c = count_places(&p);
            assert_int_equal(c.ones_first, 5); /* (19+1)/4 */
            assert_int_equal(c.ones_second, 5);
            if (hard) assert_true(c.common <= 1);
            more_than_once += c.common > 1;
        }
        prompts_close(&p);
    }
    assert_true(more_than_once > 100);
}

static void examples(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "string-equality N=3");
    assert_int_equal(prompts_answer(&p, "u0 u1 u1 v0 v1 v1"), 1);
    assert_int_equal(prompts_answer(&p, "u0 u1 u1 v1 v1 v0"), 0);
    assert_int_equal(prompts_answer(&p, "u0 u0 u0 v0 v0 v1"), 0);
    prompts_close(&p);
    prompts_open(&p, "disjointness N=3");
    assert_int_equal(prompts_answer(&p, "a0 a1 a1 b1 b0 b0"), 0);
    assert_int_equal(prompts_answer(&p, "a0 a1 a1 b1 b0 b1"), 1);
    assert_int_equal(prompts_answer(&p, "a0 a0 a0 b0 b0 b0"), 0);
    assert_int_equal(prompts_answer(&p, "a1 a0 a0 b1 b0 b0"), 1);
    rung_buf word;
    rung_buf_init(&word);
    rung_task_answer_write(&word, &p.conf, 0);
    rung_task_answer_write(&word, &p.conf, 1);
    assert_string_equal(word.text, "noyes");
    rung_buf_clear(&word);
    prompts_close(&p);
}

static void bits_on_the_wrong_side_are_refused(void **state)
{
    (void)state;
    const char *const tasks[] = {"string-equality N=3", "disjointness N=3"};
    const struct {
        size_t position;
        uint32_t token;
        const char *place;
    } bad[] = {{0, 2, "position 0"}, {2, 3, "position 2"}, {3, 1, "position 3"}, {5, 4, "position 5"}};
    prompts p;
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++) {
        prompts_open(&p, tasks[i]);
        for (size_t b = 0; b < RUNG_COUNT(bad); b++) {
            prompts_make(&p, b);
            p.in.token[bad[b].position] = bad[b].token;
            prompts_refused(&p, bad[b].place);
        }
        prompts_make(&p, 0);
        p.in.tokens = 5;
        prompts_refused(&p, "5 tokens");
        prompts_close(&p);
    }
}

static void impossible_parameters_are_refused(void **state)
{
    (void)state;
    prompts_not_a_task("string-equality N=4 flips=5 dist=hard");
    prompts_not_a_task("string-equality N=4 flips=2");
    prompts_not_a_task("disjointness N=9 k=5");
    prompts_not_a_task("disjointness N=1");
}

static void players_and_words(void **state)
{
    (void)state;
    prompts_players("string-equality N=5", "alice bob", (size_t[]){0, 5});
    prompts_players("disjointness N=5", "alice bob", (size_t[]){0, 5});
    prompts_text_round_trip("string-equality N=2");
    prompts_text_round_trip("disjointness N=2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_agree_with_a_loop_over_places),
        cmocka_unit_test(yes_is_as_frequent_as_no),
        cmocka_unit_test(no_predictor_without_attention_beats_a_coin),
        cmocka_unit_test(one_half_alone_says_nothing),
        cmocka_unit_test(near_misses_differ_in_exactly_the_asked_number_of_places),
        cmocka_unit_test(sets_have_k_elements_and_meet_as_promised),
        cmocka_unit_test(examples),
        cmocka_unit_test(bits_on_the_wrong_side_are_refused),
        cmocka_unit_test(impossible_parameters_are_refused),
        cmocka_unit_test(players_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
