/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model, a task and an evaluator, as run and verify take them from the command line: options, opening, and the
 * head of the output.
 */
#ifndef RUNG_TOOL_WORKER_H
#define RUNG_TOOL_WORKER_H

#include "command.h"
#include "rung/render.h"
#include "rung/verify.h"

/* Part of a command's values; its rows are RUNG_SUBJECT_OPTIONS, and the model is the first argument. */
typedef struct tool_worker_options {
    const char *task, *numbers;
    int64_t softmax, threads;
} tool_worker_options;

typedef struct tool_worker {
    const tool_worker_options *options;
    rung_model *model;
    rung_task_conf task; /* the model's own, or another that fits */
    rung_fmt fmt;        /* of the operations */
    rung_numbers numbers;
    rung_evaluator how; /* points to fmt and numbers, so a subject must not move */
} tool_worker;

/* Close it also when this fails. */
rung_status tool_worker_open(tool_worker *s, const tool_call *call, const tool_worker_options *options,
                             rung_error *err);
void tool_worker_close(tool_worker *s);
/* The lines model, task, numbers. */
void tool_worker_print(rung_buf *out, const tool_worker *s);
void tool_worker_json(rung_jout *out, const tool_worker *s, const tool_call *call);

#define RUNG_OPTION_TASK(type, field)                                                                                  \
    {                                                                                                                  \
        .name = "task", .kind = RUNG_OPTION_STRING, .at = offsetof(type, field), .metavar = "TASK",                    \
        .help = "another task than the model's own", .names = rung_task_name_at                                        \
    }

#define RUNG_SUBJECT_OPTIONS(type, field)                                                                              \
    RUNG_OPTION_TASK(type, field.task),                                                                                \
        {.name = "numbers",                                                                                            \
         .kind = RUNG_OPTION_STRING,                                                                                   \
         .at = offsetof(type, field.numbers),                                                                          \
         .metavar = "FORMAT",                                                                                          \
         .help = "fp32 (fast); f64, f32, bf16, f16, eXmY, qI.F (exact), or mixed: served:bf16,state=f32",              \
         .fallback = "fp32"},                                                                                          \
        {.name = "softmax",                                                                                            \
         .kind = RUNG_OPTION_CHOICE,                                                                                   \
         .at = offsetof(type, field.softmax),                                                                          \
         .metavar = "ORDER",                                                                                           \
         .help = "order in which attention adds up its keys; exact numbers only",                                      \
         .fallback = "online",                                                                                         \
         .choices = rung_softmax_names},                                                                               \
        RUNG_OPTION_THREADS(type, field.threads)

#define RUNG_SUBJECT_ARGUMENT                                                                                          \
    {                                                                                                                  \
        .metavar = "MODEL", .help = "a .safetensors model of ours", .least = 1, .most = 1,                             \
        .complete = RUNG_COMPLETE_FILE                                                                                 \
    }

#endif
