/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: softmax attention in lanes of 64 bits: f64, all floats, and fixed point.
 */
#include "lanes.h"

#include "attend.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(RUNG_NEON)
#include <arm_neon.h>
#endif

typedef double real;
typedef int64_t real_bits;
enum { REAL_MANTISSA = 52 };
typedef double lanes __attribute__((vector_size(VECTOR_BYTES)));

#if defined(__AVX512F__)
#define fma_lanes(a, b, c) _mm512_fmadd_pd(a, b, c)
#define max_lanes(a, b)    _mm512_max_pd(a, b)
#define min_lanes(a, b)    _mm512_min_pd(a, b)
#define is_any(x)          (_mm512_test_epi64_mask((__m512i)(x), (__m512i)(x)) != 0)
#define farther(a, b)      _mm512_range_pd(a, b, 11) /* the one with the larger magnitude */
#elif defined(__AVX2__) && defined(__FMA__)
#define fma_lanes(a, b, c) _mm256_fmadd_pd(a, b, c)
#define max_lanes(a, b)    _mm256_max_pd(a, b)
#define min_lanes(a, b)    _mm256_min_pd(a, b)
#define is_any(x)          (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#elif defined(RUNG_NEON)
#define fma_lanes(a, b, c) ((lanes)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#include "attend_plain.h"
#else
#define fma_lanes(a, b, c) ((a) * (b) + (c)) /* without a fused operation this is called only where a * b is exact */
#include "attend_plain.h"
#endif

/* In place. */
ALWAYS_INLINE void exp_lanes(lanes *x, size_t count, const void *context);

#include "attend_lanes.h"

/* In each copy of the loops the route is a constant. */
typedef struct exps {
    const rung_fmt *fmt;
    route way;
} exps;

enum { AT_ONCE = EXP_BLOCK / PER_VECTOR };

ALWAYS_INLINE void exp_lanes(lanes *x, size_t count, const void *context)
{
    const exps *by = context;
    const rung_fmt local = *by->fmt;
    for (size_t n = 0; n < count; n += AT_ONCE) {
        const size_t vectors = count - n < AT_ONCE ? count - n : AT_ONCE;
        double gap[EXP_BLOCK], out[EXP_BLOCK];
        memcpy(gap, x + n, vectors * sizeof *x);
        exp_block(&local, by->way, by->fmt, out, gap, vectors * PER_VECTOR);
        memcpy(x + n, out, vectors * sizeof *x);
    }
}

bool WITH_SUFFIX(rung_attend_double)(const rung_fmt *fmt, double *num, double *den, const rung_attend *job,
                                     const attend_ranges *ranges)
{
    const grid g = {.split = ldexp(1, REAL_MANTISSA - fmt->mantissa_bits) + 1,
                    .magic = fmt->grid_magic,
                    .low = fmt->smallest,
                    .high = fmt->largest,
                    .still = rung_num_round(fmt, 1),
                    .tiny_weight = ranges->tiny_weight};
    const exps f64 = {fmt, ROUTE_F64}, shorter = {fmt, ROUTE_FLOAT}, wide = {fmt, ROUTE_WIDE},
               fixed = {fmt, ROUTE_FIXED};
    if (fmt->is_f64) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_NATIVE, false, false}, &f64);
    if (fmt->kind == RUNG_FMT_FIXED)
        return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FIXED, false, false}, &fixed);
    if (fmt->exponent_bits == 11)
        return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, true, false}, &wide);
    if (ranges->watch) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, true, true}, &shorter);
    return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, true, false}, &shorter);
}
