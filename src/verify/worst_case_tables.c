/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a look-up has in common for all queries: keys by position, values by token, the values of each coordinate, and
 * the classes of tokens that a key coordinate of the table can distinguish.
 */
#include "worst_case_lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *take(lookup *l, rung_status *status, size_t count, size_t size, rung_error *err)
{
    void *memory = *status == RUNG_OK ? rung_arena_alloc(&l->arena, count, size, err) : NULL;
    if (!memory) *status = RUNG_SYSTEM;
    return memory;
}

/* Keys do not depend on the token nor values on the position, so any token and any position give them. */
static rung_status project_table(lookup *l, rung_error *err)
{
    const wc_weights *w = l->w;
    rung_status status = RUNG_OK;
    size_t keys = SIZE_MAX, values = SIZE_MAX; /* so that the allocation refuses it */
    rung_size_mul(&keys, l->entries, w->heads * w->dk);
    rung_size_mul(&values, l->values, w->mixed);
    double *x = take(l, &status, w->d, sizeof *x, err);
    l->key = take(l, &status, keys, sizeof *l->key, err);
    l->value = take(l, &status, values, sizeof *l->value, err);
    l->range = take(l, &status, w->mixed, sizeof *l->range, err);
    RUNG_TRY(status);
    for (size_t j = 0; j < l->entries; j++) {
        wc_residual(x, w, 0, j);
        for (size_t i = 0; i < w->heads * w->dk; i++)
            l->key[(i / w->dk * l->entries + j) * w->dk + i % w->dk] = wc_project(w, &w->k, i, x);
    }
    for (size_t v = 0; v < l->values; v++) {
        wc_residual(x, w, v, 0);
        for (size_t i = 0; i < w->mixed; i++) {
            double value = wc_project(w, &w->v, i, x);
            l->value[v * w->mixed + i] = value;
            l->range[i] = v ? wc_hull(l->range[i], wc_point(value)) : wc_point(value);
        }
    }
    return RUNG_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t unique(double *x, size_t count)
{
    size_t kept = 0;
    qsort(x, count, sizeof *x, compare_doubles);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || x[i] != x[kept - 1]) x[kept++] = x[i];
    return kept;
}

static uint32_t place_of(const double *sorted, size_t count, double x)
{
    const double *at = bsearch(&x, sorted, count, sizeof x, compare_doubles);
    return (uint32_t)(at - sorted);
}

/* The set of coordinate i: an existing one of the head with the same values, or a new one. */
static void enter_set(lookup *l, size_t i, double *value, size_t count)
{
    size_t head = i / l->w->dv;
    for (size_t s = 0; s < l->set_count; s++) {
        const value_set *set = &l->set[s];
        if (set->head != head || set->count != count) continue;
        if (memcmp(set->value, value, count * sizeof *value) != 0) continue;
        l->set_of[i] = s;
        return;
    }
    l->set[l->set_count] = (value_set){.head = head, .count = count, .first_run = l->run_count[head], .value = value};
    l->run_count[head] += 2 * count;
    l->set_of[i] = l->set_count++;
}

static rung_status collect_values(lookup *l, rung_error *err)
{
    const wc_weights *w = l->w;
    rung_status status = RUNG_OK;
    l->set = take(l, &status, w->mixed, sizeof *l->set, err);
    l->set_of = take(l, &status, w->mixed, sizeof *l->set_of, err);
    l->place = take(l, &status, w->mixed * l->values, sizeof *l->place, err);
    l->offset = take(l, &status, w->mixed + 1, sizeof *l->offset, err);
    l->run_count = take(l, &status, w->heads, sizeof *l->run_count, err);
    for (size_t i = 0; status == RUNG_OK && i < w->mixed; i++) {
        double *value = take(l, &status, l->values, sizeof *value, err);
        if (status != RUNG_OK) break;
        for (size_t v = 0; v < l->values; v++) value[v] = l->value[v * w->mixed + i] + 0.0; /* turns -0 into 0 */
        size_t count = unique(value, l->values);
        enter_set(l, i, value, count);
        for (size_t v = 0; v < l->values; v++)
            l->place[i * l->values + v] = place_of(value, count, l->value[v * w->mixed + i]);
        l->offset[i + 1] = l->offset[i] + count;
    }
    return status;
}

