/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The page: light and dark, readable on a phone and on paper. It loads nothing from elsewhere, and a policy in its head
 * makes the browser refuse to. Every figure is there as SVG. If the plot library is embedded, the script replaces the
 * SVG by an interactive plot; on paper the SVG is printed.
 */
#include "page.h"
#include "rung/audit.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define CERTIFICATE_ROOM (2 * 1024 * 1024) /* bytes of certificates on a page */

bool rung_report_interactive(void)
{
    return report_plot_js[0] != '\0';
}

/* ---- head -------------------------------------------------------------------------------------------------------- */

static void put_style(rung_buf *out)
{
    rung_buf_puts(out, "<style>\n:root{");
    report_svg_colours(out, false);
    rung_buf_puts(out, "}\n@media(prefers-color-scheme:dark){:root:not([data-theme=light]){");
    report_svg_colours(out, true);
    rung_buf_puts(out, "}}\n:root[data-theme=dark]{");
    report_svg_colours(out, true);
    rung_buf_puts(out, "}\n@media print{:root,:root[data-theme=dark],:root:not([data-theme=light]){");
    report_svg_colours(out, false);
    rung_buf_puts(out, "}}\n");
    report_svg_rules(out);
    rung_buf_putc(out, '\n');
    rung_buf_puts(out, report_plot_css);
    rung_buf_puts(out, report_css);
    rung_buf_puts(out, "</style>\n");
}

/* Only scripts with this nonce run. It depends on everything that was read: a second protection beside the escaping. */
static void put_head(rung_buf *out, const char *nonce, const rung_report *report, bool checks)
{
    rung_buf_printf(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'nonce-%s'%s; img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>rung report",
        nonce, checks ? " 'wasm-unsafe-eval'" : "");
    for (size_t i = 0; i < report->groups && i < 3; i++) {
        rung_buf_puts(out, i ? ", " : ": ");
        rung_text_escape(out, report->group[i]->shown.name[0] ? report->group[i]->shown.name : "runs");
    }
    if (report->probed_count) rung_buf_puts(out, report->groups ? ", probed models" : ": probed models");
    rung_buf_puts(out, "</title>\n");
    put_style(out);
}

static void put_origin(rung_buf *out, const rung_report *report)
{
    rung_buf_puts(out, "<p class=\"dim\">");
    for (size_t i = 0; i < report->stores; i++) {
        const report_store *s = &report->store[i];
        rung_buf_puts(out, "<code>");
        rung_text_escape(out, s->path);
        rung_buf_puts(out, "</code>: ");
        if (s->runs || !s->probes) rung_buf_printf(out, "%zu run%s", s->runs, s->runs == 1 ? "" : "s");
        if (s->probes) rung_buf_printf(out, "%s%zu probe%s", s->runs ? ", " : "", s->probes, s->probes == 1 ? "" : "s");
        if (s->version) {
            rung_buf_puts(out, ", rung ");
            rung_text_escape(out, s->version);
            rung_buf_puts(out, " (");
            rung_text_escape(out, s->kernels);
            rung_buf_puts(out, ") on ");
            rung_text_escape(out, s->host);
        }
        rung_buf_puts(out, "<br>");
    }
    time_t when = (time_t)report->latest;
    struct tm parts;
    char text[64];
    if (report->latest > 0 && report->latest < 4e10 && gmtime_r(&when, &parts) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts))
        rung_buf_printf(out, "last run finished %s", text);
    rung_buf_puts(out, "</p>\n");
}

