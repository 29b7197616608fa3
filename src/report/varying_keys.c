/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Finds the keys that an experiment is about. A run has some forty words. Most are the same everywhere, some follow
 * from others (max-tokens from the task, d-mlp from d-model), and one was chosen (the rate). The rest names series and
 * panels and labels axes. It is found from the cells alone, so that a store without its spec works too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

static uint32_t level_at(const report_group *g, size_t cell, size_t key)
{
    return report_level_of(report_chosen(g, cell), key);
}

/* Whether `target` is a function of `keys` over the cells. */
static rung_status is_function(bool *out, const report_group *g, size_t target, const size_t *keys, size_t count,
                               rung_error *err)
{
    report_index index = {0};
    rung_status status = RUNG_OK;
    *out = true;
    for (size_t c = 0; *out && c < g->cells; c++) {
        uint64_t tuple = 0;
        bool fresh;
        for (size_t i = 0; i < count; i++) tuple = report_hash(tuple, level_at(g, c, keys[i]));
        size_t *at = report_index_put(&index, tuple, &fresh, err);
        if (!at) {
            status = RUNG_SYSTEM;
            break;
        }
        if (fresh) *at = level_at(g, c, target);
        *out = *at == level_at(g, c, target);
    }
    report_index_clear(&index);
    return status;
}

static void find_chosen(report_group *g)
{
    for (size_t c = 0; c < g->cells; c++) {
        const report_cell *cell = &g->cell[c];
        const report_setting *first = &g->setting[g->by_cell[cell->first]];
        for (size_t i = 1; i < cell->settings; i++)
            for (size_t k = 0; k < g->keys; k++)
                if (report_level_of(first, k) != report_level_of(&g->setting[g->by_cell[cell->first + i]], k))
                    g->key[k].chosen = true;
    }
}

static void find_varying(report_group *g)
{
    for (size_t k = 0; k < g->keys; k++) {
        report_key *key = &g->key[k];
        key->numeric = true;
        for (size_t i = 0; i < key->levels; i++) key->numeric = key->numeric && isfinite(key->level[i].number);
        for (size_t c = 1; c < g->cells && !key->varies; c++) key->varies = level_at(g, c, k) != level_at(g, 0, k);
    }
}

typedef struct kept_keys {
    size_t key[REPORT_VARYING], count;
} kept_keys;

/* Keeps those varying keys of one kind that are not functions of the kept ones. */
static rung_status keep(kept_keys *kept, report_group *g, bool numeric, rung_error *err)
{
    for (size_t k = 0; k < g->keys && kept->count < REPORT_VARYING / 2; k++) {
        report_key *key = &g->key[k];
        bool follows;
        if (!key->varies || key->chosen || key->numeric != numeric || strcmp(key->name, "label") == 0) continue;
        RUNG_TRY(is_function(&follows, g, k, kept->key, kept->count, err));
        if (follows) continue;
        key->kept = true;
        kept->key[kept->count++] = k;
    }
    return RUNG_OK;
}

/* Marks numeric keys of the task that other words determine, such as the architecture, but the kept numbers do not. */
static rung_status find_tied(report_group *g, const kept_keys *kept, size_t words, rung_error *err)
{
    for (size_t k = 0; k < g->keys; k++) {
        report_key *key = &g->key[k];
        bool follows;
        if (!key->varies || key->chosen || !key->numeric || key->kept || strncmp(key->name, "task.", 5) != 0) continue;
        RUNG_TRY(is_function(&follows, g, k, kept->key + words, kept->count - words, err));
        key->tied = !follows;
    }
    return RUNG_OK;
}

/* If labels are equivalent to the kept words, they are used instead. The task stays: it names panels. */
static rung_status find_label(report_group *g, const kept_keys *kept, size_t words, rung_error *err)
{
    const size_t *at = report_index_get(&g->key_index, report_hash_text("label"));
    bool follows = at && g->key[*at].varies;
    if (!follows) return RUNG_OK;
    rung_status status = is_function(&follows, g, *at, kept->key, words, err);
    for (size_t i = 0; status == RUNG_OK && follows && i < words; i++)
        status = is_function(&follows, g, kept->key[i], at, 1, err);
    if (status != RUNG_OK || !follows) return status;
    g->key[*at].kept = true;
    for (size_t i = 0; i < words; i++) g->key[kept->key[i]].kept = strcmp(g->key[kept->key[i]].name, "task") == 0;
    return RUNG_OK;
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static bool is_shown(const report_key *key)
{
    return key->kept || key->tied || (key->chosen && key->levels > 1) || strcmp(key->name, "arch") == 0 ||
           (key->varies && (strcmp(key->name, "label") == 0 || strcmp(key->name, "task") == 0));
}

static rung_status list_keys(rung_report *report, report_group *g, rung_error *err)
{
    rung_key *shown = rung_arena_alloc(&report->arena, REPORT_VARYING, sizeof *shown, err);
    if (!shown) return RUNG_SYSTEM;
    g->shown.key = shown;
    for (size_t k = 0; k < g->keys && g->shown.key_count < REPORT_VARYING; k++) {
        const report_key *key = &g->key[k];
        if (!is_shown(key)) continue;
        g->varying[g->shown.key_count] = k;
        shown[g->shown.key_count++] = (rung_key){key->name, key->numeric, key->chosen};
    }
    return RUNG_OK;
}

/* Counts the sets of mechanisms beside full attention, up to two. */
static void count_mixers(report_group *g)
{
    char first[128] = "", other[128];
    for (size_t c = 0; c < g->cells && g->mixers < 2; c++) {
        report_recurrent(other, sizeof other, report_chosen(g, c)->row.arch);
        if (!other[0] || strcmp(first, other) == 0) continue;
        memcpy(first, other, sizeof first);
        g->mixers++;
    }
}

rung_status report_find_keys(rung_report *report, report_group *g, rung_error *err)
{
    kept_keys kept = {.count = 0};
    find_chosen(g);
    find_varying(g);
    count_mixers(g);
    rung_status status = keep(&kept, g, false, err);
    size_t words = kept.count;
    RUNG_TRY(status);
    status = keep(&kept, g, true, err);
    RUNG_TRY(status);
    status = find_tied(g, &kept, words, err);
    RUNG_TRY(status);
    RUNG_TRY(find_label(g, &kept, words, err));
    return list_keys(report, g, err);
}

const char *rung_run_group_value(const rung_run_group *group, size_t cell, size_t key)
{
    const report_group *g = (const report_group *)group; /* safe: shown is its first member */
    uint32_t level = level_at(g, cell, g->varying[key]);
    return level == REPORT_ABSENT ? "" : g->key[g->varying[key]].level[level].text;
}
