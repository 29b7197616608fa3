/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: picks the vector kernels of an instruction set. If the build has none for it, the reference kernels are used.
 */
#include "vec.h"

const rung_num_kernels *rung_num_kernels_of(rung_isa isa)
{
#if defined(__x86_64__)
    if (isa == RUNG_ISA_AVX512) return &rung_num_kernels_avx512;
    if (isa == RUNG_ISA_AVX2) return &rung_num_kernels_avx2;
#elif defined(__aarch64__)
    if (isa == RUNG_ISA_NEON) return &rung_num_kernels_neon;
#endif
    (void)isa;
    return &rung_num_kernels_ref;
}

const rung_num_kernels *rung_num_kernels_get(void)
{
    return rung_num_kernels_of(rung_cpu_isa());
}
