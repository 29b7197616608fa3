/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * par: work over independent outputs. Results never depend on the number of threads, because no two items
 * write the same memory and every item does the same operations in the same order wherever it runs. Layer 1.
 */
#ifndef RUNG_PAR_H
#define RUNG_PAR_H

#include "rung/base.h"

typedef void rung_par_body(void *context, size_t item, size_t worker);

/* Calls body for every item in [0, count) on up to `threads` threads (0: rung_cpu_threads()), worker in [0,
 * threads). Returns when all are done. Falls back to the calling thread when threads cannot be had. */
void rung_par_for(size_t count, size_t threads, rung_par_body *body, void *context);

#endif
