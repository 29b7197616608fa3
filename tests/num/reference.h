/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Tests of num: a second way to every result. Floats are rounded by MPFR with the precision and the exponent range of
 * the format, fixed point by rational arithmetic of GMP. No rounding of the library is used, and no decoding: values
 * are made from their fields with ldexp.
 */
#ifndef TESTS_NUM_REFERENCE_H
#define TESTS_NUM_REFERENCE_H

#include <inttypes.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "effort.h"
#include "num/cmocka_all.h"
#include "rung/num.h"

typedef enum ref_op { REF_ADD, REF_SUB, REF_MUL, REF_DIV, REF_SQRT, REF_OP_COUNT } ref_op;
static const char *const REF_OP_NAME[REF_OP_COUNT] = {"+", "-", "*", "/", "sqrt"};

static inline uint64_t ref_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Equal to the bit, except that all NaNs are one. */
static inline bool ref_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || ref_bits(a) == ref_bits(b);
}

static inline rung_fmt ref_format(const char *name)
{
    rung_fmt fmt;
    rung_error err = {{0}};
    if (rung_fmt_parse(&fmt, name, &err) != RUNG_OK) fail_msg("%s: %s", name, err.text);
    return fmt;
}

static inline rung_fmt ref_float(int exponent_bits, int mantissa_bits)
{
    char name[32];
    snprintf(name, sizeof name, "e%dm%d", exponent_bits, mantissa_bits);
    return ref_format(name);
}

static inline rung_fmt ref_fixed(int integer_bits, int fraction_bits)
{
    char name[32];
    snprintf(name, sizeof name, "q%d.%d", integer_bits, fraction_bits);
    return ref_format(name);
}

static inline int ref_bias(const rung_fmt *fmt)
{
    return (1 << (fmt->exponent_bits - 1)) - 1;
}

/* The float with these fields, NaN included. */
static inline double ref_make_float(const rung_fmt *fmt, bool negative, int exponent, uint64_t mantissa)
{
    const int top = (1 << fmt->exponent_bits) - 1, bias = ref_bias(fmt), y = fmt->mantissa_bits;
    double x;
    if (exponent == top)
        x = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        x = ldexp((double)mantissa, 1 - bias - y);
    else
        x = ldexp((double)(mantissa + (UINT64_C(1) << y)), exponent - bias - y);
    return negative ? -x : x;
}

/* The value of a p-bit code by the definition of the formats. */
static inline double ref_value(const rung_fmt *fmt, uint64_t code)
{
    if (fmt->kind == RUNG_FMT_FIXED) {
        const int width = fmt->integer_bits + fmt->fraction_bits;
        int64_t units = (int64_t)code;
        if (code >> width & 1) units -= INT64_C(1) << (width + 1);
        return ldexp((double)units, -fmt->fraction_bits);
    }
    const uint64_t mantissa = code & ((UINT64_C(1) << fmt->mantissa_bits) - 1);
    const int exponent = (int)(code >> fmt->mantissa_bits & ((UINT64_C(1) << fmt->exponent_bits) - 1));
    return ref_make_float(fmt, code >> (fmt->bits - 1) & 1, exponent, mantissa);
}

/* ---- the variables, made once ------------------------------------------------------------------------------------ */

static mpfr_t ref_a, ref_b, ref_z;    /* in the format: ref_begin sets precision and range */
static mpfr_t ref_wide, ref_wide_two; /* high precision */
static mpz_t ref_num, ref_den, ref_quotient, ref_rest;
static mpfr_exp_t ref_emin, ref_emax;

static inline int ref_setup(void **state)
{
    (void)state;
    mpfr_inits2(53, ref_a, ref_b, ref_z, ref_wide, ref_wide_two, (mpfr_ptr)0);
    mpz_inits(ref_num, ref_den, ref_quotient, ref_rest, (mpz_ptr)0);
    ref_emin = mpfr_get_emin();
    ref_emax = mpfr_get_emax();
    return 0;
}

static inline int ref_teardown(void **state)
{
    (void)state;
    mpfr_clears(ref_a, ref_b, ref_z, ref_wide, ref_wide_two, (mpfr_ptr)0);
    mpz_clears(ref_num, ref_den, ref_quotient, ref_rest, (mpz_ptr)0);
    mpfr_free_cache();
    return 0;
}

