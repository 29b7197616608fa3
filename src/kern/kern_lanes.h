/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A vector of the widest registers of an instruction set, LANES floats, and its operations. Every operation treats the
 * lanes alike and rounds as IEEE says, so what a lane holds does not depend on the width.
 */
#ifndef RUNG_KERN_LANES_H
#define RUNG_KERN_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(RUNG_NEON)
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)

enum { LANES = 16 };
typedef __m512 lanes;

INLINE lanes load(const float *from)
{
    return _mm512_loadu_ps(from);
}

INLINE void store(float *to, lanes v)
{
    _mm512_storeu_ps(to, v);
}

INLINE lanes load_some(const float *from, size_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
}

INLINE void store_some(float *to, lanes v, size_t n)
{
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1), v);
}

INLINE lanes everywhere(float x)
{
    return _mm512_set1_ps(x);
}

INLINE lanes multiply_add(lanes a, lanes b, lanes c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE lanes plus(lanes a, lanes b)
{
    return _mm512_add_ps(a, b);
}

INLINE lanes times(lanes a, lanes b)
{
    return _mm512_mul_ps(a, b);
}

INLINE lanes minus(lanes a, lanes b)
{
    return _mm512_sub_ps(a, b);
}

/* The second one if one of them is a NaN. */
INLINE lanes larger_of(lanes a, lanes b)
{
    return _mm512_max_ps(a, b);
}

INLINE lanes smaller_of(lanes a, lanes b)
{
    return _mm512_min_ps(a, b);
}

/* Adds the lowest bits of n, a number near 1.5 2^23, to the exponent of x. */
INLINE lanes raise_by(lanes x, lanes n)
{
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(_mm512_castps_si512(n), 23)));
}

/* v, or 0 where x < least. */
INLINE lanes zero_below(lanes v, lanes x, float least)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(least), _CMP_NLT_UQ), v);
}

/* v, or 0 where |v| < least. */
INLINE lanes zero_tiny(lanes v, float least)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(least), _CMP_NLT_UQ), v);
}

#elif defined(__AVX2__)

enum { LANES = 8 };
typedef __m256 lanes;

INLINE lanes load(const float *from)
{
    return _mm256_loadu_ps(from);
}

INLINE void store(float *to, lanes v)
{
    _mm256_storeu_ps(to, v);
}

INLINE __m256i first_lanes(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE lanes load_some(const float *from, size_t n)
{
    return _mm256_maskload_ps(from, first_lanes(n));
}

INLINE void store_some(float *to, lanes v, size_t n)
{
    _mm256_maskstore_ps(to, first_lanes(n), v);
}

INLINE lanes everywhere(float x)
{
    return _mm256_set1_ps(x);
}

INLINE lanes multiply_add(lanes a, lanes b, lanes c)
{
    return _mm256_fmadd_ps(a, b, c);
}

INLINE lanes plus(lanes a, lanes b)
{
    return _mm256_add_ps(a, b);
}

INLINE lanes times(lanes a, lanes b)
{
    return _mm256_mul_ps(a, b);
}

INLINE lanes minus(lanes a, lanes b)
{
    return _mm256_sub_ps(a, b);
}

INLINE lanes larger_of(lanes a, lanes b)
{
    return _mm256_max_ps(a, b);
}

INLINE lanes smaller_of(lanes a, lanes b)
{
    return _mm256_min_ps(a, b);
}

INLINE lanes raise_by(lanes x, lanes n)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(_mm256_castps_si256(n), 23)));
}

INLINE lanes zero_below(lanes v, lanes x, float least)
{
    return _mm256_and_ps(v, _mm256_cmp_ps(x, _mm256_set1_ps(least), _CMP_NLT_UQ));
}

INLINE lanes zero_tiny(lanes v, float least)
{
    lanes size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
    return _mm256_and_ps(v, _mm256_cmp_ps(size, _mm256_set1_ps(least), _CMP_NLT_UQ));
}

#elif defined(RUNG_NEON)

enum { LANES = 4 };
typedef float32x4_t lanes;

INLINE lanes load(const float *from)
{
    return vld1q_f32(from);
}

