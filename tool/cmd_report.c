/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung report: what stores hold, as one page and as figures.
 */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "report_print.h"
#include "rung/render.h"
#include "rung/report.h"

typedef struct report_values {
    const char *out, *svg, *csv;
    int64_t wait;
} report_values;

/* ---- files ----------------------------------------------------------------------------------------------------- */

typedef struct writer {
    const char *directory, *ending;
    rung_buf text;
    size_t files;
} writer;

/* Ids are letters, digits, '-' and '_'. */
static rung_status write_one(writer *w, const char *id, rung_error *err)
{
    char path[4096];
    rung_status status = rung_buf_ok(&w->text, err);
    if ((size_t)snprintf(path, sizeof path, "%s/%s.%s", w->directory, id, w->ending) >= sizeof path)
        status = rung_fail(err, RUNG_INPUT, "%s: the name is too long", w->directory);
    RUNG_NEXT(status, rung_file_write(path, w->text.text ? w->text.text : "", w->text.len, err));
    rung_buf_reset(&w->text);
    w->files++;
    return status;
}

static rung_status write_figures(writer *w, const rung_chart *figure, size_t count, bool svg, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        if (svg)
            rung_chart_svg(&w->text, &figure[i], true);
        else
            rung_chart_csv(&w->text, &figure[i]);
        status = write_one(w, figure[i].id, err);
    }
    return status;
}

static rung_status write_heats(writer *w, const rung_run_group *g, bool svg, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < g->heats; i++) {
        if (svg)
            rung_heat_svg(&w->text, &g->heat[i], true);
        else
            rung_heat_csv(&w->text, &g->heat[i]);
        status = write_one(w, g->heat[i].id, err);
    }
    return status;
}

static rung_status write_cells(writer *w, const rung_run_group *g, rung_error *err)
{
    rung_run_group_csv(&w->text, g);
    char id[128];
    snprintf(id, sizeof id, "%s-cells", g->slug);
    return write_one(w, id, err);
}

static rung_status write_probed(writer *w, const rung_probed *t, bool svg, rung_error *err)
{
    char id[128];
    rung_status status = write_figures(w, t->figure, t->figures, svg, err);
    if (status != RUNG_OK || svg) return status;
    rung_probed_csv(&w->text, t);
    snprintf(id, sizeof id, "%s-cells", t->slug);
    status = write_one(w, id, err);
    if (status != RUNG_OK || !t->depths) return status;
    rung_probed_depths_csv(&w->text, t);
    snprintf(id, sizeof id, "%s-depths", t->slug);
    return write_one(w, id, err);
}

static rung_status write_all(const tool_call *call, const rung_report *report, const char *directory, bool svg,
                             rung_error *err)
{
    writer w = {.directory = directory, .ending = svg ? "svg" : "csv"};
    rung_status status = rung_directory_make(directory, err);
    for (size_t i = 0; status == RUNG_OK && i < rung_report_groups(report); i++) {
        const rung_run_group *g = rung_report_group(report, i);
        status = write_figures(&w, g->figure, g->figures, svg, err);
        RUNG_NEXT(status, write_figures(&w, g->curve, g->curves, svg, err));
        RUNG_NEXT(status, write_heats(&w, g, svg, err));
        if (status == RUNG_OK && !svg) status = write_cells(&w, g, err);
    }
    for (size_t i = 0; status == RUNG_OK && i < rung_report_probed_count(report); i++)
        status = write_probed(&w, rung_report_probed(report, i), svg, err);
    if (status == RUNG_OK) tool_note(call, "%zu %s files in %s", w.files, w.ending, directory);
    rung_buf_clear(&w.text);
    return status;
}

static rung_status write_page(const rung_report *report, const char *path, rung_error *err)
{
    rung_buf page;
    rung_buf_init(&page);
    rung_report_page(&page, report);
    rung_status status = rung_buf_ok(&page, err);
    RUNG_NEXT(status, rung_file_write(path, page.text, page.len, err));
    rung_buf_clear(&page);
    return status;
}

/* ---- the terminal ---------------------------------------------------------------------------------------------- */

