/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The arithmetic of rung-check a second time with MPFR, whose precision and exponent range are set to the format. Guards
 * against: double rounding, wrong ties, subnormals, overflow, signs of zeros, saturation, and approximations whose stated
 * error is too small. The checker is included as it is, with its main renamed. */
int rung_check_main(int argc, char **argv);
#define main rung_check_main
#include "../../check/rung-check.c"
#undef main

#include <cmocka.h>
#include <mpfr.h>

#include "effort.h"

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{ /* splitmix64 */
    uint64_t z = (random_state += 0x9e3779b97f4a7c15U);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static const char *formats[] = {
    "f32",    "bf16",   "f16",   "e2m1",  "e2m3",  "e3m2",   "e4m3",   "e5m2",   "e3m25",  "e5m24",  "e8m1",
    "e8m3",   "e8m22",  "e8m24", "e8m25", "e9m14", "e10m1",  "e10m24", "e10m25", "e11m1",  "e11m10", "e11m24",
    "e11m25", "q0.1",   "q1.0",  "q3.0",  "q0.7",  "q3.4",   "q4.12",  "q8.8",   "q13.13", "q0.26",  "q26.0",
    "q13.14", "q20.20", "q8.40", "q0.52", "q52.0", "q26.26", "q1.51",  "q4.48",
};

static void choose(const char *name)
{
    struct text text = {name, strlen(name)};
    assert_true(set_format(text));
    make_tables();
}

/* The result of `out` = exact, rounded to the format; `out` has many more bits than any format, or is exact. */
static double rounded(mpfr_t exact, bool negative_zero)
{
    if (mpfr_nan_p(exact)) return (double)NAN;
    if (num.fixed) {
        if (mpfr_inf_p(exact)) return mpfr_sgn(exact) > 0 ? num.high * num.unit : num.low * num.unit;
        mpfr_t code;
        mpfr_init2(code, 6000);
        mpfr_mul_2si(code, exact, num.y, MPFR_RNDN);
        mpfr_rint(code, code, MPFR_RNDN);
        if (mpfr_cmp_d(code, num.low) < 0) mpfr_set_d(code, num.low, MPFR_RNDN);
        if (mpfr_cmp_d(code, num.high) > 0) mpfr_set_d(code, num.high, MPFR_RNDN);
        double value = mpfr_get_d(code, MPFR_RNDN) * num.unit + 0.0;
        mpfr_clear(code);
        return value;
    }
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    mpfr_t short_one;
    mpfr_init2(short_one, num.y + 1);
    int ternary = mpfr_set(short_one, exact, MPFR_RNDN);
    mpfr_set_emin(num.e_min - num.y + 1);
    mpfr_set_emax(2 - num.e_min); /* the largest number is below 2^(B+1) */
    ternary = mpfr_check_range(short_one, ternary, MPFR_RNDN);
    mpfr_subnormalize(short_one, ternary, MPFR_RNDN);
    double value = mpfr_get_d(short_one, MPFR_RNDN);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    mpfr_clear(short_one);
    return value == 0 && negative_zero ? -0.0 : value;
}

static bool same(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b && signbit(a) == signbit(b);
}

/* A value of the format, biased to the ends of every range, to short mantissas and to long runs of ones. */
static double random_value(void)
{
    uint64_t bits = random_bits(), how = random_bits();
    if (num.fixed) {
        int64_t code = (int64_t)(bits & (((uint64_t)1 << (num.bits - 1)) - 1)) >> (how % 4 ? how / 8 % 53 : 0);
        if (how % 32 == 4) code = (int64_t)num.high;
        if (how % 32 == 5) return num.low * num.unit;
        return round_fixed((double)(how / 1024 % 2 ? -code : code) * num.unit);
    }
    uint64_t mantissa = bits & (((uint64_t)1 << num.y) - 1), exponents = (uint64_t)1 << num.x;
    uint64_t exponent = bits >> 32 & (exponents - 1);
    if (how % 8 == 0) mantissa = 0;
    if (how % 8 == 1) mantissa = ((uint64_t)1 << num.y) - 1 - (uint64_t)(how / 8 % 3 % ((uint64_t)1 << num.y));
    if (how % 8 == 2) mantissa &= 7;
    if (how / 64 % 4 == 0) exponent = (exponents / 2 - 1) + how / 256 % 17 - 8;
    if (how / 64 % 16 == 1) exponent = how / 1024 % 3;
    if (how / 64 % 64 == 2) exponent = exponents - 1 - how / 4096 % 2;
    exponent &= exponents - 1;
    double sign = how >> 60 & 1 ? -1.0 : 1.0;
    if (exponent == exponents - 1) return sign * (mantissa ? num.largest : (double)INFINITY);
    if (exponent == 0) return sign * ldexp((double)mantissa, num.e_min - num.y);
    return sign * ldexp((double)(mantissa | (uint64_t)1 << num.y), (int)exponent - 1 + num.e_min - num.y);
}

static void check(const char *format, const char *operation, double a, double b, double got, double want)
{
    if (!same(got, want)) fail_msg("%s: %s of %a, %a is %a, MPFR says %a", format, operation, a, b, got, want);
}

/* ---- + - * / ---------------------------------------------------------------------------------------------------- */

typedef int mpfr_operation(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static void check_pair(const char *format, double a, double b)
{
    static const struct {
        const char *name;
        mpfr_operation *reference;
    } operations[] = {{"+", mpfr_add}, {"-", mpfr_sub}, {"*", mpfr_mul}, {"/", mpfr_div}};
    mpfr_t x, y, z;
    mpfr_inits2(2400, x, y, z, (mpfr_ptr)NULL); /* sums and products are exact with this many bits */
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    for (size_t i = 0; i < 4; i++) {
        operations[i].reference(z, x, y, MPFR_RNDN);
        double got = i == 0 ? add(a, b) : i == 1 ? sub(a, b) : i == 2 ? mul(a, b) : divide(a, b);
        double want = num.fixed && i == 3 && b == 0 ? (double)NAN : rounded(z, mpfr_signbit(z));
        check(format, operations[i].name, a, b, got, want);
    }
    mpfr_clears(x, y, z, (mpfr_ptr)NULL);
}

static void operations_are_rounded_once(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        choose(formats[f]);
        for (size_t i = 0; i < effort(4000, 800); i++) check_pair(formats[f], random_value(), random_value());
    }
}

/* Two operands whose result lies next to a tie: a sum of neighbours, a quotient that is nearly half way. */
static void results_next_to_ties(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        choose(formats[f]);
        for (size_t i = 0; i < effort(3000, 600); i++) {
            double b = random_value(), q = random_value();
            if (isinf(b) || isinf(q) || b == 0) continue;
            double half =
                num.fixed ? q + num.unit / 2 : q + (nextafter(q, (double)INFINITY) - q) * ldexp(1, (int)num.cut) / 2;
            double product = half * b;
            if (isnan(product) || isinf(product)) continue;
            double a = r(product);
            check_pair(formats[f], a, b);
            check_pair(formats[f], q, a);
        }
    }
}

