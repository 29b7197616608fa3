/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * One chunk of the mechanisms in matrix.c as matrix products: its triangular system, and its effect on the state before
 * it. Decays are products of e^g along the tokens, never quotients. If there is one decay for all channels, it scales
 * the matrix of pairs. With a decay per channel, E_ts of two tokens in different subchunks is (since the start of t's)
 * times (until the end of s's), so these pairs are a product of faded rows. Pairs inside a subchunk are computed one by
 * one.
 */
#include "matrix_chunk.h"

#include <assert.h>
#include <string.h>

matrix_kind rung_matrix_kind(const rung_mech_conf *conf)
{
    const rung_mech *mech = conf->mech;
    bool corrects = mech == &rung_mech_delta || mech == &rung_mech_gdelta || mech == &rung_mech_kda;
    if (mech == &rung_mech_delta) return (matrix_kind){DECAY_NONE, corrects};
    if (mech == &rung_mech_loglinear) return rung_loglinear_kind(conf);
    if (mech == &rung_mech_kda || mech == &rung_mech_gla) return (matrix_kind){DECAY_CHANNEL, corrects};
    return (matrix_kind){DECAY_HEAD, corrects};
}

size_t rung_matrix_decay_size(const rung_mech_conf *conf)
{
    decay_kind decay = rung_matrix_kind(conf).decay;
    return decay == DECAY_NONE ? 0 : decay == DECAY_HEAD ? 1 : conf->dk;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t channel_rows(const rung_mech_conf *conf)
{
    return rung_matrix_kind(conf).decay == DECAY_CHANNEL ? (3 * CHUNK + 1 + SUBCHUNK) * conf->dk : 0;
}

size_t rung_matrix_chunk_size(const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    return 3 * PAIRS + rung_panels_size(CHUNK, dv) + CHUNK * chunk_wide(dv) + rung_panels_size(dk, CHUNK) +
           3 * CHUNK * dk + 4 * CHUNK + channel_rows(conf);
}

matrix_chunk rung_matrix_chunk_new(const rung_mech_conf *conf, float *scratch)
{
    size_t dk = conf->dk, dv = conf->dv;
    matrix_chunk c = {.dk = dk, .dv = dv, .kind = rung_matrix_kind(conf), .A = scratch};
    c.B = c.A + PAIRS;
    c.E = c.B + PAIRS;
    c.u = c.E + PAIRS;
    c.rest = c.u + rung_panels_size(CHUNK, dv);
    c.keys = c.rest + CHUNK * chunk_wide(dv);
    c.faded_q = c.keys + rung_panels_size(dk, CHUNK);
    c.faded_k = c.faded_q + CHUNK * dk;
    c.ended_k = c.faded_k + CHUNK * dk;
    c.beta = c.ended_k + CHUNK * dk;
    c.start = c.beta + CHUNK;
    c.end = c.start + CHUNK;
    c.w = c.end + CHUNK;
    if (c.kind.decay != DECAY_CHANNEL) return c;
    c.w += CHUNK;
    c.since = c.w + CHUNK * dk;
    c.until = c.since + CHUNK * dk;
    c.whole = c.until + CHUNK * dk;
    c.faded = c.whole + dk;
    return c;
}

void rung_matrix_chunk_rows(matrix_chunk *c, const float *const *in, size_t first, size_t tokens, size_t head,
                            const rung_mech_conf *conf)
{
    assert(first < tokens && head < conf->heads);
    c->r = (rows_f32)HEAD_ROWS_INIT(in, head, first, conf);
    c->n = size_min(CHUNK, tokens - first);
}

/* ---- decays and pairs -------------------------------------------------------------------------------------------- */

static void minus_one(float *a, size_t n)
{
    for (size_t t = 0; t < n; t++) a[t] = -1;
}

static void enter_rows(matrix_chunk *c)
{
    c->from_q = chunk_rows(c->r.q, c->r.key_row);
    c->to_k = chunk_rows(c->r.k, c->r.key_row);
}

static void enter_plain(matrix_chunk *c)
{
    enter_rows(c);
    if (!c->kind.corrects) return;
    minus_one(c->start, c->n);
    rung_chunk_kernels_get()->scale_rows(c->faded_k, c->dk, c->r.k, c->r.key_row, c->start, c->n, c->dk);
}

static void enter_head(matrix_chunk *c, bool reads)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t n = c->n, dk = c->dk;
    for (size_t t = 0; t < n; t++) c->w[t] = c->r.g[t * c->r.g_row];
    rung_kernels_get()->exp(c->w, c->w, n);
    kern->pair_decays(c->E, c->w, n);
    for (size_t t = 0; t < n; t++) c->start[t] = c->w[t] * (t ? c->start[t - 1] : 1);
    memcpy(c->end, c->E + (n - 1) * CHUNK, n * sizeof *c->end);
    if (c->scans && !c->kind.corrects) {
        enter_rows(c);
        return;
    }
    if (reads) kern->scale_rows(c->faded_q, dk, c->r.q, c->r.key_row, c->start, n, dk);
    kern->scale_rows(c->ended_k, dk, c->r.k, c->r.key_row, c->end, n, dk);
    if (!c->kind.corrects) return;
    for (size_t t = 0; t < n; t++) c->start[t] = -c->start[t];
    kern->scale_rows(c->faded_k, dk, c->r.k, c->r.key_row, c->start, n, dk);
    for (size_t t = 0; t < n; t++) c->start[t] = -c->start[t];
}

/* Computes the pairs when E_ts is one number. */
static void enter_pairs(matrix_chunk *c, bool reads)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const float *E = c->kind.decay == DECAY_HEAD ? c->E : NULL;
    if (!reads && !c->kind.corrects) return;
    rung_kernels_get()->pack(c->keys, c->r.k, c->dk, c->n, 1, c->r.key_row);
    if (c->to_k.at == c->r.k) c->to_k = chunk_columns(c->keys, RUNG_PANEL);
    if (reads) {
        rung_chunk_pairs(c->A, chunk_rows(c->r.q, c->r.key_row), c->keys, c->n, c->dk);
        kern->mask_pairs(c->A, E, c->n, 0, 1);
    }
    if (c->kind.corrects) {
        rung_chunk_pairs(c->B, chunk_rows(c->r.k, c->r.key_row), c->keys, c->n, c->dk);
        kern->mask_pairs(c->B, E, c->n, 1, -1);
    }
}

/* Multiplies the rows of a subchunk by the decays to, or from, the other one. */
static void fade_part(float *rows, size_t part, const float *decay, const matrix_chunk *c)
{
    float *at = rows + part * SUBCHUNK * c->dk;
    rung_chunk_kernels_get()->multiply_rows(at, c->dk, at, c->dk, decay, 0, chunk_part(c, part), c->dk);
}

static void enter_channels(matrix_chunk *c, bool reads)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t n = c->n, dk = c->dk;
    kern->exp_rows(c->w, dk, c->r.g, c->r.g_row, n, dk);
    for (size_t part = 0; part < 2 && chunk_part(c, part); part++) {
        size_t at = part * SUBCHUNK * dk;
        kern->channel_decays(c->since + at, c->until + at, c->w + at, chunk_part(c, part), dk);
    }
    memcpy(c->whole, chunk_part_decay(c, 0), dk * sizeof *c->whole);
    if (chunk_part(c, 1)) kern->multiply_rows(c->whole, dk, c->whole, dk, chunk_part_decay(c, 1), dk, 1, dk);
    if (reads) kern->multiply_rows(c->faded_q, dk, c->r.q, c->r.key_row, c->since, dk, n, dk);
    kern->multiply_rows(c->ended_k, dk, c->r.k, c->r.key_row, c->until, dk, n, dk);
    if (!c->kind.corrects) return;
    kern->multiply_rows(c->faded_k, dk, c->r.k, c->r.key_row, c->since, dk, n, dk);
    minus_one(c->start, n);
    kern->scale_rows(c->faded_k, dk, c->faded_k, dk, c->start, n, dk);
}

