/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Log-linear attention in fp32: token by token as in loglinear.c, and in chunks.
 */
#include "loglinear.h"

#include <string.h>

/* ---- one token --------------------------------------------------------------------------------------------------- */

/* One token of one head: its rows, and the head's matrices, `step` elements apart. */
typedef struct token {
    const float *q, *k, *v, *lambda, *g, *beta; /* g, beta: NULL when the base has none */
    size_t pos, step;
    float *u, *zero; /* [dv] */
} token;

static token token_at(const float *const *in, size_t t, size_t pos, size_t head, const rung_mech_conf *conf,
                      float *scratch)
{
    size_t row = t * conf->heads + head;
    return (token){.q = in[IN_Q] + row * conf->dk,
                   .k = in[IN_K] + row * conf->dk,
                   .v = in[IN_V] + row * conf->dv,
                   .lambda = in[LOG_LAMBDA] + row * rung_loglinear_levels(conf),
                   .g = rung_loglinear_fades(conf) ? in[LOG_G] + row : NULL,
                   .beta = rung_loglinear_corrects(conf) ? in[LOG_BETA] + row : NULL,
                   .pos = pos + t,
                   .step = conf->heads * conf->dk * conf->dv,
                   .u = scratch,
                   .zero = scratch + conf->dv};
}

/* Updates every matrix as if the token had the value 0. Then u is the value that enters. */
static void age(float *S, const token *x, const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv;
    memset(x->zero, 0, dv * sizeof *x->zero);
    for (size_t m = 0; m < rung_loglinear_matrices(x->pos); m++) {
        rung_matrix_fade_f32(S + m * x->step, x->g, false, dk, dv);
        if (x->beta) rung_matrix_correct_f32(S + m * x->step, x->k, x->zero, *x->beta, dk, dv, x->u);
    }
    for (size_t i = 0; i < dv; i++) x->u[i] = x->beta ? *x->beta * x->v[i] : x->v[i];
}

static void read_token(float *o, const float *S, const token *x, const rung_mech_conf *conf)
{
    const rung_kernels *kern = rung_kernels_get();
    size_t dk = conf->dk, dv = conf->dv;
    memset(o, 0, dv * sizeof *o);
    for (size_t rest = x->pos, m = 0; rest; m++) {
        size_t level = rung_loglinear_bits(rest);
        float weight = x->lambda[rung_loglinear_weight(level, conf)];
        for (size_t j = 0; j < dk; j++) kern->axpy(o, weight * x->q[j], S + m * x->step + j * dv, dv);
        rest ^= (size_t)1 << (level - 1);
    }
    kern->axpy(o, x->lambda[0] * kern->dot(x->q, x->k, dk), x->u, dv);
}

/* Merges as one is added to a binary counter. */
static void merge(float *S, const token *x, const rung_mech_conf *conf)
{
    size_t size = conf->dk * conf->dv, old = rung_loglinear_matrices(x->pos),
           slot = rung_loglinear_matrices(x->pos + 1) - 1;
    float *to = S + slot * x->step;
    if (slot == old) memset(to, 0, size * sizeof *to);
    for (size_t m = slot + 1; m < old; m++) rung_kernels_get()->axpy(to, 1, S + m * x->step, size);
    rung_matrix_add_f32(to, x->k, x->u, conf->dk, conf->dv);
}

static void walk(float *o, float *state, const float *const *in, size_t pos, size_t from, size_t to, size_t head,
                 const rung_mech_conf *conf, float *scratch)
{
    float *S = state + head * conf->dk * conf->dv;
    for (size_t t = from; t < to; t++) {
        token x = token_at(in, t, pos, head, conf, scratch);
        age(S, &x, conf);
        read_token(o + (t * conf->heads + head) * conf->dv, S, &x, conf);
        merge(S, &x, conf);
    }
}

void rung_loglinear_step_f32(float *o, float *state, const float *const *in, size_t pos, const rung_mech_conf *conf,
                             float *scratch)
{
    for (size_t h = 0; h < conf->heads; h++) walk(o, state, in, pos, 0, 1, h, conf, scratch);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Scratch: a chunk and all matrices in panels. The exact form needs four rows, a single token two. */
size_t rung_loglinear_scratch(const rung_mech_conf *conf, size_t tokens)
{
    size_t matrices = size_times(rung_loglinear_most(tokens), rung_panels_size(conf->dk, conf->dv));
    return size_plus(rung_loglinear_chunk_size(conf), matrices);
}

static void open_all(float *S, const float *state, size_t count, size_t head, const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv, size = rung_panels_size(dk, dv);
    for (size_t m = 0; m < count; m++)
        rung_chunk_open(S + m * size, state + (m * conf->heads + head) * dk * dv, dk, dv);
}

static void close_all(float *state, const float *S, size_t count, size_t head, const rung_mech_conf *conf)
{
    size_t dk = conf->dk, dv = conf->dv, size = rung_panels_size(dk, dv);
    for (size_t m = 0; m < count; m++)
        rung_chunk_close(state + (m * conf->heads + head) * dk * dv, S + m * size, dk, dv);
}

static void read_chunk(float *o, const float *S, size_t size, loglinear_chunk *c)
{
    const matrix_chunk *k = &c->k;
    rung_loglinear_chunk_enter(c);
    for (size_t t = 0; t < k->n; t++) memset(o + t * k->r.value_row, 0, k->dv * sizeof *o);
    for (size_t m = 0; m < rung_loglinear_matrices(c->pos); m++) {
        rung_loglinear_chunk_weigh(c, m);
        rung_loglinear_chunk_recall(c, S + m * size);
        rung_chunk_kernels_get()->add_rows(o, k->r.value_row, c->part, k->dv, c->weight, k->n, k->dv);
    }
    rung_chunk_lower(o, k->r.value_row, c->Y, c->values, k->n, k->dv);
}

/* For fewer tokens the loop over tokens is faster than opening and closing the matrices. */
enum { FEW = 4 };

void rung_loglinear_scan_f32(float *o, float *state, const float *const *in, size_t pos, size_t tokens, size_t head,
                             const rung_mech_conf *conf, float *scratch)
{
    if (tokens < FEW) {
        walk(o, state, in, pos, 0, tokens, head, conf, scratch);
        return;
    }
    loglinear_chunk c = rung_loglinear_chunk_new(conf, scratch);
    size_t size = rung_panels_size(conf->dk, conf->dv);
    float *S = scratch + rung_loglinear_chunk_size(conf);
    open_all(S, state, rung_loglinear_matrices(pos), head, conf);
    for (size_t t = 0; t < tokens; t += c.k.n) {
        rung_loglinear_chunk_rows(&c, in, t, pos, tokens, head, conf);
        float *out = o + (t * conf->heads + head) * conf->dv;
        read_chunk(out, S, size, &c);
        if (rung_chunk_kernels_get()->finite_rows(out, c.k.r.value_row, c.k.n, conf->dv)) {
            rung_loglinear_chunk_leave(S, size, &c);
            continue;
        }
        /* not finite: a product would spread it to earlier tokens */
        close_all(state, S, rung_loglinear_matrices(c.pos), head, conf);
        walk(o, state, in, pos, t, t + c.k.n, head, conf, scratch);
        open_all(S, state, rung_loglinear_matrices(c.pos + c.k.n), head, conf);
    }
    close_all(state, S, rung_loglinear_matrices(pos + tokens), head, conf);
}