static const char reading[] =
    "<details class=\"box\"><summary>How to read this page</summary><ul>\n"
    "<li>A point is a <b>cell</b>: runs that differ in their seed only. Different cells are never averaged.</li>\n"
    "<li>What was selected (usually the learning rate) was selected <b>per architecture and cell by the evaluation "
    "during "
    "training</b>; what is shown is the <b>final test</b>, on fresh prompts that nothing was chosen or stopped "
    "by.</li>\n"
    "<li>Intervals are at 95 %: <b>Student's t</b> over seeds for mean accuracies (drawn cut to 0&hellip;1; one run "
    "has none), "
    "<b>Wilson's</b> score interval for success rates. Accuracies of seeds that either learn or do not are far from "
    "normal: "
    "then read the success rate.</li>\n"
    "<li>A run that diverged has no accuracy and is not in the mean; it counts as a failure in the success rate.</li>\n"
    "<li><b>CANNOT</b>: a theorem proves, for the numbers of this cell in exact 32-bit arithmetic (every operation "
    "rounded, sums from left to right), that no weights are right on every prompt. A <b>ceiling</b> is an accuracy "
    "that no weights exceed on average over the prompts. Both are drawn beside accuracies of the <b>exact "
    "evaluator</b> only; they do not speak of the fast one. A line in a figure is where "
    "CANNOT "
    "begins along its axis, with all else as in the series; the <b>shortest proof</b> in the table is the shortest "
    "prompt at which "
    "some task of the kind is out of reach, with its other parameters free. UNKNOWN: no theorem bites at "
    "this size; "
    "it does not mean that it can.</li>\n"
    "<li>Chance is the accuracy of a uniform guess; &ldquo;best guess without the query&rdquo; is what the prompt "
    "alone "
    "gives away. Cells with <b>random labels</b> (hollow squares, dotted) are controls: they must stay there.</li>\n"
    "<li>Where the plots answer to a pointer: point at a place for its numbers, drag to zoom in, double-click to go "
    "back, and "
    "click a name below the plot to hide it. Tables sort by their heads.</li>\n"
    "</ul></details>\n";

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static void put_caption(rung_buf *out, const char *title, const char *subtitle)
{
    rung_buf_puts(out, "<figcaption><b>");
    rung_text_escape(out, title);
    rung_buf_puts(out, "</b>");
    if (subtitle[0]) {
        rung_buf_puts(out, "<span class=\"dim\">");
        rung_text_escape(out, subtitle);
        rung_buf_puts(out, "</span>");
    }
    rung_buf_puts(out, "</figcaption>\n");
}

static void put_figure(rung_buf *out, const rung_chart *f)
{
    rung_buf_printf(out, "<figure id=\"%s\">", f->id);
    put_caption(out, f->title, f->subtitle);
    rung_buf_puts(out, "<div class=\"plot\">");
    rung_chart_svg(out, f, false);
    rung_buf_puts(out, "</div>\n");
    report_legend_html(out, f);
    if (f->left_out[0]) {
        rung_buf_puts(out, "<p class=\"dim\">");
        rung_text_escape(out, f->left_out);
        rung_buf_puts(out, "</p>");
    }
    rung_buf_puts(out, "</figure>\n");
}

void report_page_figures(rung_buf *out, const rung_chart *figure, size_t count, const char *title, const char *text)
{
    if (!count) return;
    if (title[0]) rung_buf_printf(out, "<h3>%s</h3>\n", title);
    if (text) rung_buf_printf(out, "<p class=\"dim\">%s</p>\n", text);
    rung_buf_puts(out, "<div class=\"figures\">\n");
    for (size_t i = 0; i < count; i++) put_figure(out, &figure[i]);
    rung_buf_puts(out, "</div>\n");
}

static void put_heats(rung_buf *out, const rung_run_group *g)
{
    if (!g->heats) return;
    rung_buf_puts(out, g->heat[0].x_name[0] ? "<h3>Maps</h3>\n<div class=\"maps\">\n"
                                            : "<h3>Cells</h3>\n<div class=\"maps\">\n");
    for (size_t i = 0; i < g->heats; i++) {
        rung_buf_printf(out, "<figure id=\"%s\">", g->heat[i].id);
        put_caption(out, g->heat[i].title, g->heat[i].subtitle);
        rung_buf_puts(out, "<div class=\"scroll\">");
        rung_heat_svg(out, &g->heat[i], false);
        rung_buf_puts(out, "</div></figure>\n");
    }
    rung_buf_puts(out, "</div>\n");
}

/* ---- a group ----------------------------------------------------------------------------------------------------- */

