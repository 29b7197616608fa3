/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung train: a spec file as options, and what is printed while it runs.
 */
#ifndef RUNG_TOOL_TRAIN_H
#define RUNG_TOOL_TRAIN_H

#include "command.h"
#include "rung/train.h"

/* Reads a JSON object whose keys are the long options (and "seed"); "task" is a text with its parameters, as in "eva
 * N=8 V=4". Options that were given on the command line win. `merged` becomes the call to run; its memory is the
 * arena's. */
rung_status tool_train_read_spec(tool_call *merged, const tool_call *call, const char *path, rung_arena *arena,
                                 rung_error *err);

/* The call that the recipe stands for, overruled by what `call` gives. */
rung_status tool_train_take_recipe(tool_call *merged, const tool_call *call, const rung_recipe *recipe,
                                   rung_arena *arena, rung_error *err);

/* The progress line, the metrics and the events of a run. */
typedef struct tool_train_log {
    const tool_call *call;
    const rung_train_options *options;
    uint64_t steps, before; /* before: done when this process began */
    FILE *metrics;
    rung_events *events;
    double drawn_s;
    bool opened, drawn;
    rung_status status;
    rung_error *err;
} tool_train_log;

bool tool_train_watched(void *log, const rung_train_state *state, bool evaluated);
/* After the last test. */
void tool_train_tested(tool_train_log *log, const rung_train_state *state);
rung_status tool_train_log_close(tool_train_log *log);

#endif
