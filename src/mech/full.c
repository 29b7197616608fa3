/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Softmax attention over all earlier tokens (full) or the last W of them (window). The exact form is the
 * online softmax from position 0 upwards: what a query receives from a prefix is one accumulator (m, den,
 * num) of dv+2 numbers per head, which is the assumption of every lower bound that speaks of a full layer.
 * conf->softmax chooses two passes or the reverse direction instead (see softmax.c).
 *
 * State: keys and values, [slot][G][dk+dv], G the heads of keys and values. Full has a slot per token; a causal window reuses slot t mod W;
 * without a mask all tokens are kept, because a query at t looks W-1 tokens to both sides.
 */
#include "full.h"

#include <assert.h>

static rung_carry carry_full(const rung_mech_conf *conf, size_t tokens)
{
    return (rung_carry){.cache = size_times(tokens, slot_size(conf))};
}

static rung_carry carry_window(const rung_mech_conf *conf, size_t tokens)
{
    size_t kept = size_times(size_min(tokens, slot_count(conf)), slot_size(conf));
    return conf->causal ? (rung_carry){.window = kept} : (rung_carry){.cache = kept};
}

static size_t scratch_full(const rung_mech_conf *conf, size_t tokens)
{
    size_t exact = rung_lanes_size(conf), fast = rung_full_ask_scratch(conf, tokens);
    return exact > fast ? exact : fast;
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

/* head: of keys and values */
static void store_f32(float *state, const float *k, const float *v, size_t token, size_t head,
                      const rung_mech_conf *conf)
{
    assert(head < rung_mech_kv_heads(conf));
    float *slot = state + slot_of(token, conf) * slot_size(conf) + head * (conf->dk + conf->dv);
    slot_put_f32(slot, k + head * conf->dk, v + head * conf->dv, conf);
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *scratch)
{
    (void)scratch;
    for (size_t h = 0; h < rung_mech_kv_heads(conf); h++) store_f32(state, in[IN_K], in[IN_V], pos, h, conf);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch)
{
    (void)scratch;
    range keys = keys_of_query(pos, seen, conf);
    for (size_t h = 0; h < conf->heads; h++)
        rung_full_attend_f32(o + h * conf->dv, state, in, in[IN_Q] + h * conf->dk, keys, SIZE_MAX, h, conf);
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch)
{
    size_t own = rung_mech_kv_head(conf, head), heads = rung_mech_kv_heads(conf);
    size_t key_row = heads * conf->dk, value_row = heads * conf->dv;
    rung_full_ask_f32(o, state, in, pos, tokens, NULL, 0, tokens, head, conf, scratch);
    for (size_t t = 0; t < tokens && stores_key(head, conf); t++)
        store_f32(state, in[IN_K] + t * key_row, in[IN_V] + t * value_row, pos + t, own, conf);
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* head: of keys and values */
static void store_exact(double *state, const double *k, const double *v, size_t token, size_t head,
                        const rung_mech_conf *conf)
{
    assert(head < rung_mech_kv_heads(conf));
    double *slot = state + slot_of(token, conf) * slot_size(conf) + head * (conf->dk + conf->dv);
    slot_put_exact(slot, k + head * conf->dk, v + head * conf->dv, conf);
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *scratch)
{
    (void)fmt, (void)scratch;
    for (size_t h = 0; h < rung_mech_kv_heads(conf); h++) store_exact(state, in[IN_K], in[IN_V], pos, h, conf);
}

static void attend_exact(double *o, const double *state, const double *q, range keys, size_t head,
                         const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const double *base = state + place_in_slot(head, conf);
    bool two_pass = conf->softmax == RUNG_SOFTMAX_TWO_PASS;
    softmax_exact s;
    rung_softmax_begin_exact(&s, o, conf, fmt);
    for (size_t j = keys.first; two_pass && j < keys.end; j++)
        rung_softmax_raise_exact(&s, rung_num_dot(fmt, q, base + slot_of(j, conf) * slot_size(conf), conf->dk));
    for (size_t i = keys.first; i < keys.end; i++) {
        size_t j = conf->softmax == RUNG_SOFTMAX_REVERSE ? keys.end - 1 - (i - keys.first) : i;
        const double *k = base + slot_of(j, conf) * slot_size(conf);
        double score = rung_num_dot(fmt, q, k, conf->dk);
        (two_pass ? rung_softmax_weigh_exact : rung_softmax_add_exact)(&s, score, k + conf->dk, fmt);
    }
    rung_softmax_end_exact(&s, fmt);
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch)
{
    (void)scratch;
    range keys = keys_of_query(pos, seen, conf);
    for (size_t h = 0; h < conf->heads; h++)
        attend_exact(o + h * conf->dv, state, in[IN_Q] + h * conf->dk, keys, h, conf, fmt);
}

/* ---- exact, a block of queries at once --------------------------------------------------------------------------- */

/* Where a head reads its keys: from the inputs of this call if they are new, otherwise from the state. */
typedef struct sources {
    const double *state, *const *in;
    size_t pos, tokens, head;
    const rung_mech_conf *conf;
} sources;

/* Keys j .. j+count-1, which are adjacent in memory, for lanes [from, to). */
static rung_attend_run run_at(const sources *s, size_t j, size_t count, size_t from, size_t to)
{
    const rung_mech_conf *conf = s->conf;
    size_t slot = slot_size(conf), H = rung_mech_kv_heads(conf), own = rung_mech_kv_head(conf, s->head);
    rung_attend_run run = {.count = count, .from = from, .to = to};
    if (j >= s->pos) {
        run.k = s->in[IN_K] + ((j - s->pos) * H + own) * conf->dk, run.k_stride = (ptrdiff_t)(H * conf->dk);
        run.v = s->in[IN_V] + ((j - s->pos) * H + own) * conf->dv, run.v_stride = (ptrdiff_t)(H * conf->dv);
    } else {
        run.k = s->state + slot_of(j, conf) * slot + place_in_slot(s->head, conf);
        run.v = run.k + conf->dk, run.k_stride = run.v_stride = (ptrdiff_t)slot;
    }
    return run;
}

/* Lists the keys of `count` ascending queries as runs that the same lanes see, from the lowest position upwards. Both
 * ends of the ranges rise from lane to lane, so the lanes that see a key are adjacent. */
static size_t list_runs(rung_attend_run *run, const sources *s, const size_t *at, size_t count)
{
    range keys[BLOCK];
    size_t runs = 0, from = 0, to = 0, next;
    for (size_t n = 0; n < count; n++) keys[n] = keys_of_query(s->pos + at[n], s->pos + s->tokens, s->conf);
    for (size_t j = keys[0].first; from < count; j = next) {
        while (to < count && keys[to].first <= j) to++;
        while (from < count && keys[from].end <= j) from++;
        next = from < count ? keys[from].end : j;
        if (to < count) next = size_min(next, keys[to].first);
        if (from >= to) continue;
        next = j + keys_together(j, next, s->pos, s->conf);
        run[runs++] = run_at(s, j, next - j, from, to);
    }
    return runs;
}

/* Reverses the order: from the last key to the first. */
static void reverse_runs(rung_attend_run *run, size_t runs)
{
    for (size_t i = 0; i < runs / 2; i++) {
        rung_attend_run swap = run[i];
        run[i] = run[runs - 1 - i], run[runs - 1 - i] = swap;
    }
    for (size_t i = 0; i < runs; i++) {
        run[i].k += (ptrdiff_t)(run[i].count - 1) * run[i].k_stride, run[i].k_stride = -run[i].k_stride;
        run[i].v += (ptrdiff_t)(run[i].count - 1) * run[i].v_stride, run[i].v_stride = -run[i].v_stride;
    }
}

/* The range of every lane begins once and ends once, the state ends once, and a ring wraps once. */
enum { RUNS_MAX = 2 * BLOCK + 2 };

/* Computes up to BLOCK queries: those of the tokens at[0..count). */
static void ask_block(double *o, const sources *s, const size_t *at, size_t count, const rung_fmt *fmt, double *scratch)
{
    assert(count > 0 && count <= BLOCK);
    const rung_mech_conf *conf = s->conf;
    size_t H = conf->heads;
    rung_attend_run run[RUNS_MAX];
    size_t runs = list_runs(run, s, at, count);
    if (conf->softmax == RUNG_SOFTMAX_REVERSE) reverse_runs(run, runs);
    softmax_lanes l = rung_lanes_init(scratch, conf);
    for (size_t n = 0; n < count; n++)
        rung_lanes_set_query(&l, s->in[IN_Q] + (at[n] * H + s->head) * conf->dk, n, conf);
    rung_lanes_attend(&l, run, runs, count, conf, fmt);
    rung_lanes_store(o + s->head * conf->dv, l.num, H * conf->dv, count, conf);
}

static void ask_exact(double *o, const double *state, const double *const *in, size_t pos, size_t tokens,
                      const size_t *at, size_t first, size_t count, size_t head, const rung_mech_conf *conf,
                      const rung_fmt *fmt, double *scratch)
{
    const sources s = {.state = state, .in = in, .pos = pos, .tokens = tokens, .head = head, .conf = conf};
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t block[BLOCK], n = size_min(BLOCK, count - done);
        for (size_t i = 0; i < n; i++) block[i] = asked_token(at, first + done + i);
        ask_block(o + (first + done) * conf->heads * conf->dv, &s, block, n, fmt, scratch);
    }
}

/* New tokens are stored last. Otherwise a ring would lose tokens that the first queries of this call still see. */
static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch)
{
    size_t own = rung_mech_kv_head(conf, head), heads = rung_mech_kv_heads(conf);
    size_t key_row = heads * conf->dk, value_row = heads * conf->dv;
    ask_exact(o, state, in, pos, tokens, NULL, 0, tokens, head, conf, fmt, scratch);
    for (size_t t = 0; t < tokens && stores_key(head, conf); t++)
        store_exact(state, in[IN_K] + t * key_row, in[IN_V] + t * value_row, pos + t, own, conf);
}

