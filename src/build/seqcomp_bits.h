/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Addresses of L-SeqComp in bits. A number is held as its bits and their complements, a field. The key of entry
 * (l, (digit, i)) is
 *
 *     K = [ level l | the digits of w, one group per level, only that of l filled | i ],     each bit A as (A, 1-A)
 *
 * and the query, with the wanted level, all digits of w and the wanted i as bits P, is -g (1-P, P). The product counts
 * differing bits: -g #{P != A}, groups that a key leaves empty count nothing, and the wanted key has 0. No score rises
 * above another by rounding: sums of terms of one sign are monotone, and the right one is zero.
 *
 * Mass of the wrong keys. For each level the keys are different points of a cube of (digit, i) bits, and levels are
 * different points of the cube of level bits, so the sum of e^-score over all keys is at most (1 + e^-g)^b, b = level
 * bits + widest digit + argument bits. If the bits of i are themselves off by e, each differing bit still costs g (1 -
 * 2e). A key that is never wanted (w, a thought) has ones everywhere: every bit differs.
 *
 * A fetched bit is off by at most leak/(1+leak) < 1/2 if leak = the mass above - 1 < 1.
 */
#ifndef RUNG_BUILD_SEQCOMP_BITS_H
#define RUNG_BUILD_SEQCOMP_BITS_H

#include "seqcomp_parts.h"

/* Coordinates first.. of the residual stream: `bits` ones, then as many complements. */
typedef struct bit_field {
    size_t first, bits;
} bit_field;

bit_field bit_field_coords(rung_sheet *s, size_t bits);
void bit_field_write(const bit_field *f, const sheet_matrix *m, size_t row, uint64_t code);
/* Writes the lowest bits of the read-out row `row`; see sheet_readout_bits. */
void bit_field_read_out(rung_sheet *s, const bit_field *f, size_t row, uint64_t code);
/* Rounds the lowest `bits` in place, by a table after the layer. */
void bit_field_snap(rung_sheet *s, size_t layer, const bit_field *f, size_t bits);

typedef struct seqcomp_bits {
    const seqcomp *task;
    size_t level_bits, w_bits, arg_bits, value_bits;
    size_t address_bits, dk;                                          /* all of a key, and its numbers */
    size_t cube_bits;                                                 /* b above */
    size_t group[SEQCOMP_LEVELS + 1], group_bits[SEQCOMP_LEVELS + 1]; /* of the digit of level l, among the w_bits */
    double gap;
    bit_field key, value, w;
} seqcomp_bits;

/* Computes the sizes; the caller sets the gap and the fields. */
seqcomp_bits seqcomp_bits_of(const seqcomp *t);
uint64_t seqcomp_bits_w_code(const seqcomp_bits *l, size_t w);

/* Keys, for seqcomp_writer and the other tokens. */
void seqcomp_bits_key(const void *layout, const sheet_matrix *m, size_t row, size_t level, size_t u);
void seqcomp_bits_idle_key(const seqcomp_bits *l, const sheet_matrix *m, size_t row);
void seqcomp_bits_value(const void *layout, const sheet_matrix *m, size_t row, size_t level, size_t value);
/* Writes token z_0: its value, and a key of which only the level counts. */
void seqcomp_bits_z0(const seqcomp_bits *l, const sheet_matrix *m, size_t row, size_t value);

/* Writes the head of a full layer. The fields are those in which the asking token has the level and the argument that
 * it wants. */
void seqcomp_bits_look(rung_sheet *s, const seqcomp_bits *l, size_t layer, const bit_field *level,
                       const bit_field *arg);

/* The largest total weight of the wrong keys, if `noisy` bits of the cube are off by `noise` and `idle` keys are never
 * wanted. 1 if there is too much noise. */
double seqcomp_bits_wrong(const seqcomp_bits *l, double gap, size_t noisy, double noise, double idle);

#endif
