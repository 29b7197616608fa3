/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of log-linear attention, chunk by chunk (one token when the base corrects). Before a chunk there are matrices
 * S_m, after it matrices S'_a; every S_m and every token of the chunk ends up in one of the latter. With E_ts the decay
 * from token s to t, E_t that of all that came before the chunk, C its last token, and l the level of a bucket or a token
 * as seen from t, forwards
 *   (0) base=gdelta: S_m <- e^g S_m, h = S_m^T k, S_m <- S_m - beta k h^T, and the token's value is u = beta v;
 *   (1) o_t = sum_m E_t lambda_t^(l) (S_m^T q_t) + sum_{s<=t} E_ts lambda_t^(l) (q_t . k_s) v_s,
 *   (2) S'_a = sum of E_C S_m and of E_Cs k_s v_s^T over what ends up in it.
 * Backwards (2), (1), (0), each product by the rule for products; g_r has as gradient the sum of E dE over all E that it is
 * in, two sweeps as in matrix_backward.c.
 */
#include "loglinear.h"
#include "replay.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

typedef struct context {
    rung_back_head at;
    size_t size, most;             /* of a matrix; matrices of a state */
    float *decays;                 /* [2][CHUNK] */
    float *aged, *D;               /* [most][size]: S_m after (0), and the gradients of the S_m */
    float *u, *du, *h, *dh, *zero; /* [dv] */
    float *m;                      /* [dk] */
    float *unwanted;               /* [max(dk, dv, levels)] */
} context;

/* One chunk on its way back; d* point to the head's part of its first token, NULL: not wanted. */
typedef struct step {
    const context *c;
    loglinear_chunk k;
    size_t first; /* token of the stretch */
    float *dq, *dk, *dv, *dlambda, *dg;
    float sum; /* E dE of what precedes the token in hand */
} step;

static loglinear_chunk chunk_at(size_t number, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t n = rung_loglinear_corrects(b->conf) ? 1 : CHUNK, skip = b->pos % n;
    loglinear_chunk k =
        rung_loglinear_chunk(b->in, number ? number * n - skip : 0, b->pos, b->tokens, c->at.head, b->conf, c->decays);
    k.step = c->size;
    return k;
}

/* (0), in place; the chunk then is one without decay whose value is u. */
static void age(float *S, loglinear_chunk *k, const context *c)
{
    const rung_backward *b = c->at.b;
    if (!rung_loglinear_corrects(b->conf)) return;
    float beta = *rung_back_row(b->in[IN_BETA], &c->at, k->pos - b->pos, 1);
    rung_loglinear_age_f32(S, k, beta, c->u, c->zero, b->conf);
    k->v = c->u, k->g = NULL;
}

static void absorb(float *S, size_t number, const void *c_)
{
    const context *c = c_;
    loglinear_chunk k = chunk_at(number, c);
    age(S, &k, c);
    rung_loglinear_decays_f32(&k, k.n - 1, c->at.b->conf);
    rung_loglinear_merge_f32(S, &k, c->at.b->conf);
}

/* Number of the bucket of the token at position `at` after `end` tokens: the ones of `end` down to the first digit where
 * they differ. */
static size_t bucket(size_t at, size_t end)
{
    return rung_loglinear_matrices(end >> (rung_loglinear_bits(at ^ end) - 1)) - 1;
}

/* Position of the first token of the bucket after the one that begins at `first`. */
static size_t next_bucket(size_t first, size_t pos)
{
    return first + ((size_t)1 << (rung_loglinear_bits(pos - first) - 1));
}

static float *row_of(float *d, size_t t, size_t width, const step *p)
{
    return d ? d + t * p->c->at.b->conf->heads * width : p->c->unwanted;
}

static void pass_decay(size_t s, const step *p)
{
    if (p->k.g) *row_of(p->dg, s, 1, p) += p->sum;
}

