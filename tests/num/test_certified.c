/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Certified reals against integers and rationals of GMP: an interval always holds the truth, exact things are points, and
 * what is undecided at few bits is decided at more.
 */
#include "rung/num.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gmp.h>

static rung_certified *sheet_of(size_t bits)
{
    rung_error err = {{0}};
    rung_certified *sheet = NULL;
    assert_int_equal(rung_certified_new(&sheet, bits, &err), RUNG_OK);
    return sheet;
}

/* low <= p/q <= high, as rationals. */
static void assert_holds(const rung_certified *s, rung_ival a, const mpq_t truth)
{
    mpq_t end;
    mpq_init(end);
    mpq_set_d(end, rung_ival_low(s, a));
    assert_true(mpq_cmp(end, truth) <= 0);
    mpq_set_d(end, rung_ival_high(s, a));
    assert_true(mpq_cmp(end, truth) >= 0);
    mpq_clear(end);
}

static void arithmetic_holds_the_rational(void **state)
{
    rung_certified *s = sheet_of(40);
    rung_rng rng;
    mpq_t x, y, z;
    (void)state;
    rung_rng_init(&rng, 1, 2, 3);
    mpq_inits(x, y, z, NULL);
    for (int i = 0; i < 20000; i++) {
        double a = (double)(int64_t)rung_rng_below(&rng, 2000001) - 1000000, b = rung_rng_unit(&rng) - 0.5;
        rung_ival p = rung_ival_real(s, a), q = rung_ival_real(s, b);
        p = rung_ival_div(s, p, rung_ival_u64(s, 3)); /* a real interval, no point */
        mpq_set_d(x, a);
        mpq_set_ui(z, 3, 1);
        mpq_div(x, x, z);
        mpq_set_d(y, b);
        mpq_add(z, x, y), assert_holds(s, rung_ival_add(s, p, q), z);
        mpq_sub(z, x, y), assert_holds(s, rung_ival_sub(s, p, q), z);
        mpq_mul(z, x, y), assert_holds(s, rung_ival_mul(s, p, q), z);
        if (b != 0) mpq_div(z, x, y), assert_holds(s, rung_ival_div(s, p, q), z);
        mpq_set(z, mpq_cmp(x, y) < 0 ? x : y), assert_holds(s, rung_ival_min(s, p, q), z);
        rung_certified_reset(s);
    }
    mpq_clears(x, y, z, NULL);
    rung_certified_free(s);
}

/* log2 C(n,k) against the integer: 2^low <= C <= 2^high, compared through the number of bits and one division. */
static void choose_holds_the_integer(void **state)
{
    rung_certified *s = sheet_of(96);
    (void)state;
    for (uint64_t n = 0; n < 60; n++)
        for (uint64_t k = 0; k <= n; k++) {
            mpz_t c;
            mpz_init(c);
            mpz_bin_uiui(c, n, k);
            double truth = log2(mpz_get_d(c)); /* below 2^53 for n < 57; a relative error of 1e-15 is allowed for */
            rung_ival got = rung_ival_log2_choose(s, n, k);
            assert_true(rung_ival_low(s, got) <= truth + 1e-12 && rung_ival_high(s, got) >= truth - 1e-12);
            assert_true(rung_ival_high(s, got) - rung_ival_low(s, got) < 1e-12);
            mpz_clear(c);
            rung_certified_reset(s);
        }
    assert_true(isinf(rung_ival_low(s, rung_ival_log2_choose(s, 3, 4))));
    rung_certified_free(s);
}

static void integers_are_points_and_powers_come_back(void **state)
{
    rung_certified *s = sheet_of(256);
    (void)state;
    for (uint64_t e = 0; e < 64; e++) {
        rung_ival p = rung_ival_u64(s, UINT64_C(1) << e), l = rung_ival_log2(s, p), back = rung_ival_exp2(s, l);
        assert_true(rung_ival_low(s, l) == (double)e && rung_ival_high(s, l) == (double)e);
        assert_int_equal(rung_ival_less(s, back, p), RUNG_SURELY_NOT);
        rung_ival square = rung_ival_mul(s, rung_ival_u64(s, UINT64_MAX), rung_ival_u64(s, UINT64_MAX));
        rung_ival below = rung_ival_sub(s, square, rung_ival_u64(s, 1));
        assert_int_equal(rung_ival_less(s, below, square), RUNG_SURELY);
        assert_int_equal(rung_ival_less(s, square, square), RUNG_SURELY_NOT);
    }
    rung_ival half = rung_ival_div(s, rung_ival_u64(s, 7), rung_ival_u64(s, 2)), up = rung_ival_ceil(s, half);
    assert_true(rung_ival_low(s, up) == 4 && rung_ival_high(s, up) == 4);
    rung_certified_free(s);
}

/* 3^k against 2^j where they are near: few bits are unsure, many are sure, and never wrong. */
static void more_bits_decide(void **state)
{
    rung_certified *few = sheet_of(8), *many = sheet_of(200);
    (void)state;
    for (uint64_t j = 1; j < 60; j++) {
        uint64_t k = (uint64_t)floor((double)j / log2(3.0));
        for (int way = 0; way < 2; way++) {
            rung_certified *s = way ? many : few;
            rung_ival three = rung_ival_mul(s, rung_ival_u64(s, k), rung_ival_log2(s, rung_ival_u64(s, 3)));
            rung_certainty less = rung_ival_less(s, three, rung_ival_u64(s, j));
            if (way) assert_int_equal(less, RUNG_SURELY);
            if (!way) assert_true(less != RUNG_SURELY_NOT);
        }
    }
    rung_ival zero = rung_ival_u64(many, 0), line = rung_ival_div(many, rung_ival_u64(many, 1), zero);
    assert_int_equal(rung_ival_less(many, line, zero), RUNG_UNSURE);
    rung_certified_free(few);
    rung_certified_free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_holds_the_rational),
        cmocka_unit_test(choose_holds_the_integer),
        cmocka_unit_test(integers_are_points_and_powers_come_back),
        cmocka_unit_test(more_bits_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
