/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Private to verify: the proof over all prompts, called by rung_verify_run.
 */
#ifndef RUNG_VERIFY_WORST_CASE_H
#define RUNG_VERIFY_WORST_CASE_H

#include "rung/verify.h"

/* Fills in verdict, reason, margin and cases, and if refuted the witness. The model must fit the task. A case that the
 * method does not cover is UNKNOWN with a reason, not a failure. */
rung_status rung_worst_case(rung_verify_result *result, const rung_model *model, const rung_task_conf *task,
                            const rung_verify_options *conf, rung_error *err);
/* The number of queries that it will check; 0 for a task that it does not cover. */
uint64_t rung_worst_case_total(const rung_task_conf *task);

#endif
