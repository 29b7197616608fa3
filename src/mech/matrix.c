/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Mechanisms whose state is one matrix S [dk][dv] per head: additive with a decay (retnet, mamba2: one per head; gla:
 * one per key channel) and corrective, the delta rule (delta: no decay; gdelta: one per head; kda: one per key
 * channel).
 *   S <- diag(e^g) S;   u = v, or u = beta (v - S^T k);   S <- S + k u^T;   o = S^T q.
 * Nothing is scaled or normalised here: a model that wants |k| = 1 says so.
 *
 * Fast scan, chunks of C tokens. With E_ts = e^{g_{s+1} + ... + g_t} (a number, or one per key channel) and the chunk's
 * tokens counted from 1, unrolling the recurrence gives
 *   u_t = beta_t (v_t - S_0^T (E_t0 k_t) - sum_{s<t} (k_s . E_ts k_t) u_s),
 *   o_t = S_0^T (E_t0 q_t) + sum_{s<=t} (k_s . E_ts q_t) u_s,   S_C = E_C0 S_0 + sum_s (E_Cs k_s) u_s^T:
 * a triangular system in the chunk and one matrix between chunks. E_ts is the product of its own e^{g_r}, at most 1
 * when g <= 0, so nothing overflows, and no division by a decay occurs: a difference of prefix sums in the exponent
 * would lose the weak decays near t behind one strong decay far back, and a decay of -inf would make it a NaN.
 */
#include "matrix_chunk.h"

#include <math.h>
#include <string.h>

static size_t head_size(const rung_mech_conf *conf)
{
    return conf->dk * conf->dv;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads * head_size(conf)};
}

/* Scratch: a chunk, and the state in panels. The step form needs a row u. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return rung_matrix_chunk_size(conf) + rung_panels_size(conf->dk, conf->dv);
}

static bool per_channel(const rung_mech_conf *conf)
{
    return rung_matrix_kind(conf).decay == DECAY_CHANNEL;
}

/* ---- fast, step -------------------------------------------------------------------------------------------------- */

static void absorb_f32(float *S, const rows_f32 *r, const rung_mech_conf *conf, float *u)
{
    size_t dk = conf->dk, dv = conf->dv;
    rung_matrix_fade_f32(S, r->g, per_channel(conf), dk, dv);
    if (r->beta)
        rung_matrix_correct_f32(S, r->k, r->v, r->beta[0], dk, dv, u);
    else
        rung_matrix_add_f32(S, r->k, r->v, dk, dv);
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *u)
{
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++) {
        rows_f32 r = HEAD_ROWS_INIT(in, h, 0, conf);
        absorb_f32(state + h * head_size(conf), &r, conf, u);
    }
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    for (size_t h = 0; h < conf->heads; h++)
        rung_matrix_query_f32(o + h * conf->dv, state + h * head_size(conf), in[IN_Q] + h * conf->dk, conf->dk,
                              conf->dv);
}

/* ---- fast, scan -------------------------------------------------------------------------------------------------- */

/* Goes token by token. Used for few tokens, and for numbers that are not finite, which a product would spread to tokens
 * before them. */
static void walk_f32(float *o, float *S, const float *const *in, size_t from, size_t to, size_t head,
                     const rung_mech_conf *conf, float *u)
{
    for (size_t t = from; t < to; t++) {
        rows_f32 r = HEAD_ROWS_INIT(in, head, t, conf);
        absorb_f32(S, &r, conf, u);
        if (conf->causal) rung_matrix_query_f32(o + t * r.value_row, S, r.q, conf->dk, conf->dv);
    }
}

/* Returns whether o is finite. */
static bool read_chunk(float *o, const float *S, matrix_chunk *c, const rung_mech_conf *conf)
{
    rung_matrix_chunk_pairs(c, conf->causal);
    rung_matrix_chunk_values(c, c->r.v, S);
    return !conf->causal || rung_matrix_chunk_read(o, S, c);
}

