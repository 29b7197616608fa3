/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Streams of inputs: random tokens, pairs and distractors, a pattern again and again, tensors of a file.
 */
#include "drift_inside.h"

#include <math.h>
#include <string.h>

#include "rung/io.h"

const char *const rung_drift_source_names[] = {"random", "recall", "worst", "file", "prompt", NULL};

enum { STREAM_RANDOM = 0xd41f7, STREAM_BASIS, STREAM_VALUES, STREAM_PAIRS, STREAM_CONSTANTS };

static void unit_vector(rung_rng *rng, double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) x[i] = rung_rng_normal(rng), sum += x[i] * x[i];
    for (size_t i = 0; i < n; i++) x[i] = sum > 0 ? x[i] / sqrt(sum) : i == 0;
}

/* ---- random tokens ----------------------------------------------------------------------------------------------- */

/* The part of one head; log_decay is the mean of a token. */
static void random_part(rung_rng *rng, double *x, size_t n, const rung_mech_input *input, const rung_mech_conf *conf,
                        double log_decay, const double *before)
{
    switch (input->source) {
    case RUNG_FROM_GATE:
    case RUNG_FROM_SOFTPLUS:
        for (size_t i = 0; i < n; i++) x[i] = rung_rng_unit(rng);
        if (input->source == RUNG_FROM_SOFTPLUS) /* a step size, with rates -1, -2, ... */
            for (size_t i = 0; i < n; i++) x[i] *= -2 * log_decay;
        return;
    case RUNG_FROM_DECAY:
    case RUNG_FROM_LOG_GATE:
        for (size_t i = 0; i < n; i++) x[i] = 2 * log_decay * rung_rng_unit(rng);
        return;
    case RUNG_FROM_RATE:
        for (size_t i = 0; i < n; i++) x[i] = log_decay;
        return;
    case RUNG_FROM_KEEP:
        for (size_t i = 0; i < n; i++) x[i] = exp(2 * log_decay * rung_rng_unit(rng));
        return;
    case RUNG_FROM_REPLACEMENT:
        for (size_t i = 0; i < n; i++) x[i] = -before[i] * rung_rng_unit(rng);
        return;
    default:
        break;
    }
    unit_vector(rng, x, n);
    (void)conf;
}

void drift_random_rows(const rung_mech_conf *conf, double decay, uint64_t seed, double *const *in, size_t pos,
                       size_t count)
{
    const rung_mech_input *input = conf->mech->inputs;
    for (size_t t = 0; t < count; t++) {
        rung_rng rng;
        rung_rng_init(&rng, seed, STREAM_RANDOM, pos + t);
        for (size_t i = 0; input[i].name; i++) {
            size_t row = rung_mech_row(&input[i], conf), part = row / conf->heads;
            if (row == 0 || rung_mech_is_constant(&input[i])) continue;
            for (size_t h = 0; h < conf->heads; h++)
                random_part(&rng, in[i] + t * row + h * part, part, &input[i], conf, log(decay),
                            i > 0 && in[i - 1] ? in[i - 1] + t * row + h * part : NULL);
        }
    }
}

/* Rates of states -1, -2, ... as published models begin with; other constants at random. */
static rung_status make_constants(drift_stream *s, rung_arena *arena, rung_error *err)
{
    const rung_mech_input *input = s->conf->mech->inputs;
    rung_rng rng;
    rung_rng_init(&rng, s->seed, STREAM_CONSTANTS, 0);
    for (size_t i = 0; input[i].name; i++) {
        size_t row = rung_mech_row(&input[i], s->conf);
        if (row == 0 || !rung_mech_is_constant(&input[i])) continue;
        s->constant[i] = rung_arena_alloc(arena, row, sizeof **s->constant, err);
        if (!s->constant[i]) return RUNG_SYSTEM;
        for (size_t e = 0; e < row; e++)
            s->constant[i][e] = input[i].dim == RUNG_DIM_OF_STATE   ? -1.0 - (double)(e % s->conf->dk)
                                : input[i].dim == RUNG_DIM_OF_VALUE ? 1
                                                                    : rung_rng_normal(&rng) / sqrt((double)s->conf->dv);
    }
    return RUNG_OK;
}

/* ---- pairs and distractors --------------------------------------------------------------------------------------- */