/* m = S y */
static void rows_times(float *m, const float *S, const float *y, const rung_mech_conf *conf)
{
    for (size_t j = 0; j < conf->dk; j++) m[j] = rung_kernels_get()->dot(S + j * conf->dv, y, conf->dv);
}

/* ---- (2) --------------------------------------------------------------------------------------------------------------- */

static void undo_merge(const float *D_after, const float *S, step *p)
{
    const rung_kernels *kern = rung_kernels_get();
    const context *c = p->c;
    const rung_mech_conf *conf = c->at.b->conf;
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv, pos = p->k.pos, end = pos + p->k.n, first = 0;
    float total = p->k.total[p->k.n - 1];
    p->sum = 0;
    for (size_t m = 0; m < rung_loglinear_matrices(pos); m++, first = next_bucket(first, pos)) {
        float *D = c->D + m * c->size;
        memcpy(D, D_after + bucket(first, end) * c->size, c->size * sizeof *D);
        kern->scale(D, total, c->size);
        if (p->k.g) p->sum += kern->dot(D, S + m * c->size, c->size);
    }
    for (size_t s = 0; s < p->k.n; s++) {
        const float *D = D_after + bucket(pos + s, end) * c->size, *key = p->k.k + s * H * dk;
        float weight = p->k.weight[s], *d_v = row_of(p->dv, s, dv, p);
        pass_decay(s, p);
        rows_times(c->m, D, p->k.v + s * H * dv, conf);
        kern->axpy(row_of(p->dk, s, dk, p), weight, c->m, dk);
        for (size_t j = 0; j < dk; j++) kern->axpy(d_v, weight * key[j], D + j * dv, dv);
        p->sum += weight * kern->dot(key, c->m, dk);
    }
}

/* ---- (1) --------------------------------------------------------------------------------------------------------------- */

static void undo_read_before(const float *S, size_t t, const float *g, step *p)
{
    const rung_kernels *kern = rung_kernels_get();
    const context *c = p->c;
    const rung_mech_conf *conf = c->at.b->conf;
    size_t levels = rung_loglinear_levels(conf), row = t * conf->heads, pos = p->k.pos, first = 0;
    const float *q = p->k.q + row * conf->dk;
    for (size_t m = 0; m < rung_loglinear_matrices(pos); m++, first = next_bucket(first, pos)) {
        size_t level = rung_loglinear_weight(rung_loglinear_bits((pos + t) ^ first), conf);
        float total = p->k.total[t], weight = total * p->k.lambda[row * levels + level];
        rows_times(c->m, S + m * c->size, g, conf);
        float met = kern->dot(q, c->m, conf->dk);
        row_of(p->dlambda, t, levels, p)[level] += total * met;
        p->sum += weight * met;
        kern->axpy(row_of(p->dq, t, conf->dk, p), weight, c->m, conf->dk);
        for (size_t j = 0; j < conf->dk; j++) kern->axpy(c->D + m * c->size + j * conf->dv, weight * q[j], g, conf->dv);
    }
}

static void undo_read_inside(size_t t, size_t s, const float *g, step *p)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_mech_conf *conf = p->c->at.b->conf;
    size_t H = conf->heads, dk = conf->dk, dv = conf->dv, levels = rung_loglinear_levels(conf);
    size_t level = rung_loglinear_weight(rung_loglinear_bits((p->k.pos + t) ^ (p->k.pos + s)), conf);
    const float *q = p->k.q + t * H * dk, *key = p->k.k + s * H * dk;
    float weight = p->k.weight[s], lambda = p->k.lambda[t * H * levels + level], score = kern->dot(q, key, dk),
          met = kern->dot(p->k.v + s * H * dv, g, dv);
    row_of(p->dlambda, t, levels, p)[level] += weight * score * met;
    kern->axpy(row_of(p->dq, t, dk, p), weight * lambda * met, key, dk);
    kern->axpy(row_of(p->dk, s, dk, p), weight * lambda * met, q, dk);
    kern->axpy(row_of(p->dv, s, dv, p), weight * lambda * score, g, dv);
    p->sum += weight * lambda * score * met;
}

