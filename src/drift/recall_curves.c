/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recall after n more tokens: pairs are stored first, then distractors come, whose keys are orthogonal to those of the
 * pairs. In exact arithmetic a pair only fades, and the value nearest to what its key reads stays the right one. Queries
 * do not change a state, so one walk gives the whole curve.
 */
#include "drift_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rung/par.h"

enum { CHUNK = 256, PER_OCTAVE = 4, FIRST_AGE = 16 };

/* One decay and one set of formats. */
typedef struct curve_walk {
    rung_drift_curve *curve;
    const drift_stream *stream;
    drift_walk walk;
    double *in[RUNG_MECH_INPUT_MAX], *answer;
} curve_walk;

typedef struct curve_walks {
    const rung_drift *d;
    curve_walk *walk;
    size_t count, pos, tokens;
} curve_walks;

/* The index of the value with the largest inner product; the values have the same length. */
static size_t nearest_value(const drift_stream *s, const double *answer)
{
    const size_t dv = s->conf->dv;
    double most = -INFINITY;
    size_t found = SIZE_MAX;
    for (size_t v = 0; v < s->values; v++) {
        double dot = 0;
        for (size_t i = 0; i < dv; i++) dot += answer[i] * s->value[v * dv + i];
        if (dot > most) most = dot, found = v;
    }
    return found;
}

static size_t pairs_kept(curve_walk *c, size_t pos)
{
    const drift_stream *s = c->stream;
    size_t kept = 0;
    drift_walk_ask(&c->walk, c->answer, s->basis, s->pairs, pos);
    for (size_t p = 0; p < s->pairs; p++) kept += nearest_value(s, c->answer + p * s->conf->dv) == s->shown[p];
    return kept;
}

/* All ages of one walk. */
static void walk_curve(void *context, size_t item, size_t worker)
{
    const curve_walks *all = context;
    curve_walk *c = &all->walk[item];
    const rung_drift *d = all->d;
    size_t pos = 0;
    (void)worker;
    for (size_t a = 0; a < d->ages; a++) {
        const size_t to = c->stream->pairs + d->age[a];
        while (pos < to) {
            size_t count = to - pos < CHUNK ? to - pos : CHUNK;
            drift_stream_fill(c->stream, c->in, pos, count);
            drift_walk_take(&c->walk, c->in, pos, count);
            pos += count;
        }
        c->curve->kept[a] = pairs_kept(c, pos - 1);
    }
}

static void list_ages(rung_drift *d, size_t tokens)
{
    for (size_t j = 0; d->ages < RUNG_DRIFT_AGES; j++) {
        double age = FIRST_AGE * exp2((double)j / PER_OCTAVE);
        if (!(age <= (double)tokens)) return;
        d->age[d->ages++] = (size_t)(age + 0.5);
    }
}

static void summarise(rung_drift_curve *c, const rung_drift *d)
{
    c->whole = 0, c->half = SIZE_MAX;
    for (size_t a = 0; a < d->ages && c->kept[a] == d->pairs; a++) c->whole = d->age[a];
    for (size_t a = d->ages; a-- > 0 && 2 * c->kept[a] <= d->pairs;) c->half = d->age[a];
}

/* The decay of a mechanism that has none is 1. */
static bool fades(const rung_mech_conf *conf)
{
    for (const rung_mech_input *input = conf->mech->inputs; input->name; input++)
        if (input->quantity == RUNG_QUANTITY_GATE) return true;
    return false;
}

static rung_status new_curve(curve_walk *c, rung_drift *d, const drift_stream *s, const rung_numbers *numbers,
                             const char *name, rung_error *err)
{
    const rung_mech_input *input = d->conf->mech->inputs;
    c->stream = s;
    c->curve->name = name, c->curve->decay = s->decay;
    snprintf(c->curve->numbers, sizeof c->curve->numbers, "%s", numbers->name);
    RUNG_TRY(drift_walk_new(&c->walk, d->conf, numbers, s, CHUNK, &d->arena, err));
    for (size_t i = 0; input[i].name; i++) {
        c->in[i] = rung_arena_alloc(&d->arena, CHUNK * rung_mech_row(&input[i], d->conf), sizeof **c->in, err);
        if (!c->in[i]) return RUNG_SYSTEM;
    }
    c->answer = rung_arena_alloc(&d->arena, d->pairs * d->conf->dv, sizeof *c->answer, err);
    return c->answer ? RUNG_OK : RUNG_SYSTEM;
}

/* The sets of formats of a curve: those asked for, f64, and the parts that might be better. */
static size_t choose(size_t chosen[4], const rung_drift *d)
{
    size_t count = 0;
    chosen[count++] = 0;
    chosen[count++] = SIZE_MAX; /* f64 */
    for (size_t p = 1; p < d->parts; p++)
        if (strcmp(d->part[p].name, "state=acc") == 0 || strcmp(d->part[p].name, "stochastic") == 0)
            chosen[count++] = p;
    return count;
}

rung_status drift_curves(rung_drift *d, const rung_numbers *numbers, const rung_drift_options *ask, rung_error *err)
{
    size_t chosen[4], kinds = choose(chosen, d), decays = fades(d->conf) ? ask->decay_count : 1;
    rung_numbers wide;
    if (ask->pairs == 0 || ask->decay_count == 0) return RUNG_OK;
    if (d->conf->mech->transition == RUNG_TRANSITION_NOT_STATED || d->conf->heads != 1) {
        snprintf(d->why_no_curve, sizeof d->why_no_curve,
                 d->conf->heads != 1 ? "recall is measured for one head" : "the row does not state keys and values");
        return RUNG_OK;
    }
    RUNG_TRY(rung_numbers_parse(&wide, "f64", err));
    d->pairs = ask->pairs, d->values = ask->values, d->curves = decays * kinds;
    list_ages(d, ask->tokens);
    curve_walks all = {.d = d, .count = d->curves};
    drift_stream *stream = rung_arena_alloc(&d->arena, decays, sizeof *stream, err);
    d->curve = rung_arena_alloc(&d->arena, d->curves, sizeof *d->curve, err);
    all.walk = rung_arena_alloc(&d->arena, d->curves, sizeof *all.walk, err);
    if (!stream || !d->curve || !all.walk) return RUNG_SYSTEM;
    for (size_t i = 0; i < decays; i++) {
        const double decay = fades(d->conf) ? ask->decays[i] : 1;
        RUNG_TRY(drift_stream_pairs(&stream[i], d->conf, ask, decay, &d->arena, err));
        for (size_t k = 0; k < kinds; k++) {
            curve_walk *c = &all.walk[i * kinds + k];
            c->curve = &d->curve[i * kinds + k];
            const bool exact = chosen[k] == SIZE_MAX;
            RUNG_TRY(new_curve(c, d, &stream[i], exact ? &wide : &numbers[chosen[k]],
                               exact ? "f64" : d->part[chosen[k]].name, err));
        }
    }
    rung_par_for(d->curves, ask->threads, walk_curve, &all);
    for (size_t i = 0; i < d->curves; i++) summarise(&d->curve[i], d);
    return RUNG_OK;
}
