/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of the selective scan, in steps of STEP tokens, block by block of channels. Forwards
 *   (1) e_nc = e^{dt_c A_cn},   (2) h'_n = e_n h_n + (dt x) B_n,   (3) y = sum_n C_n h'_n + D x;
 * backwards, with D_n the gradient of h'_n,
 *   (3) dC_n = h'_n . g, D_n += C_n g, dD = x g, dx = D g;
 *   (2) dB_n = D_n . (dt x), d(dt x) = sum_n B_n D_n, de_n = D_n h_n, dh_n = e_n D_n;
 *   (1) f_n = de_n e_n: ddt = sum_n f_n A_n, dA_n = f_n dt.
 * The states before all steps are kept. The states and decays inside a step are computed again, once.
 */
#include "mamba.h"
#include "replay.h"

#include <string.h>

/* Tokens whose states and decays, 64 bytes each, stay in the second cache for one block of channels. */
enum { STEP = 16 };

typedef struct context {
    rung_back_head at;
    float *rates, *drates; /* blocks */
    float *h;              /* a block */
    float *kept, *decays;  /* [STEP] blocks */
    float *met;            /* two blocks */
    float *room;           /* [dk][dv] */
} context;

static rung_selective block_at(size_t step, size_t channel, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t first = step * STEP;
    rung_selective p = rung_mamba_block(b->in, first, size_min(STEP, b->tokens - first), channel, c->at.head, b->conf);
    p.rates = c->rates + channel * b->conf->dk;
    return p;
}

static void absorb(float *h, size_t step, const void *c_)
{
    const context *c = c_;
    const rung_mech_conf *conf = c->at.b->conf;
    for (size_t channel = 0; channel < conf->dv; channel += RUNG_SELECTIVE) {
        rung_selective p = block_at(step, channel, c);
        p.h = h + channel * conf->dk;
        rung_chunk_kernels_get()->selective_scan(&p);
    }
}

static float *from(float *x, size_t offset)
{
    return x ? x + offset : NULL;
}

static void undo_block(float *dh, const float *before, size_t step, size_t channel, const context *c)
{
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv, place = channel * dk;
    rung_selective_back p = {.scan = block_at(step, channel, c),
                             .first = before + place,
                             .g = b->conf->causal ? rung_back_row(b->g, &c->at, step * STEP, dv) + channel : NULL,
                             .dh = dh + place,
                             .drates = c->drates + place,
                             .dx = from(rung_back_din(b->din[MAMBA_X], &c->at, step * STEP, dv), channel),
                             .ddt = from(rung_back_din(b->din[MAMBA_DT], &c->at, step * STEP, dv), channel),
                             .dB = rung_back_din(b->din[MAMBA_B], &c->at, step * STEP, dk),
                             .dC = rung_back_din(b->din[MAMBA_C], &c->at, step * STEP, dk),
                             .dD = from(rung_back_din(b->din[MAMBA_D], &c->at, 0, dv), channel),
                             .met = c->met};
    p.scan.h = memcpy(c->h, before + place, RUNG_SELECTIVE * dk * sizeof *c->h);
    p.scan.kept = c->kept, p.scan.decays = c->decays;
    rung_chunk_kernels_get()->selective_scan(&p.scan);
    rung_chunk_kernels_get()->selective_undo(&p);
}

static void undo(float *dh, const float *before, const float *after, size_t step, const void *c_)
{
    const context *c = c_;
    (void)after;
    for (size_t channel = 0; channel < c->at.b->conf->dv; channel += RUNG_SELECTIVE)
        undo_block(dh, before, step, channel, c);
}

/* ---- an encoder -------------------------------------------------------------------------------------------------- */

static void add_product(float *to, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; to && i < n; i++) to[i] += a[i] * b[i];
}

