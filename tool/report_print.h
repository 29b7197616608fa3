/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parts of a report for the terminal.
 */
#ifndef RUNG_TOOL_REPORT_PRINT_H
#define RUNG_TOOL_REPORT_PRINT_H

#include "rung/report.h"

/* Names come from a file: no control character of theirs reaches it. */
void tool_report_print_text(rung_buf *out, const char *text);
/* One line a cell: mean, interval, successes, theory. At most 40 lines. */
void tool_report_print_cells(rung_buf *out, const rung_run_group *group);
void tool_report_print_probed(rung_buf *out, const rung_probed *probed);

#endif
