/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung table: the table of results of the paper, with what has been run here. In this version a cell holds what a
 * model of the row's architecture carries past the prefix of the task, the length of the packed state of the exact
 * evaluator, and the score of its random weights. No bound, construction or certificate exists yet, so no cell has a
 * verdict.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json_out.h"
#include "output.h"
#include "rung/verify.h"
#include "table.h"

typedef struct table_values {
    const char *out, *numbers;
    int64_t count, threads;
} table_values;

const rung_table_row rung_table_rows[RUNG_TABLE_ROWS] = {
    {"full attention", "full", "full"},
    {"linear attention", "linear", "linear"},
    {"delta rule", "delta", "delta"},
    {"gated delta rule", "gdelta", "gdelta"},
    {"sliding window", "window:W=4", "window"},
    {"log-linear", "loglinear", "loglinear"},
    {"block-sparse", "sparse:B=4:k=1", "sparse"},
    {"hybrid: one full, four linear", "full,4*linear", "full"},
};

const rung_table_col rung_table_cols[RUNG_TABLE_COLS] = {
    {"eva: look up f(x)",
     "eva N=16",
     {"O(polylog n)", "Ω(n log n), even with CoT", NULL, NULL, NULL, "Ω(n), even with CoT", NULL, NULL}},
    {"two-sum, query form",
     "two-sum N=16 M=64 dist=hard",
     {"O(log n)", "Ω(n log n), even with CoT", NULL, NULL, NULL, "Ω(n), even with CoT", "Ω(B log n)", NULL}},
    {"2-step composition", "seqcomp L=2 N0=4 n=4", {"O(polylog n)", NULL, NULL, NULL, NULL, NULL, NULL, "Ω(poly n)"}},
};

/* Tokens before the query: all players but those that ask; of a composition, the outermost table. */
static size_t cut_of(const rung_instance *instance, const rung_task_conf *conf)
{
    return strcmp(conf->task->name, "seqcomp") == 0 ? instance->player[0].len
                                                    : instance->player[instance->player_count - 1].start;
}

/* Bits that tell apart the prefixes which some query distinguishes. eva, seqcomp: every entry of the table before the
 * cut, N log2 V. two-sum: sets of N values without a zero-sum pair, log2 C(floor((M-1)/2), N). */
static double needed_bits(const rung_task_conf *conf, size_t cut)
{
    if (strcmp(conf->task->name, "two-sum") != 0) return (double)cut * log2((double)conf->answers);
    double n = (double)rung_task_param(conf, "N"), u = floor(((double)rung_task_param(conf, "M") - 1) / 2);
    return (lgamma(u + 1) - lgamma(n + 1) - lgamma(u - n + 1)) / log(2);
}

/* ---- one cell ---------------------------------------------------------------------------------------------------- */

static rung_status write_model(char *path, size_t size, const char *directory, size_t row, const rung_task_conf *conf,
                               uint64_t seed, rung_error *err)
{
    rung_buf task;
    rung_buf_init(&task);
    rung_task_canonical(&task, conf);
    rung_model_spec spec = {.arch = rung_table_rows[row].arch,
                            .task = task.text,
                            .mlp = "none",
                            .vocab = conf->vocab,
                            .answers = conf->answers,
                            .max_tokens = conf->tokens,
                            .d_model = 16,
                            .d_mlp = 16,
                            .heads = 1,
                            .dk = 2,
                            .dv = 2,
                            .positions = RUNG_POS_LEARNED,
                            .norm = RUNG_NORM_RMS,
                            .causal = true};
    snprintf(path, size, "%s/%s-%s.safetensors", directory, rung_table_rows[row].mechanism, conf->task->name);
    if (row == RUNG_TABLE_ROWS - 1) snprintf(path, size, "%s/hybrid-%s.safetensors", directory, conf->task->name);
    rung_status status = rung_buf_ok(&task, err);
    if (status == RUNG_OK) status = rung_model_write_random(path, &spec, seed, err);
    rung_buf_clear(&task);
    return status;
}

