/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tables and compositions: eva, index, retrieval, seqcomp, k-hop. Every answer is computed a second time, from the words
 * or from the prose instead of the ids and by another route; levels are compared with enumeration and exact sums.
 */
#include "sequences.h"

typedef struct reading {
    prompts p;
    rung_buf text;
} reading;

static void reading_open(reading *r, const char *text)
{
    prompts_open(&r->p, text);
    rung_buf_init(&r->text);
}

static void reading_close(reading *r)
{
    prompts_close(&r->p);
    rung_buf_clear(&r->text);
}

static const char *write_words(reading *r, uint64_t index)
{
    prompts_make(&r->p, index);
    rung_buf_reset(&r->text);
    rung_task_symbols_write(&r->text, &r->p.in, &r->p.conf);
    return r->text.text;
}

static const char *write_facts(reading *r, uint64_t index)
{
    prompts_make(&r->p, index);
    rung_buf_reset(&r->text);
    r->p.conf.task->facts_write(&r->text, &r->p.in, &r->p.conf);
    return r->text.text;
}

static int32_t last_target(const prompts *p)
{
    for (size_t t = 0; t + 1 < p->in.tokens; t++) assert_int_equal(p->in.target[t], RUNG_NO_TARGET);
    return p->in.target[p->in.tokens - 1];
}

static void answer_is(const prompts *p, const char *word)
{
    rung_buf answer;
    rung_buf_init(&answer);
    rung_task_answer_write(&answer, &p->conf, last_target(p));
    assert_string_equal(answer.text, word);
    rung_buf_clear(&answer);
}

static void named_answer_is(const prompts *p, const char *name)
{
    rung_buf answer;
    rung_buf_init(&answer);
    p->conf.task->facts_answer(&answer, &p->conf, p->in.target[p->in.tokens - 1]);
    assert_string_equal(answer.text, name);
    rung_buf_clear(&answer);
}

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
    look_up_by_counting_words("index", 'p');
    look_up_by_counting_words("index N=3 V=20", 'p');
    look_up_by_searching_text("eva form=pair");
    look_up_by_searching_text("eva N=7 V=3 K=7 form=pair");
    look_up_by_searching_text("retrieval");
    look_up_by_searching_text("retrieval N=8 D=3");
    look_up_by_searching_text("retrieval N=300 D=11");
}

