/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The delta rule, plain (delta) and gated (gdelta):
 *   S <- e^g S (gdelta only);  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q,   S [dk][dv] per head.
 * Nothing is normalised here: a model that wants |k| = 1 says so.
 *
 * Fast scan, chunks of C tokens. With G_t the sum of g inside the chunk up to t, unrolling the recurrence
 * gives u_t = beta_t (v_t - e^{G_t} S_0^T k_t - sum_{s<t} e^{G_t-G_s} (k_s.k_t) u_s), o_t = e^{G_t} S_0^T q_t
 * + sum_{s<=t} e^{G_t-G_s} (k_s.q_t) u_s,   S_C = e^{G_C} S_0 + sum_s e^{G_C-G_s} k_s u_s^T: a triangular
 * system in the chunk and one matrix between chunks. Every exponent is <= 0 when g <= 0, so nothing
 * overflows; no division by a decay occurs.
 */
#include "rows.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 64 };
enum { IN_BETA = 3, IN_G = 4 };

static bool is_gated(const rung_mech_conf *conf)
{
    return conf->mech == &rung_mech_gdelta;
}

static size_t head_size(const rung_mech_conf *conf)
{
    return conf->dk * conf->dv;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads * head_size(conf)};
}

/* u of a chunk and the weights of one row. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return CHUNK * conf->dv + CHUNK;
}

/* ---- fast
 * --------------------------------------------------------------------------------------------------- */

/* o += f S^T x */
static void query_f32(float *o, float f, const float *S, const float *x, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t j = 0; j < conf->dk; j++) kern->axpy(o, f * x[j], S + j * conf->dv, conf->dv);
}

/* One token of one head; u has room for dv numbers. */
static void absorb_f32(float *S, const float *k, const float *v, float beta, float g, const rung_mech_conf *conf,
                       float *u)
{
    const rung_kernels *kern = rung_kernels_get();
    if (is_gated(conf)) kern->scale(S, expf(g), head_size(conf));
    memset(u, 0, conf->dv * sizeof *u);
    query_f32(u, 1, S, k, conf);
    for (size_t i = 0; i < conf->dv; i++) u[i] = beta * (v[i] - u[i]);
    for (size_t j = 0; j < conf->dk; j++) kern->axpy(S + j * conf->dv, k[j], u, conf->dv);
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *u)
{
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++)
        absorb_f32(state + h * head_size(conf), in[IN_K] + h * conf->dk, in[IN_V] + h * conf->dv, in[IN_BETA][h],
                   is_gated(conf) ? in[IN_G][h] : 0, conf, u);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    memset(o, 0, conf->heads * conf->dv * sizeof *o);
    for (size_t h = 0; h < conf->heads; h++)
        query_f32(o + h * conf->dv, 1, state + h * head_size(conf), in[IN_Q] + h * conf->dk, conf);
}

/* The rows of one head in one chunk. */
typedef struct chunk {
    const float *q, *k, *v, *beta, *g; /* first token of the chunk, this head; g is NULL without a gate */
    size_t n, key_row, value_row, heads;
    float *u, *weight; /* [n][dv], [n] */
} chunk;

/* weight_s = e^{g_{s+1} + ... + g_t} for s <= t; returns e^{g_0 + ... + g_t}. The sums grow backwards from t: a
 * difference of prefix sums would lose the weak decays near t behind one strong decay far back, and a decay of
 * -inf would make it a NaN. */
static float decays_f32(const chunk *c, size_t t)
{
    float sum = 0;
    for (size_t s = t + 1; s-- > 0;) {
        c->weight[s] = sum;
        if (c->g) sum += c->g[s * c->heads];
    }
    rung_kernels_get()->exp(c->weight, c->weight, t + 1);
    return expf(sum);
}

/* y += sign times the sum of weight_s (k_s . x) u_s over s < count. */
static void inside_f32(float *y, float sign, const float *x, size_t count, const chunk *c, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    for (size_t s = 0; s < count; s++) {
        float w = sign * c->weight[s] * kern->dot(c->k + s * c->key_row, x, conf->dk);
        kern->axpy(y, w, c->u + s * conf->dv, conf->dv);
    }
}

