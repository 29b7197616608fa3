/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of RWKV-7, chunk by chunk, in the notation of rwkv7_chunk.c. Forwards
 *   (1) s_t = S_0^T (E_{t-1,0} a_t) + sum_{j<t} B_tj s_j + sum_{j<t} K_tj v_j   (B, K: the pairs that s_t asks),
 *   (2) o_t = S_0^T (E_t0 r_t) + sum_{j<=t} (b_j . E_tj r_t) s_j + sum_{j<=t} (k_j . E_tj r_t) v_j,
 *   (3) S_n = E_n0 S_0 + sum_j (E_nj b_j) s_j^T + sum_j (E_nj k_j) v_j^T;
 * backwards, with D the gradient of S_n and g_t that of o_t,
 *   (3), (2) ds_j = D^T (E_nj b_j) + sum_{t>=j} (b_j . E_tj r_t) g_t, and dv_j the same with k;
 *   (1) the tokens from the last to the first: ds_j += sum_{t>j} B_tj ds_t, then dv_j += sum_{t>j} K_tj ds_t.
 * The faded rows have the gradients S_0 g_t, S_0 ds_t, D s_j and D v_j; a pair has g_t or ds_t times s_j or v_j. What
 * these say about r, a, b, k and w is undo_crossed of the kernels. dS_0 = E_n0 D + sum_t (E_t0 r_t) g_t^T +
 * sum_t (E_{t-1,0} a_t) ds_t^T.
 */
#include "rwkv7_chunk.h"

#include <string.h>

typedef struct context {
    rung_back_head at;
    rwkv7_chunk chunk;                        /* buffers; its rows and length are those of the current step */
    float *S_flipped, *D_flipped, *u_flipped; /* panels of the transposes */
    float *upstream, *solved;                 /* panels of g and of ds, SUBCHUNK rows */
    float *du;                                /* [RWKV7_BOTH][chunk_wide(dv)] ds, then dv */
    float *dreads, *dasks;                    /* [SUBCHUNK][CHUNK] */
    float *from_r, *from_a, *to_b, *to_k;     /* [SUBCHUNK][dk] gradients of the faded rows */
    float *through;                           /* [dk] S_0 . D */
} context;

static rwkv7_chunk chunk_at(size_t number, const context *c)
{
    const rung_backward *b = c->at.b;
    rwkv7_chunk k = c->chunk;
    rung_rwkv7_chunk_rows(&k, b->in, number * SUBCHUNK, b->tokens, c->at.head, b->conf);
    return k;
}

static void absorb(float *S, size_t number, const void *c_)
{
    const context *c = c_;
    rwkv7_chunk k = chunk_at(number, c);
    k.next = size_min(SUBCHUNK, c->at.b->tokens - number * SUBCHUNK - k.n);
    rung_rwkv7_chunk_enter(S, &k);
    rung_rwkv7_chunk_leave(S, NULL, &k);
}

/* An encoder reads the last state only. */
static void finish(float *D, const float *S, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv, row = b->conf->heads * dv;
    const float *g = rung_back_row(b->g, &c->at, 0, dv);
    rung_chunk_flip(c->S_flipped, S, dk, dv);
    rung_chunk_product(rung_back_din(b->din[RWKV7_R], &c->at, 0, dk), b->conf->heads * dk, chunk_rows(g, row),
                       c->S_flipped, dv, b->tokens, dk, dv, true);
    for (size_t number = 0; number * SUBCHUNK < b->tokens; number++) {
        rwkv7_chunk k = chunk_at(number, c);
        rung_kernels_get()->pack(c->upstream, g + number * SUBCHUNK * row, k.n, dv, row, 1);
        rung_chunk_absorb(D, chunk_rows(k.r, k.key_row), c->upstream, k.n, dk, dv);
    }
}

/* The rows of x before those of the chunk; NULL: none. */
static rung_chunk_rows rows_before(const float *x, size_t number, size_t width, const context *c)
{
    return chunk_rows_before(rung_back_row(x, &c->at, number * SUBCHUNK, width), c->at.b->conf->heads * width,
                             number ? SUBCHUNK : 0, width);
}