/* Computes the pairs inside the subchunks, then those between them. Then fades the rows to the ends of the chunk. Pairs
 * of the first subchunk with keys of the second one stay undefined: nobody reads them. */
static void enter_channel_pairs(matrix_chunk *c, bool reads)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t dk = c->dk, row = c->r.key_row, low = SUBCHUNK * CHUNK, second = chunk_part(c, 1);
    for (size_t part = 0; (reads || c->kind.corrects) && part < 2 && chunk_part(c, part); part++) {
        size_t t = part * SUBCHUNK, diagonal = t * CHUNK + t;
        kern->channel_pairs(c->A + diagonal, c->kind.corrects ? c->B + diagonal : NULL, c->r.q + t * row, row,
                            c->r.k + t * row, row, c->w + t * dk, chunk_part(c, part), dk);
    }
    if (!second) return;
    if (reads || c->kind.corrects) /* whole panels take less time than half of one and zeros */
        rung_kernels_get()->pack(c->keys, c->ended_k, dk, c->n, 1, dk);
    if (reads)
        rung_chunk_product(c->A + low, CHUNK, chunk_rows(c->faded_q + SUBCHUNK * dk, dk), c->keys, dk, second, SUBCHUNK,
                           dk, false);
    if (c->kind.corrects)
        rung_chunk_product(c->B + low, CHUNK, chunk_rows(c->faded_k + SUBCHUNK * dk, dk), c->keys, dk, second, SUBCHUNK,
                           dk, false);
    if (reads) fade_part(c->faded_q, 1, chunk_part_decay(c, 0), c);
    fade_part(c->ended_k, 0, chunk_part_decay(c, 1), c);
    if (c->kind.corrects) fade_part(c->faded_k, 1, chunk_part_decay(c, 0), c);
}

