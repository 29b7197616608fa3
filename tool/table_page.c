/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table as one HTML page: light and dark, readable on a phone and on paper, nothing loaded from elsewhere.
 */
#include "table.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>rung: table of results</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;--line:#8884;--dim:#777;--mark:#0a6}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem;margin:0 0 .25rem}p{max-width:46rem}.scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;min-width:44rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.55rem .7rem;border-bottom:1px solid var(--line)}\n"
    "thead th{border-bottom:2px solid var(--line)}tbody th{font-weight:600;white-space:nowrap}\n"
    "code,.num{font-family:ui-monospace,monospace;font-size:.92em}\n"
    ".dim{color:var(--dim);font-size:.87rem}.bits{font-weight:600}.empty{color:var(--dim)}\n"
    "@media(max-width:44rem){table{min-width:0}thead{display:none}tr,th,td{display:block;border:0;padding:.2rem 0}\n"
    "tbody tr{border-bottom:1px solid var(--line);padding:.6rem 0}td::before{content:attr(data-task) \": "
    "\";color:var(--dim)}}\n"
    "@media print{body{margin:0;max-width:none}.scroll{overflow:visible}}\n"
    "</style>\n";

static void put_header(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out, "<thead><tr><th>architecture</th>");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++)
        rung_buf_printf(out,
                        "<th>%s<br><span class=\"dim\"><code>%s</code><br>2<sup>%.1f</sup> prefixes to be told "
                        "apart</span></th>",
                        rung_table_cols[c].title, rung_table_cols[c].task, table->needs_bits[c]);
    rung_buf_puts(out, "</tr></thead>\n");
}

/* data-task: on a phone the cells stand below each other and say which column they are. */
static void put_cell(rung_buf *out, const rung_table_cell *cell, const char *claim, const char *task)
{
    rung_buf_printf(out, "<td data-task=\"%s\">", task);
    if (cell->run)
        rung_buf_printf(out,
                        "<span class=\"bits\">%llu bits</span> carried past token %zu<br><span class=\"dim\">random "
                        "weights: %zu of %zu right</span>",
                        (unsigned long long)cell->carried_bits, cell->cut, cell->right, cell->targets);
    else
        rung_buf_printf(out, "<span class=\"empty\">not run: %s</span>", cell->missing);
    if (claim) rung_buf_printf(out, "<br><span class=\"dim\">published: %s</span>", claim);
    rung_buf_puts(out, "</td>");
}

void rung_table_page(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out, head);
    rung_buf_puts(out,
                  "<h1>What attention can and cannot compute</h1>\n<p>Rows are architectures, columns are tasks. A "
                  "cell is empty until something has been run. This version measures what a model carries past the "
                  "prefix of a task; it has no bounds, constructions or certificates, so <b>no cell has a "
                  "verdict</b>. What the papers state of the size <i>Hdp</i> is quoted beside, not checked.</p>\n<div "
                  "class=\"scroll\"><table>\n");
    put_header(out, table);
    rung_buf_puts(out, "<tbody>\n");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        rung_buf_printf(out, "<tr><th>%s<br><code class=\"dim\">%s</code></th>", rung_table_rows[r].title,
                        rung_table_rows[r].arch);
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++)
            put_cell(out, &table->cell[r][c], rung_table_cols[c].claim[r], rung_table_cols[c].title);
        rung_buf_puts(out, "</tr>\n");
    }
    rung_buf_printf(
        out,
        "</tbody></table></div>\n<p class=\"dim\">Models: H = 1, d<sub>k</sub> = d<sub>v</sub> = 2, random "
        "weights, every operation rounded to %s (%d bits). Published statements: Ye et al., ICML 2026, and the "
        "papers it cites. Random weights show nothing about what an architecture can learn or compute. Made "
        "by rung %s.</p>\n</html>\n",
        table->fmt.name, table->fmt.bits, RUNG_VERSION);
}
