/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: composition of two functions (seqcomp, L = 2) against one full layer with recurrent layers around
 * it. Which z_2 can the tokens z_0 and w not distinguish? compose_partition.c sorts them by transcript, compose_attack.c
 * attacks.
 */
#ifndef RUNG_ATTACK_COMPOSE_ATTACK_H
#define RUNG_ATTACK_COMPOSE_ATTACK_H

#include "runner.h"

/* A prompt is z_2, z_1, z_0, w. Here z_1 is the identity, so that every entry of z_2 is asked for by one (z_0, w). */
typedef struct composition {
    const rung_attacked *attacked;
    const rung_budget *budget;
    double began;
    size_t entries, values; /* N_1 and V of z_2 */
    size_t n0, w_count;     /* N_0, n_1 */
    size_t tokens;
    rung_span player[4];
    uint64_t digest_bits; /* everything that crosses the cut between z_1 and z_0, for all z_0 and w */
} composition;

/* False, with a reason, if it is not that task, or not in this form. */
bool rung_composition_init(composition *c, const rung_attacked *attacked, char *why, size_t size);
/* Makes a prompt: entry u of z_2 is digit u of `number` in base V if all tables are counted; otherwise `number` seeds
 * random entries. */
void rung_composition_prompt(uint32_t *token, const composition *c, uint64_t number, bool counted, size_t z0, size_t w);
/* The number of z_2; UINT64_MAX if it overflows. */
uint64_t rung_composition_tables(const composition *c);

/* Classes of z_2 with the same messages over the cut, for every z_0 and w. */
typedef struct partition {
    bool complete; /* all z_2, not a sample */
    uint64_t tables, classes, largest;
    uint64_t stopped; /* tables that end in a NaN; they are in no class */
    uint64_t twin[2]; /* two numbers of one class; equal if there are none */
} partition;
rung_status rung_composition_digest_bits(composition *c, rung_error *err);
/* Sorts the first `tables` numbers, or as many as there is time for (then it is not complete). */
rung_status rung_composition_partition(partition *out, const composition *c, uint64_t tables, bool counted,
                                       rung_error *err);

#endif
