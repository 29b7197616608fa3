/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung bench break.
 */
#ifndef RUNG_TOOL_BENCH_BREAK_H
#define RUNG_TOOL_BENCH_BREAK_H

#include "command.h"

/* seeds 0: as many models as the bars are for. Returns RUNG_NEGATIVE when a bar is missed. */
int rung_bench_break(const rung_call *call, size_t seeds, size_t threads, rung_error *err);

#endif
