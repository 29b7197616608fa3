/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Doubling, then bisection.
 */
#include "least.h"

#include <assert.h>

rung_status bound_least(uint64_t *least, uint64_t limit, bound_probe *probe, const void *context, rung_error *err)
{
    uint64_t low = 0, high = 1;
    bool holds = false;
    rung_status status = probe(&holds, high, context, err);
    while (status == RUNG_OK && !holds && high < limit) {
        low = high, high = high > limit / 2 ? limit : 2 * high;
        status = probe(&holds, high, context, err);
    }
    *least = 0;
    if (status != RUNG_OK || !holds) return status;
    while (status == RUNG_OK && high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        status = probe(&holds, middle, context, err);
        if (holds)
            high = middle;
        else
            low = middle;
    }
    assert(low < high && high <= limit);
    *least = high;
    return status;
}
