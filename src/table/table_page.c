/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table as one HTML page: light and dark, readable on a phone and on paper, nothing loaded from elsewhere.
 */
#include <math.h>
#include <string.h>

#include "rung/audit.h"
#include "rung/table.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>rung: table of results</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;--line:#8884;--dim:#666;--mark:#0a6}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 "
    "1rem;background:Canvas;color:CanvasText}\n"
    "h1{font-size:1.5rem;margin:0 0 .25rem}p{max-width:46rem}.scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;min-width:44rem;table-layout:fixed}\n"
    "th,td{text-align:left;vertical-align:top;padding:.55rem .7rem;border-bottom:1px solid var(--line)}\n"
    "thead th{border-bottom:2px solid var(--line)}tbody th{font-weight:600}\n"
    "code,.num{font-family:ui-monospace,monospace;font-size:.92em}\n"
    ".can{color:#0a6;font-weight:700}.sampled{color:#577;font-weight:700}.cannot{color:#c33;font-weight:700}details{"
    "font-size:.87rem;margin:.15rem "
    "0}summary{cursor:pointer;color:var(--dim)}"
    "td "
    "code{overflow-wrap:anywhere}.dim{color:var(--dim);font-size:.87rem}.bits{font-weight:600}.empty{color:var(--dim)}"
    "\n"
    ".trained{margin-top:.45rem}.bar{position:relative;display:block;height:.5rem;max-width:13rem;background:var(--"
    "line);margin:.1rem 0 "
    ".2rem}.bar i,.bar b,.bar u{position:absolute;top:0;bottom:0}.bar i{left:0;background:#57a}.bar "
    "b{width:2px;background:#c33;top:-3px;"
    "bottom:-3px}.bar u{width:1px;background:CanvasText}\n"
    "@media(prefers-color-scheme:dark){:root{--dim:#aaa}.cannot{color:#f77}.can{color:#2c8}}\n"
    "@media(max-width:44rem){table{min-width:0}thead{display:none}tr,th,td{display:block;border:0;padding:.2rem 0}\n"
    "tbody tr{border-bottom:1px solid var(--line);padding:.6rem 0}td::before{content:attr(data-task) \": "
    "\";color:var(--dim)}}\n"
    ".checker{margin:.3rem 0}.checker "
    "pre{max-height:12rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8rem}"
    ".checker input{max-width:100%}\n"
    "@media print{.checker{display:none}body{margin:0;max-width:none}.scroll{overflow:visible}}\n"
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

static rung_status map_beside(rung_file_map *map, const char *directory, const char *name, rung_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return rung_file_open_map(map, path, err);
}

/* The page holds both files, so that it can check them wherever it is. */
static void put_checker(rung_buf *out, const rung_table_cell *cell, const char *directory)
{
    rung_file_map cert = {0}, model = {0};
    rung_error err = {""};
    if (map_beside(&cert, directory, cell->cert, &err) != RUNG_OK) return;
    if (map_beside(&model, directory, cell->cert_model, &err) == RUNG_OK) {
        rung_checker_put(out, (const char *)cert.bytes, cert.size, model.bytes, model.size);
        rung_file_close_map(&model);
    }
    rung_file_close_map(&cert);
}

static void put_certificate(rung_buf *out, const rung_table_cell *cell, const char *directory)
{
    if (!cell->cert[0]) return;
    rung_buf_printf(out, "<details><summary>%s, %s</summary>", cell->cert_kind, cell->cert_numbers);
    rung_buf_printf(out, "Attack <code>%s</code> on random weights: ", cell->cert_attack);
    rung_text_escape(out, cell->cert_how);
    rung_buf_puts(out, ". Accepted by rung-check: ");
    put_link(out, cell->cert, "certificate");
    rung_buf_puts(out, ", ");
    put_link(out, cell->cert_model, "model");
    rung_buf_puts(out, ".");
    put_checker(out, cell, directory);
    rung_buf_puts(out, "</details>");
}

