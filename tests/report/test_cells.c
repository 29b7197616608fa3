/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Cells against brute force over the rows of a store that a real sweep has written: which runs are a cell, which setting is chosen
 * (as the view `results` says it), means and successes; a store that is read twice; figures that show every cell once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rung/report.h"

/* 2 architectures x 2 sizes x 2 rates x 3 seeds, a few milliseconds each. */
static const char spec[] =
    "{\"name\": \"small\", \"base\": {\"task\": \"eva V=2\", \"steps\": 30, \"batch\": 8, \"d-model\": 8, \"dk\": 4, "
    "\"dv\": 4,"
    " \"d-mlp\": 8, \"eval-every\": 10, \"eval-prompts\": 16, \"test-prompts\": 32}, \"success\": 0.6,"
    " \"grid\": {\"arch\": [\"full\", \"linear\"], \"task.N\": [3, 5], \"rate\": [0.003, 0.01], \"seed\": [1, 2, 3]}}";

static char directory[64], path[96];
static rung_error err;

static int make_store(void **state)
{
    rung_sweep *sweep;
    rung_lab_sum sum;
    rung_lab_options conf = {.wait_s = 60};
    (void)state;
    strcpy(directory, "/tmp/rung-report-XXXXXX");
    if (!mkdtemp(directory)) return -1;
    snprintf(path, sizeof path, "%s/s.db", directory);
    if (rung_sweep_parse(&sweep, spec, strlen(spec), "spec", 1000, &err) != RUNG_OK) return -1;
    rung_status status = rung_lab_sweep(&sum, sweep, path, &conf, &err);
    rung_sweep_free(sweep);
    return status == RUNG_OK && sum.done == 24 ? 0 : -1;
}

static int remove_store(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static rung_report *report_of(size_t times)
{
    rung_report *report;
    assert_int_equal(rung_report_new(&report, &err), RUNG_OK);
    for (size_t i = 0; i < times; i++)
        if (rung_report_add(report, path, 10, &err) != RUNG_OK) fail_msg("%s", err.text);
    if (rung_report_make(report, &err) != RUNG_OK) fail_msg("%s", err.text);
    assert_int_equal(rung_report_groups(report), 1);
    return report;
}

/* ---- the second way -------------------------------------------------------------------------------------------------------- */

typedef struct brute {
    const rung_cell *cell;
    double sum, eval;
    size_t runs, right;
} brute;

/* The chosen runs of the store that have the architecture and the size of the cell. */
static bool add_if_same(void *context, const rung_run_row *row)
{
    brute *b = context;
    if (!row->chosen || strcmp(row->arch, b->cell->row->arch) != 0 || row->tokens != b->cell->row->tokens) return true;
    assert_true(row->rate == b->cell->row->rate);
    b->runs++, b->sum += row->test_accuracy, b->eval += row->eval_accuracy;
    b->right += row->test_accuracy >= 0.6;
    return true;
}

static void cells_are_the_chosen_runs_of_the_store(void **state)
{
    rung_report *report = report_of(1);
    const rung_run_group *g = rung_report_group(report, 0);
    rung_store *store;
    (void)state;
    assert_int_equal(g->cells, 4);
    assert_int_equal(g->settings, 8);
    assert_int_equal(rung_store_open(&store, path, RUNG_STORE_READ, 10, &err), RUNG_OK);
    for (size_t c = 0; c < g->cells; c++) {
        brute b = {.cell = &g->cell[c]};
        assert_int_equal(rung_store_runs(store, 1, add_if_same, &b, &err), RUNG_OK);
        assert_int_equal(b.runs, 3);
        assert_int_equal(g->cell[c].runs, 3);
        assert_int_equal(g->cell[c].settings, 2);
        assert_int_equal(g->cell[c].succeeded, b.right);
        assert_true(fabs(g->cell[c].accuracy.mean - b.sum / 3) < 1e-12);
        assert_true(fabs(g->cell[c].evaluated.mean - b.eval / 3) < 1e-12);
    }
    rung_store_close(store);
    rung_report_free(report);
}

static void a_store_that_is_given_twice_counts_once(void **state)
{
    rung_report *once = report_of(1), *twice = report_of(2);
    rung_buf a = {0}, b = {0};
    (void)state;
    assert_int_equal(rung_report_runs(twice), 24);
    rung_run_group_csv(&a, rung_report_group(once, 0));
    rung_run_group_csv(&b, rung_report_group(twice, 0));
    assert_string_equal(a.text, b.text);
    rung_buf_clear(&a);
    rung_buf_clear(&b);
    rung_report_free(once);
    rung_report_free(twice);
}

/* ---- keys and figures -------------------------------------------------------------------------------------------------------- */

static void only_what_varies_by_itself_is_a_key(void **state)
{
    rung_report *report = report_of(1);
    const rung_run_group *g = rung_report_group(report, 0);
    const char *const names[] = {"arch", "task.N", "rate"}; /* not task.K or max-tokens, which follow from N */
    (void)state;
    assert_int_equal(g->key_count, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(g->key[k].name, names[k]);
        assert_int_equal(g->key[k].chosen, k == 2);
        assert_int_equal(g->key[k].numeric, k > 0);
    }
    rung_report_free(report);
}

static void every_cell_is_one_point_of_the_accuracy_figure(void **state)
{
    rung_report *report = report_of(1);
    const rung_run_group *g = rung_report_group(report, 0);
    size_t seen[4] = {0};
    (void)state;
    assert_true(g->figures > 0);
    const rung_chart *f = &g->figure[0];
    assert_string_equal(f->x.name, "N");
    assert_int_equal(f->series_count, 2);
    for (size_t s = 0; s < f->series_count; s++)
        for (size_t i = 0; i < f->series[s].count; i++) {
            const rung_point *p = &f->series[s].point[i];
            assert_true(p->cell < 4);
            seen[p->cell]++;
            assert_true(p->y == g->cell[p->cell].accuracy.mean);
            assert_string_equal(f->series[s].name, g->cell[p->cell].row->arch);
            assert_int_equal((size_t)p->x, g->cell[p->cell].row->tokens - 1);
        }
    for (size_t c = 0; c < 4; c++) assert_int_equal(seen[c], 1);
    rung_report_free(report);
}

static void text_is_never_markup(void **state)
{
    rung_buf out = {0};
    (void)state;
    rung_text_escape(&out, "<a href=\"x\" o='y'>&\x01\xff\xc0\xaf\xed\xa0\x80 \xe2\x89\xa4");
    assert_string_equal(out.text, "&lt;a href=&quot;x&quot; o=&#39;y&#39;&gt;&amp;??"
                                  "??"
                                  "??"
                                  "? \xe2\x89\xa4");
    rung_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_the_chosen_runs_of_the_store),
        cmocka_unit_test(a_store_that_is_given_twice_counts_once),
        cmocka_unit_test(only_what_varies_by_itself_is_a_key),
        cmocka_unit_test(every_cell_is_one_point_of_the_accuracy_figure),
        cmocka_unit_test(text_is_never_markup),
    };
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
