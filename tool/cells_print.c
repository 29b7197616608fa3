/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The cells of a sweep on the terminal: what was measured, over how many seeds, and what theory says of it.
 */
#include "report_print.h"

#include <math.h>
#include <string.h>

#include "output.h"

enum { ROWS_MAX = 40, NAME_LEAST = 8, NAME_MOST = 23 };

static bool is(const rung_key *key, const char *name)
{
    return strcmp(key->name, name) == 0;
}

static bool has_labels(const rung_run_group *g)
{
    for (size_t k = 0; k < g->key_count; k++)
        if (is(&g->key[k], "label")) return true;
    return false;
}

/* The label, which stands for the layers, and the other keys that vary. */
static void put_name(rung_buf *out, const rung_run_group *g, size_t cell)
{
    const bool labels = has_labels(g);
    rung_buf_reset(out);
    for (size_t k = 0; k < g->key_count; k++) {
        const rung_key *key = &g->key[k];
        const char *value = rung_run_group_value(g, cell, k), *dot = strrchr(key->name, '.');
        if (key->chosen || !*value || (labels && is(key, "arch"))) continue;
        if (out->len) rung_buf_putc(out, ' ');
        if (!is(key, "label") && !is(key, "arch")) {
            tool_report_print_text(out, dot ? dot + 1 : key->name);
            rung_buf_putc(out, '=');
        }
        tool_report_print_text(out, value);
    }
    if (!out->len) tool_report_print_text(out, g->cell[cell].row->arch);
}

static double within(double share)
{
    return fmin(fmax(share, 0), 1);
}

static void put_accuracy(rung_buf *out, const rung_estimate *e)
{
    char interval[32] = "";
    if (isfinite(e->low)) snprintf(interval, sizeof interval, "%.3f to %.3f", within(e->low), within(e->high));
    if (isfinite(e->mean))
        rung_buf_printf(out, "%5.3f  %-14s", e->mean, interval);
    else
        rung_buf_printf(out, "%5s  %-14s", "-", "");
}

static void put_theory(rung_buf *out, const rung_cell *cell)
{
    const rung_run_theory *theory = &cell->row->theory;
    if (cell->row->random_labels)
        rung_buf_puts(out, "control");
    else if (theory->verdict != RUNG_CANNOT)
        rung_buf_puts(out, rung_verdict_names[theory->verdict - 1]);
    else if (!cell->spoken)
        rung_buf_printf(out, "CANNOT, not in %s", cell->row->test_numbers);
    else if (cell->ceiling > 0)
        rung_buf_printf(out, "CANNOT <= %.3f", cell->ceiling);
    else
        rung_buf_puts(out, "CANNOT");
    if (cell->above) rung_buf_puts(out, " ABOVE");
}

static size_t widest_name(const rung_run_group *g, size_t rows, rung_buf *name)
{
    size_t widest = NAME_LEAST;
    for (size_t c = 0; c < rows; c++) {
        put_name(name, g, c);
        if (name->len > widest) widest = name->len;
    }
    return widest < NAME_MOST ? widest : NAME_MOST;
}

/* A long name has a line of its own. */
static void put_row(rung_buf *out, const rung_run_group *g, size_t c, size_t width, rung_buf *name)
{
    const rung_cell *cell = &g->cell[c];
    char right[32];
    put_name(name, g, c);
    snprintf(right, sizeof right, "%zu of %zu", cell->succeeded, cell->runs);
    if (name->len > width) rung_buf_printf(out, "  %s\n", name->text);
    rung_buf_printf(out, "  %-*s  ", (int)width, name->len > width ? "" : name->text);
    put_accuracy(out, &cell->accuracy);
    rung_buf_printf(out, "  %-9s  ", right);
    put_theory(out, cell);
    rung_buf_putc(out, '\n');
}

void tool_report_print_cells(rung_buf *out, const rung_run_group *g)
{
    rung_buf name;
    rung_buf_init(&name);
    const size_t rows = g->cells < ROWS_MAX ? g->cells : ROWS_MAX, width = widest_name(g, rows, &name);
    if (rows)
        rung_buf_printf(out, "  %s%-*s  %5s  %-14s  %-9s  theory%s\n", tool_style_dim(), (int)width, "", "mean",
                        "95 % interval", "succeeded", tool_style_off());
    for (size_t c = 0; c < rows; c++) put_row(out, g, c, width, &name);
    if (rows < g->cells) rung_buf_printf(out, "  and %zu more: see the page, or --json\n", g->cells - rows);
    rung_buf_clear(&name);
}
