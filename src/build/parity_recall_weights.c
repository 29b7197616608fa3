/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * parity-recall with two full layers, no recurrence: the parity is read off the average of the bits, which takes numbers
 * that are fine enough to count M bits. (state_recall_weights.c tracks it in a state of three rows, in any format.)
 *
 * Layer 0, asked by the last token: the key and the M bits have the score 0, the 2N entries and the question itself -g.
 * The average of the bits, times M+1, is the number r of ones, and that of the code of the key is this code; both are
 * smaller by the factor 1 - d, d <= (2N+1) e^-g / (M+1), for the weight of the others. The nearest whole number is r as
 * long as M d < 1/2, which 2 (2N+1) e^-g < 1 gives. A table has the parity for each r.
 *
 * Layer 1 compares the code of (key, parity) with the positions of the entries (code_match.h). A bit of the key that
 * differs costs g (1 - d). So with b address bits and M+2 tokens that are no entries, the wrong keys weigh at most
 *
 *     (1 + e^(-g (1-d)))^b - 1 + (M+2) e^(-g b (1-d))
 *
 * of the right one, and less than 1 is right. A table rounds the bits of the value.
 */
#include "build_rows.h"
#include "code_match.h"

#include <math.h>

#define USUAL_GAP 8

enum { BITS_MAX = 1 << 16 };

static const rung_param params[] = {
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

typedef struct plan {
    size_t keys, entries, values, bits, tokens;
    size_t address_bits, value_bits;
} plan;

static plan make_plan(const rung_task_conf *t)
{
    plan p = {.keys = (size_t)rung_task_param(t, "N"),
              .values = (size_t)rung_task_param(t, "V"),
              .bits = (size_t)rung_task_param(t, "M"),
              .tokens = t->tokens};
    p.entries = 2 * p.keys;
    p.address_bits = sheet_bits_for(p.entries), p.value_bits = sheet_bits_for(p.values);
    return p;
}

/* The larger of the two conditions. */
static double excess(const void *context, double gap)
{
    const plan *p = context;
    double others = (double)(p->entries + 1) * exp(-gap), cost = gap * (1 - others / (double)(p->bits + 1));
    double address = (double)p->address_bits;
    double leak = expm1(address * log1p(exp(-cost))) + (double)(p->bits + 2) * exp(-cost * address);
    return fmax(2 * others, leak);
}

typedef struct coords {
    size_t asks, other; /* the last token; tokens that are neither key nor bit */
    size_t bit, code;   /* of a bit; bits of a key and their complements */
    size_t mean, share; /* their averages, times M+1 */
    size_t parity;      /* 1 if odd, then 1 if even */
    size_t key, value;  /* of layer 1 */
    size_t ones, zeros; /* the answer */
} coords;

static coords layout(rung_sheet *s, const plan *p)
{
    size_t code = 2 * (p->address_bits - 1);
    coords c;
    c.asks = sheet_coords(s, 1), c.other = sheet_coords(s, 1);
    c.bit = sheet_coords(s, 1), c.code = sheet_coords(s, code); /* in one row: averaged together */
    c.mean = sheet_coords(s, 1), c.share = sheet_coords(s, code);
    c.parity = sheet_coords(s, 2);
    c.key = sheet_coords(s, 2 * p->address_bits), c.value = sheet_coords(s, p->value_bits);
    c.ones = sheet_coords(s, p->value_bits), c.zeros = sheet_coords(s, p->value_bits);
    return c;
}

/* Ids: values, keys, the bits 0 and 1, the question. */
static void write_tokens(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    size_t id = 0;
    for (size_t v = 0; v < p->values; v++, id++) {
        sheet_set_bits(&embed, id, c->value, p->value_bits, v, 0, 1);
        sheet_set(&embed, id, c->other, 1);
    }
    for (size_t x = 0; x < p->keys; x++) match_key(&embed, id++, c->code, p->address_bits - 1, x);
    sheet_set(&embed, id + 1, c->bit, 1);
    sheet_set(&embed, id + 2, c->other, 1);
    sheet_set(&embed, id + 2, c->asks, 1);
    for (size_t i = 0; i < p->entries; i++) match_key(&positions, i, c->key, p->address_bits, i);
    for (size_t i = p->entries; i < p->tokens; i++) match_never(&positions, i, c->key, p->address_bits);
}

static void write_average(rung_sheet *s, const plan *p, const coords *c, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    size_t width = 1 + 2 * (p->address_bits - 1), parts = p->bits + 1, from[] = {c->mean};
    sheet_set(&q, 0, c->asks, -gap);
    sheet_set(&k, 0, c->other, 1);
    sheet_set_diagonal(&v, 0, c->bit, width, 1);
    sheet_set_diagonal(&out, c->mean, 0, width, (double)parts);
    sheet_table table = sheet_add_table(s, 0, parts, from, 1, (size_t[]){c->parity, c->parity + 1}, 2);
    for (size_t ones = 0; ones < parts; ones++) {
        sheet_set(&table.keys, ones, 0, (double)ones);
        sheet_set(&table.values, ones, ones % 2 ? 0 : 1, 1);
    }
}

/* The query: complements first, then ones, as in match_codes; bit 0 of an address is the parity. */
static void write_lookup(rung_sheet *s, const plan *p, const coords *c, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    size_t rest = p->address_bits - 1;
    sheet_set_diagonal(&k, 0, c->key, 2 * p->address_bits, 1);
    sheet_set(&q, 0, c->parity + 1, -gap);
    sheet_set(&q, p->address_bits, c->parity, -gap);
    sheet_set_diagonal(&q, 1, c->share + rest, rest, -gap);
    sheet_set_diagonal(&q, p->address_bits + 1, c->share, rest, -gap);
    sheet_set_diagonal(&v, 0, c->value, p->value_bits, 1);
    sheet_set_diagonal(&out, c->ones, 0, p->value_bits, 1);
    sheet_snap_bits(s, 1, c->ones, p->value_bits, c->ones, c->zeros);
    sheet_readout_numbers(s, c->ones, c->zeros, p->value_bits, p->values);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p = make_plan(&b->task);
    double gap;
    match_limit limit = {.excess = excess,
                         .context = &p,
                         .usual = USUAL_GAP,
                         .meaning = "the wrong tokens together may weigh too much",
                         .instead = "take smaller sizes"};
    if (p.bits > BITS_MAX)
        return rung_fail(err, RUNG_USAGE, "M=%zu bits need a table of as many rows, but at most %d are built; lower M",
                         p.bits, BITS_MAX);
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    coords c = layout(s, &p);
    sheet_layers(s, "full:dk=1:dv=%zu,full:dk=%zu:dv=%zu", 1 + 2 * (p.address_bits - 1), 2 * p.address_bits,
                 p.value_bits);
    sheet_mlp(s, "table,table");
    s->spec.positions = RUNG_POS_LEARNED;
    write_tokens(s, &p, &c);
    write_average(s, &p, &c, gap);
    write_lookup(s, &p, &c, gap);
    return RUNG_OK;
}

const rung_construction rung_construction_parity_recall = {
    .name = "parity-recall",
    .summary = "two full layers; the parity is read off an average, in numbers fine enough for all bits",
    .source = "ours",
    .task = "parity-recall",
    .params = params,
    .build = build,
};
