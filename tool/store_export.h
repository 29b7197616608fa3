/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Rows of a store in the formats of other programs.
 */
#ifndef RUNG_TOOL_STORE_EXPORT_H
#define RUNG_TOOL_STORE_EXPORT_H

#include "command.h"
#include "rung/lab.h"

typedef enum rung_export_format { RUNG_EXPORT_CSV = 1, RUNG_EXPORT_JSONL } rung_export_format;

typedef struct rung_store_export {
    rung_store *store; /* the one at work */
    int64_t sweep;     /* in it; 0: all runs */
    rung_export_format format;
    bool metrics;
    const char *directory; /* of events or models */
    char run[RUNG_RUN_ID]; /* whose model is at work */
    rung_file_writer file; /* stream NULL: stdout */
    rung_buf text;         /* not written yet */
    char **key;            /* columns of words that occur, CSV */
    size_t keys, room;
    uint64_t seen[64]; /* kinds of runs whose keys are known */
    size_t seens;
    rung_arena arena;
    size_t runs;
    const rung_probe_row *probe; /* at work */
    rung_status status;
    rung_error *err;
} rung_store_export;

void rung_store_export_init(rung_store_export *x);
void rung_store_export_clear(rung_store_export *x);
/* Collects the keys of the store at work; head and rows come after all stores have been asked. */
rung_status rung_store_export_columns(rung_store_export *x, rung_error *err);
rung_status rung_store_export_head(rung_store_export *x, rung_error *err);
rung_status rung_store_export_rows(rung_store_export *x, rung_error *err);
rung_status rung_store_export_flush(rung_store_export *x, rung_error *err);
/* The cells of probes instead of runs; CSV begins with rung_store_export_cell_head. */
void rung_store_export_cell_head(rung_store_export *x);
rung_status rung_store_export_cells(rung_store_export *x, rung_error *err);
rung_status rung_store_export_events(rung_store_export *x, rung_error *err);
/* Models that were kept, as ID.safetensors; x->runs counts them. */
rung_status rung_store_export_models(rung_store_export *x, rung_error *err);

/* One value: JSON, or a field of CSV; what does not exist is null or nothing. */
typedef enum rung_field_kind {
    RUNG_FIELD_TEXT = 1,
    RUNG_FIELD_COUNT,
    RUNG_FIELD_REAL,
    RUNG_FIELD_FLAG,
    RUNG_FIELD_NUMBER, /* a real that is 0 where there is none */
} rung_field_kind;
typedef struct rung_field {
    const char *name;
    rung_field_kind kind;
    size_t at; /* in the row */
} rung_field;
void rung_store_export_names(rung_store_export *x, const rung_field *fields, size_t count);
void rung_store_export_fields(rung_store_export *x, const void *row, const rung_field *fields, size_t count);
/* Writes what has gathered, if it is much; false: stop. */
bool rung_store_export_more(rung_store_export *x);

#endif
