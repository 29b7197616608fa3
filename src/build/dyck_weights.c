/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Bounded Dyck words in one recurrent layer h <- tanh(U h + x), k (2 + 3 b) + 3 units for depth k and types of b bits.
 * The stack itself is the state: no table of its types^k contents. A unit is on (+1) or off (-1); sums are small
 * integers at least 1 away from 0, times a gain for which tanh is +-1 in the format, so that the network is a threshold
 * circuit. Every unit's place in the stack is d = 1..k from the bottom:
 *
 *   B_d        on after the first token. The state begins with 0, not with -1; with B for the constant, [u] := (B +
 *              u)/2 is 0 at the beginning and the bit of u afterwards. One per place, so that no sum of many units
 *              drifts away.
 *   D_d        at least d brackets are open:  open  [D_(d-1)],  close  [D_(d+1)], which is [D_(d-1)] + [D_(d+1)] >= 1
 *              and >= 2, because D falls with d; D_0 = 1, D_(k+1) = 0.
 *   S_d,j      bit j of the d-th open bracket, off where there is none:
 *              8 [S] + 4 [D_(d-1)] - 4 [D_d] + 2 [D_(d+1)] >= 3 to push a 1, 6 to push a 0, 9 to pop
 *              (8 and 10 where the bit is set and stays, 8 when its bracket is the one that closes, 4 where the bracket
 *              that opens will be, 0 and 2 elsewhere).
 *   M0, M1_d,j a bracket of bit 1 (0) closed the d-th one, the top, whose bit j is 0 (1):
 *              [D_d] - [D_(d+1)] - [S] >= 1,   [S] - [D_(d+1)] >= 1.
 *   Z, O       a bracket closed, and none was open:  -[D_1] >= 0; one opened, and k were:  [D_k] >= 1.
 *   R          rejected before this token: [R] + [Z] + [O] + sum [M] >= 1. It hears of them one token late, so the
 *              read-out looks at them too.
 *
 * Accepted iff R, Z, O, all M and D_1 are off after the last token. After a rejection the units go on as if nothing had
 * happened and keep their invariants. A model that has the states of the automaton as units would need types^k of them.
 */
#include "build_rows.h"
#include "sheet.h"

enum { UNITS_MAX = 4096 };

static const rung_param params[] = {
    {"gain", RUNG_PARAM_REAL, 32, 1, 1 << 20, NULL, "factor before tanh; tanh(gain) must round to 1"},
    {0},
};

/* The units of one place, and those that come after all places. */
enum { UNIT_B, UNIT_D, UNIT_S };
enum { UNIT_Z, UNIT_O, UNIT_R, LAST_UNITS };

typedef struct net {
    rung_sheet *s;
    size_t depth, types, bits;
    double gain;
    sheet_matrix U, x; /* [units][units], [units][coordinates] */
} net;

static size_t place_size(const net *n)
{
    return 2 + 3 * n->bits;
}

/* Unit number of one kind at place d = 1..depth. */
static size_t unit_at(const net *n, size_t d, size_t kind)
{
    return (d - 1) * place_size(n) + kind;
}

static size_t stack_bit(const net *n, size_t d, size_t j)
{
    return unit_at(n, d, UNIT_S + j);
}

static size_t mismatch(const net *n, size_t d, size_t j, size_t stacked)
{
    return unit_at(n, d, UNIT_S + n->bits + 2 * j + stacked);
}

static size_t last_unit(const net *n, size_t kind)
{
    return n->depth * place_size(n) + kind;
}

