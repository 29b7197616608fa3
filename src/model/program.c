/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A program: the weights of a model, turned into the numbers of one evaluator. Fast weights are floats; exact
 * ones are rounded to the format once, here, because a stored number is a p-bit number.
 */
#include "eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

reals rung_reals_alloc(const rung_program *p, rung_arena *arena, size_t count, rung_error *err)
{
    reals r = {0};
    if (p->exact)
        r.x = rung_arena_alloc(arena, count, sizeof *r.x, err);
    else
        r.f = rung_arena_alloc(arena, count, sizeof *r.f, err);
    return r;
}

void rung_reals_copy(reals to, reals from, size_t count)
{
    if (to.x)
        memcpy(to.x, from.x, count * sizeof *to.x);
    else
        memcpy(to.f, from.f, count * sizeof *to.f);
}

double rung_reals_get(reals r, size_t index)
{
    return r.x ? r.x[index] : (double)r.f[index];
}

size_t rung_reals_find_nan(reals r, size_t count)
{
    if (r.x) return rung_num_find_nan(r.x, count);
    for (size_t i = 0; i < count; i++)
        if (isnan(r.f[i])) return i;
    return SIZE_MAX;
}

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), tail = strlen(end);
    return len >= tail && strcmp(name + len - tail, end) == 0;
}

/* Rates of decays are gates. A format with scales is for the matrices of layers; other tensors then are activations. */
static rung_quantity quantity_of(const rung_program *p, const rung_tensor *tensor)
{
    if (ends_with(tensor->name, ".A")) return RUNG_QUANTITY_GATE;
    if (p->numbers.of[RUNG_QUANTITY_WEIGHTS].scaling == RUNG_SCALE_NONE) return RUNG_QUANTITY_WEIGHTS;
    bool matrix = tensor->rank == 2 && ends_with(tensor->name, ".weight") && strncmp(tensor->name, "layers.", 7) == 0;
    return matrix ? RUNG_QUANTITY_WEIGHTS : RUNG_QUANTITY_ACT;
}

/* A row of a matrix belongs to one output. */
static void store_tensor(const rung_program *p, double *x, const rung_tensor *tensor)
{
    const rung_stored *stored = &p->numbers.of[quantity_of(p, tensor)];
    size_t row = tensor->rank == 2 ? tensor->shape[1] : tensor->elements;
    rung_stored_keep(stored, &p->fmt, x, row ? tensor->elements / row : 0, row, NULL, NULL);
}

