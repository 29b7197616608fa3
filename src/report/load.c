/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Reads stores, in one pass over the runs of every sweep. The words of a run are parsed once per setting, because the
 * runs of one setting differ in their seed only. A run that is in several stores counts once in each sweep.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"
#include "rung/io.h"

#define DEFAULT_SUCCESS   0.99         /* the default of a spec */
#define CERTIFICATE_BYTES (256 * 1024) /* larger ones are left out */

typedef struct loader {
    rung_report *report;
    report_group *group;
    size_t store;
    size_t rows;         /* runs of this store read so far, in any sweep */
    bool others;         /* read only runs that are in no sweep */
    report_index number; /* maps the number of a run in this store to the hash of its id */
    rung_status status;
    rung_error *err;
} loader;

static bool failed(loader *l)
{
    l->status = RUNG_SYSTEM;
    return false;
}

/* ---- keys and levels --------------------------------------------------------------------------------------------- */

static bool key_of(size_t *out, loader *l, const char *name)
{
    report_group *g = l->group;
    bool fresh;
    size_t *at = report_index_put(&g->key_index, report_hash_text(name), &fresh, l->err);
    if (!at) return false;
    if (fresh) {
        report_key *keys = report_grow(g->key, g->keys, &g->key_room, sizeof *keys, l->err);
        if (!keys) return false;
        g->key = keys;
        memset(&keys[g->keys], 0, sizeof *keys);
        if (!(keys[g->keys].name = report_keep(l->report, name, l->err))) return false;
        *at = g->keys++;
    }
    *out = *at;
    return true;
}

static bool level_of(uint32_t *out, loader *l, size_t key, const char *text, double number)
{
    report_key *k = &l->group->key[key];
    bool fresh;
    size_t *at = report_index_put(&l->group->level_index, report_hash(key, report_hash_text(text)), &fresh, l->err);
    if (!at) return false;
    if (fresh) {
        report_level *levels = report_grow(k->level, k->levels, &k->room, sizeof *levels, l->err);
        if (!levels) return false;
        k->level = levels;
        if (!(text = report_keep(l->report, text, l->err))) return false;
        levels[k->levels] = (report_level){text, number};
        *at = k->levels++;
    }
    *out = (uint32_t)*at;
    return true;
}

/* Keys that only one run has, or that the report handles separately. */
static bool is_apart(const char *key)
{
    return strcmp(key, "seed") == 0 || strcmp(key, "random-labels") == 0;
}

static bool put_level(loader *l, report_setting *s, size_t *room, const char *name, const char *text, double number)
{
    size_t key;
    uint32_t level;
    if (!key_of(&key, l, name) || !level_of(&level, l, key, text, number)) return false;
    while (s->levels <= key) {
        uint32_t *levels = report_grow(s->level, s->levels, room, sizeof *levels, l->err);
        if (!levels) return false;
        s->level = levels;
        levels[s->levels++] = REPORT_ABSENT;
    }
    s->level[key] = level;
    return true;
}

static bool read_words(loader *l, report_setting *s, const rung_run_row *row)
{
    rung_json_doc *doc;
    size_t room = 0;
    bool ok = true;
    if (rung_json_parse(&doc, row->keys, strlen(row->keys), "words of a run", l->err) != RUNG_OK) {
        l->status = rung_fail_at(l->err, RUNG_INPUT, "%s: run %s", l->report->store[l->store].path, row->id);
        return false;
    }
    const rung_json *root = rung_json_root(doc);
    if (row->label[0]) ok = put_level(l, s, &room, "label", row->label, NAN);
    for (size_t i = 0; ok && i < rung_json_len(root); i++) {
        char text[RUNG_JSON_SCALAR_TEXT];
        const char *name = rung_json_key_at(root, i), *word = rung_json_scalar_text(text, rung_json_value_at(root, i));
        double number = NAN;
        if (!word || is_apart(name)) continue;
        if (!rung_json_real(&number, rung_json_value_at(root, i))) number = NAN;
        ok = put_level(l, s, &room, name, word, number);
    }
    rung_json_free(doc);
    return ok;
}

/* ---- settings and cells ------------------------------------------------------------------------------------------ */

/* Copies what all runs of a setting share. The other fields of the row must not be used. */
static bool keep_row(loader *l, rung_run_row *out, const rung_run_row *row)
{
    rung_report *r = l->report;
    *out = *row;
    out->id = out->canonical = out->keys = "";
    out->arch = report_keep(r, row->arch, l->err);
    out->task = report_keep(r, row->task, l->err);
    out->label = report_keep(r, row->label, l->err);
    out->theory.bound = report_keep(r, row->theory.bound, l->err);
    out->theory.statement = report_keep(r, row->theory.statement, l->err);
    out->version = report_keep(r, row->version, l->err);
    out->test_numbers = report_keep(r, row->test_numbers, l->err);
    out->kernels = out->host = "";
    return out->version && out->test_numbers && out->arch && out->task && out->label && out->theory.bound &&
           out->theory.statement;
}

