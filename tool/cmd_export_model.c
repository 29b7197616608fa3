/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung export-model: a model file for the programs that people serve with.
 */
#include "catalog.h"
#include "output.h"
#include "rung/foreign.h"

#include <string.h>

typedef struct export_model_values {
    const char *out;
    int64_t format, family;
} export_model_values;

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_report(rung_buf *out, const rung_export_report *r, const char *path)
{
    rung_buf_printf(out, "%s: %s, %zu layer%s of width %zu", path, r->family, r->layers, plural(r->layers), r->d_model);
    if (r->heads) rung_buf_printf(out, ", %zu head%s of %zu", r->heads, plural(r->heads), r->head_dim);
    if (r->vocab) rung_buf_printf(out, ", %zu token ids", r->vocab);
    if (r->context) rung_buf_printf(out, ", at most %zu tokens", r->context);
    rung_buf_putc(out, '\n');
    if (r->contrib) rung_buf_puts(out, "states are com.microsoft.LinearAttention, which ONNX Runtime 1.30 runs\n");
    if (r->added_layers)
        rung_buf_printf(out, "%zu layer%s computes the second half of a table\n", r->added_layers,
                        plural(r->added_layers));
    if (r->constant > 0) rung_buf_printf(out, "channels of %.0f make the norms constant\n", r->constant);
    rung_buf_printf(out, "ids of the answers: %s\n", r->answers.text);
}

static void json_report(rung_buf *text, const rung_export_report *r, const char *path)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.export-model/1", true);
    rung_jout_string(&out, "file", path);
    rung_jout_string(&out, "family", r->family);
    rung_jout_int(&out, "layers", (int64_t)r->layers);
    rung_jout_int(&out, "added_layers", (int64_t)r->added_layers);
    rung_jout_int(&out, "d_model", (int64_t)r->d_model);
    rung_jout_int(&out, "d_mlp", (int64_t)r->d_mlp);
    rung_jout_int(&out, "heads", (int64_t)r->heads);
    rung_jout_int(&out, "head_dim", (int64_t)r->head_dim);
    rung_jout_int(&out, "vocab", (int64_t)r->vocab);
    rung_jout_int(&out, "max_tokens", (int64_t)r->context);
    rung_jout_real(&out, "constant", r->constant);
    rung_jout_bool(&out, "contrib", r->contrib);
    rung_jout_string(&out, "answers", r->answers.text);
    rung_jout_finish(&out);
}

static rung_status show(const tool_call *call, const rung_export_report *report, const char *path, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    (call->json ? json_report : print_report)(&text, report, path);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

/* A folder gets its weights under this name. */
static rung_status check_folder(const char *path, const char *input, rung_error *err)
{
    char weights[4096];
    if (strlen(path) + 32 > sizeof weights) return rung_fail(err, RUNG_USAGE, "-o: the name is too long");
    snprintf(weights, sizeof weights, "%s/model.safetensors", path);
    RUNG_TRY(tool_out_spares(path, input, err));
    return tool_out_spares(weights, input, err);
}

static rung_status check_out(const export_model_values *v, const char *input, rung_error *err)
{
    if (!v->out) return rung_fail(err, RUNG_USAGE, "where to? give -o FILE, for example -o model.gguf");
    if (v->format == RUNG_EXPORT_HF) return check_folder(v->out, input, err);
    if (tool_out_is_stream(v->out)) return rung_fail(err, RUNG_USAGE, "-o %s: give the name of a file", v->out);
    RUNG_TRY(tool_out_place(v->out, err));
    return tool_out_spares(v->out, input, err);
}

static int run_export_model(const tool_call *call, rung_error *err)
{
    const export_model_values *v = call->values;
    const rung_export_options options = {(rung_model_export_format)v->format, (rung_export_family)v->family};
    rung_export_report report = {0};
    rung_model *model;
    RUNG_TRY(check_out(v, call->argument[0], err));
    RUNG_TRY(rung_model_open(&model, call->argument[0], err));
    rung_status status = rung_foreign_export(&report, model, v->out, &options, err);
    if (status != RUNG_OK) status = rung_fail_at(err, status, "%s", call->argument[0]);
    rung_model_close(model);
    RUNG_NEXT(status, show(call, &report, v->out, err));
    rung_buf_clear(&report.answers);
    return status;
}

const tool_command tool_command_export_model = {
    .name = "export-model",
    .summary = "a model file for other programs",
    .details =
        "Writes a construction or a trained model as a GGUF file of the architecture llama or gpt2, in F32, which "
        "llama.cpp runs as it is, as a folder of Hugging Face with the same layers, or as an ONNX file for ONNX "
        "Runtime. "
        "The vocabulary of GGUF files and folders are the words of the task. What has no place there is refused by "
        "name. docs/export.md says what is changed on the way, and "
        "proves that the answers stay.",
    .examples =
        (const tool_example[]){
            {"rung export-model lookup.safetensors -o lookup.gguf", "a construction that looks values up"},
            {"rung export-model lookup.safetensors --family gpt2 -o lookup.gguf --json", "the family is given"},
            {"rung export-model lookup.safetensors --format onnx -o lookup.onnx", "for ONNX Runtime"},
            {"rung export-model lookup.safetensors --format hf -o lookup", "a folder for transformers"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "MODEL", .help = "the model file", .least = 1, .most = 1},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(export_model_values, out),
             .metavar = "FILE",
             .help = "the file to write; hf: the folder",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "format",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(export_model_values, format),
             .metavar = "FORMAT",
             .fallback = "gguf",
             .choices = rung_model_export_format_names,
             .help = "what to write"},
            {.name = "family",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(export_model_values, family),
             .metavar = "FAMILY",
             .fallback = "auto",
             .choices = rung_export_family_names,
             .help =
                 "the layers of gguf and hf: llama, gpt2, or auto (gpt2 for tables of positions, LayerNorm and gelu)"},
            {0},
        },
    .values_size = sizeof(export_model_values),
    .run = run_export_model,
};
