/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Heat maps: accuracy over two axes. If several cells fall on one place (orders of the same layers), the one with the
 * best evaluation during training is shown, with the number of cells. If there is no axis, all cells are listed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"

#define MAX_PAIRS  3
#define MAX_HEATS  24 /* per group */
#define MAX_LEVELS 32 /* per side */
#define MAX_LISTED 60 /* rows of a list of cells */

typedef struct side {
    double value[MAX_LEVELS];
    size_t count;
    bool full; /* more levels than MAX_LEVELS */
} side;

static size_t side_place(const side *s, double value)
{
    size_t i = 0;
    while (i < s->count && s->value[i] < value) i++;
    return i;
}

static void side_add(side *s, double value)
{
    size_t at = side_place(s, value);
    if (at < s->count && s->value[at] == value) return;
    if (s->count == MAX_LEVELS) {
        s->full = true;
        return;
    }
    memmove(&s->value[at + 1], &s->value[at], (s->count - at) * sizeof *s->value);
    s->value[at] = value, s->count++;
}

static const char *const *side_names(const side *s, rung_report *report, rung_error *err)
{
    const char **names = rung_arena_alloc(&report->arena, s->count, sizeof *names, err);
    for (size_t i = 0; names && i < s->count; i++) {
        char text[32];
        report_number(text, s->value[i]);
        if (!(names[i] = report_keep(report, text, err))) return NULL;
    }
    return names;
}

/* ---- one map ----------------------------------------------------------------------------------------------------- */

static rung_heat_cell shown(const rung_cell *cell, size_t number)
{
    return (rung_heat_cell){.value = cell->accuracy.mean,
                            .ceiling = cell->ceiling,
                            .marks = report_marks(cell),
                            .count = cell->accuracy.count,
                            .among = 1,
                            .cell = number};
}

static void place_cell(rung_heat_cell *at, const rung_run_group *g, size_t number)
{
    size_t among = at->among;
    bool better = !among || !(g->cell[number].evaluated.mean <= g->cell[at->cell].evaluated.mean);
    if (better) *at = shown(&g->cell[number], number);
    at->among = among + 1;
}

typedef struct pair {
    const report_axis *x, *y;
    report_panels panels;
} pair;

