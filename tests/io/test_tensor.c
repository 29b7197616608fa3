/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Conversion of stored values: all 65,536 codes of both 16-bit formats against ldexp, the edges of every exact range,
 * and refusals. All data lie at odd addresses.
 */
#include "io_test.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

static rung_tensor vector(rung_dtype dtype, const void *bytes, size_t elements)
{
    rung_tensor tensor = {.name = "w",
                          .dtype = dtype,
                          .dtype_name = rung_dtype_name(dtype),
                          .rank = 1,
                          .shape = {elements},
                          .elements = elements,
                          .bytes = bytes,
                          .size_bytes = elements * rung_dtype_bytes(dtype)};
    return tensor;
}

/* sign, exponent and fraction by their definition: (-1)^s 2^(e - bias) (1 + f 2^-m), subnormals with e = 1 and no 1. */
static double value_of_code(uint16_t code, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = code >> fraction_bits & ((1 << exponent_bits) - 1);
    int fraction = code & ((1 << fraction_bits) - 1);
    double sign = code & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

static bool same_double(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_all_codes(rung_dtype dtype, int exponent_bits, int fraction_bits)
{
    enum { COUNT = 65536 };
    uint16_t *codes = malloc(COUNT * sizeof *codes);
    double *wide = malloc(COUNT * sizeof *wide);
    float *narrow = malloc(COUNT * sizeof *narrow);
    assert_true(codes && wide && narrow);
    for (size_t i = 0; i < COUNT; i++) codes[i] = (uint16_t)i;
    uint8_t *bytes = odd_copy(codes, COUNT * sizeof *codes);
    rung_tensor tensor = vector(dtype, bytes, COUNT);
    assert_int_equal(rung_tensor_to_f64(wide, &tensor, NULL), RUNG_OK);
    assert_int_equal(rung_tensor_to_f32(narrow, &tensor, NULL), RUNG_OK);
    for (size_t i = 0; i < COUNT; i++) {
        double expected = value_of_code((uint16_t)i, exponent_bits, fraction_bits);
        assert_true(same_double(wide[i], expected));
        assert_true(same_double(narrow[i], expected)); /* both formats are subsets of float */
    }
    free_odd(bytes);
    free(narrow);
    free(wide);
    free(codes);
}

static void test_every_f16_code(void **state)
{
    (void)state;
    check_all_codes(RUNG_F16, 5, 10);
}

static void test_every_bf16_code(void **state)
{
    (void)state;
    check_all_codes(RUNG_BF16, 8, 7);
}

static void test_f32_and_f64_bits_pass_unchanged(void **state)
{
    (void)state;
    static const double wide[] = {0.0, -0.0, 1.5, DBL_MAX, -DBL_MAX, 0x1p-1074, INFINITY, -INFINITY, 0.1};
    static const float narrow[] = {0.0f, -0.0f, 1.5f, FLT_MAX, -FLT_MAX, 0x1p-149f, INFINITY, -INFINITY, 0.1f};
    double out64[9];
    float out32[9];
    uint8_t *bytes64 = odd_copy(wide, sizeof wide), *bytes32 = odd_copy(narrow, sizeof narrow);
    rung_tensor t64 = vector(RUNG_F64, bytes64, 9), t32 = vector(RUNG_F32, bytes32, 9);
    assert_int_equal(rung_tensor_to_f64(out64, &t64, NULL), RUNG_OK);
    assert_memory_equal(out64, wide, sizeof wide);
    assert_int_equal(rung_tensor_to_f32(out32, &t32, NULL), RUNG_OK);
    assert_memory_equal(out32, narrow, sizeof narrow);
    assert_int_equal(rung_tensor_to_f64(out64, &t32, NULL), RUNG_OK);
    for (size_t i = 0; i < 9; i++) assert_true(same_double(out64[i], narrow[i]));
    free_odd(bytes64);
    free_odd(bytes32);
}

/* Rounding double to float, computed a second way: scale to an integer of at most 24 bits and round it half to even. */
static void test_f64_rounds_to_nearest_float(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 7, 0, 0);
    for (int round = 0; round < 100000; round++) {
        int exponent = (int)rung_rng_below(&rng, 270) - 160; /* down to subnormal floats */
        uint64_t mantissa = UINT64_C(1) << 52 | (rung_rng_u64(&rng) >> 12);
        if (rung_rng_below(&rng, 2)) mantissa &= ~UINT64_C(0) << 28; /* ties are common among these */
        double value = ldexp((double)mantissa, exponent - 52);
        int ulp = exponent - 23 < -149 ? -149 : exponent - 23;
        double units = ldexp(value, -ulp), low = floor(units), rest = units - low;
        if (rest > 0.5 || (rest == 0.5 && fmod(low, 2) == 1)) low += 1;
        rung_tensor tensor = vector(RUNG_F64, (const uint8_t *)&value, 1);
        float out;
        assert_int_equal(rung_tensor_to_f32(&out, &tensor, NULL), RUNG_OK);
        assert_true(same_double(out, ldexp(low, ulp)));
    }
}

static void test_finite_never_becomes_infinite(void **state)
{
    (void)state;
    double edge[] = {nextafter(0x1.ffffffp127, 0), -nextafter(0x1.ffffffp127, 0), INFINITY, -INFINITY};
    float out[4];
    rung_error err = {{0}};
    rung_tensor tensor = vector(RUNG_F64, (const uint8_t *)edge, 4);
    assert_int_equal(rung_tensor_to_f32(out, &tensor, &err), RUNG_OK);
    assert_true(out[0] == FLT_MAX && out[1] == -FLT_MAX && out[2] == INFINITY && out[3] == -INFINITY);
    edge[1] = -0x1.ffffffp127;
    assert_int_equal(rung_tensor_to_f32(out, &tensor, &err), RUNG_INPUT);
    assert_message(err, "'w'", "element 1", "float");
}

/* Integers of every type, at every power of two, one below and one above: converted exactly or refused. */
static void test_integers_are_exact_or_refused(void **state)
{
    (void)state;
    static const rung_dtype types[] = {RUNG_I64, RUNG_I32, RUNG_I16, RUNG_I8, RUNG_U64, RUNG_U32, RUNG_U16, RUNG_U8};
    for (size_t t = 0; t < RUNG_COUNT(types); t++) {
        size_t width = rung_dtype_bytes(types[t]);
        bool is_signed = types[t] <= RUNG_I8;
        for (unsigned power = 0; power < 8 * width; power++) {
            for (int step = -1; step <= 1; step++) {
                uint64_t bits = (UINT64_C(1) << power) + (uint64_t)(int64_t)step;
                rung_tensor tensor = vector(types[t], (const uint8_t *)&bits, 1);
                unsigned shift = 64 - 8 * (unsigned)width;
                uint64_t kept = bits << shift >> shift;
                __int128 value = kept;
                if (is_signed && kept >> (8 * width - 1)) value -= (__int128)1 << (8 * width);
                __int128 size = value < 0 ? -value : value;
                double wide = 0;
                float narrow = 0;
                int64_t integer = 0;
                bool ok64 = rung_tensor_to_f64(&wide, &tensor, NULL) == RUNG_OK;
                bool ok32 = rung_tensor_to_f32(&narrow, &tensor, NULL) == RUNG_OK;
                bool ok_int = rung_tensor_to_i64(&integer, &tensor, NULL) == RUNG_OK;
                assert_int_equal(ok64, size <= (__int128)1 << 53);
                assert_int_equal(ok32, size <= (__int128)1 << 24);
                assert_int_equal(ok_int, value <= INT64_MAX);
                if (ok64) assert_true((__int128)wide == value);
                if (ok32) assert_true((__int128)narrow == value);
                if (ok_int) assert_true(integer == value);
            }
        }
    }
}

static void test_reals_become_integers_only_when_whole(void **state)
{
    (void)state;
    static const struct {
        double value;
        bool ok;
    } cases[] = {
        {0, true},       {-0.0, true},      {-3, true},   {0.5, false},       {0x1p62, true}, {-0x1p63, true},
        {0x1p63, false}, {INFINITY, false}, {NAN, false}, {-0x1.8p63, false}, {1e300, false}, {0x1p53, true},
    };
    for (size_t i = 0; i < RUNG_COUNT(cases); i++) {
        int64_t out = 99;
        rung_error err = {{0}};
        rung_tensor tensor = vector(RUNG_F64, (const uint8_t *)&cases[i].value, 1);
        rung_status status = rung_tensor_to_i64(&out, &tensor, &err);
        assert_int_equal(status, cases[i].ok ? RUNG_OK : RUNG_INPUT);
        if (cases[i].ok)
            assert_true((double)out == cases[i].value);
        else
            assert_message(err, "'w'", "element 0", "64-bit integer");
    }
}

static void test_bool_bytes_are_zero_or_one(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0, 1, 2};
    double out[3];
    rung_error err = {{0}};
    rung_tensor good = vector(RUNG_BOOL, bytes, 2), bad = vector(RUNG_BOOL, bytes, 3);
    assert_int_equal(rung_tensor_to_f64(out, &good, &err), RUNG_OK);
    assert_true(out[0] == 0 && out[1] == 1);
    assert_int_equal(rung_tensor_to_f64(out, &bad, &err), RUNG_INPUT);
    assert_message(err, "'w'", "element 2", "BOOL");
}