static void put_warnings(rung_buf *out, const rung_run_group *g)
{
    size_t few = 0;
    for (size_t c = 0; c < g->cells; c++) few += g->cell[c].runs < 5;
    if (g->above)
        rung_buf_printf(out,
                        "<p class=\"box warn\"><b>%zu cell%s above a proved ceiling.</b> The program has a bug, a "
                        "premise does not hold, or a theorem is refuted: please investigate. The table marks %s.</p>\n",
                        g->above, g->above == 1 ? " is" : "s are", g->above == 1 ? "it" : "them");
    if (g->controls_off)
        rung_buf_printf(
            out,
            "<p class=\"box warn\"><b>%zu of %zu controls with random labels are above chance.</b> Something "
            "leaks: do not trust the other results before it is found.</p>\n",
            g->controls_off, g->controls);
    else if (g->controls)
        rung_buf_printf(out, "<p class=\"box\">Controls: %zu cell%s with random labels, none above chance.</p>\n",
                        g->controls, g->controls == 1 ? "" : "s");
    if (few)
        rung_buf_printf(
            out, "<p class=\"box\">%zu of %zu cells have fewer than five runs: their intervals say little.</p>\n", few,
            g->cells);
}

static void put_summary(rung_buf *out, const rung_run_group *g)
{
    rung_buf_printf(out, "<p>%zu run%s", g->runs, g->runs == 1 ? "" : "s");
    if (g->planned > g->runs) rung_buf_printf(out, " of %llu planned", (unsigned long long)g->planned);
    rung_buf_printf(out, " in %zu cell%s; a success is a test accuracy of at least %g", g->cells,
                    g->cells == 1 ? "" : "s", g->success);
    if (g->diverged) rung_buf_printf(out, "; %zu run%s diverged", g->diverged, g->diverged == 1 ? "" : "s");
    rung_buf_puts(out, ".");
    for (size_t k = 0, first = 1; k < g->key_count; k++) {
        if (!g->key[k].chosen) continue;
        rung_buf_puts(out, first ? " Selected by the evaluation during training: <code>" : ", <code>");
        rung_text_escape(out, g->key[k].name);
        rung_buf_puts(out, "</code>");
        first = 0;
    }
    rung_buf_puts(out, "</p>\n");
}

static void put_curves(rung_buf *out, const rung_run_group *g)
{
    rung_buf text = {0};
    rung_buf_printf(&text,
                    "%zu of %zu runs: chosen settings only, at most sixty in all, spread over the cells. Ceilings and "
                    "chance as above.",
                    g->curves_drawn, g->runs);
    report_page_figures(out, g->curve, g->curves, "Training curves", text.text);
    rung_buf_clear(&text);
}

static void put_group(rung_buf *out, const rung_run_group *g, size_t *room)
{
    rung_buf_printf(out, "<section id=\"%s\">\n<h2>", g->slug);
    rung_text_escape(out, g->name[0] ? g->name : "Runs of no sweep");
    rung_buf_puts(out, "</h2>\n");
    if (g->question[0]) {
        rung_buf_puts(out, "<p class=\"question\">");
        rung_text_escape(out, g->question);
        rung_buf_puts(out, "</p>\n");
    }
    put_summary(out, g);
    put_warnings(out, g);
    report_page_figures(out, g->figure, g->figures - g->rates, "Accuracy and success", NULL);
    if (g->left_out[0]) {
        rung_buf_puts(out, "<p class=\"dim\">");
        rung_text_escape(out, g->left_out);
        rung_buf_puts(out, "The table has every cell.</p>\n");
    }
    put_heats(out, g);
    if (g->rates) rung_buf_puts(out, "<details class=\"more\"><summary>What was selected, and from what</summary>\n");
    report_page_figures(
        out, g->figure + (g->figures - g->rates), g->rates, "",
        "Means of the evaluation during training; the ringed point is the one whose final test is shown above.");
    if (g->rates) rung_buf_puts(out, "</details>\n");
    put_curves(out, g);
    if (g->cells) report_page_table(out, g, room);
    rung_buf_puts(out, "</section>\n");
}

