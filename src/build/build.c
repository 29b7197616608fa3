/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Constructions: the registry, their parameters, and the conversion of a sheet into a model.
 */
#include "build_rows.h"
#include "sheet.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 2 * RUNG_PARAM_MAX };

static const rung_construction *const rows[] = {
#define X(name) &rung_construction_##name,
    RUNG_CONSTRUCTIONS(X)
#undef X
};

size_t rung_construction_count(void)
{
    return RUNG_COUNT(rows);
}

const rung_construction *rung_construction_at(size_t index)
{
    return rows[index];
}

const rung_construction *rung_construction_get(const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(rows); i++)
        if (strcmp(rows[i]->name, name) == 0) return rows[i];
    return NULL;
}

static void names_of(const char *names[RUNG_COUNT(rows)])
{
    for (size_t i = 0; i < RUNG_COUNT(rows); i++) names[i] = rows[i]->name;
}

const char *rung_construction_nearest(const char *name)
{
    const char *names[RUNG_COUNT(rows)];
    names_of(names);
    return rung_nearest_name(name, names, RUNG_COUNT(rows));
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static bool has_key(const rung_param *table, const char *pair)
{
    for (size_t i = 0; table[i].name; i++) {
        size_t len = strlen(table[i].name);
        if (strncmp(table[i].name, pair, len) == 0 && pair[len] == '=') return true;
    }
    return false;
}

/* The error for a key that neither the construction nor its task has; it names the nearest key of both. */
static rung_status unknown_key(const char *pair, const rung_construction *how, const rung_task *task, rung_error *err)
{
    const char *names[KEYS_MAX];
    char key[64];
    size_t count = 0;
    for (size_t i = 0; how->params[i].name; i++) names[count++] = how->params[i].name;
    for (size_t i = 0; task->params[i].name && count < KEYS_MAX; i++) names[count++] = task->params[i].name;
    snprintf(key, sizeof key, "%.*s", (int)strcspn(pair, "="), pair);
    rung_fail_unknown(err, "parameter", key, names, count);
    return rung_fail_at(err, RUNG_USAGE, "construction %s, task %s", how->name, task->name);
}

typedef struct pair_list {
    const char **pair;
    size_t count;
} pair_list;

/* Adds the words that the construction requires. Splits the text in place. */
static void add_presupposed(pair_list *list, char *text)
{
    for (char *pair = strtok(text, " "); pair; pair = strtok(NULL, " ")) list->pair[list->count++] = pair;
}

static const char *task_name(const rung_build *b)
{
    size_t at = rung_param_find(b->how->params, "task");
    return at == SIZE_MAX ? b->how->task : b->how->params[at].choices[b->params[at].number];
}

static rung_status init_task(rung_build *b, pair_list *list, const char *const *pairs, size_t count, rung_error *err)
{
    const rung_task *task = rung_task_get(task_name(b));
    assert(task);
    for (size_t i = 0; i < count; i++) {
        if (has_key(b->how->params, pairs[i])) continue;
        if (strchr(pairs[i], '=') && !has_key(task->params, pairs[i])) return unknown_key(pairs[i], b->how, task, err);
        list->pair[list->count++] = pairs[i];
    }
    return rung_task_conf_init(&b->task, task->name, list->pair, list->count, err);
}

static rung_status unknown_construction(const char *name, rung_error *err)
{
    const char *names[RUNG_COUNT(rows)];
    names_of(names);
    return rung_fail_unknown(err, "construction", name, names, RUNG_COUNT(rows));
}

rung_status rung_build_init(rung_build *b, const char *name, const char *const *pairs, size_t count, rung_error *err)
{
    char presupposed[256] = "", owner[64];
    rung_status status = RUNG_OK;
    *b = (rung_build){.how = rung_construction_get(name)};
    if (!b->how) return unknown_construction(name, err);
    rung_param_defaults(b->params, b->how->params);
    snprintf(owner, sizeof owner, "construction %s", name);
    for (size_t i = 0; status == RUNG_OK && i < count; i++)
        if (has_key(b->how->params, pairs[i])) status = rung_param_set(b->params, b->how->params, pairs[i], owner, err);
    RUNG_TRY(status);
    if (b->how->task_pairs) snprintf(presupposed, sizeof presupposed, "%s", b->how->task_pairs);
    pair_list list = {.pair = rung_calloc(count + sizeof presupposed / 2, sizeof *list.pair, err)};
    if (!list.pair) return RUNG_SYSTEM;
    add_presupposed(&list, presupposed);
    status = init_task(b, &list, pairs, count, err);
    free(list.pair);
    return status;
}

void rung_build_canonical(rung_buf *out, const rung_build *b)
{
    rung_buf_puts(out, b->how->name);
    if (b->how->params[0].name) rung_buf_putc(out, ' ');
    rung_param_print(out, b->params, b->how->params, " ");
}

const rung_value *rung_build_value(const rung_build *b, const char *name)
{
    size_t at = rung_param_find(b->how->params, name);
    assert(at != SIZE_MAX);
    return &b->params[at];
}

int64_t rung_build_param(const rung_build *b, const char *name)
{
    return rung_build_value(b, name)->number;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static rung_status sheet_begin(rung_sheet *s, const rung_build *b, rung_error *err)
{
    const rung_task_conf *task = &b->task;
    rung_buf text;
    *s = (rung_sheet){.err = err};
    rung_arena_init(&s->arena);
    rung_buf_init(&text);
    rung_task_canonical(&text, task);
    s->spec = (rung_model_spec){.arch = "full",
                                .task = rung_arena_strdup(&s->arena, text.text, err),
                                .mlp = "none",
                                .vocab = task->vocab,
                                .d_in = task->d_in,
                                .answers = task->answers ? task->answers : task->d_out,
                                .max_tokens = task->tokens,
                                .heads = 1,
                                .dk = 1,
                                .dv = 1,
                                .positions = RUNG_POS_NONE,
                                .norm = RUNG_NORM_NONE,
                                .causal = true};
    rung_status status = rung_buf_ok(&text, err);
    rung_buf_clear(&text);
    if (status == RUNG_OK && !s->spec.task) status = RUNG_SYSTEM;
    return status;
}

static void sheet_end(rung_sheet *s)
{
    rung_arena_clear(&s->arena);
    free(s->tensor);
}

static bool all_floats(const double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((double)(float)value[i] != value[i]) return false;
    return true;
}

/* Encodes as F32 if that is exact, else as F64. */
static rung_status encode(rung_tensor *out, rung_sheet *s, const sheet_tensor *t, sheet_matrix m)
{
    size_t elements = m.rows * m.cols;
    bool narrow = all_floats(m.value, elements);
    *out = (rung_tensor){.name = t->name,
                         .dtype = narrow ? RUNG_F32 : RUNG_F64,
                         .dtype_name = narrow ? "F32" : "F64",
                         .rank = t->rank,
                         .shape = {t->shape[0], t->shape[1], t->shape[2]},
                         .elements = elements,
                         .bytes = (const uint8_t *)m.value,
                         .size_bytes = elements * (narrow ? sizeof(float) : sizeof(double))};
    if (!narrow) return RUNG_OK;
    float *shorter = rung_arena_alloc(&s->arena, elements, sizeof *shorter, s->err);
    if (!shorter) return RUNG_SYSTEM;
    for (size_t i = 0; i < elements; i++) shorter[i] = (float)m.value[i];
    out->bytes = (const uint8_t *)shorter;
    return RUNG_OK;
}

typedef struct product {
    const char *path;   /* write to this file, or */
    rung_model **model; /* make this model in memory */
} product;

static rung_status finish(const product *to, rung_sheet *s, const rung_build *b, rung_error *err)
{
    rung_buf made_by;
    rung_tensor *tensors = rung_arena_alloc(&s->arena, s->count, sizeof *tensors, err);
    size_t count = 0;
    rung_status status = tensors ? RUNG_OK : RUNG_SYSTEM;
    for (size_t i = 0; status == RUNG_OK && i < s->count; i++) {
        sheet_tensor *t = &s->tensor[i];
        if (t->optional && !t->value) continue;
        sheet_matrix m = sheet_get(s, "%s", t->name);
        status = s->status == RUNG_OK ? encode(&tensors[count++], s, t, m) : s->status;
    }
    RUNG_TRY(status);
    rung_buf_init(&made_by);
    rung_buf_puts(&made_by, "rung build ");
    rung_build_canonical(&made_by, b);
    status = rung_buf_ok(&made_by, err);
    if (status == RUNG_OK && to->path)
        status = rung_model_write(to->path, &s->spec, tensors, count, made_by.text, err);
    else if (status == RUNG_OK)
        status = rung_model_from_tensors(to->model, &s->spec, tensors, count, made_by.text, err);
    rung_buf_clear(&made_by);
    return status;
}

static rung_status make(const product *to, const rung_build *b, rung_error *err)
{
    rung_sheet s;
    rung_status status = sheet_begin(&s, b, err);
    RUNG_NEXT(status, b->how->build(&s, b, err));
    RUNG_NEXT(status, s.status);
    if (status == RUNG_OK) sheet_get(&s, "readout.weight"); /* a sheet without any weight is still a model */
    RUNG_NEXT(status, s.status);
    RUNG_NEXT(status, finish(to, &s, b, err));
    sheet_end(&s);
    return status == RUNG_OK ? status : rung_fail_at(err, status, "construction %s", b->how->name);
}

rung_status rung_build_write(const rung_build *b, const char *path, rung_error *err)
{
    return make(&(product){.path = path}, b, err);
}

rung_status rung_build_model(rung_model **out, const rung_build *b, rung_error *err)
{
    return make(&(product){.model = out}, b, err);
}
