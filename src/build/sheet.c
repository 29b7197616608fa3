/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Sheets: tensors by name, and the parts that most constructions share.
 */
#include "sheet.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 112, TABLE_BITS_MAX = 16 };

static void fail(rung_sheet *s, rung_status status)
{
    if (s->status == RUNG_OK) s->status = status;
}

static void *take(rung_sheet *s, size_t count, size_t size)
{
    void *memory = s->status == RUNG_OK ? rung_arena_alloc(&s->arena, count, size, s->err) : NULL;
    if (!memory) fail(s, RUNG_SYSTEM);
    return memory;
}

/* ---- shape ------------------------------------------------------------------------------------------------------- */

size_t sheet_coords(rung_sheet *s, size_t count)
{
    size_t first = s->spec.d_model;
    assert(!s->listed);
    s->spec.d_model += count;
    return first;
}

static void set_text(rung_sheet *s, const char **field, const char *text)
{
    const char *own = s->status == RUNG_OK ? rung_arena_strdup(&s->arena, text, s->err) : NULL;
    if (own)
        *field = own;
    else
        fail(s, RUNG_SYSTEM);
}

void sheet_layers(rung_sheet *s, const char *format, ...)
{
    va_list args;
    char arch[1024];
    assert(!s->listed);
    va_start(args, format);
    int len = vsnprintf(arch, sizeof arch, format, args);
    va_end(args);
    assert(len >= 0 && (size_t)len < sizeof arch); /* equal layers are written with a count, so it fits */
    set_text(s, &s->spec.arch, arch);
}

void sheet_mlp(rung_sheet *s, const char *kinds)
{
    assert(!s->listed);
    set_text(s, &s->spec.mlp, kinds);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static rung_status list_tensor(void *context, const char *name, const size_t *shape, size_t rank, bool optional,
                               rung_error *err)
{
    rung_sheet *s = context;
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 32;
        sheet_tensor *grown = realloc(s->tensor, capacity * sizeof *grown);
        if (!grown) return rung_fail(err, RUNG_SYSTEM, "out of memory for %zu tensors", capacity);
        s->tensor = grown, s->capacity = capacity;
    }
    sheet_tensor *t = &s->tensor[s->count];
    *t = (sheet_tensor){.rank = rank, .optional = optional, .name = rung_arena_strdup(&s->arena, name, err)};
    if (!t->name) return RUNG_SYSTEM;
    for (size_t i = 0; i < rank; i++) t->shape[i] = shape[i];
    s->count++;
    return RUNG_OK;
}

static void list_tensors(rung_sheet *s)
{
    if (s->listed || s->status != RUNG_OK) return;
    s->listed = true;
    rung_status status = rung_model_each_tensor(&s->spec, list_tensor, s, s->err);
    if (status != RUNG_OK) fail(s, status);
}

static sheet_tensor *find(rung_sheet *s, const char *name)
{
    list_tensors(s);
    for (size_t i = 0; s->status == RUNG_OK && i < s->count; i++)
        if (strcmp(s->tensor[i].name, name) == 0) return &s->tensor[i];
    assert(s->status != RUNG_OK); /* otherwise a construction asked for a tensor that its layers do not have */
    return NULL;
}

static size_t elements_of(const sheet_tensor *t)
{
    size_t elements = 1;
    for (size_t i = 0; i < t->rank; i++)
        if (!rung_size_mul(&elements, elements, t->shape[i])) return SIZE_MAX;
    return elements;
}

static sheet_matrix as_matrix(rung_sheet *s, sheet_tensor *t)
{
    if (!t) return (sheet_matrix){0};
    if (!t->value) t->value = take(s, elements_of(t), sizeof *t->value);
    size_t cols = t->rank ? t->shape[t->rank - 1] : 1;
    return (sheet_matrix){t->value, cols ? elements_of(t) / cols : 0, cols};
}

sheet_matrix sheet_get(rung_sheet *s, const char *format, ...)
{
    char name[NAME_MAX_LEN];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return as_matrix(s, find(s, name));
}

void sheet_set(const sheet_matrix *m, size_t row, size_t col, double value)
{
    if (!m->value) return;
    assert(row < m->rows && col < m->cols);
    m->value[row * m->cols + col] = value;
}

void sheet_set_diagonal(const sheet_matrix *m, size_t row, size_t col, size_t count, double value)
{
    for (size_t i = 0; i < count; i++) sheet_set(m, row + i, col + i, value);
}

