/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The law: every form fitted to every mechanism, the form chosen by states that the fit did not see, predictions with
 * intervals.
 */
#include "rung/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recall_inside.h"

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static rung_status check_cell(const rung_recall_cell *c, size_t index, rung_error *err)
{
    if (!c->mechanism || !c->mechanism[0])
        return rung_fail(err, RUNG_INPUT, "recall: cell %zu names no mechanism", index);
    if (c->state.heads == 0 || c->state.dk == 0 || c->state.dv == 0 || c->entries == 0)
        return rung_fail(err, RUNG_INPUT, "recall: cell %zu (%s) has a size of 0", index, c->mechanism);
    if (c->values < 2) return rung_fail(err, RUNG_INPUT, "recall: cell %zu (%s) has one value", index, c->mechanism);
    if (!(c->accuracy >= 0 && c->accuracy <= 1) || !(c->standard_error >= 0 && c->standard_error < INFINITY))
        return rung_fail(err, RUNG_INPUT, "recall: cell %zu (%s) has an accuracy that is none", index, c->mechanism);
    return RUNG_OK;
}

static bool same_state(const rung_recall_cell *a, const rung_recall_cell *b)
{
    return a->state.heads == b->state.heads && a->state.dk == b->state.dk && a->state.dv == b->state.dv;
}

/* The detector of so many values; it is made if it is new. There is room for one per cell. */
static const recall_detector *detector_of(rung_recall_law *law, size_t values)
{
    for (size_t i = 0; i < law->detectors; i++)
        if (law->detector[i].values == values) return &law->detector[i];
    recall_detector_init(&law->detector[law->detectors], values);
    return &law->detector[law->detectors++];
}

static size_t different_values(const rung_recall_cell *cells, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && cells[j].values != cells[i].values) j++;
        different += j == i;
    }
    return different;
}

/* ---- one mechanism ----------------------------------------------------------------------------------------------- */

static void widen(rung_recall_mechanism *m, const rung_recall_cell *c)
{
#define WIDEN(low, high, value)                                                                                        \
    do {                                                                                                               \
        if ((low) == 0 || (value) < (low)) (low) = (value);                                                            \
        if ((value) > (high)) (high) = (value);                                                                        \
    } while (0)
    WIDEN(m->entries_low, m->entries_high, c->entries);
    WIDEN(m->values_low, m->values_high, c->values);
    WIDEN(m->low.heads, m->high.heads, c->state.heads);
    WIDEN(m->low.dk, m->high.dk, c->state.dk);
    WIDEN(m->low.dv, m->high.dv, c->state.dv);
#undef WIDEN
}

/* The first point of its state. With `telling`, among the points that say where recall ends. */
static bool is_first_of_state(const recall_point *points, size_t index, bool telling)
{
    if (telling && points[index].accuracy >= RECALL_FULL) return false;
    for (size_t j = 0; j < index; j++) {
        if (telling && points[j].accuracy >= RECALL_FULL) continue;
        if (same_state(points[j].cell, points[index].cell)) return false;
    }
    return true;
}

static rung_status collect(recall_fitted *f, rung_recall_law *law, const char *name, const rung_recall_cell *cells,
                           size_t count, rung_error *err)
{
    memset(f, 0, sizeof *f);
    f->shown.name = name;
    f->point = rung_arena_alloc(&law->arena, count, sizeof *f->point, err);
    if (!f->point) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(cells[i].mechanism, name) != 0) continue;
        f->point[f->shown.cells++] = (recall_point){&cells[i], detector_of(law, cells[i].values), cells[i].accuracy, 1};
        widen(&f->shown, &cells[i]);
    }
    for (size_t i = 0; i < f->shown.cells; i++) f->shown.states += is_first_of_state(f->point, i, true);
    return RUNG_OK;
}

/* Predicts the cells of the state of point `first` by a fit to all others. */
static void hold_out(recall_fitted *f, rung_recall_form form, size_t first)
{
    double logs[RUNG_RECALL_PARAMETERS] = {0};
    for (size_t i = 0; i < f->shown.cells; i++)
        f->point[i].weight = same_state(f->point[i].cell, f->point[first].cell) ? 0 : 1;
    recall_least_squares(logs, form, f->point, f->shown.cells, false);
    for (size_t i = 0; i < f->shown.cells; i++) {
        recall_point *p = &f->point[i];
        if (p->weight == 0)
            f->held[form][i] =
                p->accuracy - recall_form_accuracy(form, logs, &p->cell->state, (double)p->cell->entries, p->detector);
        p->weight = 1;
    }
}

static double mean_square(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sum / (double)count;
}

