/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * From runs to settings to cells: computes intervals over seeds and chooses the setting of a cell that is shown. The
 * choice follows the view `results` of a store (docs/store.md), over the runs of all stores together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Sorts the positions of `count` items by a small number each, stably. first[b] is where bucket b begins. */
static rung_status bucket(size_t **order, size_t **first, size_t count, size_t buckets,
                          size_t (*of)(const report_group *, size_t), const report_group *g, rung_error *err)
{
    *order = rung_calloc(count ? count : 1, sizeof **order, err);
    *first = rung_calloc(buckets + 2, sizeof **first, err);
    if (!*order || !*first) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) (*first)[of(g, i) + 2]++;
    for (size_t b = 2; b < buckets + 2; b++) (*first)[b] += (*first)[b - 1];
    for (size_t i = 0; i < count; i++) (*order)[(*first)[of(g, i) + 1]++] = i;
    return RUNG_OK;
}

static size_t setting_of_run(const report_group *g, size_t run)
{
    return g->run[run].setting;
}

static size_t cell_of_setting(const report_group *g, size_t setting)
{
    return g->setting[setting].cell;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : NAN;
}

/* `room` is scratch space for 3 * runs numbers. */
static void sum_up(report_setting *s, const report_group *g, double *room)
{
    double *test = room, *eval = room + s->runs, *loss = room + 2 * s->runs;
    size_t tests = 0, evals = 0, losses = 0;
    for (size_t i = 0; i < s->runs; i++) {
        const report_run *run = &g->run[g->order[s->first + i]];
        if (isfinite(run->test_accuracy)) test[tests++] = run->test_accuracy;
        if (isfinite(run->eval_accuracy)) eval[evals++] = run->eval_accuracy;
        if (isfinite(run->eval_loss)) loss[losses++] = run->eval_loss;
        s->succeeded += run->test_accuracy >= g->shown.success;
        s->diverged += run->diverged;
    }
    s->accuracy = rung_estimate_mean(test, tests);
    s->evaluated = rung_estimate_mean(eval, evals);
    s->success = rung_estimate_rate(s->succeeded, s->runs);
    s->eval_accuracy = mean_of(eval, evals);
    s->eval_loss = mean_of(loss, losses);
}

static rung_status make_settings(report_group *g, rung_error *err)
{
    size_t *first = NULL;
    double *room = rung_calloc(3 * g->runs + 1, sizeof *room, err);
    rung_status status = room ? RUNG_OK : RUNG_SYSTEM;
    RUNG_NEXT(status, bucket(&g->order, &first, g->runs, g->settings, setting_of_run, g, err));
    for (size_t i = 0; status == RUNG_OK && i < g->settings; i++) {
        g->setting[i].first = first[i], g->setting[i].runs = first[i + 1] - first[i];
        sum_up(&g->setting[i], g, room);
        g->shown.diverged += g->setting[i].diverged;
    }
    free(first);
    free(room);
    return status;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

/* Larger numbers first, NaN last; 0 if equal. */
static int compare_down(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

static bool is_better(const report_setting *a, const report_setting *b)
{
    int by = compare_down(a->eval_accuracy, b->eval_accuracy);
    if (!by) by = compare_down(-a->eval_loss, -b->eval_loss);
    return by ? by < 0 : (int64_t)a->hash < (int64_t)b->hash;
}

static rung_status make_cells(report_group *g, rung_error *err)
{
    size_t *first = NULL;
    rung_status status = bucket(&g->by_cell, &first, g->settings, g->cells, cell_of_setting, g, err);
    for (size_t c = 0; status == RUNG_OK && c < g->cells; c++) {
        report_cell *cell = &g->cell[c];
        cell->first = first[c], cell->settings = first[c + 1] - first[c];
        cell->chosen = g->by_cell[cell->first];
        for (size_t i = 1; i < cell->settings; i++) {
            size_t s = g->by_cell[cell->first + i];
            if (is_better(&g->setting[s], &g->setting[cell->chosen])) cell->chosen = s;
        }
    }
    free(first);
    return status;
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

/* The lower end of the interval. With one run, the interval of its own targets, as if they were independent. */
static double lowest(const report_group *g, const report_setting *s)
{
    if (s->accuracy.count != 1) return s->accuracy.low;
    const report_run *run = &g->run[g->order[s->first]];
    for (size_t i = 1; i < s->runs && isnan(run->test_accuracy); i++) run = &g->run[g->order[s->first + i]];
    return rung_estimate_rate((size_t)run->test_right, (size_t)run->test_targets).low;
}

static void take_certificate(rung_cell *out, const report_group *g, const report_setting *s)
{
    for (size_t i = 0; i < s->runs && !out->certificate; i++) {
        const report_run *run = &g->run[g->order[s->first + i]];
        out->certificate = run->certificate;
        out->certificate_name = run->certificate_name;
        out->certificate_sha256 = run->certificate_sha256;
        out->certificate_seed = run->seed;
    }
}

static rung_cell shown_cell(const report_group *g, size_t c)
{
    const report_setting *s = report_chosen(g, c);
    rung_cell out = {.row = &s->row,
                     .accuracy = s->accuracy,
                     .success = s->success,
                     .evaluated = s->evaluated,
                     .runs = s->runs,
                     .succeeded = s->succeeded,
                     .diverged = s->diverged,
                     .settings = g->cell[c].settings};
    out.spoken = rung_theory_speaks(&s->row.theory, s->row.test_numbers);
    out.ceiling = out.spoken && s->row.theory.ceiling > 0 ? s->row.theory.ceiling : 0;
    out.above = out.ceiling > 0 && out.ceiling < 1 && lowest(g, s) > out.ceiling;
    take_certificate(&out, g, s);
    return out;
}

static void count_cell(rung_run_group *shown, const rung_cell *cell)
{
    bool off = cell->accuracy.count > 1 && cell->accuracy.low > fmax(cell->row->chance, cell->row->majority);
    shown->controls += cell->row->random_labels;
    shown->controls_off += cell->row->random_labels && off;
    shown->above += cell->above;
    shown->certificates += cell->certificate != NULL;
}

rung_status report_aggregate(rung_report *report, report_group *g, rung_error *err)
{
    RUNG_TRY(make_settings(g, err));
    RUNG_TRY(make_cells(g, err));
    rung_cell *cells = rung_arena_alloc(&report->arena, g->cells, sizeof *cells, err);
    if (!cells) return RUNG_SYSTEM;
    for (size_t c = 0; c < g->cells; c++) {
        cells[c] = shown_cell(g, c);
        count_cell(&g->shown, &cells[c]);
    }
    g->shown.cell = cells;
    g->shown.cells = g->cells, g->shown.settings = g->settings, g->shown.runs = g->runs;
    return RUNG_OK;
}
