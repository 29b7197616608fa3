/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * States that are sums: the carried numbers after a prefix are sum over j of T[j][token at j], in whole multiples of the spacing of a
 * fixed-point format. Products are rounded before they are added, and fixed-point addition is exact until it saturates, so the table
 * T says everything. Two prefixes with the same sum are an integer relation among its rows.
 */
#ifndef RUNG_ATTACK_ADDITIVE_H
#define RUNG_ATTACK_ADDITIVE_H

#include "hunt.h"

/* Row r = first[j] + c is the c-th choice of place j. Coordinates in which no choice makes a difference are left out. */
typedef struct additive {
    size_t places, dims;
    size_t *first;   /* [places+1] */
    uint32_t *token; /* [rows]: what the choice stands for */
    int64_t *row;    /* [rows][dims] */
    bool same;       /* every place has the same rows */
    bool whole;      /* choices are runs of consecutive ids */
    size_t bits;     /* of the state that this is a sum for, as it is stored */
    /* The largest sum of |T| that any choices can reach, over the largest number of the format: at most 1 proves that nothing
     * saturates, whatever the prefix. */
    double fullness;
} additive;

/* How a solver went, for the report. */
typedef struct additive_note {
    char text[200];
} additive_note;

/* Finds choices f and g, [places] each and different, with the same sum. False: not within the budget; the note says how far it
 * went. Another seed finds other ones. */
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

/* The sums agree, and the choices differ: what a solver promises. */
bool rung_additive_holds(const additive *sums, const uint32_t *f, const uint32_t *g);

/* Room for places with these numbers of choices, rows still zero. Clear it also when this fails. */
rung_status rung_additive_init(additive *sums, size_t places, const size_t *choices, size_t dims, rung_error *err);
void rung_additive_clear(additive *sums);
/* After the rows are filled in: drops dead coordinates, fills same, whole and fullness. `largest` as a multiple of the spacing. */
void rung_additive_seal(additive *sums, double largest);

/* Leaves each token to a few places only, so that an exchange of tokens, which adds nothing and which tasks about sets do not see, is
 * no longer the easiest relation; false, and nothing done, when there are too few choices for that. */
bool rung_additive_thin(additive *sums, uint64_t seed);

/* The carried state of a victim after its first player, as a table. `base` receives a prompt whose tokens [0, places) the choices
 * replace. Clear it also when this fails. */
rung_status rung_additive_of_state(additive *sums, uint32_t *base, hunter *h, const rung_budget *budget,
                                   rung_error *err);
/* Is it such a state at all? */
bool rung_additive_suits(const rung_victim *victim, char *why, size_t size);
/* Bits of the sum and places, without looking at the weights. */
void rung_additive_sizes(double *bits, size_t *places, double *choices, const rung_victim *victim);

/* The whole attack on a state with one solver. */
rung_status rung_additive_run(rung_break *result, const rung_victim *victim, const rung_budget *budget,
                              additive_solver *solve, rung_error *err);

#endif
