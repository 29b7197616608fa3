/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Probes of served models, read from stores and sorted by task. If several stores have a probe, the copy with more
 * answers counts. The series of a model has its name. Probes of one model that were made differently (another server,
 * wording, seed) get names with the difference.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"
#include "rung/io.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct reader {
    rung_report *report;
    rung_store *store;
    report_probe *probe; /* the probe being read */
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
    const char **texts[] = {&cell.mode, &cell.keys, &cell.canonical, &cell.verdict, &cell.bound, &cell.statement};
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
    depths[p->depths].keys = report_keep(r->report, row->keys, r->err);
    return depths[p->depths++].keys ? true : failed(r);
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
    bool fresh;
    size_t *at = report_index_put(&report->probe_index, report_hash_text(p->id), &fresh, r->err);
    report_probe *probes =
        at ? report_grow(report->probe, report->probes, &report->probe_room, sizeof *probes, r->err) : NULL;
    if (!probes) {
        free_probe(p);
        return failed(r);
    }
    report->probe = probes;
    if (fresh) {
        *at = report->probes++;
        probes[*at] = *p;
        return true;
    }
    bool more = p->asked > probes[*at].asked;
    report_probe less = more ? probes[*at] : *p;
    if (more) probes[*at] = *p;
    free_probe(&less);
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
    RUNG_NEXT(status, r->status);
    RUNG_NEXT(status, rung_store_probe_depths(r->store, row->number, add_depth, r, r->err));
    RUNG_NEXT(status, r->status);
    r->status = status;
    if (status == RUNG_OK) return enter(r, &p);
    free_probe(&p);
    return false;
}

rung_status report_read_probes(rung_report *report, rung_store *store, rung_error *err)
{
    reader r = {.report = report, .store = store, .err = err};
    rung_status status = rung_store_probes(store, add_probe, &r, err);
    RUNG_TRY(status);
    return r.status;
}

