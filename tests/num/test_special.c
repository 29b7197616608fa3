/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The places where a plausible implementation is wrong: traps of double rounding, special values, the compiler, the
 * error bounds of the quick phase, dot products, threads.
 */
#include <malloc.h>
#include <threads.h>

#include "../../src/num/exp.h"
#include "num/reference.h"

/* ---- traps of double rounding ------------------------------------------------------------------------------------ */

/* Exact: 2^27 - 1 - 2^-28 - ..., below the midpoint 2^27 - 1; a double is the midpoint itself, which goes up. */
static void sqrt_at_25_mantissa_bits_is_not_rounded_twice(void **state)
{
    (void)state;
    for (int x = 7; x <= 11; x++) {
        const rung_fmt fmt = ref_float(x, 25);
        const double a = (0x1p26 - 1) * 0x1p28;
        assert_true(rung_num_is_value(&fmt, a));
        assert_true(rung_num_round(&fmt, sqrt(a)) == 0x1p27);
        assert_true(rung_num_fn(&fmt, RUNG_FN_SQRT, a) == 0x1p27 - 2);
    }
}

/* Exact: (1.5 - 12 * 2^-51) units of 2^-1047; the double in between has lost the 12 and is a tie, which goes to 2. */
static void product_below_the_double_range_is_not_rounded_twice(void **state)
{
    (void)state;
    const rung_fmt fmt = ref_format("e11m25");
    for (int split = 500; split <= 598; split++) {
        const double a = ldexp(3 * 0x1p24 + 3, -split), b = ldexp(0x1p26 - 4, split - 1098);
        assert_true(rung_num_is_value(&fmt, a) && rung_num_is_value(&fmt, b));
        assert_true(rung_num_round(&fmt, a * b) == 0x1p-1046);
        assert_true(rung_num_mul(&fmt, a, b) == 0x1p-1047);
        assert_true(rung_num_mul(&fmt, b, a) == 0x1p-1047);
        assert_true(rung_num_mul(&fmt, -a, b) == -0x1p-1047);
    }
}

/* Every odd subnormal over a divisor just above or below 2^k, in e11mY: against MPFR. */
static void quotients_below_the_double_range_are_the_nearest_values(void **state)
{
    (void)state;
    for (int y = 20; y <= 25; y++) {
        const rung_fmt fmt = ref_float(11, y);
        ref_begin(&fmt);
        for (int units = 1; units < 400; units++)
            for (int k = 0; k < 40; k++)
                for (int side = -1; side <= 1; side++) {
                    const double a = ldexp(2 * units + 1, k - 1022 - y), b = ldexp(1, k + 1) * (1 + ldexp(side, 1 - y));
                    const double got = rung_num_div(&fmt, a, b), want = ref_float_arith(REF_DIV, a, b);
                    if (!ref_same(got, want)) fail_msg("%s: %a / %a = %a, not %a", fmt.name, a, b, want, got);
                }
        ref_end();
    }
}

/* Fixed point between 27 and 52 bits, where a product does not fit into a double: the largest ties. */
static void long_fixed_point_products_are_exact(void **state)
{
    (void)state;
    for (int width = 27; width <= 52; width++) {
        const rung_fmt fmt = ref_fixed(0, width);
        const double unit = ldexp(1, -width), a = 1 - unit, half = 0.5;
        assert_true(rung_num_mul(&fmt, a, a) == 1 - 2 * unit); /* (2^w - 1)^2 / 2^w = 2^w - 2 + 2^-w */
        assert_true(rung_num_mul(&fmt, a, half) == half);      /* a tie between 2^(w-1) - 1 and 2^(w-1) */
        assert_true(rung_num_mul(&fmt, -a, half) == -half);
        assert_true(rung_num_mul(&fmt, -1, -1) == a);
    }
}

/* ---- the compiler ------------------------------------------------------------------------------------------------ */

