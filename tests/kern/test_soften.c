/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * kern: rows of a softmax and of its gradient against the definition in double, with columns that a query does not see; the
 * same bytes from every instruction set and wherever the row begins; and products with the first rows of taller panels.
 */
#include "rung/kern.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLS = 20 * RUNG_PANEL, GUARD = 4 };
static const float CANARY = 12345.678f;

typedef struct row {
    float s[COLS + GUARD], dp[COLS + GUARD];
    size_t first, end, cols;
} row;

/* Scores of every size, equal ones, and some that are far below the others; what nobody sees may be anything. */
static row draw_row(rung_rng *rng)
{
    static const double spread[] = {0, 0.1, 1, 10, 300};
    row r = {.cols = RUNG_PANEL * (1 + (size_t)rung_rng_below(rng, COLS / RUNG_PANEL))};
    double size = spread[rung_rng_below(rng, RUNG_COUNT(spread))], shift = 100 * rung_rng_normal(rng);
    r.first = rung_rng_below(rng, 2) ? 0 : (size_t)rung_rng_below(rng, r.cols);
    r.end = rung_rng_below(rng, 4) ? r.first + 1 + (size_t)rung_rng_below(rng, r.cols - r.first) : r.first + 1;
    for (size_t j = 0; j < COLS + GUARD; j++) {
        bool seen = j >= r.first && j < r.end;
        r.s[j] = seen ? (float)(shift + size * rung_rng_normal(rng)) : rung_rng_below(rng, 2) ? NAN : 1e30f;
        r.dp[j] = seen ? (float)rung_rng_normal(rng) : rung_rng_below(rng, 2) ? NAN : -INFINITY;
        if (j >= r.cols) r.s[j] = r.dp[j] = CANARY;
    }
    if (rung_rng_below(rng, 4) == 0) r.s[r.end - 1] = -INFINITY, r.s[r.first] = (float)shift;
    return r;
}

static void assert_near(double got, double want, double size, const row *r, size_t j, const char *what)
{
    if (fabs(got - want) <= 0x1p-19 * size + 1e-34) return; /* no weight is below e^-87, and there are many */
    fail_msg("%s of column %zu of [%zu, %zu) of %zu is %.9g, not %.9g", what, j, r->first, r->end, r->cols, got, want);
}

static double largest_of(const row *r)
{
    double max = -INFINITY;
    for (size_t j = r->first; j < r->end; j++) max = r->s[j] > max ? (double)r->s[j] : max;
    return max;
}

static double sum_of(const row *r)
{
    double max = largest_of(r), sum = 0;
    for (size_t j = r->first; j < r->end; j++) sum += exp(r->s[j] - max);
    return sum;
}

static void check_weights(const float *got, float total, const row *r)
{
    double max = largest_of(r), sum = sum_of(r);
    assert_near((double)total, sum, sum, r, 0, "the sum");
    for (size_t j = 0; j < r->cols; j++) {
        bool seen = j >= r->first && j < r->end;
        double want = seen ? exp(r->s[j] - max) : 0;
        if (!seen && got[j] != 0) fail_msg("column %zu is hidden, and %g", j, (double)got[j]);
        double slack = seen && want > 0 ? 1 + fabs(r->s[j] - max) / 16 : 0; /* s - max is rounded before it is used */
        assert_near((double)got[j], want, slack * want, r, j, "the weight");
    }
    for (size_t j = r->cols; j < COLS + GUARD; j++) assert_true(got[j] == CANARY);
}

/* ds = p (dp - sum p dp). Where one key has nearly all of the weight the difference is small, and must be right next to the
 * weights of the others: here, too, dp counts from that of the largest score. */
static void check_slopes(const float *got, const row *r)
{
    double max = largest_of(r), sum = sum_of(r), mean = 0, size = 0, centre = 0;
    for (size_t j = r->first; j < r->end; j++) centre = r->s[j] == max ? (double)r->dp[j] : centre;
    for (size_t j = r->first; j < r->end; j++) mean += exp(r->s[j] - max) / sum * (r->dp[j] - centre);
    for (size_t j = r->first; j < r->end; j++) size += exp(r->s[j] - max) / sum * fabs(r->dp[j] - centre - mean);
    for (size_t j = 0; j < r->cols; j++) {
        bool seen = j >= r->first && j < r->end;
        double want = seen ? exp(r->s[j] - max) / sum * (r->dp[j] - centre - mean) : 0;
        assert_near((double)got[j], want, 8 * size, r, j, "the gradient");
        if (!seen && got[j] != 0) fail_msg("column %zu is hidden, and its gradient %g", j, (double)got[j]);
    }
    for (size_t j = r->cols; j < COLS + GUARD; j++) assert_true(got[j] == CANARY);
}

