/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What `rung protocol` says.
 */
#ifndef RUNG_TOOL_PROTOCOL_H
#define RUNG_TOOL_PROTOCOL_H

#include "rung/audit.h"
#include "worker.h"

void tool_protocol_print(rung_buf *out, const tool_worker *s, const rung_played *p);
void tool_protocol_json(rung_buf *text, const tool_worker *s, const rung_played *p, const tool_call *call);

#endif