/* Volatile, so that nothing is computed while compiling. */
static void compiler_does_not_turn_rounding_into_the_identity(void **state)
{
    (void)state;
    volatile double x = 1 + 0x1p-20, magic = 0x1.8p52;
    double y = x + magic;
    y = y - magic;
    assert_true(y == 1);
    volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30, c = -1;
    const double product = a * b;
    assert_true(product + c == 0); /* contracted to an fma it would be -2^-60 */
    const char *const names[] = {"bf16", "f32", "e11m25", "q3.12"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt fmt = ref_format(names[i]);
        for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
            double third[9], sum[9] = {0};
            for (int k = 0; k < 9; k++) third[k] = (double)(k % 8 + 1) / 3;
            double out[9];
            rung_num_kernels_of((rung_isa)isa)->round(&fmt, out, third, 9);
            rung_num_kernels_of((rung_isa)isa)->mul_add(&fmt, sum, out, out, 9);
            for (int k = 0; k < 9; k++) {
                assert_true((out[k] != third[k]) == ((k % 8 + 1) % 3 != 0));
                assert_true((sum[k] != out[k] * out[k]) == ((k % 8 + 1) % 3 != 0));
            }
        }
    }
}

/* ---- special values ---------------------------------------------------------------------------------------------- */

static void infinities_and_zeros_follow_ieee(void **state)
{
    (void)state;
    const char *const names[] = {"f64", "f32", "e4m3", "e11m25", "e11m1"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt f = ref_format(names[i]);
        assert_true(isnan(rung_num_sub(&f, INFINITY, INFINITY)));
        assert_true(isnan(rung_num_mul(&f, 0, INFINITY)) && isnan(rung_num_mul(&f, INFINITY, -0.0)));
        assert_true(isnan(rung_num_div(&f, 0, 0)) && isnan(rung_num_div(&f, INFINITY, INFINITY)));
        assert_true(rung_num_div(&f, 1, 0) == INFINITY && rung_num_div(&f, 1, -0.0) == -INFINITY);
        assert_true(ref_same(rung_num_div(&f, -f.largest, INFINITY), -0.0));
        assert_true(ref_same(rung_num_mul(&f, f.largest, -0.0), -0.0));
        assert_true(ref_same(rung_num_mul(&f, f.spacing, -f.spacing),
                             f.is_f64 ? -0.0 : rung_num_round(&f, -f.spacing * f.spacing)));
        assert_true(rung_num_add(&f, f.largest, f.largest) == INFINITY);
        assert_true(rung_num_mul(&f, -f.largest, f.largest) == -INFINITY);
        assert_true(ref_same(rung_num_add(&f, 1, -1), 0.0) && ref_same(rung_num_add(&f, -0.0, -0.0), -0.0));
    }
}

static void fixed_point_saturates_and_has_one_zero(void **state)
{
    (void)state;
    const char *const names[] = {"q3.12", "q0.7", "q20.20", "q0.52", "q52.0"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt f = ref_format(names[i]);
        assert_true(rung_num_add(&f, f.largest, f.largest) == f.largest);
        assert_true(rung_num_sub(&f, f.smallest, f.largest) == f.smallest);
        assert_true(rung_num_round(&f, INFINITY) == f.largest && rung_num_round(&f, -INFINITY) == f.smallest);
        assert_true(ref_same(rung_num_round(&f, -0.0), 0.0));
        assert_true(ref_same(rung_num_round(&f, -f.spacing / 4), 0.0));
        assert_true(ref_same(rung_num_mul(&f, -f.spacing, 0), 0.0) && ref_same(rung_num_div(&f, 0, -f.spacing), 0.0));
        assert_false(rung_num_is_value(&f, -0.0));
        assert_true(isnan(rung_num_div(&f, f.largest, 0)) && isnan(rung_num_div(&f, 0, 0)));
        assert_true(rung_num_fn(&f, RUNG_FN_LOG, 0) == f.smallest);
        assert_true(isnan(rung_num_fn(&f, RUNG_FN_LOG, -f.spacing)) &&
                    isnan(rung_num_fn(&f, RUNG_FN_SQRT, -f.spacing)));
        assert_true(isnan(rung_num_add(&f, NAN, 0)) && isnan(rung_num_mul(&f, 0, NAN)) &&
                    isnan(rung_num_round(&f, NAN)));
    }
}

/* A NaN from a file may have any payload; adding half a unit to it as an integer can make a zero of it. */
static void nan_survives_rounding_with_any_payload(void **state)
{
    (void)state;
    const uint64_t payloads[] = {0x7ff8000000000000, 0x7fffffffffffffff, 0xffffffffffffffff, 0x7ff0000000000001};
    const char *const names[] = {"f64", "f32", "e2m1", "e10m25", "e11m25", "e11m1", "q3.12", "q20.20"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt fmt = ref_format(names[i]);
        for (size_t k = 0; k < RUNG_COUNT(payloads); k++) {
            double x[9], out[9];
            for (size_t lane = 0; lane < 9; lane++) memcpy(&x[lane], &payloads[k], sizeof x[lane]);
            assert_true(isnan(rung_num_round(&fmt, x[0])) && isnan(rung_num_add(&fmt, 1, x[0])));
            for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
                rung_num_kernels_of((rung_isa)isa)->round(&fmt, out, x, 9);
                for (size_t lane = 0; lane < 9; lane++) assert_true(isnan(out[lane]));
            }
        }
    }
}

