/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * RWKV-7 in chunks of n <= SUBCHUNK tokens. With s_t = S_{t-1}^T a_t and E_ts the product of w_r over s < r <= t, per
 * channel, unrolling the recurrence from S_0 before the chunk gives
 *   s_t = S_0^T (E_{t-1,0} a_t) + sum_{j<t} (b_j . E_{t-1,j} a_t) s_j + sum_{j<t} (k_j . E_{t-1,j} a_t) v_j,
 *   o_t = S_0^T (E_t0 r_t) + sum_{j<=t} (b_j . E_tj r_t) s_j + sum_{j<=t} (k_j . E_tj r_t) v_j,
 *   S_n = E_n0 S_0 + sum_j (E_nj b_j) s_j^T + sum_j (E_nj k_j) v_j^T:
 * a triangular system for s, and products of matrices. E is the product of its own w, never a quotient. The n rows s
 * and the n rows v stand in one panel, and so do the pairs and the keys that multiply them.
 */
#include "rwkv7_chunk.h"

#include <assert.h>
#include <string.h>

enum { BOTH = RWKV7_BOTH };
_Static_assert(2 * RUNG_SUBCHUNK == RUNG_CHUNK, "the pairs with s and with v fill a row of pairs");

size_t rung_rwkv7_chunk_size(const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    return 2 * SUBCHUNK * CHUNK + rung_panels_size(BOTH, dv) + SUBCHUNK * chunk_wide(dv) + (5 * SUBCHUNK + BOTH) * dk +
           rung_panels_size(dk, dv);
}

rwkv7_chunk rung_rwkv7_chunk_new(const rung_mech_conf *conf, float *scratch)
{
    rwkv7_chunk c = {.dk = conf->dk,
                     .dv = conf->dv,
                     .key_row = conf->heads * conf->dk,
                     .value_row = conf->heads * conf->dv,
                     .reads = scratch};
    size_t rows = SUBCHUNK * c.dk;
    c.asks = c.reads + SUBCHUNK * CHUNK;
    c.u = c.asks + SUBCHUNK * CHUNK;
    c.rest = c.u + rung_panels_size(BOTH, c.dv);
    c.decays = c.rest + SUBCHUNK * chunk_wide(c.dv);
    c.since = c.decays + rows;
    c.until = c.since + rows;
    c.faded_r = c.until + rows;
    c.faded_a = c.faded_r + rows;
    c.ended = c.faded_a + rows;
    return c;
}

void rung_rwkv7_chunk_rows(rwkv7_chunk *c, const float *const *in, size_t first, size_t tokens, size_t head,
                           const rung_mech_conf *conf)
{
    size_t key = (first * conf->heads + head) * c->dk, value = (first * conf->heads + head) * c->dv;
    c->n = size_min(SUBCHUNK, tokens - first);
    c->r = in[RWKV7_R] + key, c->w = in[RWKV7_W] + key, c->k = in[RWKV7_K] + key;
    c->v = in[RWKV7_V] + value, c->a = in[RWKV7_A] + key, c->b = in[RWKV7_B] + key;
}

/* Rows of v behind those of s in every panel. The rows that a short chunk leaves are zero. */
static void enter_values(const rwkv7_chunk *c)
{
    size_t n = c->n;
    if (n < SUBCHUNK) memset(c->u, 0, rung_panels_size(BOTH, c->dv) * sizeof *c->u);
    for (size_t col = 0; col < c->dv; col += RUNG_PANEL)
        rung_kernels_get()->pack(c->u + col * BOTH + SUBCHUNK * RUNG_PANEL, c->v + col, n,
                                 size_min(RUNG_PANEL, c->dv - col), c->value_row, 1);
}

/* The rows of b or of k, faded to the end, or zeros behind the last one. */
static void end_keys(float *ended, const float *key, const rwkv7_chunk *c)
{
    rung_chunk_kernels_get()->multiply_rows(ended, c->dk, key, c->key_row, c->until, c->dk, c->n, c->dk);
    memset(ended + c->n * c->dk, 0, (SUBCHUNK - c->n) * c->dk * sizeof *ended);
}

static void enter_decays(const rwkv7_chunk *c)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    size_t n = c->n, dk = c->dk, row = c->key_row;
    for (size_t t = 0; t < n; t++) memcpy(c->decays + t * dk, c->w + t * row, dk * sizeof *c->decays);
    kern->channel_decays(c->since, c->until, c->decays, n, dk);
    kern->multiply_rows(c->faded_r, dk, c->r, row, c->since, dk, n, dk);
    memcpy(c->faded_a, c->a, dk * sizeof *c->faded_a);
    kern->multiply_rows(c->faded_a + dk, dk, c->a + row, row, c->since, dk, n - 1, dk);
    end_keys(c->ended, c->b, c);
    end_keys(c->ended + SUBCHUNK * dk, c->k, c);
    kern->crossed_pairs(c->reads, c->asks, c->r, c->a, c->b, c->k, row, c->decays, dk, n, dk);
}

