/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What was learned, beside what can be: trained accuracies in the cells of the table. They come from the report of a
 * sweep (rung.report/1): the one that is part of this program, of experiments/table.json, or another one, or a quick
 * sweep that is done now. What was learned proves nothing, with one exception: no mean that the exact evaluator has
 * measured may lie above a ceiling that a theorem proves of it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rung/cert.h"
#include "rung/io.h"
#include "rung/lab.h"
#include "rung/table.h"

static const char shipped[] = {
#include "table-trained.json.inc"
    0};
static const char quick[] = {
#include "table-quick.json.inc"
    0};

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void copy_text(char *out, size_t size, const rung_json *value)
{
    const char *text = rung_json_string(value);
    snprintf(out, size, "%s", text ? text : "");
}

/* NaN: there is none. */
static double real_of(const rung_json *object, const char *key)
{
    double value;
    return rung_json_real(&value, rung_json_get(object, key)) ? value : NAN;
}

static size_t size_of(const rung_json *object, const char *key)
{
    int64_t value;
    return rung_json_int(&value, rung_json_get(object, key)) && value > 0 ? (size_t)value : 0;
}

static void read_seeds(char *out, size_t size, const rung_json *seeds)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < rung_json_len(seeds) && at + 24 < size; i++) {
        int64_t seed;
        if (!rung_json_int(&seed, rung_json_at(seeds, i))) continue;
        at += (size_t)snprintf(out + at, size - at, "%s%lld", at ? ", " : "", (long long)seed);
    }
}

/* The theorems are asked again, with the sizes that were trained and the bits of the evaluator that measured. They do
 * not speak of what the fast evaluator has measured. */
static rung_status ask_theory(rung_table_trained *t, rung_error *err)
{
    rung_train_spec conf = {.model = {.arch = t->arch, .heads = t->heads, .dk = t->dk, .dv = t->dv, .causal = true},
                            .thoughts = t->thoughts,
                            .test_prompts = 1,
                            .test_numbers = t->test_numbers[0] ? t->test_numbers : NULL};
    rung_run_theory theory;
    RUNG_TRY(rung_task_conf_parse(&conf.task, t->task, err));
    RUNG_TRY(rung_lab_theory(&theory, &conf, err));
    t->tokens = conf.task.tokens;
    t->verdict = theory.verdict;
    t->spoken = rung_theory_speaks(&theory, t->test_numbers);
    t->ceiling = t->spoken && theory.ceiling > 0 ? theory.ceiling : NAN;
    snprintf(t->bound, sizeof t->bound, "%s", theory.bound);
    return RUNG_OK;
}

/* The grammar is checked here, the truth was when the summary was made: that needs the model. */
static rung_status read_certificate(rung_table_trained *t, const rung_json *cell, rung_error *err)
{
    const char *text = rung_json_string(rung_json_get(cell, "certificate"));
    rung_cert cert = {0};
    if (!text) return RUNG_OK;
    rung_status status = rung_cert_parse(&cert, text, strlen(text), "certificate", err);
    if (status == RUNG_OK) {
        snprintf(t->cert_kind, sizeof t->cert_kind, "%s", rung_cert_kind_names[cert.kind - 1]);
        snprintf(t->cert_numbers, sizeof t->cert_numbers, "%s", cert.numbers);
        t->cert_seed = size_of(cell, "certificate_seed");
        t->cert = rung_calloc(strlen(text) + 1, 1, err);
        if (t->cert) strcpy(t->cert, text);
        if (!t->cert) status = RUNG_SYSTEM;
    }
    rung_cert_clear(&cert);
    return status;
}

static size_t thoughts_of(const rung_json *cell)
{
    int64_t thoughts;
    const char *text = rung_json_string(rung_json_get(rung_json_get(cell, "words"), "thoughts"));
    return text && rung_parse_int(&thoughts, text, 0, 1 << 20) ? (size_t)thoughts : 0;
}

static rung_status read_cell(rung_table_trained *t, const rung_json *cell, rung_error *err)
{
    const rung_json *accuracy = rung_json_get(cell, "accuracy");
    copy_text(t->arch, sizeof t->arch, rung_json_get(cell, "arch"));
    copy_text(t->task, sizeof t->task, rung_json_get(cell, "task"));
    copy_text(t->version, sizeof t->version, rung_json_get(cell, "version"));
    copy_text(t->test_numbers, sizeof t->test_numbers, rung_json_get(cell, "test_numbers"));
    t->d_model = size_of(cell, "d-model"), t->heads = size_of(cell, "heads");
    t->dk = size_of(cell, "dk"), t->dv = size_of(cell, "dv");
    t->steps = size_of(cell, "steps"), t->settings = size_of(cell, "settings");
    t->runs = size_of(cell, "runs"), t->succeeded = size_of(cell, "succeeded");
    t->rate = real_of(cell, "rate"), t->chance = real_of(cell, "chance");
    t->accuracy = (rung_estimate){real_of(accuracy, "mean"), real_of(accuracy, "low"), real_of(accuracy, "high"),
                                  size_of(accuracy, "count")};
    read_seeds(t->seeds, sizeof t->seeds, rung_json_get(cell, "seeds"));
    t->thoughts = thoughts_of(cell);
    RUNG_TRY(read_certificate(t, cell, err));
    if (!t->arch[0] || !t->task[0] || !t->runs)
        return rung_fail(err, RUNG_INPUT, "a cell lacks arch, task or runs; is it an answer of rung report --json?");
    return ask_theory(t, err);
}

