/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * (B,k)-sparse attention in the style of NSA. Tokens stand in blocks of B. When the last token of a block has arrived,
 * the block is compressed to one key and one value (sparse_compress.c), or with shared=1 to one vector that is both. A
 * query at t has up to three branches:
 *   compression  softmax over the summaries of all blocks that ended at or before t;
 *   selection    softmax over the tokens of the k complete blocks whose summary keys have the largest scores q.c
 *                (among equal ones the lower block), from low to high positions; with own=1 also over the tokens of the
 *                query's own block up to t, which is then no candidate: it comes in addition to the k;
 *   window       softmax over the last W tokens (branches=nsa only).
 * A branch without a key gives zeros. y = l y_cmp + (1-l) y_sel, or each branch times its gate.
 *
 * Not here: compression blocks that overlap, selection shared by a group of heads, keys of their own for a branch.
 */
#include "sparse.h"

#include "top.h"

#include "rung/kern.h"

#include <assert.h>
#include <string.h>

/* Number of queries in one group of a scan. Each has a row of n/B scores. For small blocks the groups are smaller, so
 * that the rows take at most 16 n numbers. */
static size_t group_size(const sparse_plan *plan)
{
    return size_min(BLOCK, 16 * plan->B);
}

static bool is_shared(const rung_mech_conf *conf)
{
    return rung_mech_param(conf, "shared") != 0;
}

sparse_plan rung_sparse_plan(const rung_mech_conf *conf)
{
    return (sparse_plan){.B = (size_t)rung_mech_param(conf, "B"),
                         .k = (size_t)rung_mech_param(conf, "k"),
                         .W = (size_t)rung_mech_param(conf, "W"),
                         .own = rung_mech_param(conf, "own") != 0,
                         .nsa = rung_mech_param(conf, "branches") != 0,
                         .comp = (sparse_comp)rung_mech_param(conf, "comp"),
                         .lambda = (double)rung_mech_param(conf, "lambda"),
                         .shared = is_shared(conf),
                         .slot = conf->heads * (conf->dk + conf->dv),
                         .brief = conf->heads * (conf->dk + (is_shared(conf) ? 0 : conf->dv)),
                         .value = is_shared(conf) ? 0 : conf->dk};
}

sparse_plan rung_sparse_plan_of(const rung_mech_conf *conf, size_t head)
{
    sparse_plan plan = rung_sparse_plan(conf);
    plan.shift = plan.shared ? head * conf->dv : 0;
    return plan;
}

static rung_status check(const rung_mech_conf *conf, rung_error *err)
{
    sparse_plan plan = rung_sparse_plan(conf);
    if (plan.W > 0 && !plan.nsa)
        return rung_fail(err, RUNG_USAGE, "sparse: W=%zu needs a gate for the window branch; say branches=nsa, or W=0",
                         plan.W);
    if (plan.shared && conf->dk != conf->dv)
        return rung_fail(err, RUNG_USAGE, "sparse: with shared=1 one vector is key and value, so dk=%zu must be dv=%zu",
                         conf->dk, conf->dv);
    return RUNG_OK;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    sparse_plan plan = rung_sparse_plan(conf);
    return (rung_carry){.cache = size_plus(size_times(tokens, plan.slot), size_times(tokens / plan.B, plan.brief))};
}

