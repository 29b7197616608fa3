/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The table for programs.
 */
#include "rung/table.h"

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

static const char *const lessons[] = {[RUNG_TABLE_LEARNT] = "learnt",
                                      [RUNG_TABLE_NOT_LEARNT] = "not learnt",
                                      [RUNG_TABLE_CEILING] = "ceiling",
                                      [RUNG_TABLE_NOT_ALWAYS] = "never always right",
                                      [RUNG_TABLE_NOTHING_SAID] = NULL};

static void json_trained_certificate(rung_jout *out, const rung_table_trained *t)
{
    if (!t->cert) return;
    rung_jout_object(out, "certificate");
    rung_jout_string(out, "file", t->cert_file);
    rung_jout_string(out, "kind", t->cert_kind);
    rung_jout_string(out, "numbers", t->cert_numbers);
    rung_jout_int(out, "seed", (int64_t)t->cert_seed);
    rung_jout_end(out);
}

/* Weights of the cell: CAN or SAMPLED, if there are any. */
static void json_trained(rung_jout *out, const rung_table *table, const rung_table_trained *t, rung_verdict weights)
{
    if (!t) {
        rung_jout_string(out, "trained", NULL);
        return;
    }
    rung_jout_object(out, "trained");
    rung_jout_string(out, "task", t->task);
    rung_jout_int(out, "tokens", (int64_t)t->tokens);
    rung_jout_int(out, "d_model", (int64_t)t->d_model);
    rung_jout_int(out, "heads", (int64_t)t->heads);
    rung_jout_int(out, "dk", (int64_t)t->dk);
    rung_jout_int(out, "dv", (int64_t)t->dv);
    rung_jout_int(out, "thoughts", (int64_t)t->thoughts);
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
    rung_jout_string(out, "verdict", rung_verdict_names[t->verdict - 1]);
    rung_jout_string(out, "bound", t->bound);
    rung_jout_real(out, "ceiling", t->ceiling);
    rung_jout_string(out, "test_numbers", t->test_numbers[0] ? t->test_numbers : RUNG_TEST_FAST);
    rung_jout_string(out, "version", t->version);
    rung_jout_string(out, "lesson", lessons[rung_table_learnt(table, t, weights)]);
    json_trained_certificate(out, t);
    rung_jout_end(out);
}

static void json_cell(rung_jout *out, const rung_table *table, size_t r, size_t c)
{
    const rung_table_cell *cell = &table->cell[r][c];
    rung_jout_object(out, NULL);
    rung_jout_string(out, "row", rung_table_rows[r].title);
    rung_jout_string(out, "arch", rung_table_rows[r].arch);
    rung_jout_string(out, "task", rung_table_rows[r].task[c] ? rung_table_rows[r].task[c] : rung_table_cols[c].task);
    rung_jout_int(out, "tokens", (int64_t)cell->tokens);
    rung_jout_string(out, "published", rung_table_rows[r].claim[c]);
    rung_jout_string(out, "verdict", rung_verdict_names[cell->verdict - 1]);
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
    json_trained(out, table, cell->trained, cell->verdict);
    rung_jout_end(out);
}

static void json_depth(rung_jout *out, const rung_table *table, size_t r, size_t L)
{
    const rung_table_depth *d = &table->depth[r][L - 1];
    rung_jout_object(out, NULL);
    rung_jout_string(out, "row", rung_table_rows[r].title);
    rung_jout_string(out, "arch", rung_table_rows[r].arch);
    rung_jout_int(out, "L", (int64_t)L);
    rung_jout_bool(out, "cannot", d->cannot);
    if (d->cannot) {
        rung_jout_real(out, "from_tokens", d->tokens);
        rung_jout_real(out, "log2_from_tokens", d->log2_tokens);
        rung_jout_string(out, "bound", d->bound);
        rung_jout_string(out, "statement", d->statement);
    } else {
        rung_jout_string(out, "why", d->nearest);
    }
    rung_jout_string(out, "weights", d->build[0] ? rung_verdict_names[d->can - 1] : NULL);
    if (d->build[0]) {
        rung_jout_bool(out, "proved", d->proved);
        rung_jout_int(out, "prompts", (int64_t)d->prompts);
        rung_jout_int(out, "tokens", (int64_t)d->can_tokens);
        rung_jout_string(out, "build", d->build);
        rung_jout_string(out, "layers", d->arch);
    }
    json_trained(out, table, d->trained, d->can);
    rung_jout_end(out);
}

void rung_table_json(rung_buf *text, const rung_table *table)
{
    rung_jout out;
    rung_jout_begin(&out, text, "rung.table/4", true);
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
    rung_jout_array(&out, "depth");
    for (size_t r = 0; table->deep && r < RUNG_TABLE_LAYERS; r++)
        for (size_t L = 1; L <= RUNG_TABLE_DEPTH; L++) json_depth(&out, table, r, L);
    rung_jout_end(&out);
    rung_jout_finish(&out);
}
