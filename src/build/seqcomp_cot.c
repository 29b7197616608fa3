/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp by a chain of thought: F full layers make F hops per pass, and what they found is said as a token, a
 * thought (step, w, i), from which the next pass goes on. F (T+1) >= L+1 hops are enough, so T = ceil((L+1)/F) - 1
 * thoughts are: one full layer does what L of them in one pass cannot.
 *
 * linear=first: a linear layer in front hands z_0 to the token w. The hop that fetches z_0 is saved once, in the first
 * pass: F (T+1) >= L hops are enough, T = ceil(L/F) - 1.
 *
 * Hops are those of seqcomp_bits.h. A token that asks (w, or a thought) holds the levels that its F layers look into,
 * all of w, and the argument of the first hop. Hops that are left over look for z_0 again, which answers whatever the
 * argument is, before anything else. The read-out compares (step, w) with the asking token's own exact bits, which
 * no layer touches, and i with the last slot, which a table rounds: thought (p, w, i) has 0 exactly when it is the one,
 * an answer when the step is the last. Nobody asks for a thought: its key differs in every bit.
 *
 * The linear layer. Its key is 1 at the token z_0 and its query 1 at w; both are 0 everywhere else. So w reads z_0 with
 * one factor 1, exact in every format, and all other tokens read 0: entries and z_0 keep their values, and a thought,
 * which comes after z_0 as well, its i. What w reads goes where the first hop takes its argument from, which w leaves
 * empty. From there on w is what it is without the layer, with z_0 in place of 0: an exact argument and a value of
 * zeros and ones, so bounds, idle keys and read-out are the same.
 *
 * Sizes: F layers, one head, d_k = 2 address bits, d_v = 2 value bits; the thoughts of step p are w_count times the
 * values of i after that pass. Noise starts anew with each thought. The state of the linear layer is d_v numbers.
 */
#include "build_rows.h"
#include "seqcomp_bits.h"

enum { THOUGHTS_MAX = 1 << 20, MINIMAL = -1 };

static const char *const linear_names[] = {"none", "first", NULL};

