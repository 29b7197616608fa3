/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A ledger for people: bits of a layer, totals, and the table of its kinds of layers.
 */
#ifndef RUNG_TOOL_BOUND_LEDGER_H
#define RUNG_TOOL_BOUND_LEDGER_H

#include "bound_input.h"

/* Counts, table of the kinds of layers, totals, notes. */
void tool_ledger_print(rung_buf *out, const tool_bound_input *input);

#endif
