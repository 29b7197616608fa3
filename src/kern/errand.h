/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Rows of memory that the next chunk needs are asked for while this one computes, one row every few steps of an inner
 * index: many at once fill the queues of the machine, which then waits for them. They are brought to the second cache,
 * because rows of one head lie a power of two apart and share a few sets of the first.
 */
#ifndef RUNG_KERN_ERRAND_H
#define RUNG_KERN_ERRAND_H

#include "kern_lanes.h"

#include "rung/kern.h"

typedef struct errand {
    rung_chunk_rows now;
    const rung_chunk_rows *next, *end;
} errand;

/* NULL: nothing is asked for. */
INLINE errand errand_new(const rung_chunk_rows *rows)
{
    return (errand){.next = rows, .end = rows ? rows + RUNG_CHUNK_ERRANDS : NULL};
}

INLINE void ask_for_row(errand *e)
{
    enum { LINE = 16 };
    while (e->now.rows == 0) {
        if (e->next == e->end) return;
        e->now = *e->next++;
    }
    for (size_t i = 0; i < e->now.width; i += LINE) __builtin_prefetch(e->now.at + i, 0, 2);
    e->now.at += e->now.row;
    e->now.rows--;
}

#endif
