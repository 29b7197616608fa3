/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Linear attention: a feature map phi: R^dk -> R^r replaces the softmax, so that the past fits into one matrix.
 *   S_t = S_{t-1} + phi(k_t) v_t^T              [r][dv]
 *   z_t = z_{t-1} + phi(k_t)                    [r]
 *   o_t = S_t^T phi(q_t) / (z_t . phi(q_t))     norm=0 leaves out z and the division
 * State: per head S, then z: H r (dv + [norm]) numbers.
 * Feature maps: elu1 (x+1 for x > 0, else e^x), relu, identity, and taylor2 (1, x_i, x_i x_j / sqrt 2), whose inner
 * product is the Taylor polynomial 1 + x.y + (x.y)^2/2 of e^(x.y).
 */
#include "linear.h"

#include "rung/kern.h"

#include <math.h>
#include <string.h>

static const char *const phi_names[] = {"elu1", "relu", "identity", "taylor2", NULL};
static const rung_param params[] = {
    {"phi", RUNG_PARAM_CHOICE, PHI_ELU1, 0, 0, phi_names, "feature map of keys and queries"},
    {"norm", RUNG_PARAM_INT, 1, 0, 1, NULL, "1: divide by z.phi(q); 0: no normaliser"},
    {0},
};
enum { PARAM_PHI, PARAM_NORM };

int rung_linear_phi(const rung_mech_conf *conf)
{
    return (int)conf->params[PARAM_PHI].number;
}

bool rung_linear_has_norm(const rung_mech_conf *conf)
{
    return conf->params[PARAM_NORM].number != 0;
}

size_t rung_linear_features(const rung_mech_conf *conf)
{
    return rung_linear_phi(conf) == PHI_TAYLOR2 ? 1 + conf->dk + conf->dk * conf->dk : conf->dk;
}

size_t rung_linear_head_size(const rung_mech_conf *conf)
{
    return rung_linear_features(conf) * (conf->dv + rung_linear_has_norm(conf));
}

static rung_status check(const rung_mech_conf *conf, rung_error *err)
{
    if (rung_linear_phi(conf) == PHI_TAYLOR2 && conf->dk > 1024)
        return rung_fail(err, RUNG_USAGE, "linear: phi=taylor2 makes dk^2+dk+1 features; dk=%zu is above 1024",
                         conf->dk);
    return RUNG_OK;
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return (rung_carry){.recurrent = conf->heads * rung_linear_head_size(conf)};
}

static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return rung_linear_chunk_size(conf) + rung_panels_size(rung_linear_features(conf), conf->dv);
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

void rung_linear_phi_f32(float *out, const float *x, const rung_mech_conf *conf)
{
    size_t d = conf->dk;
    switch (rung_linear_phi(conf)) {
    case PHI_ELU1:
        rung_chunk_kernels_get()->elu1(out, 0, x, 0, 1, d);
        break;
    case PHI_RELU:
        for (size_t i = 0; i < d; i++) out[i] = x[i] > 0 || isnan(x[i]) ? x[i] : 0;
        break;
    case PHI_IDENTITY:
        memcpy(out, x, d * sizeof *x);
        break;
    case PHI_TAYLOR2:
        out[0] = 1;
        memcpy(out + 1, x, d * sizeof *x);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++) out[1 + d + i * d + j] = x[i] * x[j] * 0.70710678f;
        break;
    }
}

void rung_linear_absorb_f32(float *S, const float *phi_k, const float *v, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t r = rung_linear_features(conf);
    for (size_t j = 0; j < r; j++) kern->axpy(S + j * conf->dv, phi_k[j], v, conf->dv);
    if (rung_linear_has_norm(conf)) kern->axpy(S + r * conf->dv, 1, phi_k, r);
}

/* o += S^T phi(q); returns z . phi(q). */
static float query_f32(float *o, const float *S, const float *phi_q, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t r = rung_linear_features(conf);
    for (size_t j = 0; j < r; j++) kern->axpy(o, phi_q[j], S + j * conf->dv, conf->dv);
    return rung_linear_has_norm(conf) ? kern->dot(S + r * conf->dv, phi_q, r) : 1;
}

