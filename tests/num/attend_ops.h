/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The short roundings of the attention kernel against MPFR and rationals, for lanes of one type: the file that includes
 * this one has defined real, real_bits, REAL_MANTISSA, real_fma and LANES_NAME. Sums and products of every pair of values
 * of the small formats, and of operands biased to ties, subnormals and the ends of the range in the large ones.
 */
#include "num/reference.h"

#include "../../src/num/lanes.h"

static inline void exp_lanes(real *out, const real *gap, const void *context, size_t width)
{
    (void)context;
    memcpy(out, gap, width * sizeof *out); /* not under test here */
}

#include "../../src/num/attend_lanes.h"

static grid grid_of(const rung_fmt *fmt)
{
    return (grid){.unit = (real)ldexp(1.5, REAL_MANTISSA - fmt->mantissa_bits),
                  .least = (real)fmt->least_normal,
                  .magic = (real)fmt->grid_magic,
                  .low = (real)fmt->smallest,
                  .high = (real)fmt->largest};
}

static kind kind_of(const rung_fmt *fmt)
{
    if (fmt->kind == RUNG_FMT_FIXED) return KIND_FIXED;
    return fmt->mantissa_bits == REAL_MANTISSA ? KIND_NATIVE : KIND_FLOAT;
}

/* What the kernel takes for tiny products of the format. */
static tiny tiny_of(const rung_fmt *fmt)
{
    return fmt->exponent_bits == (sizeof(real) == 4 ? 8 : 11) ? TINY_FUSED : TINY_GRID;
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
    const real x = (real)a, y = (real)b;
    if (isfinite(sum)) {
        const real got = sum_of(g, k, x + y);
        if (!agrees(got, sum)) fail_msg("%s %s: %a + %a is %a, not %a", LANES_NAME, fmt->name, a, b, (double)got, sum);
    }
    if (!isfinite(product) || fabs(a * b) > 0x1p900) return;
    const real got = product_of(g, k, tiny_of(fmt), x, y);
    if (!agrees(got, product))
        fail_msg("%s %s: %a * %a is %a, not %a", LANES_NAME, fmt->name, a, b, (double)got, product);
    if (fabs(a * b) < fmt->least_normal && a * b != 0) return;
    const real quick = product_of(g, k, TINY_NEVER, x, y);
    if (!agrees(quick, product))
        fail_msg("%s %s: %a * %a is %a when not tiny, not %a", LANES_NAME, fmt->name, a, b, (double)quick, product);
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
