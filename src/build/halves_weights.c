/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * string-equality and disjointness: two halves of N bits, u and v; do they differ somewhere, are both 1 somewhere
 * (Bhattamishra et al. 2024: two layers of logarithmic size, while one layer or a recurrent state needs of order N
 * bits)? Layer 0, full: a token of the second half fetches its counterpart, one of the first half itself. Layer 1,
 * full, at the last token, is an "or": a head looks for a place with given bits (x, y), (1,0) and (0,1) for equality,
 * (1,1) for disjointness.
 *
 *   query  -g, the same everywhere
 *   key    the number of bits in which (u, v) differs from (x, y), for the second half; 1/2 at position 0, 2 at the
 *          others of the first half
 *   value  1 in the second half, else 0
 *
 * The key is linear: [u != x] is one of the handed coordinates u, 1-u and [v != y] one of v, 1-v. A token of the first
 * half has no v, and takes its own [u != x] off what it handed itself; at position 0, which sees itself only, that
 * leaves exactly 0.
 *
 * Right, in real arithmetic. Let d be the error of layer 0. A place that is looked for scores at least -g d, other
 * places at most -g (1-d), position 0 exactly -g/2, the rest at most -g (2-d). If there is such a place, what is
 * against it weighs at most a = e^(g d) (e^(-g/2) + N e^(-g(2-d))) of it and the head's output is at least 1/(1+a); if
 * there is none, it is at most f = N e^(-g(1/2-d)). With h heads the sum of the outputs is compared with 1/2: right if
 * a < 1 and h f < 1/2. An average over the flags of all places would be 0 or at least 1/N, and need log N digits. This
 * needs hardly any.
 */
#include "build_rows.h"
#include "code_match.h"

#include <math.h>

static const rung_param params[] = {
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of a match above the next, 0: enough"},
    {0},
};

enum { HEADS_MAX = 2 };

/* The bits that are searched for. */
typedef struct search {
    size_t places, position_bits, heads;
    size_t u[HEADS_MAX], v[HEADS_MAX]; /* of head h */
    size_t found;                      /* the answer if there is such a place */
} search;

static double excess(const void *context, double gap)
{
    const search *l = context;
    double leak = expm1((double)l->position_bits * log1p(exp(-gap))), d = leak / (1 + leak), n = (double)l->places;
    double against = exp(gap * d) * (exp(-gap / 2) + n * exp(-gap * (2 - d)));
    double false_alarm = n * exp(-gap * (0.5 - d));
    return fmax(against, 2 * (double)l->heads * false_alarm);
}

typedef struct coords {
    size_t u, v;            /* codes of one bit each */
    size_t handed;          /* u, of this place */
    size_t place, wanted;   /* positions */
    size_t barred, in_half; /* 1/2, 2 or 0; 1 in the second half */
    size_t found;
} coords;

static void write_tokens(rung_sheet *s, const search *l, const coords *c, double gap)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    for (size_t bit = 0; bit < 2; bit++) {
        match_key(&embed, bit, c->u, 1, bit);
        match_key(&embed, 2 + bit, c->v, 1, bit);
    }
    for (size_t t = 0; t < 2 * l->places; t++) {
        bool second = t >= l->places;
        match_key(&positions, t, c->place, l->position_bits, t);
        match_query(&positions, t, c->wanted, l->position_bits, second ? t - l->places : t, gap);
        sheet_set(&positions, t, c->in_half, second);
        sheet_set(&positions, t, c->barred, second ? 0 : t == 0 ? 0.5 : 2);
    }
}

static void write_fetch(rung_sheet *s, const search *l, const coords *c)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, c->wanted, 2 * l->position_bits, 1);
    sheet_set_diagonal(&k, 0, c->place, 2 * l->position_bits, 1);
    sheet_set_diagonal(&v, 0, c->u, 2, 1);
    sheet_set_diagonal(&out, c->handed, 0, 2, 1);
}

static void write_or(rung_sheet *s, const search *l, const coords *c, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.bias"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    for (size_t h = 0; h < l->heads; h++) {
        size_t u_differs = l->u[h], v_differs = l->v[h]; /* coordinate 1 of a code is 1 where the bit is 0 */
        sheet_set(&q, 0, h, -gap);
        sheet_set(&k, h, c->handed + u_differs, 1);
        sheet_set(&k, h, c->u + u_differs, -1);
        sheet_set(&k, h, c->v + v_differs, 1);
        sheet_set(&k, h, c->barred, 1);
        sheet_set(&v, h, c->in_half, 1);
        sheet_set(&out, c->found, h, 1);
    }
}

static void write_answer(rung_sheet *s, const search *l, const coords *c)
{
    sheet_matrix readout = sheet_get(s, "readout.weight"), constant = sheet_get(s, "readout.bias");
    sheet_set(&readout, l->found, c->found, 1);
    sheet_set(&constant, 0, 1 - l->found, 0.5);
}

static rung_status build(rung_sheet *s, const rung_build *b, search l, rung_error *err)
{
    l.places = (size_t)rung_task_param(&b->task, "N"), l.position_bits = sheet_bits_for(2 * l.places);
    double gap;
    match_limit limit = {excess, &l, 16, "places that are not looked for may outweigh those that are",
                         "take a smaller N"};
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    coords c;
    c.u = sheet_coords(s, 2), c.v = sheet_coords(s, 2), c.handed = sheet_coords(s, 2);
    c.place = sheet_coords(s, 2 * l.position_bits), c.wanted = sheet_coords(s, 2 * l.position_bits);
    c.barred = sheet_coords(s, 1), c.in_half = sheet_coords(s, 1), c.found = sheet_coords(s, 1);
    s->spec.positions = RUNG_POS_LEARNED;
    sheet_layers(s, "full:dk=%zu:dv=2,full:dk=1:dv=1@%zu", 2 * l.position_bits, l.heads);
    write_tokens(s, &l, &c, gap);
    write_fetch(s, &l, &c);
    write_or(s, &l, &c, gap);
    write_answer(s, &l, &c);
    return RUNG_OK;
}

static rung_status build_equality(rung_sheet *s, const rung_build *b, rung_error *err)
{
    return build(s, b, (search){.heads = 2, .u = {1, 0}, .v = {0, 1}, .found = 0}, err);
}

static rung_status build_disjointness(rung_sheet *s, const rung_build *b, rung_error *err)
{
    return build(s, b, (search){.heads = 1, .u = {1}, .v = {1}, .found = 1}, err);
}

const rung_construction rung_construction_string_equality = {
    .name = "string-equality",
    .summary = "a full layer that fetches the other half's bit, then one that looks for a difference",
    .source = "Bhattamishra et al. 2024; weights and precision: ours",
    .task = "string-equality",
    .params = params,
    .build = build_equality,
};

const rung_construction rung_construction_disjointness = {
    .name = "disjointness",
    .summary = "a full layer that fetches the other half's bit, then one that looks for two ones",
    .source = "Bhattamishra et al. 2024; weights and precision: ours",
    .task = "disjointness",
    .params = params,
    .build = build_disjointness,
};