static void prompts_by_hand(void **state)
{
    (void)state;
    check_by_hand("eva N=3 V=5", "v4 v0 v4 x1?", "v0");
    check_by_hand("eva N=2 V=5 form=pair", "k3:v1 k0:v2 k0?", "v2");
    check_by_hand("index N=4", "s1 s1 s3 s0 p3", "s0");
    check_by_hand("retrieval N=2 D=3", "101:001 000:110 101?", "001");
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
    check_no_prompt("seqcomp N0=2", "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 w:1 z0:0"); /* w before z_0 */
    check_no_prompt("seqcomp N0=2", "z2:2 z2:0 z2:3 z1:1 z1:1 z1:0 z0:0 w:1"); /* z_1 in z_2 */
    check_no_prompt("seqcomp L=1 N0=2 form=pair", "z1(0):1 z1(0):1 z0:0 w:0"); /* an argument twice */
    check_no_prompt("k-hop N=3", "s0 s1 s0 s1");
    check_no_prompt("k-hop N=3", "hop1 s1 hop2 s1");
    static const sequence_case cases[] = {
        {"eva", NULL},
        {"eva form=pair", NULL},
        {"index", NULL},
        {"retrieval", NULL},
        {"k-hop", NULL},
        {"seqcomp", NULL},
        {"seqcomp L=3 form=pair order=first", NULL},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) check_refusals(&cases[i]);
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
        {"seqcomp V=9", "lower V"},
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

static double majority_of(const char *text)
{
    rung_task_conf conf;
    rung_error err = {{0}};
    if (rung_task_conf_parse(&conf, text, &err) != RUNG_OK) fail_msg("%s: %s", text, err.text);
    return conf.majority;
}

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

/* All tables of L=2, N_0=2, n_1=2, V=2: 2^2 of z_1, 2^4 of z_2, and for each the best answer over the four (z_0, w). */
static void majority_of_a_composition_is_the_mean_over_all_tables(void **state)
{
    (void)state;
    size_t total = 0;
    for (size_t z1 = 0; z1 < 4; z1++)
        for (size_t z2 = 0; z2 < 16; z2++) {
            size_t ones = 0;
            for (size_t query = 0; query < 4; query++) ones += z2 >> ((query & 2) + (z1 >> (query & 1) & 1)) & 1;
            total += ones > 2 ? ones : 4 - ones;
        }
    double want = (double)total / (4 * 16 * 4);
    assert_true(fabs(majority_of("seqcomp N0=2 n=2 V=2") - want) < 5e-3);
    assert_true(fabs(majority_of("seqcomp N0=2 n=2 flat=1 form=pair") - want) < 5e-3);
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

static void composition_tables_and_queries_are_uniform(void **state)
{
    (void)state;
    enum { RUNS = 4000 };
    size_t answers[4] = {0}, z0[2] = {0}, w[2] = {0}, first_argument[4] = {0};
    prompts p, q;
    prompts_open(&p, "seqcomp N0=2 n=2");
    prompts_open(&q, "seqcomp N0=2 n=2 form=pair");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        answers[last_target(&p)]++;
        z0[p.in.token[6] - 6]++;
        w[p.in.token[7] - 8]++;
        prompts_make(&q, i);
        first_argument[(q.in.token[0] - 4) / 4]++; /* z_1 has 2 x 2 ids before those of z_2 */
    }
    for (size_t v = 0; v < 4; v++) assert_near_binomial(answers[v], RUNS, 0.25);
    for (size_t v = 0; v < 4; v++) assert_near_binomial(first_argument[v], RUNS, 0.25);
    for (size_t v = 0; v < 2; v++) assert_near_binomial(z0[v], RUNS, 0.5);
    for (size_t v = 0; v < 2; v++) assert_near_binomial(w[v], RUNS, 0.5);
    prompts_close(&p);
    prompts_close(&q);
}

/* ---- seqcomp --------------------------------------------------------------------------------------------------------- */

/* The instance that the theory works through: z_2 = [2,0,3,1], z_1 = [1,0], z_0 = 0, w_1 = 1; i_1 = 1, i_2 = z_2[3] = 1. */
static void the_worked_instance_of_the_theory(void **state)
{
    (void)state;
    prompts p;
    prompts_open(&p, "seqcomp L=2 N0=2 n=2");
    assert_int_equal(p.conf.tokens, 8);
    assert_int_equal(p.conf.derived[0], 2);
    assert_int_equal(p.conf.derived[1], 4);
    assert_int_equal(prompts_answer(&p, "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:1"), 1);
    assert_int_equal(prompts_answer(&p, "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:1 w:1"), 3);
    assert_int_equal(prompts_answer(&p, "z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0 w:0"), 0);
    prompts_close(&p);
    check_by_hand("seqcomp N0=2 n=2 form=pair", "z2(3):1 z2(0):2 z2(2):3 z2(1):0 z1(1):0 z1(0):1 z0:0 w:1", "1");
    check_by_hand("seqcomp N0=2 n=2 order=first", "w:1 z2:2 z2:0 z2:3 z2:1 z1:1 z1:0 z0:0", "1");
    /* L = 3, n = 2,3: w = w_1 + 2 w_2 with w_1 = 1, w_2 = 2; i_1 = 1, i_2 = z_2[1*2+1] = 3, i_3 = z_3[2*4+3] = 5. */
    check_by_hand("seqcomp L=3 N0=2 n=2,3",
                  "z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:0 z3:5 z2:0 z2:0 z2:0 z2:3 z1:1 z1:0 z0:0 w:5",
                  "5");
}

typedef struct sizes {
    size_t levels, n[16]; /* n[l] = n_l, l >= 1 */
    size_t domain[17];    /* of i_l */
    size_t entries[17];   /* of z_l */
} sizes;

/* From the text of the definition: N_0 = m, N_l = n_l N_{l-1}; z_l has N_{l-1} entries, i_l has N_{l-1} values. */
static sizes sizes_of(const rung_task_conf *conf)
{
    sizes s = {.levels = (size_t)rung_task_param(conf, "L")};
    bool flat = rung_task_param(conf, "flat") == 1;
    size_t m = (size_t)rung_task_param(conf, "N0"), big = m;
    s.domain[0] = m;
    for (size_t l = 1; l <= s.levels; l++) {
        if (l > 1) s.n[l - 1] = (size_t)rung_task_value(conf, "n")->list[l - 2];
        if (l > 1) big *= s.n[l - 1];
        s.entries[l] = l == 1 ? m : flat ? s.n[l - 1] * m : big;
        s.domain[l] = l == s.levels ? conf->answers : flat ? m : big;
    }
    return s;
}

/* Reads the words into tables[l][u]. */
static void read_tables(long *tables[17], long *z0, long *w, const sizes *s, const char *words)
{
    size_t place[17] = {0};
    for (size_t l = 1; l <= s->levels; l++) {
        tables[l] = calloc(s->entries[l], sizeof(long));
        for (size_t u = 0; u < s->entries[l]; u++) tables[l][u] = -1;
    }
    for (const char *at = words; at; at = strchr(at, ' '), at = at ? at + 1 : NULL) {
        long l, u, v;
        if (sscanf(at, "w:%ld", w) == 1 || sscanf(at, "z0:%ld", z0) == 1) continue;
        if (sscanf(at, "z%ld(%ld):%ld", &l, &u, &v) != 3) {
            assert_int_equal(sscanf(at, "z%ld:%ld", &l, &v), 2);
            u = (long)place[l]++;
        }
        assert_true(l >= 1 && (size_t)l <= s->levels && u >= 0 && (size_t)u < s->entries[l]);
        assert_int_equal(tables[l][u], -1);
        tables[l][u] = v;
    }
}

/* From the outside in: g(i) = z_L(w_{L-1}, i), then g(i) := g(z_l(w_{l-1}, i)), the answer is g(z_0). The oracle goes from
 * the inside out. */
static long compose_from_outside(long *tables[17], long z0, long w, const sizes *s)
{
    size_t digit[17] = {0};
    for (size_t l = 1; l < s->levels; l++) {
        digit[l] = (size_t)w % s->n[l];
        w /= (long)s->n[l];
    }
    long *outer = calloc(s->domain[s->levels - 1], sizeof *outer);
    for (size_t l = s->levels; l >= 1; l--) {
        size_t width = s->domain[l - 1];
        long *inner = calloc(width, sizeof *inner);
        for (size_t i = 0; i < width; i++) {
            long value = tables[l][digit[l - 1] * width + i];
            inner[i] = l == s->levels ? value : outer[value];
        }
        free(outer);
        outer = inner;
    }
    long answer = outer[z0];
    free(outer);
    return answer;
}

static const char *const compositions[] = {
    "seqcomp",
    "seqcomp L=1 N0=7",
    "seqcomp L=1 N0=1",
    "seqcomp L=2 N0=1 n=1",
    "seqcomp L=2 N0=3 n=5 V=2",
    "seqcomp L=3 N0=3 n=2,3 order=first",
    "seqcomp L=3 N0=3 n=3,2 form=pair",
    "seqcomp L=4 N0=2 n=2,1,3 form=pair order=first",
    "seqcomp L=5 N0=4 n=3 flat=1",
    "seqcomp L=5 N0=4 n=3 flat=1 form=pair",
    "seqcomp L=16 N0=3 n=1",
};

static void compositions_equal_those_computed_from_outside(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(compositions); c++) {
        reading r;
        reading_open(&r, compositions[c]);
        sizes s = sizes_of(&r.p.conf);
        for (uint64_t i = 0; i < 100; i++) {
            long *tables[17] = {0}, z0 = -1, w = -1;
            read_tables(tables, &z0, &w, &s, write_words(&r, i));
            long want = compose_from_outside(tables, z0, w, &s);
            if (last_target(&r.p) != want)
                fail_msg("%s %d: %d instead of %ld", compositions[c], (int)i, (int)last_target(&r.p), want);
            for (size_t l = 1; l <= s.levels; l++) free(tables[l]);
        }
        reading_close(&r);
    }
}

