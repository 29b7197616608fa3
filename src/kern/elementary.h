/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the kernels of every instruction set share: the tree in which lanes are added, and the exponential. Inlined into
 * each of them.
 */
#ifndef RUNG_KERN_ELEMENTARY_H
#define RUNG_KERN_ELEMENTARY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A function call inside a loop would prevent vectorisation. */
#define INLINE static inline __attribute__((always_inline))

enum { LANES = 16 };

INLINE float sum_lanes(float *lane)
{
#pragma GCC unroll 4 /* the widths are then constants, and each step is one instruction */
    for (size_t width = LANES / 2; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) lane[i] += lane[i + width];
    return lane[0];
}

/* a b + c, rounded once: one instruction if the machine has it, otherwise a function of the C library. */
INLINE float fused(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/* e^x = 2^n e^r, |r| <= ln2/2. The Taylor polynomial of degree 7 has an error |r|^8/8! < 2^-27. n = round(x/ln2) comes
 * from the low bits of x/ln2 + 1.5*2^23, where a float has no fraction. 2^n is applied as 2^(n-1) 2, because n goes up
 * to 128. Below -86.9, where the result is nearly subnormal, it is 0. Above 88.73 it is infinite. NaN stays NaN. */
INLINE float exp_one(float x)
{
    const float magic = 12582912.0f, least = -86.9f;
    uint32_t keep = x < least ? 0 : ~0u;
    float high = x > 89.0f ? 89.0f : x, clamped = high < least ? least : high;
    float shifted = fused(clamped, 1.44269504f, magic), whole = shifted - magic;
    uint32_t bits, magic_bits;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(&magic_bits, &magic, sizeof magic_bits);
    bits = (bits - magic_bits + 126) << 23 & keep; /* of 2^(n-1), or 0 */
    float r = fused(whole, -0.693359375f, clamped), p = 1.0f / 5040, power;
    memcpy(&power, &bits, sizeof power);
    r = fused(whole, 2.12194440e-4f, r);
    p = fused(p, r, 1.0f / 720);
    p = fused(p, r, 1.0f / 120);
    p = fused(p, r, 1.0f / 24);
    p = fused(p, r, 1.0f / 6);
    p = fused(p, r, 0.5f);
    p = fused(p, r, 1.0f);
    p = fused(p, r, 1.0f);
    return p * power * 2;
}

#endif
