/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: numbered, independent attempts on several threads until one succeeds; and the prompts from which
 * several attacks start.
 */
#ifndef RUNG_ATTACK_ATTEMPTS_H
#define RUNG_ATTACK_ATTEMPTS_H

#include "runner.h"

typedef struct attempts {
    const rung_attacked *attacked;
    const rung_budget *budget;
    double began;     /* rung_wall_s */
    const char *what; /* text of the progress line */
    uint64_t count;   /* largest number of attempts */
    const void *context;
    /* Makes attempt number `index` with a worker of its own and space for two prompts. *found: cert is filled in. An
     * attempt that may take long must check the budget itself. RUNG_INPUT (the model stopped) counts as a failed
     * attempt. `how` (size bytes) is for the report. */
    rung_status (*attempt)(const struct attempts *c, runner *h, rung_cert *cert, bool *found, uint64_t index, char *how,
                           size_t size, rung_error *err);
} attempts;

/* Runs attempts until one succeeds, all are done, or the time is over. If several succeed, the one with the lowest
 * number counts, for any number of threads. Fills in found, cert, evaluations and the report. */
rung_status rung_attempts_run(rung_break *result, const attempts *c, rung_error *err);

/* Number of workers that fit into memory, at most the number of threads; 0: not even one. */
size_t rung_attempts_workers(const rung_attacked *attacked, const rung_budget *budget);
/* Approximate bytes of one worker. */
size_t rung_runner_bytes(const rung_attacked *attacked);

/* False, with the layer, if some layer keeps all its keys: such a state cannot collide. */
bool rung_attacked_forgets(const rung_attacked *attacked, char *why, size_t size);

/* The end of a steered prefix, and the function that is called there, when h's session holds the tokens [0, at). */
typedef struct steer_to {
    size_t end;
    void *context;
    rung_status (*look)(void *context, const uint32_t *token, size_t at, rung_error *err);
} steer_to;

/* Chooses the tokens of a prompt before `end` again, if they come from the same ids as the token at `end`, so that all
 * numbers of the state become large. Does nothing if the size of the state changes with the position. The result may be
 * no prompt. */
rung_status rung_runner_steer(const attempts *c, runner *h, const steer_to *to, uint32_t *token, rung_rng *rng,
                              rung_error *err);

/* Prompt number `index` to start from. Even ones repeat one token as far as the task allows it: their states grow fast,
 * which makes late tokens get lost. Odd ones are random. h->instance has the players of the prompt. */
bool rung_runner_first_prompt(runner *h, uint32_t *token, uint64_t seed, uint64_t index);

/* Finds out whether the states after two prompts that differ only at `pos` become the same. Checks the ends of the
 * players' parts, and then searches the shortest prefix. b is a with `other` at pos. */
rung_status rung_runner_merge(runner *h, rung_cert *cert, bool *found, uint32_t *a, size_t pos, uint32_t other,
                              rung_rng *rng, rung_error *err);

#endif
