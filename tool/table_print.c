/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table on a terminal, two lines per row: the verdict with its numbers, and the published growth with what was
 * learned. From 100 columns on intervals are shown too, and below 80 the verdicts alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "table_print.h"

/* Columns of the titles and of a cell. */
typedef struct layout {
    size_t title, cell;
    bool narrow, wide;
} layout;

static layout layout_of(size_t columns)
{
    if (columns < 80) return (layout){.title = columns < 45 ? columns - 31 : 14, .cell = 8, .narrow = true};
    if (columns < 100) return (layout){.title = 14, .cell = 17};
    return (layout){.title = 16, .cell = 20, .wide = true};
}

/* Letters of UTF-8, each of which is one column wide here. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* No spaces at the end of a line. */
static void put_field(rung_buf *out, const char *text, size_t width, bool last)
{
    rung_buf_puts(out, text);
    for (size_t i = width_of(text); !last && i < width; i++) rung_buf_putc(out, ' ');
}

/* ---- one cell -------------------------------------------------------------------------------------------------- */

static void verdict_text(char *text, size_t size, const rung_table_cell *cell)
{
    snprintf(text, size, "%s%s", rung_verdict_names[cell->verdict - 1], cell->cert[0] ? "*" : "");
}

/* What the verdict rests on, behind its word. */
static void reason_text(char *text, size_t size, const rung_table_cell *cell, bool larger)
{
    text[0] = '\0';
    if (cell->verdict == RUNG_CANNOT && larger)
        snprintf(text, size, " n=%zu", cell->tokens);
    else if (cell->verdict == RUNG_CANNOT)
        snprintf(text, size, " %.0f>%.0f", floor(cell->lhs), ceil(cell->rhs));
    else if (cell->verdict == RUNG_CAN)
        snprintf(text, size, cell->proved ? " proved" : " all prompts");
    else if (cell->verdict == RUNG_CAN_SAMPLED)
        snprintf(text, size, " %llu", (unsigned long long)cell->prompts);
}

/* ".97" and "1.00" */
static void put_share(char *text, size_t size, double share)
{
    snprintf(text, size, "%.2f", fmin(fmax(share, 0), 1));
    if (text[0] == '0') memmove(text, text + 1, strlen(text));
}

/* ".97", "†.03" at other sizes than the head says; ".97±.03" where there is room. */
static void trained_text(char *text, size_t size, const rung_table_cell *cell, const rung_table_sizes *usual, bool wide)
{
    const rung_table_trained *t = rung_table_shown(cell, usual);
    char mean[16], half[16];
    text[0] = '\0';
    if (!t) return;
    if (!isfinite(t->accuracy.mean)) {
        snprintf(text, size, "diverged");
        return;
    }
    put_share(mean, sizeof mean, t->accuracy.mean);
    put_share(half, sizeof half, t->accuracy.high - t->accuracy.mean);
    const char *mark = rung_table_trained_at(t, usual) ? "" : "†";
    if (wide && isfinite(t->accuracy.high))
        snprintf(text, size, "%s%s±%s", mark, mean, half);
    else
        snprintf(text, size, "%s%s", mark, mean);
}

/* "O(polylog)", "Ω(n log n)": the growth without what is said about it. */
static void claim_text(char *text, size_t size, const char *claim)
{
    text[0] = '\0';
    if (!claim) return;
    if (strcmp(claim, "O(polylog n)") == 0) claim = "O(polylog)";
    snprintf(text, size, "%.*s", (int)(strchr(claim, ')') - claim + 1), claim);
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static void print_first(rung_buf *out, const rung_table *table, size_t r, const layout *at)
{
    char text[64], reason[64];
    rung_buf_puts(out, tool_style_bold());
    snprintf(text, sizeof text, "%.*s", (int)at->title - 1, rung_table_rows[r].brief);
    put_field(out, text, at->title, false);
    rung_buf_puts(out, tool_style_off());
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        const rung_table_cell *cell = &table->cell[r][c];
        bool last = c + 1 == RUNG_TABLE_COLS;
        verdict_text(text, sizeof text, cell);
        if (at->narrow) text[strcspn(text, "*")] = '\0';
        rung_buf_printf(out, "%s%s%s", tool_style_verdict(cell->verdict), text, tool_style_off());
        reason_text(reason, sizeof reason, cell, rung_table_rows[r].task[c] != NULL);
        put_field(out, at->narrow ? "" : reason, at->cell - width_of(text), last);
    }
    rung_buf_putc(out, '\n');
}

static void print_second(rung_buf *out, const rung_table *table, size_t r, const layout *at,
                         const rung_table_sizes *usual)
{
    char line[512], trained[64], claim[64];
    size_t used =
        (size_t)snprintf(line, sizeof line, "%s",
                         strcmp(rung_table_rows[r].arch, rung_table_rows[r].brief) ? rung_table_rows[r].arch : "");
    rung_buf_puts(out, tool_style_dim());
    if (used >= at->title) snprintf(line + at->title - 2, sizeof line - at->title, "…");
    put_field(out, line, at->title, false);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        const rung_table_cell *cell = &table->cell[r][c];
        claim_text(claim, sizeof claim, rung_table_rows[r].claim[c]);
        trained_text(trained, sizeof trained, cell, &usual[c], at->wide);
        snprintf(line, sizeof line, "%s%s%s", claim, claim[0] && trained[0] ? " " : "",
                 trained[0] || claim[0] ? trained : ".");
        put_field(out, line, at->cell, c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}

/* The lengths of the prompts of the verdicts, then the sizes of what was trained. */
static void print_head(rung_buf *out, const rung_table *table, const layout *at, const rung_table_sizes *usual)
{
    char text[64];
    snprintf(text, sizeof text, "%d bits", table->fmt.bits);
    put_field(out, text, at->title, false);
    rung_buf_puts(out, tool_style_bold());
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        const char *name = rung_table_cols[c].symbol;
        snprintf(text, sizeof text, "%s%s", at->narrow && c == RUNG_TABLE_SEQCOMP ? "SeqComp" : name,
                 c == RUNG_TABLE_SEQCOMP && !at->narrow ? ", L=2" : "");
        put_field(out, text, at->cell, c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
    if (at->narrow) return;
    rung_buf_puts(out, tool_style_dim());
    put_field(out, "verdict", at->title, false);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        snprintf(text, sizeof text, "n=%zu", table->task[c].tokens);
        put_field(out, text, at->cell, c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_putc(out, '\n');
    put_field(out, "trained", at->title, false);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        snprintf(text, sizeof text, "n=%zu dk=%zu", usual[c].tokens, usual[c].dk);
        put_field(out, usual[c].runs ? text : "no run", at->cell, c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}

void tool_table_print(rung_buf *out, const rung_table *table)
{
    const layout at = layout_of(tool_columns(STDOUT_FILENO));
    rung_table_sizes usual[RUNG_TABLE_COLS];
    bool mixed = false;
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        usual[c] = rung_table_usual(table, c);
        mixed = mixed || usual[c].mixed;
    }
    print_head(out, table, &at, usual);
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        print_first(out, table, r, &at);
        if (!at.narrow) print_second(out, table, r, &at, usual);
    }
    rung_buf_puts(out, tool_style_dim());
    if (!at.narrow)
        rung_buf_printf(out, "a>b: bits needed>held; *: certificate; O,Ω: published; .9 trained%s",
                        mixed ? "; †: other n,dk" : "");
    else
        rung_buf_puts(out, "80 columns show the numbers");
    rung_buf_printf(out, "%s\n", tool_style_off());
}
