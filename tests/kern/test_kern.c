/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * kern: every kernel of every instruction set that this machine has, against plain loops in double; the same bytes
 * from all of them; and the exponential against libm on a dense grid with its edges.
 */
#include "rung/kern.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_MAX = 1100, GUARD = 4 };
static const float CANARY = 12345.678f;

static const size_t lengths[] = {0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 255, 256, 1000, 1024};

typedef void each_isa(const rung_kernels *kern, size_t n, rung_rng *rng);

/* Runs the body for every instruction set and every length, with the same random numbers for each set. */
static void for_all(each_isa *body)
{
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (size_t i = 0; i < RUNG_COUNT(lengths); i++) {
            rung_rng rng;
            rung_rng_init(&rng, 7, lengths[i], 0);
            for (int repeat = 0; repeat < 5; repeat++) body(rung_kernels_of((rung_isa)isa), lengths[i], &rng);
        }
}

/* Ordinary numbers with some zeros of both signs and some of very different size. */
static void draw(float *x, size_t n, rung_rng *rng)
{
    for (size_t i = 0; i < n + GUARD; i++) {
        uint64_t kind = rung_rng_below(rng, 16);
        double value = rung_rng_normal(rng);
        if (kind == 0) value = 0;
        if (kind == 1) value = -0.0;
        if (kind == 2) value *= 1e6;
        if (kind == 3) value *= 1e-6;
        x[i] = i < n ? (float)value : CANARY;
    }
}

static void assert_same_bytes(const float *a, const float *b, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("%s: element %zu of %zu is %a, not %a", what, i, n, (double)a[i], (double)b[i]);
}

static void assert_guard(const float *x, size_t n)
{
    for (size_t i = n; i < n + GUARD; i++) assert_true(x[i] == CANARY);
}

/* ---- dot and linear ------------------------------------------------------------------------------------------ */

