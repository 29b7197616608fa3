/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of one chunk of the mechanisms in matrix.c, in the notation of its head. Forwards
 *   (1) u_t = beta_t r_t, r_t = v_t - (what k_t recalls, s < t), or u_t = v_t;   (2) o_t = (what q_t recalls, s <= t);
 *   (3) S_C = E_C0 S_0 + sum_s (E_Cs k_s) u_s^T,
 * where x recalls y = S_0^T (E_t0 x) + sum_s (k_s . E_ts x) u_s. A recall whose y has the gradient d gives
 *   dx = E_t0 (S_0 d) + sum_s E_ts k_s (u_s . d),   dk_s = E_ts x (u_s . d),
 *   du_s = (k_s . E_ts x) d,   dS_0 = (E_t0 x) d^T.
 * Backwards: (3) with D the gradient of S_C, du_s = D^T (E_Cs k_s), dk_s = E_Cs (D u_s), dS_0 = E_C0 D; (2) with d =
 * g_t; (1) the tokens from the last to the first: du_t is complete, dbeta_t = du_t . r_t, dv_t = beta_t du_t, d =
 * -dv_t. This is the transposed triangular system of the WY form; all the rest are products of matrices.
 *
 * g_r stands in the exponent of every E_ts with s < r <= t, so dg_r is the sum of E_ts dE_ts over these pairs. They are
 * added up over s first, then over t; no difference of prefix sums, which would lose a small one behind a large one.
 * With a decay per channel a pair counts where it is known: inside a subchunk, from one to the other, and with what is
 * before and after the chunk.
 */
#include "matrix_undo.h"

#include <string.h>

/* One recall by all tokens: the rows x, unchanged and faded from the start; d, the gradient of what they recalled,
 * which has the same sign as `from`; the pairs with s + before <= t. */
typedef struct recall {
    float *dx;
    const float *x, *x_panels, *pairs, *d_panels;
    chunk_factor from, d;
    float sign;
    size_t before;
} recall;

static void add_weighted(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t rows, size_t n)
{
    if (y) rung_chunk_kernels_get()->add_rows(y, y_row, x, x_row, a, rows, n);
}

/* ---- what the previous chunk needs -------------------------------------------------------------------------------- */

/* The rows of x before those of the chunk. */
static rung_chunk_rows rows_before(const float *x, size_t row, size_t width, const matrix_step *p)
{
    return chunk_rows_before(x, row, p->previous, width);
}

/* The state before that of the chunk. */
static rung_chunk_rows state_before(const float *S, const matrix_step *p)
{
    size_t rows = rung_panels_size(p->k.dk, p->k.dv) / RUNG_PANEL;
    return chunk_rows_before(S, RUNG_PANEL, p->previous ? rows : 0, RUNG_PANEL);
}

/* Of a decay per channel; one per head is in few lines of memory. */
static rung_chunk_rows decays_before(const float *g, const matrix_step *p)
{
    bool channels = p->k.kind.decay == DECAY_CHANNEL;
    return rows_before(channels ? g : NULL, p->k.r.g_row, p->k.dk, p);
}

/* ---- rows that have faded from the start, or to the end ---------------------------------------------------------- */

/* c->m is the gradient of the faded rows of x. Adds dx += sign E m, weight += sign E m x. */
static void undo_fade(float *dx, float *weight, const float *x, const float *E, float sign, const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dk = k->dk, row = k->r.key_row;
    float factor[CHUNK], met[CHUNK];
    for (size_t t = 0; t < n; t++) factor[t] = k->kind.decay == DECAY_HEAD ? sign * E[t] : sign;
    add_weighted(dx, row, p->c->m, dk, factor, n, dk);
    if (!p->dg) return;
    rung_chunk_kernels_get()->dot_rows(met, p->c->m, dk, x, row, n, dk);
    for (size_t t = 0; t < n; t++) weight[t] += factor[t] * met[t];
}

/* The same per channel. E are products inside the subchunks; the rows of `part` have faded through the other one as
 * well. */
