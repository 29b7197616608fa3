/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Random operands for + - * / sqrt and for rounding itself, ten million of each over all formats, against MPFR and
 * GMP. RUNG_SOAK=1 takes as many for every format; RUNG_SOAK=e8m3 for that one.
 */
#include "num/reference.h"

#define PER_OPERATION 10000000

static void check_op(const rung_fmt *fmt, size_t count, rung_rng *rng, int op)
{
    ref_begin(fmt);
    for (size_t i = 0; i < count; i++) {
        double a, b;
        ref_draw(rng, fmt, (ref_op)op, &a, &b);
        const double got = lib_arith(fmt, (ref_op)op, a, b), want = ref_arith(fmt, (ref_op)op, a, b);
        if (!ref_same(got, want)) fail_msg("%s: %a %s %a = %a, not %a", fmt->name, a, REF_OP_NAME[op], b, want, got);
    }
    ref_end();
}

/* A double near a value or a midpoint of the format, or any double. */
static double draw_double(const rung_fmt *fmt, rung_rng *rng)
{
    if (rung_rng_below(rng, 4) == 0) {
        const uint64_t bits = rung_rng_u64(rng);
        double x;
        memcpy(&x, &bits, sizeof x);
        return isnan(x) ? 0 : x;
    }
    double a, b;
    ref_draw(rng, fmt, REF_ADD, &a, &b);
    if (isinf(a)) return a;
    const double step = fmt->kind == RUNG_FMT_FIXED || fabs(a) < fmt->least_normal
                            ? fmt->spacing
                            : ldexp(1, ilogb(a) - fmt->mantissa_bits);
    double x = a + step * 0.25 * (double)rung_rng_below(rng, 5);
    for (uint64_t ulps = rung_rng_below(rng, 3); ulps > 0; ulps--)
        x = nextafter(x, rung_rng_below(rng, 2) ? 1e308 : -1e308);
    return x;
}

static void check_round(const rung_fmt *fmt, size_t count, rung_rng *rng, int unused)
{
    (void)unused;
    for (size_t i = 0; i < count; i++) {
        const double x = draw_double(fmt, rng);
        if (fmt->kind == RUNG_FMT_FLOAT && isinf(x)) continue;
        mpfr_set_prec(ref_wide, 53);
        mpfr_set_d(ref_wide, x, MPFR_RNDN);
        const double got = rung_num_round(fmt, x), want = ref_round_wide(fmt);
        if (!ref_same(got, want)) fail_msg("%s: round(%a) = %a, not %a", fmt->name, x, want, got);
        if (rung_num_is_value(fmt, x) != ref_same(x, want)) fail_msg("%s: is_value(%a) is wrong", fmt->name, x);
    }
}

static void sums_are_the_nearest_values(void **state)
{
    (void)state;
    ref_over_formats(check_op, REF_ADD, PER_OPERATION);
}

static void differences_are_the_nearest_values(void **state)
{
    (void)state;
    ref_over_formats(check_op, REF_SUB, PER_OPERATION);
}

static void products_are_the_nearest_values(void **state)
{
    (void)state;
    ref_over_formats(check_op, REF_MUL, PER_OPERATION);
}

static void quotients_are_the_nearest_values(void **state)
{
    (void)state;
    ref_over_formats(check_op, REF_DIV, PER_OPERATION);
}

static void square_roots_are_the_nearest_values(void **state)
{
    (void)state;
    ref_over_formats(check_op, REF_SQRT, PER_OPERATION);
}

static void rounding_takes_the_nearest_value_and_ties_to_even(void **state)
{
    (void)state;
    ref_over_formats(check_round, REF_OP_COUNT, PER_OPERATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_nearest_values),
        cmocka_unit_test(differences_are_the_nearest_values),
        cmocka_unit_test(products_are_the_nearest_values),
        cmocka_unit_test(quotients_are_the_nearest_values),
        cmocka_unit_test(square_roots_are_the_nearest_values),
        cmocka_unit_test(rounding_takes_the_nearest_value_and_ties_to_even),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
