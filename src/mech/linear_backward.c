/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of linear attention, chunk by chunk. With p_t = phi(q_t), f_s = phi(k_s) and S_0, z_0 before the chunk, forwards
 *   (1) p_t, f_s,   (2) w_ts = p_t . f_s,   (3) n_t = S_0^T p_t + sum_{s<=t} w_ts v_s, y_t = z_0 . p_t + sum_{s<=t} w_ts,
 *   (4) o_t = n_t / y_t (norm=0: n_t),   (5) S = S_0 + sum_s f_s v_s^T, z = z_0 + sum_s f_s;
 * backwards, with D, d the gradients of S and z,
 *   (5) df_s = D v_s + d, dv_s = D^T f_s;   (4) dn_t = g_t / y_t, dy_t = -(g_t . o_t) / y_t;
 *   (3) dw_ts = v_s . dn_t + dy_t, dv_s = w_ts dn_t, dp_t = S_0 dn_t + z_0 dy_t, D += p_t dn_t^T, d += p_t dy_t;
 *   (2) dp_t = sum_s dw_ts f_s, df_s = sum_t dw_ts p_t;   (1) the derivative of phi.
 */
#include "linear.h"
#include "matrix.h"
#include "replay.h"

#include "rung/kern.h"

#include <string.h>

typedef struct context {
    rung_back_head at;
    size_t r;
    float *f, *df; /* [CHUNK][r] */
    float *p, *dp; /* [r] of one query */
    float *w;      /* [CHUNK] */
    float *dn;     /* [dv] */
} context;

static const float *input(const context *c, size_t which, size_t t)
{
    return rung_back_row(c->at.b->in[which], &c->at, t, which == IN_V ? c->at.b->conf->dv : c->at.b->conf->dk);
}

static float *gradient(const context *c, size_t which, size_t t)
{
    return rung_back_din(c->at.b->din[which], &c->at, t, which == IN_V ? c->at.b->conf->dv : c->at.b->conf->dk);
}

/* (1): dx += phi'(x)^T dphi; phi = phi(x). */
static void undo_phi(float *dx, const float *x, const float *phi, const float *dphi, const rung_mech_conf *conf)
{
    size_t d = conf->dk;
    if (!dx) return;
    switch (rung_linear_phi(conf)) {
    case PHI_ELU1:
        for (size_t i = 0; i < d; i++) dx[i] += x[i] > 0 ? dphi[i] : phi[i] * dphi[i];
        break;
    case PHI_RELU:
        for (size_t i = 0; i < d; i++) dx[i] += x[i] > 0 ? dphi[i] : 0;
        break;
    case PHI_IDENTITY:
        for (size_t i = 0; i < d; i++) dx[i] += dphi[i];
        break;
    case PHI_TAYLOR2:
        for (size_t i = 0; i < d; i++) {
            float sum = 0;
            for (size_t j = 0; j < d; j++) sum += (dphi[1 + d + i * d + j] + dphi[1 + d + j * d + i]) * x[j];
            dx[i] += dphi[1 + i] + sum * 0.70710678f;
        }
        break;
    }
}

/* The keys of a chunk, from token `first` on. */
static size_t chunk_keys(size_t first, const context *c)
{
    size_t n = size_min(CHUNK, c->at.b->tokens - first);
    for (size_t s = 0; s < n; s++) rung_linear_phi_f32(c->f + s * c->r, input(c, IN_K, first + s), c->at.b->conf);
    return n;
}

static void absorb(float *S, size_t number, const void *c_)
{
    const context *c = c_;
    size_t first = number * CHUNK, n = chunk_keys(first, c);
    for (size_t s = 0; s < n; s++) rung_linear_absorb_f32(S, c->f + s * c->r, input(c, IN_V, first + s), c->at.b->conf);
}

/* (4) of token t, c->dn, and dy is what comes back. */
static float undo_norm(float y, size_t t, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_backward *b = c->at.b;
    size_t dv = b->conf->dv;
    const float *g = rung_back_row(b->g, &c->at, t, dv);
    memcpy(c->dn, g, dv * sizeof *g);
    if (!rung_linear_has_norm(b->conf)) return 0;
    kern->scale(c->dn, 1 / y, dv);
    return -kern->dot(c->dn, rung_back_row(b->o, &c->at, t, dv), dv);
}

/* (3), what p recalls of the state: c->dp becomes its part. */
static void undo_state(float *D, const float *S, const float *p, float dy, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t r = c->r, dv = c->at.b->conf->dv;
    memset(c->dp, 0, r * sizeof *c->dp);
    rung_matrix_undo_query_f32(c->dp, D, S, p, c->dn, r, dv);
    if (!rung_linear_has_norm(c->at.b->conf)) return;
    kern->axpy(c->dp, dy, S + r * dv, r);
    kern->axpy(D + r * dv, dy, p, r);
}

