/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp by one head per layer. The last token (w) follows the pointer: slot i_0 from the token z_0, then i_l from
 * the entry (l, (w_{l-1}, i_{l-1})) of z_l. Without a linear layer these are L+1 full layers, and L do not suffice
 * (Chen, Peng, Wu 2024); with one linear layer, which hands a number from the token z_0 to the token w, L full ones do:
 *
 *     linear=none    full(0) full(1) ... full(L)                  full(l) fetches i_l
 *     linear=first   hand z_0 over, full(1) ... full(L)
 *     linear=after   full(1) at the token z_0, hand i_1 over, full(2) ... full(L)
 *
 * keys=bits, here: addresses and slots in bits, see seqcomp_bits.h. Every layer writes a slot of its own, so nothing is
 * overwritten and no table is needed before the last layer, which rounds. Values are exact in the embedding, so the
 * noise of a slot does not add up: it only lowers the next gap, e_l = wrong(gap (1 - 2 e_{l-1})), which is below 1/2
 * and small for the default gap. d_k = 2 (level + digit + argument bits), d_v = 2 value bits. The state of the linear
 * layer is one slot: d_v numbers.
 */
#include "seqcomp_weights.h"

#include "build_rows.h"
#include "seqcomp_bits.h"

static const char *const key_names[] = {"bits", "trig", "quadratic", NULL};
static const char *const linear_names[] = {"none", "first", "after", NULL};

static const rung_param params[] = {
    {"keys", RUNG_PARAM_CHOICE, SEQCOMP_KEYS_BITS, 0, 0, key_names, "how an address is written"},
    {"linear", RUNG_PARAM_CHOICE, SEQCOMP_LINEAR_NONE, 0, 0, linear_names,
     "place of one linear layer that saves a full one"},
    {"gap", RUNG_PARAM_REAL, 0, 0, 100000, NULL, "score of the wanted key above the next, 0: enough"},
    {0},
};

/* The error of the last slot. Handing a slot over adds no error. */
static double error_of_bits(const void *context, double gap)
{
    const seqcomp_bits *l = context;
    double noise = 0;
    for (size_t hop = 0; hop <= l->task->levels; hop++) noise = seqcomp_bits_wrong(l, gap, l->arg_bits, noise, 1);
    return noise;
}

typedef struct coords {
    size_t mark; /* 1 at the token z_0 */
    bit_field level[SEQCOMP_LEVELS + 2], slot[SEQCOMP_LEVELS + 2];
} coords;

/* The asking tokens. In step 0 the argument is their own value: 0 at w, z_0 at z_0. */
static void write_askers(rung_sheet *s, const seqcomp_bits *l, const seqcomp_plan *plan, const coords *c)
{
    const seqcomp *t = l->task;
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t v = 0; v < t->range[0]; v++) {
        size_t id = t->first_id[0] + v;
        seqcomp_bits_z0(l, &embed, id, v);
        sheet_set(&embed, id, c->mark, 1);
        if (plan->linear != SEQCOMP_LINEAR_AFTER) continue;
        bit_field_write(&c->level[0], &embed, id, 1);
        bit_field_write(&l->w, &embed, id, 0); /* z_1 has no digit; any fixed one keeps the others apart */
    }
    for (size_t w = 0; w < t->w_count; w++) {
        size_t id = t->w_id + w;
        seqcomp_bits_idle_key(l, &embed, id);
        bit_field_write(&l->value, &embed, id, 0);
        bit_field_write(&l->w, &embed, id, seqcomp_bits_w_code(l, w));
        for (size_t i = 0; i < plan->count; i++) bit_field_write(&c->level[i], &embed, id, plan->step[i].level);
    }
}

static void write_step(rung_sheet *s, const seqcomp_bits *l, const seqcomp_plan *plan, const coords *c, size_t i)
{
    const bit_field *before = i ? &c->slot[i - 1] : &l->value;
    if (plan->step[i].hand) {
        seqcomp_hand_over(s, i, c->mark, before->first, c->slot[i].first, 2 * l->value_bits);
        return;
    }
    seqcomp_bits_look(s, l, i, &c->level[i], before);
    seqcomp_fetch(s, i, l->value.first, c->slot[i].first, 2 * l->value_bits);
}

static rung_status build_bits(rung_sheet *s, const rung_build *b, const seqcomp *t, const seqcomp_plan *plan,
                              rung_error *err)
{
    seqcomp_bits l = seqcomp_bits_of(t);
    coords c = {0};
    size_t answer_bits = sheet_bits_for(t->range[t->levels]);
    RUNG_TRY(seqcomp_choose_gap(&l.gap, b, error_of_bits, &l, SEQCOMP_USUAL_GAP, err));
    l.key = bit_field_coords(s, l.address_bits), l.value = bit_field_coords(s, l.value_bits);
    l.w = bit_field_coords(s, l.w_bits), c.mark = sheet_coords(s, 1);
    for (size_t i = 0; i < plan->count; i++) {
        c.level[i] = bit_field_coords(s, plan->step[i].hand ? 0 : l.level_bits);
        c.slot[i] = bit_field_coords(s, l.value_bits);
    }
    seqcomp_plan_layers(s, plan, l.dk, 2 * l.value_bits, false);
    seqcomp_write_entries(s, t, &(seqcomp_writer){&l, seqcomp_bits_key, seqcomp_bits_value});
    write_askers(s, &l, plan, &c);
    for (size_t i = 0; i < plan->count; i++) write_step(s, &l, plan, &c, i);
    const bit_field *answer = &c.slot[plan->count - 1];
    bit_field_snap(s, plan->count - 1, answer, answer_bits);
    sheet_readout_numbers(s, answer->first, answer->first + answer->bits, answer_bits, t->range[t->levels]);
    return RUNG_OK;
}

static rung_status build(rung_sheet *s, const rung_build *b, rung_error *err)
{
    seqcomp t;
    seqcomp_keys keys = (seqcomp_keys)rung_build_param(b, "keys");
    RUNG_TRY(seqcomp_init(&t, b, err));
    seqcomp_plan plan = seqcomp_plan_of(&t, rung_build_param(b, "linear"));
    s->spec.positions = t.pairs ? RUNG_POS_NONE : RUNG_POS_LEARNED;
    if (keys != SEQCOMP_KEYS_BITS) return seqcomp_build_scalar(s, b, &t, &plan, keys, err);
    return build_bits(s, b, &t, &plan, err);
}

const rung_construction rung_construction_seqcomp = {
    .name = "seqcomp",
    .summary = "L+1 full layers, or L and one linear layer, that compose L functions",
    .source = "Chen, Peng, Wu 2024; the linear layer and the precision: ours",
    .task = "seqcomp",
    .params = params,
    .build = build,
};
