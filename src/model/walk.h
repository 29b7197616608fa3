/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A session from the inside, and one walk of some tokens over its layers.
 */
#ifndef RUNG_MODEL_WALK_H
#define RUNG_MODEL_WALK_H

#include "eval.h"

/* What a group of heads keeps between calls. */
typedef struct group_state {
    reals mech; /* as the mechanism lays it out; the first carry() numbers cross a position */
    reals conv; /* for each input with a convolution, the last width-1 rows before it, oldest first */
} group_state;

struct rung_session {
    const rung_program *program;
    size_t tokens, max_tokens;
    group_state **state; /* [layer][group] */
    rung_arena arena;
    bool broken; /* a run failed half-way: the state belongs to no prefix */
};

/* Buffers of one call, in an arena of its own. */
typedef struct walk {
    rung_session *session;
    const rung_program *p;
    const arith *ops;
    size_t pos, tokens, d_model; /* tokens: rows of x; after the last layer only those that are asked */
    size_t *asked;               /* positions of this call whose read-out is wanted, rising */
    size_t asked_count;
    rung_form form;
    reals x, h, y, in[RUNG_MECH_INPUT_MAX], mixed, part, hidden, gate, padded, scratch;
    size_t scratch_size;
    rung_arena arena;
    rung_error *err;
} walk;

/* inputs.c: everything between the norm of a layer and its mechanism, and between the mechanism and the projection. */
void rung_walk_inputs(walk *w, reals in[RUNG_MECH_INPUT_MAX], const group_weights *group, group_state *state, reals h);
void rung_walk_gate(walk *w, reals out, const group_weights *group, reals h);

#endif
