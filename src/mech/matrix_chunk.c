/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One chunk of the mechanisms in matrix.c: its triangular system and what it makes of the state before it.
 */
#include "matrix_chunk.h"

#include <string.h>

matrix_kind rung_matrix_kind(const rung_mech_conf *conf)
{
    const rung_mech *mech = conf->mech;
    bool corrects = mech == &rung_mech_delta || mech == &rung_mech_gdelta || mech == &rung_mech_kda;
    if (mech == &rung_mech_delta) return (matrix_kind){DECAY_NONE, corrects};
    if (mech == &rung_mech_kda || mech == &rung_mech_gla) return (matrix_kind){DECAY_CHANNEL, corrects};
    return (matrix_kind){DECAY_HEAD, corrects};
}

size_t rung_matrix_decay_size(const rung_mech_conf *conf)
{
    decay_kind decay = rung_matrix_kind(conf).decay;
    return decay == DECAY_NONE ? 0 : decay == DECAY_HEAD ? 1 : conf->dk;
}

size_t rung_matrix_chunk_tokens(const rung_mech_conf *conf)
{
    return rung_matrix_kind(conf).decay == DECAY_CHANNEL ? CHUNK_CHANNELS : CHUNK;
}

size_t rung_matrix_exponents(const rung_mech_conf *conf)
{
    return rung_matrix_decay_size(conf) * (rung_matrix_chunk_tokens(conf) + 1);
}

void rung_matrix_chunk_begin(const matrix_chunk *c)
{
    if (c->dg) memset(c->exponent, 0, c->dg * sizeof *c->exponent);
}

/* From E_{t-1} to E_t; the own token does not fade. */
static void absorb_decay(const matrix_chunk *c, size_t t)
{
    if (c->dg == 0) return;
    const float *g = c->r.g + t * c->r.g_row;
    for (size_t s = 0; s <= t; s++)
        for (size_t j = 0; j < c->dg; j++) c->exponent[s * c->dg + j] += g[j];
    memset(c->exponent + (t + 1) * c->dg, 0, c->dg * sizeof *c->exponent);
    c->kern->exp(c->E + t * c->E_step, c->exponent, (t + 2) * c->dg);
}

const float *rung_matrix_chunk_fade(const matrix_chunk *c, const float *x, size_t t, size_t row)
{
    const float *E = chunk_decay(c, t, row);
    if (c->dg == 0) return x;
    for (size_t j = 0; j < c->dk; j++) c->faded[j] = x[j] * E[c->channels ? j : 0];
    return c->faded;
}

/* k_s . E_ts x */
static float pair_weight(const matrix_chunk *c, const float *x, size_t t, size_t s)
{
    const float *k = c->r.k + s * c->r.key_row;
    if (c->channels) return c->kern->dot(k, rung_matrix_chunk_fade(c, x, t, s + 1), c->dk);
    return c->kern->dot(k, x, c->dk) * (c->dg ? *chunk_decay(c, t, s + 1) : 1);
}

void rung_matrix_chunk_recall(float *y, const float *S, const float *x, size_t t, size_t count, const matrix_chunk *c)
{
    rung_matrix_query_f32(y, S, rung_matrix_chunk_fade(c, x, t, 0), c->dk, c->dv);
    for (size_t s = 0; s < count; s++) c->kern->axpy(y, pair_weight(c, x, t, s), c->u + s * c->dv, c->dv);
}

void rung_matrix_chunk_enter(const matrix_chunk *c, const float *S, size_t t)
{
    float *u = c->u + t * c->dv;
    const float *v = c->r.v + t * c->r.value_row;
    absorb_decay(c, t);
    if (!c->r.beta) {
        memcpy(u, v, c->dv * sizeof *u);
        return;
    }
    float beta = c->r.beta[t * c->r.beta_row], *residual = c->residual ? c->residual + t * c->dv : u;
    rung_matrix_chunk_recall(residual, S, c->r.k + t * c->r.key_row, t, t, c);
    for (size_t i = 0; i < c->dv; i++) residual[i] = v[i] - residual[i];
    for (size_t i = 0; i < c->dv; i++) u[i] = beta * residual[i];
}

void rung_matrix_chunk_leave(float *S, const matrix_chunk *c)
{
    rung_matrix_fade_f32(S, c->dg ? c->exponent : NULL, c->channels, c->dk, c->dv);
    for (size_t s = 0; s < c->n; s++)
        rung_matrix_add_f32(S, rung_matrix_chunk_fade(c, c->r.k + s * c->r.key_row, c->n - 1, s + 1), c->u + s * c->dv,
                            c->dk, c->dv);
}
