/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recall, copying and word tasks: assoc-recall, c-gram, mqar, mkar, selective-copy, parity, group-word. Every target is
 * computed a second time by the plainest search that follows the definition, prompts written by hand fix the
 * conventions, and the levels are compared with enumeration or with what the predictors really score.
 */
#include <math.h>

#include "sequences.h"

/* ---- second oracles ---------------------------------------------------------------------------------------------- */

static void brute_assoc_recall(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    size_t n = p->tokens, keys = (size_t)rung_task_param(conf, "K");
    for (size_t i = 0; i + 1 < n; i++)
        if (p->token[i] == p->token[n - 1]) want[n - 1] = (int32_t)(p->token[i + 1] - keys);
}

static void brute_c_gram(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    size_t c = (size_t)rung_task_param(conf, "c"), n = (size_t)rung_task_param(conf, "N");
    for (size_t end = n; end-- > c - 1;) { /* position of the continuation */
        size_t same = 0;
        while (same < c - 1 && p->token[end - 1 - same] == p->token[p->tokens - 1 - same]) same++;
        if (same == c - 1) want[p->tokens - 1] = (int32_t)p->token[end];
    }
}

static void brute_mqar(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    size_t pairs = (size_t)rung_task_param(conf, "pairs");
    for (size_t t = 2 * pairs; t < p->tokens; t++)
        for (size_t i = 0; i < 2 * pairs; i += 2)
            if (p->token[i] == p->token[t]) want[t] = (int32_t)p->token[i + 1] - (int32_t)(conf->vocab / 2);
}

/* Whether the key that ends at position a equals the one that ends at b. */
static bool same_key(const rung_instance *p, size_t a, size_t b, size_t key)
{
    for (size_t i = 0; i < key; i++)
        if (p->token[a - i] != p->token[b - i]) return false;
    return true;
}

static void brute_mkar(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    size_t key = (size_t)rung_task_param(conf, "key");
    bool pairs = rung_task_param(conf, "layout") == 1;
    for (size_t t = pairs ? p->tokens - 1 : key - 1; t < p->tokens; t++)
        for (size_t end = key - 1; end < t; end += pairs ? key + 1 : 1) /* the latest one stays */
            if (same_key(p, end, t, key)) want[t] = (int32_t)p->token[end + 1];
}

static void brute_selective_copy(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    uint32_t symbols = (uint32_t)rung_task_param(conf, "V");
    size_t numbers = (size_t)rung_task_param(conf, "numbers");
    if (rung_task_param(conf, "form") == 1) {
        for (size_t t = 0, j = p->tokens - numbers; t < p->tokens - numbers; t++)
            if (p->token[t] != symbols) want[j++] = (int32_t)p->token[t];
        return;
    }
    for (size_t t = 0; t < p->tokens; t++) {
        size_t back = 0;
        while (back < t && p->token[t - back] < symbols) back++;
        if (p->token[t - back] < symbols) continue;
        size_t n = p->token[t - back] - symbols + (size_t)rung_task_param(conf, "first");
        if (n <= t) want[t] = (int32_t)p->token[t - n];
    }
}

static void brute_parity(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    bool all = rung_task_param(conf, "targets") == 0;
    size_t ones = 0;
    for (size_t t = 0; t < p->tokens; t++) {
        ones += p->token[t];
        if (all || t + 1 == p->tokens) want[t] = (int32_t)(ones % 2);
    }
}

static int32_t answer_with_word(const rung_task_conf *conf, const char *word)
{
    int32_t found = RUNG_NO_TARGET;
    rung_buf buf;
    rung_buf_init(&buf);
    for (int32_t a = 0; a < (int32_t)conf->answers; a++) {
        rung_buf_reset(&buf);
        conf->task->answer_word(&buf, conf, a);
        if (strcmp(buf.text, word) == 0) found = a;
    }
    rung_buf_clear(&buf);
    return found;
}

