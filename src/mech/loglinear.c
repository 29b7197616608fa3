/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Log-linear attention (Guo et al. 2025): the past of a query lies in O(log t) state matrices, one per bucket of a
 * Fenwick tree, and the query weighs them by lambda. The t tokens before token t are cut by the binary digits of t: the
 * set bit l of t stands for 2^l of them, oldest tokens to the highest bit, and that bucket has level l+1. Level 0 is
 * token t alone. Tokens s < t have level rung_loglinear_bits(t xor s): the highest bit where s and t differ is the set
 * bit of t that begins to leave s behind.
 *   base=linear:  S^(l) = sum of k_s v_s^T over the bucket
 *   base=mamba2:  e^g multiplies every S^(l) before the token enters with k v^T
 *   base=gdelta:  every S^(l) goes through S <- e^g S, u = beta (0 - S^T k), S <- S + k u^T; the token enters with
 *                 k (beta v)^T. All levels together are the state of gdelta, which is linear in its values.
 *   o_t = sum over levels, the oldest bucket first and level 0 last, of lambda_t^(l) (S^(l)^T q_t).
 * Then the token is merged as one is added to a binary counter: N = k u^T, and while bits 0, 1, ... of t are set,
 * N <- N + S^(1), N + S^(2), ... So popcount(t+1) matrices are left, the oldest bucket first: [matrix][H][dk][dv].
 *
 * Nothing is normalised, and there is no feature map. A level beyond the last weight takes the last weight, which only
 * occurs after more than 2^(levels-1) tokens.
 */
#include "loglinear.h"

#include <limits.h>
#include <string.h>

enum { BASE_LINEAR, BASE_MAMBA2, BASE_GDELTA };
static const char *const base_names[] = {"linear", "mamba2", "gdelta", NULL};
static const rung_param params[] = {
    {"base", RUNG_PARAM_CHOICE, BASE_LINEAR, 0, 0, base_names, "what happens to a state matrix at every token"},
    {"levels", RUNG_PARAM_INT, 24, 1, 40, NULL, "weights lambda per head: enough for 2^(levels-1) tokens"},
    {0},
};
enum { PARAM_BASE, PARAM_LEVELS };

bool rung_loglinear_fades(const rung_mech_conf *conf)
{
    return conf->params[PARAM_BASE].number != BASE_LINEAR;
}

bool rung_loglinear_corrects(const rung_mech_conf *conf)
{
    return conf->params[PARAM_BASE].number == BASE_GDELTA;
}

matrix_kind rung_loglinear_kind(const rung_mech_conf *conf)
{
    return (matrix_kind){rung_loglinear_fades(conf) ? DECAY_HEAD : DECAY_NONE, rung_loglinear_corrects(conf)};
}

size_t rung_loglinear_levels(const rung_mech_conf *conf)
{
    return (size_t)conf->params[PARAM_LEVELS].number;
}

size_t rung_loglinear_weight(size_t level, const rung_mech_conf *conf)
{
    return size_min(level, rung_loglinear_levels(conf) - 1);
}

size_t rung_loglinear_matrices(size_t tokens)
{
    return (size_t)__builtin_popcountll(tokens);
}

size_t rung_loglinear_bits(size_t x)
{
    return x ? sizeof(unsigned long long) * CHAR_BIT - (size_t)__builtin_clzll(x) : 0;
}

static size_t matrix_size(const rung_mech_conf *conf)
{
    return conf->dk * conf->dv;
}

/* Offset of matrix m of a head in the state. */
static size_t place(size_t m, size_t head, const rung_mech_conf *conf)
{
    return (m * conf->heads + head) * matrix_size(conf);
}

static rung_carry carry(const rung_mech_conf *conf, size_t tokens)
{
    return (rung_carry){.recurrent = size_times(rung_loglinear_matrices(tokens), conf->heads * matrix_size(conf))};
}

/* The least number with c set bits is 2^c - 1, so no t <= tokens has more than the c with 2^c <= tokens + 1. */
size_t rung_loglinear_most(size_t tokens)
{
    return tokens == SIZE_MAX ? rung_loglinear_bits(tokens) : rung_loglinear_bits(tokens + 1) - 1;
}

