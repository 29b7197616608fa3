/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Names, constants and codes of the formats, and strings of codes.
 */
#include "num/reference.h"

static void names_are_canonical(void **state)
{
    (void)state;
    const char *const pairs[][2] = {{"f64", "f64"},       {"f32", "f32"},   {"e8m23", "f32"},    {"bf16", "bf16"},
                                    {"e8m7", "bf16"},     {"f16", "f16"},   {"e5m10", "f16"},    {"e8m3", "e8m3"},
                                    {"e11m25", "e11m25"}, {"e2m1", "e2m1"}, {"q3.12", "q3.12"},  {"q0.52", "q0.52"},
                                    {"q52.0", "q52.0"},   {"q1.0", "q1.0"}, {"q26.26", "q26.26"}};
    for (size_t i = 0; i < RUNG_COUNT(pairs); i++) assert_string_equal(ref_format(pairs[i][0]).name, pairs[i][1]);
}

static void wrong_names_are_refused_with_a_list_of_right_ones(void **state)
{
    (void)state;
    const char *const names[] = {
        "",      "f",      "f65",    "F32",     "e8",    "e8m",   "em",     "e1m3",          "e12m3",        "e8m0",
        "e8m26", "e11m26", "e8m3 ",  " e8m3",   "e08m3", "e8m03", "e8m3x",  "e-8m3",         "e+8m3",        "q",
        "q0.0",  "q1",     "q1.",    "q.1",     "q53.0", "q0.53", "q26.27", "q1.2.3",        "q99.99",       "q100.1",
        "q01.2", "fp16",   "e8m255", "e8888m3", "q1,2",  "int8",  "e0m0",   "e2147483650m3", "q4294967297.1"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        rung_fmt fmt;
        rung_error err = {{0}};
        if (rung_fmt_parse(&fmt, names[i], &err) != RUNG_USAGE) fail_msg("'%s' was accepted", names[i]);
        bool listed = strstr(err.text, "eXmY") && strstr(err.text, "qI.F");
        if (!strstr(err.text, names[i]) || !(listed || strstr(err.text, "did you mean '")))
            fail_msg("'%s': %s", names[i], err.text);
        assert_int_equal(rung_fmt_parse(&fmt, names[i], NULL), RUNG_USAGE);
    }
    rung_fmt fmt;
    rung_error err = {{0}};
    assert_int_equal(rung_fmt_parse(&fmt, "e11m52", &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "f64"));
    char lengthy[5000];
    memset(lengthy, 'e', sizeof lengthy);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_int_equal(rung_fmt_parse(&fmt, lengthy, &err), RUNG_USAGE);
    assert_non_null(strstr(err.text, "qI.F"));
}

static void check_float_constants(const rung_fmt *f)
{
    const int bias = ref_bias(f), top = (1 << f->exponent_bits) - 2, y = f->mantissa_bits;
    assert_int_equal(f->kind, RUNG_FMT_FLOAT);
    assert_int_equal(f->bits, 1 + f->exponent_bits + y);
    assert_true(f->largest == ref_make_float(f, false, top, (UINT64_C(1) << y) - 1));
    assert_true(f->smallest == -f->largest);
    assert_true(f->least_normal == ref_make_float(f, false, 1, 0));
    assert_true(f->spacing == ref_make_float(f, false, 0, 1));
    if (f->is_f64) return;
    assert_true(f->double_once_ok == (f->exponent_bits <= 10));
    assert_true(f->overflow - f->largest == ldexp(1, bias - y - 1));
}

static void constants_follow_from_the_definition(void **state)
{
    (void)state;
    for (int x = 2; x <= 11; x++)
        for (int y = 1; y <= 25; y++) {
            const rung_fmt f = ref_float(x, y);
            assert_int_equal(f.exponent_bits, x);
            assert_int_equal(f.mantissa_bits, y);
            check_float_constants(&f);
        }
    const rung_fmt f64 = ref_format("f64");
    assert_true(f64.is_f64 && f64.bits == 64 && f64.largest == 0x1.fffffffffffffp1023 && f64.spacing == 0x1p-1074);
    check_float_constants(&f64);
    for (int i = 0; i <= 52; i++)
        for (int f = i == 0; i + f <= 52; f++) {
            const rung_fmt q = ref_fixed(i, f);
            assert_int_equal(q.kind, RUNG_FMT_FIXED);
            assert_int_equal(q.bits, 1 + i + f);
            assert_true(q.largest == ref_value(&q, (UINT64_C(1) << (i + f)) - 1));
            assert_true(q.smallest == ref_value(&q, UINT64_C(1) << (i + f)));
            assert_true(q.spacing == ldexp(1, -f) && q.double_once_ok == (i + f <= 26));
        }
}