/* A step needs one branch and a row of scores. A scan needs the lanes, their output and weights, and a row of scores
 * per query. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    sparse_plan plan = rung_sparse_plan(conf);
    size_t compress = rung_sparse_compress_scratch(&plan, conf), rows = size_times(group_size(&plan), tokens / plan.B);
    size_t lanes = rung_lanes_size(conf) + (conf->dv + 1) * BLOCK, scan;
    if (!rung_size_add(&scan, rows, lanes)) scan = SIZE_MAX;
    return compress > scan ? compress : scan;
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

void rung_sparse_weights_f32(float weight[BRANCHES], const float *gates, const sparse_plan *plan)
{
    weight[0] = plan->nsa ? gates[0] : (float)(plan->lambda / 1000);
    weight[1] = plan->nsa ? gates[1] : (float)((1000 - plan->lambda) / 1000);
    weight[2] = plan->nsa ? gates[2] : 0;
}

/* `base` is the head's part of the first slot, here and below. */
void rung_sparse_absorb_f32(float *base, const float *const *in, size_t pos, size_t row, const sparse_plan *plan,
                            const rung_mech_conf *conf, float *scratch_)
{
    slot_put_f32(base + sparse_token(pos, plan), in[IN_K] + row * conf->dk, in[IN_V] + row * conf->dv, conf);
    if ((pos + 1) % plan->B == 0) rung_sparse_compress_f32(base, in, pos / plan->B, row, plan, conf, scratch_);
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *scratch_)
{
    for (size_t h = 0; h < conf->heads; h++) {
        sparse_plan plan = rung_sparse_plan_of(conf, h);
        rung_sparse_absorb_f32(state + h * (conf->dk + conf->dv), in, pos, h, &plan, conf, scratch_);
    }
}

/* Adds tokens [first, end). In the state a summary follows every block of tokens. */
static void add_tokens_f32(softmax_f32 *s, const float *base, size_t first, size_t end, const sparse_plan *plan)
{
    for (size_t t = first, count; t < end; t += count) {
        count = size_min(end - t, plan->B - t % plan->B);
        rung_softmax_add_f32(s, base + sparse_token(t, plan), count, plan->slot);
    }
}

static void compression_f32(softmax_f32 *s, const float *base, size_t pos, const sparse_plan *plan, float *score)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t blocks = complete_blocks(pos, plan);
    for (size_t b = 0; b < blocks; b++) score[b] = kern->dot(s->q, base + sparse_summary(b, plan), s->dk);
    rung_softmax_add_scored_f32(s, score, base + sparse_summary(0, plan) + plan->value, blocks, sparse_stride(plan));
}

static void selection_f32(softmax_f32 *s, const float *base, size_t pos, const sparse_plan *plan, const float *score)
{
    rung_top top = rung_top_f32(score, candidate_blocks(pos, plan), plan->k);
    for (size_t b; (b = rung_top_next(&top)) != SIZE_MAX;)
        add_tokens_f32(s, base, b * plan->B, (b + 1) * plan->B, plan);
    if (plan->own) add_tokens_f32(s, base, pos - pos % plan->B, pos + 1, plan);
}

/* One query of one head. */
static void query_f32(float *o, const float *base, const float *q, const float *gates, size_t pos,
                      const sparse_plan *plan, const rung_mech_conf *conf, float *scratch_)
{
    const rung_kernels *kern = rung_kernels_get();
    float weight[BRANCHES], *y = scratch_, *score = y + conf->dv;
    rung_sparse_weights_f32(weight, gates, plan);
    memset(o, 0, conf->dv * sizeof *o);
    for (size_t branch = 0; branch < (plan->W ? BRANCHES : 2); branch++) {
        softmax_f32 s;
        rung_softmax_begin_f32(&s, y, q, conf);
        if (branch == 0) compression_f32(&s, base, pos, plan, score);
        if (branch == 1) selection_f32(&s, base, pos, plan, score);
        if (branch == 2) add_tokens_f32(&s, base, window_start(pos, plan), pos + 1, plan);
        rung_softmax_end_f32(&s);
        kern->axpy(o, weight[branch], y, conf->dv);
    }
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)seen;
    for (size_t h = 0; h < conf->heads; h++) {
        sparse_plan plan = rung_sparse_plan_of(conf, h);
        query_f32(o + h * conf->dv, state + h * (conf->dk + conf->dv), in[IN_Q] + h * conf->dk,
                  plan.nsa ? in[IN_GATES] + h * BRANCHES : NULL, pos, &plan, conf, scratch_);
    }
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    sparse_plan plan = rung_sparse_plan_of(conf, head);
    float *base = state + head * (conf->dk + conf->dv);
    for (size_t t = 0, row = head; t < tokens; t++, row += conf->heads) {
        rung_sparse_absorb_f32(base, in, pos + t, row, &plan, conf, scratch_);
        query_f32(o + row * conf->dv, base, in[IN_Q] + row * conf->dk, plan.nsa ? in[IN_GATES] + row * BRANCHES : NULL,
                  pos + t, &plan, conf, scratch_);
    }
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* l is the double nearest to lambda/1000, rounded; 1-l is that of (1000-lambda)/1000. So a format without the number 1
 * has both. */
