/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to decide: other sizes of a task.
 */
#ifndef RUNG_DECIDE_RESIZE_TASK_H
#define RUNG_DECIDE_RESIZE_TASK_H

#include "rung/decide.h"

/* The task with the parameters that the user fixed, and this one. */
rung_status decide_task_with(rung_task_conf *out, const rung_task_conf *task, const char *key, int64_t value,
                             rung_error *err);

#endif
