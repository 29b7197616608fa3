/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What must hold for every task of the registry, present and future: configurations and their canonical text, text in
 * both directions, the same bytes for ever, oracles that survive garbage, and levels that no leak exceeds.
 */
#include <ctype.h>
#include <math.h>

#include "prompts.h"

/* Every task at its default numbers, with every combination of its words (dist, form, ...) that the task accepts. The
 * first words are the defaults and must be accepted; every word must be accepted in some combination. */
typedef void visit(const char *text);

static size_t word_count(const rung_param *param)
{
    size_t count = 0;
    while (param->kind == RUNG_PARAM_WORD && param->words[count]) count++;
    return count;
}

/* Writes combination number `code`, in mixed radix over the words; returns what is left of the number. */
static size_t write_combination(char *text, size_t size, const rung_task *task, size_t code)
{
    size_t len = (size_t)snprintf(text, size, "%s", task->name);
    for (const rung_param *p = task->params; p->name; p++) {
        size_t words = word_count(p);
        if (words == 0) continue;
        len += (size_t)snprintf(text + len, size - len, " %s=%s", p->name, p->words[code % words]);
        assert_true(len < size);
        code /= words;
    }
    return code;
}

static void note_words(bool met[RUNG_PARAM_MAX][64], const rung_task *task, size_t code)
{
    for (size_t p = 0; task->params[p].name; p++) {
        size_t words = word_count(&task->params[p]);
        if (words == 0) continue;
        met[p][code % words] = true;
        code /= words;
    }
}

static void for_each_combination(visit *check, const rung_task *task)
{
    char text[512];
    bool met[RUNG_PARAM_MAX][64] = {{false}};
    for (size_t code = 0; write_combination(text, sizeof text, task, code) == 0; code++) {
        rung_task_conf conf;
        rung_error err = {{0}};
        rung_status status = rung_task_conf_parse(&conf, text, &err);
        if (status != RUNG_OK && (status != RUNG_USAGE || code == 0)) fail_msg("%s: %s", text, err.text);
        if (status != RUNG_OK) continue;
        note_words(met, task, code);
        check(text);
    }
    for (size_t p = 0; task->params[p].name; p++)
        for (size_t w = 0; w < word_count(&task->params[p]); w++)
            if (!met[p][w])
                fail_msg("%s: %s=%s is never accepted", task->name, task->params[p].name, task->params[p].words[w]);
}

static void for_each_task(visit *check)
{
    assert_true(rung_task_count() > 0);
    for (size_t i = 0; i < rung_task_count(); i++) for_each_combination(check, rung_task_at(i));
}

static char *canonical_of(const rung_task_conf *conf)
{
    rung_buf buf;
    rung_buf_init(&buf);
    rung_task_canonical(&buf, conf);
    assert_int_equal(rung_buf_ok(&buf, NULL), RUNG_OK);
    return buf.text;
}

/* ---- registry ----------------------------------------------------------------------------------------------------- */

static void every_row_is_complete_and_has_its_own_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_task_count(); i++) {
        const rung_task *task = rung_task_at(i);
        assert_ptr_equal(rung_task_get(task->name), task); /* the first of that name: names are unique */
        assert_true(task->summary && task->summary[0] && task->source && task->source[0]);
        assert_true(task->params && task->resolve && task->generate && task->solve);
        assert_true(rung_param_count(task->params) <= RUNG_PARAM_MAX);
        assert_int_equal(!task->facts_write, !task->facts_read);
        size_t dist = rung_param_find(task->params, "dist");
        assert_true(dist != SIZE_MAX);
        assert_int_equal(task->params[dist].kind, RUNG_PARAM_WORD);
        assert_int_equal(task->params[dist].fallback, 0);
        assert_string_equal(task->params[dist].words[0], "uniform");
        for (const rung_param *p = task->params; p->name; p++) assert_true(p->help && p->help[0]);
    }
    assert_null(rung_task_at(rung_task_count()));
    assert_null(rung_task_get("no such task"));
}

