/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table on a terminal of 80 columns, two lines per row: what theory and constructions say, and what was learned; and the same for
 * programs.
 */
#include <math.h>
#include <string.h>

#include "json_out.h"
#include "output.h"
#include "table.h"

/* 19 + 2 x 20 + 21 = 80: the last title is the longest. */
enum { TITLE = 19, CELL = 20 };

/* ---- terminal -------------------------------------------------------------------------------------------------------------------- */

static void verdict_text(char *text, size_t size, const rung_table_cell *cell)
{
    if (cell->verdict == RUNG_CAN && cell->proved)
        snprintf(text, size, "CAN, proved");
    else if (cell->verdict == RUNG_CAN)
        snprintf(text, size, "CAN, all prompts");
    else if (cell->verdict == RUNG_CAN_SAMPLED)
        snprintf(text, size, "SAMPLED %llu prompts", (unsigned long long)cell->prompts);
    else if (cell->verdict == RUNG_CANNOT)
        snprintf(text, size, "CANNOT%s %.0f > %.0f", cell->cert[0] ? "*" : "", cell->lhs, cell->rhs);
    else
        snprintf(text, size, "UNKNOWN");
}

/* "0.98 [0.97, 1.00]"; the interval of a mean is not cut where it is computed, but a share is between 0 and 1. */
static void trained_text(char *text, size_t size, const rung_table_cell *cell)
{
    const rung_table_trained *t = cell->trained_count ? cell->trained[0] : NULL;
    if (!t)
        snprintf(text, size, "no run");
    else if (!isfinite(t->accuracy.mean))
        snprintf(text, size, "diverged");
    else if (!isfinite(t->accuracy.low))
        snprintf(text, size, "%.2f, one run", t->accuracy.mean);
    else
        snprintf(text, size, "%.2f [%.2f, %.2f]", t->accuracy.mean, fmax(t->accuracy.low, 0),
                 fmin(t->accuracy.high, 1));
}

/* A title of two lines: as many words as fit, and the rest. */
static size_t first_line(const char *title)
{
    size_t len = strlen(title);
    if (len < TITLE) return len;
    for (len = TITLE - 1; len > 0 && title[len] != ' ';) len--;
    return len;
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

static void print_head(rung_buf *out, const rung_table *table)
{
    char text[64];
    rung_buf_printf(out, "%s%-*s", rung_style_bold(), TITLE, "");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) put_field(out, rung_table_cols[c].title, c);
    rung_buf_printf(out, "%s%s%-*s", rung_style_off(), rung_style_dim(), TITLE, "verdict");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        snprintf(text, sizeof text, "%zu tokens", table->task[c].tokens);
        put_field(out, text, c);
    }
    rung_buf_printf(out, "%-*s", TITLE, "trained");
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        trained_size(text, sizeof text, table, c);
        put_field(out, text, c);
    }
    rung_buf_printf(out, "%s\n", rung_style_off());
}

static void print_row(rung_buf *out, const rung_table *table, size_t r)
{
    char text[64];
    const char *title = rung_table_rows[r].title;
    size_t first = first_line(title);
    rung_buf_printf(out, "%-*.*s", TITLE, (int)first, title);
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        verdict_text(text, sizeof text, &table->cell[r][c]);
        put_field(out, text, c);
    }
    rung_buf_printf(out, "%-*s%s", TITLE, title[first] ? title + first + 1 : "", rung_style_dim());
    for (size_t c = 0; c < RUNG_TABLE_COLS; c++) {
        trained_text(text, sizeof text, &table->cell[r][c]);
        put_field(out, text, c);
    }
    rung_buf_puts(out, rung_style_off());
}

void rung_table_print(rung_buf *out, const rung_table *table)
{
    print_head(out, table);
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) print_row(out, table, r);
    rung_buf_printf(out,
                    "\nThe same instances in every row of a column, numbers of %d bits (%s).\n"
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
                    "Prompts were as long as the head says: the two lines of a cell need not speak\n"
                    "of one size. A low number proves nothing; CANNOT does. The page has sizes,\n"
                    "rates, chance, and the ceilings that are proved for what was trained.\n",
                    table->quick ? "one seed each" : "mean over seeds with 95 % interval");
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------------------- */