/* For fewer tokens the loop over tokens is faster than opening and closing the state. */
enum { FEW = 4 };

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos;
    size_t dk = conf->dk, dv = conf->dv, row = conf->heads * dv;
    float *own = state + head * head_size(conf), *out = o + head * dv, *S = scratch_ + rung_matrix_chunk_size(conf);
    if (tokens < FEW && conf->causal) {
        walk_f32(out, own, in, 0, tokens, head, conf, scratch_);
        return;
    }
    matrix_chunk c = rung_matrix_chunk_new(conf, scratch_);
    c.scans = true;
    rung_chunk_open(S, own, dk, dv);
    for (size_t t = 0; t < tokens; t += CHUNK) {
        rung_matrix_chunk_rows(&c, in, t, tokens, head, conf);
        c.next = size_min(CHUNK, tokens - t - c.n);
        if (read_chunk(out + t * row, S, &c, conf)) {
            rung_matrix_chunk_leave(S, conf->causal ? out + t * row : NULL, &c);
        } else {
            rung_chunk_close(own, S, dk, dv);
            walk_f32(out, own, in, t, t + c.n, head, conf, scratch_);
            rung_chunk_open(S, own, dk, dv);
        }
    }
    rung_chunk_close(own, S, dk, dv);
    if (!conf->causal) /* an encoder reads the state after the last token */
        rung_chunk_product(out, row, chunk_rows(in[IN_Q] + head * dk, conf->heads * dk), S, dk, tokens, dv, dk, false);
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *u)
{
    size_t dk = conf->dk, dv = conf->dv;
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++) {
        rows_exact r = HEAD_ROWS_INIT(in, h, 0, conf);
        double *S = state + h * head_size(conf);
        rung_matrix_fade_exact(S, r.g, per_channel(conf), dk, dv, fmt);
        if (r.beta)
            rung_matrix_correct_exact(S, r.k, r.v, r.beta[0], dk, dv, fmt, u);
        else
            rung_matrix_add_exact(S, r.k, r.v, dk, dv, fmt);
    }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    for (size_t h = 0; h < conf->heads; h++)
        rung_matrix_query_exact(o + h * conf->dv, state + h * head_size(conf), in[IN_Q] + h * conf->dk, conf->dk,
                                conf->dv, fmt);
}

