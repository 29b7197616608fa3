/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * palindrome, stacks, state-recall, parity-recall, variable-tracking: the answers by reading the words of a prompt
 * from its end, prompts that are none, what the generator draws, and levels.
 */
#include "reading.h"

enum { WORDS_MAX = 4096, WORD_LEN = 24 };

typedef struct words {
    size_t count;
    char word[WORDS_MAX][WORD_LEN];
} words;

static const words *words_of(const rung_instance *prompt, const rung_task_conf *conf)
{
    static words w;
    rung_buf text;
    char *rest = NULL;
    rung_buf_init(&text);
    rung_task_symbols_write(&text, prompt, conf);
    w.count = 0;
    for (char *word = strtok_r(text.text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        assert_true(w.count < WORDS_MAX && strlen(word) < WORD_LEN);
        strcpy(w.word[w.count++], word);
    }
    rung_buf_clear(&text);
    assert_int_equal(w.count, prompt->tokens);
    return &w;
}

static int number_after(const char *word, const char *before)
{
    const char *at = strstr(word, before);
    assert_non_null(at);
    return atoi(at + strlen(before));
}

/* ---- second oracles ------------------------------------------------------------------------------------------------ */

/* Every question takes the last symbol that is left. */
static void brute_palindrome(int32_t *want, const rung_instance *prompt, const rung_task_conf *conf)
{
    const words *w = words_of(prompt, conf);
    int left[WORDS_MAX];
    size_t count = 0;
    for (size_t t = 0; t < w->count; t++) {
        if (w->word[t][0] == 's')
            left[count++] = number_after(w->word[t], "s");
        else
            want[t] = left[--count];
    }
    assert_int_equal(count, 0);
}

/* The push that a pop undoes is the nearest one before it with as many pushes as pops of the stack in between. */
static void brute_stacks(int32_t *want, const rung_instance *prompt, const rung_task_conf *conf)
{
    const words *w = words_of(prompt, conf);
    for (size_t t = 0; t < w->count; t++) {
        char push[WORD_LEN + 8], pop[WORD_LEN + 8];
        int open = 0;
        if (strncmp(w->word[t], "pop", 3) != 0) continue;
        int stack = number_after(w->word[t], "pop");
        snprintf(push, sizeof push, "push%d:", stack), snprintf(pop, sizeof pop, "pop%d", stack);
        for (size_t s = t; s-- > 0 && want[t] == RUNG_NO_TARGET;) {
            if (strcmp(w->word[s], pop) == 0) open++;
            if (strncmp(w->word[s], push, strlen(push)) != 0) continue;
            if (open-- == 0) want[t] = number_after(w->word[s], ":v");
        }
        assert_true(want[t] != RUNG_NO_TARGET);
    }
}

/* Where the content of the asked register was before each step, from the last to the first. */
static void brute_state_recall(int32_t *want, const rung_instance *prompt, const rung_task_conf *conf)
{
    const words *w = words_of(prompt, conf);
    size_t N = (size_t)rung_task_param(conf, "N"), K = (size_t)rung_task_param(conf, "K"), t = w->count - 1;
    int where = number_after(w->word[t], "r");
    while (t-- > N + K) {
        int a = number_after(w->word[t], "r"), b = number_after(w->word[t], "-r");
        assert_true(a < b && b < (int)K);
        where = where == a ? b : where == b ? a : where;
    }
    want[w->count - 1] = number_after(w->word[number_after(w->word[N + (size_t)where], "p")], "v");
}

static void brute_parity_recall(int32_t *want, const rung_instance *prompt, const rung_task_conf *conf)
{
    const words *w = words_of(prompt, conf);
    size_t ones = 0, key = 2 * (size_t)rung_task_param(conf, "N");
    for (size_t t = 0; t < w->count; t++) ones += strcmp(w->word[t], "b1") == 0;
    int entry = 2 * number_after(w->word[key], "x") + (ones % 2 ? 1 : 0);
    want[w->count - 1] = number_after(w->word[entry], "v");
}

/* Follows the names back to a value. */
static void brute_variable_tracking(int32_t *want, const rung_instance *prompt, const rung_task_conf *conf)
{
    const words *w = words_of(prompt, conf);
    int name = number_after(w->word[w->count - 1], "x");
    for (int64_t hops = 0; hops <= rung_task_param(conf, "hops") && want[w->count - 1] == RUNG_NO_TARGET; hops++) {
        char start[WORD_LEN + 8];
        size_t found = 0, at = 0;
        snprintf(start, sizeof start, "x%d=", name);
        for (size_t t = 0; t < w->count; t++)
            if (strncmp(w->word[t], start, strlen(start)) == 0) at = t, found++;
        assert_int_equal(found, 1);
        if (strstr(w->word[at], "=v"))
            want[w->count - 1] = number_after(w->word[at], "=v");
        else
            name = number_after(w->word[at], "=x");
    }
}

static const sequence_case cases[] = {
    {"palindrome", brute_palindrome},
    {"palindrome N=1 V=2", brute_palindrome},
    {"palindrome N=40 V=3", brute_palindrome},
    {"stacks", brute_stacks},
    {"stacks T=2 S=1 V=2", brute_stacks},
    {"stacks T=3 S=2 V=2", brute_stacks},
    {"stacks T=9 S=1 V=5", brute_stacks},
    {"stacks T=200 S=64 V=30", brute_stacks},
    {"state-recall", brute_state_recall},
    {"state-recall N=1 V=2 K=2 M=1", brute_state_recall},
    {"state-recall N=50 V=3 K=64 M=40", brute_state_recall},
    {"parity-recall", brute_parity_recall},
    {"parity-recall N=1 V=2 M=1", brute_parity_recall},
    {"parity-recall N=30 V=5 M=40", brute_parity_recall},
    {"variable-tracking", brute_variable_tracking},
    {"variable-tracking chains=1 hops=0 V=2", brute_variable_tracking},
    {"variable-tracking chains=5 hops=0 K=9", brute_variable_tracking},
    {"variable-tracking chains=1 hops=7 V=3", brute_variable_tracking},
    {"variable-tracking chains=3 hops=5 K=30", brute_variable_tracking},
};

static void answers_follow_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_against_brute_force(&cases[i], 100);
}

