/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The measurements that the law is fitted to, and published numbers that it is compared with. The build makes both
 * from CSV files.
 */
#include "rung/recall.h"

static const rung_recall_cell cells[] = {
#include "recall-cells.inc"
};

static const rung_recall_published published[] = {
#include "recall-published.inc"
};

const rung_recall_cell *rung_recall_cells(size_t *count)
{
    *count = RUNG_COUNT(cells);
    return cells;
}

const rung_recall_published *rung_recall_published_rows(size_t *count)
{
    *count = RUNG_COUNT(published);
    return published;
}
