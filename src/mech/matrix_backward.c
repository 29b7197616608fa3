/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of the mechanisms in matrix.c, chunk by chunk, in the notation of its head. Forwards
 *   (1) u_t = beta_t r_t, r_t = v_t - (what k_t recalls, s < t), or u_t = v_t;   (2) o_t = (what q_t recalls, s <= t);
 *   (3) S_C = E_C0 S_0 + sum_s (E_Cs k_s) u_s^T,
 * where x recalls y = S_0^T (E_t0 x) + sum_s (k_s . E_ts x) u_s. A recall whose y has the gradient d gives
 *   dx = E_t0 (S_0 d) + sum_s E_ts k_s (u_s . d),   dk_s = E_ts x (u_s . d),   du_s = (k_s . E_ts x) d,   dS_0 = (E_t0 x) d^T.
 * Backwards: (3) with D the gradient of S_C, du_s = D^T (E_Cs k_s), dk_s = E_Cs (D u_s), dS_0 = E_C0 D; (2) with d = g_t; (1)
 * the tokens from the last to the first: du_t is complete, dbeta_t = du_t . r_t, dv_t = beta_t du_t, d = -dv_t. This is the
 * transposed triangular system of the WY form; all the rest are products of matrices.
 *
 * g_r stands in the exponent of every E_ts with s < r <= t, so dg_r is the sum of E_ts dE_ts over these pairs. They are
 * added up over s first, then over t; no difference of prefix sums, which would lose a small one behind a large one. With a
 * decay per channel a pair counts where it is known: inside a subchunk, from one to the other, and with what is before and
 * after the chunk.
 */
#include "matrix_chunk.h"
#include "replay.h"

#include <string.h>

typedef struct context {
    rung_back_head at;
    matrix_chunk chunk;                             /* buffers; rows and length are those of a step */
    float *S_flipped, *D_flipped, *u_flipped;       /* panels of the transposes */
    float *upstream, *values, *q_panels, *k_panels; /* panels of g, of dv of the delta rule, of q and k */
    float *du;                                      /* [n][chunk_wide(dv)]: du, then dv of the delta rule */
    float *dA;                                      /* pairs */
    float *W, *flipped;                             /* pairs: E_ts dE_ts, and transposed */
    float *m;                                       /* [n][dk] */
    /* E dE of what is before the chunk with each token, of each token with what is after it: [n] numbers, or rows of dk;
     * of what goes through the chunk, or through each of its subchunks. */
    float *from_start, *to_end, *through;
    float *one;      /* [CHUNK] */
    float *unwanted; /* [3][dk], for gradients that nobody wants */
} context;

/* One chunk on its way back; d* point to the head's part of its first token, NULL where they are not wanted. */
typedef struct step {
    const context *c;
    matrix_chunk k;
    const float *g; /* NULL: an encoder, whose reads have been undone */
    float *dq, *dk, *dv, *dbeta, *dg;
} step;

/* A recall of all tokens: the rows x, as they are and faded from the start; d, the gradient of what they recalled, which counts
 * with the sign that `from` has as well; the pairs s + before <= t. */
typedef struct recall {
    float *dx;
    const float *x, *x_panels, *pairs, *d_panels;
    chunk_factor from, d;
    float sign;
    size_t before;
} recall;

static matrix_chunk chunk_at(const context *c, size_t number)
{
    const rung_backward *b = c->at.b;
    matrix_chunk k = c->chunk;
    rung_matrix_chunk_rows(&k, b->in, number * CHUNK, b->tokens, c->at.head, b->conf);
    return k;
}

static void absorb(float *S, size_t number, const void *c_)
{
    matrix_chunk k = chunk_at(c_, number);
    rung_matrix_chunk_enter(&k, S, false);
    rung_matrix_chunk_leave(S, &k);
}

static void add_weighted(float *y, size_t y_row, const float *x, size_t x_row, const float *a, size_t rows, size_t n)
{
    if (y) rung_chunk_kernels_get()->add_rows(y, y_row, x, x_row, a, rows, n);
}

/* ---- rows that have faded from the start, or to the end ------------------------------------------------------------------ */

/* c->m is the gradient of the faded rows of x: dx += sign E m, weight += sign E m x. */
static void undo_fade(float *dx, float *weight, const float *x, const float *E, float sign, const step *p)
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

