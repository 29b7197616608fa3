/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What must hold for every task of the registry: complete rows, configurations and their canonical text, the same bytes
 * for ever, and oracles that survive garbage.
 */
#include <math.h>

#include "every_task.h"

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
        assert_int_equal(!task->story_write, !task->story_read);
        size_t dist = rung_param_find(task->params, "dist");
        assert_true(dist != SIZE_MAX);
        assert_int_equal(task->params[dist].kind, RUNG_PARAM_CHOICE);
        assert_int_equal(task->params[dist].fallback, 0);
        assert_string_equal(task->params[dist].choices[0], "uniform");
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

static void nothing_of_an_earlier_configuration_remains(void **state)
{
    (void)state;
    rung_task_conf dirty, clean;
    rung_error err;
    for (size_t i = 0; i < rung_task_count(); i++) {
        memset(&dirty, 0x5a, sizeof dirty);
        memset(&clean, 0, sizeof clean);
        assert_int_equal(rung_task_conf_init(&dirty, rung_task_at(i)->name, NULL, 0, &err), RUNG_OK);
        assert_int_equal(rung_task_conf_init(&clean, rung_task_at(i)->name, NULL, 0, &err), RUNG_OK);
        assert_true(dirty.tokens == clean.tokens && dirty.vocab == clean.vocab && dirty.answers == clean.answers);
        assert_true(dirty.d_in == clean.d_in && dirty.d_out == clean.d_out);
        assert_true(dirty.chance == clean.chance && dirty.majority == clean.majority);
        assert_memory_equal(dirty.derived, clean.derived, sizeof clean.derived);
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
        bool quiet = row->kind == RUNG_PARAM_SWITCH && rung_task_param(&p.conf, row->name) == row->fallback;
        assert_int_equal(strstr(first, word) != NULL, !quiet);
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
        "eva N=5",
        "eva N=5 V=3 form=pair",
        "seqcomp L=1",
        "seqcomp L=4 N0=2 n=3",
        "k-hop k=0",
        "seqcomp L=3 flat=1",
        "retrieval N=2 D=1 distinct=0",
        "seqcomp L=3 N0=2 n=2,3 V=5 order=first form=pair",
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_has_its_own_name),
        cmocka_unit_test(misspelt_names_are_answered_with_the_nearest_one),
        cmocka_unit_test(nothing_of_an_earlier_configuration_remains),
        cmocka_unit_test(text_that_is_no_configuration_is_refused),
        cmocka_unit_test(canonical_text_names_every_parameter_and_parses_back),
        cmocka_unit_test(levels_and_sizes_make_sense),
        cmocka_unit_test(players_cover_the_prompt_and_something_is_asked),
        cmocka_unit_test(bytes_of_the_first_instances_never_change),
        cmocka_unit_test(an_instance_does_not_depend_on_the_ones_before),
        cmocka_unit_test(seed_and_parameters_choose_the_stream),
        cmocka_unit_test(oracles_refuse_or_answer_garbage_but_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
