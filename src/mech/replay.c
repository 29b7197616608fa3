/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The backward pass of any recurrence, from what it does to one state: see replay.h.
 */
#include "replay.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Returns the number of steps between two kept states: the least number whose square is at least `steps`, so that there
 * are no more kept states than steps between two of them. */
static size_t stride_of(size_t steps)
{
    size_t root = (size_t)sqrt((double)steps);
    root = root ? root : 1;
    while (root < steps / root + (steps % root != 0)) root++; /* corrects the truncated square root */
    return root;
}

/* The kept states, the states between two of them, and a gradient for a caller that passes none. */
size_t rung_replay_scratch(size_t size, size_t steps)
{
    return size_times(size, 2 * stride_of(steps) + 2);
}

/* All states, and a gradient. */
size_t rung_replay_scratch_all(size_t size, size_t steps)
{
    return size_times(size, size_plus(steps, 2));
}

static void begin(float *to, const float *state, size_t size)
{
    if (state)
        memcpy(to, state, size * sizeof *to);
    else
        memset(to, 0, size * sizeof *to);
}

static void run_all(const rung_replay *r, const float *state, float *dstate, float *scratch)
{
    size_t size = r->size;
    float *own = scratch + (r->steps + 1) * size;
    if (!dstate) dstate = memset(own, 0, size * sizeof *own);
    begin(scratch, state, size);
    for (size_t i = 0; i < r->steps; i++) {
        float *after = memcpy(scratch + (i + 1) * size, scratch + i * size, size * sizeof *after);
        r->absorb(after, i, r->context);
    }
    if (r->finish) r->finish(dstate, scratch + r->steps * size, r->context);
    for (size_t i = r->steps; i-- > 0;) r->undo(dstate, scratch + i * size, scratch + (i + 1) * size, i, r->context);
}

void rung_replay_run(const rung_replay *r, const float *state, float *dstate, float *scratch)
{
    size_t size = r->size, stride = stride_of(r->steps);
    float *kept = scratch, *between = kept + stride * size, *own = between + (stride + 1) * size;
    if (r->keeps_all) {
        run_all(r, state, dstate, scratch);
        return;
    }
    if (!dstate) dstate = memset(own, 0, size * sizeof *own);
    begin(between, state, size);
    for (size_t i = 0; i < r->steps; i++) {
        if (i % stride == 0) memcpy(kept + i / stride * size, between, size * sizeof *kept);
        r->absorb(between, i, r->context);
    }
    if (r->finish) r->finish(dstate, between, r->context);

    for (size_t end = r->steps; end > 0;) {
        size_t first = (end - 1) / stride * stride;
        memcpy(between, kept + first / stride * size, size * sizeof *between);
        for (size_t i = first; i < end; i++) {
            float *before = between + (i - first) * size;
            memcpy(before + size, before, size * sizeof *before);
            r->absorb(before + size, i, r->context);
        }
        for (; end > first; end--) {
            const float *after = between + (end - first) * size;
            r->undo(dstate, after - size, after, end - 1, r->context);
        }
    }
}

void rung_replay_head(const rung_replay *r, const rung_backward *b, size_t head, float *scratch)
{
    assert(r->size > 0 && head < b->conf->heads);
    const float *state = b->state ? b->state + head * r->size : NULL;
    rung_replay_run(r, state, b->dstate ? b->dstate + head * r->size : NULL, scratch);
}
