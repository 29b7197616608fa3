/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fast arithmetic: fp32 through the kernels of kern.h, threads over tokens and heads.
 */
#include "eval.h"

#include "rung/kern.h"
#include "rung/par.h"

#include <math.h>

/* Tokens that one item of a parallel product takes: enough work to be worth handing out. */
enum { SLICE = 32 };

typedef struct linear_job {
    float *y;
    const float *x;
    const linear_weights *w;
    size_t tokens;
} linear_job;

static void linear_slice(void *context, size_t item, size_t worker)
{
    const linear_job *job = context;
    size_t start = item * SLICE, count = job->tokens - start < SLICE ? job->tokens - start : SLICE;
    (void)worker;
    rung_kernels_get()->linear(job->y + start * job->w->rows, job->x + start * job->w->cols, job->w->weight.f,
                               job->w->bias.f, count, job->w->rows, job->w->cols);
}

static void linear(const rung_program *p, reals y, reals x, const linear_weights *w, size_t tokens)
{
    linear_job job = {y.f, x.f, w, tokens};
    rung_par_for((tokens + SLICE - 1) / SLICE, p->threads, linear_slice, &job);
}

static void add(const rung_program *p, reals y, reals x, size_t count)
{
    (void)p;
    rung_kernels_get()->axpy(y.f, 1, x.f, count);
}

static void multiply(const rung_program *p, reals y, reals x, size_t count)
{
    (void)p;
    for (size_t i = 0; i < count; i++) y.f[i] *= x.f[i];
}

static void norm(const rung_program *p, reals y, reals x, const norm_weights *w, size_t tokens)
{
    size_t d = p->model->spec.d_model;
    bool centre = p->model->spec.norm == RUNG_NORM_LAYER;
    for (size_t t = 0; t < tokens; t++) {
        const float *in = x.f + t * d;
        float *out = y.f + t * d, mean = 0;
        for (size_t i = 0; centre && i < d; i++) mean += in[i];
        mean /= (float)d;
        for (size_t i = 0; i < d; i++) out[i] = in[i] - mean;
        float square = rung_kernels_get()->dot(out, out, d) / (float)d;
        float scale = 1 / sqrtf(square + (float)NORM_EPSILON);
        for (size_t i = 0; i < d; i++) out[i] = out[i] * scale * w->weight.f[i] + (w->bias.f ? w->bias.f[i] : 0);
    }
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static float activate_one(float x, activation kind)
{
    switch (kind) {
    case ACT_RELU:
        return x > 0 || isnan(x) ? x : 0;
    case ACT_GELU:
        return 0.5f * x * erfcf(-x * 0.70710678f);
    case ACT_SILU:
        return x * sigmoid(x);
    case ACT_SIGMOID:
        return sigmoid(x);
    }
    return x;
}

static void activate(const rung_program *p, reals y, activation kind, size_t count)
{
    (void)p;
    for (size_t i = 0; i < count; i++) y.f[i] = activate_one(y.f[i], kind);
}

static void decay(const rung_program *p, reals y, reals rate, size_t tokens, size_t heads)
{
    (void)p;
    for (size_t t = 0; t < tokens; t++)
        for (size_t h = 0; h < heads; h++) {
            float z = y.f[t * heads + h], softplus = (z > 0 ? z : 0) + log1pf(expf(-fabsf(z)));
            y.f[t * heads + h] = -expf(rate.f[h]) * softplus;
        }
}

static void rotate(const rung_program *p, reals y, size_t pos, size_t tokens, size_t heads)
{
    size_t half = p->model->spec.dk / 2;
    for (size_t t = 0; t < tokens; t++)
        for (size_t h = 0; h < heads; h++) {
            float *low = y.f + (t * heads + h) * 2 * half, *high = low + half;
            for (size_t i = 0; i < half; i++) {
                float c = p->cos.f[(pos + t) * half + i], s = p->sin.f[(pos + t) * half + i];
                float a = low[i], b = high[i];
                low[i] = a * c - b * s;
                high[i] = b * c + a * s;
            }
        }
}

/* The inputs of m from token `first` on, as the mechanisms want them. */
static void inputs_from(const float *in[RUNG_MECH_INPUT_MAX], const mixing *m, size_t first)
{
    for (size_t i = 0; m->conf->mech->inputs[i].name; i++)
        in[i] = m->in[i].f + first * rung_mech_row(&m->conf->mech->inputs[i], m->conf);
}

static void scan_head(void *context, size_t head, size_t worker)
{
    const mixing *m = context;
    const float *in[RUNG_MECH_INPUT_MAX];
    inputs_from(in, m, 0);
    m->conf->mech->scan_f32(m->out.f, m->state.f, in, m->pos, m->tokens, head, m->conf,
                            m->scratch.f + worker * m->scratch_size);
}

static void scan(const rung_program *p, const mixing *m)
{
    rung_par_for(m->conf->heads, p->threads, scan_head, (void *)m);
}

static void step(const rung_program *p, const mixing *m)
{
    const float *in[RUNG_MECH_INPUT_MAX];
    const rung_mech *mech = m->conf->mech;
    size_t row = m->conf->heads * m->conf->dv;
    (void)p;
    for (size_t t = 0; t < m->tokens; t++) {
        inputs_from(in, m, t);
        mech->update_f32(m->state.f, in, m->pos + t, m->conf, m->scratch.f);
        if (m->conf->causal)
            mech->read_f32(m->out.f + t * row, m->state.f, in, m->pos + t, m->pos + t + 1, m->conf, m->scratch.f);
    }
    for (size_t t = 0; !m->conf->causal && t < m->tokens; t++) {
        inputs_from(in, m, t);
        mech->read_f32(m->out.f + t * row, m->state.f, in, t, m->tokens, m->conf, m->scratch.f);
    }
}

const arith rung_arith_fast = {
    .linear = linear,
    .add = add,
    .multiply = multiply,
    .norm = norm,
    .activate = activate,
    .decay = decay,
    .rotate = rotate,
    .scan = scan,
    .step = step,
};