/* Orthonormal rows of a random matrix, by Gram and Schmidt, twice. */
static void make_basis(double *basis, size_t n, uint64_t seed)
{
    rung_rng rng;
    rung_rng_init(&rng, seed, STREAM_BASIS, 0);
    for (size_t r = 0; r < n; r++) {
        double *x = basis + r * n, sum = 0;
        unit_vector(&rng, x, n);
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t b = 0; b < r; b++) {
                double dot = 0;
                for (size_t i = 0; i < n; i++) dot += x[i] * basis[b * n + i];
                for (size_t i = 0; i < n; i++) x[i] -= dot * basis[b * n + i];
            }
        for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
        for (size_t i = 0; i < n; i++) x[i] /= sqrt(sum);
    }
}

static rung_status make_pairs(drift_stream *s, const rung_drift_options *ask, rung_arena *arena, rung_error *err)
{
    const size_t dk = s->conf->dk, dv = s->conf->dv;
    if (s->conf->mech->transition == RUNG_TRANSITION_NOT_STATED)
        return rung_fail(err, RUNG_USAGE, "%s: no recall prompts: they need keys and values", s->conf->mech->name);
    if (ask->pairs < 1 || 2 * ask->pairs > dk)
        return rung_fail(err, RUNG_USAGE, "recall prompts need 1 to dk/2 pairs: %zu with dk=%zu; give --pairs 1 to %zu",
                         ask->pairs, dk, dk / 2);
    if (ask->values < ask->pairs || ask->values > 65536)
        return rung_fail(err, RUNG_USAGE, "values: %zu is outside %zu (one for each pair) to 65536", ask->values,
                         ask->pairs);
    s->pairs = ask->pairs, s->values = ask->values;
    s->basis = rung_arena_alloc(arena, dk * dk, sizeof *s->basis, err);
    s->value = rung_arena_alloc(arena, s->values * dv, sizeof *s->value, err);
    s->shown = rung_arena_alloc(arena, s->pairs, sizeof *s->shown, err);
    uint32_t *chosen = rung_arena_alloc(arena, s->pairs, sizeof *chosen, err);
    if (!s->basis || !s->value || !s->shown || !chosen) return RUNG_SYSTEM;
    make_basis(s->basis, dk, s->seed);
    rung_rng rng;
    rung_rng_init(&rng, s->seed, STREAM_VALUES, 0);
    for (size_t v = 0; v < s->values; v++) unit_vector(&rng, s->value + v * dv, dv);
    RUNG_TRY(rung_rng_sample(&rng, chosen, s->pairs, (uint32_t)s->values, err));
    for (size_t p = 0; p < s->pairs; p++) s->shown[p] = chosen[p];
    return RUNG_OK;
}

rung_status drift_stream_pairs(drift_stream *s, const rung_mech_conf *conf, const rung_drift_options *ask, double decay,
                               rung_arena *arena, rung_error *err)
{
    *s = (drift_stream){
        .conf = conf, .source = RUNG_DRIFT_RECALL, .decay = decay, .seed = ask->seed, .tokens = SIZE_MAX};
    return make_pairs(s, ask, arena, err);
}

/* A key of length 1 in the span of the rows from `pairs` on. */
static void distracting_key(const drift_stream *s, rung_rng *rng, double *key)
{
    const size_t dk = s->conf->dk;
    double sum = 0;
    memset(key, 0, dk * sizeof *key);
    for (size_t b = s->pairs; b < dk; b++) {
        double x = rung_rng_normal(rng);
        for (size_t i = 0; i < dk; i++) key[i] += x * s->basis[b * dk + i];
        sum += x * x;
    }
    for (size_t i = 0; i < dk; i++) key[i] = sum > 0 ? key[i] / sqrt(sum) : s->basis[s->pairs * dk + i];
}