static void undo_reads(const float *S, step *p)
{
    const context *c = p->c;
    for (size_t t = 0; t < p->k.n; t++) {
        const float *g = rung_back_row(c->at.b->g, &c->at, p->first + t, c->at.b->conf->dv);
        rung_loglinear_decays_f32(&p->k, t, c->at.b->conf);
        p->sum = 0;
        undo_read_before(S, t, g, p);
        for (size_t s = 0; s <= t; s++) {
            pass_decay(s, p);
            undo_read_inside(t, s, g, p);
        }
    }
}

/* ---- (0) --------------------------------------------------------------------------------------------------------------- */

/* One matrix: S is that before the token, D the gradient of what (0) made of it and becomes that of S. */
static void undo_correction(float *D, const float *S, const float *key, float decay, float beta, float *dbeta,
                            const step *p)
{
    const rung_kernels *kern = rung_kernels_get();
    const context *c = p->c;
    size_t dk = c->at.b->conf->dk, dv = c->at.b->conf->dv;
    float *d_k = row_of(p->dk, 0, dk, p), *d_g = row_of(p->dg, 0, 1, p);
    rung_matrix_query_f32(c->h, S, key, dk, dv);
    kern->scale(c->h, decay, dv);
    rung_matrix_query_f32(c->dh, D, key, dk, dv);
    if (dbeta) *dbeta -= kern->dot(c->h, c->dh, dv);
    rows_times(c->m, D, c->h, c->at.b->conf);
    kern->axpy(d_k, -beta, c->m, dk);
    kern->scale(c->dh, -beta, dv);
    rows_times(c->m, S, c->dh, c->at.b->conf);
    kern->axpy(d_k, decay, c->m, dk);
    rung_matrix_add_f32(D, key, c->dh, dk, dv);
    kern->scale(D, decay, c->size);
    *d_g += kern->dot(S, D, c->size);
}

static void undo_age(const float *S, const step *p)
{
    const context *c = p->c;
    const rung_backward *b = c->at.b;
    size_t dv = b->conf->dv;
    float beta = *rung_back_row(b->in[IN_BETA], &c->at, p->first, 1),
          decay = expf(*rung_back_row(b->in[IN_G], &c->at, p->first, 1)),
          *dbeta = rung_back_din(b->din[IN_BETA], &c->at, p->first, 1),
          *d_v = rung_back_din(b->din[IN_V], &c->at, p->first, dv);
    if (dbeta) *dbeta += rung_kernels_get()->dot(c->du, rung_back_row(b->in[IN_V], &c->at, p->first, dv), dv);
    if (d_v) rung_kernels_get()->axpy(d_v, beta, c->du, dv);
    for (size_t m = 0; m < rung_loglinear_matrices(p->k.pos); m++)
        undo_correction(c->D + m * c->size, S + m * c->size, p->k.k, decay, beta, dbeta, p);
}

/* ---- one chunk --------------------------------------------------------------------------------------------------------- */

static void undo(float *dS, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    const rung_mech_conf *conf = b->conf;
    bool corrects = rung_loglinear_corrects(conf);
    step p = {.c = c, .k = chunk_at(number, c)};
    const float *read = S;
    size_t live = rung_loglinear_matrices(p.k.pos) * c->size;
    (void)after;
    p.first = p.k.pos - b->pos;
    p.dq = rung_back_din(b->din[IN_Q], &c->at, p.first, conf->dk);
    p.dk = rung_back_din(b->din[IN_K], &c->at, p.first, conf->dk);
    p.dv = corrects ? c->du : rung_back_din(b->din[IN_V], &c->at, p.first, conf->dv);
    p.dlambda = rung_back_din(b->din[IN_LAMBDA], &c->at, p.first, rung_loglinear_levels(conf));
    p.dg = rung_back_din(b->din[IN_G], &c->at, p.first, 1);
    if (corrects) {
        read = memcpy(c->aged, S, live * sizeof *c->aged);
        age(c->aged, &p.k, c);
        memset(c->du, 0, conf->dv * sizeof *c->du);
    }
    rung_loglinear_decays_f32(&p.k, p.k.n - 1, conf);
    undo_merge(dS, read, &p);
    undo_reads(read, &p);
    if (corrects) undo_age(S, &p);
    memcpy(dS, c->D, live * sizeof *dS);
}

