/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of softmax attention. Forwards, for query i and the keys j that it sees,
 *   (1) s_ij = q_i.k_j,   (2) m_i = max_j s_ij, den_i = sum_j e^(s_ij - m_i), p_ij = e^(s_ij - m_i) / den_i,
 *   (3) o_i = sum_j p_ij v_j;
 * backwards, g the gradient of o, (3) dv_j += p_ij g_i, dp_ij = g_i.v_j, (2) ds_ij = p_ij (dp_ij - c_i - D_i) with
 * D_i = sum_j p_ij (dp_ij - c_i), (1) dq_i += ds_ij k_j, dk_j += ds_ij q_i.
 * Any c_i gives the same. With c_i = 0 D_i is g_i.o_i, which is known, but where one key has nearly all of the weight, as in
 * a lookup, ds is the small difference of two large numbers. Here c_i is dp_ij of the key with the largest score: what is
 * added up is then as small as the weights of the others, and one key alone has a gradient of exactly 0.
 *
 * Here for full and window (tiles of queries and keys, so that every line is a product of small matrices), and for one query
 * and keys that are anywhere, which sparse and dsa use. Scores are computed twice, first for m and den; of them no more than
 * a tile is in memory.
 */
#include "full.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

enum { TILE = SOFTMAX_TILE };

/* ---- one query ----------------------------------------------------------------------------------------------------------- */

/* A row of at most TILE scores joins what the query has seen; scores and dp are overwritten. */
static void measure_row(softmax_row *r, float *s, float *dp, size_t count)
{
    const rung_kernels *kern = rung_kernels_get();
    float ones[TILE]; /* a sum in the order of a dot product has shorter chains of roundings */
    size_t best = 0;
    for (size_t j = 0; j < count; j++) ones[j] = 1;
    for (size_t j = 1; j < count; j++)
        if (s[j] > s[best]) best = j;
    if (r->sum == 0 || s[best] > r->max) {
        float fade = r->sum == 0 ? 0 : expf(r->max - s[best]);
        r->mean = (r->mean + r->sum * (r->centre - dp[best])) * fade;
        r->sum *= fade, r->max = s[best], r->centre = dp[best];
    }
    for (size_t j = 0; j < count; j++) s[j] -= r->max, dp[j] -= r->centre;
    kern->exp(s, s, count);
    r->sum += kern->dot(s, ones, count);
    r->mean += kern->dot(s, dp, count);
}

/* (2): scores become p, dp becomes ds. */
static void undo_row(float *s, float *dp, const softmax_row *r, size_t count)
{
    float scale = 1 / r->sum, mean = r->mean * scale;
    for (size_t j = 0; j < count; j++) s[j] -= r->max;
    rung_kernels_get()->exp(s, s, count);
    for (size_t j = 0; j < count; j++) {
        s[j] *= scale;
        dp[j] = s[j] * (dp[j] - r->centre - mean);
    }
}

static void score_slots(float *s, float *dp, const float *q, const float *g, const float *const *slot, size_t count,
                        const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t j = 0; j < count; j++) {
        s[j] = kern->dot(q, slot[j], conf->dk);
        dp[j] = kern->dot(g, slot[j] + conf->dk, conf->dv);
    }
}

void rung_softmax_measure_f32(softmax_row *r, const float *q, const float *g, const float *const *slot, size_t count,
                              const rung_mech_conf *conf)
{
    float s[TILE], dp[TILE];
    score_slots(s, dp, q, g, slot, count, conf);
    if (count) measure_row(r, s, dp, count);
}

void rung_softmax_undo_f32(float *dq, float *const *dslot, const softmax_row *r, const float *q, const float *g,
                           const float *const *slot, size_t count, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    float s[TILE], dp[TILE];
    score_slots(s, dp, q, g, slot, count, conf);
    undo_row(s, dp, r, count);
    for (size_t j = 0; j < count; j++) {
        kern->axpy(dslot[j] + conf->dk, s[j], g, conf->dv);
        kern->axpy(dslot[j], dp[j], q, conf->dk);
        kern->axpy(dq, dp[j], slot[j], conf->dk);
    }
}

/* ---- full and window --------------------------------------------------------------------------------------------------- */

/* One head of a stretch, and the tile of keys that is being worked on. */
typedef struct tiles {
    const rung_backward *b;
    size_t head;
    float *q, *g, *dq;  /* [tokens][dk], [tokens][dv], [tokens][dk] */
    softmax_row *row;   /* [tokens] */
    float *k, *kt, *vt; /* [keys][dk], its transpose, that of the values */
    float *dk, *dv;     /* [keys][dk], [keys][dv] */
    float *s, *ds;      /* [TILE][keys] */
    float *panels;      /* of the second factor of the product at work */
    size_t first, keys;
} tiles;