/* All pairs of two short formats. */
static void all_pairs_of_short_formats(void **state)
{
    (void)state;
    static const char *names[] = {"e3m2", "q2.3", "e2m2"};
    for (size_t f = 0; f < 3; f++) {
        choose(names[f]);
        double values[64];
        size_t count = 0;
        for (int code = 0; code < 1 << num.bits; code++) {
            if (num.fixed) {
                values[count++] = (code - (1 << (num.bits - 1))) * num.unit;
                continue;
            }
            int exponent = code >> num.y & ((1 << num.x) - 1), mantissa = code & ((1 << num.y) - 1);
            if (exponent == (1 << num.x) - 1 && mantissa) continue;
            double v = exponent == (1 << num.x) - 1 ? (double)INFINITY
                       : exponent                   ? ldexp(mantissa + (1 << num.y), exponent - 1 + num.e_min - num.y)
                                                    : ldexp(mantissa, num.e_min - num.y);
            values[count++] = code >> (num.bits - 1) ? -v : v;
            assert_int_equal(code_of(values[count - 1]), code);
        }
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++) check_pair(names[f], values[i], values[j]);
    }
}

/* ---- functions ---------------------------------------------------------------------------------------------------- */

static void exact_sigmoid(mpfr_t z, const mpfr_t x)
{
    mpfr_neg(z, x, MPFR_RNDN);
    mpfr_exp(z, z, MPFR_RNDN);
    mpfr_add_ui(z, z, 1, MPFR_RNDN);
    mpfr_ui_div(z, 1, z, MPFR_RNDN);
}