/* Runs the prefix; what the session then carries is the length of its packed state. */
static rung_status measure_cut(rung_table_cell *cell, rung_judge *j, rung_error *err)
{
    rung_prompt prefix = rung_judge_prompt(j, 0, cut_of(&j->instance, j->task));
    rung_session_reset(j->session);
    rung_status status = rung_session_run(j->session, NULL, &prefix, RUNG_FORM_STEP, NULL, 0, err);
    if (status != RUNG_OK) return status;
    cell->cut = prefix.tokens;
    cell->carried_bits = rung_session_state_bits(j->session);
    return RUNG_OK;
}

static rung_status answer_prompts(rung_table_cell *cell, rung_judge *j, size_t count, uint64_t seed, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        status = rung_task_make(&j->instance, j->task, seed, i, err);
        if (status == RUNG_OK && i == 0) status = measure_cut(cell, j, err);
        if (status == RUNG_OK) status = rung_judge_run(j, RUNG_FORM_SCAN, err);
        if (status != RUNG_OK) break;
        cell->targets++;
        cell->right += rung_judge_answer(j, j->targets - 1) == j->instance.target[j->at[j->targets - 1]];
    }
    cell->prompts = cell->targets;
    return status;
}

static rung_status run_model(rung_table_cell *cell, const char *path, const rung_task_conf *conf, const rung_fmt *fmt,
                             const table_values *v, uint64_t seed, rung_error *err)
{
    rung_model *model = NULL;
    rung_program *program = NULL;
    rung_judge j = {0};
    const rung_evaluator how = {.numbers = fmt, .threads = (size_t)v->threads};
    rung_status status = rung_model_open(&model, path, err);
    if (status == RUNG_OK) status = rung_program_new(&program, model, &how, err);
    if (status == RUNG_OK) status = rung_judge_init(&j, model, program, conf, err);
    if (status == RUNG_OK) status = answer_prompts(cell, &j, (size_t)v->count, seed, err);
    cell->run = status == RUNG_OK;
    rung_judge_clear(&j);
    rung_program_free(program);
    rung_model_close(model);
    return status;
}

static rung_status run_cell(rung_table *table, size_t row, size_t col, const rung_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_table_cell *cell = &table->cell[row][col];
    char path[4096];
    if (!rung_mech_get(rung_table_rows[row].mechanism)) {
        cell->missing = "mechanism not in this version";
        return RUNG_OK;
    }
    rung_status status = write_model(path, sizeof path, v->out, row, &table->task[col], (uint64_t)call->seed, err);
    if (status == RUNG_OK) status = run_model(cell, path, &table->task[col], &table->fmt, v, (uint64_t)call->seed, err);
    table->needs_bits[col] = needed_bits(&table->task[col], cell->cut);
    return status == RUNG_OK ? status : rung_fail_at(err, status, "%s", rung_table_rows[row].title);
}

/* ---- output -------------------------------------------------------------------------------------------------------- */

static void cell_text(char *text, size_t size, const rung_table_cell *cell)
{
    if (!cell->run)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%llu bits, %zu/%zu", (unsigned long long)cell->carried_bits, cell->right, cell->targets);
}

static void print_table(rung_buf *out, const rung_table *table, const table_values *v)
{
    char text[64];
    rung_buf_printf(out, "%s%-30s", rung_style_bold(), "");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) rung_buf_printf(out, "  %-22s", rung_table_cols[c].title);
    rung_buf_printf(out, "%s\n%-30s", rung_style_off(), "prefixes to be told apart");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        snprintf(text, sizeof text, "2^%.1f", table->needs_bits[c]);
        rung_buf_printf(out, "  %-22s", text);
    }
    rung_buf_putc(out, '\n');
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        rung_buf_printf(out, "%-30s", rung_table_rows[r].title);
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
            cell_text(text, sizeof text, &table->cell[r][c]);
            rung_buf_printf(out, "  %-22s", text);
        }
        rung_buf_putc(out, '\n');
    }
    rung_buf_printf(out,
                    "\nEach cell was run here: the bits that a model with H=1, dk=dv=2 in %s carries past the prefix, "
                    "and\nhow many of %lld prompts its random weights answer (one answer in %zu, %zu, %zu is right by "
                    "chance).\nThere is no verdict in any cell: this version has no bounds, no constructions and no "
                    "certificates.\nRandom weights show nothing about what an architecture can learn or compute.\n",
                    table->fmt.name, (long long)v->count, table->task[0].answers, table->task[1].answers,
                    table->task[2].answers);
}

