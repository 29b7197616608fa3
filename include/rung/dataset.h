/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Instances of a task as files of other programs. A record depends on the configuration, the seed and its index alone,
 * and records are written in the order of their indices, so the bytes are the same for any number of threads.
 * Layer 3: depends on base, io, par, render, task.
 */
#ifndef RUNG_DATASET_H
#define RUNG_DATASET_H

#include "rung/render.h"
#include "rung/task.h"

RUNG_API_BEGIN

typedef enum rung_task_format {
    RUNG_TASK_JSONL = 0, /* everything that is known of an instance */
    RUNG_TASK_TEXT,      /* for people */
    RUNG_TASK_LM_EVAL,   /* lm-evaluation-harness: a directory with YAML and JSONL */
    RUNG_TASK_RULER,     /* RULER: <dir>/<task>/validation.jsonl */
    RUNG_TASK_INSPECT,   /* inspect_ai: json_dataset */
    RUNG_TASK_NPZ,       /* zoology: inputs and labels, -100 where nothing is asked */
} rung_task_format;
extern const char *const rung_task_formats[]; /* their names, NULL at the end */

/* Which instances, and how they are written. */
typedef struct rung_dataset {
    rung_task_conf conf;
    const char *canonical; /* of conf */
    char stem[128];        /* names the configuration in file names: rung_dataset_stem */
    rung_task_format format;
    bool facts; /* prose rather than symbols */
    uint64_t seed;
    uint64_t first, count; /* indices [first, first + count) */
    size_t threads;
    const char *out;           /* file, or directory for lm-eval and ruler; NULL: none */
    rung_progress *progress;   /* NULL: none; started by the caller with `count` */
    bool (*interrupted)(void); /* NULL: never */
} rung_dataset;

/* Where the bytes of a stream go. */
typedef struct rung_dataset_sink {
    rung_status (*put)(void *context, const void *bytes, size_t len, rung_error *err);
    void *context;
    bool object; /* one JSON object around all instances; the format is then RUNG_TASK_JSONL */
} rung_dataset_sink;

/* "rung_eva_N8": the task and the parameters that were set, in letters that every file system and lm-eval accept. */
void rung_dataset_stem(rung_dataset *job, const char *task, const char *const *words, size_t count);
/* Formats that are a directory. */
bool rung_dataset_is_directory(rung_task_format format);

/* The files of the format at job->out, whole or not at all. */
rung_status rung_dataset_write(const rung_dataset *job, rung_error *err);
/* The records one after the other; not for formats that are archives or directories. */
rung_status rung_dataset_stream(const rung_dataset *job, const rung_dataset_sink *sink, rung_error *err);
/* The file that holds the instances, not its directory. */
void rung_dataset_path(rung_buf *out, const rung_dataset *job);
/* Opens an object with what all instances share: task, seed, indices, sizes, chance. */
void rung_dataset_json(rung_jout *json, rung_buf *out, const rung_dataset *job);

RUNG_API_END

#endif
