/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to witness: which layer of a larger architecture does the work of which layer of a smaller one.
 */
#ifndef RUNG_WITNESS_EMBED_H
#define RUNG_WITNESS_EMBED_H

#include "rung/witness.h"

#define NOBODY SIZE_MAX

/* One layer of the large architecture. */
typedef struct embed_layer {
    size_t from;                   /* the small layer whose work it does; NOBODY: it is idle */
    size_t group[RUNG_GROUPS_MAX]; /* for each of its groups: the small group, or NOBODY */
    size_t mlp;                    /* the small layer whose MLP it has; NOBODY: none */
} embed_layer;

/* Fills layer[large->layer_count], or refuses (RUNG_USAGE) with the reason. */
rung_status embed_match(embed_layer *layer, const rung_arch *small, const rung_arch *large, rung_error *err);

#endif
