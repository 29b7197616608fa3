/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: the operations over many lanes. Compiled once per instruction set; nothing here is written for one,
 * the compiler turns the branch-free operations of rounded_ops.h and exp.h into vectors. Every lane is what the
 * scalar functions give, bit for bit: the arithmetic is the same text, and exp is decided by a Ziv test,
 * which has one answer.
 */
#include "lanes.h"
#include "vec.h"

/* Calls loop(format, route, ...) with the route as a constant. The format is a local copy: stores to the output
 * cannot change it, so its fields stay in registers. The slow route gets the original, because its functions take
 * the address. */
#define BY_ROUTE(fmt, loop, ...)                                                                                       \
    do {                                                                                                               \
        const rung_fmt local = *(fmt);                                                                                 \
        switch (route_of(fmt)) {                                                                                       \
        case ROUTE_F64:                                                                                                \
            loop(&local, ROUTE_F64, __VA_ARGS__);                                                                      \
            break;                                                                                                     \
        case ROUTE_FLOAT:                                                                                              \
            loop(&local, ROUTE_FLOAT, __VA_ARGS__);                                                                    \
            break;                                                                                                     \
        case ROUTE_WIDE:                                                                                               \
            loop(&local, ROUTE_WIDE, __VA_ARGS__);                                                                     \
            break;                                                                                                     \
        case ROUTE_FIXED:                                                                                              \
            loop(&local, ROUTE_FIXED, __VA_ARGS__);                                                                    \
            break;                                                                                                     \
        case ROUTE_LONG:                                                                                               \
            loop((fmt), ROUTE_LONG, __VA_ARGS__);                                                                      \
            break;                                                                                                     \
        }                                                                                                              \
    } while (0)

/* ---- arithmetic
 * --------------------------------------------------------------------------------------------------- */

ALWAYS_INLINE void round_loop(const rung_fmt *f, route way, double *out, const double *x, size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) out[i] = op_round(f, way, x[i]);
}

static void vec_round(const rung_fmt *fmt, double *out, const double *x, size_t n)
{
    BY_ROUTE(fmt, round_loop, out, x, n);
}

typedef enum binary { ADD, SUB, MUL, DIV } binary;

ALWAYS_INLINE double op_binary(const rung_fmt *f, route way, binary op, double a, double b)
{
    switch (op) {
    case ADD:
        return op_add(f, way, a, b);
    case SUB:
        return op_sub(f, way, a, b);
    case MUL:
        return op_mul(f, way, a, b);
    case DIV:
        return op_div(f, way, a, b);
    }
    return NAN;
}

/* Both the route and the operation are constants in each copy of this loop. */
ALWAYS_INLINE void binary_loop(const rung_fmt *f, route way, binary op, double *out, const double *a, const double *b,
                               size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) out[i] = op_binary(f, way, op, a[i], b[i]);
}

static void vec_add(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n)
{
    BY_ROUTE(fmt, binary_loop, ADD, out, a, b, n);
}

static void vec_sub(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n)
{
    BY_ROUTE(fmt, binary_loop, SUB, out, a, b, n);
}

static void vec_mul(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n)
{
    BY_ROUTE(fmt, binary_loop, MUL, out, a, b, n);
}

static void vec_div(const rung_fmt *fmt, double *out, const double *a, const double *b, size_t n)
{
    BY_ROUTE(fmt, binary_loop, DIV, out, a, b, n);
}

ALWAYS_INLINE void scale_loop(const rung_fmt *f, route way, double *out, const double *a, double s, size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) out[i] = op_mul(f, way, a[i], s);
}

static void vec_scale(const rung_fmt *fmt, double *out, const double *a, double s, size_t n)
{
    BY_ROUTE(fmt, scale_loop, out, a, s, n);
}

ALWAYS_INLINE void mul_add_loop(const rung_fmt *f, route way, double *acc, const double *a, const double *b, size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) acc[i] = op_add(f, way, acc[i], op_mul(f, way, a[i], b[i]));
}

static void vec_mul_add(const rung_fmt *fmt, double *acc, const double *a, const double *b, size_t n)
{
    BY_ROUTE(fmt, mul_add_loop, acc, a, b, n);
}

ALWAYS_INLINE void scale_add_loop(const rung_fmt *f, route way, double *acc, const double *a, double s, size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) acc[i] = op_add(f, way, acc[i], op_mul(f, way, a[i], s));
}

