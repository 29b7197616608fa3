/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung build: model files. Constructions, whose explicit weights solve a task, or random weights of any architecture,
 * sized for a task.
 */
#include <string.h>

#include "catalog.h"
#include "output.h"
#include "rung/build.h"
#include "rung/train.h"

typedef struct build_values {
    const char *out;
    rung_shape_options shape;
} build_values;

static const char *name_at(size_t index)
{
    return index == 0 ? "random" : tool_construction_name_at(index - 1);
}

static rung_status report(const tool_call *call, const char *path, rung_error *err)
{
    rung_model *model;
    char digest[65];
    rung_buf text;
    if (tool_out_is_stream(path)) return RUNG_OK;
    rung_status status = rung_model_open(&model, path, err); /* what was written must open */
    RUNG_TRY(status);
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
    status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    rung_model_close(model);
    return status;
}

static rung_status build_random(const tool_call *call, rung_error *err)
{
    const build_values *v = call->values;
    rung_model_spec spec;
    rung_task_conf conf;
    rung_buf task_text;
    rung_buf_init(&task_text);
    rung_status status = rung_shape_spec(&spec, &conf, &task_text, &v->shape, call->pair, call->pairs, err);
    RUNG_NEXT(status, rung_model_write_random(v->out, &spec, (uint64_t)call->seed, err));
    rung_buf_clear(&task_text);
    return status;
}

static rung_status build_construction(const tool_call *call, rung_error *err)
{
    const build_values *v = call->values;
    rung_build b;
    rung_status status = rung_build_init(&b, call->argument[0], call->pair, call->pairs, err);
    /* Options that only random weights have: a construction decides these itself. */
    for (size_t i = 0; status == RUNG_OK && rung_shape_option_names[i]; i++)
        if (tool_call_given(call, rung_shape_option_names[i]))
            status =
                rung_fail(err, RUNG_USAGE, "--%s is for 'rung build random'; %s has the parameters of '%s %s --help'",
                          rung_shape_option_names[i], b.how->name, "rung build", b.how->name);
    RUNG_TRY(status);
    return rung_build_write(&b, v->out, err);
}

static rung_status check_name(const char *name, rung_error *err)
{
    const char *names[128];
    size_t count = 0;
    for (; count < RUNG_COUNT(names) && name_at(count); count++) {
        if (strcmp(name_at(count), name) == 0) return RUNG_OK;
        names[count] = name_at(count);
    }
    return rung_fail_unknown(err, "construction", name, names, count);
}

static int run_build(const tool_call *call, rung_error *err)
{
    const build_values *v = call->values;
    RUNG_TRY(check_name(call->argument[0], err));
    if (!v->out) return rung_fail(err, RUNG_USAGE, "where to? give -o FILE, for example -o model.safetensors");
    RUNG_TRY(strcmp(call->argument[0], "random") == 0 ? build_random(call, err) : build_construction(call, err));
    return report(call, v->out, err);
}

static void help_more(rung_buf *out, const tool_call *call)
{
    const rung_construction *how = call && call->arguments ? rung_construction_get(call->argument[0]) : NULL;
    if (!how) return;
    rung_buf_printf(out, "\n%sParameters of %s%s\n", tool_style_bold(), how->name, tool_style_off());
    tool_params_print(out, how->params);
    rung_buf_printf(out, "\nand those of its task: rung list tasks %s\n", how->task);
}

const tool_command tool_command_build = {
    .name = "build",
    .summary = "write a model file",
    .details =
        "A construction has explicit weights that solve its task ('rung list constructions'); pairs key=value are "
        "its own parameters and those of the task. It refuses what it cannot solve. 'rung verify' checks the file.\n"
        "random: weights drawn from the seed, for any architecture; the sizes of input, read-out and positions "
        "follow from the task. The file is ordinary safetensors; docs/files.md lists its tensors.",
    .examples =
        (const tool_example[]){
            {"rung build lookup N=64 keys=trig -o m.safetensors", "one head with d = 2 that evaluates any function"},
            {"rung build seqcomp L=2 N0=4 n=4 linear=first -o h.safetensors",
             "two full layers and a linear one compose"},
            {"rung build lookup --help", "the parameters of a construction"},
            {"rung build random --arch full,linear --task eva N=16 -o m.safetensors", "one full, one linear layer"},
            {"rung build random --arch '4*(3*gdelta,full)' --task seqcomp L=2 N0=8 n=8 --d-model 64 -o h.safetensors",
             "a 3:1 hybrid"},
            {"rung build random --arch 'full@1|linear@3' --task mqar --mlp swiglu --norm rms -o w.safetensors",
             "two mechanisms in one layer"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "CONSTRUCTION",
             .help = "a name of 'rung list constructions', or random",
             .least = 1,
             .most = 1,
             .names = name_at},
            {0},
        },
    .pairs = "parameters of the construction and of its task",
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(build_values, out),
             .metavar = "FILE",
             .help = "the model file to write",
             .complete = RUNG_COMPLETE_FILE},
            RUNG_SHAPE_OPTION_ROWS(build_values, shape, "32", "none", "none"),
            {0},
        },
    .values_size = sizeof(build_values),
    .run = run_build,
    .help_more = help_more,
};
