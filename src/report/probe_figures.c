/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Curves of probed models: accuracy against depth, one figure for each number of facts. If there are fewer than two
 * depths: against the number of facts. A model is a colour. Its one-look control is hollow, and its answers after a
 * chain of thought are dashed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"

#define MAX_PANELS 24
#define MAX_MODELS 16 /* per panel */

typedef enum role { ANSWERS = 0, THINKING, ONE_LOOK } role;

static const char *const role_words[] = {"", ", thinking", ", one look (control)"};

typedef struct slot {
    const rung_probed_cell *cell;
    bool by_depth;
    uint64_t fixed; /* the value that is not at the axis, facts or depth; 0: none */
    size_t model;
    role role;
    double x;
} slot;

/* Shuffled facts are only in the table: their curve would cover the one that they control. */
static bool role_of(role *out, const char *mode)
{
    if (strcmp(mode, "direct") == 0 || strcmp(mode, "log") == 0)
        *out = ANSWERS;
    else if (strcmp(mode, "thinking") == 0)
        *out = THINKING;
    else if (strcmp(mode, "one-hop") == 0)
        *out = ONE_LOOK;
    else
        return false;
    return true;
}

static int in_order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_panel(const slot *a, const slot *b)
{
    if (a->by_depth != b->by_depth) return a->by_depth ? -1 : 1;
    return a->fixed != b->fixed ? in_order(a->fixed, b->fixed) : strcmp(a->cell->others, b->cell->others);
}

/* Sorts by panel, model, role and place. Of several probes at one place the one with most answers comes first. */
static int by_place(const void *left, const void *right)
{
    const slot *a = left, *b = right;
    int order = by_panel(a, b);
    if (!order) order = in_order(a->model, b->model);
    if (!order) order = (int)a->role - (int)b->role;
    if (!order) order = (a->x > b->x) - (a->x < b->x);
    return order ? order : in_order(b->cell->cell.asked, a->cell->cell.asked);
}

static bool has_depths(const rung_probed *t)
{
    uint64_t depth = 0;
    for (size_t i = 0; i < t->cells; i++) {
        uint64_t other = t->cell[i].cell.depth;
        if (depth && other && other != depth) return true;
        if (other) depth = other;
    }
    return false;
}

static size_t find_slots(slot *out, const rung_probed *t)
{
    size_t count = 0;
    bool depths = has_depths(t);
    for (size_t i = 0; i < t->cells; i++) {
        const rung_probe_cell *c = &t->cell[i].cell;
        role as;
        if (!c->asked || !role_of(&as, c->mode)) continue;
        bool by_depth = c->depth && (depths || !c->facts);
        double x = (double)(by_depth ? c->depth : c->facts);
        if (x > 0)
            out[count++] = (slot){&t->cell[i], by_depth, by_depth ? c->facts : c->depth, t->cell[i].number, as, x};
    }
    qsort(out, count, sizeof *out, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool again = kept && by_panel(&out[kept - 1], &out[i]) == 0 && out[kept - 1].model == out[i].model &&
                     out[kept - 1].role == out[i].role && out[kept - 1].x == out[i].x;
        if (!again) out[kept++] = out[i];
    }
    return kept;
}

/* ---- one figure -------------------------------------------------------------------------------------------------- */

typedef struct maker {
    rung_report *report;
    const rung_probed *task;
    figure_list list;
    rung_error *err;
} maker;

static rung_point point_of(const slot *s)
{
    const rung_probed_cell *c = s->cell;
    return (rung_point){.x = s->x,
                        .y = c->accuracy.mean,
                        .low = c->accuracy.low,
                        .high = c->accuracy.high,
                        .ceiling = c->cell.ceiling,
                        .marks = (strcmp(c->cell.verdict, "CANNOT") == 0 ? RUNG_MARK_CANNOT : 0) |
                                 (c->above ? RUNG_MARK_ABOVE : 0),
                        .count = (size_t)c->cell.asked,
                        .cell = RUNG_NO_CELL};
}

static rung_status add_series(series_list *list, maker *m, const slot *s, size_t count)
{
    rung_point *point = rung_arena_alloc(&m->report->arena, count, sizeof *point, m->err);
    const char *name = report_say(m->report, m->err, "%s%s", s->cell->model, role_words[s->role]);
    if (!point || !name) return RUNG_SYSTEM;
    for (size_t i = 0; i < count; i++) point[i] = point_of(&s[i]);
    /* When the palette repeats, lines are dashed. */
    rung_series series = {.name = name,
                          .point = point,
                          .count = count,
                          .line = true,
                          .dots = true,
                          .control = s->role == ONE_LOOK,
                          .colour = s->model + (s->role == THINKING ? REPORT_COLOURS : 0)};
    return report_add_series(list, &series, m->err);
}