/* The published order, written out: lane i mod 16, then halves. */
static float dot_by_lanes(const float *a, const float *b, size_t n)
{
    float lane[16] = {0};
    for (size_t i = 0; i < n; i++) {
        float product = a[i] * b[i];
        lane[i % 16] = lane[i % 16] + product;
    }
    for (size_t i = 0; i < 8; i++) lane[i] = lane[i] + lane[i + 8];
    for (size_t i = 0; i < 4; i++) lane[i] = lane[i] + lane[i + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* |fl(a.b) - a.b| <= gamma_n |a|.|b| whatever the order of the sum (Higham, Accuracy and Stability, 3.1). */
static void assert_near_dot(float got, const float *a, const float *b, size_t n, double bias)
{
    double exact = bias, size = fabs(bias);
    for (size_t i = 0; i < n; i++) exact += (double)a[i] * b[i], size += fabs((double)a[i] * b[i]);
    double bound = (double)(n + 2) * 0x1p-24 * size * 1.01 + 0x1p-149;
    if (!(fabs(got - exact) <= bound)) fail_msg("dot of %zu: %.9g, not %.9g (+- %g)", n, got, exact, bound);
}

static void check_dot(const rung_kernels *kern, size_t n, rung_rng *rng)
{
    float a[N_MAX], b[N_MAX];
    draw(a, n, rng), draw(b, n, rng);
    float got = kern->dot(a, b, n), lanes = dot_by_lanes(a, b, n);
    assert_near_dot(got, a, b, n, 0);
    assert_same_bytes(&got, &lanes, 1, kern->name);
}

static void dot_uses_every_element_once_in_the_published_order(void **state)
{
    (void)state;
    for_all(check_dot);
}

static void check_linear(const rung_kernels *kern, size_t m, rung_rng *rng)
{
    enum { T = 3, ROWS = 5 };
    static float x[T * N_MAX], w[ROWS * N_MAX];
    float bias[ROWS + GUARD], y[T * ROWS + GUARD], same[T * ROWS + GUARD];
    draw(x, T * m, rng), draw(w, ROWS * m, rng), draw(bias, ROWS, rng), draw(y, T * ROWS, rng);
    for (int with_bias = 0; with_bias < 2; with_bias++) {
        kern->linear(y, x, w, with_bias ? bias : NULL, T, ROWS, m);
        for (size_t t = 0; t < T; t++)
            for (size_t j = 0; j < ROWS; j++) {
                assert_near_dot(y[t * ROWS + j], x + t * m, w + j * m, m, with_bias ? (double)bias[j] : 0);
                same[t * ROWS + j] = dot_by_lanes(x + t * m, w + j * m, m) + (with_bias ? bias[j] : 0.0f);
            }
        assert_same_bytes(y, same, T * ROWS, kern->name);
        assert_guard(y, T * ROWS);
    }
}

static void linear_is_rows_times_columns_plus_bias(void **state)
{
    (void)state;
    for_all(check_linear);
}

/* ---- element by element ----------------------------------------------------------------------------------------- */

/* Both storages of x, sizes around every tile; each element one sum in the order of k, so the bytes are known. */
static void check_gemm(const rung_kernels *kern, size_t inner, rung_rng *rng)
{
    size_t rows = 1 + (size_t)rung_rng_below(rng, 14), cols = 1 + (size_t)rung_rng_below(rng, 150);
    bool flip = rung_rng_below(rng, 2);
    float *x = calloc(rows * inner + GUARD, sizeof *x), *w = calloc(cols * inner + GUARD, sizeof *w);
    float *y = calloc(rows * cols + GUARD, sizeof *y), *want = calloc(rows * cols + GUARD, sizeof *want);
    assert_true(x && w && y && want);
    draw(x, rows * inner, rng);
    draw(w, cols * inner, rng);
    draw(y, rows * cols, rng);
    memcpy(want, y, (rows * cols + GUARD) * sizeof *y);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            for (size_t k = 0; k < inner; k++) {
                float product = x[flip ? k * rows + i : i * inner + k] * w[k * cols + j];
                want[i * cols + j] = want[i * cols + j] + product;
            }
    kern->gemm(y, x, w, rows, cols, inner, flip ? 1 : inner, flip ? rows : 1);
    assert_same_bytes(y, want, rows * cols + GUARD, kern->name);
    free(x);
    free(w);
    free(y);
    free(want);
}

static void gemm_adds_every_product_in_the_order_of_the_inner_index(void **state)
{
    (void)state;
    for_all(check_gemm);
}

static void check_elements(const rung_kernels *kern, size_t n, rung_rng *rng)
{
    float x[N_MAX], y[N_MAX] = {0}, got[N_MAX], want[N_MAX] = {0};
    float f = (float)rung_rng_normal(rng), a = (float)rung_rng_normal(rng);
    draw(x, n, rng), draw(y, n, rng);
    memcpy(got, y, sizeof got);
    for (size_t i = 0; i < n; i++) {
        float product = a * x[i];
        want[i] = y[i] + product;
    }
    kern->axpy(got, a, x, n);
    assert_same_bytes(got, want, n, "axpy"), assert_guard(got, n);

    memcpy(got, y, sizeof got);
    for (size_t i = 0; i < n; i++) {
        float faded = f * y[i], product = a * x[i];
        want[i] = faded + product;
    }
    kern->fade_axpy(got, f, a, x, n);
    assert_same_bytes(got, want, n, "fade_axpy"), assert_guard(got, n);

    memcpy(got, y, sizeof got);
    for (size_t i = 0; i < n; i++) want[i] = a * y[i];
    kern->scale(got, a, n);
    assert_same_bytes(got, want, n, "scale"), assert_guard(got, n);
}

static void axpy_fade_and_scale_round_every_operation_once(void **state)
{
    (void)state;
    for_all(check_elements);
}

static void no_kernel_loses_a_nan_or_an_infinity(void **state)
{
    (void)state;
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (size_t at = 0; at < 40; at++) {
            const rung_kernels *kern = rung_kernels_of((rung_isa)isa);
            float a[40], b[40], y[40] = {0};
            for (size_t i = 0; i < 40; i++) a[i] = b[i] = 1;
            a[at] = NAN;
            assert_true(isnan(kern->dot(a, b, 40)));
            a[at] = INFINITY, b[at] = 0;
            assert_true(isnan(kern->dot(a, b, 40)));
            b[at] = -1;
            assert_true(kern->dot(a, b, 40) == -INFINITY);
            kern->axpy(y, 0, a, 40);
            for (size_t i = 0; i < 40; i++) assert_true(i == at ? isnan(y[i]) : y[i] == 0);
        }
}

/* ---- exponential ---------------------------------------------------------------------------------------------------- */

static void assert_exp(float x, float got)
{
    double exact = exp((double)x);
    if (exact >= FLT_MIN && exact <= FLT_MAX) {
        if (fabs(got / exact - 1) < 0x1p-22) return;
    } else if (exact < FLT_MIN) {
        if (got >= 0 && fabs(got - exact) <= 0x1p-149) return; /* one unit of the subnormals */
    } else if (exact > (double)FLT_MAX * (1 + 0x1p-22) ? got == INFINITY : got > 0.999f * FLT_MAX) {
        return;
    }
    fail_msg("exp(%a = %.9g) = %.9g, not %.9g", (double)x, (double)x, (double)got, exact);
}

/* Consecutive floats in a mixed stride: all of [-104.2, 89.2] in steps of about 2^-10, and every float near edges. */
static size_t exp_grid(float **out)
{
    const float edges[] = {0,         1,  -1,         0.34657359f, -0.34657359f, 88.7228f,
                           88.72284f, 89, -87.33655f, -103.97f,    -104,         128};
    size_t count = 0, capacity = 400000;
    float *x = malloc(capacity * sizeof *x);
    assert_non_null(x);
    for (double v = -104.2; v < 89.2; v += 0x1p-10) x[count++] = (float)v;
    for (size_t e = 0; e < RUNG_COUNT(edges); e++) {
        float v = edges[e];
        for (int i = 0; i < 2000; i++) v = nextafterf(v, -INFINITY);
        for (int i = 0; i < 4000; i++) x[count++] = v, v = nextafterf(v, INFINITY);
    }
    for (double v = 1e-45; v < 1e38; v *= 1.9) x[count++] = (float)v, x[count++] = (float)-v;
    assert_true(count <= capacity);
    *out = x;
    return count;
}

static void exp_is_within_its_bound_of_libm_everywhere(void **state)
{
    (void)state;
    float *x, *y, *first;
    size_t n = exp_grid(&x);
    y = malloc(n * sizeof *y), first = malloc(n * sizeof *first);
    assert_non_null(y), assert_non_null(first);
    rung_kernels_of(RUNG_ISA_REF)->exp(first, x, n);
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
        memcpy(y, x, n * sizeof *y);
        rung_kernels_of((rung_isa)isa)->exp(y, y, n); /* in place, as softmax does */
        for (size_t i = 0; i < n; i++) assert_exp(x[i], y[i]);
        assert_same_bytes(y, first, n, rung_isa_name((rung_isa)isa));
    }
    free(x), free(y), free(first);
}

static void exp_of_infinities_nan_and_zeros(void **state)
{
    (void)state;
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
        const float x[] = {-INFINITY, INFINITY, NAN, -NAN, 0.0f, -0.0f, -FLT_MAX, FLT_MAX, FLT_TRUE_MIN};
        float y[RUNG_COUNT(x)];
        rung_kernels_of((rung_isa)isa)->exp(y, x, RUNG_COUNT(x));
        assert_true(y[0] == 0 && !signbit(y[0]));
        assert_true(y[1] == INFINITY);
        assert_true(isnan(y[2]) && isnan(y[3]));
        assert_true(y[4] == 1 && y[5] == 1);
        assert_true(y[6] == 0 && y[7] == INFINITY && y[8] == 1);
    }
}

