/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * kern: the kernels for chunks of tokens. Each against its definition, pair by pair in double; and the same bytes from every
 * instruction set that this machine has.
 */
#include "rung/kern.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { C = RUNG_CHUNK, SUB = RUNG_SUBCHUNK, D_MAX = 70, ROW = D_MAX + 3, ROOM = C * (D_MAX + 32), ARRAYS = 8 };

/* Random numbers, and what a kernel writes. Decays are in [0, 1], some of them 0 or 1. */
typedef struct sheet {
    size_t n, d;
    float x[ARRAYS][ROOM], w[ROOM], y[3][ROOM];
} sheet;

static void draw_sheet(sheet *s, size_t n, size_t d, uint64_t seed)
{
    rung_rng rng;
    rung_rng_init(&rng, seed, n, d);
    s->n = n, s->d = d;
    for (size_t a = 0; a < ARRAYS; a++)
        for (size_t i = 0; i < ROOM; i++) s->x[a][i] = (float)rung_rng_normal(&rng);
    for (size_t i = 0; i < ROOM; i++) {
        uint64_t kind = rung_rng_below(&rng, 16);
        s->w[i] = kind < 2 ? (float)kind : (float)exp(-rung_rng_unit(&rng));
    }
    for (size_t a = 0; a < 3; a++)
        for (size_t i = 0; i < ROOM; i++) s->y[a][i] = (float)rung_rng_normal(&rng);
}

typedef void run_kernel(sheet *s, const rung_chunk_kernels *kern);
typedef void run_definition(double *want[3], const sheet *s);

static void assert_close(const float *got, const double *want, const char *what, const sheet *s)
{
    for (size_t i = 0; i < ROOM; i++)
        if (!(fabs(got[i] - want[i]) <= 2e-5 * (1 + fabs(want[i]))))
            fail_msg("%s, n=%zu d=%zu: element %zu is %g, not %g", what, s->n, s->d, i, (double)got[i], want[i]);
}

/* All sizes; all of y is compared, so that nothing is written where nothing should be. */
static void check(const char *what, size_t most, run_kernel *run, run_definition *define)
{
    static const size_t widths[] = {1, 3, 16, 17, 33, 64, 70};
    sheet *first = malloc(sizeof *first), *s = malloc(sizeof *s);
    double *want[3];
    assert_non_null(first);
    assert_non_null(s);
    for (size_t a = 0; a < 3; a++) assert_non_null(want[a] = malloc(ROOM * sizeof **want));
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    for (size_t n = 1; n <= most; n += n == 1 ? 1 : n % 5 + 2)
        for (size_t i = 0; i < RUNG_COUNT(widths); i++)
            for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
                draw_sheet(s, n, widths[i], n);
                for (size_t a = 0; a < 3; a++)
                    for (size_t e = 0; e < ROOM; e++) want[a][e] = s->y[a][e];
                if (isa == RUNG_ISA_REF) define(want, s);
                run(s, rung_chunk_kernels_of((rung_isa)isa));
                for (size_t a = 0; a < 3 && isa == RUNG_ISA_REF; a++) assert_close(s->y[a], want[a], what, s);
                if (isa == RUNG_ISA_REF) *first = *s;
                assert_memory_equal(first->y, s->y, sizeof s->y);
            }
    for (size_t a = 0; a < 3; a++) free(want[a]);
    free(first), free(s);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------- */

static void run_rows(sheet *s, const rung_chunk_kernels *kern)
{
    kern->scale_rows(s->y[0], ROW, s->x[0], ROW, s->x[1], s->n, s->d);
    kern->add_rows(s->y[0], ROW, s->x[2], ROW, s->x[3], s->n, s->d);
    kern->multiply_rows(s->y[1], ROW, s->x[0], ROW, s->x[4], 0, s->n, s->d);
    kern->add_products(s->y[1], ROW, s->x[5], ROW, s->x[6], ROW, s->n, s->d);
    kern->dot_rows(s->y[2], s->x[0], ROW, s->x[1], ROW, s->n, s->d);
}

