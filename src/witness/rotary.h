/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A lookup by rotary positions alone, in one full layer of a block with RMSNorm.
 */
#ifndef RUNG_WITNESS_ROTARY_H
#define RUNG_WITNESS_ROTARY_H

#include "rung/witness.h"

/* Sizes of the published layer, and of the table. */
typedef struct rotary_lookup {
    size_t hidden;       /* d_model */
    size_t head;         /* coordinates of a head */
    size_t rotated;      /* of these, the first so many are rotated */
    double theta, wave;  /* rope_theta; angles are known where the wavelength is shorter */
    size_t entries;      /* N */
    size_t values, bits; /* V, and the bits of a value */
    size_t pairs;        /* angles that are used: the first so many */
    double sharp;        /* factor of the queries */
} rotary_lookup;

/* Chooses pairs and sharp. Refuses (RUNG_USAGE) what does not fit. */
rung_status rotary_choose(rotary_lookup *l, rung_error *err);
/* One layer, one head; `values` of them. Coordinates bit_place .. +bits of the stream receive the answer. */
rung_status rotary_build(rung_model **out, const rotary_lookup *l, const rung_task_conf *task, rung_error *err);
size_t rotary_answer_place(const rotary_lookup *l);
/* Whether the model is right on every prompt in this format, by its extremal prompts; *reason says why or why not. The model has
 * 2^bits values. */
rung_status rotary_prove(bool *proved, char *reason, size_t size, const rung_model *model, const rotary_lookup *l,
                         const rung_evaluator *how, rung_error *err);

#endif
