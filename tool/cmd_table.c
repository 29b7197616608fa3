/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung table: the table of results of the paper, every cell reached here. All architectures have one head of dimension 2 and
 * numbers of 26 bits, unless a construction needs more and says so; at this size the theorems bite and the constructions
 * still work, on the very same instances.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json_out.h"
#include "output.h"
#include "table.h"

#include "rung/decide.h"

typedef struct table_values {
    const char *out, *numbers, *trained;
    int64_t count, threads;
    bool no_certificates, train, proofs;
} table_values;

#define LOOKUP  "lookup N=541 keys=trig values=scalar gap=16"
#define TWO_SUM "two-sum N=127 M=509"

const rung_table_row rung_table_rows[RUNG_TABLE_ROWS] = {
    {.title = "one full layer",
     .arch = "full",
     .build = {LOOKUP, TWO_SUM, NULL},
     .claim = {"O(polylog n)", "O(log n)", NULL}},
    {.title = "three full layers",
     .arch = "3*full",
     .build = {LOOKUP, TWO_SUM, "seqcomp L=2 N0=30 n=17 keys=trig"},
     .claim = {NULL, NULL, "O(polylog n)"}},
    {.title = "one full layer, thinking aloud",
     .arch = "full",
     .thinks = true,
     .build = {LOOKUP, TWO_SUM, "seqcomp-cot L=2 N0=30 n=17"},
     .claim = {NULL, NULL, "O(polylog n)"}},
    {.title = "linear attention",
     .arch = "linear",
     .claim = {"Ω(n log n), even with CoT", "Ω(n log n), even with CoT", NULL}},
    {.title = "delta rule", .arch = "delta"},
    {.title = "gated delta rule", .arch = "gdelta"},
    {.title = "Mamba-2", .arch = "mamba2"},
    {.title = "sliding window", .arch = "window:W=2"},
    {.title = "log-linear attention",
     .arch = "loglinear",
     .claim = {"Ω(n), even with CoT", "Ω(n), even with CoT", NULL}},
    {.title = "block-sparse attention", .arch = "sparse:B=32:k=1", .claim = {NULL, "Ω(B log n)", NULL}},
    {.title = "token-sparse attention",
     .arch = "dsa:k=1:HI=1:DI=2",
     .build = {NULL, "two-sum N=127 M=509 by=dsa", NULL}},
    {.title = "hybrid: full, four linear",
     .arch = "full,4*linear",
     .build = {LOOKUP, TWO_SUM, NULL},
     .claim = {NULL, NULL, "Ω(poly n)"}},
    {.title = "hybrid: linear, two full",
     .arch = "linear,2*full",
     .build = {LOOKUP, TWO_SUM, "seqcomp L=2 N0=30 n=17 keys=trig linear=first"}},
};

const rung_table_col rung_table_cols[RUNG_TABLE_COLS] = {
    {"look up f(x)", "eva N=541"},
    {"two-sum, query form", "two-sum N=127 M=509 blank=1"},
    {"compose two functions", "seqcomp L=2 N0=30 n=17"},
};

/* ---- one cell ------------------------------------------------------------------------------------------------------------ */

static void take_bounds(rung_table_cell *cell, const rung_decision *d)
{
    const rung_bound_answer *a = d->decisive;
    snprintf(cell->nearest, sizeof cell->nearest, "no theorem speaks of these layers");
    if (!a) return;
    if (a->verdict != RUNG_CANNOT) {
        snprintf(cell->nearest, sizeof cell->nearest, "bound %s needs %.4g > %.4g", a->bound->id, a->lhs, a->rhs);
        return;
    }
    cell->trivial = d->trivial != NULL;
    cell->lhs = a->lhs, cell->rhs = a->rhs;
    snprintf(cell->bound, sizeof cell->bound, "%s", a->bound->id);
    snprintf(cell->statement, sizeof cell->statement, "%s", a->statement);
}

static void take_decision(rung_table_cell *cell, const rung_decision *d)
{
    cell->verdict = d->verdict;
    cell->proved = d->basis == RUNG_BASIS_PROOF;
    cell->prompts = d->prompts;
    take_bounds(cell, d);
    if (d->no_weights[0]) snprintf(cell->nearest, sizeof cell->nearest, "%.199s", d->no_weights);
}