static void exact_softplus(mpfr_t z, const mpfr_t x)
{
    if (mpfr_cmp_ui(x, 100000) > 0) {
        mpfr_set(z, x, MPFR_RNDN);
        return;
    }
    mpfr_exp(z, x, MPFR_RNDN);
    mpfr_log1p(z, z, MPFR_RNDN);
}

static void exact_gelu(mpfr_t z, const mpfr_t x)
{
    if (mpfr_cmp_si(x, -1000) < 0) { /* below every number, and not to be computed with all its digits */
        mpfr_set_d(z, -0x1p-1074, MPFR_RNDN);
        mpfr_mul_2si(z, z, -4000, MPFR_RNDN);
        return;
    }
    if (mpfr_cmp_si(x, 1000) > 0) {
        mpfr_set(z, x, MPFR_RNDN);
        return;
    }
    mpfr_t root;
    mpfr_init2(root, mpfr_get_prec(z));
    mpfr_set_ui(root, 2, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_div(root, x, root, MPFR_RNDN);
    mpfr_neg(root, root, MPFR_RNDN);
    mpfr_erfc(root, root, MPFR_RNDN);
    mpfr_mul(z, root, x, MPFR_RNDN);
    mpfr_div_2ui(z, z, 1, MPFR_RNDN);
    mpfr_clear(root);
}

static void exact_root(mpfr_t z, const mpfr_t x)
{
    mpfr_sqrt(z, x, MPFR_RNDN);
}
static void exact_exp(mpfr_t z, const mpfr_t x)
{
    mpfr_exp(z, x, MPFR_RNDN);
}

static const struct {
    const char *name;
    double (*function)(double);
    void (*reference)(mpfr_t, const mpfr_t);
} functions[] = {
    {"sqrt", square_root, exact_root},      {"exp", exponential, exact_exp}, {"sigmoid", sigmoid, exact_sigmoid},
    {"softplus", softplus, exact_softplus}, {"gelu", gelu, exact_gelu},
};

/* 400 bits are enough to tell results from ties but next to 0, where gelu is x/2 + 0.4 x² and needs twice the digits of x. */
static void check_function(const char *format, size_t i, double x)
{
    mpfr_t a, z;
    bool tiny = fabs(x) < 0x1p-20 && x != 0;
    mpfr_init2(a, 60);
    mpfr_init2(z, tiny ? 2400 : 400);
    mpfr_set_d(a, x, MPFR_RNDN);
    if (isnan(x))
        mpfr_set_nan(z);
    else
        functions[i].reference(z, a);
    double want = rounded(z, x != 0 || !signbit(x) ? mpfr_sgn(z) < 0 : i == 0 || i == 4);
    if (mpfr_nan_p(z)) want = (double)NAN;
    check(format, functions[i].name, x, 0, functions[i].function(x), want);
    mpfr_clears(a, z, (mpfr_ptr)NULL);
}

static void functions_are_rounded_once(void **state)
{
    (void)state;
    if (setjmp(run.leave)) fail_msg("%s", run.reason); /* "undecided" comes back here */
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        choose(formats[f]);
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
            for (size_t n = 0; n < effort(400, 40); n++) check_function(formats[f], i, random_value());
            for (size_t n = 0; n < effort(400, 40); n++)
                check_function(formats[f], i,
                               r(ldexp((double)(random_bits() >> 11), -53 + (int)(random_bits() % 11) - 4)));
            for (size_t n = 0; n < effort(300, 30); n++)
                check_function(formats[f], i,
                               r(-ldexp((double)(random_bits() >> 11), -53 + (int)(random_bits() % 11) - 4)));
            static const double corners[] = {0.0,
                                             -0.0,
                                             1,
                                             -1,
                                             2,
                                             4,
                                             690,
                                             -690,
                                             691,
                                             -691,
                                             709.5,
                                             -720,
                                             -744,
                                             -745.5,
                                             800,
                                             -800,
                                             801,
                                             -801,
                                             -600.5,
                                             600.5,
                                             40,
                                             -40,
                                             41,
                                             -41,
                                             3,
                                             -3,
                                             6,
                                             -6,
                                             38,
                                             -38,
                                             1e300,
                                             -1e300,
                                             0x1p-60,
                                             -0x1p-60,
                                             0x1p-59,
                                             -0x1p-59,
                                             (double)INFINITY,
                                             -(double)INFINITY};
            for (size_t n = 0; n < sizeof corners / sizeof *corners; n++) check_function(formats[f], i, r(corners[n]));
        }
    }
}