/* `own`: the instance of this cell, if it is larger than that of the column. */
static void put_verdict(rung_buf *out, const rung_table_cell *cell, const char *own, const char *directory)
{
    bool sampled = cell->verdict == RUNG_CAN_SAMPLED;
    if (cell->verdict == RUNG_CAN || sampled) {
        rung_buf_printf(out, "<span class=\"%s\">%s</span> ", sampled ? "sampled" : "can", sampled ? "SAMPLED" : "CAN");
        if (cell->proved)
            rung_buf_puts(out, "proved for every prompt");
        else
            rung_buf_printf(out, "right on %s%llu prompts", sampled ? "a sample of " : "all ",
                            (unsigned long long)cell->prompts);
        rung_buf_puts(out, "<br><span class=\"dim\">layers ");
        put_code(out, cell->arch);
        rung_buf_puts(out, "</span><details><summary>weights</summary>");
        put_code(out, cell->command);
        rung_buf_puts(out, "</details>");
    } else if (cell->verdict == RUNG_CANNOT) {
        rung_buf_printf(out,
                        "<span class=\"cannot\">CANNOT</span> %.0f &gt; %.0f%s<details><summary>theorem %s</summary>",
                        cell->lhs, cell->rhs, cell->trivial ? " (trivial)" : "", cell->bound);
        if (own) rung_buf_printf(out, "<code>%s</code>, %zu tokens: ", own, cell->tokens);
        rung_text_escape(out, cell->statement);
        if (cell->proof[0]) {
            rung_buf_puts(out, ". For coqc: ");
            put_link(out, cell->proof, cell->proof);
        }
        rung_buf_puts(out, "</details>");
        put_certificate(out, cell, directory);
    } else {
        rung_buf_puts(out, "<span class=\"empty\">UNKNOWN</span><br><span class=\"dim\">");
        rung_text_escape(out, cell->nearest);
        rung_buf_puts(out, "</span>");
    }
}

/* A bar from 0 to 1, with chance as a thin line and a proved ceiling as a thick one. */
static void put_bar(rung_buf *out, const rung_table_trained *t)
{
    rung_buf_printf(out, "<span class=\"bar\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i>",
                    100 * fmin(fmax(t->accuracy.mean, 0), 1));
    if (isfinite(t->chance)) rung_buf_printf(out, "<u style=\"left:%.1f%%\"></u>", 100 * t->chance);
    if (isfinite(t->ceiling)) rung_buf_printf(out, "<b style=\"left:%.1f%%\"></b>", 100 * t->ceiling);
    rung_buf_puts(out, "</span>");
}

static void put_accuracy(rung_buf *out, const rung_table_trained *t)
{
    if (!isfinite(t->accuracy.mean)) {
        rung_buf_puts(out, "trained: diverged");
        return;
    }
    rung_buf_printf(out, "trained: <b>%.3f</b>", t->accuracy.mean);
    if (isfinite(t->accuracy.low))
        rung_buf_printf(out, " [%.3f, %.3f]", fmax(t->accuracy.low, 0), fmin(t->accuracy.high, 1));
    rung_buf_printf(out, ", d<sub>k</sub> = %zu", t->dk);
    if (isfinite(t->ceiling)) rung_buf_printf(out, "; proved: at most %.3f", t->ceiling);
    put_bar(out, t);
}

static const char *measured_by(const rung_table_trained *t)
{
    bool fast = !t->test_numbers[0] || strcmp(t->test_numbers, RUNG_TEST_FAST) == 0;
    return fast ? "Measured by the fast evaluator. " : "Measured by the exact evaluator. ";
}

static void put_trained(rung_buf *out, const rung_table_trained *t)
{
    rung_buf_puts(out, "<div class=\"trained\">");
    put_accuracy(out, t);
    rung_buf_printf(out, "<details><summary>%zu run%s, %zu tokens</summary>", t->runs, t->runs == 1 ? "" : "s",
                    t->tokens);
    put_code(out, t->task);
    rung_buf_printf(
        out,
        ", d-model %zu, d<sub>k</sub> = %zu, d<sub>v</sub> = %zu, %zu steps, rate %g%s, seeds %s. Chance %.3f; %zu of "
        "%zu runs succeeded. ",
        t->d_model, t->dk, t->dv, t->steps, t->rate, t->settings > 1 ? " (chosen by the evaluations)" : "", t->seeds,
        t->chance, t->succeeded, t->runs);
    rung_buf_puts(out, measured_by(t));
    if (t->verdict == RUNG_CANNOT && t->spoken)
        rung_buf_printf(out, "At this size too, theorem %s proves CANNOT.", t->bound);
    else if (t->verdict == RUNG_CANNOT)
        rung_buf_printf(out, "Theorem %s proves CANNOT at this size, but does not speak of this evaluator.", t->bound);
    else
        rung_buf_puts(out, "No theorem forbids it at this size.");
    rung_buf_puts(out, "</details></div>");
}

