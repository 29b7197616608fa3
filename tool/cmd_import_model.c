/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung import-model: weights of other programs as a model file.
 */
#include "catalog.h"
#include "output.h"
#include "rung/foreign.h"

typedef struct import_model_values {
    const char *out, *config, *task, *tokens, *answers;
    int64_t max_tokens, readout;
} import_model_values;

static void print_report(rung_buf *out, const rung_foreign_report *r, const char *path)
{
    rung_buf_printf(out, "%s: %s, %zu layer%s of width %zu, %zu heads", path, r->family, r->layers,
                    r->layers == 1 ? "" : "s", r->d_model, r->heads);
    if (r->kv_heads != r->heads) rung_buf_printf(out, " (%zu of keys and values)", r->kv_heads);
    rung_buf_printf(out, ", %zu token ids, at most %zu tokens\n", r->vocab, r->max_tokens);
    rung_buf_printf(out, "tensors as stored: %s; in the model file: F32\n", r->types);
}

static void json_report(rung_buf *text, const rung_foreign_report *r, const char *path)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.import-model/1", true);
    rung_jout_string(&out, "file", path);
    rung_jout_string(&out, "family", r->family);
    rung_jout_string(&out, "types", r->types);
    rung_jout_int(&out, "layers", (int64_t)r->layers);
    rung_jout_int(&out, "d_model", (int64_t)r->d_model);
    rung_jout_int(&out, "heads", (int64_t)r->heads);
    rung_jout_int(&out, "kv_heads", (int64_t)r->kv_heads);
    rung_jout_int(&out, "vocab", (int64_t)r->vocab);
    rung_jout_int(&out, "max_tokens", (int64_t)r->max_tokens);
    rung_jout_finish(&out);
}

static rung_status read_task(rung_task_conf *task, const tool_call *call, rung_error *err)
{
    const import_model_values *v = call->values;
    if (v->task) return rung_task_conf_init(task, v->task, call->pair, call->pairs, err);
    if (call->pairs == 0) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "%s: is a parameter of a task; give --task NAME too", call->pair[0]);
}

static int run_import_model(const tool_call *call, rung_error *err)
{
    const import_model_values *v = call->values;
    rung_task_conf task;
    rung_foreign_report report;
    rung_buf text;
    if (!v->out) return rung_fail(err, RUNG_USAGE, "where to? give -o FILE, for example -o model.safetensors");
    RUNG_TRY(read_task(&task, call, err));
    RUNG_TRY(tool_out_place(v->out, err));
    RUNG_TRY(tool_out_spares(v->out, call->argument[0], err));
    const rung_foreign_options options = {v->config,  v->task ? &task : NULL,   v->tokens,
                                          v->answers, (rung_readout)v->readout, (size_t)v->max_tokens};
    RUNG_TRY(rung_foreign_import(&report, call->argument[0], v->out, &options, err));
    if (tool_out_is_stream(v->out)) return RUNG_OK;
    rung_buf_init(&text);
    if (call->json)
        json_report(&text, &report, v->out);
    else
        print_report(&text, &report, v->out);
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

const tool_command tool_command_import_model = {
    .name = "import-model",
    .summary = "weights of other programs as a model file",
    .details =
        "Reads a GGUF file, a folder or file of Hugging Face with its config.json, or a state dict of PyTorch (never "
        "executed). Families: llama, gpt2; mistral from config.json. What has no place in these layers is refused by "
        "name. All values become F32. docs/import.md says what is changed on the way.",
    .examples =
        (const tool_example[]){
            {"rung import-model tinyllm.gguf -o tiny.safetensors", "a GGUF file"},
            {"rung import-model Llama-3.2-1B/ --max-tokens 512 -o small.safetensors", "a folder of Hugging Face"},
            {"rung import-model hops.pt --config config.json --read-out hidden --tokens 17-20,0-16 --answers 17-21 "
             "--task "
             "k-hop N=98 k=16 hops=uniform -o hops.safetensors",
             "a state dict whose ids 17 to 20 are the symbols of a task"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "FILE", .help = "the weights, or the folder that has them", .least = 1, .most = 1},
            {0},
        },
    .pairs = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_model_values, out),
             .metavar = "FILE",
             .help = "the model file to write",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "config",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_model_values, config),
             .metavar = "FILE",
             .help = "the configuration, if it is not config.json beside the weights",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "max-tokens",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(import_model_values, max_tokens),
             .metavar = "N",
             .help = "longest prompt (as the file says, at most 4096)",
             .low = 0,
             .high = 1 << 24},
            {.name = "read-out",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(import_model_values, readout),
             .metavar = "KIND",
             .fallback = "own",
             .choices = rung_readout_names,
             .help = "own; where the file has none: tied to the embedding, or hidden (coordinates of the last norm)"},
            {.name = "task",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_model_values, task),
             .metavar = "TASK",
             .help = "the task that the model is for"},
            {.name = "tokens",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_model_values, tokens),
             .metavar = "IDS",
             .help = "ids of the file that are token 0, 1, ... of the task, such as 17-20,0-16"},
            {.name = "answers",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(import_model_values, answers),
             .metavar = "IDS",
             .help = "ids of the file that are answer 0, 1, ... of the task"},
            {0},
        },
    .values_size = sizeof(import_model_values),
    .run = run_import_model,
};
