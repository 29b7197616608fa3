/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Codes that are compared by counting misses.
 */
#include "code_match.h"

#include <assert.h>
#include <math.h>

void match_key(const sheet_matrix *m, size_t row, size_t col, size_t bits, size_t number)
{
    assert(bits < 64 && number >> bits == 0); /* otherwise two numbers would share a code */
    sheet_set_bits(m, row, col, bits, number, 0, 1);
    sheet_set_bits(m, row, col + bits, bits, number, 1, 0);
}

void match_query(const sheet_matrix *m, size_t row, size_t col, size_t bits, size_t number, double gap)
{
    sheet_set_bits(m, row, col, bits, number, -gap, 0);
    sheet_set_bits(m, row, col + bits, bits, number, 0, -gap);
}

void match_never(const sheet_matrix *m, size_t row, size_t col, size_t bits)
{
    for (size_t i = 0; i < 2 * bits; i++) sheet_set(m, row, col + i, 1);
}

void match_codes(const sheet_matrix *q, const sheet_matrix *k, size_t row, size_t asked, size_t code, size_t bits,
                 double gap)
{
    sheet_set_diagonal(k, row, code, 2 * bits, 1);
    sheet_set_diagonal(q, row, asked + bits, bits, -gap);
    sheet_set_diagonal(q, row + bits, asked, bits, -gap);
}

/* Searches in steps of a hundredth; 0 if there is none. Above 700, e^-gap is nearly 0 in a double. */
static double least_gap(const match_limit *limit)
{
    for (int step = 1; step <= 70000; step++)
        if (limit->excess(limit->context, step / 100.0) < 1) return step / 100.0;
    return 0;
}

/* A multiple of 4 is a number of few bits. A slack of 4 uses e^-4 of the allowed error and leaves the rest for
 * rounding. */
static double enough(const match_limit *limit, double least)
{
    double gap = fmax(limit->usual, 4 * ceil((least + 4) / 4));
    return limit->excess(limit->context, gap) < 1 ? gap : least;
}

rung_status match_gap(double *gap, const rung_build *b, const match_limit *limit, rung_error *err)
{
    double least = least_gap(limit);
    if (least == 0) return rung_fail(err, RUNG_USAGE, "for every gap %s; %s", limit->meaning, limit->instead);
    *gap = rung_build_value(b, "gap")->real;
    if (*gap == 0) *gap = enough(limit, least);
    double excess = limit->excess(limit->context, *gap);
    if (excess < 1) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE, "gap=%g is too small: %s (the bound is %.3g, but must be below 1); take gap=%.2f",
                     *gap, limit->meaning, excess, least);
}