static void weights_exact(double weight[BRANCHES], const double *gates, const sparse_plan *plan, const rung_fmt *fmt)
{
    weight[0] = plan->nsa ? gates[0] : rung_num_round(fmt, plan->lambda / 1000);
    weight[1] = plan->nsa ? gates[1] : rung_num_round(fmt, (1000 - plan->lambda) / 1000);
    weight[2] = plan->nsa ? gates[2] : 0;
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *scratch_)
{
    for (size_t h = 0; h < conf->heads; h++) {
        sparse_plan plan = rung_sparse_plan_of(conf, h);
        double *base = state + h * (conf->dk + conf->dv);
        slot_put_exact(base + sparse_token(pos, &plan), in[IN_K] + h * conf->dk, in[IN_V] + h * conf->dv, conf);
        if ((pos + 1) % plan.B == 0) rung_sparse_compress_exact(base, in, pos / plan.B, h, &plan, conf, fmt, scratch_);
    }
}

static void add_tokens_exact(softmax_exact *s, const double *base, const double *q, size_t first, size_t end,
                             const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    for (size_t t = first; t < end; t++) {
        const double *k = base + sparse_token(t, plan);
        rung_softmax_add_exact(s, rung_num_dot(fmt, q, k, conf->dk), k + conf->dk, fmt);
    }
}

static void compression_exact(softmax_exact *s, const double *base, const double *q, size_t pos,
                              const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt, double *score)
{
    for (size_t b = 0; b < complete_blocks(pos, plan); b++) {
        const double *ck = base + sparse_summary(b, plan);
        score[b] = rung_num_dot(fmt, q, ck, conf->dk);
        rung_softmax_add_exact(s, score[b], ck + plan->value, fmt);
    }
}

static void selection_exact(softmax_exact *s, const double *base, const double *q, size_t pos, const sparse_plan *plan,
                            const rung_mech_conf *conf, const rung_fmt *fmt, const double *score)
{
    rung_top top = rung_top_exact(score, candidate_blocks(pos, plan), plan->k);
    for (size_t b; (b = rung_top_next(&top)) != SIZE_MAX;)
        add_tokens_exact(s, base, q, b * plan->B, (b + 1) * plan->B, plan, conf, fmt);
    if (plan->own) add_tokens_exact(s, base, q, pos - pos % plan->B, pos + 1, plan, conf, fmt);
}

/* One query of one head. The branches are added to +0 one after the other. */
static void query_exact(double *o, const double *base, const double *q, const double *gates, size_t pos,
                        const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    double weight[BRANCHES], *y = scratch_, *score = y + conf->dv;
    weights_exact(weight, gates, plan, fmt);
    memset(o, 0, conf->dv * sizeof *o);
    for (size_t branch = 0; branch < (plan->W ? BRANCHES : 2); branch++) {
        softmax_exact s;
        rung_softmax_begin_exact(&s, y, conf, fmt);
        if (branch == 0) compression_exact(&s, base, q, pos, plan, conf, fmt, score);
        if (branch == 1) selection_exact(&s, base, q, pos, plan, conf, fmt, score);
        if (branch == 2) add_tokens_exact(&s, base, q, window_start(pos, plan), pos + 1, plan, conf, fmt);
        rung_softmax_end_exact(&s, fmt);
        for (size_t i = 0; i < conf->dv; i++) o[i] = rung_num_add(fmt, o[i], rung_num_mul(fmt, weight[branch], y[i]));
    }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    (void)seen;
    for (size_t h = 0; h < conf->heads; h++) {
        sparse_plan plan = rung_sparse_plan_of(conf, h);
        query_exact(o + h * conf->dv, state + h * (conf->dk + conf->dv), in[IN_Q] + h * conf->dk,
                    plan.nsa ? in[IN_GATES] + h * BRANCHES : NULL, pos, &plan, conf, fmt, scratch_);
    }
}

