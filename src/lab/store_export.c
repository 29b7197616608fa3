/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * CSV, JSON lines and event files. Every row has the same fields in all formats: those of the table
 * below, and the keys of the run.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rung/io.h"
#include "rung/render.h"
#include "store_export.h"

#define FLUSH_BYTES (1 << 20)

/* ---- which runs ------------------------------------------------------------------------------------------------ */

typedef struct search {
    const char *name;
    int64_t number;
    rung_buf known;
} search;

/* The last one of a name: a spec that was changed is another sweep. */
static bool match_sweep(void *context, const rung_sweep_row *row)
{
    search *s = context;
    if (strcmp(row->name, s->name) == 0) s->number = row->number;
    rung_buf_printf(&s->known, "%s%s", s->known.len ? ", " : "", row->name);
    return true;
}

rung_status rung_store_find_sweep(int64_t *number, rung_store *store, const char *name, rung_error *err)
{
    search s = {.name = name};
    *number = 0;
    if (!name) return RUNG_OK;
    rung_status status = rung_store_sweeps(store, match_sweep, &s, err);
    if (status == RUNG_OK && !s.number)
        status = rung_fail(err, RUNG_INPUT, "%s has no sweep '%s'; it has: %.200s", rung_store_path(store), name,
                           s.known.text ? s.known.text : "none");
    *number = s.number;
    rung_buf_clear(&s.known);
    return status;
}

/* ---- fields ---------------------------------------------------------------------------------------------------- */

#define FIELD(name, kind)                                                                                              \
    {                                                                                                                  \
#name, kind, offsetof(rung_run_row, name)                                                                      \
    }
#define THEORY(name, kind)                                                                                             \
    {                                                                                                                  \
#name, kind, offsetof(rung_run_row, theory.name)                                                               \
    }

static const lab_field run_fields[] = {
    FIELD(step, LAB_FIELD_COUNT),
    FIELD(loss, LAB_FIELD_REAL),
    FIELD(accuracy, LAB_FIELD_REAL),
    FIELD(eval_loss, LAB_FIELD_REAL),
    FIELD(eval_accuracy, LAB_FIELD_REAL),
    FIELD(test_loss, LAB_FIELD_REAL),
    FIELD(test_accuracy, LAB_FIELD_REAL),
    FIELD(test_targets, LAB_FIELD_COUNT),
    FIELD(test_right, LAB_FIELD_COUNT),
    FIELD(test_numbers, LAB_FIELD_TEXT),
    FIELD(chance, LAB_FIELD_REAL),
    FIELD(majority, LAB_FIELD_REAL),
    FIELD(tokens, LAB_FIELD_COUNT),
    FIELD(parameters, LAB_FIELD_COUNT),
    FIELD(layers, LAB_FIELD_COUNT),
    FIELD(full_layers, LAB_FIELD_COUNT),
    FIELD(recurrent_layers, LAB_FIELD_COUNT),
    FIELD(state_bits, LAB_FIELD_COUNT),
    FIELD(level_bits, LAB_FIELD_COUNT),
    FIELD(message_bits, LAB_FIELD_COUNT),
    FIELD(kv_bits_per_token, LAB_FIELD_COUNT),
    THEORY(bound, LAB_FIELD_TEXT),
    THEORY(margin, LAB_FIELD_REAL),
    THEORY(ceiling, LAB_FIELD_NUMBER),
    THEORY(n_threshold, LAB_FIELD_NUMBER),
    THEORY(log2_n, LAB_FIELD_NUMBER),
    THEORY(trivial, LAB_FIELD_FLAG),
    FIELD(seconds, LAB_FIELD_REAL),
    FIELD(resumed, LAB_FIELD_FLAG),
    FIELD(finished_at, LAB_FIELD_REAL),
    FIELD(version, LAB_FIELD_TEXT),
    FIELD(kernels, LAB_FIELD_TEXT),
    FIELD(host, LAB_FIELD_TEXT),
};
static const lab_field sweep_fields[] = {
    FIELD(label, LAB_FIELD_TEXT),    FIELD(place, LAB_FIELD_COUNT), FIELD(cell, LAB_FIELD_COUNT),
    FIELD(setting, LAB_FIELD_COUNT), FIELD(chosen, LAB_FIELD_FLAG),
};
#undef FIELD
#undef THEORY

