/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung train: its words, a spec file as words, and what is told while it runs.
 */
#ifndef RUNG_TOOL_TRAIN_H
#define RUNG_TOOL_TRAIN_H

#include "rung/train.h"
#include "shape.h"

typedef struct rung_train_words {
    rung_shape_words shape;
    const char *out, *checkpoint, *metrics, *tensorboard, *numbers;
    int64_t steps, batch, accumulate, queries, warmup, schedule, eval_every, eval_prompts, stop_times, checkpoint_every,
        log_every, threads;
    const char *rate, *gain, *score_gain, *position_gain, *beta1, *beta2, *decay, *clip, *layer_targets, *mix_first,
        *mix_second, *mix_until, *stop_at, *require;
    bool random_labels;
} rung_train_words;

/* Reads a JSON object whose keys are the long options (and "seed"); "task" is a text with its parameters, as in "eva N=8 V=4".
 * Options that were given on the command line win. `merged` becomes the call to run; its memory is the arena's. */
rung_status rung_train_read_spec(rung_call *merged, const rung_call *call, const char *path, rung_arena *arena,
                                 rung_error *err);

/* The progress line, the metrics and the events of a run. */
typedef struct rung_train_log {
    const rung_call *call;
    const rung_train_words *words;
    uint64_t steps, before; /* before: done when this process began */
    FILE *metrics;
    rung_events *events;
    double drawn_s;
    bool opened, drawn;
    rung_status status;
    rung_error *err;
} rung_train_log;

bool rung_train_watched(void *log, const rung_train_state *state, bool evaluated);
rung_status rung_train_log_close(rung_train_log *log);

#endif