/* Follows every point through the words as they are printed, and finds the answer by its printed word. */
static void brute_group_word(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    bool all = rung_task_param(conf, "targets") == 0, cyclic = rung_task_param(conf, "group") == 3;
    char at[32] = "12345";
    int64_t sum = 0;
    rung_buf word;
    rung_buf_init(&word);
    if (rung_task_param(conf, "group") == 0) at[3] = 0;
    for (size_t t = 0; t < p->tokens; t++) {
        rung_buf_reset(&word);
        conf->task->token_word(&word, conf, p->token[t]);
        sum += cyclic ? atol(word.text) : 0;
        for (size_t i = 0; at[i] && !cyclic; i++) at[i] = word.text[at[i] - '1'];
        if (cyclic) snprintf(at, sizeof at, "%lld", (long long)(sum % rung_task_param(conf, "n")));
        if (all || t + 1 == p->tokens) want[t] = answer_with_word(conf, at);
    }
    rung_buf_clear(&word);
}

static const sequence_case cases[] = {
    {"assoc-recall", brute_assoc_recall},
    {"assoc-recall N=1 K=1 V=1", brute_assoc_recall},
    {"assoc-recall N=40 K=40 V=3", brute_assoc_recall},
    {"assoc-recall N=12 K=500 V=12 dist=distinct", brute_assoc_recall},
    {"c-gram", brute_c_gram},
    {"c-gram c=2 N=2 V=2", brute_c_gram},
    {"c-gram c=2 N=20 V=30", brute_c_gram},
    {"c-gram c=5 N=64 V=3", brute_c_gram},
    {"c-gram c=3 N=40 V=8 dist=hard", brute_c_gram},
    {"mqar", brute_mqar},
    {"mqar T=4 pairs=1 vocab=4", brute_mqar},
    {"mqar T=64 pairs=16 vocab=40 power=100", brute_mqar},
    {"mqar T=128 pairs=8 vocab=60 filler=random", brute_mqar},
    {"mkar", brute_mkar},
    {"mkar T=3 V=5 key=1", brute_mkar},
    {"mkar T=7 V=9 key=3", brute_mkar},
    {"mkar T=60 V=2 key=4", brute_mkar},
    {"mkar layout=pairs", brute_mkar},
    {"mkar layout=pairs T=50 V=40 key=1", brute_mkar},
    {"mkar layout=pairs T=31 V=2 key=3", brute_mkar},
    {"selective-copy", brute_selective_copy},
    {"selective-copy T=10 V=4 numbers=2 first=2 rate=50", brute_selective_copy},
    {"selective-copy T=6 V=1 numbers=1 first=5 rate=1", brute_selective_copy},
    {"selective-copy form=list", brute_selective_copy},
    {"selective-copy form=list T=6 V=2 numbers=3", brute_selective_copy},
    {"parity", brute_parity},
    {"parity N=1", brute_parity},
    {"parity N=40 targets=all", brute_parity},
    {"group-word", brute_group_word},
    {"group-word group=S3 targets=last", brute_group_word},
    {"group-word group=A5 N=6", brute_group_word},
    {"group-word group=A5 letters=generators", brute_group_word},
    {"group-word letters=swaps targets=last", brute_group_word},
    {"group-word group=S3 letters=generators N=1", brute_group_word},
    {"group-word group=Zn n=7 N=9", brute_group_word},
    {"group-word group=Zn n=2 letters=generators", brute_group_word},
};

static void targets_follow_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_against_brute_force(&cases[i], 300);
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

static void no_predictor_without_attention_beats_the_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) prompts_no_leak(cases[i].text, 2000);
}

/* ---- by hand ------------------------------------------------------------------------------------------------------ */

