/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: exp as a table, for the formats whose lanes are floats. A softmax needs exp(-x) with x >= 0 only. Only about
 * Y+10 binades of 2^Y such values give anything but 1 and 0, so a table has at most 20,000 entries. A table is made
 * when a format is first used, and kept until the process ends.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "attend.h"

enum { MOST_EXPONENT_BITS = 8, MOST_MANTISSA_BITS = 10 };

static _Atomic(exp_codes *) made[MOST_EXPONENT_BITS + 1][MOST_MANTISSA_BITS + 1];

static uint32_t code_of(float x, int shift)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> shift;
}

static float value_of(uint32_t code, int shift)
{
    const uint32_t bits = code << shift;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Below 2^-(Y+2), e^-x > 1 - 2^-(Y+2) is nearer to 1 than to 1 - 2^-(Y+1). From 0.7 (Y + 2 - emin) on, e^-x <
 * 2^(emin-Y-2), a quarter of the least subnormal number, is nearest to zero. */
static exp_codes *make(const rung_fmt *fmt)
{
    const int Y = fmt->mantissa_bits, shift = 23 - Y, emin = ilogb(fmt->least_normal);
    const uint32_t first = code_of(ldexpf(1, -(Y + 2)), shift);
    const uint32_t last = code_of(0.7f * (float)(Y + 2 - emin), shift) + 1; /* one more, because code_of truncates */
    exp_codes *out = malloc(sizeof *out + (last - first + 1) * sizeof *out->value);
    if (!out) return NULL;
    out->first = first, out->last = last, out->shift = shift;
    out->least = value_of(first, shift), out->most = value_of(last, shift);
    for (uint32_t code = first; code <= last; code++)
        out->value[code - first] = (float)rung_num_fn(fmt, RUNG_FN_EXP, -(double)value_of(code, shift));
    return out;
}

const exp_codes *rung_exp_codes(const rung_fmt *fmt)
{
    if (fmt->kind != RUNG_FMT_FLOAT || fmt->exponent_bits > MOST_EXPONENT_BITS ||
        fmt->mantissa_bits > MOST_MANTISSA_BITS)
        return NULL;
    _Atomic(exp_codes *) *place = &made[fmt->exponent_bits][fmt->mantissa_bits];
    exp_codes *table = atomic_load_explicit(place, memory_order_acquire), *nobody = NULL;
    if (table) return table;
    table = make(fmt);
    if (!table || atomic_compare_exchange_strong(place, &nobody, table)) return table;
    free(table); /* another thread has stored its table first */
    return nobody;
}
