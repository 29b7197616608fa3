/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * witness: weights that show that given layers can. A construction is small; an architecture that contains its layers computes
 * the same function with the others idle. docs/contains.md says what "contains" means and proves it. What comes out is a
 * model like any other, which anybody can write to a file and verify again. Layer 5.
 */
#ifndef RUNG_WITNESS_H
#define RUNG_WITNESS_H

#include "rung/base.h"
#include "rung/build.h"
#include "rung/config.h"
#include "rung/model.h"
#include "rung/num.h"
#include "rung/task.h"
#include "rung/verify.h"

/* ---- the same function in a larger architecture -------------------------------------------------------------------------- */

/* A model of the architecture `arch` whose read-outs are those of `small`, bit for bit in the exact evaluator: as long as no
 * number is infinite or NaN, at any token (of the last layer only the tokens that are asked are computed, and it may be the
 * last one no longer), and where 1e-5 and 1e-6 do not round to 0 if the layers normalise (gate, unit). A refusal is
 * RUNG_USAGE with the reason. */
rung_status rung_embed(rung_model **out, const rung_model *small, const char *arch, const rung_arch_defaults *defaults,
                       rung_error *err);
/* Whether the layers fit, without weights. */
rung_status rung_embed_check(const rung_model *small, const rung_arch *large, rung_error *err);

/* Two models on the same prompts, in scan and in step form. */
typedef struct rung_agreement {
    bool agree;       /* the same bits, or both stop */
    bool all;         /* on every prompt of the task, not only on a sample */
    uint64_t prompts; /* up to and including the first where they differ */
} rung_agreement;

/* All prompts when there are at most `prompts`, else a sample of so many. */
rung_status rung_models_agree(rung_agreement *out, const rung_model *a, const rung_model *b, const rung_task_conf *task,
                              const rung_evaluator *how, uint64_t prompts, uint64_t seed, rung_error *err);

#endif
