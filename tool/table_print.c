/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table on a terminal, two lines per row: the verdict with its numbers, and what was learned beside what is proved
 * of it. The published growth stands below. From 100 columns on intervals are shown too, and below 80 the verdicts
 * alone.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "table_print.h"

/* Columns of the titles and of the cells. */
typedef struct layout {
    size_t title, cell[RUNG_TABLE_COLS], all;
    bool narrow, wide;
} layout;

static layout layout_of(size_t columns)
{
    if (columns < 80) return (layout){.title = columns < 45 ? columns - 31 : 14, .cell = {8, 8, 8, 8}, .narrow = true};
    if (columns < 100) return (layout){.title = 13, .cell = {17, 16, 18, 16}, .all = 80};
    return (layout){.title = 16, .cell = {20, 19, 26, 19}, .all = 100, .wide = true};
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
    bool trained = cell->verdict == RUNG_CANNOT && cell->trained && cell->trained->cert;
    snprintf(text, size, "%s%s", rung_verdict_names[cell->verdict - 1], trained ? "*" : cell->cert[0] ? "'" : "");
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

/* Upwards, so that what is printed is proved too. */
static void put_ceiling(char *text, size_t size, double ceiling)
{
    put_share(text, size, fmin(ceil(100 * ceiling), 100) / 100);
}

/* How much is said beside an accuracy, where columns are few. */
typedef enum how_much { SIGN, NUMBER, INTERVAL } how_much;

/* ".97", ".42≤.58", ".42<1", ".87!3000"; with intervals ".97±.03". */
static void trained_text(char *text, size_t size, const rung_table *table, const rung_table_trained *t,
                         rung_verdict verdict, how_much detail)
{
    char mean[16], half[16], ceiling[16];
    size_t at;
    text[0] = '\0';
    if (!t) return;
    if (!isfinite(t->accuracy.mean)) {
        snprintf(text, size, "diverged");
        return;
    }
    put_share(mean, sizeof mean, t->accuracy.mean);
    put_share(half, sizeof half, t->accuracy.high - t->accuracy.mean);
    at = (size_t)snprintf(text, size, "%s", mean);
    if (detail == INTERVAL && isfinite(t->accuracy.high)) at += (size_t)snprintf(text + at, size - at, "±%s", half);
    switch (rung_table_learnt(table, t, verdict)) {
    case RUNG_TABLE_CEILING:
        put_ceiling(ceiling, sizeof ceiling, t->ceiling);
        snprintf(text + at, size - at, "%s%s", detail ? "≤" : "<", detail ? ceiling : "");
        break;
    case RUNG_TABLE_NOT_ALWAYS:
        snprintf(text + at, size - at, detail ? "<1" : "<");
        break;
    case RUNG_TABLE_NOT_LEARNT:
        snprintf(text + at, size - at, detail ? "!%zu" : "!", t->steps);
        break;
    case RUNG_TABLE_LEARNT:
    case RUNG_TABLE_NOTHING_SAID:
        break;
    }
}

/* Of L-SeqComp one after the other for L = 1, 2, 3, "-" without a run; less is said of the last ones where it does not
 * fit. */
static void learned_text(char *text, size_t size, const rung_table *table, size_t r, size_t c, size_t width, bool wide)
{
    size_t depths = c == RUNG_TABLE_SEQCOMP ? RUNG_TABLE_TRAINED : 1, runs = 0;
    for (size_t brief = 0; brief <= depths; brief++) {
        size_t at = 0;
        runs = 0;
        for (size_t L = 1; L <= depths; L++) {
            const rung_table_trained *t = rung_table_run(table, r, c, L);
            rung_verdict v = depths > 1 && L != 2 ? table->depth[r][L - 1].can : table->cell[r][c].verdict;
            char one[64];
            trained_text(one, sizeof one, table, t, v,
                         L + brief > depths    ? SIGN
                         : wide && depths == 1 ? INTERVAL
                                               : NUMBER);
            at += (size_t)snprintf(text + at, size - at, "%s%s", L > 1 ? " " : "", t ? one : "-");
            runs += t != NULL;
        }
        if (width_of(text) < width) break;
    }
    if (!runs) snprintf(text, size, ".");
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
        if (at->narrow) text[strcspn(text, "*'")] = '\0';
        rung_buf_printf(out, "%s%s%s", tool_style_verdict(cell->verdict), text, tool_style_off());
        reason_text(reason, sizeof reason, cell, rung_table_rows[r].task[c] != NULL);
        put_field(out, at->narrow ? "" : reason, at->cell[c] - width_of(text), last);
    }
    rung_buf_putc(out, '\n');
}

