/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of log-linear attention, chunk by chunk, in the notation of loglinear.h. A chunk is a sum of parts that
 * matrix_undo.c can differentiate: each matrix S_m as if no value entered, read by q with the gradient lambda^(m) g;
 * and the tokens of the chunk, which are not read here, with no matrix before them. Each part becomes part of a matrix
 * after the chunk, and takes its gradient. The pairs of the chunk remain: o = Y v, Y = lambda X, X = A T beta, T = (1 -
 * beta B)^-1. With dY = g v^T, dX = lambda dY,
 *   dA = dX beta T^T, of which the transpose is a triangular system;   dB = X^T dA;
 *   dbeta_r = sum over t of (A T)_tr (dX^T + B dA^T)_rt,   dlambda_t^(l) = sum over the s of level l of X_ts dY_ts.
 */
#include "loglinear.h"
#include "matrix_undo.h"
#include "replay.h"

#include <string.h>

typedef struct context {
    rung_back_head at;
    loglinear_chunk chunk;
    matrix_back back;
    size_t size, most;             /* elements of a matrix in panels; largest number of matrices in a state */
    float *D;                      /* [most][size] gradients of the S_m */
    float *g;                      /* [n][dv]: lambda^(m) g */
    float *upstream;               /* panels of g */
    float *v_flipped;              /* panels of v^T */
    float *dX, *dB, *row, *solved; /* pairs */
} context;

/* ---- where a chunk begins ---------------------------------------------------------------------------------------- */

static size_t next_start(size_t t, const rung_backward *b)
{
    return t + rung_loglinear_chunk_length(b->pos + t, b->tokens - t);
}

/* Counts whole chunks at once. Other chunks occur only before the first multiple of CHUNK and after the last, and are
 * few. */
static size_t start_of(size_t number, const rung_backward *b)
{
    size_t t = 0;
    for (; number && (b->pos + t) % CHUNK != 0; number--) t = next_start(t, b);
    size_t whole = size_min(number, (b->tokens - t) / CHUNK);
    t += whole * CHUNK;
    for (number -= whole; number; number--) t = next_start(t, b);
    return t;
}

static size_t steps_of(const rung_backward *b)
{
    size_t steps = 0, t = 0;
    for (; t < b->tokens; steps++) t = next_start(t, b);
    return steps;
}

/* Chunks are powers of two up to the first multiple of CHUNK and after the last one: fewer than 2 log CHUNK more than
 * whole ones. */
static size_t steps_most(size_t tokens)
{
    return size_min(tokens, chunk_count(tokens) + 2 * rung_loglinear_bits(CHUNK));
}

static loglinear_chunk chunk_at(size_t number, const context *c)
{
    const rung_backward *b = c->at.b;
    loglinear_chunk k = c->chunk;
    rung_loglinear_chunk_rows(&k, b->in, start_of(number, b), b->pos, b->tokens, c->at.head, b->conf);
    return k;
}

static void absorb(float *S, size_t number, const void *c_)
{
    const context *c = c_;
    loglinear_chunk k = chunk_at(number, c);
    rung_matrix_chunk_pairs(&k.k, false);
    rung_loglinear_chunk_leave(S, c->size, &k);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* The chunk as a matrix_step whose outputs are not read. */
static matrix_step step_of(const loglinear_chunk *k, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t t = k->pos - b->pos, dk = b->conf->dk;
    return (matrix_step){.c = &c->back,
                         .k = k->k,
                         .dq = rung_back_din(b->din[IN_Q], &c->at, t, dk),
                         .dk = rung_back_din(b->din[IN_K], &c->at, t, dk),
                         .dv = rung_back_din(b->din[IN_V], &c->at, t, b->conf->dv),
                         .dbeta = k->k.r.beta ? rung_back_din(b->din[LOG_BETA], &c->at, t, 1) : NULL,
                         .dg = k->k.r.g ? rung_back_din(b->din[LOG_G], &c->at, t, 1) : NULL};
}

static void undo_matrix(float *D, const float *S, float *dlambda, const float *g, size_t m, loglinear_chunk *k,
                        const context *c)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t n = k->k.n, dv = k->k.dv, row = k->k.r.value_row, rest = k->pos;
    float met[CHUNK];
    rung_loglinear_chunk_weigh(k, m);
    rung_loglinear_chunk_recall(k, S);
    kern->dot_rows(met, k->part, dv, g, row, n, dv);
    for (size_t i = 0; i < m; i++) rest ^= (size_t)1 << (rung_loglinear_bits(rest) - 1);
    size_t level = rung_loglinear_weight(rung_loglinear_bits(rest), c->at.b->conf);
    for (size_t t = 0; dlambda && t < n; t++) dlambda[t * k->lambda_row + level] += met[t];
    kern->scale_rows(c->g, dv, g, row, k->weight, n, dv);
    matrix_step p = step_of(k, c);
    p.g = c->g, p.g_row = dv, p.dv = NULL, p.silent = !k->k.kind.corrects;
    rung_matrix_undo(D, S, &p);
}

static void undo_own(const float *D, loglinear_chunk *k, const context *c)
{
    rung_matrix_chunk_values(&k->k, k->k.r.v, NULL);
    matrix_step p = step_of(k, c);
    rung_matrix_undo((float *)D, NULL, &p);
}

/* Computes dA (in c->dX) and dB from dX in c->dX. */
static void undo_solve(const loglinear_chunk *k, const matrix_step *p, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t n = k->k.n;
    float met[CHUNK];
    kern->pack(c->row, c->dX, n, n, 1, CHUNK);
    rung_chunk_solve(c->solved, c->row, k->k.B, k->k.beta, n, n, false);
    rung_chunk_kernels_get()->dot_rows(met, k->flipped, CHUNK, c->row, CHUNK, n, n);
    for (size_t t = 0; p->dbeta && t < n; t++) p->dbeta[t * k->k.r.beta_row] += met[t];
    kern->pack(c->dX, c->solved, n, n, 1, CHUNK);
    rung_chunk_product(c->dB, CHUNK, chunk_columns(k->X, CHUNK), c->dX, n, n, n, n, false);
}

