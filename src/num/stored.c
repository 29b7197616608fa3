/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: numbers as they are stored between operations: rounded to another format, to nearest or stochastically, or
 * divided by a scale that a block of them shares. docs/numbers.md, "Mixed formats", is the specification. Not the names
 * (numbers.c).
 */
#include "rounded_ops.h"

#include <string.h>

size_t rung_stored_scales(const rung_stored *stored, size_t row)
{
    if (stored->scaling == RUNG_SCALE_NONE || row == 0) return 0;
    return stored->block >= row ? 1 : (row - 1) / stored->block + 1;
}

enum { POWER_BITS = 8, POWER_LEAST = -127, POWER_MOST = 127 };

static int scale_bits(const rung_stored *stored)
{
    return stored->scaling == RUNG_SCALE_POWER ? POWER_BITS : stored->scale.bits;
}

uint64_t rung_stored_bits(const rung_stored *stored, size_t rows, size_t row)
{
    uint64_t scales = rung_stored_scales(stored, row);
    uint64_t each = (uint64_t)row * (uint64_t)stored->code.bits + (scales ? scales * (uint64_t)scale_bits(stored) : 0);
    return rows * each;
}

/* ---- stochastic rounding ----------------------------------------------------------------------------------------- */

/* SplitMix64. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t rung_dither_key(uint64_t seed, size_t layer, size_t group, size_t position)
{
    return mix(mix(mix(mix(seed) ^ layer) ^ group) ^ position);
}

/* The distance of the values around |x|, a power of two. */
static double unit_at(const rung_fmt *fmt, double size)
{
    if (fmt->kind == RUNG_FMT_FIXED || size < fmt->least_normal) return fmt->spacing;
    const uint64_t binade = bits_of(size) & ~((UINT64_C(1) << 52) - 1);
    return double_of(binade) * (fmt->spacing / fmt->least_normal);
}

/* Of the two values around x the one away from zero with the probability of x's distance from the other. At the largest
 * value and beyond it rounds to nearest. */
static double round_by_chance(const rung_fmt *fmt, double x, uint64_t chance)
{
    const double size = fabs(x);
    if (fmt->is_f64 || !(size < fmt->largest) || size == 0) return rung_num_round(fmt, x);
    const double unit = unit_at(fmt, size), units = size / unit, whole = floor(units);
    const bool up = (double)(chance >> 11) < (units - whole) * 0x1p53;
    const double result = copysign((whole + up) * unit, x);
    return fmt->kind == RUNG_FMT_FIXED ? result + 0.0 : result; /* there is one zero */
}

/* ---- storing ----------------------------------------------------------------------------------------------------- */

static void saturate(const rung_stored *stored, double *x, size_t n)
{
    const double most = stored->code.largest;
    for (size_t i = 0; stored->finite && i < n; i++) x[i] = x[i] > most ? most : x[i] < -most ? -most : x[i];
}

/* Numbers first .. first+n-1 of the dither. */
static void round_codes(const rung_stored *stored, double *x, size_t n, const rung_dither *dither, uint64_t first)
{
    saturate(stored, x, n);
    if (!dither)
        rung_num_kernels_get()->round(&stored->code, x, x, n);
    else
        for (size_t i = 0; i < n; i++) x[i] = round_by_chance(&stored->code, x[i], mix(dither->key ^ (first + i)));
}

/* The exponent of the largest power of two among the codes: that of a block's largest magnitude goes there. */
static int top_exponent(const rung_stored *stored)
{
    return ilogb(stored->code.largest);
}

/* Smaller scales count as zero, so that a code times a scale is never a subnormal of f32, and tells the code. */
static const double LEAST_SCALE = 0x1p-100;

/* The scale of a block. NaN: none, because a number is NaN or infinite or the scale would be. */
static double scale_of(const rung_stored *stored, const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) return NAN;
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    }
    if (stored->scaling == RUNG_SCALE_POWER) {
        int exponent = most > 0 ? ilogb(most) - top_exponent(stored) : POWER_LEAST;
        return ldexp(1, exponent < POWER_LEAST ? POWER_LEAST : exponent > POWER_MOST ? POWER_MOST : exponent);
    }
    double scale = rung_num_round(&stored->scale, most / stored->code.largest);
    return isinf(scale) ? NAN : scale < LEAST_SCALE ? 0 : scale;
}

static void keep_block(const rung_stored *stored, const rung_fmt *acc, double *x, size_t n, double scale,
                       const rung_dither *dither, uint64_t first)
{
    if (!(scale > 0)) { /* all numbers are zero, or so small that their scale is; or there is none */
        for (size_t i = 0; i < n; i++) x[i] = scale;
        return;
    }
    for (size_t i = 0; i < n; i++) x[i] /= scale;
    round_codes(stored, x, n, dither, first);
    for (size_t i = 0; i < n; i++) x[i] = rung_num_mul(acc, x[i], scale);
}

void rung_stored_keep(const rung_stored *stored, const rung_fmt *acc, double *x, size_t rows, size_t row,
                      double *scales, const rung_dither *dither)
{
    const uint64_t first = dither ? dither->first : 0;
    if (stored->scaling == RUNG_SCALE_NONE) {
        round_codes(stored, x, rows * row, dither, first);
        return;
    }
    const size_t blocks = rung_stored_scales(stored, row);
    for (size_t r = 0; r < rows; r++)
        for (size_t b = 0; b < blocks; b++) {
            const size_t start = b ? b * stored->block : 0, left = row - start, at = r * row + start;
            const size_t n = left < stored->block ? left : stored->block;
            const double scale = scale_of(stored, x + at, n);
            if (scales) scales[r * blocks + b] = scale;
            keep_block(stored, acc, x + at, n, scale, dither, first + at);
        }
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

static uint64_t put_bits(uint8_t *out, uint64_t bit, uint64_t code, int bits)
{
    for (int left = bits; left > 0;) {
        const int room = 8 - (int)(bit % 8), take = left < room ? left : room;
        const uint64_t part = code >> (left - take) & ((UINT64_C(1) << take) - 1);
        out[bit / 8] |= (uint8_t)(part << (room - take));
        bit += (uint64_t)take, left -= take;
    }
    return bit;
}

/* The code of a number of a block. Codes have at most 8 bits and acc has at least 24, so the quotient is near one. */
static double code_in_block(const rung_stored *stored, double x, double scale)
{
    double code = scale > 0 ? x / scale : 0;
    saturate(stored, &code, 1);
    return rung_num_round(&stored->code, code);
}

uint64_t rung_stored_pack(uint8_t *out, uint64_t bit, const rung_stored *stored, const double *x, const double *scales,
                          size_t rows, size_t row)
{
    const size_t blocks = rung_stored_scales(stored, row);
    if (blocks == 0) {
        for (size_t i = 0; i < rows * row; i++)
            bit = put_bits(out, bit, rung_num_encode(&stored->code, x[i]), stored->code.bits);
        return bit;
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < row; i++) {
            const double scale = scales[r * blocks + (stored->block >= row ? 0 : i / stored->block)];
            const bool begins = i == 0 || (stored->block < row && i % stored->block == 0);
            if (begins && stored->scaling == RUNG_SCALE_POWER)
                bit = put_bits(out, bit, (uint64_t)(ilogb(scale) - POWER_LEAST), POWER_BITS);
            else if (begins)
                bit = put_bits(out, bit, rung_num_encode(&stored->scale, scale), stored->scale.bits);
            bit = put_bits(out, bit, rung_num_encode(&stored->code, code_in_block(stored, x[r * row + i], scale)),
                           stored->code.bits);
        }
    return bit;
}