typedef struct known {
    rung_fn fn;
    double x, value;
} known;

static void functions_have_their_limits(void **state)
{
    (void)state;
    const known table[] = {
        {RUNG_FN_SQRT, -0.0, -0.0},
        {RUNG_FN_SQRT, INFINITY, INFINITY},
        {RUNG_FN_SQRT, -1, NAN},
        {RUNG_FN_EXP, -0.0, 1},
        {RUNG_FN_EXP, 0, 1},
        {RUNG_FN_EXP, -INFINITY, 0},
        {RUNG_FN_EXP, INFINITY, INFINITY},
        {RUNG_FN_LOG, 1, 0},
        {RUNG_FN_LOG, 0, -INFINITY},
        {RUNG_FN_LOG, -0.0, -INFINITY},
        {RUNG_FN_LOG, -1, NAN},
        {RUNG_FN_LOG, INFINITY, INFINITY},
        {RUNG_FN_TANH, -0.0, -0.0},
        {RUNG_FN_TANH, -INFINITY, -1},
        {RUNG_FN_TANH, INFINITY, 1},
        {RUNG_FN_SIGMOID, -0.0, 0.5},
        {RUNG_FN_SIGMOID, INFINITY, 1},
        {RUNG_FN_SIGMOID, -INFINITY, 0},
        {RUNG_FN_SOFTPLUS, -INFINITY, 0},
        {RUNG_FN_SOFTPLUS, INFINITY, INFINITY},
        {RUNG_FN_GELU, -0.0, -0.0},
        {RUNG_FN_GELU, 0, 0},
        {RUNG_FN_GELU, INFINITY, INFINITY},
        {RUNG_FN_GELU, -INFINITY, -0.0},
        {RUNG_FN_EXP, NAN, NAN},
        {RUNG_FN_GELU, NAN, NAN},
        {RUNG_FN_LOG, -INFINITY, NAN},
        {RUNG_FN_SQRT, -INFINITY, NAN},
    };
    const char *const names[] = {"f64", "bf16", "e2m1", "e10m25", "e11m25"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt fmt = ref_format(names[i]);
        for (size_t t = 0; t < RUNG_COUNT(table); t++) {
            const double got = rung_num_fn(&fmt, table[t].fn, table[t].x);
            if (!ref_same(got, table[t].value))
                fail_msg("%s: %s(%a) = %a, not %a", fmt.name, rung_fn_name(table[t].fn), table[t].x, table[t].value,
                         got);
        }
    }
}

/* Arguments that only the slow phase can decide, and the ends of the range of e11mY and f64. */
static void hard_arguments_are_decided_by_more_bits(void **state)
{
    (void)state;
    const char *const names[] = {"f64", "f32", "e11m25", "e10m25", "e11m3", "q0.52", "q10.42", "q20.6"};
    const double sizes[] = {0x1p-1074, 3 * 0x1p-1047, 0x1p-1022, 0x1p-600, 0x1p-535, 0x1p-149, 0x1p-53,
                            0x1p-52,   0x1p-27,       0x1p-26,   0x1p-24,  0x1p-12,  700.5,    708.4,
                            709.7,     709.79,        720,       745.1,    745.2,    790,      801,
                            0x1p20,    0x1p100,       0x1p1000,  37.5,     38.6,     27};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt fmt = ref_format(names[i]);
        for (size_t s = 0; s < 2 * RUNG_COUNT(sizes); s++)
            for (int fn = RUNG_FN_EXP; fn < RUNG_FN_COUNT; fn++) {
                const double x = rung_num_round(&fmt, s % 2 ? -sizes[s / 2] : sizes[s / 2]);
                if (isinf(x) || x == 0) continue;
                const double got = rung_num_fn(&fmt, (rung_fn)fn, x), want = ref_fn(&fmt, (rung_fn)fn, x);
                if (!ref_same(got, want))
                    fail_msg("%s: %s(%a) = %a, not %a", fmt.name, rung_fn_name((rung_fn)fn), x, want, got);
            }
    }
}

