/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The shape of a model as build and train take it from the command line: an architecture and sizes, and from the task
 * those of input, read-out and positions.
 */
#ifndef RUNG_TOOL_SHAPE_H
#define RUNG_TOOL_SHAPE_H

#include "command.h"
#include "rung/model.h"
#include "rung/task.h"

/* Part of a command's values; its rows are RUNG_SHAPE_OPTIONS. */
typedef struct rung_shape_words {
    const char *arch, *task, *mlp;
    int64_t d_model, d_mlp, heads, dk, dv, max_tokens;
    int64_t positions, norm;
    bool encoder;
} rung_shape_words;

/* Names of the rows. */
extern const char *const rung_shape_options[];

/* Task and spec; the words are those of the task. The spec borrows from w and from task_text, which the caller clears. */
rung_status rung_shape_spec(rung_model_spec *spec, rung_task_conf *conf, rung_buf *task_text, const rung_shape_words *w,
                            const char *const *word, size_t words, rung_error *err);

#define RUNG_SHAPE_SIZE(type, field, long_name, most, text, value)                                                     \
    {                                                                                                                  \
        .name = long_name, .kind = RUNG_OPTION_INT, .at = offsetof(type, field), .metavar = "N", .help = text,         \
        .fallback = value, .low = 0, .high = most                                                                      \
    }

/* The defaults that differ: width of the stream, MLP, norm. */
#define RUNG_SHAPE_OPTIONS(type, shape, d_model_value, mlp_value, norm_value)                                          \
    {.name = "arch",                                                                                                   \
     .kind = RUNG_OPTION_STRING,                                                                                       \
     .at = offsetof(type, shape.arch),                                                                                 \
     .metavar = "ARCH",                                                                                                \
     .help = "layers in the arch language, such as full,4*linear",                                                     \
     .fallback = "full"},                                                                                              \
        {.name = "task",                                                                                               \
         .kind = RUNG_OPTION_STRING,                                                                                   \
         .at = offsetof(type, shape.task),                                                                             \
         .metavar = "TASK",                                                                                            \
         .help = "the task that the model is for",                                                                     \
         .fallback = "eva",                                                                                            \
         .names = rung_task_name_at},                                                                                  \
        RUNG_SHAPE_SIZE(type, shape.d_model, "d-model", 1 << 20, "width of the residual stream", d_model_value),       \
        RUNG_SHAPE_SIZE(type, shape.heads, "heads", 1 << 16, "heads where the arch names none", "1"),                  \
        RUNG_SHAPE_SIZE(type, shape.dk, "dk", 1 << 20, "key dimension where the arch names none", "16"),               \
        RUNG_SHAPE_SIZE(type, shape.dv, "dv", 1 << 20, "value dimension where the arch names none", "16"),             \
        RUNG_SHAPE_SIZE(type, shape.d_mlp, "d-mlp", 1 << 22, "hidden width of the MLPs, 0 for 4 d-model", "0"),        \
        RUNG_SHAPE_SIZE(type, shape.max_tokens, "max-tokens", 1 << 30,                                                 \
                        "positions, 0 for the length of the task's prompts", "0"),                                     \
        {.name = "mlp",                                                                                                \
         .kind = RUNG_OPTION_STRING,                                                                                   \
         .at = offsetof(type, shape.mlp),                                                                              \
         .metavar = "KIND",                                                                                            \
         .help = "none, relu, gelu or swiglu, or one per layer separated by commas",                                   \
         .fallback = mlp_value},                                                                                       \
        {.name = "positions",                                                                                          \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, shape.positions),                                                                        \
         .metavar = "KIND",                                                                                            \
         .help = "how positions enter",                                                                                \
         .fallback = "learned",                                                                                        \
         .choices = rung_positions_words},                                                                             \
        {.name = "norm",                                                                                               \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, shape.norm),                                                                             \
         .metavar = "KIND",                                                                                            \
         .help = "norm before mixers and MLPs",                                                                        \
         .fallback = norm_value,                                                                                       \
         .choices = rung_norm_words},                                                                                  \
    {                                                                                                                  \
        .name = "encoder", .kind = RUNG_OPTION_FLAG, .at = offsetof(type, shape.encoder),                              \
        .help = "no causal mask: every token sees all"                                                                 \
    }

#endif