static void define_rows(double *want[3], const sheet *s)
{
    for (size_t t = 0; t < s->n; t++) {
        want[2][t] = 0;
        for (size_t i = 0; i < s->d; i++) {
            size_t at = t * ROW + i;
            want[0][at] = (double)s->x[1][t] * s->x[0][at] + (double)s->x[3][t] * s->x[2][at];
            want[1][at] = (double)s->x[0][at] * s->x[4][i] + (double)s->x[5][at] * s->x[6][at];
            want[2][t] += (double)s->x[0][at] * s->x[1][at];
        }
    }
}

static void rows_are_scaled_added_and_multiplied(void **state)
{
    (void)state;
    check("rows", C, run_rows, define_rows);
}

/* ---- products and maps --------------------------------------------------------------------------------------------- */

/* A product of every form: x in rows or transposed, w in panels or in rows, y replaced or added to. */
static rung_product product_of(sheet *s, size_t rows, size_t inner, size_t cols, int form)
{
    bool flipped = form & 1, in_rows = form & 2, adds = form & 4;
    return (rung_product){.y = s->y[0],
                          .x = s->x[0],
                          .panels = s->x[1],
                          .start = adds ? s->y[0] : NULL,
                          .rows = rows,
                          .cols = cols,
                          .inner = inner,
                          .y_row = ROW,
                          .x_row = flipped ? 1 : ROW,
                          .x_inner = flipped ? ROW : 1,
                          .w_row = in_rows ? ROW : 0,
                          .start_row = ROW,
                          .panel_rows = in_rows ? 0 : inner + form % 3};
}

static void small_products_have_the_bytes_of_large_ones(void **state)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 16, 27, 32};
    sheet *drawn = malloc(sizeof *drawn), *small = malloc(sizeof *small), *large = malloc(sizeof *large);
    (void)state;
    assert_true(drawn && small && large);
    draw_sheet(drawn, C, D_MAX, 5);
    unsetenv("RUNG_ISA");
    rung_cpu_forget();
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (int form = 0; form < 8; form++)
            for (size_t i = 0; i < RUNG_COUNT(sizes); i++)
                for (size_t k = 0; k < RUNG_COUNT(sizes); k++)
                    for (size_t j = 1; j <= D_MAX; j += j % 16 == 1 ? 14 : 1) {
                        *small = *drawn, *large = *drawn;
                        rung_product p = product_of(small, sizes[i], sizes[k], j, form);
                        rung_chunk_kernels_of((rung_isa)isa)->product(&p);
                        p = product_of(large, sizes[i], sizes[k], j, form);
                        rung_kernels_of((rung_isa)isa)->multiply(&p);
                        assert_memory_equal(small->y, large->y, sizeof small->y);
                    }
    free(drawn), free(small), free(large);
}

static void run_elu1(sheet *s, const rung_chunk_kernels *kern)
{
    for (size_t i = 0; i < ROOM; i++) s->x[0][i] *= i % 5 ? 1 : i % 2 ? 100 : 1e-6f;
    s->x[0][0] = NAN;
    kern->elu1(s->y[0], ROW, s->x[0], ROW, s->n, s->d);
    assert_true(isnan(s->y[0][0]));
    s->y[0][0] = 0;
}

static void define_elu1(double *want[3], const sheet *s)
{
    for (size_t t = 0; t < s->n; t++)
        for (size_t i = 0; i < s->d; i++) {
            size_t at = t * ROW + i;
            float x = s->x[0][at] * (at % 5 ? 1 : at % 2 ? 100 : 1e-6f);
            want[0][at] = x > 0 ? (double)x + 1 : x < -86.9f ? 0 : exp((double)x);
        }
    want[0][0] = 0;
}

static void the_feature_map_is_continuous_and_keeps_a_nan(void **state)
{
    (void)state;
    check("elu1", C, run_elu1, define_elu1);
}

