/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Recall what a state selects: one recurrent layer that tracks a state, and one full layer that looks an address up.
 * Solves state-recall and parity-recall, which neither recurrent layers of small state nor one full layer can do
 * (docs/theory.md, Cut and Cut one).
 *
 *   first=state    the recurrent layer tracks addresses, and the question looks up the one that it reads
 *   first=recall   every register looks up what it points to, and the recurrent layer tracks these values
 *
 * The recurrent layer follows the delta rule S <- (I - beta k k^T) S + beta k v^T with beta = 1. Each row of S holds the
 * code of an address (of a value).
 *
 *   k = e_i, v = code    row i is replaced by the code
 *   k = e_a - e_b, v = 0 rows a and b are exchanged: I - k k^T is that permutation matrix, of eigenvalue -1 along k,
 *                        because |k|^2 = 2
 *   q = e_i              reads row i
 *
 * All numbers are -1, 0 or 1, every sum is one of small integers, and nothing is rounded in any format. A register of
 * state-recall is a row, a step exchanges two. In parity-recall rows 0 and 1 begin as the two parities (the first two
 * entries of the tables write them), a bit 1 exchanges them, row 2 holds the key; the question reads rows 0 and 2, whose
 * sum is the code of (key, parity).
 *
 * The full layer compares codes by counting misses (code_match.h). What it asks for is exact, so with b address bits
 * and T tokens that are no entries, the wrong keys weigh (1 + e^-g)^b - 1 + T e^(-gb) of the right one at most, and
 * less than 1 is right. A table rounds the bits of the value.
 *
 * first=recall: the recurrent layer tracks these rounded bits. A step must write nothing, so it must fetch 0: it asks
 * for tokens that are no entries, by one more coordinate of the key, with the score g b. The entries then weigh
 * N e^(-gb) <= (2 e^-g)^b < 1 of the step itself, and the table rounds to 0. (The bound above is at least b e^-g, and at
 * least 4 e^-g for b = 1, so it is below 1 only if 2 e^-g < 1.)
 */
#include "build_rows.h"
#include "code_match.h"

#include <math.h>
#include <stdio.h>

enum { TASK_STATE, TASK_PARITY };
enum { FIRST_STATE, FIRST_RECALL };
static const char *const task_pairs[] = {"state-recall", "parity-recall", NULL};
static const char *const first_names[] = {"state", "recall", NULL};

typedef struct tracker {
    const char *name;
    const char *rate; /* e^A must be 0 */
} tracker;

static const tracker trackers[] = {{"delta", NULL}, {"gdelta", "g.A"}, {"kda", "g.A"}};
static const char *const mech_names[] = {"delta", "gdelta", "kda", NULL};

#define FAR_AWAY    1000 /* e^-1000 is below the least number of every format */
#define GATE_IS_ONE 64   /* sigmoid(64) rounds to 1 */
#define USUAL_GAP   8    /* e^-8 does not affect a bit, and -8 has few bits */