void report_free_probes(rung_report *report)
{
    for (size_t i = 0; i < report->probes; i++) free_probe(&report->probe[i]);
    free(report->probe);
    report_index_clear(&report->probe_index);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* What affects the questions beside the grid. A log does not contain it. */
static const char *const ways[] = {"server", "words", "spelling", "api", "shots", "seed", "extra"};

/* Prints the value of a key as a user would type it, or as a list of words. Prints nothing if it has none. */
static void put_value(rung_buf *out, const rung_json *value)
{
    char room[RUNG_JSON_SCALAR_TEXT];
    const char *word = value ? rung_json_scalar_text(room, value) : NULL;
    if (word) rung_buf_puts(out, word);
    for (size_t i = 0; !word && i < rung_json_len(value); i++) {
        const char *item = rung_json_scalar_text(room, rung_json_at(value, i));
        rung_buf_printf(out, "%s%s", i ? " " : "", item ? item : "");
    }
}

/* How one probe was made: one text for each of the ways. */
typedef struct manner {
    rung_buf way[RUNG_COUNT(ways)];
} manner;

static void read_manner(manner *m, const report_probe *p)
{
    rung_json_doc *doc = NULL;
    for (size_t i = 0; i < RUNG_COUNT(ways); i++) rung_buf_reset(&m->way[i]), rung_buf_puts(&m->way[i], "");
    if (rung_json_parse(&doc, p->canonical, strlen(p->canonical), "probe", NULL) != RUNG_OK) return;
    for (size_t i = 0; i < RUNG_COUNT(ways); i++) put_value(&m->way[i], rung_json_get(rung_json_root(doc), ways[i]));
    rung_json_free(doc);
}

static const char *way_of(const manner *m, size_t i)
{
    return m->way[i].text ? m->way[i].text : "";
}

static void clear_manner(manner *m)
{
    for (size_t i = 0; i < RUNG_COUNT(ways); i++) rung_buf_clear(&m->way[i]);
}

/* All probes of one model, task and source: the first value of each way, and whether it varies. */
typedef struct subject {
    uint64_t first[RUNG_COUNT(ways)];
    bool several[RUNG_COUNT(ways)];
} subject;

static uint64_t hash_subject(const report_probe *p)
{
    return report_hash(report_hash(report_hash_text(p->task), report_hash_text(p->model)), report_hash_text(p->source));
}

static void compare_manner(subject *s, const manner *m, bool fresh)
{
    for (size_t i = 0; i < RUNG_COUNT(ways); i++) {
        uint64_t hash = report_hash_text(way_of(m, i));
        if (fresh) s->first[i] = hash;
        s->several[i] = s->several[i] || s->first[i] != hash;
    }
}

static rung_status name_probe(rung_report *report, report_probe *p, const subject *s, const manner *m, rung_error *err)
{
    rung_buf name = {0};
    rung_buf_puts(&name, p->model[0] ? p->model : "unnamed model");
    bool own = strcmp(p->source, "probe") == 0;
    if (!own) rung_buf_printf(&name, " (%s)", p->source);
    for (size_t i = 0; own && i < RUNG_COUNT(ways); i++)
        if (s->several[i]) rung_buf_printf(&name, ", %s %s", ways[i], way_of(m, i)[0] ? way_of(m, i) : "none");
    rung_status status = rung_buf_ok(&name, err);
    if (status == RUNG_OK && !(p->name = report_keep(report, name.text, err))) status = RUNG_SYSTEM;
    rung_buf_clear(&name);
    return status;
}

/* Two passes over all probes: the differences are known only after the first. */
static rung_status name_probes(rung_report *report, rung_error *err)
{
    report_index index = {0};
    manner m = {0};
    subject *subjects = rung_calloc(report->probes + 1, sizeof *subjects, err);
    size_t count = 0;
    rung_status status = subjects ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < 2 * report->probes; i++) {
        report_probe *p = &report->probe[i % report->probes];
        bool fresh;
        size_t *at = report_index_put(&index, hash_subject(p), &fresh, err);
        if (!at) {
            status = RUNG_SYSTEM;
            break;
        }
        if (fresh) *at = count++;
        read_manner(&m, p);
        if (i < report->probes)
            compare_manner(&subjects[*at], &m, fresh);
        else
            status = name_probe(report, p, &subjects[*at], &m, err);
    }
    clear_manner(&m);
    report_index_clear(&index);
    free(subjects);
    return status;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static bool is_depth(const char *key, double value, const rung_probe_cell *cell)
{
    return (strcmp(key, "L") == 0 || strcmp(key, "k") == 0) && value == (double)cell->depth;
}

static bool is_facts(const char *key, double value, const rung_probe_cell *cell)
{
    return (strcmp(key, "n") == 0 || strcmp(key, "N") == 0 || strcmp(key, "N0") == 0) && value == (double)cell->facts;
}

/* The keys of a cell without its depth and facts, "V=4 K=8". */
static const char *other_words(rung_report *report, const rung_probe_cell *cell, rung_error *err)
{
    char room[RUNG_JSON_SCALAR_TEXT];
    rung_json_doc *doc = NULL;
    rung_buf out = {0};
    if (rung_json_parse(&doc, cell->keys, strlen(cell->keys), "cell", NULL) != RUNG_OK) return "";
    const rung_json *words = rung_json_root(doc);
    for (size_t i = 0; i < rung_json_len(words) && rung_json_kind_of(words) == RUNG_JSON_OBJECT; i++) {
        const char *key = rung_json_key_at(words, i), *word = rung_json_scalar_text(room, rung_json_value_at(words, i));
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
        rung_probe_cell stand = {.keys = p->depth[i].keys, .facts = p->depth[i].facts};
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

/* Probes of the same name are the same series. */
static rung_status fill_task(rung_report *report, rung_probed *t, size_t first, rung_error *err)
{
    size_t cells = 0, depths = 0;
    report_index names = {0};
    for (size_t i = first;; i = report->probe[i].next) {
        cells += report->probe[i].cells, depths += report->probe[i].depths;
        if (!report->probe[i].next) break;
    }
    rung_probed_cell *cell = rung_arena_alloc(&report->arena, cells + 1, sizeof *cell, err);
    rung_probed_depth *depth = rung_arena_alloc(&report->arena, depths + 1, sizeof *depth, err);
    if (!cell || !depth) return RUNG_SYSTEM;
    t->cell = cell, t->depth = depth;
    rung_status status = RUNG_OK;
    for (size_t i = first; status == RUNG_OK; i = report->probe[i].next) {
        report_probe *p = &report->probe[i];
        bool fresh;
        size_t *at = report_index_put(&names, report_hash_text(p->name), &fresh, err);
        if (at && fresh) *at = t->models++;
        if (at) p->series = *at;
        status = at ? fill_cells(report, t, cell, p, err) : RUNG_SYSTEM;
        RUNG_NEXT(status, fill_depths(report, t, depth, p, err));
        if (!p->next) break;
    }
    report_index_clear(&names);
    RUNG_TRY(status);
    return report_make_probe_figures(report, t, err);
}

/* `taken` maps existing slugs to the last number that was appended to each. */
static const char *free_slug(rung_report *report, report_index *taken, const char *task, rung_error *err)
{
    char plain[64];
    report_slug(plain, task, "task");
    const char *slug = report_say(report, err, "probe-%s", plain), *base = slug;
    while (slug) {
        bool fresh;
        if (!report_index_put(taken, report_hash_text(slug), &fresh, err)) return NULL;
        if (fresh) return slug;
        size_t *last = report_index_put(taken, report_hash_text(base), &fresh, err);
        if (!last) return NULL;
        *last = *last ? *last + 1 : 2;
        slug = report_say(report, err, "%s-%zu", base, *last);
    }
    return NULL;
}

static rung_status add_task(rung_report *report, report_index *taken, size_t first, rung_error *err)
{
    rung_probed t = {.task = report->probe[first].task};
    t.slug = free_slug(report, taken, t.task, err);
    if (!t.slug) return RUNG_SYSTEM;
    rung_status status = fill_task(report, &t, first, err);
    report->probed[report->probed_count++] = t;
    return status;
}

/* Links the probes of each task into a list, and marks the first of each list. */
static rung_status chain_tasks(rung_report *report, bool *begins, rung_error *err)
{
    report_index last = {0};
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < report->probes; i++) {
        bool fresh;
        size_t *at = report_index_put(&last, report_hash_text(report->probe[i].task), &fresh, err);
        if (!at) {
            status = RUNG_SYSTEM;
            break;
        }
        begins[i] = fresh;
        if (!fresh) report->probe[*at].next = i;
        *at = i;
    }
    report_index_clear(&last);
    return status;
}

static rung_status make_tasks(rung_report *report, const bool *begins, rung_error *err)
{
    report_index taken = {0};
    bool fresh;
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && i < report->groups; i++)
        if (!report_index_put(&taken, report_hash_text(report->group[i]->shown.slug), &fresh, err))
            status = RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < report->probes; i++)
        if (begins[i]) status = add_task(report, &taken, i, err);
    report_index_clear(&taken);
    return status;
}

rung_status report_make_probes(rung_report *report, rung_error *err)
{
    report->probed = rung_arena_alloc(&report->arena, report->probes + 1, sizeof *report->probed, err);
    bool *begins = rung_arena_alloc(&report->arena, report->probes + 1, sizeof *begins, err);
    if (!report->probed || !begins) return RUNG_SYSTEM;
    RUNG_TRY(name_probes(report, err));
    RUNG_TRY(chain_tasks(report, begins, err));
    return make_tasks(report, begins, err);
}