/* Against the C library, and the same bytes as the exponential of plain arrays. */
static void exponentials_of_rows_reach_from_zero_to_infinity(void **state)
{
    enum { COUNT = 61, ROWS = 3, APART = COUNT + 2 };
    float x[ROWS * APART] = {0}, y[ROWS * APART], plain[COUNT];
    (void)state;
    for (size_t t = 0; t < ROWS; t++)
        for (size_t i = 0; i < COUNT; i++) x[t * APART + i] = ((float)i - 30) * (t ? (float)t / 16 : 3.1f);
    x[3] = INFINITY, x[4] = -INFINITY, x[5] = 88.72f, x[6] = 88.73f, x[7] = -86.9f, x[8] = -87, x[9] = -0.0f;
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++) {
        for (size_t i = 0; i < ROWS * APART; i++) y[i] = 7;
        rung_chunk_kernels_of((rung_isa)isa)->exp_rows(y, APART, x, APART, ROWS, COUNT);
        for (size_t t = 0; t < ROWS; t++) {
            rung_kernels_of((rung_isa)isa)->exp(plain, x + t * APART, COUNT);
            assert_memory_equal(y + t * APART, plain, sizeof plain);
            assert_true(y[t * APART + COUNT] == 7);
            for (size_t i = 0; i < COUNT; i++) {
                double at = x[t * APART + i], want = at < -86.9f ? 0 : at > 88.725 ? INFINITY : exp(at);
                assert_true(y[t * APART + i] == want || fabs(y[t * APART + i] - want) < 2e-7 * want);
            }
        }
        float odd[2] = {NAN, -NAN}, got[2];
        rung_chunk_kernels_of((rung_isa)isa)->exp_rows(got, 2, odd, 2, 1, 2);
        assert_true(isnan(got[0]) && isnan(got[1]));
    }
}

/* z in the order of the tokens, in double. */
static void run_norms(sheet *s, const rung_chunk_kernels *kern)
{
    kern->running_norms(s->y[0], s->y[1], s->x[0], s->x[1], s->n, s->d);
}

static void define_norms(double *want[3], const sheet *s)
{
    for (size_t t = 0; t < s->n; t++) {
        want[0][t] = 0;
        for (size_t i = 0; i < s->d; i++) {
            want[1][i] += s->x[1][t * s->d + i];
            want[0][t] += want[1][i] * s->x[0][t * s->d + i];
        }
    }
}

static void normalisers_run_along_the_tokens(void **state)
{
    (void)state;
    check("norms", C, run_norms, define_norms);
}

/* ---- the state ------------------------------------------------------------------------------------------------------ */

enum { KEYS_MOST = 33 };

static size_t keys_of(const sheet *s)
{
    return s->d < KEYS_MOST ? s->d : KEYS_MOST;
}

static size_t in_panel(size_t row, size_t col, size_t rows)
{
    return col / RUNG_PANEL * RUNG_PANEL * rows + row * RUNG_PANEL + col % RUNG_PANEL;
}

/* With and without factors, and with pairs up to the diagonal or of one length. */
static rung_chunk_read reading(sheet *s)
{
    return (rung_chunk_read){.o = s->y[0],
                             .x = s->x[0],
                             .S = s->x[1],
                             .before = s->n % 3 ? s->w : NULL,
                             .pairs = s->x[2],
                             .values = s->x[3],
                             .after = s->n % 2 ? s->w + C : NULL,
                             .o_row = ROW,
                             .x_row = ROW,
                             .n = s->n,
                             .dk = keys_of(s),
                             .dv = s->d,
                             .value_rows = s->n,
                             .inner = s->n % 4 == 3 ? s->n - 1 : 0,
                             .next = {{s->x[4], ROW, s->n, s->d}, {s->x[5], ROW, 3, 5}}};
}

static void run_read(sheet *s, const rung_chunk_kernels *kern)
{
    rung_chunk_read p = reading(s);
    assert_true(kern->read_state(&p));
}

static void define_read(double *want[3], const sheet *s)
{
    rung_chunk_read p = reading((sheet *)s);
    for (size_t t = 0; t < p.n; t++)
        for (size_t c = 0; c < p.dv; c++) {
            size_t met = p.inner ? p.inner : t / 8 * 8 + 8;
            double sum = 0;
            for (size_t i = 0; i < p.dk; i++) sum += (double)p.x[t * ROW + i] * p.S[in_panel(i, c, p.dk)];
            if (p.before) sum *= p.before[t];
            for (size_t j = 0; j < met && j < p.n; j++)
                sum += (double)p.pairs[t * C + j] * p.values[in_panel(j, c, p.n)];
            want[0][t * ROW + c] = p.after ? sum * p.after[t] : sum;
        }
}