static void prompt_length_and_players_are_those_of_the_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(compositions); c++) {
        prompts p;
        prompts_open(&p, compositions[c]);
        sizes s = sizes_of(&p.conf);
        size_t total = 2, ids = s.domain[0], ws = 1;
        bool pairs = rung_task_param(&p.conf, "form") == 1, first = rung_task_param(&p.conf, "order") == 1;
        for (size_t l = 1; l <= s.levels; l++) {
            total += s.entries[l];
            ids += s.domain[l] * (pairs ? s.entries[l] : 1);
            if (l > 1) ws *= s.n[l - 1];
            assert_int_equal(p.conf.derived[l - 1], s.entries[l]);
        }
        assert_int_equal(p.conf.tokens, total);
        assert_int_equal(p.conf.vocab, ids + ws);
        prompts_make(&p, 0);
        assert_int_equal(p.in.player_count, s.levels + 2);
        assert_string_equal(p.in.player[first ? 0 : s.levels + 1].name, "w");
        for (size_t l = s.levels + 1; l-- > 0;) {
            char name[16];
            snprintf(name, sizeof name, "z_%d", (int)l);
            const rung_span *span = &p.in.player[s.levels - l + first];
            assert_string_equal(span->name, name);
            assert_int_equal(span->len, l ? s.entries[l] : 1);
        }
        prompts_close(&p);
    }
}

