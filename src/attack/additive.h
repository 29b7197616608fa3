/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: states that are sums. The carried numbers after a prefix are the sum over j of T[j][token at j],
 * in whole multiples of the spacing of a fixed-point format. Products are rounded before they are added, and
 * fixed-point addition is exact until it saturates, so the table T determines the state. Two prefixes with the same sum
 * are an integer relation among its rows.
 */
#ifndef RUNG_ATTACK_ADDITIVE_H
#define RUNG_ATTACK_ADDITIVE_H

#include "runner.h"

/* Row r = first[j] + c is the c-th choice of place j. Coordinates in which all choices agree are left out. */
typedef struct additive {
    size_t places, dims;
    size_t *first;   /* [places+1] */
    uint32_t *token; /* [rows]: the token of the choice */
    int64_t *row;    /* [rows][dims] */
    bool same;       /* every place has the same rows */
    bool whole;      /* choices are runs of consecutive ids */
    size_t bits;     /* stored bits of the state whose sum this is */
    /* The largest sum of |T| over all choices, divided by the largest number of the format. At most 1 proves that no
     * prefix saturates. */
    double fullness;
} additive;

/* How far a solver came, for the report. */
typedef struct additive_note {
    char text[200];
} additive_note;

/* Finds two different choices f and g, [places] each, with the same sum. False: not within the budget; the note says
 * how far it came. Another seed finds other ones. */
typedef bool additive_solver(uint32_t *f, uint32_t *g, additive_note *note, const additive *sums,
                             const rung_budget *budget, uint64_t seed, double began);
additive_solver rung_additive_relation, rung_additive_wagner, rung_additive_middle;

static inline size_t additive_choices(const additive *sums, size_t place)
{
    return sums->first[place + 1] - sums->first[place];
}

static inline const int64_t *additive_row(const additive *sums, size_t place, size_t choice)
{
    return sums->row + (sums->first[place] + choice) * sums->dims;
}

/* True if the sums agree and the choices differ, as a solver promises. */
bool rung_additive_holds(const additive *sums, const uint32_t *f, const uint32_t *g);

/* Makes a table for places with these numbers of choices; the rows are zero. Clear it also when this fails. */
rung_status rung_additive_init(additive *sums, size_t places, const size_t *choices, size_t dims, rung_error *err);
void rung_additive_clear(additive *sums);
/* Call it after the rows are filled in. Drops coordinates in which all choices agree, and fills in same, whole and
 * fullness. `largest` is a multiple of the spacing. */
void rung_additive_seal(additive *sums, double largest);

/* Restricts each token to a few places, so that an exchange of tokens, which tasks about sets do not notice, is no
 * longer the easiest relation. False, and nothing changes, if there are too few choices. */
bool rung_additive_thin(additive *sums, uint64_t seed);

/* The carried state of the attacked model after its first player, as a table. `base` receives a prompt whose tokens [0,
 * places) the choices replace. Clear it also when this fails. */
rung_status rung_additive_of_state(additive *sums, uint32_t *base, runner *h, const rung_budget *budget,
                                   rung_error *err);
/* True if the model has such a state. */
bool rung_additive_suits(const rung_attacked *attacked, char *why, size_t size);
/* Bits of the sum, and number of places, without reading the weights. */
void rung_additive_sizes(double *bits, size_t *places, double *choices, const rung_attacked *attacked);

/* Runs the whole attack on a state with one solver. */
rung_status rung_additive_run(rung_break *result, const rung_attacked *attacked, const rung_budget *budget,
                              additive_solver *solve, rung_error *err);

#endif