static size_t units(const net *n)
{
    return last_unit(n, LAST_UNITS);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void add(const sheet_matrix *m, size_t row, size_t col, double value)
{
    if (m->value) sheet_set(m, row, col, m->value[row * m->cols + col] + value);
}

/* Adds 2 weight [unit] = weight (unit + B) to a row of sums over the units, with the B of place d. */
static void hear(const net *n, const sheet_matrix *m, size_t row, size_t d, size_t unit, double weight)
{
    add(m, row, unit, weight);
    add(m, row, unit_at(n, d, UNIT_B), weight);
}

/* Adds 2 weight [D_d], for any d from 0 to depth+1. Returns what must be added to the token's own part. */
static double hear_depth(const net *n, size_t to, size_t d, double weight)
{
    if (d >= 1 && d <= n->depth) hear(n, &n->U, to, d, unit_at(n, d, UNIT_D), n->gain * weight);
    return d == 0 ? 2 * weight : 0;
}

/* Tokens: a bracket of type t has the id 2t if it opens and 2t+1 if it closes; its coordinate has the same number. */
static void token_part(const net *n, size_t unit, size_t token, double value)
{
    add(&n->x, unit, token, n->gain * value);
}

/* ---- the units --------------------------------------------------------------------------------------------------- */

static void write_depth(const net *n, size_t d)
{
    size_t unit = unit_at(n, d, UNIT_D);
    double always = hear_depth(n, unit, d - 1, 1) + hear_depth(n, unit, d + 1, 1);
    for (size_t t = 0; t < 2 * n->types; t++) {
        token_part(n, unit_at(n, d, UNIT_B), t, 1);
        token_part(n, unit, t, always - (t % 2 ? 3 : 1));
    }
}

static void write_stack_bit(const net *n, size_t d, size_t j)
{
    size_t unit = stack_bit(n, d, j);
    hear(n, &n->U, unit, d, unit, 4 * n->gain);
    double always = hear_depth(n, unit, d - 1, 2) + hear_depth(n, unit, d, -2) + hear_depth(n, unit, d + 1, 1);
    for (size_t t = 0; t < 2 * n->types; t++) token_part(n, unit, t, always - (t % 2 ? 9 : t / 2 >> j & 1 ? 3 : 6));
}

/* Twice the sum is 2 at the wrong bracket and at most that otherwise, so 1 is the threshold of those that can be wrong
 * and 3 that of the others. */
static void write_mismatch(const net *n, size_t d, size_t j, size_t stacked)
{
    size_t unit = mismatch(n, d, j, stacked);
    hear(n, &n->U, unit, d, stack_bit(n, d, j), stacked ? n->gain : -n->gain);
    if (!stacked) hear_depth(n, unit, d, 1);
    hear_depth(n, unit, d + 1, -1);
    for (size_t t = 0; t < 2 * n->types; t++) token_part(n, unit, t, t % 2 && (t / 2 >> j & 1) != stacked ? -1 : -3);
}

/* Adds unit + B, which is 0 or 2, for every reason to reject. */
static void hear_reasons(const net *n, const sheet_matrix *m, size_t row, double weight)
{
    for (size_t d = 1; d <= n->depth; d++)
        for (size_t i = 0; i < 2 * n->bits; i++) hear(n, m, row, d, mismatch(n, d, i / 2, i % 2), weight);
    for (size_t i = 0; i < LAST_UNITS; i++) hear(n, m, row, n->depth, last_unit(n, i), weight);
}

static void write_verdicts(const net *n)
{
    hear_depth(n, last_unit(n, UNIT_Z), 1, -1);
    hear_depth(n, last_unit(n, UNIT_O), n->depth, 1);
    hear_reasons(n, &n->U, last_unit(n, UNIT_R), n->gain);
    for (size_t t = 0; t < 2 * n->types; t++) {
        token_part(n, last_unit(n, UNIT_Z), t, t % 2 ? 1 : -1);
        token_part(n, last_unit(n, UNIT_O), t, t % 2 ? -3 : -1);
        token_part(n, last_unit(n, UNIT_R), t, -1);
    }
}

/* "No" scores twice the number of reasons to reject, an open bracket among them, minus 1. "Yes" scores 0. */
static void write_answer(const net *n, size_t score)
{
    sheet_matrix out = sheet_get(n->s, "layers.0.out.weight"), bias = sheet_get(n->s, "readout.bias");
    sheet_matrix readout = sheet_get(n->s, "readout.weight");
    hear_reasons(n, &out, score, 1);
    hear(n, &out, score, 1, unit_at(n, 1, UNIT_D), 1);
    sheet_set(&readout, 0, score, 1);
    sheet_set(&bias, 0, 0, -1);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    net n = {.s = s,
             .depth = (size_t)rung_task_param(&b->task, "k"),
             .types = (size_t)rung_task_param(&b->task, "types"),
             .gain = rung_build_value(b, "gain")->real};
    n.bits = n.types > 1 ? sheet_bits_for(n.types) : 0;
    if (units(&n) > UNITS_MAX)
        return rung_fail(err, RUNG_USAGE, "k=%zu and types=%zu need %zu units, but at most %d are built; lower k",
                         n.depth, n.types, units(&n), UNITS_MAX);
    size_t token = sheet_coords(s, 2 * n.types), score = sheet_coords(s, 1);
    sheet_layers(s, "rnn:kind=tanh:dv=%zu", units(&n));
    sheet_matrix embed = sheet_get(s, "embed.weight");
    sheet_set_diagonal(&embed, 0, token, 2 * n.types, 1);
    n.U = sheet_get(s, "layers.0.mix.0.U"), n.x = sheet_get(s, "layers.0.mix.0.x.weight");
    for (size_t d = 1; d <= n.depth; d++) {
        write_depth(&n, d);
        for (size_t j = 0; j < n.bits; j++) {
            write_stack_bit(&n, d, j);
            write_mismatch(&n, d, j, 0);
            write_mismatch(&n, d, j, 1);
        }
    }
    write_verdicts(&n);
    write_answer(&n, score);
    return RUNG_OK;
}

const rung_construction rung_construction_dyck = {
    .name = "dyck",
    .summary = "a stack of bounded depth in one tanh layer",
    .source = "the task is that of Bhattamishra et al. 2024; the network is ours",
    .task = "dyck",
    .params = params,
    .build = build,
};
