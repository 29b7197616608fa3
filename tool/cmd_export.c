/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung export: what stores hold, as CSV, as lines of JSON, or as event files for TensorBoard.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "rung/lab.h"

typedef struct export_values {
    const char *out, *sweep, *tensorboard, *models;
    int64_t wait;
    bool csv, jsonl, metrics, probes;
} export_values;

/* ---- stores ---------------------------------------------------------------------------------------------------- */

static rung_status put_to_stdout(void *context, const void *bytes, size_t len, rung_error *err)
{
    (void)context;
    return tool_out_bytes(bytes, len, err);
}

static bool interrupted(void)
{
    return tool_signal_pending() != 0;
}

typedef rung_status store_use(rung_store_export *x, rung_error *err);

static rung_status each_store(rung_store_export *x, const tool_call *call, store_use *use, rung_error *err)
{
    const export_values *v = call->values;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++) {
        status = rung_store_open(&x->store, call->argument[i], RUNG_STORE_READ, (double)v->wait, err);
        if (status != RUNG_OK) break;
        status = rung_store_find_sweep(&x->sweep, x->store, v->sweep, err);
        RUNG_NEXT(status, use(x, err));
        rung_store_close(x->store);
    }
    return status;
}

static rung_status export_table(rung_store_export *x, const tool_call *call, rung_error *err)
{
    const export_values *v = call->values;
    x->format = v->jsonl ? RUNG_EXPORT_JSONL : RUNG_EXPORT_CSV;
    x->metrics = v->metrics;
    rung_status status = RUNG_OK;
    if (v->probes) {
        if (x->format == RUNG_EXPORT_CSV) rung_store_export_cell_head(x);
        status = each_store(x, call, rung_store_export_cells, err);
        RUNG_TRY(status);
        return rung_store_export_flush(x, err);
    }
    if (x->format == RUNG_EXPORT_CSV) status = each_store(x, call, rung_store_export_columns, err);
    if (status == RUNG_OK && x->format == RUNG_EXPORT_CSV) status = rung_store_export_head(x, err);
    RUNG_TRY(status);
    RUNG_TRY(each_store(x, call, rung_store_export_rows, err));
    return rung_store_export_flush(x, err);
}

static rung_status put_to_file(void *context, const void *bytes, size_t len, rung_error *err)
{
    const rung_file_writer *file = context;
    if (fwrite(bytes, 1, len, file->stream) == len) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM, "%s: %s", file->path, strerror(errno));
}

static rung_status export_file(rung_store_export *x, const tool_call *call, const char *out, rung_error *err)
{
    rung_file_writer file;
    rung_status status = tool_out_place(out, err);
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++)
        status = tool_out_spares(out, call->argument[i], err);
    RUNG_TRY(status);
    status = rung_file_begin(&file, out, err);
    RUNG_TRY(status);
    x->put = put_to_file, x->context = &file;
    status = export_table(x, call, err);
    if (status == RUNG_OK) return rung_file_commit(&file, err);
    rung_file_abandon(&file);
    return status;
}

static rung_status into_directory(rung_store_export *x, const tool_call *call, const char *directory, store_use *use,
                                  rung_error *err)
{
    RUNG_TRY(rung_directory_make(directory, err));
    x->directory = directory;
    return each_store(x, call, use, err);
}

static rung_status export_models(rung_store_export *x, const tool_call *call, const char *directory, rung_error *err)
{
    rung_status status = into_directory(x, call, directory, rung_store_export_models, err);
    if (status == RUNG_OK && !x->runs)
        return rung_fail(err, RUNG_INPUT, "no models are kept there; a spec with \"keep-models\": true keeps them");
    if (status == RUNG_OK) tool_note(call, "%zu models in %s", x->runs, directory);
    return status;
}

