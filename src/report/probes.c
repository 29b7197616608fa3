/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Probes of served models, read from stores and sorted by task. A probe that several stores have counts once: the one with more
 * answers. The series of a model has its name; probes of one model that were made differently (another server, wording, seed)
 * are told apart by what differs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "rung/io.h"

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

typedef struct reader {
    rung_report *report;
    rung_store *store;
    report_probe *probe; /* at work */
    rung_status status;
    rung_error *err;
} reader;

static bool failed(reader *r)
{
    r->status = RUNG_SYSTEM;
    return false;
}

static bool keep_all(rung_report *report, const char **text[], size_t count, rung_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!(*text[i] = report_keep(report, *text[i], err))) return false;
    return true;
}

static bool add_cell(void *context, const rung_probe_cell *row)
{
    reader *r = context;
    report_probe *p = r->probe;
    rung_probe_cell *cells = report_grow(p->cell, p->cells, &p->cell_room, sizeof *cells, r->err), cell = *row;
    if (!cells) return failed(r);
    p->cell = cells;
    const char **texts[] = {&cell.mode, &cell.words, &cell.canonical, &cell.verdict, &cell.bound, &cell.statement};
    if (!keep_all(r->report, texts, RUNG_COUNT(texts), r->err)) return failed(r);
    p->asked += cell.asked;
    cells[p->cells++] = cell;
    return true;
}

static bool add_depth(void *context, const rung_probe_depth *row)
{
    reader *r = context;
    report_probe *p = r->probe;
    rung_probe_depth *depths = report_grow(p->depth, p->depths, &p->depth_room, sizeof *depths, r->err);
    if (!depths) return failed(r);
    p->depth = depths;
    depths[p->depths] = *row;
    depths[p->depths].words = report_keep(r->report, row->words, r->err);
    return depths[p->depths++].words ? true : failed(r);
}

static void free_probe(report_probe *p)
{
    free(p->cell);
    free(p->depth);
}

/* Takes over the arrays of p. */
static bool enter(reader *r, report_probe *p)
{
    rung_report *report = r->report;
    report->store[report->stores - 1].probes++;
    for (size_t i = 0; i < report->probes; i++) {
        if (strcmp(report->probe[i].id, p->id) != 0) continue;
        report_probe less = p->asked > report->probe[i].asked ? report->probe[i] : *p;
        if (p->asked > report->probe[i].asked) report->probe[i] = *p;
        free_probe(&less);
        return true;
    }
    report_probe *probes = report_grow(report->probe, report->probes, &report->probe_room, sizeof *probes, r->err);
    if (!probes) {
        free_probe(p);
        return failed(r);
    }
    report->probe = probes;
    probes[report->probes++] = *p;
    return true;
}

static bool add_probe(void *context, const rung_probe_row *row)
{
    reader *r = context;
    report_probe p = {.id = row->id,
                      .canonical = row->canonical,
                      .source = row->source,
                      .model = row->model,
                      .server = row->server,
                      .task = row->task};
    const char **texts[] = {&p.id, &p.canonical, &p.source, &p.model, &p.server, &p.task};
    if (!keep_all(r->report, texts, RUNG_COUNT(texts), r->err)) return failed(r);
    r->probe = &p;
    rung_status status = rung_store_probe_cells(r->store, row->number, add_cell, r, r->err);
    if (status == RUNG_OK) status = r->status;
    if (status == RUNG_OK) status = rung_store_probe_depths(r->store, row->number, add_depth, r, r->err);
    if (status == RUNG_OK) status = r->status;
    r->status = status;
    if (status == RUNG_OK) return enter(r, &p);
    free_probe(&p);
    return false;
}

rung_status report_read_probes(rung_report *report, rung_store *store, rung_error *err)
{
    reader r = {.report = report, .store = store, .err = err};
    rung_status status = rung_store_probes(store, add_probe, &r, err);
    return status == RUNG_OK ? r.status : status;
}