static rung_status fill(rung_heat *heat, rung_report *report, const report_group *g, const pair *p,
                        const report_slot *slot, size_t slots, bool *worth, rung_error *err)
{
    side x = {.count = 0}, y = {.count = 0};
    for (size_t i = 0; i < slots; i++) {
        side_add(&x, slot[i].x);
        side_add(&y, report_axis_value(g, p->y, slot[i].cell));
    }
    *worth = !x.full && !y.full && x.count > 1 && y.count > 1;
    if (!*worth) return RUNG_OK;
    rung_heat_cell *cells = rung_arena_alloc(&report->arena, x.count * y.count, sizeof *cells, err);
    if (!cells) return RUNG_SYSTEM;
    for (size_t i = 0; i < x.count * y.count; i++) cells[i] = (rung_heat_cell){.value = NAN, .cell = RUNG_NO_CELL};
    for (size_t i = 0; i < slots; i++) {
        size_t row = side_place(&y, report_axis_value(g, p->y, slot[i].cell));
        place_cell(&cells[row * x.count + side_place(&x, slot[i].x)], &g->shown, slot[i].cell);
    }
    size_t filled = 0;
    for (size_t i = 0; i < x.count * y.count; i++) filled += cells[i].among > 0;
    *worth = 2 * filled >= x.count * y.count; /* with fewer fields it is no grid */
    heat->cell = cells, heat->columns = x.count, heat->rows = y.count;
    heat->column = side_names(&x, report, err), heat->row = side_names(&y, report, err);
    return heat->column && heat->row ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status add_pair(heat_list *list, rung_report *report, report_group *g, pair *p, size_t *left,
                            rung_error *err)
{
    rung_status status = report_panels_init(&p->panels, report, g, p->x, p->y, REPORT_SPLIT_ALL, err);
    for (size_t i = 0; status == RUNG_OK && i < p->panels.slots;) {
        const report_slot *slot = p->panels.slot + i;
        size_t n = 1;
        bool worth;
        rung_heat heat = {.x_name = p->x->name, .y_name = p->y->name, .subtitle = p->panels.panel[slot->panel]};
        while (i + n < p->panels.slots && slot[n].panel == slot->panel) n++;
        i += n;
        if (g->shown.cell[slot->cell].row->random_labels) continue;
        status = fill(&heat, report, g, p, slot, n, &worth, err);
        if (status != RUNG_OK || !worth) continue;
        if (list->count >= MAX_HEATS) {
            ++*left;
            continue;
        }
        heat.id = report_figure_id(report, g, "map", p->x->slug, list->count + 1, err);
        heat.title = report_say(report, err, "Test accuracy over %s and %s", p->x->name, p->y->name);
        heat.measured = report_measured(report, g, slot, n, err);
        status = heat.id && heat.title ? report_add_heat(list, &heat, err) : RUNG_SYSTEM;
    }
    report_panels_clear(&p->panels);
    return status;
}

/* A pair is two numeric keys, or the two numbers of layers. Other pairs of columns depend on each other. */
static bool is_pair(const report_axis *x, const report_axis *y)
{
    return (x->key != SIZE_MAX && y->key != SIZE_MAX) || (x->layers && y->layers);
}

/* ---- a list ------------------------------------------------------------------------------------------------------ */

/* An axis with the same non-zero value in all cells. */
static const report_axis no_axis = {
    .key = SIZE_MAX, .column = offsetof(rung_run_row, layers), .layers = true, .name = "", .slug = "cells"};

static rung_status add_list(heat_list *list, rung_report *report, report_group *g, rung_error *err)
{
    static const char *const columns[] = {"test accuracy", "success rate"};
    report_panels p;
    rung_status status = report_panels_init(&p, report, g, &no_axis, NULL, REPORT_SPLIT_ALL, err);
    size_t rows = p.slots < MAX_LISTED ? p.slots : MAX_LISTED;
    rung_heat_cell *cells = rung_arena_alloc(&report->arena, 2 * rows, sizeof *cells, err);
    const char **names = rung_arena_alloc(&report->arena, rows, sizeof *names, err);
    if (!cells || !names) status = RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < rows; i++) {
        size_t row = rows - 1 - i; /* the first cell is on top */
        const report_slot *slot = &p.slot[i];
        names[row] = p.panel[slot->panel];
        cells[2 * row] = cells[2 * row + 1] = shown(&g->shown.cell[slot->cell], slot->cell);
        cells[2 * row + 1].value = g->shown.cell[slot->cell].success.mean;
        cells[2 * row + 1].ceiling = 0;
    }
    rung_heat heat = {.title = "Test accuracy and success rate",
                      .subtitle = p.slots > rows ? "the first sixty cells; the table has all" : "",
                      .x_name = "",
                      .y_name = "",
                      .column = columns,
                      .columns = 2,
                      .row = names,
                      .rows = rows,
                      .cell = cells};
    if (status == RUNG_OK) heat.id = report_figure_id(report, g, "cells", "", 1, err);
    if (status == RUNG_OK) heat.measured = report_measured(report, g, p.slot, rows, err);
    if (status == RUNG_OK && rows) status = heat.id ? report_add_heat(list, &heat, err) : RUNG_SYSTEM;
    report_panels_clear(&p);
    return status;
}

rung_status report_make_heats(rung_report *report, report_group *g, rung_error *err)
{
    report_axis axis[REPORT_AXES];
    size_t axes = report_axes(axis, g, err), pairs = 0, left = 0;
    heat_list list = {0};
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < axes; i++)
        for (size_t k = i + 1; status == RUNG_OK && k < axes && pairs < MAX_PAIRS; k++) {
            pair p = {.x = &axis[i], .y = &axis[k]};
            if (!is_pair(p.x, p.y)) continue;
            pairs++;
            status = add_pair(&list, report, g, &p, &left, err);
        }
    if (status == RUNG_OK && list.count == 0 && g->shown.figures == g->shown.rates)
        status = add_list(&list, report, g, err);
    if (status == RUNG_OK) {
        g->shown.heat = report_settle(report, list.heat, list.count, sizeof *list.heat, err);
        g->shown.heats = list.count;
        if (left)
            g->shown.left_out =
                report_say(report, err, "%s%d of %zu maps are drawn. ", g->shown.left_out, MAX_HEATS, MAX_HEATS + left);
        if (!g->shown.heat || !g->shown.left_out) status = RUNG_SYSTEM;
    }
    free(list.heat);
    return status;
}
