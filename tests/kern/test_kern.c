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

/* Products of every storage and size around every tile, with and without what a sum may start from. Each element is one
 * chain of fused multiply-adds in the order of k, so the bytes are known. */
typedef struct product_case {
    rung_product p;
    float *x, *w, *panels, *y, *start, *bias, *factor, *want, *rows;
    size_t w_inner, w_col;
} product_case;

static float *drawn(size_t n, rung_rng *rng)
{
    float *x = calloc(n + GUARD, sizeof *x);
    assert_non_null(x);
    draw(x, n, rng);
    return x;
}

/* w as it is, without an element behind its last one: the sanitizer sees who reads further. */
static void use_rows(product_case *c)
{
    size_t count = (c->p.inner - 1) * c->w_inner + c->p.cols;
    c->rows = malloc(count * sizeof *c->rows);
    assert_non_null(c->rows);
    memcpy(c->rows, c->w, count * sizeof *c->rows);
    c->p.panels = c->rows, c->p.w_row = c->w_inner;
}

/* Rows are up to three elements further apart than they are long; a transpose has its columns there. */
static void draw_product(product_case *c, size_t inner, rung_rng *rng)
{
    size_t rows = 1 + (size_t)rung_rng_below(rng, 33), cols = 1 + (size_t)rung_rng_below(rng, 100);
    size_t gap = (size_t)rung_rng_below(rng, 4);
    bool flip_x = rung_rng_below(rng, 2), flip_w = rung_rng_below(rng, 2), in_place = rung_rng_below(rng, 2);
    *c = (product_case){.p = {.rows = rows, .cols = cols, .inner = inner}};
    c->p.y_row = cols + gap, c->p.start_row = rung_rng_below(rng, 2) || in_place ? cols + gap : 0;
    c->p.x_row = flip_x ? 1 : inner + gap, c->p.x_inner = flip_x ? rows + gap : 1;
    c->w_inner = flip_w ? 1 : cols + gap, c->w_col = flip_w ? inner + gap : 1;
    c->x = drawn((rows + gap) * (inner + gap), rng), c->w = drawn((cols + gap) * (inner + gap), rng);
    c->y = drawn(rows * (cols + gap), rng), c->start = drawn(rows * (cols + gap), rng), c->bias = drawn(cols, rng);
    c->factor = drawn(rows * (cols + gap), rng);
    c->want = drawn(rows * (cols + gap), rng);
    c->panels = drawn(rung_panels_size(inner, cols), rng);
    c->p.y = c->y, c->p.x = c->x, c->p.panels = c->panels;
    if (rung_rng_below(rng, 4)) c->p.start = in_place ? c->y : c->start;
    if (rung_rng_below(rng, 2)) c->p.bias = c->bias;
    if (rung_rng_below(rng, 2)) c->p.factor = c->factor;
    if (c->w_col == 1 && inner && rung_rng_below(rng, 2)) use_rows(c);
}

static void multiply_plainly(product_case *c)
{
    const rung_product *p = &c->p;
    memcpy(c->want, c->y, (p->rows * p->y_row + GUARD) * sizeof *c->y);
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->cols; j++) {
            float start = p->start ? p->start[i * p->start_row + j] : 0, sum = p->bias ? p->bias[j] : 0;
            if (p->start) sum = start + sum;
            for (size_t k = 0; k < p->inner; k++)
                sum = fmaf(p->x[i * p->x_row + k * p->x_inner], c->w[k * c->w_inner + j * c->w_col], sum);
            c->want[i * p->y_row + j] = p->factor ? sum * p->factor[i * p->y_row + j] : sum;
        }
}

static void check_product(const rung_kernels *kern, size_t inner, rung_rng *rng)
{
    product_case c;
    draw_product(&c, inner, rng);
    multiply_plainly(&c);
    kern->pack(c.panels, c.w, inner, c.p.cols, c.w_inner, c.w_col);
    assert_guard(c.panels, rung_panels_size(inner, c.p.cols));
    kern->multiply(&c.p);
    assert_same_bytes(c.y, c.want, c.p.rows * c.p.y_row + GUARD, kern->name); /* the gaps between the rows too */
    float *all[] = {c.x, c.w, c.panels, c.y, c.start, c.bias, c.factor, c.want, c.rows};
    for (size_t i = 0; i < RUNG_COUNT(all); i++) free(all[i]);
}

