/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * An MLP of the kind `table` as step functions of one number each, which an MLP of gelu or silu computes. A table that
 * rounds coordinates one by one is a step function per key. Any other one becomes a step function of one whole number,
 * made of the ranks of its keys.
 */
#include "export_inside.h"

#include <stdlib.h>
#include <string.h>

static rung_status read_coords(size_t **out, const rung_tensor *tensor, size_t d_model, rung_arena *arena,
                               rung_error *err)
{
    int64_t *raw = rung_arena_alloc(arena, tensor->elements, sizeof *raw, err);
    *out = rung_arena_alloc(arena, tensor->elements, sizeof **out, err);
    if (!raw || !*out) return RUNG_SYSTEM;
    RUNG_TRY(rung_tensor_to_i64(raw, tensor, err));
    for (size_t i = 0; i < tensor->elements; i++) {
        if (raw[i] < 0 || (uint64_t)raw[i] >= d_model)
            return rung_fail(err, RUNG_INPUT, "tensor %s: coordinate %lld is outside d_model = %zu", tensor->name,
                             (long long)raw[i], d_model);
        (*out)[i] = (size_t)raw[i];
    }
    return RUNG_OK;
}

static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static rung_status find_levels(step_table *t, rung_arena *arena, rung_error *err)
{
    t->levels = rung_arena_alloc(arena, t->keys, sizeof *t->levels, err);
    t->level = rung_arena_alloc(arena, t->keys, sizeof *t->level, err);
    if (!t->levels || !t->level) return RUNG_SYSTEM;
    for (size_t k = 0; k < t->keys; k++) {
        int64_t *all = t->level[k] = rung_arena_alloc(arena, t->rows, sizeof *all, err);
        if (!all) return RUNG_SYSTEM;
        for (size_t r = 0; r < t->rows; r++) all[r] = t->key[r * t->keys + k];
        qsort(all, t->rows, sizeof *all, compare_i64);
        for (size_t r = 0; r < t->rows; r++)
            if (r == 0 || all[r] != all[t->levels[k] - 1]) all[t->levels[k]++] = all[r];
    }
    return RUNG_OK;
}

static size_t rank_of(const step_table *t, size_t row, size_t key)
{
    const int64_t *found =
        bsearch(&t->key[row * t->keys + key], t->level[key], t->levels[key], sizeof(int64_t), compare_i64);
    return (size_t)(found - t->level[key]);
}

/* Whether a value is a function of one key alone; `seen` has room for a value per level. */
static bool depends_on(const step_table *t, size_t out, size_t key, float *seen, bool *set)
{
    memset(set, 0, t->levels[key] * sizeof *set);
    for (size_t r = 0; r < t->rows; r++) {
        size_t rank = rank_of(t, r, key);
        float value = t->value[r * t->outs + out];
        if (set[rank] && seen[rank] != value) return false;
        seen[rank] = value, set[rank] = true;
    }
    return true;
}

static rung_status find_dependences(step_table *t, rung_arena *arena, rung_error *err)
{
    float *seen = rung_arena_alloc(arena, t->rows, sizeof *seen, err);
    bool *set = rung_arena_alloc(arena, t->rows, sizeof *set, err);
    t->depends = rung_arena_alloc(arena, t->outs, sizeof *t->depends, err);
    if (!seen || !set || !t->depends) return RUNG_SYSTEM;
    t->separable = true;
    for (size_t o = 0; o < t->outs && t->separable; o++) {
        size_t key = 0;
        while (key < t->keys && !depends_on(t, o, key, seen, set)) key++;
        t->depends[o] = key;
        t->separable = key < t->keys;
    }
    return RUNG_OK;
}

rung_status step_table_read(step_table *t, export_reader *read, size_t layer, rung_error *err)
{
    const rung_tensor *keys, *values, *key_coords, *out_coords;
    rung_arena *arena = read->arena;
    size_t d_model = rung_model_get_spec(read->model)->d_model;
    RUNG_TRY(export_use(&keys, read, "layers.%zu.mlp.keys", layer));
    RUNG_TRY(export_use(&values, read, "layers.%zu.mlp.values", layer));
    RUNG_TRY(export_use(&key_coords, read, "layers.%zu.mlp.key_coords", layer));
    RUNG_TRY(export_use(&out_coords, read, "layers.%zu.mlp.out_coords", layer));
    *t = (step_table){.rows = keys->shape[0], .keys = keys->shape[1], .outs = values->shape[1]};
    if (values->shape[0] != t->rows || key_coords->elements != t->keys || out_coords->elements != t->outs || !t->rows)
        return rung_fail(err, RUNG_INPUT, "layer %zu: the parts of its table differ in size", layer);
    t->key = rung_arena_alloc(arena, keys->elements, sizeof *t->key, err);
    t->value = rung_arena_alloc(arena, values->elements, sizeof *t->value, err);
    if (!t->key || !t->value) return RUNG_SYSTEM;
    RUNG_TRY(rung_tensor_to_i64(t->key, keys, err));
    RUNG_TRY(rung_tensor_to_f32(t->value, values, err));
    RUNG_TRY(read_coords(&t->key_coord, key_coords, d_model, arena, err));
    RUNG_TRY(read_coords(&t->out_coord, out_coords, d_model, arena, err));
    RUNG_TRY(find_levels(t, arena, err));
    return find_dependences(t, arena, err);
}

