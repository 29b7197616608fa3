/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * self-compose: every table of 2, 3 and 4 entries by the definition, tables as likely as they should be, and levels as the
 * mean over all tables of the best guess from the counts.
 */
#include "reading.h"

#define TABLES_MAX 256 /* 4^4 */

/* Tables by number: entry x is digit x. The answer goes through pairs (x, f(x)), not through an index. */
typedef struct table {
    uint32_t f[4];
    uint32_t twice;
} table;

static size_t power(size_t base, size_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

static table nth_table(size_t code, size_t n)
{
    table t = {{0}, 0};
    for (size_t x = 0; x < n; x++, code /= n) t.f[x] = (uint32_t)(code % n);
    for (uint32_t once = 0; once < n; once++)
        for (uint32_t twice = 0; twice < n; twice++)
            if (t.f[0] == once && t.f[once] == twice) t.twice = twice;
    return t;
}

static size_t code_of(const uint32_t *f, size_t n)
{
    size_t code = 0;
    for (size_t x = n; x-- > 0;) code = code * n + f[x];
    return code;
}

static void open_n(prompts *p, size_t n, const char *ask)
{
    char text[64];
    snprintf(text, sizeof text, "self-compose N=%zu ask=%s", n, ask);
    prompts_open(p, text);
}

static void every_table_has_the_answer_of_the_definition(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 4; n++) {
        prompts zero, value;
        open_n(&zero, n, "zero");
        open_n(&value, n, "value");
        assert_int_equal(rung_task_space(&zero.conf), power(n, n));
        size_t yes = 0;
        for (size_t i = 0; i < power(n, n); i++) {
            bool is_prompt;
            assert_int_equal(rung_task_unrank(&zero.in, &is_prompt, &zero.conf, i, &zero.err), RUNG_OK);
            assert_int_equal(rung_task_unrank(&value.in, &is_prompt, &value.conf, i, &value.err), RUNG_OK);
            assert_true(is_prompt && zero.in.token[n] == n);
            table t = nth_table(code_of(zero.in.token, n), n);
            assert_int_equal(last_target(&value), t.twice);
            assert_int_equal(last_target(&zero), t.twice == 0);
            yes += t.twice == 0;
        }
        assert_int_equal(yes, power(n, n - 2) * (2 * n - 1));
        prompts_close(&zero);
        prompts_close(&value);
    }
}

/* Pearson's statistic of k+1 equally likely cells is chi-square with k degrees of freedom, which exceeds k + 2 sqrt(kx) + 2x
 * with probability at most e^-x (Laurent and Massart); x = 15. The seed is fixed: no run differs from another. */
static void assert_equally_likely(const size_t *count, const bool *counts, size_t cells, size_t draws)
{
    size_t members = 0;
    double statistic = 0;
    for (size_t i = 0; i < cells; i++) members += counts[i];
    for (size_t i = 0; i < cells; i++) {
        if (!counts[i]) continue;
        double want = (double)draws / (double)members, off = (double)count[i] - want;
        statistic += off * off / want;
    }
    double k = (double)members - 1, most = k + 2 * sqrt(15 * k) + 2 * 15;
    if (statistic > most) fail_msg("chi-square %g of %zu tables, at most %g", statistic, members, most);
}

/* Of many draws, every table with the answer occurs equally often, and half of the draws have either answer. */
static void tables_of_either_answer_are_equally_likely(void **state)
{
    (void)state;
    enum { RUNS = 200000 };
    for (size_t n = 2; n <= 4; n++) {
        static size_t count[TABLES_MAX];
        bool member[2][TABLES_MAX] = {{false}};
        prompts p;
        open_n(&p, n, "zero");
        size_t tables = power(n, n), draws[2] = {0};
        memset(count, 0, sizeof count);
        for (size_t i = 0; i < tables; i++) member[nth_table(i, n).twice == 0][i] = true;
        for (uint64_t i = 0; i < RUNS; i++) {
            prompts_make(&p, i);
            size_t code = code_of(p.in.token, n);
            count[code]++;
            draws[member[1][code]]++;
        }
        prompts_fair(draws[1], RUNS, "yes", n);
        assert_equally_likely(count, member[0], tables, draws[0]);
        assert_equally_likely(count, member[1], tables, draws[1]);
        prompts_close(&p);
    }
}

