/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of results of the paper, every cell reached here. All architectures have one head of dimension 2 and
 * numbers of 26 bits, unless a construction needs more and says so; at this size the theorems bite and the
 * constructions still work, on the very same instances.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "rung/decide.h"
#include "table_cell.h"

#define LOOKUP  "lookup N=541 keys=trig values=scalar gap=16"
#define PERCOM  "percom N=541 keys=trig values=scalar gap=16"
#define TWO_SUM "two-sum N=127 M=509"

/* Each construction of SeqComp for the number of functions that it composes. */
#define ONE         "seqcomp L=1 N0=4 keys=trig"
#define TWO         "seqcomp L=2 N0=2 n=2 keys=trig"
#define THREE       "seqcomp L=3 N0=2 n=2,2 keys=trig"
#define FOUR        "seqcomp L=4 N0=2 n=2,2,2 keys=trig"
#define THINKING(x) "seqcomp-cot L=" x

enum { EVA, TWO_SUMS, SEQCOMP = RUNG_TABLE_SEQCOMP, PERCOMP };
#define FULL_CAN [EVA] = LOOKUP, [TWO_SUMS] = TWO_SUM, [PERCOMP] = PERCOM
#define PAPER(eva, two_sum, seqcomp, percom)                                                                           \
    {                                                                                                                  \
        [EVA] = (eva), [TWO_SUMS] = (two_sum), [SEQCOMP] = (seqcomp), [PERCOMP] = (percom)                             \
    }

const rung_table_row rung_table_rows[RUNG_TABLE_LAYERS] = {
    {.title = "one full layer",
     .brief = "full",
     .arch = "full",
     .build = {FULL_CAN},
     .claim = PAPER("O(polylog n)", "O(log n)", NULL, "O(polylog n)")},
    {.title = "two full layers",
     .brief = "2 full = L",
     .arch = "2*full",
     .build = {FULL_CAN},
     .claim = PAPER(NULL, NULL, "Ω(poly n)", NULL),
     .task = {[SEQCOMP] = "seqcomp L=2 N0=220 n=341"},
     .deep = {ONE}},
    {.title = "three full layers",
     .brief = "3 full = L+1",
     .arch = "3*full",
     .build = {FULL_CAN, [SEQCOMP] = "seqcomp L=2 N0=30 n=17 keys=trig"},
     .claim = PAPER(NULL, NULL, "O(polylog n)", NULL),
     .deep = {ONE, TWO}},
    {.title = "one full layer with chain of thought",
     .brief = "full + CoT",
     .arch = "full",
     .thinks = true,
     .build = {FULL_CAN, [SEQCOMP] = "seqcomp-cot L=2 N0=30 n=17"},
     .claim = PAPER(NULL, NULL, "O(polylog n)", NULL),
     .deep = {THINKING("1 N0=4"), THINKING("2 N0=2 n=2"), THINKING("3 N0=2 n=2,2"), THINKING("4 N0=2 n=2,2,2")}},
    {.title = "linear attention",
     .brief = "linear",
     .arch = "linear",
     .claim = PAPER("Ω(n log n), even with CoT", "Ω(n log n), even with CoT", NULL, "Ω(n log n), even with CoT")},
    {.title = "delta rule", .brief = "delta rule", .arch = "delta"},
    {.title = "gated delta rule", .brief = "gated delta", .arch = "gdelta"},
    {.title = "Mamba-2", .brief = "Mamba-2", .arch = "mamba2"},
    {.title = "sliding window", .brief = "window", .arch = "window:W=2"},
    {.title = "log-linear attention",
     .brief = "log-linear",
     .arch = "loglinear",
     .claim = PAPER("Ω(n), even with CoT", "Ω(n), even with CoT", NULL, "Ω(n), even with CoT")},
    {.title = "block-sparse attention",
     .brief = "block-sparse",
     .arch = "sparse:B=32:k=1",
     .claim = PAPER(NULL, "Ω(B log n)", NULL, NULL)},
    {.title = "token-sparse attention",
     .brief = "token-sparse",
     .arch = "dsa:k=1:HI=1:DI=2",
     .build = {[TWO_SUMS] = "two-sum N=127 M=509 by=dsa"}},
    {.title = "hybrid: full, four linear",
     .brief = "full,4 lin",
     .arch = "full,4*linear",
     .build = {FULL_CAN},
     .claim = PAPER(NULL, NULL, "Ω(poly n)", NULL)},
    {.title = "hybrid: linear, two full",
     .brief = "lin,2 full",
     .arch = "linear,2*full",
     .build = {FULL_CAN, [SEQCOMP] = "seqcomp L=2 N0=30 n=17 keys=trig linear=first"},
     .deep = {ONE, "seqcomp L=2 N0=2 n=2 keys=trig linear=first"}},
    {.title = "hybrid: full, linear, full",
     .brief = "lin between",
     .arch = "full,linear,full",
     .build = {FULL_CAN, [SEQCOMP] = "seqcomp L=2 N0=30 n=17 keys=trig linear=after"},
     .claim = PAPER(NULL, NULL, "Ω(poly n) in Theorem B.2 as printed, which its erratum corrects", NULL),
     .deep = {ONE, "seqcomp L=2 N0=2 n=2 keys=trig linear=after"}},
    /* Of the question how deep only. */
    {.title = "four full layers", .brief = "4 full", .arch = "4*full", .deep = {ONE, TWO, THREE}},
    {.title = "five full layers", .brief = "5 full", .arch = "5*full", .deep = {ONE, TWO, THREE, FOUR}},
};

