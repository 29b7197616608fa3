/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table of cells. The script sorts by data-v and filters by the text.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "page.h"
#include "rung/audit.h"

static void put_head(rung_buf *out, const rung_run_group *g)
{
    static const char *const columns[] = {"test accuracy", "successes",   "chance",     "state bits",
                                          "full layers",   "rec. layers", "parameters", "tokens",
                                          "measured by",   "theory",      "ceiling",    "shortest proof"};
    rung_buf_puts(out, "<thead><tr>");
    for (size_t k = 0; k < g->key_count; k++) {
        rung_buf_puts(out, "<th scope=\"col\"><button type=\"button\">");
        rung_text_escape(out, g->key[k].name);
        if (g->key[k].chosen) rung_buf_puts(out, " (chosen)");
        rung_buf_puts(out, "</button></th>");
    }
    for (size_t i = 0; i < RUNG_COUNT(columns); i++)
        rung_buf_printf(out, "<th scope=\"col\"><button type=\"button\">%s</button></th>", columns[i]);
    rung_buf_puts(out, "</tr></thead>\n");
}

void report_td_number(rung_buf *out, double value)
{
    char text[32];
    if (!isfinite(value)) {
        rung_buf_puts(out, "<td></td>");
        return;
    }
    report_number(text, value);
    rung_buf_printf(out, "<td class=\"n\" data-v=\"%s\">%s</td>", text, text);
}

void report_td_share(rung_buf *out, double value)
{
    if (isfinite(value))
        rung_buf_printf(out, "<td class=\"n\" data-v=\"%.6g\">%.3f</td>", value, value);
    else
        rung_buf_puts(out, "<td></td>");
}

static void put_accuracy(rung_buf *out, const rung_cell *cell)
{
    const rung_estimate *a = &cell->accuracy;
    if (!isfinite(a->mean)) {
        rung_buf_puts(out, "<td class=\"n\" data-v=\"-1\">none</td>");
        return;
    }
    rung_buf_printf(out, "<td class=\"n\" data-v=\"%.9g\"><b%s>%.3f</b>", a->mean, cell->above ? " class=\"bad\"" : "",
                    a->mean);
    if (isfinite(a->low))
        rung_buf_printf(out, " <span class=\"dim\">[%.3f, %.3f]</span>", a->low, a->high);
    else
        rung_buf_puts(out, " <span class=\"dim\">one run</span>");
    if (cell->above) rung_buf_puts(out, " <span class=\"bad\">above the ceiling</span>");
    rung_buf_puts(out, "</td>");
}

static void put_success(rung_buf *out, const rung_cell *cell)
{
    rung_buf_printf(out, "<td class=\"n\" data-v=\"%.9g\"><b>%zu/%zu</b> <span class=\"dim\">[%.2f, %.2f]</span>",
                    cell->success.mean, cell->succeeded, cell->runs, cell->success.low, cell->success.high);
    if (cell->diverged) rung_buf_printf(out, " <span class=\"bad\">%zu diverged</span>", cell->diverged);
    rung_buf_puts(out, "</td>");
}

static void put_data_link(rung_buf *out, const rung_cell *cell)
{
    rung_buf_puts(out, "<a download=\"");
    rung_text_escape(out, cell->certificate_name);
    rung_buf_puts(out, "\" href=\"data:text/plain;charset=utf-8,");
    for (const unsigned char *c = (const unsigned char *)cell->certificate; *c; c++)
        if (isalnum(*c))
            rung_buf_putc(out, (char)*c);
        else
            rung_buf_printf(out, "%%%02X", *c);
    rung_buf_puts(out, "\">save</a>");
}

static void put_certificate(rung_buf *out, const rung_cell *cell, size_t *room)
{
    size_t len = 0;
    if (!cell->certificate) return;
    while (cell->certificate[len]) len++;
    rung_buf_puts(out, "<details><summary>certificate</summary><code>");
    rung_text_escape(out, cell->certificate_name);
    rung_buf_puts(out, "</code>, sha256 <code>");
    rung_text_escape(out, cell->certificate_sha256);
    rung_buf_puts(out, "</code>");
    if (6 * len <= *room) {
        *room -= 6 * len; /* it occurs three times, percent-encoded, in base64 and as text */
        rung_buf_puts(out, ", ");
        put_data_link(out, cell);
        rung_checker_put(out, cell->certificate, len, NULL, 0);
        rung_buf_puts(out, "<pre>");
        rung_text_escape(out, cell->certificate);
        rung_buf_puts(out, "</pre>");
    } else {
        rung_buf_puts(out, ", in the store");
    }
    rung_buf_puts(out, "</details>");
}

