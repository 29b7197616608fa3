/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: the p-bit code of a value, and strings of codes. Elsewhere "a state of s bits" means the length of such a
 * string.
 */

#include "rounded_ops.h"

static uint64_t low_bits(int count)
{
    return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static uint64_t encode_float(const rung_fmt *fmt, double x)
{
    const int mantissa_bits = fmt->mantissa_bits;
    const uint64_t top_exponent = low_bits(fmt->exponent_bits);
    if (isnan(x)) return (top_exponent << mantissa_bits) | (UINT64_C(1) << (mantissa_bits - 1));
    const double size = fabs(x);
    const uint64_t sign = signbit(x) ? UINT64_C(1) << (fmt->bits - 1) : 0;
    if (isinf(x)) return sign | (top_exponent << mantissa_bits);
    if (size < fmt->least_normal) return sign | (uint64_t)(size / fmt->spacing);
    /* Exponent and mantissa of the double, as one integer, are shifted to the place and the bias of the format. */
    const uint64_t rebias = bits_of(fmt->least_normal) - (UINT64_C(1) << 52);
    return sign | ((bits_of(size) - rebias) >> fmt->round_drop);
}

static double decode_float(const rung_fmt *fmt, uint64_t code)
{
    const uint64_t size = code & low_bits(fmt->bits - 1);
    const uint64_t infinity = low_bits(fmt->exponent_bits) << fmt->mantissa_bits;
    if (size > infinity) return NAN;
    double x;
    if (size == infinity)
        x = INFINITY;
    else if (size >> fmt->mantissa_bits == 0)
        x = (double)size * fmt->spacing;
    else
        x = double_of((size << fmt->round_drop) + bits_of(fmt->least_normal) - (UINT64_C(1) << 52));
    return code >> (fmt->bits - 1) & 1 ? -x : x;
}

uint64_t rung_num_encode(const rung_fmt *fmt, double x)
{
    if (fmt->kind == RUNG_FMT_FLOAT) return encode_float(fmt, x);
    if (isnan(x)) return UINT64_C(1) << (fmt->bits - 1); /* the least number; callers have refused NaN already */
    return (uint64_t)(int64_t)(x / fmt->spacing) & low_bits(fmt->bits);
}

double rung_num_decode(const rung_fmt *fmt, uint64_t code)
{
    if (fmt->kind == RUNG_FMT_FLOAT) return decode_float(fmt, code);
    const uint64_t sign = UINT64_C(1) << (fmt->bits - 1);
    const int64_t value = (int64_t)(code & (sign - 1)) - (int64_t)(code & sign);
    return (double)value * fmt->spacing;
}

void rung_num_pack(uint8_t *out, const rung_fmt *fmt, const double *x, size_t count)
{
    unsigned pending = 0, pending_bits = 0; /* fewer than 8 bits that do not fill a byte yet */
    for (size_t i = 0; i < count; i++) {
        const uint64_t code = rung_num_encode(fmt, x[i]);
        for (unsigned left = (unsigned)fmt->bits; left > 0;) {
            const unsigned take = left < 8 - pending_bits ? left : 8 - pending_bits;
            left -= take;
            pending = pending << take | (unsigned)(code >> left & low_bits((int)take));
            pending_bits += take;
            if (pending_bits < 8) continue;
            *out++ = (uint8_t)pending;
            pending = pending_bits = 0;
        }
    }
    if (pending_bits > 0) *out = (uint8_t)(pending << (8 - pending_bits));
}

void rung_num_unpack(double *x, const rung_fmt *fmt, const uint8_t *in, size_t count)
{
    unsigned used = 0; /* bits of *in that have been read */
    for (size_t i = 0; i < count; i++) {
        uint64_t code = 0;
        for (unsigned left = (unsigned)fmt->bits; left > 0;) {
            const unsigned take = left < 8 - used ? left : 8 - used;
            code = code << take | (*in >> (8 - used - take) & low_bits((int)take));
            left -= take;
            used += take;
            if (used < 8) continue;
            in++;
            used = 0;
        }
        x[i] = rung_num_decode(fmt, code);
    }
}
