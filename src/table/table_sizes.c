/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The sizes at which the layers of a column were trained. Accuracies can be compared at equal sizes only, so whoever
 * shows them says where they differ.
 */
#include "rung/table.h"

bool rung_table_trained_at(const rung_table_trained *t, const rung_table_sizes *sizes)
{
    return t->tokens == sizes->tokens && t->dk == sizes->dk && t->dv == sizes->dv;
}

/* Cells that have a run of these sizes. */
static size_t cells_at(const rung_table *table, size_t col, const rung_table_sizes *sizes)
{
    size_t count = 0;
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        const rung_table_cell *cell = &table->cell[r][col];
        bool there = false;
        for (size_t i = 0; i < cell->trained_count; i++)
            there = there || rung_table_trained_at(cell->trained[i], sizes);
        count += there;
    }
    return count;
}

rung_table_sizes rung_table_usual(const rung_table *table, size_t col)
{
    rung_table_sizes usual = {0};
    size_t most = 0;
    for (size_t r = 0; r < RUNG_TABLE_ROWS; r++) {
        const rung_table_cell *cell = &table->cell[r][col];
        usual.runs += cell->trained_count > 0;
        for (size_t i = 0; i < cell->trained_count; i++) {
            const rung_table_trained *t = cell->trained[i];
            const rung_table_sizes here = {.tokens = t->tokens, .dk = t->dk, .dv = t->dv};
            size_t count = cells_at(table, col, &here);
            if (count <= most) continue;
            most = count;
            usual.tokens = here.tokens, usual.dk = here.dk, usual.dv = here.dv;
        }
    }
    usual.mixed = most < usual.runs;
    return usual;
}

const rung_table_trained *rung_table_shown(const rung_table_cell *cell, const rung_table_sizes *usual)
{
    for (size_t i = 0; i < cell->trained_count; i++)
        if (rung_table_trained_at(cell->trained[i], usual)) return cell->trained[i];
    return cell->trained_count ? cell->trained[0] : NULL;
}
