/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Two players with a set each: prompts of N bits of Alice and N bits of Bob, and random pairs of sets that
 * are disjoint or meet. Private to the module.
 */
#ifndef RUNG_TASK_HALVES_H
#define RUNG_TASK_HALVES_H

#include "rung/task.h"
#include "yes_no.h"

/* Prompts of 2N tokens; the ids 0 and 1 are bits of the first half, 2 and 3 of the second. conf->derived[0]
 * is N. */
void rung_halves_resolve(rung_task_conf *conf, size_t bits);
/* Alice holds everything before `cut`, Bob the rest. If `askers` is 1 the last token belongs to a third player, the
 * query. */
void rung_halves_split(rung_instance *instance, size_t cut, size_t askers);
void rung_halves_players(rung_instance *instance, const rung_task_conf *conf);
rung_ids rung_halves_ids(const rung_task_conf *conf, size_t pos);
void rung_halves_write(rung_instance *instance, const uint8_t *first, const uint8_t *second, size_t bits);
/* Checks the prompt and sets the target of its last token to decide(first[N], second[N], N), whose arguments are bits 0
 * and 1. */
rung_status rung_halves_solve(rung_instance *instance, const rung_task_conf *conf,
                              int32_t (*decide)(const uint8_t *first, const uint8_t *second, size_t bits),
                              rung_error *err);
/* Writes a bit as one word: the letter of its side, then 0 or 1. */
void rung_halves_word(rung_buf *out, uint32_t token, char first, char second);

typedef enum rung_meeting {
    RUNG_MEET_NEVER, /* disjoint */
    RUNG_MEET_ONCE,  /* exactly one common element */
    RUNG_MEET_SOME,  /* at least one common element */
} rung_meeting;

/* Elements per set that make disjointness hard: Razborov's (N+1)/4, at least 1. */
size_t rung_meeting_size(size_t universe);
/* Draws two random sets of `size` elements, as bits a[universe] and b[universe]. Each set alone is a uniform subset,
 * whatever the meeting, so neither player, nor a count of ones, knows anything about the answer. Needs 1 <= size and 2
 * size <= universe. */
rung_status rung_meeting_draw(uint8_t *a, uint8_t *b, size_t universe, size_t size, rung_meeting meeting, rung_rng *rng,
                              rung_error *err);

#endif