static void foreign_tokens_and_lengths_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_refusals(&cases[i]);
}

static void random_ids_are_refused_or_solved(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_random_ids(&cases[i], 300);
}

static void nothing_leaks_and_words_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        prompts_no_leak(cases[i].text, 1000);
        prompts_text_round_trip(cases[i].text);
    }
}

/* Prompts that no generator makes, too. */
static void every_prompt_of_small_sizes_has_the_answers_of_the_definition(void **state)
{
    static const sequence_case small[] = {
        {"palindrome N=3 V=3", brute_palindrome},
        {"stacks T=5 S=2 V=2", brute_stacks},
        {"state-recall N=2 V=2 K=3 M=3", brute_state_recall},
        {"parity-recall N=2 V=2 M=4", brute_parity_recall},
        {"variable-tracking chains=1 hops=2 V=2", brute_variable_tracking},
        {"variable-tracking chains=3 hops=0 V=2", brute_variable_tracking},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(small); i++) {
        prompts p;
        int32_t want[16];
        prompts_open(&p, small[i].text);
        for (uint64_t n = 0; n < rung_task_space(&p.conf); n++) {
            bool is_prompt;
            assert_int_equal(rung_task_unrank(&p.in, &is_prompt, &p.conf, n, &p.err), RUNG_OK);
            if (is_prompt) check_instance(want, &p, &small[i], n);
        }
        prompts_close(&p);
    }
}

static void prompts_by_hand_have_the_answers_by_hand(void **state)
{
    (void)state;
    check_by_hand("palindrome N=3 V=9", "s7 s0 s2 < < <", "s2 s0 s7");
    check_by_hand("stacks T=7 S=2 V=9", "push0:v4 push1:v5 push0:v6 pop0 pop1 pop0 push1:v1", "v6 v5 v4");
    check_by_hand("state-recall N=3 V=9 K=3 M=2", "v7 v8 v5 p2 p0 p1 r0-r1 r1-r2 r2?", "v5"); /* r0 to r1 to r2 */
    check_by_hand("state-recall N=3 V=9 K=3 M=2", "v7 v8 v5 p2 p0 p1 r0-r1 r1-r2 r0?", "v7");
    check_by_hand("parity-recall N=2 V=9 M=3", "v1 v2 v3 v4 x1 b1 b0 b1 ?", "v3");
    check_by_hand("parity-recall N=2 V=9 M=3", "v1 v2 v3 v4 x1 b1 b1 b1 ?", "v4");
    check_by_hand("variable-tracking chains=2 hops=1 V=9", "x2=v7 x0=x2 x3=v1 x1=x2 x1?", "v7");
    check_by_hand("variable-tracking chains=2 hops=1 V=9", "x2=v7 x0=x2 x3=v1 x1=x2 x3?", "v1");
}

