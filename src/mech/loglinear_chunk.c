/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A chunk of log-linear attention as matrix products: see loglinear.h.
 */
#include "loglinear.h"

#include <assert.h>
#include <string.h>

size_t rung_loglinear_chunk_size(const rung_mech_conf *conf)
{
    return rung_matrix_chunk_size(conf) + rung_panels_size(CHUNK, conf->dv) + 4 * PAIRS + CHUNK * conf->dv + CHUNK;
}

loglinear_chunk rung_loglinear_chunk_new(const rung_mech_conf *conf, float *scratch)
{
    loglinear_chunk c = {.k = rung_matrix_chunk_new(conf, scratch),
                         .lambda_row = conf->heads * rung_loglinear_levels(conf),
                         .levels = rung_loglinear_levels(conf),
                         .values = scratch + rung_matrix_chunk_size(conf)};
    c.X = c.values + rung_panels_size(CHUNK, conf->dv);
    c.Y = c.X + PAIRS;
    c.flipped = c.Y + PAIRS;
    c.solved = c.flipped + PAIRS;
    c.part = c.solved + PAIRS;
    c.weight = c.part + CHUNK * conf->dv;
    return c;
}

size_t rung_loglinear_chunk_length(size_t pos, size_t rest)
{
    size_t n = CHUNK;
    while (pos % n != 0 || n > rest) n /= 2;
    return n;
}

void rung_loglinear_chunk_rows(loglinear_chunk *c, const float *const *in, size_t t, size_t pos, size_t tokens,
                               size_t head, const rung_mech_conf *conf)
{
    assert(t < tokens && head < conf->heads);
    size_t row = t * conf->heads + head, H = conf->heads;
    c->pos = pos + t;
    c->k.n = rung_loglinear_chunk_length(pos + t, tokens - t);
    c->lambda = in[LOG_LAMBDA] + row * c->levels;
    c->k.r = (rows_f32){.q = in[IN_Q] + row * conf->dk,
                        .k = in[IN_K] + row * conf->dk,
                        .v = in[IN_V] + row * conf->dv,
                        .beta = rung_loglinear_corrects(conf) ? in[LOG_BETA] + row : NULL,
                        .g = rung_loglinear_fades(conf) ? in[LOG_G] + row : NULL,
                        .key_row = H * conf->dk,
                        .value_row = H * conf->dv,
                        .beta_row = H,
                        .g_row = H};
}

/* The rows of (A T)^T solve x_s = (A^T)_s + sum over r > s of B_rs beta_r x_r. */
static void solve_reads(const loglinear_chunk *c)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t n = c->k.n;
    kern->pack(c->flipped, c->k.A, n, n, 1, CHUNK);
    rung_chunk_solve(c->solved, c->flipped, c->k.B, c->k.beta, n, n, true);
    kern->pack(c->X, c->solved, n, n, 1, CHUNK);
}

void rung_loglinear_chunk_enter(loglinear_chunk *c)
{
    matrix_chunk *k = &c->k;
    rung_matrix_chunk_pairs(k, true);
    rung_kernels_get()->pack(c->values, k->r.v, k->n, k->dv, k->r.value_row, 1);
    if (k->kind.corrects)
        solve_reads(c);
    else
        memcpy(c->X, k->A, k->n * CHUNK * sizeof *c->X);
    memcpy(c->Y, c->X, k->n * CHUNK * sizeof *c->Y);
    rung_chunk_kernels_get()->weigh_levels(c->Y, c->lambda, c->lambda_row, c->levels, k->n);
}

void rung_loglinear_chunk_recall(loglinear_chunk *c, const float *S)
{
    matrix_chunk *k = &c->k;
    rung_matrix_chunk_values(k, NULL, S);
    rung_chunk_product(c->part, k->dv, k->from_q, S, k->dk, k->n, k->dv, k->dk, false);
    if (k->kind.corrects) rung_chunk_lower(c->part, k->dv, k->A, k->u, k->n, k->dv);
}

/* Matrix m belongs to the bucket of the m-th one-bit of pos. */
void rung_loglinear_chunk_weigh(const loglinear_chunk *c, size_t m)
{
    assert(m < rung_loglinear_matrices(c->pos));
    size_t rest = c->pos;
    for (; m; m--) rest ^= (size_t)1 << (rung_loglinear_bits(rest) - 1);
    size_t level = size_min(rung_loglinear_bits(rest), c->levels - 1);
    for (size_t t = 0; t < c->k.n; t++) c->weight[t] = c->lambda[t * c->lambda_row + level];
}

size_t rung_loglinear_chunk_place(const loglinear_chunk *c, size_t m)
{
    return size_min(m, rung_loglinear_matrices(c->pos + c->k.n) - 1);
}

void rung_loglinear_chunk_leave(float *S, size_t size, loglinear_chunk *c)
{
    matrix_chunk *k = &c->k;
    size_t old = rung_loglinear_matrices(c->pos), slot = rung_loglinear_chunk_place(c, SIZE_MAX);
    for (size_t m = 0; m < old; m++) {
        float *at = S + m * size;
        if (k->kind.corrects) rung_matrix_chunk_values(k, NULL, at);
        rung_matrix_chunk_fade(at, k);
        if (k->kind.corrects) rung_chunk_absorb(at, k->to_k, k->u, k->n, k->dk, k->dv);
        if (m > slot) rung_kernels_get()->axpy(S + slot * size, 1, at, size);
    }
    if (slot == old) memset(S + slot * size, 0, size * sizeof *S);
    rung_matrix_chunk_values(k, k->r.v, NULL);
    rung_chunk_absorb(S + slot * size, k->to_k, k->u, k->n, k->dk, k->dv);
}