static size_t capacity(const rung_mech_conf *conf, size_t tokens)
{
    return size_times(rung_loglinear_most(tokens), conf->heads * matrix_size(conf));
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

/* The roundings of a token are those of four matrix operations and of one sum. The step form does them in scalar code,
 * the scan form in lanes. */
typedef struct exact_ops {
    void (*query)(double *out, const double *S, const double *x, size_t dk, size_t dv, const rung_fmt *fmt);
    void (*fade)(double *S, const double *g, bool per_channel, size_t dk, size_t dv, const rung_fmt *fmt);
    void (*correct)(double *S, const double *k, const double *v, double beta, size_t dk, size_t dv, const rung_fmt *fmt,
                    double *u);
    void (*add)(double *S, const double *k, const double *u, size_t dk, size_t dv, const rung_fmt *fmt);
    void (*sum)(double *acc, const double *x, size_t n, const rung_fmt *fmt);
} exact_ops;

static void sum_exact(double *acc, const double *x, size_t n, const rung_fmt *fmt)
{
    for (size_t i = 0; i < n; i++) acc[i] = rung_num_add(fmt, acc[i], x[i]);
}

static void sum_lanes(double *acc, const double *x, size_t n, const rung_fmt *fmt)
{
    rung_num_kernels_get()->add(fmt, acc, acc, x, n);
}

static const exact_ops scalar = {rung_matrix_query_exact, rung_matrix_fade_exact, rung_matrix_correct_exact,
                                 rung_matrix_add_exact, sum_exact};
static const exact_ops lanes = {rung_matrix_query_lanes, rung_matrix_fade_lanes, rung_matrix_correct_lanes,
                                rung_matrix_add_lanes, sum_lanes};

/* One token of one head: the rows of its inputs, the scratch rows, and the operations. */
typedef struct token {
    const double *q, *k, *v, *lambda, *g, *beta; /* g, beta: NULL when the base has none */
    size_t pos, head;
    const rung_fmt *fmt;
    const exact_ops *ops;
    double *u, *y, *row, *zero; /* [dv] each */
} token;

static token token_at(const double *const *in, size_t t, size_t pos, size_t head, const rung_mech_conf *conf,
                      const rung_fmt *fmt, const exact_ops *ops, double *scratch_)
{
    size_t row = t * conf->heads + head, dv = conf->dv;
    return (token){.q = in[IN_Q] + row * conf->dk,
                   .k = in[IN_K] + row * conf->dk,
                   .v = in[IN_V] + row * dv,
                   .lambda = in[LOG_LAMBDA] + row * rung_loglinear_levels(conf),
                   .g = rung_loglinear_fades(conf) ? in[LOG_G] + row : NULL,
                   .beta = rung_loglinear_corrects(conf) ? in[LOG_BETA] + row : NULL,
                   .pos = pos + t,
                   .head = head,
                   .fmt = fmt,
                   .ops = ops,
                   .u = scratch_,
                   .y = scratch_ + dv,
                   .row = scratch_ + 2 * dv,
                   .zero = scratch_ + 3 * dv};
}

/* Updates every matrix as if the token had the value 0. */
static void age_exact(double *state, const token *x, const rung_mech_conf *conf)
{
    memset(x->zero, 0, conf->dv * sizeof *x->zero);
    for (size_t m = 0; m < rung_loglinear_matrices(x->pos); m++) {
        double *S = state + place(m, x->head, conf);
        x->ops->fade(S, x->g, false, conf->dk, conf->dv, x->fmt);
        if (x->beta) x->ops->correct(S, x->k, x->zero, *x->beta, conf->dk, conf->dv, x->fmt, x->u);
    }
}

/* o = sum over the stored levels, the oldest first. A matrix with one row is a vector, so `add` computes o <- o +
 * lambda y. */
static void read_exact(double *o, const double *state, const token *x, const rung_mech_conf *conf)
{
    memset(o, 0, conf->dv * sizeof *o);
    for (size_t rest = x->pos, m = 0; rest; m++) {
        size_t level = rung_loglinear_bits(rest);
        x->ops->query(x->y, state + place(m, x->head, conf), x->q, conf->dk, conf->dv, x->fmt);
        x->ops->add(o, x->lambda + rung_loglinear_weight(level, conf), x->y, 1, conf->dv, x->fmt);
        rest ^= (size_t)1 << (level - 1);
    }
}

/* Makes the token's own matrix 0 + k u^T row by row. Level 0 reads it. Then it takes in the full buckets of levels 1,
 * 2, ... from the top of the stack, and replaces the last of them. */
static void enter_exact(double *o, double *state, const token *x, const rung_mech_conf *conf)
{
    size_t dv = conf->dv, old = rung_loglinear_matrices(x->pos), slot = rung_loglinear_matrices(x->pos + 1) - 1;
    for (size_t i = 0; i < dv; i++) x->u[i] = x->beta ? rung_num_mul(x->fmt, *x->beta, x->v[i]) : x->v[i];
    memset(x->y, 0, dv * sizeof *x->y);
    for (size_t j = 0; j < conf->dk; j++) {
        memset(x->row, 0, dv * sizeof *x->row);
        x->ops->add(x->row, x->k + j, x->u, 1, dv, x->fmt);
        x->ops->add(x->y, x->q + j, x->row, 1, dv, x->fmt);
        for (size_t m = old; m-- > slot;) x->ops->sum(x->row, state + place(m, x->head, conf) + j * dv, dv, x->fmt);
        memcpy(state + place(slot, x->head, conf) + j * dv, x->row, dv * sizeof *x->row);
    }
    x->ops->add(o, x->lambda, x->y, 1, dv, x->fmt);
}

static void token_exact(double *o, double *state, const token *x, const rung_mech_conf *conf)
{
    age_exact(state, x, conf);
    read_exact(o, state, x, conf);
    enter_exact(o, state, x, conf);
}

static void step_exact(double *o, double *state, const double *const *in, size_t pos, const rung_mech_conf *conf,
                       const rung_fmt *fmt, double *scratch_)
{
    for (size_t h = 0; h < conf->heads; h++) {
        token x = token_at(in, 0, pos, h, conf, fmt, &scalar, scratch_);
        token_exact(o + h * conf->dv, state, &x, conf);
    }
}

static void scan_exact(double *o, double *state, const double *const *in, size_t pos, size_t tokens, size_t head,
                       const rung_mech_conf *conf, const rung_fmt *fmt, double *scratch_)
{
    for (size_t t = 0; t < tokens; t++) {
        token x = token_at(in, t, pos, head, conf, fmt, &lanes, scratch_);
        token_exact(o + (t * conf->heads + head) * conf->dv, state, &x, conf);
    }
}

/* ---- row --------------------------------------------------------------------------------------------------------- */

static const rung_mech_input inputs[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL, RUNG_QUANTITY_ACT},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL, RUNG_QUANTITY_ACT},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL, RUNG_QUANTITY_ACT},
    {"lambda", RUNG_DIM_LEVELS, RUNG_FROM_SOFTPLUS, false, "weight of each level", NULL, RUNG_QUANTITY_GATE},
    {"g", RUNG_DIM_HEAD, RUNG_FROM_DECAY, false, "natural logarithm of the decay", rung_loglinear_fades,
     RUNG_QUANTITY_GATE},
    {"beta", RUNG_DIM_HEAD, RUNG_FROM_GATE, false, "how much of the old value is replaced", rung_loglinear_corrects,
     RUNG_QUANTITY_BETA},
    {0},
};

const rung_mech rung_mech_loglinear = {
    .name = "loglinear",
    .class_of = RUNG_CLASS_LEVELS,
    .traits = RUNG_TRAIT_SUM | RUNG_TRAIT_CERTIFIED,
    .summary = "log-linear attention: one state matrix per bucket of a Fenwick tree",
    .equation = "o = sum over levels l of lambda^(l) (S^(l)^T q), S^(l) the state of base over the tokens of bucket l",
    .carries = "H dk dv popcount(tokens)",
    .source = "Guo et al. 2025",
    .params = params,
    .inputs = inputs,
    .recurrent = true,
    .pads = rung_pads_all,
    .causal_only = true,
    .carry = carry,
    .capacity = capacity,
    .scratch = rung_loglinear_scratch,
    .step_f32 = rung_loglinear_step_f32,
    .step_exact = step_exact,
    .scan_f32 = rung_loglinear_scan_f32,
    .scan_exact = scan_exact,
    .backward_f32 = rung_loglinear_backward_f32,
    .backward_scratch = rung_loglinear_backward_scratch,
    .forks = true,
};
