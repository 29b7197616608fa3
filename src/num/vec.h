/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: what vec_isa.c and attend_isa.c export, once per instruction set that the build has.
 */
#ifndef RUNG_NUM_VEC_H
#define RUNG_NUM_VEC_H

#include "rung/num.h"

typedef bool attend_kernel(const rung_fmt *fmt, double *num, double *den, const rung_attend *job);

extern const rung_num_kernels rung_num_kernels_ref;
attend_kernel rung_attend_ref;
#if defined(__x86_64__)
extern const rung_num_kernels rung_num_kernels_avx2, rung_num_kernels_avx512;
attend_kernel rung_attend_avx2, rung_attend_avx512;
#elif defined(__aarch64__)
extern const rung_num_kernels rung_num_kernels_neon;
attend_kernel rung_attend_neon;
#endif

#endif
