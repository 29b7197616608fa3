/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Does the stream of a model of one attention layer stay finite on every prompt? If it does, a proof about a small
 * model carries over to a larger one. Otherwise it may not: 0 times infinity is NaN, and layers of zeros would produce
 * it.
 *
 * A sum of k products that are not 0 has 2 k roundings, each by a factor of at most 1 + u, u = 2^-(m+1). If a result is
 * below the normal numbers, its rounding adds at most the spacing, which is added once per operation. The output of a
 * softmax head is at most c, the least power of two that no value exceeds: rounding is monotone and c times a number is
 * exact, so num <= c den step by step (docs/contains.md).
 */
#include "find_weights.h"

#include <math.h>
#include <stdlib.h>

typedef struct stream {
    const rung_model *model;
    const rung_fmt *fmt;
    size_t width;
    double *high; /* [width]: no coordinate is larger in magnitude */
    rung_arena arena;
    rung_error *err;
} stream;

static double *load(stream *s, const char *name, const rung_tensor **tensor)
{
    *tensor = rung_model_tensor(s->model, name);
    double *x = *tensor ? rung_arena_alloc(&s->arena, (*tensor)->elements, sizeof *x, s->err) : NULL;
    if (!x || rung_tensor_to_f64(x, *tensor, s->err) != RUNG_OK) return NULL;
    rung_num_kernels_get()->round(s->fmt, x, x, (*tensor)->elements);
    return x;
}

/* The largest result after `operations` roundings of a number. */
static double rounded_up(const stream *s, double high, double operations)
{
    double u = ldexp(1, -s->fmt->mantissa_bits - 1);
    return (high + operations * s->fmt->spacing) * pow(1 + u, operations);
}

/* Adds the largest entry of every column. */
static bool add_columns(stream *s, const char *name, bool needed)
{
    const rung_tensor *t;
    const double *x = load(s, name, &t);
    if (!x) return !needed && !t;
    for (size_t c = 0; c < s->width; c++) {
        double high = 0;
        for (size_t r = 0; r < t->shape[0]; r++) high = fmax(high, fabs(x[r * s->width + c]));
        s->high[c] = rounded_up(s, s->high[c] + high, 1);
    }
    return true;
}

/* high[row] of W x + b where |x_c| <= in[c]. */
static bool bound_linear(double *high, stream *s, const char *prefix, const double *in)
{
    char name[64];
    const rung_tensor *t, *b;
    snprintf(name, sizeof name, "%s.weight", prefix);
    const double *w = load(s, name, &t);
    snprintf(name, sizeof name, "%s.bias", prefix);
    const double *bias = load(s, name, &b);
    if (!w || (b && !bias)) return false;
    for (size_t r = 0; r < t->shape[0]; r++) {
        double sum = bias ? fabs(bias[r]) : 0, terms = 1;
        for (size_t c = 0; c < t->shape[1]; c++) {
            sum += fabs(w[r * t->shape[1] + c]) * in[c];
            terms += w[r * t->shape[1] + c] != 0;
        }
        high[r] = rounded_up(s, sum, 2 * terms);
    }
    return true;
}

static bool all_below(const stream *s, const double *high, size_t count, double times)
{
    bool below = true;
    for (size_t i = 0; i < count; i++) below = below && high[i] * times < s->fmt->largest;
    return below;
}

/* True if q . k is finite for all tokens: the softmax of an infinite score is undefined. */
static bool scores_finite(stream *s, const rung_mech_conf *conf)
{
    size_t keys = conf->heads * conf->dk;
    double *q = rung_arena_alloc(&s->arena, keys, sizeof *q, s->err), most = 0;
    double *k = rung_arena_alloc(&s->arena, keys, sizeof *k, s->err);
    if (!q || !k || !bound_linear(q, s, "layers.0.mix.0.q", s->high) ||
        !bound_linear(k, s, "layers.0.mix.0.k", s->high))
        return false;
    for (size_t i = 0; i < keys; i++) most += q[i] * k[i];
    most = rounded_up(s, most, 2 * (double)keys);
    return all_below(s, q, keys, 1) && all_below(s, k, keys, 1) && all_below(s, &most, 1, 2);
}

/* Bounds scores, values, the output of a head, and the sum in the stream. */
static bool layer_finite(stream *s, const rung_mech_conf *conf)
{
    size_t values = conf->heads * conf->dv;
    double *v = rung_arena_alloc(&s->arena, values, sizeof *v, s->err);
    double *added = rung_arena_alloc(&s->arena, s->width, sizeof *added, s->err);
    if (!v || !added || !scores_finite(s, conf) || !bound_linear(v, s, "layers.0.mix.0.v", s->high)) return false;
    for (size_t i = 0; i < values; i++) v[i] = v[i] > 0 ? exp2(ceil(log2(v[i]))) : 0;
    double tokens = (double)rung_model_get_spec(s->model)->max_tokens;
    if (!all_below(s, v, values, 4 * tokens) || !bound_linear(added, s, "layers.0.out", v)) return false;
    for (size_t c = 0; c < s->width; c++) s->high[c] = rounded_up(s, s->high[c] + added[c], 1);
    return all_below(s, s->high, s->width, 1);
}

/* True for layers whose output is an average of the values, by softmax. */
static bool is_average(const rung_mech_conf *conf)
{
    bool linear = !conf->conv && !conf->unit && !conf->qk_norm && conf->scale <= 0 && !conf->kv_heads;
    return conf->mech->any_softmax && !conf->gate && !conf->out_gate && linear;
}

bool witness_stays_finite(const rung_model *model, const rung_fmt *fmt)
{
    const rung_arch *arch = rung_model_get_arch(model);
    const rung_model_spec *spec = rung_model_get_spec(model);
    rung_error err = {{0}};
    if (fmt->kind == RUNG_FMT_FIXED) return true; /* fixed point saturates */
    if (arch->layer_count != 1 || arch->layer[0].group_count != 1 || !is_average(&arch->layer[0].group[0]))
        return false;
    if (spec->norm != RUNG_NORM_NONE || !spec->vocab) return false;
    stream s = {.model = model, .fmt = fmt, .width = spec->d_model, .err = &err};
    rung_arena_init(&s.arena);
    s.high = rung_arena_alloc(&s.arena, s.width, sizeof *s.high, &err);
    bool finite = s.high && add_columns(&s, "embed.weight", true) && add_columns(&s, "positions", false) &&
                  all_below(&s, s.high, s.width, 1) && layer_finite(&s, &arch->layer[0].group[0]);
    rung_arena_clear(&s.arena);
    return finite;
}