/* One token of one head: all channels share a decay, so that exact arithmetic keeps keys apart. */
static void pair_token(const drift_stream *s, double *const *in, size_t row, size_t head, size_t token)
{
    const rung_mech_conf *conf = s->conf;
    const rung_mech_input *input = conf->mech->inputs;
    const size_t dk = conf->dk, dv = conf->dv;
    rung_rng rng;
    rung_rng_init(&rng, s->seed, STREAM_PAIRS, token * conf->heads + head);
    const bool stores = token < s->pairs;
    const double rate = stores ? 1 : rung_rng_unit(&rng), log_decay = 2 * log(s->decay) * rung_rng_unit(&rng);
    const size_t which = stores ? s->shown[token] : rung_rng_below(&rng, s->values);
    const bool rank_one = conf->mech->transition == RUNG_TRANSITION_RANK_ONE;
    double *key = in[rank_one ? 4 : 1] + (row * conf->heads + head) * dk;
    if (stores)
        memcpy(key, s->basis + token * dk, dk * sizeof *key);
    else
        distracting_key(s, &rng, key);
    for (size_t i = 0; input[i].name; i++) {
        const size_t part = rung_mech_row(&input[i], conf) / conf->heads;
        double *x = in[i] + (row * conf->heads + head) * part;
        if (input[i].dim == RUNG_DIM_VALUE)
            memcpy(x, s->value + which * dv, dv * sizeof *x);
        else if (input[i].quantity == RUNG_QUANTITY_BETA)
            x[0] = rate;
        else if (input[i].quantity == RUNG_QUANTITY_GATE)
            for (size_t e = 0; e < part; e++)
                x[e] = input[i].source == RUNG_FROM_KEEP   ? exp(log_decay)
                       : input[i].source == RUNG_FROM_RATE ? log(s->decay)
                                                           : log_decay;
        else if (rank_one && i == 2) /* with a = key, k = rate key and b = -rate key it is a gated delta rule */
            for (size_t e = 0; e < dk; e++) x[e] = rate * key[e];
        else if (rank_one && i == 5)
            for (size_t e = 0; e < dk; e++) x[e] = -rate * key[e];
        else if (i == 0)
            memcpy(x, key, dk * sizeof *x);
    }
}

/* ---- any stream -------------------------------------------------------------------------------------------------- */

static rung_status make_pattern(drift_stream *s, const rung_drift_options *ask, rung_arena *arena, rung_error *err)
{
    const rung_mech_input *input = s->conf->mech->inputs;
    s->period = 8;
    for (size_t i = 0; input[i].name; i++) {
        size_t row = rung_mech_row(&input[i], s->conf);
        if (row == 0 || rung_mech_is_constant(&input[i])) continue;
        s->rows[i] = rung_arena_alloc(arena, s->period * row, sizeof **s->rows, err);
        if (!s->rows[i]) return RUNG_SYSTEM;
    }
    return drift_search(s, &ask->numbers, arena, err);
}

/* The caller's rows. They are only read. */
static void take_rows(drift_stream *s, const rung_drift_options *ask)
{
    const rung_mech_input *input = s->conf->mech->inputs;
    s->period = s->tokens = ask->row_tokens;
    for (size_t i = 0; input[i].name; i++)
        *(rung_mech_is_constant(&input[i]) ? &s->constant[i] : &s->rows[i]) = (double *)ask->rows[i];
}

rung_status drift_stream_new(drift_stream *s, const rung_mech_conf *conf, const rung_drift_options *ask,
                             rung_arena *arena, rung_error *err)
{
    *s =
        (drift_stream){.conf = conf, .source = ask->inputs, .decay = ask->decay, .seed = ask->seed, .tokens = SIZE_MAX};
    if (s->source == RUNG_DRIFT_FILE) return drift_stream_file(s, ask->file, arena, err);
    if (s->source == RUNG_DRIFT_PROMPT) {
        take_rows(s, ask);
        return RUNG_OK;
    }
    RUNG_TRY(make_constants(s, arena, err));
    if (s->source == RUNG_DRIFT_RECALL) return make_pairs(s, ask, arena, err);
    return s->source == RUNG_DRIFT_WORST ? make_pattern(s, ask, arena, err) : RUNG_OK;
}