static void check_code(const rung_fmt *fmt, uint64_t code)
{
    const double want = ref_value(fmt, code), got = rung_num_decode(fmt, code);
    if (!ref_same(want, got)) fail_msg("%s: code %" PRIx64 " is %a, not %a", fmt->name, code, want, got);
    if (isnan(want)) return;
    if (!rung_num_is_value(fmt, want)) fail_msg("%s: %a is not a value", fmt->name, want);
    if (rung_num_encode(fmt, want) != code) fail_msg("%s: encode(%a) is not %" PRIx64, fmt->name, want, code);
}

static void every_code_of_a_small_format_survives(void **state)
{
    (void)state;
    const char *const names[] = {"e2m1",  "e3m4", "e4m3", "e5m2", "bf16", "f16",
                                 "q3.12", "q0.7", "q7.0", "q0.1", "q1.0"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt fmt = ref_format(names[i]);
        for (uint64_t code = 0; code < UINT64_C(1) << fmt.bits; code++) check_code(&fmt, code);
    }
}

static void random_codes_of_all_formats_survive(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 1, 1, 1);
    for (int round = 0; round < 4000; round++) {
        const rung_fmt fmt = ref_draw_format(&rng);
        for (int i = 0; i < 50; i++) {
            double a, b;
            ref_draw(&rng, &fmt, REF_ADD, &a, &b);
            assert_true(ref_same(rung_num_decode(&fmt, rung_num_encode(&fmt, a)), a));
            check_code(&fmt, rung_rng_u64(&rng) >> (64 - fmt.bits));
        }
    }
}

static void nan_has_one_code_and_many_decode_to_it(void **state)
{
    (void)state;
    const char *const names[] = {"f64", "f32", "bf16", "e2m1", "e11m25"};
    for (size_t i = 0; i < RUNG_COUNT(names); i++) {
        const rung_fmt f = ref_format(names[i]);
        const uint64_t infinity = ((UINT64_C(1) << f.exponent_bits) - 1) << f.mantissa_bits;
        const uint64_t code = infinity | UINT64_C(1) << (f.mantissa_bits - 1);
        assert_true(rung_num_encode(&f, NAN) == code && rung_num_encode(&f, -NAN) == code);
        assert_true(isnan(rung_num_decode(&f, infinity | 1)) && isnan(rung_num_decode(&f, code | 1)));
        assert_true(rung_num_decode(&f, infinity) == INFINITY);
        assert_false(rung_num_is_value(&f, NAN));
        assert_true(rung_num_is_value(&f, -INFINITY) && rung_num_is_value(&f, -0.0));
    }
}

/* Bit i of the string, most significant first. */
static bool bit_at(const uint8_t *bytes, size_t i)
{
    return bytes[i / 8] >> (7 - i % 8) & 1;
}

static void packed_numbers_are_their_codes_bit_by_bit(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 2, 2, 2);
    for (int round = 0; round < 3000; round++) {
        const rung_fmt fmt = ref_draw_format(&rng);
        const size_t count = rung_rng_below(&rng, 20), bits = count * (size_t)fmt.bits, bytes = (bits + 7) / 8;
        double x[20], back[20];
        uint8_t packed[20 * 8 + 1];
        memset(packed, 0xa5, sizeof packed);
        for (size_t i = 0; i < count; i++) {
            double unused;
            ref_draw(&rng, &fmt, REF_ADD, &x[i], &unused);
        }
        rung_num_pack(packed, &fmt, x, count);
        assert_int_equal(packed[bytes], 0xa5);
        for (size_t i = 0; i < bits; i++) {
            const uint64_t code = rung_num_encode(&fmt, x[i / (size_t)fmt.bits]);
            assert_int_equal(bit_at(packed, i), code >> ((size_t)fmt.bits - 1 - i % (size_t)fmt.bits) & 1);
        }
        for (size_t i = bits; i < 8 * bytes; i++) assert_false(bit_at(packed, i));
        rung_num_unpack(back, &fmt, packed, count);
        for (size_t i = 0; i < count; i++) assert_true(ref_same(back[i], x[i]));
    }
}

static void functions_have_names(void **state)
{
    (void)state;
    assert_string_equal(rung_fn_name(RUNG_FN_SQRT), "sqrt");
    assert_string_equal(rung_fn_name(RUNG_FN_SOFTPLUS), "softplus");
    assert_string_equal(rung_fn_name(RUNG_FN_GELU), "gelu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_canonical),
        cmocka_unit_test(wrong_names_are_refused_with_a_list_of_right_ones),
        cmocka_unit_test(constants_follow_from_the_definition),
        cmocka_unit_test(every_code_of_a_small_format_survives),
        cmocka_unit_test(random_codes_of_all_formats_survive),
        cmocka_unit_test(nan_has_one_code_and_many_decode_to_it),
        cmocka_unit_test(packed_numbers_are_their_codes_bit_by_bit),
        cmocka_unit_test(functions_have_names),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
