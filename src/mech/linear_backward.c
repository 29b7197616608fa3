/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of linear attention, chunk by chunk. With p_t = phi(q_t), f_s = phi(k_s) and S_0, z_0 before the chunk,
 * forwards
 *   (1) p_t, f_s,   (2) w_ts = p_t . f_s,
 *   (3) n_t = S_0^T p_t + sum_{s<=t} w_ts v_s, y_t = z_0 . p_t + sum_{s<=t} w_ts,
 *   (4) o_t = n_t / y_t (norm=0: n_t),   (5) S = S_0 + sum_s f_s v_s^T, z = z_0 + sum_s f_s;
 * backwards, with D, d the gradients of S and z, all as products of matrices of a chunk,
 *   (5) df_s = D v_s + d, dv_s = D^T f_s;   (4) dn_t = g_t / y_t, dy_t = -(g_t . o_t) / y_t;
 *   (3) dw_ts = v_s . dn_t + dy_t, dv_s = w_ts dn_t, dp_t = S_0 dn_t + z_0 dy_t, D += p_t dn_t^T, d += p_t dy_t;
 *   (2) dp_t = sum_s dw_ts f_s, df_s = sum_t dw_ts p_t;   (1) the derivative of phi.
 */
#include "linear.h"
#include "replay.h"

#include <string.h>

/* What the states are to the replay: S in panels, then z. */
typedef struct context {
    rung_back_head at;
    linear_chunk chunk;
    float *flipped;   /* panels of S^T or D^T */
    float *flipped_v; /* panels of v^T */
    float *features;  /* panels of f or p */
    float *upstream;  /* panels of dn */
    float *dn;        /* [CHUNK][dv] */
    float *dp, *df;   /* [CHUNK][r] */
    float *dA;
    float *dy; /* [CHUNK] */
} context;

static size_t state_size(const rung_mech_conf *conf)
{
    size_t r = rung_linear_features(conf);
    return rung_panels_size(r, conf->dv) + rung_linear_has_norm(conf) * r;
}

/* States of more features than this are too large to keep them all. */
static bool keeps_all(const rung_mech_conf *conf)
{
    return rung_linear_phi(conf) != PHI_TAYLOR2;
}

