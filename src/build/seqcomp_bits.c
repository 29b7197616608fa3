/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Addresses of L-SeqComp in bits.
 */
#include "seqcomp_bits.h"

#include "code_match.h"

#include <math.h>

/* ---- fields ------------------------------------------------------------------------------------------------------ */

bit_field bit_field_coords(rung_sheet *s, size_t bits)
{
    return (bit_field){sheet_coords(s, 2 * bits), bits};
}

void bit_field_write(const bit_field *f, const sheet_matrix *m, size_t row, uint64_t code)
{
    match_key(m, row, f->first, f->bits, code);
}

void bit_field_read_out(rung_sheet *s, const bit_field *f, size_t row, uint64_t code)
{
    sheet_readout_bits(s, f->first, f->first + f->bits, f->bits, row, code);
}

void bit_field_snap(rung_sheet *s, size_t layer, const bit_field *f, size_t bits)
{
    sheet_snap_bits(s, layer, f->first, bits, f->first, f->first + f->bits);
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

seqcomp_bits seqcomp_bits_of(const seqcomp *t)
{
    seqcomp_bits l = {.task = t, .level_bits = sheet_bits_for(t->levels + 1), .value_bits = sheet_bits_for(t->widest)};
    size_t widest_digit = 0;
    for (size_t level = 1; level <= t->levels; level++) {
        l.group[level] = l.w_bits;
        l.group_bits[level] = t->digits[level] > 1 ? sheet_bits_for(t->digits[level]) : 0;
        l.w_bits += l.group_bits[level];
        if (l.group_bits[level] > widest_digit) widest_digit = l.group_bits[level];
        size_t arg_bits = sheet_bits_for(t->range[level - 1]);
        if (arg_bits > l.arg_bits) l.arg_bits = arg_bits;
    }
    l.address_bits = l.level_bits + l.w_bits + l.arg_bits;
    l.dk = 2 * l.address_bits;
    l.cube_bits = l.level_bits + widest_digit + l.arg_bits;
    return l;
}

uint64_t seqcomp_bits_w_code(const seqcomp_bits *l, size_t w)
{
    uint64_t code = 0;
    for (size_t level = 1; level <= l->task->levels; level++)
        code |= (uint64_t)seqcomp_digit(l->task, w, level) << l->group[level];
    return code;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Bits from..from+bits-1 of the key. */
static void write_part(const seqcomp_bits *l, const sheet_matrix *m, size_t row, size_t from, size_t bits, size_t code)
{
    sheet_set_bits(m, row, l->key.first + from, bits, code, 0, 1);
    sheet_set_bits(m, row, l->key.first + l->address_bits + from, bits, code, 1, 0);
}

void seqcomp_bits_key(const void *layout, const sheet_matrix *m, size_t row, size_t level, size_t u)
{
    const seqcomp_bits *l = layout;
    size_t below = l->task->range[level - 1];
    write_part(l, m, row, 0, l->level_bits, level);
    write_part(l, m, row, l->level_bits + l->group[level], l->group_bits[level], u / below);
    write_part(l, m, row, l->level_bits + l->w_bits, l->arg_bits, u % below);
}

void seqcomp_bits_idle_key(const seqcomp_bits *l, const sheet_matrix *m, size_t row)
{
    match_never(m, row, l->key.first, l->address_bits);
}

void seqcomp_bits_value(const void *layout, const sheet_matrix *m, size_t row, size_t level, size_t value)
{
    const seqcomp_bits *l = layout;
    (void)level;
    bit_field_write(&l->value, m, row, value);
}

void seqcomp_bits_z0(const seqcomp_bits *l, const sheet_matrix *m, size_t row, size_t value)
{
    write_part(l, m, row, 0, l->level_bits, 0);
    bit_field_write(&l->value, m, row, value);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

/* The lowest `bits` of a field as part of the query: -g (complements, ones). */
static void ask_part(const seqcomp_bits *l, const sheet_matrix *q, size_t from, const bit_field *f, size_t bits)
{
    sheet_set_diagonal(q, from, f->first + f->bits, bits, -l->gap);
    sheet_set_diagonal(q, l->address_bits + from, f->first, bits, -l->gap);
}

void seqcomp_bits_look(rung_sheet *s, const seqcomp_bits *l, size_t layer, const bit_field *level, const bit_field *arg)
{
    sheet_matrix q = sheet_get(s, "layers.%zu.mix.0.q.weight", layer),
                 k = sheet_get(s, "layers.%zu.mix.0.k.weight", layer);
    ask_part(l, &q, 0, level, l->level_bits);
    ask_part(l, &q, l->level_bits, &l->w, l->w_bits);
    ask_part(l, &q, l->level_bits + l->w_bits, arg, l->arg_bits);
    sheet_set_diagonal(&k, 0, l->key.first, l->dk, 1);
}

double seqcomp_bits_wrong(const seqcomp_bits *l, double gap, size_t noisy, double noise, double idle)
{
    double exact = (double)(l->cube_bits - noisy), blurred = (double)noisy, cost = gap * (1 - 2 * noise);
    if (noise >= 0.5) return 1;
    double leak = expm1(exact * log1p(exp(-gap)) + blurred * log1p(exp(-cost)));
    leak += idle * exp(-gap * exact - cost * blurred);
    return leak / (1 + leak);
}
