/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What `rung protocol` says.
 */
#ifndef RUNG_TOOL_PROTOCOL_H
#define RUNG_TOOL_PROTOCOL_H

#include "rung/audit.h"
#include "worker.h"

void rung_protocol_print(rung_buf *out, const rung_worker *s, const rung_played *p);
void rung_protocol_json(rung_buf *text, const rung_worker *s, const rung_played *p, const rung_call *call);

#endif
