/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * `rung bound --plan`: the search is rung_plan_search, here it is asked and shown.
 */
#ifndef RUNG_TOOL_BOUND_PLAN_H
#define RUNG_TOOL_BOUND_PLAN_H

#include "bound_ask.h"
#include "rung/witness.h"

void tool_plan_print(rung_buf *out, const rung_plan *plan, const rung_plan_options *conf);

#endif
