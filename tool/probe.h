/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What rung probe shows: the plan, and what was found, as a table and as JSON.
 */
#ifndef RUNG_TOOL_PROBE_H
#define RUNG_TOOL_PROBE_H

#include "rung/probe.h"
#include "rung/render.h"

void rung_probe_print(rung_buf *out, const rung_probe *probe);
void rung_probe_json(rung_jout *out, const rung_probe *probe);
void rung_probe_cost_print(rung_buf *out, const rung_probe_cost *cost);
void rung_probe_cost_json(rung_jout *out, const rung_probe_cost *cost);
/* Whether some cell says something about the model. */
bool rung_probe_says_something(const rung_probe *probe);

#endif