/* ---- one head ---------------------------------------------------------------------------------------------------------- */

static size_t wide(const rung_mech_conf *conf)
{
    size_t most = conf->dk > conf->dv ? conf->dk : conf->dv, levels = rung_loglinear_levels(conf);
    return most > levels ? most : levels;
}

/* Chunks begin at multiples of CHUNK, so there are no more of them than in all tokens from 0 on. */
static size_t steps_most(size_t tokens, const rung_mech_conf *conf)
{
    return rung_loglinear_corrects(conf) ? tokens : tokens / CHUNK + (tokens % CHUNK != 0);
}

static size_t rows(const rung_mech_conf *conf)
{
    return 2 * CHUNK + 5 * conf->dv + conf->dk + wide(conf);
}

/* Rows; four states of a head: aged, D, where the stretch begins, and its gradient; and the kept ones. */
size_t rung_loglinear_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t state = size_times(rung_loglinear_most(tokens), conf->dk * conf->dv);
    size_t kept = rung_replay_scratch(state, steps_most(tokens, conf));
    return size_plus(size_plus(rows(conf), size_times(4, state)), kept);
}

/* Between the state of all heads, [matrix][H][dk][dv], and that of one. */
static void take_head(float *one, const float *all, size_t count, const context *c)
{
    for (size_t m = 0; all && m < count; m++)
        memcpy(one + m * c->size, all + (m * c->at.b->conf->heads + c->at.head) * c->size, c->size * sizeof *one);
}

static void put_head(float *all, const float *one, size_t count, const context *c)
{
    for (size_t m = 0; all && m < count; m++)
        memcpy(all + (m * c->at.b->conf->heads + c->at.head) * c->size, one + m * c->size, c->size * sizeof *one);
}

static context context_new(const rung_backward *b, size_t head)
{
    size_t dk = b->conf->dk, dv = b->conf->dv;
    context c = {.at = {b, head},
                 .size = dk * dv,
                 .most = rung_loglinear_most(b->pos + b->tokens),
                 .decays = b->scratch,
                 .u = b->scratch + 2 * CHUNK};
    c.du = c.u + dv, c.h = c.du + dv, c.dh = c.h + dv, c.zero = c.dh + dv;
    c.m = c.zero + dv;
    c.unwanted = c.m + dk;
    c.aged = c.unwanted + wide(b->conf);
    c.D = c.aged + c.most * c.size;
    memset(c.zero, 0, dv * sizeof *c.zero);
    return c;
}

void rung_loglinear_backward_f32(const rung_backward *b, size_t head)
{
    context c = context_new(b, head);
    size_t state = c.most * c.size, end = b->pos + b->tokens, n = rung_loglinear_corrects(b->conf) ? 1 : CHUNK;
    float *start = c.D + state, *dstate = start + state;
    rung_replay r = {
        .size = state, .steps = (b->pos % n + b->tokens + n - 1) / n, .absorb = absorb, .undo = undo, .context = &c};
    memset(start, 0, 2 * state * sizeof *start);
    take_head(start, b->state, rung_loglinear_matrices(b->pos), &c);
    take_head(dstate, b->dstate, rung_loglinear_matrices(end), &c);
    rung_replay_run(&r, start, dstate, dstate + state);
    put_head(b->dstate, dstate, rung_loglinear_matrices(b->pos), &c);
}
