/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A stretch of tokens through one mechanism: the loops over heads and tokens that every caller needs.
 */
#include "rung/mech.h"

#include "rung/par.h"

#include <assert.h>
#include <string.h>

/* Distance from one token to the next; 0 for a constant. */
static size_t stride_of(const rung_mech_input *input, const rung_mech_conf *conf)
{
    return rung_mech_is_constant(input) ? 0 : rung_mech_row(input, conf);
}

static size_t asked_of(const size_t *at, size_t asked, size_t tokens)
{
    return at ? asked : tokens;
}

static size_t token_of(const size_t *at, size_t number)
{
    return at ? at[number] : number;
}

/* Queries that one worker takes at a time: a block of lanes of the exact kernels. */
enum { PART = 64 };

static size_t parts_of(size_t queries, size_t part)
{
    return queries / part + (queries % part != 0);
}

/* ---- fast -------------------------------------------------------------------------------------------------------- */

static void scan_head_f32(void *context, size_t head, size_t worker)
{
    const rung_stretch_f32 *s = context;
    s->conf->mech->scan_f32(s->o, s->state, s->in, s->pos, s->tokens, head, s->conf,
                            s->scratch + worker * s->scratch_size);
}

/* All queries of a head share prepared keys. So a head is divided only if the heads cannot be distributed evenly over
 * the threads. */
static size_t part_of_head(size_t asked, size_t heads, size_t threads)
{
    size_t workers = threads ? threads : rung_cpu_threads(), part = asked / (4 * workers) + 1;
    return heads % workers == 0 ? asked : part > PART ? part : PART;
}

typedef struct parts_f32 {
    const rung_stretch_f32 *stretch;
    size_t asked, part;
} parts_f32;

/* A part of the queries of one head. */
static void ask_part_f32(void *context, size_t item, size_t worker)
{
    const parts_f32 *p = context;
    const rung_stretch_f32 *s = p->stretch;
    size_t head = item % s->conf->heads, first = item / s->conf->heads * p->part;
    size_t count = p->asked - first < p->part ? p->asked - first : p->part;
    s->conf->mech->ask_f32(s->o, s->state, s->in, s->pos, s->tokens, s->at, first, count, head, s->conf,
                           s->scratch + worker * s->scratch_size);
}

/* Absorbs every token, in order. */
static void update_all_f32(const rung_stretch_f32 *s)
{
    const rung_mech *mech = s->conf->mech;
    const float *rows[RUNG_MECH_INPUT_MAX];
    size_t stride[RUNG_MECH_INPUT_MAX];
    for (size_t i = 0; mech->inputs[i].name; i++) rows[i] = s->in[i], stride[i] = stride_of(&mech->inputs[i], s->conf);
    for (size_t t = 0; t < s->tokens; t++) {
        mech->update_f32(s->state, rows, s->pos + t, s->conf, s->scratch);
        for (size_t i = 0; mech->inputs[i].name; i++)
            if (rows[i]) rows[i] += stride[i];
    }
}

static void rows_at_f32(const float *rows[RUNG_MECH_INPUT_MAX], const rung_stretch_f32 *s, size_t token)
{
    for (size_t i = 0; s->conf->mech->inputs[i].name; i++)
        rows[i] = s->in[i] ? s->in[i] + token * stride_of(&s->conf->mech->inputs[i], s->conf) : NULL;
}

void rung_stretch_scan_f32(const rung_stretch_f32 *s, size_t threads)
{
    assert(s->scratch_size >= s->conf->mech->scratch(s->conf, s->pos + s->tokens));
    assert(!s->at || s->asked <= s->tokens);
    const rung_mech_conf *conf = s->conf;
    size_t row = conf->heads * conf->dv;
    if (!conf->mech->ask_f32) {
        rung_par_for(conf->heads, threads, scan_head_f32, (void *)s);
        for (size_t i = 0; s->at && i < s->asked; i++)
            memmove(s->o + i * row, s->o + s->at[i] * row, row * sizeof *s->o);
        return;
    }
    parts_f32 p = {.stretch = s, .asked = asked_of(s->at, s->asked, s->tokens)};
    p.part = part_of_head(p.asked, conf->heads, threads);
    if (p.asked) rung_par_for(parts_of(p.asked, p.part) * conf->heads, threads, ask_part_f32, &p);
    update_all_f32(s);
}

