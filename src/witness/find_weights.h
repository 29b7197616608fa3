/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to witness: the search for weights.
 */
#ifndef RUNG_WITNESS_FIND_WEIGHTS_H
#define RUNG_WITNESS_FIND_WEIGHTS_H

#include "rung/witness.h"

/* True if no number in the stream of a model of one attention layer is ever infinite in this format. False: unknown. */
bool witness_stays_finite(const rung_model *model, const rung_fmt *fmt);

#endif
