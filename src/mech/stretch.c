/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A stretch of tokens through one mechanism: the loops over heads and tokens that every caller needs.
 */
#include "rung/mech.h"

#include "rung/par.h"

/* Distance from one token to the next; a constant stays where it is. */
static size_t stride_of(const rung_mech_input *input, const rung_mech_conf *conf)
{
    return rung_mech_is_constant(input) ? 0 : rung_mech_row(input, conf);
}

/* ---- fast --------------------------------------------------------------------------------------------------------- */

static void scan_head_f32(void *context, size_t head, size_t worker)
{
    const rung_stretch_f32 *s = context;
    s->conf->mech->scan_f32(s->o, s->state, s->in, s->pos, s->tokens, head, s->conf,
                            s->scratch + worker * s->scratch_size);
}

void rung_stretch_scan_f32(const rung_stretch_f32 *s, size_t threads)
{
    rung_par_for(s->conf->heads, threads, scan_head_f32, (void *)s);
}

static void rows_at_f32(const float *rows[RUNG_MECH_INPUT_MAX], const rung_stretch_f32 *s, size_t token)
{
    for (size_t i = 0; s->conf->mech->inputs[i].name; i++)
        rows[i] = s->in[i] ? s->in[i] + token * stride_of(&s->conf->mech->inputs[i], s->conf) : NULL;
}

void rung_stretch_step_f32(const rung_stretch_f32 *s)
{
    const float *rows[RUNG_MECH_INPUT_MAX];
    size_t row = s->conf->heads * s->conf->dv;
    for (size_t t = 0; t < s->tokens; t++) {
        rows_at_f32(rows, s, t);
        if (s->conf->causal)
            rung_mech_step_f32(s->o + t * row, s->state, rows, s->pos + t, s->conf, s->scratch);
        else
            s->conf->mech->update_f32(s->state, rows, s->pos + t, s->conf, s->scratch);
    }
    for (size_t t = 0; !s->conf->causal && t < s->tokens; t++) {
        rows_at_f32(rows, s, t);
        s->conf->mech->read_f32(s->o + t * row, s->state, rows, s->pos + t, s->tokens, s->conf, s->scratch);
    }
}

/* ---- exact ---------------------------------------------------------------------------------------------------------- */

static void scan_head_exact(void *context, size_t head, size_t worker)
{
    const rung_stretch_exact *s = context;
    s->conf->mech->scan_exact(s->o, s->state, s->in, s->pos, s->tokens, head, s->conf, s->fmt,
                              s->scratch + worker * s->scratch_size);
}

void rung_stretch_scan_exact(const rung_stretch_exact *s, size_t threads)
{
    rung_par_for(s->conf->heads, threads, scan_head_exact, (void *)s);
}

static void rows_at_exact(const double *rows[RUNG_MECH_INPUT_MAX], const rung_stretch_exact *s, size_t token)
{
    for (size_t i = 0; s->conf->mech->inputs[i].name; i++)
        rows[i] = s->in[i] ? s->in[i] + token * stride_of(&s->conf->mech->inputs[i], s->conf) : NULL;
}

void rung_stretch_step_exact(const rung_stretch_exact *s)
{
    const double *rows[RUNG_MECH_INPUT_MAX];
    size_t row = s->conf->heads * s->conf->dv;
    for (size_t t = 0; t < s->tokens; t++) {
        rows_at_exact(rows, s, t);
        if (s->conf->causal)
            rung_mech_step_exact(s->o + t * row, s->state, rows, s->pos + t, s->conf, s->fmt, s->scratch);
        else
            s->conf->mech->update_exact(s->state, rows, s->pos + t, s->conf, s->fmt, s->scratch);
    }
    for (size_t t = 0; !s->conf->causal && t < s->tokens; t++) {
        rows_at_exact(rows, s, t);
        s->conf->mech->read_exact(s->o + t * row, s->state, rows, s->pos + t, s->tokens, s->conf, s->fmt, s->scratch);
    }
}
