/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The text of `rung explain`.
 */
#ifndef RUNG_TOOL_EXPLAIN_H
#define RUNG_TOOL_EXPLAIN_H

#include "rung/audit.h"

/* The explanation with at most `rows` lines of tokens. */
void tool_explain_print(rung_buf *out, const rung_explained *x, size_t rows);

#endif
