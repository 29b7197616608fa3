/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Figures: accuracy and success rate against every axis, and the evaluation during training against the key that was
 * chosen by it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"

#define MAX_PANELS 24 /* per axis */
#define MAX_SERIES 16 /* per panel */

typedef enum measure { ACCURACY, SUCCESS, EVALUATED } measure;

static const struct {
    const char *slug, *title, *name;
} measures[] = {
    [ACCURACY] = {"accuracy", "Test accuracy against %s", "test accuracy"},
    [SUCCESS] = {"success", "Success rate against %s", "success rate"},
    [EVALUATED] = {"selection", "Evaluation during training against %s", "accuracy during training"},
};

typedef struct maker {
    rung_report *report;
    report_group *group;
    const report_axis *axis;
    report_panels panels;
    figure_list list;
    rung_buf left_out;
    rung_error *err;
} maker;

/* ---- points ------------------------------------------------------------------------------------------------------ */

static rung_point point_of_cell(const rung_run_group *shown, const report_slot *slot, measure what)
{
    const rung_cell *cell = &shown->cell[slot->cell];
    const rung_estimate *y = what == ACCURACY ? &cell->accuracy : &cell->success;
    return (rung_point){.x = slot->x,
                        .y = y->mean,
                        .low = y->low,
                        .high = y->high,
                        .ceiling = what == ACCURACY ? cell->ceiling : 0,
                        .marks = report_marks(cell) & (what == ACCURACY ? ~0u : ~(unsigned)RUNG_MARK_ABOVE),
                        .count = y->count,
                        .cell = slot->cell};
}

static rung_point point_of_setting(const maker *m, size_t setting, size_t cell)
{
    const report_setting *s = &m->group->setting[setting];
    uint32_t level = report_level_of(s, m->axis->key);
    return (rung_point){.x = level == REPORT_ABSENT ? NAN : m->group->key[m->axis->key].level[level].number,
                        .y = s->evaluated.mean,
                        .low = s->evaluated.low,
                        .high = s->evaluated.high,
                        .marks = m->group->cell[cell].chosen == setting ? RUNG_MARK_CHOSEN : 0,
                        .count = s->evaluated.count,
                        .cell = cell};
}

static int by_x(const void *a, const void *b)
{
    double x = ((const rung_point *)a)->x, y = ((const rung_point *)b)->x;
    return (x > y) - (x < y);
}

/* A line is drawn only if no two points have the same x: otherwise it would be a zigzag. */
static bool is_path(const rung_point *point, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (point[i].x == point[i - 1].x) return false;
    return true;
}

static rung_status put_series(series_list *list, maker *m, rung_point *point, size_t count, size_t number, bool control)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(point[i].x) && isfinite(point[i].y)) point[kept++] = point[i];
    qsort(point, kept, sizeof *point, by_x);
    rung_series s = {.name = m->panels.series[number],
                     .point = point,
                     .count = kept,
                     .line = is_path(point, kept),
                     .dots = true,
                     .control = control,
                     .colour = m->panels.colour[number]};
    return kept ? report_add_series(list, &s, m->err) : RUNG_OK;
}

/* Adds one series; `slot` has its slots. */
static rung_status add_series(series_list *list, maker *m, const report_slot *slot, size_t slots, measure what)
{
    size_t count = slots;
    if (what == EVALUATED) {
        count = 0;
        for (size_t i = 0; i < slots; i++) count += m->group->cell[slot[i].cell].settings;
    }
    rung_point *point = rung_arena_alloc(&m->report->arena, count, sizeof *point, m->err);
    if (!point) return RUNG_SYSTEM;
    for (size_t i = 0, at = 0; i < slots; i++) {
        const report_cell *cell = &m->group->cell[slot[i].cell];
        if (what != EVALUATED)
            point[at++] = point_of_cell(&m->group->shown, &slot[i], what);
        else
            for (size_t k = 0; k < cell->settings; k++)
                point[at++] = point_of_setting(m, m->group->by_cell[cell->first + k], slot[i].cell);
    }
    return put_series(list, m, point, count, slot[0].series, m->group->shown.cell[slot[0].cell].row->random_labels);
}

