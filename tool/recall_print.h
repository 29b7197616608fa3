/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung recall as text.
 */
#ifndef RUNG_TOOL_RECALL_PRINT_H
#define RUNG_TOOL_RECALL_PRINT_H

#include "rung/recall.h"

/* Forms, fits, and the table of published numbers. */
rung_status tool_recall_print_law(rung_buf *out, const rung_recall_law *law, rung_error *err);
void tool_recall_print_answer(rung_buf *out, const rung_recall_law *law, const rung_recall_question *question,
                              const rung_recall_answer *answer);

#endif