/* ---- facts ----------------------------------------------------------------------------------------------------------- */

/* Copies what stands between `before` and the next of the characters in `stops`. */
static bool text_after(char *out, size_t size, const char *text, const char *before, const char *stops)
{
    const char *at = strstr(text, before);
    if (!at) return false;
    at += strlen(before);
    size_t len = strcspn(at, stops);
    assert_true(len > 0 && len < size);
    memcpy(out, at, len);
    out[len] = 0;
    return true;
}

/* Reads the prose as a person would: "Where does X live?" and "X lives in Y." */
static void answers_follow_from_the_prose_of_eva(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva", "eva form=pair", "eva N=1", "eva N=3000 V=6000"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        reading r;
        reading_open(&r, cases[c]);
        for (uint64_t i = 0; i < 20; i++) {
            char person[64], fact[128], place[64];
            const char *text = write_facts(&r, i);
            assert_true(text_after(person, sizeof person, text, "Where does ", " "));
            snprintf(fact, sizeof fact, "%s lives in ", person);
            assert_true(text_after(place, sizeof place, text, fact, "."));
            named_answer_is(&r.p, place);
        }
        reading_close(&r);
    }
}

/* "Ask for the traveller's guide, then for the mentor in P, ...", one relation after the other. */
static void follow_route(const prompts *p, const char *text)
{
    char person[64], fact[192];
    assert_true(text_after(person, sizeof person, text, "The traveller is ", "."));
    const char *route = strstr(text, "Ask for the traveller's ");
    assert_non_null(route);
    route += strlen("Ask for the traveller's ");
    for (bool more = true; more;) {
        size_t len = strcspn(route, ",."); /* "guide" or "mentor in P" */
        snprintf(fact, sizeof fact, "%s's %.*s is ", person, (int)len, route);
        if (!text_after(person, sizeof person, text, fact, ".")) fail_msg("no fact '%s' in: %.2000s", fact, text);
        more = route[len] == ',';
        route += len + (more ? strlen(", then for the ") : 0);
    }
    named_answer_is(p, person);
}

static void answers_follow_from_the_prose_of_seqcomp(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(compositions); c++) {
        reading r;
        reading_open(&r, compositions[c]);
        for (uint64_t i = 0; i < 20; i++) follow_route(&r.p, write_facts(&r, i));
        reading_close(&r);
    }
}

/* If sentence i were about key i, the position would be readable from the prose. */
static void order_of_sentences_says_nothing_about_positions(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva N=8", "seqcomp L=1 N0=8"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        enum { RUNS = 800, N = 8 };
        char first[N][32], word[32];
        size_t count[N] = {0}, known = 0;
        reading r;
        reading_open(&r, cases[c]);
        for (uint64_t i = 0; i < RUNS; i++) {
            assert_int_equal(sscanf(write_facts(&r, i), "%31[A-Za-z]", word), 1);
            size_t k = 0;
            while (k < known && strcmp(first[k], word) != 0) k++;
            assert_true(k < N);
            if (k == known) strcpy(first[known++], word);
            count[k]++;
        }
        assert_int_equal(known, N);
        for (size_t k = 0; k < N; k++) assert_near_binomial(count[k], RUNS, 1.0 / N);
        reading_close(&r);
    }
}