/* ---- exact, one lane per query ----------------------------------------------------------------------------------- */

/* The queries start .. start+count-1 of one head. */
typedef struct group {
    const double *base;
    size_t start, count;
    softmax_lanes l;
    double *sum;    /* [dv][BLOCK]: the branches so far */
    double *weight; /* [BLOCK] */
    double *score;  /* [count][width] */
    size_t width;   /* complete blocks of the last query */
} group;

/* The first lane at or after a position. */
static size_t lane_of(size_t pos, const group *g)
{
    return pos > g->start ? size_min(pos - g->start, g->count) : 0;
}

/* The first lane with a complete block. */
static size_t first_with_block(const group *g, const sparse_plan *plan)
{
    return lane_of(plan->B - 1, g);
}

static void compression_lanes(group *g, const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    for (size_t b = 0; b < g->width; b++) {
        const double *ck = g->base + sparse_summary(b, plan);
        size_t from = lane_of(b * plan->B + plan->B - 1, g);
        rung_lanes_add(&g->l, ck, ck + plan->value, from, g->count, conf, fmt);
        for (size_t n = from; n < g->count; n++) g->score[n * g->width + b] = g->l.s[n];
    }
    rung_lanes_end(&g->l, first_with_block(g, plan), g->count, conf, fmt);
}

/* Adds the tokens from `first` on that a lane sees up to its own position: the last W of them, or those of its own
 * block. */
static void add_near(group *g, size_t first, bool window, const sparse_plan *plan, const rung_mech_conf *conf,
                     const rung_fmt *fmt)
{
    for (size_t j = first; j < g->start + g->count; j++) {
        const double *k = g->base + sparse_token(j, plan);
        size_t end = window ? j + plan->W : j - j % plan->B + plan->B;
        rung_lanes_add(&g->l, k, k + conf->dk, lane_of(j, g), lane_of(end, g), conf, fmt);
    }
}

/* Adds the r-th selected block of every lane, r = 0, 1, ... A later lane never has fewer selected blocks. */
static void selection_lanes(group *g, const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    rung_top top[BLOCK];
    const double *slot[BLOCK];
    size_t last = g->start + g->count - 1, most = size_min(plan->k, candidate_blocks(last, plan)), from = 0;
    for (size_t n = 0; n < g->count; n++)
        top[n] = rung_top_exact(g->score + n * g->width, candidate_blocks(g->start + n, plan), plan->k);
    for (size_t r = 0; r < most; r++) {
        while (candidate_blocks(g->start + from, plan) <= r) from++;
        for (size_t n = from; n < g->count; n++)
            slot[n] = g->base + sparse_token(rung_top_next(&top[n]) * plan->B, plan);
        for (size_t i = 0; i < plan->B; i++) {
            rung_lanes_add_each(&g->l, slot, from, g->count, conf, fmt);
            for (size_t n = from; n < g->count; n++) slot[n] += plan->slot;
        }
    }
    if (plan->own) add_near(g, g->start - g->start % plan->B, false, plan, conf, fmt);
    rung_lanes_end(&g->l, plan->own ? 0 : first_with_block(g, plan), g->count, conf, fmt);
}

static void window_lanes(group *g, const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    add_near(g, window_start(g->start, plan), true, plan, conf, fmt);
    rung_lanes_end(&g->l, 0, g->count, conf, fmt);
}