static bool is_control(const rung_json *cell)
{
    bool random = false;
    return rung_json_bool(&random, rung_json_get(cell, "random_labels")) && random;
}

static rung_status read_sweep(rung_table *table, const rung_json *sweep, rung_error *err)
{
    const rung_json *cells = rung_json_get(sweep, "cells");
    size_t count = rung_json_len(cells);
    copy_text(table->spec, sizeof table->spec, rung_json_get(sweep, "spec"));
    table->success = real_of(sweep, "success");
    table->trained = rung_calloc(count + 1, sizeof *table->trained, err);
    rung_status status = table->trained ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        const rung_json *cell = rung_json_at(cells, i);
        if (is_control(cell)) continue;
        status = read_cell(&table->trained[table->trained_count++], cell, err);
        if (status != RUNG_OK) return rung_fail_at(err, status, "cell %zu", i);
    }
    return status;
}

static rung_status read_report(rung_table *table, const rung_json_doc *doc, rung_error *err)
{
    const rung_json *root = rung_json_root(doc), *sweeps = rung_json_get(root, "sweeps");
    const char *schema = rung_json_string(rung_json_get(root, "schema"));
    if (!schema || strcmp(schema, "rung.report/1") != 0)
        return rung_fail(err, RUNG_INPUT, "no rung.report/1; rung report STORE --json writes one");
    if (rung_json_len(sweeps) != 1)
        return rung_fail(err, RUNG_INPUT, "%zu sweeps where one is expected", rung_json_len(sweeps));
    return read_sweep(table, rung_json_at(sweeps, 0), err);
}

/* ---- cells ----------------------------------------------------------------------------------------------------- */

static bool same_task(const char *a, const char *b)
{
    size_t len = strcspn(a, " ");
    return len == strcspn(b, " ") && strncmp(a, b, len) == 0;
}

/* A mean above its ceiling is a wrong theorem, a wrong test or a forged file: nothing may be printed then. */
static rung_status below_ceiling(const rung_table_trained *t, rung_error *err)
{
    if (!(t->accuracy.low > t->ceiling)) return RUNG_OK;
    return rung_fail(
        err, RUNG_SYSTEM,
        "%s, %s: the trained accuracy %.4f [%.4f, %.4f] lies above %.4f, which theorem %s proves to be out "
        "of reach; please report this",
        t->arch, t->task, t->accuracy.mean, t->accuracy.low, t->accuracy.high, t->ceiling, t->bound);
}

/* L of a run of seqcomp; 0: another task. */
static size_t functions_of(const rung_table_trained *t)
{
    const char *L = strstr(t->task, " L=");
    return strncmp(t->task, "seqcomp ", 8) == 0 && L ? (size_t)strtoul(L + 3, NULL, 10) : 0;
}

/* Weights that need no thoughts are weights for layers that may think, so a run without thoughts stands in both rows
 * of its layers, except where the column is about thoughts. */
static bool in_row(const rung_table_trained *t, size_t row)
{
    if (strcmp(t->arch, rung_table_rows[row].arch) != 0) return false;
    return functions_of(t) ? rung_table_rows[row].thinks == (t->thoughts > 0) : t->thoughts == 0;
}

static void place_one(rung_table *table, const rung_table_trained *t, size_t row)
{
    size_t L = functions_of(t);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++)
        if (row < RUNG_TABLE_ROWS && (!L || L == 2) && same_task(t->task, rung_table_cols[c].task))
            table->cell[row][c].trained = t;
    if (L && L <= RUNG_TABLE_TRAINED) table->depth[row][L - 1].trained = t;
}

/* Also refuses two sizes in one column: their accuracies could not be compared. */
static rung_status one_width(const rung_table *table, size_t col, rung_error *err)
{
    size_t depths = col == RUNG_TABLE_SEQCOMP ? RUNG_TABLE_TRAINED : 1;
    size_t rows = col == RUNG_TABLE_SEQCOMP ? RUNG_TABLE_LAYERS : RUNG_TABLE_ROWS;
    const rung_table_sizes width = rung_table_width(table, col);
    for (size_t i = 0; i < rows * depths; i++) {
        const rung_table_trained *t = rung_table_run(table, i / depths, col, i % depths + 1);
        if (!t) continue;
        bool same = t->d_model == width.d_model && t->heads == width.heads && t->dk == width.dk && t->dv == width.dv &&
                    t->tokens == width.tokens[i % depths];
        if (!same)
            return rung_fail(err, RUNG_INPUT, "%s was trained at two sizes; each column has one width",
                             rung_table_cols[col].title);
    }
    return RUNG_OK;
}

