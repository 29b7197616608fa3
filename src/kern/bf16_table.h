/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tables of bf16_isa.c, one per instruction set that the build has.
 */
#ifndef RUNG_KERN_BF16_TABLE_H
#define RUNG_KERN_BF16_TABLE_H

#include "rung/kern.h"

extern const rung_bf16_kernels rung_bf16_kernels_ref;
#if defined(__x86_64__)
extern const rung_bf16_kernels rung_bf16_kernels_avx2, rung_bf16_kernels_avx512, rung_bf16_kernels_avx512_bf16;
#elif defined(__aarch64__)
extern const rung_bf16_kernels rung_bf16_kernels_neon;
#endif

#endif