static void a_chunk_reads_its_state_and_its_pairs(void **state)
{
    (void)state;
    check("reading", C, run_read, define_read);
}

static void an_output_that_is_not_finite_is_told(void **state)
{
    static const float bad[] = {NAN, INFINITY};
    sheet *s = malloc(sizeof *s);
    (void)state;
    assert_non_null(s);
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (size_t at = 0; at < 41; at += 4)
            for (size_t i = 0; i < RUNG_COUNT(bad); i++) {
                draw_sheet(s, 13, 41, at);
                rung_chunk_read p = reading(s);
                s->x[3][in_panel(at % 8, at, 13)] = bad[i];
                assert_false(rung_chunk_kernels_of((rung_isa)isa)->read_state(&p));
            }
    free(s);
}

/* x in rows of tokens or in rows of channels; a decay for all, for each, or none. */
static rung_chunk_leave leaving(sheet *s)
{
    bool by_token = s->n % 2;
    return (rung_chunk_leave){.S = s->y[0],
                              .x = s->x[0],
                              .values = s->x[1],
                              .fade = s->n % 4 ? s->w : NULL,
                              .x_row = by_token ? 1 : ROW,
                              .x_inner = by_token ? ROW : 1,
                              .fade_step = s->n % 3 != 0,
                              .n = s->n,
                              .dk = keys_of(s),
                              .dv = s->d,
                              .value_rows = s->n,
                              .next = {{s->x[4], ROW, s->n, s->d}}};
}

static void run_leave(sheet *s, const rung_chunk_kernels *kern)
{
    rung_chunk_leave p = leaving(s);
    for (size_t i = 0; i < ROOM; i += 3) s->y[0][i] *= 1e-31f;
    p.n = 0;
    kern->leave_state(&p); /* with nothing to add, what fades below 2^-102 is 0 */
    for (size_t i = 0; p.fade && i < p.dk; i++)
        for (size_t c = 0; c < p.dv; c++) {
            float left = fabsf(p.S[in_panel(i, c, p.dk)]);
            assert_true(left == 0 || left >= 0x1p-102f);
        }
    p.n = s->n;
    kern->leave_state(&p);
}

static void define_leave(double *want[3], const sheet *s)
{
    rung_chunk_leave p = leaving((sheet *)s);
    for (size_t i = 0; i < ROOM; i += 3) want[0][i] *= 1e-31;
    for (size_t i = 0; i < p.dk; i++)
        for (size_t c = 0; c < (p.dv + 15) / 16 * 16; c++) {
            double *S = &want[0][in_panel(i, c, p.dk)], fade = p.fade ? p.fade[i * p.fade_step] : 1;
            *S *= fade * fade;
            for (size_t j = 0; j < p.n; j++)
                *S += (double)p.x[i * p.x_row + j * p.x_inner] * p.values[in_panel(j, c, p.n)];
        }
}

static void a_chunk_leaves_its_values_in_the_state(void **state)
{
    (void)state;
    check("leaving", C, run_leave, define_leave);
}

/* ---- what fades ---------------------------------------------------------------------------------------------------- */

static void run_fade(sheet *s, const rung_chunk_kernels *kern)
{
    for (size_t i = 0; i < ROOM; i += 3) s->y[0][i] *= 1e-31f;
    s->y[1][0] = NAN;
    kern->fade_rows(s->y[0], ROW, s->w, 1, s->n, s->d);
    kern->fade_rows(s->y[1], ROW, s->w, 0, s->n, s->d);
    assert_true(isnan(s->y[1][0]));
    s->y[1][0] = 0;
    for (size_t t = 0; t < s->n; t++)
        for (size_t i = 0; i < s->d; i++) {
            float left = fabsf(s->y[0][t * ROW + i]);
            assert_true(left == 0 || left >= 0x1p-102f);
        }
}

static void define_fade(double *want[3], const sheet *s)
{
    for (size_t i = 0; i < ROOM; i += 3) want[0][i] *= 1e-31;
    for (size_t t = 0; t < s->n; t++)
        for (size_t i = 0; i < s->d; i++) want[0][t * ROW + i] *= s->w[t], want[1][t * ROW + i] *= s->w[0];
    want[1][0] = 0;
}

