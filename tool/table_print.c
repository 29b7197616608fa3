/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table on a terminal of 80 columns, three lines per row: the verdict of theory and constructions, what it rests on,
 * and what was learned.
 */
#include <math.h>
#include <string.h>

#include "output.h"
#include "table_print.h"

/* 16 + 4 x 16 = 80. */
enum { TITLE = 16, CELL = 16, LINES = 3 };

static void verdict_text(char *text, size_t size, const rung_table_cell *cell)
{
    if (cell->verdict == RUNG_CANNOT)
        snprintf(text, size, "CANNOT%s", cell->cert[0] ? "*" : "");
    else
        snprintf(text, size, "%s", rung_verdict_names[cell->verdict - 1]);
}

/* What the verdict rests on, in 15 letters: the two sides of an inequality; and how long the prompts are where the
 * column has shorter ones. */
static void reason_text(char *text, size_t size, const rung_table_cell *cell, bool larger)
{
    if (cell->verdict == RUNG_CANNOT && larger)
        snprintf(text, size, "%zu tokens", cell->tokens);
    else if (cell->verdict == RUNG_CANNOT)
        snprintf(text, size, "%.0f > %.0f", cell->lhs, cell->rhs);
    else if (cell->verdict == RUNG_CAN)
        snprintf(text, size, "%s", cell->proved ? "proved" : "all prompts");
    else if (cell->verdict == RUNG_CAN_SAMPLED)
        snprintf(text, size, "%llu prompts", (unsigned long long)cell->prompts);
    else
        snprintf(text, size, ".");
}

/* ".97" and "1.00" */
static void put_share(char *text, size_t size, double share)
{
    snprintf(text, size, "%.2f", fmin(fmax(share, 0), 1));
    if (text[0] == '0') memmove(text, text + 1, strlen(text));
}

/* "0.98 [.97,1.00]"; the interval of a mean is not cut where it is computed, but a share is between 0 and 1. */
static void trained_text(char *text, size_t size, const rung_table_cell *cell)
{
    const rung_table_trained *t = cell->trained_count ? cell->trained[0] : NULL;
    char low[16], high[16];
    if (!t)
        snprintf(text, size, "no run");
    else if (!isfinite(t->accuracy.mean))
        snprintf(text, size, "diverged");
    else if (!isfinite(t->accuracy.low))
        snprintf(text, size, "%.2f, one run", t->accuracy.mean);
    else {
        put_share(low, sizeof low, t->accuracy.low), put_share(high, sizeof high, t->accuracy.high);
        snprintf(text, size, "%.2f [%s,%s]", t->accuracy.mean, low, high);
    }
}

/* A title of several lines: where the words of line `line` begin, and how many letters of them fit. */
static const char *title_line(int *len, const char *title, size_t line, size_t width)
{
    for (;; line--) {
        size_t fits = strlen(title), end = fits;
        if (fits >= width)
            for (end = width - 1; end > 0 && title[end] != ' ';) end--;
        *len = (int)end;
        if (line == 0) return title;
        title += end + (title[end] == ' ');
    }
}

/* The size at which a column was trained. */
static void trained_size(char *text, size_t size, const rung_table *table, size_t col)
{
    size_t tokens = 0;
    snprintf(text, size, "no run");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        const rung_table_cell *cell = &table->cell[r][col];
        if (!cell->trained_count) continue;
        bool other = tokens && tokens != cell->trained[0]->tokens;
        tokens = cell->trained[0]->tokens;
        snprintf(text, size, other ? "several lengths" : "%zu tokens", tokens);
        if (other) return;
    }
}

/* No spaces at the end of a line. */
static void put_field(rung_buf *out, const char *text, size_t col)
{
    if (col + 1 < RUNG_TABLE_COLS)
        rung_buf_printf(out, "%-*s", CELL, text);
    else
        rung_buf_printf(out, "%s\n", text);
}

static void print_titles(rung_buf *out)
{
    char text[64];
    for (size_t line = 0; line < 2; line++) {
        rung_buf_printf(out, "%-*s", TITLE, "");
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
            int len;
            const char *words = title_line(&len, rung_table_cols[c].title, line, CELL);
            snprintf(text, sizeof text, "%.*s", len, words);
            put_field(out, text, c);
        }
    }
}

static void print_head(rung_buf *out, const rung_table *table)
{
    char text[64];
    rung_buf_puts(out, tool_style_bold());
    print_titles(out);
    rung_buf_printf(out, "%s%s%-*s", tool_style_off(), tool_style_dim(), TITLE, "verdict");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        snprintf(text, sizeof text, "%zu tokens", table->task[c].tokens);
        put_field(out, text, c);
    }
    rung_buf_printf(out, "%-*s", TITLE, "trained");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        trained_size(text, sizeof text, table, c);
        put_field(out, text, c);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}

/* The verdict, what it rests on, and what was learned. */
static void print_row(rung_buf *out, const rung_table *table, size_t r)
{
    for (size_t line = 0; line < LINES; line++) {
        int len;
        const char *title = title_line(&len, rung_table_rows[r].title, line, TITLE);
        rung_buf_printf(out, "%-*.*s%s", TITLE, len, title, line ? tool_style_dim() : "");
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
            char text[64];
            const rung_table_cell *cell = &table->cell[r][c];
            if (line == 0) verdict_text(text, sizeof text, cell);
            if (line == 1) reason_text(text, sizeof text, cell, rung_table_rows[r].task[c] != NULL);
            if (line == 2) trained_text(text, sizeof text, cell);
            put_field(out, text, c);
        }
        rung_buf_puts(out, line ? tool_style_off() : "");
    }
}

void tool_table_print(rung_buf *out, const rung_table *table)
{
    print_head(out, table);
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) print_row(out, table, r);
    rung_buf_printf(out,
                    "\nThe same instances in every row of a column, but where a cell names a length,\n"
                    "and numbers of %d bits (%s).\n"
                    "CANNOT: a theorem about one head with dk = dv = 2 per layer, with its\n"
                    "inequality, in exact %d-bit arithmetic, softmax from left to right. CAN:\n"
                    "weights that were built here and are right on every prompt; a larger\n"
                    "architecture may leave layers idle. SAMPLED: weights that were right on every\n"
                    "prompt of a sample, which proves nothing. UNKNOWN: neither. *: a model of\n"
                    "these layers with random weights fails, with a certificate that rung-check\n"
                    "has accepted just now.\n",
                    table->fmt.bits, table->fmt.name, table->fmt.bits);
    rung_buf_printf(out,
                    "Below: test accuracy after training, %s.\n"
                    "Prompts were as long as the head says: the lines of a cell need not speak of\n"
                    "one size. A low number proves nothing; CANNOT does. The page has sizes,\n"
                    "rates, chance, and the ceilings that are proved for what was trained.\n",
                    table->quick ? "one seed each" : "mean over seeds with 95 % interval");
}