static const rung_param params[] = {
    {"task", RUNG_PARAM_CHOICE, TASK_STATE, 0, 0, task_pairs, "the task"},
    {"mech", RUNG_PARAM_CHOICE, 0, 0, 0, mech_names, "the recurrent mechanism"},
    {"first", RUNG_PARAM_CHOICE, FIRST_STATE, 0, 0, first_names, "which comes first, the recurrent or the full layer"},
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

typedef struct plan {
    const tracker *tracker;
    size_t entries, values, tokens;
    size_t rows; /* of the state: dk */
    size_t address_bits, value_bits;
    bool recall_first;
} plan;

static plan make_plan(const rung_build *b)
{
    const rung_task_conf *t = &b->task;
    bool parity = rung_build_param(b, "task") == TASK_PARITY;
    plan p = {.tracker = &trackers[rung_build_param(b, "mech")],
              .entries = (size_t)rung_task_param(t, "N") * (parity ? 2 : 1),
              .values = (size_t)rung_task_param(t, "V"),
              .tokens = t->tokens,
              .rows = parity ? 3 : (size_t)rung_task_param(t, "K"),
              .recall_first = rung_build_param(b, "first") == FIRST_RECALL};
    p.address_bits = sheet_bits_for(p.entries), p.value_bits = sheet_bits_for(p.values);
    return p;
}

/* The weight of the wrong keys. */
static double leak(const void *context, double gap)
{
    const plan *p = context;
    double bits = (double)p->address_bits, others = (double)(p->tokens - p->entries);
    return expm1(bits * log1p(exp(-gap))) + others * exp(-gap * bits);
}

typedef struct coords {
    size_t other, wants_other; /* first=recall: tokens that are no entries, and those that ask for them */
    size_t write, read;        /* k and q of the recurrent layer */
    size_t code;               /* of an address: its v, or the query of the full layer if that comes first */
    size_t tracked;            /* what it reads */
    size_t key, value;         /* of the full layer */
    size_t recalled;           /* bits of what that fetches */
    size_t ones, zeros;        /* the answer */
} coords;

static size_t tracked_size(const plan *p)
{
    return p->recall_first ? p->value_bits : 2 * p->address_bits;
}

static coords layout(rung_sheet *s, const plan *p)
{
    coords c;
    c.write = sheet_coords(s, p->rows), c.read = sheet_coords(s, p->rows);
    c.code = sheet_coords(s, 2 * p->address_bits), c.tracked = sheet_coords(s, tracked_size(p));
    c.key = sheet_coords(s, 2 * p->address_bits), c.value = sheet_coords(s, p->value_bits);
    c.recalled = sheet_coords(s, p->value_bits), c.ones = sheet_coords(s, p->value_bits);
    c.zeros = sheet_coords(s, p->value_bits);
    c.other = sheet_coords(s, p->recall_first), c.wants_other = sheet_coords(s, p->recall_first);
    return c;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

/* Bits from..from+bits-1 of the code. */
static void write_code(const sheet_matrix *m, size_t row, const plan *p, const coords *c, size_t from, size_t bits,
                       size_t number)
{
    sheet_set_bits(m, row, c->code + from, bits, number, 0, 1);
    sheet_set_bits(m, row, c->code + p->address_bits + from, bits, number, 1, 0);
}

static void exchange(const sheet_matrix *m, size_t row, const coords *c, size_t a, size_t b)
{
    sheet_set(m, row, c->write + a, 1);
    sheet_set(m, row, c->write + b, -1);
}

/* Entries come first in both tasks: their values are the first ids, their addresses the first positions. */
static void write_entries(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    for (size_t v = 0; v < p->values; v++) sheet_set_bits(&embed, v, c->value, p->value_bits, v, 0, 1);
    for (size_t i = 0; i < p->entries; i++) match_key(&positions, i, c->key, p->address_bits, i);
    for (size_t i = p->entries; i < p->tokens; i++) {
        match_never(&positions, i, c->key, p->address_bits);
        if (p->recall_first) sheet_set(&positions, i, c->other, 1);
    }
}

/* Ids: entries, pointers, the steps 0-1 0-2 1-2 0-3 ..., questions. */
static void write_registers(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    size_t id = p->values;
    for (size_t i = 0; i < p->rows; i++) sheet_set(&positions, p->entries + i, c->write + i, 1);
    for (size_t i = 0; i < p->entries; i++) write_code(&embed, id++, p, c, 0, p->address_bits, i);
    for (size_t high = 1; high < p->rows; high++)
        for (size_t low = 0; low < high; low++, id++) {
            exchange(&embed, id, c, low, high);
            if (p->recall_first) sheet_set(&embed, id, c->wants_other, 1);
        }
    for (size_t i = 0; i < p->rows; i++) sheet_set(&embed, id++, c->read + i, 1);
}

/* Ids: entries, keys, the bits 0 and 1, the question. The lowest bit of an address is the parity, the others the key. */
static void write_parity(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    size_t id = p->values;
    for (size_t parity = 0; parity < 2; parity++) {
        sheet_set(&positions, parity, c->write + parity, 1);
        write_code(&positions, parity, p, c, 0, 1, parity);
    }
    for (size_t x = 0; x < p->entries / 2; x++) {
        sheet_set(&embed, id, c->write + 2, 1);
        write_code(&embed, id++, p, c, 1, p->address_bits - 1, x);
    }
    exchange(&embed, id + 1, c, 0, 1);
    sheet_set(&embed, id + 2, c->read, 1);
    sheet_set(&embed, id + 2, c->read + 2, 1);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static void write_tracker(rung_sheet *s, const plan *p, const coords *c, size_t layer)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", layer);
    sheet_matrix k = sheet_get(s, "layers.%zu.mix.0.k.weight", layer);
    sheet_matrix v = sheet_get(s, "layers.%zu.mix.0.v.weight", layer);
    sheet_matrix out = sheet_get(s, "layers.%zu.out.weight", layer);
    sheet_matrix beta = sheet_get(s, "layers.%zu.mix.0.beta.bias", layer);
    sheet_set_diagonal(&q, 0, c->read, p->rows, 1);
    sheet_set_diagonal(&k, 0, c->write, p->rows, 1);
    sheet_set_diagonal(&v, 0, p->recall_first ? c->recalled : c->code, tracked_size(p), 1);
    sheet_set_diagonal(&out, c->tracked, 0, tracked_size(p), 1);
    sheet_set(&beta, 0, 0, GATE_IS_ONE);
    if (!p->tracker->rate) return;
    sheet_matrix rate = sheet_get(s, "layers.%zu.mix.0.%s", layer, p->tracker->rate);
    for (size_t i = 0; i < rate.cols; i++) sheet_set(&rate, 0, i, -FAR_AWAY);
}

static void write_lookup(rung_sheet *s, const plan *p, const coords *c, size_t layer, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", layer);
    sheet_matrix k = sheet_get(s, "layers.%zu.mix.0.k.weight", layer);
    sheet_matrix v = sheet_get(s, "layers.%zu.mix.0.v.weight", layer);
    sheet_matrix out = sheet_get(s, "layers.%zu.out.weight", layer);
    match_codes(&q, &k, 0, p->recall_first ? c->code : c->tracked, c->key, p->address_bits, gap);
    sheet_set_diagonal(&v, 0, c->value, p->value_bits, 1);
    sheet_set_diagonal(&out, c->recalled, 0, p->value_bits, 1);
    if (!p->recall_first) return;
    sheet_set(&q, 2 * p->address_bits, c->wants_other, gap * (double)p->address_bits);
    sheet_set(&k, 2 * p->address_bits, c->other, 1);
}

static void write_layers(rung_sheet *s, const plan *p, const coords *c, double gap)
{
    write_tracker(s, p, c, p->recall_first);
    write_lookup(s, p, c, !p->recall_first, gap);
    if (p->recall_first) { /* zeros are not needed before the end, and are written there */
        sheet_snap_bits(s, 0, c->recalled, p->value_bits, c->recalled, c->zeros);
        sheet_snap_bits(s, 1, c->tracked, p->value_bits, c->ones, c->zeros);
    } else {
        sheet_snap_bits(s, 1, c->recalled, p->value_bits, c->ones, c->zeros);
    }
    sheet_readout_numbers(s, c->ones, c->zeros, p->value_bits, p->values);
}

static void set_arch(rung_sheet *s, const plan *p)
{
    char state[64], full[64];
    snprintf(state, sizeof state, "%s:dk=%zu:dv=%zu", p->tracker->name, p->rows, tracked_size(p));
    snprintf(full, sizeof full, "full:dk=%zu:dv=%zu", 2 * p->address_bits + p->recall_first, p->value_bits);
    sheet_layers(s, "%s,%s", p->recall_first ? full : state, p->recall_first ? state : full);
    sheet_mlp(s, p->recall_first ? "table,table" : "none,table");
    s->spec.positions = RUNG_POS_LEARNED;
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p = make_plan(b);
    double gap;
    match_limit limit = {.excess = leak,
                         .context = &p,
                         .usual = USUAL_GAP,
                         .meaning = "the wrong entries together may weigh as much as the right one",
                         .instead = "take smaller sizes"};
    if (p.recall_first && rung_build_param(b, "task") == TASK_PARITY)
        return rung_fail(err, RUNG_USAGE,
                         "parity-recall has one key for two entries, and a token looks up one; take first=state");
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    coords c = layout(s, &p);
    set_arch(s, &p);
    write_entries(s, &p, &c);
    if (rung_build_param(b, "task") == TASK_PARITY)
        write_parity(s, &p, &c);
    else
        write_registers(s, &p, &c);
    write_layers(s, &p, &c, gap);
    return RUNG_OK;
}

const rung_construction rung_construction_state_recall = {
    .name = "state-recall",
    .summary = "a recurrent layer that tracks a state, and a full one that recalls what it selects, in either order",
    .source = "ours; the exchange of two rows by the delta rule is a reflection, as in Grazzi et al. 2025",
    .task = "state-recall",
    .params = params,
    .build = build,
};
