/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Ledgers as one picture that stands alone: light and dark, no script.
 */
#ifndef RUNG_TOOL_COMPARE_SVG_H
#define RUNG_TOOL_COMPARE_SVG_H

#include "bound_input.h"

/* One panel per input, a bar for each layer. Above the line what it holds: a solid bar for what stays the same size, an open
 * one for a cache that grows, on a solid foot for one token. Below the line what crosses a position: states and windows,
 * and of a full layer what it hands to a token. All panels have the same logarithmic scale. */
void rung_compare_svg(rung_buf *out, const rung_bound_input *inputs, size_t count);

#endif