static size_t same_series(const report_slot *slot, size_t slots)
{
    size_t n = 1;
    while (n < slots && slot[n].series == slot[0].series) n++;
    return n;
}

/* ---- one figure -------------------------------------------------------------------------------------------------- */

static rung_status scale_x(rung_chart *f, maker *m)
{
    size_t count = 0, at = 0;
    for (size_t s = 0; s < f->series_count; s++) count += f->series[s].count;
    double *x = rung_calloc(count + 1, sizeof *x, m->err);
    if (!x) return RUNG_SYSTEM;
    for (size_t s = 0; s < f->series_count; s++)
        for (size_t i = 0; i < f->series[s].count; i++) x[at++] = f->series[s].point[i].x;
    rung_status status = report_scale(&f->x, m->report, x, count, !m->axis->layers, m->err);
    free(x);
    return status;
}

static rung_status add_guides(guide_list *guides, maker *m, const report_slot *slot, size_t slots, measure what)
{
    rung_status status = RUNG_OK;
    if (what == ACCURACY) status = report_chance(guides, m->report, m->group, slot, slots, m->err);
    for (size_t i = 0; what != EVALUATED && status == RUNG_OK && i < slots;) {
        size_t n = same_series(slot + i, slots - i);
        status = report_threshold(guides, m->report, m->group, m->axis, slot + i, n, m->panels.series[slot[i].series],
                                  m->panels.colour[slot[i].series], m->err);
        i += n;
    }
    return status;
}

static rung_status settle_figure(rung_chart *f, maker *m, const series_list *series, const guide_list *guides)
{
    f->series = report_settle(m->report, series->series, series->count, sizeof *f->series, m->err);
    f->guide = report_settle(m->report, guides->guide, guides->count, sizeof *f->guide, m->err);
    f->guides = guides->count;
    bool whole = f->series && f->guide && f->id && f->title && f->left_out;
    return whole ? report_add_figure(&m->list, f, m->err) : RUNG_SYSTEM;
}

static const char *title_of(maker *m, measure what)
{
    rung_buf text = {0};
    const char *place = strchr(measures[what].title, '%');
    rung_buf_add(&text, measures[what].title, (size_t)(place - measures[what].title));
    rung_buf_puts(&text, m->axis->name);
    const char *title = text.failed ? NULL : report_keep(m->report, text.text, m->err);
    rung_buf_clear(&text);
    return title;
}

/* Adds one panel; `slot` has its slots. */
static rung_status add_figure(maker *m, const report_slot *slot, size_t slots, measure what, size_t number)
{
    rung_chart f = {.id = report_figure_id(m->report, m->group, measures[what].slug, m->axis->slug, number, m->err),
                    .title = title_of(m, what),
                    .subtitle = m->panels.panel[slot[0].panel],
                    .x = {.name = m->axis->name},
                    .y = {.name = measures[what].name, .low = 0, .high = 1},
                    .left_out = ""};
    series_list series = {0};
    guide_list guides = {0};
    size_t all = 0, drawn = 0;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < slots; all++) {
        size_t n = same_series(slot + i, slots - i);
        if (all < MAX_SERIES) status = add_series(&series, m, slot + i, n, what), drawn = i + n;
        i += n;
    }
    if (what != EVALUATED) f.measured = report_measured(m->report, m->group, slot, drawn, m->err);
    if (all > MAX_SERIES)
        f.left_out = report_say(m->report, m->err, "%d of %zu series are drawn; the table has all.", MAX_SERIES, all);
    f.series = series.series, f.series_count = series.count;
    RUNG_NEXT(status, scale_x(&f, m));
    RUNG_NEXT(status, add_guides(&guides, m, slot, drawn, what));
    if (status == RUNG_OK && series.count) status = settle_figure(&f, m, &series, &guides);
    free(series.series);
    free(guides.guide);
    return status;
}

