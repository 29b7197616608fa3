/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The exact arithmetic: every operation below is one rounding of num.h, in the order that docs/numbers.md
 * specifies. Lanes and threads run over independent outputs only, so they never change a result.
 */
#include "eval.h"

#include "rung/par.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct linear_job {
    const rung_fmt *fmt;
    double *y;
    const double *x;
    const linear_weights *w;
    size_t tokens;
} linear_job;

static bool all_finite(const double *x, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++) finite &= fabs(x[i]) <= DBL_MAX;
    return finite;
}

/* Adds over the inputs, from index 0 upwards. The outputs are lanes. Where nothing is infinite, a product with 0 is 0
 * or -0. The sum begins at 0, and 0 plus -0 is 0, so it is never -0, and such products do not change it. They are
 * skipped. In constructed models most products are of this kind. */
static void add_inputs(const rung_fmt *fmt, double *y, const double *x, const linear_weights *w)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    bool some = w->finite && all_finite(x, w->cols);
    for (size_t i = 0; i < (some ? w->read_count : w->cols); i++) {
        size_t j = some ? w->read[i] : i;
        if (x[j] != 0 || !some) num->scale_add(fmt, y, w->weight.x + j * w->rows, x[j], w->rows);
    }
}

/* One token. The bias is added last. */
static void linear_token(void *context, size_t token, size_t worker)
{
    const linear_job *job = context;
    const linear_weights *w = job->w;
    double *y = job->y + token * w->rows;
    (void)worker;
    memset(y, 0, w->rows * sizeof *y);
    add_inputs(job->fmt, y, job->x + token * w->cols, w);
    if (w->bias.x) rung_num_kernels_get()->add(job->fmt, y, y, w->bias.x, w->rows);
}

/* Few outputs would leave most lanes idle. Then the lanes are tokens, a block of them at a time: the same products and
 * sums, one output after the other. */
enum { BLOCK_TOKENS = 64, FEW_OUTPUTS = 16, FEWEST_TOKENS = 4, COLUMNS_AT_ONCE = 64 };

/* to = [count][tokens], from = columns first, ... of [tokens][cols]. */
static void transpose(double *to, const double *from, size_t first, size_t count, size_t tokens, size_t cols)
{
    for (size_t j = 0; j < count; j++)
        for (size_t t = 0; t < tokens; t++) to[j * tokens + t] = from[t * cols + first + j];
}

static void add_columns(const linear_job *job, double *acc, const double *column, size_t first, size_t count,
                        size_t tokens, bool some)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    const linear_weights *w = job->w;
    for (size_t r = 0; r < w->rows; r++)
        for (size_t j = 0; j < count; j++) {
            double weight = w->weight.x[(first + j) * w->rows + r];
            if (weight != 0 || !some) num->scale_add(job->fmt, acc + r * tokens, column + j * tokens, weight, tokens);
        }
}

static void linear_block(void *context, size_t item, size_t worker)
{
    const linear_job *job = context;
    const linear_weights *w = job->w;
    size_t first = item * BLOCK_TOKENS, left = job->tokens - first, tokens = left < BLOCK_TOKENS ? left : BLOCK_TOKENS;
    const double *x = job->x + first * w->cols;
    double acc[FEW_OUTPUTS * BLOCK_TOKENS], column[COLUMNS_AT_ONCE * BLOCK_TOKENS];
    (void)worker;
    memset(acc, 0, w->rows * tokens * sizeof *acc);
    bool some = w->finite && all_finite(x, tokens * w->cols);
    for (size_t j = 0; j < w->cols; j += COLUMNS_AT_ONCE) {
        size_t count = w->cols - j < COLUMNS_AT_ONCE ? w->cols - j : COLUMNS_AT_ONCE;
        transpose(column, x, j, count, tokens, w->cols);
        add_columns(job, acc, column, j, count, tokens, some);
    }
    for (size_t t = 0; t < tokens; t++) {
        double *y = job->y + (first + t) * w->rows;
        for (size_t r = 0; r < w->rows; r++) y[r] = acc[r * tokens + t];
        if (w->bias.x) rung_num_kernels_get()->add(job->fmt, y, y, w->bias.x, w->rows);
    }
}

