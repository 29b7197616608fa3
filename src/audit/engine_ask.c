/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * llama.cpp and ONNX Runtime, as packages of node. A script asks them; it is part of this program, and is written into
 * a directory of its own together with the model and the question.
 */
#include "engine_ask.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"
#include "rung/foreign.h"
#include "rung/render.h"

enum { PATH_SIZE = 4096, NAME_MAX_LEN = 80 };

static const char llama_cpp_script[] =
#include "llama-cpp.mjs.inc"
    ;
static const char onnx_runtime_script[] =
#include "onnx-runtime.mjs.inc"
    ;

const char *const rung_replay_engine_names[] = {"llama.cpp", "onnxruntime", NULL};

typedef struct engine_row {
    const char *package, *version, *script, *file; /* of node; the newest version that was tested; name of the model */
    rung_model_export_format format;
} engine_row;

static const engine_row engines[] = {
    [RUNG_ENGINE_LLAMA_CPP] = {"node-llama-cpp", "3.22.1", llama_cpp_script, "model.gguf", RUNG_EXPORT_GGUF},
    [RUNG_ENGINE_ONNX_RUNTIME] = {"onnxruntime-node", "1.30.0", onnx_runtime_script, "model.onnx", RUNG_EXPORT_ONNX},
};

static const char *const files[] = {"model.gguf", "model.onnx", "ask.mjs", "ask.json", "answer.json", "log", NULL};

/* ---- where it is ------------------------------------------------------------------------------------------------- */

static rung_status find_modules(char path[PATH_SIZE], const rung_replay_options *o, rung_error *err)
{
    const engine_row *row = &engines[o->engine];
    char package[PATH_SIZE + NAME_MAX_LEN], beside[PATH_SIZE];
    const char *given = o->modules ? o->modules : getenv("RUNG_ENGINES");
    (void)rung_beside_program(beside, sizeof beside, "npm-engines");
    const char *folder = given ? given : beside;
    snprintf(package, sizeof package, "%.4000s/node_modules/%s", folder, row->package);
    if (access(package, R_OK) == 0 && realpath(folder, path)) return RUNG_OK;
    return rung_fail(err, RUNG_SYSTEM,
                     "%s is not in %.200s; `npm install --ignore-scripts --prefix DIR %s@%s` installs it, then give "
                     "--engines DIR, or run `make npm-engines` in the source tree of rung",
                     rung_replay_engine_names[o->engine], *folder ? folder : "npm-engines beside rung", row->package,
                     row->version);
}

/* ---- the question ------------------------------------------------------------------------------------------------ */

static rung_status write_question(const engine_question *q, const char *directory, rung_error *err)
{
    const engine_row *row = &engines[q->options->engine];
    char path[PATH_SIZE + NAME_MAX_LEN];
    rung_jout out;
    rung_buf text;
    rung_buf_init(&text);
    rung_jout_begin(&out, &text, NULL, false);
    rung_jout_string(&out, "file", row->file);
    rung_jout_string(&out, "cache", q->options->cache ? q->options->cache : "F16");
    rung_jout_array(&out, "prompts");
    for (size_t p = 0; p < q->prompts; p++) {
        rung_jout_array(&out, NULL);
        for (size_t t = 0; t < q->tokens; t++) rung_jout_int(&out, NULL, q->prompt[p][t]);
        rung_jout_end(&out);
    }
    rung_jout_end(&out);
    rung_jout_finish(&out);
    snprintf(path, sizeof path, "%s/ask.json", directory);
    rung_status status = rung_buf_ok(&text, err);
    RUNG_NEXT(status, rung_file_write(path, text.text, text.len, err));
    rung_buf_clear(&text);
    if (status != RUNG_OK) return status;
    snprintf(path, sizeof path, "%s/ask.mjs", directory);
    return rung_file_write(path, row->script, strlen(row->script), err);
}