static void prompts_by_hand_have_the_answers_by_hand(void **state)
{
    (void)state;
    check_by_hand("assoc-recall N=3 K=8 V=4", "k5 v1 k0 v3 k7 v1 k0", "v3");
    check_by_hand("c-gram c=3 N=6 V=4", "s0 s1 s2 s0 s3 s1 ? s0 s3", "s1");
    check_by_hand("c-gram c=3 N=6 V=4", "s0 s1 s2 s0 s1 s2 ? s0 s1", "s2");
    check_by_hand("c-gram c=2 N=5 V=4", "s1 s2 s1 s2 s3 ? s1", "s2");
    /* The example in the published generator: 2 8 4 7 0 0 4 0 0 0 0 0 2 0 0 with vocabulary 12. */
    check_by_hand("mqar T=16 pairs=2 vocab=12", "k2 v2 k4 v1 _ _ k4 _ _ _ _ _ k2 _ _ _", "v1 v2");
    check_by_hand("mkar T=8 V=4 key=2", "s0 s1 s2 s0 s1 s3 s0 s1", "s2 s3");
    check_by_hand("mkar T=5 V=4 key=2", "s1 s1 s1 s1 s0", "s1 s1"); /* a key may overlap its own copy */
    check_by_hand("mkar T=8 V=4 key=2 layout=pairs", "s1 s2 s3 s2 s1 s0 s2 s1", "s0");
    check_by_hand("selective-copy T=10 V=4 numbers=2 first=2", "s0 s1 #2 s3 s0 #3 s2 s2 s1 s1",
                  "s0 s1 #2 #2 s3 s0 #3 s2");
    check_by_hand("selective-copy T=7 V=4 numbers=2 first=2", "#3 s1 s2 s3 #2 s1 s1", "#3 s2 s3 #2");
    check_by_hand("selective-copy form=list T=8 V=4 numbers=2", "_ s3 _ _ s1 _ copy copy", "s3 s1");
    check_by_hand("parity N=4", "1 0 1 1", "odd");
    check_by_hand("parity N=4 targets=all", "1 0 1 1", "odd odd even odd");
    check_by_hand("group-word group=S3 N=2", "213 132", "213 312"); /* 1 -> 2 -> 3, 2 -> 1 -> 1, 3 -> 3 -> 2 */
    check_by_hand("group-word group=S3 N=2 targets=last letters=swaps", "132 213", "231");
    check_by_hand("group-word group=A5 N=3 letters=generators", "23145 23145 23451", "23145 31245 42351");
    check_by_hand("group-word group=Zn n=5 N=3", "3 4 4", "3 2 1");
}

static void every_id_has_a_word_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) prompts_text_round_trip(cases[i].text);
}

static void prompts_without_one_answer_are_refused(void **state)
{
    (void)state;
    check_no_prompt("assoc-recall N=2 K=8 V=4", "k5 v1 k5 v3 k5");                       /* the key occurs twice */
    check_no_prompt("assoc-recall N=2 K=8 V=4", "k5 v1 k6 v3 k7");                       /* never */
    check_no_prompt("assoc-recall N=2 K=8 V=4", "k5 v1 v3 k6 k5");                       /* order */
    check_no_prompt("assoc-recall N=2 K=8 V=4", "k5 v1 k6 v3 v1");                       /* a value is asked */
    check_no_prompt("c-gram c=3 N=6 V=4", "s0 s1 s2 s0 s1 s3 ? s0 s1");                  /* two continuations */
    check_no_prompt("c-gram c=3 N=6 V=4", "s0 s1 s2 s0 s3 s1 ? s3 s1");                  /* none: at the end */
    check_no_prompt("c-gram c=3 N=6 V=4", "s0 s1 s2 ? s3 s1 s0 s0 s1");                  /* separator astray */
    check_no_prompt("mqar T=8 pairs=2 vocab=12", "k2 v2 k2 v1 k2 _ _ _");                /* key twice */
    check_no_prompt("mqar T=8 pairs=2 vocab=12", "k2 v2 k4 v1 _ _ _ _");                 /* nothing asked */
    check_no_prompt("mqar T=8 pairs=2 vocab=12", "k2 v2 k4 v1 k2 k3 _ _");               /* unknown key */
    check_no_prompt("mqar T=8 pairs=2 vocab=12", "k2 v2 k4 v1 k2 v2 _ _");               /* a value as filler */
    check_no_prompt("mkar T=5 V=4 key=2", "s0 s1 s2 s3 s0");                             /* no key twice */
    check_no_prompt("mkar T=8 V=4 key=2 layout=pairs", "s1 s2 s3 s1 s2 s0 s1 s2");       /* key of two pairs */
    check_no_prompt("mkar T=8 V=4 key=2 layout=pairs", "s1 s2 s3 s2 s1 s0 s3 s2");       /* of none */
    check_no_prompt("selective-copy T=7 V=4 numbers=2 first=2", "s0 s1 s2 s3 s1 s1 s1"); /* no number */
    check_no_prompt("selective-copy form=list T=8 V=4 numbers=2", "_ s3 _ _ _ _ copy copy");
    check_no_prompt("selective-copy form=list T=8 V=4 numbers=2", "s1 s3 _ _ s1 _ copy copy");
    check_no_prompt("selective-copy form=list T=8 V=4 numbers=2", "s1 s3 _ _ copy _ copy copy");
}

