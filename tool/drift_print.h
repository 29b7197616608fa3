/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Errors of a state, proofs and curves of recall as text.
 */
#ifndef RUNG_TOOL_DRIFT_PRINT_H
#define RUNG_TOOL_DRIFT_PRINT_H

#include "rung/drift.h"

void tool_drift_print(rung_buf *out, const rung_drift *drift);

#endif
