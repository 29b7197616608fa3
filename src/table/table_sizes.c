/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The sizes at which the layers of a column were trained, and what a trained accuracy says. Accuracies can be compared
 * at equal sizes only, so a column has one width.
 */
#include <math.h>

#include "rung/table.h"

const rung_table_trained *rung_table_run(const rung_table *table, size_t row, size_t col, size_t L)
{
    if (col != RUNG_TABLE_SEQCOMP) return table->cell[row][col].trained;
    return L <= RUNG_TABLE_TRAINED ? table->depth[row][L - 1].trained : NULL;
}

rung_table_sizes rung_table_width(const rung_table *table, size_t col)
{
    rung_table_sizes sizes = {0};
    size_t depths = col == RUNG_TABLE_SEQCOMP ? RUNG_TABLE_TRAINED : 1;
    size_t rows = col == RUNG_TABLE_SEQCOMP ? RUNG_TABLE_LAYERS : RUNG_TABLE_ROWS;
    for (size_t i = 0; i < rows * depths; i++) {
        const rung_table_trained *t = rung_table_run(table, i / depths, col, i % depths + 1);
        if (!t) continue;
        sizes.runs++;
        sizes.d_model = t->d_model, sizes.heads = t->heads, sizes.dk = t->dk, sizes.dv = t->dv;
        sizes.tokens[i % depths] = t->tokens;
    }
    return sizes;
}

rung_table_lesson rung_table_learnt(const rung_table *table, const rung_table_trained *t, rung_verdict verdict)
{
    if (t->verdict == RUNG_CANNOT && t->spoken) return t->ceiling > 0 ? RUNG_TABLE_CEILING : RUNG_TABLE_NOT_ALWAYS;
    if (t->accuracy.mean >= table->success) return RUNG_TABLE_LEARNT;
    bool weights = verdict == RUNG_CAN || verdict == RUNG_CAN_SAMPLED;
    return weights ? RUNG_TABLE_NOT_LEARNT : RUNG_TABLE_NOTHING_SAID;
}
