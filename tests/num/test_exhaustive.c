/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Every pair of operands of every format with at most 8 bits, for + - * /, and every operand for the functions.
 */
#include "num/reference.h"

static void check_pairs(const rung_fmt *fmt)
{
    const uint64_t count = UINT64_C(1) << fmt->bits;
    double value[256];
    for (uint64_t i = 0; i < count; i++) value[i] = ref_value(fmt, i);
    ref_begin(fmt);
    for (ref_op op = REF_ADD; op <= REF_DIV; op++)
        for (uint64_t i = 0; i < count; i++)
            for (uint64_t j = 0; j < count; j++) {
                const double got = lib_arith(fmt, op, value[i], value[j]);
                const double want = ref_arith(fmt, op, value[i], value[j]);
                if (!ref_same(got, want))
                    fail_msg("%s: %a %s %a = %a, not %a", fmt->name, value[i], REF_OP_NAME[op], value[j], want, got);
            }
    ref_end();
}

static void check_functions(const rung_fmt *fmt)
{
    for (int fn = 0; fn < RUNG_FN_COUNT; fn++)
        for (uint64_t i = 0; i < UINT64_C(1) << fmt->bits; i++) {
            const double x = ref_value(fmt, i);
            const double got = rung_num_fn(fmt, (rung_fn)fn, x), want = ref_fn(fmt, (rung_fn)fn, x);
            if (!ref_same(got, want)) fail_msg("%s: %s(%a) = %a, not %a", fmt->name, rung_fn_name(fn), x, want, got);
        }
}

static void over_small_formats(void (*check)(const rung_fmt *))
{
    int formats = 0;
    for (int x = 2; x <= 6; x++)
        for (int y = 1; 1 + x + y <= 8; y++, formats++) {
            const rung_fmt fmt = ref_float(x, y);
            check(&fmt);
        }
    for (int i = 0; i <= 7; i++)
        for (int f = i == 0; 1 + i + f <= 8; f++, formats++) {
            const rung_fmt fmt = ref_fixed(i, f);
            check(&fmt);
        }
    assert_int_equal(formats, 15 + 35);
}

static void no_pair_of_a_small_format_is_rounded_wrongly(void **state)
{
    (void)state;
    over_small_formats(check_pairs);
}

static void no_function_of_a_small_format_is_rounded_wrongly(void **state)
{
    (void)state;
    over_small_formats(check_functions);
}

/* bf16 and f16 have few enough values to try each one. */
static void no_function_of_bf16_or_f16_is_rounded_wrongly(void **state)
{
    (void)state;
    const char *const names[] = {"bf16", "f16"};
    for (size_t n = 0; n < RUNG_COUNT(names); n++) {
        const rung_fmt fmt = ref_format(names[n]);
        for (int fn = 0; fn < RUNG_FN_COUNT; fn++)
            for (uint64_t i = 0; i < UINT64_C(1) << 16; i += effort(1, 49)) {
                const double x = ref_value(&fmt, i);
                const double got = rung_num_fn(&fmt, (rung_fn)fn, x), want = ref_fn(&fmt, (rung_fn)fn, x);
                if (!ref_same(got, want)) fail_msg("%s: %s(%a) = %a, not %a", fmt.name, rung_fn_name(fn), x, want, got);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_a_small_format_is_rounded_wrongly),
        cmocka_unit_test(no_function_of_a_small_format_is_rounded_wrongly),
        cmocka_unit_test(no_function_of_bf16_or_f16_is_rounded_wrongly),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