static rung_status list_runs(lookup *l, rung_error *err)
{
    rung_status status = RUNG_OK;
    l->runs = take(l, &status, l->w->heads, sizeof *l->runs, err);
    for (size_t h = 0; status == RUNG_OK && h < l->w->heads; h++)
        l->runs[h] = take(l, &status, l->run_count[h], sizeof **l->runs, err);
    for (size_t s = 0; status == RUNG_OK && s < l->set_count; s++) {
        const value_set *set = &l->set[s];
        extremal_run *run = l->runs[set->head] + set->first_run;
        for (size_t u = 0; u < set->count; u++) {
            run[2 * u] = (extremal_run){set->value[0], set->value[u]};
            run[2 * u + 1] = (extremal_run){set->value[set->count - 1], set->value[u]};
        }
    }
    return status;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Splits the classes by one more coordinate. */
static size_t refine(uint32_t *of, const uint32_t *place, size_t items, uint64_t *pair, uint64_t *sorted)
{
    size_t count = 0;
    for (size_t v = 0; v < items; v++) pair[v] = sorted[v] = (uint64_t)of[v] << 32 | place[v];
    qsort(sorted, items, sizeof *sorted, compare_u64);
    for (size_t v = 0; v < items; v++)
        if (count == 0 || sorted[v] != sorted[count - 1]) sorted[count++] = sorted[v];
    for (size_t v = 0; v < items; v++) {
        const uint64_t *at = bsearch(&pair[v], sorted, count, sizeof *sorted, compare_u64);
        of[v] = (uint32_t)(at - sorted);
    }
    return count;
}

static rung_status collect_classes(lookup *l, rung_error *err)
{
    const wc_linear *out = &l->w->out;
    rung_status status = RUNG_OK;
    size_t keys = l->w->table.key_count;
    l->keys = take(l, &status, keys, sizeof *l->keys, err);
    uint64_t *pair = take(l, &status, l->values, sizeof *pair, err);
    uint64_t *sorted = take(l, &status, l->values, sizeof *sorted, err);
    for (size_t k = 0; status == RUNG_OK && k < keys; k++) {
        key_class *c = &l->keys[k];
        size_t row = l->w->table.key_coord[k];
        c->of = take(l, &status, l->values, sizeof *c->of, err);
        if (status != RUNG_OK) break;
        c->count = 1;
        for (size_t n = out->start[row]; n < out->start[row + 1]; n++)
            c->count = refine(c->of, l->place + out->col[n] * l->values, l->values, pair, sorted);
        c->example = take(l, &status, c->count, sizeof *c->example, err);
        c->integer = take(l, &status, c->count, sizeof *c->integer, err);
        for (size_t v = l->values; status == RUNG_OK && v-- > 0;) c->example[c->of[v]] = (uint32_t)v;
    }
    return status;
}

/* Finds the longest prefixes of keys that have few different values. */
static rung_status collect_prefixes(lookup *l, size_t head, rung_error *err)
{
    const double *key = l->key + head * l->entries * l->w->dk;
    key_prefixes *p = &l->prefixes[head];
    rung_status status = RUNG_OK;
    size_t n = l->entries, dk = l->w->dk;
    double *value = take(l, &status, n, sizeof *value, err);
    uint32_t *place = take(l, &status, n, sizeof *place, err), *next = take(l, &status, n, sizeof *next, err);
    uint64_t *pair = take(l, &status, 2 * n, sizeof *pair, err);
    p->of = take(l, &status, n, sizeof *p->of, err);
    p->example = take(l, &status, WC_PREFIXES_MAX, sizeof *p->example, err);
    p->count = 1;
    for (; status == RUNG_OK && p->dims < dk; p->dims++) {
        for (size_t j = 0; j < n; j++) value[j] = key[j * dk + p->dims];
        size_t distinct = unique(value, n);
        for (size_t j = 0; j < n; j++) place[j] = place_of(value, distinct, key[j * dk + p->dims]);
        memcpy(next, p->of, n * sizeof *next);
        size_t count = refine(next, place, n, pair, pair + n);
        if (count > WC_PREFIXES_MAX) break;
        memcpy(p->of, next, n * sizeof *next), p->count = count;
    }
    for (size_t j = n; status == RUNG_OK && j-- > 0;) p->example[p->of[j]] = (uint32_t)j;
    return status;
}

static bool answers_follow_table(const wc_weights *w)
{
    for (size_t c = 0; c < w->d; c++)
        if (w->read[c] && !(w->has_table && w->table.assigned[c])) return false;
    return true;
}

static bool table_finite(const lookup *l)
{
    size_t keys = l->entries * l->w->heads * l->w->dk, values = l->values * l->w->mixed;
    for (size_t i = 0; i < keys; i++)
        if (!isfinite(l->key[i])) return false;
    for (size_t i = 0; i < values; i++)
        if (!isfinite(l->value[i])) return false;
    return true;
}

rung_status wc_lookup_prepare(lookup *l, const wc_run *run, rung_error *err)
{
    l->w = run->w;
    l->entries = (size_t)rung_task_param(run->task, "N");
    l->values = run->task->answers;
    rung_status status = project_table(l, err);
    if (status != RUNG_OK || !table_finite(l)) return status;
    status = collect_values(l, err);
    RUNG_NEXT(status, list_runs(l, err));
    if (status == RUNG_OK) l->prefixes = take(l, &status, l->w->heads, sizeof *l->prefixes, err);
    for (size_t h = 0; status == RUNG_OK && h < l->w->heads; h++) status = collect_prefixes(l, h, err);
    l->by_class = status == RUNG_OK && answers_follow_table(l->w);
    if (l->by_class) status = collect_classes(l, err);
    return status;
}
