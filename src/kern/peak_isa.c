/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The peak number of fp32 operations of one core with this instruction set: independent chains of multiply-adds that
 * never leave the registers. `rung bench` prints speeds as shares of it. The reference has no fused products; it
 * multiplies and adds vectors of 16 bytes, which every x86-64 has. The result of the computation is not used. The chains
 * begin with a number from memory: one that the compiler knew to begin at the fixed point would be left out.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT ON
#endif

#include "rung/kern.h"

#define PASTE_(name, suffix) name##suffix
#define PASTE(name, suffix)  PASTE_(name, suffix)
#define ISA(name)            PASTE(name, RUNG_ISA_SUFFIX)

/* A fused product has a latency of 4 or 5 cycles, and there are two ports for it, so 10 chains keep them busy. With 16
 * registers there is room for 12 chains and the two constants. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { LANES = VECTOR_BYTES / 4, CHAINS = 12, ROUNDS = 1000 };

typedef float lanes __attribute__((vector_size(VECTOR_BYTES)));

rung_peak ISA(rung_peak);

double ISA(rung_peak)(float *sink, size_t thousands)
{
    lanes x[CHAINS];
    /* The fixed point of x = a x + b is 1, so neither subnormal numbers nor infinities occur, however long it runs. */
    const lanes a = (lanes){0} + 0.9375f, b = (lanes){0} + 0.0625f;
    for (size_t c = 0; c < CHAINS; c++) x[c] = *sink + (lanes){0} + (float)c;
    for (size_t n = 0; n < thousands; n++)
        for (size_t r = 0; r < ROUNDS; r++)
#pragma GCC unroll 12
            for (size_t c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
    for (size_t c = 1; c < CHAINS; c++) x[0] += x[c];
    *sink = x[0][0]; /* otherwise the compiler would remove the computation */
    return (double)thousands * ROUNDS * CHAINS * LANES * 2;
}
