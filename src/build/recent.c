/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What stands before a token, by many mechanisms; see recent.h.
 */
#include "recent.h"
#include "code_match.h"

#include <assert.h>
#include <math.h>

static const char *const by_words[] = {"full", "window", "delta", "gdelta", "kda", "retnet", "linear", NULL};

const rung_param recent_params[] = {
    {"by", RUNG_PARAM_CHOICE, RECENT_FULL, 0, 0, by_words, "mechanism of the first layer"},
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of a match above the next, 0: enough"},
    {0},
};

const char recent_instead[] = "take by=delta, which hands tokens over without error, or a smaller N";

/* sigmoid(64) = 1 - 1.6e-28 and e^-softplus(-64) = 1 - 1.6e-28: 1 in every format up to f64. */
#define SATURATED 64

/* The older values of a place are 2^-32 weaker, if the range of the numbers allows it. float32 ends at 2^127, and the
 * largest number of `linear` is the query of the first token for what stands m before it. */
enum { FADE_BITS = 32, RANGE_BITS = 126 };

/* Powers of two per token by which retnet fades and linear grows; 0: the range does not allow any. */
static size_t bits_per_token(const recent *r)
{
    size_t period = r->back + 1, bits = (FADE_BITS + period - 1) / period;
    size_t affordable = RANGE_BITS / (r->tokens / 2 + r->back);
    return r->kind == RECENT_LINEAR && bits > affordable ? affordable : bits;
}

recent recent_init(const rung_build *b, size_t back)
{
    return (recent){.kind = (recent_kind)rung_build_param(b, "by"), .tokens = b->task.tokens, .back = back};
}

double recent_error(const recent *r, double gap)
{
    double period = (double)(r->back + 1), older = exp2(-(double)bits_per_token(r) * period), leak;
    switch (r->kind) {
    case RECENT_FULL: /* every position once: C(b, h) keys with h misses */
        leak = expm1((double)sheet_bits_for(r->tokens) * log1p(exp(-gap)));
        return leak / (1 + leak);
    case RECENT_WINDOW:
        leak = (period - 1) * exp(-gap);
        return leak / (1 + leak);
    case RECENT_RETNET:
    case RECENT_LINEAR:
        return older < 1 ? older / (1 - older) : HUGE_VAL;
    default: /* 1 - beta is left of what was there; beta and P decays are what is handed over */
        return (period + 1) * exp(-(double)SATURATED);
    }
}

static size_t key_dim(const recent *r)
{
    return r->kind == RECENT_FULL ? 2 * sheet_bits_for(r->tokens) : r->back + 1;
}

void recent_coords(rung_sheet *s, recent *r)
{
    r->place = sheet_coords(s, key_dim(r));
    r->wanted = sheet_coords(s, r->back * key_dim(r));
    r->to = sheet_coords(s, r->back * r->width);
    s->spec.positions = RUNG_POS_LEARNED;
}

void recent_arch(char *out, size_t size, const recent *r)
{
    char option[48] = "";
    if (r->kind == RECENT_WINDOW) snprintf(option, sizeof option, ":W=%zu", r->back + 1);
    if (r->kind == RECENT_LINEAR) snprintf(option, sizeof option, ":phi=identity:norm=0");
    snprintf(out, size, "%s%s:dk=%zu:dv=%zu@%zu", by_words[r->kind], option, key_dim(r), r->width, r->back);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

static void write_place(const recent *r, const sheet_matrix *positions, size_t t)
{
    /* Centred, so that keys and queries use both ends of the range. */
    double exponent = ((double)t - (double)(r->tokens / 2)) * (double)bits_per_token(r);
    if (r->kind == RECENT_FULL)
        match_key(positions, t, r->place, key_dim(r) / 2, t);
    else
        sheet_set(positions, t, r->place + t % (r->back + 1), r->kind == RECENT_LINEAR ? exp2(exponent) : 1);
}

static void write_wanted(const recent *r, const sheet_matrix *positions, size_t t, size_t back, double gap)
{
    size_t period = r->back + 1, col = r->wanted + (back - 1) * key_dim(r), residue = (t + period - back) % period;
    double exponent = ((double)(r->tokens / 2) + (double)back - (double)t) * (double)bits_per_token(r);
    switch (r->kind) {
    case RECENT_FULL:
        match_query(positions, t, col, key_dim(r) / 2, t < back ? 0 : t - back, gap);
        break;
    case RECENT_WINDOW:
        for (size_t i = 0; i < period; i++) sheet_set(positions, t, col + i, i == residue ? 0 : -gap);
        break;
    case RECENT_LINEAR:
        sheet_set(positions, t, col + residue, exp2(exponent));
        break;
    default:
        sheet_set(positions, t, col + residue, 1);
    }
}

static void write_positions(rung_sheet *s, const recent *r, double gap)
{
    sheet_matrix positions = sheet_get(s, "positions");
    for (size_t t = 0; t < r->tokens; t++) {
        write_place(r, &positions, t);
        for (size_t back = 1; back <= r->back; back++) write_wanted(r, &positions, t, back, gap);
    }
}

/* ---- the layer --------------------------------------------------------------------------------------------------- */

static void fill(const sheet_matrix *m, double value)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) sheet_set(m, i, j, value);
}

static void write_gates(rung_sheet *s, const recent *r)
{
    if (r->kind == RECENT_RETNET) {
        sheet_matrix decay = sheet_get(s, "layers.0.mix.0.g.A");
        fill(&decay, -log(2) * (double)bits_per_token(r));
    }
    if (r->kind == RECENT_DELTA || r->kind == RECENT_GDELTA || r->kind == RECENT_KDA) {
        sheet_matrix beta = sheet_get(s, "layers.0.mix.0.beta.bias");
        fill(&beta, SATURATED);
    }
    if (r->kind == RECENT_GDELTA || r->kind == RECENT_KDA) {
        sheet_matrix decay = sheet_get(s, "layers.0.mix.0.g.bias");
        fill(&decay, -SATURATED);
    }
}

void recent_write(rung_sheet *s, const recent *r, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.0.mix.0.v.weight"), out = sheet_get(s, "layers.0.out.weight");
    assert(r->back >= 1 && r->width >= 1);
    size_t dim = key_dim(r);
    write_positions(s, r, gap);
    write_gates(s, r);
    sheet_set_diagonal(&q, 0, r->wanted, r->back * dim, 1);
    for (size_t head = 0; head < r->back; head++) {
        double faded = r->kind == RECENT_RETNET ? exp2((double)(bits_per_token(r) * (head + 1))) : 1;
        sheet_set_diagonal(&k, head * dim, r->place, dim, 1);
        sheet_set_diagonal(&v, head * r->width, r->from, r->width, 1);
        sheet_set_diagonal(&out, r->to + head * r->width, head * r->width, r->width, faded);
    }
}
