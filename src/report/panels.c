/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sorts cells into panels and series. All keys that distinguish two cells beside the axis become part of their names,
 * and equal names are one series. So a line never joins cells with an unnamed difference.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

#define CONTROL    " (random labels)"
#define FEW_SERIES 8 /* per panel, if other numeric keys name series too */

typedef struct namer {
    const report_group *group;
    const report_axis *axis, *second;
    bool numbers_in_series, all_in_panel;
    rung_buf panel, series;
} namer;

static void separate(rung_buf *out)
{
    if (out->len) rung_buf_puts(out, ", ");
}

static void put_key(namer *n, rung_buf *out, const report_setting *s, size_t k)
{
    const report_key *key = &n->group->key[k];
    const char *name = strncmp(key->name, "task.", 5) == 0 ? key->name + 5 : key->name;
    uint32_t level = report_level_of(s, k);
    if (level == REPORT_ABSENT) return;
    separate(out);
    if (strcmp(name, "arch") != 0 && strcmp(name, "label") != 0 && strcmp(name, "task") != 0)
        rung_buf_printf(out, "%s=", name);
    rung_buf_puts(out, key->level[level].text);
}

/* Replaces the architecture where the axis separates architectures. On a map of full and recurrent layers it is the
 * kind of recurrent layers, if there are several kinds. */
static void put_family(namer *n, rung_buf *out, const report_setting *s)
{
    const report_axis *a = n->axis;
    char family[128];
    if (n->second && a->layers && n->second->layers) {
        if (n->group->mixers > 1) rung_buf_printf(out, "%s", report_recurrent(family, sizeof family, s->row.arch));
        return;
    }
    report_family(family, sizeof family, s->row.arch);
    separate(out);
    rung_buf_puts(out, family);
    if (!a->layers || n->second) return;
    bool full = a->column == offsetof(rung_run_row, full_layers);
    uint64_t other = full ? s->row.recurrent_layers : s->row.full_layers;
    rung_buf_printf(out, ", %llu %s layer%s", (unsigned long long)other, full ? "recurrent" : "full",
                    other == 1 ? "" : "s");
}

static void name_cell(namer *n, size_t cell)
{
    const report_group *g = n->group;
    const report_setting *s = report_chosen(g, cell);
    uint64_t behind = n->axis->behind | (n->second ? n->second->behind : 0);
    rung_buf *words = n->all_in_panel ? &n->panel : &n->series;
    rung_buf_reset(&n->panel), rung_buf_reset(&n->series);
    if (n->axis->family || (n->second && n->second->family)) put_family(n, words, s);
    for (size_t i = 0; i < g->shown.key_count; i++) {
        const report_key *key = &g->key[g->varying[i]];
        if (!key->kept || behind >> i & 1) continue;
        if (strcmp(key->name, "task") == 0)
            put_key(n, &n->panel, s, g->varying[i]);
        else if (key->numeric)
            put_key(n, n->numbers_in_series && !n->all_in_panel ? &n->series : &n->panel, s, g->varying[i]);
        else
            put_key(n, words, s, g->varying[i]);
    }
    if (!words->len && !n->second) rung_buf_puts(words, s->row.arch);
    if (s->row.random_labels) rung_buf_puts(words, CONTROL);
}

/* The index of a name, from 0 in order of first occurrence. */
static rung_status number_of(size_t *out, report_index *index, const char ***names, size_t *count, size_t *room,
                             rung_report *report, const rung_buf *name, rung_error *err)
{
    const char *text = name->text ? name->text : "";
    bool fresh;
    size_t *at = report_index_put(index, report_hash_text(text), &fresh, err);
    if (!at) return RUNG_SYSTEM;
    if (fresh) {
        const char **more = report_grow(*names, *count, room, sizeof **names, err);
        if (!more) return RUNG_SYSTEM;
        *names = more;
        if (!(more[*count] = report_keep(report, text, err))) return RUNG_SYSTEM;
        *at = (*count)++;
    }
    *out = *at;
    return RUNG_OK;
}

static rung_status sort_into(report_panels *p, rung_report *report, namer *n, rung_error *err)
{
    report_index panels = {0}, series = {0};
    size_t panel_room = 0, series_room = 0;
    rung_status status = RUNG_OK;
    for (size_t c = 0; status == RUNG_OK && c < n->group->cells; c++) {
        report_slot slot = {.cell = c, .x = report_axis_value(n->group, n->axis, c)};
        if (isnan(slot.x) || (n->second && isnan(report_axis_value(n->group, n->second, c)))) continue;
        name_cell(n, c);
        status = number_of(&slot.panel, &panels, &p->panel, &p->panels, &panel_room, report, &n->panel, err);
        RUNG_NEXT(status,
                  number_of(&slot.series, &series, &p->series, &p->all_series, &series_room, report, &n->series, err));
        p->slot[p->slots++] = slot;
    }
    report_index_clear(&panels);
    report_index_clear(&series);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const report_slot *s = a, *t = b;
    if (s->panel != t->panel) return s->panel < t->panel ? -1 : 1;
    if (s->series != t->series) return s->series < t->series ? -1 : 1;
    if (s->x != t->x) return s->x < t->x ? -1 : 1;
    return s->cell < t->cell ? -1 : 1;
}

/* A control has the colour of the series that it controls. */
static rung_status give_colours(report_panels *p, report_group *g, rung_error *err)
{
    p->colour = rung_calloc(p->all_series + 1, sizeof *p->colour, err);
    for (size_t i = 0; p->colour && i < p->all_series; i++) {
        const char *end = strstr(p->series[i], CONTROL);
        size_t len = end ? (size_t)(end - p->series[i]) : strlen(p->series[i]);
        bool fresh;
        size_t *at = report_index_put(&g->colour_index, rung_hash64(p->series[i], len), &fresh, err);
        if (!at) return RUNG_SYSTEM;
        if (fresh) *at = g->colour_index.count - 1;
        p->colour[i] = *at;
    }
    return p->colour ? RUNG_OK : RUNG_SYSTEM;
}

void report_panels_clear(report_panels *p)
{
    free(p->slot);
    free(p->panel);
    free(p->series);
    free(p->colour);
    memset(p, 0, sizeof *p);
}

rung_status report_panels_init(report_panels *p, rung_report *report, report_group *group, const report_axis *axis,
                               const report_axis *second, report_split split, rung_error *err)
{
    namer n = {.group = group,
               .axis = axis,
               .second = second,
               .numbers_in_series = true,
               .all_in_panel = split == REPORT_SPLIT_ALL};
    rung_status status;
    memset(p, 0, sizeof *p);
    for (;;) {
        p->slot = rung_calloc(group->cells ? group->cells : 1, sizeof *p->slot, err);
        status = p->slot ? sort_into(p, report, &n, err) : RUNG_SYSTEM;
        if (status != RUNG_OK || n.all_in_panel || !n.numbers_in_series || p->all_series <= FEW_SERIES) break;
        n.numbers_in_series = false;
        report_panels_clear(p);
    }
    RUNG_NEXT(status, give_colours(p, group, err));
    if (status == RUNG_OK) qsort(p->slot, p->slots, sizeof *p->slot, by_place);
    if (status == RUNG_OK && (n.panel.failed || n.series.failed)) status = rung_fail(err, RUNG_SYSTEM, "out of memory");
    rung_buf_clear(&n.panel);
    rung_buf_clear(&n.series);
    return status;
}