rung_status rung_program_numbers(reals *out, const rung_program *p, rung_arena *arena, const rung_tensor *tensor,
                                 rung_error *err)
{
    *out = rung_reals_alloc(p, arena, tensor->elements, err);
    if (!reals_set(*out)) return RUNG_SYSTEM;
    rung_status status = p->exact ? rung_tensor_to_f64(out->x, tensor, err) : rung_tensor_to_f32(out->f, tensor, err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", rung_safetensors_name(p->model->file));
    if (p->exact) store_tensor(p, out->x, tensor);
    size_t nan = rung_reals_find_nan(*out, tensor->elements);
    if (nan != SIZE_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s, element %zu is NaN", rung_safetensors_name(p->model->file),
                         tensor->name, nan);
    return RUNG_OK;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

typedef struct loader {
    rung_program *p;
    rung_error *err;
    rung_status status;
} loader;

static const rung_tensor *find(const loader *l, const char *prefix, const char *suffix)
{
    char name[TENSOR_NAME_MAX + 8];
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    return rung_safetensors_get(l->p->model->file, name);
}

/* Unset when the tensor is absent. rung_model_open has already checked that all required tensors are there. */
static reals load(loader *l, const char *prefix, const char *suffix)
{
    reals numbers = {0};
    const rung_tensor *tensor = find(l, prefix, suffix);
    if (tensor && l->status == RUNG_OK) l->status = rung_program_numbers(&numbers, l->p, &l->p->arena, tensor, l->err);
    return numbers;
}

static void transpose(double *to, const double *from, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) to[j * rows + i] = from[i * cols + j];
}

/* Finds the inputs that the exact sum may skip. */
static void look_at_weights(linear_weights *w)
{
    w->finite = true;
    for (size_t j = 0; j < w->cols; j++) {
        const double *column = w->weight.x + j * w->rows;
        bool read = false;
        for (size_t i = 0; i < w->rows; i++) {
            read = read || column[i] != 0;
            w->finite = w->finite && isfinite(column[i]);
        }
        if (read) w->read[w->read_count++] = j;
    }
}

static linear_weights load_linear(loader *l, const char *prefix)
{
    linear_weights w = {0};
    const rung_tensor *tensor = find(l, prefix, ".weight");
    w.weight = load(l, prefix, ".weight");
    w.bias = load(l, prefix, ".bias");
    if (l->status != RUNG_OK || !tensor) return w;
    w.rows = tensor->shape[0], w.cols = tensor->shape[1];
    if (!l->p->exact) return w;
    double *flipped = rung_arena_alloc(&l->p->arena, w.rows * w.cols, sizeof *flipped, l->err);
    w.read = rung_arena_alloc(&l->p->arena, w.cols, sizeof *w.read, l->err);
    if (!flipped || !w.read) {
        l->status = RUNG_SYSTEM;
        return w;
    }
    transpose(flipped, w.weight.x, w.rows, w.cols);
    w.weight.x = flipped;
    look_at_weights(&w);
    return w;
}

static norm_weights load_norm(loader *l, const char *prefix)
{
    return (norm_weights){load(l, prefix, ".weight"), load(l, prefix, ".bias")};
}

static void load_input(loader *l, input_weights *w, const char *name, const rung_mech_input *input,
                       const rung_mech_conf *conf)
{
    if (input->source == RUNG_FROM_PARAMETER) {
        w->constant = load(l, name, "");
        return;
    }
    if (input->source != RUNG_FROM_RATE) w->linear = load_linear(l, name);
    w->rate = load(l, name, ".A");
    if (conf->qk_norm && rung_mech_is_query_or_key(input)) w->norm = load(l, name, "_norm");
    reals taps = load(l, name, ".conv");
    if (l->status != RUNG_OK || !reals_set(taps)) return;
    size_t row = rung_mech_row(input, conf);
    w->conv = rung_reals_alloc(l->p, &l->p->arena, row * conf->conv, l->err);
    if (!reals_set(w->conv)) l->status = RUNG_SYSTEM;
    for (size_t c = 0; l->status == RUNG_OK && c < row; c++)
        for (size_t i = 0; i < conf->conv; i++)
            rung_reals_copy(reals_at(w->conv, i * row + c), reals_at(taps, c * conf->conv + i), 1);
}

static void load_group(loader *l, group_weights *group, const rung_mech_conf *conf, size_t layer, size_t index)
{
    char name[TENSOR_NAME_MAX];
    rung_mech_conf *own = rung_arena_alloc(&l->p->arena, 1, sizeof *own, l->err);
    if (!own) {
        l->status = RUNG_SYSTEM;
        return;
    }
    *own = *conf;
    own->softmax = l->p->softmax;
    group->conf = own;
    for (size_t i = 0; conf->mech->inputs[i].name; i++) {
        if (rung_mech_row(&conf->mech->inputs[i], conf) == 0) continue;
        snprintf(name, sizeof name, "layers.%zu.mix.%zu.%s", layer, index, conf->mech->inputs[i].name);
        load_input(l, &group->input[i], name, &conf->mech->inputs[i], conf);
    }
    if (!conf->gate && !conf->out_gate) return;
    snprintf(name, sizeof name, "layers.%zu.mix.%zu.gate", layer, index);
    group->gate = load_linear(l, name);
    if (conf->gate) group->gate_norm = load(l, name, "_norm");
}

static void load_mlp(loader *l, layer_weights *layer, size_t index)
{
    char name[TENSOR_NAME_MAX];
    snprintf(name, sizeof name, "layers.%zu.norm2", index);
    layer->norm2 = load_norm(l, name);
    snprintf(name, sizeof name, "layers.%zu.mlp.up", index);
    layer->up = load_linear(l, name);
    snprintf(name, sizeof name, "layers.%zu.mlp.gate", index);
    layer->gate = load_linear(l, name);
    snprintf(name, sizeof name, "layers.%zu.mlp.down", index);
    layer->down = load_linear(l, name);
    if (layer->mlp == RUNG_MLP_TABLE && l->status == RUNG_OK)
        l->status = rung_table_load(&layer->table, l->p, &l->p->arena, index, l->err);
}

static void load_layer(loader *l, layer_weights *layer, size_t index)
{
    char name[TENSOR_NAME_MAX];
    const rung_layer *shape = &l->p->model->arch.layer[index];
    snprintf(name, sizeof name, "layers.%zu.norm1", index);
    layer->norm1 = load_norm(l, name);
    layer->group_count = shape->group_count;
    layer->group = rung_arena_alloc(&l->p->arena, shape->group_count, sizeof *layer->group, l->err);
    if (!layer->group) l->status = RUNG_SYSTEM;
    for (size_t g = 0; l->status == RUNG_OK && g < shape->group_count; g++)
        load_group(l, &layer->group[g], &shape->group[g], index, g);
    snprintf(name, sizeof name, "layers.%zu.out", index);
    layer->out = load_linear(l, name);
    layer->mlp = l->p->model->mlp[index];
    load_mlp(l, layer, index);
}

static rung_status load_all(rung_program *p, rung_error *err)
{
    loader l = {p, err, RUNG_OK};
    size_t layers = p->model->arch.layer_count;
    if (p->model->spec.vocab)
        p->embed = load(&l, "embed", ".weight");
    else
        p->feature = load_linear(&l, "embed");
    p->positions = load(&l, "positions", "");
    p->cos = load(&l, "rotary", ".cos");
    p->sin = load(&l, "rotary", ".sin");
    p->layer = rung_arena_alloc(&p->arena, layers, sizeof *p->layer, err);
    if (!p->layer) return RUNG_SYSTEM;
    for (size_t i = 0; l.status == RUNG_OK && i < layers; i++) load_layer(&l, &p->layer[i], i);
    p->final_norm = load_norm(&l, "final_norm");
    p->readout = load_linear(&l, "readout");
    return l.status;
}

static rung_status check_softmax(const rung_model *model, const rung_evaluator *how, rung_error *err)
{
    if (how->softmax == RUNG_SOFTMAX_ONLINE) return RUNG_OK;
    if (!how->numbers)
        return rung_fail(err, RUNG_USAGE, "softmax %s is for the exact evaluator; choose its numbers, such as f32",
                         rung_softmax_names[how->softmax]);
    for (size_t i = 0; i < model->arch.layer_count; i++)
        for (size_t g = 0; g < model->arch.layer[i].group_count; g++) {
            const rung_mech *mech = model->arch.layer[i].group[g].mech;
            if (!mech->any_softmax && !mech->recurrent)
                return rung_fail(err, RUNG_USAGE, "layer %zu: %s has the online softmax only, not %s", i, mech->name,
                                 rung_softmax_names[how->softmax]);
        }
    return RUNG_OK;
}

/* Refuses what has no order of roundings for mixed formats. */
static rung_status check_mixed(const rung_model *model, const rung_numbers *numbers, rung_error *err)
{
    if (!model->spec.causal)
        return rung_fail(err, RUNG_USAGE, "numbers %s: an encoder takes one format for everything, such as %s",
                         numbers->name, numbers->acc.name);
    for (size_t i = 0; i < model->arch.layer_count; i++)
        for (size_t g = 0; g < model->arch.layer[i].group_count; g++) {
            const rung_mech *mech = model->arch.layer[i].group[g].mech;
            if (mech->keeps == RUNG_KEEPS_NOT_STATED)
                return rung_fail(err, RUNG_USAGE,
                                 "layer %zu: %s takes one format for everything, such as %s; where it would store its "
                                 "numbers in mixed formats is not specified (docs/numbers.md)",
                                 i, mech->name, numbers->acc.name);
        }
    return RUNG_OK;
}

rung_status rung_program_new(rung_program **out, const rung_model *model, const rung_evaluator *how, rung_error *err)
{
    RUNG_TRY(check_softmax(model, how, err));
    if (how->mixed && how->mixed->mixed) RUNG_TRY(check_mixed(model, how->mixed, err));
    rung_program *p = rung_calloc(1, sizeof *p, err);
    if (!p) return RUNG_SYSTEM;
    p->model = model;
    p->exact = how->numbers || how->mixed;
    p->softmax = how->softmax;
    if (how->mixed)
        p->numbers = *how->mixed;
    else if (how->numbers)
        rung_numbers_of_fmt(&p->numbers, how->numbers);
    p->fmt = p->numbers.acc;
    p->norm_epsilon = rung_model_norm_epsilon(&model->spec);
    if (p->exact) p->norm_epsilon = rung_num_round(&p->fmt, p->norm_epsilon);
    p->ops = p->exact ? &rung_arith_exact : &rung_arith_fast;
    p->threads = how->threads ? how->threads : rung_cpu_threads();
    rung_arena_init(&p->arena);
    rung_status status = load_all(p, err);
    if (status != RUNG_OK) {
        rung_program_free(p);
        return status;
    }
    *out = p;
    return RUNG_OK;
}

void rung_program_free(rung_program *p)
{
    if (!p) return;
    rung_arena_clear(&p->arena);
    free(p);
}