static void what_is_no_prompt_is_refused(void **state)
{
    (void)state;
    check_no_prompt("palindrome N=2 V=3", "s0 s1 s2 <");
    check_no_prompt("palindrome N=2 V=3", "s0 < < <");
    check_no_prompt("stacks T=4 S=2 V=3", "push0:v1 pop0 pop0 push0:v1"); /* empty again */
    check_no_prompt("stacks T=4 S=2 V=3", "push0:v1 pop1 push1:v0 pop0"); /* another stack */
    check_no_prompt("stacks T=2 S=1 V=2", "push0:v1 push0:v1");           /* asks nothing */
    check_no_prompt("state-recall N=2 V=2 K=2 M=1", "v0 v1 p0 p1 r0? r0?");
    check_no_prompt("parity-recall N=1 V=2 M=1", "v0 v1 x0 ? ?");
    check_no_prompt("variable-tracking chains=2 hops=1 V=2", "x0=v1 x0=v1 x1=v0 x2=v0 x0?"); /* again */
    check_no_prompt("variable-tracking chains=2 hops=1 V=2", "x0=x1 x1=v1 x2=v0 x3=v0 x0?"); /* not yet */
    check_no_prompt("variable-tracking chains=2 hops=1 V=2", "x0=x0 x1=v1 x2=v0 x3=v0 x0?"); /* itself */
    check_no_prompt("variable-tracking chains=2 hops=1 V=2", "x0=v0 x1=x0 x2=x1 x3=v0 x0?"); /* two copies */
    check_no_prompt("variable-tracking chains=2 hops=1 V=2 K=5", "x0=v0 x1=x0 x2=v1 x3=v0 x4?");
    prompts_not_a_task("state-recall K=1");
    prompts_not_a_task("variable-tracking chains=3 hops=2 K=8");
    prompts_not_a_task("variable-tracking chains=4096 hops=4096");
    prompts_not_a_task("stacks T=1");
}

/* ---- what is drawn --------------------------------------------------------------------------------------------------- */

/* Every state and every entry is asked for equally often. */
static void what_is_asked_for_is_uniform(void **state)
{
    (void)state;
    enum { RUNS = 6000 };
    prompts p;
    size_t parity[2] = {0}, key[3] = {0}, pointer[4] = {0};
    prompts_open(&p, "parity-recall N=3 V=4 M=5");
    for (size_t run = 0; run < RUNS; run++) {
        prompts_make(&p, run);
        size_t ones = 0;
        for (size_t t = 7; t < 12; t++) ones += p.in.token[t] == 4 + 3 + 1;
        parity[ones % 2]++, key[p.in.token[6] - 4]++;
    }
    prompts_close(&p);
    assert_near_binomial(parity[1], RUNS, 0.5);
    for (size_t x = 0; x < 3; x++) assert_near_binomial(key[x], RUNS, 1.0 / 3);
    prompts_open(&p, "state-recall N=4 V=4 K=3 M=5");
    for (size_t run = 0; run < RUNS; run++) {
        prompts_make(&p, run);
        for (uint32_t i = 0; i < 4; i++) p.in.token[i] = i; /* an array of its own places */
        assert_int_equal(prompts_solve(&p), RUNG_OK);
        pointer[last_target(&p)]++;
    }
    prompts_close(&p);
    for (size_t i = 0; i < 4; i++) assert_near_binomial(pointer[i], RUNS, 0.25);
}

