/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * How `rung bound` and `rung compare` ask, and their answers as text.
 */
#ifndef RUNG_TOOL_BOUND_ASK_H
#define RUNG_TOOL_BOUND_ASK_H

#include "bound_input.h"
#include "rung/decide.h"

/* decision is NULL without a task. */
void tool_bound_print(rung_buf *out, const tool_bound_input *input, const rung_decision *decision);

void tool_published_print(rung_buf *out, const rung_published *published);

void tool_formats_print(rung_buf *out, const rung_formats *formats);

void tool_solved_print(rung_buf *out, const tool_bound_input *input, const rung_solved *s);

#endif
