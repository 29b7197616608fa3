/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: softmax attention in lanes of 32 bits: f32, whose operations the machine has, and floats with Y <= 10 and X <=
 * 8, which are computed in fp32 and rounded once more.
 */
#include "lanes.h"

#include "attend.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef float real;
typedef uint32_t real_bits;
enum { REAL_MANTISSA = 23 };

ALWAYS_INLINE float real_fma(float a, float b, float c)
{
#if defined(__FMA__) || defined(RUNG_NEON)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c; /* called only where a * b is exact */
#endif
}

/* The context is a table, or the format f32. */
typedef struct exps {
    const exp_codes *codes;
    const rung_fmt *fmt;
} exps;

ALWAYS_INLINE void exp_lanes(float *out, const float *gap, const void *context, size_t width);

#include "attend_lanes.h"

/* out[l] = table[index[l]]. Without the pragma the compiler would split the vectors for this. */
ALWAYS_INLINE void look_up(float *out, const float *table, const int32_t *index, size_t width)
{
#if defined(__AVX512F__)
    for (size_t l = 0; l < width; l += 16)
        _mm512_storeu_ps(out + l, _mm512_i32gather_ps(_mm512_loadu_si512(index + l), table, 4));
#elif defined(__AVX2__)
    for (size_t l = 0; l < width; l += 8)
        _mm256_storeu_ps(out + l, _mm256_i32gather_ps(table, _mm256_loadu_si256((const __m256i *)(index + l)), 4));
#else
    for (size_t l = 0; l < width; l++) out[l] = table[index[l]];
#endif
}

ALWAYS_INLINE void exp_by_table(float *out, const float *gap, const exp_codes *codes, size_t width)
{
    const int32_t first = (int32_t)codes->first, last = (int32_t)codes->last;
    const int shift = codes->shift;
    int32_t index[WIDE];
    LANES
    for (size_t l = 0; l < width; l++) {
        const int32_t code = (int32_t)((bits_of_real(gap[l]) & 0x7fffffff) >> shift);
        const int32_t least = code > first ? code : first;
        index[l] = (least < last ? least : last) - first;
    }
    look_up(out, codes->value, index, width);
}

ALWAYS_INLINE void exp_of_f32(float *out, const float *gap, const rung_fmt *fmt, size_t width)
{
    double x[WIDE], y[WIDE];
    const rung_fmt local = *fmt;
    LANES
    for (size_t l = 0; l < width; l++) x[l] = (double)gap[l];
    exp_block(&local, ROUTE_FLOAT, fmt, y, x, width);
    LANES
    for (size_t l = 0; l < width; l++) out[l] = (float)y[l];
}

ALWAYS_INLINE void exp_lanes(float *out, const float *gap, const void *context, size_t width)
{
    const exps *by = context;
    if (by->codes)
        exp_by_table(out, gap, by->codes, width);
    else
        exp_of_f32(out, gap, by->fmt, width);
}

bool WITH_SUFFIX(rung_attend_float)(const rung_fmt *fmt, double *num, double *den, const rung_attend *job,
                                    const attend_ranges *ranges)
{
    const exps table = {.codes = ranges->codes}, f32 = {.fmt = fmt};
    const grid g = {.unit = (float)ldexp(1.5, REAL_MANTISSA - fmt->mantissa_bits),
                    .least = (float)fmt->least_normal,
                    .high = (float)fmt->largest,
                    .still = 1,
                    .tiny_weight = (float)ranges->tiny_weight};
    if (!ranges->codes) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_NATIVE, TINY_NEVER, false}, &f32);
    if (fmt->exponent_bits == 8)
        return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, TINY_FUSED, false}, &table);
    if (ranges->watch) return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, TINY_GRID, true}, &table);
    return attend_in_lanes(num, den, job, ranges, g, (shape){KIND_FLOAT, TINY_GRID, false}, &table);
}
