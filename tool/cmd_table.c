/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung table: the table of results of the paper, every cell reached here (rung/table.h).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "table_print.h"

typedef struct table_values {
    const char *out, *numbers, *trained;
    int64_t count, threads;
    bool no_certificates, no_depth, train, no_proofs;
} table_values;

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

/* ---- output ---------------------------------------------------------------------------------------------------- */

static rung_status write_page(const rung_table *table, const char *directory, rung_error *err)
{
    char path[4096];
    rung_buf page;
    rung_buf_init(&page);
    rung_table_page(&page, table, directory);
    snprintf(path, sizeof path, "%s/index.html", directory);
    rung_status status = rung_buf_ok(&page, err);
    RUNG_NEXT(status, rung_file_write(path, page.text, page.len, err));
    rung_buf_clear(&page);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status prepare(rung_table *table, const table_values *v, rung_error *err)
{
    rung_status status = rung_table_init(table, v->numbers, err);
    if (v->train && v->trained) return rung_fail(err, RUNG_USAGE, "--train and --trained exclude each other");
    RUNG_NEXT(status, rung_directory_make(v->out, err));
    return status;
}

static rung_status fill(rung_table *table, const tool_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_progress progress;
    const rung_table_options conf = {.directory = v->out,
                                     .samples = (uint64_t)v->count,
                                     .threads = (size_t)v->threads,
                                     .seed = (uint64_t)call->seed,
                                     .certificates = !v->no_certificates,
                                     .progress = call->quiet ? NULL : &progress,
                                     .interrupted = interrupted};
    rung_status status;
    table->quick = v->train;
    table->proofs = !v->no_proofs;
    table->shipped = !v->train && !v->trained;
    if (v->train) {
        tool_signals_defer(true);
        status = rung_table_train(table, &conf, err);
        tool_signals_defer(false);
    } else {
        status = rung_table_read_trained(table, v->trained, v->out, err);
    }
    RUNG_TRY(status);
    RUNG_TRY(rung_table_fill(table, &conf, err));
    return v->no_depth ? RUNG_OK : rung_table_dive(table, &conf, err);
}

static int run_table(const tool_call *call, rung_error *err)
{
    const table_values *v = call->values;
    rung_table *table = rung_calloc(1, sizeof *table, err);
    rung_buf text;
    if (!table) return RUNG_SYSTEM;
    rung_status status = prepare(table, v, err);
    RUNG_NEXT(status, fill(table, call, err));
    RUNG_NEXT(status, write_page(table, v->out, err));
    rung_buf_init(&text);
    if (status == RUNG_OK && call->json) rung_table_json(&text, table);
    if (status == RUNG_OK && !call->json) tool_table_print(&text, table);
    RUNG_NEXT(status, tool_out_buf(&text, err));
    rung_buf_clear(&text);
    rung_table_clear(table);
    free(table);
    if (status == RUNG_OK) tool_note(call, "page: %s/index.html, models and certificates beside it", v->out);
    return status;
}

const tool_command tool_command_table = {
    .name = "table",
    .summary = "the paper's table of results, every cell reached here",
    .details =
        "Rows are layers, columns are tasks at one size. CANNOT comes from a theorem whose inequality holds there, and "
        "carries a certificate of one model that fails, which rung-check confirms while the table is made; CAN from "
        "weights that are built and checked in the same run; UNKNOWN is neither. The first line of a cell has the "
        "verdict with its numbers: bits needed > bits held, or how the weights were checked. The second line has the "
        "published width, and the accuracy that such layers have learned: from a sweep whose results are part of this "
        "program (experiments/table.json), from another one, or from a quick one that is done now. The page has all "
        "of it with intervals, evidence, proofs for coqc, and how many functions the layers compose for L = 1 to "
        "4.",
    .examples =
        (const tool_example[]){
            {"rung table", "on the terminal, and rung-table/index.html"},
            {"rung table --numbers e8m10", "shorter numbers: theorems bite more, some constructions fail"},
            {"rung table --train", "train small models now, one seed each, instead of the results that come along"},
            {"rung table --no-certificates --no-depth", "verdicts only, in seconds"},
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
            {.name = "no-depth",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(table_values, no_depth),
             .help = "do not ask how many functions the layers compose"},
            {.name = "no-proofs",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(table_values, no_proofs),
             .help = "do not write every CANNOT whose theorem Coq has as a file for coqc into DIR"},
            RUNG_OPTION_THREADS(table_values, threads),
            {0},
        },
    .values_size = sizeof(table_values),
    .run = run_table,
};
