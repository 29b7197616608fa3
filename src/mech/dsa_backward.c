/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of DeepSeek sparse attention. The attention is a softmax over the chosen tokens S_t; its gradient goes to
 * q, k and v. The choice has no gradient, so the indexer learns from its own loss, as in the sparse stage of
 * DeepSeek-V3.2:
 *   L = sum_t KL(p_t || P_t),   P_t = softmax of I_ts over s in S_t,   p_ts = the mean over heads of the attention
 *   that token s gets, a constant;   so dL/dI_ts = P_ts - p_ts.
 * The gradient of L is added to the caller's loss, whatever that is. It goes to iq, ik and iw only:
 *   I_ts = sum_j w_tj relu(x_tjs), x_tjs = iq_tj.ik_s:   dw_tj += dI relu(x),  and if x > 0:  diq_tj += dI w_tj ik_s,
 *   dik_s += dI w_tj iq_tj.
 * Head 0 computes the indexer's part for all heads. Every head finds the choice itself, with the same bits as the
 * forward pass.
 */
#include "dsa.h"
#include "top.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

typedef struct work {
    const rung_backward *b;
    dsa_plan plan;
    size_t head;
    dsa_index index;
    float *slot, *dslot;    /* [pos + tokens][dk+dv]: slots of this head, contiguous */
    float *score;           /* [pos + tokens]: I of the current query */
    float *attention, *one; /* [chosen]: p, and the contribution of one head */
    float *dq;              /* [dk] */
} work;

size_t rung_dsa_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    return size_plus(size_times(tokens, 2 * (conf->dk + conf->dv) + 3), conf->dk);
}

static work work_init(const rung_backward *b, size_t head)
{
    size_t tokens = b->pos + b->tokens, width = b->conf->dk + b->conf->dv;
    work w = {.b = b, .plan = rung_dsa_plan(b->conf), .head = head, .index = {b->state, b->in[IN_IK], b->pos}};
    w.slot = b->scratch, w.dslot = w.slot + tokens * width;
    w.score = w.dslot + tokens * width, w.attention = w.score + tokens, w.one = w.attention + tokens;
    w.dq = w.one + tokens;
    return w;
}

/* Offset of the head's part of a slot in the state. */
static size_t slot_at(size_t token, size_t head, const work *w)
{
    return token * w->plan.slot + head * (w->b->conf->dk + w->b->conf->dv);
}

static const float *key_of(size_t token, size_t head, const work *w)
{
    const rung_backward *b = w->b;
    return token < b->pos ? b->state + slot_at(token, head, w)
                          : b->in[IN_K] + ((token - b->pos) * b->conf->heads + head) * b->conf->dk;
}

/* Loads the head's keys and values after the stretch, and the gradients that dstate has for them. */
static void load_slots(work *w)
{
    const rung_backward *b = w->b;
    size_t dk = b->conf->dk, dv = b->conf->dv, width = dk + dv, end = b->pos + b->tokens;
    for (size_t s = 0; s < end; s++) {
        const float *k = key_of(s, w->head, w);
        const float *v = s < b->pos ? k + dk : b->in[IN_V] + ((s - b->pos) * b->conf->heads + w->head) * dv;
        slot_put_f32(w->slot + s * width, k, v, b->conf);
    }
    memset(w->dslot, 0, end * width * sizeof *w->dslot);
    for (size_t s = 0; b->dstate && s < end; s++)
        memcpy(w->dslot + s * width, b->dstate + slot_at(s, w->head, w), width * sizeof *w->dslot);
}

/* Returns the tokens that query t reads. w->score must not change while they are enumerated. */
static rung_top choose(work *w, size_t t)
{
    const rung_backward *b = w->b;
    const dsa_plan *p = &w->plan;
    size_t visible = b->conf->causal ? b->pos + t + 1 : b->pos + b->tokens;
    rung_dsa_scores_f32(w->score, w->index, b->in[IN_IQ] + t * p->HI * p->DI, b->in[IN_IW] + t * p->HI, visible, p);
    return rung_top_f32(w->score, visible, p->k);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* Takes the next chosen slots, at most one tile. */
static size_t take_tile(const float **slot, float **dslot, rung_top *top, const work *w)
{
    size_t count = 0, width = w->b->conf->dk + w->b->conf->dv;
    for (size_t s; count < SOFTMAX_TILE && (s = rung_top_next(top)) != SIZE_MAX; count++)
        slot[count] = w->slot + s * width, dslot[count] = w->dslot + s * width;
    return count;
}

static void undo_query(work *w, size_t t, rung_top top)
{
    const rung_mech_conf *conf = w->b->conf;
    size_t row = t * conf->heads + w->head, count;
    const float *q = w->b->in[IN_Q] + row * conf->dk, *g = w->b->g + row * conf->dv, *slot[SOFTMAX_TILE];
    float *dslot[SOFTMAX_TILE], *dq = w->b->din[IN_Q];
    rung_top again = top;
    softmax_row r = {0};
    memset(w->dq, 0, conf->dk * sizeof *w->dq);
    while ((count = take_tile(slot, dslot, &top, w)) > 0) rung_softmax_measure_f32(&r, q, g, slot, count, conf);
    while ((count = take_tile(slot, dslot, &again, w)) > 0)
        rung_softmax_undo_f32(w->dq, dslot, &r, q, g, slot, count, conf);
    for (size_t i = 0; top.nan && i < conf->dk; i++) w->dq[i] = NAN; /* the output was NaN too */
    if (dq) rung_kernels_get()->axpy(dq + row * conf->dk, 1, w->dq, conf->dk);
}

/* ---- indexer ----------------------------------------------------------------------------------------------------- */

static void softmax(float *x, size_t count)
{
    float max = x[0], sum = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > max) max = x[i];
    for (size_t i = 0; i < count; i++) x[i] -= max;
    rung_kernels_get()->exp(x, x, count);
    for (size_t i = 0; i < count; i++) sum += x[i];
    rung_kernels_get()->scale(x, 1 / sum, count);
}