static void undo_channel_fade(float *dx, float *weight, const float *x, const float *E, size_t part, float sign,
                              const matrix_step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dk = k->dk, row = k->r.key_row;
    float factor[CHUNK], *m = p->c->m, *other = m + part * SUBCHUNK * dk;
    for (size_t t = 0; t < n; t++) factor[t] = sign;
    kern->multiply_rows(m, dk, m, dk, E, dk, n, dk);
    if (chunk_part(k, 1))
        kern->multiply_rows(other, dk, other, dk, chunk_part_decay(k, !part), 0, chunk_part(k, part), dk);
    kern->scale_rows(m, dk, m, dk, factor, n, dk);
    add_weighted(dx, row, m, dk, p->c->one, n, dk);
    if (p->dg) kern->add_products(weight, dk, m, dk, x, row, n, dk);
}

/* The part of a recall that comes from S_0. */
static void undo_start(float *dS, const float *S, const recall *x, const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    const matrix_back *c = p->c;
    const rung_chunk_rows next[RUNG_CHUNK_ERRANDS] = {state_before(S, p)};
    rung_chunk_product_asking(c->m, k->dk, x->d, c->S_flipped, k->dv, k->n, k->dk, k->dv, false, next);
    rung_chunk_absorb(dS, x->from, x->d_panels, k->n, k->dk, k->dv);
    if (k->kind.decay == DECAY_CHANNEL)
        undo_channel_fade(x->dx, c->from_start, x->x, k->since, 1, x->sign, p);
    else
        undo_fade(x->dx, c->from_start, x->x, k->start, x->sign, p);
}

