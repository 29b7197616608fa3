/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of the nonlinear recurrent networks: back-propagation through time. Forwards
 *   (1) z = U h + x,
 *   (2) tanh: h' = tanh(z);   LSTM, z = (i, f, g, p): c' = s(f) c + s(i) tanh(g), h' = s(p) tanh(c'),   (3) o = h';
 * backwards (3) dh' += the gradient of o, (2) dz and dc from the derivatives s' = s (1 - s), tanh' = 1 - tanh^2,
 * (1) dx = dz, dU = dz h^T, dh = U^T dz.
 */
#include "replay.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

typedef struct context {
    rung_back_head at;
    size_t in_x, in_u;
    const float *U;
    float *dU;     /* NULL: not wanted */
    float *z, *dz; /* [rows] */
} context;

static void absorb(float *h, size_t t, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    rung_rnn_absorb_f32(h, rung_back_row(b->in[c->in_x], &c->at, t, rung_rnn_rows(b->conf)), c->U, b->conf, c->z);
}

/* (3) */
static void undo_read(float *dh, size_t t, const context *c)
{
    size_t dv = c->at.b->conf->dv;
    rung_kernels_get()->axpy(dh, 1, rung_back_row(c->at.b->g, &c->at, t, dv), dv);
}

static void finish(float *dh, const float *h, const void *c_)
{
    const context *c = c_;
    (void)h;
    for (size_t t = 0; t < c->at.b->tokens; t++) undo_read(dh, t, c);
}

/* (2) of channel i of an LSTM. dstate contains dh, then dc, which becomes the gradient of the previous c. */
static void undo_lstm(float *dstate, const float *before, const float *after, size_t i, const context *c)
{
    size_t dv = c->at.b->conf->dv;
    float in = rung_rnn_sigmoid(c->z[i]), keep = rung_rnn_sigmoid(c->z[dv + i]), new = tanhf(c->z[2 * dv + i]),
          out = rung_rnn_sigmoid(c->z[3 * dv + i]), cell = tanhf(after[dv + i]), dh = dstate[i];
    float dc = dstate[dv + i] + dh * out * (1 - cell * cell);
    c->dz[i] = dc * new *in *(1 - in);
    c->dz[dv + i] = dc * before[dv + i] * keep * (1 - keep);
    c->dz[2 * dv + i] = dc * in * (1 - new *new);
    c->dz[3 * dv + i] = dh * cell * out * (1 - out);
    dstate[dv + i] = dc * keep;
}

static void undo(float *dstate, const float *before, const float *after, size_t t, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    const rung_kernels *kern = rung_kernels_get();
    size_t dv = b->conf->dv, rows = rung_rnn_rows(b->conf);
    float *dx = rung_back_din(b->din[c->in_x], &c->at, t, rows);
    bool lstm = rung_rnn_is_lstm(b->conf);
    if (b->conf->causal) undo_read(dstate, t, c);
    if (lstm) rung_rnn_sums_f32(c->z, before, rung_back_row(b->in[c->in_x], &c->at, t, rows), c->U, b->conf);
    for (size_t i = 0; i < dv; i++)
        if (lstm)
            undo_lstm(dstate, before, after, i, c);
        else
            c->dz[i] = dstate[i] * (1 - after[i] * after[i]);
    memset(dstate, 0, dv * sizeof *dstate);
    for (size_t i = 0; i < rows; i++) {
        kern->axpy(dstate, c->dz[i], c->U + i * dv, dv);
        if (c->dU) kern->axpy(c->dU + i * dv, c->dz[i], before, dv);
    }
    if (dx) kern->axpy(dx, 1, c->dz, rows);
}

size_t rung_rnn_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(2 * rung_rnn_rows(conf), rung_replay_scratch(rung_rnn_head_size(conf), tokens));
}

void rung_rnn_backward_f32(const rung_backward *b, size_t head)
{
    size_t rows = rung_rnn_rows(b->conf), matrix = rows * b->conf->dv;
    bool lstm = rung_rnn_is_lstm(b->conf);
    context c = {.at = {b, head},
                 .in_x = lstm ? RNN_X4 : RNN_X,
                 .in_u = lstm ? RNN_U4 : RNN_U,
                 .z = b->scratch,
                 .dz = b->scratch + rows};
    rung_replay r = {.size = rung_rnn_head_size(b->conf),
                     .steps = b->tokens,
                     .absorb = absorb,
                     .finish = b->conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    c.U = b->in[c.in_u] + head * matrix;
    c.dU = b->din[c.in_u] ? b->din[c.in_u] + head * matrix : NULL;
    rung_replay_head(&r, b, head, c.dz + rows);
}
