/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: decides whether a block of attention can be computed in lanes, and in which. The fast rounding of attend_lanes.h
 * is wrong for infinities. So this file first finds the largest and smallest magnitudes of queries, keys and values,
 * and derives bounds of every later number from them. docs/numbers.md has the proofs.
 */
#include "lanes.h"

#include "attend.h"
#include "vec.h"

/* Magnitudes are compared as the integers that their bits are; both have the same order. */
typedef struct extent {
    /* `least` is the least magnitude except zero, minus one, so that zero wraps to the largest integer */
    uint64_t largest, least;
} extent;

static const extent nothing_seen = {.least = UINT64_MAX};

static void look(extent *x, const double *row, size_t n)
{
    uint64_t largest = x->largest, least = x->least;
    for (size_t i = 0; i < n; i++) {
        const uint64_t size = bits_of(row[i]) & ~SIGN_BIT, less = size - 1;
        largest = size > largest ? size : largest;
        least = less < least ? less : least;
    }
    *x = (extent){largest, least};
}

/* Looks at `count` rows; in a single loop if they are adjacent in memory, in either direction. */
static void look_at_rows(extent *x, const double *first, ptrdiff_t stride, size_t count, size_t n)
{
    if (stride == -(ptrdiff_t)n) first += (ptrdiff_t)(count - 1) * stride, stride = -stride;
    if (stride == (ptrdiff_t)n)
        look(x, first, count * n);
    else
        for (size_t j = 0; j < count; j++) look(x, first + (ptrdiff_t)j * stride, n);
}

/* The largest and the least magnitude. If all numbers are zero, both are 1. */
typedef struct sizes {
    double largest, least; /* `least` ignores zeros */
} sizes;

static sizes summarise(const extent *x)
{
    if (x->largest == 0) return (sizes){1, 1};
    return (sizes){double_of(x->largest), double_of(x->least + 1)};
}

static sizes look_at_queries(const rung_attend *job)
{
    extent x = nothing_seen;
    for (size_t i = 0; i < job->dk; i++) look(&x, job->q + i * RUNG_ATTEND_LANES, job->lanes);
    return summarise(&x);
}

static void look_at_keys(sizes *k, sizes *v, size_t *keys, const rung_attend *job)
{
    extent key = nothing_seen, value = nothing_seen;
    *keys = 0;
    for (const rung_attend_run *r = job->run; r < job->run + job->runs; r++) {
        *keys += r->count;
        look_at_rows(&key, r->k, r->k_stride, r->count, job->dk);
        look_at_rows(&value, r->v, r->v_stride, r->count, job->dv);
    }
    *k = summarise(&key), *v = summarise(&value);
}

/* Returns the least e with x <= 2^e. */
static int exponent_above(double x)
{
    int e;
    return frexp(x, &e) == 0.5 ? e - 1 : e;
}

/* Returns the least e with n <= 2^e, but at most Y+1. A sum of values up to 2^f, rounded at each step, never exceeds
 * 2^(f+Y+1): there one more value is half a unit in the last place, and a tie goes to the even neighbour. */
static int growth(size_t n, int mantissa_bits)
{
    int e = 0;
    while (e <= mantissa_bits && ((size_t)1 << e) < n) e++;
    return e;
}

static int largest_of(int a, int b)
{
    return a > b ? a : b;
}

/* Bounds for floats. Unless something overflows, a product is at most 2^product, a score 2^scores, its difference to
 * the maximum 2^(scores+1), den at most 2^dens and num 2^nums. If these bounds do not exclude an overflow, the lanes
 * watch for one. A difference may overflow in any case if exp gives 0 for it, as it does for -inf. The lanes can round
 * up to 2^limit. A first score that equals `start` does not raise the maximum, but still gets the weight 1. */
static bool know_floats(attend_ranges *ranges, const rung_fmt *fmt, const rung_attend *job, int limit)
{
    const int Y = fmt->mantissa_bits, emin = ilogb(fmt->least_normal), emax = ilogb(fmt->largest);
    const sizes q = look_at_queries(job);
    sizes k, v;
    size_t keys;
    look_at_keys(&k, &v, &keys, job);
    if (!(q.largest < INFINITY) || !(v.largest < INFINITY) || !(q.largest * k.largest < INFINITY)) return false;
    const int product = largest_of(exponent_above(q.largest * k.largest), emin), scores = product + growth(job->dk, Y);
    const int dens = growth(keys, Y), nums = largest_of(exponent_above(v.largest), emin) + dens;
    const bool far_is_zero = 1.44 * ldexp(1, emax + 1) > Y + 2 - emin;
    if (exponent_above(k.largest) > limit) return false; /* the lanes multiply keys by up to 2^23 or 2^52 */
    if (product > emax || largest_of(largest_of(scores + 1, dens), nums) > limit) return false;
    if (scores + 1 > emax && !far_is_zero) return false;
    ranges->watch = largest_of(largest_of(scores, dens), nums) > emax;
    ranges->start = -ldexp(1, scores);
    ranges->careful_scores = q.least * k.least < 4 * fmt->least_normal; /* 4: a product of doubles may be rounded */
    ranges->tiny_weight = 4 * fmt->least_normal / v.least;
    return true;
}

/* Fixed point saturates inside the lanes, so only NaN must be excluded. Products need 2^51 units for the magic number,
 * in fp32 2^22 (larger ones saturate anyway), and exp needs more than F+1 bits. A weight is at most 1, so that e v never saturates. */
static bool know_fixed(attend_ranges *ranges, const rung_fmt *fmt, const rung_attend *job)
{
    sizes q = look_at_queries(job), k, v;
    size_t keys;
    if (!fmt->double_once_ok && (!HAVE_FMA || fmt->integer_bits + fmt->fraction_bits > 50 || fmt->fraction_bits > 44))
        return false;
    look_at_keys(&k, &v, &keys, job);
    ranges->start = fmt->smallest;
    ranges->careful_scores = q.largest * k.largest > fmt->largest;
    return q.largest < INFINITY && k.largest < INFINITY && v.largest < INFINITY;
}

bool WITH_SUFFIX(rung_attend)(const rung_fmt *fmt, double *num, double *den, const rung_attend *job)
{
    attend_ranges ranges = {0};
    if (fmt->kind == RUNG_FMT_FIXED) {
        if (!know_fixed(&ranges, fmt, job)) return false;
        const bool short_enough = HAVE_FMA && fmt->integer_bits + fmt->fraction_bits <= 22;
        return (short_enough ? WITH_SUFFIX(rung_attend_float) : WITH_SUFFIX(rung_attend_double))(fmt, num, den, job,
                                                                                                 &ranges);
    }
    const bool is_f32 = fmt->exponent_bits == 8 && fmt->mantissa_bits == 23;
    /* Without a fused operation a product of e8mY may lose bits below 2^-126 in fp32, one of e11mY below 2^-1022. */
    const bool narrow = is_f32 || (fmt->mantissa_bits <= 10 && fmt->exponent_bits <= (HAVE_FMA ? 8 : 7));
    if (!narrow && !fmt->double_once_ok && !HAVE_FMA) return false;
    if (!know_floats(&ranges, fmt, job, narrow ? 100 : 960)) return false;
    ranges.codes = narrow && !is_f32 ? rung_exp_codes(fmt) : NULL;
    if (narrow && (is_f32 || ranges.codes)) return WITH_SUFFIX(rung_attend_float)(fmt, num, den, job, &ranges);
    return WITH_SUFFIX(rung_attend_double)(fmt, num, den, job, &ranges);
}
