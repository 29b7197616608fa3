/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table as one HTML page: light and dark, readable on a phone and on paper, nothing loaded from elsewhere.
 */
#include "table.h"

#include "rung/report.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>rung: table of results</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;--line:#8884;--dim:#777;--mark:#0a6}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem;margin:0 0 .25rem}p{max-width:46rem}.scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;min-width:44rem;table-layout:fixed}\n"
    "th,td{text-align:left;vertical-align:top;padding:.55rem .7rem;border-bottom:1px solid var(--line)}\n"
    "thead th{border-bottom:2px solid var(--line)}tbody th{font-weight:600}\n"
    "code,.num{font-family:ui-monospace,monospace;font-size:.92em}\n"
    ".can{color:#0a6;font-weight:700}.cannot{color:#c33;font-weight:700}details{font-size:.87rem;margin:.15rem "
    "0}summary{cursor:pointer;color:var(--dim)}"
    "details "
    "code{overflow-wrap:anywhere}.dim{color:var(--dim);font-size:.87rem}.bits{font-weight:600}.empty{color:var(--dim)}"
    "\n"
    "@media(max-width:44rem){table{min-width:0}thead{display:none}tr,th,td{display:block;border:0;padding:.2rem 0}\n"
    "tbody tr{border-bottom:1px solid var(--line);padding:.6rem 0}td::before{content:attr(data-task) \": "
    "\";color:var(--dim)}}\n"
    "@media print{body{margin:0;max-width:none}.scroll{overflow:visible}}\n"
    "</style>\n";

static void put_code(rung_buf *out, const char *text)
{
    rung_buf_puts(out, "<code>");
    rung_text_escape(out, text);
    rung_buf_puts(out, "</code>");
}

static void put_header(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out, "<thead><tr><th>architecture</th>");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++)
        rung_buf_printf(out, "<th>%s<br><span class=\"dim\"><code>%s</code><br>%zu tokens</span></th>",
                        rung_table_cols[c].title, rung_table_cols[c].task, table->task[c].tokens);
    rung_buf_puts(out, "</tr></thead>\n");
}

static void put_link(rung_buf *out, const char *file, const char *text)
{
    rung_buf_puts(out, "<a href=\"");
    rung_text_escape(out, file);
    rung_buf_printf(out, "\">%s</a>", text);
}

static void put_certificate(rung_buf *out, const rung_table_cell *cell)
{
    if (!cell->cert[0]) return;
    rung_buf_printf(out, "<details><summary>%s, %s</summary>", cell->cert_kind, cell->cert_numbers);
    rung_buf_printf(out, "Attack <code>%s</code> on random weights: ", cell->cert_attack);
    rung_text_escape(out, cell->cert_how);
    rung_buf_puts(out, ". Accepted by rung-check: ");
    put_link(out, cell->cert, "certificate");
    rung_buf_puts(out, ", ");
    put_link(out, cell->cert_model, "model");
    rung_buf_puts(out, ".</details>");
}

static void put_verdict(rung_buf *out, const rung_table_cell *cell)
{
    if (cell->verdict == RUNG_CAN) {
        rung_buf_puts(out, "<span class=\"can\">CAN</span> ");
        if (cell->proved)
            rung_buf_puts(out, "proved for every prompt");
        else
            rung_buf_printf(out, "right on %llu prompts", (unsigned long long)cell->prompts);
        rung_buf_puts(out, "<br><span class=\"dim\">layers ");
        put_code(out, cell->arch);
        rung_buf_puts(out, "</span><details><summary>weights</summary>");
        put_code(out, cell->command);
        rung_buf_puts(out, "</details>");
    } else if (cell->verdict == RUNG_CANNOT) {
        rung_buf_printf(out,
                        "<span class=\"cannot\">CANNOT</span> %.0f &gt; %.0f%s<details><summary>theorem %s</summary>",
                        cell->lhs, cell->rhs, cell->trivial ? " (trivial)" : "", cell->bound);
        rung_text_escape(out, cell->statement);
        rung_buf_puts(out, "</details>");
        put_certificate(out, cell);
    } else {
        rung_buf_puts(out, "<span class=\"empty\">UNKNOWN</span><br><span class=\"dim\">");
        rung_text_escape(out, cell->nearest);
        rung_buf_puts(out, "</span>");
    }
}

/* data-task: on a phone the cells stand below each other and say which column they are. */
static void put_cell(rung_buf *out, const rung_table_cell *cell, const char *claim, const char *task)
{
    rung_buf_printf(out, "<td data-task=\"%s\">", task);
    put_verdict(out, cell);
    if (claim) rung_buf_printf(out, "<div class=\"dim\">published: width %s</div>", claim);
    rung_buf_puts(out, "</td>");
}

void rung_table_page(rung_buf *out, const rung_table *table)
{
    rung_buf_puts(out, head);
    rung_buf_printf(
        out,
        "<h1>What attention can and cannot compute</h1>\n<p>Rows are architectures, columns are tasks; a column "
        "has the same instances in every row. Numbers have %d bits (<code>%s</code>). <b>CANNOT</b>: a theorem "
        "about layers of one head with d<sub>k</sub> = d<sub>v</sub> = 2, whose inequality holds at these sizes; "
        "it assumes sums from left to right. Below it, one model of these layers that fails, with a certificate that a "
        "second program, rung-check, accepted when this page was made. <b>CAN</b>: explicit weights, built and checked "
        "when this page was "
        "made; a larger architecture may leave layers idle. <b>UNKNOWN</b>: neither.</p>\n<div "
        "class=\"scroll\"><table>\n",
        table->fmt.bits, table->fmt.name);
    put_header(out, table);
    rung_buf_puts(out, "<tbody>\n");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        rung_buf_printf(out, "<tr><th>%s<br><span class=\"dim\"><code>%s</code></span></th>", rung_table_rows[r].title,
                        rung_table_rows[r].arch);
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++)
            put_cell(out, &table->cell[r][c], rung_table_rows[r].claim[c], rung_table_cols[c].title);
        rung_buf_puts(out, "</tr>\n");
    }
    rung_buf_puts(out, "</tbody></table></div>\n");
    rung_buf_puts(
        out, "<p class=\"dim\">\"published\" is what Ye et al. (2026) and the papers that it builds on state of the "
             "width Hdp that a task needs, in the limit.</p>\n</html>\n");
}