static rung_status place(rung_table *table, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < table->trained_count; i++) {
        const rung_table_trained *t = &table->trained[i];
        status = below_ceiling(t, err);
        for (size_t r = 0; r < RUNG_TABLE_LAYERS; r++)
            if (in_row(t, r)) place_one(table, t, r);
    }
    for (size_t c = 0; status == RUNG_OK && c < RUNG_TABLE_COLS; c++) status = one_width(table, c, err);
    return status;
}

static rung_status write_certificates(rung_table *table, const char *directory, rung_error *err)
{
    char path[4096];
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < table->trained_count; i++) {
        rung_table_trained *t = &table->trained[i];
        if (!t->cert) continue;
        size_t L = functions_of(t);
        snprintf(t->cert_file, sizeof t->cert_file, "trained-%.60s-%.*s%.0zu%s.cert", t->arch,
                 (int)strcspn(t->task, " "), t->task, L, t->thoughts ? "-thinking" : "");
        for (char *c = t->cert_file; *c; c++)
            if (strchr(":=,*@|()", *c)) *c = '-';
        snprintf(path, sizeof path, "%s/%s", directory, t->cert_file);
        status = rung_file_write(path, t->cert, strlen(t->cert), err);
    }
    return status;
}

static rung_status take(rung_table *table, rung_json_doc *doc, const char *name, const char *directory, rung_error *err)
{
    rung_status status = read_report(table, doc, err);
    RUNG_NEXT(status, place(table, err));
    RUNG_NEXT(status, write_certificates(table, directory, err));
    rung_json_free(doc);
    return status == RUNG_OK ? status : rung_fail_at(err, status, "%s", name);
}

/* ---- a quick sweep --------------------------------------------------------------------------------------------- */

static bool may_go_on(void *context)
{
    const rung_table_options *conf = context;
    return !conf->interrupted || !conf->interrupted();
}

static void tell(void *context, const rung_lab_progress *news)
{
    const rung_table_options *conf = context;
    if (conf->progress) rung_progress_tick(conf->progress, news->before + news->done);
}

static rung_status sweep_quickly(const rung_sweep *sweep, const char *store, const rung_table_options *conf,
                                 rung_error *err)
{
    rung_lab_sum sum;
    rung_lab_options lab = {.wait_s = 60, .go = may_go_on, .on_progress = tell, .context = (void *)conf};
    if (conf->progress) rung_progress_start(conf->progress, "runs", rung_sweep_count(sweep));
    rung_status status = rung_lab_sweep(&sum, sweep, store, &lab, err);
    if (conf->progress) rung_progress_finish(conf->progress);
    if (status == RUNG_OK && sum.stopped)
        return rung_fail(err, RUNG_SYSTEM, "stopped with %zu runs left; the same command goes on", sum.left);
    return status;
}

static rung_status report_store(rung_buf *text, const char *store, rung_error *err)
{
    rung_report *report;
    RUNG_TRY(rung_report_new(&report, err));
    rung_status status = rung_report_add(report, store, 60, err);
    RUNG_NEXT(status, rung_report_make(report, err));
    if (status == RUNG_OK) rung_report_json(text, report);
    rung_report_free(report);
    RUNG_TRY(status);
    return rung_buf_ok(text, err);
}

rung_status rung_table_train(rung_table *table, const rung_table_options *conf, rung_error *err)
{
    char store[4096];
    rung_sweep *sweep = NULL;
    rung_json_doc *doc;
    rung_buf text;
    rung_buf_init(&text);
    snprintf(store, sizeof store, "%s/quick.db", conf->directory);
    rung_status status = rung_sweep_parse(&sweep, quick, sizeof quick - 1, "quick", RUNG_SWEEP_MOST, err);
    RUNG_NEXT(status, sweep_quickly(sweep, store, conf, err));
    RUNG_NEXT(status, report_store(&text, store, err));
    RUNG_NEXT(status, rung_json_parse(&doc, text.text, text.len, store, err));
    RUNG_NEXT(status, take(table, doc, store, conf->directory, err));
    rung_sweep_free(sweep);
    rung_buf_clear(&text);
    return status;
}

/* ---- entry ----------------------------------------------------------------------------------------------------- */

rung_status rung_table_read_trained(rung_table *table, const char *path, const char *directory, rung_error *err)
{
    rung_json_doc *doc;
    rung_status status = path ? rung_json_open(&doc, path, err)
                              : rung_json_parse(&doc, shipped, sizeof shipped - 1, "the summary of this program", err);
    return status == RUNG_OK ? take(table, doc, path ? path : "the summary of this program", directory, err) : status;
}
