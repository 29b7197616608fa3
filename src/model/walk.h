/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The struct of a session, and one walk of some tokens over its layers.
 */
#ifndef RUNG_MODEL_WALK_H
#define RUNG_MODEL_WALK_H

#include "eval.h"

/* The state that a group of heads keeps between calls. */
typedef struct group_state {
    reals mech;     /* in the layout of the mechanism; the first carry() numbers are carried past a position */
    reals conv;     /* for each input with a convolution the last width-1 rows, oldest first */
    double *scales; /* of the carried numbers, [units][rung_kept_scales]; NULL: none */
} group_state;

struct rung_session {
    const rung_program *program;
    size_t tokens, max_tokens;
    group_state **state; /* [layer][group] */
    reals view;          /* [d_model]: see rung_session_view */
    rung_arena arena;
    bool broken; /* a run failed half-way, so the state is undefined */
};

/* Buffers of one call, in their own arena. */
typedef struct walk {
    rung_session *session;
    const rung_program *p;
    const arith *ops;
    size_t pos, tokens, d_model; /* tokens: rows of x; after the last layer only those in `asked` */
    size_t *asked;               /* positions of this call whose read-out is wanted, ascending */
    size_t asked_count;
    rung_form form;
    reals x, h, y, in[RUNG_MECH_INPUT_MAX], mixed, part, hidden, gate, padded, scratch;
    size_t scratch_size;
    rung_arena arena;
    rung_error *err;
} walk;

/* Stores `count` numbers in the format of a quantity: see arith.store. */
static inline void walk_store(const walk *w, reals y, rung_quantity quantity, size_t count)
{
    w->ops->store(w->p, y, quantity, 1, count, NULL);
}

/* y = W x + b for w->tokens rows, stored as activations. */
static inline void walk_linear(const walk *w, reals y, reals x, const linear_weights *weights)
{
    w->ops->linear(w->p, y, x, weights, w->tokens);
    walk_store(w, y, RUNG_QUANTITY_ACT, w->tokens * weights->rows);
}

/* walk.c: the pieces of a layer, on w->tokens rows. */
rung_status rung_walk_buffers(walk *w);
rung_status rung_walk_embed(walk *w, const rung_prompt *prompt);
/* h = norm(x), or x itself where the model has no norms. */
reals rung_walk_normed(walk *w, const norm_weights *weights);
/* Copies `part` to the columns of one group of `mixed`. */
void rung_walk_place(walk *w, const layer_weights *layer, size_t group);
/* x += Out(mixed) */
void rung_walk_project(walk *w, const layer_weights *layer);
/* x += MLP(x). narrowed: the rows are only the tokens in `asked`, for messages. */
rung_status rung_walk_close(walk *w, size_t index, bool narrowed);
/* Read-out of row `at` of h = norm(x). `row` is scratch. */
rung_status rung_walk_read_row(walk *w, double *out, reals row, reals h, size_t at, bool narrowed);

/* inputs.c: computes everything between the norm of a layer and its mechanism, and between the mechanism and the
 * projection. */
void rung_walk_inputs(walk *w, reals in[RUNG_MECH_INPUT_MAX], const group_weights *group, group_state *state, reals h);
void rung_walk_gate(walk *w, reals out, const group_weights *group, reals h);

#endif