static void linear(const rung_program *p, reals y, reals x, const linear_weights *w, size_t tokens)
{
    linear_job job = {&p->fmt, y.x, x.x, w, tokens};
    if (w->rows <= FEW_OUTPUTS && tokens >= FEWEST_TOKENS && tokens > w->rows)
        rung_par_for((tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS, p->threads, linear_block, &job);
    else
        rung_par_for(tokens, p->threads, linear_token, &job);
}

static void add(const rung_program *p, reals y, reals x, size_t count)
{
    rung_num_kernels_get()->add(&p->fmt, y.x, y.x, x.x, count);
}

static void multiply(const rung_program *p, reals y, reals x, size_t count)
{
    rung_num_kernels_get()->mul(&p->fmt, y.x, y.x, x.x, count);
}

static double mean_of(const rung_fmt *fmt, const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum = rung_num_add(fmt, sum, x[i]);
    return rung_num_div(fmt, sum, rung_num_round(fmt, (double)count));
}

static double root_mean_square(const rung_program *p, const double *x, size_t count)
{
    const rung_fmt *fmt = &p->fmt;
    double square = rung_num_div(fmt, rung_num_dot(fmt, x, x, count), rung_num_round(fmt, (double)count));
    return rung_num_fn(fmt, RUNG_FN_SQRT, rung_num_add(fmt, square, p->norm_epsilon));
}

/* layer: c = x - mean; rms: c = x.  y = (c / sqrt(mean of c^2 + epsilon)) * weight + bias. */
static void norm(const rung_program *p, reals y, reals x, const norm_weights *w, size_t tokens)
{
    const rung_fmt *fmt = &p->fmt;
    size_t d = p->model->spec.d_model;
    bool centre = p->model->spec.norm == RUNG_NORM_LAYER;
    for (size_t t = 0; t < tokens; t++) {
        const double *in = x.x + t * d;
        double *out = y.x + t * d, mean = centre ? mean_of(fmt, in, d) : 0;
        for (size_t i = 0; i < d; i++) out[i] = centre ? rung_num_sub(fmt, in[i], mean) : in[i];
        double root = root_mean_square(p, out, d);
        for (size_t i = 0; i < d; i++) {
            out[i] = rung_num_mul(fmt, rung_num_div(fmt, out[i], root), w->weight.x[i]);
            if (w->bias.x) out[i] = rung_num_add(fmt, out[i], w->bias.x[i]);
        }
    }
}

static double silu(const rung_fmt *fmt, double x, double argument)
{
    return rung_num_mul(fmt, x, rung_num_fn(fmt, RUNG_FN_SIGMOID, argument));
}

static double gelu_tanh(const rung_fmt *fmt, double x)
{
    double bend = rung_num_mul(fmt, rung_num_mul(fmt, x, x), rung_num_round(fmt, GELU_TANH_CUBIC));
    double argument = rung_num_mul(fmt, rung_num_add(fmt, bend, rung_num_round(fmt, 1)), x);
    return silu(fmt, x, rung_num_mul(fmt, argument, rung_num_round(fmt, GELU_TANH_SLOPE)));
}

static double activate_one(const rung_fmt *fmt, double x, activation kind)
{
    switch (kind) {
    case ACT_RELU:
        return x > 0 || isnan(x) ? x : 0;
    case ACT_GELU:
        return rung_num_fn(fmt, RUNG_FN_GELU, x);
    case ACT_SILU:
        return silu(fmt, x, x);
    case ACT_GELU_TANH:
        return gelu_tanh(fmt, x);
    case ACT_SIGMOID:
        return rung_num_fn(fmt, RUNG_FN_SIGMOID, x);
    case ACT_SOFTPLUS:
        return rung_num_fn(fmt, RUNG_FN_SOFTPLUS, x);
    case ACT_LOG_GATE:
        return rung_num_div(fmt, rung_num_sub(fmt, 0, rung_num_fn(fmt, RUNG_FN_SOFTPLUS, rung_num_sub(fmt, 0, x))),
                            rung_num_round(fmt, 16));
    case ACT_KEEP: {
        double slow = rung_num_round(fmt, 0.60653065971263342360); /* e^{-1/2} */
        double fade = rung_num_mul(fmt, slow, rung_num_fn(fmt, RUNG_FN_SIGMOID, x));
        return rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, 0, fade));
    }
    case ACT_MINUS:
        return rung_num_sub(fmt, 0, x);
    }
    return x;
}

static void activate(const rung_program *p, reals y, activation kind, size_t count)
{
    for (size_t i = 0; i < count; i++) y.x[i] = activate_one(&p->fmt, y.x[i], kind);
}

