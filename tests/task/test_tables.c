/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One table and one query: eva, index, retrieval. Every answer is computed a second time from the words instead of the
 * ids; levels are compared with enumeration and exact sums. Refusals of seqcomp and k-hop are here too.
 */
#include <math.h>

#include "reading.h"

/* ---- one table, one query ------------------------------------------------------------------------------------------- */

/* "v5 v8 ... x1?": the query's number counts words. */
static void look_up_by_counting_words(const char *text, char query)
{
    reading r;
    reading_open(&r, text);
    for (uint64_t i = 0; i < 200; i++) {
        char word[32];
        const char *words = write_words(&r, i), *asked = strrchr(words, ' ') + 1;
        assert_int_equal(asked[0], query);
        for (long skip = strtol(asked + 1, NULL, 10); skip > 0; skip--) words = strchr(words, ' ') + 1;
        assert_int_equal(sscanf(words, "%31s", word), 1);
        answer_is(&r.p, word);
    }
    reading_close(&r);
}

/* "k9:v4 k0:v3 k0?": the value behind "k0:". */
static void look_up_by_searching_text(const char *text)
{
    reading r;
    reading_open(&r, text);
    for (uint64_t i = 0; i < 200; i++) {
        char words[32768], key[32], value[32];
        snprintf(words, sizeof words, " %s", write_words(&r, i));
        size_t len = strlen(words);
        assert_int_equal(words[len - 1], '?');
        snprintf(key, sizeof key, "%s", strrchr(words, ' '));
        key[strlen(key) - 1] = ':';
        const char *found = strstr(words, key);
        assert_non_null(found);
        assert_null(strstr(found + 1, key)); /* keys are distinct */
        assert_int_equal(sscanf(found + strlen(key), "%31s", value), 1);
        answer_is(&r.p, value);
    }
    reading_close(&r);
}

static void answers_equal_those_read_from_the_words(void **state)
{
    (void)state;
    look_up_by_counting_words("eva", 'x');
    look_up_by_counting_words("eva N=1 V=1", 'x');
    look_up_by_counting_words("eva N=50 V=2", 'x');
    look_up_by_counting_words("eva N=20 V=9 dist=zipf", 'x');
    look_up_by_counting_words("index", 'p');
    look_up_by_counting_words("index N=3 V=20", 'p');
    look_up_by_searching_text("eva form=pair");
    look_up_by_searching_text("eva N=7 V=3 K=7 form=pair");
    look_up_by_searching_text("eva N=7 V=3 form=pair dist=zipf");
    look_up_by_searching_text("retrieval");
    look_up_by_searching_text("retrieval N=8 D=3");
    look_up_by_searching_text("retrieval N=300 D=11");
}

/* Of `retrieval distinct=0`: the asked key once, and others twice as soon as there are more entries than keys. */
static void keys_that_are_not_asked_for_may_repeat(void **state)
{
    (void)state;
    static const char *const cases[] = {"retrieval distinct=0", "retrieval N=40 D=1 distinct=0",
                                        "retrieval N=1 D=1 distinct=0", "retrieval N=300 D=3 distinct=0"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        reading r;
        bool repeated = false;
        reading_open(&r, cases[c]);
        for (uint64_t i = 0; i < 200; i++) {
            char words[32768], key[32], value[32];
            snprintf(words, sizeof words, " %s", write_words(&r, i));
            snprintf(key, sizeof key, "%s", strrchr(words, ' '));
            key[strlen(key) - 1] = ':';
            const char *found = strstr(words, key);
            assert_non_null(found);
            assert_null(strstr(found + 1, key));
            assert_int_equal(sscanf(found + strlen(key), "%31s", value), 1);
            answer_is(&r.p, value);
            for (char *pair = strtok(words, " "), seen[8][8] = {""}; pair; pair = strtok(NULL, " ")) {
                unsigned long word = strtoul(pair, NULL, 2) % 8;
                repeated |= strchr(pair, ':') && seen[word][0];
                seen[word][0] = 1;
            }
        }
        assert_true(repeated || r.p.in.tokens == 2);
        reading_close(&r);
    }
}

