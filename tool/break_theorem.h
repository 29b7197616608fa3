/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the theorems say of all models that have the layers of this one.
 */
#ifndef RUNG_TOOL_BREAK_THEOREM_H
#define RUNG_TOOL_BREAK_THEOREM_H

#include "rung/model.h"
#include "rung/task.h"

/* The theorem with its numbers, and the accuracy that it leaves; "" when none refutes these layers on this task. */
rung_status rung_break_theorem(char *text, size_t size, const rung_model *model, const rung_task_conf *task, int bits,
                               rung_error *err);

#endif
