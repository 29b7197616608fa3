/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: the tree of Wagner's generalised birthday attack over an additive table. Lists of differences of
 * choices are joined in pairs so that more and more coordinates of the sums vanish. wagner_tree.c grows the tree,
 * wagner.c chooses its size.
 */
#ifndef RUNG_ATTACK_WAGNER_H
#define RUNG_ATTACK_WAGNER_H

#include "additive.h"

enum { WAGNER_LEVELS_MAX = 16 };

/* What a join makes vanish: the next `exact` coordinates completely, and one more to less than `width`. */
typedef struct wagner_cut {
    size_t exact;
    double width, inverse; /* inverse: of the width; 0: no further coordinate */
} wagner_cut;

/* One sum of chosen differences; `from` are the elements of the two lists below that it comes from. */
typedef struct wagner_pair {
    uint32_t left, right;
} wagner_pair;

typedef struct wagner_tree {
    const additive *sums;
    const rung_budget *budget;
    double began;
    size_t levels;   /* 2^levels leaves */
    size_t room;     /* largest number of elements of a list */
    size_t per_leaf; /* places of a leaf */
    size_t keep;     /* from this depth on all pairs are kept; those below are computed a second time */
    uint64_t seed;
    uint32_t *place;                   /* [places] in random order: leaf i has per_leaf of them from i * per_leaf on */
    int32_t *row;                      /* [rows][dims] of the table, coordinates in the order in which they vanish */
    bool known[WAGNER_LEVELS_MAX + 1]; /* whether the fields below are known at this depth */
    size_t exact[WAGNER_LEVELS_MAX + 1];
    wagner_pair **pairs; /* [2^(levels+1)]: of node n at depth d at 2^(levels-d) + n */
    size_t leaves_done;
    bool stopped; /* no time or no memory */
} wagner_tree;

rung_status rung_wagner_init(wagner_tree *t, const additive *sums, size_t levels, size_t room, size_t per_leaf,
                             uint64_t seed, rung_error *err);
void rung_wagner_clear(wagner_tree *t);
/* Reorders the coordinates for what follows. */
void rung_wagner_reorder(wagner_tree *t, const uint32_t *order);

enum { WAGNER_PER_LEAF_MAX = 64 };
/* A leaf prepared for making its elements. */
typedef struct wagner_leaf {
    size_t number;
    uint64_t space; /* pairs of choices: the largest number of different elements */
    size_t places;
    uint32_t choices[WAGNER_PER_LEAF_MAX];
    const int32_t *row[WAGNER_PER_LEAF_MAX]; /* of choice 0 */
} wagner_leaf;
wagner_leaf rung_wagner_leaf(const wagner_tree *t, size_t number);
/* The difference of element e. */
void rung_wagner_leaf_row(int32_t *x, const wagner_tree *t, const wagner_leaf *leaf, uint64_t e);
/* Grows the tree. True, with f and g, if a sum of all leaves vanishes. *reached: the sizes of the two last lists. */
bool rung_wagner_grow(uint32_t *f, uint32_t *g, size_t reached[2], wagner_tree *t);
/* Largest number of bytes that growing takes. */
double rung_wagner_bytes(size_t dims, size_t levels, double room, size_t keep);

#endif
