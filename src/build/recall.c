/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * assoc-recall: pairs of a key and a value, then a key (Wen, Dang, Lyu 2025: one attention layer after a recurrent one
 * is enough, and a recurrent model alone is not). Layer 0 hands every token its predecessor (recent.h: full, window or
 * a recurrent state of two places). Layer 1, full, one head: a value looks like the key before it, the query like
 * itself.
 *
 *   query  -g (1-P, P) of the token's own key, and -2g
 *   key    the handed code (A, 1-A), and 1 at tokens that are keys themselves
 *   value  the token's own value, bits and complements
 *
 * Right, in real arithmetic. Let b, c be the bits of a key and of a value, d the error of layer 0, and P the query. The
 * value after P scores at least -g b d. A value after another key, h bits away, scores at most -g h (1-d), and there
 * are at most C(b, h) of them because keys differ. Key tokens score at most -2g whatever was handed to them, among them
 * the first token, whose predecessor is made up, and the query, which would otherwise be compared with the last value.
 * So all wrong tokens together weigh at most
 *
 *     e = e^(g b d) ((1 + e^(-g(1-d)))^b - 1 + (N+1) e^(-2g))
 *
 * of the right one. The row of the right value misses at most c e/(1+e), every other row at least 1/(1+e): right if
 * c e < 1. No MLP. Sizes: dk, dv <= 2 max(log T, log K, log V) + 1.
 */
#include "build_rows.h"
#include "code_match.h"
#include "recent.h"

#include <math.h>

typedef struct pairs {
    size_t count, keys, values, key_bits, value_bits;
    recent before;
} pairs;

static double excess(const void *context, double gap)
{
    const pairs *p = context;
    double error = recent_error(&p->before, gap), bits = (double)p->key_bits;
    double others = expm1(bits * log1p(exp(-gap * (1 - error)))) + (double)(p->count + 1) * exp(-2 * gap);
    return (double)p->value_bits * exp(gap * bits * error) * others;
}

typedef struct coords {
    size_t key, value; /* codes */
    size_t is_key;
} coords;

static void write_tokens(rung_sheet *s, const pairs *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t key = 0; key < p->keys; key++) {
        match_key(&embed, key, c->key, p->key_bits, key);
        sheet_set(&embed, key, c->is_key, 1);
    }
    for (size_t v = 0; v < p->values; v++) match_key(&embed, p->keys + v, c->value, p->value_bits, v);
}

/* The answer has coordinates of its own; the value coordinates of the query are empty and are not used for it. */
static void write_recall(rung_sheet *s, const pairs *p, const coords *c, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    match_codes(&q, &k, 0, c->key, p->before.to, p->key_bits, gap);
    sheet_set(&q, 2 * p->key_bits, c->is_key, -2 * gap);
    sheet_set(&k, 2 * p->key_bits, c->is_key, 1);
    sheet_set_diagonal(&v, 0, c->value, 2 * p->value_bits, 1);
    sheet_set_diagonal(&out, c->value, 0, 2 * p->value_bits, 1);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    pairs p = {.count = (size_t)rung_task_param(&b->task, "N"),
               .keys = (size_t)rung_task_param(&b->task, "K"),
               .values = b->task.answers,
               .before = recent_init(b, 1)};
    p.key_bits = sheet_bits_for(p.keys), p.value_bits = sheet_bits_for(p.values);
    double gap;
    match_limit limit = {excess, &p, 16, "other pairs may outweigh the one that is asked for", recent_instead};
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    coords c;
    c.key = sheet_coords(s, 2 * p.key_bits), c.value = sheet_coords(s, 2 * p.value_bits), c.is_key = sheet_coords(s, 1);
    p.before.from = c.key, p.before.width = 2 * p.key_bits;
    recent_coords(s, &p.before);
    char first[128];
    recent_arch(first, sizeof first, &p.before);
    sheet_layers(s, "%s,full:dk=%zu:dv=%zu", first, 2 * p.key_bits + 1, 2 * p.value_bits);
    write_tokens(s, &p, &c);
    recent_write(s, &p.before, gap);
    write_recall(s, &p, &c, gap);
    sheet_readout_numbers(s, c.value, c.value + p.value_bits, p.value_bits, p.values);
    return RUNG_OK;
}

const rung_construction rung_construction_assoc_recall = {
    .name = "assoc-recall",
    .summary = "a layer that hands over predecessors, then a full one that finds a key and returns its value",
    .source = "Wen, Dang, Lyu 2025; precision: ours",
    .task = "assoc-recall",
    .params = recent_params,
    .build = build,
};
