/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Nonlinear recurrent networks, one small network of width dv per head.
 *   kind=tanh  h <- tanh(U h + x),                          o = h;  U [H][dv][dv]
 *   kind=lstm  (i, f, g, p) = U h + x, four blocks of dv;   c <- sigmoid(f) c + sigmoid(i) tanh(g);
 *              h <- sigmoid(p) tanh(c);                     o = h;  U [H][4 dv][dv]
 * x is what the layer's input projection gives, bias included. State: h, and c of the LSTM. dk plays no part.
 *
 * Order: the sum over U's columns from 0 upwards, x added last; c = r(r(sigmoid(f) c) + r(sigmoid(i) tanh(g))).
 */
#include "replay.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

enum { KIND_TANH, KIND_LSTM };

static const char *const kind_names[] = {"tanh", "lstm", NULL};
static const rung_param params[] = {
    {"kind", RUNG_PARAM_CHOICE, KIND_TANH, 0, 0, kind_names, "transition"},
    {0},
};

bool rung_rnn_is_lstm(const rung_mech_conf *conf)
{
    return conf->params[0].number == KIND_LSTM;
}

static bool is_tanh(const rung_mech_conf *conf)
{
    return !rung_rnn_is_lstm(conf);
}

/* Rows of U, and numbers of a token, per head. */
size_t rung_rnn_rows(const rung_mech_conf *conf)
{
    return (rung_rnn_is_lstm(conf) ? 4 : 1) * conf->dv;
}

size_t rung_rnn_head_size(const rung_mech_conf *conf)
{
    return (rung_rnn_is_lstm(conf) ? 2 : 1) * conf->dv;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads * rung_rnn_head_size(conf)};
}

/* Scratch: U transposed, and the sums before the nonlinearity. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return rung_rnn_rows(conf) * conf->dv + rung_rnn_rows(conf);
}

#define INPUT_OF(in, conf)  (in)[rung_rnn_is_lstm(conf) ? RNN_X4 : RNN_X]
#define MATRIX_OF(in, conf) (in)[rung_rnn_is_lstm(conf) ? RNN_U4 : RNN_U]

/* ---- fast -------------------------------------------------------------------------------------------------------- */

float rung_rnn_sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

void rung_rnn_sums_f32(float *sum, const float *h, const float *x, const float *U, const rung_mech_conf *conf)
{
    size_t dv = conf->dv, rows = rung_rnn_rows(conf);
    for (size_t i = 0; i < rows; i++) sum[i] = rung_kernels_get()->dot(U + i * dv, h, dv) + x[i];
}

void rung_rnn_absorb_f32(float *h, const float *x, const float *U, const rung_mech_conf *conf, float *sum)
{
    size_t dv = conf->dv;
    float *c = h + dv;
    rung_rnn_sums_f32(sum, h, x, U, conf);
    for (size_t i = 0; i < dv; i++) {
        if (is_tanh(conf)) {
            h[i] = tanhf(sum[i]);
            continue;
        }
        c[i] = rung_rnn_sigmoid(sum[dv + i]) * c[i] + rung_rnn_sigmoid(sum[i]) * tanhf(sum[2 * dv + i]);
        h[i] = rung_rnn_sigmoid(sum[3 * dv + i]) * tanhf(c[i]);
    }
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *sum)
{
    (void)pos;
    for (size_t g = 0; g < conf->heads; g++)
        rung_rnn_absorb_f32(state + g * rung_rnn_head_size(conf), INPUT_OF(in, conf) + g * rung_rnn_rows(conf),
                            MATRIX_OF(in, conf) + g * rung_rnn_rows(conf) * conf->dv, conf, sum);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)in, (void)pos, (void)seen, (void)scratch_;
    for (size_t g = 0; g < conf->heads; g++)
        memcpy(o + g * conf->dv, state + g * rung_rnn_head_size(conf), conf->dv * sizeof *o);
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *sum)
{
    float *h = state + head * rung_rnn_head_size(conf);
    const float *U = MATRIX_OF(in, conf) + head * rung_rnn_rows(conf) * conf->dv;
    (void)pos;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < tokens; t++) {
            size_t row = t * conf->heads + head;
            if (pass == 0) rung_rnn_absorb_f32(h, INPUT_OF(in, conf) + row * rung_rnn_rows(conf), U, conf, sum);
            if (pass == !conf->causal) memcpy(o + row * conf->dv, h, conf->dv * sizeof *o);
        }
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* Computes the next state of one channel from the sums. */
static void turn_exact(double *h, const double *sum, size_t i, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    size_t dv = conf->dv;
    if (is_tanh(conf)) {
        h[i] = rung_num_fn(fmt, RUNG_FN_TANH, sum[i]);
        return;
    }
    double *c = h + dv + i, in = rung_num_fn(fmt, RUNG_FN_SIGMOID, sum[i]);
    double keep = rung_num_fn(fmt, RUNG_FN_SIGMOID, sum[dv + i]), new = rung_num_fn(fmt, RUNG_FN_TANH, sum[2 * dv + i]);
    double out = rung_num_fn(fmt, RUNG_FN_SIGMOID, sum[3 * dv + i]);
    *c = rung_num_add(fmt, rung_num_mul(fmt, keep, *c), rung_num_mul(fmt, in, new));
    h[i] = rung_num_mul(fmt, out, rung_num_fn(fmt, RUNG_FN_TANH, *c));
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *sum)
{
    size_t dv = conf->dv, rows = rung_rnn_rows(conf);
    (void)pos;
    for (size_t g = 0; g < conf->heads; g++) {
        double *h = state + g * rung_rnn_head_size(conf);
        const double *U = MATRIX_OF(in, conf) + g * rows * dv, *x = INPUT_OF(in, conf) + g * rows;
        for (size_t i = 0; i < rows; i++) sum[i] = rung_num_add(fmt, rung_num_dot(fmt, U + i * dv, h, dv), x[i]);
        for (size_t i = 0; i < dv; i++) turn_exact(h, sum, i, conf, fmt);
    }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    (void)in, (void)pos, (void)seen, (void)fmt, (void)scratch_;
    for (size_t g = 0; g < conf->heads; g++)
        memcpy(o + g * conf->dv, state + g * rung_rnn_head_size(conf), conf->dv * sizeof *o);
}

