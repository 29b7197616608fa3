/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to decide: weights as means.
 */
#ifndef RUNG_DECIDE_WEIGHTS_H
#define RUNG_DECIDE_WEIGHTS_H

#include "rung/decide.h"

/* Looks for weights of the subject's layers that solve the instance of the claim, or with n its largest one. Fills the part
 * of weights, and verdict, basis, by and statement when there are some and nothing is decided yet. */
rung_status decide_weights(rung_decision *d, const rung_claim *claim, const rung_means *means, rung_error *err);

#endif
