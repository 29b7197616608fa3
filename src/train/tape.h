/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The workspace of one worker: what the forward pass of some sequences keeps for the backward pass. A slice of a batch is
 * done by one worker from the embedding to the gradient of every weight, block after block of a few sequences, so that what a
 * block keeps is in a cache when the backward pass comes for it; nothing is shared but the weights.
 *
 * Rows: the tokens of the sequences at work, sequence by sequence, each with its prefix first and then its continuations one after
 * another. Everything but mechanisms, convolutions and positions is a function of one row.
 */
#ifndef RUNG_TRAIN_TAPE_H
#define RUNG_TRAIN_TAPE_H

#include "ops.h"

/* What one group of heads keeps, [rows][..]. An input is: raw, the projection; conv, its convolution, where it has one;
 * in, what the mechanism sees, which is raw itself where nothing lies between. */
typedef struct kept_group {
    float *raw[RUNG_MECH_INPUT_MAX], *conv[RUNG_MECH_INPUT_MAX], *in[RUNG_MECH_INPUT_MAX];
    float *o, *gate; /* what the mechanism answered; the gate before silu */
    float *state;    /* [sequences][state_size] after the prefix, when there are continuations */
    size_t state_size;
} kept_group;

typedef struct kept_layer {
    float *x, *h1, *mixed; /* the stream before the layer, its norm, what the heads answered together */
    float *x1, *h2, *up, *gate,
        *hidden; /* the stream before the MLP, its norm, inside the MLP; without a gate up ends as
                                            the slope of the activation */
    kept_group *group;
} kept_layer;

/* Shape of a batch. */
typedef struct shape {
    size_t prefix, queries, each;
} shape;

static inline size_t shape_tokens(const shape *s)
{
    return s->prefix + s->queries * s->each;
}

/* Position in its prompt of the token at row t of a sequence. */
static inline size_t shape_position(const shape *s, size_t t)
{
    return t < s->prefix ? t : s->prefix + (t - s->prefix) % s->each;
}

/* Row of position pos on the way to row t: the prefix, or the continuation that t belongs to. */
static inline size_t shape_row(const shape *s, size_t t, size_t pos)
{
    return pos < s->prefix ? pos : s->prefix + (t - s->prefix) / s->each * s->each + (pos - s->prefix);
}

typedef struct slice {
    const rung_net *net;
    const seen_weights *seen;
    shape shape;
    size_t first, sequences, rows; /* the block at work: a few sequences of the batch */
    kept_layer *layer;
    float *final;      /* the stream after the last layer */
    float *dx;         /* [rows][d_model], the gradient of the stream */
    float token_share; /* one over the tokens of the batch, in all slices */
    float *grad;       /* [parameters] */
    bool *touched;     /* [projections]: grad has the gradient of its weights; before that it holds anything there */
    float *dh;         /* [rows][d_model] */
    float *dmixed, *dpart;  /* [rows][widest layer] */
    float *dhidden, *dgate; /* [rows][d_mlp or widest gate] */
    float *room;            /* two rows of a norm */
    float *din[RUNG_MECH_INPUT_MAX], *dz;
    float *state, *dstate, *dprefix; /* of one sequence */
    float *scratch;
    size_t scratch_size;
    size_t *asked;                             /* [rows] */
    float *chosen, *normed, *dchosen, *logits; /* [rows][d_model] and [rows][most classes] */
    double loss;
    size_t targets, right;
} slice;

/* y = norm(x) with the weights at these offsets, or without. Backward: dx += , and the gradients of the weights. */
void train_norm(const slice *s, float *y, const float *x, net_norm at, size_t rows, size_t d, bool centre);
void train_norm_back(const slice *s, float *dx, const float *dy, const float *x, net_norm at, size_t rows, size_t d,
                     bool centre);
/* The gradient of the weights of a projection of x. */
void train_weights_back(slice *s, const float *dy, const float *x, const net_linear *l, size_t rows);
/* Both gradients of a projection of x: dx = start + , dx may be NULL. */
void train_linear_back(slice *s, float *dx, const float *start, const float *dy, const float *x, const net_linear *l,
                       size_t rows);

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

void train_inputs(slice *s, kept_group *kept, const net_group *group, const float *h);
/* din of the slice comes in as the gradient of what the mechanism saw; dh += that of the normed stream, h. */
void train_inputs_back(slice *s, float *dh, const kept_group *kept, const net_group *group, const float *h);
/* Whether the mechanism sees the projection as it is. */
bool train_input_is_plain(const rung_net *net, const net_group *group, size_t index);

void train_mix(slice *s, kept_group *kept, const net_group *group);
/* g = [rows][H dv], the gradient of o; fills din of the slice. */
void train_mix_back(slice *s, const kept_group *kept, const net_group *group, const float *g);

void train_embed(slice *s, const rung_batch *batch);
void train_layer(slice *s, size_t layer);
/* dx, the gradient of the stream behind a layer, becomes that before it. */
void train_layer_back(slice *s, size_t layer);
void train_embed_back(slice *s, const rung_batch *batch);

/* The loss of the read-out, every target weighing `share`: adds to loss, targets and right, and in a backward pass to dx
 * and grad. */
void train_loss(slice *s, const rung_batch *batch, double share, bool backward);
/* That of what the layer is told; the stream behind it is dx's in a backward pass. */
void train_told_loss(slice *s, const rung_batch *batch, size_t layer, double share, bool backward);
/* Index of the target of row r of the slice in the arrays of the batch. */
static inline size_t slice_token(const slice *s, size_t row)
{
    return s->first * shape_tokens(&s->shape) + row;
}

#endif