static void misspelt_names_are_answered_with_the_nearest_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_task_count(); i++) {
        char misspelt[64];
        const char *name = rung_task_at(i)->name;
        snprintf(misspelt, sizeof misspelt, "%sx", name);
        assert_string_equal(rung_task_nearest(misspelt), name);
    }
    const struct {
        const char *text, *hint;
    } cases[] = {
        {"seqcmp L=2", "'seqcomp'"},       {"eva form=pairs", "'pair'"}, {"k-hop alphabt=4", "'alphabet'"},
        {"k-hop targets=lst", "'last'"},   {"eva N=x", "N=x"},           {"eva N", "key=value"},
        {"qqqqqqqqqqqq", "unknown task"},  {"eva N=0", "from 1"},        {"seqcomp n=2,zwei", "n=2,zwei"},
        {"eva dist=unifrom", "'uniform'"},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        rung_task_conf conf;
        rung_error err = {{0}};
        assert_int_equal(rung_task_conf_parse(&conf, cases[i].text, &err), RUNG_USAGE);
        if (!strstr(err.text, cases[i].hint)) fail_msg("%s: no %s in: %s", cases[i].text, cases[i].hint, err.text);
    }
}

static void text_that_is_no_configuration_is_refused(void **state)
{
    (void)state;
    rung_task_conf conf;
    rung_error err = {{0}};
    assert_int_equal(rung_task_conf_parse(&conf, "", &err), RUNG_INPUT);
    assert_int_equal(rung_task_conf_parse(&conf, "   ", &err), RUNG_INPUT);
    char many[4096] = "eva";
    for (size_t i = 0; i < 300; i++) strcat(many, " N=2");
    assert_int_equal(rung_task_conf_parse(&conf, many, &err), RUNG_INPUT);
    assert_true(strstr(err.text, "words") != NULL);
}

/* ---- canonical text ----------------------------------------------------------------------------------------------- */

static void check_canonical(const char *text)
{
    prompts p, q;
    prompts_open(&p, text);
    char *first = canonical_of(&p.conf);
    prompts_open(&q, first);
    char *second = canonical_of(&q.conf);
    assert_string_equal(first, second);
    assert_true(p.conf.tokens == q.conf.tokens && p.conf.vocab == q.conf.vocab && p.conf.answers == q.conf.answers);
    assert_true(p.conf.d_in == q.conf.d_in && p.conf.d_out == q.conf.d_out);
    assert_true(p.conf.chance == q.conf.chance && p.conf.majority == q.conf.majority);
    assert_memory_equal(p.conf.derived, q.conf.derived, sizeof p.conf.derived);
    for (const rung_param *row = p.conf.task->params; row->name; row++) {
        char word[64];
        snprintf(word, sizeof word, " %s=", row->name);
        assert_true(strstr(first, word) != NULL);
    }
    free(first);
    free(second);
    prompts_close(&p);
    prompts_close(&q);
}

static void canonical_text_names_every_parameter_and_parses_back(void **state)
{
    (void)state;
    for_each_task(check_canonical);
    static const char *const more[] = {
        "eva N=5",   "eva N=5 V=3 form=pair", "seqcomp L=1",       "seqcomp L=4 N0=2 n=3",
        "k-hop k=0", "seqcomp L=3 flat=1",    "retrieval N=2 D=1", "seqcomp L=3 N0=2 n=2,3 V=5 order=first form=pair",
    };
    for (size_t i = 0; i < RUNG_COUNT(more); i++) check_canonical(more[i]);
}

static void levels_and_sizes_make_sense(void **state)
{
    (void)state;
    for (size_t i = 0; i < rung_task_count(); i++) {
        prompts p;
        prompts_open(&p, rung_task_at(i)->name);
        assert_true(p.conf.tokens > 0);
        assert_true((p.conf.vocab > 0) != (p.conf.d_in > 0));
        assert_true((p.conf.answers > 0) != (p.conf.d_out > 0));
        assert_int_equal(p.conf.vocab > 0, p.conf.task->token_word != NULL);
        if (p.conf.answers) {
            assert_true(fabs(p.conf.chance * (double)p.conf.answers - 1) < 1e-12);
            if (p.conf.majority < p.conf.chance - 1e-12 || p.conf.majority > 1 + 1e-12)
                fail_msg("%s: majority %g, chance %g", p.conf.task->name, p.conf.majority, p.conf.chance);
        }
        prompts_close(&p);
    }
}

