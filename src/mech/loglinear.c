/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Log-linear attention (Guo et al. 2025): the past of a query lies in O(log t) state matrices, one per bucket of a
 * Fenwick tree, and the query weighs them by lambda. The t tokens before token t are cut by the binary digits of t: the
 * set bit l of t stands for 2^l of them, oldest tokens to the highest bit, and that bucket has level l+1. Level 0 is
 * token t alone. Tokens s < t have level rung_loglinear_bits(t xor s): the highest bit where s and t differ is the set bit of t
 * that begins to leave s behind.
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

#include "rung/kern.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { BASE_LINEAR, BASE_MAMBA2, BASE_GDELTA };
static const char *const base_words[] = {"linear", "mamba2", "gdelta", NULL};
static const rung_param params[] = {
    {"base", RUNG_PARAM_WORD, BASE_LINEAR, 0, 0, base_words, "what happens to a state matrix at every token"},
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

/* Where matrix m of a head begins in the state. */
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

/* Four rows of the exact form; two rows and the decays of a chunk in the fast one. */
static size_t scratch(const rung_mech_conf *conf, size_t tokens)
{
    (void)tokens;
    return 4 * conf->dv + 2 * CHUNK;
}

/* ---- fast ------------------------------------------------------------------------------------------------------------ */

/* weight_s = e^{g_(s+1) + ... + g_t} for s <= t, total_t = e^{g_0 + ... + g_t}. The sums grow backwards from t: a
 * difference of prefix sums would lose weak decays behind a strong one, and would be a NaN after one of -inf. */
void rung_loglinear_decays_f32(const loglinear_chunk *c, size_t t, const rung_mech_conf *conf)
{
    float sum = 0;
    for (size_t s = t + 1; s-- > 0;) {
        c->weight[s] = sum;
        if (c->g) sum += c->g[s * conf->heads];
    }
    rung_kernels_get()->exp(c->weight, c->weight, t + 1);
    c->total[t] = expf(sum);
}

/* What came before the chunk. Any token s of a matrix stands for all: the matrix was complete at pos, so every t >= pos
 * differs from all of its tokens first in the same bit. The matrix is the outer loop, it stays in the cache. */
static void read_before_f32(float *o, const float *state, const loglinear_chunk *c, const rung_mech_conf *conf)
{
    size_t first = 0; /* token of the matrix */
    for (size_t m = 0; m < rung_loglinear_matrices(c->pos); m++) {
        const float *S = state + m * c->step;
        for (size_t t = 0; t < c->n; t++) {
            size_t row = t * conf->heads, level = rung_loglinear_bits((c->pos + t) ^ first);
            float weight =
                c->total[t] * c->lambda[row * rung_loglinear_levels(conf) + rung_loglinear_weight(level, conf)];
            for (size_t j = 0; j < conf->dk; j++)
                rung_kernels_get()->axpy(o + row * conf->dv, weight * c->q[row * conf->dk + j], S + j * conf->dv,
                                         conf->dv);
        }
        first += (size_t)1 << (rung_loglinear_bits(c->pos - first) - 1);
    }
}

static void read_inside_f32(float *o, size_t t, const loglinear_chunk *c, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t H = conf->heads, row = t * H;
    for (size_t s = 0; s <= t; s++) {
        size_t level = rung_loglinear_bits((c->pos + t) ^ (c->pos + s));
        float score = kern->dot(c->q + row * conf->dk, c->k + s * H * conf->dk, conf->dk);
        float weight = c->weight[s] * c->lambda[row * rung_loglinear_levels(conf) + rung_loglinear_weight(level, conf)];
        kern->axpy(o + row * conf->dv, weight * score, c->v + s * H * conf->dv, conf->dv);
    }
}

/* From the buckets of pos to those of end = pos + n. Above the highest bit where they differ the buckets stay; at that
 * bit, a one of end, lies a bucket that takes all the rest of pos and the first tokens of the chunk; the tokens after
 * it fill the buckets of the lower ones of end. The weights are those of the last token. */
void rung_loglinear_merge_f32(float *state, const loglinear_chunk *c, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t H = conf->heads, end = c->pos + c->n, bit = rung_loglinear_bits(c->pos ^ end) - 1, size = matrix_size(conf);
    size_t slot = rung_loglinear_matrices(c->pos >> bit), old = rung_loglinear_matrices(c->pos);
    for (size_t m = 0; c->g && m < old; m++) kern->scale(state + m * c->step, c->total[c->n - 1], size);
    for (size_t m = slot + 1; m < old; m++) kern->axpy(state + slot * c->step, 1, state + m * c->step, size);
    bool empty = slot == old;
    for (size_t s = 0; s < c->n; slot++, empty = true) {
        float *S = state + slot * c->step;
        size_t edge = end >> bit << bit;
        if (empty) memset(S, 0, size * sizeof *S);
        for (; c->pos + s < edge; s++)
            for (size_t j = 0; j < conf->dk; j++)
                kern->axpy(S + j * conf->dv, c->weight[s] * c->k[s * H * conf->dk + j], c->v + s * H * conf->dv,
                           conf->dv);
        if (edge < end) bit = rung_loglinear_bits(end - edge) - 1;
    }
}

static void chunk_f32(float *o, float *state, const loglinear_chunk *c, const rung_mech_conf *conf)
{
    for (size_t t = 0; t < c->n; t++) {
        memset(o + t * conf->heads * conf->dv, 0, conf->dv * sizeof *o);
        rung_loglinear_decays_f32(c, t, conf);
        read_inside_f32(o, t, c, conf);
    }
    read_before_f32(o, state, c, conf);
    rung_loglinear_merge_f32(state, c, conf);
}

/* The delta rule is not the same at every token, so it goes one by one: first every matrix as if nothing entered, then
 * beta v enters as into plain linear attention. */
void rung_loglinear_age_f32(float *state, const loglinear_chunk *c, float beta, float *u, const float *zero,
                            const rung_mech_conf *conf)
{
    for (size_t m = 0; m < rung_loglinear_matrices(c->pos); m++) {
        float *S = state + m * c->step;
        rung_matrix_fade_f32(S, c->g, false, conf->dk, conf->dv);
        rung_matrix_correct_f32(S, c->k, zero, beta, conf->dk, conf->dv, u);
    }
    for (size_t i = 0; i < conf->dv; i++) u[i] = beta * c->v[i];
}

loglinear_chunk rung_loglinear_chunk(const float *const *in, size_t t, size_t pos, size_t tokens, size_t head,
                                     const rung_mech_conf *conf, float *work)
{
    size_t row = t * conf->heads + head, room = CHUNK - (pos + t) % CHUNK;
    return (loglinear_chunk){.q = in[IN_Q] + row * conf->dk,
                             .k = in[IN_K] + row * conf->dk,
                             .v = in[IN_V] + row * conf->dv,
                             .lambda = in[IN_LAMBDA] + row * rung_loglinear_levels(conf),
                             .g = rung_loglinear_fades(conf) ? in[IN_G] + row : NULL,
                             .pos = pos + t,
                             .n = rung_loglinear_corrects(conf) ? 1 : size_min(room, tokens - t),
                             .step = conf->heads * matrix_size(conf),
                             .weight = work,
                             .total = work + CHUNK};
}

static void scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                     const rung_mech_conf *conf, float *scratch_)
{
    float *u = scratch_ + 2 * CHUNK, *zero = u + conf->dv, *S = state + head * matrix_size(conf);
    memset(zero, 0, conf->dv * sizeof *zero);
    for (size_t t = 0; t < tokens;) {
        size_t row = t * conf->heads + head;
        loglinear_chunk c = rung_loglinear_chunk(in, t, pos, tokens, head, conf, scratch_);
        if (rung_loglinear_corrects(conf)) {
            rung_loglinear_age_f32(S, &c, in[IN_BETA][row], u, zero, conf);
            c.v = u, c.g = NULL;
        }
        chunk_f32(o + row * conf->dv, S, &c, conf);
        t += c.n;
    }
}