static void what_fades_away_becomes_zero(void **state)
{
    (void)state;
    check("fade", C, run_fade, define_fade);
}

static void a_number_that_is_not_finite_is_seen_wherever_it_is(void **state)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    float x[5 * 20];
    (void)state;
    for (int isa = RUNG_ISA_REF; isa <= (int)rung_cpu_isa(); isa++)
        for (size_t d = 1; d <= 20; d++)
            for (size_t at = 0; at < 5 * d; at++) {
                const rung_chunk_kernels *kern = rung_chunk_kernels_of((rung_isa)isa);
                for (size_t i = 0; i < RUNG_COUNT(x); i++) x[i] = i < 5 * d ? 1e38f : NAN;
                assert_true(kern->finite_rows(x, d, 5, d));
                x[at] = bad[at % 3];
                assert_false(kern->finite_rows(x, d, 5, d));
            }
}

/* ---- pairs -------------------------------------------------------------------------------------------------------------- */

static double decay(const sheet *s, size_t t, size_t from, size_t channel, size_t row)
{
    double product = 1;
    for (size_t r = from + 1; r <= t; r++) product *= s->w[r * row + channel];
    return product;
}

static void run_pairs(sheet *s, const rung_chunk_kernels *kern)
{
    float *E = s->y[0];
    kern->pair_decays(E, s->w, s->n);
    kern->mask_pairs(s->y[1], E, s->n, s->d % 2, -1);
    kern->mask_pairs(s->y[2], NULL, s->n, s->d % 2, 1);
    kern->add_weights(s->y[2], s->x[0], s->x[1], s->n, s->d % 2);
}

static void define_pairs(double *want[3], const sheet *s)
{
    for (size_t t = 0; t < s->n; t++)
        for (size_t u = 0; u < C; u++) {
            size_t at = t * C + u;
            bool seen = u + s->d % 2 <= t;
            want[0][at] = u <= t ? decay(s, t, u, 0, 1) : 0;
            want[1][at] = seen ? -want[1][at] * want[0][at] : 0;
            want[2][at] = seen ? want[2][at] + (double)s->x[0][at] * s->x[1][at] : 0;
        }
}

static void pairs_fade_and_later_tokens_are_not_seen(void **state)
{
    (void)state;
    check("pairs", C, run_pairs, define_pairs);
}

static void run_decays(sheet *s, const rung_chunk_kernels *kern)
{
    kern->sum_decays(s->y[0], 3, s->x[0], s->x[1], s->x[2], s->x[3][0], s->n);
}

/* x[0] is W transposed. */
static void define_decays(double *want[3], const sheet *s)
{
    for (size_t r = 0; r < s->n; r++) {
        double sum = s->x[3][0];
        for (size_t t = r; t < s->n; t++) sum += s->x[1][t];
        for (size_t u = 0; u < r; u++) sum += s->x[2][u];
        for (size_t t = r; t < s->n; t++)
            for (size_t u = 0; u < r; u++) sum += s->x[0][u * C + t];
        want[0][r * 3] += sum;
    }
}

/* W has no pairs s >= t, and none beyond the chunk. */
static void run_masked_decays(sheet *s, const rung_chunk_kernels *kern)
{
    for (size_t u = 0; u < C; u++)
        for (size_t t = 0; t < C; t++)
            if (t >= s->n) s->x[0][u * C + t] = 0;
    run_decays(s, kern);
}

static void a_decay_has_the_weights_of_all_pairs_across_it(void **state)
{
    (void)state;
    check("decays", C, run_masked_decays, define_decays);
}

static size_t level_of(size_t t, size_t s, size_t levels)
{
    size_t level = 0;
    for (size_t x = t ^ s; x; x /= 2) level++;
    return level < levels ? level : levels - 1;
}

static void run_levels(sheet *s, const rung_chunk_kernels *kern)
{
    size_t levels = s->d % 8 + 1;
    kern->weigh_levels(s->y[0], s->x[0], 9, levels, s->n);
    kern->sum_levels(s->y[1], 9, levels, s->x[1], s->x[2], s->n);
}

