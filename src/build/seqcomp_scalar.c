/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * L-SeqComp with two numbers as a key and one as a value: H d_k = 2, d_v = 1 whatever the size, paid for in precision.
 * An address is the place A of an entry in the prompt; slots hold i_l as a number.
 *
 *   quadratic  K = (a, a^2), a = A - n/2, Q = g (2p, -1), p = p_l + i_{l-1}: the wanted place is linear in the slot,
 *              since w_{l-1} range + start is one number p_l of the token w. Score g (p^2 - (p-a)^2). A slot that is
 *              off by e moves p: keys at distance k fall behind by g (k^2 - 2ke) only. Counted from the middle all
 *              numbers of a score are g times integers up to n^2/4, or even ones up to n^2/2: exact, and so right, if
 *              the format has them, that is with m >= 2 log2 n - 3 mantissa bits and slots that are integers.
 *   trig       K = (cos tA, sin tA), t = 2 pi/n: the next query is no linear function of the slot. A table of (slot
 *              rounded, digit of w) writes it after each layer, for whatever any token can hold, and so no noise is
 *              carried on.
 *
 * A fetched number is off by at most wrong (V-1), V the largest range; less than 1/2 is needed.
 */
#include "address.h"
#include "seqcomp_weights.h"

#include <math.h>

enum { TABLE_ROWS_MAX = 1 << 20 };

typedef struct layout {
    const seqcomp *task;
    const seqcomp_plan *plan;
    address circle; /* trig */
    double gap, middle;
    bool trig;
    size_t key, value, mark; /* mark is 1 at the token z_0 */
    size_t pointer;          /* trig: the query, two numbers */
    size_t slot[SEQCOMP_LEVELS + 2];
    size_t ask[SEQCOMP_LEVELS + 2]; /* of step i, quadratic: p_l; trig: the digit of w that its table needs */
} layout;

/* ---- noise ------------------------------------------------------------------------------------------------------- */

static double spread(const seqcomp *t, double leak)
{
    return leak / (1 + leak) * (double)(t->widest - 1);
}

static double error_of_trig(const void *context, double gap)
{
    const layout *l = context;
    address a = address_init(ADDRESS_TRIG, l->task->tokens, gap);
    return spread(l->task, address_leak(&a));
}

/* Slots of the quadratic form are not rounded between layers. e^-32 times any value is lost beside 1 in float32 and
 * shorter formats, so the slot is exact. */
enum { EXACT_GAP = 32 };

static double quadratic_leak(size_t keys, double gap, double noise)
{
    double leak = 0;
    for (size_t k = 1; k < keys; k++) {
        double near = gap * (double)k * ((double)k - 2 * noise), far = gap * (double)k * ((double)k + 2 * noise);
        leak += exp(-near) + exp(-far);
    }
    return leak;
}

