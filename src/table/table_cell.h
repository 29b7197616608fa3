/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * Inside: the parts of one cell.
 */
#ifndef RUNG_TABLE_CELL_H
#define RUNG_TABLE_CELL_H

#include "rung/table.h"

/* Looks for a certificate of the CANNOT of this cell, and has it confirmed by rung-check. */
rung_status table_break(rung_table_cell *cell, const rung_table *table, size_t row, size_t col,
                        const rung_table_options *conf, rung_error *err);

#endif