/* MPFR numbers are 0.1... * 2^e, one exponent higher than ours. */
static inline void ref_set_range(const rung_fmt *fmt)
{
    mpfr_set_emin(2 - ref_bias(fmt) - fmt->mantissa_bits);
    mpfr_set_emax(ref_bias(fmt) + 1);
}

static inline void ref_begin(const rung_fmt *fmt)
{
    if (fmt->kind == RUNG_FMT_FIXED) return;
    mpfr_set_prec(ref_z, fmt->mantissa_bits + 1);
    ref_set_range(fmt);
}

static inline void ref_end(void)
{
    mpfr_set_emin(ref_emin);
    mpfr_set_emax(ref_emax);
}

/* ---- fixed point by GMP ------------------------------------------------------------------------------------------ */

/* ref_num / ref_den units, rounded to nearest even and clamped. */
static inline double ref_settle_fixed(const rung_fmt *fmt)
{
    mpz_fdiv_qr(ref_quotient, ref_rest, ref_num, ref_den);
    mpz_mul_2exp(ref_rest, ref_rest, 1);
    const int half = mpz_cmpabs(ref_rest, ref_den);
    if (half > 0 || (half == 0 && mpz_odd_p(ref_quotient))) mpz_add_ui(ref_quotient, ref_quotient, 1);
    mpz_set_ui(ref_num, 1);
    mpz_mul_2exp(ref_num, ref_num, (mp_bitcnt_t)(fmt->integer_bits + fmt->fraction_bits));
    if (mpz_cmp(ref_quotient, ref_num) >= 0) mpz_sub_ui(ref_quotient, ref_num, 1);
    mpz_neg(ref_num, ref_num);
    if (mpz_cmp(ref_quotient, ref_num) < 0) mpz_set(ref_quotient, ref_num);
    return ldexp(mpz_get_d(ref_quotient), -fmt->fraction_bits);
}

/* The nearest integer to the root of ref_num is floor((floor(root(4 num)) + 1) / 2): there are no ties. */
static inline double ref_fixed_sqrt(const rung_fmt *fmt, double a)
{
    if (a < 0) return NAN;
    mpz_set_d(ref_num, ldexp(a, fmt->fraction_bits));
    mpz_mul_2exp(ref_num, ref_num, (mp_bitcnt_t)fmt->fraction_bits + 2);
    mpz_sqrt(ref_num, ref_num);
    mpz_add_ui(ref_num, ref_num, 1);
    mpz_fdiv_q_2exp(ref_num, ref_num, 1);
    mpz_set_ui(ref_den, 1);
    return ref_settle_fixed(fmt);
}

static inline double ref_fixed_arith(const rung_fmt *fmt, ref_op op, double a, double b)
{
    if (op == REF_SQRT) return ref_fixed_sqrt(fmt, a);
    if (op == REF_DIV && b == 0) return NAN;
    mpz_set_d(ref_num, ldexp(a, fmt->fraction_bits));
    mpz_set_d(ref_den, ldexp(b, fmt->fraction_bits));
    switch (op) {
    case REF_ADD:
        mpz_add(ref_num, ref_num, ref_den);
        break;
    case REF_SUB:
        mpz_sub(ref_num, ref_num, ref_den);
        break;
    case REF_MUL:
        mpz_mul(ref_num, ref_num, ref_den);
        break;
    default:
        mpz_mul_2exp(ref_num, ref_num, (mp_bitcnt_t)fmt->fraction_bits);
        return ref_settle_fixed(fmt);
    }
    mpz_set_ui(ref_den, 1);
    if (op == REF_MUL) mpz_mul_2exp(ref_den, ref_den, (mp_bitcnt_t)fmt->fraction_bits);
    return ref_settle_fixed(fmt);
}

/* ---- floats by MPFR ---------------------------------------------------------------------------------------------- */