/* ---- instances ---------------------------------------------------------------------------------------------------- */

static void check_players(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    for (uint64_t index = 0; index < 20; index++) {
        size_t end = 0;
        prompts_make(&p, index);
        assert_true(p.in.tokens > 0 && p.in.tokens <= p.conf.tokens);
        assert_true(p.in.player_count >= 1 && p.in.player_count <= RUNG_PLAYERS_MAX);
        for (size_t i = 0; i < p.in.player_count; i++) {
            assert_true(p.in.player[i].name[0] != 0);
            assert_int_equal(p.in.player[i].start, end);
            end += p.in.player[i].len;
        }
        assert_int_equal(end, p.in.tokens);
        size_t last = rung_instance_last_target(&p.in);
        assert_true(last < p.in.tokens);
        assert_true(p.in.target[last] != RUNG_NO_TARGET);
        for (size_t t = last + 1; t < p.in.tokens; t++) assert_int_equal(p.in.target[t], RUNG_NO_TARGET);
    }
    prompts_close(&p);
}

static void players_cover_the_prompt_and_something_is_asked(void **state)
{
    (void)state;
    for_each_task(check_players);
}

static void add_u32(rung_sha256 *sha, uint32_t x)
{
    const uint8_t bytes[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    rung_sha256_add(sha, bytes, sizeof bytes);
}

static void add_floats(rung_sha256 *sha, const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        add_u32(sha, bits);
    }
}

static void add_instance(rung_sha256 *sha, const prompts *p)
{
    size_t n = p->in.tokens;
    add_u32(sha, (uint32_t)n);
    for (size_t t = 0; t < n; t++) {
        if (p->in.token) add_u32(sha, p->in.token[t]);
        add_u32(sha, (uint32_t)p->in.target[t]);
    }
    if (p->in.feature) add_floats(sha, p->in.feature, n * p->conf.d_in);
    if (p->in.target_value) add_floats(sha, p->in.target_value, n * p->conf.d_out);
}

