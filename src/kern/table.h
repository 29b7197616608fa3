/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What kern_isa.c and yardstick_isa.c export, once per instruction set that the build has.
 */
#ifndef RUNG_KERN_TABLE_H
#define RUNG_KERN_TABLE_H

#include "rung/kern.h"

extern const rung_kernels rung_kernels_ref;
rung_yardstick rung_yardstick_ref;
#if defined(__x86_64__)
extern const rung_kernels rung_kernels_avx2, rung_kernels_avx512;
rung_yardstick rung_yardstick_avx2, rung_yardstick_avx512;
#endif

#endif
