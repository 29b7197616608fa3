/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Training curves: the evaluation during training by step, for the chosen settings. A store of a hundred thousand runs
 * has more curves than a page can hold, so at most sixty of a group are drawn: equally many from every series, spread
 * over its cells, the first seeds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"

#define MAX_CURVES 60
#define MAX_PANELS 12
#define MAX_POINTS 240 /* per curve; longer ones are thinned */

typedef struct curve {
    const report_run *run;
    size_t cell, panel, colour;
    const char *name, *detail;
    rung_point *point;
    size_t count, room;
} curve;

typedef struct plan {
    rung_report *report;
    report_group *group;
    report_panels panels;
    const char *axis; /* "" when there is none */
    curve curve[MAX_CURVES];
    size_t curves;
    const char *panel[MAX_PANELS];
    size_t panel_count;
    rung_error *err;
} plan;

/* ---- which ------------------------------------------------------------------------------------------------------- */

static rung_status take_runs(plan *p, const report_slot *slot, size_t colour, size_t budget)
{
    const report_setting *s = report_chosen(p->group, slot->cell);
    char x[32];
    report_number(x, slot->x);
    for (size_t i = 0; i < s->runs && i < budget && p->curves < MAX_CURVES; i++) {
        curve *c = &p->curve[p->curves];
        *c = (curve){.run = &p->group->run[p->group->order[s->first + i]],
                     .cell = slot->cell,
                     .panel = p->panel_count,
                     .colour = colour};
        c->name = p->axis[0] ? report_say(p->report, p->err, "%s=%s", p->axis, x) : "all seeds";
        c->detail = report_say(p->report, p->err, "seed %llu", (unsigned long long)c->run->seed);
        if (!c->name || !c->detail) return RUNG_SYSTEM;
        p->curves++;
    }
    return RUNG_OK;
}

/* Takes cells of one series. The first and the last one are always drawn. */
static rung_status take_series(plan *p, const report_slot *slot, size_t slots, size_t budget)
{
    size_t cells = slots < budget ? slots : budget;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < cells; i++) {
        size_t at = cells > 1 ? i * (slots - 1) / (cells - 1) : 0;
        status = take_runs(p, &slot[at], i, budget / cells);
    }
    return status;
}

static size_t series_end(const report_panels *p, size_t from)
{
    size_t to = from + 1;
    while (to < p->slots && p->slot[to].series == p->slot[from].series && p->slot[to].panel == p->slot[from].panel)
        to++;
    return to;
}

static const char *panel_name(plan *p, const report_slot *slot)
{
    const char *panel = p->panels.panel[slot->panel], *series = p->panels.series[slot->series];
    return report_say(p->report, p->err, "%s%s%s", series, panel[0] && series[0] ? "; " : "", panel);
}

static rung_status choose(plan *p, size_t *all)
{
    size_t total = 0, taken = 0, number = 0;
    rung_status status = RUNG_OK;
    for (size_t i = 0; i < p->panels.slots; i = series_end(&p->panels, i)) total++;
    taken = total < MAX_PANELS ? total : MAX_PANELS;
    *all = total;
    for (size_t i = 0; status == RUNG_OK && i < p->panels.slots; number++) {
        size_t to = series_end(&p->panels, i), next = taken > 1 ? p->panel_count * (total - 1) / (taken - 1) : 0;
        if (number == next && p->panel_count < taken) {
            status = take_series(p, &p->panels.slot[i], to - i, MAX_CURVES / taken);
            if (!(p->panel[p->panel_count++] = panel_name(p, &p->panels.slot[i]))) status = RUNG_SYSTEM;
        }
        i = to;
    }
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reader {
    curve *curve;
    rung_status status;
    rung_error *err;
} reader;

static bool take_metric(void *context, const rung_metric *metric)
{
    reader *r = context;
    curve *c = r->curve;
    if (!isfinite(metric->eval_accuracy)) return true;
    rung_point *more = report_grow(c->point, c->count, &c->room, sizeof *more, r->err);
    if (!more) {
        r->status = RUNG_SYSTEM;
        return false;
    }
    c->point = more;
    more[c->count++] = (rung_point){
        .x = (double)metric->step, .y = metric->eval_accuracy, .low = NAN, .high = NAN, .count = 1, .cell = c->cell};
    return true;
}

static void thin(curve *c)
{
    if (c->count <= MAX_POINTS) return;
    for (size_t i = 0; i < MAX_POINTS; i++) c->point[i] = c->point[i * (c->count - 1) / (MAX_POINTS - 1)];
    c->count = MAX_POINTS;
}

static rung_status read_store(plan *p, size_t number)
{
    rung_store *store = NULL;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < p->curves; i++) {
        curve *c = &p->curve[i];
        reader r = {c, RUNG_OK, p->err};
        if (c->run->store != number) continue;
        if (!store)
            status = rung_store_open(&store, p->report->store[number].path, RUNG_STORE_READ, p->report->wait_s, p->err);
        RUNG_NEXT(status, rung_store_metrics(store, c->run->number, take_metric, &r, p->err));
        RUNG_NEXT(status, r.status);
        thin(c);
    }
    rung_store_close(store);
    return status;
}