/* `gates` are those of the group's first query and this head; NULL if there are none. */
static void group_exact(group *g, const double *gates, const sparse_plan *plan, const rung_mech_conf *conf,
                        const rung_fmt *fmt)
{
    assert(g->count > 0 && g->count <= BLOCK);
    const rung_num_kernels *num = rung_num_kernels_get();
    memset(g->sum, 0, conf->dv * BLOCK * sizeof *g->sum);
    for (size_t branch = 0; branch < (plan->W ? BRANCHES : 2); branch++) {
        if (branch > 0) rung_lanes_clear(&g->l, conf, fmt);
        if (branch == 0) compression_lanes(g, plan, conf, fmt);
        if (branch == 1) selection_lanes(g, plan, conf, fmt);
        if (branch == 2) window_lanes(g, plan, conf, fmt);
        for (size_t n = 0; n < g->count; n++) {
            double weight[BRANCHES];
            weights_exact(weight, gates ? gates + n * conf->heads * BRANCHES : NULL, plan, fmt);
            g->weight[n] = weight[branch];
        }
        for (size_t i = 0; i < conf->dv; i++)
            num->mul_add(fmt, g->sum + i * BLOCK, g->l.num + i * BLOCK, g->weight, g->count);
    }
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    sparse_plan plan = rung_sparse_plan_of(conf, head);
    size_t H = conf->heads, end = pos + tokens;
    double *base = state + head * (conf->dk + conf->dv);
    for (size_t row = head, t = pos; t < end; t++, row += H)
        slot_put_exact(base + sparse_token(t, &plan), in[IN_K] + row * conf->dk, in[IN_V] + row * conf->dv, conf);
    rung_sparse_compress_lanes(base, in, pos, pos / plan.B, end / plan.B, head, &plan, conf, fmt, scratch_);
    group g = {.base = base, .l = rung_lanes_init(scratch_, conf)};
    g.sum = scratch_ + rung_lanes_size(conf), g.weight = g.sum + conf->dv * BLOCK, g.score = g.weight + BLOCK;
    for (g.start = pos; g.start < end; g.start += g.count) {
        size_t row = (g.start - pos) * H + head;
        g.count = size_min(group_size(&plan), end - g.start);
        g.width = complete_blocks(g.start + g.count - 1, &plan);
        rung_lanes_load(&g.l, in[IN_Q] + row * conf->dk, H * conf->dk, g.count, conf, fmt);
        group_exact(&g, plan.nsa ? in[IN_GATES] + row * BRANCHES : NULL, &plan, conf, fmt);
        rung_lanes_store(o + row * conf->dv, g.sum, H * conf->dv, g.count, conf);
    }
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static bool used_nsa(const rung_mech_conf *conf)
{
    return rung_sparse_plan(conf).nsa;
}

static bool used_given(const rung_mech_conf *conf)
{
    return rung_sparse_plan(conf).comp == SPARSE_GIVEN;
}

static bool used_mlp(const rung_mech_conf *conf)
{
    return rung_sparse_plan(conf).comp == SPARSE_MLP;
}

static bool used_given_value(const rung_mech_conf *conf)
{
    return used_given(conf) && !is_shared(conf);
}

static bool used_mlp_value(const rung_mech_conf *conf)
{
    return used_mlp(conf) && !is_shared(conf);
}

static const char *const comp_words[] = {"mean", "mlp", "given", NULL}; /* in the order of sparse_comp */
static const char *const branch_names[] = {"lambda", "nsa", NULL};

/* B <= 2^20 keeps B+1 slots of the largest heads below 2^58. */
static const rung_param params[] = {
    {"B", RUNG_PARAM_INT, 16, 1, 1 << 20, NULL, "tokens of a block"},
    {"k", RUNG_PARAM_INT, 2, 1, INT32_MAX, NULL, "complete blocks that a query selects"},
    {"comp", RUNG_PARAM_CHOICE, SPARSE_MEAN, 0, 0, comp_words, "how a block becomes one key and one value"},
    {"branches", RUNG_PARAM_CHOICE, 0, 0, 0, branch_names, "how the branches are added: l and 1-l, or an input"},
    {"lambda", RUNG_PARAM_INT, 500, 0, 1000, NULL, "l in thousandths (branches=lambda)"},
    {"W", RUNG_PARAM_INT, 0, 0, INT32_MAX, NULL, "tokens of the window branch (branches=nsa); 0: no such branch"},
    {"own", RUNG_PARAM_INT, 1, 0, 1, NULL, "1: the query's own block is always seen, in addition to k"},
    {"shared", RUNG_PARAM_SWITCH, 0, 0, 1, NULL, "1: one vector is key and value of a block, compressed from keys"},
    {0},
};

static const rung_mech_input inputs[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL, RUNG_QUANTITY_ACT},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL, RUNG_QUANTITY_ACT},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_ACT},
    {"gates", RUNG_DIM_BRANCHES, RUNG_FROM_GATE, false, "of compression, selection, window", used_nsa,
     RUNG_QUANTITY_ACT},
    {"ck", RUNG_DIM_KEY, RUNG_FROM_LINEAR, false, "key of the block that ends here", used_given, RUNG_QUANTITY_ACT},
    {"cv", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value of the block that ends here", used_given_value,
     RUNG_QUANTITY_ACT},
    {"pk", RUNG_DIM_OF_BLOCK_KEY, RUNG_FROM_PARAMETER, false, "added to the keys of a block", used_mlp,
     RUNG_QUANTITY_WEIGHTS},
    {"pv", RUNG_DIM_OF_BLOCK_VALUE, RUNG_FROM_PARAMETER, false, "added to the values of a block", used_mlp_value,
     RUNG_QUANTITY_WEIGHTS},
    {"wk1", RUNG_DIM_OF_COMPRESS_KEY, RUNG_FROM_PARAMETER, false, "first matrix for keys", used_mlp,
     RUNG_QUANTITY_WEIGHTS},
    {"wv1", RUNG_DIM_OF_COMPRESS_VALUE, RUNG_FROM_PARAMETER, false, "first matrix for values", used_mlp_value,
     RUNG_QUANTITY_WEIGHTS},
    {"wk2", RUNG_DIM_OF_KEY_SQUARE, RUNG_FROM_PARAMETER, false, "second matrix for keys", used_mlp,
     RUNG_QUANTITY_WEIGHTS},
    {"wv2", RUNG_DIM_OF_VALUE_SQUARE, RUNG_FROM_PARAMETER, false, "second matrix for values", used_mlp_value,
     RUNG_QUANTITY_WEIGHTS},
    {0},
};