static rung_status run_engine(const engine_question *q, const char *directory, char *modules, rung_error *err)
{
    int code;
    char log[2048];
    RUNG_TRY(audit_run(&code, directory, (char *[]){"node", "ask.mjs", modules, "ask.json", "answer.json", NULL}, err));
    if (code == 0) return RUNG_OK;
    if (code == AUDIT_ABSENT)
        return rung_fail(err, RUNG_SYSTEM, "node is not installed; it runs the engine (Debian: nodejs)");
    audit_read_log(log, sizeof log, directory);
    return rung_fail(err, RUNG_SYSTEM, "%s fails: %.600s", rung_replay_engine_names[q->options->engine],
                     *log ? log : "it says nothing");
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

/* Ids as the report of an export lists them: "4-7,9". */
static rung_status read_ids(size_t *id, size_t count, const char *text, rung_error *err)
{
    size_t found = 0;
    for (char *end; *text; text = *end ? end + 1 : end) {
        size_t first = strtoull(text, &end, 10), last = first;
        if (*end == '-') last = strtoull(end + 1, &end, 10);
        for (size_t i = first; i <= last && found < count; i++) id[found++] = i;
    }
    return found == count ? RUNG_OK : rung_fail(err, RUNG_INPUT, "the export lists %zu of %zu answers", found, count);
}

static rung_status wrong_reply(const engine_question *q, rung_error *err)
{
    return rung_fail(err, RUNG_SYSTEM, "%s does not answer with a score for every answer of every prompt",
                     rung_replay_engine_names[q->options->engine]);
}

/* null: the logarithm of a probability that is 0. */
static rung_status read_scores(double *scores, const engine_question *q, const size_t *id, const rung_json *rows,
                               rung_error *err)
{
    if (rung_json_len(rows) != q->prompts) return wrong_reply(q, err);
    for (size_t p = 0; p < q->prompts; p++)
        for (size_t a = 0; a < q->answers; a++) {
            double *score = &scores[p * q->answers + a];
            const rung_json *row = rung_json_at(rows, p);
            if (id[a] >= rung_json_len(row)) return wrong_reply(q, err);
            const rung_json *value = rung_json_at(row, id[a]);
            if (rung_json_kind_of(value) == RUNG_JSON_NULL)
                *score = -INFINITY;
            else if (!rung_json_real(score, value))
                return wrong_reply(q, err);
        }
    return RUNG_OK;
}

static rung_status read_answer(double *scores, char *name, size_t size, const engine_question *q, const char *directory,
                               const char *listed, rung_error *err)
{
    char path[PATH_SIZE + NAME_MAX_LEN];
    rung_json_doc *doc = NULL;
    size_t *id = rung_calloc(q->answers, sizeof *id, err);
    snprintf(path, sizeof path, "%s/answer.json", directory);
    rung_status status = id ? read_ids(id, q->answers, listed, err) : RUNG_SYSTEM;
    RUNG_NEXT(status, rung_json_open(&doc, path, err));
    if (status == RUNG_OK) {
        const char *engine = rung_json_string(rung_json_get(rung_json_root(doc), "engine"));
        snprintf(name, size, "%s", engine && rung_text_is_plain(engine, size - 1) ? engine : "unnamed");
        status = read_scores(scores, q, id, rung_json_get(rung_json_root(doc), "scores"), err);
    }
    rung_json_free(doc);
    free(id);
    return status;
}

static rung_status ask_in(double *scores, char *name, size_t size, const engine_question *q, const char *directory,
                          char *modules, rung_error *err)
{
    const engine_row *row = &engines[q->options->engine];
    const rung_export_options options = {row->format, RUNG_EXPORT_AUTO};
    char path[PATH_SIZE + NAME_MAX_LEN];
    rung_export_report report = {0};
    snprintf(path, sizeof path, "%s/%s", directory, row->file);
    rung_status status = rung_foreign_export(&report, q->model, path, &options, err);
    RUNG_NEXT(status, write_question(q, directory, err));
    RUNG_NEXT(status, run_engine(q, directory, modules, err));
    RUNG_NEXT(status, read_answer(scores, name, size, q, directory, report.answers.text, err));
    rung_buf_clear(&report.answers);
    return status;
}

rung_status engine_ask(double *scores, char *name, size_t size, const engine_question *q, rung_error *err)
{
    char modules[PATH_SIZE], directory[PATH_SIZE];
    RUNG_TRY(find_modules(modules, q->options, err));
    RUNG_TRY(audit_make_directory(directory, sizeof directory, "rung-replay", err));
    rung_status status = ask_in(scores, name, size, q, directory, modules, err);
    audit_remove_directory(directory, files);
    return status;
}
