/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to build: what the constructions for L-SeqComp share. The sizes and ids of the task, its table entries, the
 * choice of a gap, and the linear layer that hands one token's number to the last one.
 *
 * Level l = 1..L is the table z_l with its argument u = w_{l-1} range[l-1] + i_{l-1}; level 0 is the token z_0.
 */
#ifndef RUNG_BUILD_SEQCOMP_PARTS_H
#define RUNG_BUILD_SEQCOMP_PARTS_H

#include "sheet.h"

enum { SEQCOMP_LEVELS = RUNG_LIST_MAX };

typedef struct seqcomp {
    size_t levels, tokens;
    size_t range[SEQCOMP_LEVELS + 1];    /* values of i_l, l = 0..L */
    size_t args[SEQCOMP_LEVELS + 1];     /* entries of z_l, l = 1..L */
    size_t digits[SEQCOMP_LEVELS + 1];   /* values of w_{l-1} in the argument of z_l, l = 1..L; 1 for l = 1 */
    size_t start[SEQCOMP_LEVELS + 1];    /* position of the first entry of z_l; [0] is that of z_0 */
    size_t first_id[SEQCOMP_LEVELS + 1]; /* of the entries of z_l; [0] is that of z_0 */
    size_t w_id, w_count;
    size_t widest; /* the largest range */
    bool pairs;    /* an entry names its argument */
} seqcomp;

/* Refuses order=first, where w is no longer the last token. */
rung_status seqcomp_init(seqcomp *t, const rung_build *b, rung_error *err);
/* w_{level-1}, the digit of w that the argument of z_level begins with. */
size_t seqcomp_digit(const seqcomp *t, size_t w, size_t level);
/* The position of entry u of z_level, or its position if entries were in order: the address of the scalar forms. */
size_t seqcomp_place(const seqcomp *t, size_t level, size_t u);

/* Writes the argument of every table entry (into the position, or into the tokens if they name it) and its value (into
 * the tokens). */
typedef struct seqcomp_writer {
    const void *layout;
    void (*key)(const void *layout, const sheet_matrix *m, size_t row, size_t level, size_t u);
    void (*value)(const void *layout, const sheet_matrix *m, size_t row, size_t level, size_t value);
} seqcomp_writer;
void seqcomp_write_entries(rung_sheet *s, const seqcomp *t, const seqcomp_writer *writer);

/* The parameter `gap`, or for 0 at least `usual`. error(context, gap) is the largest error of a fetched number; 1/2 or
 * more is refused. */
typedef double seqcomp_error(const void *context, double gap);
rung_status seqcomp_choose_gap(double *gap, const rung_build *b, seqcomp_error *error, const void *context,
                               double usual, rung_error *err);
/* e^-8 does not affect a bit, and -8 has few bits. */
#define SEQCOMP_USUAL_GAP 8

/* Writes values and output of a head: coordinates from..from+count-1 go to the tokens' coordinates to... */
void seqcomp_fetch(rung_sheet *s, size_t layer, size_t from, size_t to, size_t count);
/* A linear layer whose only key is that of the token with a 1 at `mark`: from there on every token reads the mark's
 * coordinates exactly. The state is S = sum_t mark_t x_t, `count` numbers. */
#define SEQCOMP_HAND_OVER "linear:phi=identity:norm=0:dk=1:dv=%zu"
void seqcomp_hand_over(rung_sheet *s, size_t layer, size_t mark, size_t from, size_t to, size_t count);
/* The same, but only tokens with a 1 at `reader` read it; the others, with a 0 there, read exactly 0. */
void seqcomp_hand_to(rung_sheet *s, size_t layer, size_t mark, size_t reader, size_t from, size_t to, size_t count);

/* ---- which layer does what --------------------------------------------------------------------------------------- */

enum { SEQCOMP_LINEAR_NONE, SEQCOMP_LINEAR_FIRST, SEQCOMP_LINEAR_AFTER };

typedef struct seqcomp_step {
    bool hand;    /* the linear layer */
    size_t level; /* of the table that a full layer looks into */
} seqcomp_step;

/* none: levels 0..L. first: linear, levels 1..L. after: level 1 (asked by the token z_0), linear, levels 2..L. */
typedef struct seqcomp_plan {
    int64_t linear;
    size_t count;
    seqcomp_step step[SEQCOMP_LEVELS + 2];
} seqcomp_plan;

seqcomp_plan seqcomp_plan_of(const seqcomp *t, int64_t linear);
/* Makes layers of these head sizes. The last one has a table, and if `tables` so has every other that a full layer
 * follows. */
void seqcomp_plan_layers(rung_sheet *s, const seqcomp_plan *plan, size_t dk, size_t dv, bool tables);
bool seqcomp_plan_has_table(const seqcomp_plan *plan, size_t layer, bool tables);

#endif