static void json_certificate(rung_jout *out, const rung_table_cell *cell)
{
    if (!cell->cert[0]) return;
    rung_jout_object(out, "certificate");
    rung_jout_string(out, "file", cell->cert);
    rung_jout_string(out, "model", cell->cert_model);
    rung_jout_string(out, "kind", cell->cert_kind);
    rung_jout_string(out, "numbers", cell->cert_numbers);
    rung_jout_string(out, "attack", cell->cert_attack);
    rung_jout_string(out, "how", cell->cert_how);
    rung_jout_end(out);
}

static void json_trained(rung_jout *out, const rung_table_trained *t)
{
    rung_jout_object(out, NULL);
    rung_jout_string(out, "task", t->task);
    rung_jout_int(out, "tokens", (int64_t)t->tokens);
    rung_jout_int(out, "d_model", (int64_t)t->d_model);
    rung_jout_int(out, "dk", (int64_t)t->dk);
    rung_jout_int(out, "dv", (int64_t)t->dv);
    rung_jout_int(out, "steps", (int64_t)t->steps);
    rung_jout_real(out, "rate", t->rate);
    rung_jout_int(out, "rates_tried", (int64_t)t->settings);
    rung_jout_int(out, "runs", (int64_t)t->runs);
    rung_jout_int(out, "succeeded", (int64_t)t->succeeded);
    rung_jout_string(out, "seeds", t->seeds);
    rung_jout_real(out, "accuracy", t->accuracy.mean);
    rung_jout_real(out, "low", t->accuracy.low);
    rung_jout_real(out, "high", t->accuracy.high);
    rung_jout_real(out, "chance", t->chance);
    rung_jout_string(out, "verdict", rung_verdict_words[t->verdict - 1]);
    rung_jout_string(out, "bound", t->bound);
    rung_jout_real(out, "ceiling", t->ceiling);
    rung_jout_string(out, "test_numbers", t->test_numbers[0] ? t->test_numbers : RUNG_TEST_FAST);
    rung_jout_string(out, "version", t->version);
    rung_jout_end(out);
}

static void json_cell(rung_jout *out, const rung_table *table, size_t r, size_t c)
{
    const rung_table_cell *cell = &table->cell[r][c];
    rung_jout_object(out, NULL);
    rung_jout_string(out, "row", rung_table_rows[r].title);
    rung_jout_string(out, "arch", rung_table_rows[r].arch);
    rung_jout_string(out, "task", rung_table_cols[c].task);
    rung_jout_int(out, "tokens", (int64_t)table->task[c].tokens);
    rung_jout_string(out, "published", rung_table_rows[r].claim[c]);
    rung_jout_string(out, "verdict", rung_verdict_words[cell->verdict - 1]);
    if (cell->verdict == RUNG_CAN || cell->verdict == RUNG_CAN_SAMPLED) {
        rung_jout_bool(out, "proved", cell->proved);
        rung_jout_int(out, "prompts", (int64_t)cell->prompts);
        rung_jout_string(out, "model", cell->model);
        rung_jout_string(out, "layers", cell->arch);
        rung_jout_string(out, "command", cell->command);
    } else if (cell->verdict == RUNG_CANNOT) {
        rung_jout_string(out, "bound", cell->bound);
        rung_jout_string(out, "statement", cell->statement);
        rung_jout_bool(out, "trivial", cell->trivial);
        rung_jout_real(out, "lhs", cell->lhs);
        rung_jout_real(out, "rhs", cell->rhs);
        rung_jout_bool(out, "proof_in_coq", !cell->on_paper[0]);
        rung_jout_string(out, "coq_missing", cell->on_paper[0] ? cell->on_paper : NULL);
        rung_jout_string(out, "proof_file", cell->proof[0] ? cell->proof : NULL);
        json_certificate(out, cell);
    } else {
        rung_jout_string(out, "why", cell->nearest);
    }
    rung_jout_array(out, "trained");
    for (size_t i = 0; i < cell->trained_count; i++) json_trained(out, cell->trained[i]);
    rung_jout_end(out);
    rung_jout_end(out);
}

void rung_table_json(rung_buf *text, const rung_table *table)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.table/3", true);
    rung_jout_string(&out, "numbers", table->fmt.name);
    rung_jout_object(&out, "trained");
    rung_jout_string(&out, "spec", table->spec);
    rung_jout_bool(&out, "quick", table->quick);
    rung_jout_real(&out, "success", table->success);
    rung_jout_end(&out);
    rung_jout_array(&out, "cells");
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++)
        for (size_t c = 0; c < RUNG_TABLE_COLS; c++) json_cell(&out, table, r, c);
    rung_jout_end(&out);
    rung_jout_finish(&out);
}
