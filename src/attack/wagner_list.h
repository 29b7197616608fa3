/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: lists of the tree of wagner.h and their joins. wagner_join.c implements them for wagner_tree.c.
 */
#ifndef RUNG_ATTACK_WAGNER_LIST_H
#define RUNG_ATTACK_WAGNER_LIST_H

#include "wagner.h"

/* Rows of the coordinates that have not vanished yet. */
typedef struct wagner_list {
    size_t count, width;
    int32_t *x; /* [count][width] */
} wagner_list;

enum { WAGNER_RUN = 4096 }; /* elements that one worker takes at a time */

bool rung_wagner_list_init(wagner_list *l, size_t count, size_t width);
void rung_wagner_list_clear(wagner_list *l);

/* A left element u and a right one v match if the keys of u and -v are equal. The cut counts from the first coordinate
 * that the lists still have. Equal keys have equal hashes. */
uint64_t rung_wagner_key_hash(const int32_t *x, bool right, const wagner_cut *cut);

/* out = sums of the pairs of l and r that the cut allows, at most `room`. *pairs lists them; the caller frees it.
 * False: no memory. */
bool rung_wagner_join(wagner_list *out, wagner_pair **pairs, const wagner_list *l, const wagner_list *r,
                      const wagner_cut *cut, size_t room, size_t threads);
/* Bytes per element of full lists while two of them are joined, without the rows. */
double rung_wagner_join_bytes(void);

/* Sums of 32 bits may wrap; every finding is checked at the end. */
static inline int32_t wagner_plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

#endif
