/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The interval that stands beside every measured rate.
 */
#ifndef RUNG_TOOL_INTERVAL_H
#define RUNG_TOOL_INTERVAL_H

#include <math.h>
#include <stddef.h>

typedef struct rung_interval {
    double low, high;
} rung_interval;

/* Wilson's score interval at 95 % (z = 1.959964): never outside [0, 1], sensible for 0 or all right. */
static inline rung_interval rung_wilson(size_t right, size_t tried)
{
    const double z = 1.959963984540054;
    if (tried == 0) return (rung_interval){0, 1};
    double n = (double)tried, rate = (double)right / n, z2n = z * z / n;
    double centre = (rate + z2n / 2) / (1 + z2n);
    double half = z / (1 + z2n) * sqrt(rate * (1 - rate) / n + z2n / (4 * n));
    return (rung_interval){fmax(0, centre - half), fmin(1, centre + half)};
}

#endif
