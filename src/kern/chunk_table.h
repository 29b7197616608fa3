/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The tables of chunk_isa.c and what selective_isa.c adds to them, one per instruction set that the build has.
 */
#ifndef RUNG_KERN_CHUNK_TABLE_H
#define RUNG_KERN_CHUNK_TABLE_H

#include "rung/kern.h"

typedef void rung_selective_scan(const rung_selective *p);
typedef void rung_selective_undo(const rung_selective_back *p);

extern const rung_chunk_kernels rung_chunk_kernels_ref;
rung_selective_scan rung_selective_scan_ref;
rung_selective_undo rung_selective_undo_ref;
#if defined(__x86_64__)
extern const rung_chunk_kernels rung_chunk_kernels_avx2, rung_chunk_kernels_avx512;
rung_selective_scan rung_selective_scan_avx2, rung_selective_scan_avx512;
rung_selective_undo rung_selective_undo_avx2, rung_selective_undo_avx512;
#endif

#endif