INLINE void store(float *to, lanes v)
{
    vst1q_f32(to, v);
}

/* There are no masks: the lanes go through a copy. */
INLINE lanes load_some(const float *from, size_t n)
{
    float lane[LANES] = {0};
    for (size_t l = 0; l < n; l++) lane[l] = from[l];
    return vld1q_f32(lane);
}

INLINE void store_some(float *to, lanes v, size_t n)
{
    float lane[LANES];
    vst1q_f32(lane, v);
    for (size_t l = 0; l < n; l++) to[l] = lane[l];
}

INLINE lanes everywhere(float x)
{
    return vdupq_n_f32(x);
}

INLINE lanes multiply_add(lanes a, lanes b, lanes c)
{
    return vfmaq_f32(c, a, b);
}

INLINE lanes plus(lanes a, lanes b)
{
    return vaddq_f32(a, b);
}

INLINE lanes times(lanes a, lanes b)
{
    return vmulq_f32(a, b);
}

INLINE lanes minus(lanes a, lanes b)
{
    return vsubq_f32(a, b);
}

/* vmaxq_f32 would give a NaN if either is one. */
INLINE lanes larger_of(lanes a, lanes b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

INLINE lanes smaller_of(lanes a, lanes b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

INLINE lanes raise_by(lanes x, lanes n)
{
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(x), vshlq_n_u32(vreinterpretq_u32_f32(n), 23)));
}

INLINE lanes zero_below(lanes v, lanes x, float least)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(v), vcltq_f32(x, vdupq_n_f32(least))));
}

INLINE lanes zero_tiny(lanes v, float least)
{
    return zero_below(v, vabsq_f32(v), least);
}

#else

/* The readable version: a lane is a float, and fmaf() rounds once on every machine. */
enum { LANES = 1 };
typedef float lanes;

INLINE lanes load(const float *from)
{
    return *from;
}

INLINE void store(float *to, lanes v)
{
    *to = v;
}

INLINE lanes load_some(const float *from, size_t n)
{
    return n ? *from : 0;
}

INLINE void store_some(float *to, lanes v, size_t n)
{
    if (n) *to = v;
}

INLINE lanes everywhere(float x)
{
    return x;
}

INLINE lanes multiply_add(lanes a, lanes b, lanes c)
{
    return fmaf(a, b, c);
}

INLINE lanes plus(lanes a, lanes b)
{
    return a + b;
}

INLINE lanes times(lanes a, lanes b)
{
    return a * b;
}

INLINE lanes minus(lanes a, lanes b)
{
    return a - b;
}

INLINE lanes larger_of(lanes a, lanes b)
{
    return a > b ? a : b;
}

INLINE lanes smaller_of(lanes a, lanes b)
{
    return a < b ? a : b;
}

INLINE lanes raise_by(lanes x, lanes n)
{
    uint32_t bits, shift;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&shift, &n, sizeof shift);
    bits += shift << 23;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE lanes zero_below(lanes v, lanes x, float least)
{
    return x < least ? 0 : v;
}

INLINE lanes zero_tiny(lanes v, float least)
{
    return fabsf(v) < least ? 0 : v;
}

#endif

/* The lanes from `at` on of a row that has `count` elements; zeros behind them. */
INLINE lanes load_part(const float *row, size_t at, size_t count)
{
    return at + LANES <= count ? load(row + at) : at < count ? load_some(row + at, count - at) : everywhere(0);
}

INLINE void store_part(float *row, lanes v, size_t at, size_t count)
{
    if (at + LANES <= count)
        store(row + at, v);
    else if (at < count)
        store_some(row + at, v, count - at);
}

/* The sum of 16 floats, in one tree for every instruction set: l + 8 to l, then 4, 2 and 1. */
enum { SUM_LANES = 16 };

INLINE float sum_sixteen(const float *row)
{
#if defined(__AVX512F__)
    __m512 all = _mm512_loadu_ps(row);
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
#else
    float lane[SUM_LANES];
    memcpy(lane, row, sizeof lane);
    for (size_t width = SUM_LANES / 2; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) lane[i] += lane[i + width];
    return lane[0];
#endif
}

#endif