void tool_report_print_text(rung_buf *out, const char *text)
{
    for (; *text; text++) rung_buf_putc(out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

static void print_keys(rung_buf *out, const rung_run_group *g)
{
    rung_buf_puts(out, "  varies   ");
    for (size_t k = 0; k < g->key_count; k++) {
        rung_buf_puts(out, k ? ", " : " ");
        tool_report_print_text(out, g->key[k].name);
        if (g->key[k].chosen) rung_buf_puts(out, " (chosen)");
    }
    rung_buf_putc(out, '\n');
}

static void print_group(rung_buf *out, const rung_run_group *g)
{
    rung_buf_puts(out, tool_style_bold());
    tool_report_print_text(out, g->name[0] ? g->name : "runs of no sweep");
    rung_buf_printf(out, "%s: %zu run%s", tool_style_off(), g->runs, g->runs == 1 ? "" : "s");
    if (g->planned > g->runs) rung_buf_printf(out, " of %llu", (unsigned long long)g->planned);
    rung_buf_printf(out, ", %zu cell%s, %zu figure%s\n", g->cells, g->cells == 1 ? "" : "s",
                    g->figures + g->heats + g->curves, g->figures + g->heats + g->curves == 1 ? "" : "s");
    if (g->question[0]) {
        rung_buf_puts(out, "  question  ");
        tool_report_print_text(out, g->question);
        rung_buf_putc(out, '\n');
    }
    print_keys(out, g);
    if (g->controls)
        rung_buf_printf(out, "  controls  %zu with random labels, %zu of them above chance\n", g->controls,
                        g->controls_off);
    if (g->above) rung_buf_printf(out, "  theory    %zu cells are ABOVE a ceiling: a fault or news\n", g->above);
    if (g->diverged) rung_buf_printf(out, "  diverged  %zu runs\n", g->diverged);
    if (g->left_out[0]) {
        rung_buf_puts(out, "  left out  ");
        tool_report_print_text(out, g->left_out);
        rung_buf_putc(out, '\n');
    }
    tool_report_print_cells(out, g);
}

static rung_status print_report(const tool_call *call, const rung_report *report, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    if (call->json) {
        rung_report_json(&text, report);
    } else {
        for (size_t i = 0; i < rung_report_groups(report); i++) print_group(&text, rung_report_group(report, i));
        for (size_t i = 0; i < rung_report_probed_count(report); i++)
            tool_report_print_probed(&text, rung_report_probed(report, i));
        if (!text.len) rung_buf_puts(&text, "no finished runs and no probes\n");
    }
    rung_status status = tool_out_buf(&text, err);
    rung_buf_clear(&text);
    return status;
}

/* ---- command --------------------------------------------------------------------------------------------------- */

static rung_status read_stores(rung_report *report, const tool_call *call, rung_error *err)
{
    const report_values *v = call->values;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < call->arguments; i++) {
        status = tool_out_spares(v->out, call->argument[i], err);
        RUNG_NEXT(status, rung_report_add(report, call->argument[i], (double)v->wait, err));
    }
    RUNG_TRY(status);
    return rung_report_make(report, err);
}

static int run_report(const tool_call *call, rung_error *err)
{
    const report_values *v = call->values;
    rung_report *report;
    RUNG_TRY(tool_out_place(v->out, err));
    RUNG_TRY(rung_report_new(&report, err));
    rung_status status = read_stores(report, call, err);
    RUNG_NEXT(status, write_page(report, v->out, err));
    if (status == RUNG_OK && v->svg) status = write_all(call, report, v->svg, true, err);
    if (status == RUNG_OK && v->csv) status = write_all(call, report, v->csv, false, err);
    RUNG_NEXT(status, print_report(call, report, err));
    if (status == RUNG_OK)
        tool_note(call, "page: %s%s", v->out,
                  rung_report_interactive() ? "" : " (figures as SVG: built without the plot library)");
    rung_report_free(report);
    return status;
}

const tool_command tool_command_report = {
    .name = "report",
    .summary = "what stores hold, as one page with figures, intervals and theory",
    .details = "Finds out what varies in the runs of a sweep and draws accuracy and success rate against every number "
               "among it, "
               "with 95 % intervals over seeds (Student's t for means, Wilson for rates), chance, controls, and the "
               "thresholds and "
               "ceilings of theory; maps over two numbers, training curves, and a table that sorts and filters. "
               "Learning rates are "
               "selected per architecture and cell by the evaluation during training; the final test is shown. The "
               "page needs no "
               "network. Runs that several stores have count once. Probes of served models (rung probe, rung import) "
               "become curves of accuracy against depth and facts, models side by side.",
    .examples =
        (const tool_example[]){
            {"rung report depth.db", "report.html, for a browser"},
            {"rung report node-*.db -o all.html", "several stores, one page"},
            {"rung report depth.db --svg figures --csv figures", "the same figures as files"},
            {"rung report qwen.db kimi.db -o models.html", "probed models side by side"},
            {"rung report depth.db --json", "every cell with its intervals, for programs"},
            {0},
        },
    .arguments =
        (const tool_argument[]){
            {.metavar = "STORE",
             .help = "stores to read",
             .least = 1,
             .most = SIZE_MAX,
             .complete = RUNG_COMPLETE_FILE},
            {0},
        },
    .options =
        (const rung_option[]){
            {.name = "out",
             .letter = 'o',
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(report_values, out),
             .metavar = "FILE",
             .help = "the page",
             .fallback = "report.html",
             .complete = RUNG_COMPLETE_FILE},
            {.name = "svg",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(report_values, svg),
             .metavar = "DIR",
             .help = "also every figure as a picture",
             .complete = RUNG_COMPLETE_DIR},
            {.name = "csv",
             .kind = RUNG_OPTION_STRING,
             .at = offsetof(report_values, csv),
             .metavar = "DIR",
             .help = "also every figure and the cells as tables",
             .complete = RUNG_COMPLETE_DIR},
            {.name = "wait",
             .kind = RUNG_OPTION_INT,
             .at = offsetof(report_values, wait),
             .metavar = "S",
             .help = "seconds to wait for a store that another program holds",
             .fallback = "60",
             .low = 0,
             .high = 86400},
            {0},
        },
    .values_size = sizeof(report_values),
    .run = run_report,
};
