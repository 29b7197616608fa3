/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Picks the bf16 kernels. The instruction VDPBF16PS must first compute what the reference computes, because a run of
 * training is a pure function of its options on every machine.
 */
#include "bf16_table.h"

#include <stdatomic.h>
#include <string.h>

const rung_bf16_kernels *rung_bf16_kernels_of(rung_isa isa, bool with_bf16)
{
#if defined(__x86_64__)
    if (with_bf16) return isa == RUNG_ISA_AVX512 && rung_cpu_bf16() ? &rung_bf16_kernels_avx512_bf16 : NULL;
    if (isa > rung_cpu_isa()) return NULL;
    if (isa == RUNG_ISA_AVX512) return &rung_bf16_kernels_avx512;
    if (isa == RUNG_ISA_AVX2) return &rung_bf16_kernels_avx2;
#elif defined(__aarch64__)
    if (with_bf16 || isa > rung_cpu_isa()) return NULL;
    if (isa == RUNG_ISA_NEON) return &rung_bf16_kernels_neon;
#endif
    return isa == RUNG_ISA_REF && !with_bf16 ? &rung_bf16_kernels_ref : NULL;
}

/* ---- a trial ----------------------------------------------------------------------------------------------------- */

enum { TRIAL_SETS = 256, TRIAL_ROWS = 3, TRIAL_COLS = RUNG_PANEL, TRIAL_PAIRS = 4 };

/* Numbers whose exponents are near one of three places, with few or many bits: they and their products cancel, or come
 * near 2^-126. None overflows. */
static uint32_t hard_number(rung_rng *random, size_t place)
{
    static const uint32_t exponents[] = {1, 63, 127}, fractions[] = {0, 0x7f};
    uint32_t sign = (uint32_t)rung_rng_below(random, 2), exponent = (uint32_t)rung_rng_below(random, 5);
    uint32_t any = (uint32_t)rung_rng_below(random, 128), kind = (uint32_t)rung_rng_below(random, 3);
    return sign << 15 | (exponents[place] + exponent) << 7 | (kind < 2 ? fractions[kind] : any);
}

static void fill_trial(uint32_t *words, size_t count, rung_rng *random, size_t place)
{
    for (size_t i = 0; i < count; i++) words[i] = hard_number(random, place) | hard_number(random, place) << 16;
}

static bool agrees(const rung_bf16_kernels *candidate, uint64_t seed)
{
    uint32_t x[TRIAL_ROWS * TRIAL_PAIRS], w[TRIAL_PAIRS * TRIAL_COLS], start[TRIAL_ROWS * TRIAL_COLS];
    float first[TRIAL_ROWS * TRIAL_COLS], y[2][TRIAL_ROWS * TRIAL_COLS];
    rung_rng random;
    size_t place = seed % 3;
    rung_rng_init(&random, seed, 0, 0);
    fill_trial(x, RUNG_COUNT(x), &random, place);
    fill_trial(w, RUNG_COUNT(w), &random, seed % 2 ? 2 : place);
    fill_trial(start, RUNG_COUNT(start), &random, seed % 5 ? place : 0);
    memcpy(first, start, sizeof first);
    rung_bf16_product p = {.x = x,
                           .w = w,
                           .start = first,
                           .rows = TRIAL_ROWS,
                           .cols = TRIAL_COLS,
                           .pairs = TRIAL_PAIRS,
                           .y_row = TRIAL_COLS,
                           .x_row = TRIAL_PAIRS,
                           .x_pair = 1,
                           .start_row = TRIAL_COLS};
    p.y = y[0], rung_bf16_kernels_ref.multiply(&p);
    p.y = y[1], candidate->multiply(&p);
    return memcmp(y[0], y[1], sizeof y[0]) == 0;
}

static bool passes(const rung_bf16_kernels *candidate)
{
    bool good = true;
    for (uint64_t seed = 0; seed < TRIAL_SETS && good; seed++) good = agrees(candidate, seed);
    return good;
}

/* 0: not tried yet. Two threads that race find the same answer. */
enum { PASSED = 1, FAILED = 2 };
static atomic_int tried;

static bool may_use(const rung_bf16_kernels *candidate)
{
    int result = atomic_load_explicit(&tried, memory_order_relaxed);
    if (!result) {
        result = passes(candidate) ? PASSED : FAILED;
        atomic_store_explicit(&tried, result, memory_order_relaxed);
    }
    return result == PASSED;
}

const rung_bf16_kernels *rung_bf16_kernels_get(void)
{
    const rung_bf16_kernels *best = rung_bf16_kernels_of(rung_cpu_isa(), true);
    return best && may_use(best) ? best : rung_bf16_kernels_of(rung_cpu_isa(), false);
}