/* N=2, D=1: the keys differ, so 2 orders, 4 values and 2 queries are 16 prompts; N=3: the asked key alone, 3 places. */
static void tables_with_one_unique_key_are_drawn_equally_often(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t kinds;
    } cases[] = {{"retrieval N=2 D=1 distinct=0", 16}, {"retrieval N=3 D=1 distinct=0", 48}};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        prompts p;
        size_t met[128] = {0}, kinds = 0, draws = 1000 * cases[c].kinds;
        prompts_open(&p, cases[c].text);
        for (uint64_t i = 0; i < draws; i++) {
            size_t code = 0;
            prompts_make(&p, i);
            for (size_t t = 0; t + 1 < p.in.tokens; t++) code = code * 4 + p.in.token[t];
            met[code * 2 + p.in.token[p.in.tokens - 1] - 4]++;
        }
        for (size_t k = 0; k < RUNG_COUNT(met); k++) {
            if (!met[k]) continue;
            kinds++;
            assert_true(met[k] > 1000 - 160 && met[k] < 1000 + 160); /* five standard deviations */
        }
        assert_int_equal(kinds, cases[c].kinds);
        prompts_close(&p);
    }
}

/* Over all prompts, each as often as it is drawn: what is asked for is equally likely each key that occurs once, and the
 * best answer is the most frequent value of those. */
static void majority_among_unique_keys_is_the_mean_over_all_prompts(void **state)
{
    (void)state;
    static const char *const cases[] = {"retrieval N=2 D=1 distinct=0", "retrieval N=3 D=1 distinct=0",
                                        "retrieval N=3 D=2 distinct=0"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        prompts p;
        double right = 0, prompts_met = 0;
        prompts_open(&p, cases[c]);
        size_t n = p.in.tokens = p.conf.tokens - 1, words = p.conf.answers, tables = 1;
        for (size_t i = 0; i < n; i++) tables *= words * words;
        for (size_t code = 0; code < tables; code++) {
            size_t keys[4] = {0}, values[4] = {0}, unique = 0, most = 0, rest = code;
            for (size_t i = 0; i < n; i++, rest /= words * words) keys[rest % (words * words) / words]++;
            rest = code;
            for (size_t i = 0; i < n; i++, rest /= words * words)
                if (keys[rest % (words * words) / words] == 1) values[rest % words]++, unique++;
            for (size_t v = 0; v < words; v++) most = values[v] > most ? values[v] : most;
            right += (double)most, prompts_met += (double)unique; /* of `unique` prompts `most` are answered right */
        }
        if (fabs(right / prompts_met - p.conf.majority) > 0.003)
            fail_msg("%s: %g, not %g", cases[c], p.conf.majority, right / prompts_met);
        prompts_close(&p);
    }
}

/* "s2 s0 s1 t1 t2 t0": the word t2 counts two words from the first one. */
static void compose_by_counting_words(const char *text)
{
    reading r;
    reading_open(&r, text);
    for (uint64_t i = 0; i < 200; i++) {
        const char *words = write_words(&r, i), *asked = strchr(words, 't');
        size_t n = r.p.in.tokens / 2;
        for (size_t t = 0; t < n; t++) {
            char word[32];
            const char *at = words;
            assert_int_equal(asked[0], 't');
            assert_int_equal(r.p.in.target[t], RUNG_NO_TARGET);
            for (long skip = strtol(asked + 1, NULL, 10); skip > 0; skip--) at = strchr(at, ' ') + 1;
            assert_int_equal(sscanf(at, "%31s", word), 1);
            rung_buf answer = {0};
            rung_task_answer_write(&answer, &r.p.conf, r.p.in.target[n + t]);
            assert_string_equal(answer.text, word);
            rung_buf_clear(&answer);
            asked = strchr(asked, ' ') + 1;
        }
    }
    reading_close(&r);
}

static void permutations_are_composed_as_the_words_say(void **state)
{
    (void)state;
    compose_by_counting_words("percom");
    compose_by_counting_words("percom N=1");
    compose_by_counting_words("percom N=2");
    compose_by_counting_words("percom N=33");
    prompts_players("percom N=5", "sigma tau", (const size_t[]){0, 5});
}