static rung_status fit_form(recall_fitted *f, rung_recall_law *law, rung_recall_form form, rung_error *err)
{
    rung_recall_fit *fit = &f->shown.fit[form];
    size_t count = f->shown.cells;
    f->held[form] = rung_arena_alloc(&law->arena, count, sizeof *f->held[form], err);
    if (!f->held[form]) return RUNG_SYSTEM;
    fit->error = sqrt(recall_least_squares(f->logs[form], form, f->point, count, false) / (double)count);
    for (size_t a = 0; a < rung_recall_form_parameters(form); a++) fit->parameter[a] = exp(f->logs[form][a]);
    for (size_t i = 0; i < count; i++)
        if (is_first_of_state(f->point, i, false)) hold_out(f, form, i);
    fit->held_error = sqrt(mean_square(f->held[form], count));
    return RUNG_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void choose_form(rung_recall_law *law)
{
    for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) {
        double sum = 0;
        size_t cells = 0;
        for (size_t i = 0; i < law->mechanisms; i++) {
            const rung_recall_mechanism *m = &law->mechanism[i].shown;
            sum += m->fit[form].held_error * m->fit[form].held_error * (double)m->cells;
            cells += m->cells;
        }
        law->held_error[form] = cells ? sqrt(sum / (double)cells) : NAN;
        if (law->held_error[form] < law->held_error[law->chosen]) law->chosen = form;
    }
}

static rung_status bootstrap(rung_recall_law *law, rung_error *err)
{
    for (size_t i = 0; i < law->mechanisms; i++) {
        recall_fitted *f = &law->mechanism[i];
        recall_point *scratch = rung_arena_alloc(&law->arena, f->shown.cells, sizeof *scratch, err);
        f->replicate = rung_arena_alloc(&law->arena, RECALL_REPLICATES, sizeof *f->replicate, err);
        if (!scratch || !f->replicate) return RUNG_SYSTEM;
        recall_bootstrap(f, law->chosen, scratch);
    }
    return RUNG_OK;
}

static bool is_first_of_mechanism(const rung_recall_cell *cells, size_t index)
{
    for (size_t j = 0; j < index; j++)
        if (strcmp(cells[j].mechanism, cells[index].mechanism) == 0) return false;
    return true;
}

static rung_status fit_all(rung_recall_law *law, const rung_recall_cell *cells, size_t count, rung_error *err)
{
    rung_arena_init(&law->arena);
    for (size_t i = 0; i < count; i++) RUNG_TRY(check_cell(&cells[i], i, err));
    law->mechanism = rung_arena_alloc(&law->arena, count, sizeof *law->mechanism, err);
    law->detector = rung_arena_alloc(&law->arena, different_values(cells, count), sizeof *law->detector, err);
    if (!law->mechanism || !law->detector) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        if (!is_first_of_mechanism(cells, i)) continue;
        recall_fitted *f = &law->mechanism[law->mechanisms];
        RUNG_TRY(collect(f, law, cells[i].mechanism, cells, count, err));
        if (f->shown.states < RUNG_RECALL_LEAST_STATES) continue;
        for (rung_recall_form form = 0; form < RUNG_RECALL_FORMS; form++) RUNG_TRY(fit_form(f, law, form, err));
        law->mechanisms++;
    }
    choose_form(law);
    return bootstrap(law, err);
}

rung_status rung_recall_law_new(rung_recall_law **out, const rung_recall_cell *cells, size_t count, rung_error *err)
{
    rung_recall_law *law = rung_calloc(1, sizeof *law, err);
    *out = NULL;
    if (!law) return RUNG_SYSTEM;
    rung_status status = fit_all(law, cells, count, err);
    if (status == RUNG_OK)
        *out = law;
    else
        rung_recall_law_free(law);
    return status;
}

void rung_recall_law_free(rung_recall_law *law)
{
    if (!law) return;
    rung_arena_clear(&law->arena);
    free(law);
}

size_t rung_recall_mechanisms(const rung_recall_law *law)
{
    return law->mechanisms;
}

const rung_recall_mechanism *rung_recall_mechanism_at(const rung_recall_law *law, size_t index)
{
    return index < law->mechanisms ? &law->mechanism[index].shown : NULL;
}

const recall_fitted *recall_fitted_get(const rung_recall_law *law, const char *mechanism)
{
    for (size_t i = 0; i < law->mechanisms; i++)
        if (strcmp(law->mechanism[i].shown.name, mechanism) == 0) return &law->mechanism[i];
    return NULL;
}

const rung_recall_mechanism *rung_recall_mechanism_get(const rung_recall_law *law, const char *name)
{
    const recall_fitted *f = recall_fitted_get(law, name);
    return f ? &f->shown : NULL;
}

rung_recall_form rung_recall_chosen(const rung_recall_law *law)
{
    return law->chosen;
}

double rung_recall_held_error(const rung_recall_law *law, rung_recall_form form)
{
    return law->held_error[form];
}