/* "cannot_full_4_linear_seqcomp.v": a name that coqc accepts. */
static rung_status write_proof(rung_table_cell *cell, const rung_decision *d, const rung_table *table, size_t row,
                               size_t col, const char *directory, rung_error *err)
{
    char path[4096];
    snprintf(cell->on_paper, sizeof cell->on_paper, "%s", d->coq.why);
    if (!table->proofs || !d->coq.written) return RUNG_OK;
    int end = snprintf(cell->proof, sizeof cell->proof - 2, "cannot_%s_%s%s", rung_table_rows[row].arch,
                       table->task[col].task->name, rung_table_rows[row].thinks ? "_thinking" : "");
    for (char *c = cell->proof; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    snprintf(cell->proof + end, sizeof cell->proof - (size_t)end, ".v");
    snprintf(path, sizeof path, "%s/%s", directory, cell->proof);
    return rung_file_write(path, d->coq.text.text, d->coq.text.len, err);
}

static rung_status decide(rung_table_cell *cell, const rung_table *table, const rung_subject *subject, size_t row,
                          size_t col, const rung_means *means, rung_error *err)
{
    rung_about about = rung_about_prompt(&table->task[col], 0);
    rung_claim *claim;
    rung_decision d;
    rung_about_bits(&about, table->fmt.bits);
    if (rung_table_rows[row].thinks) about.at_once = RUNG_VIOLATED;
    rung_status status = rung_claim_new(&claim, subject, &about, err);
    if (status != RUNG_OK) return status;
    status = rung_decide(&d, claim, means, err);
    if (status == RUNG_OK) take_decision(cell, &d);
    if (status == RUNG_OK && d.basis == RUNG_BASIS_THEOREM)
        status = write_proof(cell, &d, table, row, col, means->keep, err);
    rung_decision_clear(&d);
    rung_claim_free(claim);
    return status;
}

static rung_status build_model(rung_model **model, rung_table_cell *cell, const char *text, rung_error *err)
{
    char copy[160], file[128];
    const char *words[16];
    size_t count = 0;
    rung_build b;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word && count < RUNG_COUNT(words); word = strtok(NULL, " "))
        words[count++] = word;
    rung_status status = rung_build_init(&b, words[0], words + 1, count - 1, err);
    if (status == RUNG_OK) status = rung_build_model(model, &b, err);
    snprintf(file, sizeof file, "%.60s.safetensors", text);
    for (char *c = file; *c; c++)
        if (*c == ' ' || *c == '=') *c = '-';
    snprintf(cell->model, sizeof cell->model, "%s", file);
    snprintf(cell->command, sizeof cell->command, "rung build %.60s -o %.80s", text, file);
    return status;
}

/* In the row's own layers where these contain the weights; else in the layers of the weights: then the cell is about larger
 * heads, and says so. */
static rung_status decide_row(rung_table_cell *cell, const rung_table *table, size_t row, size_t col,
                              const rung_means *means, rung_error *err)
{
    const rung_arch_defaults small = {.heads = 1, .dk = 2, .dv = 2, .causal = true};
    rung_subject *subject = NULL, *larger = NULL;
    rung_status status = rung_subject_arch(&subject, rung_table_rows[row].arch, &small, err);
    if (status == RUNG_OK) status = decide(cell, table, subject, row, col, means, err);
    if (status == RUNG_OK && means->given && cell->verdict == RUNG_UNKNOWN) {
        status = rung_subject_model(&larger, means->given, "weights", err);
        if (status == RUNG_OK) status = decide(cell, table, larger, row, col, means, err);
    }
    rung_subject_free(subject);
    rung_subject_free(larger);
    return status;
}

static rung_status run_cell(rung_table *table, size_t row, size_t col, const rung_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_table_cell *cell = &table->cell[row][col];
    const char *build = rung_table_rows[row].build[col];
    rung_model *model = NULL;
    rung_means means = {.bounds = true,
                        .both = true,
                        .samples = (uint64_t)v->count,
                        .seed = (uint64_t)call->seed,
                        .threads = (size_t)v->threads,
                        .given_by = build,
                        .given_in = &table->fmt,
                        .keep = v->out};
    cell->verdict = RUNG_UNKNOWN;
    rung_status status = build ? build_model(&model, cell, build, err) : RUNG_OK;
    means.given = model, means.weights = build != NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", v->out, cell->model);
    if (status == RUNG_OK && model) status = rung_model_save(model, path, err);
    if (status == RUNG_OK && model) snprintf(cell->arch, sizeof cell->arch, "%s", rung_model_get_spec(model)->arch);
    if (status == RUNG_OK) status = decide_row(cell, table, row, col, &means, err);
    rung_model_close(model);
    if (status == RUNG_OK && cell->verdict == RUNG_CANNOT && !v->no_certificates) {
        rung_table_effort effort = {v->out, (size_t)v->threads, (uint64_t)call->seed};
        status = rung_table_break(cell, table, row, col, &effort, err);
    }
    return status == RUNG_OK ? status : rung_fail_at(err, status, "%s", rung_table_rows[row].title);
}

/* ---- output ------------------------------------------------------------------------------------------------------------- */

static rung_status write_page(const rung_table *table, const char *directory, rung_error *err)
{
    char path[4096];
    rung_buf page;
    rung_buf_init(&page);
    rung_table_page(&page, table);
    snprintf(path, sizeof path, "%s/index.html", directory);
    rung_status status = rung_buf_ok(&page, err);
    if (status == RUNG_OK) status = rung_file_write(path, page.text, page.len, err);
    rung_buf_clear(&page);
    return status;
}

