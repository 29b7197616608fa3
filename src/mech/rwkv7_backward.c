/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of RWKV-7, token by token. Forwards
 *   (1) s = S^T a,   (2) S' = diag(w) S + b s^T + k v^T,   (3) o = S'^T r;
 * backwards, with D the gradient of S' and E that of S,
 *   (3) dr = S' g, D += r g^T;   (2) dw_j = S_j . D_j, db = D s, ds = D^T b, dk = D v, dv = D^T k;
 *   (1) da = S ds, E = diag(w) D + a ds^T.
 */
#include "matrix.h"
#include "replay.h"

#include "rung/kern.h"

typedef struct context {
    rung_back_head at; /* must be first, for rung_back_row */
    float *s, *ds;     /* [dv] */
} context;

static void absorb(float *S, size_t t, const void *c_)
{
    const context *c = c_;
    const rung_mech_conf *conf = c->at.b->conf;
    size_t row = t * conf->heads + c->at.head;
    rung_rwkv7_absorb_f32(S, c->at.b->in, row * conf->dk, row * conf->dv, conf, c->s);
}

/* (3) */
static void undo_read(float *D, const float *S, size_t t, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv;
    rung_matrix_undo_query_f32(rung_back_din(b->din[RWKV7_R], &c->at, t, dk), D, S,
                               rung_back_row(b->in[RWKV7_R], &c->at, t, dk), rung_back_row(b->g, &c->at, t, dv), dk,
                               dv);
}

static void finish(float *D, const float *S, const void *c_)
{
    const context *c = c_;
    for (size_t t = 0; t < c->at.b->tokens; t++) undo_read(D, S, t, c);
}

static void undo(float *D, const float *S, const float *after, size_t t, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    const rung_kernels *kern = rung_kernels_get();
    size_t dk = b->conf->dk, dv = b->conf->dv;
    const float *w = rung_back_row(b->in[RWKV7_W], &c->at, t, dk), *k = rung_back_row(b->in[RWKV7_K], &c->at, t, dk),
                *a = rung_back_row(b->in[RWKV7_A], &c->at, t, dk), *v = rung_back_row(b->in[RWKV7_V], &c->at, t, dv);
    float *d_w = rung_back_din(b->din[RWKV7_W], &c->at, t, dk), *d_k = rung_back_din(b->din[RWKV7_K], &c->at, t, dk),
          *d_a = rung_back_din(b->din[RWKV7_A], &c->at, t, dk), *d_b = rung_back_din(b->din[RWKV7_B], &c->at, t, dk),
          *d_v = rung_back_din(b->din[RWKV7_V], &c->at, t, dv);
    if (b->conf->causal) undo_read(D, after, t, c);
    rung_matrix_query_f32(c->s, S, a, dk, dv);
    rung_matrix_query_f32(c->ds, D, rung_back_row(b->in[RWKV7_B], &c->at, t, dk), dk, dv);
    for (size_t j = 0; j < dk; j++) {
        float *D_j = D + j * dv;
        const float *S_j = S + j * dv;
        if (d_w) d_w[j] += kern->dot(S_j, D_j, dv);
        if (d_b) d_b[j] += kern->dot(D_j, c->s, dv);
        if (d_k) d_k[j] += kern->dot(D_j, v, dv);
        if (d_a) d_a[j] += kern->dot(S_j, c->ds, dv);
        if (d_v) kern->axpy(d_v, k[j], D_j, dv);
        kern->fade_axpy(D_j, w[j], a[j], c->ds, dv);
    }
}

size_t rung_rwkv7_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(2 * conf->dv, rung_replay_scratch(conf->dk * conf->dv, tokens));
}

void rung_rwkv7_backward_f32(const rung_backward *b, size_t head)
{
    size_t dv = b->conf->dv;
    context c = {{b, head}, b->scratch, b->scratch + dv};
    rung_replay r = {.size = b->conf->dk * dv,
                     .steps = b->tokens,
                     .absorb = absorb,
                     .finish = b->conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    rung_replay_head(&r, b, head, b->scratch + 2 * dv);
}
