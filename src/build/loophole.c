/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What a known maximum is worth: one full layer, two heads, dk = 1, dv = 2, in f32, that looks up z_1(z_0) when z_0
 * comes after the table, for every table of up to 121 entries. With a running maximum from left to right this cannot
 * be: what w receives from the table then is H (dv+2) p = 256 bits, and N0 = V = 118 needs N0 log2 V = 812. Two-pass
 * softmax and softmax from right to left are no such sums, because z_0 decides what a table entry weighs before it is
 * added.
 *
 * Entry j scores -j a, a close to ln 2, and z_0 scores c - z_0 a, above all others. As soon as that is the maximum the
 * entry weighs e^(k a - c) with k = z_0 - j. c is just above 149 ln 2, and 2^-149 is the smallest subnormal number: for
 * k = 0 the weight is rounded to it, for k = -1 it is below 2^-150 and rounded to 0. The values z_1(j) e^(j a) undo the
 * slope, so that
 *
 *   head 1 adds up u z_1(j) over j <= z_0, u = e^(z_0 a - c);  head 2, whose z_0 scores a more, over j < z_0.
 *
 * The difference is D = u z_1(z_0). The denominator is that of z_0 alone, 1. The second value of z_0 is u itself, and
 * reading out 2 A D - A^2 u = u (z_1(z_0)^2 - (A - z_1(z_0))^2) for the answer A needs no division. With the running
 * maximum nothing is cut: the sums of both heads are rescaled as a whole, D = 0 but for rounding, and the answer is 0.
 *
 * All scores are multiples of 2^-17 below 128, so their differences are exact in f32. What rounding does to D is
 * bounded below (worst_error) for every table and every order of the sums, and the row refuses a bound of 1/2.
 *
 * The value of an entry is a product of its argument and what it holds, so the token must carry both: form=pair.
 */
#include "build_rows.h"
#include "sheet.h"

#include <float.h>
#include <math.h>

static const rung_param params[] = {{0}};

/* The grid of f32 between 64 and 128. a = ln 2 to the grid, from below by 1.43e-6; c is the second multiple above 149
 * ln 2 (8.4e-6 above): the first one is less than ln 2 - a above it, and the weight at k = -1 would not vanish. */
static const double grid = 1.0 / 131072;
static const double slope = 90852 * grid;
static const double top = 13536977 * grid;

/* Rounds to f32. Every number here is within its range or rounds to 0. */
static double f32(double x)
{
    return (double)(float)x;
}

/* The weight of an entry k places before the cut. */
static double weight(double k)
{
    return f32(exp(k * slope - top));
}

/* The value of an entry that holds z, `rise` steps up the slope. */
static double value(size_t z, size_t rise)
{
    return f32((double)z * exp((double)rise * slope));
}