static void vec_scale_add(const rung_fmt *fmt, double *acc, const double *a, double s, size_t n)
{
    BY_ROUTE(fmt, scale_add_loop, acc, a, s, n);
}

ALWAYS_INLINE void fade_add_loop(const rung_fmt *f, route way, double *num, const double *a, const double *e, double v,
                                 size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) num[i] = op_add(f, way, op_mul(f, way, num[i], a[i]), op_mul(f, way, e[i], v));
}

static void vec_fade_add(const rung_fmt *fmt, double *num, const double *a, const double *e, double v, size_t n)
{
    BY_ROUTE(fmt, fade_add_loop, num, a, e, v, n);
}

/* ---- exp and the other functions
 * ---------------------------------------------------------------------------------- */

ALWAYS_INLINE void exp_loop(const rung_fmt *f, route way, const rung_fmt *fmt, double *out, const double *x, size_t n)
{
    for (size_t start = 0; start < n; start += EXP_BLOCK) {
        const size_t count = n - start < EXP_BLOCK ? n - start : EXP_BLOCK;
        double argument[EXP_BLOCK];
        memcpy(argument, x + start, count * sizeof *x); /* out may be x */
        exp_block(f, way, fmt, out + start, argument, count);
    }
}

ALWAYS_INLINE void sqrt_loop(const rung_fmt *f, route way, double *out, const double *x, size_t n)
{
    LANES
    for (size_t i = 0; i < n; i++) out[i] = op_round(f, way, sqrt(x[i]));
}

static void vec_fn(const rung_fmt *fmt, rung_fn fn, double *out, const double *x, size_t n)
{
    if (fn == RUNG_FN_EXP) {
        BY_ROUTE(fmt, exp_loop, fmt, out, x, n);
    } else if (fn == RUNG_FN_SQRT && fmt->kind == RUNG_FMT_FLOAT && fmt->mantissa_bits != 25) {
        BY_ROUTE(fmt, sqrt_loop, out, x, n);
    } else {
        for (size_t i = 0; i < n; i++) out[i] = rung_num_fn(fmt, fn, x[i]);
    }
}

/* One of the two exponents is always m' - m' = 0, so one exp per lane is enough. The other factor is r(1), or NaN when
 * m' - m' is NaN (a softmax with an infinite maximum is undefined). */
ALWAYS_INLINE void softmax_loop(const rung_fmt *f, route way, const rung_fmt *fmt, double *m, double *den, double *a,
                                double *e, const double *s, size_t n)
{
    const double one = op_round(f, way, 1.0);
    for (size_t start = 0; start < n; start += EXP_BLOCK) {
        const size_t count = n - start < EXP_BLOCK ? n - start : EXP_BLOCK;
        double gap[EXP_BLOCK], faded[EXP_BLOCK];
        LANES
        for (size_t i = 0; i < count; i++) {
            const double old = m[start + i], score = s[start + i];
            gap[i] = op_sub(f, way, score > old ? old : score, score > old ? score : old);
        }
        exp_block(f, way, fmt, faded, gap, count);
        LANES
        for (size_t i = 0; i < count; i++) {
            const double old = m[start + i], score = s[start + i];
            const double top = score > old ? score : old;
            const double whole = one + (top - top);
            const double keep = score > old ? faded[i] : whole, enter = score > old ? whole : faded[i];
            den[start + i] = op_add(f, way, op_mul(f, way, den[start + i], keep), enter);
            a[start + i] = keep;
            e[start + i] = enter;
            m[start + i] = top;
        }
    }
}

static void vec_softmax_step(const rung_fmt *fmt, double *m, double *den, double *a, double *e, const double *s,
                             size_t n)
{
    BY_ROUTE(fmt, softmax_loop, fmt, m, den, a, e, s, n);
}

const rung_num_kernels WITH_SUFFIX(rung_num_kernels) = {
    .name = &TEXT(RUNG_ISA_SUFFIX)[1], /* without the underscore */
    .round = vec_round,
    .add = vec_add,
    .sub = vec_sub,
    .mul = vec_mul,
    .div = vec_div,
    .scale = vec_scale,
    .mul_add = vec_mul_add,
    .scale_add = vec_scale_add,
    .fn = vec_fn,
    .softmax_step = vec_softmax_step,
    .fade_add = vec_fade_add,
    .attend = WITH_SUFFIX(rung_attend),
};
