/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * c-gram: a sequence, a separator, and c-1 symbols of the sequence; which symbol follows them (Wen, Dang, Lyu 2025)?
 * Layer 0 hands every token the c-1 tokens before it, one head each (recent.h). Layer 1, full, one head, at the last
 * token:
 *
 *   query  -g (1-P, P) of the last c-1 tokens, the own one and c-2 that were handed over; and -2g
 *   key    the codes of the c-1 tokens before this one; and 1 at the first c-1 tokens and at the separator
 *   value  the token's own symbol, bits and complements
 *
 * Right, in real arithmetic. A token is a candidate if the c-1 before it are symbols of the sequence and it is one
 * itself. The others cannot win: the first c-1 have too few before them and lose 2g; so does the separator, which
 * follows the last gram of the sequence without being a continuation; behind it, c-1 tokens all have the separator
 * among the c-1 before them (the last of them too: no token matches itself), and the code of the separator, all ones,
 * differs from every symbol in every bit. Let b be the bits of a symbol, B = (c-1) b, d the error of layer 0. A
 * candidate that matches scores at least -2 g B d (1+d), since a bit that agrees adds two products of a true 0 and a
 * true 1; any other token at most -g (1-d)^2. All matching candidates have the right symbol, and there is one. So the
 * others weigh at most
 *
 *     e = (N+c) e^(2 g B d (1+d) - g (1-d)^2)
 *
 * and b e < 1 is enough (as in assoc-recall). No MLP. Sizes: c-1 heads of dk = 2 log T (full) or c, dv = 2b; then one
 * of dk = 2B+1, dv = 2b.
 */
#include "build_rows.h"
#include "code_match.h"
#include "recent.h"

#include <math.h>

typedef struct grams {
    size_t c, sequence, symbols, bits;
    recent before;
} grams;

static double excess(const void *context, double gap)
{
    const grams *g = context;
    double error = recent_error(&g->before, gap), all_bits = (double)((g->c - 1) * g->bits);
    double above = gap * (1 - error) * (1 - error) - 2 * gap * all_bits * error * (1 + error);
    return error < 1 ? (double)g->bits * (double)(g->sequence + g->c) * exp(-above) : HUGE_VAL;
}

static void write_tokens(rung_sheet *s, const grams *g, size_t code, size_t barred)
{
    sheet_matrix embed = sheet_get(s, "embed.weight"), positions = sheet_get(s, "positions");
    for (size_t v = 0; v < g->symbols; v++) match_key(&embed, v, code, g->bits, v);
    match_never(&embed, g->symbols, code, g->bits);
    sheet_set(&embed, g->symbols, barred, 1);
    for (size_t t = 0; t + 1 < g->c; t++) sheet_set(&positions, t, barred, 1);
}

static void write_match(rung_sheet *s, const grams *g, size_t code, size_t barred, size_t answer, double gap)
{
    sheet_matrix q = sheet_get(s, "layers.1.mix.0.q.weight"), k = sheet_get(s, "layers.1.mix.0.k.weight");
    sheet_matrix v = sheet_get(s, "layers.1.mix.0.v.weight"), out = sheet_get(s, "layers.1.out.weight");
    sheet_matrix constant = sheet_get(s, "layers.1.mix.0.q.bias");
    size_t width = 2 * g->bits, last = (g->c - 1) * width;
    for (size_t back = 0; back + 1 < g->c; back++) {
        size_t own = back == 0 ? code : g->before.to + (back - 1) * width;
        match_codes(&q, &k, back * width, own, g->before.to + back * width, g->bits, gap);
    }
    sheet_set(&constant, 0, last, -2 * gap);
    sheet_set(&k, last, barred, 1);
    sheet_set_diagonal(&v, 0, code, width, 1);
    sheet_set_diagonal(&out, answer, 0, width, 1);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    grams g = {.c = (size_t)rung_task_param(&b->task, "c"),
               .sequence = (size_t)rung_task_param(&b->task, "N"),
               .symbols = b->task.answers};
    g.bits = sheet_bits_for(g.symbols), g.before = recent_init(b, g.c - 1);
    double gap;
    match_limit limit = {excess, &g, 16, "grams that differ in one bit may outweigh the one that is asked for",
                         recent_instead};
    RUNG_TRY(match_gap(&gap, b, &limit, err));
    size_t width = 2 * g.bits;
    size_t code = sheet_coords(s, width), barred = sheet_coords(s, 1), answer = sheet_coords(s, width);
    g.before.from = code, g.before.width = width;
    recent_coords(s, &g.before);
    char first[128];
    recent_arch(first, sizeof first, &g.before);
    sheet_layers(s, "%s,full:dk=%zu:dv=%zu", first, (g.c - 1) * width + 1, width);
    write_tokens(s, &g, code, barred);
    recent_write(s, &g.before, gap);
    write_match(s, &g, code, barred, answer, gap);
    sheet_readout_numbers(s, answer, answer + g.bits, g.bits, g.symbols);
    return RUNG_OK;
}

const rung_construction rung_construction_c_gram = {
    .name = "c-gram",
    .summary = "a layer that hands over the c-1 tokens before, then a full one that finds the same c-1",
    .source = "Wen, Dang, Lyu 2025; precision: ours",
    .task = "c-gram",
    .params = recent_params,
    .build = build,
};
