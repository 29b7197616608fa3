/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The backward pass of a recurrence, one head. States are computed again: the forward pass keeps one state in every
 * sqrt(steps), and the backward pass recomputes those between two kept ones. So 2 sqrt(steps) states are in memory, and
 * every state is computed twice. If states are small compared with what a step reads, all of them are kept. A step is a
 * token or a chunk of tokens, as the mechanism chooses. This header also declares what the recurrent mechanisms share
 * for it.
 */
#ifndef RUNG_MECH_REPLAY_H
#define RUNG_MECH_REPLAY_H

#include "mech_rows.h"

typedef struct rung_replay {
    size_t size, steps; /* elements of the state, which is contiguous */
    bool keeps_all;     /* every state is kept; `after` of undo is valid in both cases */
    /* Advances the state by one step, in place. */
    void (*absorb)(float *state, size_t step, const void *context);
    /* Adds the gradient of reads of the last state (an encoder), before the first undo. NULL: there are none. */
    void (*finish)(float *dstate, const float *state, const void *context);
    /* Replaces dstate, the gradient with respect to `after`, by that with respect to `before`. */
    void (*undo)(float *dstate, const float *before, const float *after, size_t step, const void *context);
    const void *context;
} rung_replay;

size_t rung_replay_scratch(size_t size, size_t steps);
size_t rung_replay_scratch_all(size_t size, size_t steps); /* for a replay that keeps all states */
/* Starts from `state` (NULL: zeros). dstate is used as in rung_backward (NULL: zeros, and not wanted). */
void rung_replay_run(const rung_replay *r, const float *state, float *dstate, float *scratch);
/* The same for a mechanism whose state has r->size contiguous elements per head. */
void rung_replay_head(const rung_replay *r, const rung_backward *b, size_t head, float *scratch);

/* The first member of the context of every recurrence. */
typedef struct rung_back_head {
    const rung_backward *b;
    size_t head;
} rung_back_head;

/* Address of the head's part of a token in rows of `width` elements per head; NULL stays NULL. */
static inline const float *rung_back_row(const float *x, const rung_back_head *c, size_t t, size_t width)
{
    return x ? x + (t * c->b->conf->heads + c->head) * width : NULL;
}

static inline float *rung_back_din(float *x, const rung_back_head *c, size_t t, size_t width)
{
    return x ? x + (t * c->b->conf->heads + c->head) * width : NULL;
}

/* The update of one token and one head. */
enum { RWKV7_R, RWKV7_W, RWKV7_K, RWKV7_V, RWKV7_A, RWKV7_B };
void rung_rwkv7_absorb_f32(float *S, const float *const *in, size_t key, size_t value, const rung_mech_conf *conf,
                           float *s);
void rung_rwkv7_backward_f32(const rung_backward *b, size_t head);
size_t rung_rwkv7_backward_scratch(const rung_mech_conf *conf, size_t tokens);

enum { RNN_X, RNN_X4, RNN_U, RNN_U4 };
bool rung_rnn_is_lstm(const rung_mech_conf *conf);
size_t rung_rnn_rows(const rung_mech_conf *conf); /* rows of U, which is also the numbers of a token per head */
size_t rung_rnn_head_size(const rung_mech_conf *conf);
float rung_rnn_sigmoid(float x);
void rung_rnn_sums_f32(float *sum, const float *h, const float *x, const float *U, const rung_mech_conf *conf);
void rung_rnn_absorb_f32(float *h, const float *x, const float *U, const rung_mech_conf *conf, float *sum);
void rung_rnn_backward_f32(const rung_backward *b, size_t head);
size_t rung_rnn_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