/* (1): dx += phi'(x)^T dphi; phi = phi(x). */
static void undo_phi(float *dx, const float *x, const float *phi, const float *dphi, const rung_mech_conf *conf)
{
    size_t d = conf->dk;
    if (!dx) return;
    switch (rung_linear_phi(conf)) {
    case PHI_ELU1:
        rung_chunk_kernels_get()->undo_elu1(dx, x, phi, dphi, d);
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

static linear_chunk chunk_at(size_t number, const context *c)
{
    linear_chunk k = c->chunk;
    rung_linear_chunk_rows(&k, c->at.b->in, number * CHUNK, c->at.b->tokens, c->at.head, c->at.b->conf);
    return k;
}

static float *z_of(float *S, const context *c)
{
    const rung_mech_conf *conf = c->at.b->conf;
    return rung_linear_has_norm(conf) ? S + rung_panels_size(c->chunk.r, conf->dv) : NULL;
}

/* The rows of x before those of the chunk; NULL: none. */
static rung_chunk_rows rows_before(const float *x, size_t number, size_t width, const context *c)
{
    return chunk_rows_before(rung_back_row(x, &c->at, number * CHUNK, width), c->at.b->conf->heads * width,
                             number ? CHUNK : 0, width);
}

static void absorb(float *S, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    linear_chunk k = chunk_at(number, c);
    k.next = size_min(CHUNK, b->tokens - number * CHUNK - k.n);
    rung_linear_chunk_enter(&k, b->conf, false);
    rung_linear_chunk_leave(S, z_of(S, c), false, NULL, &k);
}

/* (1) of all tokens of the chunk. */
static void undo_all_phi(size_t which, const float *x, const float *phi, const float *dphi, size_t number,
                         const linear_chunk *k, const context *c)
{
    const rung_mech_conf *conf = c->at.b->conf;
    float *dx = rung_back_din(c->at.b->din[which], &c->at, number * CHUNK, conf->dk);
    for (size_t t = 0; dx && t < k->n; t++)
        undo_phi(dx + t * k->q_row, x + t * k->q_row, phi + t * k->r, dphi + t * k->r, conf);
}

/* (4): c->dn, c->dy and the panels of dn. */
static void undo_norm(const float *z, bool inside, size_t number, const linear_chunk *k, const context *c)
{
    const rung_backward *b = c->at.b;
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const float *g = rung_back_row(b->g, &c->at, number * CHUNK, k->dv),
                *o = rung_back_row(b->o, &c->at, number * CHUNK, k->dv);
    rung_linear_chunk_norms(k, z, inside);
    kern->scale_rows(c->dn, k->dv, g, k->v_row, z ? k->inverse : k->one, k->n, k->dv);
    rung_kernels_get()->pack(c->upstream, c->dn, k->n, k->dv, k->dv, 1);
    if (!z) return;
    kern->dot_rows(c->dy, c->dn, k->dv, o, k->v_row, k->n, k->dv);
    for (size_t t = 0; t < k->n; t++) c->dy[t] = -c->dy[t];
}

/* (3), what p reads of the state: c->dp becomes its part. */
static void undo_state(float *D, const float *S, const float *z, bool more, const linear_chunk *k, const context *c)
{
    /* more: the state before that of the chunk stands before it */
    const size_t rows = more && keeps_all(c->at.b->conf) ? state_size(c->at.b->conf) / RUNG_PANEL : 0;
    const rung_chunk_rows next[RUNG_CHUNK_ERRANDS] = {chunk_rows_before(S, RUNG_PANEL, rows, RUNG_PANEL)};
    float *d = z_of(D, c);
    rung_chunk_flip(c->flipped, S, k->r, k->dv);
    rung_chunk_product_asking(c->dp, k->r, chunk_rows(c->dn, k->dv), c->flipped, k->dv, k->n, k->r, k->dv, false, next);
    rung_chunk_absorb(D, chunk_rows(k->p, k->r), c->upstream, k->n, k->r, k->dv);
    if (!z) return;
    rung_chunk_kernels_get()->add_rows(c->dp, k->r, z, 0, c->dy, k->n, k->r);
    rung_chunk_kernels_get()->add_rows(d, 0, k->p, k->r, c->dy, k->n, k->r);
}

/* An encoder reads the last state only. */
static void finish(float *D, const float *S, const void *c_)
{
    const context *c = c_;
    const float *z = z_of((float *)S, c);
    for (size_t number = 0; number < chunk_count(c->at.b->tokens); number++) {
        linear_chunk k = chunk_at(number, c);
        rung_linear_chunk_phi(k.p, k.q, &k, c->at.b->conf);
        undo_norm(z, false, number, &k, c);
        undo_state(D, S, z, false, &k, c);
        undo_all_phi(IN_Q, k.q, k.p, c->dp, number, &k, c);
    }
}

/* (5) */
static void undo_absorb(const float *D, float *d_v, size_t number, const linear_chunk *k, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv;
    const rung_chunk_rows inputs[RUNG_CHUNK_ERRANDS] = {
        rows_before(b->in[IN_K], number, dk, c), rows_before(b->in[IN_V], number, dv, c),
        rows_before(b->in[IN_Q], number, dk, c), rows_before(b->g, number, dv, c)};
    const rung_chunk_rows others[RUNG_CHUNK_ERRANDS] = {
        rows_before(b->din[IN_V], number, dv, c), rows_before(b->din[IN_K], number, dk, c),
        rows_before(b->din[IN_Q], number, dk, c),
        rows_before(rung_linear_has_norm(b->conf) ? b->o : NULL, number, dv, c)};
    const float *d = z_of((float *)D, c);
    rung_chunk_flip(c->flipped, D, k->r, k->dv);
    rung_chunk_product_asking(c->df, k->r, chunk_rows(k->v, k->v_row), c->flipped, k->dv, k->n, k->r, k->dv, false,
                              inputs);
    if (d) rung_chunk_kernels_get()->add_rows(c->df, k->r, d, 0, k->one, k->n, k->r);
    rung_chunk_product_asking(d_v, k->v_row, chunk_rows(k->f, k->r), D, k->r, k->n, k->dv, k->r, true, others);
}

/* (3) and (2), what the pairs of the chunk do. */
static void undo_pairs(float *d_v, const float *z, const linear_chunk *k, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    kern->pack(c->flipped_v, k->v, k->dv, k->n, 1, k->v_row);
    rung_chunk_pairs(c->dA, chunk_rows(c->dn, k->dv), c->flipped_v, k->n, k->dv);
    if (z) rung_chunk_kernels_get()->add_rows(c->dA, CHUNK, k->one, 0, c->dy, k->n, CHUNK);
    rung_chunk_kernels_get()->mask_pairs(c->dA, NULL, k->n, 0, 1);
    rung_chunk_upper(d_v, k->v_row, k->A, c->upstream, k->n, k->dv);
    kern->pack(c->features, k->f, k->n, k->r, k->r, 1);
    rung_chunk_lower(c->dp, k->r, c->dA, c->features, k->n, k->r);
    kern->pack(c->features, k->p, k->n, k->r, k->r, 1);
    rung_chunk_upper(c->df, k->r, c->dA, c->features, k->n, k->r);
}

static void undo(float *D, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_mech_conf *conf = c->at.b->conf;
    linear_chunk k = chunk_at(number, c);
    const float *z = z_of((float *)S, c);
    float *d_v = rung_back_din(c->at.b->din[IN_V], &c->at, number * CHUNK, conf->dv);
    (void)after;
    rung_linear_chunk_enter(&k, conf, conf->causal);
    undo_absorb(D, d_v, number, &k, c);
    if (conf->causal) {
        undo_norm(z, true, number, &k, c);
        undo_state(D, S, z, number, &k, c);
        undo_pairs(d_v, z, &k, c);
        undo_all_phi(IN_Q, k.q, k.p, c->dp, number, &k, c);
    }
    undo_all_phi(IN_K, k.k, k.f, c->df, number, &k, c);
}

/* ---- one head ---------------------------------------------------------------------------------------------------- */

static size_t work(const rung_mech_conf *conf)
{
    size_t r = rung_linear_features(conf), dv = conf->dv;
    return rung_linear_chunk_size(conf) + rung_panels_size(dv, r) + rung_panels_size(dv, CHUNK) +
           rung_panels_size(CHUNK, r) + rung_panels_size(CHUNK, dv) + CHUNK * (dv + 2 * r) + PAIRS + CHUNK;
}

static size_t replay_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return (keeps_all(conf) ? rung_replay_scratch_all : rung_replay_scratch)(state_size(conf), chunk_count(tokens));
}

/* The work, a state and its gradient to begin with, and the replay. */
size_t rung_linear_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(work(conf) + 2 * state_size(conf), replay_scratch(conf, tokens));
}

