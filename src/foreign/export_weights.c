/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Weights of a model for the writers of foreign files, and a list of those that have been asked for: a weight that no
 * writer asks for has no place in the file, so the model is refused.
 */
#include "export_inside.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void export_reader_init(export_reader *r, const rung_model *model, rung_arena *arena, rung_error *err)
{
    *r = (export_reader){.model = model, .arena = arena, .err = err};
}

static rung_status remember(export_reader *r, const char *name)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        char **wider = rung_arena_alloc(r->arena, room, sizeof *wider, r->err);
        if (!wider) return RUNG_SYSTEM;
        if (r->count) memcpy(wider, r->used, r->count * sizeof *wider);
        r->used = wider, r->room = room;
    }
    r->used[r->count] = rung_arena_strdup(r->arena, name, r->err);
    return r->used[r->count++] ? RUNG_OK : RUNG_SYSTEM;
}

static rung_status use(const rung_tensor **out, export_reader *r, const char *format, va_list args)
{
    char name[96];
    vsnprintf(name, sizeof name, format, args);
    *out = rung_model_tensor(r->model, name);
    return *out ? remember(r, name) : RUNG_OK;
}

rung_status export_use(const rung_tensor **out, export_reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rung_status status = use(out, r, format, args);
    va_end(args);
    return status;
}

rung_status export_get(export_weights *out, export_reader *r, const char *format, ...)
{
    const rung_tensor *tensor;
    va_list args;
    va_start(args, format);
    rung_status status = use(&tensor, r, format, args);
    va_end(args);
    *out = (export_weights){0};
    if (status != RUNG_OK || !tensor) return status;
    float *value = rung_arena_alloc(r->arena, tensor->elements, sizeof *value, r->err);
    if (!value) return RUNG_SYSTEM;
    *out = (export_weights){value, tensor->shape[0], tensor->rank == 2 ? tensor->shape[1] : 1};
    RUNG_TRY(rung_tensor_to_f32(value, tensor, r->err));
    for (size_t i = 0; i < tensor->elements; i++)
        if (!isfinite(value[i]))
            return rung_fail(r->err, RUNG_INPUT, "tensor %s, element %zu is not finite in F32", tensor->name, i);
    return RUNG_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static rung_status check_used(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                              rung_error *err)
{
    const export_reader *r = context;
    (void)shape, (void)rank, (void)optional;
    if (!rung_model_tensor(r->model, name)) return RUNG_OK;
    if (r->count && bsearch(&name, r->used, r->count, sizeof *r->used, compare_names)) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "tensor %s has no place there", name);
}

rung_status export_check_all_used(export_reader *r)
{
    if (r->count) qsort(r->used, r->count, sizeof *r->used, compare_names);
    return rung_model_each_tensor(rung_model_get_spec(r->model), check_used, r, r->err);
}

static bool knows(const char *const *known, const char *key, size_t len)
{
    for (; *known; known++)
        if (strlen(*known) == len && strncmp(*known, key, len) == 0) return true;
    return false;
}

static rung_status check_text(const char *at, const char *const *known, const char *where, rung_error *err)
{
    while ((at = strchr(at, ':')) != NULL) {
        size_t len = strcspn(++at, "=:@,|");
        if (at[len] == '=' && !knows(known, at, len))
            return rung_fail(err, RUNG_INPUT, "%.*s of a layer has no place in %s", len < 40 ? (int)len : 40, at,
                             where);
    }
    return RUNG_OK;
}

rung_status export_check_keys(const rung_arch *arch, const char *const *known, const char *where, rung_error *err)
{
    rung_buf text;
    rung_buf_init(&text);
    rung_arch_print(&text, arch);
    rung_status status = rung_buf_ok(&text, err);
    if (status == RUNG_OK && text.text) status = check_text(text.text, known, where, err);
    rung_buf_clear(&text);
    return status;
}
