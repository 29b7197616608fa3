/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to bound: the smallest number for which a monotone condition is true.
 */
#ifndef RUNG_BOUND_LEAST_H
#define RUNG_BOUND_LEAST_H

#include "rung/base.h"

typedef rung_status bound_probe(bool *holds, uint64_t x, const void *context, rung_error *err);

/* The smallest x in 1..limit that the probe calls true, by doubling and bisection; 0 if there is none. */
rung_status bound_least(uint64_t *least, uint64_t limit, bound_probe *probe, const void *context, rung_error *err);

#endif
