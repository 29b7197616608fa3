/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to witness: proofs that are kept.
 */
#ifndef RUNG_WITNESS_LOOKUP_PROOFS_H
#define RUNG_WITNESS_LOOKUP_PROOFS_H

#include "rotary.h"

/* Finds out whether the look-up is right on every prompt with 2^bits values, unless that is known already. */
rung_status lookup_prove(rung_finding *found, rung_lookup_proofs *proofs, const rotary_lookup *l,
                         const rung_evaluator *how, rung_error *err);

#endif