/* The same per channel. E are products inside the subchunks; `part` has faded through the other one as well. */
static void undo_channel_fade(float *dx, float *weight, const float *x, const float *E, size_t part, float sign,
                              const step *p)
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

/* What a recall takes from S_0. */
static void undo_start(float *dS, const recall *x, const step *p)
{
    const matrix_chunk *k = &p->k;
    const context *c = p->c;
    rung_chunk_product(c->m, k->dk, x->d, c->S_flipped, k->dv, k->n, k->dk, k->dv, false);
    rung_chunk_absorb(dS, x->from, x->d_panels, k->n, k->dk, k->dv);
    if (k->kind.decay == DECAY_CHANNEL)
        undo_channel_fade(x->dx, c->from_start, x->x, k->since, 1, x->sign, p);
    else
        undo_fade(x->dx, c->from_start, x->x, k->start, x->sign, p);
}

/* (3): what the keys give to S_C, whose gradient is in D_flipped. */
static void undo_end(const step *p)
{
    const matrix_chunk *k = &p->k;
    const context *c = p->c;
    chunk_factor u = k->kind.corrects ? chunk_rows(k->rest, chunk_wide(k->dv)) : chunk_rows(k->r.v, k->r.value_row);
    rung_chunk_product(c->m, k->dk, u, c->D_flipped, k->dv, k->n, k->dk, k->dv, false);
    if (k->kind.corrects) rung_chunk_kernels_get()->scale_rows(c->m, k->dk, c->m, k->dk, k->beta, k->n, k->dk);
    if (k->kind.decay == DECAY_CHANNEL)
        undo_channel_fade(p->dk, c->to_end, k->r.k, k->until, 0, 1, p);
    else
        undo_fade(p->dk, c->to_end, k->r.k, k->end, 1, p);
}

/* ---- pairs --------------------------------------------------------------------------------------------------------------- */

/* Inside the subchunks. */
static void undo_near_pairs(const recall *x, const step *p)
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

/* One side of the pairs of the second subchunk with the first: the rows y times E are the other side, those of x get
 * E' times the product, and weight the same times x. */
static void undo_far_side(float *dx, float *weight, const float *x, const float *E, size_t rows, chunk_factor d,
                          const float *y, const float *E_y, size_t y_rows, const step *p)
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

static void undo_far_pairs(const recall *x, const step *p)
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

static void undo_pairs(const recall *x, const step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const context *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n;
    rung_chunk_pairs(c->dA, x->d, c->u_flipped, n, k->dv);
    if (k->kind.decay == DECAY_CHANNEL) {
        kern->mask_pairs(c->dA, NULL, n, x->before, x->sign);
        undo_near_pairs(x, p);
        undo_far_pairs(x, p);
        return;
    }
    if (k->kind.decay == DECAY_HEAD && p->dg)
        kern->add_weights(c->W, x->pairs, c->dA, n, x->before); /* both without their sign, which is the same */
    kern->mask_pairs(c->dA, k->kind.decay == DECAY_HEAD ? k->E : NULL, n, x->before, x->sign);
    rung_chunk_lower(x->dx, k->r.key_row, c->dA, c->k_panels, n, k->dk);
    rung_chunk_upper(p->dk, k->r.key_row, c->dA, x->x_panels, n, k->dk);
}

/* ---- decays -------------------------------------------------------------------------------------------------------------- */

/* The rows of S_0 that come through the chunk. */
static void weigh_through(const float *dS, const float *S, const step *p)
{
    const matrix_chunk *k = &p->k;
    float met[CHUNK], *through = p->c->through;
    size_t dk = k->dk;
    if (!p->dg) return;
    if (k->kind.decay == DECAY_HEAD) {
        *through = k->start[k->n - 1] * rung_kernels_get()->dot(S, dS, rung_panels_size(dk, k->dv));
        return;
    }
    memset(through, 0, dk * sizeof *through);
    for (size_t col = 0; col < k->dv; col += RUNG_PANEL)
        for (size_t j = 0; j < dk; j += CHUNK) {
            size_t rows = size_min(CHUNK, dk - j), at = col * dk + j * RUNG_PANEL;
            rung_chunk_kernels_get()->dot_rows(met, S + at, RUNG_PANEL, dS + at, RUNG_PANEL, rows, RUNG_PANEL);
            for (size_t i = 0; i < rows; i++) through[j + i] += k->whole[j + i] * met[i];
        }
}

