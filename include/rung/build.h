/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * build: constructions, that is explicit weights that solve a task. Each is one registry row: its parameters, the task
 * that it solves, and a function that fills a model file. The result is an ordinary model; the evaluators do not know
 * that it was constructed. A row refuses parameters for which its weights would be wrong. Layer 4.
 */
#ifndef RUNG_BUILD_H
#define RUNG_BUILD_H

#include "rung/base.h"
#include "rung/model.h"
#include "rung/task.h"

RUNG_API_BEGIN

struct rung_construction;

/* A construction with its parameters and the task instance that it is built for. */
typedef struct rung_build {
    const struct rung_construction *how;
    rung_value params[RUNG_PARAM_MAX]; /* parallel to how->params */
    rung_task_conf task;
} rung_build;

struct rung_sheet; /* src/build/sheet.h: a model under construction */

typedef struct rung_construction {
    const char *name;
    const char *summary;
    const char *source;     /* theorem, section or paper; "ours" if the proof is in docs/theory.md */
    const char *task;       /* the task, or the default of the parameter `task` of this table */
    const char *task_pairs; /* parameters of the task that this construction requires, as in "form=position", or NULL */
    const rung_param *params; /* no name may also be a parameter of the task */
    /* Fills a sheet. Refuses parameters with the reason and an alternative. */
    rung_status (*build)(struct rung_sheet *sheet, const rung_build *b, rung_error *err);
} rung_construction;

size_t rung_construction_count(void);
const rung_construction *rung_construction_at(size_t index);
const rung_construction *rung_construction_get(const char *name);
const char *rung_construction_nearest(const char *name);

/* `words` are key=value. Keys that the construction knows set its parameters; the others go to the task. The error for
 * an unknown key names the nearest key of both. */
rung_status rung_build_init(rung_build *b, const char *name, const char *const *pairs, size_t count, rung_error *err);
/* Prints every parameter of the construction, "lookup keys=bits values=bits scale=0 ...". Model files have it in their
 * metadata. */
void rung_build_canonical(rung_buf *out, const rung_build *b);
int64_t rung_build_param(const rung_build *b, const char *name);
const rung_value *rung_build_value(const rung_build *b, const char *name);

rung_status rung_build_write(const rung_build *b, const char *path, rung_error *err);
rung_status rung_build_model(rung_model **out, const rung_build *b, rung_error *err); /* in memory */

RUNG_API_END

#endif