/* Computes p of query t and returns the number of chosen tokens. */
static size_t average_attention(work *w, size_t t, const rung_top *top)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_mech_conf *conf = w->b->conf;
    size_t count = 0;
    for (size_t h = 0; h < conf->heads; h++) {
        rung_top chosen = *top;
        count = 0;
        for (size_t s; (s = rung_top_next(&chosen)) != SIZE_MAX;)
            w->one[count++] = kern->dot(w->b->in[IN_Q] + (t * conf->heads + h) * conf->dk, key_of(s, h, w), conf->dk);
        softmax(w->one, count);
        if (h == 0) memset(w->attention, 0, count * sizeof *w->attention);
        kern->axpy(w->attention, 1 / (float)conf->heads, w->one, count);
    }
    return count;
}

/* The backward step of one I_ts, for all heads of the indexer. */
static void undo_score(work *w, size_t t, size_t s, float dI)
{
    const rung_kernels *kern = rung_kernels_get();
    const rung_backward *b = w->b;
    const dsa_plan *p = &w->plan;
    const float *ik = dsa_index_key(w->index, s, p);
    float *dik = s < b->pos      ? b->dstate ? b->dstate + s * p->slot + p->keys : NULL
                 : b->din[IN_IK] ? b->din[IN_IK] + (s - b->pos) * p->DI
                                 : NULL;
    for (size_t j = 0; j < p->HI; j++) {
        size_t at = (t * p->HI + j) * p->DI, weight = t * p->HI + j;
        float x = kern->dot(b->in[IN_IQ] + at, ik, p->DI), dx = dI * b->in[IN_IW][weight];
        if (x <= 0) continue;
        if (b->din[IN_IW]) b->din[IN_IW][weight] += dI * x;
        if (b->din[IN_IQ]) kern->axpy(b->din[IN_IQ] + at, dx, ik, p->DI);
        if (dik) kern->axpy(dik, dx, b->in[IN_IQ] + at, p->DI);
    }
}

static void undo_index(work *w, size_t t, rung_top top)
{
    size_t count = average_attention(w, t, &top), n = 0;
    rung_top chosen = top;
    for (size_t s; (s = rung_top_next(&chosen)) != SIZE_MAX;) w->one[n++] = w->score[s];
    softmax(w->one, count);
    for (size_t i = 0; i < count; i++) {
        size_t s = rung_top_next(&top);
        undo_score(w, t, s, w->one[i] - w->attention[i]);
    }
}

/* Moves the gradients of this stretch's indexer keys from dstate to din, because they are inputs of the stretch. */
static void undo_index_store(const work *w)
{
    const rung_backward *b = w->b;
    const dsa_plan *p = &w->plan;
    for (size_t t = 0; b->dstate && t < b->tokens; t++) {
        float *slot = b->dstate + (b->pos + t) * p->slot + p->keys;
        if (b->din[IN_IK]) rung_kernels_get()->axpy(b->din[IN_IK] + t * p->DI, 1, slot, p->DI);
        memset(slot, 0, p->DI * sizeof *slot);
    }
}

/* ---- a stretch --------------------------------------------------------------------------------------------------- */

static void store_slots(const work *w)
{
    const rung_backward *b = w->b;
    size_t dk = b->conf->dk, dv = b->conf->dv, width = dk + dv, end = b->pos + b->tokens;
    for (size_t t = 0, row = w->head; t < b->tokens; t++, row += b->conf->heads) {
        const float *d = w->dslot + (b->pos + t) * width;
        if (b->din[IN_K]) rung_kernels_get()->axpy(b->din[IN_K] + row * dk, 1, d, dk);
        if (b->din[IN_V]) rung_kernels_get()->axpy(b->din[IN_V] + row * dv, 1, d + dk, dv);
    }
    for (size_t s = 0; b->dstate && s < end; s++) {
        float *to = b->dstate + slot_at(s, w->head, w);
        if (s < b->pos)
            memcpy(to, w->dslot + s * width, width * sizeof *to);
        else
            memset(to, 0, width * sizeof *to);
    }
}

void rung_dsa_backward_f32(const rung_backward *b, size_t head)
{
    work w = work_init(b, head);
    bool indexer = head == 0 && (b->din[IN_IQ] || b->din[IN_IK] || b->din[IN_IW] || b->dstate);
    load_slots(&w);
    if (head == 0) undo_index_store(&w);
    for (size_t t = 0; t < b->tokens; t++) {
        rung_top top = choose(&w, t);
        undo_query(&w, t, top);
        if (indexer) undo_index(&w, t, top);
    }
    store_slots(&w);
}
