/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to report: parts of the page.
 */
#ifndef RUNG_REPORT_PAGE_H
#define RUNG_REPORT_PAGE_H

#include "report_internal.h"

#define REPORT_ROWS 5000 /* of a table, at most */

/* A table cell that sorts by its number; empty if there is none. */
void report_td_number(rung_buf *out, double value);
void report_td_share(rung_buf *out, double value);
/* Opens a table with its heading and its filter field; the caller continues with <thead>. */
void report_open_table(rung_buf *out, size_t rows, size_t all);
/* Writes figures side by side. title may be "" and text NULL. */
void report_page_figures(rung_buf *out, const rung_chart *figure, size_t count, const char *title, const char *text);
/* Writes a task that served models were asked (page_probes.c), and an explanation. */
void report_page_probed(rung_buf *out, const rung_probed *probed);
extern const char report_probe_reading[];
/* Writes the cells of a group, one row each. Certificates are included as long as *room bytes last. */
void report_page_table(rung_buf *out, const rung_run_group *group, size_t *room);
/* Writes a figure as data for the script. */
void report_page_json(rung_buf *out, const rung_chart *figure);

#endif
