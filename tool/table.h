/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of results: rows are architectures, columns are tasks, and a cell holds what has been run here. What has
 * not been run is empty.
 */
#ifndef RUNG_TOOL_TABLE_H
#define RUNG_TOOL_TABLE_H

#include "rung/model.h"
#include "rung/task.h"

#define RUNG_TABLE_ROWS 8
#define RUNG_TABLE_COLS 3

typedef struct rung_table_cell {
    bool run;
    const char *missing;   /* why not, when it was not run */
    uint64_t carried_bits; /* past the last token before the query */
    size_t cut;            /* that token count */
    size_t prompts, right, targets;
} rung_table_cell;

typedef struct rung_table_row {
    const char *title, *arch, *mechanism; /* the mechanism that the row is about */
} rung_table_row;

typedef struct rung_table_col {
    const char *title, *task;           /* canonical enough for rung_task_conf_parse */
    const char *claim[RUNG_TABLE_ROWS]; /* what the paper states of the row, NULL where it states nothing */
} rung_table_col;

typedef struct rung_table {
    rung_fmt fmt;
    rung_task_conf task[RUNG_TABLE_COLS];
    double needs_bits[RUNG_TABLE_COLS]; /* log2 of the number of prefixes that some query tells apart */
    rung_table_cell cell[RUNG_TABLE_ROWS][RUNG_TABLE_COLS];
} rung_table;

extern const rung_table_row rung_table_rows[RUNG_TABLE_ROWS];
extern const rung_table_col rung_table_cols[RUNG_TABLE_COLS];

/* One self-contained page, no network. */
void rung_table_page(rung_buf *out, const rung_table *table);

#endif