static void parameters_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    prompts_not_a_task("assoc-recall N=8 K=7");
    prompts_not_a_task("assoc-recall N=8 V=7 dist=distinct");
    prompts_not_a_task("c-gram c=4 N=3");
    prompts_not_a_task("c-gram c=8 V=16");
    prompts_not_a_task("c-gram c=2 N=64 V=2"); /* both symbols always have both continuations */
    prompts_not_a_task("mqar T=15 pairs=2");
    prompts_not_a_task("mqar T=14 pairs=4");
    prompts_not_a_task("mqar pairs=4 vocab=9");
    prompts_not_a_task("mkar T=4 key=2");
    prompts_not_a_task("mkar V=1024 key=3");
    prompts_not_a_task("mkar layout=pairs T=100 V=5 key=2"); /* 32 pairs, 25 keys */
    prompts_not_a_task("selective-copy T=9");
    prompts_not_a_task("selective-copy form=list T=9");
    prompts_not_a_task("group-word group=A5 letters=swaps");
    prompts_not_a_task("group-word group=Zn letters=swaps");
}

/* ---- distributions ------------------------------------------------------------------------------------------------- */

/* Keys are different, and a key says nothing about its place: pair i has key i as often as any other. */
static void keys_differ_and_are_not_positions(void **state)
{
    (void)state;
    enum { N = 10, RUNS = 4000 };
    prompts s;
    prompts_open(&s, "assoc-recall N=10 K=10");
    size_t hits = 0, asked[N] = {0};
    for (size_t run = 0; run < RUNS; run++) {
        prompts_make(&s, run);
        uint32_t met = 0;
        for (size_t i = 0; i < N; i++) {
            met |= 1u << s.in.token[2 * i];
            hits += s.in.token[2 * i] == i;
            asked[i] += s.in.token[2 * i] == s.in.token[2 * N];
        }
        assert_int_equal(met, (1u << N) - 1);
    }
    assert_near_binomial(hits, RUNS * N, 1.0 / N);
    for (size_t i = 0; i < N; i++) assert_near_binomial(asked[i], RUNS, 1.0 / N);
    prompts_close(&s);
}

/* Every key is asked once, at an even distance from the pairs, the values differ, and random filler adds no question; the
 * place of a query says nothing about which key it is. */
static void mqar_asks_every_key_once_in_any_order(void **state)
{
    (void)state;
    enum { PAIRS = 3, RUNS = 4000 };
    static const char *const texts[] = {"mqar T=30 pairs=3 vocab=20", "mqar T=30 pairs=3 vocab=20 filler=random"};
    for (size_t i = 0; i < RUNG_COUNT(texts); i++) {
        prompts s;
        size_t first_pair_first = 0;
        prompts_open(&s, texts[i]);
        for (size_t run = 0; run < RUNS; run++) {
            size_t queries = 0;
            prompts_make(&s, run);
            const uint32_t *token = s.in.token;
            for (size_t t = 2 * PAIRS; t < s.in.tokens; t++) {
                if (s.in.target[t] == RUNG_NO_TARGET) continue;
                assert_true(t % 2 == 0);
                if (queries++ == 0) first_pair_first += token[t] == token[0];
                for (size_t u = 2 * PAIRS; u < t; u++) assert_true(token[u] != token[t]);
            }
            assert_int_equal(queries, PAIRS);
            assert_true(token[1] != token[3] && token[3] != token[5] && token[1] != token[5]);
        }
        assert_near_binomial(first_pair_first, RUNS, 1.0 / PAIRS);
        prompts_close(&s);
    }
}

