/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The spec of a sweep: which runs it stands for, and what it refuses.
 */
#include "lab_test.h"

/* ---- runs ------------------------------------------------------------------------------------------------------------------ */

typedef struct spelled {
    rung_sweep *sweep;
    rung_sweep_run run;
} spelled;

static const rung_sweep_run *spell(spelled *s, size_t index)
{
    rung_error err = {""};
    rung_status status = rung_sweep_run_init(&s->run, s->sweep, index, &err);
    if (status != RUNG_OK) fail_msg("%s", err.text);
    return &s->run;
}

static void the_last_axis_runs_fastest_and_counts_multiply(void **state)
{
    (void)state;
    spelled s = {.sweep =
                     parse("{\"base\": {\"task\": \"eva\"}, \"grid\": {\"arch\": [\"full\", \"linear\", \"delta\"],"
                           " \"task.N\": [4, 8], \"seed\": [0, 1, 2, 3]}}")};
    static const char *const archs[] = {"full", "linear", "delta"};
    assert_int_equal(rung_sweep_count(s.sweep), 3 * 2 * 4);
    for (size_t i = 0; i < 24; i++) {
        const rung_sweep_run *run = spell(&s, i);
        assert_string_equal(run->conf.model.arch, archs[i / 8]);
        assert_int_equal(rung_task_param(&run->conf.task, "N"), i / 4 % 2 ? 8 : 4);
        assert_int_equal(run->conf.seed, i % 4);
        rung_sweep_run_clear(&s.run);
    }
    rung_sweep_free(s.sweep);
}

/* The same run, made by hand from the defaults of the table: what `rung train` does. */
static void a_run_is_the_run_of_rung_train_and_its_id_the_hash_of_its_text(void **state)
{
    (void)state;
    spelled s = {.sweep =
                     parse("{\"base\": {\"arch\": \"2*full\", \"task\": \"eva N=8\", \"task.V\": 4, \"rate\": 0.01,"
                           " \"schedule\": \"linear\", \"random-labels\": true, \"test-prompts\": 7, \"seed\": 5}}")};
    const rung_sweep_run *run = spell(&s, 0);
    rung_train_options options = {0};
    const char *task[] = {"N=8", "V=4"};
    rung_train_spec conf;
    rung_buf text, canonical;
    rung_error err = {""};
    char hex[65];
    assert_int_equal(rung_option_defaults(&options, rung_train_option_table, &err), RUNG_OK);
    options.shape.arch = "2*full";
    options.rate = 0.01;
    options.schedule = 2; /* constant, cosine, linear */
    options.random_labels = true;
    options.test_prompts = 7;
    rung_buf_init(&text);
    rung_buf_init(&canonical);
    assert_int_equal(rung_train_spec_of(&conf, &text, &options, 5, task, 2, &err), RUNG_OK);
    rung_buf_puts(&canonical, "rung.run/1\n");
    rung_train_canonical(&canonical, &conf);
    assert_string_equal(run->canonical, canonical.text + strlen("rung.run/1\n"));
    rung_sha256_hex(hex, canonical.text, canonical.len);
    hex[32] = '\0';
    assert_string_equal(run->id, hex);
    assert_string_equal(rung_sweep_id(s.sweep, 0), hex);
    assert_non_null(strstr(run->keys, "\"task\": \"eva\", \"task.N\": 8, \"task.V\": 4"));
    assert_non_null(strstr(run->keys, "\"rate\": 0.01"));
    assert_non_null(strstr(run->keys, "\"random-labels\": true"));
    assert_null(strstr(run->keys, "checkpoint"));
    rung_buf_clear(&text);
    rung_buf_clear(&canonical);
    rung_sweep_run_clear(&s.run);
    rung_sweep_free(s.sweep);
}

