/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two numbers that sum to 0 modulo M. A number x stands on the circle at the angle 2 pi x/M, a query for y points to
 * the angle of its partner -y: the score is c cos(2 pi (x+y)/M), which is c at a match and at most c cos(2 pi/M)
 * elsewhere, g less. A blank token scores c - g/2 in between. Numbers have the value 1, the blank has 0, so the output
 * is above 1/2 exactly when a match outweighs the blank:
 *
 *   no match   y/(1-y) <= N e^-(g/2) < 1           all N numbers may be closest misses
 *   a match    y/(1-y) >= e^(g/2) / b > 1          b <= 2: the blank, and the query token itself (score 0 <= c - g/2)
 *
 * Both hold for g > 2 ln max(N, 2). With c = g/(1 - cos(2 pi/M)) <= g M^2/8 (1 - cos t >= 2 t^2/pi^2 for t <= pi) the
 * score has to be exact to about 1/M^2 of itself: 2 log2 M mantissa bits but for a constant.
 *
 * form=query: one layer, asked at the last token. form=position: the same for every number, without a mask, because a
 * partner may come later. A number that is its own negative (0, and M/2) finds itself, which is right for self=1. Where
 * it must not count, such a number asks otherwise: its copies have a key coordinate of their own, +1 for 0 and -1 for
 * M/2. They score s, all others at most 0, and the blank s + 1/2. With r copies y/(1-y) = (r + d)/e^(1/2), d <= (N-1)
 * e^-s <= 1/8: below 1 for r = 1, above it for r = 2, which is one other copy.
 *
 * form=causal: as form=position with self=0, but with a mask: the later one of a pair finds the earlier one, which is
 * what is asked. form=global: layer 1 is that of form=causal, and a table writes a flag, exactly 0 or 1. Layer 2 is an or: the last token scores t at flags, 0 elsewhere, and reads the
 * flag: y = 0 without any, y >= e^t/(e^t + N + 1) otherwise, so e^t > N + 1 is enough.
 *
 * by=dsa is in two_sum_dsa.c. One head throughout; dk = 3 or 4 and 1, dv = 1.
 */
#include "two_sum_weights.h"
#include "address.h"
#include "build_rows.h"

#include <math.h>

enum { BY_FULL, BY_DSA };

static const char *const by_words[] = {"full", "dsa", NULL};

static const rung_param params[] = {
    {"by", RUNG_PARAM_CHOICE, BY_FULL, 0, 0, by_words, "the mechanism"},
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of a match above the closest miss, 0: enough"},
    {0},
};

static two_sum_plan describe(const rung_build *b)
{
    const rung_task_conf *t = &b->task;
    return (two_sum_plan){.form = (two_sum_form)rung_task_param(t, "form"),
                          .numbers = (size_t)rung_task_param(t, "N"),
                          .modulus = (size_t)rung_task_param(t, "M"),
                          .blank = rung_task_param(t, "blank") ? t->vocab - 1 : SIZE_MAX,
                          .asking = (size_t)rung_task_param(t, "M")};
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

static rung_status choose_gap(double *gap, const rung_build *b, const two_sum_plan *p, rung_error *err)
{
    double least = 2 * log(p->numbers > 2 ? (double)p->numbers : 2);
    *gap = rung_build_value(b, "gap")->real;
    if (*gap == 0) *gap = least + 12; /* e^6 to either side: then the score limits the format, not the sums */
    if (*gap > least) return RUNG_OK;
    return rung_fail(err, RUNG_USAGE,
                     "gap=%g is too small: N=%zu numbers that miss by 1 may weigh %.3g of the blank, and a match only "
                     "%.3g of it; take gap=%.2f or more",
                     *gap, p->numbers, (double)p->numbers * exp(-*gap / 2), exp(*gap / 2), least + 0.01);
}

static rung_status check(const rung_build *b, const two_sum_plan *p, rung_error *err)
{
    bool dsa = rung_build_param(b, "by") == BY_DSA;
    if (dsa && p->form != TWO_SUM_QUERY)
        return rung_fail(err, RUNG_USAGE,
                         "by=dsa is only for form=query, because it finds the token for one query; take by=full");
    if (dsa && rung_build_value(b, "gap")->real != 0)
        return rung_fail(err, RUNG_USAGE, "by=dsa looks at one token, so there is no gap to choose; leave gap out");
    if (!dsa && p->blank == SIZE_MAX)
        return rung_fail(err, RUNG_USAGE, "without a blank token no key fits if nothing matches; take blank=1");
    return RUNG_OK;
}

/* ---- one head that asks for partners ----------------------------------------------------------------------------- */

/* Coordinates of the residual stream. Keys and queries: cosine, sine, blank, and own (only where a number must not find
 * itself). */
typedef struct coords {
    size_t key, query, dk;
    size_t value, found, ask, ones, zeros;
} coords;

enum { AT_CIRCLE = 0, AT_BLANK = 2, AT_OWN = 3 };

/* Scores of the copies of a number that is its own negative: a whole number, so that s and s + 1/2 are exact in narrow
 * formats too. */
static double own_score(const two_sum_plan *p)
{
    return ceil(log(8 * (double)p->numbers));
}

static void write_query(const sheet_matrix *embed, size_t token, size_t y, const two_sum_plan *p, const coords *c,
                        double gap)
{
    address circle = address_init(ADDRESS_TRIG, p->modulus, gap);
    double half_step = 3.14159265358979323846 / (double)p->modulus;
    double top = gap / (2 * sin(half_step) * sin(half_step)); /* c: 1 - cos 2h = 2 sin^2 h */
    size_t partner = (p->modulus - y) % p->modulus;
    if (partner == y && c->dk > AT_OWN) {
        sheet_set(embed, token, c->query + AT_BLANK, own_score(p) + 0.5);
        sheet_set(embed, token, c->query + AT_OWN, y ? -own_score(p) : own_score(p));
        return;
    }
    address_query(&circle, embed, token, c->query + AT_CIRCLE, partner);
    sheet_set(embed, token, c->query + AT_BLANK, top - gap / 2);
}

static void write_number(const sheet_matrix *embed, size_t x, const two_sum_plan *p, const coords *c)
{
    address circle = address_init(ADDRESS_TRIG, p->modulus, 1);
    address_key(&circle, embed, x, c->key + AT_CIRCLE, x);
    if (c->dk > AT_OWN && 2 * x % p->modulus == 0) sheet_set(embed, x, c->key + AT_OWN, x ? -1 : 1);
    sheet_set(embed, x, c->value, 1);
}

static void write_tokens(rung_sheet *s, const two_sum_plan *p, const coords *c, double gap)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t x = 0; x < p->modulus; x++) {
        write_number(&embed, x, p, c);
        write_query(&embed, p->form == TWO_SUM_QUERY ? p->asking + x : x, x, p, c, gap);
    }
    sheet_set(&embed, p->blank, c->key + AT_BLANK, 1);
}

