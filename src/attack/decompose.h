/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: all prompts of a small composition, and a digest of every message of the model as a protocol.
 * decompose_record.c plays them, decompose.c carries out the decomposition.
 */
#ifndef RUNG_ATTACK_DECOMPOSE_H
#define RUNG_ATTACK_DECOMPOSE_H

#include "runner.h"

#define DECOMPOSE_PLAYERS_MAX 6

/* Players from the end of the prompt: 0 holds w, 1 holds z_0, l + 1 holds z_l. An input of a player is a number below
 * inputs[player]; a prompt is one input of each. */
typedef struct recording {
    const rung_attacked *attacked;
    const rung_budget *budget;
    double began;
    size_t functions; /* L */
    size_t players;   /* L + 2 */
    size_t tokens;
    uint64_t inputs[DECOMPOSE_PLAYERS_MAX];
    uint64_t weight[DECOMPOSE_PLAYERS_MAX]; /* of an input in the number of a prompt; w counts fastest */
    uint64_t prompts;
    rung_span span[DECOMPOSE_PLAYERS_MAX]; /* by player */
    size_t layers;
    size_t *epoch;    /* [layers]: full layers up to here, at least 1 */
    uint64_t *digest; /* [prompts][layers][players][players + 1]: sender; receiver, or last: a state */
    uint64_t stopped; /* prompts that end in a NaN */
} recording;

/* False, with a reason, if the model is not made of at most L full layers and recurrent ones, or the task is no seqcomp
 * of this form with at most 2^16 prompts. */
bool rung_recording_init(recording *r, const rung_attacked *attacked, char *why, size_t size);
/* Plays all prompts; not complete: there is no time, or no memory. */
rung_status rung_recording_play(recording *r, bool *complete, rung_error *err);
void rung_recording_clear(recording *r);
void rung_recording_prompt(uint32_t *token, const recording *r, uint64_t number);
/* The value of entry `index` of a table. */
uint64_t rung_recording_value(const recording *r, size_t player, uint64_t input, size_t index);
/* What `sender` hands on in a layer for the tokens of `receiver`; receiver = players: its states. */
uint64_t rung_recording_digest(const recording *r, uint64_t prompt, size_t layer, size_t sender, size_t receiver);

#endif