/* ds and dv; g NULL: nothing was read. */
static void undo_values(const float *D, const float *g, size_t number, const rwkv7_chunk *k, const context *c)
{
    const float *const *in = c->at.b->in;
    size_t n = k->n, dk = k->dk, dv = k->dv, wide = chunk_wide(dv);
    float one[SUBCHUNK], *values = c->du + SUBCHUNK * wide;
    const rung_chunk_rows next[RUNG_CHUNK_ERRANDS] = {
        rows_before(in[RWKV7_W], number, dk, c),          rows_before(in[RWKV7_V], number, dv, c),
        rows_before(in[RWKV7_A], number, dk, c),          rows_before(in[RWKV7_B], number, dk, c),
        rows_before(in[RWKV7_K], number, dk, c),          rows_before(in[RWKV7_R], number, dk, c),
        rows_before(g ? c->at.b->g : NULL, number, dv, c)};
    for (size_t t = 0; t < n; t++) one[t] = 1;
    memset(c->du, 0, RWKV7_BOTH * wide * sizeof *c->du); /* beyond dv too */
    rung_chunk_product_asking(c->du, wide, chunk_rows(k->ended, dk), D, dk, RWKV7_BOTH, dv, dk, false, next);
    if (g) {
        rung_kernels_get()->pack(c->upstream, g, n, dv, k->value_row, 1);
        rung_chunk_product(c->du, wide, chunk_columns(k->reads, CHUNK), c->upstream, n, RWKV7_BOTH, dv, n, true);
    }
    rung_chunk_solve(c->solved, c->du, k->asks, one, n, dv, true);
    rung_chunk_product(values, wide, chunk_columns(k->asks + SUBCHUNK, CHUNK), c->solved, n, n, dv, n, true);
}

static void undo_rows(const float *D, const float *S, const float *g, size_t number, const rwkv7_chunk *k,
                      const context *c)
{
    float *const *din = c->at.b->din;
    size_t n = k->n, dk = k->dk, dv = k->dv, wide = chunk_wide(dv);
    chunk_factor ds = chunk_rows(c->du, wide);
    const rung_chunk_rows some[RUNG_CHUNK_ERRANDS] = {rows_before(din[RWKV7_V], number, dv, c),
                                                      rows_before(din[RWKV7_A], number, dk, c),
                                                      rows_before(din[RWKV7_W], number, dk, c)};
    const rung_chunk_rows others[RUNG_CHUNK_ERRANDS] = {rows_before(din[RWKV7_R], number, dk, c),
                                                        rows_before(din[RWKV7_B], number, dk, c),
                                                        rows_before(din[RWKV7_K], number, dk, c)};
    rung_chunk_flip(c->S_flipped, S, dk, dv);
    rung_chunk_flip(c->D_flipped, D, dk, dv);
    rung_chunk_flip(c->u_flipped, k->u, RWKV7_BOTH, dv);
    rung_chunk_product_asking(c->from_a, dk, ds, c->S_flipped, dv, n, dk, dv, false, some);
    rung_chunk_product_asking(c->to_b, dk, chunk_rows(k->rest, wide), c->D_flipped, dv, n, dk, dv, false, others);
    rung_chunk_product(c->to_k, dk, chunk_rows(k->v, k->value_row), c->D_flipped, dv, n, dk, dv, false);
    rung_chunk_product(c->dasks, CHUNK, ds, c->u_flipped, dv, n, RWKV7_BOTH, dv, false);
    if (g) {
        rung_chunk_product(c->from_r, dk, chunk_rows(g, k->value_row), c->S_flipped, dv, n, dk, dv, false);
        rung_chunk_product(c->dreads, CHUNK, chunk_rows(g, k->value_row), c->u_flipped, dv, n, RWKV7_BOTH, dv, false);
    } else {
        memset(c->from_r, 0, n * dk * sizeof *c->from_r);
        memset(c->dreads, 0, n * CHUNK * sizeof *c->dreads);
    }
}

/* The panels are filled up with zeros. */
static void undo_through(const float *D, const float *S, const rwkv7_chunk *k, const context *c)
{
    float met[CHUNK];
    size_t dk = k->dk;
    memset(c->through, 0, dk * sizeof *c->through);
    for (size_t col = 0; col < k->dv; col += RUNG_PANEL)
        for (size_t j = 0; j < dk; j += CHUNK) {
            size_t rows = size_min(CHUNK, dk - j), at = col * dk + j * RUNG_PANEL;
            rung_chunk_kernels_get()->dot_rows(met, S + at, RUNG_PANEL, D + at, RUNG_PANEL, rows, RUNG_PANEL);
            for (size_t i = 0; i < rows; i++) c->through[j + i] += met[i];
        }
}

static void undo_decays(size_t number, const rwkv7_chunk *k, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t token = number * SUBCHUNK, dk = k->dk;
    rung_chunk_kernels_get()->undo_crossed(&(rung_crossed_back){.r = k->r,
                                                                .a = k->a,
                                                                .b = k->b,
                                                                .k = k->k,
                                                                .w = k->w,
                                                                .reads = c->dreads,
                                                                .asks = c->dasks,
                                                                .from_r = c->from_r,
                                                                .from_a = c->from_a,
                                                                .to_b = c->to_b,
                                                                .to_k = c->to_k,
                                                                .through = c->through,
                                                                .since = k->since,
                                                                .until = k->until,
                                                                .dr = rung_back_din(b->din[RWKV7_R], &c->at, token, dk),
                                                                .da = rung_back_din(b->din[RWKV7_A], &c->at, token, dk),
                                                                .db = rung_back_din(b->din[RWKV7_B], &c->at, token, dk),
                                                                .dk = rung_back_din(b->din[RWKV7_K], &c->at, token, dk),
                                                                .dw = rung_back_din(b->din[RWKV7_W], &c->at, token, dk),
                                                                .row = k->key_row,
                                                                .n = k->n,
                                                                .d = dk});
}

