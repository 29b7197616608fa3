/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parts of the page.
 */
#ifndef RUNG_REPORT_PAGE_H
#define RUNG_REPORT_PAGE_H

#include "model.h"

#define REPORT_ROWS 5000 /* of a table, at most */

/* A cell of a table that sorts by its number; empty when it is none. */
void report_td_number(rung_buf *out, double value);
void report_td_share(rung_buf *out, double value);
/* The head line and the field of a table that filters; the caller goes on with <thead>. */
void report_open_table(rung_buf *out, size_t rows, size_t all);
/* Figures side by side; title and text may be missing ("" and NULL). */
void report_page_figures(rung_buf *out, const rung_chart *figure, size_t count, const char *title, const char *text);
/* A task that served models were asked (page_probes.c), and how to read it. */
void report_page_probed(rung_buf *out, const rung_probed *probed);
extern const char report_probe_reading[];
/* The cells of a group, one row each; certificates are spelled out while *room bytes last. */
void report_page_table(rung_buf *out, const rung_group *group, size_t *room);
/* A figure as data for the script. */
void report_page_json(rung_buf *out, const rung_chart *figure);

#endif
