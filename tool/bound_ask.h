/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One question of `rung bound` and its answer: theorems with thresholds, the same question turned around (--solve), text
 * and JSON.
 */
#ifndef RUNG_TOOL_BOUND_ASK_H
#define RUNG_TOOL_BOUND_ASK_H

#include "bound_input.h"
#include "json_out.h"

/* What is asked of every input. */
typedef struct rung_bound_ask {
    const rung_ledger_words *words;
    const rung_task_conf *task; /* NULL: the ledger alone */
    uint64_t n;                 /* 0: the size that the task says */
    rung_softmax softmax;
    bool tokens_after, thresholds;
} rung_bound_ask;

rung_question rung_bound_question(const rung_bound_ask *ask, const rung_bound_input *input);

void rung_bound_print(rung_buf *out, const rung_bound_ask *ask, const rung_bound_input *input,
                      const rung_bound_report *report);
/* Members of one result: ledger, theorems, verdict. report is NULL without a task. */
void rung_bound_json(rung_jout *out, const rung_bound_ask *ask, const rung_bound_input *input,
                     const rung_bound_report *report);
void rung_bound_task_json(rung_jout *out, const rung_task_conf *task);

/* ---- inverted ------------------------------------------------------------------------------------------------------------ */

typedef enum rung_solve { RUNG_SOLVE_N = 0, RUNG_SOLVE_P, RUNG_SOLVE_D, RUNG_SOLVE_LAYERS } rung_solve;
extern const char *const rung_solve_words[];

/* For n the smallest value with CANNOT, else the largest. */
typedef struct rung_solved {
    rung_solve what;
    bool found;
    double value;
    double log2_value;    /* where n is astronomical, else 0 */
    bool checked;         /* CANNOT at the value, and not at the next one beyond the edge */
    bool limit;           /* CANNOT as far as was searched: the edge is further */
    char reason[200];     /* why nothing was found */
    rung_bound_answer at; /* the deciding row at the value; its bound is NULL when not found */
} rung_solved;

rung_status rung_bound_solve(rung_solved *solved, const rung_bound_ask *ask, const rung_bound_input *input,
                             rung_solve what, rung_error *err);
void rung_solved_print(rung_buf *out, const rung_bound_ask *ask, const rung_bound_input *input, const rung_solved *s);
void rung_solved_json(rung_jout *out, const rung_solved *s);

#endif