static void step_f32(float *o, float *state, const float *const *in, size_t pos, const rung_mech_conf *conf,
                     float *scratch_)
{
    for (size_t h = 0; h < conf->heads; h++) scan_f32(o, state, in, pos, 1, h, conf, scratch_);
}

/* ---- exact ----------------------------------------------------------------------------------------------------------- */

/* The roundings of a token are those of four operations on matrices and of one sum. Step does them in scalar code, scan
 * in lanes. */
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

/* One token of one head: the rows of its inputs, the scratch rows, and how to compute. */
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
                   .lambda = in[IN_LAMBDA] + row * rung_loglinear_levels(conf),
                   .g = rung_loglinear_fades(conf) ? in[IN_G] + row : NULL,
                   .beta = rung_loglinear_corrects(conf) ? in[IN_BETA] + row : NULL,
                   .pos = pos + t,
                   .head = head,
                   .fmt = fmt,
                   .ops = ops,
                   .u = scratch_,
                   .y = scratch_ + dv,
                   .row = scratch_ + 2 * dv,
                   .zero = scratch_ + 3 * dv};
}

/* Every matrix as if no value entered. */
static void age_exact(double *state, const token *x, const rung_mech_conf *conf)
{
    memset(x->zero, 0, conf->dv * sizeof *x->zero);
    for (size_t m = 0; m < rung_loglinear_matrices(x->pos); m++) {
        double *S = state + place(m, x->head, conf);
        x->ops->fade(S, x->g, false, conf->dk, conf->dv, x->fmt);
        if (x->beta) x->ops->correct(S, x->k, x->zero, *x->beta, conf->dk, conf->dv, x->fmt, x->u);
    }
}