/* ---- error bounds ------------------------------------------------------------------------------------------------ */

static double draw_exponent(rung_rng *rng)
{
    const double wide = (2 * rung_rng_unit(rng) - 1) * EXP_RANGE, k = (double)rung_rng_below(rng, 2000) - 1000;
    const uint64_t kind = rung_rng_below(rng, 4);
    /* around odd multiples of ln 2 / 2, where the reduced argument is largest; around multiples, where it is least */
    const double x = kind == 0   ? wide
                     : kind == 1 ? wide / 1000
                                 : (k + 0.5 * (double)(kind == 2)) * 0x1.62e42fefa39efp-1;
    return fabs(x) <= EXP_RANGE ? x : wide;
}

/* log2 of the relative difference between hi + lo and e^x / power. */
static double error_bits(double hi, double lo, double power, double x)
{
    mpfr_set_prec(ref_wide, 200);
    mpfr_set_prec(ref_wide_two, 200);
    mpfr_set_d(ref_wide, x, MPFR_RNDN);
    mpfr_exp(ref_wide, ref_wide, MPFR_RNDN);
    mpfr_div_d(ref_wide, ref_wide, power, MPFR_RNDN);
    mpfr_set_d(ref_wide_two, hi, MPFR_RNDN);
    mpfr_add_d(ref_wide_two, ref_wide_two, lo, MPFR_RNDN);
    mpfr_sub(ref_wide_two, ref_wide_two, ref_wide, MPFR_RNDN);
    mpfr_div(ref_wide, ref_wide_two, ref_wide, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(ref_wide, MPFR_RNDN));
    return error == 0 ? -200 : log2(error);
}

static void quick_exp_keeps_its_error_bounds(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 3, 1, 4);
    double worst_quick = -200, worst_double = -200;
    for (size_t i = 0; i < effort(400000, 16000); i++) {
        const double x = draw_exponent(&rng);
        double power;
        const pair value = exp_double(&power, x);
        worst_quick = fmax(worst_quick, error_bits(exp_quick(x), 0, 1, x));
        worst_double = fmax(worst_double, error_bits(value.hi, value.lo, power, x));
    }
    if (worst_quick > -50.4) fail_msg("exp_quick is off by 2^%.2f, its proof says 2^-50.4", worst_quick);
    if (worst_double > -80) fail_msg("exp_double is off by 2^%.2f, its proof says 2^-80", worst_double);
    assert_true(EXP_QUICK_ERROR >= 2 * exp2(-50.4) && EXP_DOUBLE_ERROR >= 16 * exp2(-80));
}

/* libm is trusted to 2^-43 in the quick phase; this says how good it is here. */
static void libm_is_better_than_what_is_trusted(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 3, 1, 5);
    for (size_t i = 0; i < effort(40000, 1600); i++) {
        const double x = rung_rng_normal(&rng) * exp2((double)rung_rng_below(&rng, 30) - 20);
        for (int fn = RUNG_FN_LOG; fn < RUNG_FN_COUNT; fn++) {
            if (fn == RUNG_FN_SIGMOID || (fn == RUNG_FN_LOG && x <= 0) || fabs(x) > 37) continue;
            const double e = exp_quick(-fabs(x));
            const double got = fn == RUNG_FN_LOG        ? log(x)
                               : fn == RUNG_FN_TANH     ? tanh(x)
                               : fn == RUNG_FN_SOFTPLUS ? fmax(x, 0) + log1p(e)
                                                        : 0.5 * x * erfc(x * -0x1.6a09e667f3bcdp-1);
            ref_wide_fn((rung_fn)fn, x, 200);
            const double error = fabs((got - mpfr_get_d(ref_wide, MPFR_RNDN)) / got);
            if (error > (fn == RUNG_FN_GELU ? 0x1p-41 : 0x1p-48))
                fail_msg("%s(%a) is off by %a", rung_fn_name((rung_fn)fn), x, error);
        }
    }
}

/* ---- dot --------------------------------------------------------------------------------------------------------- */