static void test_other_types_are_named_and_refused(void **state)
{
    (void)state;
    double out;
    rung_error err = {{0}};
    rung_tensor tensor = {.name = "w",
                          .dtype = RUNG_OTHER,
                          .dtype_name = "F8_E4M3",
                          .elements = 1,
                          .bytes = (const uint8_t *)"x",
                          .size_bytes = 1};
    assert_int_equal(rung_tensor_to_f64(&out, &tensor, &err), RUNG_INPUT);
    assert_message(err, "'w'", "F8_E4M3");
    tensor.dtype_name = NULL;
    assert_int_equal(rung_tensor_to_f64(&out, &tensor, &err), RUNG_INPUT);
}

static void test_description_and_names(void **state)
{
    (void)state;
    char text[64];
    rung_tensor tensor = vector(RUNG_F32, NULL, 3);
    tensor.rank = 2;
    tensor.shape[1] = 4;
    rung_tensor_describe(text, sizeof text, &tensor);
    assert_string_equal(text, "F32 [3,4]");
    tensor.rank = 0;
    rung_tensor_describe(text, sizeof text, &tensor);
    assert_string_equal(text, "F32 []");
    tensor.rank = 8;
    for (size_t i = 0; i < 8; i++) tensor.shape[i] = SIZE_MAX;
    rung_tensor_describe(text, 12, &tensor); /* cut, not overrun */
    assert_string_equal(text, "F32 [184467");
    static const size_t bytes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1, 0};
    for (int dtype = RUNG_F64; dtype <= RUNG_OTHER; dtype++)
        assert_int_equal(rung_dtype_bytes((rung_dtype)dtype), bytes[dtype - RUNG_F64]);
    assert_string_equal(rung_dtype_name(RUNG_OTHER), "OTHER");
}