static void update_f32(float *state, const float *const *in, size_t pos, const rung_mech_conf *conf, float *phi_k)
{
    (void)pos;
    for (size_t h = 0; h < conf->heads; h++) {
        rung_linear_phi_f32(phi_k, in[IN_K] + h * conf->dk, conf);
        rung_linear_absorb_f32(state + h * rung_linear_head_size(conf), phi_k, in[IN_V] + h * conf->dv, conf);
    }
}

static void read_one_f32(float *o, const float *S, const float *q, const rung_mech_conf *conf, float *phi_q)
{
    rung_linear_phi_f32(phi_q, q, conf);
    memset(o, 0, conf->dv * sizeof *o);
    float z = query_f32(o, S, phi_q, conf);
    if (rung_linear_has_norm(conf)) rung_kernels_get()->scale(o, 1 / z, conf->dv);
}

static void read_f32(float *o, const float *state, const float *const *in, size_t pos, size_t seen,
                     const rung_mech_conf *conf, float *phi_q)
{
    (void)pos, (void)seen;
    for (size_t h = 0; h < conf->heads; h++)
        read_one_f32(o + h * conf->dv, state + h * rung_linear_head_size(conf), in[IN_Q] + h * conf->dk, conf, phi_q);
}

/* Token by token: for a few of them, and for numbers that are not finite, which in a product would reach tokens before
 * them. */
static void walk_f32(float *o, float *state, const float *const *in, size_t from, size_t to, size_t head,
                     const rung_mech_conf *conf, float *phi)
{
    float *S = state + head * rung_linear_head_size(conf);
    for (size_t t = from; t < to; t++) {
        size_t key = (t * conf->heads + head) * conf->dk, value = (t * conf->heads + head) * conf->dv;
        rung_linear_phi_f32(phi, in[IN_K] + key, conf);
        rung_linear_absorb_f32(S, phi, in[IN_V] + value, conf);
        if (conf->causal) read_one_f32(o + value, S, in[IN_Q] + key, conf, phi);
    }
}

/* An encoder: every query reads the last state. S in panels, z behind the state's own. */
static void read_all_f32(float *o, const float *S, const float *z, const float *const *in, size_t tokens, size_t head,
                         const rung_mech_conf *conf, linear_chunk *c)
{
    for (size_t t = 0; t < tokens; t += CHUNK) {
        rung_linear_chunk_rows(c, in, t, tokens, head, conf);
        rung_linear_chunk_phi(c->p, in[IN_Q] + (t * conf->heads + head) * conf->dk, c, conf);
        rung_chunk_product(o + t * c->v_row, c->v_row, chunk_rows(c->p, c->r), S, c->r, c->n, c->dv, c->r, false);
        rung_linear_chunk_norms(c, z, false);
        if (z)
            rung_chunk_kernels_get()->scale_rows(o + t * c->v_row, c->v_row, o + t * c->v_row, c->v_row, c->inverse,
                                                 c->n, c->dv);
    }
}

/* Returns whether o is finite. */
static bool chunk_f32(float *o, const float *S, const float *z, const linear_chunk *c)
{
    rung_linear_chunk_norms(c, z, true);
    return rung_linear_chunk_read(o, S, z, c);
}

/* Below so many tokens the token loop is faster than opening and closing the state. */
enum { FEW = 4 };

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    (void)pos;
    if (tokens < FEW && conf->causal) {
        walk_f32(o, state, in, 0, tokens, head, conf, scratch_);
        return;
    }
    linear_chunk c = rung_linear_chunk_new(conf, scratch_);
    float *S = scratch_ + rung_linear_chunk_size(conf), *own = state + head * rung_linear_head_size(conf);
    float *z = rung_linear_has_norm(conf) ? own + c.r * c.dv : NULL, *out = o + head * c.dv;
    rung_chunk_open(S, own, c.r, c.dv);
    for (size_t t = 0; t < tokens; t += CHUNK) {
        rung_linear_chunk_rows(&c, in, t, tokens, head, conf);
        c.next = size_min(CHUNK, tokens - t - c.n);
        rung_linear_chunk_enter(&c, conf, conf->causal);
        if (!conf->causal || chunk_f32(out + t * c.v_row, S, z, &c)) {
            rung_linear_chunk_leave(S, z, conf->causal, conf->causal ? out + t * c.v_row : NULL, &c);
        } else {
            rung_chunk_close(own, S, c.r, c.dv);
            walk_f32(o, state, in, t, t + c.n, head, conf, scratch_);
            rung_chunk_open(S, own, c.r, c.dv);
        }
    }
    rung_chunk_close(own, S, c.r, c.dv);
    if (!conf->causal) read_all_f32(out, S, z, in, tokens, head, conf, &c);
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

