/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp by an encoder, 1 + ceil(log2(L+1)) layers: pointer doubling, which the mask forbids a decoder, because no
 * table entry can know w there.
 *
 * Layer 0: every token fetches w; only w, which knows itself, fetches what z_0 points to. From then on a token is a
 * pointer: entry (l, u) with value v to (l+1, (w_l, v)), z_0 and w to (1, z_0), an entry of z_L to itself, with its
 * value as `val`. Layer k: fetch pointer and val of the token that one points to. After k such layers a pointer makes
 * 2^k steps, and val is known to tokens at distance <= 2^k - 1 of z_L (val_k(x) = val_{k-1} of the target, 2^{k-1}
 * steps ahead). w is at distance L: 2^k >= L+1.
 *
 * Pointers are queries of seqcomp_bits.h: the digits of w are the same for all, so that (level, i) is the pointer. An
 * entry of z_L whose digit is not that of w points elsewhere, and nobody points to it. Layer 0 has keys (not w, not
 * z_0) and queries -G of the wanted one; its values are w, which only the token w has, and pointers, which all others
 * have, so that each arrives where there is a zero. Every further layer writes into fields of its own.
 *
 * Noise adds up here, since fetched fields are noisy themselves: e_0 = (n-1) e^-G, e_k <= e_{k-1} + (1+e_0) wrong_k,
 * all bits of the query being off by e_{k-1}. One head, d_k = 2 address bits, d_v = 2 (level + argument + value bits).
 */
#include "build_rows.h"
#include "seqcomp_bits.h"

#include <math.h>
#include <string.h>