const rung_table_col rung_table_cols[RUNG_TABLE_COLS] = {
    [EVA] = {"look up f(x)", "eva N=541", "Eva"},
    [TWO_SUMS] = {"two-sum, query form", "two-sum N=127 M=509 blank=1", "2-Sum"},
    [SEQCOMP] = {"compose two functions", "seqcomp L=2 N0=30 n=17", "L-SeqComp"},
    [PERCOMP] = {"compose two permutations", "percom N=541", "PerCom"},
};

/* ---- one cell -------------------------------------------------------------------------------------------------- */

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
                          size_t col, const rung_decide_options *means, rung_error *err)
{
    rung_task_conf larger = {0};
    const char *own = rung_table_rows[row].task[col];
    RUNG_TRY(own ? rung_task_conf_parse(&larger, own, err) : RUNG_OK);
    const rung_task_conf *task = own ? &larger : &table->task[col];
    cell->tokens = task->tokens;
    rung_claim_spec about = rung_claim_spec_of_prompt(task, 0);
    rung_claim *claim;
    rung_decision d;
    rung_claim_spec_set_bits(&about, table->fmt.bits);
    if (rung_table_rows[row].thinks) about.at_once = RUNG_VIOLATED;
    RUNG_TRY(rung_claim_new(&claim, subject, &about, err));
    rung_status status = rung_decide(&d, claim, means, err);
    if (status == RUNG_OK) take_decision(cell, &d);
    if (status == RUNG_OK && d.basis == RUNG_BASIS_THEOREM)
        status = write_proof(cell, &d, table, row, col, means->keep, err);
    rung_decision_clear(&d);
    rung_claim_free(claim);
    return status;
}

rung_status table_build(rung_model **model, const char *text, rung_error *err)
{
    char copy[160];
    const char *words[16];
    size_t count = 0;
    rung_build b;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word && count < RUNG_COUNT(words); word = strtok(NULL, " "))
        words[count++] = word;
    RUNG_TRY(rung_build_init(&b, words[0], words + 1, count - 1, err));
    return rung_build_model(model, &b, err);
}