static void json_table(rung_buf *text, const rung_table *table)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.table/1", true);
    rung_jout_string(&out, "numbers", table->fmt.name);
    rung_jout_array(&out, "cells");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++)
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
            const rung_table_cell *cell = &table->cell[r][c];
            rung_jout_flat_object(&out, NULL);
            rung_jout_string(&out, "row", rung_table_rows[r].title);
            rung_jout_string(&out, "arch", rung_table_rows[r].arch);
            rung_jout_string(&out, "task", rung_table_cols[c].task);
            rung_jout_string(&out, "published", rung_table_cols[c].claim[r]);
            rung_jout_null(&out, "verdict");
            rung_jout_bool(&out, "run", cell->run);
            if (cell->run) {
                rung_jout_int(&out, "carried_bits", (int64_t)cell->carried_bits);
                rung_jout_int(&out, "after_tokens", (int64_t)cell->cut);
                rung_jout_real(&out, "prefix_bits", table->needs_bits[c]);
                rung_jout_int(&out, "random_weights_right", (int64_t)cell->right);
                rung_jout_int(&out, "prompts", (int64_t)cell->prompts);
            } else {
                rung_jout_string(&out, "why", cell->missing);
            }
            rung_jout_end(&out);
        }
    rung_jout_end(&out);
    rung_jout_finish(&out);
}

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

/* ---- command -------------------------------------------------------------------------------------------------------- */

static rung_status prepare(rung_table *table, const table_values *v, rung_error *err)
{
    rung_status status = rung_fmt_parse(&table->fmt, v->numbers, err);
    for (size_t c = 0; status == RUNG_OK && c < RUNG_TABLE_COLS; c++) {
        status = rung_task_conf_parse(&table->task[c], rung_table_cols[c].task, err);
    }
    if (status == RUNG_OK && mkdir(v->out, 0777) != 0 && errno != EEXIST)
        status = rung_fail(err, RUNG_SYSTEM, "cannot make the directory %s: %s", v->out, strerror(errno));
    return status;
}

static int run_table(const rung_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_table table = {0};
    rung_progress progress;
    rung_buf text;
    rung_status status = prepare(&table, v, err);
    rung_call_progress(call, &progress, "cells", RUNG_TABLE_ROWS * RUNG_TABLE_COLS);
    for (size_t i = 0; status == RUNG_OK && i < RUNG_TABLE_ROWS * RUNG_TABLE_COLS; i++) {
        status = run_cell(&table, i / RUNG_TABLE_COLS, i % RUNG_TABLE_COLS, call, err);
        rung_progress_tick(&progress, i + 1);
    }
    rung_progress_finish(&progress);
    if (status == RUNG_OK) status = write_page(&table, v->out, err);
    if (status != RUNG_OK) return status;
    rung_buf_init(&text);
    if (call->json)
        json_table(&text, &table);
    else
        print_table(&text, &table, v);
    status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    rung_note(call, "page: %s/index.html, models beside it (rung run %s/full-eva.safetensors --step)", v->out, v->out);
    return status;
}

const rung_command rung_command_table = {
    .name = "table",
    .summary = "the paper's table of results, with what has been run here",
    .details = "Rows are architectures, columns are tasks. A cell is empty until something has been run. Also writes a "
               "page and the models that were run.",
    .examples =
        (const rung_example[]){
            {"rung table", "on the terminal, and rung-table/index.html"},
            {"rung table --numbers e4m3", "the same models in 8-bit floats"},
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
             .help = "number format of the exact evaluator",
             .fallback = "bf16"},
            {.name = "count",
             .letter = 'n',
             .kind = RUNG_OPTION_INT,
             .at = offsetof(table_values, count),
             .metavar = "N",
             .help = "prompts per cell",
             .fallback = "200",
             .low = 1,
             .high = 1000000},
            RUNG_OPTION_THREADS(table_values, threads),
            {0},
        },
    .values_size = sizeof(table_values),
    .run = run_table,
};
