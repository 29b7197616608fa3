/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Gradients of (B,k)-sparse attention. Forwards
 *   (1) c_b = comp(block b),   (2) y_r = softmax attention of branch r over its keys,   (3) o = sum_r w_r y_r;
 * backwards (3) dw_r = g.y_r, which is the gradient of a gate, dy_r = w_r g, (2) the softmax gradient over the same
 * keys, which adds to tokens and to summaries, (1) the gradient of a summary goes to the tokens of its block and to the
 * weights of the mlp. The selection of blocks has no gradient. The blocks are those of the forward pass, whose scores
 * have the same bits here. The head's slots are contiguous in scratch, as are their gradients, in the order of the
 * state. A summary has a key and a value there also with shared=1: two copies of one vector, whose gradients are added.
 */
#include "sparse.h"

#include "top.h"

#include "rung/kern.h"

#include <string.h>

typedef struct work {
    const rung_backward *b;
    sparse_plan plan; /* with slots of one head */
    size_t head, slots;
    float *slot, *dslot; /* [slots][dk+dv] */
    float *score;        /* [blocks] */
    float *g, *dq;       /* [dv], [dk] of the current query */
    float *compress, *dcompress;

    /* Keys of the current branch that wait for the softmax. */
    softmax_row row;
    const float *q, *key[SOFTMAX_TILE];
    float *dkey[SOFTMAX_TILE];
    size_t count;
    bool undo;
} work;

static size_t slots_after(size_t tokens, const sparse_plan *plan)
{
    return size_plus(tokens, tokens / plan->B);
}

/* The inputs of an mlp, its hidden layer and its output. */
static size_t compress_elements(const sparse_plan *plan, const rung_mech_conf *conf)
{
    return plan->comp == SPARSE_MLP ? (plan->B + 2) * (conf->dk + conf->dv) : 0;
}

size_t rung_sparse_backward_scratch(const rung_mech_conf *conf, size_t tokens)
{
    sparse_plan plan = rung_sparse_plan(conf);
    size_t width = conf->dk + conf->dv, slots = size_times(slots_after(tokens, &plan), 2 * width);
    size_t compress = compress_elements(&plan, conf), least = rung_sparse_compress_scratch(&plan, conf);
    return size_plus(size_plus(slots, tokens / plan.B), width + compress + (compress > least ? compress : least));
}

static work work_init(const rung_backward *b, size_t head)
{
    const rung_mech_conf *conf = b->conf;
    work w = {.b = b, .plan = rung_sparse_plan(conf), .head = head};
    size_t tokens = b->pos + b->tokens, width = conf->dk + conf->dv;
    w.plan.slot = w.plan.brief = width, w.plan.value = conf->dk;
    w.slots = slots_after(tokens, &w.plan);
    w.slot = b->scratch, w.dslot = w.slot + w.slots * width;
    w.score = w.dslot + w.slots * width, w.g = w.score + tokens / w.plan.B, w.dq = w.g + conf->dv;
    w.dcompress = w.dq + conf->dk, w.compress = w.dcompress + compress_elements(&w.plan, conf);
    return w;
}

static bool is_shared_summary(size_t slot, const work *w)
{
    return w->plan.shared && slot % (w->plan.B + 1) == w->plan.B;
}

/* Offset of the head's part of a slot in the state, and how many elements it has there. */
static size_t slot_at(size_t slot, const work *w)
{
    const rung_mech_conf *conf = w->b->conf;
    sparse_plan state = rung_sparse_plan_of(conf, w->head);
    size_t block = slot / (state.B + 1), place = slot % (state.B + 1), first = w->head * (conf->dk + conf->dv);
    return first + (place < state.B ? sparse_token(block * state.B + place, &state) : sparse_summary(block, &state));
}

static size_t slot_width(size_t slot, const work *w)
{
    return is_shared_summary(slot, w) ? w->b->conf->dk : w->plan.slot;
}

/* Loads the slots after the stretch, and the gradients that dstate has for them. */
static void load_slots(work *w)
{
    const rung_backward *b = w->b;
    size_t width = w->plan.slot, before = slots_after(b->pos, &w->plan);
    for (size_t s = 0; s < before; s++) {
        float *to = w->slot + s * width;
        memcpy(to, b->state + slot_at(s, w), slot_width(s, w) * sizeof *to);
        if (is_shared_summary(s, w)) memcpy(to + b->conf->dk, to, b->conf->dk * sizeof *to);
    }
    for (size_t t = 0; t < b->tokens; t++)
        rung_sparse_absorb_f32(w->slot, b->in, b->pos + t, t * b->conf->heads + w->head, &w->plan, b->conf,
                               w->compress);
    memset(w->dslot, 0, w->slots * width * sizeof *w->dslot);
    for (size_t s = 0; b->dstate && s < w->slots; s++)
        memcpy(w->dslot + s * width, b->dstate + slot_at(s, w), slot_width(s, w) * sizeof *w->dslot);
}