static rung_status export_events(rung_store_export *x, const tool_call *call, const char *directory, rung_error *err)
{
    rung_status status = into_directory(x, call, directory, rung_store_export_events, err);
    if (status == RUNG_OK)
        tool_note(call, "%zu runs in %s; look with: tensorboard --logdir %s", x->runs, directory, directory);
    return status;
}

static int run_export(const tool_call *call, rung_error *err)
{
    const export_values *v = call->values;
    rung_store_export x = {0};
    rung_status status;
    if (v->csv + v->jsonl + (v->tensorboard != NULL) + (v->models != NULL) > 1)
        return rung_fail(err, RUNG_USAGE, "one of --csv, --jsonl, --tensorboard and --models, not several");
    if ((v->tensorboard || v->models) && v->out)
        return rung_fail(err, RUNG_USAGE, "--%s says where; leave out --out", v->models ? "models" : "tensorboard");
    if (v->probes && (v->metrics || v->sweep || v->tensorboard || v->models))
        return rung_fail(err, RUNG_USAGE, "--probes has cells of probes, no runs: leave out --%s",
                         v->metrics  ? "metrics"
                         : v->sweep  ? "sweep"
                         : v->models ? "models"
                                     : "tensorboard");
    if (call->json) return rung_fail(err, RUNG_USAGE, "--json would be one object; --jsonl is a line of JSON per run");
    rung_store_export_init(&x);
    x.put = put_to_stdout, x.interrupted = interrupted;
    if (v->tensorboard)
        status = export_events(&x, call, v->tensorboard, err);
    else if (v->models)
        status = export_models(&x, call, v->models, err);
    else if (v->out)
        status = export_file(&x, call, v->out, err);
    else
        status = export_table(&x, call, err);
    rung_store_export_clear(&x);
    return status;
}

const tool_command tool_command_export = {
    .name = "export",
    .summary = "the runs or probes of a store as CSV, JSON lines, TensorBoard events or models",
    .details = "One line per run, with its keys, its results, what its layers hold and what theory says of it; with "
               "--metrics one line per evaluation during training, with --probes one line per cell of a probe. "
               "docs/store.md has the meaning of every column. Numbers "
               "that do not exist are empty, or null.",
    .examples =
        (const tool_example[]){
            {"rung export depth.db > depth.csv", "for a spreadsheet, R or pandas"},
            {"rung export depth.db --jsonl --metrics -o curves.jsonl", "training curves"},
            {"rung export a.db b.db --tensorboard runs", "for TensorBoard"},
            {"rung export qwen.db kimi.db --probes > cells.csv", "what probed models have answered"},
            {"rung export depth.db --models trained", "the models that the spec has kept"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "STORE",
             .help = "stores to read",
             .least = 1,
             .most = SIZE_MAX,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "csv",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(export_values, csv),
             .help = "a table with a head (what is done without an option)"},
            {.name = "jsonl",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(export_values, jsonl),
             .help = "an object per line"},
            {.name = "tensorboard",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(export_values, tensorboard),
             .metavar = "DIR",
             .help = "event files, a directory per run",
             .complete = RUNG_COMPLETE_DIR},
            {.name = "models",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(export_values, models),
             .metavar = "DIR",
             .help = "the models that were kept, as ID.safetensors",
             .complete = RUNG_COMPLETE_DIR},
            {.name = "metrics",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(export_values, metrics),
             .help = "evaluations during training instead of runs"},
            {.name = "probes",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(export_values, probes),
             .help = "cells of probed models instead of runs"},
            {.name = "sweep",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(export_values, sweep),
             .metavar = "NAME",
             .help = "only the runs of this sweep, with their labels and which are chosen"},
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(export_values, out),
             .metavar = "FILE",
             .help = "write there (default: stdout)",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "wait",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(export_values, wait),
             .metavar = "S",
             .help = "seconds to wait for a store that another program holds",
             .fallback = "60",
             .low = 0,
             .high = 86400},
            {0},
        },
    .values_size = sizeof(export_values),
    .run = run_export,
};
