/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * rung export --probes: the cells of probed models, one line each, in CSV or JSON.
 */
#include <string.h>

#include "rung/verify.h"
#include "store_export.h"

#define FIELD(type, name, kind)                                                                                        \
    {                                                                                                                  \
#name, LAB_FIELD_##kind, offsetof(type, name)                                                                  \
    }
#define PROBE(name, kind) FIELD(rung_probe_row, name, kind)
#define CELL(name, kind)  FIELD(rung_probe_cell, name, kind)

static const lab_field probe_fields[] = {
    PROBE(source, TEXT), PROBE(model, TEXT), PROBE(server, TEXT), PROBE(task, TEXT), PROBE(added, REAL),
};
static const lab_field cell_fields[] = {
    CELL(place, COUNT),    CELL(mode, TEXT),          CELL(canonical, TEXT), CELL(depth, COUNT),
    CELL(facts, COUNT),    CELL(chance, REAL),        CELL(majority, REAL),  CELL(asked, COUNT),
    CELL(right, COUNT),    CELL(text_right, COUNT),   CELL(off, COUNT),      CELL(cut, COUNT),
    CELL(mass, REAL),      CELL(prompt_tokens, REAL), CELL(verdict, TEXT),   CELL(bound, TEXT),
    CELL(statement, TEXT), CELL(ceiling, NUMBER),     CELL(margin, REAL),
};
#undef CELL
#undef PROBE

/* Follows from right and asked. */
typedef struct rate {
    double accuracy, low, high;
} rate;
static const lab_field rate_fields[] = {FIELD(rate, accuracy, REAL), FIELD(rate, low, REAL), FIELD(rate, high, REAL)};
#undef FIELD

void rung_store_export_cell_head(rung_store_export *x)
{
    rung_buf_puts(&x->text, "id");
    lab_export_names(x, probe_fields, RUNG_COUNT(probe_fields));
    lab_export_names(x, cell_fields, RUNG_COUNT(cell_fields));
    lab_export_names(x, rate_fields, RUNG_COUNT(rate_fields));
    rung_buf_putc(&x->text, '\n');
}

static bool put_cell(void *context, const rung_probe_cell *cell)
{
    rung_store_export *x = context;
    bool json = x->format == RUNG_EXPORT_JSONL;
    rung_interval interval = rung_wilson(cell->right, cell->asked);
    rate r = {(double)cell->right / (double)cell->asked, interval.low, interval.high}; /* no answers: NaN, left out */
    rung_buf_printf(&x->text, json ? "{\"id\": \"%s\"" : "%s", x->probe->id);
    lab_export_fields(x, x->probe, probe_fields, RUNG_COUNT(probe_fields));
    lab_export_fields(x, cell, cell_fields, RUNG_COUNT(cell_fields));
    lab_export_fields(x, &r, rate_fields, RUNG_COUNT(rate_fields));
    rung_buf_puts(&x->text, json ? "}\n" : "\n");
    return lab_export_more(x);
}

static bool put_probe(void *context, const rung_probe_row *row)
{
    rung_store_export *x = context;
    x->probe = row;
    rung_status status = rung_store_probe_cells(x->store, row->number, put_cell, x, x->err);
    if (x->status == RUNG_OK) x->status = status;
    return lab_export_more(x);
}

rung_status rung_store_export_cells(rung_store_export *x, rung_error *err)
{
    x->err = err;
    x->status = RUNG_OK;
    rung_status status = rung_store_probes(x->store, put_probe, x, err);
    RUNG_TRY(status);
    return x->status;
}
