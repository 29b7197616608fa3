/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Intervals that follow the roundings, and the weights of a one-layer model, rounded to the format as the exact
 * evaluator rounds them. What a proof assumes of the weights is checked here, in the numbers themselves.
 */
#include "worst_case_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- intervals --------------------------------------------------------------------------------------------------- */

wc_span wc_hull(wc_span a, wc_span b)
{
    return (wc_span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

bool wc_finite(wc_span a)
{
    return isfinite(a.lo) && isfinite(a.hi);
}

wc_span wc_add(const rung_fmt *fmt, wc_span a, wc_span b)
{
    return (wc_span){rung_num_add(fmt, a.lo, b.lo), rung_num_add(fmt, a.hi, b.hi)};
}

wc_span wc_scale(const rung_fmt *fmt, wc_span a, double w)
{
    double low = rung_num_mul(fmt, a.lo, w), high = rung_num_mul(fmt, a.hi, w);
    return w < 0 ? (wc_span){high, low} : (wc_span){low, high};
}

/* A quotient rises with num, and falls with den where num > 0. */
wc_span wc_divide(const rung_fmt *fmt, wc_span num, wc_span den)
{
    return (wc_span){rung_num_div(fmt, num.lo, num.lo > 0 ? den.hi : den.lo),
                     rung_num_div(fmt, num.hi, num.hi > 0 ? den.lo : den.hi)};
}

/* ---- which models ------------------------------------------------------------------------------------------------ */

static bool refuse(char *reason, size_t size, const char *text)
{
    snprintf(reason, size, "%s", text);
    return false;
}

static bool group_known(char *reason, size_t size, const rung_mech_conf *g)
{
    if (g->mech->class_of != RUNG_CLASS_SCAN) return refuse(reason, size, "the layer is not full attention");
    if (!g->causal) return refuse(reason, size, "the model is not causal");
    if (g->conv || g->gate || g->out_gate || g->unit)
        return refuse(reason, size, "the layer has a convolution, an output gate or vectors of length 1");
    if (g->kv_heads) return refuse(reason, size, "heads share keys and values");
    if (g->qk_norm || g->scale > 0)
        return refuse(reason, size, "the layer normalises its queries and keys, or multiplies its queries");
    return true;
}

bool wc_shape_known(char *reason, size_t size, const rung_model *model, const rung_evaluator *how)
{
    const rung_model_spec *spec = rung_model_get_spec(model);
    const rung_arch *arch = rung_model_get_arch(model);
    if (!how->numbers) return refuse(reason, size, "fp32 has no fixed order of sums; choose a number format");
    if (how->mixed && how->mixed->mixed)
        return refuse(reason, size, "the proof is for one number format for everything");
    if (how->softmax != RUNG_SOFTMAX_ONLINE) return refuse(reason, size, "the proof is for the online softmax only");
    if (arch->layer_count != 1) return refuse(reason, size, "the proof is for one layer, and the model has more");
    if (arch->layer[0].group_count != 1) return refuse(reason, size, "the layer mixes several mechanisms");
    if (spec->vocab == 0) return refuse(reason, size, "the model reads features, not tokens");
    if (spec->thoughts) return refuse(reason, size, "the model has a chain of thought");
    if (spec->norm != RUNG_NORM_NONE) return refuse(reason, size, "the model has norms");
    if (spec->positions == RUNG_POS_ROTARY) return refuse(reason, size, "the positions are rotary");
    rung_mlp mlp = rung_model_mlp(model, 0);
    if (mlp != RUNG_MLP_NONE && mlp != RUNG_MLP_TABLE)
        return refuse(reason, size, "the MLP is neither absent nor a table");
    return group_known(reason, size, &arch->layer[0].group[0]);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

typedef struct loader {
    wc_weights *w;
    rung_status status;
    rung_error *err;
} loader;

static void *take(loader *l, size_t count, size_t size)
{
    void *memory = l->status == RUNG_OK ? rung_arena_alloc(&l->w->arena, count, size, l->err) : NULL;
    if (!memory) l->status = RUNG_SYSTEM;
    return memory;
}

/* NULL when the tensor is absent, or after an error. */
static double *load(loader *l, const char *name)
{
    const rung_tensor *t = rung_model_tensor(l->w->model, name);
    double *x = t ? take(l, t->elements, sizeof *x) : NULL;
    if (!x) return NULL;
    l->status = rung_tensor_to_f64(x, t, l->err);
    rung_num_kernels_get()->round(&l->w->fmt, x, x, t->elements);
    return x;
}

static void make_sparse(loader *l, wc_linear *to, const double *dense)
{
    size_t count = 0;
    for (size_t i = 0; i < to->rows * to->cols; i++) count += dense[i] != 0;
    to->start = take(l, to->rows + 1, sizeof *to->start);
    to->col = take(l, count, sizeof *to->col);
    to->w = take(l, count, sizeof *to->w);
    if (l->status != RUNG_OK) return;
    size_t n = 0;
    for (size_t i = 0; i < to->rows; i++) {
        to->start[i] = n;
        for (size_t j = 0; j < to->cols; j++) {
            double w = dense[i * to->cols + j];
            if (w != 0) to->col[n] = j, to->w[n] = w, n++;
        }
    }
    to->start[to->rows] = n;
}

static void load_linear(loader *l, wc_linear *to, const char *prefix)
{
    char name[64];
    rung_arena own = l->w->arena;
    snprintf(name, sizeof name, "%s.weight", prefix);
    const rung_tensor *t = rung_model_tensor(l->w->model, name);
    if (!t || l->status != RUNG_OK) return;
    to->rows = t->shape[0], to->cols = t->shape[1];
    rung_arena_init(&l->w->arena); /* the dense form goes away again */
    double *dense = load(l, name);
    rung_arena dense_arena = l->w->arena;
    l->w->arena = own;
    if (l->status == RUNG_OK) make_sparse(l, to, dense);
    rung_arena_clear(&dense_arena);
    snprintf(name, sizeof name, "%s.bias", prefix);
    to->bias = load(l, name);
}

static const rung_tensor *table_part(const wc_weights *w, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "layers.0.mlp.%s", what);
    return rung_model_tensor(w->model, name);
}

static size_t *load_coords(loader *l, const char *what)
{
    const rung_tensor *t = table_part(l->w, what);
    int64_t *raw = take(l, t->elements, sizeof *raw);
    size_t *coords = take(l, t->elements, sizeof *coords);
    if (l->status == RUNG_OK) l->status = rung_tensor_to_i64(raw, t, l->err);
    for (size_t i = 0; l->status == RUNG_OK && i < t->elements; i++) coords[i] = (size_t)raw[i];
    return coords;
}

typedef struct key_row {
    const int64_t *key;
    size_t count, index;
} key_row;

static int compare_key_rows(const void *a, const void *b)
{
    const key_row *x = a, *y = b;
    for (size_t i = 0; i < x->count; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static void sort_table(loader *l, wc_table *t, const int64_t *raw, const double *value)
{
    key_row *row = take(l, t->entries, sizeof *row);
    t->key = take(l, t->entries * t->key_count, sizeof *t->key);
    t->value = take(l, t->entries * t->out_count, sizeof *t->value);
    if (l->status != RUNG_OK) return;
    for (size_t i = 0; i < t->entries; i++) row[i] = (key_row){raw + i * t->key_count, t->key_count, i};
    qsort(row, t->entries, sizeof *row, compare_key_rows);
    for (size_t i = 0; i < t->entries; i++) {
        memcpy(t->key + i * t->key_count, row[i].key, t->key_count * sizeof *raw);
        memcpy(t->value + i * t->out_count, value + row[i].index * t->out_count, t->out_count * sizeof *value);
    }
}

/* That the coordinates exist and the keys differ has been checked when the program was made. */
static void load_table(loader *l)
{
    wc_table *t = &l->w->table;
    const rung_tensor *keys = table_part(l->w, "keys"), *values = table_part(l->w, "values");
    t->entries = keys->shape[0], t->key_count = keys->shape[1], t->out_count = values->shape[1];
    int64_t *raw = take(l, keys->elements, sizeof *raw);
    if (l->status == RUNG_OK) l->status = rung_tensor_to_i64(raw, keys, l->err);
    double *value = load(l, "layers.0.mlp.values");
    t->key_coord = load_coords(l, "key_coords");
    t->out_coord = load_coords(l, "out_coords");
    t->assigned = take(l, l->w->d, sizeof *t->assigned);
    if (l->status != RUNG_OK) return;
    for (size_t i = 0; i < t->out_count; i++) t->assigned[t->out_coord[i]] = true;
    sort_table(l, t, raw, value);
}

rung_status wc_weights_load(wc_weights *w, const rung_model *model, const rung_fmt *fmt, rung_error *err)
{
    loader l = {w, RUNG_OK, err};
    memset(w, 0, sizeof *w);
    rung_arena_init(&w->arena);
    w->model = model, w->spec = rung_model_get_spec(model), w->fmt = *fmt;
    w->group = &rung_model_get_arch(model)->layer[0].group[0];
    w->d = w->spec->d_model, w->heads = w->group->heads, w->dk = w->group->dk, w->dv = w->group->dv;
    w->mixed = w->heads * w->dv;
    w->embed = load(&l, "embed.weight");
    w->positions = load(&l, "positions");
    load_linear(&l, &w->q, "layers.0.mix.0.q");
    load_linear(&l, &w->k, "layers.0.mix.0.k");
    load_linear(&l, &w->v, "layers.0.mix.0.v");
    load_linear(&l, &w->out, "layers.0.out");
    load_linear(&l, &w->readout, "readout");
    w->read = take(&l, w->d, sizeof *w->read);
    w->has_table = rung_model_mlp(model, 0) == RUNG_MLP_TABLE;
    if (l.status == RUNG_OK && w->has_table) load_table(&l);
    for (size_t i = 0; l.status == RUNG_OK && i < w->readout.start[w->readout.rows]; i++)
        w->read[w->readout.col[i]] = true;
    return l.status;
}

void wc_weights_clear(wc_weights *w)
{
    rung_arena_clear(&w->arena);
    memset(w, 0, sizeof *w);
}

static bool all_finite(const double *x, size_t count)
{
    for (size_t i = 0; x && i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static bool linear_finite(const wc_linear *l)
{
    return all_finite(l->w, l->start[l->rows]) && all_finite(l->bias, l->rows);
}

bool wc_weights_finite(const wc_weights *w)
{
    return all_finite(w->embed, w->spec->vocab * w->d) && all_finite(w->positions, w->spec->max_tokens * w->d) &&
           linear_finite(&w->q) && linear_finite(&w->k) && linear_finite(&w->v) && linear_finite(&w->out) &&
           linear_finite(&w->readout) && all_finite(w->table.value, w->table.entries * w->table.out_count);
}

/* ---- tokens and projections -------------------------------------------------------------------------------------- */

void wc_residual(double *x, const wc_weights *w, size_t token, size_t position)
{
    memcpy(x, w->embed + token * w->d, w->d * sizeof *x);
    for (size_t c = 0; w->positions && c < w->d; c++)
        x[c] = rung_num_add(&w->fmt, x[c], w->positions[position * w->d + c]);
}

double wc_project(const wc_weights *w, const wc_linear *l, size_t row, const double *x)
{
    double acc = 0;
    for (size_t n = l->start[row]; n < l->start[row + 1]; n++)
        acc = rung_num_add(&w->fmt, acc, rung_num_mul(&w->fmt, l->w[n], x[l->col[n]]));
    return l->bias ? rung_num_add(&w->fmt, acc, l->bias[row]) : acc;
}

wc_span wc_project_span(const wc_weights *w, const wc_linear *l, size_t row, const wc_span *x)
{
    wc_span acc = {0, 0};
    for (size_t n = l->start[row]; n < l->start[row + 1]; n++)
        acc = wc_add(&w->fmt, acc, wc_scale(&w->fmt, x[l->col[n]], l->w[n]));
    return l->bias ? wc_add(&w->fmt, acc, wc_point(l->bias[row])) : acc;
}

/* rows of d numbers that agree in coordinate c */
static bool column_constant(const double *rows, size_t first, size_t count, size_t d, size_t c)
{
    for (size_t i = 1; rows && i < count; i++)
        if (rows[(first + i) * d + c] != rows[first * d + c]) return false;
    return true;
}

/* Asks every coordinate once, however many rows read it. */
static bool reads_constants(const wc_weights *w, const wc_linear *l, size_t row, size_t rows, const double *from,
                            size_t first, size_t count)
{
    for (size_t c = 0; c < w->d; c++) {
        bool used = false;
        for (size_t n = l->start[row]; n < l->start[row + rows] && !used; n++) used = l->col[n] == c;
        if (used && !column_constant(from, first, count, w->d, c)) return false;
    }
    return true;
}

bool wc_ignores_token(const wc_weights *w, const wc_linear *l, size_t row, size_t rows, const wc_group *g)
{
    return reads_constants(w, l, row, rows, w->embed, g->token, g->tokens);
}

bool wc_ignores_position(const wc_weights *w, const wc_linear *l, size_t row, size_t rows, const wc_group *g)
{
    return reads_constants(w, l, row, rows, w->positions, g->position, g->positions);
}
