/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The MLP of the theory, an arbitrary function: key coordinates, rounded to integers, select the row whose
 * values are assigned to the output coordinates. Tensors of a layer: keys [entries][k], key_coords [k],
 * values [entries][o], out_coords [o].
 */
#include "eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 16 };

static const rung_tensor *part(const rung_program *p, size_t layer, const char *what)
{
    char name[TENSOR_NAME_MAX];
    snprintf(name, sizeof name, "layers.%zu.mlp.%s", layer, what);
    return rung_safetensors_get(p->model->file, name);
}

static int compare_keys(const int64_t *a, const int64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* A row of the file: its key, and the index of its values. Each row has the count, because qsort compares them. */
typedef struct row {
    const int64_t *key;
    size_t key_count, index;
} row;

static int compare_rows(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return compare_keys(x->key, y->key, x->key_count);
}

static rung_status load_coords(size_t **out, const rung_program *p, rung_arena *arena, const rung_tensor *tensor,
                               rung_error *err)
{
    int64_t *raw = rung_arena_alloc(arena, tensor->elements, sizeof *raw, err);
    bool *taken = rung_arena_alloc(arena, p->model->spec.d_model, sizeof *taken, err);
    *out = rung_arena_alloc(arena, tensor->elements, sizeof **out, err);
    if (!raw || !taken || !*out) return RUNG_SYSTEM;
    rung_status status = rung_tensor_to_i64(raw, tensor, err);
    for (size_t i = 0; status == RUNG_OK && i < tensor->elements; i++) {
        if (raw[i] < 0 || (uint64_t)raw[i] >= p->model->spec.d_model)
            status = rung_fail(err, RUNG_INPUT, "tensor %s: coordinate %lld is outside d_model = %zu", tensor->name,
                               (long long)raw[i], p->model->spec.d_model);
        else if (taken[raw[i]])
            status = rung_fail(err, RUNG_INPUT, "tensor %s: coordinate %lld is listed twice", tensor->name,
                               (long long)raw[i]);
        else
            taken[raw[i]] = true;
        (*out)[i] = (size_t)raw[i];
    }
    return status;
}

static rung_status check_shapes(const rung_tensor *keys, const rung_tensor *key_coords, const rung_tensor *values,
                                const rung_tensor *out_coords, rung_error *err)
{
    if (keys->shape[0] != values->shape[0])
        return rung_fail(err, RUNG_INPUT, "tensor %s has %zu rows and %s %zu; a table needs one value per key",
                         keys->name, keys->shape[0], values->name, values->shape[0]);
    if (keys->shape[1] != key_coords->shape[0] || values->shape[1] != out_coords->shape[0])
        return rung_fail(err, RUNG_INPUT, "tensor %s: columns and coordinates of the table differ in number",
                         keys->name);
    if (keys->shape[1] == 0 || keys->shape[1] > KEYS_MAX)
        return rung_fail(err, RUNG_INPUT, "tensor %s: a table has 1 to %d key coordinates, not %zu", keys->name,
                         KEYS_MAX, keys->shape[1]);
    return RUNG_OK;
}

/* Sorts the rows by key, and refuses two rows with the same key. */
static rung_status sort_rows(table_weights *table, const int64_t *keys, reals values, rung_arena *arena,
                             const char *name, rung_error *err)
{
    size_t k = table->key_count, o = table->out_count;
    row *rows = rung_arena_alloc(arena, table->entries, sizeof *rows, err);
    if (!rows) return RUNG_SYSTEM;
    for (size_t i = 0; i < table->entries; i++) rows[i] = (row){keys + i * k, k, i};
    qsort(rows, table->entries, sizeof *rows, compare_rows);
    for (size_t i = 0; i < table->entries; i++) {
        if (i && compare_rows(&rows[i - 1], &rows[i]) == 0)
            return rung_fail(err, RUNG_INPUT, "tensor %s: rows %zu and %zu have the same key", name, rows[i - 1].index,
                             rows[i].index);
        memcpy(table->key + i * k, rows[i].key, k * sizeof *keys);
        rung_reals_copy(reals_at(table->value, i * o), reals_at(values, rows[i].index * o), o);
    }
    return RUNG_OK;
}

static rung_status load_parts(table_weights *table, const rung_program *p, rung_arena *arena, size_t layer,
                              rung_error *err)
{
    const rung_tensor *keys = part(p, layer, "keys"), *key_coords = part(p, layer, "key_coords");
    const rung_tensor *values = part(p, layer, "values"), *out_coords = part(p, layer, "out_coords");
    reals unsorted = {0};
    RUNG_TRY(check_shapes(keys, key_coords, values, out_coords, err));
    table->entries = keys->shape[0], table->key_count = keys->shape[1], table->out_count = values->shape[1];
    int64_t *raw = rung_arena_alloc(arena, keys->elements, sizeof *raw, err);
    table->key = rung_arena_alloc(arena, keys->elements, sizeof *table->key, err);
    table->value = rung_reals_alloc(p, arena, values->elements, err);
    if (!raw || !table->key || !reals_set(table->value)) return RUNG_SYSTEM;
    RUNG_TRY(rung_tensor_to_i64(raw, keys, err));
    RUNG_TRY(rung_program_numbers(&unsorted, p, arena, values, err));
    RUNG_TRY(load_coords(&table->key_coord, p, arena, key_coords, err));
    RUNG_TRY(load_coords(&table->out_coord, p, arena, out_coords, err));
    return sort_rows(table, raw, unsorted, arena, keys->name, err);
}

rung_status rung_table_load(table_weights *table, const rung_program *p, rung_arena *arena, size_t layer,
                            rung_error *err)
{
    rung_status status = load_parts(table, p, arena, layer, err);
    return status == RUNG_OK ? status : rung_fail_at(err, status, "%s", rung_safetensors_name(p->model->file));
}

static size_t find_row(const table_weights *table, const int64_t *key)
{
    size_t low = 0, high = table->entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(table->key + middle * table->key_count, key, table->key_count);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

static rung_status missing_key(const int64_t *key, size_t count, size_t layer, size_t token, rung_error *err)
{
    char text[160];
    size_t len = 0;
    for (size_t i = 0; i < count && len < sizeof text - 24; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%lld", i ? "," : "", (long long)key[i]);
    return rung_fail(err, RUNG_INPUT, "layer %zu, token %zu: the MLP table has no key (%s)", layer, token, text);
}

rung_status rung_table_apply(reals x, const table_weights *table, size_t tokens, const size_t *at, size_t d_model,
                             size_t layer, rung_error *err)
{
    for (size_t t = 0; t < tokens; t++) {
        int64_t key[KEYS_MAX];
        for (size_t i = 0; i < table->key_count; i++) {
            double value = nearbyint(rung_reals_get(x, t * d_model + table->key_coord[i]));
            if (!(fabs(value) < 9e15))
                return rung_fail(err, RUNG_INPUT,
                                 "layer %zu, token %zu: coordinate %zu is %g, too large for a table key", layer,
                                 at ? at[t] : t, table->key_coord[i], value);
            key[i] = (int64_t)value;
        }
        size_t found = find_row(table, key);
        if (found == SIZE_MAX) return missing_key(key, table->key_count, layer, at ? at[t] : t, err);
        for (size_t i = 0; i < table->out_count; i++)
            rung_reals_copy(reals_at(x, t * d_model + table->out_coord[i]),
                            reals_at(table->value, found * table->out_count + i), 1);
    }
    return RUNG_OK;
}
