/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the tests of the mechanisms share: every mechanism with every parameter word, random inputs that are legal for
 * it, and the two forms as one call each. Buffers are allocated to the exact sizes that the registry states, so that
 * an overrun is an error of the sanitizer.
 */
#ifndef RUNG_TESTS_MECH_TEST_H
#define RUNG_TESTS_MECH_TEST_H

#include "rung/mech.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "effort.h"

typedef struct mech_case {
    const char *name, *words; /* key=value, separated by blanks */
} mech_case;

static const mech_case mech_cases[] = {
    {"full", ""},
    {"window", "W=1"},
    {"window", "W=2"},
    {"window", "W=7"},
    {"window", "W=63"},
    {"window", "W=64"},
    {"window", "W=65"},
    {"window", "W=1000"},
    {"linear", ""},
    {"linear", "phi=elu1 norm=0"},
    {"linear", "phi=relu norm=1"},
    {"linear", "phi=relu norm=0"},
    {"linear", "phi=identity norm=1"},
    {"linear", "phi=identity norm=0"},
    {"linear", "phi=taylor2 norm=1"},
    {"linear", "phi=taylor2 norm=0"},
    {"retnet", ""},
    {"gla", ""},
    {"mamba2", ""},
    {"delta", ""},
    {"gdelta", ""},
    {"kda", ""},
    {"mamba", ""},
    {"rwkv7", ""},
    {"rnn", "kind=tanh"},
    {"rnn", "kind=lstm"},
    {"loglinear", "base=linear"},
    {"loglinear", "base=mamba2"},
    {"loglinear", "base=gdelta"},
    {"loglinear", "base=mamba2 levels=1"},
    {"loglinear", "base=gdelta levels=4"},
    {"sparse", ""},
    {"sparse", "B=1 k=1 own=0"},
    {"sparse", "B=4 k=1 lambda=250 own=0"},
    {"sparse", "B=5 k=100 lambda=1000"},
    {"sparse", "B=3 k=2 comp=given branches=nsa W=1"},
    {"sparse", "B=4 k=3 comp=mlp branches=nsa W=6 own=0"},
    {"sparse", "B=2 k=5 comp=mlp branches=nsa W=70"},
    {"sparse", "B=3 k=2 shared=1"},
    {"sparse", "B=4 k=1 comp=mlp shared=1 own=0"},
    {"dsa", "k=1 HI=1 DI=1"},
    {"dsa", "k=4 HI=2 DI=3"},
    {"dsa", "k=1000 HI=3 DI=2"},
    {"dsa", ""},
};

/* A vector that is key and value needs dk = dv: then dk is taken for both. */
static inline rung_mech_conf mech_conf(const mech_case *c, size_t heads, size_t dk, size_t dv, bool causal)
{
    if (strstr(c->words, "shared=1")) dv = dk;
    rung_mech_conf conf = {.mech = rung_mech_get(c->name), .heads = heads, .dk = dk, .dv = dv, .causal = causal};
    rung_error err = {""};
    assert_non_null(conf.mech);
    rung_param_defaults(conf.params, conf.mech->params);
    for (const char *at = c->words; *at;) {
        char word[64];
        size_t len = strcspn(at, " ");
        assert_true(len < sizeof word);
        memcpy(word, at, len), word[len] = 0;
        if (rung_param_set(conf.params, conf.mech->params, word, c->name, &err) != RUNG_OK) fail_msg("%s", err.text);
        at += len, at += *at == ' ';
    }
    if (rung_mech_check(&conf, &err) != RUNG_OK) fail_msg("%s", err.text);
    return conf;
}

/* Mechanisms whose reference is in a test of their own, not in test_reference.c and test_mpfr.c. */
static inline bool mech_has_own_test(const mech_case *c)
{
    static const char *const names[] = {"sparse", "dsa", "loglinear"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++)
        if (strcmp(names[i], c->name) == 0) return true;
    return false;
}

/* A query looks at a part of the tokens that depends on the numbers: a token may matter to none. */
static inline bool mech_selects(const mech_case *c)
{
    return strcmp(c->name, "sparse") == 0 || strcmp(c->name, "dsa") == 0;
}

