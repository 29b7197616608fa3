/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to report: lists of figures and heat maps under construction. Their parts live in the arena of the report.
 */
#ifndef RUNG_REPORT_DRAFT_H
#define RUNG_REPORT_DRAFT_H

#include "report_internal.h"

typedef struct figure_list {
    rung_chart *figure;
    size_t count, room;
} figure_list;

typedef struct heat_list {
    rung_heat *heat;
    size_t count, room;
} heat_list;

typedef struct series_list {
    rung_series *series;
    size_t count, room;
} series_list;

typedef struct guide_list {
    rung_guide *guide;
    size_t count, room;
} guide_list;

rung_status report_add_figure(figure_list *list, const rung_chart *figure, rung_error *err);
rung_status report_add_heat(heat_list *list, const rung_heat *heat, rung_error *err);
rung_status report_add_series(series_list *list, const rung_series *series, rung_error *err);
rung_status report_add_guide(guide_list *list, const rung_guide *guide, rung_error *err);

/* Copies a list into the arena. An empty list is no failure. NULL: out of memory. */
void *report_settle(rung_report *report, const void *items, size_t count, size_t size, rung_error *err);

/* Sets low, high, log and ticks of an axis from its values. */
rung_status report_scale(rung_axis *axis, rung_report *report, double *values, size_t count, bool may_log,
                         rung_error *err);
/* The accuracy at one place that needs no ability. */
typedef struct report_floor {
    double x, chance, majority; /* NaN: unknown */
} report_floor;
/* Adds guides for chance and the best blind guess. Adds none if the floors at one place differ. */
rung_status report_floors(guide_list *list, rung_report *report, const report_floor *floors, size_t count,
                          rung_error *err);
/* The same over the cells of a panel. */
rung_status report_chance(guide_list *list, rung_report *report, const report_group *group, const report_slot *slot,
                          size_t slots, rung_error *err);
/* Adds a vertical line where CANNOT begins or ends along the axis, if that is inside the series (theory.c). */
rung_status report_threshold(guide_list *list, rung_report *report, const report_group *group, const report_axis *axis,
                             const report_slot *slot, size_t slots, const char *name, size_t colour, rung_error *err);
/* "accuracy-N-2": an id for a figure of the group, from its slug, a word, an axis and a number; usable as a file
 * name. */
const char *report_figure_id(rung_report *report, const report_group *group, const char *what, const char *axis,
                             size_t number, rung_error *err);
/* What theory says of the accuracy of the cell: RUNG_MARK_ bits. 0 if it does not speak of the evaluator that measured
 * it. */
unsigned report_marks(const rung_cell *cell);
/* Which evaluator measured the cells of a panel, as a line of the legend. */
const char *report_measured(rung_report *report, const report_group *group, const report_slot *slot, size_t slots,
                            rung_error *err);

#endif
