/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: the tables that vec_isa.c exports, one per instruction set that the build has.
 */
#ifndef RUNG_NUM_VEC_H
#define RUNG_NUM_VEC_H

#include "rung/num.h"

extern const rung_num_kernels rung_num_kernels_ref;
#if defined(__x86_64__)
extern const rung_num_kernels rung_num_kernels_avx2, rung_num_kernels_avx512;
#endif

#endif