static void a_product_is_one_chain_of_fused_steps_per_element(void **state)
{
    (void)state;
    for_all(check_product);
}

static void check_long_product(const rung_kernels *kern, size_t n, rung_rng *rng)
{
    check_product(kern, 480 + 2 * n, rng);
}

/* A sum that is -0 stays -0 where a long inner index is cut: -0 + -0 * 1 is -0, but 0 + -0 * 1 is 0. */
static void check_negative_zero(const rung_kernels *kern, size_t n, rung_rng *rng)
{
    enum { T = 29, COLS = 40, INNER = 600 };
    static float x[T * INNER], w[INNER * COLS];
    float bias[COLS], y[T * COLS];
    (void)n, (void)rng;
    for (size_t i = 0; i < RUNG_COUNT(x); i++) x[i] = -0.0f;
    for (size_t i = 0; i < RUNG_COUNT(w); i++) w[i] = 1;
    for (size_t i = 0; i < COLS; i++) bias[i] = -0.0f;
    kern->multiply(&(rung_product){.y = y,
                                   .x = x,
                                   .panels = w,
                                   .bias = bias,
                                   .rows = T,
                                   .cols = COLS,
                                   .inner = INNER,
                                   .y_row = COLS,
                                   .x_row = INNER,
                                   .x_inner = 1,
                                   .w_row = COLS});
    for (size_t i = 0; i < RUNG_COUNT(y); i++) assert_true(y[i] == 0 && signbit(y[i]));
}

static void a_long_product_is_the_same_chain(void **state)
{
    (void)state;
    for_all(check_long_product);
    for_all(check_negative_zero);
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

static void check_sums_of_columns(const rung_kernels *kern, size_t n, rung_rng *rng)
{
    enum { ROWS = 3 };
    float x[ROWS * N_MAX], got[N_MAX], want[N_MAX];
    draw(x, ROWS * n, rng), draw(got, n, rng);
    memcpy(want, got, sizeof want);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < n; i++) want[i] += x[r * n + i];
    kern->add_rows(got, x, ROWS, n);
    assert_same_bytes(got, want, n, "add_rows"), assert_guard(got, n);
}

