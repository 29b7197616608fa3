/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num, private: the parts of the attention kernel. attend_isa.c looks at the numbers and decides whether every
 * operation stays clear of infinities, and in which lanes it is computed; attend_float_isa.c and attend_double_isa.c
 * are the two kinds of lanes, made from the same text (attend_lanes.h).
 */
#ifndef RUNG_NUM_ATTEND_H
#define RUNG_NUM_ATTEND_H

#include <string.h>

#include "rung/num.h"

/* A table of exp(-x) for a format with Y <= 10, indexed by the upper bits of x as a float. */
typedef struct exp_codes {
    uint32_t first, last; /* a smaller code has the value of `first`, a larger one that of `last` */
    float least, most;    /* the numbers of these two codes */
    int shift;            /* code = bits >> shift */
    float value[];        /* [last-first+1] */
} exp_codes;

/* Returns NULL for other formats, and when memory runs out. */
const exp_codes *rung_exp_codes(const rung_fmt *fmt);

/* What attend_isa.c has found out about the numbers of a job. */
typedef struct attend_ranges {
    double start; /* a starting maximum that no score is below, and whose difference to any score does not overflow */
    bool careful_scores; /* a product q_i k_i may be below the least normal number, in fixed point outside the range */
    double tiny_weight;  /* a weight e below this one may give such a product e v_i; 0: none does */
    bool watch;          /* a sum might overflow, so the lanes must check */
    const exp_codes *codes;
} attend_ranges;

/* Returns false, and writes nothing, if a sum overflows or a -0 would get lost. */
typedef bool attend_lanes(const rung_fmt *fmt, double *num, double *den, const rung_attend *job,
                          const attend_ranges *ranges);

attend_lanes rung_attend_float_ref, rung_attend_double_ref;
#if defined(__x86_64__)
attend_lanes rung_attend_float_avx2, rung_attend_double_avx2, rung_attend_float_avx512, rung_attend_double_avx512;
#elif defined(__aarch64__)
attend_lanes rung_attend_float_neon, rung_attend_double_neon;
#endif

#if defined(__FMA__) || defined(RUNG_NEON)
enum { HAVE_FMA = 1 };
#else
enum { HAVE_FMA = 0 };
#endif

/* The vectors of the lanes. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#endif
