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
    return (3 * CHUNK + 1) * r + rung_panels_size(CHUNK, conf->dv) + PAIRS + 3 * CHUNK;
}

linear_chunk rung_linear_chunk_new(const rung_mech_conf *conf, float *scratch)
{
    linear_chunk c = {.r = rung_linear_features(conf),
                      .key_width = conf->dk,
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
    c.z = c.one + CHUNK;
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

/* The rows of x that follow those of the chunk. */
static rung_chunk_rows rows_after(const float *x, size_t row, size_t width, const linear_chunk *c)
{
    return (rung_chunk_rows){x ? x + c->n * row : NULL, row, x ? c->next : 0, width};
}

bool rung_linear_chunk_read(float *o, const float *S, bool divides, const linear_chunk *c)
{
    size_t width = c->key_width;
    return rung_chunk_kernels_get()->read_state(
        &(rung_chunk_read){.o = o,
                           .x = c->p,
                           .S = S,
                           .pairs = c->A,
                           .values = c->values,
                           .after = divides ? c->inverse : NULL,
                           .o_row = c->v_row,
                           .x_row = c->r,
                           .n = c->n,
                           .dk = c->r,
                           .dv = c->dv,
                           .value_rows = c->n,
                           .next = {rows_after(c->k, c->q_row, width, c), rows_after(c->q, c->q_row, width, c)}});
}

static void invert_norms(const linear_chunk *c)
{
    for (size_t t = 0; t < c->n; t++) c->inverse[t] = 1 / c->norm[t];
}

void rung_linear_chunk_norms(const linear_chunk *c, const float *z, bool inside)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    if (!z) return;
    if (inside) {
        memcpy(c->z, z, c->r * sizeof *z);
        kern->running_norms(c->norm, c->z, c->p, c->f, c->n, c->r);
    } else {
        kern->dot_rows(c->norm, c->p, c->r, z, 0, c->n, c->r);
    }
    invert_norms(c);
}

void rung_linear_chunk_leave(float *S, float *z, bool counted, const float *o, const linear_chunk *c)
{
    bool columns = counted; /* the transposed features are there */
    rung_chunk_kernels_get()->leave_state(
        &(rung_chunk_leave){.S = S,
                            .x = columns ? c->flipped : c->f,
                            .values = c->values,
                            .x_row = columns ? RUNG_PANEL : 1,
                            .x_inner = columns ? 1 : c->r,
                            .n = c->n,
                            .dk = c->r,
                            .dv = c->dv,
                            .value_rows = c->n,
                            .next = {rows_after(c->v, c->v_row, c->dv, c), rows_after(o, c->v_row, c->dv, c),
                                     rows_after(o ? NULL : c->k, c->q_row, c->key_width, c)}});
    if (z && counted)
        memcpy(z, c->z, c->r * sizeof *z);
    else if (z)
        rung_chunk_kernels_get()->add_rows(z, 0, c->f, c->r, c->one, c->n, c->r);
}
