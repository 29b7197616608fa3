/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to train: the workspace of one worker, which holds what the backward pass of some sequences needs from the
 * forward pass. One worker does a slice of a batch from the embedding to the gradient of every weight, in blocks of a
 * few sequences, so that the data of a block is still in the cache when the backward pass needs it. Workers share only
 * the weights.
 *
 * Rows are the tokens of the sequences in the block, sequence by sequence: each has its prefix first and then its
 * continuations one after another. Everything but mechanisms, convolutions and positions is a function of one row.
 */
#ifndef RUNG_TRAIN_TAPE_H
#define RUNG_TRAIN_TAPE_H

#include "ops.h"
#include "share.h"

/* What one group of heads keeps, [rows][..]. For an input: raw is the projection; conv is its convolution, if it has
 * one; in is what the mechanism sees, which is raw itself if nothing comes between. */
typedef struct kept_group {
    float *raw[RUNG_MECH_INPUT_MAX], *conv[RUNG_MECH_INPUT_MAX], *in[RUNG_MECH_INPUT_MAX];
    float *o, *gate; /* output of the mechanism; gate before silu */
    float *state;    /* [sequences][state_size] after the prefix, if there are continuations */
    size_t state_size;
} kept_group;

typedef struct kept_layer {
    float *x, *h1, *mixed; /* stream before the layer, its norm, output of all heads */
    float *x1, *h2, *up, *gate,
        /* the stream before the MLP, its norm, inside the MLP; if there is no gate, up is finally the slope of the
         * activation */
        *hidden;
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

/* Row of position pos that row t sees: in the prefix, or in the continuation of t. */
static inline size_t shape_row(const shape *s, size_t t, size_t pos)
{
    return pos < s->prefix ? pos : s->prefix + (t - s->prefix) / s->each * s->each + (pos - s->prefix);
}

typedef struct slice {
    const rung_net *net;
    seen_weights seen;
    shape shape;
    size_t first, sequences, rows; /* the present block: a few sequences of the batch */
    kept_layer *layer;
    float *final;      /* the stream after the last layer */
    float *dx;         /* [rows][d_model], the gradient of the stream */
    float token_share; /* one over the tokens of the batch, in all slices */
    float *grad;       /* [parameters] */
    bool *touched; /* [projections]: grad holds the gradient of its weights; before that its contents are undefined */
    float *dh;     /* [rows][d_model] */
    float *dmixed, *dpart;  /* [rows][widest layer] */
    float *dhidden, *dgate; /* [rows][d_mlp or widest gate] */
    float *room;            /* scratch: two rows of a norm */
    float *din[RUNG_MECH_INPUT_MAX], *dz;
    float *state, *dstate, *dprefix; /* of one sequence */
    float *scratch;
    size_t scratch_size;
    size_t *asked;                             /* [rows] */
    float *chosen, *normed, *dchosen, *logits; /* [rows][d_model] and [rows][most classes] */
    double loss;
    size_t targets, right;
    train_layer_sum *layer_sum; /* [layers] of the slice */
} slice;

/* y = norm(x) with the weights at these offsets, or without weights. Backward: adds to dx and to the gradients of the
 * weights. */
void train_norm(const slice *s, float *y, const float *x, net_norm at, size_t rows, size_t d, bool centre);
void train_norm_back(const slice *s, float *dx, const float *dy, const float *x, net_norm at, size_t rows, size_t d,
                     bool centre);
/* The gradient of the weights of a projection of x. */
void train_weights_back(slice *s, const float *dy, const float *x, const net_linear *l, size_t rows);
/* Both gradients of a projection of x: dx = start + ...; dx may be NULL. */
void train_linear_back(slice *s, float *dx, const float *start, const float *dy, const float *x, const net_linear *l,
                       size_t rows);

/* ---- parts ------------------------------------------------------------------------------------------------------- */

void train_inputs(slice *s, kept_group *kept, const net_group *group, const float *h);
/* din of the slice is the gradient of what the mechanism saw; adds the gradient of the normed stream h to dh. */
void train_inputs_back(slice *s, float *dh, const kept_group *kept, const net_group *group, const float *h);
/* True if the mechanism sees the projection unchanged. */
bool train_input_is_plain(const rung_net *net, const net_group *group, size_t index);

void train_mix(slice *s, kept_group *kept, const net_group *group);
/* g = [rows][H dv], the gradient of o; fills din of the slice. */
void train_mix_back(slice *s, const kept_group *kept, const net_group *group, const float *g);

void train_embed(slice *s, const rung_batch *batch);
void train_layer(slice *s, size_t layer);
/* Turns dx, the gradient of the stream after a layer, into the one before it. */
void train_layer_back(slice *s, size_t layer);
void train_embed_back(slice *s, const rung_batch *batch);

/* The loss of the read-out; every target has weight `share`. Adds to loss, targets and right, and in a backward pass to
 * dx and grad. */
void train_loss(slice *s, const rung_batch *batch, double share, bool backward);
/* The auxiliary loss of a layer. In a backward pass dx is the gradient of the stream after it. */
void train_layer_loss(slice *s, const rung_batch *batch, size_t layer, double share, bool backward);
/* Index of the target of row r of the slice in the arrays of the batch. */
static inline size_t slice_token(const slice *s, size_t row)
{
    return s->first * shape_tokens(&s->shape) + row;
}

#endif