static void threads_and_checkpoints_do_not_change_an_id(void **state)
{
    (void)state;
    rung_sweep *a = parse("{\"base\": {\"task\": \"eva\"}}");
    rung_sweep *b = parse("{\"base\": {\"task\": \"eva N=16\", \"checkpoint-every\": 7}}");
    assert_string_equal(rung_sweep_id(a, 0), rung_sweep_id(b, 0)); /* N=16 is the default */
    rung_sweep_free(a);
    rung_sweep_free(b);
}

static void cases_overrule_base_and_grid_and_repeated_runs_count_once(void **state)
{
    (void)state;
    spelled s = {
        .sweep = parse("{\"base\": {\"task\": \"eva\", \"rate\": 0.5}, \"grid\": {\"seed\": [1, 2], \"dk\": [4, 8]},"
                       " \"cases\": [{\"label\": \"a\", \"arch\": \"full\"}, {\"label\": \"b\", \"arch\": \"full\","
                       " \"dk\": 4}, {\"label\": \"c\", \"arch\": \"linear\", \"grid\": {\"rate\": [0.1, 0.2],"
                       " \"seed\": [9]}}]}")};
    size_t labels[3] = {0};
    /* a: 4; b: two of them again; c: dk x rate with one seed */
    assert_int_equal(rung_sweep_count(s.sweep), 4 + 4);
    assert_int_equal(rung_sweep_repeated(s.sweep), 2);
    for (size_t i = 0; i < 8; i++) {
        const rung_sweep_run *run = spell(&s, i);
        labels[run->label[0] - 'a']++;
        assert_string_equal(run->conf.model.arch, run->label[0] == 'c' ? "linear" : "full");
        if (run->label[0] == 'c') assert_int_equal(run->conf.seed, 9);
        if (run->label[0] == 'a') assert_true(run->conf.adamw.rate == 0.5);
        rung_sweep_run_clear(&s.run);
    }
    assert_int_equal(labels[0], 4);
    assert_int_equal(labels[1], 0);
    assert_int_equal(labels[2], 4);
    rung_sweep_free(s.sweep);
}

/* Equal cells: what differs in seed or a chosen key; equal settings: in the seed only. */
static void cells_and_settings_leave_out_seed_and_what_is_chosen(void **state)
{
    (void)state;
    spelled s = {.sweep = parse("{\"base\": {\"task\": \"eva\"}, \"grid\": {\"arch\": [\"full\", \"linear\"],"
                                " \"rate\": [0.1, 0.2], \"seed\": [1, 2]}}")};
    uint64_t cell[8], setting[8];
    for (size_t i = 0; i < 8; i++) {
        cell[i] = spell(&s, i)->cell, setting[i] = s.run.setting;
        assert_true(cell[i] < UINT64_C(1) << 53 && setting[i] < UINT64_C(1) << 53);
        rung_sweep_run_clear(&s.run);
    }
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++) {
            assert_int_equal(cell[i] == cell[k], i / 4 == k / 4);
            assert_int_equal(setting[i] == setting[k], i / 2 == k / 2);
        }
    rung_sweep_free(s.sweep);
}

