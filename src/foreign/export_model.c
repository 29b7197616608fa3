/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model file of ours for another program.
 */
#include "export_inside.h"

const char *const rung_model_export_format_names[] = {"gguf", "onnx", "hf", NULL};
const char *const rung_export_family_names[] = {"auto", "llama", "gpt2", NULL};

/* Everything that running the model checks: its tables, and numbers that are none. */
static rung_status check_runs(const rung_model *model, rung_error *err)
{
    rung_program *program;
    RUNG_TRY(rung_program_new(&program, model, &(rung_evaluator){.threads = 1}, err));
    rung_program_free(program);
    return RUNG_OK;
}

/* Runs of neighbours as "4-7". */
static void print_ids(rung_buf *out, const size_t *id, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t last = i;
        while (last + 1 < count && id[last + 1] == id[last] + 1) last++;
        rung_buf_printf(out, "%s%zu", i ? "," : "", id[i]);
        if (last > i) rung_buf_printf(out, "-%zu", id[last]);
        i = last + 1;
    }
}

static void fill_report(rung_export_report *r, const target *t, const rung_model *model)
{
    *r = (rung_export_report){.family = rung_export_family_names[t->family],
                              .layers = t->layers,
                              .d_model = t->d_model,
                              .d_mlp = t->d_mlp,
                              .heads = t->heads,
                              .head_dim = t->dim,
                              .vocab = t->vocab,
                              .context = t->context,
                              .added_layers = t->layers - rung_model_get_arch(model)->layer_count,
                              .constant = t->constant};
}

static rung_status export_target(rung_export_report *report, const rung_model *model, const char *out,
                                 const rung_export_options *options, rung_error *err)
{
    target t;
    rung_status status = target_make(&t, model, options->family, err);
    if (options->format == RUNG_EXPORT_HF)
        RUNG_NEXT(status, export_write_hf(&t, out, err));
    else
        RUNG_NEXT(status, export_write_gguf(&t, model, out, err));
    if (status == RUNG_OK) {
        fill_report(report, &t, model);
        rung_buf_init(&report->answers);
        print_ids(&report->answers, t.answer, rung_model_get_spec(model)->answers);
        status = rung_buf_ok(&report->answers, err);
    }
    target_clear(&t);
    return status;
}

/* Ids and answers are those of the model. */
static rung_status export_graph(rung_export_report *report, const rung_model *model, const char *out, rung_error *err)
{
    size_t answers = rung_model_get_spec(model)->answers;
    RUNG_TRY(export_write_onnx(report, model, out, err));
    rung_buf_init(&report->answers);
    rung_buf_printf(&report->answers, answers > 1 ? "0-%zu" : "%zu", answers - 1);
    return rung_buf_ok(&report->answers, err);
}

rung_status rung_foreign_export(rung_export_report *report, const rung_model *model, const char *out,
                                const rung_export_options *options, rung_error *err)
{
    RUNG_TRY(check_runs(model, err));
    if (options->format == RUNG_EXPORT_ONNX) return export_graph(report, model, out, err);
    return export_target(report, model, out, options, err);
}
