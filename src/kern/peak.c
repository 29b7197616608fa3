/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Picks the loop of peak_isa.c that belongs to the instruction set in use.
 */
#include "rung/kern.h"

rung_peak rung_peak_ref;
#if defined(__x86_64__)
rung_peak rung_peak_avx2, rung_peak_avx512;
#elif defined(__aarch64__)
rung_peak rung_peak_neon;
#endif

rung_peak *rung_peak_get(void)
{
#if defined(__x86_64__)
    if (rung_cpu_isa() == RUNG_ISA_AVX512) return rung_peak_avx512;
    if (rung_cpu_isa() == RUNG_ISA_AVX2) return rung_peak_avx2;
#elif defined(__aarch64__)
    if (rung_cpu_isa() == RUNG_ISA_NEON) return rung_peak_neon;
#endif
    return rung_peak_ref;
}