/* Each of the N!^2 pairs is equally likely: N=3, 36 of them. */
static void all_pairs_of_permutations_are_drawn_equally_often(void **state)
{
    (void)state;
    enum { N = 3, PAIRS = 36, DRAWS = 36000 };
    prompts p;
    size_t met[729] = {0}, kinds = 0;
    prompts_open(&p, "percom N=3");
    for (uint64_t i = 0; i < DRAWS; i++) {
        size_t code = 0;
        prompts_make(&p, i);
        for (size_t t = 0; t < 2 * N; t++) code = code * N + p.in.token[t] % N;
        met[code]++;
    }
    for (size_t c = 0; c < 729; c++) {
        if (!met[c]) continue;
        kinds++;
        assert_true(met[c] > 1000 - 160 && met[c] < 1000 + 160); /* five standard deviations */
    }
    assert_int_equal(kinds, PAIRS);
    prompts_close(&p);
}

static void prompts_by_hand(void **state)
{
    (void)state;
    check_by_hand("eva N=3 V=5", "v4 v0 v4 x1?", "v0");
    check_by_hand("eva N=2 V=5 form=pair", "k3:v1 k0:v2 k0?", "v2");
    check_by_hand("index N=4", "s1 s1 s3 s0 p3", "s0");
    check_by_hand("retrieval N=2 D=3", "101:001 000:110 101?", "001");
    check_by_hand("retrieval N=4 D=2 distinct=0", "01:11 00:10 01:00 01:11 00?", "10");
    check_by_hand("percom N=3", "s2 s0 s1 t1 t2 t0", "s0 s1 s2");
}

static void wrong_prompts_are_refused(void **state)
{
    (void)state;
    check_no_prompt("eva N=2 V=5", "v1 v1");                     /* too short */
    check_no_prompt("eva N=2 V=5", "v1 x0? x0?");                /* a query in the table */
    check_no_prompt("eva N=2 V=5", "v1 v1 v1");                  /* no query */
    check_no_prompt("eva N=2 V=5 form=pair", "k3:v1 k3:v2 k3?"); /* a key twice */
    check_no_prompt("eva N=2 V=5 form=pair", "k3:v1 k0:v2 k1?"); /* a key that no entry has */
    check_no_prompt("retrieval N=2 D=3", "101:001 101:110 101?");
    check_no_prompt("retrieval N=2 D=3 distinct=0", "101:001 101:110 101?");
    check_no_prompt("retrieval N=2 D=3 distinct=0", "101:001 101:001 101?"); /* equal values do not help */
    check_no_prompt("retrieval N=2 D=3 distinct=0", "101:001 101:110 001?"); /* a key that no entry has */
    check_no_prompt("percom N=2", "s0 s0 t1 t0");                            /* sigma is no permutation */
    check_no_prompt("percom N=2", "s0 s1 t1 t1");                            /* tau is none */
    check_no_prompt("percom N=2", "s0 t1 s1 t0");
    check_no_prompt("seqcomp N0=2", "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 w:1 z0:0"); /* w before z_0 */
    check_no_prompt("seqcomp N0=2", "z2:2 z2:0 z2:3 z1:1 z1:1 z1:0 z0:0 w:1"); /* z_1 in z_2 */
    check_no_prompt("seqcomp L=1 N0=2 form=pair", "z1(0):1 z1(0):1 z0:0 w:0"); /* an argument twice */
    check_no_prompt("k-hop N=3", "s0 s1 s0 s1");
    check_no_prompt("k-hop N=3", "hop1 s1 hop2 s1");
    static const sequence_case cases[] = {
        {"eva", NULL},    {"eva form=pair", NULL}, {"index", NULL},   {"retrieval", NULL},
        {"percom", NULL}, {"k-hop", NULL},         {"seqcomp", NULL}, {"seqcomp L=3 form=pair order=first", NULL},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_refusals(&cases[i]);
}

/* They look like words, but their numbers are outside the parameters. */
static void words_outside_the_vocabulary_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *words, *place;
    } cases[] = {
        {"eva N=2 V=5", "v0 v0 x2?", "position 2"},
        {"eva N=2 V=5", "v0 v5 x0?", "position 1"},
        {"eva N=2 V=5", "v0 v00 x0?", "position 1"},
        {"eva N=2 V=5", "v0 v99999999999999999999999 x0?", "position 1"},
        {"eva N=2 V=5 form=pair", "k0:v0 k4:v0 k0?", "position 1"},
        {"eva N=2 V=5 form=pair", "k0:v5 k1:v0 k0?", "position 0"},
        {"index N=2", "s0 s1 p2", "position 2"},
        {"retrieval N=2 D=2", "00:11 001:11 00?", "position 1"},
        {"retrieval N=2 D=2", "00:11 01:11 100?", "position 2"},
        {"percom N=2", "s0 s2 t0 t1", "position 1"},
        {"percom N=2", "s0 s1 t0 t2", "position 3"},
        {"k-hop N=2 k=1", "hop2 s0 s1", "position 0"},
        {"seqcomp N0=2", "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:2", "position 7"},
        {"seqcomp N0=2", "z3:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:1", "position 0"},
        {"seqcomp N0=2", "z99:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:1", "position 0"},
        {"seqcomp N0=2", "z2(0):2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:1", "position 0"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        prompts p;
        prompts_open(&p, cases[i].text);
        rung_status status = rung_task_symbols_read(&p.in, cases[i].words, &p.conf, &p.err);
        if (status != RUNG_INPUT) fail_msg("%s was read", cases[i].words);
        if (!strstr(p.err.text, cases[i].place)) fail_msg("%s: %s", cases[i].words, p.err.text);
        prompts_close(&p);
    }
}