/* Between ref_begin and ref_end. The operands have 53 bits, which hold any value exactly. */
static inline double ref_float_arith(ref_op op, double a, double b)
{
    mpfr_set_d(ref_a, a, MPFR_RNDN);
    mpfr_set_d(ref_b, b, MPFR_RNDN);
    int ternary;
    switch (op) {
    case REF_ADD:
        ternary = mpfr_add(ref_z, ref_a, ref_b, MPFR_RNDN);
        break;
    case REF_SUB:
        ternary = mpfr_sub(ref_z, ref_a, ref_b, MPFR_RNDN);
        break;
    case REF_MUL:
        ternary = mpfr_mul(ref_z, ref_a, ref_b, MPFR_RNDN);
        break;
    case REF_DIV:
        ternary = mpfr_div(ref_z, ref_a, ref_b, MPFR_RNDN);
        break;
    default:
        ternary = mpfr_sqrt(ref_z, ref_a, MPFR_RNDN);
        break;
    }
    mpfr_subnormalize(ref_z, ternary, MPFR_RNDN);
    return mpfr_get_d(ref_z, MPFR_RNDN);
}

static inline double ref_arith(const rung_fmt *fmt, ref_op op, double a, double b)
{
    return fmt->kind == RUNG_FMT_FIXED ? ref_fixed_arith(fmt, op, a, b) : ref_float_arith(op, a, b);
}

static inline double lib_arith(const rung_fmt *fmt, ref_op op, double a, double b)
{
    switch (op) {
    case REF_ADD:
        return rung_num_add(fmt, a, b);
    case REF_SUB:
        return rung_num_sub(fmt, a, b);
    case REF_MUL:
        return rung_num_mul(fmt, a, b);
    case REF_DIV:
        return rung_num_div(fmt, a, b);
    default:
        return rung_num_fn(fmt, RUNG_FN_SQRT, a);
    }
}

/* ---- functions: high precision, then one rounding ---------------------------------------------------------------- */

/* fn(x) in ref_wide at `bits` bits, each step rounded to nearest: wrong in the last few bits only. */
static inline void ref_wide_fn(rung_fn fn, double x, mpfr_prec_t bits)
{
    mpfr_set_prec(ref_wide, bits);
    mpfr_set_prec(ref_wide_two, bits);
    mpfr_set_d(ref_wide, x, MPFR_RNDN);
    switch (fn) {
    case RUNG_FN_SQRT:
        mpfr_sqrt(ref_wide, ref_wide, MPFR_RNDN);
        return;
    case RUNG_FN_EXP:
        mpfr_exp(ref_wide, ref_wide, MPFR_RNDN);
        return;
    case RUNG_FN_LOG:
        mpfr_log(ref_wide, ref_wide, MPFR_RNDN);
        return;
    case RUNG_FN_TANH:
        mpfr_tanh(ref_wide, ref_wide, MPFR_RNDN);
        return;
    case RUNG_FN_SIGMOID: /* (1 + tanh(x/2)) / 2, or e^x / (1 + e^x) where that would cancel */
        if (x >= 0) {
            mpfr_div_2ui(ref_wide, ref_wide, 1, MPFR_RNDN);
            mpfr_tanh(ref_wide, ref_wide, MPFR_RNDN);
            mpfr_add_ui(ref_wide, ref_wide, 1, MPFR_RNDN);
            mpfr_div_2ui(ref_wide, ref_wide, 1, MPFR_RNDN);
            return;
        }
        mpfr_exp(ref_wide, ref_wide, MPFR_RNDN);
        mpfr_add_ui(ref_wide_two, ref_wide, 1, MPFR_RNDN);
        mpfr_div(ref_wide, ref_wide, ref_wide_two, MPFR_RNDN);
        return;
    case RUNG_FN_SOFTPLUS: /* x + e^-x + ... is x to more bits than anyone looks at when x is large */
        if (x > 5000) return;
        mpfr_exp(ref_wide, ref_wide, MPFR_RNDN);
        mpfr_log1p(ref_wide, ref_wide, MPFR_RNDN);
        return;
    default: /* gelu: x (1 + erf(x / sqrt 2)) / 2, by erfc where 1 + erf would cancel */
        mpfr_set_ui(ref_wide_two, 2, MPFR_RNDN);
        mpfr_rec_sqrt(ref_wide_two, ref_wide_two, MPFR_RNDN);
        mpfr_mul(ref_wide, ref_wide, ref_wide_two, MPFR_RNDN);
        if (x < -0.5) {
            mpfr_neg(ref_wide, ref_wide, MPFR_RNDN);
            mpfr_erfc(ref_wide, ref_wide, MPFR_RNDN);
        } else {
            mpfr_erf(ref_wide, ref_wide, MPFR_RNDN);
            mpfr_add_ui(ref_wide, ref_wide, 1, MPFR_RNDN);
        }
        mpfr_mul_d(ref_wide, ref_wide, x, MPFR_RNDN);
        mpfr_div_2ui(ref_wide, ref_wide, 1, MPFR_RNDN);
    }
}