static void chunk_f32(float *o, float *S, const chunk *c, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    float decay = 1;
    for (size_t t = 0; t < c->n; t++) {
        const float *k = c->k + t * c->key_row, *q = c->q + t * c->key_row;
        float *u = c->u + t * conf->dv, *out = o + t * c->value_row;
        decay = decays_f32(c, t);
        memcpy(u, c->v + t * c->value_row, conf->dv * sizeof *u);
        query_f32(u, -decay, S, k, conf);
        inside_f32(u, -1, k, t, c, conf);
        kern->scale(u, c->beta[t * c->heads], conf->dv);
        memset(out, 0, conf->dv * sizeof *out);
        query_f32(out, decay, S, q, conf);
        inside_f32(out, 1, q, t + 1, c, conf);
    }
    kern->scale(S, decay, head_size(conf)); /* decay and weights are those of the last token now */
    for (size_t s = 0; s < c->n; s++)
        for (size_t j = 0; j < conf->dk; j++)
            kern->axpy(S + j * conf->dv, c->weight[s] * c->k[s * c->key_row + j], c->u + s * conf->dv, conf->dv);
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos;
    size_t H = conf->heads, key_row = H * conf->dk, value_row = H * conf->dv;
    float *S = state + head * head_size(conf), *out = o + head * conf->dv;
    const float *g = is_gated(conf) ? in[IN_G] + head : NULL;
    for (size_t t = 0; t < tokens; t += CHUNK) {
        chunk c = {.q = in[IN_Q] + t * key_row + head * conf->dk,
                   .k = in[IN_K] + t * key_row + head * conf->dk,
                   .v = in[IN_V] + t * value_row + head * conf->dv,
                   .beta = in[IN_BETA] + t * H + head,
                   .g = g ? g + t * H : NULL,
                   .n = size_min(CHUNK, tokens - t),
                   .key_row = key_row,
                   .value_row = value_row,
                   .heads = H,
                   .u = scratch_,
                   .weight = scratch_ + CHUNK * conf->dv};
        chunk_f32(out + t * value_row, S, &c, conf);
    }
    for (size_t t = 0; !conf->causal && t < tokens; t++) { /* an encoder reads what is left at the end */
        memset(out + t * value_row, 0, conf->dv * sizeof *out);
        query_f32(out + t * value_row, 1, S, in[IN_Q] + t * key_row + head * conf->dk, conf);
    }
}

/* ---- exact
 * ---------------------------------------------------------------------------------------------------- */

/* out_i = sum over j from 0 upwards of S_ji x_j */
static void query_exact(double *out, const double *S, const double *x, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    for (size_t i = 0; i < conf->dv; i++) {
        out[i] = 0;
        for (size_t j = 0; j < conf->dk; j++)
            out[i] = rung_num_add(fmt, out[i], rung_num_mul(fmt, S[j * conf->dv + i], x[j]));
    }
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *u)
{
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++) {
        double *S = state + h * head_size(conf);
        const double *k = in[IN_K] + h * conf->dk, *v = in[IN_V] + h * conf->dv;
        double decay = is_gated(conf) ? rung_num_fn(fmt, RUNG_FN_EXP, in[IN_G][h]) : 1;
        for (size_t e = 0; is_gated(conf) && e < head_size(conf); e++) S[e] = rung_num_mul(fmt, S[e], decay);
        query_exact(u, S, k, conf, fmt);
        for (size_t i = 0; i < conf->dv; i++) u[i] = rung_num_mul(fmt, in[IN_BETA][h], rung_num_sub(fmt, v[i], u[i]));
        for (size_t j = 0; j < conf->dk; j++)
            for (size_t i = 0; i < conf->dv; i++)
                S[j * conf->dv + i] = rung_num_add(fmt, S[j * conf->dv + i], rung_num_mul(fmt, k[j], u[i]));
    }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    for (size_t h = 0; h < conf->heads; h++)
        query_exact(o + h * conf->dv, state + h * head_size(conf), in[IN_Q] + h * conf->dk, conf, fmt);
}