/* What goes through the first subchunk also comes from before the chunk to the second; what goes through the second also goes
 * from the first to the end. Before the pairs of the two are weighed. */
static void weigh_parts(const step *p)
{
    const matrix_chunk *k = &p->k;
    const context *c = p->c;
    size_t dk = k->dk, second = chunk_part(k, 1);
    if (!p->dg || k->kind.decay != DECAY_CHANNEL || !second) return;
    memcpy(c->through + dk, c->through, dk * sizeof *c->through);
    add_weighted(c->through, 0, c->from_start + SUBCHUNK * dk, dk, c->one, second, dk);
    add_weighted(c->through + dk, 0, c->to_end, dk, c->one, SUBCHUNK, dk);
}

static void add_decays(const step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const matrix_chunk *k = &p->k;
    const context *c = p->c;
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

/* ---- one chunk --------------------------------------------------------------------------------------------------------- */

static void prepare(const float *dS, const float *S, const step *p)
{
    const rung_kernels *kern = rung_kernels_get();
    const context *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dk = k->dk, dv = k->dv, decays = rung_matrix_decay_size(c->at.b->conf);
    rung_chunk_flip(c->S_flipped, S, dk, dv);
    rung_chunk_flip(c->D_flipped, dS, dk, dv);
    rung_chunk_flip(c->u_flipped, k->u, n, dv);
    if (p->g) kern->pack(c->upstream, p->g, n, dv, k->r.value_row, 1);
    if (k->kind.decay != DECAY_CHANNEL) {
        kern->pack(c->k_panels, k->r.k, n, dk, k->r.key_row, 1);
        if (p->g) kern->pack(c->q_panels, k->r.q, n, dk, k->r.key_row, 1);
    }
    memset(c->from_start, 0, 2 * CHUNK * decays * sizeof *c->from_start); /* and to_end */
    memset(c->W, 0, PAIRS * sizeof *c->W);
}

/* du_s of (3) and (2), and for the delta rule (1): its dv, in rows and in panels. */
static void undo_values(const float *dS, const step *p)
{
    const rung_chunk_kernels *kern = rung_chunk_kernels_get();
    const context *c = p->c;
    const matrix_chunk *k = &p->k;
    size_t n = k->n, dv = k->dv, wide = chunk_wide(dv);
    float met[CHUNK];
    if (!k->kind.corrects) {
        rung_chunk_product(p->dv, k->r.value_row, k->to_k, dS, k->dk, n, dv, k->dk, true);
        if (p->g) rung_chunk_upper(p->dv, k->r.value_row, k->A, c->upstream, n, dv);
        return;
    }
    memset(c->du, 0, n * wide * sizeof *c->du);
    rung_chunk_product(c->du, wide, k->to_k, dS, k->dk, n, dv, k->dk, true);
    if (p->g) rung_chunk_upper(c->du, wide, k->A, c->upstream, n, dv);
    rung_chunk_solve(c->values, c->du, k->B, k->beta, n, dv, true);
    kern->dot_rows(met, c->du, wide, k->rest, wide, n, dv);
    for (size_t t = 0; p->dbeta && t < n; t++) p->dbeta[t * k->r.beta_row] += met[t];
    kern->scale_rows(c->du, wide, c->du, wide, k->beta, n, dv);
    add_weighted(p->dv, k->r.value_row, c->du, wide, c->one, n, dv);
}

static step step_at(const context *c, size_t number)
{
    const rung_backward *b = c->at.b;
    const rung_mech_conf *conf = b->conf;
    size_t token = number * CHUNK, dg = rung_matrix_decay_size(conf);
    step p = {.c = c,
              .k = chunk_at(c, number),
              .g = conf->causal ? rung_back_row(b->g, &c->at, token, conf->dv) : NULL,
              .dq = rung_back_din(b->din[IN_Q], &c->at, token, conf->dk),
              .dk = rung_back_din(b->din[IN_K], &c->at, token, conf->dk),
              .dv = rung_back_din(b->din[IN_V], &c->at, token, conf->dv)};
    if (p.k.r.beta) p.dbeta = rung_back_din(b->din[IN_BETA], &c->at, token, 1);
    if (dg) p.dg = rung_back_din(b->din[place_of_g(conf)], &c->at, token, dg);
    return p;
}

static void undo(float *dS, const float *S, const float *after, size_t number, const void *c_)
{
    const context *c = c_;
    step p = step_at(c, number);
    matrix_chunk *k = &p.k;
    (void)after;
    rung_matrix_chunk_enter(k, S, p.g != NULL);
    prepare(dS, S, &p);
    undo_values(dS, &p);
    undo_end(&p);
    weigh_through(dS, S, &p);
    rung_matrix_chunk_fade(dS, k);
    recall by_q = {.dx = p.dq,
                   .x = k->r.q,
                   .x_panels = c->q_panels,
                   .pairs = k->A,
                   .d_panels = c->upstream,
                   .from = k->from_q,
                   .d = chunk_rows(p.g, k->r.value_row),
                   .sign = 1};
    recall by_k = {.dx = p.dk,
                   .x = k->r.k,
                   .x_panels = c->k_panels,
                   .pairs = k->B,
                   .d_panels = c->values,
                   .from = k->from_k,
                   .d = chunk_rows(c->du, chunk_wide(k->dv)),
                   .sign = -1,
                   .before = 1};
    if (p.g) undo_start(dS, &by_q, &p);
    if (k->kind.corrects) undo_start(dS, &by_k, &p);
    weigh_parts(&p);
    if (p.g) undo_pairs(&by_q, &p);
    if (k->kind.corrects) undo_pairs(&by_k, &p);
    add_decays(&p);
}

/* An encoder has read the last state only. */
static void finish(float *dS, const float *S, const void *c_)
{
    const context *c = c_;
    const rung_backward *b = c->at.b;
    size_t dk = b->conf->dk, dv = b->conf->dv, row = b->conf->heads * dv;
    const float *g = rung_back_row(b->g, &c->at, 0, dv);
    rung_chunk_flip(c->S_flipped, S, dk, dv);
    rung_chunk_product(rung_back_din(b->din[IN_Q], &c->at, 0, dk), b->conf->heads * dk, chunk_rows(g, row),
                       c->S_flipped, dv, b->tokens, dk, dv, true);
    for (size_t t = 0; t < b->tokens; t += CHUNK) {
        matrix_chunk k = chunk_at(c, t / CHUNK);
        rung_kernels_get()->pack(c->upstream, g + t * row, k.n, dv, row, 1);
        rung_chunk_absorb(dS, chunk_rows(k.r.q, k.r.key_row), c->upstream, k.n, dk, dv);
    }
}

/* ---- one head ---------------------------------------------------------------------------------------------------------- */

static size_t work(const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    return rung_matrix_chunk_size(conf) + 2 * rung_panels_size(dv, dk) + rung_panels_size(dv, CHUNK) +
           2 * rung_panels_size(CHUNK, dv) + 2 * rung_panels_size(CHUNK, dk) + CHUNK * chunk_wide(dv) + 3 * PAIRS +
           CHUNK * dk + (2 * CHUNK + 2) * rung_matrix_decay_size(conf) + CHUNK + 3 * dk;
}

/* The work, a state and its gradient to begin with, and the states of all chunks: n tokens have as many numbers in a state
 * as in n / CHUNK rows of values when dk = CHUNK. */
size_t rung_matrix_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t state = rung_panels_size(conf->dk, conf->dv);
    return size_plus(work(conf) + 2 * state, rung_replay_scratch_all(state, chunk_count(tokens)));
}

static context context_new(const rung_backward *b, size_t head)
{
    const rung_mech_conf *conf = b->conf;
    size_t dk = conf->dk, dv = conf->dv, decays = rung_matrix_decay_size(conf);
    context c = {.at = {b, head}, .chunk = rung_matrix_chunk_new(conf, b->scratch)};
    c.S_flipped = b->scratch + rung_matrix_chunk_size(conf);
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

void rung_matrix_backward_f32(const rung_backward *b, size_t head)
{
    context c = context_new(b, head);
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