static rung_status build_model(rung_model **model, rung_table_cell *cell, const char *text, rung_error *err)
{
    char file[128];
    rung_status status = table_build(model, text, err);
    snprintf(file, sizeof file, "%.60s.safetensors", text);
    for (char *c = file; *c; c++)
        if (*c == ' ' || *c == '=') *c = '-';
    snprintf(cell->model, sizeof cell->model, "%s", file);
    snprintf(cell->command, sizeof cell->command, "rung build %.60s -o %.80s", text, file);
    return status;
}

/* In the row's own layers where these contain the weights; else in the layers of the weights: then the cell is about
 * larger heads, and says so. */
static rung_status decide_row(rung_table_cell *cell, const rung_table *table, size_t row, size_t col,
                              const rung_decide_options *means, rung_error *err)
{
    const rung_arch_defaults small = TABLE_HEADS;
    rung_subject *subject = NULL, *larger = NULL;
    rung_status status = rung_subject_arch(&subject, rung_table_rows[row].arch, &small, err);
    RUNG_NEXT(status, decide(cell, table, subject, row, col, means, err));
    if (status == RUNG_OK && means->given && cell->verdict == RUNG_UNKNOWN) {
        status = rung_subject_model(&larger, means->given, "weights", err);
        RUNG_NEXT(status, decide(cell, table, larger, row, col, means, err));
    }
    rung_subject_free(subject);
    rung_subject_free(larger);
    return status;
}

static rung_status run_cell(rung_table *table, size_t row, size_t col, const rung_table_options *conf, rung_error *err)
{
    rung_table_cell *cell = &table->cell[row][col];
    const char *build = rung_table_rows[row].build[col];
    rung_model *model = NULL;
    rung_decide_options means = {.bounds = true,
                                 .both = true,
                                 .samples = conf->samples,
                                 .seed = conf->seed,
                                 .threads = conf->threads,
                                 .given_by = build,
                                 .given_in = &table->fmt,
                                 .keep = conf->directory};
    cell->verdict = RUNG_UNKNOWN;
    rung_status status = build ? build_model(&model, cell, build, err) : RUNG_OK;
    means.given = model, means.weights = build != NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", conf->directory, cell->model);
    if (status == RUNG_OK && model) status = rung_model_save(model, path, err);
    if (status == RUNG_OK && model) snprintf(cell->arch, sizeof cell->arch, "%s", rung_model_get_spec(model)->arch);
    RUNG_NEXT(status, decide_row(cell, table, row, col, &means, err));
    rung_model_close(model);
    bool searched =
        conf->certificates && !rung_table_rows[row].task[col]; /* a larger instance is too large to attack */
    if (status == RUNG_OK && cell->verdict == RUNG_CANNOT && searched)
        status = table_break(cell, table, row, col, conf, err);
    return status == RUNG_OK ? status : rung_fail_at(err, status, "%s", rung_table_rows[row].title);
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

rung_status rung_table_init(rung_table *table, const char *numbers, rung_error *err)
{
    memset(table, 0, sizeof *table);
    rung_status status = rung_fmt_parse(&table->fmt, numbers, err);
    for (size_t c = 0; status == RUNG_OK && c < RUNG_TABLE_COLS; c++)
        status = rung_task_conf_parse(&table->task[c], rung_table_cols[c].task, err);
    return status;
}

void rung_table_clear(rung_table *table)
{
    for (size_t i = 0; i < table->trained_count; i++) free(table->trained[i].cert);
    free(table->trained);
}

rung_status rung_table_fill(rung_table *table, const rung_table_options *conf, rung_error *err)
{
    rung_status status = RUNG_OK;
    if (conf->progress) rung_progress_start(conf->progress, "cells", RUNG_TABLE_ROWS * RUNG_TABLE_COLS);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_TABLE_ROWS * RUNG_TABLE_COLS; i++) {
        status = run_cell(table, i / RUNG_TABLE_COLS, i % RUNG_TABLE_COLS, conf, err);
        if (conf->progress) rung_progress_tick(conf->progress, i + 1);
    }
    if (conf->progress) rung_progress_finish(conf->progress);
    return status;
}