/* Distance k, in steps of two tokens, has weight k^(a-1). */
static void mqar_queries_follow_the_power_law(void **state)
{
    (void)state;
    enum { SPACE = 13, RUNS = 4000 };
    static const struct {
        const char *text;
        double a;
    } laws[] = {{"mqar T=28 pairs=1 vocab=64", 0.01},
                {"mqar T=28 pairs=1 vocab=64 power=30", 0.3},
                {"mqar T=28 pairs=1 vocab=64 power=100", 1}};
    for (size_t i = 0; i < RUNG_COUNT(laws); i++) {
        prompts s;
        size_t at[SPACE] = {0};
        double total = 0;
        prompts_open(&s, laws[i].text);
        for (size_t run = 0; run < RUNS; run++) {
            prompts_make(&s, run);
            at[(rung_instance_last_target(&s.in) - 2) / 2]++;
        }
        for (size_t k = 1; k <= SPACE; k++) total += pow((double)k, laws[i].a - 1);
        for (size_t k = 1; k <= SPACE; k++)
            assert_near_binomial(at[k - 1], RUNS, pow((double)k, laws[i].a - 1) / total);
        prompts_close(&s);
    }
}

static void selective_copy_has_the_rate_of_numbers(void **state)
{
    (void)state;
    prompts s;
    size_t numbers = 0, places[8] = {0};
    prompts_open(&s, "selective-copy");
    for (size_t run = 0; run < 500; run++) {
        prompts_make(&s, run);
        for (size_t t = 0; t < 100; t++) numbers += s.in.token[t] >= 26;
    }
    assert_near_binomial(numbers, 50000, 0.2);
    prompts_close(&s);
    prompts_open(&s, "selective-copy form=list T=10 numbers=2");
    for (size_t run = 0; run < 4000; run++) {
        prompts_make(&s, run);
        for (size_t t = 0; t < 8; t++) places[t] += s.in.token[t] < 26;
    }
    for (size_t t = 0; t < 8; t++) assert_near_binomial(places[t], 4000, 2.0 / 8);
    prompts_close(&s);
}

/* In the hard distribution the last c-2 symbols of the query have several continuations. */
static void hard_c_grams_need_all_of_the_query(void **state)
{
    (void)state;
    prompts s;
    prompts_open(&s, "c-gram c=3 N=40 V=8 dist=hard");
    for (size_t run = 0; run < 500; run++) {
        prompts_make(&s, run);
        const uint32_t *token = s.in.token;
        bool differs = false;
        for (size_t i = 1; i + 1 < 40; i++)
            differs = differs || (token[i] == token[42] && (int32_t)token[i + 1] != s.in.target[42]);
        assert_true(differs);
    }
    prompts_close(&s);
}

/* ---- levels -------------------------------------------------------------------------------------------------------- */

/* Where the level is that of counting values, the counting predictor reaches it. */
static void counting_reaches_the_level_of_a_table(void **state)
{
    (void)state;
    static const char *const tables[] = {"assoc-recall", "assoc-recall N=12 V=12 dist=distinct", "mqar",
                                         "selective-copy form=list"};
    for (size_t i = 0; i < RUNG_COUNT(tables); i++) {
        prompts s;
        rung_leak leak;
        prompts_open(&s, tables[i]);
        assert_int_equal(rung_task_leak(&leak, &s.conf, 11, 8000, NULL), RUNG_OK);
        assert_true(fabs(leak.frequency - leak.declared) <= leak.slack);
        prompts_close(&s);
    }
}

