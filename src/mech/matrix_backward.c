/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of the mechanisms in matrix.c, chunk by chunk, in the notation of its head. Forwards
 *   (1) u_t = beta_t r_t, r_t = v_t - (what k_t recalls, s < t), or u_t = v_t;   (2) o_t = (what q_t recalls, s <= t);
 *   (3) S_C = E_C0 S_0 + sum_s (E_Cs k_s) u_s^T,
 * where x recalls y = S_0^T (E_t0 x) + sum_s (k_s . E_ts x) u_s. A recall whose y has the gradient d gives
 *   dx = E_t0 (S_0 d) + sum_s E_ts k_s (u_s . d),   dk_s = E_ts x (u_s . d),   du_s = (k_s . E_ts x) d,   dS_0 = (E_t0 x) d^T.
 * Backwards: (3) with D the gradient of S_C, du_s = D^T (E_Cs k_s), dk_s = E_Cs (D u_s), dS_0 = E_C0 D; then the tokens from
 * the last to the first: (2) with d = g_t; (1) du_t is complete, dbeta_t = du_t . r_t, dv_t = beta_t du_t, d = -dv_t. This
 * is the transposed triangular system of the WY form.
 *
 * g_r stands in the exponent of every E_ts with s < r <= t, so dg_r is the sum of E_ts dE_ts over these pairs. They are
 * added up in two sweeps, over s first; no difference of prefix sums, which would lose a small one behind a large one.
 */
#include "matrix_chunk.h"
#include "replay.h"

#include <string.h>

typedef struct context {
    rung_back_head at;
    matrix_chunk chunk; /* buffers; rows and length are those of a step */
    float *du;          /* [n][dv] */
    float *sum;         /* [dg] E_ts dE_ts of the rows so far */
    float *m;           /* [dk] */
    float *unwanted;    /* where gradients go that nobody wants: [max(dk, dv)] */
} context;

/* One chunk on its way back; d* point to the head's part of its first token. */
typedef struct step {
    const context *c;
    matrix_chunk k; /* the chunk */
    const float *g; /* NULL: an encoder, whose reads have been undone */
    float *dq, *dk, *dv, *dbeta, *dg;
} step;

static matrix_chunk chunk_at(const context *c, size_t number)
{
    const rung_backward *b = c->at.b;
    size_t most = rung_matrix_chunk_tokens(b->conf), token = number * most;
    matrix_chunk k = c->chunk;
    k.r = (rows_f32)HEAD_ROWS_INIT(b->in, c->at.head, token, b->conf);
    k.n = size_min(most, b->tokens - token);
    return k;
}

static void enter_all(const matrix_chunk *k, const float *S)
{
    rung_matrix_chunk_begin(k);
    for (size_t t = 0; t < k->n; t++) rung_matrix_chunk_enter(k, S, t);
}

static void absorb(float *S, size_t number, const void *c_)
{
    matrix_chunk k = chunk_at(c_, number);
    enter_all(&k, S);
    rung_matrix_chunk_leave(S, &k);
}

static float *row_of(float *d, size_t t, size_t row, const step *p)
{
    return d ? d + t * row : p->c->unwanted;
}

/* ---- decays ------------------------------------------------------------------------------------------------------------ */

/* All pairs so far begin before token s: its g is in their exponents. */
static void pass_decay(size_t s, const step *p)
{
    float *dg = row_of(p->dg, s, p->k.r.g_row, p);
    for (size_t j = 0; j < p->k.dg; j++) dg[j] += p->c->sum[j];
}

/* dx += E_ts m, and the product of E_ts x m joins the sum. */
static void undo_fade(float *dx, const float *x, const float *m, size_t t, size_t row, const step *p)
{
    const float *E = chunk_decay(&p->k, t, row);
    float *sum = p->c->sum;
    if (p->k.dg == 0) {
        p->k.kern->axpy(dx, 1, m, p->k.dk);
    } else if (!p->k.channels) {
        p->k.kern->axpy(dx, *E, m, p->k.dk);
        *sum += *E * p->k.kern->dot(x, m, p->k.dk);
    } else {
        for (size_t j = 0; j < p->k.dk; j++) {
            float e = E[j] * m[j];
            dx[j] += e;
            sum[j] += e * x[j];
        }
    }
}