static void rows_are_added_in_their_order(void **state)
{
    (void)state;
    for_all(check_sums_of_columns);
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

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

static double slope_of_norm(const double *x, const float *w, const float *dy, size_t d, bool centre, size_t at)
{
    double loss[2];
    for (int side = 0; side < 2; side++) {
        double mean = 0, square = 0, sum = 0, step = side ? 1e-6 : -1e-6;
        for (size_t i = 0; centre && i < d; i++) mean += (x[i] + (i == at ? step : 0)) / (double)d;
        for (size_t i = 0; i < d; i++) {
            double off = x[i] + (i == at ? step : 0) - mean;
            square += off * off / (double)d;
        }
        for (size_t i = 0; i < d; i++)
            sum += (x[i] + (i == at ? step : 0) - mean) / sqrt(square + 1e-5) * (double)w[i] * (double)dy[i];
        loss[side] = sum;
    }
    return (loss[1] - loss[0]) / 2e-6;
}

static void check_norm(const rung_kernels *kern, size_t d, rung_rng *rng)
{
    enum { MAX = 100 };
    float x[MAX], w[MAX], b[MAX], dy[MAX], y[MAX], dx[MAX] = {0}, dw[MAX] = {0}, db[MAX] = {0}, room[2 * MAX];
    double wide[MAX], mean = 0, square = 0;
    bool centre = rung_rng_below(rng, 2);
    if (d == 0 || d > MAX) return;
    for (size_t i = 0; i < d; i++) {
        x[i] = (float)rung_rng_normal(rng) + 2, w[i] = (float)rung_rng_normal(rng), b[i] = (float)rung_rng_normal(rng);
        dy[i] = (float)rung_rng_normal(rng), wide[i] = (double)x[i];
    }
    kern->norm(y, x, w, b, 1, d, centre, 1e-5f);
    kern->norm_back(dx, dw, db, dy, x, w, 1, d, centre, 1e-5f, room);
    for (size_t i = 0; centre && i < d; i++) mean += wide[i] / (double)d;
    for (size_t i = 0; i < d; i++) square += (wide[i] - mean) * (wide[i] - mean) / (double)d;
    for (size_t i = 0; i < d; i++) {
        double hat = (wide[i] - mean) / sqrt(square + 1e-5), slope = slope_of_norm(wide, w, dy, d, centre, i);
        assert_true(fabs((double)y[i] - (hat * (double)w[i] + (double)b[i])) < 1e-4);
        assert_true(fabs((double)dw[i] - (double)dy[i] * hat) < 1e-4);
        assert_true(db[i] == dy[i]);
        if (!(fabs((double)dx[i] - slope) < 1e-3 * (1 + fabs(slope))))
            fail_msg("%s: dx[%zu] of %zu is %g, not %g", kern->name, i, d, (double)dx[i], slope);
    }
}

static void norms_and_their_slopes_are_those_of_the_formula(void **state)
{
    (void)state;
    for_all(check_norm);
}

static double act_in_double(rung_act act, double x)
{
    double s = 1 / (1 + exp(-x));
    switch (act) {
    case RUNG_ACT_SILU:
        return x * s;
    case RUNG_ACT_SIGMOID:
        return s;
    case RUNG_ACT_SOFTPLUS:
        return log1p(exp(-fabs(x))) + fmax(x, 0);
    case RUNG_ACT_LOG_GATE:
        return -(log1p(exp(-fabs(x))) + fmax(-x, 0)) / 16;
    case RUNG_ACT_KEEP:
        return exp(-exp(-0.5) * s);
    case RUNG_ACT_GELU_TANH:
        return x / (1 + exp(-sqrt(8 / acos(-1)) * (x + 0.044715 * x * x * x)));
    }
    return NAN;
}

static double gelu_in_double(double x)
{
    return 0.5 * x * erfc(-x / sqrt(2));
}

static void assert_close(float got, double want, double tolerance, const char *what, float x)
{
    if (!(fabs((double)got - want) <= tolerance * fabs(want) + 1e-30))
        fail_msg("%s(%.9g) is %.9g, not %.9g", what, (double)x, (double)got, want);
}

/* Relative errors, also far out where the value is small; slopes by differences, absolute. */
static void activations_are_near_those_in_double(void **state)
{
    (void)state;
    enum { N = 4001 };
    static float x[N], y[N], slope[N], first[N];
    for (size_t i = 0; i < N; i++) x[i] = ((float)i - 2000) * 0.01f; /* -20 .. 20 */
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
        const rung_kernels *kern = rung_kernels_of((rung_isa)isa);
        for (int act = RUNG_ACT_SILU; act <= RUNG_ACT_GELU_TANH; act++) {
            for (size_t i = 0; i < N; i++) slope[i] = 1;
            kern->activate(y, x, (rung_act)act, N);
            kern->activate_back(slope, x, (rung_act)act, N);
            for (size_t i = 0; i < N; i++) {
                double up = act_in_double((rung_act)act, (double)x[i] + 1e-5);
                double down = act_in_double((rung_act)act, (double)x[i] - 1e-5);
                bool steep = act == RUNG_ACT_GELU_TANH && x[i] < 0; /* e^-z, and z is rounded */
                assert_close(y[i], act_in_double((rung_act)act, (double)x[i]), steep ? 2e-5 : 1e-6, "an activation",
                             x[i]);
                assert_true(fabs((double)slope[i] - (up - down) / 2e-5) < 1e-5);
            }
        }
        memcpy(slope, x, sizeof x);
        kern->gelu(y, slope, N);
        for (size_t i = 0; i < N; i++) {
            double want = gelu_in_double((double)x[i]);
            if (x[i] > -13) assert_close(y[i], want, 1e-5, "gelu", x[i]);
            assert_true(fabs((double)y[i] - want) < 1e-6 * (1 + fabs(want)));
            want = (gelu_in_double((double)x[i] + 1e-5) - gelu_in_double((double)x[i] - 1e-5)) / 2e-5;
            assert_true(fabs((double)slope[i] - want) < 1e-5);
        }
        if (isa == RUNG_ISA_REF) memcpy(first, y, sizeof y);
        assert_same_bytes(y, first, N, kern->name);
        memcpy(slope, x, sizeof x);
        kern->relu(y, slope, N);
        for (size_t i = 0; i < N; i++) assert_true(y[i] == fmaxf(x[i], 0) && slope[i] == (x[i] > 0 ? 1.0f : 0.0f));
    }
}

