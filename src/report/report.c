/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A report from its beginning to its end.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

rung_status rung_report_new(rung_report **out, rung_error *err)
{
    rung_report *report = rung_calloc(1, sizeof *report, err);
    if (!report) return RUNG_SYSTEM;
    rung_arena_init(&report->arena);
    *out = report;
    return RUNG_OK;
}

static void free_group(report_group *g)
{
    for (size_t i = 0; i < g->keys; i++) free(g->key[i].level);
    for (size_t i = 0; i < g->settings; i++) free(g->setting[i].level);
    free(g->id);
    free(g->key);
    free(g->run);
    free(g->setting);
    free(g->cell);
    free(g->order);
    free(g->by_cell);
    report_index_clear(&g->run_index);
    report_index_clear(&g->setting_index);
    report_index_clear(&g->cell_index);
    report_index_clear(&g->key_index);
    report_index_clear(&g->level_index);
    report_index_clear(&g->colour_index);
    free(g);
}

void rung_report_free(rung_report *report)
{
    if (!report) return;
    for (size_t i = 0; i < report->groups; i++) free_group(report->group[i]);
    report_free_probes(report);
    free(report->group);
    free(report->store);
    report_index_clear(&report->seen);
    rung_arena_clear(&report->arena);
    free(report);
}

void report_slug(char out[64], const char *text, const char *plain)
{
    size_t len = 0;
    for (const char *c = text; *c && len < 40; c++) {
        bool letter = isalnum((unsigned char)*c) != 0;
        if (letter || (len && out[len - 1] != '-')) out[len++] = letter ? *c : '-';
    }
    while (len && out[len - 1] == '-') len--;
    out[len] = '\0';
    if (!len) strcpy(out, plain);
}

/* Appends a number if the slug is taken. Slugs become part of file names. */
static rung_status give_slug(rung_report *report, size_t index, rung_error *err)
{
    rung_run_group *shown = &report->group[index]->shown;
    char slug[64];
    report_slug(slug, shown->name[0] ? shown->name : "runs", "sweep");
    shown->slug = report_say(report, err, "%s", slug);
    for (size_t i = 0; shown->slug && i < index; i++)
        if (strcmp(report->group[i]->shown.slug, shown->slug) == 0)
            shown->slug = report_say(report, err, "%s-%zu", slug, index + 1);
    return shown->slug ? RUNG_OK : RUNG_SYSTEM;
}

rung_status rung_report_make(rung_report *report, rung_error *err)
{
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < report->groups; i++) {
        report_group *g = report->group[i];
        g->shown.left_out = "";
        status = give_slug(report, i, err);
        RUNG_NEXT(status, report_aggregate(report, g, err));
        RUNG_NEXT(status, report_find_keys(report, g, err));
        RUNG_NEXT(status, report_make_figures(report, g, err));
        RUNG_NEXT(status, report_make_heats(report, g, err));
        RUNG_NEXT(status, report_make_curves(report, g, err));
    }
    RUNG_TRY(status);
    return report_make_probes(report, err);
}

size_t rung_report_groups(const rung_report *report)
{
    return report->groups;
}

const rung_run_group *rung_report_group(const rung_report *report, size_t index)
{
    return &report->group[index]->shown;
}

size_t rung_report_runs(const rung_report *report)
{
    return report->seen.count;
}

size_t rung_report_probed_count(const rung_report *report)
{
    return report->probed_count;
}

const rung_probed *rung_report_probed(const rung_report *report, size_t index)
{
    return &report->probed[index];
}