/* The first 16 hexadecimal digits of the digest of `count` instances. */
static void digest(char out[17], prompts *p, uint64_t first, uint64_t count)
{
    static const char digits[] = "0123456789abcdef";
    rung_sha256 sha;
    uint8_t bytes[32];
    rung_sha256_init(&sha);
    for (uint64_t i = first; i < first + count; i++) {
        prompts_make(p, i);
        add_instance(&sha, p);
    }
    rung_sha256_final(&sha, bytes);
    for (size_t i = 0; i < 8; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[16] = 0;
}

/* Published data sets are named by (task, parameters, seed): if one of these changes, every such name is broken. Change a
 * line only together with a new entry in the changelog. */
static const struct {
    const char *text, *digest;
} golden[] = {
#include "golden.inc"
};

static const char *golden_of(const char *text)
{
    for (size_t i = 0; i < RUNG_COUNT(golden); i++)
        if (strcmp(golden[i].text, text) == 0) return golden[i].digest;
    return "missing";
}

static size_t golden_wrong;

static void check_golden(const char *text)
{
    prompts p;
    char have[17];
    prompts_open(&p, text);
    digest(have, &p, 0, 8);
    prompts_close(&p);
    if (strcmp(have, golden_of(text)) == 0) return;
    print_error("    {\"%s\", \"%s\"},\n", text, have);
    golden_wrong++;
}

static void bytes_of_the_first_instances_never_change(void **state)
{
    (void)state;
    golden_wrong = 0;
    for_each_task(check_golden);
    for (size_t i = 0; i < RUNG_COUNT(golden); i++) check_golden(golden[i].text);
    if (golden_wrong) fail_msg("%zu configurations have other bytes than those recorded", golden_wrong);
}

static void check_pure(const char *text)
{
    prompts p, q;
    char backwards[17], fresh[17], other[17];
    prompts_open(&p, text);
    prompts_make(&p, 9); /* leaves other data in the buffers */
    prompts_make(&p, 8);
    digest(backwards, &p, 5, 1);
    prompts_open(&q, text);
    digest(fresh, &q, 5, 1);
    assert_string_equal(backwards, fresh);
    digest(fresh, &q, 0, 20);
    digest(other, &q, 20, 20);
    assert_string_not_equal(fresh, other);
    prompts_close(&p);
    prompts_close(&q);
}

static void an_instance_does_not_depend_on_the_ones_before(void **state)
{
    (void)state;
    for_each_task(check_pure);
}

static void seed_and_parameters_choose_the_stream(void **state)
{
    (void)state;
    prompts a, b, c;
    prompts_open(&a, "eva N=64");
    prompts_open(&b, "eva N=64 V=64 K=64 dist=uniform form=position"); /* the same, spelled out */
    prompts_open(&c, "index N=64 V=64");
    assert_int_equal(rung_task_make(&a.in, &a.conf, 1, 2, &a.err), RUNG_OK);
    assert_int_equal(rung_task_make(&b.in, &b.conf, 1, 2, &b.err), RUNG_OK);
    assert_int_equal(rung_task_make(&c.in, &c.conf, 1, 2, &c.err), RUNG_OK);
    assert_memory_equal(a.in.token, b.in.token, a.in.tokens * sizeof(uint32_t));
    assert_memory_not_equal(a.in.token, c.in.token, a.in.tokens * sizeof(uint32_t));
    assert_int_equal(rung_task_make(&b.in, &b.conf, 2, 1, &b.err), RUNG_OK);
    assert_memory_not_equal(a.in.token, b.in.token, a.in.tokens * sizeof(uint32_t));
    prompts_close(&a);
    prompts_close(&b);
    prompts_close(&c);
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static void compare_read(prompts *q, const prompts *p, rung_status status, const char *what)
{
    if (status != RUNG_OK) fail_msg("%s of %s: %s", what, p->conf.task->name, q->err.text);
    assert_int_equal(q->in.tokens, p->in.tokens);
    assert_memory_equal(q->in.token, p->in.token, p->in.tokens * sizeof(uint32_t));
    for (size_t t = 0; t < q->in.tokens; t++) assert_int_equal(q->in.target[t], RUNG_NO_TARGET);
    assert_int_equal(prompts_solve(q), RUNG_OK);
    assert_memory_equal(q->in.target, p->in.target, p->in.tokens * sizeof(int32_t));
}

static void check_text(const char *text)
{
    prompts p, q;
    rung_buf buf;
    prompts_open(&p, text);
    prompts_open(&q, text);
    rung_buf_init(&buf);
    const rung_task *task = p.conf.task;
    for (uint64_t index = 0; index < 30 && task->token_word; index++) {
        prompts_make(&p, index);
        rung_buf_reset(&buf);
        rung_task_symbols_write(&buf, &p.in, &p.conf);
        compare_read(&q, &p, rung_task_symbols_read(&q.in, buf.text, &q.conf, &q.err), "symbols");
        if (!task->facts_write) continue;
        rung_buf_reset(&buf);
        task->facts_write(&buf, &p.in, &p.conf);
        compare_read(&q, &p, task->facts_read(&q.in, buf.text, &q.conf, &q.err), "facts");
    }
    rung_buf_clear(&buf);
    prompts_close(&p);
    prompts_close(&q);
}

static const char *const text_cases[] = {
    "eva N=1",
    "eva N=90 V=7",
    "eva N=40 K=41 form=pair",
    "eva N=5000 V=5000", /* names of three syllables */
    "retrieval N=1 D=1",
    "retrieval N=2048 D=11", /* a vocabulary above 2^22 */
    "k-hop N=2 k=0",
    "k-hop N=50 k=9 hops=uniform targets=last",
    "seqcomp L=1 N0=9",
    "seqcomp L=1 N0=9 form=pair order=first",
    "seqcomp L=3 N0=3 n=2,5",
    "seqcomp L=3 N0=3 n=2,5 order=first",
    "seqcomp L=3 N0=3 n=2,5 form=pair",
    "seqcomp L=4 N0=4 n=3 flat=1 form=pair order=first",
    "seqcomp L=16 N0=2 n=1",
};

static void text_reads_back_as_the_same_prompt(void **state)
{
    (void)state;
    for_each_task(check_text);
    for (size_t i = 0; i < RUNG_COUNT(text_cases); i++) check_text(text_cases[i]);
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void words_are_distinct(char **words, size_t count, const char *what)
{
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        assert_true(words[i][0] != 0);
        for (const char *c = words[i]; *c; c++) assert_true(!isspace((unsigned char)*c));
        if (i > 0 && strcmp(words[i - 1], words[i]) == 0) fail_msg("%s: two ids are '%s'", what, words[i]);
    }
    for (size_t i = 0; i < count; i++) free(words[i]);
    free(words);
}

static void check_words(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    const rung_task *task = p.conf.task;
    size_t ids = task->token_word ? p.conf.vocab : 0, answers = p.conf.answers;
    char **token = calloc(ids + 1, sizeof *token), **answer = calloc(answers + 1, sizeof *answer);
    char **named = calloc(answers + 1, sizeof *named);
    for (size_t i = 0; i < ids; i++) {
        rung_buf word = {0};
        task->token_word(&word, &p.conf, (uint32_t)i);
        token[i] = word.text;
    }
    for (size_t i = 0; i < answers; i++) {
        rung_buf word = {0}, name = {0};
        rung_task_answer_write(&word, &p.conf, (int32_t)i);
        if (task->facts_answer)
            task->facts_answer(&name, &p.conf, (int32_t)i);
        else
            rung_buf_printf(&name, "%zu", i);
        answer[i] = word.text;
        named[i] = name.text;
    }
    words_are_distinct(token, ids, text);
    words_are_distinct(answer, answers, text);
    words_are_distinct(named, answers, text);
    prompts_close(&p);
}

static void every_id_has_a_word_of_its_own_without_spaces(void **state)
{
    (void)state;
    for_each_task(check_words);
    for (size_t i = 0; i < RUNG_COUNT(text_cases); i++)
        if (!strstr(text_cases[i], "D=11")) check_words(text_cases[i]);
}

static void check_bad_text(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    if (!p.conf.task->token_word) {
        assert_int_equal(rung_task_symbols_read(&p.in, "a b", &p.conf, &p.err), RUNG_USAGE);
        prompts_close(&p);
        return;
    }
    prompts_make(&p, 0);
    rung_buf buf;
    rung_buf_init(&buf);
    rung_task_symbols_write(&buf, &p.in, &p.conf);
    size_t space = strcspn(buf.text, " ");
    if (buf.text[space]) {
        memcpy(buf.text + space + 1, "!", 1); /* spoils the second word */
        assert_int_equal(rung_task_symbols_read(&p.in, buf.text, &p.conf, &p.err), RUNG_INPUT);
        if (!strstr(p.err.text, "position 1")) fail_msg("no place in: %s", p.err.text);
        assert_int_equal(p.in.tokens, 0);
    }
    assert_int_equal(rung_task_symbols_read(&p.in, " \n", &p.conf, &p.err), RUNG_INPUT);
    rung_buf_reset(&buf);
    for (size_t t = 0; t <= p.conf.tokens; t++) {
        p.conf.task->token_word(&buf, &p.conf, 0);
        rung_buf_putc(&buf, '\t');
    }
    assert_int_equal(rung_task_symbols_read(&p.in, buf.text, &p.conf, &p.err), RUNG_INPUT); /* one too many */
    if (p.conf.task->facts_read) {
        assert_int_equal(p.conf.task->facts_read(&p.in, "Once upon a time", &p.conf, &p.err), RUNG_INPUT);
        assert_true(strstr(p.err.text, "byte 0") != NULL);
    }
    rung_buf_clear(&buf);
    prompts_close(&p);
}

static void text_of_something_else_is_refused_with_its_place(void **state)
{
    (void)state;
    for_each_task(check_bad_text);
}

/* ---- oracles ------------------------------------------------------------------------------------------------------ */

static uint32_t garbage_id(const rung_task_conf *conf, rung_rng *rng)
{
    const uint32_t corners[] = {0, (uint32_t)conf->vocab - 1, (uint32_t)conf->vocab, INT32_MAX, UINT32_MAX};
    if (rung_rng_below(rng, 8) == 0) return corners[rung_rng_below(rng, RUNG_COUNT(corners))];
    return (uint32_t)rung_rng_below(rng, conf->vocab);
}

static float garbage_float(rung_rng *rng)
{
    const float corners[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, 1e-45f, -1};
    return corners[rung_rng_below(rng, RUNG_COUNT(corners))];
}

static void spoil(prompts *p, rung_rng *rng, bool all)
{
    if (all) p->in.tokens = rung_rng_below(rng, 2) ? p->conf.tokens : rung_rng_below(rng, p->conf.tokens + 1);
    for (size_t t = 0; t < p->in.tokens; t++) {
        if (!all && rung_rng_below(rng, p->in.tokens)) continue;
        if (p->in.token) p->in.token[t] = garbage_id(&p->conf, rng);
        for (size_t d = 0; d < p->conf.d_in; d++) p->in.feature[t * p->conf.d_in + d] = garbage_float(rng);
    }
}

static void check_survival(const char *text)
{
    prompts p;
    rung_rng rng;
    prompts_open(&p, text);
    rung_rng_init(&rng, 1, 2, 3);
    for (size_t run = 0; run < 400; run++) {
        prompts_make(&p, run);
        spoil(&p, &rng, run % 2);
        rung_status status = prompts_solve(&p);
        if (status != RUNG_OK && (status != RUNG_INPUT || !p.err.text[0]))
            fail_msg("%s: status %d, '%s'", text, (int)status, p.err.text);
        for (size_t t = 0; status == RUNG_OK && t < p.in.tokens; t++) {
            int64_t answers = p.conf.answers ? (int64_t)p.conf.answers : 1;
            assert_true(p.in.target[t] >= RUNG_NO_TARGET && p.in.target[t] < answers);
        }
    }
    prompts_close(&p);
}

static void oracles_refuse_or_answer_garbage_but_never_crash(void **state)
{
    (void)state;
    for_each_task(check_survival);
    for (size_t i = 0; i < RUNG_COUNT(text_cases); i++)
        if (!strstr(text_cases[i], "5000") && !strstr(text_cases[i], "2048")) check_survival(text_cases[i]);
}

/* ---- leaks -------------------------------------------------------------------------------------------------------- */

static void check_leak(const char *text)
{
    prompts p;
    prompts_open(&p, text);
    bool words = p.conf.answers > 0;
    prompts_close(&p);
    if (words) prompts_no_leak(text, 3000);
}

static void no_predictor_without_attention_exceeds_the_declared_level(void **state)
{
    (void)state;
    for_each_task(check_leak);
}

/* A task that leaks on purpose, in the way its parameter says, with a declared level of 1/4. */
static const char *const leaks[] = {"uniform", "constant", "place", "count", NULL};
static const rung_param leaky_params[] = {{"dist", RUNG_PARAM_WORD, 0, 0, 0, leaks, "how the answer leaks"}, {0}};

static rung_status leaky_generate(rung_instance *instance, const rung_task_conf *conf, rung_rng *rng, rung_error *err)
{
    (void)conf, (void)err;
    instance->tokens = 8;
    for (size_t t = 0; t < 8; t++) instance->token[t] = (uint32_t)rung_rng_below(rng, 4);
    return RUNG_OK;
}

static int32_t most_frequent(const uint32_t *token)
{
    size_t count[4] = {0}, best = 0;
    for (size_t t = 0; t < 8; t++) count[token[t]]++;
    for (size_t v = 1; v < 4; v++)
        if (count[v] > count[best]) best = v;
    return (int32_t)best;
}

static rung_status leaky_solve(rung_instance *instance, const rung_task_conf *conf, rung_error *err)
{
    (void)err;
    uint32_t hash = 0; /* a fair answer: nothing that counts or stands in one place */
    for (size_t t = 0; t < 8; t++) hash = (hash * 5 + instance->token[t]) % 1009;
    int64_t dist = rung_task_param(conf, "dist");
    for (size_t t = 4; t < 8; t++) instance->target[t] = (int32_t)((uint32_t)(hash + t * 7) * 2654435761u >> 30);
    if (dist == 1)
        for (size_t t = 4; t < 8; t++) instance->target[t] = 2;
    if (dist == 2)
        for (size_t t = 4; t < 8; t++) instance->target[t] = (int32_t)t - 4;
    if (dist == 3) instance->target[4] = instance->target[5] = instance->target[6] = RUNG_NO_TARGET;
    if (dist == 3) instance->target[7] = most_frequent(instance->token);
    return RUNG_OK;
}

static int32_t leaky_vote(const rung_task_conf *conf, uint32_t token)
{
    (void)conf;
    return (int32_t)token;
}

static const rung_task leaky = {
    .name = "leaky",
    .params = leaky_params,
    .generate = leaky_generate,
    .solve = leaky_solve,
    .vote = leaky_vote,
};

static rung_leak probe_leaky(int64_t dist)
{
    rung_task_conf conf = {.task = &leaky, .tokens = 8, .vocab = 4, .answers = 4, .chance = 0.25, .majority = 0.25};
    rung_leak leak;
    rung_error err;
    conf.params[0].number = dist;
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 1001, &err), RUNG_OK);
    assert_int_equal(leak.tested, (dist == 3 ? 1 : 4) * 501);
    assert_true(leak.declared == 0.25);
    assert_true(fabs(leak.slack - 4 * sqrt(0.25 * 0.75 / 501)) < 1e-12);
    return leak;
}

