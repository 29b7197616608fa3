/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to witness: judges a model by one method, and estimates the cost.
 */
#ifndef RUNG_WITNESS_FINDING_H
#define RUNG_WITNESS_FINDING_H

#include "rung/witness.h"

/* Fills in prompts, wrong and error_high, and the reason of a worst case. The caller sets `right` and `evidence`. */
rung_status rung_finding_by(rung_finding *out, rung_verdict *verdict, const rung_model *model,
                            const rung_task_conf *task, const rung_verify_options *conf, rung_method method,
                            rung_error *err);
/* Multiplications of a key or value with a query in one prompt, all layers. */
double rung_prompt_work(const rung_model *model, size_t tokens);
/* Multiplications by default: about three seconds on one core. */
#define WORK_MAX 1e10
/* Tolerance of a vector answer. */
#define TOLERANCE 0.001

#endif
