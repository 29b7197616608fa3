/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * DeepSeek sparse attention: a small indexer chooses k tokens for a query, and softmax attention looks at those.
 *   I_ts = sum_j w_tj relu(iq_tj . ik_s), j = 0 .. HI-1 in this order;
 *   the k tokens with the largest I_ts among those that the query may see (among equal ones the earlier; all of them if
 *   there are no more than k), the same for all heads; softmax over them from low to high positions.
 * A NaN among the I_ts leaves no order: the outputs of that query are NaN.
 *
 * State: a slot per token, [H][dk+dv] and then its indexer key [DI]. The scan of a head computes the indexer itself,
 * because heads run independently of each other; head 0 stores the indexer keys.
 */
#include "dsa.h"
#include "top.h"

#include "rung/kern.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Queries in one group of an exact scan. Each has a row of n scores. */
enum { GROUP = 16 };

dsa_plan rung_dsa_plan(const rung_mech_conf *conf)
{
    dsa_plan p = {.k = (size_t)rung_mech_param(conf, "k"),
                  .HI = (size_t)rung_mech_param(conf, "HI"),
                  .DI = (size_t)rung_mech_param(conf, "DI")};
    p.keys = conf->heads * (conf->dk + conf->dv);
    p.slot = p.keys + p.DI;
    return p;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    return (rung_carry){.cache = size_times(tokens, rung_dsa_plan(conf).slot)};
}

