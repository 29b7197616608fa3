/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lanes of 64 bits of the attention kernel: all floats, fixed point; the exp of f64 with a table; and when the kernel
 * refuses.
 */
#include <math.h>
#include <stdint.h>

typedef double real;
typedef int64_t real_bits;
enum { REAL_MANTISSA = 52 };
#define LANES_NAME "double lanes"

static inline double real_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

#include "num/attend_ops.h"

static void biased_pairs_of_every_format(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 32, 0, 0);
    for (int X = 2; X <= 11; X++)
        for (int Y = 1; Y <= 25; Y++) {
            const rung_fmt fmt = ref_float(X, Y);
            biased_pairs(&fmt, effort(10000, 400), &rng);
        }
    for (int I = 0; I <= 50; I += 1 + I / 8)
        for (int F = I == 0; F <= 44 && I + F <= 50; F += 1 + F / 8) {
            const rung_fmt fmt = ref_fixed(I, F);
            biased_pairs(&fmt, effort(10000, 400), &rng);
        }
}

static void every_pair_of_the_small_formats(void **state)
{
    (void)state;
    const int most = SANITIZED ? 6 : 8;
    for (int a = 0; a <= most; a++)
        for (int b = 0; b <= most - a; b++) {
            if (a >= 2 && b >= 1) {
                const rung_fmt fmt = ref_float(a, b);
                all_pairs(&fmt);
            }
            if (a + b >= 1) {
                const rung_fmt fmt = ref_fixed(a, b);
                all_pairs(&fmt);
            }
        }
}

/* ---- exp of f64 ---------------------------------------------------------------------------------------------------- */

static void the_roots_are_those_of_mpfr(void **state)
{
    (void)state;
    mpfr_t x;
    mpfr_init2(x, 300);
    for (int i = 0; i < EXP_ROOTS; i++) {
        mpfr_set_si(x, i, MPFR_RNDN);
        mpfr_div_si(x, x, EXP_ROOTS, MPFR_RNDN);
        mpfr_exp2(x, x, MPFR_RNDN);
        assert_true(mpfr_get_d(x, MPFR_RNDN) == rung_exp_roots[2 * i]);
        mpfr_sub_d(x, x, rung_exp_roots[2 * i], MPFR_RNDN);
        assert_true(mpfr_get_d(x, MPFR_RNDN) == rung_exp_roots[2 * i + 1]);
    }
    mpfr_clear(x);
}

/* Both bounds before their last rounding are off by less than the margin: then low <= r(e^x) <= high, and few remain
 * undecided. The arguments: all sizes, and neighbours of multiples of (ln 2)/128 and of the middles between them. */
static void exp_with_roots_encloses_the_value(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 33, 0, 0);
    size_t undecided = 0, count = effort(400000, 16000);
    mpfr_t exact;
    mpfr_init2(exact, 200);
    for (size_t i = 0; i < count; i++) {
        double x = -ldexp(1 + rung_rng_unit(&rng), -30 + (int)rung_rng_below(&rng, 39));
        if (i % 3 == 0)
            x = -(double)rung_rng_below(&rng, 250000) * 0x1.62e42fefa39efp-9 * (1 + ldexp(rung_rng_normal(&rng), -50));
        if (i % 7 == 0) x = -x;
        if (fabs(x) > EXP_RANGE) continue;
        const exp_bounds got = exp_try_roots(x);
        mpfr_set_d(exact, x, MPFR_RNDN);
        mpfr_exp(exact, exact, MPFR_RNDN);
        const double nearest = mpfr_get_d(exact, MPFR_RNDN);
        if (!(got.low <= nearest && nearest <= got.high))
            fail_msg("exp(%a) is %a, not in [%a, %a]", x, nearest, got.low, got.high);
        undecided += got.low != got.high;
    }
    mpfr_clear(exact);
    if (undecided > count / 1000) fail_msg("%zu of %zu are undecided", undecided, count);
    assert_true(isnan(exp_try_roots(-701).high) && isnan(exp_try_roots(NAN).high)); /* left to the scalar function */
}

/* ---- when it is used ----------------------------------------------------------------------------------------------- */

enum { D = 3, ROWS = 5 };

typedef struct job_data {
    double q[D * RUNG_ATTEND_LANES], k[ROWS * D], v[ROWS * D], scratch[RUNG_ATTEND_SCRATCH(D, D)];
    double num[D * RUNG_ATTEND_LANES], den[RUNG_ATTEND_LANES];
} job_data;