static void write_head(rung_sheet *s, const coords *c, size_t out_coord)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    sheet_set_diagonal(&q, 0, c->query, c->dk, 1);
    sheet_set_diagonal(&k, 0, c->key, c->dk, 1);
    sheet_set(&v, 0, c->value, 1);
    sheet_set(&out, out_coord, 0, 1);
}

/* Layer 2 of form=global. In layer 1 the asking token attends to the blank, so that it has no flag itself. */
static void write_or(rung_sheet *s, const two_sum_plan *p, const coords *c)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    sheet_set(&embed, p->asking, c->query + AT_BLANK, own_score(p));
    sheet_set(&embed, p->asking, c->ask, ceil(log(8 * ((double)p->numbers + 1))));
    sheet_set(&q, 0, c->ask, 1);
    sheet_set(&k, 0, c->found, 1);
    sheet_set(&v, 0, c->found, 1);
    sheet_set(&out, c->ones, 0, 1);
}

static void build_full(rung_sheet *s, const two_sum_plan *p, bool itself, double gap)
{
    bool global = p->form == TWO_SUM_GLOBAL;
    coords c = {.dk = itself ? AT_OWN : AT_OWN + 1};
    c.key = sheet_coords(s, c.dk), c.query = sheet_coords(s, c.dk), c.value = sheet_coords(s, 1);
    if (global) c.found = sheet_coords(s, 2), c.ask = sheet_coords(s, 1);
    c.ones = sheet_coords(s, 1), c.zeros = sheet_coords(s, 1);
    sheet_layers(s, global ? "full:dk=%zu:dv=1,full:dk=1:dv=1" : "full:dk=%zu:dv=1", c.dk);
    sheet_mlp(s, "table");
    s->spec.causal = p->form != TWO_SUM_POSITION;
    write_tokens(s, p, &c, gap);
    write_head(s, &c, global ? c.found : c.ones);
    if (global) {
        sheet_snap_bits(s, 0, c.found, 1, c.found, c.found + 1);
        write_or(s, p, &c);
    }
    sheet_snap_bits(s, global, c.ones, 1, c.ones, c.zeros);
    sheet_readout_numbers(s, c.ones, c.zeros, 1, 2);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    two_sum_plan p = describe(b);
    double gap = 0;
    RUNG_TRY(check(b, &p, err));
    if (rung_build_param(b, "by") == BY_DSA) {
        two_sum_build_dsa(s, &p);
        return RUNG_OK;
    }
    RUNG_TRY(choose_gap(&gap, b, &p, err));
    bool itself = p.form == TWO_SUM_QUERY || (p.form == TWO_SUM_POSITION && rung_task_param(&b->task, "self"));
    build_full(s, &p, itself, gap);
    return RUNG_OK;
}

const rung_construction rung_construction_two_sum = {
    .name = "two-sum",
    .summary = "angles on a circle find the number that sums to 0 modulo M",
    .source = "Match2 of Sanford, Hsu, Telgarsky 2023; the blank, numbers without themselves, dsa: ours",
    .task = "two-sum",
    .task_pairs = "blank=1",
    .params = params,
    .build = build,
};