/* Enough bits to see how far a result is from a tie: sigmoid(x) = 1/2 + x/4 - x^3/48 needs 3 * 52 + 6, and gelu(x) =
 * x/2 + 0.4 x^2 as many as x has zeros after the point. */
static inline mpfr_prec_t ref_fn_bits(double x)
{
    return 240 + (fabs(x) < 0x1p-40 && x != 0 ? -2 * ilogb(x) : 0);
}

static inline double ref_round_wide(const rung_fmt *fmt)
{
    if (fmt->kind == RUNG_FMT_FIXED) {
        if (mpfr_nan_p(ref_wide)) return NAN;
        mpfr_mul_2si(ref_wide, ref_wide, fmt->fraction_bits, MPFR_RNDN);
        mpfr_roundeven(ref_wide, ref_wide);
        const double limit = ldexp(1, fmt->integer_bits + fmt->fraction_bits);
        if (mpfr_cmp_d(ref_wide, limit) >= 0) return ldexp(limit - 1, -fmt->fraction_bits);
        if (mpfr_cmp_d(ref_wide, -limit) <= 0) return ldexp(-limit, -fmt->fraction_bits);
        return ldexp(mpfr_get_d(ref_wide, MPFR_RNDN), -fmt->fraction_bits) + 0.0;
    }
    mpfr_set_prec(ref_z, fmt->mantissa_bits + 1);
    ref_set_range(fmt);
    const int ternary = mpfr_set(ref_z, ref_wide, MPFR_RNDN);
    const int range = mpfr_check_range(ref_z, ternary, MPFR_RNDN);
    mpfr_subnormalize(ref_z, range, MPFR_RNDN);
    const double out = mpfr_get_d(ref_z, MPFR_RNDN);
    ref_end();
    return out;
}

/* Outside ref_begin and ref_end. */
static inline double ref_fn(const rung_fmt *fmt, rung_fn fn, double x)
{
    if (fn == RUNG_FN_GELU && x == -INFINITY) return fmt->kind == RUNG_FMT_FIXED ? 0.0 : -0.0;
    ref_wide_fn(fn, x, ref_fn_bits(x));
    return ref_round_wide(fmt);
}

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static inline uint64_t ref_mantissa(rung_rng *rng, int bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1, random = rung_rng_u64(rng) & mask;
    const uint64_t one = UINT64_C(1) << rung_rng_below(rng, (uint64_t)bits);
    switch (rung_rng_below(rng, 8)) {
    case 0:
        return 0;
    case 1:
        return mask;
    case 2:
        return one;
    case 3:
        return mask ^ one;
    case 4:
        return (one - 1) & mask;
    case 5:
        return (mask ^ (one - 1)) & mask;
    default:
        return random;
    }
}

/* An exponent field: anywhere, at either end, around one, or around `near` (which makes ties of sums, products at the
 * edge of the subnormals, and so on, when the caller passes the right field). */
static inline int ref_exponent(rung_rng *rng, const rung_fmt *fmt, int near)
{
    const int top = (1 << fmt->exponent_bits) - 1, spread = fmt->mantissa_bits + 3;
    int e;
    switch (rung_rng_below(rng, 8)) {
    case 0:
        e = (int)rung_rng_below(rng, 3);
        break;
    case 1:
        e = top - (int)rung_rng_below(rng, 4);
        break;
    case 2:
        e = top / 2 + (int)rung_rng_below(rng, 9) - 4;
        break;
    case 3:
        e = (int)rung_rng_below(rng, (uint64_t)top + 1);
        break;
    default:
        e = near + (int)rung_rng_below(rng, (uint64_t)(2 * spread + 1)) - spread;
        break;
    }
    return e < 0 ? 0 : e > top ? top : e;
}

