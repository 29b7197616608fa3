/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: softmax attention in lanes of 64 bits: f64, all floats, and fixed point.
 */
#include "lanes.h"

#include "attend.h"

typedef double real;
typedef uint64_t real_bits;
enum { REAL_MANTISSA = 52 };

ALWAYS_INLINE double real_fma(double a, double b, double c)
{
    return mul_then_add(a, b, c); /* without a fused operation this is called only where a * b is exact */
}

ALWAYS_INLINE void exp_lanes(double *out, const double *gap, const void *context, size_t width);

#include "attend_lanes.h"

/* In each copy of the loops the route is a constant. */
typedef struct exps {
    const rung_fmt *fmt;
    route way;
} exps;

ALWAYS_INLINE void exp_lanes(double *out, const double *gap, const void *context, size_t width)
{
    const exps *by = context;
    const rung_fmt local = *by->fmt;
    exp_block(&local, by->way, by->fmt, out, gap, width);
}

bool WITH_SUFFIX(rung_attend_double)(const rung_fmt *fmt, double *num, double *den, const rung_attend *job,
                                     const attend_ranges *ranges)
{
    const grid g = {.unit = ldexp(1.5, REAL_MANTISSA - fmt->mantissa_bits),
                    .least = fmt->least_normal,
                    .magic = fmt->grid_magic,
                    .low = fmt->smallest,
                    .high = fmt->largest,
                    .still = rung_num_round(fmt, 1),
                    .tiny_weight = ranges->tiny_weight};
    const exps f64 = {fmt, ROUTE_F64}, shorter = {fmt, ROUTE_FLOAT}, wide = {fmt, ROUTE_WIDE},
               fixed = {fmt, ROUTE_FIXED};
    if (fmt->is_f64) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_NATIVE, TINY_NEVER, false}, &f64);
    if (fmt->kind == RUNG_FMT_FIXED)
        return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FIXED, TINY_NEVER, false}, &fixed);
    if (fmt->exponent_bits == 11)
        return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, TINY_FUSED, false}, &wide);
    if (ranges->watch) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, TINY_GRID, true}, &shorter);
    return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, TINY_GRID, false}, &shorter);
}
