/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to decide: weights.
 */
#ifndef RUNG_DECIDE_WEIGHTS_H
#define RUNG_DECIDE_WEIGHTS_H

#include "rung/decide.h"

/* Searches for weights of the subject's layers that solve the instance of the claim, or if n is given its largest
 * instance. Fills the weights part of the decision. If weights are found and nothing is decided yet, also sets verdict,
 * basis, by and statement. */
rung_status decide_weights(rung_decision *d, const rung_claim *claim, const rung_decide_options *means,
                           rung_error *err);

#endif
