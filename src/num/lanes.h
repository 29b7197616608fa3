/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: what the files that are compiled once per instruction set share. Include it first.
 */
#ifndef RUNG_NUM_LANES_H
#define RUNG_NUM_LANES_H

#if defined(__GNUC__) && !defined(__clang__)
/* No caller enables traps of floating-point exceptions. If the compiler had to expect them it would keep a division or
 * a sum inside the branch that needs it, and would not vectorise the loop. The pragma changes no result. */
#pragma GCC optimize("no-trapping-math")
#endif

#include "exp.h"

#define JOIN_(a, b)     a##b
#define JOIN(a, b)      JOIN_(a, b)
#define TEXT_(a)        #a
#define TEXT(a)         TEXT_(a)
#define WITH_SUFFIX(id) JOIN(id, RUNG_ISA_SUFFIX)

/* An output may be an input, lane by lane. No iteration reads what another one writes. */
#if defined(__clang__)
#define LANES /* clang checks for overlap itself; its pragma would give warnings where it cannot vectorise */
#else
#define LANES _Pragma("GCC ivdep")
#endif

enum { EXP_BLOCK = 64 }; /* lanes per Ziv test; their bounds stay in the first-level cache */

/* Computes lanes whose bounds differ again with the scalar function. That is rare, apart from NaN. */
static inline void repair_exp(const rung_fmt *fmt, double *low, const double *high, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(low[i] == high[i])) low[i] = rung_num_fn(fmt, RUNG_FN_EXP, x[i]);
}

/* out and x must not overlap; n <= EXP_BLOCK. f is a local copy of fmt (see vec_isa.c). */
ALWAYS_INLINE void exp_block(const rung_fmt *f, route way, const rung_fmt *fmt, double *out, const double *x, size_t n)
{
    double high[EXP_BLOCK];
    uint64_t undecided = 0;
    LANES
    for (size_t i = 0; i < n; i++) {
        const exp_bounds bounds = way == ROUTE_F64 ? exp_try_roots(x[i]) : exp_try(f, way, x[i]);
        out[i] = bounds.low;
        high[i] = bounds.high;
        undecided |= bounds.low == bounds.high ? 0 : UINT64_C(1);
    }
    if (undecided) repair_exp(fmt, out, high, x, n);
}

#endif