/* o = sum over the carried levels, the oldest first. A matrix with one row is a vector: add is o <- o + lambda y. */
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

/* Row by row of the token's own matrix 0 + k u^T: level 0 reads it, then it takes up the buckets of levels 1, 2, ...
 * that are full, from the top of the stack, and lies down where the last of them was. */
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

/* ---- row ------------------------------------------------------------------------------------------------------------- */

static const rung_mech_input inputs[] = {
    {"q", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "query", NULL},
    {"k", RUNG_DIM_KEY, RUNG_FROM_LINEAR, true, "key", NULL},
    {"v", RUNG_DIM_VALUE, RUNG_FROM_LINEAR, false, "value", NULL},
    {"lambda", RUNG_DIM_LEVELS, RUNG_FROM_SOFTPLUS, false, "weight of each level", NULL},
    {"g", RUNG_DIM_HEAD, RUNG_FROM_DECAY, false, "natural logarithm of the decay", rung_loglinear_fades},
    {"beta", RUNG_DIM_HEAD, RUNG_FROM_GATE, false, "how much of the old value is replaced", rung_loglinear_corrects},
    {0},
};

const rung_mech rung_mech_loglinear = {
    .name = "loglinear",
    .summary = "log-linear attention: one state matrix per bucket of a Fenwick tree",
    .equation = "o = sum over levels l of lambda^(l) (S^(l)^T q), S^(l) the state of base over the tokens of bucket l",
    .carries = "H dk dv popcount(tokens)",
    .source = "Guo et al. 2025",
    .params = params,
    .inputs = inputs,
    .recurrent = true,
    .causal_only = true,
    .carry = carry,
    .capacity = capacity,
    .scratch = scratch,
    .step_f32 = step_f32,
    .step_exact = step_exact,
    .scan_f32 = scan_f32,
    .scan_exact = scan_exact,
    .backward_f32 = rung_loglinear_backward_f32,
    .backward_scratch = rung_loglinear_backward_scratch,
    .forks = true,
};
