/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: contents of one block of a sparse layer and their summaries. The table has what a token at a place
 * of the block adds to the sums. block_search.c finds contents with the same summary, block_attack.c makes prompts of them.
 */
#ifndef RUNG_ATTACK_BLOCK_ATTACK_H
#define RUNG_ATTACK_BLOCK_ATTACK_H

#include "runner.h"

/* The keys and values of every choice at every place of one block. */
typedef struct block_table {
    const rung_fmt *fmt;
    size_t places, dims; /* B, and H (dk + dv): keys and values, head by head, in the order of a summary */
    size_t *count;       /* [places] choices */
    size_t most;         /* largest number of choices of a place */
    uint32_t *token;     /* [places][most] */
    double *x;           /* [places][dims][most] */
} block_table;

/* Choices a and b, [places] each, whose sums over the first `depth` places agree; if depth is the whole block, whose
 * means agree. They differ as sets of tokens. False if there is no such pair among `elements` contents. */
typedef struct block_find {
    size_t depth, elements;
    uint64_t seed;
    uint32_t *a, *b;
    uint64_t evaluations;
} block_find;
bool rung_block_search(block_find *find, const block_table *table, const rung_budget *budget, double began);
/* Bytes that this many contents take. */
double rung_block_search_bytes(double elements);

/* The summary of choices, [dims]: sums from +0 over the places in order, and after all of them one division by B in the
 * format. */
void rung_block_sums(double *out, const block_table *table, const uint32_t *choice, size_t depth);
bool rung_block_differ_as_sets(const block_table *table, const uint32_t *a, const uint32_t *b, size_t depth);

#endif
