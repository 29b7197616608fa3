/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parts of the page.
 */
#ifndef RUNG_REPORT_PAGE_H
#define RUNG_REPORT_PAGE_H

#include "model.h"

/* The cells of a group, one row each; certificates are spelled out while *room bytes last. */
void report_page_table(rung_buf *out, const rung_group *group, size_t *room);
/* A figure as data for the script. */
void report_page_json(rung_buf *out, const rung_chart *figure);

#endif