static float state_norm(const float *S, const float *p, const context *c)
{
    const rung_mech_conf *conf = c->at.b->conf;
    return rung_linear_has_norm(conf) ? rung_kernels_get()->dot(S + c->r * conf->dv, p, c->r) : 0;
}

/* An encoder reads the last state only. */
static void finish(float *D, const float *S, const void *c_)
{
    const context *c = c_;
    for (size_t t = 0; t < c->at.b->tokens; t++) {
        const float *q = input(c, IN_Q, t);
        rung_linear_phi_f32(c->p, q, c->at.b->conf);
        float dy = undo_norm(state_norm(S, c->p, c), t, c);
        undo_state(D, S, c->p, dy, c);
        undo_phi(gradient(c, IN_Q, t), q, c->p, c->dp, c->at.b->conf);
    }
}

/* (5) of token s of the chunk. */
static void undo_absorb(const float *D, size_t first, size_t s, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_mech_conf *conf = c->at.b->conf;
    size_t r = c->r, dv = conf->dv;
    const float *v = input(c, IN_V, first + s), *f = c->f + s * r;
    float *df = c->df + s * r, *d_v = gradient(c, IN_V, first + s);
    for (size_t j = 0; j < r; j++) df[j] = kern->dot(D + j * dv, v, dv);
    if (rung_linear_has_norm(conf)) kern->axpy(df, 1, D + r * dv, r);
    for (size_t j = 0; d_v && j < r; j++) kern->axpy(d_v, f[j], D + j * dv, dv);
}

/* (4) to (1) of query t of the chunk. */
static void undo_query(float *D, const float *S, size_t first, size_t t, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t r = c->r, dv = c->at.b->conf->dv;
    const float *q = input(c, IN_Q, first + t);
    rung_linear_phi_f32(c->p, q, c->at.b->conf);
    float y = state_norm(S, c->p, c);
    for (size_t s = 0; s <= t; s++) y += c->w[s] = kern->dot(c->p, c->f + s * r, r);
    float dy = undo_norm(y, first + t, c);
    undo_state(D, S, c->p, dy, c);
    for (size_t s = 0; s <= t; s++) {
        float *d_v = gradient(c, IN_V, first + s), dw = kern->dot(input(c, IN_V, first + s), c->dn, dv) + dy;
        if (d_v) kern->axpy(d_v, c->w[s], c->dn, dv);
        kern->axpy(c->dp, dw, c->f + s * r, r);
        kern->axpy(c->df + s * r, dw, c->p, r);
    }
    undo_phi(gradient(c, IN_Q, first + t), q, c->p, c->dp, c->at.b->conf);
}

static void undo(float *D, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_mech_conf *conf = c->at.b->conf;
    size_t first = number * CHUNK, n = chunk_keys(first, c);
    (void)after;
    for (size_t s = 0; s < n; s++) undo_absorb(D, first, s, c);
    for (size_t t = 0; conf->causal && t < n; t++) undo_query(D, S, first, t, c);
    for (size_t s = 0; s < n; s++)
        undo_phi(gradient(c, IN_K, first + s), input(c, IN_K, first + s), c->f + s * c->r, c->df + s * c->r, conf);
}

static size_t steps_of(size_t tokens)
{
    return tokens / CHUNK + (tokens % CHUNK != 0);
}

/* f and df of a chunk; p, dp, w and dn of a query. */
static size_t work(const rung_mech_conf *conf)
{
    return (2 * CHUNK + 2) * rung_linear_features(conf) + CHUNK + conf->dv;
}

size_t rung_linear_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(work(conf), rung_replay_scratch(rung_linear_head_size(conf), steps_of(tokens)));
}

void rung_linear_backward_f32(const rung_backward *b, size_t head)
{
    size_t r = rung_linear_features(b->conf);
    context c = {.at = {b, head}, .r = r, .f = b->scratch, .df = b->scratch + CHUNK * r};
    c.p = c.df + CHUNK * r;
    c.dp = c.p + r;
    c.w = c.dp + r;
    c.dn = c.w + CHUNK;
    rung_replay replay = {.size = rung_linear_head_size(b->conf),
                          .steps = steps_of(b->tokens),
                          .absorb = absorb,
                          .finish = b->conf->causal ? NULL : finish,
                          .undo = undo,
                          .context = &c};
    rung_replay_head(&replay, b, head, b->scratch + work(b->conf));
}
