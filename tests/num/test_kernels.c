/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The vector kernels of every instruction set that this machine has give the bits of the scalar functions, for all
 * kinds of formats, odd lengths, unaligned arrays and outputs that are inputs.
 */
#include "num/reference.h"

enum { MOST = 300 };

static const char *const FORMATS[] = {"f64",    "f32",   "bf16",   "f16",   "e8m3",   "e4m3",  "e2m1",  "e10m25",
                                      "e10m1",  "e9m24", "e11m25", "e11m1", "e11m7",  "q3.12", "q0.1",  "q7.0",
                                      "q13.13", "q0.26", "q26.0",  "q3.24", "q20.20", "q0.52", "q52.0", "q26.26"};

/* Operands for one call; a guard lies behind the outputs. */
typedef struct lanes {
    double a[MOST], b[MOST], c[MOST], d[MOST];
    double out[MOST], want[MOST];
    size_t n;
} lanes;

static void fill(lanes *v, const rung_fmt *fmt, rung_rng *rng, ref_op op)
{
    v->n = rung_rng_below(rng, 4) ? rung_rng_below(rng, 40) : rung_rng_below(rng, MOST - 2);
    for (size_t i = 0; i < MOST; i++) v->out[i] = -77;
    for (size_t i = 0; i < v->n + 2; i++) { /* the two more are the factors of scale and fade_add */
        ref_draw(rng, fmt, op, &v->a[i], &v->b[i]);
        ref_draw(rng, fmt, op, &v->c[i], &v->d[i]);
        if (rung_rng_below(rng, 64) == 0) v->a[i] = NAN;
    }
}

static void compare(const lanes *v, const double *got, const rung_fmt *fmt, const rung_num_kernels *k, const char *what)
{
    for (size_t i = 0; i < v->n; i++)
        if (!ref_same(got[i], v->want[i]))
            fail_msg("%s %s %s lane %zu of %zu: %a, not %a (a=%a b=%a c=%a d=%a)", k->name, fmt->name, what, i, v->n,
                     v->want[i], got[i], v->a[i], v->b[i], v->c[i], v->d[i]);
}

static void check_guard(const lanes *v, const rung_num_kernels *k, const char *what)
{
    for (size_t i = v->n; i < MOST; i++)
        if (v->out[i] != -77) fail_msg("%s %s writes behind its %zu lanes", k->name, what, v->n);
}

/* ---- two operands ------------------------------------------------------------------------------------------------ */

static void check_binary(lanes *v, const rung_fmt *fmt, const rung_num_kernels *k, rung_rng *rng)
{
    void (*const kernel[])(const rung_fmt *, double *, const double *, const double *, size_t) = {k->add, k->sub,
                                                                                                  k->mul, k->div};
    for (ref_op op = REF_ADD; op <= REF_DIV; op++) {
        fill(v, fmt, rng, op);
        for (size_t i = 0; i < v->n; i++) v->want[i] = lib_arith(fmt, op, v->a[i], v->b[i]);
        kernel[op](fmt, v->out, v->a, v->b, v->n);
        compare(v, v->out, fmt, k, REF_OP_NAME[op]);
        check_guard(v, k, REF_OP_NAME[op]);
        kernel[op](fmt, v->a, v->a, v->b, v->n);
        compare(v, v->a, fmt, k, "in place");
    }
}

static void check_scale(lanes *v, const rung_fmt *fmt, const rung_num_kernels *k, rung_rng *rng)
{
    fill(v, fmt, rng, REF_MUL);
    const double s = v->b[0];
    for (size_t i = 0; i < v->n; i++) v->want[i] = rung_num_mul(fmt, v->a[i], s);
    k->scale(fmt, v->out, v->a, s, v->n);
    compare(v, v->out, fmt, k, "scale");
    check_guard(v, k, "scale");
}

/* Doubles that are not values of the format. */
static void check_round(lanes *v, const rung_fmt *fmt, const rung_num_kernels *k, rung_rng *rng)
{
    fill(v, fmt, rng, REF_ADD);
    for (size_t i = 0; i < v->n; i++) {
        if (rung_rng_below(rng, 2)) v->a[i] *= 1 + ldexp(rung_rng_normal(rng), -(int)rung_rng_below(rng, 54));
        v->want[i] = rung_num_round(fmt, v->a[i]);
    }
    k->round(fmt, v->out, v->a, v->n);
    compare(v, v->out, fmt, k, "round");
    check_guard(v, k, "round");
}

