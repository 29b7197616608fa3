/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung build: model files. So far random weights of any architecture, sized for a task; constructions with proven
 * answers will be further names of the same command.
 */
#include "json_out.h"
#include "output.h"
#include "rung/model.h"
#include "rung/task.h"

typedef struct build_values {
    const char *arch, *task, *out, *mlp;
    int64_t d_model, d_mlp, heads, dk, dv, max_tokens;
    int64_t positions, norm;
    bool encoder;
} build_values;

static const char *const constructions[] = {"random", NULL};

static rung_status fill_spec(rung_model_spec *spec, rung_buf *task_text, const rung_call *call, rung_error *err)
{
    const build_values *v = call->values;
    rung_task_conf conf;
    rung_status status = rung_task_conf_init(&conf, v->task, call->word, call->words, err);
    if (status != RUNG_OK) return status;
    rung_task_canonical(task_text, &conf);
    *spec = (rung_model_spec){
        .arch = v->arch,
        .task = task_text->text,
        .mlp = v->mlp,
        .vocab = conf.vocab,
        .d_in = conf.d_in,
        .answers = conf.answers ? conf.answers : conf.d_out,
        .max_tokens = v->max_tokens ? (size_t)v->max_tokens : conf.tokens,
        .d_model = (size_t)v->d_model,
        .d_mlp = (size_t)(v->d_mlp ? v->d_mlp : 4 * v->d_model),
        .heads = (size_t)v->heads,
        .dk = (size_t)v->dk,
        .dv = (size_t)v->dv,
        .positions = (rung_positions)(v->positions + 1),
        .norm = (rung_norm)(v->norm + 1),
        .causal = !v->encoder,
    };
    return rung_buf_ok(task_text, err);
}

static rung_status report(const rung_call *call, const char *path, rung_error *err)
{
    rung_model *model;
    char digest[65];
    rung_buf text;
    rung_status status = rung_model_open(&model, path, err); /* what was written must open */
    if (status != RUNG_OK) return status;
    const rung_model_spec *spec = rung_model_get_spec(model);
    size_t layers = rung_model_get_arch(model)->layer_count;
    rung_model_digest(digest, model);
    rung_buf_init(&text);
    if (call->json) {
        rung_jout out;
        rung_jout_begin(&out, &text, "rung.build/1", true);
        rung_jout_string(&out, "file", path);
        rung_jout_string(&out, "sha256", digest);
        rung_jout_string(&out, "arch", spec->arch);
        rung_jout_int(&out, "layers", (int64_t)layers);
        rung_jout_int(&out, "parameters", (int64_t)rung_model_parameters(model));
        rung_jout_string(&out, "task", spec->task);
        rung_jout_finish(&out);
    } else {
        rung_buf_printf(&text, "%s: %s, %zu layer%s, %zu parameters, for %s\nsha256 %s\n", path, spec->arch, layers,
                        layers == 1 ? "" : "s", rung_model_parameters(model), spec->task, digest);
    }
    status = rung_out_buf(&text, err);
    rung_buf_clear(&text);
    rung_model_close(model);
    return status;
}

static int run_build(const rung_call *call, rung_error *err)
{
    const build_values *v = call->values;
    rung_model_spec spec;
    rung_buf task_text;
    if (!v->out) return rung_fail(err, RUNG_USAGE, "where to? give -o FILE, for example -o model.safetensors");
    rung_buf_init(&task_text);
    rung_status status = fill_spec(&spec, &task_text, call, err);
    if (status == RUNG_OK) status = rung_model_write_random(v->out, &spec, (uint64_t)call->seed, err);
    if (status == RUNG_OK) status = report(call, v->out, err);
    rung_buf_clear(&task_text);
    return status;
}

#define SIZE_ROW(long_name, field, most, text, value)                                                                  \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(build_values, field), .metavar = "N", .help = text, \
        .fallback = value, .low = 0, .high = most                                                                      \
    }

const rung_command rung_command_build = {
    .name = "build",
    .summary = "write a model file",
    .details = "random: weights drawn from the seed, for any architecture; the sizes of input, read-out and positions "
               "follow from the task. The file is ordinary safetensors; docs/files.md lists its tensors.\n"
               "Explicit weights that solve a task are not part of this version.",
    .examples =
        (const rung_example[]){
            {"rung build random --arch full,linear --task eva N=16 -o m.safetensors", "one full, one linear layer"},
            {"rung build random --arch '4*(3*gdelta,full)' --task seqcomp L=2 N0=8 n=8 --d-model 64 -o h.safetensors",
             "a 3:1 hybrid"},
            {"rung build random --arch 'full@1|linear@3' --task mqar --mlp swiglu --norm rms -o w.safetensors",
             "two mechanisms in one layer"},
            {0},
        },
    .arguments =
        (const rung_argument[]){
            {.metavar = "CONSTRUCTION", .help = "random", .least = 1, .most = 1, .choices = constructions},
            {0},
        },
    .words = "parameters of the task",
    .options =
        (const rung_option[]){
            {.name = "arch",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(build_values, arch),
             .metavar = "ARCH",
             .help = "layers in the arch language, such as full,4*linear",
             .fallback = "full"},
            {.name = "task",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(build_values, task),
             .metavar = "TASK",
             .help = "the task that the model is for",
             .fallback = "eva",
             .names = rung_task_name_at},
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(build_values, out),
             .metavar = "FILE",
             .help = "the model file to write",
             .complete = RUNG_COMPLETE_FILE},
            SIZE_ROW("d-model", d_model, 1 << 20, "width of the residual stream", "32"),
            SIZE_ROW("heads", heads, 1 << 16, "heads where the arch names none", "1"),
            SIZE_ROW("dk", dk, 1 << 20, "key dimension where the arch names none", "16"),
            SIZE_ROW("dv", dv, 1 << 20, "value dimension where the arch names none", "16"),
            SIZE_ROW("d-mlp", d_mlp, 1 << 22, "hidden width of the MLPs, 0 for 4 d-model", "0"),
            SIZE_ROW("max-tokens", max_tokens, 1 << 30, "positions, 0 for the length of the task's prompts", "0"),
            {.name = "mlp",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(build_values, mlp),
             .metavar = "KIND",
             .help = "none, relu, gelu or swiglu, or one per layer separated by commas",
             .fallback = "none"},
            {.name = "positions",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(build_values, positions),
             .metavar = "KIND",
             .help = "how positions enter",
             .fallback = "learned",
             .choices = rung_positions_words},
            {.name = "norm",
             .kind = RUNG_OPTION_CHOICE,
             .at = offsetof(build_values, norm),
             .metavar = "KIND",
             .help = "norm before mixers and MLPs",
             .fallback = "none",
             .choices = rung_norm_words},
            {.name = "encoder",
             .kind = RUNG_OPTION_FLAG,
             .at = offsetof(build_values, encoder),
             .help = "no causal mask: every token sees all"},
            {0},
        },
    .values_size = sizeof(build_values),
    .run = run_build,
};