/* Every chain is as long as hops says, its end is asked for, and names say nothing about chains. */
static void chains_have_their_length_and_random_names(void **state)
{
    (void)state;
    enum { RUNS = 4000, NAMES = 7, SOURCES = 5 + NAMES };
    prompts p;
    size_t asked[NAMES] = {0}, first[NAMES] = {0};
    prompts_open(&p, "variable-tracking chains=2 hops=2 V=5 K=7");
    for (size_t run = 0; run < RUNS; run++) {
        size_t copies = 0, used[NAMES] = {0};
        prompts_make(&p, run);
        for (size_t t = 0; t < 6; t++) {
            size_t source = p.in.token[t] % SOURCES;
            if (source >= 5) copies++, used[source - 5]++;
        }
        assert_int_equal(copies, 4);
        for (size_t x = 0; x < NAMES; x++) assert_true(used[x] <= 1); /* chains do not fork */
        size_t name = p.in.token[6] - NAMES * SOURCES;
        assert_int_equal(used[name], 0);
        asked[name]++, first[p.in.token[0] / SOURCES]++;
    }
    for (size_t x = 0; x < NAMES; x++) {
        assert_near_binomial(asked[x], RUNS, 1.0 / NAMES);
        assert_near_binomial(first[x], RUNS, 1.0 / NAMES);
    }
    prompts_close(&p);
}

/* The last operation is a pop; half of the others are, up to those that empty stacks forbid. */
static void stacks_push_and_pop(void **state)
{
    (void)state;
    static const char *const texts[] = {"stacks T=2 S=1 V=2", "stacks T=3 S=1 V=2", "stacks T=40 S=3 V=4",
                                        "stacks T=41 S=3 V=4"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        prompts p;
        size_t pops = 0, first = 0, runs = 500;
        prompts_open(&p, texts[i]);
        size_t from = p.conf.vocab - (size_t)rung_task_param(&p.conf, "S");
        for (size_t run = 0; run < runs; run++) {
            prompts_make(&p, run);
            assert_true(p.in.target[p.conf.tokens - 1] != RUNG_NO_TARGET);
            for (size_t t = 0; t < p.conf.tokens; t++) pops += p.in.token[t] >= from;
            first += p.in.token[0] / p.conf.answers == 0;
        }
        assert_near_binomial(first, runs, 1.0 / (double)rung_task_param(&p.conf, "S"));
        double share = (double)pops / (double)(runs * p.conf.tokens);
        assert_true(share <= 0.5 && share > 0.3);
        prompts_close(&p);
    }
}

static void levels_are_those_of_random_tables(void **state)
{
    (void)state;
    assert_true(fabs(majority_of("palindrome N=2 V=2") - 0.75) < 1e-12);
    assert_true(fabs(majority_of("parity-recall N=1 V=2") - 0.75) < 1e-12);
    assert_true(fabs(majority_of("state-recall N=2 V=2") - 0.75) < 1e-12);
    assert_true(fabs(majority_of("variable-tracking chains=2 V=2") - 0.75) < 1e-12);
    assert_true(majority_of("variable-tracking chains=1 V=2") == 1); /* only one value is there */
}

static void players_hold_their_parts(void **state)
{
    (void)state;
    prompts_players("palindrome N=3", "sequence questions", (const size_t[]){0, 3});
    prompts_players("state-recall N=4 K=2 M=3", "array registers steps query", (const size_t[]){0, 4, 6, 9});
    prompts_players("parity-recall N=4 M=3", "tables key bits query", (const size_t[]){0, 8, 9, 12});
    prompts_players("variable-tracking chains=2 hops=1", "assignments query", (const size_t[]){0, 4});
    prompts_players("stacks T=6", "context query", (const size_t[]){0, 5});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_the_definition),
        cmocka_unit_test(foreign_tokens_and_lengths_are_refused),
        cmocka_unit_test(random_ids_are_refused_or_solved),
        cmocka_unit_test(nothing_leaks_and_words_read_back),
        cmocka_unit_test(every_prompt_of_small_sizes_has_the_answers_of_the_definition),
        cmocka_unit_test(prompts_by_hand_have_the_answers_by_hand),
        cmocka_unit_test(what_is_no_prompt_is_refused),
        cmocka_unit_test(what_is_asked_for_is_uniform),
        cmocka_unit_test(chains_have_their_length_and_random_names),
        cmocka_unit_test(stacks_push_and_pop),
        cmocka_unit_test(levels_are_those_of_random_tables),
        cmocka_unit_test(players_hold_their_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