/* ---- three operands ---------------------------------------------------------------------------------------------- */

static void check_accumulate(lanes *v, const rung_fmt *fmt, const rung_num_kernels *k, rung_rng *rng)
{
    fill(v, fmt, rng, REF_MUL);
    const double s = v->d[1];
    for (size_t i = 0; i < v->n; i++) v->want[i] = rung_num_add(fmt, v->c[i], rung_num_mul(fmt, v->a[i], v->b[i]));
    memcpy(v->out, v->c, v->n * sizeof *v->c);
    k->mul_add(fmt, v->out, v->a, v->b, v->n);
    compare(v, v->out, fmt, k, "mul_add");
    check_guard(v, k, "mul_add");
    for (size_t i = 0; i < v->n; i++) v->want[i] = rung_num_add(fmt, v->c[i], rung_num_mul(fmt, v->a[i], s));
    memcpy(v->out, v->c, v->n * sizeof *v->c);
    k->scale_add(fmt, v->out, v->a, s, v->n);
    compare(v, v->out, fmt, k, "scale_add");
    for (size_t i = 0; i < v->n; i++)
        v->want[i] = rung_num_add(fmt, rung_num_mul(fmt, v->c[i], v->a[i]), rung_num_mul(fmt, v->b[i], s));
    memcpy(v->out, v->c, v->n * sizeof *v->c);
    k->fade_add(fmt, v->out, v->a, v->b, s, v->n);
    compare(v, v->out, fmt, k, "fade_add");
}

/* The step as the specification writes it, with both exponentials. */
static void scalar_step(const rung_fmt *fmt, double *m, double *den, double *a, double *e, double s)
{
    const double top = s > *m ? s : *m;
    *a = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, *m, top));
    *e = rung_num_fn(fmt, RUNG_FN_EXP, rung_num_sub(fmt, s, top));
    *den = rung_num_add(fmt, rung_num_mul(fmt, *den, *a), *e);
    *m = top;
}

static void check_softmax(lanes *v, const rung_fmt *fmt, const rung_num_kernels *k, rung_rng *rng)
{
    fill(v, fmt, rng, REF_ADD);
    static double m[MOST], den[MOST], a[MOST], e[MOST];
    for (size_t i = 0; i < v->n; i++) {
        if (rung_rng_below(rng, 2) && fmt->kind == RUNG_FMT_FLOAT) { /* scores of ordinary size */
            v->a[i] = rung_num_round(fmt, 8 * rung_rng_normal(rng));
            v->b[i] = rung_num_round(fmt, 8 * rung_rng_normal(rng));
        }
        if (rung_rng_below(rng, 16) == 0) v->b[i] = v->a[i];
        m[i] = v->a[i], den[i] = v->c[i], a[i] = e[i] = 0;
    }
    k->softmax_step(fmt, m, den, a, e, v->b, v->n);
    const double *const got[] = {m, den, a, e};
    const char *const name[] = {"softmax m", "softmax den", "softmax a", "softmax e"};
    for (size_t part = 0; part < 4; part++) {
        for (size_t i = 0; i < v->n; i++) {
            double want[4] = {v->a[i], v->c[i], 0, 0};
            scalar_step(fmt, &want[0], &want[1], &want[2], &want[3], v->b[i]);
            v->want[i] = want[part];
        }
        compare(v, got[part], fmt, k, name[part]);
    }
}