static void tables_whose_value_is_asked_are_uniform(void **state)
{
    (void)state;
    enum { RUNS = 60000 };
    size_t count[27] = {0};
    bool member[27];
    prompts p;
    memset(member, true, sizeof member);
    open_n(&p, 3, "value");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        count[code_of(p.in.token, 3)]++;
    }
    assert_equally_likely(count, member, 27, RUNS);
    prompts_close(&p);
}

/* At a size that cannot be enumerated: f(0) = 0 in N of 2N-1 yeses, in no no; the other values of f(0), those of f(f(0)) of a
 * no, and entries that do not matter are uniform. */
static void long_tables_are_drawn_as_counted(void **state)
{
    (void)state;
    enum { RUNS = 40000, N = 25 };
    size_t yes = 0, at_once = 0, first[N] = {0}, second[N] = {0}, other = 0;
    prompts p;
    prompts_open(&p, "self-compose");
    assert_int_equal(p.conf.tokens, N + 1);
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        const uint32_t *f = p.in.token;
        yes += last_target(&p) == 1;
        at_once += f[0] == 0;
        assert_true(f[0] != 0 || last_target(&p) == 1);
        if (f[0]) first[f[0]]++;
        if (!last_target(&p)) second[f[f[0]]]++;
        other += f[f[0] == 7 ? 8 : 7] == 3; /* a place that nothing leads to */
    }
    prompts_fair(yes, RUNS, "yes", N);
    assert_near_binomial(at_once, yes, (double)N / (2 * N - 1));
    for (size_t v = 1; v < N; v++) assert_near_binomial(first[v], RUNS - at_once, 1.0 / (N - 1));
    for (size_t v = 1; v < N; v++) assert_near_binomial(second[v], RUNS - yes, 1.0 / (N - 1));
    assert_near_binomial(other, RUNS, 1.0 / N);
    prompts_close(&p);
}

/* ---- levels ---------------------------------------------------------------------------------------------------------- */

/* How often each value occurs, as one number. */
static size_t counts_of(const table *t, size_t n)
{
    size_t code = 0;
    for (size_t x = 0; x < n; x++) code += power(n + 1, t->f[x]);
    return code;
}

/* The best guess from the counts alone, over all tables: weight[a] is what a table with answer a weighs. */
static double best_from_counts(size_t n, bool value, const double weight[2])
{
    static double sum[1024][4]; /* 5^4 counts */
    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < power(n, n); i++) {
        table t = nth_table(i, n);
        size_t answer = value ? t.twice : t.twice == 0;
        sum[counts_of(&t, n)][answer] += value ? 1 / (double)power(n, n) : weight[answer];
    }
    double level = 0;
    for (size_t c = 0; c < 1024; c++) {
        double best = 0;
        for (size_t a = 0; a < 4; a++)
            if (sum[c][a] > best) best = sum[c][a];
        level += best;
    }
    return level;
}

static void majority_is_the_best_guess_from_the_counts(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 4; n++) {
        prompts zero, value;
        open_n(&zero, n, "zero");
        open_n(&value, n, "value");
        double yes = (double)(power(n, n - 2) * (2 * n - 1)), no = (double)power(n, n) - yes;
        const double half_each[2] = {0.5 / no, 0.5 / yes};
        assert_true(fabs(zero.conf.majority - best_from_counts(n, false, half_each)) < 1e-12);
        assert_true(fabs(value.conf.majority - best_from_counts(n, true, NULL)) < 4 * 0x1p-10);
        assert_true(zero.conf.chance == 0.5 && fabs(value.conf.chance * (double)n - 1) < 1e-12);
        prompts_close(&zero);
        prompts_close(&value);
    }
}

/* No predictor of the probe is above the level. The one that counts comes near it where one zero of many entries says little;
 * in small tables one zero says more, and the vote of the question against it costs. */