static void the_probe_finds_planted_leaks_and_only_those(void **state)
{
    (void)state;
    rung_leak fair = probe_leaky(0), constant = probe_leaky(1), place = probe_leaky(2), count = probe_leaky(3);
    double limit = fair.declared + fair.slack;
    assert_true(fair.majority < limit && fair.position < limit && fair.frequency < limit);
    assert_true(constant.majority == 1 && constant.position == 1 && constant.frequency < limit);
    assert_true(place.majority < limit && place.position == 1 && place.frequency < limit);
    assert_true(count.majority < 0.6 && count.position < 0.6 && count.frequency == 1);
}

static void the_probe_says_when_it_cannot_probe(void **state)
{
    (void)state;
    rung_task_conf conf = {.task = &leaky, .tokens = 8, .vocab = 4, .answers = 4, .majority = 0.25};
    rung_leak leak;
    rung_error err = {{0}};
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 1, &err), RUNG_USAGE);
    assert_true(err.text[0] != 0);
    conf.answers = 0; /* vector targets */
    assert_int_equal(rung_task_leak(&leak, &conf, 5, 10, &err), RUNG_OK);
    assert_int_equal(leak.tested, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_has_its_own_name),
        cmocka_unit_test(misspelt_names_are_answered_with_the_nearest_one),
        cmocka_unit_test(text_that_is_no_configuration_is_refused),
        cmocka_unit_test(canonical_text_names_every_parameter_and_parses_back),
        cmocka_unit_test(levels_and_sizes_make_sense),
        cmocka_unit_test(players_cover_the_prompt_and_something_is_asked),
        cmocka_unit_test(bytes_of_the_first_instances_never_change),
        cmocka_unit_test(an_instance_does_not_depend_on_the_ones_before),
        cmocka_unit_test(seed_and_parameters_choose_the_stream),
        cmocka_unit_test(text_reads_back_as_the_same_prompt),
        cmocka_unit_test(every_id_has_a_word_of_its_own_without_spaces),
        cmocka_unit_test(text_of_something_else_is_refused_with_its_place),
        cmocka_unit_test(oracles_refuse_or_answer_garbage_but_never_crash),
        cmocka_unit_test(no_predictor_without_attention_exceeds_the_declared_level),
        cmocka_unit_test(the_probe_finds_planted_leaks_and_only_those),
        cmocka_unit_test(the_probe_says_when_it_cannot_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