static const rung_param params[] = {
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

enum { DOUBLINGS_MAX = 5 }; /* 2^5 > 16 levels */

/* What a token knows of its path: adjacent coordinates for level, argument, val. */
typedef struct pointer {
    bit_field level, arg, val;
} pointer;

typedef struct web {
    seqcomp_bits l;
    size_t doublings;
    size_t other; /* two coordinates: 1 unless the token is w, 1 unless it is z_0 */
    size_t asks;  /* two coordinates: 1 if layer 0 asks for w, 1 if it asks for z_0 */
    pointer at[DOUBLINGS_MAX + 1];
} web;

/* ---- noise ------------------------------------------------------------------------------------------------------- */

/* The gap of layer 0, which puts all other tokens below w: the n-1 others together weigh as much as one key a gap
 * below. */
static double first_gap(const web *w, double gap)
{
    double first = gap;
    while (first < gap + log((double)w->l.task->tokens)) first *= 2;
    return first;
}

static double error_of_web(const void *context, double gap)
{
    const web *w = context;
    double first = exp(-first_gap(w, gap)) * (double)w->l.task->tokens, noise = first;
    for (size_t k = 1; k <= w->doublings && noise < 0.5; k++)
        noise += (1 + first) * seqcomp_bits_wrong(&w->l, gap, w->l.cube_bits, noise, 2);
    return noise;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

/* An entry of z_L points to itself. */
static void write_key(const void *context, const sheet_matrix *m, size_t row, size_t level, size_t u)
{
    const web *w = context;
    seqcomp_bits_key(&w->l, m, row, level, u);
    if (level == w->l.task->levels) bit_field_write(&w->at[0].arg, m, row, u % w->l.task->range[level - 1]);
}

static void write_value(const void *context, const sheet_matrix *m, size_t row, size_t level, size_t value)
{
    const web *w = context;
    bool last = level == w->l.task->levels;
    bit_field_write(&w->at[0].level, m, row, last ? level : level + 1);
    bit_field_write(last ? &w->at[0].val : &w->at[0].arg, m, row, value);
    sheet_set(m, row, w->other, 1);
    sheet_set(m, row, w->other + 1, 1);
    sheet_set(m, row, w->asks, 1);
}

static void write_ends(rung_sheet *s, const web *w)
{
    const seqcomp *t = w->l.task;
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t v = 0; v < t->range[0]; v++) {
        size_t id = t->first_id[0] + v;
        seqcomp_bits_idle_key(&w->l, &embed, id);
        bit_field_write(&w->at[0].level, &embed, id, 1);
        bit_field_write(&w->at[0].arg, &embed, id, v);
        sheet_set(&embed, id, w->other, 1);
        sheet_set(&embed, id, w->asks, 1);
    }
    for (size_t i = 0; i < t->w_count; i++) {
        size_t id = t->w_id + i;
        seqcomp_bits_idle_key(&w->l, &embed, id);
        bit_field_write(&w->l.w, &embed, id, seqcomp_bits_w_code(&w->l, i));
        sheet_set(&embed, id, w->other + 1, 1);
        sheet_set(&embed, id, w->asks + 1, 1);
    }
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static size_t pointer_width(const seqcomp_bits *l)
{
    return 2 * (l->level_bits + l->arg_bits + l->value_bits);
}

static pointer pointer_coords(rung_sheet *s, const seqcomp_bits *l)
{
    pointer p = {.level = bit_field_coords(s, l->level_bits), .arg = bit_field_coords(s, l->arg_bits)};
    p.val = bit_field_coords(s, l->value_bits);
    return p;
}

/* w stands directly before the first pointer. */
static size_t meeting_width(const seqcomp_bits *l)
{
    return 2 * (l->w_bits + l->level_bits + l->arg_bits);
}

static void write_layers(rung_sheet *s, const web *w)
{
    sheet_matrix q = sheet_get(s, "layers.0.mix.0.q.weight"), k = sheet_get(s, "layers.0.mix.0.k.weight");
    sheet_set_diagonal(&q, 0, w->asks, 2, -first_gap(w, w->l.gap));
    sheet_set_diagonal(&k, 0, w->other, 2, 1);
    seqcomp_fetch(s, 0, w->l.w.first, w->l.w.first, meeting_width(&w->l));
    for (size_t i = 1; i <= w->doublings; i++) {
        const pointer *from = &w->at[i - 1];
        seqcomp_bits_look(s, &w->l, i, &from->level, &from->arg);
        seqcomp_fetch(s, i, from->level.first, w->at[i].level.first, pointer_width(&w->l));
    }
}

static void choose_shape(rung_sheet *s, web *w)
{
    seqcomp_bits *l = &w->l;
    char mlp[8 * (DOUBLINGS_MAX + 1)] = "none";
    l->key = bit_field_coords(s, l->address_bits);
    w->other = sheet_coords(s, 2), w->asks = sheet_coords(s, 2);
    l->w = bit_field_coords(s, l->w_bits);
    for (size_t k = 0; k <= w->doublings; k++) w->at[k] = pointer_coords(s, l);
    sheet_layers(s, "full:dk=2:dv=%zu,%zu*full:dk=%zu:dv=%zu", meeting_width(l), w->doublings, l->dk, pointer_width(l));
    for (size_t k = 1; k < w->doublings; k++) strcat(mlp, ",none");
    strcat(mlp, ",table");
    sheet_mlp(s, mlp);
    s->spec.causal = false;
    s->spec.positions = l->task->pairs ? RUNG_POS_NONE : RUNG_POS_LEARNED;
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    seqcomp t;
    RUNG_TRY(seqcomp_init(&t, b, err));
    web w = {.l = seqcomp_bits_of(&t), .doublings = sheet_bits_for(t.levels + 1)}; /* ceil(log2(L+1)) */
    size_t answer_bits = sheet_bits_for(t.range[t.levels]);
    RUNG_TRY(seqcomp_choose_gap(&w.l.gap, b, error_of_web, &w, SEQCOMP_USUAL_GAP, err));
    choose_shape(s, &w);
    seqcomp_write_entries(s, &t, &(seqcomp_writer){&w, write_key, write_value});
    write_ends(s, &w);
    write_layers(s, &w);
    const bit_field *answer = &w.at[w.doublings].val;
    bit_field_snap(s, w.doublings, answer, answer_bits);
    sheet_readout_numbers(s, answer->first, answer->first + answer->bits, answer_bits, t.range[t.levels]);
    return RUNG_OK;
}

const rung_construction rung_construction_seqcomp_encoder = {
    .name = "seqcomp-encoder",
    .summary = "1 + ceil(log2(L+1)) layers without a mask that compose L functions",
    .source = "Chen, Peng, Wu 2024 (O(log L) layers); the weights: ours",
    .task = "seqcomp",
    .params = params,
    .build = build,
};
