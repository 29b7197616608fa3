/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finds where CANNOT begins between the points of a series. A store has the verdict at each point, and the smallest
 * prompt for which some task of the kind is out of reach (n_threshold, with its other parameters free). A figure needs
 * the place on its own axis, with all other parameters as in the series. So the theorems are asked again between two
 * points.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "draft.h"

/* ---- keys of a cell --------------------------------------------------------------------------------------------- */

/* A value of the axis key between two cells, used instead of the cell's own. */
typedef struct instead {
    size_t axis; /* index of the key */
    size_t from, to;
    const char *text;
} instead;

static const char *level_text(const report_group *g, size_t cell, size_t key)
{
    uint32_t level = report_level_of(report_chosen(g, cell), key);
    return level == REPORT_ABSENT ? "" : g->key[key].level[level].text;
}

const char *rung_run_group_value_of(const rung_run_group *group, size_t cell, const char *key)
{
    const report_group *g = (const report_group *)group; /* safe: shown is its first member */
    for (size_t k = 0; k < g->keys; k++)
        if (strcmp(g->key[k].name, key) == 0) return level_text(g, cell, k);
    return "";
}

static bool is_of_task(const char *key)
{
    return strncmp(key, "task.", 5) == 0;
}

/* True if another parameter of the task equals the axis in both cells, so that it should follow it (K = N). */
static bool follows(const report_group *g, size_t key, const instead *in)
{
    return is_of_task(g->key[key].name) && is_of_task(g->key[in->axis].name) &&
           strcmp(level_text(g, in->from, key), level_text(g, in->from, in->axis)) == 0 &&
           strcmp(level_text(g, in->to, key), level_text(g, in->to, in->axis)) == 0;
}

static const char *word_with(const report_group *g, size_t cell, size_t key, const instead *in)
{
    return in && (key == in->axis || follows(g, key, in)) ? in->text : level_text(g, cell, key);
}

static void put_task(rung_buf *out, const report_group *g, size_t cell, const instead *in)
{
    rung_buf_puts(out, rung_run_group_value_of(&g->shown, cell, "task"));
    for (size_t k = 0; k < g->keys; k++) {
        const char *text = word_with(g, cell, k, in);
        if (is_of_task(g->key[k].name) && *text) rung_buf_printf(out, " %s=%s", g->key[k].name + 5, text);
    }
}

/* Keys stand in the order in which the group met them; the task has an order of its own. */
void rung_run_group_task(rung_buf *out, const rung_run_group *group, size_t cell)
{
    rung_task_conf conf;
    rung_error ignored;
    rung_buf raw;
    rung_buf_init(&raw);
    put_task(&raw, (const report_group *)group, cell, NULL);
    if (rung_buf_ok(&raw, &ignored) == RUNG_OK && rung_task_conf_parse(&conf, raw.text, &ignored) == RUNG_OK)
        rung_task_canonical(out, &conf);
    else
        rung_buf_puts(out, raw.failed ? "" : raw.text);
    rung_buf_clear(&raw);
}

uint64_t rung_run_group_seed(const rung_run_group *group, size_t cell, size_t run)
{
    const report_group *g = (const report_group *)group;
    return g->run[g->order[report_chosen(g, cell)->first + run]].seed;
}

/* ---- the theorems at another size -------------------------------------------------------------------------------- */

static size_t size_word(const report_group *g, size_t cell, const char *key, const instead *in)
{
    const char *text =
        in && strcmp(g->key[in->axis].name, key) == 0 ? in->text : rung_run_group_value_of(&g->shown, cell, key);
    int64_t value;
    return rung_parse_int(&value, text, 1, INT32_MAX) ? (size_t)value : 0;
}

/* RUNG_UNKNOWN also if there is no such task. */
static rung_verdict verdict_at(const report_group *g, size_t cell, const instead *in)
{
    rung_train_spec conf = {
        .model = {.arch = rung_run_group_value_of(&g->shown, cell, "arch"),
                  .heads = size_word(g, cell, "heads", in),
                  .dk = size_word(g, cell, "dk", in),
                  .dv = size_word(g, cell, "dv", in),
                  .causal = strcmp(rung_run_group_value_of(&g->shown, cell, "encoder"), "true") != 0}};
    rung_run_theory theory = {.verdict = RUNG_UNKNOWN};
    rung_error ignored;
    rung_buf task;
    rung_buf_init(&task);
    put_task(&task, g, cell, in);
    rung_status status = rung_buf_ok(&task, &ignored);
    RUNG_NEXT(status, rung_task_conf_parse(&conf.task, task.text, &ignored));
    RUNG_NEXT(status, rung_lab_theory(&theory, &conf, &ignored));
    rung_buf_clear(&task);
    return status == RUNG_OK ? theory.verdict : RUNG_UNKNOWN;
}

/* True if, of all that theorems read, two cells differ in the axis only. */
static bool only_axis(const report_group *g, const report_axis *axis, size_t a, size_t b)
{
    static const char *const looked_at[] = {"arch", "heads", "dk", "dv", "encoder", "task"};
    char text[32];
    instead in = {axis->key, a, b, level_text(g, b, axis->key)};
    for (size_t k = 0; k < g->keys; k++) {
        bool matters = is_of_task(g->key[k].name);
        for (size_t i = 0; i < RUNG_COUNT(looked_at); i++)
            matters = matters || strcmp(g->key[k].name, looked_at[i]) == 0;
        if (matters && strcmp(word_with(g, a, k, &in), level_text(g, b, k)) != 0) return false;
    }
    snprintf(text, sizeof text, "%.0f", report_axis_value(g, axis, a));
    return strcmp(text, level_text(g, a, axis->key)) == 0; /* only whole numbers can be searched */
}

