/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A model of ours in the layers of llama or gpt2. Those normalise before attention, before the MLP and before the
 * read-out. Constructions have no norm. So the stream gets constant channels C, and C is so large that the norm
 * divides by the same number whatever else the stream holds; the weight of the norm multiplies by it again. LayerNorm
 * also subtracts the mean: half of the constant channels hold -C, and one more channel, always 0, takes part in every
 * projection with the negative sum of its row, so that what was subtracted from all channels cancels.
 *
 * The other parts:
 * - attention divides scores by sqrt(dim): the query projection is multiplied by it;
 * - heads have one dimension for keys and values: rows of zeros fill them up;
 * - without positions llama rotates all the same: keys lie in the pairs that turn by less than 10^-12 per token;
 * - a table becomes steps of gelu or silu, in channels that were 0 before (export_table.c); one that does not treat its
 *   keys one by one takes a layer more, which has no attention;
 * - RMSNorm in gpt2: every channel has a twin of the opposite sign, so the mean is 0.
 * docs/export.md proves how far the results can be apart.
 */
#include "export_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 1 << 20, CONTEXT_STEP = 32, NONE_MAX_TOKENS = 4096 };
#define NEUTRAL_BASE 1e38   /* rotary base of a model without positions */
#define STEP_SLOPE   1024.0 /* a step of 1 becomes a ramp of 1/8, */
#define STEP_BEND    64.0   /* and at its ends a bend of 24/1024 */
#define RELU_SCALE   1048576.0

typedef struct layer_plan {
    rung_mlp mlp;
    step_table table;
    step_function *of_key; /* [keys] what is added per key, or ranks */
    step_function all;     /* not separable: over the ranks */
    double *weight;
} layer_plan;

typedef struct maker {
    target *t;
    const rung_model *model;
    const rung_model_spec *spec;
    const rung_arch *arch;
    layer_plan *plan;
    size_t *place; /* channel of each coordinate of the model */
    size_t fresh;  /* the next channel that nobody uses */
    bool bare;     /* the model has no norm */
    bool mirrored;
    size_t balance, unit;  /* channels; SIZE_MAX where there is none */
    size_t constant_first; /* bare: from here on channels hold C and -C */
    size_t pair_first;     /* rotary pairs before this one are empty */
    double *bound;         /* bare: of the magnitude of each channel */
    size_t next;           /* target layer */
    export_reader read;
    rung_error *err;
} maker;

static rung_status refuse(const maker *m, const char *what)
{
    return rung_fail(m->err, RUNG_INPUT, "%s has no place in %s", what, rung_export_family_names[m->t->family]);
}

static void *room(const maker *m, size_t count, size_t size)
{
    return rung_arena_alloc(&m->t->arena, count, size, m->err);
}

/* ---- does it fit ------------------------------------------------------------------------------------------------- */

static bool has_mlp(const maker *m, rung_mlp kind)
{
    for (size_t i = 0; i < m->arch->layer_count; i++)
        if (rung_model_mlp(m->model, i) == kind) return true;
    return false;
}

static rung_export_family choose_family(const maker *m)
{
    rung_positions positions = m->spec->positions;
    if (positions == RUNG_POS_ROTARY) return RUNG_EXPORT_LLAMA;
    bool gelu = has_mlp(m, RUNG_MLP_GELU) || has_mlp(m, RUNG_MLP_GELU_TANH);
    if (positions != RUNG_POS_NONE || m->spec->norm == RUNG_NORM_LAYER || gelu) return RUNG_EXPORT_GPT2;
    return RUNG_EXPORT_LLAMA;
}

static rung_status check_llama(const maker *m)
{
    if (m->spec->positions != RUNG_POS_ROTARY && m->spec->positions != RUNG_POS_NONE)
        return refuse(m, "a table of positions");
    if (m->spec->norm == RUNG_NORM_LAYER) return refuse(m, "norm=layer");
    if (has_mlp(m, RUNG_MLP_GELU) || has_mlp(m, RUNG_MLP_GELU_TANH)) return refuse(m, "an MLP of gelu");
    return RUNG_OK;
}

static rung_status check_gpt2(const maker *m)
{
    if (m->spec->positions == RUNG_POS_ROTARY) return refuse(m, "positions=rotary");
    if (has_mlp(m, RUNG_MLP_SWIGLU)) return refuse(m, "an MLP of swiglu");
    if (has_mlp(m, RUNG_MLP_GELU) && (has_mlp(m, RUNG_MLP_GELU_TANH) || has_mlp(m, RUNG_MLP_RELU)))
        return refuse(m, "gelu beside another kind of MLP");
    return RUNG_OK;
}

