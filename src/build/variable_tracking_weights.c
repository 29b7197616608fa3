/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * variable-tracking: pointers that double. Every token has a name to follow and a value, as codes. An assignment x=5
 * follows x itself and has the value 5; x=y follows y and has no value yet; the question x follows x. In each full
 * layer a token looks for the assignment of the name that it follows, and takes over what that one has, name and value.
 * An assignment of a value finds itself and stays as it is.
 *
 * Depth: x=5 has depth 0, a copy of a variable of depth d has depth d+1, the question for it too, so the question has
 * depth hops+1 at most. After l layers a token of depth d has what an assignment of depth max(0, d - (2^l - 1)) had at
 * first. By induction: let m be that depth. For m = 0 the token follows an assignment of a value, which has not changed.
 * Else it follows one of depth m-1, which has what one of depth max(0, m-1 - (2^l - 1)) = max(0, d - (2^(l+1) - 1)) had.
 * So ceil(log2(hops + 2)) layers are enough.
 *
 * Right, in real arithmetic. Names differ, so with b bits of a name, of which those that were fetched are off by e_l at
 * most, and one question, the wrong assignments weigh at most
 *
 *     w_l = (1 + e^(-g (1 - 2 e_l)))^b - 1 + e^(-g b (1 - 2 e_l))
 *
 * of the right one, and e_(l+1) <= e_l + w_l/(1 + w_l), e_0 = 0. The bits of the value are rounded at 1/2.
 */
#include "build_rows.h"
#include "code_match.h"

#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 16 }; /* 2^16 is more than the hops of the task */

#define USUAL_GAP 12

static const rung_param params[] = {
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

typedef struct plan {
    size_t names, values, layers;
    size_t name_bits, value_bits;
} plan;

static plan make_plan(const rung_task_conf *t)
{
    plan p = {.names = (size_t)rung_task_param(t, "K"), .values = (size_t)rung_task_param(t, "V")};
    p.name_bits = sheet_bits_for(p.names), p.value_bits = sheet_bits_for(p.values);
    p.layers = sheet_bits_for((size_t)rung_task_param(t, "hops") + 2);
    return p;
}

/* Twice the error of the value. */
static double excess(const void *context, double gap)
{
    const plan *p = context;
    double off = 0, bits = (double)p->name_bits;
    for (size_t l = 0; l < p->layers && off < 0.5; l++) {
        double cost = gap * (1 - 2 * off), wrong = expm1(bits * log1p(exp(-cost))) + exp(-cost * bits);
        off += wrong / (1 + wrong);
    }
    return 2 * off;
}

/* Coordinates: the name of an assignment; and for the embedding and after every layer, what a token has: the code of
 * the name that it follows, then that of its value. */
typedef struct coords {
    size_t key, has[LAYERS_MAX + 1];
} coords;

static size_t has_size(const plan *p)
{
    return 2 * (p->name_bits + p->value_bits);
}

static size_t value_in(const plan *p, const coords *c, size_t layer)
{
    return c->has[layer] + 2 * p->name_bits;
}

/* Ids: name (V + K) + v assigns a value, name (V + K) + V + other copies, K (V + K) + name asks. */
static void write_tokens(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    size_t id = 0;
    for (size_t name = 0; name < p->names; name++)
        for (size_t source = 0; source < p->values + p->names; source++, id++) {
            bool copies = source >= p->values;
            match_key(&embed, id, c->key, p->name_bits, name);
            match_key(&embed, id, c->has[0], p->name_bits, copies ? source - p->values : name);
            if (!copies) match_key(&embed, id, value_in(p, c, 0), p->value_bits, source);
        }
    for (size_t name = 0; name < p->names; name++, id++) {
        match_never(&embed, id, c->key, p->name_bits);
        match_key(&embed, id, c->has[0], p->name_bits, name);
    }
}

static void write_layer(rung_sheet *s, const plan *p, const coords *c, size_t layer, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", layer);
    sheet_matrix k = sheet_get(s, "layers.%zu.mix.0.k.weight", layer);
    sheet_matrix v = sheet_get(s, "layers.%zu.mix.0.v.weight", layer);
    sheet_matrix out = sheet_get(s, "layers.%zu.out.weight", layer);
    match_codes(&q, &k, 0, c->has[layer], c->key, p->name_bits, gap);
    sheet_set_diagonal(&v, 0, c->has[layer], has_size(p), 1);
    sheet_set_diagonal(&out, c->has[layer + 1], 0, has_size(p), 1);
}

static void set_mlp(rung_sheet *s, size_t layers)
{
    char kinds[8 * LAYERS_MAX] = "";
    for (size_t i = 0; i + 1 < layers; i++) strcat(kinds, "none,");
    strcat(kinds, "table");
    sheet_mlp(s, kinds);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p = make_plan(&b->task);
    coords c;
    double gap;
    match_limit limit = {.excess = excess,
                         .context = &p,
                         .usual = USUAL_GAP,
                         .meaning = "a fetched bit may be off by 1/2 or more",
                         .instead = "take smaller sizes"};
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    c.key = sheet_coords(s, 2 * p.name_bits);
    for (size_t l = 0; l <= p.layers; l++) c.has[l] = sheet_coords(s, has_size(&p));
    sheet_layers(s, "%zu*full:dk=%zu:dv=%zu", p.layers, 2 * p.name_bits, has_size(&p));
    set_mlp(s, p.layers);
    write_tokens(s, &p, &c);
    for (size_t l = 0; l < p.layers; l++) write_layer(s, &p, &c, l, gap);
    size_t answer = value_in(&p, &c, p.layers);
    sheet_snap_bits(s, p.layers - 1, answer, p.value_bits, answer, answer + p.value_bits);
    sheet_readout_numbers(s, answer, answer + p.value_bits, p.value_bits, p.values);
    return RUNG_OK;
}

const rung_construction rung_construction_variable_tracking = {
    .name = "variable-tracking",
    .summary = "about log2 of the hops full layers in which all variables are followed at once",
    .source = "ours; pointers that double, as in Sanford, Hsu, Telgarsky 2024",
    .task = "variable-tracking",
    .params = params,
    .build = build,
};