/* One value, in JSON or as a cell of CSV; what does not exist is null or nothing. */
static void put_field(rung_store_export *x, const void *row, const lab_field *f)
{
    const void *at = (const char *)row + f->at;
    bool json = x->format == RUNG_EXPORT_JSONL;
    double real = f->kind == LAB_FIELD_REAL || f->kind == LAB_FIELD_NUMBER ? *(const double *)at : 0;
    switch (f->kind) {
    case LAB_FIELD_TEXT:
        (json ? rung_buf_json_string : rung_buf_csv)(&x->text, *(const char *const *)at);
        break;
    case LAB_FIELD_COUNT:
        rung_buf_printf(&x->text, "%" PRIu64, *(const uint64_t *)at);
        break;
    case LAB_FIELD_FLAG:
        rung_buf_puts(&x->text, *(const bool *)at ? "true" : "false");
        break;
    case LAB_FIELD_REAL:
    case LAB_FIELD_NUMBER:
        if (isfinite(real) && (f->kind == LAB_FIELD_REAL || real > 0))
            rung_buf_real(&x->text, real);
        else if (json)
            rung_buf_puts(&x->text, "null");
    }
}

void lab_export_fields(rung_store_export *x, const void *row, const lab_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rung_buf_puts(&x->text, x->format == RUNG_EXPORT_JSONL ? ", \"" : ",");
        if (x->format == RUNG_EXPORT_JSONL) rung_buf_printf(&x->text, "%s\": ", fields[i].name);
        put_field(x, row, &fields[i]);
    }
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

void rung_store_export_init(rung_store_export *x)
{
    *x = (rung_store_export){0};
    rung_buf_init(&x->text);
    rung_arena_init(&x->arena);
}

void rung_store_export_clear(rung_store_export *x)
{
    rung_buf_clear(&x->text);
    rung_arena_clear(&x->arena);
    free(x->key);
}

rung_status rung_store_export_flush(rung_store_export *x, rung_error *err)
{
    rung_status status = rung_buf_ok(&x->text, err);
    if (status != RUNG_OK || !x->text.len) return status;
    status = x->put(x->context, x->text.text, x->text.len, err);
    rung_buf_reset(&x->text);
    return status;
}

static bool stopped(const rung_store_export *x)
{
    return x->interrupted && x->interrupted();
}

bool lab_export_more(rung_store_export *x)
{
    if (x->text.len >= FLUSH_BYTES) x->status = rung_store_export_flush(x, x->err);
    return x->status == RUNG_OK && !stopped(x);
}

/* ---- columns of CSV -------------------------------------------------------------------------------------------- */

static rung_status add_key(rung_store_export *x, const char *key)
{
    for (size_t i = 0; i < x->keys; i++)
        if (strcmp(x->key[i], key) == 0) return RUNG_OK;
    if (x->keys == x->room) {
        size_t room = x->room ? 2 * x->room : 64;
        char **grown = realloc(x->key, room * sizeof *grown);
        if (!grown) return rung_fail(x->err, RUNG_SYSTEM, "out of memory");
        x->key = grown, x->room = room;
    }
    x->key[x->keys] = rung_arena_strdup(&x->arena, key, x->err);
    return x->key[x->keys++] ? RUNG_OK : RUNG_SYSTEM;
}

/* Which keys there are follows from the version that wrote them, the task, and how many: equal ones are looked at
 * once. */
static bool is_seen(rung_store_export *x, const rung_run_row *row)
{
    char text[160];
    size_t count = 0;
    for (const char *at = row->keys; (at = strstr(at, "\": ")); at++) count++;
    int len = snprintf(text, sizeof text, "%.64s %.64s %zu", row->version, row->task, count);
    uint64_t hash = rung_hash64(text, (size_t)len);
    for (size_t i = 0; i < x->seens; i++)
        if (x->seen[i] == hash) return true;
    if (x->seens < RUNG_COUNT(x->seen)) x->seen[x->seens++] = hash;
    return false;
}

static bool collect_keys(void *context, const rung_run_row *row)
{
    rung_store_export *x = context;
    rung_json_doc *doc;
    if (is_seen(x, row)) return !stopped(x);
    x->status = rung_json_parse(&doc, row->keys, strlen(row->keys), row->id, x->err);
    if (x->status != RUNG_OK) return false;
    const rung_json *keys = rung_json_root(doc);
    for (size_t i = 0; x->status == RUNG_OK && i < rung_json_len(keys); i++)
        x->status = add_key(x, rung_json_key_at(keys, i));
    rung_json_free(doc);
    return x->status == RUNG_OK && !stopped(x);
}

