/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A chunk of linear attention as matrix products: with p_t = phi(q_t), f_s = phi(k_s) and S_0, z_0 before the chunk,
 *   o_t y_t = S_0^T p_t + sum_{s<=t} (p_t . f_s) v_s,   y_t = z_0 . p_t + sum_{s<=t} p_t . f_s,
 *   S = S_0 + sum_s f_s v_s^T.
 */
#include "linear.h"

#include <assert.h>
#include <string.h>

size_t rung_linear_chunk_size(const rung_mech_conf *conf)
{
    size_t r = rung_linear_features(conf);
    return 3 * CHUNK * r + rung_panels_size(CHUNK, conf->dv) + PAIRS + 3 * CHUNK;
}

linear_chunk rung_linear_chunk_new(const rung_mech_conf *conf, float *scratch)
{
    linear_chunk c = {.r = rung_linear_features(conf),
                      .dv = conf->dv,
                      .q_row = conf->heads * conf->dk,
                      .v_row = conf->heads * conf->dv,
                      .p = scratch};
    c.f = c.p + CHUNK * c.r;
    c.flipped = c.f + CHUNK * c.r;
    c.values = c.flipped + CHUNK * c.r;
    c.A = c.values + rung_panels_size(CHUNK, c.dv);
    c.norm = c.A + PAIRS;
    c.inverse = c.norm + CHUNK;
    c.one = c.inverse + CHUNK;
    for (size_t t = 0; t < CHUNK; t++) c.one[t] = 1;
    return c;
}

void rung_linear_chunk_rows(linear_chunk *c, const float *const *in, size_t first, size_t tokens, size_t head,
                            const rung_mech_conf *conf)
{
    assert(first < tokens && head < conf->heads);
    size_t row = first * conf->heads + head;
    c->n = size_min(CHUNK, tokens - first);
    c->q = in[IN_Q] + row * conf->dk;
    c->k = in[IN_K] + row * conf->dk;
    c->v = in[IN_V] + row * conf->dv;
}

void rung_linear_chunk_phi(float *phi, const float *x, const linear_chunk *c, const rung_mech_conf *conf)
{
    if (rung_linear_phi(conf) == PHI_ELU1)
        rung_chunk_kernels_get()->elu1(phi, c->r, x, c->q_row, c->n, conf->dk);
    else
        for (size_t t = 0; t < c->n; t++) rung_linear_phi_f32(phi + t * c->r, x + t * c->q_row, conf);
}

void rung_linear_chunk_enter(const linear_chunk *c, const rung_mech_conf *conf, bool reads)
{
    const rung_kernels *kern = rung_kernels_get();
    rung_linear_chunk_phi(c->f, c->k, c, conf);
    kern->pack(c->values, c->v, c->n, c->dv, c->v_row, 1);
    if (!reads) return;
    rung_linear_chunk_phi(c->p, c->q, c, conf);
    kern->pack(c->flipped, c->f, c->r, c->n, 1, c->r);
    rung_chunk_pairs(c->A, chunk_rows(c->p, c->r), c->flipped, c->n, c->r);
    rung_chunk_kernels_get()->mask_pairs(c->A, NULL, c->n, 0, 1);
}

void rung_linear_chunk_read(float *o, const float *S, const linear_chunk *c)
{
    rung_chunk_product(o, c->v_row, chunk_rows(c->p, c->r), S, c->r, c->n, c->dv, c->r, false);
    rung_chunk_lower(o, c->v_row, c->A, c->values, c->n, c->dv);
}

void rung_linear_chunk_norms(const linear_chunk *c, const float *z, bool inside)
{
    if (!z) return;
    float pairs[CHUNK] = {0};
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    kern->dot_rows(c->norm, c->p, c->r, z, 0, c->n, c->r);
    if (inside) kern->dot_rows(pairs, c->A, CHUNK, c->one, 0, c->n, CHUNK);
    for (size_t t = 0; t < c->n; t++) c->norm[t] += pairs[t];
    for (size_t t = 0; t < c->n; t++) c->inverse[t] = 1 / c->norm[t];
}

void rung_linear_chunk_leave(float *S, float *z, const linear_chunk *c)
{
    rung_chunk_absorb(S, chunk_rows(c->f, c->r), c->values, c->n, c->r, c->dv);
    if (z) rung_chunk_kernels_get()->add_rows(z, 0, c->f, c->r, c->one, c->n, c->r);
}
