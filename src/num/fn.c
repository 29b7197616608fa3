/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: functions of one argument, correctly rounded by a Ziv test. A quick approximation r with a known
 * relative error decides when r(1-error) and r(1+error) round to the same value of the format; slow.c decides
 * otherwise. The result is therefore unique and does not depend on libm, on the instruction set or on the
 * quick approximation.
 */
#include "exp.h"
#include "slow.h"

static const char *const NAMES[RUNG_FN_COUNT] = {"sqrt", "exp", "log", "tanh", "sigmoid", "softplus", "gelu"};

const char *rung_fn_name(rung_fn fn)
{
    return fn >= 0 && fn < RUNG_FN_COUNT ? NAMES[fn] : "unknown";
}

/* ---- square root ------------------------------------------------------------------------------------------------- */

/* The root with its last bit set when it is inexact. A number rounded to odd with 53 bits rounds to p <= 51
 * bits like the exact one, because no midpoint of p bits is odd. The residue is exact: x - s^2 is a multiple
 * of ulp(s)^2 and x >= 2^-535, unless x is far down in e11mY, where the root is taken of 2^200 x. */
static double sqrt_to_odd(double x)
{
    if (x < 0x1p-500) return 0x1p-100 * sqrt_to_odd(x * 0x1p200);
    const double root = sqrt(x);
    const double residue = fma(-root, root, x);
    const uint64_t bits = bits_of(root);
    if (residue == 0 || (bits & 1)) return root;
    return double_of(residue > 0 ? bits + 1 : bits - 1);
}

static double num_sqrt(const rung_fmt *fmt, double x)
{
    if (fmt->kind == RUNG_FMT_FIXED) return rung_fixed_sqrt(fmt, x);
    /* For Y <= 24 and for f64 the root of the double and one rounding are correct, see rounded_ops.h. */
    if (fmt->mantissa_bits != 25 || !(x > 0 && x < INFINITY)) return rung_num_round(fmt, sqrt(x));
    return rung_num_round(fmt, sqrt_to_odd(x));
}

/* ---- special arguments ------------------------------------------------------------------------------------------- */

/* All arguments at which the value is rational. By Lindemann and Weierstrass exp, log, tanh, sigmoid and softplus are
 * transcendental at every other algebraic argument, so no other result can be a tie, and the search for enough bits
 * ends. (For gelu that is not a theorem; slow.c limits its search.) Limits at infinity and at poles are here too. */
static bool special_value(double *out, rung_fn fn, double x)
{
    const bool beyond = fn == RUNG_FN_EXP && fabs(x) > 800; /* e^800 > 2^1154, outside every format */
    if (x != 0 && !isinf(x) && !beyond && fn != RUNG_FN_LOG) return false;
    const bool positive = x > 0;
    switch (fn) {
    case RUNG_FN_EXP:
        *out = x == 0 ? 1 : positive ? INFINITY : 0;
        return true;
    case RUNG_FN_LOG:
        *out = x == 0 ? -INFINITY : x == 1 ? 0 : positive ? INFINITY : NAN;
        return !(x > 0 && x < INFINITY && x != 1);
    case RUNG_FN_TANH:
        *out = x == 0 ? x : positive ? 1 : -1;
        return true;
    case RUNG_FN_SIGMOID:
        *out = x == 0 ? 0.5 : positive ? 1 : 0;
        return true;
    case RUNG_FN_SOFTPLUS:
        *out = positive ? INFINITY : 0;
        return x != 0;
    case RUNG_FN_GELU:
        *out = positive ? INFINITY : x == 0 ? x : -0.0;
        return true;
    default:
        return false;
    }
}

/* ---- quick phase ------------------------------------------------------------------------------------------------- */

typedef struct estimate {
    double value, error; /* relative */
} estimate;

/* The proofs assume only that libm is right to 2^-43, a thousand units in the last place. */
#define LIBM_ERROR 0x1p-42

static estimate quick_sigmoid(double x)
{
    const double e = exp_quick(-fabs(x));
    return (estimate){(x > 0 ? 1 : e) / (1 + e), LIBM_ERROR};
}

static estimate quick_softplus(double x)
{
    const double bend = log1p(exp_quick(-fabs(x)));
    return (estimate){x > 0 ? x + bend : bend, LIBM_ERROR};
}

/* A relative error u of t becomes 2 t^2 u in erfc(t): with t < 27, beyond which erfc is no normal double, and
 * u = 2^-52 that is 2^-41.4; four times as much is allowed. */
static estimate quick_gelu(double x)
{
    return (estimate){0.5 * x * erfc(x * -0x1.6a09e667f3bcdp-1), 0x1p-39};
}

static estimate quick(rung_fn fn, double x)
{
    switch (fn) {
    case RUNG_FN_EXP:
        return (estimate){exp_quick(x), EXP_QUICK_ERROR};
    case RUNG_FN_LOG:
        return (estimate){log(x), LIBM_ERROR};
    case RUNG_FN_TANH:
        return (estimate){tanh(x), LIBM_ERROR};
    case RUNG_FN_SIGMOID:
        return quick_sigmoid(x);
    case RUNG_FN_SOFTPLUS:
        return quick_softplus(x);
    case RUNG_FN_GELU:
        return quick_gelu(x);
    default:
        return (estimate){NAN, 0};
    }
}

/* False near the ends of the range of a double, where relative bounds fail and exp_quick clamps. Only e11mY has values
 * there; formats with shorter exponents round them to zero or infinity. */
static bool in_quick_range(const rung_fmt *fmt, double value)
{
    return fmt->exponent_bits < 11 || (fabs(value) > 0x1p-960 && fabs(value) < 0x1p960);
}

static bool decide_exp(double *out, const rung_fmt *fmt, double x)
{
    const exp_bounds bounds = exp_try(fmt, route_of(fmt), x);
    *out = bounds.low;
    return bounds.low == bounds.high;
}

static bool decide(double *out, const rung_fmt *fmt, rung_fn fn, double x)
{
    if (fn == RUNG_FN_EXP) return decide_exp(out, fmt, x);
    if (fmt->is_f64) return false; /* no approximation here is precise enough for f64 */
    const estimate r = quick(fn, x);
    if (!in_quick_range(fmt, r.value)) return false;
    const double margin = r.value * r.error;
    *out = rung_num_round(fmt, r.value - margin);
    return bits_of(*out) == bits_of(rung_num_round(fmt, r.value + margin));
}

double rung_num_fn(const rung_fmt *fmt, rung_fn fn, double x)
{
    if (isnan(x)) return NAN;
    if (fn == RUNG_FN_SQRT) return num_sqrt(fmt, x);
    double out;
    if (special_value(&out, fn, x)) return rung_num_round(fmt, out);
    if (decide(&out, fmt, fn, x)) return out;
    return rung_slow_fn(fmt, fn, x);
}