static rung_status read_runs(rung_store_export *x, rung_run_each *each, rung_error *err)
{
    x->err = err;
    x->status = RUNG_OK;
    rung_status status = rung_store_runs(x->store, x->sweep, each, x, err);
    RUNG_TRY(status);
    return x->status;
}

rung_status rung_store_export_columns(rung_store_export *x, rung_error *err)
{
    return read_runs(x, collect_keys, err);
}

void lab_export_names(rung_store_export *x, const lab_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) rung_buf_printf(&x->text, ",%s", fields[i].name);
}

static const char *const metric_names[] = {"loss", "accuracy", "rate", "gradient", "eval_loss", "eval_accuracy"};

rung_status rung_store_export_head(rung_store_export *x, rung_error *err)
{
    x->err = err;
    rung_buf_puts(&x->text, "id");
    if (x->metrics) {
        rung_buf_puts(&x->text, ",step");
        for (size_t i = 0; i < RUNG_COUNT(metric_names); i++) /* beside the key "rate" of the run */
            rung_buf_printf(&x->text, ",%s", strcmp(metric_names[i], "rate") == 0 ? "step_rate" : metric_names[i]);
    }
    for (size_t i = 0; i < x->keys; i++) {
        rung_buf_putc(&x->text, ',');
        rung_buf_csv(&x->text, x->key[i]);
    }
    if (!x->metrics) {
        rung_buf_puts(&x->text, ",outcome,verdict");
        lab_export_names(x, run_fields, RUNG_COUNT(run_fields));
    }
    if (x->sweep) lab_export_names(x, sweep_fields, RUNG_COUNT(sweep_fields));
    rung_buf_putc(&x->text, '\n');
    return rung_buf_ok(&x->text, err);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static void put_csv_keys(rung_store_export *x, const rung_json *keys)
{
    char room[RUNG_JSON_SCALAR_TEXT];
    for (size_t i = 0; i < x->keys; i++) {
        const char *word = rung_json_scalar_text(room, rung_json_get(keys, x->key[i]));
        rung_buf_putc(&x->text, ',');
        if (word) rung_buf_csv(&x->text, word);
    }
}

/* Everything about the run but its id and its keys. */
static void put_results(rung_store_export *x, const rung_run_row *row)
{
    bool json = x->format == RUNG_EXPORT_JSONL;
    if (!x->metrics) {
        rung_buf_printf(&x->text, json ? ", \"outcome\": \"%s\", \"verdict\": \"%s\"" : ",%s,%s",
                        rung_outcome_names[row->outcome - 1], rung_verdict_names[row->theory.verdict - 1]);
        lab_export_fields(x, row, run_fields, RUNG_COUNT(run_fields));
    }
    if (x->sweep) lab_export_fields(x, row, sweep_fields, RUNG_COUNT(sweep_fields));
}

typedef struct metric_row {
    rung_store_export *x;
    const rung_run_row *run;
    const rung_json *keys;
} metric_row;

static bool put_metric(void *context, const rung_metric *m)
{
    metric_row *r = context;
    rung_store_export *x = r->x;
    const double values[] = {m->loss, m->accuracy, m->rate, m->gradient, m->eval_loss, m->eval_accuracy};
    bool json = x->format == RUNG_EXPORT_JSONL;
    rung_buf_printf(&x->text, json ? "{\"id\": \"%s\", \"step\": %" PRIu64 : "%s,%" PRIu64, r->run->id, m->step);
    for (size_t i = 0; i < RUNG_COUNT(values); i++) {
        rung_buf_puts(&x->text, json ? ", \"" : ",");
        if (json) rung_buf_printf(&x->text, "%s\": ", metric_names[i]);
        if (isfinite(values[i]))
            rung_buf_real(&x->text, values[i]);
        else if (json)
            rung_buf_puts(&x->text, "null");
    }
    if (json)
        rung_buf_printf(&x->text, ", \"words\": %s", r->run->keys);
    else
        put_csv_keys(x, r->keys);
    put_results(x, r->run);
    rung_buf_puts(&x->text, json ? "}\n" : "\n");
    return lab_export_more(x);
}

static bool put_run(rung_store_export *x, const rung_run_row *row, const rung_json *keys)
{
    bool json = x->format == RUNG_EXPORT_JSONL;
    rung_buf_printf(&x->text, json ? "{\"id\": \"%s\"" : "%s", row->id);
    if (json)
        rung_buf_printf(&x->text, ", \"words\": %s", row->keys);
    else
        put_csv_keys(x, keys);
    put_results(x, row);
    rung_buf_puts(&x->text, json ? "}\n" : "\n");
    return lab_export_more(x);
}

static bool put_row(void *context, const rung_run_row *row)
{
    rung_store_export *x = context;
    rung_json_doc *doc = NULL;
    bool more;
    if (x->format == RUNG_EXPORT_CSV) x->status = rung_json_parse(&doc, row->keys, strlen(row->keys), row->id, x->err);
    if (x->status != RUNG_OK) return false;
    const rung_json *keys = doc ? rung_json_root(doc) : NULL;
    if (x->metrics) {
        metric_row r = {x, row, keys};
        rung_status status = rung_store_metrics(x->store, row->number, put_metric, &r, x->err);
        if (status != RUNG_OK) x->status = status;
        more = x->status == RUNG_OK && !stopped(x);
    } else {
        more = put_run(x, row, keys);
    }
    rung_json_free(doc);
    return more;
}

rung_status rung_store_export_rows(rung_store_export *x, rung_error *err)
{
    return read_runs(x, put_row, err);
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

typedef struct event_run {
    rung_store_export *x;
    rung_events *events;
    double wall_s;
} event_run;

static bool put_events(void *context, const rung_metric *m)
{
    event_run *e = context;
    const struct {
        const char *tag;
        double value;
    } scalars[] = {
        {"train/loss", m->loss},         {"train/accuracy", m->accuracy}, {"train/rate", m->rate},
        {"train/gradient", m->gradient}, {"eval/loss", m->eval_loss},     {"eval/accuracy", m->eval_accuracy},
    };
    rung_store_export *x = e->x;
    for (size_t i = 0; x->status == RUNG_OK && i < RUNG_COUNT(scalars); i++)
        if (isfinite(scalars[i].value))
            x->status =
                rung_events_scalar(e->events, scalars[i].tag, (float)scalars[i].value, m->step, e->wall_s, x->err);
    return x->status == RUNG_OK;
}

/* TASK-ARCH-seed-id, with what a file name does not like replaced. */
static void name_directory(rung_buf *out, const rung_store_export *x, const rung_run_row *row)
{
    rung_buf_printf(out, "%s/", x->directory);
    size_t start = out->len;
    rung_buf_printf(out, "%.40s-%.80s-seed%" PRIu64 "-%.8s", row->task, row->arch, row->seed, row->id);
    for (size_t i = start; !out->failed && i < out->len; i++)
        if (strchr("/*:|=,()@ ", out->text[i])) out->text[i] = '_';
}

static bool put_event_run(void *context, const rung_run_row *row)
{
    rung_store_export *x = context;
    event_run e = {.x = x, .wall_s = row->finished_at};
    rung_buf directory;
    rung_buf_init(&directory);
    name_directory(&directory, x, row);
    x->status = rung_buf_ok(&directory, x->err);
    if (x->status == RUNG_OK) x->status = rung_events_open(&e.events, directory.text, row->finished_at, x->err);
    if (x->status == RUNG_OK) {
        rung_status status = rung_store_metrics(x->store, row->number, put_events, &e, x->err);
        if (status != RUNG_OK) x->status = status;
    }
    if (x->status == RUNG_OK && isfinite(row->test_accuracy))
        x->status =
            rung_events_scalar(e.events, "test/accuracy", (float)row->test_accuracy, row->step, e.wall_s, x->err);
    rung_events_close(e.events);
    rung_buf_clear(&directory);
    x->runs++;
    return x->status == RUNG_OK && !stopped(x);
}

rung_status rung_store_export_events(rung_store_export *x, rung_error *err)
{
    return read_runs(x, put_event_run, err);
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

static bool put_model(void *context, const rung_artefact *a)
{
    rung_store_export *x = context;
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s.safetensors", x->directory, x->run) >= sizeof path)
        x->status = rung_fail(x->err, RUNG_INPUT, "%s: the name is too long", x->directory);
    else
        x->status = rung_file_write(path, a->bytes, a->size, x->err);
    x->runs++;
    return x->status == RUNG_OK;
}

static bool put_models_of(void *context, const rung_run_row *row)
{
    rung_store_export *x = context;
    snprintf(x->run, sizeof x->run, "%s", row->id);
    rung_status status = rung_store_artefacts(x->store, row->number, "model", put_model, x, x->err);
    if (x->status == RUNG_OK) x->status = status;
    return x->status == RUNG_OK;
}

rung_status rung_store_export_models(rung_store_export *x, rung_error *err)
{
    return read_runs(x, put_models_of, err);
}