static size_t tile_elements(const rung_mech_conf *conf)
{
    size_t width = conf->dk > conf->dv ? conf->dk : conf->dv;
    return TILE * (3 * conf->dk + 2 * conf->dv + 2 * TILE) + rung_panels_size(TILE, width) +
           rung_panels_size(width, TILE);
}

size_t rung_full_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(size_times(tokens, 2 * conf->dk + conf->dv + sizeof(softmax_row) / sizeof(float)),
                     tile_elements(conf));
}

static size_t end_of(const tiles *t)
{
    return t->b->pos + t->b->tokens;
}

/* The head's rows of `width` elements side by side. */
static void gather_rows(float *to, const float *from, size_t width, const tiles *t)
{
    size_t H = t->b->conf->heads;
    for (size_t i = 0; i < t->b->tokens; i++)
        memcpy(to + i * width, from + (i * H + t->head) * width, width * sizeof *to);
}

static tiles tiles_init(const rung_backward *b, size_t head)
{
    size_t T = b->tokens, dk = b->conf->dk, dv = b->conf->dv;
    tiles t = {.b = b, .head = head, .q = b->scratch};
    t.g = t.q + T * dk, t.dq = t.g + T * dv;
    t.row = (softmax_row *)(t.dq + T * dk);
    t.k = (float *)(t.row + T), t.kt = t.k + TILE * dk, t.vt = t.kt + TILE * dk;
    t.dk = t.vt + TILE * dv, t.dv = t.dk + TILE * dk;
    t.s = t.dv + TILE * dv, t.ds = t.s + TILE * TILE, t.panels = t.ds + TILE * TILE;
    gather_rows(t.q, b->in[IN_Q], dk, &t);
    gather_rows(t.g, b->g, dv, &t);
    memset(t.dq, 0, T * dk * sizeof *t.dq);
    for (size_t i = 0; i < T; i++) t.row[i] = (softmax_row){0};
    return t;
}

/* Where the head's part of a slot of the state begins. */
static size_t slot_at(size_t token, const tiles *t)
{
    const rung_mech_conf *conf = t->b->conf;
    return slot_of(token, conf) * slot_size(conf) + t->head * (conf->dk + conf->dv);
}

static void load_keys(tiles *t, size_t first, size_t keys)
{
    const rung_backward *b = t->b;
    size_t H = b->conf->heads, dk = b->conf->dk, dv = b->conf->dv;
    t->first = first, t->keys = keys;
    for (size_t n = 0; n < keys; n++) {
        size_t j = first + n, row = (j - b->pos) * H + t->head;
        const float *k = j < b->pos ? b->state + slot_at(j, t) : b->in[IN_K] + row * dk;
        const float *v = j < b->pos ? k + dk : b->in[IN_V] + row * dv;
        memcpy(t->k + n * dk, k, dk * sizeof *k);
        for (size_t i = 0; i < dk; i++) t->kt[i * keys + n] = k[i];
        for (size_t i = 0; i < dv; i++) t->vt[i * keys + n] = v[i];
    }
    memset(t->dk, 0, keys * dk * sizeof *t->dk);
    memset(t->dv, 0, keys * dv * sizeof *t->dv);
}

/* Columns of the tile that a query of the stretch sees. */
static range columns_of(size_t query, const tiles *t)
{
    range keys = keys_of_query(t->b->pos + query, end_of(t), t->b->conf);
    size_t from = keys.first > t->first ? keys.first - t->first : 0;
    size_t to = keys.end > t->first ? size_min(keys.end - t->first, t->keys) : 0;
    return (range){size_min(from, to), to};
}

/* y += x w, w = [inner][cols], element (i, k) of x at x[i * x_row + k * x_inner]. */
static void add_product(const tiles *t, float *y, const float *x, const float *w, size_t rows, size_t cols,
                        size_t inner, size_t x_row, size_t x_inner)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_product p = {.y = y,
                            .x = x,
                            .panels = t->panels,
                            .start = y,
                            .rows = rows,
                            .cols = cols,
                            .inner = inner,
                            .y_row = cols,
                            .x_row = x_row,
                            .x_inner = x_inner,
                            .start_row = cols};
    kern->pack(t->panels, w, inner, cols, cols, 1);
    kern->multiply(&p);
}

/* (1), and dp of (3). */
static void score_tile(tiles *t, size_t query, size_t count)
{
    size_t dk = t->b->conf->dk, dv = t->b->conf->dv;
    memset(t->s, 0, count * t->keys * sizeof *t->s);
    memset(t->ds, 0, count * t->keys * sizeof *t->ds);
    add_product(t, t->s, t->q + query * dk, t->kt, count, t->keys, dk, dk, 1);
    add_product(t, t->ds, t->g + query * dv, t->vt, count, t->keys, dv, dv, 1);
}