static void spoilt_prose_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {"eva N=4", "eva N=4 form=pair", "k-hop N=6", "seqcomp",
                                        "seqcomp form=pair order=first"};
    for (size_t c = 0; c < RUNG_COUNT(cases); c++) {
        reading r;
        reading_open(&r, cases[c]);
        write_facts(&r, 0);
        const rung_task *task = r.p.conf.task;
        size_t refused = 0;
        for (size_t i = 0; i < r.text.len; i++) {
            char kept = r.text.text[i];
            r.text.text[i] = '#';
            assert_int_equal(task->facts_read(&r.p.in, r.text.text, &r.p.conf, &r.p.err), RUNG_INPUT);
            assert_int_equal(r.p.in.tokens, 0);
            r.text.text[i] = 0; /* cut short */
            refused += task->facts_read(&r.p.in, r.text.text, &r.p.conf, &r.p.err) == RUNG_INPUT;
            r.text.text[i] = kept;
        }
        assert_int_equal(refused, r.text.len);
        assert_int_equal(task->facts_read(&r.p.in, r.text.text, &r.p.conf, &r.p.err), RUNG_OK);
        reading_close(&r);
    }
    prompts p;
    prompts_open(&p, "eva N=2 V=2"); /* the same person twice leaves another one without a home */
    const char *twice = "Sekun lives in Gidostad. Sekun lives in Gidostad. Where does Sekun live?";
    assert_int_equal(p.conf.task->facts_read(&p.in, twice, &p.conf, &p.err), RUNG_INPUT);
    if (!strstr(p.err.text, "no home yet")) fail_msg("%s", p.err.text);
    prompts_close(&p);
}

/* ---- k-hop ------------------------------------------------------------------------------------------------------------ */

/* max{j <= i : x_{j-1} = x_i} by looking at all j; positions of symbols are 1..N, 0 is none. */
static size_t find_once(const uint32_t *x, size_t i)
{
    size_t found = 0;
    for (size_t j = 2; j <= i; j++)
        if (x[j - 1] == x[i]) found = j;
    return found;
}

static void brute_k_hop(int32_t *want, const rung_instance *p, const rung_task_conf *conf)
{
    uint32_t alphabet = (uint32_t)rung_task_param(conf, "alphabet");
    size_t n = p->tokens - 1;
    for (size_t i = rung_task_param(conf, "targets") == 1 ? n : 1; i <= n; i++) {
        size_t at = i;
        for (uint32_t hop = p->token[0] - alphabet; hop > 0 && at > 0; hop--) at = find_once(p->token, at);
        want[i] = (int32_t)(at ? p->token[at] : alphabet);
    }
}

static const sequence_case hops[] = {
    {"k-hop", brute_k_hop},
    {"k-hop N=2 k=1", brute_k_hop},
    {"k-hop N=40 alphabet=3 k=0", brute_k_hop},
    {"k-hop N=40 alphabet=3 k=1 targets=last", brute_k_hop},
    {"k-hop N=98 k=16 hops=uniform", brute_k_hop},
    {"k-hop N=60 alphabet=20 k=5 hops=uniform targets=last", brute_k_hop},
    {"k-hop N=30 k=1000", brute_k_hop},
};

static void hops_equal_the_quadratic_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(hops); c++) check_against_brute_force(&hops[c], 150);
}

/* Immediate repeats too, which the generator never makes: find(i) = i there. */
static void hops_on_any_symbols_equal_the_quadratic_definition(void **state)
{
    (void)state;
    for (size_t c = 0; c < RUNG_COUNT(hops); c++) {
        prompts p;
        rung_rng rng;
        prompts_open(&p, hops[c].text);
        rung_rng_init(&rng, 8, c, 0);
        int32_t *want = calloc(p.conf.tokens, sizeof *want);
        for (size_t run = 0; run < 150; run++) {
            uint64_t used = 1 + rung_rng_below(&rng, (uint64_t)rung_task_param(&p.conf, "alphabet"));
            prompts_make(&p, run);
            for (size_t t = 1; t < p.in.tokens; t++) p.in.token[t] = (uint32_t)rung_rng_below(&rng, used);
            assert_int_equal(prompts_solve(&p), RUNG_OK);
            check_instance(want, &p, &hops[c], run);
        }
        free(want);
        prompts_close(&p);
    }
}

