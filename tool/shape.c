/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model spec from the words of the command line and the sizes of a task.
 */
#include "shape.h"

const char *const rung_shape_options[] = {"arch",       "task", "d-model",   "heads", "dk",      "dv", "d-mlp",
                                          "max-tokens", "mlp",  "positions", "norm",  "encoder", NULL};

rung_status rung_shape_spec(rung_model_spec *spec, rung_task_conf *conf, rung_buf *task_text, const rung_shape_words *w,
                            const char *const *word, size_t words, rung_error *err)
{
    rung_status status = rung_task_conf_init(conf, w->task, word, words, err);
    if (status != RUNG_OK) return status;
    rung_task_canonical(task_text, conf);
    *spec = (rung_model_spec){
        .arch = w->arch,
        .task = task_text->text,
        .mlp = w->mlp,
        .vocab = conf->vocab,
        .d_in = conf->d_in,
        .answers = conf->answers ? conf->answers : conf->d_out,
        .max_tokens = w->max_tokens ? (size_t)w->max_tokens : conf->tokens,
        .d_model = (size_t)w->d_model,
        .d_mlp = (size_t)(w->d_mlp ? w->d_mlp : 4 * w->d_model),
        .heads = (size_t)w->heads,
        .dk = (size_t)w->dk,
        .dv = (size_t)w->dv,
        .positions = (rung_positions)(w->positions + 1),
        .norm = (rung_norm)(w->norm + 1),
        .causal = !w->encoder,
    };
    return rung_buf_ok(task_text, err);
}