/* The vote of a token is the answer whose word ends its own word; queries and inner tables vote for nothing. */
static void tokens_vote_for_the_value_that_they_show(void **state)
{
    (void)state;
    static const struct {
        const char *text, *silent; /* words that begin or end with one of these letters have no vote */
    } cases[] = {
        {"eva", "x?"},  {"eva form=pair", "?"}, {"index", "p"},   {"retrieval D=3 N=4", "?"},
        {"k-hop", "h"}, {"percom", "t"},        {"seqcomp", "w"}, {"seqcomp L=3 form=pair", "w"},
    };
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        prompts p;
        prompts_open(&p, cases[c].text);
        for (uint32_t id = 0; id < p.conf.vocab; id++) {
            rung_buf word = {0}, answer = {0};
            char outer[8];
            p.conf.task->token_word(&word, &p.conf, id);
            int32_t vote = p.conf.task->vote(&p.conf, id);
            snprintf(outer, sizeof outer, "z%d", word.text[0] == 'z' ? (int)rung_task_param(&p.conf, "L") : 0);
            bool silent = strchr(cases[c].silent, word.text[0]) || strchr(cases[c].silent, word.text[word.len - 1]) ||
                          (word.text[0] == 'z' && strncmp(word.text, outer, 2) != 0);
            assert_int_equal(vote == RUNG_NO_TARGET, silent);
            if (!silent) rung_task_answer_write(&answer, &p.conf, vote);
            const char *value = strchr(word.text, ':');
            if (!silent) assert_string_equal(answer.text, value ? value + 1 : word.text);
            rung_buf_clear(&word);
            rung_buf_clear(&answer);
        }
        prompts_close(&p);
    }
}

/* Naming the most frequent value is what the level is made of, so the probe must come close to it. */
static void the_frequency_predictor_reaches_the_level_of_a_table(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva",   "eva form=pair", "eva dist=zipf",   "eva N=40 V=7 form=pair dist=zipf",
                                        "index", "retrieval",     "seqcomp L=1 N0=9"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        prompts p;
        rung_leak leak;
        prompts_open(&p, cases[c]);
        assert_int_equal(rung_task_leak(&leak, &p.conf, 11, 4000, &p.err), RUNG_OK);
        assert_true(fabs(leak.frequency - leak.declared) < leak.slack);
        prompts_close(&p);
    }
}

static void sizes_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    const struct {
        const char *text, *hint;
    } cases[] = {
        {"eva N=8 K=7 form=pair", "raise K"},
        {"eva N=8 K=9", "form=pair"},
        {"eva N=16777216", "lower N or V"},
        {"eva N=5000 form=pair", "lower N, V or K"},
        {"retrieval N=9 D=3", "raise D"},
        {"retrieval D=12", "D=12"},
        {"index N=16777216 V=1", "lower N or V"},
        {"seqcomp L=16 N0=16777216 n=16777216", "lower L, N0 or n"},
        {"seqcomp L=3 N0=100 n=1000,1000", "lower L, N0 or n"},
        {"seqcomp N0=3000 n=2 form=pair", "lower L, N0 or n"},
        {"seqcomp L=5 N0=1 n=100 flat=1", "lower L, N0 or n"}, /* w has 10^8 ids */
        {"seqcomp L=3 n=2,2,2", "needs 2"},
        {"seqcomp L=1 n=2", "needs 0"},
        {"seqcomp flat=1 V=3", "leave V out"},
        {"k-hop alphabet=2", "alphabet=2"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_task_conf conf;
        rung_error err = {{0}};
        assert_int_equal(rung_task_conf_parse(&conf, cases[i].text, &err), RUNG_USAGE);
        if (!strstr(err.text, cases[i].hint)) fail_msg("%s: no '%s' in: %s", cases[i].text, cases[i].hint, err.text);
    }
}