/* ---- figures ----------------------------------------------------------------------------------------------------- */

static rung_status add_curves(series_list *list, rung_axis *x, plan *p, size_t panel)
{
    for (size_t i = 0; i < p->curves; i++) {
        curve *c = &p->curve[i];
        const rung_cell *cell = &p->group->shown.cell[c->cell];
        if (c->panel != panel || !c->count) continue;
        rung_series s = {.name = c->name,
                         .detail = c->detail,
                         .point = report_settle(p->report, c->point, c->count, sizeof *c->point, p->err),
                         .count = c->count,
                         .line = true,
                         .dots = c->count == 1,
                         .control = cell->row->random_labels,
                         .colour = c->colour};
        x->low = fmin(x->low, c->point[0].x), x->high = fmax(x->high, c->point[c->count - 1].x);
        RUNG_TRY(s.point ? report_add_series(list, &s, p->err) : RUNG_SYSTEM);
    }
    return RUNG_OK;
}

/* Adds the level of chance if it is the same for the whole panel. */
static rung_status add_chance(guide_list *list, plan *p, size_t panel, const rung_axis *x)
{
    double level = NAN, ends[2] = {x->low, x->high};
    for (size_t i = 0; i < p->curves; i++) {
        double chance = p->group->shown.cell[p->curve[i].cell].row->chance;
        if (p->curve[i].panel != panel) continue;
        if (!isnan(level) && fabs(level - chance) > 1e-9) return RUNG_OK;
        level = chance;
    }
    if (isnan(level)) return RUNG_OK;
    double levels[2] = {level, level};
    rung_guide guide = {.kind = RUNG_GUIDE_CHANCE, .count = 2};
    guide.name = report_say(p->report, p->err, "chance %.3g", level);
    guide.x = report_settle(p->report, ends, 2, sizeof *ends, p->err);
    guide.y = report_settle(p->report, levels, 2, sizeof *levels, p->err);
    return guide.name && guide.x && guide.y ? report_add_guide(list, &guide, p->err) : RUNG_SYSTEM;
}

static rung_status add_panel(figure_list *figures, plan *p, size_t panel)
{
    rung_chart f = {.id = report_figure_id(p->report, p->group, "curves", "", panel + 1, p->err),
                    .title = "Evaluation during training by step",
                    .subtitle = p->panel[panel],
                    .x = {.name = "step", .low = INFINITY, .high = -INFINITY},
                    .y = {.name = "accuracy during training", .low = 0, .high = 1},
                    .left_out = ""};
    series_list series = {0};
    guide_list guides = {0};
    rung_status status = add_curves(&series, &f.x, p, panel);
    if (status == RUNG_OK && series.count) status = add_chance(&guides, p, panel, &f.x);
    if (status == RUNG_OK && series.count) {
        f.series = report_settle(p->report, series.series, series.count, sizeof *f.series, p->err);
        f.guide = report_settle(p->report, guides.guide, guides.count, sizeof *f.guide, p->err);
        f.series_count = series.count, f.guides = guides.count;
        status = f.id && f.series && f.guide ? report_add_figure(figures, &f, p->err) : RUNG_SYSTEM;
        p->group->shown.curves_drawn += series.count;
    }
    free(series.series);
    free(guides.guide);
    return status;
}

rung_status report_make_curves(rung_report *report, report_group *g, rung_error *err)
{
    plan *p = rung_calloc(1, sizeof *p, err);
    const report_axis nothing = {.key = SIZE_MAX, .column = offsetof(rung_run_row, layers), .layers = true};
    report_axis axis[REPORT_AXES];
    figure_list figures = {0};
    size_t all = 0;
    if (!p) return RUNG_SYSTEM;
    *p = (plan){.report = report, .group = g, .axis = "", .err = err};
    bool any = report_axes(axis, g, err) > 0;
    if (any)
        p->axis = axis[0].name;
    else
        axis[0] = nothing;
    rung_status status = report_panels_init(&p->panels, report, g, &axis[0], NULL, REPORT_SPLIT_FEW, err);
    RUNG_NEXT(status, choose(p, &all));
    for (size_t i = 0; status == RUNG_OK && i < report->stores; i++) status = read_store(p, i);
    for (size_t i = 0; status == RUNG_OK && i < p->panel_count; i++) status = add_panel(&figures, p, i);
    if (status == RUNG_OK) {
        g->shown.curve = report_settle(report, figures.figure, figures.count, sizeof *figures.figure, err);
        g->shown.curves = figures.count;
        if (!g->shown.curve) status = RUNG_SYSTEM;
    }
    for (size_t i = 0; i < p->curves; i++) free(p->curve[i].point);
    report_panels_clear(&p->panels);
    free(figures.figure);
    free(p);
    return status;
}