static void hops_by_hand(void **state)
{
    (void)state;
    /* a b c a b: from the last b the earlier b is followed by c; from c there is no earlier c. */
    check_by_hand("k-hop N=5 k=1", "hop1 s0 s1 s2 s0 s1", "none none none s1 s2");
    check_by_hand("k-hop N=5 k=2", "hop2 s0 s1 s2 s0 s1", "none none none none none");
    check_by_hand("k-hop N=5 k=2", "hop0 s0 s1 s2 s0 s1", "s0 s1 s2 s0 s1");
    check_by_hand("k-hop N=7 k=2 targets=last", "hop2 s0 s2 s0 s1 s2 s3 s1", "s0");
}

static void symbols_never_repeat_at_once_and_hop_counts_are_as_asked(void **state)
{
    (void)state;
    enum { RUNS = 3000 };
    size_t count[5] = {0}, after_zero[4] = {0}, zeros = 0;
    prompts p, fixed;
    prompts_open(&p, "k-hop N=20 k=4 hops=uniform");
    prompts_open(&fixed, "k-hop N=20 k=4");
    for (uint64_t i = 0; i < RUNS; i++) {
        prompts_make(&p, i);
        prompts_make(&fixed, i);
        assert_int_equal(fixed.in.token[0], 4 + 4);
        count[p.in.token[0] - 4]++;
        for (size_t t = 2; t <= 20; t++) assert_int_not_equal(p.in.token[t], p.in.token[t - 1]);
        zeros += p.in.token[10] == 0;
        after_zero[p.in.token[11]] += p.in.token[10] == 0;
    }
    for (size_t h = 0; h < 5; h++) assert_near_binomial(count[h], RUNS, 0.2);
    for (size_t v = 1; v < 4; v++) assert_near_binomial(after_zero[v], zeros, 1.0 / 3);
    prompts_close(&p);
    prompts_close(&fixed);
}

/* The null rate of the published setting is a property of the definition, so the level can be checked against it: with one
 * hop at the last of N symbols, "none" has the chance that x_N is new, ((A-2)/(A-1))^(N-2) for its N-2 candidates. */
static void the_level_of_one_hop_is_the_chance_of_a_new_symbol(void **state)
{
    (void)state;
    double new_symbol = pow(998.0 / 999.0, 10 - 2);
    assert_true(fabs(majority_of("k-hop N=10 alphabet=1000 k=1 targets=last") - new_symbol) < 0.01);
    assert_true(majority_of("k-hop N=2000 alphabet=4 k=1 targets=last") < 0.4);
    assert_true(majority_of("k-hop N=2000 alphabet=4 k=1 targets=last") >= 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_equal_those_read_from_the_words),
        cmocka_unit_test(prompts_by_hand),
        cmocka_unit_test(wrong_prompts_are_refused),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(majority_is_the_mean_over_all_tables),
        cmocka_unit_test(majority_of_two_values_is_that_of_the_binomial),
        cmocka_unit_test(majority_of_a_composition_is_the_mean_over_all_tables),
        cmocka_unit_test(values_keys_and_queries_are_uniform),
        cmocka_unit_test(composition_tables_and_queries_are_uniform),
        cmocka_unit_test(the_worked_instance_of_the_theory),
        cmocka_unit_test(compositions_equal_those_computed_from_outside),
        cmocka_unit_test(prompt_length_and_players_are_those_of_the_definition),
        cmocka_unit_test(answers_follow_from_the_prose_of_eva),
        cmocka_unit_test(answers_follow_from_the_prose_of_seqcomp),
        cmocka_unit_test(order_of_sentences_says_nothing_about_positions),
        cmocka_unit_test(spoilt_prose_is_refused),
        cmocka_unit_test(hops_equal_the_quadratic_definition),
        cmocka_unit_test(hops_on_any_symbols_equal_the_quadratic_definition),
        cmocka_unit_test(hops_by_hand),
        cmocka_unit_test(symbols_never_repeat_at_once_and_hop_counts_are_as_asked),
        cmocka_unit_test(the_level_of_one_hop_is_the_chance_of_a_new_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