/* Runs of no sweep have no plan: their words decide which belong together. */
static void hash_words(uint64_t *setting, uint64_t *cell, const report_group *g, const report_setting *s)
{
    *setting = *cell = s->row.random_labels;
    for (size_t k = 0; k < s->levels; k++) {
        if (s->level[k] == REPORT_ABSENT) continue;
        uint64_t one = report_hash(k, s->level[k]);
        *setting = report_hash(*setting, one);
        if (strcmp(g->key[k].name, "rate") != 0) *cell = report_hash(*cell, one);
    }
}

static bool cell_of(size_t *out, loader *l, uint64_t hash)
{
    report_group *g = l->group;
    bool fresh;
    size_t *at = report_index_put(&g->cell_index, hash, &fresh, l->err);
    if (!at) return false;
    if (fresh) {
        report_cell *cells = report_grow(g->cell, g->cells, &g->cell_room, sizeof *cells, l->err);
        if (!cells) return false;
        g->cell = cells;
        memset(&cells[g->cells], 0, sizeof *cells);
        *at = g->cells++;
    }
    *out = *at;
    return true;
}

static bool add_setting(size_t *out, loader *l, report_setting *s, uint64_t setting, uint64_t cell)
{
    report_group *g = l->group;
    bool fresh;
    size_t *at = report_index_put(&g->setting_index, setting, &fresh, l->err);
    report_setting *settings = at ? report_grow(g->setting, g->settings, &g->setting_room, sizeof *s, l->err) : NULL;
    if (!settings) return false;
    g->setting = settings;
    if (!fresh) {
        free(s->level);
        *out = *at;
        return true;
    }
    s->hash = setting;
    *out = *at = g->settings;
    settings[g->settings++] = *s;
    return cell_of(&settings[*at].cell, l, cell);
}

/* Results of two evaluators are never averaged: two stores may have tested the same words in two ways. */
static uint64_t apart_by_evaluator(uint64_t hash, const rung_run_row *row)
{
    bool fast = !row->test_numbers[0] || strcmp(row->test_numbers, RUNG_TEST_FAST) == 0;
    return fast ? hash : report_hash(hash, report_hash_text(row->test_numbers));
}