static void absorb_lanes(double *S, const rows_exact *r, const rung_mech_conf *conf, const rung_fmt *fmt, double *u)
{
    size_t dk = conf->dk, dv = conf->dv;
    rung_matrix_fade_lanes(S, r->g, per_channel(conf), dk, dv, fmt);
    if (r->beta)
        rung_matrix_correct_lanes(S, r->k, r->v, r->beta[0], dk, dv, fmt, u);
    else
        rung_matrix_add_lanes(S, r->k, r->v, dk, dv, fmt);
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *u)
{
    double *S = state + head * head_size(conf);
    (void)pos;
    for (size_t pass = 0; pass < 2; pass++) /* without a mask all tokens are absorbed before the first is read */
        for (size_t t = 0; t < tokens; t++) {
            rows_exact r = HEAD_ROWS_INIT(in, head, t, conf);
            if (pass == 0) absorb_lanes(S, &r, conf, fmt, u);
            if (pass == !conf->causal)
                rung_matrix_query_lanes(o + (t * conf->heads + head) * conf->dv, S, r.q, conf->dk, conf->dv, fmt);
        }
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const rung_param no_params[] = {{0}};

#define QKV                                                                                                            \
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL, RUNG_QUANTITY_ACT},                                     \
        {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL, RUNG_QUANTITY_ACT},                                   \
    {                                                                                                                  \
        "v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_ACT                                 \
    }
#define BETA                                                                                                           \
    {                                                                                                                  \
        "beta", RUNG_DIM_HEAD, RUNG_FROM_GATE, false, "how much of the old value is replaced", NULL,                   \
            RUNG_QUANTITY_BETA                                                                                         \
    }
#define LOG_DECAY "natural logarithm of the decay"
#define MATRIX_ROW                                                                                                     \
    .class_of = RUNG_CLASS_STATE, .keeps = RUNG_KEEPS_HEADS, .transition = RUNG_TRANSITION_MATRIX,                     \
    .carries = "H dk dv", .params = no_params, .recurrent = true, .pads = rung_pads_all, .carry = carry,               \
    .scratch = scratch, RUNG_MECH_FORMS, .backward_f32 = rung_matrix_backward_f32,                                     \
    .backward_scratch = rung_matrix_backward_scratch, .forks = true

const rung_mech rung_mech_retnet = {
    .name = "retnet",
    .traits = RUNG_TRAIT_FADES | RUNG_TRAIT_CERTIFIED,
    .summary = "retention: a fixed decay per head (RetNet)",
    .equation = "S <- e^g S + k v^T, o = S^T q",
    .source = "Sun et al. 2023",
    .inputs =
        (const rung_mech_input[]){
            QKV, {"g", RUNG_DIM_HEAD, RUNG_FROM_RATE, false, LOG_DECAY, NULL, RUNG_QUANTITY_GATE}, {0}},
    MATRIX_ROW,
};

const rung_mech rung_mech_gla = {
    .name = "gla",
    .traits = RUNG_TRAIT_FADES | RUNG_TRAIT_CERTIFIED,
    .summary = "gated linear attention: a decay per key channel",
    .equation = "S_j <- e^(g_j) S_j + k_j v^T, o = S^T q",
    .source = "Yang, Wang et al. 2024",
    .inputs =
        (const rung_mech_input[]){
            QKV, {"g", RUNG_DIM_KEY, RUNG_FROM_LOG_GATE, false, LOG_DECAY, NULL, RUNG_QUANTITY_GATE}, {0}},
    MATRIX_ROW,
};

const rung_mech rung_mech_mamba2 = {
    .name = "mamba2",
    .traits = RUNG_TRAIT_FADES | RUNG_TRAIT_CERTIFIED,
    .summary = "state space duality: a decay per head that depends on the token (Mamba-2)",
    .equation = "S <- e^g S + k v^T, o = S^T q with v = x dt, k = B, q = C, g = dt A",
    .source = "Dao, Gu 2024",
    .inputs =
        (const rung_mech_input[]){
            {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "C", NULL, RUNG_QUANTITY_ACT},
            {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "B", NULL, RUNG_QUANTITY_ACT},
            {"v", RUNG_DIM_VALUE, RUNG_FROM_TIMED, false, "x dt", NULL, RUNG_QUANTITY_ACC},
            {"g", RUNG_DIM_HEAD, RUNG_FROM_DECAY, false, "dt A, the logarithm of the decay", NULL, RUNG_QUANTITY_GATE},
            {0},
        },
    MATRIX_ROW,
};

const rung_mech rung_mech_delta = {
    .name = "delta",
    .traits = RUNG_TRAIT_OVERWRITES | RUNG_TRAIT_CERTIFIED,
    .summary = "delta rule (DeltaNet)",
    .equation = "u = beta (v - S^T k), S <- S + k u^T, o = S^T q",
    .source = "Schlag et al. 2021; Yang et al. 2024",
    .inputs = (const rung_mech_input[]){QKV, BETA, {0}},
    MATRIX_ROW,
};

const rung_mech rung_mech_gdelta = {
    .name = "gdelta",
    .traits = RUNG_TRAIT_FADES | RUNG_TRAIT_OVERWRITES | RUNG_TRAIT_CERTIFIED,
    .summary = "gated delta rule (Gated DeltaNet)",
    .equation = "S <- e^g S, u = beta (v - S^T k), S <- S + k u^T, o = S^T q",
    .source = "Yang, Kautz, Hatamizadeh 2025",
    .inputs =
        (const rung_mech_input[]){
            QKV, BETA, {"g", RUNG_DIM_HEAD, RUNG_FROM_DECAY, false, LOG_DECAY, NULL, RUNG_QUANTITY_GATE}, {0}},
    MATRIX_ROW,
};

const rung_mech rung_mech_kda = {
    .name = "kda",
    .traits = RUNG_TRAIT_FADES | RUNG_TRAIT_OVERWRITES | RUNG_TRAIT_CERTIFIED,
    .summary = "delta rule with a decay per key channel (Kimi Delta Attention)",
    .equation = "S_j <- e^(g_j) S_j, u = beta (v - S^T k), S <- S + k u^T, o = S^T q",
    .source = "Kimi team 2025",
    .inputs =
        (const rung_mech_input[]){
            QKV, BETA, {"g", RUNG_DIM_KEY, RUNG_FROM_DECAY, false, LOG_DECAY, NULL, RUNG_QUANTITY_GATE}, {0}},
    MATRIX_ROW,
};
