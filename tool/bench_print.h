/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Measurements of `rung bench` on their way to the terminal.
 */
#ifndef RUNG_TOOL_BENCH_PRINT_H
#define RUNG_TOOL_BENCH_PRINT_H

#include "command.h"
#include "rung/bench.h"

/* Prints each row when it is measured, unless JSON is wanted. */
rung_bench_watch tool_bench_shown(const tool_call *call);

/* JSON, and what other programs took. */
rung_status tool_bench_speed_end(const tool_call *call, const rung_bench_report *report, rung_error *err);
rung_status tool_bench_exact_end(const tool_call *call, const rung_bench_exact_report *report, rung_error *err);
rung_status tool_bench_break_end(const tool_call *call, const rung_bench_break_report *report, rung_error *err);

#endif
