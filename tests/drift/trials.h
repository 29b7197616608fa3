/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Trials of the theorem of docs/drift.md: a few tokens of adversarial inputs through a mechanism in some formats, and
 * the same recurrence in long double, written from its equation. A climb changes the inputs as long as the distance
 * comes nearer to the bound.
 */
#ifndef TESTS_DRIFT_TRIALS_H
#define TESTS_DRIFT_TRIALS_H

#include "rung/drift.h"
#include "testing.h"

enum { TRIAL_TOKENS = 24, TRIAL_DIM = 4, TRIAL_INPUTS = 6, TRIAL_NUMBERS = 16 };

static const char *const trial_mechs[] = {"retnet", "gla", "mamba2", "delta", "gdelta", "kda", "rwkv7"};
static const char *const trial_numbers[] = {
    "served:bf16",
    "f64,state=bf16",
    "f32,state=e8m3",
    "e8m7",
    "f32,state=f16,act=bf16,beta=e8m3,gate=e8m5",
    "f32,state=int8/row",
    "f32,state=int4/2*f16,act=bf16",
    "f32,state=mxfp8,gate=bf16",
    "f32,state=bf16,round=stochastic,seed=5",
    "q7.12,state=q5.6,act=q3.9",
    "f32,state=e4m3fn,act=e5m2,gate=e4m3,beta=e3m2",
    "f64,state=int4/row*f16",
    "f32,state=mxfp4,round=stochastic",
    "f32,state=bf16,chunk=4",
    "e5m2",
    "f32,gate=q4.4,beta=q1.1",
};

typedef struct trial {
    rung_mech_conf conf;
    const rung_numbers *numbers;
    size_t tokens;
    double in[TRIAL_INPUTS][TRIAL_TOKENS][TRIAL_DIM]; /* one head */
} trial;

/* The largest part of the bound that was reached, of states and of outputs; above 1 the theorem is wrong. */
typedef struct trial_result {
    double state, output;
} trial_result;

