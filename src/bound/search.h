/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Smallest value of a function of a few integers, by a fixed sequence of starts and descents along the coordinates. A
 * heuristic: what it finds is checked by whoever asked, and a better point may exist.
 */
#ifndef RUNG_BOUND_SEARCH_H
#define RUNG_BOUND_SEARCH_H

#include "rung/base.h"

#define SEARCH_DIMS 16

typedef struct search_box {
    size_t count;
    uint64_t low[SEARCH_DIMS], high[SEARCH_DIMS];
} search_box;

/* INFINITY where the point is not allowed. */
typedef double search_value(const uint64_t *point, const void *context);

/* The best point found and its value; `point` may hold a start when started is true. */
double search_least(uint64_t *point, bool started, const search_box *box, search_value *value, const void *context,
                    size_t starts);

#endif
