/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The second opinion: runs rung-check, which shares no code with this program, as a process of its own.
 */
#ifndef RUNG_TOOL_SECOND_H
#define RUNG_TOOL_SECOND_H

#include "rung/base.h"

/* Exit codes of rung-check. */
enum { RUNG_SECOND_ACCEPTED = 10, RUNG_SECOND_REJECTED = 20 };

/* What rung-check says of the certificate: its exit code. RUNG_SYSTEM when it cannot be run; it is looked for beside this
 * program, then in PATH. */
rung_status rung_second_opinion(int *code, const char *cert, const char *model, rung_error *err);

#endif
