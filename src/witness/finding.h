/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Judging a model by one method, and what that costs.
 */
#ifndef RUNG_WITNESS_FINDING_H
#define RUNG_WITNESS_FINDING_H

#include "rung/witness.h"

/* Fills prompts, wrong, error_high, and of a worst case the reason; `right` and `evidence` are the caller's. */
rung_status rung_finding_by(rung_finding *out, rung_verdict *verdict, const rung_model *model,
                            const rung_task_conf *task, const rung_verify_conf *conf, rung_method method,
                            rung_error *err);
/* Products of a key or value with a query of one prompt, all layers. */
double rung_prompt_work(const rung_model *model, size_t tokens);
/* Products that are run at most if nobody says otherwise, some three seconds of one core. */
#define WORK_MAX 1e10
/* Of a vector answer. */
#define TOLERANCE 0.001

#endif