static void check_fn(lanes *v, const rung_fmt *fmt, const rung_num_kernels *k, rung_rng *rng)
{
    const bool slow = fmt->is_f64 || fmt->integer_bits + fmt->fraction_bits > 26;
    for (int fn = 0; fn < RUNG_FN_COUNT; fn++) {
        if (slow && fn > RUNG_FN_EXP && rung_rng_below(rng, 50)) continue;
        fill(v, fmt, rng, REF_ADD);
        for (size_t i = 0; i < v->n; i++) {
            if (fmt->kind == RUNG_FMT_FLOAT && rung_rng_below(rng, 8))
                v->a[i] = rung_num_round(fmt, 20 * rung_rng_normal(rng));
            v->want[i] = rung_num_fn(fmt, (rung_fn)fn, v->a[i]);
        }
        k->fn(fmt, (rung_fn)fn, v->out, v->a, v->n);
        compare(v, v->out, fmt, k, rung_fn_name((rung_fn)fn));
        check_guard(v, k, rung_fn_name((rung_fn)fn));
        k->fn(fmt, (rung_fn)fn, v->a, v->a, v->n);
        compare(v, v->a, fmt, k, "fn in place");
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void over_all(void (*check)(lanes *, const rung_fmt *, const rung_num_kernels *, rung_rng *), size_t rounds)
{
    static lanes v;
    for (int isa = 0; isa <= (int)rung_cpu_isa(); isa++) {
        rung_rng rng;
        rung_rng_init(&rng, 5, 6, 7); /* every instruction set sees the same operands */
        const rung_num_kernels *k = rung_num_kernels_of((rung_isa)isa);
        assert_string_equal(k->name, rung_isa_name((rung_isa)isa));
        for (size_t f = 0; f < RUNG_COUNT(FORMATS); f++) {
            const rung_fmt fmt = ref_format(FORMATS[f]);
            for (size_t r = 0; r < effort(rounds, rounds / 8); r++) check(&v, &fmt, k, &rng);
        }
    }
}

static void binary_kernels_equal_the_scalar_functions(void **state)
{
    (void)state;
    over_all(check_binary, 250);
    over_all(check_scale, 250);
}

static void round_kernel_equals_the_scalar_function(void **state)
{
    (void)state;
    over_all(check_round, 250);
}

static void accumulating_kernels_equal_the_scalar_functions(void **state)
{
    (void)state;
    over_all(check_accumulate, 250);
}

static void softmax_kernel_equals_the_step_of_the_specification(void **state)
{
    (void)state;
    over_all(check_softmax, 40);
}

static void function_kernels_equal_the_scalar_functions(void **state)
{
    (void)state;
    over_all(check_fn, 40);
}

static void kernels_of_the_machine_are_those_of_its_instruction_set(void **state)
{
    (void)state;
    assert_ptr_equal(rung_num_kernels_get(), rung_num_kernels_of(rung_cpu_isa()));
}

/* Every vector length and every start, for a tail that is one lane short or long. */
static void no_length_or_alignment_changes_a_lane(void **state)
{
    (void)state;
    static lanes v;
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, 3);
    const rung_fmt fmt = ref_format("e8m7");
    const rung_num_kernels *k = rung_num_kernels_get();
    for (size_t i = 0; i < MOST; i++) {
        ref_draw(&rng, &fmt, REF_MUL, &v.a[i], &v.b[i]);
        v.c[i] = v.a[rung_rng_below(&rng, i + 1)];
    }
    for (size_t n = 0; n <= 140; n++)
        for (size_t start = 0; start < 9; start++) {
            memcpy(v.out, v.c, sizeof v.c);
            k->mul_add(&fmt, v.out + start, v.a + start, v.b + start, n);
            for (size_t i = 0; i < MOST; i++) {
                const bool inside = i >= start && i < start + n;
                const double sum = rung_num_add(&fmt, v.c[i], rung_num_mul(&fmt, v.a[i], v.b[i]));
                if (!ref_same(v.out[i], inside ? sum : v.c[i])) fail_msg("n=%zu start=%zu lane %zu", n, start, i);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_kernels_equal_the_scalar_functions),
        cmocka_unit_test(round_kernel_equals_the_scalar_function),
        cmocka_unit_test(accumulating_kernels_equal_the_scalar_functions),
        cmocka_unit_test(softmax_kernel_equals_the_step_of_the_specification),
        cmocka_unit_test(function_kernels_equal_the_scalar_functions),
        cmocka_unit_test(kernels_of_the_machine_are_those_of_its_instruction_set),
        cmocka_unit_test(no_length_or_alignment_changes_a_lane),
    };
    return cmocka_run_group_tests(tests, ref_setup, ref_teardown);
}
