/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * stacks: two recurrent layers. Layer 0 counts: the key and the query of an operation are the unit vector of
 * its stack, the value is 1 for a push and -1 for a pop, so that each reads the height of its stack after it. A pop adds
 * 1, which makes it the level of the value that comes off; for a push this is the level of its own value. A table turns
 * (stack, level) into the unit vector of a cell.
 *
 * A linear layer adds. The delta rule S <- (1 - beta) S + beta v at a unit key replaces, but with a small beta it adds
 * too: beta = e^-28 and v = +-e^28 add +-1 and lose e^-28 of the height, which is below T. In T steps the loss is less
 * than T^2 e^-28 < 10^-6.
 *
 * Layer 1, delta, remembers: a push replaces what its cell holds by the code of its value, and a pop reads its cell.
 * What was last written at a level is what is there now, since the stack was lower in between or never went up again.
 * A pop does not write: its beta is sigmoid(-64), which rounds away beside 1 and beside nothing.
 *
 * Heights are whole numbers below T, and everything else is 0 or 1, so with count=linear the format must hold T, and
 * then nothing is rounded. With another count the product beta v is 1 up to rounding, and T of these errors must stay
 * below 1/2. The state has S + S (T-1) 2 log2 V numbers.
 */
#include "build_rows.h"
#include "sheet.h"

#include <math.h>
#include <string.h>

enum { CELLS_MAX = 1024 }; /* the table has their square */

#define GATE     64   /* sigmoid(64) rounds to 1, and 1 - sigmoid(-64) too */
#define WEAK     28   /* sigmoid(-28) is e^-28 up to a factor of 1 - e^-28 */
#define FAR_AWAY 1000 /* e^-1000 is below the least number of every format */

enum { COUNT_LINEAR };
static const char *const count_names[] = {"linear", "delta", "gdelta", "kda", NULL};
static const char *const mech_names[] = {"delta", "gdelta", "kda", NULL};

static const rung_param params[] = {
    {"count", RUNG_PARAM_CHOICE, COUNT_LINEAR, 0, 0, count_names, "the mechanism that counts heights"},
    {"mech", RUNG_PARAM_CHOICE, 0, 0, 0, mech_names, "the mechanism that keeps the values"},
    {0},
};

typedef struct plan {
    const char *count, *mech;
    bool adds; /* the one that counts adds; otherwise it replaces, weakly */
    size_t stacks, levels, cells, values, bits;
} plan;

typedef struct coords {
    size_t stack, number; /* unit vector and number */
    size_t change;        /* 1 or -1 */
    size_t level, is_pop, cell;
    size_t code;        /* of the value */
    size_t ones, zeros; /* the answer */
} coords;

static coords layout(rung_sheet *s, const plan *p)
{
    coords c;
    c.stack = sheet_coords(s, p->stacks), c.number = sheet_coords(s, 1), c.change = sheet_coords(s, 1);
    c.level = sheet_coords(s, 1), c.is_pop = sheet_coords(s, 1), c.cell = sheet_coords(s, p->cells);
    c.code = sheet_coords(s, 2 * p->bits), c.ones = sheet_coords(s, p->bits), c.zeros = sheet_coords(s, p->bits);
    return c;
}

/* Ids: stack * V + value pushes, S * V + stack pops. */
static void write_tokens(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t stack = 0; stack < p->stacks; stack++)
        for (size_t v = 0; v <= p->values; v++) {
            bool pop = v == p->values;
            size_t id = pop ? p->stacks * p->values + stack : stack * p->values + v;
            sheet_set(&embed, id, c->stack + stack, 1);
            sheet_set(&embed, id, c->number, (double)stack);
            sheet_set(&embed, id, c->change, (pop ? -1 : 1) * (p->adds ? 1 : exp(WEAK)));
            sheet_set(&embed, id, c->level, pop);
            sheet_set(&embed, id, c->is_pop, pop);
            if (pop) continue;
            sheet_set_bits(&embed, id, c->code, p->bits, v, 0, 1);
            sheet_set_bits(&embed, id, c->code + p->bits, p->bits, v, 1, 0);
        }
}

