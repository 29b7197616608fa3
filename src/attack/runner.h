/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A runner evaluates the attacked model on prompts and prefixes, asks the oracle, and finds continuations that need different answers
 * after two prefixes. It belongs to one thread.
 */
#ifndef RUNG_ATTACK_RUNNER_H
#define RUNG_ATTACK_RUNNER_H

#include "attacked.h"

typedef struct runner {
    const rung_attacked *attacked;
    rung_session *session;
    rung_instance instance; /* for the oracle */
    size_t tokens;          /* of a prompt */
    double *out;            /* [answers]: the last read-out */
    double *view;           /* [d_model]: the last view */
    uint8_t *state;         /* packed carried state after the last prefix, state_bits bits */
    size_t state_bits, state_room;
    uint64_t evaluations;
    uint64_t stopped; /* evaluations that ended in a NaN or a missing table key */
} runner;

/* The attacked model suits. Clear it also when this fails. */
rung_status rung_runner_init(runner *h, const rung_attacked *attacked, rung_error *err);
void rung_runner_clear(runner *h);

/* Runs tokens [0, count) of a prompt in a fresh session, and fills in state and state_bits. RUNG_INPUT if the model
 * stops (NaN). */
rung_status rung_runner_prefix(runner *h, const uint32_t *token, size_t count, rung_error *err);
/* Packs the state of any session of the same program into h->state. */
rung_status rung_runner_pack(runner *h, const rung_session *session, rung_error *err);
/* Runs a whole prompt. *given is the model's answer at the last token (RUNG_NO_TARGET if a NaN or a missing table key
 * stops it), *right is the oracle's. RUNG_INPUT if the tokens are no prompt of the task. */
rung_status rung_runner_answer(runner *h, int32_t *given, int32_t *right, const uint32_t *token, rung_error *err);
/* Runs a whole prompt, and puts the last token after the last layer into h->view. RUNG_INPUT if the model stops. */
rung_status rung_runner_view(runner *h, const uint32_t *token, rung_error *err);
/* Asks only the oracle; RUNG_NO_TARGET if the tokens are no prompt. */
int32_t rung_runner_oracle(runner *h, const uint32_t *token);
/* Makes prompt number `index` of the task's generator. False if it is shorter than `tokens`. */
bool rung_runner_draw(runner *h, uint32_t *token, uint64_t seed, uint64_t index);
/* Finds tokens from `prefix` on that make the right answers of a and b different, and writes them into both. False if
 * it finds none. It tries all continuations if they are few; else those that ask for the first difference, and up to
 * 4096 random ones. */
bool rung_runner_separate(runner *h, uint32_t *a, uint32_t *b, size_t prefix, rung_rng *rng);

#endif
