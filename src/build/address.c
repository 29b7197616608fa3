/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Addresses as keys and queries.
 */
#include "address.h"

#include <assert.h>
#include <math.h>

const char *const address_names[] = {"bits", "sign", "trig", "quadratic", NULL};

static const double turn = 6.283185307179586477; /* 2 pi */

address address_init(address_kind kind, size_t count, double gap)
{
    size_t bits = sheet_bits_for(count);
    const size_t dims[] = {2 * bits, bits, 2, 2};
    return (address){kind, count, dims[kind], gap, 0};
}

/* 1 - cos x without cancellation. */
static double one_minus_cos(double x)
{
    double half = sin(x / 2);
    return 2 * half * half;
}

static void write_circle(const sheet_matrix *m, size_t row, size_t col, double radius, double angle)
{
    sheet_set(m, row, col, radius * cos(angle));
    sheet_set(m, row, col + 1, radius * sin(angle));
}

void address_key(const address *a, const sheet_matrix *m, size_t row, size_t col, size_t number)
{
    size_t bits = sheet_bits_for(a->count);
    /* Quadratic keys of tokens without an address lie beyond the last address. */
    assert(number < a->count || a->kind == ADDRESS_QUADRATIC);
    switch (a->kind) {
    case ADDRESS_BITS:
        sheet_set_bits(m, row, col, bits, number, 0, 1);
        sheet_set_bits(m, row, col + bits, bits, number, 1, 0);
        break;
    case ADDRESS_SIGN:
        sheet_set_bits(m, row, col, bits, number, -1, 1);
        break;
    case ADDRESS_TRIG:
        write_circle(m, row, col, 1, turn * (double)number / (double)a->count);
        break;
    case ADDRESS_QUADRATIC:
        sheet_set(m, row, col, (double)number);
        sheet_set(m, row, col + 1, (double)number * (double)number);
        break;
    }
}

void address_query(const address *a, const sheet_matrix *m, size_t row, size_t col, size_t number)
{
    size_t bits = sheet_bits_for(a->count);
    double g = a->gap, step = turn / (double)a->count;
    switch (a->kind) {
    case ADDRESS_BITS:
        sheet_set_bits(m, row, col, bits, number, 0, g);
        sheet_set_bits(m, row, col + bits, bits, number, g, 0);
        break;
    case ADDRESS_SIGN:
        sheet_set_bits(m, row, col, bits, number, -g / 2, g / 2);
        break;
    case ADDRESS_TRIG:
        write_circle(m, row, col, a->count > 1 ? g / one_minus_cos(step) : g, step * (double)number);
        break;
    case ADDRESS_QUADRATIC:
        sheet_set(m, row, col, 2 * g * (double)number);
        sheet_set(m, row, col + 1, -g);
        break;
    }
}

/* The score of the right key, those of zero keys being 0. */
static double right_score(const address *a)
{
    double bits = (double)sheet_bits_for(a->count), step = turn / (double)a->count;
    if (a->kind == ADDRESS_TRIG) return a->count > 1 ? a->gap / one_minus_cos(step) : a->gap;
    return a->kind == ADDRESS_BITS ? a->gap * bits : a->gap / 2 * bits;
}

double address_leak(const address *a)
{
    double bits = (double)sheet_bits_for(a->count), step = turn / (double)a->count, leak = 0;
    if (a->idle && a->kind != ADDRESS_QUADRATIC) leak = (double)a->idle * exp(-right_score(a));
    if (a->kind == ADDRESS_BITS || a->kind == ADDRESS_SIGN) return leak + expm1(bits * log1p(exp(-a->gap)));
    for (size_t k = 1; k < a->count; k++) {
        double drop = a->kind == ADDRESS_TRIG ? a->gap * one_minus_cos((double)k * step) / one_minus_cos(step)
                                              : a->gap * (double)k * (double)k;
        leak += (a->kind == ADDRESS_TRIG ? 1 : 2) * exp(-drop);
    }
    return leak;
}