/* A step needs one row of scores. A scan needs a row per query of a group, the lanes, a tile of indexer keys and two
 * rows. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t lanes = rung_lanes_size(conf) + (rung_dsa_plan(conf).DI + 1) * BLOCK, all;
    return rung_size_add(&all, size_times(GROUP, tokens), lanes) ? all : SIZE_MAX;
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

void rung_dsa_scores_f32(float *score, dsa_index index, const float *iq, const float *iw, size_t visible,
                         const dsa_plan *p)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t s = 0; s < visible; s++) {
        const float *ik = dsa_index_key(index, s, p);
        float sum = 0;
        for (size_t j = 0; j < p->HI; j++) {
            float x = kern->dot(iq + j * p->DI, ik, p->DI);
            sum += iw[j] * (x <= 0 ? 0 : x);
        }
        score[s] = sum;
    }
}

/* `base` is the head's part of the first slot, here and below. */
static void attend_f32(float *o, const float *base, const float *q, rung_top top, const dsa_plan *p,
                       const rung_mech_conf *conf)
{
    const float *slot[SOFTMAX_TILE];
    softmax_f32 s;
    size_t count = 0;
    rung_softmax_begin_f32(&s, o, q, conf);
    for (size_t t; (t = rung_top_next(&top)) != SIZE_MAX;) {
        slot[count++] = base + t * p->slot;
        if (count == SOFTMAX_TILE) rung_softmax_add_tile_f32(&s, slot, count), count = 0;
    }
    rung_softmax_add_tile_f32(&s, slot, count);
    rung_softmax_end_f32(&s);
    for (size_t i = 0; top.nan && i < conf->dv; i++) o[i] = NAN;
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *scratch_)
{
    (void)scratch_;
    dsa_plan p = rung_dsa_plan(conf);
    float *slot = state + pos * p.slot;
    for (size_t h = 0; h < conf->heads; h++)
        slot_put_f32(slot + h * (conf->dk + conf->dv), in[IN_K] + h * conf->dk, in[IN_V] + h * conf->dv, conf);
    memcpy(slot + p.keys, in[IN_IK], p.DI * sizeof *slot);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *score)
{
    dsa_plan p = rung_dsa_plan(conf);
    size_t visible = conf->causal ? pos + 1 : seen;
    rung_dsa_scores_f32(score, (dsa_index){state, NULL, seen}, in[IN_IQ], in[IN_IW], visible, &p);
    rung_top top = rung_top_f32(score, visible, p.k);
    for (size_t h = 0; h < conf->heads; h++)
        attend_f32(o + h * conf->dv, state + h * (conf->dk + conf->dv), in[IN_Q] + h * conf->dk, top, &p, conf);
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *score)
{
    dsa_plan p = rung_dsa_plan(conf);
    float *base = state + head * (conf->dk + conf->dv);
    dsa_index index = {state, in[IN_IK], pos};
    for (size_t t = 0, row = head; t < tokens; t++, row += conf->heads) {
        slot_put_f32(base + (pos + t) * p.slot, in[IN_K] + row * conf->dk, in[IN_V] + row * conf->dv, conf);
        if (head == 0) memcpy(state + (pos + t) * p.slot + p.keys, in[IN_IK] + t * p.DI, p.DI * sizeof *state);
    }
    for (size_t t = 0, row = head; t < tokens; t++, row += conf->heads) {
        size_t visible = conf->causal ? pos + t + 1 : pos + tokens;
        rung_dsa_scores_f32(score, index, in[IN_IQ] + t * p.HI * p.DI, in[IN_IW] + t * p.HI, visible, &p);
        attend_f32(o + row * conf->dv, base, in[IN_Q] + row * conf->dk, rung_top_f32(score, visible, p.k), &p, conf);
    }
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* The specification of I_ts. */
static double score_exact(const double *ik, const double *iq, const double *iw, const dsa_plan *p, const rung_fmt *fmt)
{
    double score = 0;
    for (size_t j = 0; j < p->HI; j++) {
        double x = relu(rung_num_dot(fmt, iq + j * p->DI, ik, p->DI));
        score = rung_num_add(fmt, score, rung_num_mul(fmt, iw[j], x));
    }
    return score;
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *scratch_)
{
    (void)fmt, (void)scratch_;
    dsa_plan p = rung_dsa_plan(conf);
    double *slot = state + pos * p.slot;
    for (size_t h = 0; h < conf->heads; h++)
        slot_put_exact(slot + h * (conf->dk + conf->dv), in[IN_K] + h * conf->dk, in[IN_V] + h * conf->dv, conf);
    memcpy(slot + p.keys, in[IN_IK], p.DI * sizeof *slot);
}

static void attend_exact(double *o, const double *base, const double *q, rung_top top, const dsa_plan *p,
                         const rung_mech_conf *conf, const rung_fmt *fmt)
{
    softmax_exact s;
    rung_softmax_begin_exact(&s, o, conf, fmt);
    for (size_t t; (t = rung_top_next(&top)) != SIZE_MAX;) {
        const double *k = base + t * p->slot;
        rung_softmax_add_exact(&s, rung_num_dot(fmt, q, k, conf->dk), k + conf->dk, fmt);
    }
    rung_softmax_end_exact(&s, fmt);
    for (size_t i = 0; top.nan && i < conf->dv; i++) o[i] = NAN;
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *score)
{
    dsa_plan p = rung_dsa_plan(conf);
    size_t visible = conf->causal ? pos + 1 : seen;
    for (size_t s = 0; s < visible; s++)
        score[s] = score_exact(state + s * p.slot + p.keys, in[IN_IQ], in[IN_IW], &p, fmt);
    rung_top top = rung_top_exact(score, visible, p.k);
    for (size_t h = 0; h < conf->heads; h++)
        attend_exact(o + h * conf->dv, state + h * (conf->dk + conf->dv), in[IN_Q] + h * conf->dk, top, &p, conf, fmt);
}

/* ---- exact, in lanes --------------------------------------------------------------------------------------------- */

/* The queries start .. start+count-1 of one head, and the call that they belong to. */
typedef struct group {
    const double *state;
    const double *const *in;
    size_t pos, end, head; /* of the whole call */
    size_t start, count;
    softmax_lanes l;
    double *tile;  /* [DI][BLOCK]: indexer keys, a lane per key */
    double *score; /* [GROUP][end] */
} group;

static size_t visible_to(size_t lane, const group *g, const rung_mech_conf *conf)
{
    return conf->causal ? g->start + lane + 1 : g->end;
}

/* Loads keys s .. s+count-1 into the tile, one lane per key. */
static void load_tile(group *g, size_t s, size_t count, const dsa_plan *p)
{
    assert(count <= BLOCK);
    for (size_t n = 0; n < count; n++) {
        const double *ik =
            s + n < g->pos ? g->state + (s + n) * p->slot + p->keys : g->in[IN_IK] + (s + n - g->pos) * p->DI;
        for (size_t i = 0; i < p->DI; i++) g->tile[i * BLOCK + n] = ik[i];
    }
}

/* Computes I of one query and the first `count` keys of the tile. */
static void score_tile(double *score, group *g, size_t lane, size_t count, const dsa_plan *p, const rung_fmt *fmt)
{
    assert(count <= BLOCK && lane < GROUP);
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t query = g->start + lane - g->pos;
    const double *iq = g->in[IN_IQ] + query * p->HI * p->DI, *iw = g->in[IN_IW] + query * p->HI;
    double *x = g->tile + p->DI * BLOCK;
    memset(score, 0, count * sizeof *score);
    for (size_t j = 0; j < p->HI; j++) {
        memset(x, 0, count * sizeof *x);
        for (size_t i = 0; i < p->DI; i++) num->scale_add(fmt, x, g->tile + i * BLOCK, iq[j * p->DI + i], count);
        for (size_t n = 0; n < count; n++) x[n] = relu(x[n]);
        num->scale_add(fmt, score, x, iw[j], count);
    }
}

static void score_group(group *g, const dsa_plan *p, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    size_t visible = visible_to(g->count - 1, g, conf);
    for (size_t s = 0; s < visible; s += BLOCK) {
        load_tile(g, s, size_min(BLOCK, visible - s), p);
        for (size_t n = 0; n < g->count; n++) {
            size_t seen = visible_to(n, g, conf);
            if (seen > s) score_tile(g->score + n * g->end + s, g, n, size_min(BLOCK, seen - s), p, fmt);
        }
    }
}

/* Adds the r-th chosen token of every lane, r = 0, 1, ... A later lane never has fewer chosen tokens. */
static void attend_group(group *g, const dsa_plan *p, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    rung_top top[GROUP];
    const double *slot[GROUP], *base = g->state + g->head * (conf->dk + conf->dv);
    size_t most = size_min(p->k, visible_to(g->count - 1, g, conf)), from = 0;
    for (size_t n = 0; n < g->count; n++) top[n] = rung_top_exact(g->score + n * g->end, visible_to(n, g, conf), p->k);
    for (size_t r = 0; r < most; r++) {
        while (visible_to(from, g, conf) <= r) from++;
        for (size_t n = from; n < g->count; n++) slot[n] = base + rung_top_next(&top[n]) * p->slot;
        rung_lanes_add_each(&g->l, slot, from, g->count, conf, fmt);
    }
    rung_lanes_end(&g->l, 0, g->count, conf, fmt);
    for (size_t n = 0; n < g->count; n++)
        for (size_t i = 0; top[n].nan && i < conf->dv; i++) g->l.num[i * BLOCK + n] = NAN;
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    dsa_plan p = rung_dsa_plan(conf);
    size_t H = conf->heads;
    double *base = state + head * (conf->dk + conf->dv);
    group g = {.state = state, .in = in, .pos = pos, .end = pos + tokens, .head = head};
    g.l = rung_lanes_init(scratch_, conf), g.tile = scratch_ + rung_lanes_size(conf);
    g.score = g.tile + (p.DI + 1) * BLOCK;
    for (size_t t = 0, row = head; t < tokens; t++, row += H) {
        slot_put_exact(base + (pos + t) * p.slot, in[IN_K] + row * conf->dk, in[IN_V] + row * conf->dv, conf);
        if (head == 0) memcpy(state + (pos + t) * p.slot + p.keys, in[IN_IK] + t * p.DI, p.DI * sizeof *state);
    }
    for (g.start = pos; g.start < g.end; g.start += g.count) {
        size_t row = (g.start - pos) * H + head;
        g.count = size_min(GROUP, g.end - g.start);
        rung_lanes_load(&g.l, in[IN_Q] + row * conf->dk, H * conf->dk, g.count, conf, fmt);
        score_group(&g, &p, conf, fmt);
        attend_group(&g, &p, conf, fmt);
        rung_lanes_store(o + row * conf->dv, g.l.num, H * conf->dv, g.count, conf);
    }
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static const rung_param params[] = {
    {"k", RUNG_PARAM_INT, 64, 1, INT32_MAX, NULL, "tokens that a query looks at"},
    {"HI", RUNG_PARAM_INT, 4, 1, RUNG_HEADS_MAX, NULL, "heads of the indexer"},
    {"DI", RUNG_PARAM_INT, 32, 1, RUNG_DIM_MAX, NULL, "dimension of an indexer head"},
    {0},
};

static const rung_mech_input inputs[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL, RUNG_QUANTITY_ACT},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL, RUNG_QUANTITY_ACT},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_ACT},
    {"iq", RUNG_DIM_INDEX_QUERY, RUNG_FROM_LINEAR, false, "queries of the indexer", NULL, RUNG_QUANTITY_ACT},
    {"ik", RUNG_DIM_INDEX_KEY, RUNG_FROM_LINEAR, false, "key of the indexer", NULL, RUNG_QUANTITY_ACT},
    {"iw", RUNG_DIM_INDEX_HEAD, RUNG_FROM_LINEAR, false, "weights of the indexer's heads", NULL, RUNG_QUANTITY_ACT},
    {0},
};

static rung_selection selects(const rung_mech_conf *conf)
{
    return (rung_selection){
        .block = 1, .top = (size_t)rung_mech_param(conf, "k"), .index = (size_t)rung_mech_param(conf, "DI")};
}

const rung_mech rung_mech_dsa = {
    .name = "dsa",
    .class_of = RUNG_CLASS_TOP,
    .traits = RUNG_TRAIT_SOFTMAX,
    .selects = selects,
    .summary = "softmax attention over k tokens that a small indexer chooses",
    .equation =
        "I_ts = sum_j w_tj relu(iq_tj.ik_s), j ascending; o_t = softmax attention, online and ascending, over the "
        "k tokens s with the largest I_ts (ties: lower s)",
    .carries = "t (H (dk+dv) + DI), growing",
    .source = "DeepSeek-AI 2025 (DeepSeek-V3.2-Exp)",
    .params = params,
    .inputs = inputs,
    .pads = rung_pads_all,
    .carry = carry,
    .scratch = scratch,
    .backward_f32 = rung_dsa_backward_f32,
    .backward_scratch = rung_dsa_backward_scratch,
    .forks = true,
    RUNG_MECH_FORMS,
};