static bool setting_of(size_t *out, loader *l, const rung_run_row *row)
{
    uint64_t setting = apart_by_evaluator(row->setting, row), cell = apart_by_evaluator(row->cell, row);
    const size_t *known = l->others ? NULL : report_index_get(&l->group->setting_index, setting);
    report_setting s = {0};
    if (known) {
        *out = *known;
        return true;
    }
    if (!keep_row(l, &s.row, row) || !read_words(l, &s, row)) {
        free(s.level);
        return false;
    }
    if (l->others) {
        hash_words(&setting, &cell, l->group, &s);
        setting = apart_by_evaluator(setting, row), cell = apart_by_evaluator(cell, row);
    }
    return add_setting(out, l, &s, setting, cell);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static bool note_origin(loader *l, const rung_run_row *row)
{
    report_store *s = &l->report->store[l->store];
    if (!s->version) {
        s->version = report_keep(l->report, row->version, l->err);
        s->kernels = report_keep(l->report, row->kernels, l->err);
        s->host = report_keep(l->report, row->host, l->err);
    }
    if (row->finished_at > l->report->latest) l->report->latest = row->finished_at;
    return s->version && s->kernels && s->host;
}

/* Returns false to stop reading. *fresh: the run was not seen before. */
static bool note_seen(bool *fresh, loader *l, uint64_t id, int64_t number)
{
    bool ignored;
    size_t *at = report_index_put(&l->report->seen, id, fresh, l->err);
    size_t *mine = at ? report_index_put(&l->number, (uint64_t)number, &ignored, l->err) : NULL;
    if (!mine) return false;
    l->rows += ignored;
    *mine = (size_t)id;
    return true;
}

static bool add_run(void *context, const rung_run_row *row)
{
    loader *l = context;
    report_group *g = l->group;
    uint64_t id = report_hash_text(row->id);
    bool fresh, unknown;
    if (!note_seen(&unknown, l, id, row->number) || !note_origin(l, row)) return failed(l);
    if (l->others && !unknown) return true;
    size_t *at = report_index_put(&g->run_index, id, &fresh, l->err);
    report_run *runs = at ? report_grow(g->run, g->runs, &g->run_room, sizeof *runs, l->err) : NULL;
    if (!runs) return failed(l);
    g->run = runs;
    if (!fresh) return true;
    report_run run = {.id = id,
                      .store = l->store,
                      .number = row->number,
                      .seed = row->seed,
                      .test_accuracy = row->test_accuracy,
                      .eval_accuracy = row->eval_accuracy,
                      .eval_loss = row->eval_loss,
                      .test_targets = row->test_targets,
                      .test_right = row->test_right,
                      .diverged = row->outcome == RUNG_OUTCOME_DIVERGED};
    if (!setting_of(&run.setting, l, row)) return l->status == RUNG_OK ? failed(l) : false;
    *at = g->runs;
    runs[g->runs++] = run;
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static report_group *group_of(rung_report *report, const char *id, const char *name, const char *question,
                              rung_error *err)
{
    for (size_t i = 0; i < report->groups; i++)
        if (strcmp(report->group[i]->id, id) == 0) return report->group[i];
    report_group **groups = report_grow(report->group, report->groups, &report->group_room, sizeof *groups, err);
    if (!groups) return NULL;
    report->group = groups;
    report_group *g = rung_calloc(1, sizeof *g, err);
    if (!g) return NULL;
    report->group[report->groups++] = g;
    g->shown.name = report_keep(report, name, err);
    g->shown.question = report_keep(report, question, err);
    g->shown.success = DEFAULT_SUCCESS;
    g->id = strdup(id);
    g->shown.spec = g->id;
    return g->id && g->shown.name && g->shown.question ? g : NULL;
}

typedef struct sweep_list {
    loader *loader;
    int64_t *number;
    report_group **group;
    size_t count, room, group_room;
} sweep_list;

static bool list_sweep(void *context, const rung_sweep_row *row)
{
    sweep_list *list = context;
    loader *l = list->loader;
    report_group *g = group_of(l->report, row->id, row->name, row->question, l->err);
    int64_t *numbers = g ? report_grow(list->number, list->count, &list->room, sizeof *numbers, l->err) : NULL;
    if (!numbers) return failed(l);
    list->number = numbers;
    report_group **groups = report_grow(list->group, list->count, &list->group_room, sizeof *groups, l->err);
    if (!groups) return failed(l);
    list->group = groups;
    g->shown.success = row->success;
    g->shown.planned = row->planned;
    numbers[list->count] = row->number, groups[list->count] = g;
    list->count++;
    return true;
}

static rung_status read_sweeps(loader *l, rung_store *store)
{
    sweep_list list = {.loader = l};
    rung_status status = rung_store_sweeps(store, list_sweep, &list, l->err);
    for (size_t i = 0; status == RUNG_OK && l->status == RUNG_OK && i < list.count; i++) {
        l->group = list.group[i];
        status = rung_store_runs(store, list.number[i], add_run, l, l->err);
    }
    free(list.number);
    free(list.group);
    RUNG_TRY(status);
    return l->status;
}

static rung_status read_others(loader *l, rung_store *store)
{
    size_t count;
    rung_status status = rung_store_run_count(&count, store, l->err);
    if (status != RUNG_OK || count == l->rows) return status;
    l->others = true;
    l->group = group_of(l->report, "", "", "", l->err);
    if (!l->group) return RUNG_SYSTEM;
    status = rung_store_runs(store, 0, add_run, l, l->err);
    RUNG_TRY(status);
    return l->status;
}

/* ---- certificates ------------------------------------------------------------------------------------------------ */

static bool attach(void *context, const rung_artefact *a)
{
    loader *l = context;
    const size_t *id = report_index_get(&l->number, (uint64_t)a->run);
    if (!id || strcmp(a->kind, "certificate") != 0 || a->size > CERTIFICATE_BYTES) return true;
    char *text = rung_arena_alloc(&l->report->arena, a->size + 1, 1, l->err);
    const char *name = report_keep(l->report, a->name, l->err), *sha = report_keep(l->report, a->sha256, l->err);
    if (!text || !name || !sha) return failed(l);
    if (a->size) memcpy(text, a->bytes, a->size);
    for (size_t g = 0; g < l->report->groups; g++) {
        const size_t *at = report_index_get(&l->report->group[g]->run_index, *id);
        if (!at) continue;
        report_run *run = &l->report->group[g]->run[*at];
        run->certificate = text, run->certificate_name = name, run->certificate_sha256 = sha;
    }
    return true;
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

rung_status rung_report_add(rung_report *report, const char *path, double wait_s, rung_error *err)
{
    rung_store *store;
    RUNG_TRY(rung_store_open(&store, path, RUNG_STORE_READ, wait_s, err));
    report_store *stores = report_grow(report->store, report->stores, &report->store_room, sizeof *stores, err);
    loader l = {.report = report, .store = report->stores, .err = err};
    rung_status status = stores ? RUNG_OK : RUNG_SYSTEM;
    if (stores) {
        report->store = stores;
        report->wait_s = wait_s;
        stores[report->stores++] = (report_store){.path = report_keep(report, path, err)};
        if (!stores[l.store].path) status = RUNG_SYSTEM;
    }
    RUNG_NEXT(status, read_sweeps(&l, store));
    RUNG_NEXT(status, read_others(&l, store));
    RUNG_NEXT(status, rung_store_artefacts(store, 0, "certificate", attach, &l, err));
    RUNG_NEXT(status, l.status);
    RUNG_NEXT(status, report_read_probes(report, store, err));
    if (stores) report->store[l.store].runs = l.rows;
    report_index_clear(&l.number);
    rung_store_close(store);
    return status;
}
