/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The proof over all prompts at once, behind rung_verify_run. Private to the module.
 */
#ifndef RUNG_VERIFY_WORST_CASE_H
#define RUNG_VERIFY_WORST_CASE_H

#include "rung/verify.h"

/* Fills verdict, reason, margin, cases and, when refuted, the witness. The model fits the task. What the method does not
 * know is UNKNOWN with its reason, not a failure. */
rung_status rung_worst_case(rung_verify_result *result, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_conf *conf, rung_error *err);
/* The queries that it will look at; 0 for a task that it does not know. */
uint64_t rung_worst_case_total(const rung_task_conf *task);

#endif
