/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tables of chunk_isa.c, one per instruction set that the build has.
 */
#ifndef RUNG_KERN_CHUNK_TABLE_H
#define RUNG_KERN_CHUNK_TABLE_H

#include "rung/kern.h"

extern const rung_chunk_kernels rung_chunk_kernels_ref;
#if defined(__x86_64__)
extern const rung_chunk_kernels rung_chunk_kernels_avx2, rung_chunk_kernels_avx512;
#endif

#endif