static void measure_tile(tiles *t, size_t query, size_t count)
{
    score_tile(t, query, count);
    for (size_t n = 0; n < count; n++) {
        range c = columns_of(query + n, t);
        size_t at = n * t->keys + c.first;
        if (c.first < c.end) measure_row(&t->row[query + n], t->s + at, t->ds + at, c.end - c.first);
    }
}

static void undo_tile(tiles *t, size_t query, size_t count)
{
    size_t dk = t->b->conf->dk, dv = t->b->conf->dv, keys = t->keys;
    score_tile(t, query, count);
    for (size_t n = 0; n < count; n++) {
        range c = columns_of(query + n, t);
        float *s = t->s + n * keys, *ds = t->ds + n * keys;
        for (size_t j = 0; j < c.first; j++) s[j] = ds[j] = 0;
        for (size_t j = c.end; j < keys; j++) s[j] = ds[j] = 0;
        undo_row(s + c.first, ds + c.first, &t->row[query + n], c.end - c.first);
    }
    add_product(t, t->dv, t->s, t->g + query * dv, keys, dv, count, 1, keys);  /* (3) */
    add_product(t, t->dq + query * dk, t->ds, t->k, count, dk, keys, keys, 1); /* (1) */
    add_product(t, t->dk, t->ds, t->q + query * dk, keys, dk, count, 1, keys);
}

/* Queries that see a key of the tile. */
static range queries_of_tile(const tiles *t)
{
    const rung_mech_conf *conf = t->b->conf;
    size_t window = window_of(conf), last = t->first + t->keys - 1;
    size_t first = conf->causal ? t->first : t->first >= window ? t->first - window + 1 : 0;
    size_t end = window < SIZE_MAX - last ? size_min(end_of(t), last + window) : end_of(t);
    first = first > t->b->pos ? first - t->b->pos : 0;
    return (range){first, end - t->b->pos};
}

static void add_row(float *to, const float *from, size_t n)
{
    if (to) rung_kernels_get()->axpy(to, 1, from, n);
}

/* Gradients of the tile's keys go to the inputs of this stretch, or to the state before it. */
static void store_keys(const tiles *t)
{
    const rung_backward *b = t->b;
    size_t H = b->conf->heads, dk = b->conf->dk, dv = b->conf->dv;
    for (size_t n = 0; n < t->keys; n++) {
        size_t j = t->first + n, row = (j - b->pos) * H + t->head;
        bool old = j < b->pos;
        float *slot = old && b->dstate ? b->dstate + slot_at(j, t) : NULL;
        add_row(old ? slot : b->din[IN_K] ? b->din[IN_K] + row * dk : NULL, t->dk + n * dk, dk);
        add_row(old ? slot ? slot + dk : NULL : b->din[IN_V] ? b->din[IN_V] + row * dv : NULL, t->dv + n * dv, dv);
    }
}

static void each_tile(tiles *t, void (*visit)(tiles *t, size_t query, size_t count), bool store)
{
    size_t end = end_of(t), keys;
    for (size_t j = keys_of_query(t->b->pos, end, t->b->conf).first; j < end; j += keys) {
        keys = size_min(TILE, end - j);
        load_keys(t, j, keys);
        range queries = queries_of_tile(t);
        for (size_t i = queries.first; i < queries.end; i += TILE) visit(t, i, size_min(TILE, queries.end - i));
        if (store) store_keys(t);
    }
}

/* A gradient of the state after the stretch: what its tokens put there is theirs, and replaces what was there. */
static void undo_store(const rung_backward *b, size_t head)
{
    const tiles t = {.b = b, .head = head};
    size_t dk = b->conf->dk, dv = b->conf->dv, kept = size_min(b->tokens, slot_count(b->conf));
    for (size_t i = b->tokens - kept; i < b->tokens; i++) {
        float *slot = b->dstate + slot_at(b->pos + i, &t);
        size_t row = i * b->conf->heads + head;
        add_row(b->din[IN_K] ? b->din[IN_K] + row * dk : NULL, slot, dk);
        add_row(b->din[IN_V] ? b->din[IN_V] + row * dv : NULL, slot + dk, dv);
        memset(slot, 0, (dk + dv) * sizeof *slot);
    }
}

void rung_full_backward_f32(const rung_backward *b, size_t head)
{
    size_t H = b->conf->heads, dk = b->conf->dk;
    tiles t = tiles_init(b, head);
    if (b->dstate) undo_store(b, head);
    each_tile(&t, measure_tile, false);
    each_tile(&t, undo_tile, true);
    for (size_t i = 0; b->din[IN_Q] && i < b->tokens; i++)
        add_row(b->din[IN_Q] + (i * H + head) * dk, t.dq + i * dk, dk);
}