/* The same roundings with the dv values of a row as lanes. */
static void query_lanes(double *out, const double *S, const double *x, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    memset(out, 0, conf->dv * sizeof *out);
    for (size_t j = 0; j < conf->dk; j++) num->scale_add(fmt, out, S + j * conf->dv, x[j], conf->dv);
}

static void absorb_lanes(double *S, const double *k, const double *v, double beta, const double *g,
                         const rung_mech_conf *conf, const rung_fmt *fmt, double *u)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    if (g) num->scale(fmt, S, S, rung_num_fn(fmt, RUNG_FN_EXP, *g), head_size(conf));
    query_lanes(u, S, k, conf, fmt);
    num->sub(fmt, u, v, u, conf->dv);
    num->scale(fmt, u, u, beta, conf->dv);
    for (size_t j = 0; j < conf->dk; j++) num->scale_add(fmt, S + j * conf->dv, u, k[j], conf->dv);
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *u)
{
    (void)pos;
    double *S = state + head * head_size(conf);
    for (size_t t = 0; t < tokens; t++) {
        size_t row = t * conf->heads + head;
        absorb_lanes(S, in[IN_K] + row * conf->dk, in[IN_V] + row * conf->dv, in[IN_BETA][row],
                     is_gated(conf) ? in[IN_G] + row : NULL, conf, fmt, u);
        if (conf->causal) query_lanes(o + row * conf->dv, S, in[IN_Q] + row * conf->dk, conf, fmt);
    }
    for (size_t t = 0; !conf->causal && t < tokens; t++) {
        size_t row = t * conf->heads + head;
        query_lanes(o + row * conf->dv, S, in[IN_Q] + row * conf->dk, conf, fmt);
    }
}

/* ---- rows
 * ------------------------------------------------------------------------------------------------------- */

static const rung_param no_params[] = {{0}};
#define DELTA_INPUTS                                                                                                   \
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL},                                                        \
        {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL},                                                      \
        {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL},                                                 \
    {                                                                                                                  \
        "beta", RUNG_DIM_HEAD, RUNG_FROM_GATE, false, "how much of the old value is replaced"                          \
    }
static const rung_mech_input delta_inputs[] = {DELTA_INPUTS, {0}};
static const rung_mech_input gdelta_inputs[] = {
    DELTA_INPUTS,
    {"g", RUNG_DIM_HEAD, RUNG_FROM_DECAY, false, "natural logarithm of the decay", NULL},
    {0},
};

const rung_mech rung_mech_delta = {
    .name = "delta",
    .summary = "delta rule (DeltaNet)",
    .equation = "u = beta (v - S^T k), S <- S + k u^T, o = S^T q",
    .carries = "H dk dv",
    .source = "Schlag et al. 2021; Yang et al. 2024",
    .params = no_params,
    .inputs = delta_inputs,
    .recurrent = true,
    .carry = carry,
    .scratch = scratch,
    .update_f32 = update_f32,
    .read_f32 = read_f32,
    .update_exact = update_exact,
    .read_exact = read_exact,
    .scan_f32 = scan_f32,
    .scan_exact = scan_exact,
};

const rung_mech rung_mech_gdelta = {
    .name = "gdelta",
    .summary = "gated delta rule (Gated DeltaNet)",
    .equation = "S <- e^g S, u = beta (v - S^T k), S <- S + k u^T, o = S^T q",
    .carries = "H dk dv",
    .source = "Yang, Kautz, Hatamizadeh 2025",
    .params = no_params,
    .inputs = gdelta_inputs,
    .recurrent = true,
    .carry = carry,
    .scratch = scratch,
    .update_f32 = update_f32,
    .read_f32 = read_f32,
    .update_exact = update_exact,
    .read_exact = read_exact,
    .scan_f32 = scan_f32,
    .scan_exact = scan_exact,
};
