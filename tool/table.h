/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of results: rows are architectures, columns are tasks, and a cell holds a verdict that was reached here: CANNOT
 * by a theorem whose inequality holds at these sizes, with a certificate of one model that fails; CAN by weights that were
 * built and checked; UNKNOWN otherwise.
 */
#ifndef RUNG_TOOL_TABLE_H
#define RUNG_TOOL_TABLE_H

#include "rung/bound.h"
#include "rung/build.h"
#include "rung/verify.h"

#define RUNG_TABLE_ROWS 13
#define RUNG_TABLE_COLS 3

typedef struct rung_table_cell {
    rung_verdict verdict;
    bool proved;       /* CAN for every prompt, by the worst case */
    uint64_t prompts;  /* CAN on a sample of so many */
    char model[128];   /* file of the weights, CAN */
    char arch[160];    /* their layers */
    char command[160]; /* that builds them */
    char bound[16];    /* id of the theorem, CANNOT */
    char statement[384];
    bool trivial;
    double lhs, rhs;
    char cert[160],
        cert_model[200]; /* files of a model that fails and its certificate, which rung-check has accepted; "" if no
                                        attack found one */
    char cert_kind[20], cert_numbers[16], cert_attack[20], cert_how[400];
    char nearest[200]; /* UNKNOWN: what comes closest, or why nothing applies */
} rung_table_cell;

/* What is idle in a larger architecture still solves the task: weights for `full` are weights for `3*full`. */
typedef struct rung_table_row {
    const char *title, *arch;
    bool thinks;                        /* its own words follow the prompt: each is a receiver that no theorem counts */
    const char *build[RUNG_TABLE_COLS]; /* construction and words; NULL: none is known */
    const char *claim[RUNG_TABLE_COLS]; /* what the paper states of the width Hdp, or NULL */
} rung_table_row;

typedef struct rung_table_col {
    const char *title, *task;
} rung_table_col;

typedef struct rung_table {
    rung_fmt fmt;
    rung_task_conf task[RUNG_TABLE_COLS];
    rung_table_cell cell[RUNG_TABLE_ROWS][RUNG_TABLE_COLS];
} rung_table;

extern const rung_table_row rung_table_rows[RUNG_TABLE_ROWS];
extern const rung_table_col rung_table_cols[RUNG_TABLE_COLS];

typedef struct rung_table_effort {
    const char *directory; /* for models and certificates */
    size_t threads;
    uint64_t seed;
} rung_table_effort;

/* Looks for a certificate of the CANNOT of this cell, and has it confirmed by rung-check. */
rung_status rung_table_break(rung_table_cell *cell, const rung_table *table, size_t row, size_t col,
                             const rung_table_effort *effort, rung_error *err);

/* One self-contained page, no network. */
void rung_table_page(rung_buf *out, const rung_table *table);

#endif