/* ---- (2), (3) ---------------------------------------------------------------------------------------------------- */

static void flush_keys(work *w)
{
    const rung_mech_conf *conf = w->b->conf;
    if (w->undo)
        rung_softmax_undo_f32(w->dq, w->dkey, &w->row, w->q, w->g, w->key, w->count, conf);
    else
        rung_softmax_measure_f32(&w->row, w->q, w->g, w->key, w->count, conf);
    w->count = 0;
}

/* `at` is an index of an element of the slots. */
static void put_key(work *w, size_t at)
{
    w->key[w->count] = w->slot + at, w->dkey[w->count++] = w->dslot + at;
    if (w->count == SOFTMAX_TILE) flush_keys(w);
}

static void put_tokens(work *w, size_t first, size_t end)
{
    for (size_t t = first; t < end; t++) put_key(w, sparse_token(t, &w->plan));
}

static void put_branch(work *w, size_t branch, size_t pos)
{
    const sparse_plan *plan = &w->plan;
    for (size_t c = 0; branch == 0 && c < complete_blocks(pos, plan); c++) put_key(w, sparse_summary(c, plan));
    if (branch == 1) {
        rung_top top = rung_top_f32(w->score, candidate_blocks(pos, plan), plan->k);
        for (size_t c; (c = rung_top_next(&top)) != SIZE_MAX;) put_tokens(w, c * plan->B, (c + 1) * plan->B);
        if (plan->own) put_tokens(w, pos - pos % plan->B, pos + 1);
    }
    if (branch == 2) put_tokens(w, window_start(pos, plan), pos + 1);
    flush_keys(w);
}

/* Returns the gradient of the branch's weight. */
static float undo_branch(work *w, size_t branch, size_t pos, float weight, const float *g)
{
    size_t dv = w->b->conf->dv;
    w->row = (softmax_row){0}, w->undo = false;
    memcpy(w->g, g, dv * sizeof *g);
    put_branch(w, branch, pos);
    if (w->row.sum == 0) return 0; /* no key */
    float dweight = w->row.centre + w->row.mean / w->row.sum;
    w->row.centre *= weight, w->row.mean *= weight, w->undo = true;
    rung_kernels_get()->scale(w->g, weight, dv);
    put_branch(w, branch, pos);
    return dweight;
}

static void undo_query(work *w, size_t t)
{
    const rung_backward *b = w->b;
    const rung_kernels *kern = rung_kernels_get();
    size_t row = t * b->conf->heads + w->head, dk = b->conf->dk, pos = b->pos + t;
    float weight[BRANCHES], *dgates = b->din[IN_GATES] ? b->din[IN_GATES] + row * BRANCHES : NULL;
    w->q = b->in[IN_Q] + row * dk;
    memset(w->dq, 0, dk * sizeof *w->dq);
    rung_sparse_weights_f32(weight, w->plan.nsa ? b->in[IN_GATES] + row * BRANCHES : NULL, &w->plan);
    for (size_t c = 0; c < complete_blocks(pos, &w->plan); c++)
        w->score[c] = kern->dot(w->q, w->slot + sparse_summary(c, &w->plan), dk);
    for (size_t branch = 0; branch < (w->plan.W ? BRANCHES : 2); branch++) {
        float dweight = undo_branch(w, branch, pos, weight[branch], b->g + row * b->conf->dv);
        if (w->plan.nsa && dgates) dgates[branch] += dweight;
    }
    if (b->din[IN_Q]) kern->axpy(b->din[IN_Q] + row * dk, 1, w->dq, dk);
}

/* ---- (1) --------------------------------------------------------------------------------------------------------- */

static void add_to(float *to, float a, const float *from, size_t n)
{
    if (to) rung_kernels_get()->axpy(to, a, from, n);
}

/* One side of a block: dc is known, and dx of the first token is added to. `in` is the index of the first input of that
 * side; every second input belongs to it. */
