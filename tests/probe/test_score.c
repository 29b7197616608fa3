/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Scores: what counts as an answer, and as how likely.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "rung/probe.h"

static const char *const answers[] = {"stone", "river", "star", "none"};

static rung_reply reply_of(const char *text, const rung_option_token *top, size_t tops)
{
    rung_reply r = {.text = text, .reasoning = "", .finish = "length", .tops = tops, .logprobs = tops > 0};
    for (size_t i = 0; i < tops; i++) r.top[i] = top[i];
    return r;
}

/* " river" 0.3 + "river" 0.25 beat " stone" 0.4. */
static void spellings_of_an_answer_are_added(void **state)
{
    (void)state;
    const rung_option_token top[] = {
        {" stone", log(0.4)}, {" river", log(0.3)}, {"river", log(0.25)}, {"\n", log(0.05)}};
    rung_reply r = reply_of(" stone", top, 4);
    rung_score s = rung_score_first(&r, answers, 4, 1, false);
    assert_true(s.right);
    assert_int_equal(s.said, 1);
    assert_true(fabs(s.mass - 0.55) < 1e-12);
    assert_false(s.text_right); /* the text says stone */
    s = rung_score_first(&r, answers, 4, 0, false);
    assert_false(s.right);
    assert_true(s.text_right);
    s = rung_score_first(&r, answers, 4, 2, false);
    assert_true(isnan(s.mass)); /* not listed: not known */
}

static void spaces_of_tokenizers_are_spaces(void **state)
{
    (void)state;
    static const char *const spellings[] = {"stone", " stone", "\xe2\x96\x81stone", "\xc4\xa0stone", "\n stone"};
    for (size_t i = 0; i < RUNG_COUNT(spellings); i++) {
        const rung_option_token top[] = {{spellings[i], log(0.9)}};
        rung_reply r = reply_of(spellings[i], top, 1);
        assert_true(rung_score_first(&r, answers, 4, 0, false).right);
    }
}

static void no_answer_among_the_likeliest_is_off(void **state)
{
    (void)state;
    const rung_option_token top[] = {{" The", log(0.9)}, {" Stone.", log(0.05)}, {" ", log(0.01)}, {"", log(0.01)}};
    rung_reply r = reply_of(" The", top, 4);
    rung_score s = rung_score_first(&r, answers, 4, 0, false);
    assert_true(s.off);
    assert_false(s.right);
    assert_int_equal(s.said, SIZE_MAX);
}

/* "riv" begins one answer, "st" two. */
static void beginnings_count_in_chats_when_they_are_unique(void **state)
{
    (void)state;
    const rung_option_token top[] = {{"st", log(0.6)}, {"riv", log(0.3)}};
    rung_reply r = reply_of("st", top, 2);
    assert_true(rung_score_first(&r, answers, 4, 1, false).off);
    rung_score s = rung_score_first(&r, answers, 4, 1, true);
    assert_true(s.right);
    assert_true(fabs(s.mass - 0.3) < 1e-12);
    assert_false(s.text_right);
}

static void thinking_counts_the_last_answer(void **state)
{
    (void)state;
    rung_reply r = reply_of("Answer: river? No.\nThe answer: **Stone**.", NULL, 0);
    r.finish = "stop";
    rung_score s = rung_score_chain_of_thought(&r, answers, 4, 0);
    assert_true(s.right);
    assert_false(s.cut || s.off);
    r.finish = "length"; /* not at its end: no answer, whatever it says so far */
    s = rung_score_chain_of_thought(&r, answers, 4, 0);
    assert_true(s.cut);
    assert_false(s.right || s.text_right);
    r = reply_of("I do not know.", NULL, 0);
    r.finish = "stop";
    assert_true(rung_score_chain_of_thought(&r, answers, 4, 0).off);
    r = reply_of("Answer:", NULL, 0);
    r.finish = "stop";
    assert_true(rung_score_chain_of_thought(&r, answers, 4, 0).off);
    r = reply_of("Answer: stones", NULL, 0);
    r.finish = "stop";
    assert_false(rung_score_chain_of_thought(&r, answers, 4, 0).right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_of_an_answer_are_added),
        cmocka_unit_test(spaces_of_tokenizers_are_spaces),
        cmocka_unit_test(no_answer_among_the_likeliest_is_off),
        cmocka_unit_test(beginnings_count_in_chats_when_they_are_unique),
        cmocka_unit_test(thinking_counts_the_last_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