static bool attend(job_data *d, const rung_fmt *fmt, const rung_num_kernels *kernels, bool two_pass)
{
    const rung_attend_run run = {d->k, d->v, D, D, ROWS, 0, RUNG_ATTEND_LANES};
    const rung_attend job = {D, D, RUNG_ATTEND_LANES, d->q, &run, 1, two_pass, d->scratch};
    return kernels->attend(fmt, d->num, d->den, &job);
}

static void fill(job_data *d, const rung_fmt *fmt)
{
    rung_rng rng;
    rung_rng_init(&rng, 34, 0, 0);
    for (size_t i = 0; i < RUNG_COUNT(d->q); i++) d->q[i] = rung_num_round(fmt, rung_rng_unit(&rng));
    for (size_t i = 0; i < RUNG_COUNT(d->k); i++) d->k[i] = rung_num_round(fmt, rung_rng_unit(&rng) - 0.5);
    for (size_t i = 0; i < RUNG_COUNT(d->v); i++) d->v[i] = rung_num_round(fmt, 0.25 + rung_rng_unit(&rng));
    memset(d->num, 0xab, sizeof d->num);
    memset(d->den, 0xab, sizeof d->den);
}

static void assert_untouched(const job_data *d)
{
    for (size_t i = 0; i < sizeof d->num; i++) assert_int_equal(((const unsigned char *)d->num)[i], 0xab);
    for (size_t i = 0; i < sizeof d->den; i++) assert_int_equal(((const unsigned char *)d->den)[i], 0xab);
}

/* Otherwise the comparisons with the step form elsewhere would compare the slow way with itself. */
static void ordinary_numbers_take_the_fast_way(void **state)
{
    (void)state;
    static const char *const names[] = {"f64",   "f32",   "bf16",   "f16",    "e4m3",  "e5m2",   "e3m3", "e8m10",
                                        "e8m25", "e4m20", "e10m25", "e11m25", "q3.12", "q20.30", "q0.7"};
    static job_data d;
    for (size_t f = 0; f < RUNG_COUNT(names); f++)
        for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
            const rung_fmt fmt = ref_format(names[f]);
            const rung_num_kernels *kernels = rung_num_kernels_of((rung_isa)isa);
            const bool needs_fma = !fmt.double_once_ok;
            fill(&d, &fmt);
            if (isa == RUNG_ISA_REF && needs_fma) continue;
            if (!attend(&d, &fmt, kernels, false) || !attend(&d, &fmt, kernels, true))
                fail_msg("%s on %s is refused", fmt.name, kernels->name);
        }
}

static void refuse(job_data *d, double *place, double value, const char *format, const char *what)
{
    const rung_fmt fmt = ref_format(format);
    for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
        fill(d, &fmt);
        const double before = *place;
        *place = value;
        if (attend(d, &fmt, rung_num_kernels_of((rung_isa)isa), false)) fail_msg("%s, %s is not refused", format, what);
        assert_untouched(d);
        *place = before;
    }
}

static void what_might_overflow_or_is_no_number_is_refused(void **state)
{
    (void)state;
    static job_data d;
    static const char *const names[] = {"f64", "f32", "bf16", "f16", "e8m25", "e5m2"};
    for (size_t f = 0; f < RUNG_COUNT(names); f++) {
        const rung_fmt fmt = ref_format(names[f]);
        const double bad[] = {INFINITY, -INFINITY, NAN};
        for (size_t b = 0; b < RUNG_COUNT(bad); b++) {
            refuse(&d, &d.q[70], bad[b], names[f], "a query");
            refuse(&d, &d.k[7], bad[b], names[f], "a key");
            refuse(&d, &d.v[14], bad[b], names[f], "a value");
        }
        refuse(&d, &d.k[3],
               ref_value(&fmt, ((UINT64_C(1) << fmt.exponent_bits) - 1) * (UINT64_C(1) << fmt.mantissa_bits) - 1),
               names[f], "the largest key, which makes a sum overflow");
    }
    refuse(&d, &d.v[14], NAN, "q3.12", "a NaN in fixed point");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_the_small_formats),
        cmocka_unit_test(biased_pairs_of_every_format),
        cmocka_unit_test(the_roots_are_those_of_mpfr),
        cmocka_unit_test(exp_with_roots_encloses_the_value),
        cmocka_unit_test(ordinary_numbers_take_the_fast_way),
        cmocka_unit_test(what_might_overflow_or_is_no_number_is_refused),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