static void dot_rounds_every_product_and_every_partial_sum_in_order(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 8, 8, 8);
    for (int round = 0; round < 400; round++) {
        const rung_fmt fmt = ref_draw_format(&rng);
        double a[33], b[33];
        const size_t n = rung_rng_below(&rng, 34);
        for (size_t k = 0; k < n; k++) {
            ref_draw(&rng, &fmt, REF_MUL, &a[k], &b[k]);
            if (fmt.kind == RUNG_FMT_FLOAT && rung_rng_below(&rng, 8)) {
                a[k] = rung_num_round(&fmt, rung_rng_normal(&rng));
                b[k] = rung_num_round(&fmt, rung_rng_normal(&rng));
            }
        }
        double want = 0;
        ref_begin(&fmt);
        for (size_t k = 0; k < n; k++) {
            const double product = ref_arith(&fmt, REF_MUL, a[k], b[k]);
            want = isnan(product) || isnan(want) ? NAN : ref_arith(&fmt, REF_ADD, want, product);
        }
        ref_end();
        assert_true(ref_same(rung_num_dot(&fmt, a, b, n), want));
    }
}

static void find_nan_gives_the_first_one(void **state)
{
    (void)state;
    double x[100] = {0};
    x[3] = INFINITY, x[5] = -0.0;
    assert_true(rung_num_find_nan(x, 100) == SIZE_MAX && rung_num_find_nan(x, 0) == SIZE_MAX);
    x[99] = NAN;
    assert_true(rung_num_find_nan(x, 100) == 99 && rung_num_find_nan(x, 99) == SIZE_MAX);
    x[42] = -NAN;
    assert_true(rung_num_find_nan(x, 100) == 42);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static int slow_sum(void *out)
{
    const rung_fmt fmt = ref_format("f64");
    double sum = 0;
    for (int i = 1; i < 300; i++) sum += rung_num_fn(&fmt, RUNG_FN_GELU, i / 37.0) + rung_num_fn(&fmt, RUNG_FN_LOG, i);
    *(double *)out = sum;
    return 0;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    assert_true(mpfr_buildopt_tls_p());
    double want, got[4];
    slow_sum(&want);
    thrd_t thread[4];
    for (int i = 0; i < 4; i++) assert_int_equal(thrd_create(&thread[i], slow_sum, &got[i]), thrd_success);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(thrd_join(thread[i], NULL), thrd_success);
        assert_true(got[i] == want);
    }
}

/* MPFR's caches of a thread are about 800 bytes; the leak checker of the sanitizers does not see them. */
static void threads_give_their_caches_back(void **state)
{
    (void)state;
    double unused;
    slow_sum(&unused);
    size_t before = 0;
    for (int i = 0; i < 60; i++) {
        thrd_t thread;
        assert_int_equal(thrd_create(&thread, slow_sum, &unused), thrd_success);
        assert_int_equal(thrd_join(thread, NULL), thrd_success);
        if (i == 9) before = mallinfo2().uordblks; /* the first threads make arenas and stacks that stay */
    }
    assert_true(mallinfo2().uordblks < before + 50 * 100);
}

/* The range of exponents that a caller has set for its own use of MPFR is neither used nor lost. */
static void exponent_range_of_the_caller_is_kept(void **state)
{
    (void)state;
    const rung_fmt fmt = ref_format("f64");
    const double want = rung_num_fn(&fmt, RUNG_FN_LOG, 1e300);
    mpfr_set_emin(-3);
    mpfr_set_emax(3);
    const double got = rung_num_fn(&fmt, RUNG_FN_LOG, 1e300);
    assert_true(mpfr_get_emin() == -3 && mpfr_get_emax() == 3);
    ref_end();
    assert_true(got == want && got > 690);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sqrt_at_25_mantissa_bits_is_not_rounded_twice),
        cmocka_unit_test(product_below_the_double_range_is_not_rounded_twice),
        cmocka_unit_test(quotients_below_the_double_range_are_the_nearest_values),
        cmocka_unit_test(long_fixed_point_products_are_exact),
        cmocka_unit_test(compiler_does_not_turn_rounding_into_the_identity),
        cmocka_unit_test(infinities_and_zeros_follow_ieee),
        cmocka_unit_test(fixed_point_saturates_and_has_one_zero),
        cmocka_unit_test(nan_survives_rounding_with_any_payload),
        cmocka_unit_test(functions_have_their_limits),
        cmocka_unit_test(hard_arguments_are_decided_by_more_bits),
        cmocka_unit_test(quick_exp_keeps_its_error_bounds),
        cmocka_unit_test(libm_is_better_than_what_is_trusted),
        cmocka_unit_test(dot_rounds_every_product_and_every_partial_sum_in_order),
        cmocka_unit_test(find_nan_gives_the_first_one),
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(threads_give_their_caches_back),
        cmocka_unit_test(exponent_range_of_the_caller_is_kept),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
