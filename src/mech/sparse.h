/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * (B,k)-sparse attention: where things are in its state, and the compression of a block, which has a file of its own.
 */
#ifndef RUNG_MECH_SPARSE_H
#define RUNG_MECH_SPARSE_H

#include "softmax.h"

/* The parameters, looked up once per call. */
typedef enum sparse_comp { SPARSE_MEAN, SPARSE_MLP, SPARSE_GIVEN } sparse_comp;

typedef struct sparse_plan {
    size_t B, k, W;
    bool own, nsa;
    sparse_comp comp;
    double lambda; /* in thousandths */
    bool shared;   /* one vector is the key and the value of a block */
    size_t slot;   /* elements of the slot of a token, of all heads: H (dk+dv) */
    size_t brief;  /* elements of the slot of a summary: the same, or H dk if shared */
    size_t shift;  /* a head's part of a summary begins so much earlier in its slot than its part of a token does */
    size_t value;  /* where the value of a summary is, counted from its key: dk, or 0 if shared */
} sparse_plan;

/* Of all heads; and with the shift of one. */
sparse_plan rung_sparse_plan(const rung_mech_conf *conf);
sparse_plan rung_sparse_plan_of(const rung_mech_conf *conf, size_t head);

enum { BRANCHES = 3 }; /* compression, selection, window */

/* Inputs after q, k and v. */
enum { IN_GATES = 3, IN_CK, IN_CV, IN_PLACE_K, IN_PLACE_V, IN_FIRST_K, IN_FIRST_V, IN_SECOND_K, IN_SECOND_V };

/* The state is a row of slots [H][dk+dv]: B tokens, then the summary of their block, [H][dk+dv] or shared [H][dk], then
 * the next B tokens. So what is carried after any number of tokens is the start of the array. */
static inline size_t sparse_stride(const sparse_plan *plan)
{
    return plan->B * plan->slot + plan->brief;
}

static inline size_t sparse_token(size_t token, const sparse_plan *plan)
{
    return token * plan->slot + token / plan->B * plan->brief;
}

static inline size_t sparse_summary(size_t block, const sparse_plan *plan)
{
    return block * sparse_stride(plan) + plan->B * plan->slot - plan->shift;
}

/* The number of blocks that have ended at or before pos, and how many of them a query at pos may select. */
static inline size_t complete_blocks(size_t pos, const sparse_plan *plan)
{
    return (pos + 1) / plan->B;
}

static inline size_t candidate_blocks(size_t pos, const sparse_plan *plan)
{
    return plan->own ? pos / plan->B : complete_blocks(pos, plan);
}

static inline size_t window_start(size_t pos, const sparse_plan *plan)
{
    return pos >= plan->W ? pos - plan->W + 1 : 0;
}

/* The weight of each branch. `gates` are the query's gates, if there are any. */
void rung_sparse_weights_f32(float weight[BRANCHES], const float *gates, const sparse_plan *plan);
/* Stores one token of one head, and the summary of its block if it is the last token. `row` is the token's row in the
 * inputs, counted in heads. */
void rung_sparse_absorb_f32(float *base, const float *const *in, size_t pos, size_t row, const sparse_plan *plan,
                            const rung_mech_conf *conf, float *scratch);

/* The weights of the compression of one side: keys or values. */
typedef struct sparse_mlp {
    const float *place, *first, *second; /* [B][d], [d][B d], [d][d] */
} sparse_mlp;

/* Computes c from the side x of the block's first token. scratch receives the inputs [B d] and the hidden layer [d]. */
void rung_sparse_mlp_f32(float *c, const float *x, sparse_mlp w, size_t d, const sparse_plan *plan, float *scratch);

/* Computes the summary of `block` of one head from its tokens in the state (base: the head's part of the first slot).
 * With comp=given it is row `row` of in[IN_CK] and in[IN_CV], counted in heads. */
void rung_sparse_compress_f32(float *base, const float *const *in, size_t block, size_t row, const sparse_plan *plan,
                              const rung_mech_conf *conf, float *scratch);
void rung_sparse_compress_exact(double *base, const double *const *in, size_t block, size_t row,
                                const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt,
                                double *scratch);
/* Compresses blocks [first, end), up to BLOCK of them at once. `in` holds rows from token `pos` on. */
void rung_sparse_compress_lanes(double *base, const double *const *in, size_t pos, size_t first, size_t end,
                                size_t head, const sparse_plan *plan, const rung_mech_conf *conf, const rung_fmt *fmt,
                                double *scratch);
size_t rung_sparse_compress_scratch(const sparse_plan *plan, const rung_mech_conf *conf);

void rung_sparse_backward_f32(const rung_backward *b, size_t head);
size_t rung_sparse_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
