/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to drift: streams of inputs, and one mechanism that takes them in given formats.
 */
#ifndef RUNG_DRIFT_INSIDE_H
#define RUNG_DRIFT_INSIDE_H

#include "rung/drift.h"

/* Inputs as they are before any rounding. A stream is a pure function of its options: token t is the same whatever was
 * asked before. */
typedef struct drift_stream {
    const rung_mech_conf *conf;
    rung_drift_source source;
    double decay;
    uint64_t seed;
    size_t tokens; /* SIZE_MAX: no end */
    /* recall: `pairs` stored tokens, then distractors. basis = [dk][dk], orthonormal rows, of which the first are the
     * keys of the pairs; values = [values][dv]; shown[i] is the value of pair i */
    size_t pairs, values;
    double *basis, *value;
    size_t *shown;
    /* a pattern of `period` tokens, again and again, or a file: in[i] = [period or tokens][row] */
    size_t period;
    double *rows[RUNG_MECH_INPUT_MAX];
    double *constant[RUNG_MECH_INPUT_MAX]; /* inputs that belong to the layer */
} drift_stream;

rung_status drift_stream_new(drift_stream *s, const rung_mech_conf *conf, const rung_drift_options *ask,
                             rung_arena *arena, rung_error *err);
/* Pairs and distractors, whatever `ask->inputs` says, with this mean decay. */
rung_status drift_stream_pairs(drift_stream *s, const rung_mech_conf *conf, const rung_drift_options *ask, double decay,
                               rung_arena *arena, rung_error *err);
/* Writes the rows of tokens pos .. pos+count-1: in[i] = [count][row]. Constants are not written. */
void drift_stream_fill(const drift_stream *s, double *const *in, size_t pos, size_t count);
/* Random rows of tokens, for patterns. */
void drift_random_rows(const rung_mech_conf *conf, double decay, uint64_t seed, double *const *in, size_t pos,
                       size_t count);
/* Reads the tensors of a file. */
rung_status drift_stream_file(drift_stream *s, const char *file, rung_arena *arena, rung_error *err);
/* Finds a pattern that drifts far within a few hundred tokens. */
rung_status drift_search(drift_stream *s, const rung_numbers *numbers, rung_arena *arena, rung_error *err);

/* One set of formats on its way through a stream. */
typedef struct drift_walk {
    const rung_mech_conf *conf;
    rung_numbers numbers;
    rung_keeper keeper;
    size_t room; /* tokens of one call */
    double *in[RUNG_MECH_INPUT_MAX], *constant[RUNG_MECH_INPUT_MAX];
    double *state, *o, *scratch; /* o = [room][H][dv] */
    size_t scratch_size, elements;
} drift_walk;

rung_status drift_walk_new(drift_walk *w, const rung_mech_conf *conf, const rung_numbers *numbers,
                           const drift_stream *s, size_t room, rung_arena *arena, rung_error *err);
/* Takes tokens pos .. pos+count-1: in[i] = [count][row] as the stream gave them. They are rounded to the formats of
 * their quantities, and so are the outputs. */
void drift_walk_take(drift_walk *w, double *const *in, size_t pos, size_t count);
/* What the state would answer to these queries (rows of the first input): out = [count][dv], head 0. It does not
 * change. */
void drift_walk_ask(drift_walk *w, double *out, const double *query, size_t count, size_t pos);

/* The curves of recall: for every decay the formats asked for (numbers[0]), f64, a state in acc, stochastic rounding. */
rung_status drift_curves(rung_drift *d, const rung_numbers *numbers, const rung_drift_options *ask, rung_error *err);

#endif
