/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model at work on a task: what several commands open together and close together.
 */
#ifndef RUNG_TOOL_EVALUATION_H
#define RUNG_TOOL_EVALUATION_H

#include "rung/model.h"
#include "rung/task.h"

typedef struct rung_evaluation {
    rung_model *model;   /* opened by the caller, closed here */
    rung_task_conf task; /* set by the caller; must fit the model */
    rung_program *program;
    rung_session *session; /* for one prompt of the task */
    rung_instance instance;
    bool has_instance;
    size_t wide;        /* rows of the read-out */
    size_t *at;         /* positions of the instance that have a target */
    double *out;        /* [targets][wide], grown to the prompt with the most targets */
    size_t out_targets; /* that it has room for */
} rung_evaluation;

/* numbers = NULL: the fast evaluator. Close it also when this fails; a zeroed struct may be closed. */
rung_status rung_evaluation_start(rung_evaluation *e, const rung_fmt *numbers, size_t threads, rung_error *err);
void rung_evaluation_close(rung_evaluation *e);

/* Fills `at` from the instance and returns how many there are. */
size_t rung_evaluation_targets(rung_evaluation *e);
rung_status rung_evaluation_room(rung_evaluation *e, size_t targets, rung_error *err);
/* Tokens first .. first+tokens-1 of the instance. */
rung_prompt rung_evaluation_prompt(const rung_evaluation *e, size_t first, size_t tokens);

#endif
