/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Instances of a task as files of other programs. A record depends on the configuration, the seed and its
 * index alone, and records are written in the order of their indices, so the bytes are the same for any
 * number of threads.
 */
#ifndef RUNG_TOOL_TASK_EXPORT_H
#define RUNG_TOOL_TASK_EXPORT_H

#include "command.h"
#include "rung/task.h"

typedef enum rung_task_format {
    RUNG_TASK_JSONL = 0, /* everything that is known of an instance */
    RUNG_TASK_TEXT,      /* for people */
    RUNG_TASK_LM_EVAL,   /* lm-evaluation-harness: a directory with YAML and JSONL */
    RUNG_TASK_RULER,     /* RULER: <dir>/<task>/validation.jsonl */
    RUNG_TASK_INSPECT,   /* inspect_ai: json_dataset */
    RUNG_TASK_NPZ,       /* zoology: inputs and labels, -100 where nothing is asked */
} rung_task_format;
extern const char *const rung_task_formats[]; /* their names, NULL at the end */

typedef struct rung_export {
    const rung_call *call;
    rung_task_conf conf;
    const char *canonical; /* of conf */
    char stem[128];        /* names the configuration in file names: "rung_eva_N8" */
    int64_t format;        /* rung_task_format */
    bool facts;            /* prose rather than symbols */
    uint64_t first, count; /* indices [first, first + count) */
    size_t threads;
    const char *out; /* file or directory; NULL: stdout */
} rung_export;

/* Refuses combinations that have no meaning, with what to use instead. */
rung_status rung_export_check(const rung_export *job, rung_error *err);
rung_status rung_export_run(const rung_export *job, rung_error *err);
/* Where the instances went, for a note: the file, not the directory. */
void rung_export_path(rung_buf *out, const rung_export *job);

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* One instance in the format of the job, without a line end. */
void rung_record_write(rung_buf *out, const rung_export *job, const rung_instance *instance, uint64_t index);
/* The parallel loop: makes the instances and hands each to `use`. Different items may run at the same time;
 * use gets the item's place in the batch. */
typedef rung_status rung_export_use(void *context, const rung_instance *instance, size_t item, rung_error *err);
typedef struct rung_maker rung_maker;
rung_status rung_maker_new(rung_maker **out, const rung_export *job, rung_error *err);
void rung_maker_free(rung_maker *maker);
/* Items [start, start + count) of the job; on failure the message of the lowest item. */
rung_status rung_maker_batch(rung_maker *maker, uint64_t start, size_t count, rung_export_use *use, void *context,
                             rung_error *err);
/* Items that make a good batch: enough for all threads, not more than a few megabytes. */
size_t rung_maker_batch_size(const rung_export *job);

rung_status rung_export_npz(const rung_export *job, rung_error *err);

#endif
