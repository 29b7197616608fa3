/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tile of products within a chunk: its size, and loads and stores of its last columns. For small_isa.c and
 * state_isa.c, which are compiled once per instruction set.
 */
#ifndef RUNG_KERN_SMALL_TILE_H
#define RUNG_KERN_SMALL_TILE_H

#include "kern_lanes.h"

/* ROWS x VECTORS sums. With 16 registers there is room for half as many. */
#if defined(__AVX512F__) || !defined(__AVX2__)
enum { ROWS = 8, VECTORS = 2 };
#else
enum { ROWS = 4, VECTORS = 2 };
#endif

enum { TILE_COLS = LANES * VECTORS };

/* With one vector only `last` of its lanes are touched. */
INLINE lanes load_first(const float *from, size_t vectors, size_t last)
{
    return vectors > 1 ? load(from) : load_some(from, last);
}

INLINE void store_first(float *to, lanes v, size_t vectors, size_t last)
{
    if (vectors > 1)
        store(to, v);
    else
        store_some(to, v, last);
}

#endif