/* Some mechanisms have no meaning without a mask. */
static inline bool mech_allows(const mech_case *c, bool causal)
{
    return causal || !rung_mech_get(c->name)->causal_only;
}

static inline bool mech_is(const rung_mech_conf *conf, const char *name)
{
    return strcmp(conf->mech->name, name) == 0;
}

/* The word of a parameter, for references that must not look into the source. */
static inline const char *mech_word(const rung_mech_conf *conf, const char *param)
{
    size_t index = rung_param_find(conf->mech->params, param);
    return conf->mech->params[index].choices[conf->params[index].number];
}

static inline void *mech_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

/* Scratch comes as the last user left it: here as NaN, which all bits set are in either type. */
static inline void *mech_alloc_scratch(const rung_mech_conf *conf, size_t tokens, size_t size)
{
    size_t count = conf->mech->scratch(conf, tokens);
    return memset(mech_alloc(count, size), 0xff, count * size);
}

/* A state that has room for so many tokens; what is carried may be less. */
static inline void *mech_alloc_state(const rung_mech_conf *conf, size_t tokens, size_t size)
{
    return mech_alloc(rung_mech_state_capacity(conf, tokens), size);
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

typedef struct mech_inputs {
    size_t count, tokens;
    size_t row[RUNG_MECH_INPUT_MAX], rows[RUNG_MECH_INPUT_MAX]; /* a constant has one row, an unused input none */
    double *x[RUNG_MECH_INPUT_MAX];                             /* NULL when it is not used */
    float *f[RUNG_MECH_INPUT_MAX];                              /* the same numbers */
} mech_inputs;

/* Keys of length at most 1 keep the delta rule stable; a positive coordinate keeps z.phi(q) away from zero, where
 * every evaluator would lose its digits. */
static inline void draw_vector(double *x, size_t d, const rung_mech_conf *conf, rung_rng *rng)
{
    double norm = 0;
    for (size_t i = 0; i < d; i++) x[i] = rung_rng_normal(rng);
    if (mech_is(conf, "linear") && strcmp(mech_word(conf, "phi"), "identity") == 0)
        for (size_t i = 0; i < d; i++) x[i] = fabs(x[i]) + 0.1;
    if (mech_is(conf, "linear") && strcmp(mech_word(conf, "phi"), "relu") == 0) x[0] = fabs(x[0]) + 0.1;
    for (size_t i = 0; i < d; i++) norm += x[i] * x[i];
    double length = mech_is(conf, "full") || mech_is(conf, "window") ? 2 : 1;
    for (size_t i = 0; i < d; i++) x[i] *= length / sqrt(norm + 1e-30);
}

/* Logarithms of decays: mild ones, none, and some that erase everything. */
static inline double draw_decay(bool mild, rung_rng *rng)
{
    uint64_t kind = rung_rng_below(rng, 12);
    if (!mild && kind == 0) return -300;
    if (!mild && kind == 1) return -20000;
    if (kind == 2) return 0;
    return -rung_rng_unit(rng) * (kind < 8 ? 0.05 : 1);
}

/* A constant of the layer: rates of Mamba are negative, and recurrent matrices of gain 0.9 forget, so that a difference
 * of one rounding does not grow from token to token. */
static inline double draw_constant(const rung_mech_input *input, const rung_mech_conf *conf, bool mild, rung_rng *rng)
{
    bool recurrent = input->dim == RUNG_DIM_OF_SQUARE || input->dim == RUNG_DIM_OF_FOUR;
    bool compress = input->dim >= RUNG_DIM_OF_COMPRESS_KEY && input->dim <= RUNG_DIM_OF_VALUE_SQUARE;
    if (compress) /* summaries as long as tokens */
        return rung_rng_normal(rng) / sqrt((double)rung_mech_shape(input, conf).dim[1]);
    if (input->dim == RUNG_DIM_OF_STATE) return !mild && rung_rng_below(rng, 12) == 0 ? -300 : -2 * rung_rng_unit(rng);
    return rung_rng_normal(rng) * (recurrent ? 0.9 / sqrt((double)conf->dv) : 1);
}

/* Decays, not their logarithms. */
static inline double draw_keep(bool mild, rung_rng *rng)
{
    if (!mild && rung_rng_below(rng, 8) == 0) return (double)rung_rng_below(rng, 2);
    return exp(-exp(-0.5) * rung_rng_unit(rng));
}

static inline bool is_log_decay(const rung_mech_input *input)
{
    return input->source == RUNG_FROM_DECAY || input->source == RUNG_FROM_LOG_GATE || input->source == RUNG_FROM_RATE;
}

static inline void draw_row(double *x, const rung_mech_input *input, const rung_mech_conf *conf, bool mild,
                            rung_rng *rng)
{
    size_t row = rung_mech_row(input, conf);
    for (size_t i = 0; i < row; i++) {
        if (input->source == RUNG_FROM_GATE)
            x[i] = rung_rng_below(rng, 8) ? rung_rng_unit(rng) : (double)rung_rng_below(rng, 2);
        else if (is_log_decay(input))
            x[i] = draw_decay(mild, rng);
        else if (input->source == RUNG_FROM_KEEP)
            x[i] = draw_keep(mild, rng);
        else if (rung_mech_is_constant(input))
            x[i] = draw_constant(input, conf, mild, rng);
        else if (input->source == RUNG_FROM_SOFTPLUS)
            x[i] = !mild && rung_rng_below(rng, 12) == 0 ? 0 : log1p(exp(rung_rng_normal(rng)));
        else
            x[i] = rung_rng_normal(rng);
    }
    bool vector = input->source == RUNG_FROM_LINEAR || input->source == RUNG_FROM_REMOVAL;
    for (size_t h = 0; vector && input->dim == RUNG_DIM_KEY && h < conf->heads; h++)
        draw_vector(x + h * conf->dk, conf->dk, conf, rng);
}

static inline mech_inputs draw_inputs(const rung_mech_conf *conf, size_t tokens, bool mild, uint64_t seed)
{
    mech_inputs in = {.count = rung_mech_inputs(conf->mech), .tokens = tokens};
    rung_rng rng;
    rung_rng_init(&rng, seed, 99, 0);
    for (size_t i = 0; i < in.count; i++) {
        const rung_mech_input *input = &conf->mech->inputs[i];
        size_t row = in.row[i] = rung_mech_row(input, conf);
        size_t rows = in.rows[i] = row == 0 ? 0 : rung_mech_is_constant(input) ? 1 : tokens;
        if (!rows) continue;
        in.x[i] = mech_alloc(rows * row, sizeof *in.x[i]);
        in.f[i] = mech_alloc(rows * row, sizeof *in.f[i]);
        for (size_t t = 0; t < rows; t++) draw_row(in.x[i] + t * row, input, conf, mild, &rng);
        if (input->source == RUNG_FROM_REPLACEMENT) /* of what the input before it removes */
            for (size_t e = 0; e < rows * row; e++) in.x[i][e] = -in.x[i - 1][e] * rung_rng_unit(&rng);
        for (size_t e = 0; e < rows * row; e++) in.x[i][e] = in.f[i][e] = (float)in.x[i][e];
    }
    return in;
}

/* All inputs as seen from token t. */
static inline void inputs_at_f32(const float *in[RUNG_MECH_INPUT_MAX], const mech_inputs *all, size_t t)
{
    for (size_t i = 0; i < all->count; i++)
        in[i] = all->rows[i] == 0 ? NULL : all->f[i] + (t < all->rows[i] ? t : 0) * all->row[i];
}

static inline void inputs_at_exact(const double *in[RUNG_MECH_INPUT_MAX], const mech_inputs *all, size_t t)
{
    for (size_t i = 0; i < all->count; i++)
        in[i] = all->rows[i] == 0 ? NULL : all->x[i] + (t < all->rows[i] ? t : 0) * all->row[i];
}

static inline void free_inputs(mech_inputs *in)
{
    for (size_t i = 0; i < in->count; i++) free(in->x[i]), free(in->f[i]);
}

static inline void round_inputs(mech_inputs *in, const rung_fmt *fmt)
{
    for (size_t i = 0; i < in->count; i++)
        for (size_t e = 0; e < in->rows[i] * in->row[i]; e++) in->x[i][e] = rung_num_round(fmt, in->x[i][e]);
}

/* ---- forms -------------------------------------------------------------------------------------------------------- */

/* Tokens first .. first+count-1 of the inputs in step form, after `first` tokens. */
static inline void step_f32(float *o, float *state, const mech_inputs *all, size_t first, size_t count,
                            const rung_mech_conf *conf)
{
    const rung_mech *mech = conf->mech;
    size_t row = conf->heads * conf->dv, end = first + count;
    float *scratch = mech_alloc_scratch(conf, end, sizeof *scratch);
    const float *in[RUNG_MECH_INPUT_MAX];
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = first; t < end; t++) {
            inputs_at_f32(in, all, t);
            if (conf->causal && pass == 0) rung_mech_step_f32(o + (t - first) * row, state, in, t, conf, scratch);
            if (!conf->causal && pass == 0) mech->update_f32(state, in, t, conf, scratch);
            if (!conf->causal && pass == 1) mech->read_f32(o + (t - first) * row, state, in, t, end, conf, scratch);
        }
    free(scratch);
}