/* (3), dh and h as [dk][dv] */
static void undo_read(float *dh, const float *h, size_t t, const context *c)
{
    const rung_backward *b = c->at.b;
    const rung_kernels *kern = rung_kernels_get();
    size_t dk = b->conf->dk, dv = b->conf->dv;
    const float *g = rung_back_row(b->g, &c->at, t, dv), *C = rung_back_row(b->in[MAMBA_C], &c->at, t, dk);
    float *dC = rung_back_din(b->din[MAMBA_C], &c->at, t, dk);
    add_product(rung_back_din(b->din[MAMBA_D], &c->at, 0, dv), rung_back_row(b->in[MAMBA_X], &c->at, t, dv), g, dv);
    add_product(rung_back_din(b->din[MAMBA_X], &c->at, t, dv), rung_back_row(b->in[MAMBA_D], &c->at, 0, dv), g, dv);
    for (size_t n = 0; n < dk; n++) {
        if (dC) dC[n] += kern->dot(h + n * dv, g, dv);
        kern->axpy(dh + n * dv, C[n], g, dv);
    }
}

/* Every token reads the last state. */
static void finish(float *dh, const float *last, const void *c_)
{
    const context *c = c_;
    const rung_mech_conf *conf = c->at.b->conf;
    float *gradient = c->room, *state = gradient + conf->dk * conf->dv;
    rung_mamba_close(state, last, conf);
    rung_mamba_close(gradient, dh, conf);
    for (size_t t = 0; t < c->at.b->tokens; t++) undo_read(gradient, state, t, c);
    rung_mamba_open(dh, gradient, conf);
}

/* ---- one head ---------------------------------------------------------------------------------------------------- */

static size_t steps_of(size_t tokens)
{
    return tokens / STEP + (tokens % STEP != 0);
}

static size_t work(const rung_mech_conf *conf)
{
    return 2 * rung_mamba_blocks_size(conf) + (2 * STEP + 3) * RUNG_SELECTIVE * conf->dk + 2 * conf->dk * conf->dv;
}

/* The work, a state and its gradient to begin with, and the states before all steps. */
size_t rung_mamba_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t size = rung_mamba_blocks_size(conf);
    return size_plus(work(conf) + 2 * size, rung_replay_scratch_all(size, steps_of(tokens)));
}

static context context_new(const rung_backward *b, size_t head)
{
    size_t size = rung_mamba_blocks_size(b->conf), block = RUNG_SELECTIVE * b->conf->dk;
    context c = {.at = {b, head}, .rates = b->scratch};
    c.drates = c.rates + size;
    c.h = c.drates + size;
    c.kept = c.h + block;
    c.decays = c.kept + STEP * block;
    c.met = c.decays + STEP * block;
    c.room = c.met + 2 * block;
    rung_mamba_rates(c.rates, b->in[MAMBA_A] + head * b->conf->dk * b->conf->dv, b->conf);
    memset(c.drates, 0, size * sizeof *c.drates);
    return c;
}

void rung_mamba_backward_f32(const rung_backward *b, size_t head)
{
    context c = context_new(b, head);
    size_t size = rung_mamba_blocks_size(b->conf), place = head * b->conf->dk * b->conf->dv;
    float *start = b->scratch + work(b->conf), *dh = start + size;
    rung_replay r = {.size = size,
                     .steps = steps_of(b->tokens),
                     .keeps_all = true,
                     .absorb = absorb,
                     .finish = b->conf->causal ? NULL : finish,
                     .undo = undo,
                     .context = &c};
    rung_mamba_open(start, b->state ? b->state + place : NULL, b->conf);
    rung_mamba_open(dh, b->dstate ? b->dstate + place : NULL, b->conf);
    rung_replay_run(&r, start, dh, dh + size);
    if (b->dstate) rung_mamba_close(b->dstate + place, dh, b->conf);
    if (b->din[MAMBA_A]) rung_mamba_add_rates(b->din[MAMBA_A] + place, c.drates, b->conf);
}