static void votes_come_near_the_level_and_not_above(void **state)
{
    (void)state;
    static const char *const tasks[] = {"N=2",           "N=3",           "N=25",           "N=100",
                                        "N=2 ask=value", "N=3 ask=value", "N=25 ask=value", "N=100 ask=value"};
    for (size_t i = 0; i < RUNG_COUNT(tasks); i++) {
        prompts p;
        rung_leak leak;
        char text[64];
        snprintf(text, sizeof text, "self-compose %s", tasks[i]);
        prompts_open(&p, text);
        assert_int_equal(rung_task_leak(&leak, &p.conf, 11, 20000, &p.err), RUNG_OK);
        double high = leak.declared + leak.slack, low = p.conf.tokens > 20 ? 0.85 * leak.declared : 0;
        if (leak.majority > high || leak.position > high || leak.frequency > high || leak.frequency < low)
            fail_msg("%s: %g %g %g, declared %g", text, leak.majority, leak.position, leak.frequency, leak.declared);
        prompts_close(&p);
    }
}

/* ---- words ----------------------------------------------------------------------------------------------------------- */

static void prompts_by_hand(void **state)
{
    (void)state;
    check_by_hand("self-compose N=3", "f:2 f:1 f:0 ?", "yes");
    check_by_hand("self-compose N=3", "f:0 f:1 f:2 ?", "yes");
    check_by_hand("self-compose N=3", "f:1 f:1 f:0 ?", "no");
    check_by_hand("self-compose N=3 ask=value", "f:1 f:2 f:0 ?", "2");
    check_by_hand("self-compose N=12 ask=value", "f:11 f:0 f:0 f:0 f:0 f:0 f:0 f:0 f:0 f:0 f:0 f:10 ?", "10");
    prompts_text_round_trip("self-compose N=13");
    prompts_players("self-compose N=3", "context query", (const size_t[]){0, 3});
    prompts_not_a_task("self-compose N=1");
}

static void wrong_prompts_are_refused_with_their_place(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "self-compose N=3");
    prompts_make(&p, 0);
    p.in.token[1] = 3; /* a question in the table */
    prompts_refused(&p, "position 1");
    prompts_make(&p, 0);
    p.in.token[3] = 0; /* an entry for the question */
    prompts_refused(&p, "position 3");
    prompts_make(&p, 0);
    p.in.token[0] = UINT32_MAX;
    prompts_refused(&p, "position 0");
    prompts_make(&p, 0);
    p.in.tokens = 3;
    assert_int_equal(prompts_solve(&p), RUNG_INPUT);
    prompts_close(&p);
}

/* The text as a person reads it: "f maps 0 to 3." ... "Start at 3 and apply f." */
static void the_sentences_lead_to_the_answer(void **state)
{
    (void)state;
    reading r;
    reading_open(&r, "self-compose N=9");
    for (uint64_t i = 0; i < 60; i++) {
        char at[16] = "0", fact[32], start[16];
        rung_text_options options = {.spelling = RUNG_TEXT_FACTS, .shuffled = i & 1, .seed = i, .hops = i % 3 == 0};
        prompts_make(&r.p, i);
        assert_int_equal(rung_text_check(&r.p.conf, &options, &r.p.err), RUNG_OK);
        rung_buf_reset(&r.text);
        rung_text_write(&r.text, &r.p.in, &r.p.conf, NULL, &options);
        assert_true(text_after(start, sizeof start, r.text.text, "Start at ", ", "));
        if (options.hops) strcpy(at, start);
        assert_int_equal(!options.hops, strstr(r.text.text, "apply f again") != NULL);
        for (size_t hop = 0; hop < (options.hops ? 1u : 2u); hop++) {
            snprintf(fact, sizeof fact, " f maps %s to ", at);
            assert_true(text_after(at, sizeof at, r.text.text, fact, "."));
        }
        answer_is(&r.p, strcmp(at, "0") == 0 ? "yes" : "no");
        assert_int_equal(rung_text_answer(&r.p.in, &r.p.conf, &options), last_target(&r.p));
    }
    reading_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_has_the_answer_of_the_definition),
        cmocka_unit_test(tables_of_either_answer_are_equally_likely),
        cmocka_unit_test(tables_whose_value_is_asked_are_uniform),
        cmocka_unit_test(long_tables_are_drawn_as_counted),
        cmocka_unit_test(majority_is_the_best_guess_from_the_counts),
        cmocka_unit_test(votes_come_near_the_level_and_not_above),
        cmocka_unit_test(prompts_by_hand),
        cmocka_unit_test(wrong_prompts_are_refused_with_their_place),
        cmocka_unit_test(the_sentences_lead_to_the_answer),
    };
    return cmocka_run_group_tests_name("task: self-compose", tests, NULL, NULL);
}