/* The slow way alone, which the quick one hides: widest formats, where the quick way never decides. */
static void double_double_alone(void **state)
{
    (void)state;
    if (setjmp(run.leave)) fail_msg("%s", run.reason);
    static const char *wide[] = {"q10.42", "q2.50", "q6.46"};
    for (size_t f = 0; f < 3; f++) {
        choose(wide[f]);
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
            for (size_t n = 0; n < effort(1500, 150); n++) {
                double x = ldexp((double)(random_bits() >> 11), -53 + (int)(random_bits() % 11) - 4);
                check_function(wide[f], i, r(random_bits() & 1 ? x : -x));
            }
    }
}

/* Arguments whose results are hardest to round among many: the bound of the quick way must send them on. */
static void hard_to_round(void **state)
{
    (void)state;
    if (setjmp(run.leave)) fail_msg("%s", run.reason);
    static const char *names[] = {"bf16", "f16", "e8m3", "e5m2", "q3.4"};
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        choose(names[f]);
        for (size_t i = 1; i < sizeof functions / sizeof *functions; i++)
            for (int e = -14; e < 8; e++)
                for (size_t m = 0; m < 64; m += effort(1, 4)) {
                    double x = r(ldexp(1 + (double)m / 64, e));
                    check_function(names[f], i, x);
                    check_function(names[f], i, r(-x));
                }
    }
    /* halves of subnormals, decided by the second term of gelu alone; sqrt((2^26-1) 2^28), wrong by way of a double */
    static const char *floats[] = {"f32", "bf16", "f16", "e11m25", "e4m3", "e11m3"};
    for (size_t f = 0; f < 6; f++) {
        choose(floats[f]);
        for (int m = 1; m < 40 && m < 2 << num.y; m++) {
            double x = ldexp(m, num.e_min - num.y);
            check_function(floats[f], 4, x);
            check_function(floats[f], 4, -x);
        }
    }
    choose("e8m25");
    check_function("e8m25", 0, 0x3ffffffp+28);
    choose("e11m25"); /* a double product would be a tie */
    check_pair("e11m25", (3 * 0x1p24 + 3) * 0x1p-549, (0x1p26 - 4) * 0x1p-549);
}

/* Errors of the approximations themselves, against the bounds that the comments state. */
static double relative_error(mpfr_t exact, struct dd v, int k)
{
    mpfr_t got, low;
    mpfr_init2(got, 300);
    mpfr_init2(low, 300);
    mpfr_set_d(got, v.hi, MPFR_RNDN);
    mpfr_set_d(low, v.lo, MPFR_RNDN);
    mpfr_add(got, got, low, MPFR_RNDN);
    mpfr_mul_2si(got, got, k, MPFR_RNDN);
    mpfr_sub(got, got, exact, MPFR_RNDN);
    mpfr_div(got, got, exact, MPFR_RNDN);
    double error = fabs(mpfr_get_d(got, MPFR_RNDN));
    mpfr_clears(got, low, (mpfr_ptr)NULL);
    return error;
}