void report_free_probes(rung_report *report)
{
    for (size_t i = 0; i < report->probes; i++) free_probe(&report->probe[i]);
    free(report->probe);
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

/* What decides the questions beside the grid. A log says nothing of these. */
static const char *const ways[] = {"server", "words", "spelling", "api", "shots", "seed", "extra"};

/* The value of a key of an object as one would type it, or as a list of words; nothing when it has none. */
static void put_value(rung_buf *out, const char *json, const char *key)
{
    char room[RUNG_JSON_WORD];
    rung_json_doc *doc = NULL;
    if (rung_json_parse(&doc, json, strlen(json), "probe", NULL) != RUNG_OK) return;
    const rung_json *value = rung_json_get(rung_json_root(doc), key);
    const char *word = value ? rung_json_word(room, value) : NULL;
    if (word) rung_buf_puts(out, word);
    for (size_t i = 0; !word && i < rung_json_len(value); i++) {
        word = rung_json_word(room, rung_json_at(value, i));
        rung_buf_printf(out, "%s%s", i ? " " : "", word ? word : "");
        word = NULL;
    }
    rung_json_free(doc);
}

static bool same_subject(const report_probe *a, const report_probe *b)
{
    return strcmp(a->task, b->task) == 0 && strcmp(a->model, b->model) == 0 && strcmp(a->source, b->source) == 0;
}

/* Whether other probes of the same model and task have another value there. */
static bool differs(const rung_report *report, const report_probe *p, const char *value, const char *key)
{
    rung_buf other = {0};
    bool found = false;
    for (size_t i = 0; !found && i < report->probes; i++) {
        if (!same_subject(p, &report->probe[i])) continue;
        rung_buf_reset(&other);
        put_value(&other, report->probe[i].canonical, key);
        found = strcmp(other.text ? other.text : "", value) != 0;
    }
    rung_buf_clear(&other);
    return found;
}

static rung_status name_probe(rung_report *report, report_probe *p, rung_error *err)
{
    rung_buf name = {0}, value = {0};
    rung_buf_puts(&name, p->model[0] ? p->model : "unnamed model");
    bool own = strcmp(p->source, "probe") == 0;
    if (!own) rung_buf_printf(&name, " (%s)", p->source);
    for (size_t i = 0; own && i < RUNG_COUNT(ways); i++) {
        rung_buf_reset(&value);
        put_value(&value, p->canonical, ways[i]);
        const char *text = value.text ? value.text : "";
        if (!differs(report, p, text, ways[i])) continue;
        rung_buf_printf(&name, ", %s %s", ways[i], text[0] ? text : "none");
    }
    rung_status status = rung_buf_ok(&name, err);
    if (status == RUNG_OK && !(p->name = report_keep(report, name.text, err))) status = RUNG_SYSTEM;
    rung_buf_clear(&name);
    rung_buf_clear(&value);
    return status;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------------------- */

static bool is_depth(const char *key, double value, const rung_probe_cell *cell)
{
    return (strcmp(key, "L") == 0 || strcmp(key, "k") == 0) && value == (double)cell->depth;
}

static bool is_facts(const char *key, double value, const rung_probe_cell *cell)
{
    return (strcmp(key, "n") == 0 || strcmp(key, "N") == 0 || strcmp(key, "N0") == 0) && value == (double)cell->facts;
}

/* The words of a cell without its depth and facts, "V=4 K=8". */
static const char *other_words(rung_report *report, const rung_probe_cell *cell, rung_error *err)
{
    char room[RUNG_JSON_WORD];
    rung_json_doc *doc = NULL;
    rung_buf out = {0};
    if (rung_json_parse(&doc, cell->words, strlen(cell->words), "cell", NULL) != RUNG_OK) return "";
    const rung_json *words = rung_json_root(doc);
    for (size_t i = 0; i < rung_json_len(words) && rung_json_kind_of(words) == RUNG_JSON_OBJECT; i++) {
        const char *key = rung_json_key_at(words, i), *word = rung_json_word(room, rung_json_value_at(words, i));
        double value = NAN;
        if (!rung_json_real(&value, rung_json_value_at(words, i))) value = NAN;
        if (!word || is_depth(key, value, cell) || is_facts(key, value, cell)) continue;
        rung_buf_printf(&out, "%s%s=%s", out.len ? " " : "", key, word);
    }
    rung_json_free(doc);
    const char *text = out.failed ? NULL : report_keep(report, out.text ? out.text : "", err);
    rung_buf_clear(&out);
    return text;
}

static bool below_threshold(const report_probe *p, const rung_probed_cell *c)
{
    return p->depths && strcmp(c->cell.mode, "one-hop") == 0 && c->accuracy.high < p->depth[0].threshold;
}

static rung_status fill_cells(rung_report *report, rung_probed *t, rung_probed_cell *out, const report_probe *p,
                              rung_error *err)
{
    for (size_t i = 0; i < p->cells; i++) {
        rung_probed_cell *c = &out[t->cells++];
        *c = (rung_probed_cell){
            .model = p->name, .number = p->series, .source = p->source, .server = p->server, .cell = p->cell[i]};
        if (!(c->others = other_words(report, &c->cell, err))) return RUNG_SYSTEM;
        if (!(c->cell.ceiling > 0)) c->cell.ceiling = 0;
        c->accuracy = rung_estimate_rate((size_t)c->cell.right, (size_t)c->cell.asked);
        c->above = c->cell.ceiling > 0 && c->accuracy.low > c->cell.ceiling;
        t->above += c->above;
        t->empty += c->cell.asked == 0;
        t->answers += c->cell.asked;
        t->unread += below_threshold(p, c);
    }
    return RUNG_OK;
}

static rung_status fill_depths(rung_report *report, rung_probed *t, rung_probed_depth *out, const report_probe *p,
                               rung_error *err)
{
    for (size_t i = 0; i < p->depths; i++) {
        rung_probed_depth *d = &out[t->depths++];
        rung_probe_cell stand = {.words = p->depth[i].words, .facts = p->depth[i].facts};
        *d = (rung_probed_depth){.model = p->name, .depth = p->depth[i]};
        const char *others = other_words(report, &stand, err);
        if (!others) return RUNG_SYSTEM;
        d->place = d->depth.facts ? report_say(report, err, "n=%llu%s%s", (unsigned long long)d->depth.facts,
                                               others[0] ? " " : "", others)
                                  : others;
        if (!d->place) return RUNG_SYSTEM;
    }
    return RUNG_OK;
}

/* Probes of the same name are the same series; a new one is number `fresh`. */
static size_t series_of(const rung_report *report, size_t probe, size_t fresh)
{
    const report_probe *p = &report->probe[probe];
    for (size_t i = 0; i < probe; i++)
        if (strcmp(report->probe[i].task, p->task) == 0 && strcmp(report->probe[i].name, p->name) == 0)
            return report->probe[i].series;
    return fresh;
}

static rung_status fill_task(rung_report *report, rung_probed *t, rung_error *err)
{
    size_t cells = 0, depths = 0;
    for (size_t i = 0; i < report->probes; i++)
        if (strcmp(report->probe[i].task, t->task) == 0)
            cells += report->probe[i].cells, depths += report->probe[i].depths;
    rung_probed_cell *cell = rung_arena_alloc(&report->arena, cells + 1, sizeof *cell, err);
    rung_probed_depth *depth = rung_arena_alloc(&report->arena, depths + 1, sizeof *depth, err);
    if (!cell || !depth) return RUNG_SYSTEM;
    t->cell = cell, t->depth = depth;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < report->probes; i++) {
        report_probe *p = &report->probe[i];
        if (strcmp(p->task, t->task) != 0) continue;
        p->series = series_of(report, i, t->models);
        t->models += p->series == t->models;
        status = fill_cells(report, t, cell, p, err);
        if (status == RUNG_OK) status = fill_depths(report, t, depth, p, err);
    }
    return status == RUNG_OK ? report_make_probe_figures(report, t, err) : status;
}

static bool is_taken(const rung_report *report, const char *slug)
{
    for (size_t i = 0; i < report->groups; i++)
        if (strcmp(report->group[i]->shown.slug, slug) == 0) return true;
    for (size_t i = 0; i < report->probed_count; i++)
        if (strcmp(report->probed[i].slug, slug) == 0) return true;
    return false;
}

static rung_status add_task(rung_report *report, const char *task, rung_error *err)
{
    char slug[64];
    report_slug(slug, task, "task");
    rung_probed t = {.task = task, .slug = report_say(report, err, "probe-%s", slug)};
    for (size_t i = 2; t.slug && is_taken(report, t.slug); i++)
        t.slug = report_say(report, err, "probe-%s-%zu", slug, i);
    if (!t.slug) return RUNG_SYSTEM;
    rung_status status = fill_task(report, &t, err);
    report->probed[report->probed_count++] = t;
    return status;
}

static bool has_task(const rung_report *report, const char *task)
{
    for (size_t i = 0; i < report->probed_count; i++)
        if (strcmp(report->probed[i].task, task) == 0) return true;
    return false;
}

rung_status report_make_probes(rung_report *report, rung_error *err)
{
    rung_status status = RUNG_OK;
    report->probed = rung_arena_alloc(&report->arena, report->probes + 1, sizeof *report->probed, err);
    if (!report->probed) return RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < report->probes; i++)
        status = name_probe(report, &report->probe[i], err);
    for (size_t i = 0; status == RUNG_OK && i < report->probes; i++)
        if (!has_task(report, report->probe[i].task)) status = add_task(report, report->probe[i].task, err);
    return status;
}