static size_t slot_in_row(const rung_mech_conf *conf, size_t pos)
{
    return slot_of(pos, conf);
}

/* With more heads the others would read other keys. */
static unsigned pads_full(const rung_mech_conf *conf)
{
    return conf->kv_heads ? RUNG_PADS_ALL & ~RUNG_PADS_HEADS : RUNG_PADS_ALL;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const rung_param full_params[] = {{0}};
static const rung_param window_params[] = {
    {"W", RUNG_PARAM_INT, 64, 1, INT32_MAX, NULL, "tokens that a query sees, itself included"},
    {0},
};
static const rung_mech_input qkv[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL, RUNG_QUANTITY_ACT},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL, RUNG_QUANTITY_CACHE},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_CACHE},
    {0},
};

const rung_mech rung_mech_full = {
    .name = "full",
    .class_of = RUNG_CLASS_SCAN,
    .traits = RUNG_TRAIT_SOFTMAX | RUNG_TRAIT_CERTIFIED,
    .summary = "softmax attention over all earlier tokens",
    .equation = "o_t = sum_j<=t e^(q_t.k_j) v_j / sum_j<=t e^(q_t.k_j); online from j = 0: m' = max(m, s), "
                "a = e^(m-m'), e = e^(s-m'), den = den a + e, num = num a + e v",
    .carries = "t G (dk+dv), G heads of keys (kv, else H), growing; H (dv+2) per query from any prefix",
    .source = "Vaswani et al. 2017; online form: Milakov, Gimelshein 2018",
    .params = full_params,
    .inputs = qkv,
    .pads = pads_full,
    .keeps = RUNG_KEEPS_TOKENS,
    .slot = slot_in_row,
    .carry = carry_full,
    .scratch = scratch_full,
    .any_softmax = true,
    .shares_keys = true,
    .ask_f32 = rung_full_ask_f32,
    .ask_exact = ask_exact,
    .backward_f32 = rung_full_backward_f32,
    .backward_scratch = rung_full_backward_scratch,
    .forks = true,
    RUNG_MECH_FORMS,
};

const rung_mech rung_mech_window = {
    .name = "window",
    .class_of = RUNG_CLASS_WINDOW,
    .traits = RUNG_TRAIT_SOFTMAX | RUNG_TRAIT_FADES | RUNG_TRAIT_CERTIFIED,
    .summary = "softmax attention over the last W tokens",
    .equation = "as full with t-W < j <= t; without a mask |t-j| < W",
    .carries = "min(t, W) G (dk+dv), G heads of keys (kv, else H)",
    .source = "Beltagy et al. 2020",
    .params = window_params,
    .inputs = qkv,
    .pads = pads_full,
    .keeps = RUNG_KEEPS_TOKENS,
    .slot = slot_in_row,
    .carry = carry_window,
    .scratch = scratch_full,
    .any_softmax = true,
    .shares_keys = true,
    .ask_f32 = rung_full_ask_f32,
    .ask_exact = ask_exact,
    .backward_f32 = rung_full_backward_f32,
    .backward_scratch = rung_full_backward_scratch,
    .forks = true,
    RUNG_MECH_FORMS,
};
