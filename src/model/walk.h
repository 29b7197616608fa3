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
    reals view;          /* [d_model]: see rung_session_view */
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

/* walk.c: the pieces of a layer, on w->tokens rows. */
rung_status rung_walk_buffers(walk *w);
rung_status rung_walk_embed(walk *w, const rung_prompt *prompt);
/* h = norm(x), or x itself where the model has no norms. */
reals rung_walk_normed(walk *w, const norm_weights *weights);
/* The columns of one group of `mixed`, from `part`. */
void rung_walk_place(walk *w, const layer_weights *layer, size_t group);
/* x += Out(mixed) */
void rung_walk_project(walk *w, const layer_weights *layer);
/* x += MLP(x); narrowed: the rows are the asked tokens only, for messages. */
rung_status rung_walk_close(walk *w, size_t index, bool narrowed);
/* Read-out of row `at` of h = norm(x); `row` is room for it. */
rung_status rung_walk_read_row(walk *w, double *out, reals row, reals h, size_t at, bool narrowed);

/* inputs.c: everything between the norm of a layer and its mechanism, and between the mechanism and the projection. */
void rung_walk_inputs(walk *w, reals in[RUNG_MECH_INPUT_MAX], const group_weights *group, group_state *state, reals h);
void rung_walk_gate(walk *w, reals out, const group_weights *group, reals h);

#endif
