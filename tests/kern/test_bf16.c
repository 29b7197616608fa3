/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * kern: products of bf16 numbers. The reference against MPFR, operation by operation; the same bytes from every
 * instruction set, and from VDPBF16PS where the machine has it, on random and on hard numbers; rounding to words
 * against MPFR.
 */
#include "rung/kern.h"

#include <math.h>
#include <mpfr.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "effort.h"
#include <cmocka.h>

#define CANARY 0x1.5p30f

static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

typedef enum kind { ORDINARY, ANY, NEAR_TINY, HALF_TINY, SPECIAL, KINDS } kind;

/* A float of a kind. NEAR_TINY: of both sides of 2^-126. HALF_TINY: near 2^-63 and 2^-75, whose products are that small
 * or half a unit of it. SPECIAL: zeros, infinities, NaN, the largest. */
static float draw(rung_rng *rng, kind k)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0x7f7f0000, 0xff7fffff, 0x00800000, 0x007fffff, 0x00000001,
                                       0x3f800000, 0x807f0000, 0x7f7f8000};
    uint32_t sign = (uint32_t)rung_rng_below(rng, 2) << 31, fraction = (uint32_t)rung_rng_below(rng, 1 << 23);
    uint64_t shape = rung_rng_below(rng, 4);
    if (shape == 0) fraction = 0;
    if (shape == 1) fraction |= 0x7f0000;
    switch (k) {
    case ORDINARY:
        return (float)rung_rng_normal(rng);
    case ANY:
        return of_bits(sign | (uint32_t)rung_rng_below(rng, 255) << 23 | fraction);
    case NEAR_TINY:
        return of_bits(sign | (uint32_t)rung_rng_below(rng, 5) << 23 | fraction);
    case HALF_TINY:
        return of_bits(sign | (uint32_t)(127 - (rung_rng_below(rng, 2) ? 63 : 75) + rung_rng_below(rng, 3) - 1) << 23 |
                       fraction);
    default:
        return of_bits(special[rung_rng_below(rng, RUNG_COUNT(special))]);
    }
}

static void draw_all(float *x, size_t n, rung_rng *rng, kind k)
{
    for (size_t i = 0; i < n; i++) x[i] = draw(rng, k);
}

/* ---- MPFR -------------------------------------------------------------------------------------------------------- */

/* Rounded to `bits` bits with any exponent, then 0 below 2^-126. Infinite beyond what a float holds. */
static float settle(mpfr_t exact, mpfr_prec_t bits)
{
    mpfr_t r;
    mpfr_init2(r, bits);
    mpfr_set(r, exact, MPFR_RNDN);
    float out = mpfr_number_p(r) && !mpfr_zero_p(r) && mpfr_get_exp(r) <= -126 ? copysignf(0, mpfr_signbit(r) ? -1 : 1)
                                                                               : mpfr_get_flt(r, MPFR_RNDN);
    mpfr_clear(r);
    return out;
}

static float no_tiny(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float slow_fused(float a, float b, float c)
{
    mpfr_t x, y, z;
    mpfr_inits2(24, x, y, z, (mpfr_ptr)0);
    mpfr_t sum;
    mpfr_init2(sum, 1200); /* exact: the exponents of floats and of products of two of them span 650 */
    mpfr_set_flt(x, no_tiny(a), MPFR_RNDN), mpfr_set_flt(y, no_tiny(b), MPFR_RNDN);
    mpfr_set_flt(z, no_tiny(c), MPFR_RNDN);
    mpfr_fma(sum, x, y, z, MPFR_RNDN);
    float out = settle(sum, 24);
    mpfr_clears(x, y, z, sum, (mpfr_ptr)0);
    return out;
}

static float slow_rounded(float x)
{
    mpfr_t r;
    mpfr_init2(r, 24);
    mpfr_set_flt(r, no_tiny(x), MPFR_RNDN);
    float out = isnan(x) ? x : settle(r, 8);
    mpfr_clear(r);
    return out;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

enum { MOST_ROWS = 37, MOST_COLS = 71, MOST_INNER = 41 };

typedef struct sizes {
    size_t rows, cols, inner;
} sizes;

static const sizes shapes[] = {{1, 1, 1},   {1, 32, 2},   {2, 33, 3},   {3, 16, 8},   {4, 64, 7},
                               {5, 17, 5},  {8, 31, 16},  {9, 48, 9},   {12, 15, 11}, {14, 64, 32},
                               {15, 40, 1}, {29, 71, 41}, {37, 65, 40}, {28, 32, 32}, {13, 1, 20}};

/* Floats of a product, x as [rows][inner] and w as [inner][cols], and what the options of the product are. */
typedef struct job {
    sizes at;
    bool start, bias, factor, flipped, panels;
    float x[MOST_ROWS * MOST_INNER], w[MOST_INNER * MOST_COLS];
    float first[MOST_ROWS * MOST_COLS], offset[MOST_COLS], scale[MOST_ROWS * MOST_COLS];
    uint32_t x_words[MOST_ROWS * (MOST_INNER + 1)], w_words[2 * (MOST_INNER + 1) * (MOST_COLS + RUNG_PANEL)];
    float y[MOST_ROWS * (MOST_COLS + 1) + 1];
} job;

static void transpose(float *to, const float *from, size_t rows, size_t cols)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) to[c * rows + r] = from[r * cols + c];
}