static void put_evaluator(rung_buf *out, const char *numbers)
{
    bool fast = strcmp(numbers, RUNG_TEST_FAST) == 0;
    rung_buf_printf(out, "<td>%s", !numbers[0] ? "none" : fast ? "fast" : "exact ");
    if (!fast) rung_text_escape(out, numbers);
    rung_buf_puts(out, "</td>");
}

static void put_verdict(rung_buf *out, const rung_cell *cell, size_t *room)
{
    const rung_run_theory *t = &cell->row->theory;
    bool cannot = t->verdict == RUNG_CANNOT;
    rung_buf_printf(out, "<td data-v=\"%.9g\">", isfinite(t->margin) ? t->margin : -1);
    rung_buf_puts(out, cannot ? "<b class=\"cannot\">CANNOT</b>" : "UNKNOWN");
    if (t->trivial) rung_buf_puts(out, " (trivial)");
    if (cannot && !cell->spoken) rung_buf_puts(out, " <span class=\"dim\">not about this evaluator</span>");
    if (t->bound[0]) {
        rung_buf_puts(out, "<details><summary>");
        rung_text_escape(out, t->bound);
        if (isfinite(t->margin)) rung_buf_printf(out, ", margin %.3g", t->margin);
        rung_buf_puts(out, "</summary>");
        rung_text_escape(out, t->statement);
        rung_buf_puts(out, "</details>");
    }
    put_certificate(out, cell, room);
    rung_buf_puts(out, "</td>");
}

static void put_proof_from(rung_buf *out, const rung_run_theory *t)
{
    if (t->log2_n > 0)
        rung_buf_printf(out, "<td class=\"n\" data-v=\"%.6g\">2<sup>%.0f</sup> tokens</td>",
                        exp2(fmin(t->log2_n, 1000)), t->log2_n);
    else if (t->n_threshold > 0)
        rung_buf_printf(out, "<td class=\"n\" data-v=\"%.9g\">%.6g tokens</td>", t->n_threshold, t->n_threshold);
    else
        rung_buf_puts(out, "<td></td>");
}

static void put_row(rung_buf *out, const rung_run_group *g, size_t c, size_t *room)
{
    const rung_cell *cell = &g->cell[c];
    const rung_run_row *row = cell->row;
    rung_buf_puts(out, row->random_labels ? "<tr class=\"control\">" : "<tr>");
    for (size_t k = 0; k < g->key_count; k++) {
        const char *value = rung_run_group_value(g, c, k);
        rung_buf_puts(out, g->key[k].numeric ? "<td class=\"n\" data-v=\"" : "<td data-v=\"");
        rung_text_escape(out, value);
        rung_buf_puts(out, "\"><code>");
        rung_text_escape(out, value);
        rung_buf_puts(out, "</code>");
        if (k == 0 && row->random_labels) rung_buf_puts(out, " <span class=\"tag\">random labels</span>");
        rung_buf_puts(out, "</td>");
    }
    put_accuracy(out, cell);
    put_success(out, cell);
    report_td_share(out, row->chance);
    report_td_number(out, (double)row->state_bits);
    report_td_number(out, (double)row->full_layers);
    report_td_number(out, (double)row->recurrent_layers);
    report_td_number(out, (double)row->parameters);
    report_td_number(out, (double)row->tokens);
    put_evaluator(out, row->test_numbers);
    put_verdict(out, cell, room);
    report_td_share(out, cell->ceiling > 0 ? cell->ceiling : NAN);
    put_proof_from(out, &row->theory);
    rung_buf_puts(out, "</tr>\n");
}

void report_open_table(rung_buf *out, size_t rows, size_t all)
{
    rung_buf_printf(out,
                    "<h3>All cells</h3>\n<div class=\"filter\"><input type=\"search\" aria-label=\"filter the table\" "
                    "placeholder=\"filter: words that a row must have\"> <span class=\"dim\" role=\"status\">%zu rows",
                    rows);
    if (rows < all) rung_buf_printf(out, " of %zu; <code>--csv</code> writes all", all);
    rung_buf_puts(out, "</span></div>\n<div class=\"scroll cells\"><table>\n");
}

void report_page_table(rung_buf *out, const rung_run_group *g, size_t *room)
{
    size_t rows = g->cells < REPORT_ROWS ? g->cells : REPORT_ROWS;
    report_open_table(out, rows, g->cells);
    put_head(out, g);
    rung_buf_puts(out, "<tbody>\n");
    for (size_t c = 0; c < rows; c++) put_row(out, g, c, room);
    rung_buf_puts(out, "</tbody></table></div>\n");
}
