/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A chase: numbered attempts that know nothing of each other, on several threads, until one succeeds. And what the attempts of
 * several attacks begin with.
 */
#ifndef RUNG_ATTACK_CHASE_H
#define RUNG_ATTACK_CHASE_H

#include "hunt.h"

typedef struct chase {
    const rung_victim *victim;
    const rung_budget *budget;
    double began;     /* rung_wall_s */
    const char *what; /* for the progress line */
    uint64_t count;   /* attempts, at most */
    const void *context;
    /* Attempt number `index` on its own hunter and with room for two prompts; *found says that cert is filled. An attempt that
     * may take long looks at the budget itself. RUNG_INPUT (the model stopped) is an attempt that failed. `how` (size bytes)
     * is for the report. */
    rung_status (*attempt)(const struct chase *c, hunter *h, rung_cert *cert, bool *found, uint64_t index, char *how,
                           size_t size, rung_error *err);
} chase;

/* Runs attempts until one succeeds (of several that do, the one with the lowest number, whatever the number of threads), all are
 * done, or the time is gone. Fills found, cert, evaluations and the report. */
rung_status rung_chase_run(rung_break *result, const chase *c, rung_error *err);

/* Hunters that fit into the memory, at most as many as threads; 0: not even one. */
size_t rung_chase_workers(const rung_victim *victim, const rung_budget *budget);
/* Bytes of one hunter at work, about. */
size_t rung_hunter_bytes(const rung_victim *victim);

/* A state that every later token meets again cannot collide: false, with the layer, when one keeps all its keys. */
bool rung_victim_forgets(const rung_victim *victim, char *why, size_t size);

/* Where a steered prefix goes, and who looks at it there, when h's session holds the tokens [0, at). */
typedef struct steer_to {
    size_t end;
    void *context;
    rung_status (*look)(void *context, const uint32_t *token, size_t at, rung_error *err);
} steer_to;

/* Chooses the tokens of a prompt before `end` anew, where they come from the same ids as that at `end`, so that all numbers of the
 * state become large. Does nothing where the size of the state changes with the position. What results may be no prompt. */
rung_status rung_hunter_steer(const chase *c, hunter *h, const steer_to *to, uint32_t *token, rung_rng *rng,
                              rung_error *err);

/* Prompt number `index` to begin with: the even ones say the same thing over and over where the task allows it (their states grow
 * fast, which is what loses late tokens), the odd ones are random. Players of the prompt are in h->instance. */
bool rung_hunter_bait(hunter *h, uint32_t *token, uint64_t seed, uint64_t index);

/* Do the states after two prompts that differ at `pos` alone become the same? Looks at the ends of the players' parts, and
 * then for the shortest prefix. b is a with `other` at pos. */
rung_status rung_hunter_merge(hunter *h, rung_cert *cert, bool *found, uint32_t *a, size_t pos, uint32_t other,
                              rung_rng *rng, rung_error *err);

#endif
