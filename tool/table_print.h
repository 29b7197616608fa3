/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of results on the terminal.
 */
#ifndef RUNG_TOOL_TABLE_PRINT_H
#define RUNG_TOOL_TABLE_PRINT_H

#include "rung/table.h"

/* 80 columns. */
void tool_table_print(rung_buf *out, const rung_table *table);

#endif