static rung_status add_all_series(series_list *list, maker *m, const slot *s, size_t count, size_t *models)
{
    rung_status status = RUNG_OK;
    *models = 0;
    for (size_t i = 0, n; status == RUNG_OK && i < count; i += n) {
        *models += i == 0 || s[i].model != s[i - 1].model;
        for (n = 1; i + n < count && s[i + n].model == s[i].model && s[i + n].role == s[i].role;) n++;
        if (*models <= MAX_MODELS) status = add_series(list, m, s + i, n);
    }
    return status;
}

static rung_status add_floors(guide_list *list, rung_axis *axis, maker *m, const slot *s, size_t count)
{
    report_floor *floors = rung_calloc(count, sizeof *floors, m->err);
    double *x = rung_calloc(count, sizeof *x, m->err);
    rung_status status = floors && x ? RUNG_OK : RUNG_SYSTEM;
    size_t known = 0;
    for (size_t i = 0; status == RUNG_OK && i < count; i++) {
        x[i] = s[i].x;
        if (s[i].role != ONE_LOOK)
            floors[known++] = (report_floor){x[i], s[i].cell->cell.chance, s[i].cell->cell.majority};
    }
    RUNG_NEXT(status, report_scale(axis, m->report, x, count, !s[0].by_depth, m->err));
    if (status == RUNG_OK && known) status = report_floors(list, m->report, floors, known, m->err);
    free(floors);
    free(x);
    return status;
}

static const char *subtitle_of(const maker *m, const slot *s)
{
    const char *others = s->cell->others, *gap = others[0] ? ", " : "";
    if (!s->fixed) return report_say(m->report, m->err, "%s%s%s", m->task->task, gap, others);
    return report_say(m->report, m->err, "%s, %s=%llu%s%s", m->task->task, s->by_depth ? "n" : "L",
                      (unsigned long long)s->fixed, gap, others);
}

static rung_status add_figure(maker *m, const slot *s, size_t count)
{
    const char *axis = s->by_depth ? "depth" : "facts";
    rung_chart f = {.id = report_say(m->report, m->err, "%s-%s-%zu", m->task->slug, axis, m->list.count + 1),
                    .title = s->by_depth ? "Accuracy against depth" : "Accuracy against the number of facts",
                    .subtitle = subtitle_of(m, s),
                    .x = {.name = s->by_depth ? "depth L" : "facts n"},
                    .y = {.name = "accuracy", .low = 0, .high = 1},
                    .left_out = "",
                    .unit = "answer"};
    series_list series = {0};
    guide_list guides = {0};
    size_t models;
    rung_status status = add_all_series(&series, m, s, count, &models);
    if (models > MAX_MODELS)
        f.left_out =
            report_say(m->report, m->err, "%d of %zu models are drawn; the table has all.", MAX_MODELS, models);
    RUNG_NEXT(status, add_floors(&guides, &f.x, m, s, count));
    if (status == RUNG_OK) {
        f.series = report_settle(m->report, series.series, series.count, sizeof *f.series, m->err);
        f.guide = report_settle(m->report, guides.guide, guides.count, sizeof *f.guide, m->err);
        f.series_count = series.count, f.guides = guides.count;
        bool whole = f.id && f.subtitle && f.left_out && f.series && f.guide;
        status = whole ? report_add_figure(&m->list, &f, m->err) : RUNG_SYSTEM;
    }
    free(series.series);
    free(guides.guide);
    return status;
}

rung_status report_make_probe_figures(rung_report *report, rung_probed *t, rung_error *err)
{
    maker m = {.report = report, .task = t, .err = err};
    slot *slots = rung_calloc(t->cells + 1, sizeof *slots, err);
    if (!slots) return RUNG_SYSTEM;
    size_t count = find_slots(slots, t);
    size_t panels = 0;
    rung_status status = RUNG_OK;
    for (size_t i = 0, n; status == RUNG_OK && i < count; i += n, panels++) {
        for (n = 1; i + n < count && by_panel(&slots[i], &slots[i + n]) == 0;) n++;
        if (panels < MAX_PANELS) status = add_figure(&m, slots + i, n);
    }
    t->left_out = "";
    if (panels > MAX_PANELS)
        t->left_out =
            report_say(report, err, "%d of %zu figures are drawn; the table has every cell.", MAX_PANELS, panels);
    if (status == RUNG_OK) {
        t->figure = report_settle(report, m.list.figure, m.list.count, sizeof *m.list.figure, err);
        t->figures = m.list.count;
        if (!t->figure || !t->left_out) status = RUNG_SYSTEM;
    }
    free(slots);
    free(m.list.figure);
    return status;
}