static void make_words(job *j, const rung_bf16_kernels *kern)
{
    static float other[MOST_ROWS * MOST_INNER];
    static uint32_t rows[(MOST_INNER + 1) * MOST_COLS];
    size_t pairs = (j->at.inner + 1) / 2;
    if (j->flipped) {
        transpose(other, j->x, j->at.rows, j->at.inner);
        kern->pair_cols(j->x_words, other, j->at.inner, j->at.rows);
    } else {
        kern->pair_rows(j->x_words, j->x, j->at.rows, j->at.inner);
    }
    kern->pair_cols(j->panels ? rows : j->w_words, j->w, j->at.inner, j->at.cols);
    memset(j->panels ? j->w_words : rows, 0, 1);
    for (size_t k = 0; j->panels && k < pairs; k++)
        for (size_t c = 0; c < j->at.cols; c++)
            j->w_words[c / RUNG_PANEL * RUNG_PANEL * pairs + k * RUNG_PANEL + c % RUNG_PANEL] =
                rows[k * j->at.cols + c];
}

static void compute(job *j, const rung_bf16_kernels *kern)
{
    size_t pairs = (j->at.inner + 1) / 2;
    make_words(j, kern);
    for (size_t i = 0; i < RUNG_COUNT(j->y); i++) j->y[i] = CANARY;
    kern->multiply(&(rung_bf16_product){.y = j->y,
                                        .x = j->x_words,
                                        .w = j->w_words,
                                        .start = j->start ? j->first : NULL,
                                        .bias = j->bias ? j->offset : NULL,
                                        .factor = j->factor ? j->scale : NULL,
                                        .rows = j->at.rows,
                                        .cols = j->at.cols,
                                        .pairs = pairs,
                                        .y_row = j->at.cols + 1,
                                        .x_row = j->flipped ? 1 : pairs,
                                        .x_pair = j->flipped ? j->at.rows : 1,
                                        .w_row = j->panels ? 0 : j->at.cols,
                                        .start_row = j->at.cols});
}

static float slow_element(const job *j, size_t r, size_t c)
{
    float sum = j->bias ? j->offset[c] : 0;
    if (j->start) sum = slow_fused(1, j->first[r * j->at.cols + c], sum);
    for (size_t k = 0; k < j->at.inner; k += 2)
        for (size_t i = k + 2; i-- > k;) {
            bool there = i < j->at.inner;
            float x = there ? slow_rounded(j->x[r * j->at.inner + i]) : 0;
            float w = there ? slow_rounded(j->w[i * j->at.cols + c]) : 0;
            sum = slow_fused(x, w, sum);
        }
    if (!j->factor) return sum;
    return slow_fused(sum, j->scale[r * (j->at.cols + 1) + c],
                      copysignf(0, sum) * copysignf(1, j->scale[r * (j->at.cols + 1) + c]));
}