static inline void step_exact(double *o, double *state, const mech_inputs *all, size_t first, size_t count,
                              const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_mech *mech = conf->mech;
    size_t row = conf->heads * conf->dv, end = first + count;
    double *scratch = mech_alloc_scratch(conf, end, sizeof *scratch);
    const double *in[RUNG_MECH_INPUT_MAX];
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = first; t < end; t++) {
            inputs_at_exact(in, all, t);
            if (conf->causal && pass == 0)
                rung_mech_step_exact(o + (t - first) * row, state, in, t, conf, fmt, scratch);
            if (!conf->causal && pass == 0) mech->update_exact(state, in, t, conf, fmt, scratch);
            if (!conf->causal && pass == 1)
                mech->read_exact(o + (t - first) * row, state, in, t, end, conf, fmt, scratch);
        }
    free(scratch);
}

/* The heads in descending order: they must not depend on each other. */
static inline void scan_f32(float *o, float *state, const mech_inputs *all, size_t first, size_t count,
                            const rung_mech_conf *conf)
{
    const rung_mech *mech = conf->mech;
    float *scratch = mech_alloc_scratch(conf, first + count, sizeof *scratch);
    const float *in[RUNG_MECH_INPUT_MAX];
    inputs_at_f32(in, all, first);
    for (size_t h = conf->heads; h-- > 0;) mech->scan_f32(o, state, in, first, count, h, conf, scratch);
    free(scratch);
}

static inline void scan_exact(double *o, double *state, const mech_inputs *all, size_t first, size_t count,
                              const rung_mech_conf *conf, const rung_fmt *fmt)
{
    const rung_mech *mech = conf->mech;
    double *scratch = mech_alloc_scratch(conf, first + count, sizeof *scratch);
    const double *in[RUNG_MECH_INPUT_MAX];
    inputs_at_exact(in, all, first);
    for (size_t h = conf->heads; h-- > 0;) mech->scan_exact(o, state, in, first, count, h, conf, fmt, scratch);
    free(scratch);
}

/* ---- comparisons ---------------------------------------------------------------------------------------------------- */

/* Bit for bit, minus zero included; a NaN equals any NaN. */
static inline bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static inline void assert_same_numbers(const double *a, const double *b, size_t count, const rung_mech_conf *conf,
                                       const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!same_number(a[i], b[i]))
            fail_msg("%s of %s H=%zu dk=%zu dv=%zu causal=%d: element %zu of %zu is %a, not %a", what, conf->mech->name,
                     conf->heads, conf->dk, conf->dv, conf->causal, i, count, a[i], b[i]);
}

#endif
