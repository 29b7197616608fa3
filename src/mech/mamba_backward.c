/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of the selective scan, token by token, channels as lanes. Forwards
 *   (1) e_nc = e^{dt_c A_cn},   (2) h'_n = e_n h_n + (dt x) B_n,   (3) y = sum_n C_n h'_n + D x;
 * backwards, with D_n the gradient of h'_n,
 *   (3) dC_n = h'_n . g, D_n += C_n g, dD = x g, dx = D g;
 *   (2) dB_n = D_n . (dt x), d(dt x) = sum_n B_n D_n, de_n = D_n h_n, dh_n = e_n D_n;
 *   (1) f_n = de_n e_n: ddt = sum_n f_n A_n, dA_n = f_n dt.
 */
#include "replay.h"

#include "rung/kern.h"

#include <string.h>

typedef struct context {
    rung_back_head at;
    float *At, *dAt; /* [dk][dv]: A transposed, and its gradient in this stretch */
    float *work;     /* two rows of lanes */
    float *dpush;    /* [dv] gradient of dt x */
} context;

static void absorb(float *h, size_t t, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    rung_mamba_absorb_f32(h, rung_back_row(b->in[MAMBA_X], &c->at, t, b->conf->dv),
                          rung_back_row(b->in[MAMBA_DT], &c->at, t, b->conf->dv),
                          rung_back_row(b->in[MAMBA_B], &c->at, t, b->conf->dk), c->At, b->conf, c->work);
}

static void add_product(float *to, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; to && i < n; i++) to[i] += a[i] * b[i];
}

/* (3) */
static void undo_read(float *dh, const float *h, size_t t, const context *c)
{
    const rung_backward *b = c->at.b;
    const rung_kernels *kern = rung_kernels_get();
    size_t dk = b->conf->dk, dv = b->conf->dv;
    const float *g = rung_back_row(b->g, &c->at, t, dv), *C = rung_back_row(b->in[MAMBA_C], &c->at, t, dk);
    float *dC = rung_back_din(b->din[MAMBA_C], &c->at, t, dk);
    add_product(rung_back_din(b->din[MAMBA_D], &c->at, 0, dv), rung_back_row(b->in[MAMBA_X], &c->at, t, dv), g, dv);
    add_product(rung_back_din(b->din[MAMBA_X], &c->at, t, dv), rung_back_row(b->in[MAMBA_D], &c->at, 0, dv), g, dv);
    for (size_t n = 0; n < dk; n++) {
        if (dC) dC[n] += kern->dot(h + n * dv, g, dv);
        kern->axpy(dh + n * dv, C[n], g, dv);
    }
}

static void finish(float *dh, const float *h, const void *c_)
{
    const context *c = c_;
    for (size_t t = 0; t < c->at.b->tokens; t++) undo_read(dh, h, t, c);
}

/* (2) and (1) of one state row n of all channels. */
static void undo_row(float *dh, const float *h, const float *dt, float *ddt, size_t n, const context *c)
{
    size_t dv = c->at.b->conf->dv;
    const float *A = c->At + n * dv;
    float *dA = c->dAt + n * dv, *e = c->work;
    for (size_t i = 0; i < dv; i++) e[i] = dt[i] * A[i];
    rung_kernels_get()->exp(e, e, dv);
    for (size_t i = 0; i < dv; i++) {
        dh[i] *= e[i];
        float f = dh[i] * h[i];
        dA[i] += f * dt[i];
        if (ddt) ddt[i] += f * A[i];
    }
}

static void undo(float *dh, const float *before, const float *after, size_t t, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    const rung_kernels *kern = rung_kernels_get();
    size_t dk = b->conf->dk, dv = b->conf->dv;
    const float *x = rung_back_row(b->in[MAMBA_X], &c->at, t, dv), *dt = rung_back_row(b->in[MAMBA_DT], &c->at, t, dv),
                *B = rung_back_row(b->in[MAMBA_B], &c->at, t, dk);
    float *dB = rung_back_din(b->din[MAMBA_B], &c->at, t, dk), *ddt = rung_back_din(b->din[MAMBA_DT], &c->at, t, dv),
          *push = c->work + dv;
    if (b->conf->causal) undo_read(dh, after, t, c);
    for (size_t i = 0; i < dv; i++) push[i] = dt[i] * x[i];
    memset(c->dpush, 0, dv * sizeof *c->dpush);
    for (size_t n = 0; n < dk; n++) {
        if (dB) dB[n] += kern->dot(dh + n * dv, push, dv);
        kern->axpy(c->dpush, B[n], dh + n * dv, dv);
        undo_row(dh + n * dv, before + n * dv, dt, ddt, n, c);
    }
    add_product(rung_back_din(b->din[MAMBA_X], &c->at, t, dv), dt, c->dpush, dv);
    add_product(ddt, x, c->dpush, dv);
}

size_t rung_mamba_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t size = conf->dk * conf->dv;
    return size_plus(2 * size + 3 * conf->dv, rung_replay_scratch(size, tokens));
}

void rung_mamba_backward_f32(const rung_backward *b, size_t head)
{
    size_t dk = b->conf->dk, dv = b->conf->dv, size = dk * dv;
    context c = {{b, head}, b->scratch, b->scratch + size, b->scratch + 2 * size, b->scratch + 2 * size + 2 * dv};
    float *dA = b->din[MAMBA_A] ? b->din[MAMBA_A] + head * size : NULL;
    rung_replay r = {.size = size,
                     .steps = b->tokens,
                     .absorb = absorb,
                     .finish = b->conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    rung_mamba_transpose_f32(c.At, b->in[MAMBA_A] + head * size, b->conf);
    memset(c.dAt, 0, size * sizeof *c.dAt);
    rung_replay_head(&r, b, head, c.dpush + dv);
    for (size_t i = 0; dA && i < dv; i++)
        for (size_t n = 0; n < dk; n++) dA[i * dk + n] += c.dAt[n * dv + i];
}
