/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The label of the nearest point: one full layer with keys x_i, the query beta x and the bits of the label as values
 * (form=joint). In form=split the label is the token after its point, and a first layer, a window of two tokens, hands
 * the point over.
 *
 * The right point scores beta gamma above every other. Tokens without a label, the query among them, would be the
 * closest of all; one more coordinate gives them the score -4 beta on top, which is at most -3 beta, where the right
 * point has at least -beta (points have length at most 1). So the wrong tokens together weigh at most
 *   leak = (N-1) e^(-beta gamma) + (tokens - N) e^(-2 beta)
 * of the right one. Bits are rounded at 1/2: leak < 1 is enough, and beta gamma = ln(2N) gives it.
 *
 * The first layer of form=split: score 0 for points, -40 for label tokens. At a label token it sees the point before it
 * and itself, and 1 + e^-40 is 1 in every format: the point is handed over bit by bit.
 */
#include "build_rows.h"
#include "sheet.h"

#include <math.h>

static const rung_param params[] = {
    {"beta", RUNG_PARAM_REAL, 0, 0, 1000000, NULL, "factor of the query, 0: 2 ln(4N)/gamma"},
    {0},
};

#define UNLABELLED  (-4.0) /* times beta */
#define LABEL_SCORE (-40.0)

typedef struct plan {
    size_t points, d, labels, bits, unlabelled; /* unlabelled: tokens */
    bool split;
    double beta, gamma;
} plan;

static double leak(const plan *p, double beta)
{
    return (double)(p->points - 1) * exp(-beta * p->gamma) + (double)p->unlabelled * exp(-2 * beta);
}

static rung_status make_plan(plan *p, const rung_build *b, rung_error *err)
{
    const rung_task_conf *t = &b->task;
    *p = (plan){.points = (size_t)rung_task_param(t, "N"),
                .d = (size_t)rung_task_param(t, "d"),
                .labels = (size_t)rung_task_param(t, "labels"),
                .split = rung_task_param(t, "form") == 1,
                .beta = rung_build_value(b, "beta")->real,
                .gamma = (double)rung_task_param(t, "gamma") / 1000};
    p->bits = sheet_bits_for(p->labels);
    p->unlabelled = t->tokens - p->points;
    /* Twice what real arithmetic needs: errors of the scores grow with beta like their gap, but ln N does not. */
    if (p->beta == 0) p->beta = 2 * log(4 * (double)p->points) / p->gamma;
    if (leak(p, p->beta) < 1) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "beta=%g is too small: the other tokens together weigh up to %.3g of the closest point, but less "
                     "than 1 is needed; take beta=%.2f or more",
                     p->beta, leak(p, p->beta), log(2 * (double)p->points) / p->gamma);
}

typedef struct coords {
    size_t point, labelled, value, handed, ones, zeros;
} coords;

/* Features: the point, the one-hot label, and a 1 that marks the query; only this last token needs the mark. */
static void write_features(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    sheet_set_diagonal(&embed, c->point, 0, p->d, 1);
    for (size_t label = 0; label < p->labels; label++) {
        sheet_set(&embed, c->labelled, p->d + label, 1);
        for (size_t j = 0; j < p->bits; j++) sheet_set(&embed, c->value + j, p->d + label, label >> j & 1);
    }
}

static void write_handing_over(rung_sheet *s, const plan *p, const coords *c)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.bias"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    sheet_set(&q, 0, 0, 1);
    sheet_set(&k, 0, c->labelled, LABEL_SCORE);
    sheet_set_diagonal(&v, 0, c->point, p->d, 1);
    sheet_set_diagonal(&out, c->handed, 0, p->d, 1);
}

static void write_search(rung_sheet *s, size_t layer, const plan *p, const coords *c)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", layer);
    sheet_matrix q_bias = sheet_get(s, "layers.%zu.mix.0.q.bias", layer);
    sheet_matrix k = sheet_get(s, "layers.%zu.mix.0.k.weight", layer);
    sheet_matrix k_bias = sheet_get(s, "layers.%zu.mix.0.k.bias", layer);
    sheet_matrix v = sheet_get(s, "layers.%zu.mix.0.v.weight", layer);
    sheet_matrix out = sheet_get(s, "layers.%zu.out.weight", layer);
    sheet_set_diagonal(&q, 0, c->point, p->d, p->beta);
    sheet_set_diagonal(&k, 0, p->split ? c->handed : c->point, p->d, 1);
    sheet_set(&q_bias, 0, p->d, UNLABELLED * p->beta); /* times 1 - labelled */
    sheet_set(&k_bias, 0, p->d, 1);
    sheet_set(&k, p->d, c->labelled, -1);
    sheet_set_diagonal(&v, 0, c->value, p->bits, 1);
    sheet_set_diagonal(&out, c->ones, 0, p->bits, 1);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    plan p;
    coords c;
    RUNG_TRY(make_plan(&p, b, err));
    size_t last = p.split ? 1 : 0;
    c.point = sheet_coords(s, p.d), c.labelled = sheet_coords(s, 1), c.value = sheet_coords(s, p.bits);
    c.handed = sheet_coords(s, p.split ? p.d : 0);
    c.ones = sheet_coords(s, p.bits), c.zeros = sheet_coords(s, p.bits);
    if (p.split)
        sheet_layers(s, "window:W=2:dk=1:dv=%zu,full:dk=%zu:dv=%zu", p.d, p.d + 1, p.bits);
    else
        sheet_layers(s, "full:dk=%zu:dv=%zu", p.d + 1, p.bits);
    sheet_mlp(s, p.split ? "none,table" : "table");
    write_features(s, &p, &c);
    if (p.split) write_handing_over(s, &p, &c);
    write_search(s, last, &p, &c);
    sheet_snap_bits(s, last, c.ones, p.bits, c.ones, c.zeros);
    sheet_readout_numbers(s, c.ones, c.zeros, p.bits, p.labels);
    return RUNG_OK;
}

const rung_construction rung_construction_nearest_neighbour = {
    .name = "nearest-neighbour",
    .summary = "the label of the closest point, by inner products",
    .source = "Bhattamishra et al. 2024; margins and precision: ours",
    .task = "nearest-neighbour",
    .params = params,
    .build = build,
};