/* g = -(e^A y): one function and one product. The difference 0 - x is exact unless the format saturates. */
static void decay(const rung_program *p, reals y, reals rate, size_t tokens, size_t heads, size_t each)
{
    const rung_fmt *fmt = &p->fmt;
    for (size_t t = 0; t < tokens; t++)
        for (size_t h = 0; h < heads; h++) {
            double *row = y.x + (t * heads + h) * each, speed = rung_num_fn(fmt, RUNG_FN_EXP, rate.x[h]);
            for (size_t i = 0; i < each; i++) row[i] = rung_num_sub(fmt, 0, rung_num_mul(fmt, speed, row[i]));
        }
}

/* x / sqrt(x.x + epsilon) */
static void unit(const rung_program *p, reals y, size_t rows, size_t each)
{
    const rung_fmt *fmt = &p->fmt;
    for (size_t r = 0; r < rows; r++) {
        double *row = y.x + r * each, square = rung_num_dot(fmt, row, row, each);
        double root = rung_num_fn(fmt, RUNG_FN_SQRT, rung_num_add(fmt, square, rung_num_round(fmt, UNIT_EPSILON)));
        for (size_t i = 0; i < each; i++) row[i] = rung_num_div(fmt, row[i], root);
    }
}

/* (x / sqrt(mean of x^2 + epsilon)) * weight */
static void row_norm(const rung_program *p, reals y, reals weight, size_t rows, size_t each)
{
    const rung_fmt *fmt = &p->fmt;
    for (size_t r = 0; r < rows; r++) {
        double *row = y.x + r * each, root = root_mean_square(p, row, each);
        for (size_t i = 0; i < each; i++) row[i] = rung_num_mul(fmt, rung_num_div(fmt, row[i], root), weight.x[i]);
    }
}

static void scale(const rung_program *p, reals y, double factor, size_t count)
{
    double rounded = rung_num_round(&p->fmt, factor);
    for (size_t i = 0; i < count; i++) y.x[i] = rung_num_mul(&p->fmt, y.x[i], rounded);
}

/* Adds over the taps from the oldest token to the newest. Channels are lanes. */
static void convolve(const rung_program *p, reals y, reals x, reals taps, size_t tokens, size_t row, size_t width)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    for (size_t t = 0; t < tokens; t++) {
        memset(y.x + t * row, 0, row * sizeof *y.x);
        for (size_t i = 0; i < width; i++)
            num->mul_add(&p->fmt, y.x + t * row, taps.x + i * row, x.x + (t + i) * row, row);
    }
}

static void rotate(const rung_program *p, reals y, size_t pos, size_t tokens, size_t heads)
{
    const rung_fmt *fmt = &p->fmt;
    size_t half = p->model->spec.dk / 2;
    for (size_t t = 0; t < tokens; t++)
        for (size_t h = 0; h < heads; h++) {
            double *low = y.x + (t * heads + h) * 2 * half, *high = low + half;
            for (size_t i = 0; i < half; i++) {
                double c = p->cos.x[(pos + t) * half + i], s = p->sin.x[(pos + t) * half + i];
                double a = low[i], b = high[i];
                low[i] = rung_num_sub(fmt, rung_num_mul(fmt, a, c), rung_num_mul(fmt, b, s));
                high[i] = rung_num_add(fmt, rung_num_mul(fmt, b, c), rung_num_mul(fmt, a, s));
            }
        }
}

static void store(const rung_program *p, reals y, rung_quantity quantity, size_t rows, size_t row, double *scales)
{
    const rung_stored *stored = &p->numbers.of[quantity];
    if (p->numbers.mixed && strcmp(stored->name, p->fmt.name) != 0)
        rung_stored_keep(stored, &p->fmt, y.x, rows, row, scales, NULL);
}

static rung_stretch_exact stretch_of(const rung_program *p, const mixing *m)
{
    rung_stretch_exact s = {.conf = m->conf,
                            .fmt = &p->fmt,
                            .keeper = m->keeper,
                            .o = m->out.x,
                            .state = m->state.x,
                            .pos = m->pos,
                            .tokens = m->tokens,
                            .at = m->at,
                            .asked = m->asked,
                            .scratch = m->scratch.x,
                            .scratch_size = m->scratch_size};
    for (size_t i = 0; m->conf->mech->inputs[i].name; i++) s.in[i] = m->in[i].x;
    return s;
}

static void scan(const rung_program *p, const mixing *m)
{
    rung_stretch_exact s = stretch_of(p, m);
    rung_stretch_scan_exact(&s, p->threads);
}

static void step(const rung_program *p, const mixing *m)
{
    rung_stretch_exact s = stretch_of(p, m);

    rung_stretch_step_exact(&s);
}

const arith rung_arith_exact = {
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
