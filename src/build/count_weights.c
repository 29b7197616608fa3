/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * count: a sequence, a symbol q, a threshold t; does q occur more than t times (Wen, Dang, Lyu 2025)? The last token is
 * the threshold. Layer 0 hands it the symbol before it (recent.h). Layer 1, full, one head, at the last token:
 *
 *   query  -g (1-P, P) of the handed symbol
 *   key    the code of the token's symbol; ones at the token that asks; zeros at thresholds
 *   value  1 at thresholds, else 0
 *
 * So the last token and every q have score 0, everything else at most -g, and the output is y = 1/(#q + 1). The answer
 * is yes iff y < 1/(t + 5/4); the token of the threshold holds that number, the output is subtracted from it, and yes
 * wins iff the difference is above 0, whose sign no rounding changes.
 *
 * Why not the share #q/N of a uniform average, or the default token with the value 0, #q/(#q+1)? Near 1 two
 * neighbouring counts are 1/n^2 apart, and a float has as many digits as near 1/n, so that costs 2 log n bits; 1/(#q+1)
 * is apart from its neighbours by 1/(#q+2) of itself and costs log n. The share costs log n too, but it has N terms
 * instead of #q + 1.
 *
 * Right, in real arithmetic. Let b be the bits of a symbol and d the error of layer 0. A q weighs e^-(g b d) to 1, all
 * others together at most (N+1) e^(-g(1-d)), so the denominator is #q + 1 up to
 *
 *     e = N (1 - e^(-g b d)) + (N+1) e^(-g(1-d)),
 *
 * and e < 1/4 is enough: #q = t stays below t + 5/4, #q = t+1 stays above. With e far below one rounding, as it is by
 * default, the denominator counts exactly up to 2^(Y+1) in a format of Y mantissa bits, and what remains is that
 * 1/(t+2) and 1/(t+5/4), rounded, differ for t < N: they are 3/4 / (t+2) of themselves apart, and Y >= log(4/3 (N+1))
 * is enough.
 */
#include "build_rows.h"
#include "code_match.h"
#include "recent.h"

#include <math.h>

typedef struct tally {
    size_t sequence, symbols, bits;
    recent before;
} tally;

static double excess(const void *context, double gap)
{
    const tally *c = context;
    double error = recent_error(&c->before, gap), n = (double)c->sequence;
    double missing = -n * expm1(-gap * (double)c->bits * error), others = (n + 1) * exp(-gap * (1 - error));
    return error < 1 ? 4 * (missing + others) : HUGE_VAL;
}

typedef struct coords {
    size_t symbol, asked;        /* codes */
    size_t is_threshold, margin; /* 1/(t + 5/4), later minus 1/(#q + 1) */
} coords;

static void write_tokens(rung_sheet *s, const tally *c, const coords *at)
{
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t v = 0; v < c->symbols; v++) {
        match_key(&embed, v, at->symbol, c->bits, v);
        match_key(&embed, c->symbols + v, at->asked, c->bits, v);
        match_never(&embed, c->symbols + v, at->symbol, c->bits);
    }
    for (size_t t = 0; t <= c->sequence; t++) {
        sheet_set(&embed, 2 * c->symbols + t, at->is_threshold, 1);
        sheet_set(&embed, 2 * c->symbols + t, at->margin, 1 / ((double)t + 1.25));
    }
}

static void write_count(rung_sheet *s, const tally *c, const coords *at, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    sheet_matrix readout = sheet_get(s, "readout.weight");
    match_codes(&q, &k, 0, c->before.to, at->symbol, c->bits, gap);
    sheet_set(&v, 0, at->is_threshold, 1);
    sheet_set(&out, at->margin, 0, -1);
    sheet_set(&readout, 1, at->margin, 1); /* "no" is row 0 and wins a tie */
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    tally c = {.sequence = (size_t)rung_task_param(&b->task, "N"),
               .symbols = (size_t)rung_task_param(&b->task, "V"),
               .before = recent_init(b, 1)};
    c.bits = sheet_bits_for(c.symbols);
    double gap;
    /* (N+1) e^-32 is below half a unit in the last place of float32 for N up to a million: the counts are exact. */
    match_limit limit = {excess, &c, 32, "the count may be off by a quarter or more", recent_instead};
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    coords at;
    at.symbol = sheet_coords(s, 2 * c.bits), at.asked = sheet_coords(s, 2 * c.bits);
    at.is_threshold = sheet_coords(s, 1), at.margin = sheet_coords(s, 1);
    c.before.from = at.asked, c.before.width = 2 * c.bits;
    recent_coords(s, &c.before);
    char first[128];
    recent_arch(first, sizeof first, &c.before);
    sheet_layers(s, "%s,full:dk=%zu:dv=1", first, 2 * c.bits);
    write_tokens(s, &c, &at);
    recent_write(s, &c.before, gap);
    write_count(s, &c, &at, gap);
    return RUNG_OK;
}

const rung_construction rung_construction_count_symbol = {
    .name = "count",
    .summary = "a layer that hands over the symbol, then a full one whose output is 1/(occurrences + 1)",
    .source = "Wen, Dang, Lyu 2025; precision: ours",
    .task = "count",
    .params = recent_params,
    .build = build,
};