static void define_levels(double *want[3], const sheet *s)
{
    size_t levels = s->d % 8 + 1;
    for (size_t t = 0; t < s->n; t++)
        for (size_t u = 0; u < C; u++) {
            size_t at = t * C + u, level = level_of(t, u, levels);
            want[0][at] *= s->x[0][t * 9 + level];
            want[1][t * 9 + level] += (double)s->x[1][at] * s->x[2][at];
        }
}

static void pairs_are_weighed_by_the_digit_where_they_differ(void **state)
{
    (void)state;
    check("levels", C, run_levels, define_levels);
}

/* ---- triangles ------------------------------------------------------------------------------------------------------------- */

enum { SYSTEM = 8, WIDE = 96 };

static void run_solve(sheet *s, const rung_chunk_kernels *kern)
{
    size_t rows = (s->n - 1) % SYSTEM + 1;
    for (size_t i = 0; i < ROOM; i++) s->x[0][i] *= 0.3f;
    kern->solve_block(s->y[0], s->y[1], WIDE, s->x[0], C, 1, s->x[1], rows, s->d, SYSTEM, s->n % 2);
}

static void define_solve(double *want[3], const sheet *s)
{
    size_t rows = (s->n - 1) % SYSTEM + 1, whole = (s->d + 15) / 16 * 16;
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < whole; c++) {
            size_t t = s->n % 2 ? rows - 1 - i : i;
            for (size_t j = 0; j < i; j++) {
                size_t u = s->n % 2 ? rows - 1 - j : j;
                want[1][t * WIDE + c] +=
                    (double)(0.3f * s->x[0][t * C + u]) * want[0][c / 32 * 32 * SYSTEM + u * 32 + c % 32];
            }
            want[0][c / 32 * 32 * SYSTEM + t * 32 + c % 32] = s->x[1][t] * want[1][t * WIDE + c];
        }
}

static void a_triangular_system_is_solved_from_either_end(void **state)
{
    (void)state;
    check("system", C, run_solve, define_solve);
}

/* ---- a decay per channel ---------------------------------------------------------------------------------------------------- */

static void run_channels(sheet *s, const rung_chunk_kernels *kern)
{
    kern->channel_decays(s->y[0], s->y[1], s->w, s->n, s->d);
    kern->channel_pairs(s->y[2], s->y[2] + SUB * C, s->x[0], ROW, s->x[1], ROW, s->w, s->n, s->d);
    if (s->n % 2) kern->channel_pairs(s->y[2], NULL, s->x[0], ROW, s->x[1], ROW, s->w, s->n, s->d);
}

static void define_channels(double *want[3], const sheet *s)
{
    size_t d = s->d;
    for (size_t t = 0; t < s->n; t++) {
        for (size_t i = 0; i < d; i++) {
            want[0][t * d + i] = s->w[i] * decay(s, t, 0, i, d);
            want[1][t * d + i] = decay(s, s->n - 1, t, i, d);
        }
        for (size_t u = 0; u <= t; u++) {
            double by_q = 0, by_k = 0;
            for (size_t i = 0; i < d; i++) {
                double key = s->x[1][u * ROW + i] * decay(s, t, u, i, d);
                by_q += s->x[0][t * ROW + i] * key;
                by_k -= s->x[1][t * ROW + i] * key;
            }
            want[2][t * C + u] = by_q;
            want[2][SUB * C + t * C + u] = u < t ? by_k : 0;
        }
        for (size_t u = t + 1; u < SUB; u++) want[2][t * C + u] = want[2][SUB * C + t * C + u] = 0;
    }
}

static void pairs_fade_by_channel(void **state)
{
    (void)state;
    check("channels", SUB, run_channels, define_channels);
}

static void run_undo_channels(sheet *s, const rung_chunk_kernels *kern)
{
    static float faded[SUB * D_MAX];
    kern->undo_channel_pairs(s->y[0], ROW, s->y[1], ROW, s->y[2], ROW, s->x[2], s->x[0], ROW, s->x[1], ROW, s->w, s->n,
                             s->d, s->n % 2, faded);
    kern->sum_channel_decays(s->y[2], ROW, s->x[3], s->x[4], s->x[5], s->n, s->d);
}