/* One token, which is read immediately if the layer is causal. `o` is the row of its output, or any room if the output
 * is not wanted. */
static void step_token_f32(float *o, bool wanted, const rung_stretch_f32 *s, const float *const *rows, size_t pos)
{
    const rung_mech *mech = s->conf->mech;
    if (s->conf->causal && (wanted || mech->step_f32)) /* step_f32 has no separate update */
        rung_mech_step_f32(o, s->state, rows, pos, s->conf, s->scratch);
    else
        mech->update_f32(s->state, rows, pos, s->conf, s->scratch);
}

void rung_stretch_step_f32(const rung_stretch_f32 *s)
{
    assert(!s->at || s->asked <= s->tokens);
    const float *rows[RUNG_MECH_INPUT_MAX];
    size_t row = s->conf->heads * s->conf->dv, asked = asked_of(s->at, s->asked, s->tokens), next = 0;
    for (size_t t = 0; t < s->tokens; t++) {
        bool wanted = next < asked && token_of(s->at, next) == t;
        rows_at_f32(rows, s, t);
        step_token_f32(s->o + next * row, wanted, s, rows, s->pos + t);
        next += wanted;
    }
    for (size_t i = 0; !s->conf->causal && i < asked; i++) {
        size_t t = token_of(s->at, i);
        rows_at_f32(rows, s, t);
        s->conf->mech->read_f32(s->o + i * row, s->state, rows, s->pos + t, s->tokens, s->conf, s->scratch);
    }
}

/* ---- exact ------------------------------------------------------------------------------------------------------- */

static void rows_at_exact(const double *rows[RUNG_MECH_INPUT_MAX], const rung_stretch_exact *s, size_t token)
{
    for (size_t i = 0; s->conf->mech->inputs[i].name; i++)
        rows[i] = s->in[i] ? s->in[i] + token * stride_of(&s->conf->mech->inputs[i], s->conf) : NULL;
}

/* Whether the state is stored in another format than that of the operations. */
static bool stores_state(const rung_stretch_exact *s)
{
    if (!s->keeper || s->conf->mech->keeps != RUNG_KEEPS_HEADS) return false;
    const rung_numbers *n = s->keeper->numbers;
    return n->stochastic || strcmp(n->of[RUNG_QUANTITY_STATE].name, n->acc.name) != 0;
}

/* Stores the state of a head after the token at `pos`, if a chunk ends there. */
static void store_head(const rung_stretch_exact *s, const rung_kept *kept, size_t head, size_t pos)
{
    const rung_keeper *k = s->keeper;
    const rung_stored *stored = &k->numbers->of[RUNG_QUANTITY_STATE];
    if ((pos + 1) % k->numbers->chunk) return;
    size_t at = head * rung_kept_elements(kept), scale = head * rung_kept_scales(kept, stored);
    rung_dither dither = {.key = rung_dither_key(k->numbers->seed, k->layer, k->group, pos)};
    for (size_t p = 0; p < 2; p++) {
        size_t rows = kept->part[p].rows, row = kept->part[p].row;
        dither.first = at;
        rung_stored_keep(stored, s->fmt, s->state + at, rows, row, k->scales ? k->scales + scale : NULL,
                         k->numbers->stochastic ? &dither : NULL);
        at += rows * row, scale += rows * rung_stored_scales(stored, row);
    }
}

/* Up to the end of a chunk, mostly a single token, as the state is stored there. The query of a token reads the state
 * before it is stored. */
static void scan_stored_head(const rung_stretch_exact *s, size_t head, double *scratch)
{
    const double *rows[RUNG_MECH_INPUT_MAX];
    const rung_kept kept = rung_mech_kept(s->conf);
    const size_t row = s->conf->heads * s->conf->dv, chunk = s->keeper->numbers->chunk;
    for (size_t t = 0, count; t < s->tokens; t += count) {
        const size_t room = chunk - (s->pos + t) % chunk, left = s->tokens - t;
        count = room < left ? room : left;
        rows_at_exact(rows, s, t);
        s->conf->mech->scan_exact(s->o + t * row, s->state, rows, s->pos + t, count, head, s->conf, s->fmt, scratch);
        store_head(s, &kept, head, s->pos + t + count - 1);
    }
}

