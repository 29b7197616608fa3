/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Parts of figures: scales, guides, names.
 */
#include "draft.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ------------------------------------------------------------------------------------------------------- */

#define ADD(name, list_type, item_type, field)                                                                         \
    rung_status name(list_type *list, const item_type *item, rung_error *err)                                          \
    {                                                                                                                  \
        item_type *more = report_grow(list->field, list->count, &list->room, sizeof *more, err);                       \
        if (!more) return RUNG_SYSTEM;                                                                                 \
        list->field = more;                                                                                            \
        more[list->count++] = *item;                                                                                   \
        return RUNG_OK;                                                                                                \
    }
ADD(report_add_figure, figure_list, rung_chart, figure)
ADD(report_add_heat, heat_list, rung_heat, heat)
ADD(report_add_series, series_list, rung_series, series)
ADD(report_add_guide, guide_list, rung_guide, guide)
#undef ADD

void *report_settle(rung_report *report, const void *items, size_t count, size_t size, rung_error *err)
{
    void *copy = rung_arena_alloc(&report->arena, count, size, err);
    if (copy && count) memcpy(copy, items, count * size);
    return copy;
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t distinct(double *values, size_t count)
{
    size_t kept = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || values[i] != values[kept - 1]) values[kept++] = values[i];
    return kept;
}

/* A grid has few values; they become the ticks. If the ends differ by a factor of 8 or more, the axis is
 * logarithmic. */
rung_status report_scale(rung_axis *axis, rung_report *report, double *values, size_t count, bool may_log,
                         rung_error *err)
{
    count = distinct(values, count);
    if (count == 0) return RUNG_OK;
    axis->low = values[0], axis->high = values[count - 1];
    axis->log = may_log && axis->low > 0 && axis->high >= 8 * axis->low;
    if (count > 40) return RUNG_OK;
    axis->ticks = count;
    axis->tick = report_settle(report, values, count, sizeof *values, err);
    return axis->tick ? RUNG_OK : RUNG_SYSTEM;
}

/* ---- guides ------------------------------------------------------------------------------------------------------ */

typedef struct level_point {
    double x, y;
} level_point;

static int by_x(const void *a, const void *b)
{
    return by_value(&((const level_point *)a)->x, &((const level_point *)b)->x);
}

static rung_status add_level(guide_list *list, rung_report *report, level_point *p, size_t count, rung_guide guide,
                             const char *name, rung_error *err)
{
    double *x = rung_arena_alloc(&report->arena, count, sizeof *x, err);
    double *y = rung_arena_alloc(&report->arena, count, sizeof *y, err);
    if (!x || !y) return RUNG_SYSTEM;
    qsort(p, count, sizeof *p, by_x);
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        if (guide.count && x[guide.count - 1] == p[i].x) {
            if (fabs(y[guide.count - 1] - p[i].y) > 1e-9) return RUNG_OK; /* several levels at one place: draw none */
            continue;
        }
        x[guide.count] = p[i].x, y[guide.count++] = p[i].y;
        same = same && fabs(p[i].y - y[0]) < 1e-9;
    }
    guide.x = x, guide.y = y;
    guide.name = same ? report_say(report, err, "%s %.3g", name, y[0]) : name;
    return guide.name ? report_add_guide(list, &guide, err) : RUNG_SYSTEM;
}

rung_status report_floors(guide_list *list, rung_report *report, const report_floor *floors, size_t count,
                          rung_error *err)
{
    level_point *p = rung_calloc(2 * count + 1, sizeof *p, err), *q = p + count;
    size_t chances = 0, guesses = 0;
    bool apart = false;
    if (!p) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        const report_floor *f = &floors[i];
        if (isfinite(f->chance)) p[chances++] = (level_point){f->x, f->chance};
        if (isfinite(f->majority)) q[guesses++] = (level_point){f->x, f->majority};
        apart = apart || fabs(f->majority - f->chance) > 5e-4;
    }
    rung_status status = RUNG_OK;
    if (chances) status = add_level(list, report, p, chances, (rung_guide){.kind = RUNG_GUIDE_CHANCE}, "chance", err);
    if (status == RUNG_OK && guesses && apart)
        status = add_level(list, report, q, guesses, (rung_guide){.kind = RUNG_GUIDE_MAJORITY},
                           "best guess without the query", err);
    free(p);
    return status;
}

rung_status report_chance(guide_list *list, rung_report *report, const report_group *g, const report_slot *slot,
                          size_t slots, rung_error *err)
{
    report_floor *floors = rung_calloc(slots + 1, sizeof *floors, err);
    if (!floors) return RUNG_SYSTEM;
    for (size_t i = 0; i < slots; i++) {
        const rung_run_row *row = g->shown.cell[slot[i].cell].row;
        floors[i] = (report_floor){slot[i].x, row->chance, row->majority};
    }
    rung_status status = report_floors(list, report, floors, slots, err);
    free(floors);
    return status;
}

/* ---- names and marks --------------------------------------------------------------------------------------------- */

const char *report_figure_id(rung_report *report, const report_group *g, const char *what, const char *axis,
                             size_t number, rung_error *err)
{
    char word[64];
    size_t len = 0;
    for (; *axis && len + 1 < sizeof word; axis++)
        word[len++] = isalnum((unsigned char)*axis) || *axis == '_' ? *axis : '-';
    word[len] = '\0';
    return report_say(report, err, "%s-%s%s%s-%zu", g->shown.slug, what, len ? "-" : "", word, number);
}

unsigned report_marks(const rung_cell *cell)
{
    bool cannot = cell->spoken && cell->row->theory.verdict == RUNG_CANNOT;
    return (cannot ? RUNG_MARK_CANNOT : 0) | (cell->above ? RUNG_MARK_ABOVE : 0);
}

const char *report_measured(rung_report *report, const report_group *g, const report_slot *slot, size_t slots,
                            rung_error *err)
{
    const char *exact = NULL;
    bool fast = false, unheard = false; /* unheard: a theorem speaks of the layers, but not of the evaluator */
    bool by_theory = true;              /* the exact evaluator measured exactly the cells of which theory speaks */
    for (size_t i = 0; i < slots; i++) {
        const rung_cell *cell = &g->shown.cell[slot[i].cell];
        const rung_run_theory *t = &cell->row->theory;
        bool slow = cell->row->test_numbers[0] && strcmp(cell->row->test_numbers, RUNG_TEST_FAST) != 0;
        bool has = t->verdict == RUNG_CANNOT || t->ceiling > 0;
        if (slow) exact = cell->row->test_numbers;
        fast = fast || !slow;
        unheard = unheard || (!cell->spoken && has);
        by_theory = by_theory && slow == has;
    }
    if (exact && fast && by_theory)
        return report_say(report, err, "exact evaluator (%s) where theory speaks, else fast", exact);
    if (exact && fast) return report_say(report, err, "measured by the fast or the exact evaluator, %s", exact);
    if (exact) return report_say(report, err, "measured by the exact evaluator, %s", exact);
    return unheard ? "fast evaluator, of which theory does not speak" : "measured by the fast evaluator";
}