/* ---- functions of one number ------------------------------------------------------------------------------------ */

/* Rows of values in ascending order of u, as jumps half way between neighbours. */
static rung_status make_function(step_function *f, const double *u, const float *value, size_t rows, size_t outs,
                                 rung_arena *arena, rung_error *err)
{
    *f = (step_function){.start = value, .jump = rung_arena_alloc(arena, rows, sizeof *f->jump, err)};
    if (!f->jump) return RUNG_SYSTEM;
    for (size_t r = 1; r < rows; r++) {
        float *rise = rung_arena_alloc(arena, outs, sizeof *rise, err);
        bool any = false;
        if (!rise) return RUNG_SYSTEM;
        for (size_t o = 0; o < outs; o++) {
            rise[o] = value[r * outs + o] - value[(r - 1) * outs + o];
            any = any || rise[o] != 0;
        }
        if (any) f->jump[f->jumps++] = (step_jump){(u[r - 1] + u[r]) / 2, rise};
    }
    return RUNG_OK;
}

static rung_status levels_as_numbers(double **u, const step_table *t, size_t key, rung_arena *arena, rung_error *err)
{
    *u = rung_arena_alloc(arena, t->levels[key], sizeof **u, err);
    for (size_t i = 0; *u && i < t->levels[key]; i++) (*u)[i] = (double)t->level[key][i];
    return *u ? RUNG_OK : RUNG_SYSTEM;
}

rung_status step_of_key(step_function *f, const step_table *t, size_t key, rung_arena *arena, rung_error *err)
{
    double *u;
    RUNG_TRY(levels_as_numbers(&u, t, key, arena, err));
    float *value = rung_arena_alloc(arena, t->levels[key] * t->outs, sizeof *value, err);
    if (!value) return RUNG_SYSTEM;
    for (size_t r = 0; r < t->rows; r++)
        for (size_t o = 0, rank = rank_of(t, r, key); o < t->outs; o++)
            if (t->depends[o] == key) value[rank * t->outs + o] = t->value[r * t->outs + o];
    return make_function(f, u, value, t->levels[key], t->outs, arena, err);
}

rung_status step_of_rank(step_function *f, const step_table *t, size_t key, rung_arena *arena, rung_error *err)
{
    double *u;
    RUNG_TRY(levels_as_numbers(&u, t, key, arena, err));
    float *rank = rung_arena_alloc(arena, t->levels[key], sizeof *rank, err);
    if (!rank) return RUNG_SYSTEM;
    for (size_t i = 0; i < t->levels[key]; i++) rank[i] = (float)i;
    return make_function(f, u, rank, t->levels[key], 1, arena, err);
}

typedef struct ranked_row {
    double u;
    size_t row;
} ranked_row;

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const ranked_row *)a)->u, y = ((const ranked_row *)b)->u;
    return (x > y) - (x < y);
}

static rung_status weigh_keys(double *weight, const step_table *t, rung_error *err)
{
    double product = 1;
    for (size_t k = t->keys; k-- > 0;) {
        weight[k] = product;
        product *= (double)t->levels[k];
    }
    if (product <= STEP_RANKS_MAX) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT, "its table has %.0f combinations of keys, and at most %d become steps", product,
                     STEP_RANKS_MAX);
}

rung_status step_of_ranks(step_function *f, double *weight, const step_table *t, rung_arena *arena, rung_error *err)
{
    RUNG_TRY(weigh_keys(weight, t, err));
    ranked_row *ranked = rung_arena_alloc(arena, t->rows, sizeof *ranked, err);
    double *u = rung_arena_alloc(arena, t->rows, sizeof *u, err);
    float *value = rung_arena_alloc(arena, t->rows * t->outs, sizeof *value, err);
    if (!ranked || !u || !value) return RUNG_SYSTEM;
    for (size_t r = 0; r < t->rows; r++) {
        ranked[r].row = r;
        for (size_t k = 0; k < t->keys; k++) ranked[r].u += weight[k] * (double)rank_of(t, r, k);
    }
    qsort(ranked, t->rows, sizeof *ranked, compare_ranked);
    for (size_t r = 0; r < t->rows; r++) {
        u[r] = ranked[r].u;
        memcpy(value + r * t->outs, t->value + ranked[r].row * t->outs, t->outs * sizeof *value);
    }
    return make_function(f, u, value, t->rows, t->outs, arena, err);
}
