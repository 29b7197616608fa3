/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung import: what other harnesses have measured, into a store beside probes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "rung/probe.h"
#include "rung/render.h"
#include "rung/verify.h"

typedef struct import_values {
    const char *out, *model, *task;
    int64_t kind, depth, facts, wait;
    double chance;
} import_values;

/* "dir/samples_x.jsonl" as it was given, with everything that decides what the answers mean. */
static rung_status enter(int64_t *probe, rung_store *store, const tool_call *call, const rung_log *log,
                         const char *path, const char *digest, rung_error *err)
{
    const import_values *v = call->values;
    rung_buf canonical;
    char hex[65];
    rung_buf_init(&canonical);
    rung_buf_printf(&canonical, "{\"log\": \"%s\", \"kind\": \"%s\", \"model\": ", digest,
                    rung_log_kind_names[log->kind]);
    rung_buf_json_string(&canonical, v->model ? v->model : log->model);
    rung_buf_puts(&canonical, ", \"task\": ");
    rung_buf_json_string(&canonical, v->task ? v->task : log->task);
    rung_buf_putc(&canonical, '}');
    rung_status status = rung_buf_ok(&canonical, err);
    if (status == RUNG_OK) {
        rung_sha256_hex(hex, canonical.text, canonical.len);
        hex[RUNG_RUN_ID - 1] = '\0';
        rung_probe_row row = {.id = hex,
                              .canonical = canonical.text,
                              .source = rung_log_kind_names[log->kind],
                              .model = v->model ? v->model : log->model,
                              .server = path,
                              .task = v->task ? v->task : log->task};
        status = rung_store_probe_put(probe, store, &row, err);
    }
    rung_buf_clear(&canonical);
    return status;
}

static rung_probe_cell cell_of(const tool_call *call, const rung_log *log)
{
    const import_values *v = call->values;
    rung_probe_cell cell = {.mode = "log",
                            .keys = "{}",
                            .canonical = v->task ? v->task : log->task,
                            .depth = (uint64_t)v->depth,
                            .facts = (uint64_t)v->facts,
                            .chance = v->chance > 0 ? v->chance : (double)NAN,
                            .majority = NAN,
                            .asked = log->count,
                            .mass = NAN,
                            .prompt_tokens = NAN,
                            .verdict = "",
                            .bound = "",
                            .statement = "",
                            .ceiling = NAN,
                            .margin = NAN};
    for (size_t i = 0; i < log->count; i++) cell.right += log->record[i].right;
    cell.text_right = cell.right;
    return cell;
}

static rung_status put_answers(rung_store *store, int64_t probe, const rung_log *log, rung_error *err)
{
    rung_probe_answer *answers = rung_calloc(log->count, sizeof *answers, err);
    if (!answers) return RUNG_SYSTEM;
    for (size_t i = 0; i < log->count; i++)
        answers[i] = (rung_probe_answer){.index = log->record[i].index,
                                         .hash = "",
                                         .wanted = log->record[i].wanted,
                                         .said = log->record[i].said,
                                         .right = log->record[i].right,
                                         .text_right = log->record[i].right,
                                         .mass = NAN};
    rung_status status = rung_store_probe_answers_put(store, probe, answers, log->count, err);
    free(answers);
    return status;
}

static void show(rung_buf *text, rung_jout *json, const tool_call *call, const char *path, const rung_log *log,
                 const rung_probe_cell *cell)
{
    const import_values *v = call->values;
    rung_interval interval = rung_wilson(cell->right, cell->asked);
    double accuracy = (double)cell->right / (double)cell->asked;
    if (!call->json) {
        rung_buf_printf(text, "%s: %s, %" PRIu64 " of %" PRIu64 " right, %.3f (%.3f to %.3f)", path,
                        rung_log_kind_names[log->kind], cell->right, cell->asked, accuracy, interval.low,
                        interval.high);
        if (log->repeated) rung_buf_printf(text, "; %zu of further filters or epochs left out", log->repeated);
        rung_buf_putc(text, '\n');
        return;
    }
    rung_jout_object(json, NULL);
    rung_jout_string(json, "file", path);
    rung_jout_string(json, "kind", rung_log_kind_names[log->kind]);
    rung_jout_string(json, "model", v->model ? v->model : log->model);
    rung_jout_string(json, "task", cell->canonical);
    rung_jout_int(json, "asked", (int64_t)cell->asked);
    rung_jout_int(json, "right", (int64_t)cell->right);
    rung_jout_real(json, "accuracy", accuracy);
    rung_jout_int(json, "left_out", (int64_t)log->repeated);
    rung_jout_end(json);
}