/* Softmax attention over all earlier tokens, and no parameter that changes it. */
static bool is_plain_attention(const rung_mech_conf *conf)
{
    for (size_t i = 0; i < rung_param_count(conf->mech->params); i++)
        if (conf->params[i].number != conf->mech->params[i].fallback) return false;
    return conf->mech->class_of == RUNG_CLASS_SCAN && (conf->mech->traits & RUNG_TRAIT_SOFTMAX);
}

static rung_status check_group(const maker *m, const rung_mech_conf *conf, size_t layer)
{
    char what[96];
    const char *key = conf->conv        ? "conv"
                      : conf->gate      ? "gate"
                      : conf->unit      ? "unit"
                      : conf->neg       ? "neg"
                      : conf->qk_norm   ? "qknorm"
                      : conf->scale > 0 ? "scale"
                                        : NULL;
    if (!is_plain_attention(conf))
        snprintf(what, sizeof what, "layer %zu: mechanism %s", layer, conf->mech->name);
    else if (key)
        snprintf(what, sizeof what, "layer %zu: %s", layer, key);
    else
        return RUNG_OK;
    return refuse(m, what);
}

static rung_status check_model(const maker *m)
{
    static const char *const known[] = {"W", "phi", "norm", "dk", "dv", "conv", "gate", "unit", "neg", "kv", NULL};
    if (has_mlp(m, RUNG_MLP_GEGLU_TANH)) return refuse(m, "an MLP of geglu_tanh");
    if (m->spec->vocab == 0) return refuse(m, "a model over features instead of tokens");
    if (!m->spec->causal) return refuse(m, "an encoder (causal=false)");
    for (size_t i = 0; i < m->arch->layer_count; i++) {
        for (size_t g = 0; g < m->arch->layer[i].group_count; g++)
            RUNG_TRY(check_group(m, &m->arch->layer[i].group[g], i));
        if (!m->bare && rung_model_mlp(m->model, i) == RUNG_MLP_TABLE) return refuse(m, "an MLP table beside norms");
    }
    RUNG_TRY(export_check_keys(m->arch, known, rung_export_family_names[m->t->family], m->err));
    return m->t->family == RUNG_EXPORT_LLAMA ? check_llama(m) : check_gpt2(m);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static rung_status plan_table(maker *m, layer_plan *p, size_t layer)
{
    rung_arena *arena = &m->t->arena;
    RUNG_TRY(step_table_read(&p->table, &m->read, layer, m->err));
    p->of_key = room(m, p->table.keys, sizeof *p->of_key);
    p->weight = room(m, p->table.keys, sizeof *p->weight);
    if (!p->of_key || !p->weight) return RUNG_SYSTEM;
    for (size_t k = 0; k < p->table.keys; k++)
        RUNG_TRY((p->table.separable ? step_of_key : step_of_rank)(&p->of_key[k], &p->table, k, arena, m->err));
    if (p->table.separable) return RUNG_OK;
    rung_status status = step_of_ranks(&p->all, p->weight, &p->table, arena, m->err);
    return status ? rung_fail_at(m->err, status, "layer %zu", layer) : RUNG_OK;
}

/* The constant one, and two units per step. */
static size_t table_units(const layer_plan *p)
{
    size_t first = 1, second = p->table.separable ? 0 : 1 + 2 * p->all.jumps;
    for (size_t k = 0; k < p->table.keys; k++) first += 2 * p->of_key[k].jumps;
    return first > second ? first : second;
}

static rung_status plan_layers(maker *m)
{
    target *t = m->t;
    m->plan = room(m, m->arch->layer_count, sizeof *m->plan);
    if (!m->plan) return RUNG_SYSTEM;
    t->d_mlp = 8; /* engines expect some */
    for (size_t i = 0; i < m->arch->layer_count; i++) {
        layer_plan *p = &m->plan[i];
        p->mlp = rung_model_mlp(m->model, i);
        size_t units = p->mlp == RUNG_MLP_NONE ? 0 : m->spec->d_mlp;
        t->layers++;
        if (p->mlp == RUNG_MLP_TABLE) {
            RUNG_TRY(plan_table(m, p, i));
            units = table_units(p);
            m->fresh += p->table.outs;
            if (!p->table.separable) m->fresh += p->table.keys, t->layers++;
        }
        if (units > t->d_mlp) t->d_mlp = units;
    }
    return RUNG_OK;
}

static void widest_heads(const maker *m, size_t *heads, size_t *dk, size_t *dv)
{
    *heads = *dk = *dv = 1;
    for (size_t i = 0; i < m->arch->layer_count; i++) {
        size_t sum = 0;
        for (size_t g = 0; g < m->arch->layer[i].group_count; g++) {
            const rung_mech_conf *conf = &m->arch->layer[i].group[g];
            sum += conf->heads;
            if (conf->dk > *dk) *dk = conf->dk;
            if (conf->dv > *dv) *dv = conf->dv;
        }
        if (sum > *heads) *heads = sum;
    }
}

/* Pairs from a third on turn by at most base^(-1/3) per token. */
static void choose_llama_head(maker *m, size_t dk, size_t dv)
{
    size_t pairs = (dk + 1) / 2;
    m->t->rotary_base = NEUTRAL_BASE;
    while (pairs - (pairs + 2) / 3 < (dk + 1) / 2 || 2 * pairs < dv) pairs++;
    m->pair_first = (pairs + 2) / 3;
    m->t->dim = 2 * pairs;
}

/* The base of the stored angles: that of the published tables, or the one that the second pair shows. */
static rung_status find_rotary_base(maker *m)
{
    export_weights cosine, sine;
    RUNG_TRY(export_get(&cosine, &m->read, "rotary.cos"));
    RUNG_TRY(export_get(&sine, &m->read, "rotary.sin"));
    size_t half = cosine.cols;
    double seen =
        cosine.rows > 1 && half > 1 ? pow(atan2(sine.value[half + 1], cosine.value[half + 1]), -(double)half) : 10000;
    const double tried[] = {10000, round(seen), seen};
    for (size_t b = 0; b < RUNG_COUNT(tried); b++) {
        double worst = 0;
        for (size_t i = 0; i < cosine.rows * half; i++) {
            double angle = (double)(i / half) * pow(tried[b], -(double)(i % half) / (double)half);
            worst = fmax(worst, fmax(fabs(cos(angle) - cosine.value[i]), fabs(sin(angle) - sine.value[i])));
        }
        m->t->rotary_base = tried[b];
        if (worst < 1e-5) return RUNG_OK;
    }
    return refuse(m, "a rotation whose angles are not position * base^(-2i/dk)");
}

static rung_status choose_heads(maker *m)
{
    size_t dk, dv;
    target *t = m->t;
    widest_heads(m, &t->heads, &dk, &dv);
    if (t->family == RUNG_EXPORT_GPT2) {
        t->dim = dk > dv ? dk : dv; /* at least */
        return RUNG_OK;
    }
    if (m->spec->positions == RUNG_POS_NONE) {
        choose_llama_head(m, dk, dv);
        return RUNG_OK;
    }
    t->dim = dk;
    if (dv > dk) return refuse(m, "values that are longer than rotated keys");
    return find_rotary_base(m);
}

/* Sixteenths of the channels are constant: then the norm divides by C/4. */
static bool bare_width_fits(const maker *m, size_t width, size_t used)
{
    bool gpt2 = m->t->family == RUNG_EXPORT_GPT2;
    if (gpt2 && (width % m->t->heads != 0 || width / m->t->heads < m->t->dim)) return false;
    return width % (gpt2 ? 32 : 16) == 0 && width - width / 16 >= used;
}

static rung_status choose_bare_width(maker *m)
{
    target *t = m->t;
    size_t used = m->spec->d_model + m->fresh + (t->family == RUNG_EXPORT_GPT2), width = 16;
    while (width <= WIDTH_MAX && !bare_width_fits(m, width, used)) width += 16;
    if (width > WIDTH_MAX) return refuse(m, "a stream of so many coordinates");
    t->d_model = width;
    m->constant_first = width - width / 16;
    m->unit = m->constant_first;
    m->fresh = m->spec->d_model;
    if (t->family == RUNG_EXPORT_GPT2) m->balance = m->constant_first - 1;
    return RUNG_OK;
}

static rung_status choose_normed_width(maker *m)
{
    target *t = m->t;
    m->mirrored = t->family == RUNG_EXPORT_GPT2 && m->spec->norm == RUNG_NORM_RMS;
    t->d_model = m->spec->d_model * (m->mirrored ? 2 : 1);
    if (m->mirrored) m->unit = m->spec->d_model;
    if (t->family == RUNG_EXPORT_LLAMA) return RUNG_OK;
    if (t->d_model % t->heads == 0 && t->d_model / t->heads >= t->dim) return RUNG_OK;
    return rung_fail(m->err, RUNG_INPUT,
                     "%zu heads of dimension %zu have no place in gpt2 of width %zu: there a head has width / heads "
                     "numbers",
                     t->heads, t->dim, t->d_model);
}

static rung_status choose_sizes(maker *m)
{
    target *t = m->t;
    size_t tokens = m->spec->positions == RUNG_POS_NONE && m->spec->max_tokens < NONE_MAX_TOKENS
                        ? NONE_MAX_TOKENS
                        : m->spec->max_tokens + 1;
    RUNG_TRY(choose_heads(m));
    RUNG_TRY(plan_layers(m));
    RUNG_TRY(m->bare ? choose_bare_width(m) : choose_normed_width(m));
    if (t->family == RUNG_EXPORT_GPT2) t->dim = t->d_model / t->heads;
    t->context = (tokens + CONTEXT_STEP - 1) / CONTEXT_STEP * CONTEXT_STEP;
    return RUNG_OK;
}

/* ---- matrices of the target -------------------------------------------------------------------------------------- */

static rung_status make_linear(maker *m, target_linear *l, size_t rows, size_t cols)
{
    *l = (target_linear){room(m, rows * cols, sizeof(float)), room(m, rows, sizeof(float)), rows, cols};
    return l->weight && l->bias ? RUNG_OK : RUNG_SYSTEM;
}

static void put(target_linear *l, size_t row, size_t col, double value)
{
    l->weight[row * l->cols + col] = (float)value;
}

/* A row that reads the stream of the model. */
static void put_reader(maker *m, target_linear *l, size_t row, const float *from, double factor)
{
    double sum = 0;
    for (size_t j = 0; j < m->spec->d_model; j++) {
        float value = (float)(from[j] * factor);
        put(l, row, m->place[j], value);
        sum += value;
    }
    if (m->balance != SIZE_MAX) put(l, row, m->balance, -sum);
}

/* What a coordinate of the model gets, for its channel and the twin. */
static void put_writer(const maker *m, target_linear *l, size_t coord, size_t col, double value)
{
    put(l, m->place[coord], col, value);
    if (m->mirrored) put(l, m->place[coord] + m->spec->d_model, col, -value);
}

static void put_writer_bias(const maker *m, target_linear *l, size_t coord, float value)
{
    l->bias[m->place[coord]] = value;
    if (m->mirrored) l->bias[m->place[coord] + m->spec->d_model] = -value;
}

static rung_status copy_norm(maker *m, target_norm *norm, const char *name)
{
    export_weights weight, bias;
    size_t d = m->t->d_model;
    norm->weight = room(m, d, sizeof(float));
    norm->bias = m->t->family == RUNG_EXPORT_GPT2 ? room(m, d, sizeof(float)) : NULL;
    if (!norm->weight || (m->t->family == RUNG_EXPORT_GPT2 && !norm->bias)) return RUNG_SYSTEM;
    if (m->bare) return RUNG_OK; /* see finish_norms */
    RUNG_TRY(export_get(&weight, &m->read, "%s.weight", name));
    RUNG_TRY(export_get(&bias, &m->read, "%s.bias", name));
    for (size_t i = 0; i < m->spec->d_model; i++) {
        norm->weight[i] = weight.value ? weight.value[i] : 1; /* 1: a layer without an MLP has no second norm */
        if (bias.value) norm->bias[i] = bias.value[i];
    }
    if (m->mirrored) norm->bias[m->unit] = 1;
    return RUNG_OK;
}

/* ---- one layer --------------------------------------------------------------------------------------------------- */

/* Where coordinate c of a key lies in its head. */
static size_t key_place(const maker *m, size_t c)
{
    size_t half = m->t->dim / 2, pairs = half - m->pair_first;
    if (m->pair_first == 0) return c;
    return m->pair_first + c % pairs + (c < pairs ? 0 : half);
}

static rung_status copy_heads(maker *m, target_linear *to, const char *what, size_t layer, size_t group, size_t head)
{
    export_weights weight, bias;
    const rung_mech_conf *conf = &m->arch->layer[layer].group[group];
    size_t dim = *what == 'v' ? conf->dv : conf->dk;
    double factor = *what == 'q' ? sqrt((double)m->t->dim) : 1;
    RUNG_TRY(export_get(&weight, &m->read, "layers.%zu.mix.%zu.%s.weight", layer, group, what));
    RUNG_TRY(export_get(&bias, &m->read, "layers.%zu.mix.%zu.%s.bias", layer, group, what));
    for (size_t h = 0; h < conf->heads; h++)
        for (size_t c = 0; c < dim; c++) {
            size_t own = *what == 'q' ? h : rung_mech_kv_head(conf, h); /* heads that share keys get copies */
            size_t from = own * dim + c, row = (head + h) * m->t->dim + (*what == 'v' ? c : key_place(m, c));
            put_reader(m, to, row, weight.value + from * weight.cols, factor);
            if (bias.value) to->bias[row] = (float)(bias.value[from] * factor);
        }
    return RUNG_OK;
}

static rung_status copy_attention(maker *m, target_layer *to, size_t layer)
{
    export_weights out, bias;
    size_t head = 0, col = 0;
    RUNG_TRY(export_get(&out, &m->read, "layers.%zu.out.weight", layer));
    RUNG_TRY(export_get(&bias, &m->read, "layers.%zu.out.bias", layer));
    for (size_t g = 0; g < m->arch->layer[layer].group_count; g++) {
        const rung_mech_conf *conf = &m->arch->layer[layer].group[g];
        RUNG_TRY(copy_heads(m, &to->q, "q", layer, g, head));
        RUNG_TRY(copy_heads(m, &to->k, "k", layer, g, head));
        RUNG_TRY(copy_heads(m, &to->v, "v", layer, g, head));
        for (size_t c = 0; c < conf->heads * conf->dv; c++, col++)
            for (size_t j = 0; j < m->spec->d_model; j++)
                put_writer(m, &to->out, j, (head + c / conf->dv) * m->t->dim + c % conf->dv,
                           out.value[j * out.cols + col]);
        head += conf->heads;
    }
    for (size_t j = 0; bias.value && j < m->spec->d_model; j++) put_writer_bias(m, &to->out, j, bias.value[j]);
    return RUNG_OK;
}

static rung_status copy_rows(maker *m, target_linear *to, const char *what, size_t layer, double factor)
{
    export_weights weight, bias;
    RUNG_TRY(export_get(&weight, &m->read, "layers.%zu.mlp.%s.weight", layer, what));
    RUNG_TRY(export_get(&bias, &m->read, "layers.%zu.mlp.%s.bias", layer, what));
    for (size_t r = 0; r < weight.rows; r++) {
        put_reader(m, to, r, weight.value + r * weight.cols, factor);
        if (bias.value) to->bias[r] = (float)(bias.value[r] * factor);
    }
    return RUNG_OK;
}

/* relu is gelu, or silu, of a large multiple. */
static rung_status copy_mlp(maker *m, target_layer *to, size_t layer, rung_mlp kind)
{
    export_weights down, bias;
    bool relu = kind == RUNG_MLP_RELU, gated = m->t->family == RUNG_EXPORT_LLAMA;
    double scale = relu ? RELU_SCALE : 1;
    RUNG_TRY(export_get(&down, &m->read, "layers.%zu.mlp.down.weight", layer));
    RUNG_TRY(export_get(&bias, &m->read, "layers.%zu.mlp.down.bias", layer));
    RUNG_TRY(copy_rows(m, relu && gated ? &to->gate : &to->up, "up", layer, scale));
    if (kind == RUNG_MLP_SWIGLU) RUNG_TRY(copy_rows(m, &to->gate, "gate", layer, 1));
    for (size_t i = 0; relu && gated && i < m->spec->d_mlp; i++) to->up.bias[i] = 1;
    for (size_t j = 0; j < m->spec->d_model; j++) {
        for (size_t c = 0; c < down.cols; c++) put_writer(m, &to->down, j, c, down.value[j * down.cols + c] / scale);
        if (bias.value) put_writer_bias(m, &to->down, j, bias.value[j]);
    }
    return RUNG_OK;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A unit that is relu(row x + bias) where that is not near 0. */
static void begin_unit(maker *m, target_layer *to, size_t unit, double bias)
{
    bool gated = m->t->family == RUNG_EXPORT_LLAMA;
    (gated ? &to->gate : &to->up)->bias[unit] = (float)bias;
    if (gated) to->up.bias[unit] = 1;
}

static void read_unit(maker *m, target_layer *to, size_t unit, size_t channel, double factor)
{
    target_linear *rows = m->t->family == RUNG_EXPORT_LLAMA ? &to->gate : &to->up;
    float *row = rows->weight + unit * rows->cols;
    row[channel] += (float)factor;
    if (m->balance != SIZE_MAX) row[m->balance] -= (float)factor;
}

/* The numbers that a step function is of. */
typedef struct step_input {
    const size_t *channel;
    const double *weight;
    size_t count;
} step_input;

/* Appends the steps of a function; value o goes to channel out[o]. */
static void add_steps(maker *m, target_layer *to, size_t *unit, const step_function *f, const step_input *u,
                      const size_t *out, size_t outs)
{
    for (size_t o = 0; o < outs; o++) to->down.bias[out[o]] += f->start[o];
    for (size_t j = 0; j < f->jumps; j++)
        for (int side = 1; side >= -1; side -= 2, (*unit)++) {
            begin_unit(m, to, *unit, -STEP_SLOPE * f->jump[j].at + side * STEP_BEND);
            for (size_t i = 0; i < u->count; i++) read_unit(m, to, *unit, u->channel[i], STEP_SLOPE * u->weight[i]);
            for (size_t o = 0; o < outs; o++)
                put(&to->down, out[o], *unit, side * f->jump[j].rise[o] / (2 * STEP_BEND));
        }
}

static double largest_value(const step_table *table, size_t out)
{
    double most = 0;
    for (size_t r = 0; r < table->rows; r++) most = fmax(most, fabs(table->value[r * table->outs + out]));
    return most;
}

static rung_status begin_layer(maker *m, target_layer **layer, const char *norms);

/* Steps are off by their share of a ramp at most, and then by less than a step. */
static rung_status copy_table(maker *m, target_layer *to, const layer_plan *p)
{
    const step_table *table = &p->table;
    size_t unit = 0, *out = room(m, table->outs, sizeof *out), *rank = room(m, table->keys, sizeof *rank);
    const double one = 1;
    if (!out || !rank) return RUNG_SYSTEM;
    for (size_t o = 0; o < table->outs; o++) {
        out[o] = m->fresh++;
        m->bound[out[o]] = 2 * largest_value(table, o) + 1;
    }
    for (size_t k = 0; k < table->keys; k++) {
        const step_input u = {&m->place[table->key_coord[k]], &one, 1};
        if (!table->separable) rank[k] = m->fresh++, m->bound[rank[k]] = (double)table->levels[k];
        add_steps(m, to, &unit, &p->of_key[k], &u, table->separable ? out : &rank[k],
                  table->separable ? table->outs : 1);
    }
    if (!table->separable) {
        const step_input u = {rank, p->weight, table->keys};
        RUNG_TRY(begin_layer(m, &to, "none"));
        unit = 0;
        add_steps(m, to, &unit, &p->all, &u, out, table->outs);
    }
    for (size_t o = 0; o < table->outs; o++) m->place[table->out_coord[o]] = out[o];
    return RUNG_OK;
}

/* ---- bounds of the stream, where the constant must dwarf it ------------------------------------------------------ */

static double bound_row(const target_linear *l, size_t row, const double *bound)
{
    double sum = fabs(l->bias[row]);
    for (size_t j = 0; j < l->cols; j++) sum += fabs(l->weight[row * l->cols + j]) * bound[j];
    return sum;
}

static rung_status bound_through(maker *m, const target_linear *in, const target_linear *by, const target_linear *out)
{
    double *inner = room(m, in->rows, sizeof *inner);
    if (!inner) return RUNG_SYSTEM;
    for (size_t r = 0; r < in->rows; r++) inner[r] = bound_row(in, r, m->bound) * (by ? bound_row(by, r, m->bound) : 1);
    double *next = room(m, out->rows, sizeof *next);
    if (!next) return RUNG_SYSTEM;
    for (size_t r = 0; r < out->rows; r++) next[r] = bound_row(out, r, inner);
    for (size_t r = 0; r < out->rows; r++) m->bound[r] += next[r];
    return RUNG_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* A layer of zeros, with the norms norms1 and norms2 of the model where it has them. */
static rung_status begin_layer(maker *m, target_layer **layer, const char *norms)
{
    char name[64];
    target *t = m->t;
    target_layer *to = *layer = &t->layer[m->next++];
    size_t width = t->heads * t->dim;
    RUNG_TRY(make_linear(m, &to->q, width, t->d_model));
    RUNG_TRY(make_linear(m, &to->k, width, t->d_model));
    RUNG_TRY(make_linear(m, &to->v, width, t->d_model));
    RUNG_TRY(make_linear(m, &to->out, t->d_model, width));
    RUNG_TRY(make_linear(m, &to->up, t->d_mlp, t->d_model));
    if (t->family == RUNG_EXPORT_LLAMA) RUNG_TRY(make_linear(m, &to->gate, t->d_mlp, t->d_model));
    RUNG_TRY(make_linear(m, &to->down, t->d_model, t->d_mlp));
    snprintf(name, sizeof name, "%s1", norms);
    RUNG_TRY(copy_norm(m, &to->norm1, name));
    snprintf(name, sizeof name, "%s2", norms);
    return copy_norm(m, &to->norm2, name);
}

static rung_status copy_layer(maker *m, size_t layer)
{
    target_layer *to;
    char name[48];
    const layer_plan *p = &m->plan[layer];
    snprintf(name, sizeof name, "layers.%zu.norm", layer);
    RUNG_TRY(begin_layer(m, &to, name));
    RUNG_TRY(copy_attention(m, to, layer));
    if (m->bare) RUNG_TRY(bound_through(m, &to->v, NULL, &to->out));
    if (p->mlp == RUNG_MLP_TABLE) return copy_table(m, to, p);
    if (p->mlp == RUNG_MLP_NONE) return RUNG_OK;
    RUNG_TRY(copy_mlp(m, to, layer, p->mlp));
    return m->bare ? bound_through(m, &to->up, to->gate.weight ? &to->gate : NULL, &to->down) : RUNG_OK;
}

static void copy_stream(const maker *m, float *to, const float *from)
{
    for (size_t j = 0; j < m->spec->d_model; j++) {
        to[m->place[j]] = from[j];
        if (m->mirrored) to[m->place[j] + m->spec->d_model] = -from[j];
    }
}

static void raise_bound(const maker *m, const export_weights *rows)
{
    for (size_t j = 0; m->bare && j < m->spec->d_model; j++) {
        double most = 0;
        for (size_t r = 0; r < rows->rows; r++) most = fmax(most, fabs(rows->value[r * rows->cols + j]));
        m->bound[m->place[j]] += most;
    }
}

static rung_status copy_embedding(maker *m)
{
    target *t = m->t;
    export_weights embed, positions;
    RUNG_TRY(export_get(&embed, &m->read, "embed.weight"));
    RUNG_TRY(export_get(&positions, &m->read, "positions"));
    t->embed = room(m, t->vocab * t->d_model, sizeof(float));
    t->positions = t->family == RUNG_EXPORT_GPT2 ? room(m, t->context * t->d_model, sizeof(float)) : NULL;
    if (!t->embed || (t->family == RUNG_EXPORT_GPT2 && !t->positions)) return RUNG_SYSTEM;
    for (size_t i = 0; i < embed.rows; i++) copy_stream(m, t->embed + i * t->d_model, embed.value + i * embed.cols);
    for (size_t i = 0; i < positions.rows; i++)
        copy_stream(m, t->positions + i * t->d_model, positions.value + i * positions.cols);
    raise_bound(m, &embed);
    if (positions.value) raise_bound(m, &positions);
    return RUNG_OK;
}

/* Ids that are no answers score far below all answers, where a channel is constant behind the last norm; else 0. */
static rung_status copy_readout(maker *m)
{
    target *t = m->t;
    export_weights weight, bias;
    double most = 0;
    RUNG_TRY(export_get(&weight, &m->read, "readout.weight"));
    RUNG_TRY(export_get(&bias, &m->read, "readout.bias"));
    RUNG_TRY(make_linear(m, &t->readout, t->vocab, t->d_model));
    RUNG_TRY(copy_norm(m, &t->final, "final_norm"));
    bool *answers = room(m, t->vocab, sizeof *answers);
    if (!answers) return RUNG_SYSTEM;
    for (size_t a = 0; a < weight.rows; a++) {
        size_t id = t->answer[a];
        put_reader(m, &t->readout, id, weight.value + a * weight.cols, 1);
        answers[id] = true;
        if (bias.value && bias.value[a] != 0 && m->unit == SIZE_MAX) return refuse(m, "a bias of the read-out");
        if (bias.value && m->unit != SIZE_MAX) put(&t->readout, id, m->unit, bias.value[a]);
        if (m->bare) most = fmax(most, bound_row(&t->readout, id, m->bound) + (bias.value ? fabs(bias.value[a]) : 0));
    }
    for (size_t id = 0; m->unit != SIZE_MAX && id < t->vocab; id++)
        if (!answers[id]) put(&t->readout, id, m->unit, -(2 * most + 10000));
    return RUNG_OK;
}

/* The square of a constant channel is 2^30 times the sum of the squares of all others, or more. */
static rung_status choose_constant(maker *m)
{
    double sum = 0;
    for (size_t i = 0; i < m->constant_first; i++) sum += m->bound[i] * m->bound[i];
    m->t->constant = 32768;
    while (m->t->constant < 32768 * sqrt(sum)) m->t->constant *= 2;
    if (m->t->constant <= 0x1p50) return RUNG_OK;
    return rung_fail(m->err, RUNG_INPUT,
                     "numbers of the stream may reach %.2g, and no constant of a norm dwarfs them in F32", sqrt(sum));
}

static void finish_norm(const maker *m, target_norm *norm)
{
    for (size_t i = 0; i < m->constant_first; i++) norm->weight[i] = (float)(m->t->constant / 4);
    if (m->t->family == RUNG_EXPORT_GPT2)
        norm->bias[m->unit] = 1;
    else
        norm->weight[m->unit] = 0.25f; /* times C / (C/4) */
}

static rung_status finish_norms(maker *m)
{
    target *t = m->t;
    RUNG_TRY(choose_constant(m));
    for (size_t i = 0; i < t->vocab; i++)
        for (size_t j = m->constant_first; j < t->d_model; j++) {
            bool minus = t->family == RUNG_EXPORT_GPT2 && (j - m->constant_first) % 2;
            t->embed[i * t->d_model + j] = (float)(minus ? -t->constant : t->constant);
        }
    for (size_t i = 0; i < t->layers; i++) {
        finish_norm(m, &t->layer[i].norm1);
        finish_norm(m, &t->layer[i].norm2);
    }
    finish_norm(m, &t->final);
    return RUNG_OK;
}

static rung_status make(maker *m)
{
    target *t = m->t;
    RUNG_TRY(check_model(m));
    RUNG_TRY(choose_sizes(m));
    RUNG_TRY(target_words(t, m->model, m->err));
    m->place = room(m, m->spec->d_model, sizeof *m->place);
    m->bound = room(m, t->d_model, sizeof *m->bound);
    t->layer = room(m, t->layers, sizeof *t->layer);
    if (!m->place || !m->bound || !t->layer) return RUNG_SYSTEM;
    for (size_t j = 0; j < m->spec->d_model; j++) m->place[j] = j;
    RUNG_TRY(copy_embedding(m));
    for (size_t i = 0; i < m->arch->layer_count; i++) RUNG_TRY(copy_layer(m, i));
    RUNG_TRY(copy_readout(m));
    RUNG_TRY(export_check_all_used(&m->read));
    return m->bare ? finish_norms(m) : RUNG_OK;
}

rung_status target_make(target *t, const rung_model *model, rung_export_family family, rung_error *err)
{
    maker m = {.t = t,
               .model = model,
               .spec = rung_model_get_spec(model),
               .arch = rung_model_get_arch(model),
               .balance = SIZE_MAX,
               .unit = SIZE_MAX,
               .err = err};
    *t = (target){0};
    rung_arena_init(&t->arena);
    export_reader_init(&m.read, model, &t->arena, err);
    m.bare = m.spec->norm == RUNG_NORM_NONE;
    t->family = family == RUNG_EXPORT_AUTO ? choose_family(&m) : family;
    t->erf = has_mlp(&m, RUNG_MLP_GELU);
    t->epsilon = m.bare ? RUNG_NORM_EPSILON : rung_model_norm_epsilon(m.spec);
    return make(&m);
}

rung_status target_joint(target_linear *to, const target_layer *l, rung_arena *arena, rung_error *err)
{
    const target_linear *const part[] = {&l->q, &l->k, &l->v};
    size_t rows = l->q.rows, cols = l->q.cols;
    *to = (target_linear){rung_arena_alloc(arena, 3 * rows * cols, sizeof(float), err),
                          rung_arena_alloc(arena, 3 * rows, sizeof(float), err), 3 * rows, cols};
    if (!to->weight || !to->bias) return RUNG_SYSTEM;
    for (size_t i = 0; i < RUNG_COUNT(part); i++) {
        memcpy(to->weight + i * rows * cols, part[i]->weight, rows * cols * sizeof(float));
        memcpy(to->bias + i * rows, part[i]->bias, rows * sizeof(float));
    }
    return RUNG_OK;
}

void target_clear(target *t)
{
    rung_arena_clear(&t->arena);
}
