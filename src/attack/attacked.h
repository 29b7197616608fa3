/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * What an attack asks of the attacked model before it runs it, and how much of the budget is left.
 */
#ifndef RUNG_ATTACK_ATTACKED_H
#define RUNG_ATTACK_ATTACKED_H

#include "rung/attack.h"

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

/* Seconds that are left since `began` (rung_wall_s); 0 also if interrupted. */
double rung_budget_left(const rung_budget *budget, double began);
/* Starts the progress line, if there is one. */
void rung_budget_progress(const rung_budget *budget, const char *what, uint64_t total);

#endif