/* The triangular system for s: what S_0 and the values give, then the earlier s. Panels have BOTH rows. */
static void solve(const float *S, const rwkv7_chunk *c)
{
    enum { STEP = 8 };
    float one[SUBCHUNK];
    size_t n = c->n, wide = chunk_wide(c->dv);
    for (size_t t = 0; t < n; t++) one[t] = 1;
    memset(c->rest, 0, n * wide * sizeof *c->rest); /* beyond dv too */
    rung_chunk_product(c->rest, wide, chunk_rows(c->faded_a, c->dk), S, c->dk, n, c->dv, c->dk, false);
    rung_chunk_product(c->rest, wide, chunk_rows(c->asks + SUBCHUNK, CHUNK), c->u + SUBCHUNK * RUNG_PANEL, BOTH, n,
                       c->dv, n, true);
    for (size_t t = 0; t < n; t += STEP) {
        size_t rows = size_min(STEP, n - t);
        float *rest = c->rest + t * wide;
        const float *pairs = c->asks + t * CHUNK;
        if (t) rung_chunk_product(rest, wide, chunk_rows(pairs, CHUNK), c->u, BOTH, rows, c->dv, t, true);
        rung_chunk_kernels_get()->solve_block(c->u + t * RUNG_PANEL, rest, wide, pairs + t, CHUNK, 1, one + t, rows,
                                              c->dv, BOTH, false);
    }
}

void rung_rwkv7_chunk_enter(const float *S, const rwkv7_chunk *c)
{
    enter_values(c);
    enter_decays(c);
    solve(S, c);
}

/* The rows of x of the next chunk. */
static rung_chunk_rows rows_after(const float *x, size_t row, size_t width, const rwkv7_chunk *c)
{
    return (rung_chunk_rows){x ? x + c->n * row : NULL, row, x ? c->next : 0, width};
}

/* Returns whether o is finite. */
static bool read_chunk(float *o, const float *S, const rwkv7_chunk *c)
{
    size_t row = c->key_row, dk = c->dk;
    return rung_chunk_kernels_get()->read_state(
        &(rung_chunk_read){.o = o,
                           .x = c->faded_r,
                           .S = S,
                           .pairs = c->reads,
                           .values = c->u,
                           .o_row = c->value_row,
                           .x_row = dk,
                           .n = c->n,
                           .dk = dk,
                           .dv = c->dv,
                           .value_rows = BOTH,
                           .inner = BOTH,
                           .next = {rows_after(c->w, row, dk, c), rows_after(c->a, row, dk, c),
                                    rows_after(c->b, row, dk, c), rows_after(c->k, row, dk, c)}});
}

void rung_rwkv7_chunk_leave(float *S, const float *o, const rwkv7_chunk *c)
{
    size_t row = c->key_row, dk = c->dk;
    rung_chunk_kernels_get()->leave_state(
        &(rung_chunk_leave){.S = S,
                            .x = c->ended,
                            .values = c->u,
                            .fade = c->since + (c->n - 1) * c->dk,
                            .x_row = 1,
                            .x_inner = c->dk,
                            .fade_step = 1,
                            .n = BOTH,
                            .dk = c->dk,
                            .dv = c->dv,
                            .value_rows = BOTH,
                            .next = {rows_after(c->v, c->value_row, c->dv, c), rows_after(o ? c->r : NULL, row, dk, c),
                                     rows_after(o, c->value_row, c->dv, c), rows_after(o ? NULL : c->w, row, dk, c),
                                     rows_after(o ? NULL : c->a, row, dk, c), rows_after(o ? NULL : c->b, row, dk, c),
                                     rows_after(o ? NULL : c->k, row, dk, c)}});
}

size_t rung_rwkv7_chunks_f32(float *o, float *state, const float *const *in, size_t first, size_t tokens, size_t head,
                             const rung_mech_conf *conf, float *scratch)
{
    rwkv7_chunk c = rung_rwkv7_chunk_new(conf, scratch);
    float *S = c.ended + BOTH * c.dk, *out = o + head * c.dv;
    size_t t = first;
    rung_chunk_open(S, state, c.dk, c.dv);
    while (t < tokens) {
        rung_rwkv7_chunk_rows(&c, in, t, tokens, head, conf);
        float *row = conf->causal ? out + t * c.value_row : NULL;
        c.next = size_min(SUBCHUNK, tokens - t - c.n);
        rung_rwkv7_chunk_enter(S, &c);
        if (row && !read_chunk(row, S, &c)) break;
        rung_rwkv7_chunk_leave(S, row, &c);
        t += c.n;
    }
    rung_chunk_close(state, S, c.dk, c.dv);
    return t;
}