static void set_up(job *j, sizes at, unsigned options, rung_rng *rng, kind k)
{
    j->at = at;
    j->start = options & 1, j->bias = options >> 1 & 1, j->factor = options >> 2 & 1;
    j->flipped = options >> 3 & 1, j->panels = options >> 4 & 1;
    draw_all(j->x, at.rows * at.inner, rng, k);
    draw_all(j->w, at.inner * at.cols, rng, k);
    kind sums = k == HALF_TINY ? NEAR_TINY : k;
    draw_all(j->first, at.rows * at.cols, rng, sums);
    draw_all(j->offset, at.cols, rng, sums);
    draw_all(j->scale, at.rows * (at.cols + 1), rng, k == NEAR_TINY ? ORDINARY : sums);
}

static void assert_same(float a, float b, const job *j, size_t r, size_t c, const char *what)
{
    if (bits_of(a) != bits_of(b) && !(isnan(a) && isnan(b)))
        fail_msg("%s, %zu x %zu x %zu: element %zu, %zu is %a, not %a", what, j->at.rows, j->at.cols, j->at.inner, r, c,
                 (double)a, (double)b);
}

static void reference_agrees_with_mpfr(void **state)
{
    (void)state;
    static job j;
    rung_rng rng;
    rung_rng_init(&rng, 1, 2, 3);
    for (size_t s = 0; s < RUNG_COUNT(shapes) - effort(0, 4); s++)
        for (unsigned options = 0; options < 32; options += (unsigned)effort(1, 3))
            for (kind k = 0; k < KINDS; k++) {
                set_up(&j, shapes[s], options, &rng, k);
                compute(&j, rung_bf16_kernels_of(RUNG_ISA_REF, false));
                for (size_t r = 0; r < j.at.rows; r += 1 + j.at.rows / 6)
                    for (size_t c = 0; c < j.at.cols; c += 1 + j.at.cols / 9)
                        assert_same(j.y[r * (j.at.cols + 1) + c], slow_element(&j, r, c), &j, r, c, "ref");
                for (size_t r = 0; r < j.at.rows; r++) assert_true(j.y[r * (j.at.cols + 1) + j.at.cols] == CANARY);
            }
}

static void every_set_gives_the_same_bytes(void **state)
{
    (void)state;
    static job j, other;
    rung_rng rng;
    rung_rng_init(&rng, 4, 5, 6);
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    const rung_bf16_kernels *sets[] = {rung_bf16_kernels_of(RUNG_ISA_AVX2, false),
                                       rung_bf16_kernels_of(RUNG_ISA_AVX512, false),
                                       rung_bf16_kernels_of(RUNG_ISA_AVX512, true)};
    if (rung_cpu_bf16()) assert_non_null(sets[2]);
    for (size_t repeat = 0; repeat < effort(8, 1); repeat++)
        for (size_t s = 0; s < RUNG_COUNT(shapes); s++)
            for (unsigned options = 0; options < 32; options++)
                for (kind k = 0; k < KINDS; k++) {
                    set_up(&j, shapes[s], options, &rng, k);
                    other = j;
                    compute(&j, rung_bf16_kernels_of(RUNG_ISA_REF, false));
                    for (size_t i = 0; i < RUNG_COUNT(sets); i++) {
                        if (!sets[i]) continue;
                        compute(&other, sets[i]);
                        for (size_t r = 0; r < j.at.rows; r++)
                            for (size_t c = 0; c <= j.at.cols; c++)
                                assert_same(other.y[r * (j.at.cols + 1) + c], j.y[r * (j.at.cols + 1) + c], &j, r, c,
                                            sets[i]->name);
                    }
                }
}