/* (3): the keys' contribution to S_C, whose gradient is in D_flipped. */
static void undo_end(const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    const matrix_back *c = p->c;
    chunk_factor u = k->kind.corrects ? chunk_rows(k->rest, chunk_wide(k->dv)) : chunk_rows(k->r.v, k->r.value_row);
    size_t row = k->r.key_row;
    const rung_chunk_rows next[RUNG_CHUNK_ERRANDS] = {
        rows_before(p->dq, row, k->dk, p), rows_before(p->dk, row, k->dk, p),
        rows_before(p->dv, k->r.value_row, k->dv, p), decays_before(p->dg, p)};
    rung_chunk_product_asking(c->m, k->dk, u, c->D_flipped, k->dv, k->n, k->dk, k->dv, false, next);
    if (k->kind.corrects) rung_chunk_kernels_get()->scale_rows(c->m, k->dk, c->m, k->dk, k->beta, k->n, k->dk);
    if (k->kind.decay == DECAY_CHANNEL)
        undo_channel_fade(p->dk, c->to_end, k->r.k, k->until, 0, 1, p);
    else
        undo_fade(p->dk, c->to_end, k->r.k, k->end, 1, p);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* Pairs inside the subchunks. */
static void undo_near_pairs(const recall *x, const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    size_t dk = k->dk, row = k->r.key_row;
    float *none = p->c->unwanted;
    for (size_t part = 0; part < 2 && chunk_part(k, part); part++) {
        size_t t = part * SUBCHUNK;
        rung_chunk_kernels_get()->undo_channel_pairs(
            x->dx ? x->dx + t * row : none, x->dx ? row : 0, p->dk ? p->dk + t * row : none + dk, p->dk ? row : 0,
            p->dg ? p->dg + t * k->r.g_row : none + 2 * dk, p->dg ? k->r.g_row : 0, p->c->dA + t * CHUNK + t,
            x->x + t * row, row, k->r.k + t * row, row, k->w + t * dk, chunk_part(k, part), dk, x->before, k->faded);
    }
}

/* One side of the pairs between the second subchunk and the first: the rows y times E are the other side. dx gets E'
 * times the product, and weight gets the same times x. */
static void undo_far_side(float *dx, float *weight, const float *x, const float *E, size_t rows, chunk_factor d,
                          const float *y, const float *E_y, size_t y_rows, const matrix_step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t dk = p->k.dk, row = p->k.r.key_row;
    float *m = p->c->m, *panels = p->c->q_panels;
    kern->multiply_rows(m, dk, y, row, E_y, dk, y_rows, dk);
    rung_kernels_get()->pack(panels, m, y_rows, dk, dk, 1);
    rung_chunk_product(m, dk, d, panels, y_rows, rows, dk, y_rows, false);
    kern->multiply_rows(m, dk, m, dk, E, dk, rows, dk);
    add_weighted(dx, row, m, dk, p->c->one, rows, dk);
    if (p->dg) kern->add_products(weight, dk, m, dk, x, row, rows, dk);
}

static void undo_far_pairs(const recall *x, const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    size_t second = chunk_part(k, 1), at = SUBCHUNK * k->dk, skip = SUBCHUNK * k->r.key_row;
    const float *low = p->c->dA + SUBCHUNK * CHUNK;
    if (!second) return;
    undo_far_side(x->dx ? x->dx + skip : NULL, p->c->from_start + at, x->x + skip, k->since + at, second,
                  chunk_rows(low, CHUNK), k->r.k, k->until, SUBCHUNK, p);
    undo_far_side(p->dk, p->c->to_end, k->r.k, k->until, SUBCHUNK, chunk_columns(low, CHUNK), x->x + skip,
                  k->since + at, second, p);
}

/* c->dA is the gradient of the pairs, without its sign. */
static void undo_weights(const recall *x, const matrix_step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const matrix_back *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n;
    if (k->kind.decay == DECAY_CHANNEL) {
        kern->mask_pairs(c->dA, NULL, n, x->before, x->sign);
        undo_near_pairs(x, p);
        undo_far_pairs(x, p);
        return;
    }
    if (k->kind.decay == DECAY_HEAD && p->dg) kern->add_weights(c->W, x->pairs, c->dA, n, x->before);
    kern->mask_pairs(c->dA, k->kind.decay == DECAY_HEAD ? k->E : NULL, n, x->before, x->sign);
    rung_chunk_lower(x->dx, k->r.key_row, c->dA, c->k_panels, n, k->dk);
    rung_chunk_upper(p->dk, k->r.key_row, c->dA, x->x_panels, n, k->dk);
}

static void undo_pairs(const recall *x, const matrix_step *p)
{
    rung_chunk_pairs(p->c->dA, x->d, p->c->u_flipped, p->k.n, p->k.dv);
    undo_weights(x, p);
}

/* ---- decays ------------------------------------------------------------------------------------------------------ */

/* Weights of the rows of S_0 that pass through the chunk. */
static void weigh_through(const float *dS, const float *S, const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    float met[CHUNK], *through = p->c->through;
    size_t dk = k->dk;
    bool channels = k->kind.decay == DECAY_CHANNEL;
    for (size_t col = 0; p->dg && col < k->dv; col += RUNG_PANEL)
        for (size_t j = 0; j < dk; j += CHUNK) {
            size_t rows = size_min(CHUNK, dk - j), at = col * dk + j * RUNG_PANEL;
            rung_chunk_kernels_get()->dot_rows(met, S + at, RUNG_PANEL, dS + at, RUNG_PANEL, rows, RUNG_PANEL);
            for (size_t i = 0; i < rows; i++)
                through[channels ? j + i : 0] += (channels ? k->whole[j + i] : k->start[k->n - 1]) * met[i];
        }
}

/* What passes through the first subchunk also comes from before the chunk to the second. What passes through the second
 * also goes from the first to the end. Must be called before the pairs of the two are weighed. */
static void weigh_parts(const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    const matrix_back *c = p->c;
    size_t dk = k->dk, second = chunk_part(k, 1);
    if (!p->dg || k->kind.decay != DECAY_CHANNEL || !second) return;
    memcpy(c->through + dk, c->through, dk * sizeof *c->through);
    add_weighted(c->through, 0, c->from_start + SUBCHUNK * dk, dk, c->one, second, dk);
    add_weighted(c->through + dk, 0, c->to_end, dk, c->one, SUBCHUNK, dk);
}

static void add_decays(const matrix_step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const matrix_chunk *k = &p->k;
    const matrix_back *c = p->c;
    if (!p->dg) return;
    if (k->kind.decay == DECAY_HEAD) {
        rung_kernels_get()->pack(c->flipped, c->W, k->n, k->n, 1, CHUNK);
        kern->sum_decays(p->dg, k->r.g_row, c->flipped, c->from_start, c->to_end, *c->through, k->n);
        return;
    }
    for (size_t part = 0; part < 2 && chunk_part(k, part); part++) {
        size_t t = part * SUBCHUNK, at = t * k->dk;
        kern->sum_channel_decays(p->dg + t * k->r.g_row, k->r.g_row, c->from_start + at, c->to_end + at,
                                 c->through + part * k->dk, chunk_part(k, part), k->dk);
    }
}

/* ---- one chunk --------------------------------------------------------------------------------------------------- */

static void prepare(const float *dS, const float *S, const matrix_step *p)
{
    const matrix_back *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dk = k->dk, dv = k->dv;
    if (S) rung_chunk_flip(c->S_flipped, S, dk, dv);
    if (p->g) rung_kernels_get()->pack(c->upstream, p->g, n, dv, p->g_row, 1);
    if (p->silent) return;
    rung_chunk_flip(c->D_flipped, dS, dk, dv);
    rung_chunk_flip(c->u_flipped, k->u, n, dv);
}

/* Makes the panels of the rows, and sets the weights of decays to zero. */
static void begin(bool q, bool k_, const matrix_step *p)
{
    const matrix_back *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dk = k->dk, decays = k->kind.decay == DECAY_CHANNEL ? dk : k->kind.decay == DECAY_HEAD;
    bool panels = k->kind.decay != DECAY_CHANNEL;
    if (panels && k_) rung_kernels_get()->pack(c->k_panels, k->r.k, n, dk, k->r.key_row, 1);
    if (panels && q) rung_kernels_get()->pack(c->q_panels, k->r.q, n, dk, k->r.key_row, 1);
    memset(c->from_start, 0, (2 * CHUNK + 2) * decays * sizeof *c->from_start); /* clears to_end and through as well */
    memset(c->W, 0, PAIRS * sizeof *c->W);
}

/* Computes du_s of (3) and (2), and for the delta rule (1): its dv, in rows and in panels. */
static void undo_values(const float *dS, const matrix_step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const matrix_back *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dv = k->dv, wide = chunk_wide(dv);
    float met[CHUNK];
    const rung_chunk_rows next[RUNG_CHUNK_ERRANDS] = {
        rows_before(k->r.k, k->r.key_row, k->dk, p), decays_before(k->r.g, p),
        rows_before(k->r.v, k->r.value_row, dv, p), rows_before(k->r.q, k->r.key_row, k->dk, p),
        rows_before(p->g, p->g_row, dv, p)};
    if (!k->kind.corrects) {
        rung_chunk_product_asking(p->dv, k->r.value_row, k->to_k, dS, k->dk, n, dv, k->dk, true, next);
        if (p->g) rung_chunk_upper(p->dv, k->r.value_row, k->A, c->upstream, n, dv);
        return;
    }
    memset(c->du, 0, n * wide * sizeof *c->du);
    rung_chunk_product_asking(c->du, wide, k->to_k, dS, k->dk, n, dv, k->dk, true, next);
    if (p->g) rung_chunk_upper(c->du, wide, k->A, c->upstream, n, dv);
    rung_chunk_solve(c->values, c->du, k->B, k->beta, n, dv, true);
    kern->dot_rows(met, c->du, wide, k->rest, wide, n, dv);
    for (size_t t = 0; p->dbeta && t < n; t++) p->dbeta[t * k->r.beta_row] += met[t];
    kern->scale_rows(c->du, wide, c->du, wide, k->beta, n, dv);
    add_weighted(p->dv, k->r.value_row, c->du, wide, c->one, n, dv);
}

static recall recall_by_q(const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    return (recall){.dx = p->dq,
                    .x = k->r.q,
                    .x_panels = p->c->q_panels,
                    .pairs = k->A,
                    .d_panels = p->c->upstream,
                    .from = k->from_q,
                    .d = chunk_rows(p->g, p->g_row),
                    .sign = 1};
}

static recall recall_by_k(const matrix_step *p)
{
    const matrix_chunk *k = &p->k;
    return (recall){.dx = p->dk,
                    .x = k->r.k,
                    .x_panels = p->c->k_panels,
                    .pairs = k->B,
                    .d_panels = p->c->values,
                    .from = k->from_k,
                    .d = chunk_rows(p->c->du, chunk_wide(k->dv)),
                    .sign = -1,
                    .before = 1};
}

void rung_matrix_undo(float *dS, const float *S, const matrix_step *p)
{
    bool by_q = p->g, by_k = p->k.kind.corrects;
    recall q = recall_by_q(p), k = recall_by_k(p);
    begin(by_q && !p->silent, !p->silent, p);
    prepare(dS, S, p);
    if (!p->silent) {
        undo_values(dS, p);
        undo_end(p);
    }
    if (S) {
        weigh_through(dS, S, p);
        rung_matrix_chunk_fade(dS, &p->k);
        if (by_q) undo_start(dS, S, &q, p);
        if (by_k) undo_start(dS, by_q ? NULL : S, &k, p);
    }
    weigh_parts(p);
    if (!p->silent && by_q) undo_pairs(&q, p);
    if (!p->silent && by_k) undo_pairs(&k, p);
    add_decays(p);
}

void rung_matrix_undo_weights(float *dA, float *dB, const matrix_step *p)
{
    recall q = recall_by_q(p), k = recall_by_k(p);
    begin(true, true, p);
    memcpy(p->c->dA, dA, p->k.n * CHUNK * sizeof *dA);
    undo_weights(&q, p);
    if (dB) memcpy(p->c->dA, dB, p->k.n * CHUNK * sizeof *dB);
    if (dB) undo_weights(&k, p);
    add_decays(p);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

size_t rung_matrix_back_size(const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    return 2 * rung_panels_size(dv, dk) + rung_panels_size(dv, CHUNK) + 2 * rung_panels_size(CHUNK, dv) +
           2 * rung_panels_size(CHUNK, dk) + CHUNK * chunk_wide(dv) + 3 * PAIRS + CHUNK * dk +
           (2 * CHUNK + 2) * rung_matrix_decay_size(conf) + CHUNK + 3 * dk;
}

matrix_back rung_matrix_back_new(const rung_mech_conf *conf, float *scratch)
{
    size_t dk = conf->dk, dv = conf->dv, decays = rung_matrix_decay_size(conf);
    matrix_back c = {.S_flipped = scratch};
    c.D_flipped = c.S_flipped + rung_panels_size(dv, dk);
    c.u_flipped = c.D_flipped + rung_panels_size(dv, dk);
    c.upstream = c.u_flipped + rung_panels_size(dv, CHUNK);
    c.values = c.upstream + rung_panels_size(CHUNK, dv);
    c.q_panels = c.values + rung_panels_size(CHUNK, dv);
    c.k_panels = c.q_panels + rung_panels_size(CHUNK, dk);
    c.du = c.k_panels + rung_panels_size(CHUNK, dk);
    c.dA = c.du + CHUNK * chunk_wide(dv);
    c.W = c.dA + PAIRS;
    c.flipped = c.W + PAIRS;
    c.m = c.flipped + PAIRS;
    c.from_start = c.m + CHUNK * dk;
    c.to_end = c.from_start + CHUNK * decays;
    c.through = c.to_end + CHUNK * decays;
    c.one = c.through + 2 * decays;
    c.unwanted = c.one + CHUNK;
    for (size_t t = 0; t < CHUNK; t++) c.one[t] = 1;
    return c;
}
