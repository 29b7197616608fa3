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
    double *view;           /* [d_model]: the last view */
    uint8_t *state;         /* packed carried state after the last prefix; state_bits of them */
    size_t state_bits, state_room;
    uint64_t evaluations;
    uint64_t stopped; /* evaluations that ended in a NaN or a missing table key */
} hunter;

/* ---- what is attacked ---------------------------------------------------------------------------------------------- */

/* Tokens with ids, one answer at the last token, causal: what every attack here needs. `why` says what is missing. */
bool rung_victim_suits(const rung_victim *victim, char *why, size_t size);
/* A guess at the seconds of one run over so many tokens: order of magnitude, for rung_attack.expect. */
double rung_victim_seconds(const rung_victim *victim, size_t tokens);
/* Bits that are carried after so many tokens; UINT64_MAX for more than fit. */
uint64_t rung_victim_state_bits(const rung_victim *victim, size_t tokens);
/* log2 of the number of prefixes of so many tokens in the product of choices. */
double rung_victim_prefix_bits(const rung_victim *victim, size_t tokens);
/* Does a layer have a mechanism with this trait (RUNG_TRAIT_...)? */
bool rung_victim_has(const rung_victim *victim, unsigned trait);

/* ---- running it ------------------------------------------------------------------------------------------------------ */

/* The victim suits. Clear it also when this fails. */
rung_status rung_hunter_init(hunter *h, const rung_victim *victim, rung_error *err);
void rung_hunter_clear(hunter *h);

/* The tokens [0, count) of a prompt, from a fresh session: fills state and state_bits. RUNG_INPUT when the model stops (NaN). */
rung_status rung_hunter_prefix(hunter *h, const uint32_t *token, size_t count, rung_error *err);
/* The state of any session of the victim's program, into h->state. */
rung_status rung_hunter_pack(hunter *h, const rung_session *session, rung_error *err);
/* A whole prompt: the model's answer at the last token into *given (RUNG_NO_TARGET when a NaN or a missing table key stops it),
 * the oracle's into *right; RUNG_INPUT when the tokens are no prompt of the task. */
rung_status rung_hunter_answer(hunter *h, int32_t *given, int32_t *right, const uint32_t *token, rung_error *err);
/* A whole prompt: the last token after the last layer into h->view. RUNG_INPUT when the model stops. */
rung_status rung_hunter_view(hunter *h, const uint32_t *token, rung_error *err);
/* The oracle alone; RUNG_NO_TARGET when the tokens are no prompt. */
int32_t rung_hunter_oracle(hunter *h, const uint32_t *token);
/* Prompt number `index` of the task's generator; false when that one is shorter than `tokens`. */
bool rung_hunter_draw(hunter *h, uint32_t *token, uint64_t seed, uint64_t index);
/* Tokens from `prefix` on that make the right answers of a and b different, written into both; false if there are none (all
 * continuations are tried when they are few, else those that ask for the first difference, and up to 4096 random ones). */
bool rung_hunter_separate(hunter *h, uint32_t *a, uint32_t *b, size_t prefix, rung_rng *rng);
/* Seconds that are left, from the moment `began` (rung_wall_s); 0 also when interrupted. */
double rung_budget_left(const rung_budget *budget, double began);
/* Starts the progress line, if there is one. */
void rung_budget_says(const rung_budget *budget, const char *what, uint64_t total);

/* ---- what was found -------------------------------------------------------------------------------------------------- */

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
/* The claim that `like` makes, about other prompts (b is not looked at when it has one only). */
rung_status rung_hunter_claim(hunter *h, rung_cert *cert, bool *true_claim, const rung_cert *like, const uint32_t *a,
                              const uint32_t *b, rung_error *err);
/* Tokens of a block of a layer that is one group of sparse with mean compression; false: it is not. */
bool rung_block_size(size_t *size, const rung_victim *victim, size_t layer);
/* The summaries of a block of such a layer, all heads, as in a certificate; *hex stays NULL when the last token opens the block
 * or sees it through a window. */
rung_status rung_block_summary(char **hex, const rung_victim *victim, const uint32_t *token, size_t layer, size_t block,
                               rung_error *err);
/* Fewer differing tokens, then plainer prompts, as long as the claim stays true and there is time. */
rung_status rung_hunter_shrink(hunter *h, rung_cert *cert, const rung_budget *budget, double began, rung_error *err);

/* Moves the certificate and the counts of the hunter into the result. The rest of the report is the attack's. */
void rung_break_take(rung_break *result, rung_cert *cert);

#endif
