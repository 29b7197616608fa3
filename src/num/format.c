/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * num: the names of number formats and the constants that the rounding loops need. Not the rounding itself
 * (rounded_ops.h).
 */
#include "rung/num.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "rounded_ops.h"

enum { MAX_EXPONENT_BITS = 11, MAX_MANTISSA_BITS = 25, MAX_FIXED_BITS = 52 };

#define POSSIBLE                                                                                                       \
    "use f64, f32, bf16, f16, eXmY (2 <= X <= 11 exponent bits, 1 <= Y <= 25 mantissa bits, such as e8m3) "            \
    "or qI.F "                                                                                                         \
    "(I integer and F fraction bits, 1 <= I+F <= 52, such as q3.12)"

/* A decimal number without leading zeros and below 100; moves *text past it. */
static bool read_count(int *out, const char **text)
{
    const char *s = *text;
    if (s[0] < '0' || s[0] > '9') return false;
    int value = *s++ - '0';
    if (value != 0 && *s >= '0' && *s <= '9') value = 10 * value + (*s++ - '0');
    *out = value;
    *text = s;
    return true;
}

/* "<letter>A<between>B" and nothing else. */
static bool read_pair(int *a, int *b, const char *text, char letter, char between)
{
    if (*text++ != letter || !read_count(a, &text) || *text++ != between) return false;
    return read_count(b, &text) && *text == '\0';
}

static void set_float(rung_fmt *fmt, int exponent_bits, int mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    *fmt = (rung_fmt){.kind = RUNG_FMT_FLOAT, .exponent_bits = exponent_bits, .mantissa_bits = mantissa_bits};
    fmt->bits = 1 + exponent_bits + mantissa_bits;
    fmt->is_f64 = mantissa_bits == 52;
    fmt->double_once_ok = fmt->is_f64 || exponent_bits <= 10;
    fmt->least_normal = ldexp(1, 1 - bias);
    fmt->spacing = ldexp(1, 1 - bias - mantissa_bits);
    fmt->grid_magic = 1.5 * 0x1p52 * fmt->spacing;
    fmt->binade_magic = (UINT64_C(52) - (uint64_t)mantissa_bits) << 52 | UINT64_C(1) << 51; /* the 51 makes 1.5 */
    fmt->largest = ldexp(2 - ldexp(1, -mantissa_bits), bias);
    fmt->smallest = -fmt->largest;
    fmt->round_drop = 52 - mantissa_bits;
    if (fmt->is_f64) {
        fmt->overflow = INFINITY;
        fmt->round_keep = UINT64_MAX;
        return;
    }
    fmt->round_half = (UINT64_C(1) << (fmt->round_drop - 1)) - 1;
    fmt->round_keep = ~((UINT64_C(1) << fmt->round_drop) - 1);
    fmt->overflow = double_of(bits_of(fmt->largest) + fmt->round_half + 1);
}

static void set_fixed(rung_fmt *fmt, int integer_bits, int fraction_bits)
{
    const int width = integer_bits + fraction_bits;
    *fmt = (rung_fmt){.kind = RUNG_FMT_FIXED, .integer_bits = integer_bits, .fraction_bits = fraction_bits};
    fmt->bits = 1 + width;
    fmt->double_once_ok = 2 * width <= 52;
    fmt->spacing = ldexp(1, -fraction_bits);
    fmt->grid_magic = 1.5 * 0x1p52 * fmt->spacing;
    fmt->largest = (ldexp(1, width) - 1) * fmt->spacing;
    fmt->smallest = -ldexp(1, integer_bits);
    fmt->overflow = INFINITY;
}

static const struct {
    const char *name;
    int exponent_bits, mantissa_bits;
} KNOWN[] = {{"f64", 11, 52}, {"f32", 8, 23}, {"bf16", 8, 7}, {"f16", 5, 10}};

/* `name`, or the alias of its pair (X, Y), so that e8m7 and bf16 are one format with one name. */
static void name_float(rung_fmt *fmt, const char *name)
{
    for (size_t i = 0; i < RUNG_COUNT(KNOWN); i++) {
        if (KNOWN[i].exponent_bits != fmt->exponent_bits || KNOWN[i].mantissa_bits != fmt->mantissa_bits) continue;
        snprintf(fmt->name, sizeof fmt->name, "%s", KNOWN[i].name);
        return;
    }
    snprintf(fmt->name, sizeof fmt->name, "%.15s", name);
}

static rung_status unknown_format(const char *name, rung_error *err)
{
    static const char *const usual[] = {"f64", "f32", "bf16", "f16", "e4m3", "e5m2"};
    const char *near = rung_nearest_name(name, usual, RUNG_COUNT(usual));
    if (near) return rung_fail(err, RUNG_USAGE, "unknown number format '%.40s'; did you mean '%s'?", name, near);
    return rung_fail(err, RUNG_USAGE, "unknown number format '%.40s'; " POSSIBLE, name);
}

rung_status rung_fmt_parse(rung_fmt *fmt, const char *name, rung_error *err)
{
    for (size_t i = 0; i < RUNG_COUNT(KNOWN); i++) {
        if (strcmp(name, KNOWN[i].name) != 0) continue;
        set_float(fmt, KNOWN[i].exponent_bits, KNOWN[i].mantissa_bits);
        name_float(fmt, name);
        return RUNG_OK;
    }
    int a, b;
    if (read_pair(&a, &b, name, 'e', 'm')) {
        if (a == 11 && b == 52) return rung_fail(err, RUNG_USAGE, "number format 'e11m52' is called f64 here");
        if (a < 2 || a > MAX_EXPONENT_BITS || b < 1 || b > MAX_MANTISSA_BITS)
            return rung_fail(err, RUNG_USAGE, "number format '%s' is out of range; " POSSIBLE, name);
        set_float(fmt, a, b);
        name_float(fmt, name);
        return RUNG_OK;
    }
    if (read_pair(&a, &b, name, 'q', '.')) {
        if (a + b < 1 || a + b > MAX_FIXED_BITS)
            return rung_fail(err, RUNG_USAGE, "number format '%s' is out of range; " POSSIBLE, name);
        set_fixed(fmt, a, b);
        snprintf(fmt->name, sizeof fmt->name, "%.15s", name);
        return RUNG_OK;
    }
    return unknown_format(name, err);
}