static inline double ref_draw_float(rung_rng *rng, const rung_fmt *fmt, int near, int *exponent)
{
    *exponent = ref_exponent(rng, fmt, near);
    const bool infinite = *exponent == (1 << fmt->exponent_bits) - 1;
    const uint64_t mantissa = infinite ? 0 : ref_mantissa(rng, fmt->mantissa_bits);
    return ref_make_float(fmt, rung_rng_below(rng, 2), *exponent, mantissa);
}

static inline double ref_draw_fixed(rung_rng *rng, const rung_fmt *fmt)
{
    const int width = fmt->integer_bits + fmt->fraction_bits;
    const int used = 1 + (int)rung_rng_below(rng, (uint64_t)width);
    uint64_t code = ref_mantissa(rng, used);
    if (rung_rng_below(rng, 2)) code = ~code + rung_rng_below(rng, 2);
    return ref_value(fmt, code & ((UINT64_C(2) << width) - 1));
}

/* Two operands that hurt: for sums near exponents, for products a sum of exponents at the end of the range, for
 * quotients a difference there. */
static inline void ref_draw(rung_rng *rng, const rung_fmt *fmt, ref_op op, double *a, double *b)
{
    if (fmt->kind == RUNG_FMT_FIXED) {
        *a = ref_draw_fixed(rng, fmt);
        *b = ref_draw_fixed(rng, fmt);
        return;
    }
    const int bias = ref_bias(fmt), top = 2 * bias;
    const int edge = rung_rng_below(rng, 2) ? 0 : top;
    int e;
    *a = ref_draw_float(rng, fmt, bias, &e);
    const int near = op == REF_MUL ? edge + bias - e : op == REF_DIV ? e + bias - edge : e;
    *b = ref_draw_float(rng, fmt, near, &e);
}

/* A format: all of them, floats and short fixed point more often than long fixed point. */
static inline rung_fmt ref_draw_format(rung_rng *rng)
{
    const uint64_t kind = rung_rng_below(rng, 16);
    if (kind == 0) return ref_format("f64");
    if (kind < 11) return ref_float(2 + (int)rung_rng_below(rng, 10), 1 + (int)rung_rng_below(rng, 25));
    const int width = 1 + (int)rung_rng_below(rng, kind < 14 ? 26 : 52);
    const int integer_bits = (int)rung_rng_below(rng, (uint64_t)width + 1);
    return ref_fixed(integer_bits, width - integer_bits);
}

/* ---- how much ---------------------------------------------------------------------------------------------------- */

/* Calls check(format, count, rng) over all formats in batches that add up to `total`, or, when RUNG_SOAK is set, with
 * `total` for every format (RUNG_SOAK=1) or for the one that it names. */
static inline void ref_over_formats(void (*check)(const rung_fmt *, size_t, rung_rng *, int), int what, size_t total)
{
    const char *soak = getenv("RUNG_SOAK");
    rung_rng rng;
    rung_rng_init(&rng, 20, 24, (uint64_t)what);
    rung_fmt fmt;
    if (soak == NULL || *soak == '\0' || strcmp(soak, "0") == 0) {
        const size_t batch = 2000;
        for (size_t done = 0; done < total / effort(1, 25); done += batch) {
            fmt = ref_draw_format(&rng);
            check(&fmt, batch, &rng, what);
        }
        return;
    }
    if (strcmp(soak, "1") != 0) {
        fmt = ref_format(soak);
        check(&fmt, total, &rng, what);
        return;
    }
    fmt = ref_format("f64");
    check(&fmt, total, &rng, what);
    for (int x = 2; x <= 11; x++)
        for (int y = 1; y <= 25; y++) {
            fmt = ref_float(x, y);
            check(&fmt, total, &rng, what);
        }
    for (int i = 0; i <= 52; i++)
        for (int f = i == 0; i + f <= 52; f++) {
            fmt = ref_fixed(i, f);
            check(&fmt, total, &rng, what);
        }
}

#endif
