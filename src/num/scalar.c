/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: one number at a time. The arithmetic is in rounded_ops.h; here it is chosen by the format.
 */
#include "rounded_ops.h"

double rung_num_round(const rung_fmt *fmt, double x)
{
    return op_round(fmt, route_of(fmt), x);
}

bool rung_num_is_value(const rung_fmt *fmt, double x)
{
    return !isnan(x) && bits_of(rung_num_round(fmt, x)) == bits_of(x);
}

double rung_num_add(const rung_fmt *fmt, double a, double b)
{
    return op_add(fmt, route_of(fmt), a, b);
}

double rung_num_sub(const rung_fmt *fmt, double a, double b)
{
    return op_sub(fmt, route_of(fmt), a, b);
}

double rung_num_mul(const rung_fmt *fmt, double a, double b)
{
    return op_mul(fmt, route_of(fmt), a, b);
}

double rung_num_div(const rung_fmt *fmt, double a, double b)
{
    return op_div(fmt, route_of(fmt), a, b);
}

/* There is one loop per route: `way` is a constant after inlining, so no iteration tests the format. */
ALWAYS_INLINE double dot_loop(const rung_fmt *fmt, route way, const double *a, const double *b, size_t n)
{
    double acc = 0;
    for (size_t k = 0; k < n; k++) acc = op_add(fmt, way, acc, op_mul(fmt, way, a[k], b[k]));
    return acc;
}

double rung_num_dot(const rung_fmt *fmt, const double *a, const double *b, size_t n)
{
    switch (route_of(fmt)) {
    case ROUTE_F64:
        return dot_loop(fmt, ROUTE_F64, a, b, n);
    case ROUTE_FLOAT:
        return dot_loop(fmt, ROUTE_FLOAT, a, b, n);
    case ROUTE_WIDE:
        return dot_loop(fmt, ROUTE_WIDE, a, b, n);
    case ROUTE_FIXED:
        return dot_loop(fmt, ROUTE_FIXED, a, b, n);
    case ROUTE_LONG:
        return dot_loop(fmt, ROUTE_LONG, a, b, n);
    }
    return NAN;
}

size_t rung_num_find_nan(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(x[i])) return i;
    return SIZE_MAX;
}
