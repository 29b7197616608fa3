/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A batch of sequences through one mechanism: each worker takes whole sequences.
 */
#include "bench_mixer.h"

#include <math.h>
#include <string.h>

#include "bench_inside.h"
#include "rung/par.h"

/* ---- counting -------------------------------------------------------------------------------------------------- */

double bench_mixer_flops(const rung_mech_conf *conf, size_t tokens)
{
    const double heads = (double)conf->heads, dk = (double)conf->dk, dv = (double)conf->dv;
    bool matrix = conf->mech->recurrent && conf->mech->carry(conf, 1).recurrent >= conf->heads * conf->dk * conf->dv;
    switch (conf->mech->class_of) {
    case RUNG_CLASS_SCAN:
        return heads * (double)tokens * (dk + dv);
    case RUNG_CLASS_STATE: /* a rule that corrects reads the state once more */
        return matrix ? heads * (conf->mech->traits & RUNG_TRAIT_OVERWRITES ? 6 : 4) * dk * dv : (double)NAN;
    case RUNG_CLASS_LEVELS: /* one state is entered, half of the log2(n) levels are read on average */
        return heads * (2 + log2((double)tokens)) * dk * dv;
    default:
        return NAN;
    }
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* Sizes at which every mechanism stays in the range of numbers over thousands of tokens: keys of length about 1, and
 * decays so slow that no state becomes a subnormal number, which would cost more than others. */
static bench_noise_range noise_of(const rung_mech_input *input, size_t index, size_t dk)
{
    const uint32_t stream = 10 + (uint32_t)index;
    const float unit = (float)sqrt(3.0 / (double)dk);
    switch (input->source) {
    case RUNG_FROM_GATE:
        return (bench_noise_range){stream, 0, 1};
    case RUNG_FROM_DECAY:
    case RUNG_FROM_LOG_GATE:
    case RUNG_FROM_RATE:
        return (bench_noise_range){stream, -0x1p-10f, 0};
    case RUNG_FROM_SOFTPLUS:
        return (bench_noise_range){stream, 0, input->dim == RUNG_DIM_LEVELS ? 1 : 0.125f};
    case RUNG_FROM_KEEP:
        return (bench_noise_range){stream, 0.875f, 1};
    case RUNG_FROM_REMOVAL:
    case RUNG_FROM_REPLACEMENT:
        return (bench_noise_range){stream, -0.5f * unit, 0.5f * unit};
    case RUNG_FROM_PARAMETER:
        return (bench_noise_range){stream, -2, -1};
    case RUNG_FROM_LINEAR:
    case RUNG_FROM_TIMED:
        break;
    }
    if (input->dim == RUNG_DIM_KEY) return (bench_noise_range){stream, -unit, unit};
    return (bench_noise_range){stream, -1, 1};
}

static float *take(bench_mixer *m, size_t count, rung_error *err)
{
    return rung_arena_alloc(&m->arena, count, sizeof(float), err);
}

static float *take_noise(bench_mixer *m, size_t count, bench_noise_range noise, rung_error *err)
{
    float *x = take(m, count, err);
    for (size_t i = 0; x && i < count; i++) x[i] = bench_noise(i, noise.stream, noise.low, noise.high);
    return x;
}

static rung_status take_input(bench_mixer *m, size_t i, rung_error *err)
{
    const rung_mech_input *input = &m->conf.mech->inputs[i];
    m->row[i] = rung_mech_row(input, &m->conf);
    m->constant[i] = rung_mech_is_constant(input);
    m->noise[i] = noise_of(input, i, m->conf.dk);
    if (m->row[i] == 0) return RUNG_OK;
    size_t rows = m->batch * m->tokens;
    m->in[i] = take_noise(m, m->row[i] * (m->constant[i] ? 1 : rows), m->noise[i], err);
    m->din[i] = m->in[i] ? take(m, m->row[i] * (m->constant[i] ? m->threads : rows), err) : NULL;
    return m->din[i] ? RUNG_OK : RUNG_SYSTEM;
}

size_t bench_mixer_outputs(const bench_mixer *m)
{
    return m->batch * m->tokens * m->conf.heads * m->conf.dv;
}

rung_status bench_mixer_init(bench_mixer *m, const char *mech, size_t batch, size_t heads, size_t tokens, size_t dim,
                             size_t threads, rung_error *err)
{
    *m = (bench_mixer){.batch = batch, .tokens = tokens, .threads = threads};
    rung_arena_init(&m->arena);
    m->conf = (rung_mech_conf){.mech = rung_mech_get(mech), .heads = heads, .dk = dim, .dv = dim, .causal = true};
    if (!m->conf.mech) return rung_fail(err, RUNG_USAGE, "unknown mechanism '%s'", mech);
    rung_param_defaults(m->conf.params, m->conf.mech->params);
    rung_status status = rung_mech_check(&m->conf, err);
    for (size_t i = 0; status == RUNG_OK && i < rung_mech_inputs(m->conf.mech); i++) status = take_input(m, i, err);
    RUNG_TRY(status);
    m->state_size = rung_mech_state_capacity(&m->conf, tokens);
    m->scratch_size = m->conf.mech->scratch(&m->conf, tokens);
    m->back_size = m->conf.mech->backward_scratch(&m->conf, tokens);
    size_t larger = m->scratch_size > m->back_size ? m->scratch_size : m->back_size;
    m->back_size = m->state_size + larger;
    m->room = take(m, m->back_size * threads, err);
    m->o = m->room ? take(m, bench_mixer_outputs(m), err) : NULL;
    m->upstream =
        m->o ? take_noise(m, bench_mixer_outputs(m), (bench_noise_range){BENCH_MIXER_UPSTREAM, -1, 1}, err) : NULL;
    return m->upstream ? RUNG_OK : RUNG_SYSTEM;
}

void bench_mixer_clear(bench_mixer *m)
{
    rung_arena_clear(&m->arena);
}

/* ---- running --------------------------------------------------------------------------------------------------- */

/* What input i of a sequence begins with; of a constant, the whole. */
static size_t start_of(const bench_mixer *m, size_t i, size_t sequence)
{
    return m->constant[i] ? 0 : sequence * m->tokens * m->row[i];
}

static void forward_one(void *context, size_t sequence, size_t worker)
{
    const bench_mixer *m = context;
    float *state = m->room + worker * m->back_size;
    rung_stretch_f32 s = {.conf = &m->conf,
                          .o = m->o + sequence * m->tokens * m->conf.heads * m->conf.dv,
                          .state = state,
                          .tokens = m->tokens,
                          .scratch = state + m->state_size,
                          .scratch_size = m->scratch_size};
    for (size_t i = 0; i < RUNG_MECH_INPUT_MAX; i++)
        if (m->in[i]) s.in[i] = m->in[i] + start_of(m, i, sequence);
    memset(state, 0, m->state_size * sizeof *state);
    rung_stretch_scan_f32(&s, 1);
}

static void backward_one(void *context, size_t sequence, size_t worker)
{
    const bench_mixer *m = context;
    size_t at = sequence * m->tokens * m->conf.heads * m->conf.dv;
    rung_backward b = {.conf = &m->conf,
                       .o = m->o + at,
                       .g = m->upstream + at,
                       .tokens = m->tokens,
                       .scratch = m->room + worker * m->back_size};
    forward_one(context, sequence, worker);
    for (size_t i = 0; i < RUNG_MECH_INPUT_MAX; i++) {
        if (!m->in[i]) continue;
        b.in[i] = m->in[i] + start_of(m, i, sequence);
        b.din[i] = m->din[i] + (m->constant[i] ? worker * m->row[i] : start_of(m, i, sequence));
        if (!m->constant[i]) memset(b.din[i], 0, m->tokens * m->row[i] * sizeof(float)); /* gradients are added to it */
    }
    for (size_t head = 0; head < m->conf.heads; head++) m->conf.mech->backward_f32(&b, head);
}

void bench_mixer_forward(bench_mixer *m)
{
    rung_par_for(m->batch, m->threads, forward_one, m);
}

void bench_mixer_backward(bench_mixer *m)
{
    rung_par_for(m->batch, m->threads, backward_one, m);
}

double bench_mixer_time(bench_mixer *m, bool backward, size_t times)
{
    double start = rung_wall_s();
    for (size_t i = 0; i < times; i++) (backward ? bench_mixer_backward : bench_mixer_forward)(m);
    return (rung_wall_s() - start) / (double)times;
}

void bench_mixer_sums(double sums[2], const float *x, size_t count)
{
    sums[0] = sums[1] = 0;
    for (size_t i = 0; i < count; i++) {
        sums[0] += (double)x[i] * (double)x[i];
        sums[1] += (double)x[i] * (double)bench_noise(i, BENCH_MIXER_WEIGHTS, -1, 1);
    }
}
