/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Softmax attention over all earlier tokens (full) or the last W of them (window). The exact form is the
 * online softmax from position 0 upwards: what a query receives from a prefix is one accumulator (m, den,
 * num) of dv+2 numbers per head, which is the assumption of every lower bound that speaks of a full layer.
 *
 * State: keys and values, [slot][H][dk+dv]. Full has a slot per token; a causal window reuses slot t mod W;
 * without a mask all tokens are kept, because a query at t looks W-1 tokens to both sides.
 */
#include "softmax.h"

static size_t window_of(const rung_mech_conf *conf)
{
    return conf->mech == &rung_mech_window ? (size_t)rung_mech_param(conf, "W") : SIZE_MAX;
}

static size_t slot_size(const rung_mech_conf *conf)
{
    return conf->heads * (conf->dk + conf->dv);
}

static size_t slot_count(const rung_mech_conf *conf)
{
    return conf->causal ? window_of(conf) : SIZE_MAX;
}

static size_t slot_of(size_t token, const rung_mech_conf *conf)
{
    size_t slots = slot_count(conf);
    return slots == SIZE_MAX ? token : token % slots;
}

/* Keys that a query may see: [first, end). */
typedef struct range {
    size_t first, end;
} range;

static range keys_of_query(size_t pos, size_t seen, const rung_mech_conf *conf)
{
    size_t window = window_of(conf);
    size_t first = pos >= window ? pos - window + 1 : 0;
    size_t end = conf->causal ? pos + 1 : window < SIZE_MAX - pos ? size_min(seen, pos + window) : seen;
    return (range){first, end};
}

static range queries_of_key(size_t key, size_t seen, const rung_mech_conf *conf)
{
    size_t window = window_of(conf);
    size_t first = conf->causal ? key : key >= window ? key - window + 1 : 0;
    size_t end = window < SIZE_MAX - key ? size_min(seen, key + window) : seen;
    return (range){first, end};
}

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
    (void)tokens;
    return rung_lanes_size(conf);
}

/* ---- fast -------------------------------------------------------------------------------------------------
 */

static void store_f32(float *state, const float *k, const float *v, size_t token, size_t head,
                      const rung_mech_conf *conf)
{
    float *slot = state + slot_of(token, conf) * slot_size(conf) + head * (conf->dk + conf->dv);
    slot_put_f32(slot, k + head * conf->dk, v + head * conf->dv, conf);
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *scratch)
{
    (void)scratch;
    for (size_t h = 0; h < conf->heads; h++) store_f32(state, in[IN_K], in[IN_V], pos, h, conf);
}

/* One query of one head. A ring interrupts the keys once. */
static void attend_f32(float *o, const float *state, const float *q, range keys, size_t head,
                       const rung_mech_conf *conf)
{
    const float *base = state + head * (conf->dk + conf->dv);
    softmax_f32 s;
    rung_softmax_begin_f32(&s, o, q, conf);
    for (size_t j = keys.first, count; j < keys.end; j += count) {
        count = size_min(keys.end - j, slot_count(conf) - slot_of(j, conf));
        rung_softmax_add_f32(&s, base + slot_of(j, conf) * slot_size(conf), count, slot_size(conf));
    }
    rung_softmax_end_f32(&s);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch)
{
    (void)scratch;
    range keys = keys_of_query(pos, seen, conf);
    for (size_t h = 0; h < conf->heads; h++)
        attend_f32(o + h * conf->dv, state, in[IN_Q] + h * conf->dk, keys, h, conf);
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch)
{
    (void)scratch;
    size_t key_row = conf->heads * conf->dk, value_row = conf->heads * conf->dv, end = pos + tokens;
    bool interleave = conf->causal && slot_count(conf) != SIZE_MAX; /* a ring forgets what a later query replaces */
    for (size_t t = 0; !interleave && t < tokens; t++)
        store_f32(state, in[IN_K] + t * key_row, in[IN_V] + t * value_row, pos + t, head, conf);
    for (size_t t = 0; t < tokens; t++) {
        if (interleave) store_f32(state, in[IN_K] + t * key_row, in[IN_V] + t * value_row, pos + t, head, conf);
        attend_f32(o + t * value_row + head * conf->dv, state, in[IN_Q] + t * key_row + head * conf->dk,
                   keys_of_query(pos + t, end, conf), head, conf);
    }
}

/* ---- exact
 * -------------------------------------------------------------------------------------------------- */