static void phi_exact(double *out, const double *x, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    size_t d = conf->dk;
    double root_half = rung_num_round(fmt, 0.70710678118654752440);
    switch (rung_linear_phi(conf)) {
    case PHI_ELU1:
        for (size_t i = 0; i < d; i++)
            out[i] = x[i] > 0 ? rung_num_add(fmt, x[i], rung_num_round(fmt, 1)) : rung_num_fn(fmt, RUNG_FN_EXP, x[i]);
        break;
    case PHI_RELU:
        for (size_t i = 0; i < d; i++) out[i] = x[i] > 0 || isnan(x[i]) ? x[i] : 0;
        break;
    case PHI_IDENTITY:
        memcpy(out, x, d * sizeof *x);
        break;
    case PHI_TAYLOR2:
        out[0] = rung_num_round(fmt, 1);
        memcpy(out + 1, x, d * sizeof *x);
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                out[1 + d + i * d + j] = rung_num_mul(fmt, rung_num_mul(fmt, x[i], x[j]), root_half);
        break;
    }
}

static void update_exact(double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                         const rung_fmt *fmt, double *phi_k)
{
    (void)pos;
    size_t r = rung_linear_features(conf);
    for (size_t h = 0; h < conf->heads; h++) {
        double *S = state + h * rung_linear_head_size(conf), *z = S + r * conf->dv;
        const double *v = in[IN_V] + h * conf->dv;
        phi_exact(phi_k, in[IN_K] + h * conf->dk, conf, fmt);
        for (size_t j = 0; j < r; j++)
            for (size_t i = 0; i < conf->dv; i++)
                S[j * conf->dv + i] = rung_num_add(fmt, S[j * conf->dv + i], rung_num_mul(fmt, phi_k[j], v[i]));
        for (size_t j = 0; rung_linear_has_norm(conf) && j < r; j++) z[j] = rung_num_add(fmt, z[j], phi_k[j]);
    }
}

static void read_exact(double *o, const double *state, const double *const *in, size_t pos, size_t seen,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *phi_q)
{
    (void)pos, (void)seen;
    size_t r = rung_linear_features(conf);
    for (size_t h = 0; h < conf->heads; h++) {
        const double *S = state + h * rung_linear_head_size(conf), *z = S + r * conf->dv;
        double *out = o + h * conf->dv;
        phi_exact(phi_q, in[IN_Q] + h * conf->dk, conf, fmt);
        for (size_t i = 0; i < conf->dv; i++) {
            out[i] = 0;
            for (size_t j = 0; j < r; j++)
                out[i] = rung_num_add(fmt, out[i], rung_num_mul(fmt, S[j * conf->dv + i], phi_q[j]));
        }
        if (!rung_linear_has_norm(conf)) continue;
        double den = rung_num_dot(fmt, z, phi_q, r);
        for (size_t i = 0; i < conf->dv; i++) out[i] = rung_num_div(fmt, out[i], den);
    }
}

/* Numbers that the lanes of one call are copied to at most. */
enum { LANES_MOST = 64 };

/* The same roundings with the dv values of a row as lanes. */
static void absorb_lanes(double *S, const double *phi_k, const double *v, const rung_mech_conf *conf,
                         const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t r = rung_linear_features(conf);
    for (size_t j = 0; j < r; j++) num->scale_add(fmt, S + j * conf->dv, v, phi_k[j], conf->dv);
    if (rung_linear_has_norm(conf)) num->add(fmt, S + r * conf->dv, S + r * conf->dv, phi_k, r);
}