static context context_new(const rung_backward *b, size_t head)
{
    size_t r = rung_linear_features(b->conf), dv = b->conf->dv;
    context c = {.at = {b, head}, .chunk = rung_linear_chunk_new(b->conf, b->scratch)};
    c.flipped = b->scratch + rung_linear_chunk_size(b->conf);
    c.flipped_v = c.flipped + rung_panels_size(dv, r);
    c.features = c.flipped_v + rung_panels_size(dv, CHUNK);
    c.upstream = c.features + rung_panels_size(CHUNK, r);
    c.dn = c.upstream + rung_panels_size(CHUNK, dv);
    c.dp = c.dn + CHUNK * dv;
    c.df = c.dp + CHUNK * r;
    c.dA = c.df + CHUNK * r;
    c.dy = c.dA + PAIRS;
    return c;
}

/* From [r][dv] and z to panels and z. */
static void open_state(float *S, const float *state, const context *c)
{
    size_t r = c->chunk.r, dv = c->chunk.dv;
    float *z = z_of(S, c);
    rung_chunk_open(S, state, r, dv);
    if (z && state) memcpy(z, state + r * dv, r * sizeof *z);
    if (z && !state) memset(z, 0, r * sizeof *z);
}

static void close_state(float *state, const float *S, const context *c)
{
    size_t r = c->chunk.r, dv = c->chunk.dv;
    const float *z = z_of((float *)S, c);
    rung_chunk_close(state, S, r, dv);
    if (z) memcpy(state + r * dv, z, r * sizeof *z);
}

void rung_linear_backward_f32(const rung_backward *b, size_t head)
{
    context c = context_new(b, head);
    size_t size = state_size(b->conf), place = head * rung_linear_head_size(b->conf);
    float *start = b->scratch + work(b->conf), *D = start + size;
    rung_replay replay = {.size = size,
                          .steps = chunk_count(b->tokens),
                          .keeps_all = keeps_all(b->conf),
                          .absorb = absorb,
                          .finish = b->conf->causal ? NULL : finish,
                          .undo = undo,
                          .context = &c};
    open_state(start, b->state ? b->state + place : NULL, &c);
    open_state(D, b->dstate ? b->dstate + place : NULL, &c);
    rung_replay_run(&replay, start, D, D + size);
    if (b->dstate) close_state(b->dstate + place, D, &c);
}