/* ---- the system -------------------------------------------------------------------------------------------------- */

/* Initially r = v - S^T (E_t0 k). */
static void begin_rest(const matrix_chunk *c, const float *v, const float *S)
{
    size_t wide = chunk_wide(c->dv), copied = v ? c->dv : 0;
    for (size_t t = 0; t < c->n; t++) {
        if (v) memcpy(c->rest + t * wide, v + t * c->r.value_row, copied * sizeof *c->rest);
        memset(c->rest + t * wide + copied, 0, (wide - copied) * sizeof *c->rest);
    }
    if (S) rung_chunk_product(c->rest, wide, c->from_k, S, c->dk, c->n, c->dv, c->dk, true);
}

/* Whether the values fade to the end of the chunk instead of the keys, into c->rest, and the outputs from its start
 * instead of the queries. This leaves out the copies of keys and queries. */
static bool ends_values(const matrix_chunk *c)
{
    return c->scans && c->kind.decay == DECAY_HEAD && !c->kind.corrects;
}

static void end_values(const matrix_chunk *c)
{
    for (size_t at = 0; at < rung_panels_size(c->n, c->dv); at += c->n * RUNG_PANEL)
        rung_chunk_kernels_get()->scale_rows(c->rest + at, RUNG_PANEL, c->u + at, RUNG_PANEL, c->end, c->n, RUNG_PANEL);
}

void rung_matrix_chunk_values(matrix_chunk *c, const float *v, const float *S)
{
    if (c->kind.corrects) {
        begin_rest(c, v, S);
        rung_chunk_solve(c->u, c->rest, c->B, c->beta, c->n, c->dv, false);
    } else if (v) {
        rung_kernels_get()->pack(c->u, v, c->n, c->dv, c->r.value_row, 1);
        if (ends_values(c)) end_values(c);
    }
}

