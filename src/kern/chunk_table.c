/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Picks the kernels for chunks of an instruction set.
 */
#include "chunk_table.h"

const rung_chunk_kernels *rung_chunk_kernels_of(rung_isa isa)
{
#if defined(__x86_64__)
    if (isa == RUNG_ISA_AVX512) return &rung_chunk_kernels_avx512;
    if (isa == RUNG_ISA_AVX2) return &rung_chunk_kernels_avx2;
#elif defined(__aarch64__)
    if (isa == RUNG_ISA_NEON) return &rung_chunk_kernels_neon;
#endif
    (void)isa;
    return &rung_chunk_kernels_ref;
}

const rung_chunk_kernels *rung_chunk_kernels_get(void)
{
    return rung_chunk_kernels_of(rung_cpu_isa());
}