static void read_lanes(double *o, const double *S, const double *phi_q, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    size_t r = rung_linear_features(conf);
    memset(o, 0, conf->dv * sizeof *o);
    for (size_t j = 0; j < r; j++) num->scale_add(fmt, o, S + j * conf->dv, phi_q[j], conf->dv);
    if (!rung_linear_has_norm(conf)) return;
    double den[LANES_MOST];
    size_t count = conf->dv < LANES_MOST ? conf->dv : LANES_MOST;
    den[0] = rung_num_dot(fmt, S + r * conf->dv, phi_q, r);
    for (size_t i = 1; i < count; i++) den[i] = den[0];
    for (size_t i = 0; i < conf->dv; i += count)
        num->div(fmt, o + i, o + i, den, conf->dv - i < count ? conf->dv - i : count);
}

/* phi_exact with the coordinates as lanes. */
static void phi_lanes(double *out, const double *x, const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_num_kernels *num = rung_num_kernels_get();
    if (rung_linear_phi(conf) != PHI_ELU1) {
        phi_exact(out, x, conf, fmt);
        return;
    }
    double one[LANES_MOST], above[LANES_MOST], below[LANES_MOST], unit = rung_num_round(fmt, 1);
    for (size_t first = 0; first < conf->dk; first += LANES_MOST) {
        size_t count = conf->dk - first < LANES_MOST ? conf->dk - first : LANES_MOST;
        const double *from = x + first;
        for (size_t i = 0; i < count; i++) one[i] = unit, below[i] = from[i] > 0 ? 0 : from[i];
        num->add(fmt, above, from, one, count);
        num->fn(fmt, RUNG_FN_EXP, below, below, count);
        for (size_t i = 0; i < count; i++) out[first + i] = from[i] > 0 ? above[i] : below[i];
    }
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *phi)
{
    (void)pos;
    double *S = state + head * rung_linear_head_size(conf);
    for (size_t t = 0; t < tokens; t++) {
        size_t key = (t * conf->heads + head) * conf->dk, value = (t * conf->heads + head) * conf->dv;
        phi_lanes(phi, in[IN_K] + key, conf, fmt);
        absorb_lanes(S, phi, in[IN_V] + value, conf, fmt);
        if (!conf->causal) continue;
        phi_lanes(phi, in[IN_Q] + key, conf, fmt);
        read_lanes(o + value, S, phi, conf, fmt);
    }
    for (size_t t = 0; !conf->causal && t < tokens; t++) {
        phi_lanes(phi, in[IN_Q] + (t * conf->heads + head) * conf->dk, conf, fmt);
        read_lanes(o + (t * conf->heads + head) * conf->dv, S, phi, conf, fmt);
    }
}

/* elu1 makes 1 of 0, so that coordinates of zeros count; relu and identity make z . phi(q) = 0 of a head of zeros, and
 * 0 / 0 is no number. */
static unsigned pads(const rung_mech_conf *conf)
{
    int phi = rung_linear_phi(conf);
    unsigned keys = phi == PHI_ELU1 ? 0 : RUNG_PADS_KEYS;
    bool divides_by_zero = rung_linear_has_norm(conf) && (phi == PHI_RELU || phi == PHI_IDENTITY);
    return keys | RUNG_PADS_VALUES | (divides_by_zero ? 0 : RUNG_PADS_HEADS | RUNG_PADS_IDLE);
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static const rung_mech_input inputs[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query, before phi", NULL, RUNG_QUANTITY_ACT},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key, before phi", NULL, RUNG_QUANTITY_ACT},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_ACT},
    {0},
};

const rung_mech rung_mech_linear = {
    .name = "linear",
    .class_of = RUNG_CLASS_STATE,
    .traits = RUNG_TRAIT_SUM | RUNG_TRAIT_CERTIFIED,
    .summary = "linear attention with a feature map",
    .equation = "S_t = S_(t-1) + phi(k_t) v_t^T, z_t = z_(t-1) + phi(k_t), o_t = S_t^T phi(q_t) / (z_t . phi(q_t))",
    .carries = "H r (dv + norm), r = dk (taylor2: 1 + dk + dk^2)",
    .source = "Katharopoulos et al. 2020",
    .params = params,
    .inputs = inputs,
    .recurrent = true,
    .keeps = RUNG_KEEPS_HEADS,
    .pads = pads,
    .check = check,
    .carry = carry,
    .scratch = scratch,
    RUNG_MECH_FORMS,
    .backward_f32 = rung_linear_backward_f32,
    .backward_scratch = rung_linear_backward_scratch,
    .forks = true,
};