/* The decay of gdelta and kda is 1: its logarithm is 0 if e^A is. */
static void never_forget(rung_sheet *s, size_t layer, const char *mech)
{
    if (strcmp(mech, "gdelta") != 0 && strcmp(mech, "kda") != 0) return;
    sheet_matrix rate = sheet_get(s, "layers.%zu.mix.0.g.A", layer);
    for (size_t i = 0; i < rate.cols; i++) sheet_set(&rate, 0, i, -FAR_AWAY);
}

/* Heights, and the cell of each. */
static void write_counter(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, c->stack, p->stacks, 1);
    sheet_set_diagonal(&k, 0, c->stack, p->stacks, 1);
    sheet_set(&v, 0, c->change, 1);
    sheet_set(&out, c->level, 0, 1);
    if (!p->adds) {
        sheet_matrix beta = sheet_get(s, "layers.0.mix.0.beta.bias");
        sheet_set(&beta, 0, 0, -WEAK);
    }
    never_forget(s, 0, p->count);
    size_t in[] = {c->number, c->level}, cells[CELLS_MAX];
    for (size_t i = 0; i < p->cells; i++) cells[i] = c->cell + i;
    sheet_table table = sheet_add_table(s, 0, p->cells, in, 2, cells, p->cells);
    for (size_t i = 0; i < p->cells; i++) {
        sheet_set(&table.keys, i, 0, (double)(i / p->levels));
        sheet_set(&table.keys, i, 1, (double)(1 + i % p->levels));
        sheet_set(&table.values, i, i, 1);
    }
}

static void write_memory(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    sheet_matrix gate = sheet_get(s, "layers.1.mix.0.beta.weight"), open = sheet_get(s, "layers.1.mix.0.beta.bias");
    sheet_set_diagonal(&q, 0, c->cell, p->cells, 1);
    sheet_set_diagonal(&k, 0, c->cell, p->cells, 1);
    sheet_set_diagonal(&v, 0, c->code, 2 * p->bits, 1);
    sheet_set_diagonal(&out, c->ones, 0, 2 * p->bits, 1); /* ones, then zeros */
    sheet_set(&gate, 0, c->is_pop, -2 * GATE);
    sheet_set(&open, 0, 0, GATE);
    never_forget(s, 1, p->mech);
    sheet_readout_numbers(s, c->ones, c->zeros, p->bits, p->values);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p = {.count = count_names[rung_build_param(b, "count")],
              .mech = mech_names[rung_build_param(b, "mech")],
              .adds = rung_build_param(b, "count") == COUNT_LINEAR,
              .stacks = (size_t)rung_task_param(&b->task, "S"),
              .levels = b->task.tokens - 1, /* one operation pops */
              .values = (size_t)rung_task_param(&b->task, "V")};
    p.cells = p.stacks * p.levels, p.bits = sheet_bits_for(p.values);
    if (p.cells > CELLS_MAX)
        return rung_fail(err, RUNG_USAGE,
                         "S=%zu stacks of up to %zu values are %zu cells, but at most %d are built; lower S or T",
                         p.stacks, p.levels, p.cells, CELLS_MAX);
    coords c = layout(s, &p);
    sheet_layers(s, "%s%s:dk=%zu:dv=1,%s:dk=%zu:dv=%zu", p.count, p.adds ? ":phi=identity:norm=0" : "", p.stacks,
                 p.mech, p.cells, 2 * p.bits);
    sheet_mlp(s, "table,none");
    write_tokens(s, &p, &c);
    write_counter(s, &p, &c);
    write_memory(s, &p, &c);
    return RUNG_OK;
}

const rung_construction rung_construction_stacks = {
    .name = "stacks",
    .summary = "a recurrent layer that counts heights, and one with a cell for each level",
    .source = "ours",
    .task = "stacks",
    .params = params,
    .build = build,
};