/* data-task: on a phone the cells stand below each other and say which column they are. */
static void put_cell(rung_buf *out, const rung_table *table, size_t r, size_t c, const char *directory)
{
    const rung_table_cell *cell = &table->cell[r][c];
    const char *claim = rung_table_rows[r].claim[c];
    bool thinks = rung_table_rows[r].thinks;
    rung_buf_printf(out, "<td data-task=\"%s\">", rung_table_cols[c].title);
    put_verdict(out, cell, rung_table_rows[r].task[c], directory);
    if (rung_table_rows[r].task[c])
        rung_buf_printf(out, "<div class=\"dim\">a larger instance: %zu tokens</div>", cell->tokens);
    if (claim) rung_buf_printf(out, "<div class=\"dim\">published: width %s</div>", claim);
    for (size_t i = 0; i < cell->trained_count; i++) put_trained(out, cell->trained[i]);
    if (!cell->trained_count)
        rung_buf_printf(out, "<div class=\"trained dim\">trained: no run%s</div>",
                        thinks ? " (models with chain of thought are not trained here)" : "");
    rung_buf_puts(out, "</td>");
}

static void put_about_training(rung_buf *out, const rung_table *table)
{
    rung_buf_printf(
        out,
        "<p><b>trained</b>: accuracy on fresh prompts after training such layers, %s. The sizes are those of the cell "
        "and need not be those of the verdict. It proves nothing: what can be done need not be learned, and a low "
        "number may be the fault of the recipe. In the bar, the thin line is chance and the thick one a ceiling that "
        "is proved for the layers that were trained, in the arithmetic of the exact evaluator, which then has "
        "measured; "
        "an interval above it would have stopped this page.%s%s%s%s</p>\n",
        table->quick ? "one seed each, done when this page was made"
                     : "mean over seeds with its 95 % interval (Student's t), the learning rate chosen by evaluations "
                       "on other prompts",
        table->shipped ? " Sizes and steps were chosen in pilot runs, in part with these very seeds." : "",
        table->spec[0] ? " Sweep <code>" : "", table->spec, table->spec[0] ? "</code>." : "");
}

void rung_table_page(rung_buf *out, const rung_table *table, const char *directory)
{
    rung_buf_puts(out, head);
    rung_buf_printf(
        out,
        "<h1>What attention can and cannot compute</h1>\n<p>Rows are architectures, columns are tasks; a column "
        "has the same instances in every row, but for a cell that names a larger one. Numbers have %d bits "
        "(<code>%s</code>). <b>CANNOT</b>: a theorem "
        "about layers of one head with d<sub>k</sub> = d<sub>v</sub> = 2, whose inequality holds at these sizes; "
        "it assumes sums from left to right. Below it, one model of these layers that fails, with a certificate that a "
        "second program, rung-check, accepted when this page was made. <b>CAN</b>: explicit weights, built and checked "
        "when this page was "
        "made; a larger architecture may leave layers idle. <b>UNKNOWN</b>: neither.</p>\n",
        table->fmt.bits, table->fmt.name);
    put_about_training(out, table);
    rung_buf_puts(out, "<div class=\"scroll\"><table>\n");
    put_header(out, table);
    rung_buf_puts(out, "<tbody>\n");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        rung_buf_printf(out, "<tr><th>%s<br><span class=\"dim\"><code>%s</code></span></th>", rung_table_rows[r].title,
                        rung_table_rows[r].arch);
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) put_cell(out, table, r, c, directory);
        rung_buf_puts(out, "</tr>\n");
    }
    rung_buf_puts(out, "</tbody></table></div>\n");
    rung_buf_puts(
        out, "<p class=\"dim\">\"published\" is what Ye et al. (2026) and the papers that it builds on state of the "
             "width Hdp that a task needs, in the limit.</p>\n");
    rung_checker_put_script(out, NULL);
    rung_buf_puts(out, "</html>\n");
}