void sheet_set_bits(const sheet_matrix *m, size_t row, size_t col, size_t bits, uint64_t code, double zero, double one)
{
    for (size_t i = 0; i < bits; i++) sheet_set(m, row, col + i, code >> i & 1 ? one : zero);
}

static sheet_matrix table_part(rung_sheet *s, size_t layer, const char *part, size_t rows, size_t cols)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof name, "layers.%zu.mlp.%s", layer, part);
    sheet_tensor *t = find(s, name);
    if (t && t->rank == 2)
        t->shape[0] = rows, t->shape[1] = cols;
    else if (t)
        t->shape[0] = cols;
    return as_matrix(s, t);
}

sheet_table sheet_add_table(rung_sheet *s, size_t layer, size_t entries, const size_t *key_coords, size_t key_count,
                            const size_t *out_coords, size_t out_count)
{
    sheet_matrix in = table_part(s, layer, "key_coords", 1, key_count);
    sheet_matrix out = table_part(s, layer, "out_coords", 1, out_count);
    for (size_t i = 0; i < key_count; i++) sheet_set(&in, 0, i, (double)key_coords[i]);
    for (size_t i = 0; i < out_count; i++) sheet_set(&out, 0, i, (double)out_coords[i]);
    return (sheet_table){table_part(s, layer, "keys", entries, key_count),
                         table_part(s, layer, "values", entries, out_count)};
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

size_t sheet_bits_for(size_t count)
{
    size_t bits = 1;
    while (bits < 64 && count > (size_t)1 << bits) bits++;
    return bits;
}

void sheet_readout_bits(rung_sheet *s, size_t ones, size_t zeros, size_t bits, size_t row, uint64_t code)
{
    sheet_matrix readout = sheet_get(s, "readout.weight");
    sheet_set_bits(&readout, row, ones, bits, code, -1, 0);
    sheet_set_bits(&readout, row, zeros, bits, code, 0, -1);
}

void sheet_readout_numbers(rung_sheet *s, size_t ones, size_t zeros, size_t bits, size_t answers)
{
    for (size_t a = 0; a < answers; a++) sheet_readout_bits(s, ones, zeros, bits, a, a);
}

/* How a table rounds an answer: the coordinates that it reads, and how a code stands in them. */
typedef struct rounding {
    size_t from, keys, entries;
    bool number;   /* one coordinate holds the code itself; else one coordinate per bit */
    size_t values; /* codes; larger keys are read as the largest of them */
} rounding;

static void fill_snap(const sheet_table *table, const rounding *r, size_t bits)
{
    for (size_t key = 0; key < r->entries; key++) {
        size_t code = key < r->values ? key : r->values - 1;
        if (r->number)
            sheet_set(&table->keys, key, 0, (double)key);
        else
            sheet_set_bits(&table->keys, key, 0, bits, key, 0, 1);
        sheet_set_bits(&table->values, key, 0, bits, code, 0, 1);
        sheet_set_bits(&table->values, key, bits, bits, code, 1, 0);
    }
}

static void snap(rung_sheet *s, size_t layer, const rounding *r, size_t bits, size_t ones, size_t zeros)
{
    size_t in[TABLE_BITS_MAX], out[2 * TABLE_BITS_MAX];
    if (bits > TABLE_BITS_MAX) {
        rung_fail(s->err, RUNG_USAGE, "an answer of %zu bits needs a table of 2^%zu rows, but at most 2^%d are built",
                  bits, bits, TABLE_BITS_MAX);
        fail(s, RUNG_USAGE);
        return;
    }
    for (size_t i = 0; i < r->keys; i++) in[i] = r->from + i;
    for (size_t i = 0; i < bits; i++) out[i] = ones + i, out[bits + i] = zeros + i;
    sheet_table table = sheet_add_table(s, layer, r->entries, in, r->keys, out, 2 * bits);
    fill_snap(&table, r, bits);
}

void sheet_snap_bits(rung_sheet *s, size_t layer, size_t from, size_t bits, size_t ones, size_t zeros)
{
    size_t entries = (size_t)1 << (bits < TABLE_BITS_MAX ? bits : TABLE_BITS_MAX);
    snap(s, layer, &(rounding){from, bits, entries, false, entries}, bits, ones, zeros);
}

void sheet_snap_number(rung_sheet *s, size_t layer, size_t from, size_t values, size_t bits, size_t ones, size_t zeros)
{
    size_t entries = values + values / 2 + 1; /* an average of V-1 and V-1 may be rounded to more than V-1 */
    snap(s, layer, &(rounding){from, 1, entries, true, values}, bits, ones, zeros);
}
