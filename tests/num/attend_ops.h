/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The short roundings of the attention kernel against MPFR and rationals, for lanes of one type: the file that includes
 * this one has defined real, real_bits, REAL_MANTISSA, real_fma and LANES_NAME. Sums and products of every pair of values
 * of the small formats, and of operands biased to ties, subnormals and the ends of the range in the large ones.
 */
#include "num/reference.h"

#include "../../src/num/lanes.h"

#include "../../src/num/attend.h"

typedef real lanes __attribute__((vector_size(VECTOR_BYTES)));

static inline lanes fma_lanes(lanes a, lanes b, lanes c)
{
    for (size_t l = 0; l < VECTOR_BYTES / sizeof(real); l++) a[l] = real_fma(a[l], b[l], c[l]);
    return a;
}

static inline void exp_lanes(lanes *x, size_t count, const void *context)
{
    (void)x, (void)count, (void)context; /* not under test here */
}

#include "../../src/num/attend_plain.h"

#include "../../src/num/attend_lanes.h"

static grid grid_of(const rung_fmt *fmt)
{
    return (grid){.split = (real)ldexp(1, REAL_MANTISSA - fmt->mantissa_bits) + 1,
                  .magic = (real)(ldexp(1.5, REAL_MANTISSA) * fmt->spacing),
                  .low = (real)fmt->smallest,
                  .high = (real)fmt->largest};
}

static kind kind_of(const rung_fmt *fmt)
{
    if (fmt->kind == RUNG_FMT_FIXED) return KIND_FIXED;
    return fmt->mantissa_bits == REAL_MANTISSA ? KIND_NATIVE : KIND_FLOAT;
}

/* The sign of a zero is not promised. */
static bool agrees(real got, double want)
{
    return (got == 0 && want == 0) || ref_same((double)got, want);
}

static void check_pair(const rung_fmt *fmt, const grid *g, double a, double b)
{
    const kind k = kind_of(fmt);
    const double product = ref_arith(fmt, REF_MUL, a, b), sum = ref_arith(fmt, REF_ADD, a, b);
    const lanes x = all_lanes((real)a), y = all_lanes((real)b), split_y = y * g->split;
    if (isfinite(sum)) {
        const real got = sum_of(g, k, x + y)[0];
        if (!agrees(got, sum)) fail_msg("%s %s: %a + %a is %a, not %a", LANES_NAME, fmt->name, a, b, (double)got, sum);
    }
    if (!isfinite(product) || fabs(a * b) > 0x1p900) return;
    const real got = product_of(g, (shape){k, true, false}, x, y, split_y)[0];
    if (!agrees(got, product))
        fail_msg("%s %s: %a * %a is %a, not %a", LANES_NAME, fmt->name, a, b, (double)got, product);
    if (fabs(a * b) < fmt->least_normal && a * b != 0) return;
    if (k == KIND_FIXED && (a * b > fmt->largest || a * b < fmt->smallest)) return;
    const real quick = product_of(g, (shape){k, false, false}, x, y, split_y)[0];
    if (!agrees(quick, product))
        fail_msg("%s %s: %a * %a is %a without care, not %a", LANES_NAME, fmt->name, a, b, (double)quick, product);
}

/* The lanes round up to 2^limit only; see attend_isa.c. */
static bool in_range(double x)
{
    return isfinite(x) && fabs(x) <= (sizeof(real) == 4 ? 0x1p100 : 0x1p960);
}

static void all_pairs(const rung_fmt *fmt)
{
    const grid g = grid_of(fmt);
    ref_begin(fmt);
    for (uint64_t a = 0; a < UINT64_C(1) << fmt->bits; a++)
        for (uint64_t b = 0; b < UINT64_C(1) << fmt->bits; b++) {
            const double x = ref_value(fmt, a), y = ref_value(fmt, b);
            if (in_range(x) && in_range(y)) check_pair(fmt, &g, x, y);
        }
    ref_end();
}

static void biased_pairs(const rung_fmt *fmt, size_t count, rung_rng *rng)
{
    const grid g = grid_of(fmt);
    ref_begin(fmt);
    for (size_t i = 0; i < count; i++) {
        double x, y;
        ref_draw(rng, fmt, i % 2 ? REF_ADD : REF_MUL, &x, &y);
        if (in_range(x) && in_range(y) && in_range(x * y)) check_pair(fmt, &g, x, y);
    }
    ref_end();
}
