/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of the laboratory share: a directory for files, a small sweep, and a store as text for comparisons.
 */
#ifndef RUNG_TESTS_LAB_TEST_H
#define RUNG_TESTS_LAB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "effort.h"
#include "rung/lab.h"

/* Twelve runs of a few milliseconds. */
static const char small_spec[] =
    "{\"name\": \"small\", \"base\": {\"task\": \"eva N=3 V=2\", \"steps\": 30, \"batch\": 8, \"d-model\": 8, \"dk\": "
    "4,"
    " \"dv\": 4, \"d-mlp\": 8, \"eval-every\": 10, \"eval-prompts\": 16, \"test-prompts\": 32, \"checkpoint-every\": "
    "3},"
    " \"grid\": {\"arch\": [\"full\", \"linear\"], \"rate\": [0.003, 0.01], \"seed\": [1, 2, 3]}, \"success\": 0.6}";

static char test_dir[64];

static inline int make_dir(void **state)
{
    (void)state;
    strcpy(test_dir, "/tmp/rung-lab-XXXXXX");
    return mkdtemp(test_dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", test_dir);
    return system(command);
}

/* A path in the directory of the test; four at a time. */
static inline const char *in_dir(const char *name)
{
    static char path[4][128];
    static size_t next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", test_dir, name);
    return out;
}

static inline rung_sweep *parse(const char *text)
{
    rung_sweep *sweep = NULL;
    rung_error err = {""};
    rung_status status = rung_sweep_parse(&sweep, text, strlen(text), "spec.json", RUNG_SWEEP_MOST, &err);
    if (status != RUNG_OK) fail_msg("%s", err.text);
    return sweep;
}

static inline rung_store *open_store(const char *path, rung_store_mode mode)
{
    rung_store *store = NULL;
    rung_error err = {""};
    if (rung_store_open(&store, path, mode, 30, &err) != RUNG_OK) fail_msg("%s", err.text);
    return store;
}

static inline rung_lab_sum do_sweep(const rung_sweep *sweep, const char *path, rung_lab_options conf)
{
    rung_lab_sum sum;
    rung_error err = {""};
    conf.wait_s = 60;
    if (rung_lab_sweep(&sum, sweep, path, &conf, &err) != RUNG_OK) fail_msg("%s", err.text);
    return sum;
}

/* ---- a store as text ------------------------------------------------------------------------------------------------------ */

typedef struct listing {
    rung_buf text;
    rung_store *store;
    bool incidental; /* times too */
} listing;

static inline bool list_metric(void *context, const rung_metric *m)
{
    listing *l = context;
    rung_buf_printf(&l->text, " | %" PRIu64 " %a %a %a %a %a %a", m->step, m->loss, m->accuracy, m->rate, m->gradient,
                    m->eval_loss, m->eval_accuracy);
    return true;
}

static inline bool list_artefact(void *context, const rung_artefact *a)
{
    listing *l = context;
    rung_buf_printf(&l->text, " | %s %s %s %zu", a->kind, a->name, a->sha256, a->size);
    return true;
}

static inline bool list_run(void *context, const rung_run_row *r)
{
    listing *l = context;
    rung_error err = {""};
    rung_buf_printf(&l->text, "%s %s %s %d %" PRIu64 " %a %a %a %a %a %a %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                    r->id, r->keys, r->canonical, (int)r->outcome, r->step, r->loss, r->accuracy, r->eval_loss,
                    r->eval_accuracy, r->test_loss, r->test_accuracy, r->test_targets, r->test_right, r->parameters,
                    r->state_bits);
    rung_buf_printf(&l->text, " %s %a %a %d %" PRIu64, r->theory.bound, r->theory.margin, r->theory.n_threshold,
                    (int)r->chosen, r->cell);
    if (l->incidental) rung_buf_printf(&l->text, " %a %a", r->finished_at, r->seconds);
    assert_int_equal(rung_store_metrics(l->store, r->number, list_metric, l, &err), RUNG_OK);
    assert_int_equal(rung_store_artefacts(l->store, r->number, NULL, list_artefact, l, &err), RUNG_OK);
    rung_buf_putc(&l->text, '\n');
    return true;
}

/* The runs of sweep number 1 in the order of the plan. The caller frees it. */
static inline char *list_store(const char *path, bool incidental)
{
    listing l = {.store = open_store(path, RUNG_STORE_READ), .incidental = incidental};
    rung_error err = {""};
    rung_buf_puts(&l.text, "");
    if (rung_store_runs(l.store, 1, list_run, &l, &err) != RUNG_OK) fail_msg("%s", err.text);
    rung_store_close(l.store);
    assert_false(l.text.failed);
    return l.text.text;
}

static inline size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; text && *text; text++) lines += *text == '\n';
    return lines;
}

#endif