static void rows_become_weights_and_gradients(void **state)
{
    rung_rng rng;
    (void)state;
    rung_rng_init(&rng, 1, 0, 0);
    for (int trial = 0; trial < 2000; trial++) {
        row r = draw_row(&rng), first = {0};
        for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
            const rung_kernels *kern = rung_kernels_of((rung_isa)isa);
            row a = r, b = r;
            float sum = kern->soften(a.s, r.first, r.end, r.cols),
                  back = kern->soften_back(b.s, b.dp, r.first, r.end, r.cols);
            check_weights(a.s, sum, &r), check_weights(b.s, back, &r), check_slopes(b.dp, &r);
            assert_memory_equal(a.s, b.s, sizeof a.s);
            if (isa == RUNG_ISA_REF) first = b;
            assert_memory_equal(b.s, first.s, sizeof b.s);
            for (size_t j = 0; j < r.cols; j++) assert_true(b.dp[j] == first.dp[j]);
        }
    }
}

static void a_key_alone_has_no_gradient(void **state)
{
    (void)state;
    for (size_t at = 0; at < 3 * RUNG_PANEL; at++) {
        row r = {.cols = 3 * RUNG_PANEL};
        for (size_t j = 0; j < COLS; j++) r.s[j] = (float)j, r.dp[j] = 1.7f * (float)j;
        assert_true(rung_kernels_get()->soften_back(r.s, r.dp, at, at + 1, r.cols) == 1);
        for (size_t j = 0; j < r.cols; j++) assert_true(r.dp[j] == 0 && r.s[j] == (j == at));
    }
}

/* The same scores a whole number of strips further on: another block of queries must not change a bit. */
static void bytes_do_not_depend_on_what_is_beside_them(void **state)
{
    rung_rng rng;
    (void)state;
    rung_rng_init(&rng, 2, 0, 0);
    for (int trial = 0; trial < 500; trial++) {
        row r = draw_row(&rng), moved = r;
        size_t shift = r.cols < COLS ? RUNG_PANEL : 0;
        for (size_t j = r.first; j < r.end; j++) moved.s[j + shift] = r.s[j], moved.dp[j + shift] = r.dp[j];
        const rung_kernels *kern = rung_kernels_get();
        float a = kern->soften_back(r.s, r.dp, r.first, r.end, r.cols);
        float b = kern->soften_back(moved.s, moved.dp, r.first + shift, r.end + shift, r.cols + shift);
        assert_true(a == b);
        assert_memory_equal(r.s + r.first, moved.s + r.first + shift, (r.end - r.first) * sizeof *r.s);
        assert_memory_equal(r.dp + r.first, moved.dp + r.first + shift, (r.end - r.first) * sizeof *r.dp);
    }
}

static void a_nan_or_an_infinite_score_is_not_lost(void **state)
{
    (void)state;
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (size_t at = 0; at < 40; at++)
            for (int kind = 0; kind < 2; kind++) {
                row r = {.cols = 2 * RUNG_PANEL};
                r.s[at] = kind ? NAN : INFINITY;
                assert_true(isnan(rung_kernels_of((rung_isa)isa)->soften(r.s, 0, 40, r.cols)));
            }
}

/* The product with the first rows of panels is that with panels of the first rows. */
static void a_product_may_use_fewer_rows_than_its_panels_have(void **state)
{
    enum { ROWS = 5, MOST = 70, WIDTH = 80 };
    static float w[MOST * WIDTH], x[ROWS * MOST], tall[3 * RUNG_PANEL * MOST], low[3 * RUNG_PANEL * MOST];
    rung_rng rng;
    (void)state;
    rung_rng_init(&rng, 3, 0, 0);
    for (size_t i = 0; i < MOST * WIDTH; i++) w[i] = (float)rung_rng_normal(&rng);
    for (size_t i = 0; i < ROWS * MOST; i++) x[i] = (float)rung_rng_normal(&rng);
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (size_t inner = 1; inner <= MOST; inner += 3) {
            const rung_kernels *kern = rung_kernels_of((rung_isa)isa);
            float y[ROWS * WIDTH], want[ROWS * WIDTH];
            rung_product p = {.y = want, .x = x, .panels = low, .rows = ROWS, .cols = WIDTH, .inner = inner};
            p.y_row = WIDTH, p.x_row = MOST, p.x_inner = 1;
            kern->pack(low, w, inner, WIDTH, WIDTH, 1), kern->pack(tall, w, MOST, WIDTH, WIDTH, 1);
            kern->multiply(&p);
            p.y = y, p.panels = tall, p.panel_rows = MOST;
            kern->multiply(&p);
            assert_memory_equal(y, want, sizeof y);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_become_weights_and_gradients),
        cmocka_unit_test(a_key_alone_has_no_gradient),
        cmocka_unit_test(bytes_do_not_depend_on_what_is_beside_them),
        cmocka_unit_test(a_nan_or_an_infinite_score_is_not_lost),
        cmocka_unit_test(a_product_may_use_fewer_rows_than_its_panels_have),
    };
    return cmocka_run_group_tests_name("kern: rows of a softmax", tests, NULL, NULL);
}