/* The rows of U are lanes, so U is transposed. */
static void absorb_lanes(double *h, const double *x, const double *Ut, const rung_mech_conf *conf, const rung_fmt *fmt,
                         double *sum)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t dv = conf->dv, rows = rung_rnn_rows(conf);
    memset(sum, 0, rows * sizeof *sum);
    for (size_t j = 0; j < dv; j++) num->scale_add(fmt, sum, Ut + j * rows, h[j], rows);
    num->add(fmt, sum, sum, x, rows);
    for (size_t i = 0; i < dv; i++) turn_exact(h, sum, i, conf, fmt);
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    size_t dv = conf->dv, rows = rung_rnn_rows(conf);
    double *h = state + head * rung_rnn_head_size(conf), *Ut = scratch_, *sum = scratch_ + rows * dv;
    const double *U = MATRIX_OF(in, conf) + head * rows * dv;
    (void)pos;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < dv; j++) Ut[j * rows + i] = U[i * dv + j];
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < tokens; t++) {
            size_t row = t * conf->heads + head;
            if (pass == 0) absorb_lanes(h, INPUT_OF(in, conf) + row * rows, Ut, conf, fmt, sum);
            if (pass == !conf->causal) memcpy(o + row * dv, h, dv * sizeof *o);
        }
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static const rung_mech_input inputs[] = {
    {"x", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "input (kind=tanh)", is_tanh, RUNG_QUANTITY_ACT},
    {"x", RUNG_DIM_FOUR_VALUES, RUNG_FROM_LINEAR, false, "input of the gates i, f, g, p (kind=lstm)", rung_rnn_is_lstm,
     RUNG_QUANTITY_ACT},
    {"U", RUNG_DIM_OF_SQUARE, RUNG_FROM_PARAMETER, false, "recurrent matrix (kind=tanh)", is_tanh,
     RUNG_QUANTITY_WEIGHTS},
    {"U", RUNG_DIM_OF_FOUR, RUNG_FROM_PARAMETER, false, "recurrent matrices of i, f, g, p (kind=lstm)",
     rung_rnn_is_lstm, RUNG_QUANTITY_WEIGHTS},
    {0},
};

const rung_mech rung_mech_rnn = {
    .name = "rnn",
    .class_of = RUNG_CLASS_STATE,
    .traits = RUNG_TRAIT_FADES,
    .summary = "nonlinear recurrent network: tanh or LSTM",
    .equation = "tanh: h <- tanh(U h + x), o = h; lstm: c <- s(f) c + s(i) tanh(g), h <- s(p) tanh(c), o = h",
    .carries = "H dv (tanh), 2 H dv (lstm)",
    .source = "Elman 1990; Hochreiter, Schmidhuber 1997",
    .params = params,
    .inputs = inputs,
    .recurrent = true,
    .keeps = RUNG_KEEPS_HEADS,
    .pads = rung_pads_all,
    .carry = carry,
    .scratch = scratch,
    RUNG_MECH_FORMS,
    .backward_f32 = rung_rnn_backward_f32,
    .backward_scratch = rung_rnn_backward_scratch,
    .forks = true,
};