static rung_selection selects(const rung_mech_conf *conf)
{
    int64_t comp = rung_mech_param(conf, "comp");
    return (rung_selection){.block = (size_t)rung_mech_param(conf, "B"),
                            .top = (size_t)rung_mech_param(conf, "k"),
                            .window = (size_t)rung_mech_param(conf, "W"),
                            .summary = rung_sparse_plan(conf).brief,
                            .summary_by_position = comp == SPARSE_GIVEN,
                            .summary_is_mean = comp == SPARSE_MEAN && !is_shared(conf)};
}

/* Zero inputs give equal summaries, equal choices and zero values. */
static unsigned pads(const rung_mech_conf *conf)
{
    (void)conf;
    return RUNG_PADS_IDLE;
}

const rung_mech rung_mech_sparse = {
    .name = "sparse",
    .class_of = RUNG_CLASS_BLOCKS,
    .traits = RUNG_TRAIT_SOFTMAX | RUNG_TRAIT_CERTIFIED,
    .selects = selects,
    .summary = "softmax attention over block summaries and over the k blocks that they point to",
    .equation = "c_b = comp(block b) when it ends; y_cmp = softmax over {c_b}; y_sel = softmax over the tokens of the "
                "k complete blocks with the largest q.c_b (ties: lower b), ascending, and of the own block; "
                "o = l y_cmp + (1-l) y_sel, or g_0 y_cmp + g_1 y_sel + g_2 y_win; a branch without keys is 0",
    .carries =
        "(t + floor(t/B)) H (dk+dv), growing: all tokens and a summary per complete block; shared=1: t H (dk+dv) "
        "+ floor(t/B) H dk",
    .source = "Yuan et al. 2025 (NSA)",
    .params = params,
    .inputs = inputs,
    .causal_only = true,
    .pads = pads,
    .check = check,
    .carry = carry,
    .scratch = scratch,
    .backward_f32 = rung_sparse_backward_f32,
    .backward_scratch = rung_sparse_backward_scratch,
    .forks = true,
    RUNG_MECH_FORMS,
};