static void tables_are_named_and_the_environment_chooses(void **state)
{
    (void)state;
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    rung_isa best = rung_cpu_isa();
    for (int isa = RUNG_ISA_REF; isa <= (int)best; isa++) {
        assert_string_equal(rung_kernels_of((rung_isa)isa)->name, rung_isa_name((rung_isa)isa));
        assert_int_equal(setenv("RUNG_ISA", rung_isa_name((rung_isa)isa), 1), 0);
        rung_cpu_forget();
        assert_ptr_equal(rung_kernels_get(), rung_kernels_of((rung_isa)isa));
    }
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_uses_every_element_once_in_the_published_order),
        cmocka_unit_test(linear_is_rows_times_columns_plus_bias),
        cmocka_unit_test(gemm_adds_every_product_in_the_order_of_the_inner_index),
        cmocka_unit_test(axpy_fade_and_scale_round_every_operation_once),
        cmocka_unit_test(no_kernel_loses_a_nan_or_an_infinity),
        cmocka_unit_test(exp_is_within_its_bound_of_libm_everywhere),
        cmocka_unit_test(exp_of_infinities_nan_and_zeros),
        cmocka_unit_test(tables_are_named_and_the_environment_chooses),
    };
    return cmocka_run_group_tests_name("kern", tests, NULL, NULL);
}
