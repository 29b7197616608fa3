/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The backward pass of the mechanisms in matrix.c: one head, its chunks from the last to the first.
 */
#include "matrix_undo.h"
#include "replay.h"

typedef struct context {
    rung_back_head at;
    matrix_chunk chunk; /* buffers; its rows and length are those of the current step */
    matrix_back back;
} context;

static matrix_chunk chunk_at(const context *c, size_t number)
{
    const rung_backward *b = c->at.b;
    matrix_chunk k = c->chunk;
    rung_matrix_chunk_rows(&k, b->in, number * CHUNK, b->tokens, c->at.head, b->conf);
    return k;
}

static void absorb(float *S, size_t number, const void *c_)
{
    const context *c = c_;
    matrix_chunk k = chunk_at(c, number);
    k.scans = true;
    k.next = size_min(CHUNK, c->at.b->tokens - number * CHUNK - k.n);
    rung_matrix_chunk_enter(&k, S, false);
    rung_matrix_chunk_leave(S, NULL, &k);
}

static void undo(float *dS, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    const rung_mech_conf *conf = b->conf;
    size_t token = number * CHUNK, dg = rung_matrix_decay_size(conf);
    matrix_step p = {.c = &c->back,
                     .k = chunk_at(c, number),
                     .previous = number ? CHUNK : 0,
                     .g = conf->causal ? rung_back_row(b->g, &c->at, token, conf->dv) : NULL,
                     .g_row = conf->heads * conf->dv,
                     .dq = rung_back_din(b->din[IN_Q], &c->at, token, conf->dk),
                     .dk = rung_back_din(b->din[IN_K], &c->at, token, conf->dk),
                     .dv = rung_back_din(b->din[IN_V], &c->at, token, conf->dv)};
    (void)after;
    if (p.k.r.beta) p.dbeta = rung_back_din(b->din[IN_BETA], &c->at, token, 1);
    if (dg) p.dg = rung_back_din(b->din[place_of_g(conf)], &c->at, token, dg);
    rung_matrix_chunk_enter(&p.k, S, p.g != NULL);
    rung_matrix_undo(dS, S, &p);
}

/* An encoder reads only the last state. */
static void finish(float *dS, const float *S, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv, row = b->conf->heads * dv;
    const float *g = rung_back_row(b->g, &c->at, 0, dv);
    rung_chunk_flip(c->back.S_flipped, S, dk, dv);
    rung_chunk_product(rung_back_din(b->din[IN_Q], &c->at, 0, dk), b->conf->heads * dk, chunk_rows(g, row),
                       c->back.S_flipped, dv, b->tokens, dk, dv, true);
    for (size_t t = 0; t < b->tokens; t += CHUNK) {
        matrix_chunk k = chunk_at(c, t / CHUNK);
        rung_kernels_get()->pack(c->back.upstream, g + t * row, k.n, dv, row, 1);
        rung_chunk_absorb(dS, chunk_rows(k.r.q, k.r.key_row), c->back.upstream, k.n, dk, dv);
    }
}

/* ---- one head ---------------------------------------------------------------------------------------------------- */

static size_t work(const rung_mech_conf *conf)
{
    return rung_matrix_chunk_size(conf) + rung_matrix_back_size(conf);
}

/* Scratch: the buffers, an initial state and its gradient, and the states of all chunks, which are dk dv / CHUNK
 * numbers per token. */
size_t rung_matrix_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t state = rung_panels_size(conf->dk, conf->dv);
    return size_plus(work(conf) + 2 * state, rung_replay_scratch_all(state, chunk_count(tokens)));
}

void rung_matrix_backward_f32(const rung_backward *b, size_t head)
{
    context c = {.at = {b, head},
                 .chunk = rung_matrix_chunk_new(b->conf, b->scratch),
                 .back = rung_matrix_back_new(b->conf, b->scratch + rung_matrix_chunk_size(b->conf))};
    size_t dk = b->conf->dk, dv = b->conf->dv, size = rung_panels_size(dk, dv), place = head * dk * dv;
    float *start = b->scratch + work(b->conf), *D = start + size;
    rung_replay r = {.size = size,
                     .steps = chunk_count(b->tokens),
                     .keeps_all = true,
                     .absorb = absorb,
                     .finish = b->conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    rung_chunk_open(start, b->state ? b->state + place : NULL, dk, dv);
    rung_chunk_open(D, b->dstate ? b->dstate + place : NULL, dk, dv);
    rung_replay_run(&r, start, D, D + size);
    if (b->dstate) rung_chunk_close(b->dstate + place, D, dk, dv);
}
