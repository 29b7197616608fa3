/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to witness: a lookup by rotary positions alone, in one full layer of a block with RMSNorm.
 */
#ifndef RUNG_WITNESS_ROTARY_H
#define RUNG_WITNESS_ROTARY_H

#include "rung/witness.h"

/* Sizes of the published layer, and of the table. */
typedef struct rotary_lookup {
    size_t hidden;       /* d_model */
    size_t head;         /* coordinates of a head */
    size_t rotated;      /* the first so many of these are rotated */
    double theta, wave;  /* rope_theta; angles are known if the wavelength is shorter than wave */
    size_t entries;      /* N */
    size_t values, bits; /* V, and the bits of a value */
    size_t pairs;        /* angles that are used, from the first */
    double sharp;        /* factor of the queries */
} rotary_lookup;

/* Chooses pairs and sharp. Refuses (RUNG_USAGE) sizes that do not fit. */
rung_status rotary_choose(rotary_lookup *l, rung_error *err);
/* Builds one layer with one head, for `values` values. Coordinates bit_place .. +bits of the stream receive the
 * answer. */
rung_status rotary_build(rung_model **out, const rotary_lookup *l, const rung_task_conf *task, rung_error *err);
size_t rotary_answer_place(const rotary_lookup *l);
/* Decides from the extremal prompts whether the model is right on every prompt in this format. `reason` says why or why
 * not. The model has 2^bits values. */
rung_status rotary_prove(bool *proved, char *reason, size_t size, const rung_model *model, const rotary_lookup *l,
                         const rung_evaluator *how, rung_error *err);

#endif