/* ---- all panels of an axis --------------------------------------------------------------------------------------- */

static size_t same_panel(const report_slot *slot, size_t slots)
{
    size_t n = 1;
    while (n < slots && slot[n].panel == slot[0].panel) n++;
    return n;
}

/* True if some series has at least two places. At an axis that separates architectures, no two cells may be at the same
 * place. */
static bool is_worth(const maker *m)
{
    const report_panels *p = &m->panels;
    for (size_t i = 0; i < p->slots;) {
        size_t n = same_series(p->slot + i, same_panel(p->slot + i, p->slots - i)), places = 1;
        for (size_t k = 1; k < n; k++) places += p->slot[i + k].x != p->slot[i + k - 1].x;
        if (places > 1 && (!m->axis->family || places == n)) return true;
        i += n;
    }
    return false;
}

static rung_status add_panels(maker *m, const measure *what, size_t count)
{
    const report_panels *p = &m->panels;
    rung_status status = RUNG_OK;
    size_t number = 0;
    for (size_t i = 0; status == RUNG_OK && i < p->slots && number < MAX_PANELS;) {
        size_t n = same_panel(p->slot + i, p->slots - i);
        number++;
        for (size_t k = 0; status == RUNG_OK && k < count; k++) status = add_figure(m, p->slot + i, n, what[k], number);
        i += n;
    }
    if (p->panels > MAX_PANELS)
        rung_buf_printf(&m->left_out, "Against %s, %d of %zu panels are drawn. ", m->axis->name, MAX_PANELS, p->panels);
    return status;
}

static rung_status add_axis(maker *m, const report_axis *axis)
{
    static const measure both[] = {ACCURACY, SUCCESS};
    m->axis = axis;
    rung_status status = report_panels_init(&m->panels, m->report, m->group, axis, NULL, REPORT_SPLIT_FEW, m->err);
    if (status == RUNG_OK && is_worth(m)) status = add_panels(m, both, RUNG_COUNT(both));
    report_panels_clear(&m->panels);
    return status;
}

/* One numeric key was chosen: shows the evaluation at each of its values. */
static rung_status add_rates(maker *m)
{
    static const measure one[] = {EVALUATED};
    const rung_run_group *shown = &m->group->shown;
    size_t at = SIZE_MAX, chosen = 0;
    for (size_t i = 0; i < shown->key_count; i++)
        if (shown->key[i].chosen) chosen++, at = i;
    if (chosen != 1 || !shown->key[at].numeric) return RUNG_OK;
    report_axis axis = {.key = m->group->varying[at], .name = shown->key[at].name, .slug = shown->key[at].name};
    m->axis = &axis;
    rung_status status = report_panels_init(&m->panels, m->report, m->group, &axis, NULL, REPORT_SPLIT_FEW, m->err);
    size_t before = m->list.count;
    RUNG_NEXT(status, add_panels(m, one, RUNG_COUNT(one)));
    m->group->shown.rates = m->list.count - before;
    report_panels_clear(&m->panels);
    return status;
}

rung_status report_make_figures(rung_report *report, report_group *g, rung_error *err)
{
    maker m = {.report = report, .group = g, .err = err};
    report_axis axis[REPORT_AXES];
    size_t axes = report_axes(axis, g, err);
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < axes; i++) status = add_axis(&m, &axis[i]);
    RUNG_NEXT(status, add_rates(&m));
    if (status == RUNG_OK) {
        g->shown.figure = report_settle(report, m.list.figure, m.list.count, sizeof *m.list.figure, err);
        g->shown.figures = m.list.count;
        g->shown.left_out = report_keep(report, m.left_out.text ? m.left_out.text : "", err);
        if (!g->shown.figure || !g->shown.left_out || m.left_out.failed) status = RUNG_SYSTEM;
    }
    free(m.list.figure);
    rung_buf_clear(&m.left_out);
    return status;
}