void drift_stream_fill(const drift_stream *s, double *const *in, size_t pos, size_t count)
{
    const rung_mech_input *input = s->conf->mech->inputs;
    if (s->source == RUNG_DRIFT_RANDOM) {
        drift_random_rows(s->conf, s->decay, s->seed, in, pos, count);
        return;
    }
    for (size_t t = 0; t < count; t++) {
        if (s->source == RUNG_DRIFT_RECALL) {
            for (size_t h = 0; h < s->conf->heads; h++) pair_token(s, in, t, h, pos + t);
            continue;
        }
        for (size_t i = 0; input[i].name; i++) {
            size_t row = s->rows[i] ? rung_mech_row(&input[i], s->conf) : 0;
            if (row) memcpy(in[i] + t * row, s->rows[i] + (pos + t) % s->period * row, row * sizeof **in);
        }
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum { FILE_BYTES_MAX = 1 << 30 };

/* A safetensors file or an npz archive, by its name. */
typedef struct tensors {
    rung_safetensors *safe;
    rung_npz *npz;
} tensors;

static rung_status open_tensors(tensors *f, const char *file, rung_error *err)
{
    const size_t len = strlen(file);
    *f = (tensors){0};
    if (len > 4 && strcmp(file + len - 4, ".npz") == 0) return rung_npz_open(&f->npz, file, FILE_BYTES_MAX, err);
    return rung_safetensors_open(&f->safe, file, err);
}

static const rung_tensor *tensor_of(const tensors *f, const char *name)
{
    return f->npz ? rung_npz_get(f->npz, name) : rung_safetensors_get(f->safe, name);
}

static void close_tensors(tensors *f)
{
    if (f->npz) rung_npz_close(f->npz);
    if (f->safe) rung_safetensors_close(f->safe);
}

static rung_status read_tensor(drift_stream *s, const tensors *f, size_t i, const char *file, rung_arena *arena,
                               rung_error *err)
{
    const rung_mech_input *input = &s->conf->mech->inputs[i];
    const size_t row = rung_mech_row(input, s->conf);
    const bool constant = rung_mech_is_constant(input);
    if (row == 0) return RUNG_OK;
    const rung_tensor *t = tensor_of(f, input->name);
    if (!t)
        return rung_fail(err, RUNG_INPUT, "%s: no tensor %s (%s); %s needs it as %s%s", file, input->name,
                         input->meaning, s->conf->mech->name, constant ? "" : "[T] before ",
                         rung_mech_dim_text(input->dim));
    const size_t tokens = constant || t->rank == 0 ? 1 : t->shape[0];
    if (t->elements != tokens * row || tokens == 0 || (!constant && s->period && tokens != s->period)) {
        char has[96];
        rung_tensor_describe(has, sizeof has, t);
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s is %s; with H=%zu, dk=%zu, dv=%zu it needs %zu numbers for %s",
                         file, input->name, has, s->conf->heads, s->conf->dk, s->conf->dv, row,
                         constant ? "the layer" : "each token, and as many tokens as the others");
    }
    double *x = rung_arena_alloc(arena, t->elements, sizeof *x, err);
    if (!x) return RUNG_SYSTEM;
    rung_status status = rung_tensor_to_f64(x, t, err);
    if (status != RUNG_OK) return rung_fail_at(err, status, "%s", file);
    size_t nan = rung_num_find_nan(x, t->elements);
    if (nan != SIZE_MAX)
        return rung_fail(err, RUNG_INPUT, "%s: tensor %s, element %zu is not a number", file, input->name, nan);
    if (constant)
        s->constant[i] = x;
    else
        s->rows[i] = x, s->period = s->tokens = tokens;
    return RUNG_OK;
}

rung_status drift_stream_file(drift_stream *s, const char *file, rung_arena *arena, rung_error *err)
{
    tensors f;
    RUNG_TRY(open_tensors(&f, file, err));
    rung_status status = RUNG_OK;
    for (size_t i = 0; status == RUNG_OK && s->conf->mech->inputs[i].name; i++)
        status = read_tensor(s, &f, i, file, arena, err);
    close_tensors(&f);
    return status;
}

rung_status rung_drift_sizes(rung_mech_conf *conf, const char *file, rung_error *err)
{
    tensors f;
    RUNG_TRY(open_tensors(&f, file, err));
    bool key = false, value = false;
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++) {
        const rung_tensor *t = tensor_of(&f, input->name);
        if (!t || t->rank != 3 || t->elements == 0) continue;
        if (input->dim == RUNG_DIM_KEY) conf->heads = t->shape[1], conf->dk = t->shape[2], key = true;
        if (input->dim == RUNG_DIM_VALUE) conf->heads = t->shape[1], conf->dv = t->shape[2], value = true;
    }
    close_tensors(&f);
    if (key && value) return RUNG_OK;
    return rung_fail(err, RUNG_INPUT,
                     "%s: %s needs a tensor [T,H,dk] of keys and one [T,H,dv] of values; see 'rung list "
                     "mechanisms %s'",
                     file, conf->mech->name, conf->mech->name);
}
