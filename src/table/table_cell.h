/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: the parts of one cell.
 */
#ifndef RUNG_TABLE_CELL_H
#define RUNG_TABLE_CELL_H

#include "rung/table.h"

/* The heads that theorems are asked about. */
#define TABLE_HEADS                                                                                                    \
    {                                                                                                                  \
        .heads = 1, .dk = 2, .dv = 2, .causal = true                                                                   \
    }

/* The weights that `rung build TEXT` makes. */
rung_status table_build(rung_model **model, const char *text, rung_error *err);

/* Looks for a certificate of the CANNOT of this cell, and has it confirmed by rung-check. */
rung_status table_break(rung_table_cell *cell, const rung_table *table, size_t row, size_t col,
                        const rung_table_options *conf, rung_error *err);

#endif