static const rung_param params[] = {
    {"full", RUNG_PARAM_INT, 1, 1, SEQCOMP_LEVELS + 1, NULL, "F, full layers: hops per pass"},
    {"linear", RUNG_PARAM_CHOICE, SEQCOMP_LINEAR_NONE, 0, 0, linear_names,
     "place of one linear layer that saves a hop"},
    {"thoughts", RUNG_PARAM_INT, MINIMAL, MINIMAL, 256, NULL, "T, thoughts before the answer; -1: as few as suffice"},
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

typedef struct chain {
    seqcomp_bits l;
    size_t hand;           /* linear layers in front, 0 or 1 */
    size_t full, thoughts; /* F, T */
    size_t spare;          /* F (T+1) - (L+1), or - L */
    size_t spoken;         /* number of different thoughts in all steps */
    size_t mark, reader;   /* 1 at the token z_0, 1 at w; only with a linear layer */
    bit_field step, level[SEQCOMP_LEVELS + 1], slot[SEQCOMP_LEVELS + 1];
} chain;

/* The level that full layer `layer` of pass `pass` looks into. A level that was handed over is skipped. */
static size_t level_of(const chain *c, size_t pass, size_t layer)
{
    size_t hop = pass * c->full + layer;
    return hop < c->spare ? 0 : hop - c->spare + c->hand;
}

static size_t values_after(const chain *c, size_t pass)
{
    return c->l.task->range[level_of(c, pass, c->full - 1)];
}

static double error_of_chain(const void *context, double gap)
{
    const chain *c = context;
    double noise = 0;
    for (size_t hop = 0; hop < c->full; hop++)
        noise = seqcomp_bits_wrong(&c->l, gap, c->l.arg_bits, noise, (double)(c->thoughts + 1));
    return noise;
}

static rung_status choose_thoughts(chain *c, const rung_build *b, rung_error *err)
{
    size_t hops = c->l.task->levels + 1 - c->hand, least = (hops + c->full - 1) / c->full - 1;
    int64_t wanted = rung_build_param(b, "thoughts");
    c->thoughts = wanted == MINIMAL ? least : (size_t)wanted;
    size_t made = c->full * (c->thoughts + 1);
    if (c->thoughts < least)
        return rung_fail(
            err, RUNG_USAGE,
            "thoughts=%zu and full=%zu make %zu hops, but L=%zu needs %s%zu%s; take thoughts=%zu%s or more full layers",
            c->thoughts, c->full, made, c->l.task->levels, c->hand ? "" : "L+1=", hops,
            c->hand ? " after the linear layer" : "", least, !c->hand && made + 1 == hops ? ", linear=first" : "");
    c->spare = made - hops;
    for (size_t p = 0; p < c->thoughts; p++) {
        size_t more = SIZE_MAX;
        if (!rung_size_mul(&more, c->l.task->w_count, values_after(c, p)) ||
            !rung_size_add(&c->spoken, c->spoken, more) || c->spoken > THOUGHTS_MAX)
            return rung_fail(err, RUNG_USAGE,
                             "the thoughts (step, w, i) are more than the %d that are built, with %zu values of w; "
                             "lower N0, n or L, or take more full layers",
                             THOUGHTS_MAX, c->l.task->w_count);
    }
    return RUNG_OK;
}

/* Writes all of an asking token but the argument of its first hop. */
static void write_asker(const chain *c, const sheet_matrix *embed, size_t row, size_t pass, size_t w)
{
    seqcomp_bits_idle_key(&c->l, embed, row);
    bit_field_write(&c->l.w, embed, row, seqcomp_bits_w_code(&c->l, w));
    bit_field_write(&c->step, embed, row, pass);
    for (size_t f = 0; f < c->full; f++) bit_field_write(&c->level[f], embed, row, level_of(c, pass, f));
}

static void write_w(const chain *c, const sheet_matrix *embed, size_t row, size_t w)
{
    write_asker(c, embed, row, 0, w);
    if (c->hand)
        sheet_set(embed, row, c->reader, 1);
    else
        bit_field_write(&c->l.value, embed, row, 0);
}

static void write_z0(const chain *c, const sheet_matrix *embed, size_t row, size_t value)
{
    seqcomp_bits_z0(&c->l, embed, row, value);
    if (c->hand) sheet_set(embed, row, c->mark, 1);
}

/* Writes what pass `pass` states of w and i, as a token and as a row of the read-out. */
static void write_thought(rung_sheet *s, const chain *c, const sheet_matrix *embed, size_t number, size_t pass,
                          size_t w, size_t i)
{
    size_t row = s->spec.answers - c->spoken + number, id = s->spec.vocab - c->spoken + number;
    write_asker(c, embed, id, pass + 1, w);
    bit_field_write(&c->l.value, embed, id, i);
    bit_field_read_out(s, &c->step, row, pass);
    bit_field_read_out(s, &c->l.w, row, seqcomp_bits_w_code(&c->l, w));
    bit_field_read_out(s, &c->slot[c->full - 1], row, i);
}

static void write_tokens(rung_sheet *s, const chain *c)
{
    const seqcomp *t = c->l.task;
    sheet_matrix embed = sheet_get(s, "embed.weight");
    size_t number = 0;
    for (size_t v = 0; v < t->range[0]; v++) write_z0(c, &embed, t->first_id[0] + v, v);
    for (size_t w = 0; w < t->w_count; w++) write_w(c, &embed, t->w_id + w, w);
    for (size_t p = 0; p < c->thoughts; p++)
        for (size_t w = 0; w < t->w_count; w++)
            for (size_t i = 0; i < values_after(c, p); i++) write_thought(s, c, &embed, number++, p, w, i);
    for (size_t a = 0; a < t->range[t->levels]; a++) {
        bit_field_read_out(s, &c->step, a, c->thoughts);
        bit_field_read_out(s, &c->slot[c->full - 1], a, a);
    }
}

static void write_layers(rung_sheet *s, const chain *c)
{
    const seqcomp_bits *l = &c->l;
    size_t dv = 2 * l->value_bits;
    if (c->hand) seqcomp_hand_to(s, 0, c->mark, c->reader, l->value.first, l->value.first, dv);
    for (size_t f = 0; f < c->full; f++) {
        seqcomp_bits_look(s, l, c->hand + f, &c->level[f], f ? &c->slot[f - 1] : &l->value);
        seqcomp_fetch(s, c->hand + f, l->value.first, c->slot[f].first, dv);
    }
    bit_field_snap(s, c->hand + c->full - 1, &c->slot[c->full - 1], l->value_bits);
}

static void choose_shape(rung_sheet *s, chain *c)
{
    seqcomp_bits *l = &c->l;
    l->key = bit_field_coords(s, l->address_bits), l->value = bit_field_coords(s, l->value_bits);
    l->w = bit_field_coords(s, l->w_bits), c->step = bit_field_coords(s, sheet_bits_for(c->thoughts + 1));
    for (size_t f = 0; f < c->full; f++)
        c->level[f] = bit_field_coords(s, l->level_bits), c->slot[f] = bit_field_coords(s, l->value_bits);
    if (c->hand) c->mark = sheet_coords(s, 1), c->reader = sheet_coords(s, 1);
    s->spec.positions = l->task->pairs ? RUNG_POS_NONE : RUNG_POS_LEARNED;
    s->spec.thoughts = c->spoken;
    s->spec.vocab += c->spoken;
    s->spec.answers += c->spoken;
    s->spec.max_tokens += c->thoughts;
    seqcomp_plan plan = {.linear = c->hand ? SEQCOMP_LINEAR_FIRST : SEQCOMP_LINEAR_NONE, .count = c->hand + c->full};
    seqcomp_plan_layers(s, &plan, l->dk, 2 * l->value_bits, false);
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    seqcomp t;
    RUNG_TRY(seqcomp_init(&t, b, err));
    chain c = {.l = seqcomp_bits_of(&t),
               .hand = rung_build_param(b, "linear") == SEQCOMP_LINEAR_FIRST,
               .full = (size_t)rung_build_param(b, "full")};
    RUNG_TRY(choose_thoughts(&c, b, err));
    RUNG_TRY(seqcomp_choose_gap(&c.l.gap, b, error_of_chain, &c, SEQCOMP_USUAL_GAP, err));
    choose_shape(s, &c);
    seqcomp_write_entries(s, &t, &(seqcomp_writer){&c.l, seqcomp_bits_key, seqcomp_bits_value});
    write_tokens(s, &c);
    write_layers(s, &c);
    return RUNG_OK;
}

const rung_construction rung_construction_seqcomp_cot = {
    .name = "seqcomp-cot",
    .summary = "few full layers that compose L functions with a chain of thought",
    .source = "Chen, Peng, Wu 2024 (one layer, L steps); F layers, the linear layer and the weights: ours",
    .task = "seqcomp",
    .params = params,
    .build = build,
};
