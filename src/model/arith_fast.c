/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The fast arithmetic: fp32 through the kernels of kern.h, threads over tokens and heads.
 */
#include "eval.h"

#include "rung/kern.h"
#include "rung/par.h"

#include <math.h>

/* Tokens per item of a parallel product: enough work to justify a thread. */
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
        float scale = 1 / sqrtf(square + (float)p->norm_epsilon);
        for (size_t i = 0; i < d; i++) out[i] = out[i] * scale * w->weight.f[i] + (w->bias.f ? w->bias.f[i] : 0);
    }
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static float softplus(float x)
{
    return (x > 0 ? x : 0) + log1pf(expf(-fabsf(x)));
}

static float activate_one(float x, activation kind)
{
    switch (kind) {
    case ACT_RELU:
        return x > 0 || isnan(x) ? x : 0;
    case ACT_GELU:
        return x < -40 ? -0.0f : 0.5f * x * erfcf(-x * 0.70710678f); /* avoids -inf * 0 */
    case ACT_GELU_TANH:
        return x * sigmoid((float)GELU_TANH_SLOPE * (x * (1 + (float)GELU_TANH_CUBIC * (x * x))));
    case ACT_SILU:
        return x * sigmoid(x);
    case ACT_SIGMOID:
        return sigmoid(x);
    case ACT_SOFTPLUS:
        return softplus(x);
    case ACT_LOG_GATE:
        return -softplus(-x) / 16;
    case ACT_KEEP:
        return expf(-0.60653066f * sigmoid(x)); /* e^{-1/2} */
    case ACT_MINUS:
        return -x;
    }
    return x;
}

static void activate(const rung_program *p, reals y, activation kind, size_t count)
{
    (void)p;
    for (size_t i = 0; i < count; i++) y.f[i] = activate_one(y.f[i], kind);
}

static void decay(const rung_program *p, reals y, reals rate, size_t tokens, size_t heads, size_t each)
{
    (void)p;
    for (size_t t = 0; t < tokens; t++)
        for (size_t h = 0; h < heads; h++)
            rung_kernels_get()->scale(y.f + (t * heads + h) * each, -expf(rate.f[h]), each);
}

static void unit(const rung_program *p, reals y, size_t rows, size_t each)
{
    const rung_kernels *kern = rung_kernels_get();
    (void)p;
    for (size_t r = 0; r < rows; r++) {
        float *row = y.f + r * each;
        kern->scale(row, 1 / sqrtf(kern->dot(row, row, each) + (float)UNIT_EPSILON), each);
    }
}

static void row_norm(const rung_program *p, reals y, reals weight, size_t rows, size_t each)
{
    for (size_t r = 0; r < rows; r++) {
        float *row = y.f + r * each, square = rung_kernels_get()->dot(row, row, each) / (float)each;
        float scale = 1 / sqrtf(square + (float)p->norm_epsilon);
        for (size_t i = 0; i < each; i++) row[i] = row[i] * scale * weight.f[i];
    }
}

static void scale(const rung_program *p, reals y, double factor, size_t count)
{
    (void)p;
    rung_kernels_get()->scale(y.f, (float)factor, count);
}

static void convolve(const rung_program *p, reals y, reals x, reals taps, size_t tokens, size_t row, size_t width)
{
    (void)p;
    for (size_t t = 0; t < tokens; t++)
        for (size_t c = 0; c < row; c++) {
            float sum = 0;
            for (size_t i = 0; i < width; i++) sum += taps.f[i * row + c] * x.f[(t + i) * row + c];
            y.f[t * row + c] = sum;
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

static rung_stretch_f32 stretch_of(const mixing *m)
{
    rung_stretch_f32 s = {.conf = m->conf,
                          .o = m->out.f,
                          .state = m->state.f,
                          .pos = m->pos,
                          .tokens = m->tokens,
                          .at = m->at,
                          .asked = m->asked,
                          .scratch = m->scratch.f,
                          .scratch_size = m->scratch_size};
    for (size_t i = 0; m->conf->mech->inputs[i].name; i++) s.in[i] = m->in[i].f;
    return s;
}

static void scan(const rung_program *p, const mixing *m)
{
    rung_stretch_f32 s = stretch_of(m);
    rung_stretch_scan_f32(&s, p->threads);
}

static void step(const rung_program *p, const mixing *m)
{
    rung_stretch_f32 s = stretch_of(m);
    (void)p;
    rung_stretch_step_f32(&s);
}

/* There is one format. */
static void store(const rung_program *p, reals y, rung_quantity quantity, size_t rows, size_t row, double *scales)
{
    (void)p, (void)y, (void)quantity, (void)rows, (void)row, (void)scales;
}

const arith rung_arith_fast = {
    .linear = linear,
    .add = add,
    .multiply = multiply,
    .norm = norm,
    .activate = activate,
    .decay = decay,
    .unit = unit,
    .row_norm = row_norm,
    .scale = scale,
    .convolve = convolve,
    .rotate = rotate,
    .store = store,
    .scan = scan,
    .step = step,
};
