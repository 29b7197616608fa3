/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to attack: what the attacks share. They run the attacked model on prompts and prefixes, find out what answers
 * two prefixes need, and make a certificate of a finding. One thread uses one of these.
 */
#ifndef RUNG_ATTACK_RUNNER_H
#define RUNG_ATTACK_RUNNER_H

#include "rung/attack.h"

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

/* ---- what is attacked -------------------------------------------------------------------------------------------- */

/* True if the task has token ids and one answer at the last token, and the model is causal: every attack here needs
 * that. `why` says what is missing. */
bool rung_attacked_suits(const rung_attacked *attacked, char *why, size_t size);
/* A rough estimate of the seconds of one run over this many tokens, for rung_attack.expect. */
double rung_attacked_seconds(const rung_attacked *attacked, size_t tokens);
/* Bits that are carried after this many tokens; UINT64_MAX if it overflows. */
uint64_t rung_attacked_state_bits(const rung_attacked *attacked, size_t tokens);
/* log2 of the number of prefixes of this many tokens in the product of choices. */
double rung_attacked_prefix_bits(const rung_attacked *attacked, size_t tokens);
/* True if a layer has a mechanism with this trait (RUNG_TRAIT_...). */
bool rung_attacked_has(const rung_attacked *attacked, unsigned trait);

/* ---- running it -------------------------------------------------------------------------------------------------- */

/* rung_attacked_suits must be true. Clear it also when this fails. */
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
/* Seconds that are left since `began` (rung_wall_s); 0 also if interrupted. */
double rung_budget_left(const rung_budget *budget, double began);
/* Starts the progress line, if there is one. */
void rung_budget_progress(const rung_budget *budget, const char *what, uint64_t total);

/* ---- what was found ---------------------------------------------------------------------------------------------- */

/* Make complete certificates. Each runs the model; if the claim does not hold, it sets *holds = false and leaves
 * cert empty. */
rung_status rung_certify_wrong_answer(runner *h, rung_cert *cert, bool *holds, const uint32_t *token, rung_error *err);
rung_status rung_certify_state_collision(runner *h, rung_cert *cert, bool *holds, const uint32_t *a, const uint32_t *b,
                                         size_t prefix, rung_error *err);
rung_status rung_certify_view_collision(runner *h, rung_cert *cert, bool *holds, const uint32_t *a, const uint32_t *b,
                                        rung_error *err);
rung_status rung_certify_block_collision(runner *h, rung_cert *cert, bool *holds, const uint32_t *a, const uint32_t *b,
                                         size_t layer, size_t block, rung_error *err);
/* Makes the claim of `like` about other prompts (b is ignored if the claim has only one prompt). */
rung_status rung_certify_again(runner *h, rung_cert *cert, bool *holds, const rung_cert *like, const uint32_t *a,
                               const uint32_t *b, rung_error *err);
/* The number of tokens of a block, if the layer is one group of sparse with mean compression. False if it is not. */
bool rung_block_size(size_t *size, const rung_attacked *attacked, size_t layer);
/* The summaries of a block of such a layer, all heads, as in a certificate. *hex stays NULL if the last token opens the
 * block or sees it through a window. */
rung_status rung_block_summary(char **hex, const rung_attacked *attacked, const uint32_t *token, size_t layer,
                               size_t block, rung_error *err);
/* Reduces the number of differing tokens, then simplifies the prompts, as long as the certificate stays true and there is
 * time. */
rung_status rung_runner_shrink(runner *h, rung_cert *cert, const rung_budget *budget, double began, rung_error *err);

/* Moves the certificate into the result. The attack writes the rest of the report. */
void rung_break_take(rung_break *result, rung_cert *cert);

#endif