/* ---- one recall -------------------------------------------------------------------------------------------------------- */

/* out = S y */
static void rows_times(float *out, const float *S, const float *y, const matrix_chunk *k)
{
    for (size_t j = 0; j < k->dk; j++) out[j] = k->kern->dot(S + j * k->dv, y, k->dv);
}

static void undo_pair(float *dx, const float *x, const float *d, size_t t, size_t s, const step *p)
{
    const matrix_chunk *k = &p->k;
    const float *key = k->r.k + s * k->r.key_row, *faded = rung_matrix_chunk_fade(k, x, t, s + 1);
    float *m = p->c->m, met = k->kern->dot(k->u + s * k->dv, d, k->dv);
    k->kern->axpy(p->c->du + s * k->dv, k->kern->dot(key, faded, k->dk), d, k->dv);
    k->kern->axpy(row_of(p->dk, s, k->r.key_row, p), met, faded, k->dk);
    for (size_t j = 0; j < k->dk; j++) m[j] = met * key[j];
    undo_fade(dx, x, m, t, s + 1, p);
}

/* x of token t has recalled y, with gradient d, from S_0 and `count` tokens; dS is the gradient of S_0. */
static void undo_recall(float *dx, float *dS, const float *S, const float *x, const float *d, size_t t, size_t count,
                        const step *p)
{
    const matrix_chunk *k = &p->k;
    memset(p->c->sum, 0, k->dg * sizeof *p->c->sum);
    rung_matrix_add_f32(dS, rung_matrix_chunk_fade(k, x, t, 0), d, k->dk, k->dv);
    rows_times(p->c->m, S, d, k);
    undo_fade(dx, x, p->c->m, t, 0, p);
    for (size_t s = 0; s <= t; s++) {
        pass_decay(s, p);
        if (s < count) undo_pair(dx, x, d, t, s, p);
    }
}

/* ---- one chunk --------------------------------------------------------------------------------------------------------- */

/* (3), where the rows of S_0 and the keys fade up to the end of the chunk. */
static void undo_leave(float *dS, const float *S, const step *p)
{
    const matrix_chunk *k = &p->k;
    size_t last = k->n - 1;
    float *sum = p->c->sum;
    memset(sum, 0, k->dg * sizeof *sum);
    for (size_t j = 0; k->dg && j < k->dk; j++) {
        size_t at = k->channels ? j : 0;
        sum[at] += chunk_decay(k, last, 0)[at] * k->kern->dot(S + j * k->dv, dS + j * k->dv, k->dv);
    }
    for (size_t s = 0; s < k->n; s++) {
        const float *key = k->r.k + s * k->r.key_row;
        pass_decay(s, p);
        rung_matrix_query_f32(p->c->du + s * k->dv, dS, rung_matrix_chunk_fade(k, key, last, s + 1), k->dk, k->dv);
        rows_times(p->c->m, dS, k->u + s * k->dv, k);
        undo_fade(row_of(p->dk, s, k->r.key_row, p), key, p->c->m, last, s + 1, p);
    }
    rung_matrix_fade_f32(dS, k->dg ? k->exponent : NULL, k->channels, k->dk, k->dv);
}

/* (2) and (1). */
static void undo_token(float *dS, const float *S, size_t t, const step *p)
{
    const matrix_chunk *k = &p->k;
    const float *q = k->r.q + t * k->r.key_row, *key = k->r.k + t * k->r.key_row;
    float *du = p->c->du + t * k->dv, *dv = row_of(p->dv, t, k->r.value_row, p);
    if (p->g) undo_recall(row_of(p->dq, t, k->r.key_row, p), dS, S, q, p->g + t * k->r.value_row, t, t + 1, p);
    if (!k->r.beta) {
        k->kern->axpy(dv, 1, du, k->dv);
        return;
    }
    float beta = k->r.beta[t * k->r.beta_row];
    *row_of(p->dbeta, t, k->r.beta_row, p) += k->kern->dot(du, k->residual + t * k->dv, k->dv);
    k->kern->axpy(dv, beta, du, k->dv);
    k->kern->scale(du, -beta, k->dv);
    undo_recall(row_of(p->dk, t, k->r.key_row, p), dS, S, key, du, t, t, p);
}

