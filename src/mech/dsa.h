/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * DeepSeek sparse attention: its sizes, and the scores of its indexer, for the forward pass and for the gradients.
 */
#ifndef RUNG_MECH_DSA_H
#define RUNG_MECH_DSA_H

#include "softmax.h"

enum { IN_IQ = 3, IN_IK = 4, IN_IW = 5 };

/* The parameters, looked up once per call. */
typedef struct dsa_plan {
    size_t k, HI, DI;
    size_t slot; /* elements of a slot */
    size_t keys; /* offset of its indexer key */
} dsa_plan;

dsa_plan rung_dsa_plan(const rung_mech_conf *conf);

/* Indexer keys: those of the tokens before pos are in the state, the others in the input of the call. */
typedef struct dsa_index {
    const float *state, *ik;
    size_t pos;
} dsa_index;

static inline const float *dsa_index_key(dsa_index index, size_t s, const dsa_plan *p)
{
    return s < index.pos ? index.state + s * p->slot + p->keys : index.ik + (s - index.pos) * p->DI;
}

/* I_ts of one query for s < visible. */
void rung_dsa_scores_f32(float *score, dsa_index index, const float *iq, const float *iw, size_t visible,
                         const dsa_plan *p);

void rung_dsa_backward_f32(const rung_backward *b, size_t head);
size_t rung_dsa_backward_scratch(const rung_mech_conf *conf, size_t tokens);

#endif
