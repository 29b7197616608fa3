/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * RWKV-7: a state matrix whose transition is a diagonal plus a matrix of rank one. With S [dk][dv] per head,
 *   S <- diag(w) S + b (a^T S) + k v^T,   o = S^T r.
 * The paper writes the transpose, S <- S (diag(w) + a b^T) + v k^T. w is the decay itself, in (0, 1), not its
 * logarithm.
 *
 * Fast scan: chunks, see rwkv7_chunk.c.
 *
 * Order: s_i = sum_j S_ji a_j from j = 0 upwards; then S_ji = r(r(r(w_j S_ji) + r(b_j s_i)) + r(k_j v_i)).
 */
#include "matrix.h"
#include "rwkv7_chunk.h"

#include "rung/kern.h"

#include <math.h>

static size_t head_size(const rung_mech_conf *conf)
{
    return conf->dk * conf->dv;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads * head_size(conf)};
}

static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return rung_rwkv7_chunk_size(conf);
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

/* `key` and `value` are the offsets of the head's row in the inputs. */
void rung_rwkv7_absorb_f32(float *S, const float *const *in, size_t key, size_t value, const rung_mech_conf *conf,
                           float *s)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t dv = conf->dv;
    rung_matrix_query_f32(s, S, in[RWKV7_A] + key, conf->dk, dv);
    for (size_t j = 0; j < conf->dk; j++) {
        kern->fade_axpy(S + j * dv, in[RWKV7_W][key + j], in[RWKV7_B][key + j], s, dv);
        kern->axpy(S + j * dv, in[RWKV7_K][key + j], in[RWKV7_V] + value, dv);
    }
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *s)
{
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++)
        rung_rwkv7_absorb_f32(state + h * head_size(conf), in, h * conf->dk, h * conf->dv, conf, s);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    for (size_t h = 0; h < conf->heads; h++)
        rung_matrix_query_f32(o + h * conf->dv, state + h * head_size(conf), in[RWKV7_R] + h * conf->dk, conf->dk,
                              conf->dv);
}

/* Goes token by token. Used for few tokens, and for numbers that are not finite. */
static void walk_f32(float *o, float *S, const float *const *in, size_t from, size_t to, size_t head,
                     const rung_mech_conf *conf, float *s)
{
    for (size_t t = from; t < to; t++) {
        size_t key = (t * conf->heads + head) * conf->dk, value = (t * conf->heads + head) * conf->dv;
        rung_rwkv7_absorb_f32(S, in, key, value, conf, s);
        if (conf->causal) rung_matrix_query_f32(o + value, S, in[RWKV7_R] + key, conf->dk, conf->dv);
    }
}

/* For fewer tokens the loop over tokens is faster. */
enum { FEW = 4 };

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    float *S = state + head * head_size(conf);
    (void)pos;
    for (size_t t = 0; t < tokens;) {
        if (tokens - t >= FEW) t = rung_rwkv7_chunks_f32(o, S, in, t, tokens, head, conf, scratch_);
        size_t to = size_min(tokens, t + SUBCHUNK);
        walk_f32(o, S, in, t, to, head, conf, scratch_);
        t = to;
    }
    for (size_t t = 0; !conf->causal && t < tokens; t++) {
        size_t row = t * conf->heads + head;
        rung_matrix_query_f32(o + row * conf->dv, S, in[RWKV7_R] + row * conf->dk, conf->dk, conf->dv);
    }
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *s)
{
    size_t dk = conf->dk, dv = conf->dv;
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++) {
        double *S = state + h * head_size(conf);
        const double *w = in[RWKV7_W] + h * dk, *k = in[RWKV7_K] + h * dk, *b = in[RWKV7_B] + h * dk,
                     *v = in[RWKV7_V] + h * dv;
        rung_matrix_query_exact(s, S, in[RWKV7_A] + h * dk, dk, dv, fmt);
        for (size_t j = 0; j < dk; j++)
            for (size_t i = 0; i < dv; i++) {
                double kept = rung_num_add(fmt, rung_num_mul(fmt, w[j], S[j * dv + i]), rung_num_mul(fmt, b[j], s[i]));
                S[j * dv + i] = rung_num_add(fmt, kept, rung_num_mul(fmt, k[j], v[i]));
            }
    }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    (void)pos, (void)seen, (void)scratch_;
    for (size_t h = 0; h < conf->heads; h++)
        rung_matrix_query_exact(o + h * conf->dv, state + h * head_size(conf), in[RWKV7_R] + h * conf->dk, conf->dk,
                                conf->dv, fmt);
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *s)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    double *S = state + head * head_size(conf);
    size_t dk = conf->dk, dv = conf->dv;
    (void)pos;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < tokens; t++) {
            size_t key = (t * conf->heads + head) * dk, value = (t * conf->heads + head) * dv;
            if (pass == 0) {
                rung_matrix_query_lanes(s, S, in[RWKV7_A] + key, dk, dv, fmt);
                for (size_t j = 0; j < dk; j++) num->scale(fmt, S + j * dv, S + j * dv, in[RWKV7_W][key + j], dv);
                rung_matrix_add_lanes(S, in[RWKV7_B] + key, s, dk, dv, fmt);
                rung_matrix_add_lanes(S, in[RWKV7_K] + key, in[RWKV7_V] + value, dk, dv, fmt);
            }
            if (pass == !conf->causal) rung_matrix_query_lanes(o + value, S, in[RWKV7_R] + key, dk, dv, fmt);
        }
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static const rung_param no_params[] = {{0}};
static const rung_mech_input inputs[] = {
    {"r", RUNG_DIM_KEY, RUNG_FROM_LINEAR, false, "receptance, the query", NULL, RUNG_QUANTITY_ACT},
    {"w", RUNG_DIM_KEY, RUNG_FROM_KEEP, false, "decay of each channel, in (0, 1)", NULL, RUNG_QUANTITY_GATE},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, false, "key", NULL, RUNG_QUANTITY_ACT},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_ACT},
    {"a", RUNG_DIM_KEY, RUNG_FROM_REMOVAL, false, "minus the direction that is removed", NULL, RUNG_QUANTITY_ACT},
    {"b", RUNG_DIM_KEY, RUNG_FROM_REPLACEMENT, false, "that direction times a rate", NULL, RUNG_QUANTITY_ACT},
    {0},
};

const rung_mech rung_mech_rwkv7 = {
    .name = "rwkv7",
    .class_of = RUNG_CLASS_STATE,
    .traits = RUNG_TRAIT_FADES | RUNG_TRAIT_OVERWRITES,
    .summary = "diagonal plus rank one transition (RWKV-7)",
    .equation = "S <- diag(w) S + b (a^T S) + k v^T, o = S^T r",
    .carries = "H dk dv",
    .source = "Peng et al. 2025",
    .params = no_params,
    .inputs = inputs,
    .recurrent = true,
    .keeps = RUNG_KEEPS_HEADS,
    .transition = RUNG_TRANSITION_RANK_ONE,
    .pads = rung_pads_all,
    .carry = carry,
    .scratch = scratch,
    RUNG_MECH_FORMS,
    .backward_f32 = rung_rwkv7_backward_f32,
    .backward_scratch = rung_rwkv7_backward_scratch,
    .forks = true,
};
