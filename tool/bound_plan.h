/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * `rung bound --plan`: the search is rung_plan_search, here it is asked and shown.
 */
#ifndef RUNG_TOOL_BOUND_PLAN_H
#define RUNG_TOOL_BOUND_PLAN_H

#include "bound_ask.h"
#include "rung/witness.h"

/* What the command line asks. The ask and the call must outlive it. */
rung_plan_conf rung_plan_conf_of(const rung_about *about, const rung_call *call, uint64_t samples, size_t threads);
/* Whether there is anything to look for: bits and sizes for which models can be built. */
rung_status rung_plan_check(const rung_plan_conf *conf, rung_error *err);

void rung_plan_print(rung_buf *out, const rung_plan *plan, const rung_plan_conf *conf);
void rung_plan_json(rung_buf *out, const rung_plan *plan, const rung_plan_conf *conf);

#endif