static double error_of_quadratic(const void *context, double gap)
{
    const layout *l = context;
    double noise = 0;
    for (size_t hop = 0; hop <= l->task->levels && noise < 0.5; hop++)
        noise = spread(l->task, quadratic_leak(l->task->tokens, gap, noise));
    return noise;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

static void write_place(const layout *l, const sheet_matrix *m, size_t row, size_t place)
{
    double a = (double)place - l->middle;
    if (l->trig) {
        address_key(&l->circle, m, row, l->key, place);
        return;
    }
    sheet_set(m, row, l->key, a);
    sheet_set(m, row, l->key + 1, a * a);
}

static void write_key(const void *context, const sheet_matrix *m, size_t row, size_t level, size_t u)
{
    const layout *l = context;
    write_place(l, m, row, seqcomp_place(l->task, level, u));
}

static void write_value(const void *context, const sheet_matrix *m, size_t row, size_t level, size_t value)
{
    const layout *l = context;
    (void)level;
    sheet_set(m, row, l->value, (double)value);
}

/* The asking token knows where step 0 looks. */
static void write_first_query(const layout *l, const sheet_matrix *m, size_t row, size_t level, size_t value)
{
    size_t place = seqcomp_place(l->task, level, 0);
    if (l->trig)
        address_query(&l->circle, m, row, l->pointer, place + value);
    else
        sheet_set(m, row, l->ask[0], (double)place - l->middle);
}

static void write_w(const layout *l, const sheet_matrix *m, size_t row, size_t w)
{
    const seqcomp *t = l->task;
    for (size_t i = 0; i < l->plan->count; i++) {
        size_t level = l->plan->step[i].level, digit = seqcomp_digit(t, w, level);
        if (l->plan->step[i].hand || level == 0) continue;
        size_t first = seqcomp_place(t, level, digit * t->range[level - 1]);
        sheet_set(m, row, l->ask[i], l->trig ? (double)digit : (double)first - l->middle);
    }
    if (l->plan->linear == SEQCOMP_LINEAR_NONE) write_first_query(l, m, row, 0, 0);
}

static void write_askers(rung_sheet *s, const layout *l)
{
    const seqcomp *t = l->task;
    sheet_matrix embed = sheet_get(s, "embed.weight");
    for (size_t v = 0; v < t->range[0]; v++) {
        size_t id = t->first_id[0] + v;
        write_place(l, &embed, id, t->start[0]);
        sheet_set(&embed, id, l->value, (double)v);
        sheet_set(&embed, id, l->mark, 1);
        if (l->plan->linear == SEQCOMP_LINEAR_AFTER) write_first_query(l, &embed, id, 1, v);
    }
    for (size_t w = 0; w < t->w_count; w++) {
        write_place(l, &embed, t->w_id + w, t->tokens - 1);
        write_w(l, &embed, t->w_id + w, w);
    }
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static void write_look(rung_sheet *s, const layout *l, size_t i)
{
    size_t before = i ? l->slot[i - 1] : l->value;
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", i), k = sheet_get(s, "layers.%zu.mix.0.k.weight", i);
    sheet_set_diagonal(&k, 0, l->key, 2, 1);
    if (l->trig) {
        sheet_set_diagonal(&q, 0, l->pointer, 2, 1);
        return;
    }
    sheet_matrix bias = sheet_get(s, "layers.%zu.mix.0.q.bias", i);
    sheet_set(&q, 0, l->ask[i], 2 * l->gap);
    sheet_set(&q, 0, before, 2 * l->gap);
    sheet_set(&bias, 0, 1, -l->gap);
}

/* A head returns an average of values, so a slot is between 0 and the largest one, but for its rounding. A table of
 * twice that range has every key that a token can show. */
static size_t slot_values(const seqcomp *t)
{
    return 2 * t->widest;
}

/* After step i: a table from slot and digit to the query of step i+1. */
static void write_next_query(rung_sheet *s, const layout *l, size_t i)
{
    const seqcomp *t = l->task;
    size_t level = l->plan->step[i + 1].level, below = t->range[level - 1], digits = t->digits[level];
    const size_t in[] = {l->slot[i], l->ask[i + 1]}, out[] = {l->pointer, l->pointer + 1};
    sheet_table table = sheet_add_table(s, i, slot_values(t) * digits, in, 2, out, 2);
    for (size_t v = 0; v < slot_values(t); v++)
        for (size_t digit = 0; digit < digits; digit++) {
            size_t row = v * digits + digit, argument = digit * below + (v < below ? v : below - 1);
            sheet_set(&table.keys, row, 0, (double)v);
            sheet_set(&table.keys, row, 1, (double)digit);
            address_query(&l->circle, &table.values, row, 0, seqcomp_place(t, level, argument));
        }
}

static void write_step(rung_sheet *s, const layout *l, size_t i)
{
    if (l->plan->step[i].hand)
        seqcomp_hand_over(s, i, l->mark, i ? l->slot[i - 1] : l->value, l->slot[i], 1);
    else {
        write_look(s, l, i);
        seqcomp_fetch(s, i, l->value, l->slot[i], 1);
    }
    if (l->trig && i + 1 < l->plan->count && seqcomp_plan_has_table(l->plan, i, true)) write_next_query(s, l, i);
}

static rung_status check_tables(const layout *l, rung_error *err)
{
    const seqcomp *t = l->task;
    for (size_t level = 1; l->trig && level <= t->levels; level++) {
        size_t rows = SIZE_MAX;
        rung_size_mul(&rows, slot_values(t), t->digits[level]);
        if (rows > TABLE_ROWS_MAX)
            return rung_fail(err, RUNG_USAGE,
                             "keys=trig needs a table of %zu values and %zu digits of w before z_%zu, but at most %d "
                             "rows are built; take keys=quadratic or keys=bits, which need none",
                             slot_values(t), t->digits[level], level, TABLE_ROWS_MAX);
    }
    return RUNG_OK;
}

rung_status seqcomp_build_scalar(rung_sheet *s, const rung_build *b, const seqcomp *t, const seqcomp_plan *plan,
                                 seqcomp_keys keys, rung_error *err)
{
    layout l = {.task = t, .plan = plan, .trig = keys == SEQCOMP_KEYS_TRIG, .middle = (double)(t->tokens / 2)};
    size_t bits = sheet_bits_for(slot_values(t)), last = plan->count - 1;
    RUNG_TRY(check_tables(&l, err));
    RUNG_TRY(seqcomp_choose_gap(&l.gap, b, l.trig ? error_of_trig : error_of_quadratic, &l,
                                l.trig ? SEQCOMP_USUAL_GAP : EXACT_GAP, err));
    l.circle = address_init(ADDRESS_TRIG, t->tokens, l.gap);
    l.key = sheet_coords(s, 2), l.value = sheet_coords(s, 1), l.mark = sheet_coords(s, 1);
    if (l.trig) l.pointer = sheet_coords(s, 2);
    for (size_t i = 0; i < plan->count; i++) l.ask[i] = sheet_coords(s, 1), l.slot[i] = sheet_coords(s, 1);
    size_t ones = sheet_coords(s, bits), zeros = sheet_coords(s, bits);
    seqcomp_plan_layers(s, plan, 2, 1, l.trig);
    seqcomp_write_entries(s, t, &(seqcomp_writer){&l, write_key, write_value});
    write_askers(s, &l);
    for (size_t i = 0; i < plan->count; i++) write_step(s, &l, i);
    sheet_snap_number(s, last, l.slot[last], slot_values(t), bits, ones, zeros);
    sheet_readout_numbers(s, ones, zeros, bits, t->range[t->levels]);
    return RUNG_OK;
}