static void print_second(rung_buf *out, const rung_table *table, size_t r, const layout *at)
{
    char line[512];
    size_t used =
        (size_t)snprintf(line, sizeof line, "%s",
                         strcmp(rung_table_rows[r].arch, rung_table_rows[r].brief) ? rung_table_rows[r].arch : "");
    rung_buf_puts(out, tool_style_dim());
    if (used >= at->title) snprintf(line + at->title - 2, sizeof line - at->title, "…");
    put_field(out, line, at->title, false);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        learned_text(line, sizeof line, table, r, c, at->cell[c], at->wide);
        put_field(out, line, at->cell[c], c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}

/* "n=66,146,170 4x4": the lengths of the prompts, and dk x dv, with the heads in front if there are several. */
static void width_text(char *text, size_t size, const rung_table_sizes *width)
{
    size_t at = (size_t)snprintf(text, size, "n=");
    for (size_t i = 0; i < RUNG_TABLE_TRAINED; i++)
        if (width->tokens[i])
            at += (size_t)snprintf(text + at, size - at, "%s%zu", at > 2 ? "," : "", width->tokens[i]);
    at += (size_t)snprintf(text + at, size - at, " ");
    if (width->heads != 1) at += (size_t)snprintf(text + at, size - at, "%zux", width->heads);
    snprintf(text + at, size - at, "%zux%zu", width->dk, width->dv);
    if (!width->runs) snprintf(text, size, "no run");
}

/* The lengths of the prompts of the verdicts, then the sizes of what was trained. */
static void print_head(rung_buf *out, const rung_table *table, const layout *at)
{
    char text[64];
    snprintf(text, sizeof text, "%d bits", table->fmt.bits);
    put_field(out, text, at->title, false);
    rung_buf_puts(out, tool_style_bold());
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        const char *name = rung_table_cols[c].symbol;
        snprintf(text, sizeof text, "%s%s", at->narrow && c == RUNG_TABLE_SEQCOMP ? "SeqComp" : name,
                 c == RUNG_TABLE_SEQCOMP && !at->narrow ? ", L=2" : "");
        put_field(out, text, at->cell[c], c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
    if (at->narrow) return;
    rung_buf_puts(out, tool_style_dim());
    put_field(out, "verdict", at->title, false);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        snprintf(text, sizeof text, "n=%zu", table->task[c].tokens);
        put_field(out, text, at->cell[c], c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_putc(out, '\n');
    put_field(out, "trained", at->title, false);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        const rung_table_sizes width = rung_table_width(table, c);
        width_text(text, sizeof text, &width);
        put_field(out, text, at->cell[c], c + 1 == RUNG_TABLE_COLS);
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}

/* ---- what is published ------------------------------------------------------------------------------------------ */

/* Words in lines of at most `all` columns; a new line begins with a space. */
static void put_word(rung_buf *out, const char *word, size_t *used, size_t all)
{
    size_t width = width_of(word);
    if (*used + 1 + width > all) rung_buf_putc(out, '\n'), *used = 0;
    rung_buf_printf(out, " %s", word);
    *used += 1 + width;
}

/* "Eva O(polylog): full; Ω(n log n): linear; ..." */
static void print_claims_of(rung_buf *out, size_t c, size_t *used, size_t all)
{
    char claim[64], other[64], word[128];
    bool first = true;
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        bool again = false;
        claim_text(claim, sizeof claim, rung_table_rows[r].claim[c]);
        for (size_t s = 0; s < r; s++) {
            claim_text(other, sizeof other, rung_table_rows[s].claim[c]);
            again = again || strcmp(claim, other) == 0;
        }
        if (!claim[0] || again) continue;
        snprintf(word, sizeof word, "%s%s%s:", first ? rung_table_cols[c].symbol : "", first ? " " : "", claim);
        put_word(out, word, used, all);
        first = false;
        for (size_t s = r, shown = 0; s < RUNG_TABLE_ROWS; s++) {
            claim_text(other, sizeof other, rung_table_rows[s].claim[c]);
            if (strcmp(claim, other) != 0) continue;
            if (shown++) rung_buf_putc(out, ';'), ++*used;
            put_word(out, rung_table_rows[s].brief, used, all);
        }
        rung_buf_putc(out, '.'), ++*used;
    }
}

static void print_claims(rung_buf *out, const layout *at)
{
    size_t used = strlen("published:");
    rung_buf_puts(out, "published:");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) print_claims_of(out, c, &used, at->all - 1);
    rung_buf_putc(out, '\n');
}

void tool_table_print(rung_buf *out, const rung_table *table)
{
    const layout at = layout_of(tool_columns(STDOUT_FILENO));
    print_head(out, table, &at);
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        print_first(out, table, r, &at);
        if (!at.narrow) print_second(out, table, r, &at);
    }
    rung_buf_puts(out, tool_style_dim());
    if (!at.narrow) {
        print_claims(out, &at);
        rung_buf_puts(out, "a>b: bits needed>held; .9 learnt (L=1,2,3); proved: ≤.9 ceiling, <1 never all;\n"
                           "!n: weights exist, not learnt in n steps; *: a trained model fails, ' a random");
    } else {
        rung_buf_puts(out, "80 columns show the numbers");
    }
    rung_buf_printf(out, "%s\n", tool_style_off());
}