/* The most likely product, from all words of four letters. */
static void group_levels_agree_with_enumeration(void **state)
{
    (void)state;
    static const char *const walks[] = {
        "group-word group=S3 letters=swaps N=4", "group-word group=S5 letters=generators N=4",
        "group-word group=Zn n=3 letters=generators N=4", "group-word group=S3 letters=all N=4"};
    for (size_t i = 0; i < RUNG_COUNT(walks); i++) {
        prompts s;
        prompts_open(&s, walks[i]);
        size_t letters = s.conf.vocab, words = letters * letters * letters * letters, hits[4] = {0}, best = 0;
        size_t *seen = calloc(4 * s.conf.answers, sizeof *seen);
        assert_non_null(seen);
        for (size_t word = 0; word < words; word++) {
            size_t rest = word;
            s.in.tokens = 4;
            for (size_t t = 0; t < 4; t++, rest /= letters) s.in.token[t] = (uint32_t)(rest % letters);
            assert_int_equal(s.conf.task->solve(&s.in, &s.conf, NULL), RUNG_OK);
            for (size_t t = 0; t < 4; t++) {
                size_t count = ++seen[t * s.conf.answers + (size_t)s.in.target[t]];
                if (count > hits[t]) hits[t] = count;
            }
        }
        for (size_t t = 0; t < 4; t++) best += hits[t];
        assert_true(fabs(s.conf.majority - (double)best / (double)(4 * words)) < 1e-12);
        free(seen);
        prompts_close(&s);
    }
}

/* Whoever knows the prompt but not the number names the most common token that a number could point to. */
static void selective_copy_level_agrees_with_its_definition(void **state)
{
    (void)state;
    prompts s;
    double score = 0, targets = 0;
    prompts_open(&s, "selective-copy");
    for (size_t run = 0; run < 500; run++) {
        prompts_make(&s, run);
        for (size_t t = 0; t < 100; t++) {
            if (s.in.target[t] == RUNG_NO_TARGET) continue;
            double votes[31] = {0}, most = 0, all = 0;
            for (size_t n = 5; n <= 9 && n <= t; n++, all++) {
                double v = ++votes[s.in.token[t - n]];
                if (v > most) most = v;
            }
            score += most / all;
            targets++;
        }
    }
    assert_true(fabs(s.conf.majority - score / targets) < 0.005);
    prompts_close(&s);
    prompts_open(&s, "selective-copy numbers=1");
    assert_true(fabs(s.conf.majority - 1) < 1e-12); /* one number leaves nothing to know */
    prompts_close(&s);
}

/* The share of the most common continuation among the grams that have one only, counted the slow way. */
static void c_gram_level_agrees_with_its_definition(void **state)
{
    (void)state;
    enum { N = 12, V = 4, RUNS = 2000 };
    prompts s;
    double score = 0;
    prompts_open(&s, "c-gram c=2 N=12 V=4");
    for (size_t run = 0; run < RUNS; run++) {
        prompts_make(&s, run);
        double votes[V] = {0}, most = 0, all = 0;
        for (size_t i = 0; i + 1 < N; i++) {
            bool one = true;
            for (size_t j = 0; j + 1 < N; j++)
                one = one && (s.in.token[j] != s.in.token[i] || s.in.token[j + 1] == s.in.token[i + 1]);
            if (!one) continue;
            double v = ++votes[s.in.token[i + 1]];
            if (v > most) most = v;
            all++;
        }
        score += most / all;
    }
    assert_true(fabs(s.conf.majority - score / RUNS) < 0.02);
    prompts_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_follow_the_definition),
        cmocka_unit_test(foreign_tokens_and_lengths_are_refused),
        cmocka_unit_test(random_ids_are_refused_or_solved),
        cmocka_unit_test(no_predictor_without_attention_beats_the_level),
        cmocka_unit_test(prompts_by_hand_have_the_answers_by_hand),
        cmocka_unit_test(every_id_has_a_word_of_its_own),
        cmocka_unit_test(prompts_without_one_answer_are_refused),
        cmocka_unit_test(parameters_that_do_not_fit_are_refused),
        cmocka_unit_test(keys_differ_and_are_not_positions),
        cmocka_unit_test(mqar_asks_every_key_once_in_any_order),
        cmocka_unit_test(mqar_queries_follow_the_power_law),
        cmocka_unit_test(selective_copy_has_the_rate_of_numbers),
        cmocka_unit_test(hard_c_grams_need_all_of_the_query),
        cmocka_unit_test(counting_reaches_the_level_of_a_table),
        cmocka_unit_test(group_levels_agree_with_enumeration),
        cmocka_unit_test(selective_copy_level_agrees_with_its_definition),
        cmocka_unit_test(c_gram_level_agrees_with_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
