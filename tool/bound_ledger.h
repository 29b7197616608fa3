/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * A ledger for people: bits of a layer, totals, the order of the layers in one line, and the table of its kinds of layers.
 */
#ifndef RUNG_TOOL_BOUND_LEDGER_H
#define RUNG_TOOL_BOUND_LEDGER_H

#include "bound_input.h"
#include "rung/render.h"

typedef struct rung_ledger_view {
    rung_ledger_sum sum;
    uint64_t state_bits, message_bits; /* all layers */
    bool levels;                       /* some layer has log-linear attention */
} rung_ledger_view;

rung_ledger_view rung_ledger_view_of(const rung_claim *claim);

/* "12*(3*gdelta,full)": mechanisms in order, repetitions counted. */
void rung_ledger_order(rung_buf *out, const rung_ledger *ledger);
/* "48 layers: 12 full, 36 recurrent" */
void rung_ledger_counts(rung_buf *out, const rung_ledger_sum *sum);

/* Counts, table of the kinds of layers, totals, notes. */
void rung_ledger_print(rung_buf *out, const rung_bound_input *input);
/* The members layers, ledger, per_layer. */
void rung_ledger_json(rung_jout *out, const rung_bound_input *input);

#endif