/* A name of 5,000 letters or of escape sequences still leaves the element and the fault in the message. */
static void test_message_survives_hostile_names(void **state)
{
    (void)state;
    char name[5001];
    double value = 0.5;
    int64_t out;
    rung_error err = {{0}};
    rung_tensor tensor = vector(RUNG_F64, (const uint8_t *)&value, 1);
    for (size_t i = 0; i < 5000; i += 2) memcpy(name + i, "\xc3\xa9", 2);
    name[5000] = '\0';
    for (size_t len = 4990; len <= 5000; len++) { /* every cut inside a two-byte letter */
        name[len] = '\0';
        tensor.name = name;
        assert_int_equal(rung_tensor_to_i64(&out, &tensor, &err), RUNG_INPUT);
        assert_message(err, "element 0 is 0.5");
        const char *cut = strstr(err.text, "...");
        assert_non_null(cut);
        if (len % 2 == 0) assert_true(cut[-1] == '\xa9' && cut[3] == '\xc3'); /* whole letters on both sides */
        name[len] = len % 2 ? '\xa9' : '\xc3';
    }
    tensor.name = "a\x1b[2J\nb\xc2\x9b"
                  "c";
    assert_int_equal(rung_tensor_to_i64(&out, &tensor, &err), RUNG_INPUT);
    assert_message(err, "'a?[2J?b??c'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_f16_code),
        cmocka_unit_test(test_every_bf16_code),
        cmocka_unit_test(test_f32_and_f64_bits_pass_unchanged),
        cmocka_unit_test(test_f64_rounds_to_nearest_float),
        cmocka_unit_test(test_finite_never_becomes_infinite),
        cmocka_unit_test(test_integers_are_exact_or_refused),
        cmocka_unit_test(test_reals_become_integers_only_when_whole),
        cmocka_unit_test(test_bool_bytes_are_zero_or_one),
        cmocka_unit_test(test_other_types_are_named_and_refused),
        cmocka_unit_test(test_description_and_names),
        cmocka_unit_test(test_message_survives_hostile_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