/* ---- command ------------------------------------------------------------------------------------------------------------- */

static rung_status prepare(rung_table *table, const table_values *v, rung_error *err)
{
    rung_status status = rung_fmt_parse(&table->fmt, v->numbers, err);
    for (size_t c = 0; status == RUNG_OK && c < RUNG_TABLE_COLS; c++)
        status = rung_task_conf_parse(&table->task[c], rung_table_cols[c].task, err);
    if (v->train && v->trained) return rung_fail(err, RUNG_USAGE, "--train and --trained exclude each other");
    if (status == RUNG_OK && mkdir(v->out, 0777) != 0 && errno != EEXIST)
        status = rung_fail(err, RUNG_SYSTEM, "cannot make the directory %s: %s", v->out, strerror(errno));
    return status;
}

static rung_status fill(rung_table *table, const rung_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_progress progress;
    table->quick = v->train;
    table->proofs = v->proofs;
    table->shipped = !v->train && !v->trained;
    rung_status status =
        v->train ? rung_table_train(table, v->out, call, err) : rung_table_read_trained(table, v->trained, err);
    rung_call_progress(call, &progress, "cells", RUNG_TABLE_ROWS * RUNG_TABLE_COLS);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_TABLE_ROWS * RUNG_TABLE_COLS; i++) {
        status = run_cell(table, i / RUNG_TABLE_COLS, i % RUNG_TABLE_COLS, call, err);
        rung_progress_tick(&progress, i + 1);
    }
    rung_progress_finish(&progress);
    return status;
}

static int run_table(const rung_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_table *table = rung_calloc(1, sizeof *table, err);
    rung_buf text;
    if (!table) return RUNG_SYSTEM;
    rung_status status = prepare(table, v, err);
    if (status == RUNG_OK) status = fill(table, call, err);
    if (status == RUNG_OK) status = write_page(table, v->out, err);
    rung_buf_init(&text);
    if (status == RUNG_OK && call->json) rung_table_json(&text, table);
    if (status == RUNG_OK && !call->json) rung_table_print(&text, table);
    if (status == RUNG_OK) status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    rung_table_clear(table);
    free(table);
    if (status == RUNG_OK) rung_note(call, "page: %s/index.html, models and certificates beside it", v->out);
    return status;
}

const rung_command rung_command_table = {
    .name = "table",
    .summary = "the paper's table of results, every cell reached here",
    .details =
        "Rows are architectures, columns are tasks at one size. CANNOT comes from a theorem whose inequality holds "
        "there, and carries a certificate of one model that fails, which rung-check confirms while the table is made; "
        "CAN from weights that are built and checked in the same run, UNKNOWN is neither. Below each verdict stands "
        "the "
        "accuracy that such layers have learned, with its 95 % interval over seeds: from a sweep whose results are "
        "part of "
        "this program (experiments/table.json), from another one, or from a quick one that is done now. Also writes a "
        "page, "
        "the models and the certificates.",
    .examples =
        (const rung_example[]){
            {"rung table", "on the terminal, and rung-table/index.html"},
            {"rung table --numbers e8m10", "shorter numbers: theorems bite more, some constructions fail"},
            {"rung table --train", "train small models now, one seed each, instead of the results that come along"},
            {"rung table --proofs", "with a file for coqc beside the page for each CANNOT"},
            {"rung table --json", "for programs"},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(table_values, out),
             .metavar = "DIR",
             .help = "where the page and the models go",
             .fallback = "rung-table",
             .complete = RUNG_COMPLETE_DIR},
            {.name = "numbers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(table_values, numbers),
             .metavar = "FORMAT",
             .help = "number format: of the constructions, and p of the bounds",
             .fallback = "e8m17"},
            {.name = "count",
             .letter = 'n',
             .kind = RUNG_OPTION_INT,
             .at = offsetof(table_values, count),
             .metavar = "N",
             .help = "prompts of a sample, where there is no proof",
             .fallback = "200",
             .low = 1,
             .high = 1000000},
            {.name = "train",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(table_values, train),
             .help = "trained accuracies from a quick sweep that is done now, into DIR/quick.db"},
            {.name = "trained",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(table_values, trained),
             .metavar = "FILE",
             .help = "trained accuracies from this answer of 'rung report STORE --json'",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "no-certificates",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(table_values, no_certificates),
             .help = "theorems and constructions only: break no models"},
            {.name = "proofs",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(table_values, proofs),
             .help = "also write every CANNOT whose theorem Coq has as a file for coqc, into DIR"},
            RUNG_OPTION_THREADS(table_values, threads),
            {0},
        },
    .values_size = sizeof(table_values),
    .run = run_table,
};
