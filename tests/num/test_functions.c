/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ten million random arguments for each function, over all formats. MPFR would need hours for that, so the reference
 * is long double where its error bound leaves no doubt, and MPFR where it does, in every 256th case anyway, and on
 * machines whose long double is no wider than double. Formats whose precision only MPFR can decide (f64 and fixed
 * point beyond 26 bits) take a hundredth of their share. RUNG_SOAK as in test_arith.
 */
#include <float.h>

#include "num/reference.h"

#define PER_FUNCTION 10000000

/* A thousand units in the last place of the 64-bit mantissa of x87, and where e^x is known to lose more (erfc far
 * out), 2^-48. */
static long double wide_error(rung_fn fn)
{
    return fn == RUNG_FN_GELU ? 0x1p-48L : 0x1p-54L;
}

static long double wide_value(rung_fn fn, long double x)
{
    switch (fn) {
    case RUNG_FN_EXP:
        return expl(x);
    case RUNG_FN_LOG:
        return logl(x);
    case RUNG_FN_TANH:
        return tanhl(x);
    case RUNG_FN_SIGMOID:
        return 1 / (1 + expl(-x));
    case RUNG_FN_SOFTPLUS:
        return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
    default:
        return x / 2 * erfcl(-x * 0.707106781186547524400844362104849039L);
    }
}

/* Round to nearest even by scaling the unit of the format to one. */
static double round_wide(const rung_fmt *fmt, long double v)
{
    if (fmt->kind == RUNG_FMT_FIXED) {
        const long double limit = ldexpl(1, fmt->integer_bits + fmt->fraction_bits);
        long double units = rintl(ldexpl(v, fmt->fraction_bits));
        if (units > limit - 1) units = limit - 1;
        if (units < -limit) units = -limit;
        return (double)ldexpl(units, -fmt->fraction_bits) + 0.0;
    }
    if (v == 0 || !isfinite(v)) return (double)v;
    const int bias = ref_bias(fmt), least = 1 - bias - fmt->mantissa_bits;
    int unit = ilogbl(v) - fmt->mantissa_bits;
    if (unit < least) unit = least;
    const long double out = ldexpl(rintl(ldexpl(v, -unit)), unit);
    return fabsl(out) >= ldexpl(1, bias + 1) ? copysign(INFINITY, (double)v) : (double)out;
}

static bool only_mpfr_knows(const rung_fmt *fmt)
{
    return fmt->is_f64 || fmt->integer_bits + fmt->fraction_bits > 26 || LDBL_MANT_DIG < 64;
}

static double reference(const rung_fmt *fmt, rung_fn fn, double x, size_t i)
{
    if (only_mpfr_knows(fmt) || i % 256 == 0 || x == 0 || isinf(x)) return ref_fn(fmt, fn, x);
    const long double v = wide_value(fn, x), margin = v * wide_error(fn);
    const double low = round_wide(fmt, v - margin);
    return ref_same(low, round_wide(fmt, v + margin)) ? low : ref_fn(fmt, fn, x);
}

/* Arguments where the function is neither trivial nor out of range are a small part of a wide format: half of them
 * are drawn from [-32, 32] or around zero. */
static double draw_argument(const rung_fmt *fmt, rung_fn fn, rung_rng *rng)
{
    double x, unused;
    ref_draw(rng, fmt, REF_ADD, &x, &unused);
    if (fmt->kind == RUNG_FMT_FLOAT && rung_rng_below(rng, 2)) {
        int exponent = ref_bias(fmt) + 5 - (int)rung_rng_below(rng, 12);
        const int top = 2 * ref_bias(fmt);
        exponent = exponent < 0 ? 0 : exponent > top ? top : exponent;
        x = ref_make_float(fmt, rung_rng_below(rng, 2), exponent, ref_mantissa(rng, fmt->mantissa_bits));
    }
    return fn == RUNG_FN_LOG && rung_rng_below(rng, 16) ? fabs(x) : x;
}

static void check_fn(const rung_fmt *fmt, size_t count, rung_rng *rng, int fn)
{
    if (only_mpfr_knows(fmt)) count = count / 100 + 1;
    for (size_t i = 0; i < count; i++) {
        double x = draw_argument(fmt, (rung_fn)fn, rng);
        if (fmt->kind == RUNG_FMT_FIXED && x > fmt->largest) x = fmt->largest; /* |smallest| */
        const double got = rung_num_fn(fmt, (rung_fn)fn, x), want = reference(fmt, (rung_fn)fn, x, i);
        if (!ref_same(got, want))
            fail_msg("%s: %s(%a) = %a, not %a", fmt->name, rung_fn_name((rung_fn)fn), x, want, got);
    }
}

static void exp_is_the_nearest_value(void **state)
{
    (void)state;
    ref_over_formats(check_fn, RUNG_FN_EXP, PER_FUNCTION);
}

static void log_is_the_nearest_value(void **state)
{
    (void)state;
    ref_over_formats(check_fn, RUNG_FN_LOG, PER_FUNCTION);
}

static void tanh_is_the_nearest_value(void **state)
{
    (void)state;
    ref_over_formats(check_fn, RUNG_FN_TANH, PER_FUNCTION);
}

static void sigmoid_is_the_nearest_value(void **state)
{
    (void)state;
    ref_over_formats(check_fn, RUNG_FN_SIGMOID, PER_FUNCTION);
}

static void softplus_is_the_nearest_value(void **state)
{
    (void)state;
    ref_over_formats(check_fn, RUNG_FN_SOFTPLUS, PER_FUNCTION);
}

static void gelu_is_the_nearest_value(void **state)
{
    (void)state;
    ref_over_formats(check_fn, RUNG_FN_GELU, PER_FUNCTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_the_nearest_value),      cmocka_unit_test(log_is_the_nearest_value),
        cmocka_unit_test(tanh_is_the_nearest_value),     cmocka_unit_test(sigmoid_is_the_nearest_value),
        cmocka_unit_test(softplus_is_the_nearest_value), cmocka_unit_test(gelu_is_the_nearest_value),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