/* ---- levels --------------------------------------------------------------------------------------------------------- */

static double majority_of_table(size_t entries, size_t values)
{
    char text[64];
    snprintf(text, sizeof text, "eva N=%zu V=%zu", entries, values);
    return majority_of(text);
}

static void majority_is_the_mean_over_all_tables(void **state)
{
    (void)state;
    for (size_t entries = 1; entries <= 6; entries++)
        for (size_t values = 1; values <= 5; values++) {
            size_t tables = 1, total = 0;
            for (size_t i = 0; i < entries; i++) tables *= values;
            for (size_t code = 0; code < tables; code++) {
                size_t count[5] = {0}, most = 0;
                for (size_t i = 0, rest = code; i < entries; i++, rest /= values)
                    if (++count[rest % values] > most) most = count[rest % values];
                total += most;
            }
            double want = (double)total / (double)tables / (double)entries;
            assert_true(fabs(majority_of_table(entries, values) - want) < 1e-12);
        }
}

static double zipf_chance(size_t value, size_t values)
{
    double all = 0;
    for (size_t v = 0; v < values; v++) all += 1.0 / (double)(v + 1);
    return 1.0 / (double)(value + 1) / all;
}

/* Every table with its chance. What is declared is the mean of draws: five standard errors of 2^-11. */
static void majority_by_zipf_is_the_mean_over_all_tables(void **state)
{
    (void)state;
    for (size_t entries = 1; entries <= 6; entries++)
        for (size_t values = 1; values <= 5; values++) {
            size_t tables = 1;
            double want = 0;
            char text[64];
            for (size_t i = 0; i < entries; i++) tables *= values;
            for (size_t code = 0; code < tables; code++) {
                size_t count[5] = {0}, most = 0;
                double chance = 1;
                for (size_t i = 0, rest = code; i < entries; i++, rest /= values) {
                    if (++count[rest % values] > most) most = count[rest % values];
                    chance *= zipf_chance(rest % values, values);
                }
                want += chance * (double)most / (double)entries;
            }
            snprintf(text, sizeof text, "eva N=%zu V=%zu dist=zipf", entries, values);
            assert_true(fabs(majority_of(text) - want) < 5.0 / 2048);
            assert_true(majority_of(text) == majority_of(text)); /* a pure function, remembered or not */
        }
    /* In a long table the most common value has its share. */
    assert_true(fabs(majority_of("eva N=200000 V=10 dist=zipf") - zipf_chance(0, 10)) < 5.0 / 2048);
}

/* E max(X, n - X) / n for a binomial X. */
static double majority_of_two(size_t n)
{
    double sum = 0;
    for (size_t x = 0; x <= n; x++) {
        double log_chance = lgamma((double)n + 1) - lgamma((double)x + 1) - lgamma((double)(n - x) + 1);
        sum += exp(log_chance - (double)n * log(2)) * (double)(x > n - x ? x : n - x);
    }
    return sum / (double)n;
}

static void majority_of_two_values_is_that_of_the_binomial(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 64; n++) assert_true(fabs(majority_of_table(n, 2) - majority_of_two(n)) < 1e-11);
    static const size_t drawn[] = {65, 100, 1000, 30000}; /* five standard errors of 2^-11 */
    for (size_t i = 0; i < RUNG_COUNT(drawn); i++)
        assert_true(fabs(majority_of_table(drawn[i], 2) - majority_of_two(drawn[i])) < 5.0 / 2048);
    /* Both sides of the change of method, where no formula is at hand: the step is as small as its neighbours. */
    assert_true(fabs(majority_of_table(65, 40) - majority_of_table(64, 40)) < 5.0 / 2048);
    assert_true(fabs(majority_of_table(64, 1 << 20) - 1.0 / 64) < 1e-3);
}

/* ---- generators ------------------------------------------------------------------------------------------------------ */