/* Cells a and b have different verdicts. Finds the last whole number from a towards b with the verdict of a. */
static int64_t last_as(const report_group *g, const report_axis *axis, size_t a, size_t b)
{
    int64_t low = (int64_t)report_axis_value(g, axis, a), high = (int64_t)report_axis_value(g, axis, b);
    rung_verdict as = g->shown.cell[a].row->theory.verdict;
    while (high - low > 1) {
        char text[32];
        int64_t middle = low + (high - low) / 2;
        snprintf(text, sizeof text, "%" PRId64, middle);
        instead in = {axis->key, a, b, text};
        if (verdict_at(g, a, &in) == as)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static rung_status add_line(guide_list *list, rung_report *report, double at, const char *name, size_t colour,
                            rung_error *err)
{
    rung_guide guide = {.kind = RUNG_GUIDE_THRESHOLD, .count = 1, .colour = colour, .name = name};
    guide.x = report_settle(report, &at, 1, sizeof at, err);
    return guide.name && guide.x ? report_add_guide(list, &guide, err) : RUNG_SYSTEM;
}

/* The index at which the verdict changes; SIZE_MAX if it never changes, or more than once. */
static size_t change_of(const report_group *g, const report_slot *slot, size_t slots)
{
    size_t at = SIZE_MAX;
    for (size_t i = 0; i + 1 < slots; i++) {
        const rung_run_row *a = g->shown.cell[slot[i].cell].row, *b = g->shown.cell[slot[i + 1].cell].row;
        if (a->theory.verdict == b->theory.verdict) continue;
        if (at != SIZE_MAX || slot[i].x == slot[i + 1].x) return SIZE_MAX;
        at = i;
    }
    return at;
}

/* An axis that is a key. The states of log-linear layers do not grow monotonically with the length, so there is no
 * single place for them. */
static rung_status line_of_word(guide_list *list, rung_report *report, const report_group *g, const report_axis *axis,
                                const report_slot *slot, size_t slots, const char *name, size_t colour, rung_error *err)
{
    size_t at = change_of(g, slot, slots);
    if (at == SIZE_MAX || g->shown.cell[slot[at].cell].row->level_bits) return RUNG_OK;
    size_t a = slot[at].cell, b = slot[at + 1].cell;
    if (!only_axis(g, axis, a, b)) return RUNG_OK;
    int64_t last = last_as(g, axis, a, b);
    bool begins = g->shown.cell[b].row->theory.verdict == RUNG_CANNOT;
    double place = (double)(begins ? last + 1 : last);
    const char *text = begins
                           ? report_say(report, err, "%s: CANNOT is proved from %s = %.0f on", name, axis->name, place)
                           : report_say(report, err, "%s: CANNOT is proved up to %s = %.0f", name, axis->name, place);
    return add_line(list, report, place, text, colour, err);
}

/* The left side of an inequality whose right side is the state alone; NaN for any other. */
static double bits_needed(const rung_run_row *row)
{
    static const char *const about_state[] = {"A", "A-compose", "cut"};
    if (row->level_bits || row->full_layers) return NAN;
    for (size_t i = 0; i < RUNG_COUNT(about_state); i++)
        if (strcmp(row->theory.bound, about_state[i]) == 0) return row->theory.margin * (double)row->state_bits;
    return NAN;
}

static rung_status line_of_state(guide_list *list, rung_report *report, const report_group *g, const report_slot *slot,
                                 size_t slots, const char *name, size_t colour, rung_error *err)
{
    double needed = slots ? bits_needed(g->shown.cell[slot[0].cell].row) : NAN;
    for (size_t i = 1; i < slots; i++)
        if (!(fabs(bits_needed(g->shown.cell[slot[i].cell].row) - needed) <= 1e-9 * needed)) return RUNG_OK;
    if (!slots || !(needed >= slot[0].x && needed <= slot[slots - 1].x)) return RUNG_OK;
    return add_line(list, report, needed, report_say(report, err, "%s: CANNOT is proved below %.6g bits", name, needed),
                    colour, err);
}

/* A line says where CANNOT begins for the points of a series. It is drawn only if these points were measured by an
 * evaluator of which the theorems speak. */
static bool is_heard(const report_group *g, const report_slot *slot, size_t slots)
{
    for (size_t i = 0; i < slots; i++) {
        const rung_cell *cell = &g->shown.cell[slot[i].cell];
        if (cell->row->theory.verdict == RUNG_CANNOT && !cell->spoken) return false;
    }
    return true;
}

rung_status report_threshold(guide_list *list, rung_report *report, const report_group *g, const report_axis *axis,
                             const report_slot *slot, size_t slots, const char *name, size_t colour, rung_error *err)
{
    if (!is_heard(g, slot, slots)) return RUNG_OK;
    if (axis->key != SIZE_MAX) return line_of_word(list, report, g, axis, slot, slots, name, colour, err);
    if (axis->column == offsetof(rung_run_row, state_bits))
        return line_of_state(list, report, g, slot, slots, name, colour, err);
    return RUNG_OK;
}