static double unit(size_t z0)
{
    return f32(exp((double)z0 * slope - top));
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* The largest error of D through entry j, in units u: its parts in the two heads are rounded. */
static double entry_error(size_t j, size_t z0, size_t values)
{
    double worst = 0, k = (double)(z0 - j);
    for (size_t z = 0; z < values; z++) {
        double first = f32(weight(k) * value(z, j));
        double second = j < z0 ? f32(weight(k - 1) * value(z, j + 1)) : (double)z * unit(z0);
        worst = fmax(worst, fabs(first - second));
    }
    return worst / unit(z0);
}

/* |D - u z_1(z_0)| / u at most, for any table. Beside the entries: each of the 2 (z_0+1) additions rounds a sum of at
 * most S = (z_0+1)(V-1) u (and a little) by 2^-24 S; the denominators are between 1 and 1 + 2^(z_0-147); the difference
 * is rounded. */
static double worst_error(size_t entries, size_t values)
{
    double worst = 0;
    for (size_t z0 = 0; z0 < entries; z0++) {
        double terms = (double)z0 + 1, sum = 1.01 * terms * (double)(values - 1), error = 0;
        for (size_t j = 0; j <= z0; j++) error += entry_error(j, z0, values);
        error += sum * (2 * terms + 2) * 0x1p-24 + sum * ldexp(1, (int)z0 - 147);
        worst = fmax(worst, error);
    }
    return worst;
}

static rung_status check_form(const rung_build *b, rung_error *err)
{
    const rung_task_conf *t = &b->task;
    if (rung_task_param(t, "L") != 1)
        return rung_fail(err, RUNG_USAGE, "one layer looks up one table; take L=1, not L=%lld",
                         (long long)rung_task_param(t, "L"));
    if (rung_task_param(t, "form") != 1)
        return rung_fail(
            err, RUNG_USAGE,
            "the value of an entry is a product of its argument and what it holds, and embeddings only add "
            "positions; take form=pair");
    if (rung_task_param(t, "order") != 0)
        return rung_fail(err, RUNG_USAGE, "w asks at the end of the prompt, so take order=last");
    return RUNG_OK;
}

/* The largest value must be finite, and the answer the nearest one. The read-out is off by at most four roundings of
 * V^2 u, on either side of a comparison of two answers, which are 1 - 2 error apart. */
static rung_status check_sizes(size_t entries, size_t values, rung_error *err)
{
    double largest = fmax((double)values - 1, 1) * exp((double)entries * slope);
    if (!(largest < FLT_MAX))
        return rung_fail(
            err, RUNG_USAGE,
            "N0=%zu with V=%zu needs values up to %zu * 2^%zu, beyond f32; take N0 <= 121, or with a smaller V "
            "up to 128",
            entries, values, values - 1, entries);
    double error = worst_error(entries, values), reading = 8 * (double)values * (double)values * 0x1p-24;
    if (2 * error + reading < 1) return RUNG_OK;
    return rung_fail(
        err, RUNG_USAGE,
        "N0=%zu with V=%zu: rounding in f32 may move the answer by %.2f, and 0.5 is the next one; lower N0 "
        "or V",
        entries, values, error + reading / 2);
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

enum { HEADS = 2, DV = 2 };

/* Coordinates: per head the score and the value of a token; the unit; what w finds. */
typedef struct coords {
    size_t score, value, unit, difference, scale;
} coords;

static void write_tokens(rung_sheet *s, const coords *c, size_t entries, size_t values)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t j = 0; j < entries; j++)
        for (size_t z = 0; z < values; z++) {
            size_t id = j * values + z;
            for (size_t h = 0; h < HEADS; h++) sheet_set(&embed, id, c->score + h, -(double)j * slope);
            sheet_set(&embed, id, c->value, value(z, j));
            sheet_set(&embed, id, c->value + 1, value(z, j + 1));
        }
    for (size_t z0 = 0; z0 < entries; z0++) {
        size_t id = entries * values + z0;
        sheet_set(&embed, id, c->score, top - (double)z0 * slope);
        sheet_set(&embed, id, c->score + 1, top - (double)z0 * slope + slope);
        sheet_set(&embed, id, c->unit, unit(z0));
    }
}

/* Every token asks with q = 1: then no token adds up values without their weights, which could overflow. */
static void write_layer(rung_sheet *s, const coords *c)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.bias"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    for (size_t h = 0; h < HEADS; h++) {
        sheet_set(&q, 0, h, 1);
        sheet_set(&k, h, c->score + h, 1);
        sheet_set(&v, h * DV, c->value + h, 1);
    }
    sheet_set(&v, 1, c->unit, 1);
    sheet_set(&out, c->difference, 0, 1);
    sheet_set(&out, c->difference, DV, -1);
    sheet_set(&out, c->scale, 1, 1);
}

/* Times 2^100, because u is as small as 2^-149 and products with it should be normal numbers. */
static void write_readout(rung_sheet *s, const coords *c, size_t values)
{
    sheet_matrix readout = sheet_get(s, "readout.weight");
    for (size_t a = 0; a < values; a++) {
        sheet_set(&readout, a, c->difference, ldexp(2 * (double)a, 100));
        sheet_set(&readout, a, c->scale, ldexp(-(double)a * (double)a, 100));
    }
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    coords c;
    RUNG_TRY(check_form(b, err));
    size_t entries = (size_t)rung_task_param(&b->task, "N0"), values = (size_t)rung_task_param(&b->task, "V");
    RUNG_TRY(check_sizes(entries, values, err));
    c.score = sheet_coords(s, HEADS), c.value = sheet_coords(s, HEADS), c.unit = sheet_coords(s, 1);
    c.difference = sheet_coords(s, 1), c.scale = sheet_coords(s, 1);
    sheet_layers(s, "full:dk=1:dv=%d@%d", DV, HEADS);
    write_tokens(s, &c, entries, values);
    write_layer(s, &c);
    write_readout(s, &c, values);
    return RUNG_OK;
}

const rung_construction rung_construction_loophole = {
    .name = "loophole",
    .summary = "a lookup in one layer that only a softmax with a known maximum can do",
    .source = "ours",
    .task = "seqcomp",
    .task_pairs = "L=1 N0=118 form=pair",
    .params = params,
    .build = build,
};
