/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A report for programs: rung.report/1, every cell with its intervals.
 */
#ifndef RUNG_TOOL_REPORT_JSON_H
#define RUNG_TOOL_REPORT_JSON_H

#include "rung/report.h"

void rung_report_json(rung_buf *text, const rung_report *report);

#endif