static void define_undo_channels(double *want[3], const sheet *s)
{
    size_t d = s->d;
    for (size_t i = 0; i < d; i++)
        for (size_t t = 0; t < s->n; t++) {
            for (size_t u = 0; u + s->n % 2 <= t; u++) {
                double weight = s->x[2][t * C + u] * decay(s, t, u, i, d);
                want[0][t * ROW + i] += weight * s->x[1][u * ROW + i];
                want[1][u * ROW + i] += weight * s->x[0][t * ROW + i];
                for (size_t r = u + 1; r <= t; r++)
                    want[2][r * ROW + i] += weight * s->x[1][u * ROW + i] * s->x[0][t * ROW + i];
            }
            want[2][t * ROW + i] += s->x[5][i];
            for (size_t r = 0; r <= t; r++) want[2][r * ROW + i] += s->x[3][t * d + i];
            for (size_t u = 0; u < t; u++) want[2][t * ROW + i] += s->x[4][u * d + i];
        }
}

static void gradients_of_channels_are_those_of_their_pairs(void **state)
{
    (void)state;
    check("channels, backwards", SUB, run_undo_channels, define_undo_channels);
}

/* x[0] to x[3] are q, a, b and k. */
static void run_crossed_pairs(sheet *s, const rung_chunk_kernels *kern)
{
    kern->crossed_pairs(s->y[0], s->y[1], s->x[0], s->x[1], s->x[2], s->x[3], ROW, s->w, ROW, s->n, s->d);
}

static double faded_meeting(const float *query, const float *key, size_t s, size_t t, const sheet *x)
{
    double sum = 0;
    for (size_t i = 0; i < x->d; i++) {
        double term = (double)query[i] * key[s * ROW + i];
        for (size_t r = s + 1; r <= t; r++) term *= x->w[r * ROW + i];
        sum += term;
    }
    return sum;
}

static void define_crossed_pairs(double *want[3], const sheet *s)
{
    for (size_t t = 0; t < s->n; t++) {
        for (size_t j = 0; j < C; j++) want[0][t * C + j] = want[1][t * C + j] = 0;
        for (size_t j = 0; j <= t; j++)
            for (size_t key = 0; key < 2; key++) {
                want[0][t * C + key * SUB + j] = faded_meeting(s->x[0] + t * ROW, s->x[2 + key], j, t, s);
                if (j == t) continue;
                want[1][t * C + key * SUB + j] = faded_meeting(s->x[1] + t * ROW, s->x[2 + key], j, t - 1, s);
            }
    }
}

static void two_queries_meet_two_keys(void **state)
{
    (void)state;
    check("crossed pairs", SUB, run_crossed_pairs, define_crossed_pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_scaled_added_and_multiplied),
        cmocka_unit_test(small_products_have_the_bytes_of_large_ones),
        cmocka_unit_test(the_feature_map_is_continuous_and_keeps_a_nan),
        cmocka_unit_test(exponentials_of_rows_reach_from_zero_to_infinity),
        cmocka_unit_test(normalisers_run_along_the_tokens),
        cmocka_unit_test(a_chunk_reads_its_state_and_its_pairs),
        cmocka_unit_test(an_output_that_is_not_finite_is_told),
        cmocka_unit_test(a_chunk_leaves_its_values_in_the_state),
        cmocka_unit_test(what_fades_away_becomes_zero),
        cmocka_unit_test(a_number_that_is_not_finite_is_seen_wherever_it_is),
        cmocka_unit_test(pairs_fade_and_later_tokens_are_not_seen),
        cmocka_unit_test(a_decay_has_the_weights_of_all_pairs_across_it),
        cmocka_unit_test(pairs_are_weighed_by_the_digit_where_they_differ),
        cmocka_unit_test(a_triangular_system_is_solved_from_either_end),
        cmocka_unit_test(pairs_fade_by_channel),
        cmocka_unit_test(gradients_of_channels_are_those_of_their_pairs),
        cmocka_unit_test(two_queries_meet_two_keys),
    };
    return cmocka_run_group_tests_name("kern: chunks", tests, NULL, NULL);
}
