/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What the attacks share: running the victim on prompts and prefixes, telling apart what two prefixes need, and turning what
 * was found into a certificate. A hunter belongs to one thread.
 */
#ifndef RUNG_ATTACK_HUNT_H
#define RUNG_ATTACK_HUNT_H

#include "rung/attack.h"

typedef struct hunter {
    const rung_victim *victim;
    rung_session *session;
    rung_instance instance; /* for the oracle */
    size_t tokens;          /* of a prompt */
    double *out;            /* [answers]: the last read-out */
    uint8_t *state;         /* packed carried state after the last prefix; state_bits of them */
    size_t state_bits;
    uint64_t evaluations;
} hunter;

/* Clear it also when this fails. */
rung_status rung_hunter_init(hunter *h, const rung_victim *victim, rung_error *err);
void rung_hunter_clear(hunter *h);

/* The tokens [0, count) of a prompt, from a fresh session: fills state and state_bits. */
rung_status rung_hunter_prefix(hunter *h, const uint32_t *token, size_t count, rung_error *err);
/* A whole prompt: the model's answer at the last token into *given (RUNG_NO_TARGET when a NaN or a missing table key stops it),
 * the oracle's into *right; RUNG_INPUT when the tokens are no prompt of the task. */
rung_status rung_hunter_answer(hunter *h, int32_t *given, int32_t *right, const uint32_t *token, rung_error *err);
/* The oracle alone; RUNG_NO_TARGET when the tokens are no prompt. */
int32_t rung_hunter_oracle(hunter *h, const uint32_t *token);
/* Tokens from `prefix` on that make the right answers of a and b different, written into both; false if there are none (all
 * continuations are tried when they are few, else 4096 random ones and those that ask for the first difference). */
bool rung_hunter_separate(hunter *h, uint32_t *a, uint32_t *b, size_t prefix, rung_rng *rng);
/* Seconds that are left, from the moment `began` (rung_wall_s); 0 also when interrupted. */
double rung_budget_left(const rung_budget *budget, double began);

/* Complete certificates: each runs the model on what it is given and returns false in *true_claim, with nothing in cert, when the
 * claim does not hold. */
rung_status rung_hunter_wrong_answer(hunter *h, rung_cert *cert, bool *true_claim, const uint32_t *token,
                                     rung_error *err);
rung_status rung_hunter_state_collision(hunter *h, rung_cert *cert, bool *true_claim, const uint32_t *a,
                                        const uint32_t *b, size_t prefix, rung_error *err);
rung_status rung_hunter_view_collision(hunter *h, rung_cert *cert, bool *true_claim, const uint32_t *a,
                                       const uint32_t *b, rung_error *err);
rung_status rung_hunter_block_collision(hunter *h, rung_cert *cert, bool *true_claim, const uint32_t *a,
                                        const uint32_t *b, size_t layer, size_t block, rung_error *err);

#endif