static void undo_mlp(float *dx, const float *dc, const float *x, size_t d, size_t in, work *w)
{
    const rung_backward *b = w->b;
    size_t B = w->plan.B, place = in, first = in + (IN_FIRST_K - IN_PLACE_K), second = in + (IN_SECOND_K - IN_PLACE_K);
    const sparse_mlp mlp = {b->in[place], b->in[first], b->in[second]};
    float *all = w->compress, *hidden = all + B * d, *c = hidden + d, *dall = w->dcompress, *dhidden = dall + B * d;
    rung_sparse_mlp_f32(c, x, mlp, d, &w->plan, w->compress);
    memset(dall, 0, (B + 1) * d * sizeof *dall);
    for (size_t r = 0; r < d; r++) { /* c = W2 hidden */
        add_to(dhidden, dc[r], mlp.second + r * d, d);
        add_to(b->din[second] ? b->din[second] + r * d : NULL, dc[r], hidden, d);
    }
    for (size_t r = 0; r < d; r++) { /* hidden = relu(W1 all) */
        if (hidden[r] <= 0) continue;
        add_to(dall, dhidden[r], mlp.first + r * B * d, B * d);
        add_to(b->din[first] ? b->din[first] + r * B * d : NULL, dhidden[r], all, B * d);
    }
    add_to(b->din[place], 1, dall, B * d); /* all = x + place */
    for (size_t i = 0; i < B; i++) add_to(dx + i * w->plan.slot, 1, dall + i * d, d);
}

/* The gradient of a shared vector, as key and as value, in the place of the key. */
static void join_copies(float *dc, size_t dk)
{
    add_to(dc, 1, dc + dk, dk);
    memset(dc + dk, 0, dk * sizeof *dc);
}

static void undo_compress(work *w, size_t block)
{
    const rung_backward *b = w->b;
    const sparse_plan *plan = &w->plan;
    size_t dk = b->conf->dk, dv = b->conf->dv, first = sparse_token(block * plan->B, plan);
    size_t row = (block * plan->B + plan->B - 1 - b->pos) * b->conf->heads + w->head;
    const float *x = w->slot + first;
    float *dx = w->dslot + first, *dc = w->dslot + sparse_summary(block, plan);
    if (plan->shared) join_copies(dc, dk);
    switch (plan->comp) {
    case SPARSE_MEAN:
        for (size_t i = 0; i < plan->B; i++)
            add_to(dx + i * plan->slot, 1 / (float)plan->B, dc, plan->shared ? dk : dk + dv);
        return;
    case SPARSE_MLP:
        undo_mlp(dx, dc, x, dk, IN_PLACE_K, w);
        if (!plan->shared) undo_mlp(dx + dk, dc + dk, x + dk, dv, IN_PLACE_V, w);
        return;
    case SPARSE_GIVEN:
        add_to(b->din[IN_CK] ? b->din[IN_CK] + row * dk : NULL, 1, dc, dk);
        if (!plan->shared) add_to(b->din[IN_CV] ? b->din[IN_CV] + row * dv : NULL, 1, dc + dk, dv);
    }
}

/* ---- a stretch --------------------------------------------------------------------------------------------------- */

/* The gradients of the tokens of the stretch go to din, all others to the state before it. */
static void store_slots(const work *w)
{
    const rung_backward *b = w->b;
    size_t width = w->plan.slot, dk = b->conf->dk, dv = b->conf->dv, before = slots_after(b->pos, &w->plan);
    for (size_t t = 0, row = w->head; t < b->tokens; t++, row += b->conf->heads) {
        const float *d = w->dslot + sparse_token(b->pos + t, &w->plan);
        add_to(b->din[IN_K] ? b->din[IN_K] + row * dk : NULL, 1, d, dk);
        add_to(b->din[IN_V] ? b->din[IN_V] + row * dv : NULL, 1, d + dk, dv);
    }
    for (size_t s = 0; b->dstate && s < w->slots; s++) {
        float *to = b->dstate + slot_at(s, w), *from = w->dslot + s * width;
        if (s < before && is_shared_summary(s, w)) join_copies(from, dk);
        if (s < before)
            memcpy(to, from, slot_width(s, w) * sizeof *to);
        else
            memset(to, 0, slot_width(s, w) * sizeof *to);
    }
}

void rung_sparse_backward_f32(const rung_backward *b, size_t head)
{
    work w = work_init(b, head);
    load_slots(&w);
    for (size_t t = 0; t < b->tokens; t++) undo_query(&w, t);
    for (size_t c = b->pos / w.plan.B; c < (b->pos + b->tokens) / w.plan.B; c++) undo_compress(&w, c);
    store_slots(&w);
}