static rung_status import_log(rung_buf *text, rung_jout *json, rung_store *store, const tool_call *call,
                              const char *path, const rung_log *log, const char *digest, rung_error *err)
{
    const import_values *v = call->values;
    int64_t probe = 0;
    if (!*log->model && !v->model)
        return rung_fail(err, RUNG_USAGE, "%s does not say which model it is about; give --model NAME", path);
    if (!*log->task && !v->task)
        return rung_fail(err, RUNG_USAGE, "%s does not say which task it is about; give --task NAME", path);
    rung_probe_cell cell = cell_of(call, log);
    rung_status status = enter(&probe, store, call, log, path, digest, err);
    RUNG_NEXT(status, put_answers(store, probe, log, err));
    RUNG_NEXT(status, rung_store_probe_cell_put(store, probe, &cell, err));
    if (status == RUNG_OK) show(text, json, call, path, log, &cell);
    return status;
}

static rung_status import_file(rung_buf *text, rung_jout *json, rung_store *store, const tool_call *call,
                               const char *path, rung_error *err)
{
    const import_values *v = call->values;
    rung_file_map map;
    rung_log log;
    char digest[65];
    RUNG_TRY(rung_file_open_map(&map, path, err));
    rung_sha256_hex(digest, map.bytes, map.size);
    rung_status status = rung_log_read(&log, map.bytes, map.size, path, (rung_log_kind)v->kind, err);
    RUNG_NEXT(status, import_log(text, json, store, call, path, &log, digest, err));
    rung_log_clear(&log);
    rung_file_close_map(&map);
    return status;
}

static int run_import(const tool_call *call, rung_error *err)
{
    const import_values *v = call->values;
    rung_store *store = NULL;
    rung_buf text;
    rung_jout json;
    rung_buf_init(&text);
    rung_status status = tool_out_place(v->out, err);
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++)
        status = tool_out_spares(v->out, call->argument[i], err);
    RUNG_NEXT(status, rung_store_open(&store, v->out, RUNG_STORE_WRITE, (double)v->wait, err));
    if (call->json) {
        rung_jout_begin(&json, &text, "rung.import/1", true);
        rung_jout_array(&json, "logs");
    }
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++)
        status = import_file(&text, &json, store, call, call->argument[i], err);
    if (call->json) {
        rung_jout_end(&json);
        rung_jout_finish(&json);
    }
    RUNG_NEXT(status, tool_out_buf(&text, err));
    rung_store_close(store);
    rung_buf_clear(&text);
    return status;
}

const tool_command tool_command_import = {
    .name = "import",
    .summary = "what other harnesses have measured, into a store",
    .details = "Reads sample logs of lm-evaluation-harness (samples_*.jsonl), predictions of RULER (JSON lines with "
               "pred) and logs of "
               "inspect (JSON), and puts every answer and their accuracy beside the probes of a store. Right is what "
               "the harness says: "
               "the first of the listed metrics above one half; all outputs in the prediction; a score of C or at "
               "least one half. The "
               "same log again changes nothing.",
    .examples =
        (const tool_example[]){
            {"rung import samples_x.jsonl --model Qwen3 --task x -o probe.db", "of lm-evaluation-harness"},
            {"rung import pred/vt.jsonl --model Qwen3 --task vt --depth 4 -o probe.db", "of RULER, a depth beside it"},
            {"rung import log.json -o probe.db", "of inspect, which knows model and task"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "LOG", .help = "files to read", .least = 1, .most = SIZE_MAX, .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_values, out),
             .metavar = "STORE",
             .help = "the store to add to",
             .fallback = "probe.db",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "kind",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(import_values, kind),
             .metavar = "KIND",
             .help = "whose log it is",
             .fallback = "auto",
             .choices = rung_log_kind_names},
            {.name = "model",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_values, model),
             .metavar = "NAME",
             .help = "the model, where the log does not say"},
            {.name = "task",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_values, task),
             .metavar = "NAME",
             .help = "the task, where the log does not say"},
            {.name = "depth",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(import_values, depth),
             .metavar = "L",
             .help = "depth of its questions; 0: none",
             .fallback = "0",
             .low = 0,
             .high = 1000000},
            {.name = "facts",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(import_values, facts),
             .metavar = "N",
             .help = "facts of its questions; 0: not said",
             .fallback = "0",
             .low = 0,
             .high = 1000000000},
            {.name = "chance",
             .kind = RUNG_OPTION_REAL,
             .at = offsetof(import_values, chance),
             .metavar = "X",
             .help = "accuracy of a guess; 0: not said",
             .fallback = "0"},
            {.name = "wait",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(import_values, wait),
             .metavar = "S",
             .help = "seconds to wait for a store that another program holds",
             .fallback = "60",
             .low = 0,
             .high = 86400},
            {0},
        },
    .values_size = sizeof(import_values),
    .run = run_import,
};