void rung_matrix_chunk_pairs(matrix_chunk *c, bool reads)
{
    assert(c->n > 0 && c->n <= CHUNK);
    c->from_q = chunk_rows(c->faded_q, c->dk);
    c->from_k = chunk_rows(c->faded_k, c->dk);
    c->to_k = chunk_rows(c->ended_k, c->dk);
    for (size_t t = 0; c->kind.corrects && t < c->n; t++) c->beta[t] = c->r.beta[t * c->r.beta_row];
    if (c->kind.decay == DECAY_NONE) enter_plain(c);
    if (c->kind.decay == DECAY_HEAD) enter_head(c, reads);
    if (c->kind.decay == DECAY_CHANNEL) {
        enter_channels(c, reads);
        enter_channel_pairs(c, reads);
    } else {
        enter_pairs(c, reads);
    }
}

void rung_matrix_chunk_enter(matrix_chunk *c, const float *S, bool reads)
{
    rung_matrix_chunk_pairs(c, reads);
    rung_matrix_chunk_values(c, c->r.v, S);
}

/* The rows of x that follow those of the chunk. */
static rung_chunk_rows rows_after(const float *x, size_t row, size_t width, const matrix_chunk *c)
{
    return (rung_chunk_rows){x ? x + c->n * row : NULL, row, x ? c->next : 0, width};
}

bool rung_matrix_chunk_read(float *o, const float *S, const matrix_chunk *c)
{
    const rows_f32 *r = &c->r;
    size_t decays = c->kind.decay == DECAY_CHANNEL ? c->dk : 0;
    return rung_chunk_kernels_get()->read_state(
        &(rung_chunk_read){.o = o,
                           .x = c->from_q.at,
                           .S = S,
                           .before = ends_values(c) ? c->start : NULL,
                           .pairs = c->A,
                           .values = c->u,
                           .o_row = c->r.value_row,
                           .x_row = c->from_q.row,
                           .n = c->n,
                           .dk = c->dk,
                           .dv = c->dv,
                           .value_rows = c->n,
                           .next = {rows_after(r->k, r->key_row, c->dk, c), rows_after(r->q, r->key_row, c->dk, c),
                                    rows_after(decays ? r->g : NULL, r->g_row, decays, c)}});
}

void rung_matrix_chunk_fade(float *S, const matrix_chunk *c)
{
    if (c->kind.decay == DECAY_HEAD) rung_chunk_fade(S, c->start + c->n - 1, false, c->dk, c->dv);
    if (c->kind.decay == DECAY_CHANNEL) rung_chunk_fade(S, c->whole, true, c->dk, c->dv);
}

void rung_matrix_chunk_leave(float *S, const float *o, const matrix_chunk *c)
{
    const rows_f32 *r = &c->r;
    size_t decays = c->kind.decay == DECAY_CHANNEL ? c->dk : 0;
    static const size_t fade_steps[] = {[DECAY_CHANNEL] = 1};
    const float *fades[] = {[DECAY_HEAD] = c->start + c->n - 1, [DECAY_CHANNEL] = c->whole};
    assert(c->n > 0 && c->n <= CHUNK);
    rung_chunk_kernels_get()->leave_state(
        &(rung_chunk_leave){.S = S,
                            .x = c->to_k.at,
                            .values = ends_values(c) ? c->rest : c->u,
                            .fade = fades[c->kind.decay],
                            .x_row = c->to_k.inner,
                            .x_inner = c->to_k.row,
                            .fade_step = fade_steps[c->kind.decay],
                            .n = c->n,
                            .dk = c->dk,
                            .dv = c->dv,
                            .value_rows = c->n,
                            .next = {rows_after(r->v, r->value_row, c->dv, c), rows_after(o, r->value_row, c->dv, c),
                                     rows_after(o ? NULL : r->k, r->key_row, c->dk, c),
                                     rows_after(o || !decays ? NULL : r->g, r->g_row, decays, c)}});
}