static void values_keys_and_queries_are_uniform(void **state)
{
    (void)state;
    enum { RUNS = 4000, N = 4, K = 8 };
    size_t value[K] = {0}, key[K] = {0}, asked[N] = {0};
    prompts p;
    prompts_open(&p, "eva N=4 V=8 form=pair");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        value[p.in.token[2] % 8]++;
        key[p.in.token[0] / 8]++;
        for (size_t t = 0; t < N; t++) asked[t] += p.in.token[t] / 8 == p.in.token[N] - K * 8;
    }
    for (size_t k = 0; k < K; k++) assert_near_binomial(value[k], RUNS, 1.0 / 8);
    for (size_t k = 0; k < K; k++) assert_near_binomial(key[k], RUNS, 1.0 / K);
    for (size_t t = 0; t < N; t++) assert_near_binomial(asked[t], RUNS, 1.0 / N);
    prompts_close(&p);
}

/* Values follow the law at every place and whatever is asked; keys and questions stay uniform. Sizes around powers of two, where an
 * octave of the generator begins. */
static void zipf_is_in_the_values_alone(void **state)
{
    (void)state;
    enum { RUNS = 6000, N = 3, K = 6, MOST = 40 };
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 31, 33, MOST};
    for (size_t s = 0; s < RUNG_COUNT(sizes); s++) {
        size_t V = sizes[s], value[2][MOST] = {{0}}, key[K] = {0}, asked[N] = {0};
        char text[64];
        prompts p;
        snprintf(text, sizeof text, "eva N=3 V=%zu form=pair dist=zipf", V);
        prompts_open(&p, text);
        assert_true(p.conf.chance == 1.0 / (double)V);
        for (uint64_t i = 0; i < RUNS; i++) {
            prompts_make(&p, i);
            value[0][p.in.token[i % N] % V]++;
            value[1][p.in.target[N]]++;
            key[p.in.token[0] / V]++;
            for (size_t t = 0; t < N; t++) asked[t] += p.in.token[t] / V == p.in.token[N] - K * V;
        }
        for (size_t v = 0; v < V; v++)
            for (size_t of = 0; of < 2; of++) assert_near_binomial(value[of][v], RUNS, zipf_chance(v, V));
        for (size_t k = 0; k < K; k++) assert_near_binomial(key[k], RUNS, 1.0 / K);
        for (size_t t = 0; t < N; t++) assert_near_binomial(asked[t], RUNS, 1.0 / N);
        prompts_close(&p);
    }
}

/* Two entries are equal as often as independent ones are. */
static void entries_by_zipf_are_independent(void **state)
{
    (void)state;
    enum { RUNS = 6000, V = 6 };
    size_t both[V][V] = {{0}};
    prompts p;
    prompts_open(&p, "eva N=4 V=6 dist=zipf");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        both[p.in.token[1]][p.in.token[2]]++;
    }
    for (size_t a = 0; a < V; a++)
        for (size_t b = 0; b < V; b++) assert_near_binomial(both[a][b], RUNS, zipf_chance(a, V) * zipf_chance(b, V));
    prompts_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_equal_those_read_from_the_words),
        cmocka_unit_test(permutations_are_composed_as_the_words_say),
        cmocka_unit_test(all_pairs_of_permutations_are_drawn_equally_often),
        cmocka_unit_test(keys_that_are_not_asked_for_may_repeat),
        cmocka_unit_test(tables_with_one_unique_key_are_drawn_equally_often),
        cmocka_unit_test(majority_among_unique_keys_is_the_mean_over_all_prompts),
        cmocka_unit_test(prompts_by_hand),
        cmocka_unit_test(wrong_prompts_are_refused),
        cmocka_unit_test(words_outside_the_vocabulary_are_refused),
        cmocka_unit_test(tokens_vote_for_the_value_that_they_show),
        cmocka_unit_test(the_frequency_predictor_reaches_the_level_of_a_table),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(majority_is_the_mean_over_all_tables),
        cmocka_unit_test(majority_by_zipf_is_the_mean_over_all_tables),
        cmocka_unit_test(majority_of_two_values_is_that_of_the_binomial),
        cmocka_unit_test(values_keys_and_queries_are_uniform),
        cmocka_unit_test(zipf_is_in_the_values_alone),
        cmocka_unit_test(entries_by_zipf_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
