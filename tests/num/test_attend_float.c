/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Lanes of 32 bits of the attention kernel: floats with at most 8 exponent and 10 mantissa bits, and f32.
 */
#include <math.h>
#include <stdint.h>

typedef float real;
typedef int32_t real_bits;
enum { REAL_MANTISSA = 23 };
#define LANES_NAME "float lanes"

static inline float real_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}

#include "num/attend_ops.h"

static void every_pair_of_the_small_formats(void **state)
{
    (void)state;
    for (int X = 2; X <= 8; X++)
        for (int Y = 1; Y <= 10; Y++)
            if (X + Y <= (SANITIZED ? 6 : 8)) {
                const rung_fmt fmt = ref_float(X, Y);
                all_pairs(&fmt);
            }
}

static void biased_pairs_of_every_format(void **state)
{
    (void)state;
    rung_rng rng;
    rung_rng_init(&rng, 31, 0, 0);
    for (int X = 2; X <= 8; X++)
        for (int Y = 1; Y <= 10; Y++) {
            const rung_fmt fmt = ref_float(X, Y);
            biased_pairs(&fmt, effort(40000, 1600), &rng);
        }
    const rung_fmt f32 = ref_format("f32");
    biased_pairs(&f32, effort(100000, 4000), &rng);
}

/* Every argument of a softmax: codes beyond the table must give what the function gives. */
static void the_table_of_exp_is_the_function(void **state)
{
    (void)state;
    static const char *const names[] = {"bf16",  "f16",  "e8m10", "e8m1",  "e2m1",
                                        "e2m10", "e3m9", "e5m2",  "e6m10", "e7m1"};
    for (size_t f = 0; f < RUNG_COUNT(names); f++) {
        const rung_fmt fmt = ref_format(names[f]);
        const exp_codes *codes = rung_exp_codes(&fmt);
        assert_non_null(codes);
        assert_ptr_equal(codes, rung_exp_codes(&fmt));
        for (uint64_t code = 0; code < UINT64_C(1) << (fmt.bits - 1); code += fmt.bits < 17 || !SANITIZED ? 1 : 5) {
            const double x = ref_value(&fmt, code);
            if (!isfinite(x)) continue;
            const float size = (float)x;
            uint32_t place;
            memcpy(&place, &size, sizeof place);
            place >>= codes->shift;
            const uint32_t least = place > codes->first ? place : codes->first;
            const uint32_t index = (least < codes->last ? least : codes->last) - codes->first;
            const double want = rung_num_fn(&fmt, RUNG_FN_EXP, -x);
            if (!ref_same((double)codes->value[index], want))
                fail_msg("%s: exp(-%a) is %a in the table, not %a", fmt.name, x, (double)codes->value[index], want);
        }
    }
    const rung_fmt longer = ref_format("e8m11"), wider = ref_format("e9m3"), fixed = ref_format("q3.4");
    assert_null(rung_exp_codes(&longer));
    assert_null(rung_exp_codes(&wider));
    assert_null(rung_exp_codes(&fixed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_the_small_formats),
        cmocka_unit_test(biased_pairs_of_every_format),
        cmocka_unit_test(the_table_of_exp_is_the_function),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
