/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: softmax attention in lanes of 32 bits: f32, whose operations the machine has; floats with Y <= 10 and X <= 8,
 * which are computed in fp32 and rounded once more; and fixed point with I+F <= 22.
 */
#include "lanes.h"

#include "attend.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(RUNG_NEON)
#include <arm_neon.h>
#endif

typedef float real;
typedef int32_t real_bits;
enum { REAL_MANTISSA = 23 };
typedef float lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t places __attribute__((vector_size(VECTOR_BYTES)));

#if defined(__AVX512F__)
#define fma_lanes(a, b, c) _mm512_fmadd_ps(a, b, c)
#define max_lanes(a, b)    _mm512_max_ps(a, b)
#define min_lanes(a, b)    _mm512_min_ps(a, b)
#define is_any(x)          (_mm512_test_epi32_mask((__m512i)(x), (__m512i)(x)) != 0)
#define farther(a, b)      _mm512_range_ps(a, b, 11) /* the one with the larger magnitude */
#elif defined(__AVX2__) && defined(__FMA__)
#define fma_lanes(a, b, c) _mm256_fmadd_ps(a, b, c)
#define max_lanes(a, b)    _mm256_max_ps(a, b)
#define min_lanes(a, b)    _mm256_min_ps(a, b)
#define is_any(x)          (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))
#elif defined(RUNG_NEON)
#define fma_lanes(a, b, c) ((lanes)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#include "attend_plain.h"
#else
#define fma_lanes(a, b, c) ((a) * (b) + (c)) /* called only where a * b is exact */
#include "attend_plain.h"
#endif

/* The context is a table, or a format and its route. */
typedef struct exps {
    const exp_codes *codes;
    const rung_fmt *fmt;
    route way;
} exps;

/* In place. */
ALWAYS_INLINE void exp_lanes(lanes *x, size_t count, const void *context);

#include "attend_lanes.h"

ALWAYS_INLINE lanes look_up(const float *table, places at)
{
#if defined(__AVX512F__)
    return _mm512_i32gather_ps((__m512i)at, table, 4);
#elif defined(__AVX2__)
    return _mm256_i32gather_ps(table, (__m256i)at, 4);
#else
    lanes out;
    for (size_t l = 0; l < PER_VECTOR; l++) out[l] = table[at[l]];
    return out;
#endif
}

/* Positive floats have the order of their bits, so codes can be compared as floats are. */
ALWAYS_INLINE void exp_by_table(lanes *x, size_t count, const exp_codes *codes)
{
    const lanes first = all_lanes(codes->least), last = all_lanes(codes->most);
    const float *table = codes->value - codes->first;
    const int shift = codes->shift;
    for (size_t n = 0; n < count; n++) {
        const lanes size = size_of(x[n]), inside = min_lanes(max_lanes(size, first), last);
        x[n] = look_up(table, (places)inside >> shift);
    }
}

enum { AT_ONCE = EXP_BLOCK / PER_VECTOR };

ALWAYS_INLINE void exp_in_double(float *out, const float *gap, const rung_fmt *fmt, route way, size_t n)
{
    double x[EXP_BLOCK], y[EXP_BLOCK];
    const rung_fmt local = *fmt;
    LANES
    for (size_t l = 0; l < n; l++) x[l] = (double)gap[l];
    exp_block(&local, way, fmt, y, x, n);
    LANES
    for (size_t l = 0; l < n; l++) out[l] = (float)y[l];
}

ALWAYS_INLINE void exp_lanes(lanes *x, size_t count, const void *context)
{
    const exps *by = context;
    if (by->codes) {
        exp_by_table(x, count, by->codes);
        return;
    }
    for (size_t n = 0; n < count; n += AT_ONCE) {
        const size_t vectors = count - n < AT_ONCE ? count - n : AT_ONCE;
        float row[EXP_BLOCK];
        memcpy(row, x + n, vectors * sizeof *x);
        exp_in_double(row, row, by->fmt, by->way, vectors * PER_VECTOR);
        memcpy(x + n, row, vectors * sizeof *x);
    }
}

bool WITH_SUFFIX(rung_attend_float)(const rung_fmt *fmt, double *num, double *den, const rung_attend *job,
                                    const attend_ranges *ranges)
{
    const exps table = {.codes = ranges->codes}, f32 = {.fmt = fmt, .way = ROUTE_FLOAT},
               fixed = {.fmt = fmt, .way = ROUTE_FIXED};
    grid g = {.low = (float)fmt->smallest,
              .high = (float)fmt->largest,
              .still = (float)rung_num_round(fmt, 1),
              .tiny_weight = (float)ranges->tiny_weight};
    if (fmt->kind == RUNG_FMT_FIXED) {
        g.magic = ldexpf(1.5F, REAL_MANTISSA - fmt->fraction_bits);
        return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FIXED, false, false}, &fixed);
    }
    g.split = ldexpf(1, REAL_MANTISSA - fmt->mantissa_bits) + 1;
    g.magic = ldexpf(1.5F, REAL_MANTISSA) * (float)fmt->spacing;
    if (!ranges->codes) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_NATIVE, false, false}, &f32);
    if (ranges->watch) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, true, true}, &table);
    return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, true, false}, &table);
}