static void undo_pairs(float *dlambda, const float *g, const loglinear_chunk *k, const context *c)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_chunk_kernels *pairs = rung_chunk_kernels_get();
    size_t n = k->k.n, dv = k->k.dv, row = k->k.r.value_row;
    matrix_step p = step_of(k, c);
    kern->pack(c->upstream, g, n, dv, row, 1);
    kern->pack(c->v_flipped, k->k.r.v, dv, n, 1, row);
    rung_chunk_upper(p.dv, row, k->Y, c->upstream, n, dv);
    rung_chunk_pairs(c->dX, chunk_rows(g, row), c->v_flipped, n, dv);
    pairs->mask_pairs(c->dX, NULL, n, 0, 1);
    if (dlambda) pairs->sum_levels(dlambda, k->lambda_row, k->levels, k->X, c->dX, n);
    pairs->weigh_levels(c->dX, k->lambda, k->lambda_row, k->levels, n);
    if (k->k.kind.corrects) undo_solve(k, &p, c);
    rung_matrix_undo_weights(c->dX, k->k.kind.corrects ? c->dB : NULL, &p);
}

static void undo(float *dS, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    loglinear_chunk k = chunk_at(number, c);
    size_t old = rung_loglinear_matrices(k.pos), t = k.pos - b->pos;
    const float *g = rung_back_row(b->g, &c->at, t, b->conf->dv);
    float *dlambda = rung_back_din(b->din[LOG_LAMBDA], &c->at, t, k.levels);
    (void)after;
    rung_loglinear_chunk_enter(&k);
    undo_own(dS + rung_loglinear_chunk_place(&k, SIZE_MAX) * c->size, &k, c);
    undo_pairs(dlambda, g, &k, c);
    for (size_t m = 0; m < old; m++) {
        float *D = c->D + m * c->size;
        memcpy(D, dS + rung_loglinear_chunk_place(&k, m) * c->size, c->size * sizeof *D);
        undo_matrix(D, S + m * c->size, dlambda, g, m, &k, c);
    }
    memcpy(dS, c->D, old * c->size * sizeof *dS);
}

/* ---- one head ---------------------------------------------------------------------------------------------------- */

static size_t rows(const rung_mech_conf *conf)
{
    return rung_loglinear_chunk_size(conf) + rung_matrix_back_size(conf) + CHUNK * conf->dv +
           rung_panels_size(CHUNK, conf->dv) + rung_panels_size(conf->dv, CHUNK) + 4 * PAIRS;
}

/* Scratch: rows; three states of a head (D, the state at the start of the stretch, and its gradient); and the kept
 * states. */
size_t rung_loglinear_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t state = size_times(rung_loglinear_most(tokens), rung_panels_size(conf->dk, conf->dv));
    size_t kept = rung_replay_scratch(state, steps_most(tokens));
    return size_plus(size_plus(rows(conf), size_times(3, state)), kept);
}

static context context_new(const rung_backward *b, size_t head)
{
    const rung_mech_conf *conf = b->conf;
    float *at = b->scratch + rung_loglinear_chunk_size(conf);
    context c = {.at = {b, head},
                 .chunk = rung_loglinear_chunk_new(conf, b->scratch),
                 .back = rung_matrix_back_new(conf, at),
                 .size = rung_panels_size(conf->dk, conf->dv),
                 .most = rung_loglinear_most(b->pos + b->tokens),
                 .g = at + rung_matrix_back_size(conf)};
    c.upstream = c.g + CHUNK * conf->dv;
    c.v_flipped = c.upstream + rung_panels_size(CHUNK, conf->dv);
    c.dX = c.v_flipped + rung_panels_size(conf->dv, CHUNK);
    c.dB = c.dX + PAIRS;
    c.row = c.dB + PAIRS;
    c.solved = c.row + PAIRS;
    c.D = c.solved + PAIRS;
    return c;
}

/* Converts the state of all heads, [matrix][H][dk][dv], to that of one head in panels, and back. */
static void take_head(float *one, const float *all, size_t count, const context *c)
{
    const rung_mech_conf *conf = c->at.b->conf;
    memset(one, 0, c->most * c->size * sizeof *one);
    for (size_t m = 0; all && m < count; m++)
        rung_chunk_open(one + m * c->size, all + (m * conf->heads + c->at.head) * conf->dk * conf->dv, conf->dk,
                        conf->dv);
}

static void put_head(float *all, const float *one, size_t count, const context *c)
{
    const rung_mech_conf *conf = c->at.b->conf;
    for (size_t m = 0; all && m < count; m++)
        rung_chunk_close(all + (m * conf->heads + c->at.head) * conf->dk * conf->dv, one + m * c->size, conf->dk,
                         conf->dv);
}

void rung_loglinear_backward_f32(const rung_backward *b, size_t head)
{
    context c = context_new(b, head);
    size_t state = c.most * c.size;
    float *start = c.D + state, *dstate = start + state;
    rung_replay r = {.size = state, .steps = steps_of(b), .absorb = absorb, .undo = undo, .context = &c};
    take_head(start, b->state, rung_loglinear_matrices(b->pos), &c);
    take_head(dstate, b->dstate, rung_loglinear_matrices(b->pos + b->tokens), &c);
    rung_replay_run(&r, start, dstate, dstate + state);
    put_head(b->dstate, dstate, rung_loglinear_matrices(b->pos), &c);
}