static void errors_are_below_their_bounds(void **state)
{
    (void)state;
    choose("f32");
    mpfr_t a, z;
    mpfr_init2(a, 60);
    mpfr_init2(z, 300);
    double quick = 0, slow = 0, log1p_error = 0, middle = 0, tail = 0;
    for (size_t n = 0; n < effort(20000, 4000); n++) {
        double x = ldexp((double)(int64_t)random_bits(), -63) * (n % 3 == 0 ? 690 : n % 3 == 1 ? 2 : 0x1p-20);
        int k = 0;
        mpfr_set_d(a, x, MPFR_RNDN);
        mpfr_exp(z, a, MPFR_RNDN);
        quick = fmax(quick, relative_error(z, dd_of(exp_quickly(x)), 0));
        struct dd v = dd_exp(&k, dd_of(x));
        slow = fmax(slow, relative_error(z, v, k));
        if (n % 10) continue;
        double u = fabs(x) / 690;
        mpfr_set_d(a, u, MPFR_RNDN);
        mpfr_log1p(z, a, MPFR_RNDN);
        log1p_error = fmax(log1p_error, relative_error(z, dd_log1p(dd_of(u)), 0));
        double y = fabs(x) / 690 * 37 + 0x1p-40;
        mpfr_set_d(a, y, MPFR_RNDN);
        exact_gelu(z, a);
        mpfr_div(z, z, a, MPFR_RNDN);
        if (y <= 3) {
            mpfr_sub_d(z, z, 0.5, MPFR_RNDN);
            middle = fmax(middle, relative_error(z, dd_middle(y), 0));
        } else {
            mpfr_neg(a, a, MPFR_RNDN);
            exact_gelu(z, a);
            mpfr_div(z, z, a, MPFR_RNDN);
            v = dd_tail(&k, y);
            tail = fmax(tail, relative_error(z, v, k));
        }
    }
    mpfr_clears(a, z, (mpfr_ptr)NULL);
    print_message("log2 of the errors: exp %.1f, double-double %.1f, log1p %.1f, middle %.1f, tail %.1f\n", log2(quick),
                  log2(slow), log2(log1p_error), log2(middle), log2(tail));
    assert_true(quick < 0x1p-51);
    assert_true(slow < 0x1p-97);
    assert_true(log1p_error < 0x1p-95);
    assert_true(middle < 0x1p-94);
    assert_true(tail < 0x1p-91);
}

static void names_of_formats(void **state)
{
    (void)state;
    static const char *wrong[] = {"",       "e",      "f64",   "e8m23", "e8m7", "e5m10", "e1m3", "e12m3", "e5m0",
                                  "e5m26",  "e05m3",  "e5m03", "e5m3 ", "E5m3", "e5n3",  "q",    "q0.0",  "q53.0",
                                  "q26.27", "q0.053", "q3,4",  "q3.",   "q.4",  "e8m",   "em3",  "e111m3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(set_format((struct text){wrong[i], strlen(wrong[i])}));
}

/* A header of 100 MB can hold 50 million values: what they take is counted, even if it is nothing but their ends. */
static void small_pieces_count(void **state)
{
    (void)state;
    static size_t pieces;
    run.limit = run.used + ((size_t)1 << 20);
    run.verdict = ACCEPTED;
    if (setjmp(run.leave) == 0)
        for (; pieces < (size_t)1 << 16; pieces++) allocate(0, 1);
    assert_int_equal(run.verdict, MALFORMED);
    assert_true(run.given_up);
    assert_true(pieces > 10000);
    free_after(NULL);
    assert_int_equal(run.used, 0);
    run.limit = memory_limit;
}

int main(void)
{
    run.limit = memory_limit;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_rounded_once),
        cmocka_unit_test(results_next_to_ties),
        cmocka_unit_test(all_pairs_of_short_formats),
        cmocka_unit_test(functions_are_rounded_once),
        cmocka_unit_test(double_double_alone),
        cmocka_unit_test(hard_to_round),
        cmocka_unit_test(errors_are_below_their_bounds),
        cmocka_unit_test(names_of_formats),
        cmocka_unit_test(small_pieces_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
