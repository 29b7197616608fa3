/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What rung probe shows: the plan, and what was found, as a table and as JSON.
 */
#ifndef RUNG_TOOL_PROBE_H
#define RUNG_TOOL_PROBE_H

#include "rung/probe.h"

void tool_probe_print(rung_buf *out, const rung_probe *probe);
void tool_probe_cost_print(rung_buf *out, const rung_probe_cost *cost);

#endif
