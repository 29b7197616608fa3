/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A report for programs: rung.report/1, every cell with its intervals.
 */
#ifndef RUNG_TOOL_REPORT_JSON_H
#define RUNG_TOOL_REPORT_JSON_H

#include "rung/render.h"
#include "rung/report.h"

void rung_report_json(rung_buf *text, const rung_report *report);
void rung_report_json_interval(rung_jout *out, const char *key, const rung_estimate *interval);
void rung_report_json_probed(rung_jout *out, const rung_probed *probed);

/* For the terminal. Names come from a file: no control character of theirs reaches it. */
void rung_report_print_text(rung_buf *out, const char *text);
void rung_report_print_probed(rung_buf *out, const rung_probed *probed);

#endif