/* ---- page -------------------------------------------------------------------------------------------------------- */

static void put_json(rung_buf *out, const rung_chart *figure, size_t count, bool *first)
{
    for (size_t i = 0; i < count; i++) {
        if (!*first) rung_buf_puts(out, ",\n");
        report_page_json(out, &figure[i]);
        *first = false;
    }
}

static void put_all_json(rung_buf *out, const rung_report *report)
{
    bool first = true;
    rung_buf_putc(out, '[');
    for (size_t i = 0; i < report->groups; i++) {
        const rung_run_group *g = &report->group[i]->shown;
        put_json(out, g->figure, g->figures, &first);
        put_json(out, g->curve, g->curves, &first);
    }
    for (size_t i = 0; i < report->probed_count; i++)
        put_json(out, report->probed[i].figure, report->probed[i].figures, &first);
    rung_buf_putc(out, ']');
}

static void put_scripts(rung_buf *out, const char *nonce, const rung_report *report, bool checks)
{
    if (rung_report_interactive()) {
        rung_buf_puts(out, "<script type=\"application/json\" id=\"figures\">");
        put_all_json(out, report);
        rung_buf_printf(out, "</script>\n<script nonce=\"%s\">", nonce);
        rung_buf_puts(out, report_plot_js);
        rung_buf_puts(out, "</script>\n");
    }
    rung_buf_printf(out, "<script nonce=\"%s\">\n", nonce);
    rung_buf_puts(out, report_js);
    rung_buf_puts(out, "</script>\n");
    if (checks) rung_checker_put_script(out, nonce);
}

static void put_link(rung_buf *out, const char *slug, const char *before, const char *name)
{
    rung_buf_printf(out, "<li><a href=\"#%s\">%s", slug, before);
    rung_text_escape(out, name);
    rung_buf_puts(out, "</a></li>");
}

static void put_nav(rung_buf *out, const rung_report *report)
{
    if (report->groups + report->probed_count < 2) return;
    rung_buf_puts(out, "<nav><ul>");
    for (size_t i = 0; i < report->groups; i++) {
        const rung_run_group *g = &report->group[i]->shown;
        put_link(out, g->slug, "", g->name[0] ? g->name : "Runs of no sweep");
    }
    for (size_t i = 0; i < report->probed_count; i++)
        put_link(out, report->probed[i].slug, "Probed: ", report->probed[i].task);
    rung_buf_puts(out, "</ul></nav>\n");
}

static void put_body(rung_buf *out, const rung_report *report)
{
    size_t room = CERTIFICATE_ROOM;
    rung_buf_puts(out, "<body><header><h1>rung report</h1><button type=\"button\" id=\"theme\" "
                       "hidden>theme</button></header>\n<main>\n");
    put_origin(out, report);
    put_nav(out, report);
    if (report->groups) rung_buf_puts(out, reading);
    for (size_t i = 0; i < report->groups; i++) put_group(out, &report->group[i]->shown, &room);
    if (report->probed_count) rung_buf_puts(out, report_probe_reading);
    for (size_t i = 0; i < report->probed_count; i++) report_page_probed(out, &report->probed[i]);
    if (!report->groups && !report->probed_count) rung_buf_puts(out, "<p>No finished runs and no probes.</p>\n");
    rung_buf_puts(out, "</main>\n");
}

void rung_report_page(rung_buf *out, const rung_report *report)
{
    rung_buf body = {0};
    char digest[65] = "";
    put_body(&body, report);
    if (body.text) rung_sha256_hex(digest, body.text, body.len);
    digest[32] = '\0';
    /* Names are escaped, so this is the beginning of a tag of ours. */
    bool checks = body.text && strstr(body.text, "<div class=\"checker\"");
    put_head(out, digest, report, checks);
    if (body.text) rung_buf_add(out, body.text, body.len);
    put_scripts(out, digest, report, checks);
    rung_buf_puts(out, "</body></html>\n");
    out->failed = out->failed || body.failed;
    rung_buf_clear(&body);
}