static void undo(float *dS, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    const rung_mech_conf *conf = b->conf;
    size_t token = number * rung_matrix_chunk_tokens(conf), dg = rung_matrix_decay_size(conf);
    step p = {.c = c,
              .k = chunk_at(c, number),
              .g = conf->causal ? rung_back_row(b->g, &c->at, token, conf->dv) : NULL,
              .dq = rung_back_din(b->din[IN_Q], &c->at, token, conf->dk),
              .dk = rung_back_din(b->din[IN_K], &c->at, token, conf->dk),
              .dv = rung_back_din(b->din[IN_V], &c->at, token, conf->dv)};
    if (p.k.r.beta) p.dbeta = rung_back_din(b->din[IN_BETA], &c->at, token, 1);
    if (dg) p.dg = rung_back_din(b->din[place_of_g(conf)], &c->at, token, dg);
    (void)after;
    enter_all(&p.k, S);
    undo_leave(dS, S, &p);
    for (size_t t = p.k.n; t-- > 0;) undo_token(dS, S, t, &p);
}

/* An encoder has read the last state only. */
static void finish(float *dS, const float *S, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv;
    for (size_t t = 0; t < b->tokens; t++)
        rung_matrix_undo_query_f32(rung_back_din(b->din[IN_Q], &c->at, t, dk), dS, S,
                                   rung_back_row(b->in[IN_Q], &c->at, t, dk), rung_back_row(b->g, &c->at, t, dv), dk,
                                   dv);
}

/* ---- one head ---------------------------------------------------------------------------------------------------------- */

static size_t wide(const rung_mech_conf *conf)
{
    return conf->dk > conf->dv ? conf->dk : conf->dv;
}

/* u, r, du; exponents and all exponentials; a faded row, m, and the sums of the decays. */
static size_t work(const rung_mech_conf *conf)
{
    size_t n = rung_matrix_chunk_tokens(conf);
    return 3 * n * conf->dv + (n + 1) * rung_matrix_exponents(conf) + 2 * conf->dk + rung_matrix_decay_size(conf) +
           wide(conf);
}

static size_t steps_of(size_t tokens, const rung_mech_conf *conf)
{
    size_t n = rung_matrix_chunk_tokens(conf);
    return tokens / n + (tokens % n != 0);
}

size_t rung_matrix_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(work(conf), rung_replay_scratch(conf->dk * conf->dv, steps_of(tokens, conf)));
}

void rung_matrix_backward_f32(const rung_backward *b, size_t head)
{
    const rung_mech_conf *conf = b->conf;
    size_t n = rung_matrix_chunk_tokens(conf), values = n * conf->dv;
    context c = {.at = {b, head},
                 .chunk = {.kern = rung_kernels_get(),
                           .dk = conf->dk,
                           .dv = conf->dv,
                           .dg = rung_matrix_decay_size(conf),
                           .channels = rung_matrix_kind(conf).decay == DECAY_CHANNEL,
                           .u = b->scratch,
                           .residual = b->scratch + values,
                           .exponent = b->scratch + 3 * values,
                           .E_step = rung_matrix_exponents(conf)},
                 .du = b->scratch + 2 * values};
    c.chunk.E = c.chunk.exponent + rung_matrix_exponents(conf);
    c.chunk.faded = c.chunk.E + n * c.chunk.E_step;
    c.m = c.chunk.faded + conf->dk;
    c.sum = c.m + conf->dk;
    c.unwanted = c.sum + c.chunk.dg;
    rung_replay r = {.size = conf->dk * conf->dv,
                     .steps = steps_of(b->tokens, conf),
                     .absorb = absorb,
                     .finish = conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    rung_replay_head(&r, b, head, b->scratch + work(conf));
}