static void store_exact(double *state, const double *k, const double *v, size_t token, size_t head,
                        const rung_mech_conf *conf)
{
    double *slot = state + slot_of(token, conf) * slot_size(conf) + head * (conf->dk + conf->dv);
    slot_put_exact(slot, k + head * conf->dk, v + head * conf->dv, conf);
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *scratch)
{
    (void)fmt, (void)scratch;
    for (size_t h = 0; h < conf->heads; h++) store_exact(state, in[IN_K], in[IN_V], pos, h, conf);
}

static void attend_exact(double *o, const double *state, const double *q, range keys, size_t head,
                         const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const double *base = state + head * (conf->dk + conf->dv);
    softmax_exact s;
    rung_softmax_begin_exact(&s, o, conf, fmt);
    for (size_t j = keys.first; j < keys.end; j++) {
        const double *k = base + slot_of(j, conf) * slot_size(conf);
        rung_softmax_add_exact(&s, rung_num_dot(fmt, q, k, conf->dk), k + conf->dk, fmt);
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

/* A key or value of the head: from this call's input if it is new, else from the state (a ring may already
 * have lost what the first queries of this call still see, so new tokens are stored last). */
static const double *key_at(size_t j, const double *state, const double *const *in, size_t pos, size_t head,
                            const rung_mech_conf *conf, const double **v)
{
    if (j >= pos) {
        *v = in[IN_V] + ((j - pos) * conf->heads + head) * conf->dv;
        return in[IN_K] + ((j - pos) * conf->heads + head) * conf->dk;
    }
    const double *slot = state + slot_of(j, conf) * slot_size(conf) + head * (conf->dk + conf->dv);
    *v = slot + conf->dk;
    return slot;
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch)
{
    size_t key_row = conf->heads * conf->dk, value_row = conf->heads * conf->dv, end = pos + tokens;
    softmax_lanes l = rung_lanes_init(scratch, conf);
    for (size_t start = pos; start < end; start += BLOCK) {
        size_t count = size_min(BLOCK, end - start), last = start + count - 1;
        rung_lanes_load(&l, in[IN_Q] + (start - pos) * key_row + head * conf->dk, key_row, count, conf, fmt);
        for (size_t j = keys_of_query(start, end, conf).first; j < keys_of_query(last, end, conf).end; j++) {
            range seen_by = queries_of_key(j, end, conf);
            size_t from = seen_by.first > start ? seen_by.first - start : 0;
            size_t to = size_min(seen_by.end - start, count);
            const double *v, *k = key_at(j, state, in, pos, head, conf, &v);
            rung_lanes_add(&l, k, v, from, to, conf, fmt);
        }
        rung_lanes_end(&l, 0, count, conf, fmt);
        rung_lanes_store(o + (start - pos) * value_row + head * conf->dv, l.num, value_row, count, conf);
    }
    for (size_t t = 0; t < tokens; t++)
        store_exact(state, in[IN_K] + t * key_row, in[IN_V] + t * value_row, pos + t, head, conf);
}

/* ---- rows
 * ----------------------------------------------------------------------------------------------------- */

static const rung_param full_params[] = {{0}};
static const rung_param window_params[] = {
    {"W", RUNG_PARAM_INT, 64, 1, INT32_MAX, NULL, "tokens that a query sees, itself included"},
    {0},
};
static const rung_mech_input qkv[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL},
    {0},
};

const rung_mech rung_mech_full = {
    .name = "full",
    .summary = "softmax attention over all earlier tokens",
    .equation = "o_t = sum_j<=t e^(q_t.k_j) v_j / sum_j<=t e^(q_t.k_j); online from j = 0: m' = max(m, s), "
                "a = e^(m-m'), e = e^(s-m'), den = den a + e, num = num a + e v",
    .carries = "t H (dk+dv), growing; H (dv+2) per query from any prefix",
    .source = "Vaswani et al. 2017; online form: Milakov, Gimelshein 2018",
    .params = full_params,
    .inputs = qkv,
    .carry = carry_full,
    .scratch = scratch_full,
    RUNG_MECH_FORMS,
};

const rung_mech rung_mech_window = {
    .name = "window",
    .summary = "softmax attention over the last W tokens",
    .equation = "as full with t-W < j <= t; without a mask |t-j| < W",
    .carries = "min(t, W) H (dk+dv)",
    .source = "Beltagy et al. 2020",
    .params = window_params,
    .inputs = qkv,
    .carry = carry_window,
    .scratch = scratch_full,
    RUNG_MECH_FORMS,
};
