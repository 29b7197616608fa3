/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Picks the fp32 kernels of an instruction set. If the build has none for it, the reference kernels are used.
 */
#include "table.h"

const rung_kernels *rung_kernels_of(rung_isa isa)
{
#if defined(__x86_64__)
    if (isa == RUNG_ISA_AVX512) return &rung_kernels_avx512;
    if (isa == RUNG_ISA_AVX2) return &rung_kernels_avx2;
#elif defined(__aarch64__)
    if (isa == RUNG_ISA_NEON) return &rung_kernels_neon;
#endif
    (void)isa;
    return &rung_kernels_ref;
}

const rung_kernels *rung_kernels_get(void)
{
    return rung_kernels_of(rung_cpu_isa());
}

rung_yardstick *rung_yardstick_get(void)
{
#if defined(__x86_64__)
    if (rung_cpu_isa() == RUNG_ISA_AVX512) return rung_yardstick_avx512;
    if (rung_cpu_isa() == RUNG_ISA_AVX2) return rung_yardstick_avx2;
#elif defined(__aarch64__)
    if (rung_cpu_isa() == RUNG_ISA_NEON) return rung_yardstick_neon;
#endif
    return rung_yardstick_ref;
}
