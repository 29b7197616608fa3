/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * From what an attack found to a certificate: certify.c runs the model again and writes only what holds, block_summary.c computes the
 * summary of a block, shrink.c makes the prompts simpler.
 */
#ifndef RUNG_ATTACK_CERTIFY_H
#define RUNG_ATTACK_CERTIFY_H

#include "runner.h"

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