/* ---- refusals ----------------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_meant_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *says[3];
    } wrong[] = {
        {"[]", {"spec.json", "not a JSON object"}},
        {"{\"bsae\": {}}", {"\"bsae\"", "did you mean \"base\""}},
        {"{\"rate\": 1}", {"\"rate\"", "belong in \"base\""}},
        {"{\"base\": {\"ratee\": 1}}", {"base", "\"ratee\"", "did you mean \"rate\""}},
        {"{\"grid\": {\"sed\": [1]}}", {"grid", "\"sed\"", "did you mean \"seed\""}},
        {"{\"cases\": [{}, {\"grid\": {\"arhc\": [\"full\"]}}]}", {"cases[1].grid", "did you mean \"arch\""}},
        {"{\"grid\": {\"rate\": 0.1}}", {"grid.rate", "list"}},
        {"{\"grid\": {\"rate\": []}}", {"grid.rate", "empty"}},
        {"{\"base\": {\"rate\": [1, 2]}}", {"base.rate", "grid"}},
        {"{\"base\": {\"rate\": null}}", {"base.rate", "number"}},
        {"{\"base\": {\"rate\": \"fast\"}}", {"base.rate", "'fast' is no number"}},
        {"{\"base\": {\"steps\": 0}}", {"base.steps", "whole number"}},
        {"{\"base\": {\"schedule\": \"cosin\"}}", {"base.schedule", "did you mean 'cosine'"}},
        {"{\"base\": {\"random-labels\": 1}}", {"base.random-labels", "true or false"}},
        {"{\"base\": {\"seed\": -1}}", {"base.seed", "whole number"}},
        {"{\"base\": {\"out\": \"x\"}}", {"\"out\"", "cannot stand in a sweep"}},
        {"{\"base\": {\"threads\": 2}}", {"\"threads\"", "cannot stand in a sweep"}},
        {"{\"base\": {\"task\": \"\"}}", {"task is empty"}},
        {"{\"base\": {\"task\": \"evaa\"}}", {"evaa", "eva"}},
        {"{\"base\": {\"task.M\": 3}}", {"M"}},
        {"{\"base\": {\"arch\": \"fulll\"}}", {"fulll"}},
        {"{\"base\": {\"beta1\": 2}}", {"beta1", "outside"}},
        {"{\"success\": 2}", {"success"}},
        {"{\"choose\": [\"rat\"]}", {"choose", "did you mean \"rate\""}},
        {"{\"cases\": []}", {"cases"}},
        {"{\"name\": 3}", {"name", "text"}},
        {"{\"base\": {\"a\": 1, \"a\": 2}}", {"duplicate"}},
    };
    (void)state;
    for (size_t i = 0; i < RUNG_COUNT(wrong); i++) {
        rung_sweep *sweep = NULL;
        rung_error err = {""};
        rung_status status = rung_sweep_parse(&sweep, wrong[i].text, strlen(wrong[i].text), "spec.json", 1000, &err);
        if (status != RUNG_INPUT) fail_msg("%s gives status %d", wrong[i].text, (int)status);
        for (size_t k = 0; k < 3 && wrong[i].says[k]; k++)
            if (!strstr(err.text, wrong[i].says[k]))
                fail_msg("%s: '%s' lacks '%s'", wrong[i].text, err.text, wrong[i].says[k]);
    }
}

static void a_product_that_is_too_large_is_refused_at_once(void **state)
{
    rung_buf text;
    rung_sweep *sweep = NULL;
    rung_error err = {""};
    (void)state;
    rung_buf_init(&text);
    rung_buf_puts(&text, "{\"grid\": {");
    static const char *const keys[] = {"seed", "steps", "batch", "warmup", "dk", "dv", "heads", "d-model", "rate"};
    for (size_t k = 0; k < RUNG_COUNT(keys); k++) { /* 200^9 > 2^64 */
        rung_buf_printf(&text, "%s\"%s\": [", k ? ", " : "", keys[k]);
        for (int i = 1; i <= 200; i++) rung_buf_printf(&text, "%s%d", i > 1 ? "," : "", i);
        rung_buf_puts(&text, "]");
    }
    rung_buf_puts(&text, "}}");
    assert_int_equal(rung_sweep_parse(&sweep, text.text, text.len, "spec.json", 1000000, &err), RUNG_INPUT);
    assert_non_null(strstr(err.text, "more than 1000000 runs"));
    rung_buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_axis_runs_fastest_and_counts_multiply),
        cmocka_unit_test(a_run_is_the_run_of_rung_train_and_its_id_the_hash_of_its_text),
        cmocka_unit_test(threads_and_checkpoints_do_not_change_an_id),
        cmocka_unit_test(cases_overrule_base_and_grid_and_repeated_runs_count_once),
        cmocka_unit_test(cells_and_settings_leave_out_seed_and_what_is_chosen),
        cmocka_unit_test(what_cannot_be_meant_is_refused_with_its_place),
        cmocka_unit_test(a_product_that_is_too_large_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