static void undo(float *D, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    rwkv7_chunk k = chunk_at(number, c);
    size_t n = k.n, dk = k.dk, dv = k.dv, wide = chunk_wide(dv);
    const float *g = b->conf->causal ? rung_back_row(b->g, &c->at, number * SUBCHUNK, dv) : NULL;
    float *d_v = rung_back_din(b->din[RWKV7_V], &c->at, number * SUBCHUNK, dv), one[SUBCHUNK];
    (void)after;
    for (size_t t = 0; t < n; t++) one[t] = 1;
    rung_rwkv7_chunk_enter(S, &k);
    undo_values(D, g, number, &k, c);
    if (d_v) rung_chunk_kernels_get()->add_rows(d_v, k.value_row, c->du + SUBCHUNK * wide, wide, one, n, dv);
    undo_rows(D, S, g, number, &k, c);
    undo_through(D, S, &k, c);
    undo_decays(number, &k, c);
    rung_chunk_fade(D, k.since + (n - 1) * dk, true, dk, dv);
    if (g) rung_chunk_absorb(D, chunk_rows(k.faded_r, dk), c->upstream, n, dk, dv);
    rung_chunk_absorb(D, chunk_rows(k.faded_a, dk), c->solved, n, dk, dv);
}

/* ---- one head ---------------------------------------------------------------------------------------------------- */

static size_t work(const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    return rung_rwkv7_chunk_size(conf) + 2 * rung_panels_size(dv, dk) + rung_panels_size(dv, RWKV7_BOTH) +
           2 * rung_panels_size(SUBCHUNK, dv) + RWKV7_BOTH * chunk_wide(dv) + 2 * SUBCHUNK * CHUNK +
           (4 * SUBCHUNK + 1) * dk;
}

/* The work, a state and its gradient to begin with, and the replay. */
size_t rung_rwkv7_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t state = rung_panels_size(conf->dk, conf->dv);
    return size_plus(work(conf) + 2 * state, rung_replay_scratch(state, (tokens + SUBCHUNK - 1) / SUBCHUNK));
}

static context context_new(const rung_backward *b, size_t head)
{
    size_t dk = b->conf->dk, dv = b->conf->dv;
    context c = {.at = {b, head}, .chunk = rung_rwkv7_chunk_new(b->conf, b->scratch)};
    c.S_flipped = b->scratch + rung_rwkv7_chunk_size(b->conf);
    c.D_flipped = c.S_flipped + rung_panels_size(dv, dk);
    c.u_flipped = c.D_flipped + rung_panels_size(dv, dk);
    c.upstream = c.u_flipped + rung_panels_size(dv, RWKV7_BOTH);
    c.solved = c.upstream + rung_panels_size(SUBCHUNK, dv);
    c.du = c.solved + rung_panels_size(SUBCHUNK, dv);
    c.dreads = c.du + RWKV7_BOTH * chunk_wide(dv);
    c.dasks = c.dreads + SUBCHUNK * CHUNK;
    c.from_r = c.dasks + SUBCHUNK * CHUNK;
    c.from_a = c.from_r + SUBCHUNK * dk;
    c.to_b = c.from_a + SUBCHUNK * dk;
    c.to_k = c.to_b + SUBCHUNK * dk;
    c.through = c.to_k + SUBCHUNK * dk;
    return c;
}

void rung_rwkv7_backward_f32(const rung_backward *b, size_t head)
{
    context c = context_new(b, head);
    size_t dk = b->conf->dk, dv = b->conf->dv, size = rung_panels_size(dk, dv), place = head * dk * dv;
    float *start = b->scratch + work(b->conf), *D = start + size;
    rung_replay r = {.size = size,
                     .steps = (b->tokens + SUBCHUNK - 1) / SUBCHUNK,
                     .absorb = absorb,
                     .finish = b->conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    rung_chunk_open(start, b->state ? b->state + place : NULL, dk, dv);
    rung_chunk_open(D, b->dstate ? b->dstate + place : NULL, dk, dv);
    rung_replay_run(&r, start, D, D + size);
    if (b->dstate) rung_chunk_close(b->dstate + place, D, dk, dv);
}