static void gelu_of_the_largest_numbers_is_one_of_them(void **state)
{
    (void)state;
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
        float x[] = {INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, NAN, 0, -NAN}, y[RUNG_COUNT(x)];
        rung_kernels_of((rung_isa)isa)->gelu(y, x, RUNG_COUNT(x));
        assert_true(y[0] == INFINITY && y[1] == 0 && y[2] == FLT_MAX && y[3] == 0 && isnan(y[4]) && y[5] == 0 &&
                    isnan(y[6]));
        assert_true(x[0] == 1 && x[1] == 0 && x[2] == 1 && x[3] == 0 && isnan(x[4]) && x[5] == 0.5f && isnan(x[6]));
    }
}

/* Against the formula in double; and the bytes of all sets. */
static void check_adam(const rung_kernels *kern, size_t n, rung_rng *rng)
{
    static float w[N_MAX], m[N_MAX], v[N_MAX], g[N_MAX], before[N_MAX], first[N_MAX];
    const rung_adam_step u = {.beta1 = 0.9f,
                              .beta2 = 0.99f,
                              .rest1 = 0.1f,
                              .rest2 = 0.01f,
                              .epsilon = 1e-8f,
                              .step = 0.01f,
                              .root = 0.5f,
                              .keep = 0.999f,
                              .clip = 0.5f};
    draw(w, n, rng), draw(m, n, rng), draw(v, n, rng), draw(g, n, rng);
    for (size_t i = 0; i < n; i++) v[i] = fabsf(v[i]);
    memcpy(before, w, sizeof w), memcpy(first, m, sizeof m);
    double square = kern->square_sum(g, n), want = 0;
    for (size_t i = 0; i < n; i++) want += (double)g[i] * (double)g[i];
    assert_true(fabs(square - want) <= 1e-12 * want);
    kern->adam(w, m, v, g, n, &u);
    for (size_t i = 0; i < n; i++) {
        double slope = 0.5 * (double)g[i], mean = 0.9 * (double)first[i] + 0.1 * slope;
        double size = fabs(0.9 * (double)first[i]) + fabs(0.1 * slope);
        double updated = (double)before[i] * 0.999 - 0.01 * (double)m[i] / (sqrt((double)v[i]) / 0.5 + 1e-8);
        assert_true(fabs((double)m[i] - mean) <= 1e-6 * size + 1e-37);
        assert_true(fabs((double)w[i] - updated) <= 1e-6 * (fabs((double)before[i]) + fabs(updated)) + 1e-37);
    }
    assert_guard(w, n);
}

static void a_step_of_adam_is_the_published_one(void **state)
{
    (void)state;
    for_all(check_adam);
}

/* ---- exponential ---------------------------------------------------------------------------------------------------- */

static void assert_exp(float x, float got)
{
    double exact = exp((double)x);
    if (x >= -86.9f && exact <= FLT_MAX) {
        if (fabs(got / exact - 1) < 0x1p-22) return;
    } else if (x < -86.9f) {
        if (got == 0) return;
    } else if (exact > (double)FLT_MAX * (1 + 0x1p-22) ? got == INFINITY : got > 0.999f * FLT_MAX) {
        return;
    }
    fail_msg("exp(%a = %.9g) = %.9g, not %.9g", (double)x, (double)x, (double)got, exact);
}

/* Consecutive floats in a mixed stride: all of [-104.2, 89.2] in steps of about 2^-10, and every float near edges. */
static size_t exp_grid(float **out)
{
    const float edges[] = {0, 1, -1, 0.34657359f, -0.34657359f, 88.7228f, 88.72284f, 89, -87.33655f, -86.9f, -104, 128};
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
        cmocka_unit_test(a_product_is_one_chain_of_fused_steps_per_element),
        cmocka_unit_test(a_long_product_is_the_same_chain),
        cmocka_unit_test(norms_and_their_slopes_are_those_of_the_formula),
        cmocka_unit_test(activations_are_near_those_in_double),
        cmocka_unit_test(gelu_of_the_largest_numbers_is_one_of_them),
        cmocka_unit_test(a_step_of_adam_is_the_published_one),
        cmocka_unit_test(axpy_fade_and_scale_round_every_operation_once),
        cmocka_unit_test(rows_are_added_in_their_order),
        cmocka_unit_test(no_kernel_loses_a_nan_or_an_infinity),
        cmocka_unit_test(exp_is_within_its_bound_of_libm_everywhere),
        cmocka_unit_test(exp_of_infinities_nan_and_zeros),
        cmocka_unit_test(tables_are_named_and_the_environment_chooses),
    };
    return cmocka_run_group_tests_name("kern", tests, NULL, NULL);
}
