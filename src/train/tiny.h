/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * While a training step computes, numbers below 2^-126 count as 0. Processors take about a hundred cycles for each of
 * them, and a network that has collapsed produces many: its gradients vanish, and AdamW's means of them halve until
 * they are tiny. Training is not exact arithmetic, and the effect on weights is negligible. The mode belongs to the
 * thread; the code that switches it on must restore it.
 */
#ifndef RUNG_TRAIN_TINY_H
#define RUNG_TRAIN_TINY_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

typedef unsigned tiny_mode;

static inline tiny_mode tiny_to_zero(void)
{
    enum { RESULTS = 0x8000, OPERANDS = 0x0040 };
    tiny_mode before = _mm_getcsr();
    _mm_setcsr(before | RESULTS | OPERANDS);
    return before;
}

static inline void tiny_back(tiny_mode before)
{
    _mm_setcsr(before);
}

#elif defined(__aarch64__)

typedef uint64_t tiny_mode;

static inline tiny_mode tiny_to_zero(void)
{
    tiny_mode before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" ::"r"(before | UINT64_C(1) << 24));
    return before;
}

static inline void tiny_back(tiny_mode before)
{
    __asm__ volatile("msr fpcr, %0" ::"r"(before));
}

#else

typedef unsigned tiny_mode;

static inline tiny_mode tiny_to_zero(void)
{
    return 0;
}

static inline void tiny_back(tiny_mode before)
{
    (void)before;
}

#endif
#endif