/* A tie just below 2^-126: one unit of 2^-150 less stays below, half a unit becomes 2^-126. */
static void tiny_is_decided_after_rounding(void **state)
{
    (void)state;
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    static const struct {
        float factor, sum;
    } cases[] = {{-0x1p-75f, 0}, {-0x1p-76f, 0x1p-126f}, {-0x1.02p-76f, 0}, {-0x1p-77f, 0x1p-126f}};
    for (size_t i = 0; i < RUNG_COUNT(cases); i++)
        for (int odd = 0; odd < 2; odd++)
            for (int set = 0; set < 4; set++) {
                const rung_bf16_kernels *kern = rung_bf16_kernels_of((rung_isa)(set < 3 ? set : 2), set == 3);
                float first = 0x1p-126f, y = CANARY;
                uint32_t x = bits_of(cases[i].factor) >> 16, w = bits_of(0x1p-75f) >> 16;
                if (odd) x <<= 16, w <<= 16;
                if (!kern) continue;
                kern->multiply(&(rung_bf16_product){.y = &y,
                                                    .x = &x,
                                                    .w = &w,
                                                    .start = &first,
                                                    .rows = 1,
                                                    .cols = 1,
                                                    .pairs = 1,
                                                    .y_row = 1,
                                                    .x_row = 1,
                                                    .x_pair = 1,
                                                    .w_row = 1});
                assert_true(y == cases[i].sum);
            }
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void assert_word(uint32_t word, float even, float odd, const char *what)
{
    float a = of_bits(word << 16), b = of_bits(word & 0xffff0000);
    float e = slow_rounded(even), o = slow_rounded(odd);
    if ((bits_of(a) != bits_of(e) && !(isnan(a) && isnan(e))) || (bits_of(b) != bits_of(o) && !(isnan(b) && isnan(o))))
        fail_msg("%s: %a, %a became %a, %a, not %a, %a", what, (double)even, (double)odd, (double)a, (double)b,
                 (double)e, (double)o);
}

static void words_are_rounded_to_nearest(void **state)
{
    (void)state;
    static float x[7 * 77];
    static uint32_t out[7 * 78];
    rung_rng rng;
    rung_rng_init(&rng, 7, 8, 9);
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    for (int set = 0; set < 4; set++) {
        const rung_bf16_kernels *kern = rung_bf16_kernels_of((rung_isa)(set < 3 ? set : 2), set == 3);
        for (size_t cols = 1; kern && cols <= 77; cols += 1 + cols / 3)
            for (kind k = 0; k < KINDS; k++)
                for (size_t rows = 1; rows <= 7; rows += 3) {
                    size_t half = (cols + 1) / 2;
                    draw_all(x, rows * cols, &rng, k);
                    /* halves of the last place, to even and away from it */
                    for (size_t i = 0; i < rows * cols; i += 3) x[i] = of_bits((bits_of(x[i]) & 0xffff0000) | 0x8000);
                    kern->pair_rows(out, x, rows, cols);
                    for (size_t r = 0; r < rows; r++)
                        for (size_t c = 0; c < cols; c += 2)
                            assert_word(out[r * half + c / 2], x[r * cols + c], c + 1 < cols ? x[r * cols + c + 1] : 0,
                                        kern->name);
                    kern->pair_cols(out, x, rows, cols);
                    for (size_t r = 0; r < rows; r += 2)
                        for (size_t c = 0; c < cols; c++)
                            assert_word(out[r / 2 * cols + c], x[r * cols + c],
                                        r + 1 < rows ? x[(r + 1) * cols + c] : 0, kern->name);
                }
    }
}

/* ---- choice ------------------------------------------------------------------------------------------------------ */

static void environment_chooses(void **state)
{
    (void)state;
#if defined(__aarch64__)
    static const char *const names[] = {"ref", "neon"};
#else
    static const char *const names[] = {"ref", "avx2", "avx512", "avx512_bf16"};
#endif
    unsetenv("RUNG_ISA"), rung_cpu_forget();
    int best = rung_cpu_bf16() ? 3 : (int)rung_cpu_isa();
    assert_string_equal(rung_bf16_kernels_get()->name, names[best]);
    for (int i = 0; i < (int)RUNG_COUNT(names); i++) {
        setenv("RUNG_ISA", names[i], 1), rung_cpu_forget();
        assert_string_equal(rung_bf16_kernels_get()->name, names[i < best ? i : best]);
    }
    unsetenv("RUNG_ISA"), rung_cpu_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_agrees_with_mpfr),
        cmocka_unit_test(every_set_gives_the_same_bytes),
        cmocka_unit_test(tiny_is_decided_after_rounding),
        cmocka_unit_test(words_are_rounded_to_nearest),
        cmocka_unit_test(environment_chooses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