static void scan_head_exact(void *context, size_t head, size_t worker)
{
    const rung_stretch_exact *s = context;
    if (stores_state(s)) {
        scan_stored_head(s, head, s->scratch + worker * s->scratch_size);
        return;
    }
    s->conf->mech->scan_exact(s->o, s->state, s->in, s->pos, s->tokens, head, s->conf, s->fmt,
                              s->scratch + worker * s->scratch_size);
}

/* A part of the queries of one head. */
static void ask_part_exact(void *context, size_t item, size_t worker)
{
    const rung_stretch_exact *s = context;
    size_t head = item % s->conf->heads, first = item / s->conf->heads * PART;
    size_t asked = asked_of(s->at, s->asked, s->tokens), count = asked - first < PART ? asked - first : PART;
    s->conf->mech->ask_exact(s->o, s->state, s->in, s->pos, s->tokens, s->at, first, count, head, s->conf, s->fmt,
                             s->scratch + worker * s->scratch_size);
}

void rung_stretch_scan_exact(const rung_stretch_exact *s, size_t threads)
{
    assert(s->scratch_size >= s->conf->mech->scratch(s->conf, s->pos + s->tokens));
    assert(!s->at || s->asked <= s->tokens);
    const rung_mech_conf *conf = s->conf;
    const double *rows[RUNG_MECH_INPUT_MAX];
    size_t row = conf->heads * conf->dv;
    if (!conf->mech->ask_exact) {
        rung_par_for(conf->heads, threads, scan_head_exact, (void *)s);
        for (size_t i = 0; s->at && i < s->asked; i++)
            memmove(s->o + i * row, s->o + s->at[i] * row, row * sizeof *s->o);
        return;
    }
    rung_par_for(parts_of(asked_of(s->at, s->asked, s->tokens), PART) * conf->heads, threads, ask_part_exact,
                 (void *)s);
    for (size_t t = 0; t < s->tokens; t++) {
        rows_at_exact(rows, s, t);
        conf->mech->update_exact(s->state, rows, s->pos + t, conf, s->fmt, s->scratch);
    }
}

/* One token, which is read immediately if the layer is causal. `o` is the row of its output, or any room if the output
 * is not wanted. */
static void step_token_exact(double *o, bool wanted, const rung_stretch_exact *s, const double *const *rows, size_t pos)
{
    const rung_mech *mech = s->conf->mech;
    if (s->conf->causal && (wanted || mech->step_exact)) /* step_exact has no separate update */
        rung_mech_step_exact(o, s->state, rows, pos, s->conf, s->fmt, s->scratch);
    else
        mech->update_exact(s->state, rows, pos, s->conf, s->fmt, s->scratch);
    if (!stores_state(s)) return;
    const rung_kept kept = rung_mech_kept(s->conf);
    for (size_t h = 0; h < s->conf->heads; h++) store_head(s, &kept, h, pos);
}

void rung_stretch_step_exact(const rung_stretch_exact *s)
{
    assert(!s->at || s->asked <= s->tokens);
    const double *rows[RUNG_MECH_INPUT_MAX];
    size_t row = s->conf->heads * s->conf->dv, asked = asked_of(s->at, s->asked, s->tokens), next = 0;
    for (size_t t = 0; t < s->tokens; t++) {
        bool wanted = next < asked && token_of(s->at, next) == t;
        rows_at_exact(rows, s, t);
        step_token_exact(s->o + next * row, wanted, s, rows, s->pos + t);
        next += wanted;
    }
    for (size_t i = 0; !s->conf->causal && i < asked; i++) {
        size_t t = token_of(s->at, i);
        rows_at_exact(rows, s, t);
        s->conf->mech->read_exact(s->o + i * row, s->state, rows, s->pos + t, s->tokens, s->conf, s->fmt, s->scratch);
    }
}