static inline void trial_formats(rung_numbers numbers[TRIAL_NUMBERS])
{
    for (size_t i = 0; i < TRIAL_NUMBERS; i++) CHECK(rung_numbers_parse(&numbers[i], trial_numbers[i], &check_err));
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* Powers of two, their neighbours at half a unit of some format, zeros, and anything; now and then far beyond the range of
 * narrow formats or below it. */
static inline double trial_number(rung_rng *rng)
{
    static const int digits[] = {4, 6, 8, 9, 11, 13, 24, 25};
    const int far = rung_rng_below(rng, 16) ? 0 : (int)rung_rng_below(rng, 80) - 40;
    const double sign = rung_rng_below(rng, 2) ? 1 : -1, power = ldexp(1, (int)rung_rng_below(rng, 6) - 4 + far);
    switch (rung_rng_below(rng, 6)) {
    case 0:
        return 0;
    case 1:
        return sign * power;
    case 2:
        return sign * power * (1 + ldexp(1, -digits[rung_rng_below(rng, 8)]));
    case 3:
        return sign * ldexp(1, -digits[rung_rng_below(rng, 8)]);
    default:
        return rung_rng_normal(rng) * 0.5;
    }
}

static inline double trial_log_decay(rung_rng *rng)
{
    switch (rung_rng_below(rng, 4)) {
    case 0:
        return rung_rng_below(rng, 8) ? 0 : -INFINITY;
    case 1:
        return -ldexp(1, -(int)rung_rng_below(rng, 14));
    case 2:
        return -rung_rng_unit(rng) * 20;
    default:
        return -rung_rng_unit(rng);
    }
}

/* A key: a coordinate, all alike, or anything of length 1; sometimes shorter, or up to three times as long. */
static inline void trial_key(rung_rng *rng, double *x, size_t n)
{
    double sum = 0;
    const uint64_t way = rung_rng_below(rng, 3), one = rung_rng_below(rng, n);
    for (size_t i = 0; i < n; i++) x[i] = way == 0 ? i == one : way == 1 ? 1 : rung_rng_normal(rng);
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    const double scale = rung_rng_below(rng, 4) ? 1 : rung_rng_unit(rng) * (rung_rng_below(rng, 2) ? 1.5 : 3);
    for (size_t i = 0; i < n; i++) x[i] = sum > 0 ? x[i] / sqrt(sum) * scale : 0;
}

static inline void trial_draw_input(trial *t, rung_rng *rng, size_t token, size_t i)
{
    const rung_mech_input *input = &t->conf.mech->inputs[i];
    const size_t row = rung_mech_row(input, &t->conf);
    double *x = t->in[i][token];
    if (input->quantity == RUNG_QUANTITY_BETA)
        x[0] = rung_rng_below(rng, 3) ? rung_rng_unit(rng) * (rung_rng_below(rng, 8) ? 1 : 4) : 1; /* also beyond 1 */
    else if (input->source == RUNG_FROM_KEEP)
        for (size_t e = 0; e < row; e++) x[e] = exp(trial_log_decay(rng));
    else if (input->quantity == RUNG_QUANTITY_GATE)
        for (size_t e = 0; e < row; e++) x[e] = trial_log_decay(rng);
    else if (input->source == RUNG_FROM_REPLACEMENT) {
        const double rate = rung_rng_unit(rng);
        for (size_t e = 0; e < row; e++) x[e] = -t->in[i - 1][token][e] * (rung_rng_below(rng, 8) ? rate : 1);
    } else if (input->dim == RUNG_DIM_VALUE)
        for (size_t e = 0; e < row; e++) x[e] = trial_number(rng);
    else
        trial_key(rng, x, row);
}

static inline void trial_shape(trial *t, const rung_mech *mech, rung_rng *rng)
{
    memset(t, 0, sizeof *t);
    t->conf = (rung_mech_conf){.mech = mech, .heads = 1, .causal = true};
    t->conf.dk = 1 + rung_rng_below(rng, TRIAL_DIM), t->conf.dv = 1 + rung_rng_below(rng, TRIAL_DIM);
}

static inline void trial_fill(trial *t, rung_rng *rng)
{
    t->tokens = 1 + rung_rng_below(rng, TRIAL_TOKENS);
    for (size_t token = 0; token < t->tokens; token++)
        for (size_t i = 0; t->conf.mech->inputs[i].name; i++) trial_draw_input(t, rng, token, i);
}

static inline void trial_draw(trial *t, const rung_numbers *numbers, rung_rng *rng)
{
    trial_shape(t, rung_mech_get(trial_mechs[rung_rng_below(rng, RUNG_COUNT(trial_mechs))]), rng);
    t->numbers = &numbers[rung_rng_below(rng, TRIAL_NUMBERS)];
    trial_fill(t, rng);
}

/* One input of one token anew, as that of another token, or times a power of two or 1 + 2^-k. */
static inline void trial_change(trial *t, rung_rng *rng)
{
    const size_t inputs = rung_mech_inputs(t->conf.mech), i = rung_rng_below(rng, inputs);
    const size_t token = rung_rng_below(rng, t->tokens), from = rung_rng_below(rng, t->tokens);
    const bool value = t->conf.mech->inputs[i].dim == RUNG_DIM_VALUE;
    switch (rung_rng_below(rng, 4)) {
    case 0:
        memcpy(t->in[i][token], t->in[i][from], sizeof t->in[i][token]);
        return;
    case 1: /* from here on all tokens are alike */
        for (size_t other = token + 1; other < t->tokens; other++)
            for (size_t j = 0; j < inputs; j++) memcpy(t->in[j][other], t->in[j][token], sizeof t->in[j][token]);
        return;
    case 2:
        for (size_t e = 0; value && e < TRIAL_DIM; e++)
            t->in[i][token][e] *= 1 + ldexp(1, -(int)rung_rng_below(rng, 12));
        return;
    default:
        trial_draw_input(t, rng, token, i);
    }
}

/* ---- the recurrence in long double --------------------------------------------------------------------------------- */

typedef struct trial_state {
    long double S[TRIAL_DIM][TRIAL_DIM], o[TRIAL_DIM];
} trial_state;

static inline void trial_exact_matrix(trial_state *s, const trial *t, size_t token)
{
    const size_t dk = t->conf.dk, dv = t->conf.dv;
    const rung_mech_input *input = t->conf.mech->inputs;
    const double *q = t->in[0][token], *k = t->in[1][token], *v = t->in[2][token], *beta = NULL, *g = NULL;
    bool channels = false;
    for (size_t i = 3; input[i].name; i++) {
        if (input[i].quantity == RUNG_QUANTITY_BETA) beta = t->in[i][token];
        if (input[i].quantity == RUNG_QUANTITY_GATE) g = t->in[i][token], channels = input[i].dim == RUNG_DIM_KEY;
    }
    for (size_t j = 0; g && j < dk; j++)
        for (size_t i = 0; i < dv; i++) s->S[j][i] *= expl((long double)g[channels ? j : 0]);
    for (size_t i = 0; i < dv; i++) {
        long double read = 0, u = v[i];
        for (size_t j = 0; j < dk; j++) read += s->S[j][i] * (long double)k[j];
        if (beta) u = (long double)beta[0] * ((long double)v[i] - read);
        for (size_t j = 0; j < dk; j++) s->S[j][i] += (long double)k[j] * u;
        s->o[i] = 0;
        for (size_t j = 0; j < dk; j++) s->o[i] += s->S[j][i] * (long double)q[j];
    }
}

static inline void trial_exact_rank_one(trial_state *s, const trial *t, size_t token)
{
    const size_t dk = t->conf.dk, dv = t->conf.dv;
    const double *r = t->in[0][token], *w = t->in[1][token], *k = t->in[2][token], *v = t->in[3][token],
                 *a = t->in[4][token], *b = t->in[5][token];
    for (size_t i = 0; i < dv; i++) {
        long double read = 0;
        for (size_t j = 0; j < dk; j++) read += s->S[j][i] * (long double)a[j];
        for (size_t j = 0; j < dk; j++)
            s->S[j][i] =
                (long double)w[j] * s->S[j][i] + (long double)b[j] * read + (long double)k[j] * (long double)v[i];
        s->o[i] = 0;
        for (size_t j = 0; j < dk; j++) s->o[i] += s->S[j][i] * (long double)r[j];
    }
}

/* ---- a trial ------------------------------------------------------------------------------------------------------- */

/* The token through the library: inputs rounded, one step, the state stored, the output stored. */
static inline void trial_served(const trial *t, size_t token, double *S, double *o, double *scratch)
{
    const rung_mech_input *input = t->conf.mech->inputs;
    const rung_numbers *n = t->numbers;
    double row[TRIAL_INPUTS][TRIAL_DIM], scales[TRIAL_DIM * TRIAL_DIM];
    rung_keeper keeper = {.numbers = n, .scales = scales};
    rung_stretch_exact s = {.conf = &t->conf,
                            .fmt = &n->acc,
                            .keeper = n->mixed ? &keeper : NULL,
                            .o = o,
                            .state = S,
                            .pos = token,
                            .tokens = 1,
                            .scratch = scratch,
                            .scratch_size = 4096};
    for (size_t i = 0; input[i].name; i++) {
        memcpy(row[i], t->in[i][token], sizeof row[i]);
        rung_stored_keep(&n->of[input[i].quantity], &n->acc, row[i], 1, rung_mech_row(&input[i], &t->conf), NULL, NULL);
        s.in[i] = row[i];
    }
    rung_stretch_step_exact(&s);
    rung_stored_keep(&n->of[RUNG_QUANTITY_ACT], &n->acc, o, 1, t->conf.dv, NULL, NULL);
}

/* `part` scales the bound, so that a test can break it. Steps outside of the theorem end the trial. */
static inline trial_result trial_run(const trial *t, double part)
{
    static _Thread_local double scratch[4096];
    const size_t dk = t->conf.dk, dv = t->conf.dv;
    double S[TRIAL_DIM * TRIAL_DIM] = {0}, o[TRIAL_DIM], bound = 0;
    trial_state exact = {0};
    trial_result result = {0, 0};
    for (size_t token = 0; token < t->tokens; token++) {
        const double *rows[RUNG_MECH_INPUT_MAX] = {0};
        rung_drift_token facts;
        char why[160];
        for (size_t i = 0; t->conf.mech->inputs[i].name; i++) rows[i] = t->in[i][token];
        if (!rung_drift_token_of(&facts, &t->conf, rows, 0, why, sizeof why)) return result;
        const rung_drift_step step =
            rung_drift_step_bound(&facts, &t->conf, t->numbers, rung_drift_norm(S, dk * dv), true);
        if (!(step.stored < INFINITY)) return result;
        trial_served(t, token, S, o, scratch);
        if (t->conf.mech->transition == RUNG_TRANSITION_MATRIX)
            trial_exact_matrix(&exact, t, token);
        else
            trial_exact_rank_one(&exact, t, token);
        const double read = facts.query * facts.contraction * bound + step.output;
        bound = facts.contraction * bound + ((token + 1) % t->numbers->chunk ? step.error : step.stored);
        long double off = 0, o_off = 0, size = 0, o_size = 0;
        for (size_t i = 0; i < dv; i++) {
            o_off += ((long double)o[i] - exact.o[i]) * ((long double)o[i] - exact.o[i]),
                o_size += exact.o[i] * exact.o[i];
            for (size_t j = 0; j < dk; j++) {
                long double d = (long double)S[j * dv + i] - exact.S[j][i];
                off += d * d, size += exact.S[j][i] * exact.S[j][i];
            }
        }
        /* long double itself is off by some 2^-64 of what is added up, which is at most some dozen times the norm */
        const double slack = 0x1p-56 * (double)(sqrtl(size) + sqrtl(o_size) + 1);
        result.state = fmax(result.state, ((double)sqrtl(off) - slack) / (part * bound + 0x1p-1000));
        result.output = fmax(result.output, ((double)sqrtl(o_off) - slack) / (part * read + 0x1p-1000));
    }
    return result;
}

/* Starts somewhere and changes inputs `tries` times; returns the largest parts of the bound that came up. */
static inline trial_result trial_climb(const rung_numbers *numbers, uint64_t seed, size_t tries, double part,
                                       trial *best)
{
    rung_rng rng;
    trial now;
    rung_rng_init(&rng, seed, 0x7a1a1, 0);
    trial_draw(best, numbers, &rng);
    trial_result record = trial_run(best, part);
    for (size_t i = 1; i < tries; i++) {
        now = *best;
        trial_change(&now, &rng);
        const trial_result found = trial_run(&now, part);
        record.output = fmax(record.output, found.output);
        if (found.state < record.state) continue;
        record.state = found.state, *best = now;
    }
    return record;
}

#endif
